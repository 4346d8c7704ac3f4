"""Evaluating what a stranger submitted, in a process of its own: whatever the data does, it ends in time.

    scoring ──request, a line of JSON──> python -m deadheat.trust.challenge.evaluator DIR
            <──answer, a line of JSON──┘ receipt, or why there is none; the profile is in its file by then

The process serves one request after another, and ends when its standard input does: when whoever started it is gone.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from deadheat.errors import DeadheatError, printable
from deadheat.reports.evaluating import evaluate_pair
from deadheat.support.lazy import json
from deadheat.trust.challenge import submissions
from deadheat.trust.challenge.challenge import Challenge
from deadheat.trust.challenge.sandbox import Stopped
from deadheat.trust.receipts.receipt import receipt_of

_PROGRAM = ("-m", "deadheat.trust.challenge.evaluator")
_GRACE = 1.0  # seconds from the end of what a process writes to its own
_LONGEST = 200  # characters of a message
_READERS = {"npz": submissions.from_archive, "npy": submissions.from_array}


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
        answer = self._answer(json.dumps([submission, kind, str(file)]))
        if answer["state"] == "refused":
            raise Rejected(answer["message"])
        if answer["state"] == "failed":
            raise Stopped(answer["message"], answer["errors"])
        if answer["state"] == "error":
            raise OSError(answer["message"])
        return str(answer["receipt"])

    def _answer(self, request: str) -> dict[str, Any]:
        process, late = self._running(), threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._challenge.rules.seconds, end)
        timer.start()
        try:
            with suppress(BrokenPipeError):
                print(request, file=process.stdin, flush=True)
            line = process.stdout.readline() if process.stdout else ""
        finally:
            timer.cancel()
            timer.join()
        if not late.is_set():
            if line.endswith("\n"):
                answer: dict[str, Any] = json.loads(line)
                return answer
            with suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)  # for its own status
        self._end()
        if late.is_set():
            raise Stopped(f"scoring took longer than {self._challenge.rules.seconds} seconds")
        raise Stopped(f"scoring ended without a result (status {process.returncode})")

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            words = [sys.executable, *_PROGRAM, str(self._challenge.folder)]
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


def _requests() -> queue.SimpleQueue[str]:
    """The lines of standard input; the process ends with it, whatever it is doing."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    return lines


def main() -> None:
    os.umask(0o077)
    challenge, requests = Challenge.open(sys.argv[1]), _requests()
    with suppress(BrokenPipeError), os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:  # its reader may be gone
        os.dup2(2, 1)  # nothing else may print between answers
        print("ready", file=answers, flush=True)
        while True:
            print(json.dumps(_answer_to(challenge, *json.loads(requests.get()))), file=answers, flush=True)


if __name__ == "__main__":
    main()
