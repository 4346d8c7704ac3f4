"""The process that scores what comes by the web: ``python -m deadheat.challenge.worker DIR``.

It ends when its standard input does, which is when whoever started it is gone.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

from deadheat.challenge import scoring, standings
from deadheat.challenge.settings import Challenge
from deadheat.challenge.store import Store

_PAUSE = 0.5  # seconds between two looks at an empty queue


def work(challenge: Challenge, store: Store) -> None:
    """Score files as they come, and what an earlier worker has left."""
    first = True
    while True:
        if first or store.waiting(commands=False):
            _kill_after(challenge.rules.seconds)
            for _ in scoring.score(challenge, store, files_only=True):
                _kill_after(challenge.rules.seconds)
            _kill_after(0)
            standings.keep(challenge, store)
        first = False
        time.sleep(_PAUSE)


def _kill_after(seconds: int) -> None:
    """Let the system end this process then, whatever it is doing; 0 for never. What it did is counted as an attempt."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


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
