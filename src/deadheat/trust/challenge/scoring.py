"""The one worker: from the queue to scores, each with its receipt. Whenever it is killed, the next one continues.

A step that is done is in the database; a step that is not is done again, from the beginning, and comes out the same.
``python -m deadheat.trust.challenge.scoring DIR`` scores what comes by the web, until its standard input ends, which is
when whoever started it is gone.
"""

from __future__ import annotations

import hmac
import os
import shutil
import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import DeadheatError
from deadheat.support.lazy import json, tempfile
from deadheat.trust.challenge import leaderboard, sandbox, submissions
from deadheat.trust.challenge.challenge import MEGABYTE, Challenge, private, samples_in
from deadheat.trust.challenge.evaluator import Evaluator, short
from deadheat.trust.challenge.sandbox import Stopped
from deadheat.trust.challenge.store import Store, Submission

FILE = "file"  # what protects the labels from a file: it does nothing
_RENEW = 30.0  # seconds between two leaderboards while the queue is never empty
_PAUSE = 0.5  # seconds between two looks at an empty queue


def score(
    challenge: Challenge, store: Store, *, unprotected: bool = False, also: Sequence[Path] = (), for_page: bool = False
) -> Generator[Submission, None, None]:
    """Score what is in the queue, one after another, and yield each as it then is.

    Teams take turns: next comes the earliest submission of the team whose scoring took the least time within 24 hours.
    Commands see `also` in addition to the system's own programs; `unprotected` runs them without a sandbox, and without
    it a command is refused before anything is scored where there is none. `for_page` leaves in the queue what the page
    does not score: commands, and files of teams that have used up their time. After an OSError, the submission counts
    as attempted.
    """
    with store.only_worker(), Evaluator(challenge) as evaluator:
        store.requeue()
        challenge.remove_unfinished_profiles()
        queued = partial(store.waiting, most=challenge.rules.seconds_per_day if for_page else None)
        waiting = queued(commands=not for_page)
        has_command = any(each.command is not None for each in waiting)
        protection = require_sandbox(challenge, unprotected, also) if has_command else sandbox.NOTHING
        while waiting:
            submission = waiting[0]
            store.begin(submission)
            _score(challenge, store, submission, evaluator, protection, also)
            found = store.find(id=submission.id)
            assert found is not None
            yield found
            waiting = queued(commands=has_command)  # commands that come meanwhile wait for the next call


def log(challenge: Challenge, submission: Submission) -> Path:
    """Where the organiser, and nobody else, finds the errors of a command that failed: inputs could be in them."""
    return challenge.submissions / f"{submission.id}.log"


def _score(
    challenge: Challenge, store: Store, submission: Submission, evaluator: Evaluator, how: str, also: Sequence[Path]
) -> None:
    """Score one, and record what came of it and how long it took; `how` commands are kept from the labels."""
    began = time.monotonic()
    try:
        if submission.command is None:
            how, receipt = FILE, evaluator.receipt(submission.id, "npz", challenge.submissions / submission.id)
        else:
            with tempfile.TemporaryDirectory(prefix="deadheat-") as folder:
                np.save(f"{folder}/rows.npy", embeddings(challenge, submission, how == sandbox.NOTHING, also))
                receipt = evaluator.receipt(submission.id, "npy", Path(folder, "rows.npy"))
    except Stopped as error:
        if error.errors or submission.command is not None:
            private(log(challenge, submission))
            log(challenge, submission).write_text(error.errors, encoding="utf-8")
        store.ended(submission, "failed", str(error), time.monotonic() - began)
    except (ValueError, TypeError) as error:  # by a rule, which the message says
        store.ended(submission, "refused", short(str(error)), time.monotonic() - began)
    else:
        store.ended(submission, "scored", "", time.monotonic() - began, (receipt, how))


def work(challenge: Challenge, store: Store) -> None:
    """Score files as they come, and what an earlier worker has left."""
    while True:
        began = time.monotonic()
        with closing(score(challenge, store, for_page=True)) as scored:
            for _ in scored:
                if time.monotonic() > began + _RENEW:
                    break
        leaderboard.keep(challenge, store)
        while not store.waiting(commands=False, most=challenge.rules.seconds_per_day):
            time.sleep(_PAUSE)


# ---------------------------------------------------------------------------------------------------------------------
# How a command that was submitted comes to embeddings, such as ``python3 embed.py {inputs} {output}`` in its folder. It
# gets the inputs in an order that only the organiser's secret knows, anew for each submission; so neither the order of
# the samples nor a file's name says anything about them. The rows that it returns are put in order again.


class Refused(DeadheatError):
    """There is no sandbox, and nobody said that a command may run without one."""


def require_sandbox(challenge: Challenge, unprotected: bool, also: Sequence[Path]) -> str:
    """What will protect the labels; refused if it would be nothing and nobody allowed that."""
    if unprotected:
        return sandbox.NOTHING
    reason = sandbox.available()
    if reason is not None:
        raise Refused(f"a command must run in a sandbox, but {reason} (--unprotected runs it without one)")
    sandbox.require_hidden(challenge.folder, also)
    return sandbox.BUBBLEWRAP


def embeddings(
    challenge: Challenge, submission: Submission, unprotected: bool, also: Sequence[Path] = ()
) -> NDArray[Any]:
    """Run a command on the inputs, in an order of its own, and return the rows in the organiser's order."""
    rules = challenge.rules
    assert challenge.inputs is not None  # or the command would not have been taken
    shuffle = order(challenge.secret, submission.id, rules.n_sample)
    limits = sandbox.Limits(rules.seconds, rules.memory * MEGABYTE, rules.most_bytes)
    with tempfile.TemporaryDirectory(prefix="deadheat-") as name:
        folder = Path(name)
        program = submissions.copied(challenge.submissions / submission.id, folder / "program")  # or its path is seen
        shown, returned = shuffled(challenge.inputs, shuffle, folder), folder / "returned.npy"
        seen, made = str(shown), folder / "embeddings.npy"
        if not unprotected:
            seen, made = f"/inputs/{shown.name}", Path("/output/embeddings.npy")
        named = [
            word.replace(submissions.INPUTS, seen).replace(submissions.OUTPUT, str(made))
            for word in json.loads(submission.command or "[]")
        ]
        words, environment = sandbox.limited(named, made, limits.memory), dict[str, str]()
        if unprotected:
            environment = {**sandbox.environment(), "PATH": os.environ["PATH"]}
        else:
            words = sandbox.wrapped(words, {"/submission": program, seen: shown}, also, limits.memory)
        sandbox.run(words, returned, limits, environment, program)
        return submissions.from_array(returned, rules)[np.argsort(shuffle)]


def order(secret: bytes, submission: str, n: int) -> NDArray[np.int64]:
    """The samples in the order in which a submission's command gets them; nobody can find it without the secret.

    Examples
    --------
    >>> order(b"secret", "a", 5).tolist(), order(b"secret", "b", 5).tolist()
    ([2, 3, 4, 0, 1], [4, 2, 1, 0, 3])
    """
    keys = [hmac.digest(secret, f"{submission} {i}".encode(), "sha256") for i in range(n)]
    return np.array(sorted(range(n), key=keys.__getitem__), dtype=np.int64)


def shuffled(inputs: Path, order: NDArray[np.int64], folder: Path) -> Path:
    """Write the inputs in that order into a folder, and return what a command sees of them: a file, or a folder."""
    target, samples = folder / f"samples{inputs.suffix}", samples_in(inputs)
    if inputs.is_dir():
        target.mkdir()
        for place, i in enumerate(order.tolist()):
            copy = target / f"{place:08d}{samples[i].suffix}"
            shutil.copyfile(samples[i], copy)
            os.utime(copy, (0, 0))  # the same for all
    elif inputs.suffix == ".npy":
        np.save(target, samples[order], allow_pickle=False)
    else:
        target.write_text("".join(f"{samples[i]}\n" for i in order.tolist()), encoding="utf-8")
    return target


# ---------------------------------------------------------------------------------------------------------------------
# the worker as a process


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
