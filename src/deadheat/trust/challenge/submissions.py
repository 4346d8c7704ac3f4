"""What strangers submit: how it comes into the queue, and how embeddings come out of it; nothing is trusted.

Files and commands go by their digest, so that the same is never in the queue twice. Whatever a ``.npz`` or ``.npy``
file declares is checked before anything is unpacked, and what is unpacked is never more than was declared. Python
objects are never loaded. Of an archive, only the array ``embeddings`` is looked at.

A command, such as ``python3 embed.py {inputs} {output}`` in its folder, gets the inputs in an order that only the
organiser's secret knows, anew for each submission; so neither the order of the samples nor a file's name says anything
about them. The rows that it returns are put in order again.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import shlex
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import FileError, InvalidValueError
from deadheat.inputs.formats import numpy_files
from deadheat.support.lazy import json, tempfile
from deadheat.trust.challenge import sandbox
from deadheat.trust.challenge.challenge import MEGABYTE, Challenge, Rules, one_line, samples_in
from deadheat.trust.challenge.store import Store, Submission

INPUTS, OUTPUT = "{inputs}", "{output}"  # in a command: what it reads, and the .npy file that it writes
_INCOMING = ".incoming-"
_NAME = "embeddings"
_END = 22  # bytes of the record that ends an archive, as NumPy writes it
_LISTING = 1 << 20  # bytes of an archive's table of contents: NumPy writes about 60 for each array
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def incoming(challenge: Challenge) -> Path:
    """A new folder for what is being submitted, on the same disk as what has been."""
    return Path(tempfile.mkdtemp(dir=challenge.submissions, prefix=_INCOMING))


def sweep(challenge: Challenge, store: Store) -> None:
    """Remove what was left by uploads that were cut off or killed; only where none can be going on."""
    for folder in challenge.submissions.glob(f"{_INCOMING}*"):
        shutil.rmtree(folder, ignore_errors=True)
    store.remove_orphans()


def team_named(text: str) -> str:
    """A team's name, or an error that says what is wrong with it."""
    name = one_line(text, "team")
    if name.endswith(sandbox.UNPROTECTED.strip()):
        raise InvalidValueError("team", f"must not end as leaderboards mark commands, but is {name!r}")
    return name


def title_of(text: str) -> str:
    """What a team calls a submission; may be empty."""
    return one_line(text, "title") if text.strip() else ""


def submit_file(store: Store, team: str, title: str, file: Path, rules: Rules | None = None) -> Submission:
    """Take over a file, within what the rules allow a team in a day."""
    with open(file, "rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return store.add(team, title, digest, None, file, rules)


def submit(challenge: Challenge, store: Store, team: str, title: str, path: Path, command: str | None) -> Submission:
    """Take a copy of what a team has brought to the organiser: a ``.npz`` file, or a folder and its command."""
    team, title = team_named(team), title_of(title)
    words = None if command is None else _words_of(command)
    if words is not None and not path.is_dir():
        raise InvalidValueError("FILE", f"must be the folder that the command is run in, but is {path}")
    if words is not None and challenge.inputs is None:
        raise InvalidValueError("DIR", "must have inputs (deadheat challenge init --inputs) for a command to run on")
    if words is None and path.is_dir():
        raise InvalidValueError("FILE", f"must be a .npz file, or come with --command, but is the folder {path}")
    if words is None and path.stat().st_size > challenge.rules.most_bytes:
        raise FileError(path, f" has over {challenge.rules.upload} MB: {path.stat().st_size / MEGABYTE:.1f}")
    store.add_team(team)
    folder = incoming(challenge)
    try:
        if words is None:
            return submit_file(store, team, title, Path(shutil.copyfile(path, folder / "file")))
        copy = copied(path, folder / "program")
        return store.add(team, title, digest_of_command(copy, words), words, copy)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _words_of(text: str) -> str:
    """The words of a command as JSON, or an error that says what they lack."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InvalidValueError("command", f"must be words as a shell reads them, but {error}: {text!r:.60}") from None
    missing = [name for name in (INPUTS, OUTPUT) if not any(name in word for word in words)]
    if missing:
        raise InvalidValueError("command", f"must name {' and '.join(missing)}, but is {text!r:.60}")
    return json.dumps(words)


def digest_of_command(folder: Path, command: str) -> str:
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


# ---------------------------------------------------------------------------------------------------------------------
# reading


def from_archive(path: Path, rules: Rules) -> NDArray[Any]:
    """The embeddings in a ``.npz`` file."""
    with _archive(path) as (archive, entry):
        with _reading():
            member = archive.open(entry)
        with member:
            return _array(member, entry.file_size, rules)


def require_archive(path: Path) -> None:
    """Refuse a file of another kind, or without embeddings; nothing in it is unpacked."""
    with _archive(path):
        pass


@contextmanager
def _archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, zipfile.ZipInfo]]:
    """A ``.npz`` file, and its embeddings."""
    with open(path, "rb") as file:
        _require_small_listing(file)
        with _reading():
            archive = zipfile.ZipFile(file)
        with archive:
            entry = next((each for each in archive.infolist() if each.filename in (_NAME, f"{_NAME}.npy")), None)
            if entry is None:
                raise InvalidValueError(_NAME, "must be the name of an array in the file, but there is none")
            if entry.compress_type not in _PACKED or entry.flag_bits & 1:
                raise InvalidValueError(_NAME, "must be stored or deflated, as NumPy does it, but are packed otherwise")
            yield archive, entry


def from_array(path: Path, rules: Rules) -> NDArray[Any]:
    """The embeddings in a ``.npy`` file, which a command has written."""
    with open(path, "rb") as file:
        return _array(file, os.fstat(file.fileno()).st_size, rules)


def _require_small_listing(file: IO[bytes]) -> None:
    """Refuse archives whose table of contents alone would fill the memory, or is not where NumPy puts it."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _END - 20))
    end = file.read()
    record = end[-_END:]
    if len(record) < _END or record[:4] != b"PK\5\6" or record[-2:] != b"\0\0" or end[:4] == b"PK\6\7":
        raise InvalidValueError("file", "must be a .npz file as NumPy writes it (pickles are never loaded)")
    if int.from_bytes(record[12:16], "little") > _LISTING:
        raise InvalidValueError("file", "must hold few arrays, but its table of contents has over 1 MB")
    file.seek(0)


def _array(file: IO[bytes], n_byte: int, rules: Rules) -> NDArray[Any]:
    """An array whose header says that it is what the rules ask for, and which has as many bytes as that."""
    with _reading():
        header = numpy_files.header(file)
    if header is None:
        raise InvalidValueError(_NAME, "must be numbers, but are Python objects, which are never loaded")
    shape, dtype = header.shape, header.dtype
    if dtype.kind not in "fiub" or dtype.subdtype is not None:
        raise InvalidValueError(_NAME, f"must be numbers, but have dtype {dtype!s:.60}")
    if len(shape) != 2 or shape[0] != rules.n_sample or not 1 <= shape[1] <= rules.dim:
        rule = f"must have shape ({rules.n_sample}, dim) with dim of 1 to {rules.dim}, but have {shape!s:.60}"
        raise InvalidValueError(_NAME, rule)
    if header.n_byte != n_byte:
        came = f"shape {shape} needs {header.n_byte} bytes, and there are {n_byte}"
        raise InvalidValueError(_NAME, f"must be whole, but are truncated or damaged: {came}")
    with _reading():
        file.seek(0)
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        file.read(1)  # past the end, where zipfile compares the checksum
    return array


@contextmanager
def _reading() -> Iterator[None]:
    """Whatever NumPy, zipfile and zlib say of a file is for programmers, and could repeat what is in it."""
    try:
        with numpy_files.reading(Path(_NAME)):
            yield
    except FileError:
        rule = "must be an array of numbers as NumPy writes it, but cannot be read; truncated or damaged?"
        raise InvalidValueError(_NAME, rule) from None


# ---------------------------------------------------------------------------------------------------------------------
# running commands


def from_command(
    challenge: Challenge, submission: Submission, unprotected: bool, also: Sequence[Path] = ()
) -> NDArray[Any]:
    """Run a command on the inputs, in an order of its own, and return the rows in the organiser's order."""
    rules = challenge.rules
    assert challenge.inputs is not None  # or the command would not have been taken
    shuffle = order(challenge.secret, submission.id, rules.n_sample)
    limits = sandbox.Limits(rules.seconds, rules.memory * MEGABYTE, rules.most_bytes)
    with tempfile.TemporaryDirectory(prefix="deadheat-") as name:
        folder = Path(name)
        program = copied(challenge.submissions / submission.id, folder / "program")  # or its path is seen
        shown, returned = shuffled(challenge.inputs, shuffle, folder), folder / "returned.npy"
        seen, made = str(shown), folder / "embeddings.npy"
        if not unprotected:
            seen, made = f"/inputs/{shown.name}", Path("/output/embeddings.npy")
        named = [
            word.replace(INPUTS, seen).replace(OUTPUT, str(made)) for word in json.loads(submission.command or "[]")
        ]
        words, environment = sandbox.limited(named, made, limits.memory), dict[str, str]()
        if unprotected:
            environment = {**sandbox.environment(), "PATH": os.environ["PATH"]}
        else:
            words = sandbox.wrapped(words, {"/submission": program, seen: shown}, also, limits.memory)
        sandbox.run(words, returned, limits, environment, program)
        return from_array(returned, rules)[np.argsort(shuffle)]


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
