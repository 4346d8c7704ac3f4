"""A command that is handed in: its folder, its words, and how it comes to embeddings.

Its words name ``{inputs}`` (what it reads) and ``{output}`` (the ``.npy`` file that it writes), such as
``python3 embed.py {inputs} {output}``. It runs in its folder.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from deadheat.challenge import archives, running, samples, sandbox
from deadheat.challenge.rules import MEGABYTE
from deadheat.challenge.settings import Challenge
from deadheat.challenge.store import Submission
from deadheat.errors import DeadheatError, InvalidValueError
from deadheat.support.lazy import json, tempfile

INPUTS, OUTPUT = "{inputs}", "{output}"


class Refused(DeadheatError):
    """There is no sandbox, and nobody said that a command may run without one."""


def words_of(text: str) -> str:
    """The words of a command as the book keeps them, or an error that says what they lack."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InvalidValueError("command", f"must be words as a shell reads them, but {error}: {text!r:.60}") from None
    missing = [name for name in (INPUTS, OUTPUT) if not any(name in word for word in words)]
    if missing:
        raise InvalidValueError("command", f"must name {' and '.join(missing)}, but is {text!r:.60}")
    return json.dumps(words)


def digest(folder: Path, command: str) -> str:
    """SHA-256 of a command and of the names and bytes of all files of its folder."""
    found = hashlib.sha256(command.encode())
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            found.update(f"\n{content} {path.relative_to(folder).as_posix()}".encode("utf-8", "surrogateescape"))
    return found.hexdigest()


def copied(folder: Path, target: Path) -> Path:
    """Copy a command's folder; links are left out, for they could lead anywhere."""

    def links(at: str, names: list[str]) -> list[str]:
        return [name for name in names if os.path.islink(os.path.join(at, name))]

    return Path(shutil.copytree(folder, target, ignore=links))


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
    """Run a command on the inputs, in an order of its own, and return the rows in the organiser's order.

    Raises
    ------
    Stopped
        If the command breaks a limit, or does not end well.
    ValueError
        If what it hands back is not what the rules ask for.
    """
    inputs, rules = samples.kept(challenge.folder), challenge.rules
    assert inputs is not None  # or the command would not have been taken
    order = samples.order(challenge.secret, submission.id, rules.n_sample)
    limits = running.Limits(rules.seconds, rules.memory * MEGABYTE, archives.most_bytes(rules))
    with tempfile.TemporaryDirectory(prefix="deadheat-") as name:
        folder = Path(name)
        program = copied(challenge.handed_in / submission.id, folder / "program")  # as a sandbox shows where things are
        shown, output = samples.shuffled(inputs, order, folder), folder / "handed-back.npy"
        if unprotected:
            environment = {**sandbox.environment(), "PATH": os.environ["PATH"]}
            words = _words(submission, str(shown), folder / "embeddings.npy", limits)
        else:
            environment, seen = {}, f"/inputs/{shown.name}"
            words = _words(submission, seen, Path("/output/embeddings.npy"), limits)
            words = sandbox.wrapped(words, {"/submission": program, seen: shown}, also, limits.memory)
        running.run(words, output, limits, environment, program)
        return samples.in_order(archives.from_array(output, rules), order)


def _words(submission: Submission, inputs: str, output: Path, limits: running.Limits) -> list[str]:
    """A command's words with the paths that they name, under its limits."""
    words = json.loads(submission.command or "[]")
    named = [word.replace(INPUTS, inputs).replace(OUTPUT, str(output)) for word in words]
    return running.limited(named, output, limits.memory)
