"""How a command that was submitted comes to embeddings, such as ``python3 embed.py {inputs} {output}`` in its folder.

A command gets the inputs in an order that only the organiser's secret knows, anew for each submission; so neither the
order of the samples nor a file's name says anything about them. The rows that it returns are put in order again.
"""

from __future__ import annotations

import hmac
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import DeadheatError
from deadheat.support.lazy import json, tempfile
from deadheat.trust.challenge import sandbox, submissions
from deadheat.trust.challenge.challenge import MEGABYTE, Challenge, samples_in
from deadheat.trust.challenge.store import Submission


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
        if unprotected:
            environment = {**sandbox.environment(), "PATH": os.environ["PATH"]}
            words = _words(submission, str(shown), folder / "embeddings.npy", limits)
        else:
            environment, seen = {}, f"/inputs/{shown.name}"
            words = _words(submission, seen, Path("/output/embeddings.npy"), limits)
            words = sandbox.wrapped(words, {"/submission": program, seen: shown}, also, limits.memory)
        sandbox.run(words, returned, limits, environment, program)
        return in_order(submissions.from_array(returned, rules), shuffle)


def _words(submission: Submission, inputs: str, output: Path, limits: sandbox.Limits) -> list[str]:
    """A command's words with the paths that they name, under its limits."""
    words = json.loads(submission.command or "[]")
    named = [word.replace(submissions.INPUTS, inputs).replace(submissions.OUTPUT, str(output)) for word in words]
    return sandbox.limited(named, output, limits.memory)


def order(secret: bytes, submission: str, n: int) -> NDArray[np.int64]:
    """The samples in the order in which a submission's command gets them; nobody can find it without the secret.

    Examples
    --------
    >>> order(b"secret", "a", 5).tolist(), order(b"secret", "b", 5).tolist()
    ([2, 3, 4, 0, 1], [4, 2, 1, 0, 3])
    """
    keys = [hmac.digest(secret, f"{submission} {i}".encode(), "sha256") for i in range(n)]
    return np.array(sorted(range(n), key=keys.__getitem__), dtype=np.int64)


def in_order(rows: NDArray[Any], order: NDArray[np.int64]) -> NDArray[Any]:
    """Rows that came in that order, in the organiser's order.

    Examples
    --------
    >>> in_order(np.array(["c", "a", "b"]), np.array([2, 0, 1])).tolist()
    ['a', 'b', 'c']
    """
    sorted_rows = np.empty_like(rows)
    sorted_rows[order] = rows
    return sorted_rows


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
