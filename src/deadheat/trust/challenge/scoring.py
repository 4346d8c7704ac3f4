"""The one worker: from the queue to scores, each with its receipt. Whenever it is killed, the next one continues.

A step that is done is in the database; a step that is not is done again, from the beginning, and comes out the same.
What a stranger submitted is evaluated in a process of its own: whatever the data does, it ends in time.

    python -m deadheat.trust.challenge.scoring work DIR scores what comes by the web, until its standard input ends
        ──request, a line of JSON──> python -m deadheat.trust.challenge.scoring evaluate DIR, which ends likewise
        <──answer, a line of JSON──┘ receipt, or why there is none; the profile is in its file by then

So a process ends when whoever started it is gone.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import numpy as np

from deadheat.errors import DeadheatError, printable
from deadheat.reports.evaluating import evaluate_pair
from deadheat.support.lazy import json, tempfile
from deadheat.trust.challenge import leaderboard, sandbox, submissions
from deadheat.trust.challenge.challenge import Challenge, private
from deadheat.trust.challenge.sandbox import Stopped
from deadheat.trust.challenge.store import Store, Submission
from deadheat.trust.receipts.receipt import receipt_of

FILE = "file"  # what protects the labels from a file: it does nothing
_RENEW = 30.0  # seconds between two leaderboards while the queue is never empty
_PAUSE = 0.5  # seconds between two looks at an empty queue
_EVALUATING = ("-m", "deadheat.trust.challenge.scoring", "evaluate")
_GRACE = 1.0  # seconds from the end of what a process writes to its own
_LONGEST = 200  # characters of a message
_READERS = {"npz": submissions.from_archive, "npy": submissions.from_array}


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
        for unfinished in (challenge.folder / "profiles").glob(".*"):  # when the worker before this was killed
            unfinished.unlink(missing_ok=True)
        queued = partial(store.waiting, most=challenge.rules.seconds_per_day if for_page else None)
        waiting = queued(commands=not for_page)
        has_command = any(each.command is not None for each in waiting)
        protection = sandbox.protection(challenge.folder, unprotected, also) if has_command else sandbox.NOTHING
        while waiting:
            submission = waiting[0]
            store.begin(submission)
            began, result = time.monotonic(), None
            try:
                if submission.command is None:
                    result = evaluator.receipt(submission.id, "npz", challenge.submissions / submission.id), FILE
                else:
                    with tempfile.TemporaryDirectory(prefix="deadheat-") as folder:
                        rows = submissions.from_command(challenge, submission, protection == sandbox.NOTHING, also)
                        np.save(f"{folder}/rows.npy", rows)
                        result = evaluator.receipt(submission.id, "npy", Path(folder, "rows.npy")), protection
                state, message = "scored", ""
            except Stopped as error:
                state, message = "failed", str(error)
                if error.errors or submission.command is not None:
                    private(log(challenge, submission))
                    log(challenge, submission).write_text(error.errors, encoding="utf-8")
            except (ValueError, TypeError) as error:  # by a rule, which the message says
                state, message = "refused", short(str(error))
            store.ended(submission, state, message, time.monotonic() - began, result)
            found = store.find(id=submission.id)
            assert found is not None
            yield found
            waiting = queued(commands=has_command)  # commands that come meanwhile wait for the next call


def log(challenge: Challenge, submission: Submission) -> Path:
    """Where the organiser, and nobody else, finds the errors of a command that failed: inputs could be in them."""
    return challenge.submissions / f"{submission.id}.log"


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
# evaluating in a process of its own


class Rejected(DeadheatError, ValueError):
    """What was submitted breaks a rule, which the message says."""


class Evaluator:
    """A process that evaluates, started when it is needed and again when it has ended."""

    def __init__(self, challenge: Challenge) -> None:
        self._challenge = challenge
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def receipt(self, submission: str, kind: str, file: Path) -> str:
        """The receipt of what is in a file, as JSON; its tie profile is kept.

        Rejected says that it breaks a rule, Stopped that it takes too long or breaks the process, OSError that
        something cannot be read or written, which is not the team's doing.
        """
        process, late, seconds = self._running(), threading.Event(), self._challenge.rules.seconds

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            with suppress(BrokenPipeError):
                print(json.dumps([submission, kind, str(file)]), file=process.stdin, flush=True)
            line = process.stdout.readline() if process.stdout else ""
        finally:
            timer.cancel()
            timer.join()
        if late.is_set():
            self._end()
            raise Stopped(f"scoring took longer than {seconds} seconds")
        if not line.endswith("\n"):
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)  # for its own status
            self._end()
            raise Stopped(f"scoring ended without a result (status {process.returncode})")
        answer = json.loads(line)
        if answer["state"] == "refused":
            raise Rejected(answer["message"])
        if answer["state"] == "failed":
            raise Stopped(answer["message"], answer["errors"])
        if answer["state"] == "error":
            raise OSError(answer["message"])
        return str(answer["receipt"])

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            words = [sys.executable, *_EVALUATING, str(self._challenge.folder)]
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", start_new_session=True
            )
            assert self._process.stdout is not None
            self._process.stdout.readline()  # it is ready: starting is not the team's time
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            with suppress(BrokenPipeError):
                self._process.__exit__(None, None, None)  # closes the pipes and waits
            self._process = None


def short(text: str) -> str:
    """A message as a participant gets it: one line of printable characters, and not a long one.

    Examples
    --------
    >>> short("must be\\nfinite, but holds \\x1b[2J")
    'must be finite, but holds \\\\x1b[2J'
    """
    line = printable(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def evaluated(challenge: Challenge, submission: str, kind: str, file: Path) -> str:
    """The receipt of what is in a file; its tie profile is kept, to be compared with others."""
    rules = challenge.rules
    pair = challenge.pair(_READERS[kind](file, rules))
    report = evaluate_pair(pair, rules.counting, rules.summary)
    report.profile.save(challenge.profile(submission))
    return json.dumps(receipt_of(report, pair, rules.counting).content)


def _answer_to(challenge: Challenge, submission: str, kind: str, file: str) -> dict[str, str]:
    try:
        return {"state": "scored", "receipt": evaluated(challenge, submission, kind, Path(file))}
    except MemoryError:
        return {"state": "failed", "message": "there was not enough memory", "errors": ""}
    except Exception as error:
        by_value = isinstance(error, (ValueError, TypeError))
        if isinstance(error, DeadheatError) and by_value:
            return {"state": "refused", "message": short(str(error))}
        if isinstance(error, OSError) and not by_value:
            return {"state": "error", "message": str(error)}
        # What nobody foresaw: the organiser finds the traceback, and the team sees none of it.
        message = "scoring it broke; the organiser can see why"
        return {"state": "failed", "message": message, "errors": traceback.format_exc()}


def _answer(challenge: Challenge, requests: queue.SimpleQueue[str]) -> None:
    os.umask(0o077)
    with suppress(BrokenPipeError), os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:  # its reader may be gone
        os.dup2(2, 1)  # nothing else may print between answers
        print("ready", file=answers, flush=True)
        while True:
            print(json.dumps(_answer_to(challenge, *json.loads(requests.get()))), file=answers, flush=True)


# ---------------------------------------------------------------------------------------------------------------------
# processes


def main() -> None:
    """Work on the queue, or answer requests to evaluate; the process ends with its standard input, whatever it does."""
    what, folder = sys.argv[1:]
    challenge, requests = Challenge.open(folder), queue.SimpleQueue[str]()

    def read() -> None:
        for line in sys.stdin:
            requests.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    if what == "evaluate":
        _answer(challenge, requests)
    else:
        work(challenge, Store(challenge.folder))


if __name__ == "__main__":
    main()
