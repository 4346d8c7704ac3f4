"""The process that scores what comes by the web: ``python -m deadheat.challenge.worker DIR``.

It ends when its standard input does, which is when whoever started it is gone.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import closing

from deadheat.challenge import scoring, standings
from deadheat.challenge.settings import Challenge
from deadheat.challenge.store import Store

_RENEW = 30.0  # seconds between two leaderboards while the queue is never empty
_PAUSE = 0.5  # seconds between two looks at an empty queue


def work(challenge: Challenge, store: Store) -> None:
    """Score files as they come, and what an earlier worker has left."""
    while True:
        began = time.monotonic()
        with closing(scoring.score(challenge, store, for_page=True)) as scored:
            for _ in scored:
                if time.monotonic() > began + _RENEW:
                    break
        standings.keep(challenge, store)
        while not store.waiting(commands=False, most=challenge.rules.seconds_per_day):
            time.sleep(_PAUSE)


def _end_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(0)


def main() -> None:
    challenge = Challenge.open(sys.argv[1])
    threading.Thread(target=_end_with_parent, daemon=True).start()
    work(challenge, Store(challenge.folder))


if __name__ == "__main__":
    main()
