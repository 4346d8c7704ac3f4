"""The one worker: from the queue to scores, each with its receipt. Whenever it is killed, it goes on where it was.

A step that is done is in the book; a step that is not done is done again, from the beginning, and comes out the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from deadheat.challenge import archives, commands, sandbox
from deadheat.challenge.running import Stopped
from deadheat.challenge.settings import Challenge
from deadheat.challenge.store import Store, Submission
from deadheat.printable import reason
from deadheat.receipts import receipt_of
from deadheat.reports.evaluating import evaluate_pair
from deadheat.support.lazy import json

FILE = "file"  # what protects the labels from a file: it does nothing


def score(
    challenge: Challenge,
    store: Store,
    *,
    unprotected: bool = False,
    also: Sequence[Path] = (),
    files_only: bool = False,
) -> Iterator[Submission]:
    """Score what is in the queue, one after another, and hand on each as it then is.

    Parameters
    ----------
    challenge, store
    unprotected : bool
        Run commands without a sandbox.
    also : sequence of path
        What commands see beside the system's own programs.
    files_only : bool
        Leave commands in the queue.

    Raises
    ------
    Refused
        If there is a command and no sandbox, before anything is scored.
    ValueError
        If commands would see the challenge's folder in the sandbox.
    """
    with store.only_worker():
        store.requeue()
        waiting = store.waiting(commands=not files_only)
        has_command = any(each.command is not None for each in waiting)
        protection = commands.require_sandbox(challenge, unprotected, also) if has_command else sandbox.NOTHING
        while waiting:
            submission = waiting[0]
            store.begin(submission)
            _score(challenge, store, submission, protection, also)
            found = store.find(submission.id)
            assert found is not None
            yield found
            files = files_only or not has_command  # a command that came meanwhile is for the next time
            waiting = store.waiting(commands=not files)


def log(challenge: Challenge, submission: Submission) -> Path:
    """Where the organiser, and nobody else, finds what a command that failed has said: inputs could be in it."""
    return challenge.handed_in / f"{submission.id}.log"


def _score(challenge: Challenge, store: Store, submission: Submission, protection: str, also: Sequence[Path]) -> None:
    """Score one, and record what came of it."""
    try:
        if submission.command is None:
            protection, rows = FILE, archives.from_archive(challenge.handed_in / submission.id, challenge.rules)
        else:
            rows = commands.embeddings(challenge, submission, protection == sandbox.NOTHING, also)
        receipt = _evaluated(challenge, submission, rows)
    except Stopped as error:
        log(challenge, submission).write_text(error.said, encoding="utf-8")
        store.ended(submission, "failed", reason(error, 500))
    except (ValueError, TypeError) as error:  # by a rule, which the message says
        store.ended(submission, "refused", reason(error, 500))
    except MemoryError:
        store.ended(submission, "failed", "there was not enough memory")
    else:
        store.scored(submission, receipt, protection)


def _evaluated(challenge: Challenge, submission: Submission, rows: NDArray[Any]) -> str:
    """The receipt of a submission; its profile is kept, to be compared with others."""
    pair, rules = challenge.pair(rows), challenge.rules
    report = evaluate_pair(pair, rules.counting, rules.summary)
    report.profile.save(challenge.profile(submission.id))
    return json.dumps(receipt_of(report, pair, rules.counting).content)
