"""A challenge: its rules, checked once, and the folder that its organiser keeps.

DIR/challenge.json    the rules
    labels.npy        of every sample, in the organiser's order
    inputs...         what commands are run on, if there are any: one .npy file (a sample for each entry of its first
                      axis), one .txt file (a sample a line), or a folder of files (in the order of their names)
    secret            what the order of samples is shuffled by
    challenge.db      teams, submissions, scores
    submissions/      a file or a folder a submission
    profiles/         the tie profile of each that is scored
"""

from __future__ import annotations

import os
import secrets
import shutil
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.counting.options import CountingOptions
from deadheat.errors import FileError, InvalidValueError, UndefinedError, reason
from deadheat.inputs import labels as input_labels
from deadheat.inputs.samples import LabelsLike, Pair, open_labels, open_pair
from deadheat.reports.averaging import SummaryOptions
from deadheat.support import checks
from deadheat.support.lazy import json, tempfile

SCHEMA, VERSION = "deadheat.Challenge", 1
MEGABYTE = 1 << 20
MOST = 10**9  # of any other limit
MOST_UPLOAD = 4095  # MB: beyond that, archives have another form
_FILE, _LABELS, _SECRET = "challenge.json", "labels.npy", "secret"


@dataclass(frozen=True)
class Rules:
    """What a challenge asks for and allows; all of it is public."""

    measures: tuple[str, ...]  # the lower bound of the first one ranks
    n_sample: int  # rows of a submission
    title: str = "Challenge"
    distance: str = "cosine"  # with the next two, as in `deadheat.evaluate`
    singletons: str = "skip"
    average: str = "query"
    n_query: int | None = None  # so many samples are queries, ranked against the others; None for leave one out
    per_day: int = 10  # submissions of a team within 24 hours
    upload: int = 200  # megabytes of an uploaded file, and of what a command may return
    dim: int = 4096  # columns of a submission, at most
    seconds: int = 600  # that a command may take, and scoring an upload
    memory: int = 4096  # megabytes that a command may take
    seconds_per_day: int = 1800  # that scoring a team's uploads may take within 24 hours; what is over it waits

    @classmethod
    def checked(cls, labels: NDArray[Any], measures: str | None = None, **given: Any) -> Self:
        """Rules as an organiser gives them, or an error that names the argument."""
        rules = cls((), len(labels), **given)
        summary = SummaryOptions.checked(measures, rules.singletons, rules.average)
        options = CountingOptions.checked(distance=rules.distance)
        if rules.n_query is not None:
            checks.whole_number(rules.n_query, "n_query", 1, len(labels) - 1)
        queries, gallery = labels[: rules.n_query], labels[rules.n_query or 0 :]
        repeated = len(np.unique(labels)) < len(labels)
        if not (repeated if rules.n_query is None else np.isin(queries, gallery).any()):
            raise UndefinedError("labels leave every query without a relevant item, so that no measure is defined")
        title = one_line(rules.title, "title")
        checks.positive_integer(rules.upload, "upload", MOST_UPLOAD)
        for name in ("per_day", "dim", "seconds", "memory", "seconds_per_day"):
            checks.positive_integer(getattr(rules, name), name, MOST)
        return replace(rules, title=title, distance=options.distance, **summary._asdict())

    @property
    def counting(self) -> CountingOptions:
        return CountingOptions.checked(distance=self.distance)

    @property
    def summary(self) -> SummaryOptions:
        return SummaryOptions.checked(self.measures, self.singletons, self.average)

    @property
    def most_bytes(self) -> int:
        """Of a file that is submitted."""
        return self.upload * MEGABYTE


@dataclass(frozen=True)
class Challenge:
    """A challenge in its folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     challenge = Challenge.create(Path(folder, "digits"), ["a", "a", "b", "b"], title="Digits")
    ...     challenge.rules.measures[0], Challenge.open(challenge.folder) == challenge
    ('mAP', True)
    """

    folder: Path
    rules: Rules

    @classmethod
    def create(
        cls,
        folder: str | os.PathLike[str],
        labels: LabelsLike,
        sequestered: str | os.PathLike[str] | None = None,
        *,
        measures: str | None = None,
        **rules: Any,
    ) -> Self:
        """Make the folder, whole or not at all; nobody but the organiser can read it.

        It must not be there yet, or be empty. `sequestered` is what commands are run on: a ``.npy`` or ``.txt`` file,
        or a folder of files. `Rules` has the others.
        """
        folder = Path(folder)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InvalidValueError("folder", f"must not be there yet, but {folder} is, and is not empty")
        if not folder.absolute().parent.is_dir():
            raise InvalidValueError("folder", f"must be in a folder that is there, but {folder.parent} is none")
        known = _plain_labels(open_labels(labels, "labels"))
        checked = Rules.checked(known, measures, **rules)
        made = Path(tempfile.mkdtemp(dir=folder.absolute().parent, prefix=f".{folder.name}."))  # mode 0700
        try:
            np.save(made / _LABELS, known, allow_pickle=False)
            if sequestered is not None:
                _copy_inputs(Path(sequestered), made, len(known))
            (made / _SECRET).write_text(secrets.token_hex(32))
            for name in ("submissions", "profiles"):
                (made / name).mkdir()
            about = {"schema": SCHEMA, "schema_version": VERSION, **asdict(checked)}
            (made / _FILE).write_text(f"{json.dumps(about, indent=2)}\n", encoding="utf-8")
            make_private(made)
            os.replace(made, folder)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        return cls(folder.resolve(), checked)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """A challenge that was made before."""
        path = Path(folder, _FILE)
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            if (about.pop("schema"), about.pop("schema_version")) != (SCHEMA, VERSION):
                raise ValueError
            rules = Rules(**{**about, "measures": tuple(about["measures"])})
        except (ValueError, TypeError, KeyError, AttributeError):
            raise FileError(path, f" is not a challenge that this deadheat knows (schema_version {VERSION})") from None
        return cls(Path(folder).resolve(), rules)

    @cached_property
    def labels(self) -> NDArray[Any]:
        """Of every sample, (n_sample,)."""
        array: NDArray[Any] = np.load(self.folder / _LABELS, allow_pickle=False)
        return array

    @property
    def inputs(self) -> Path | None:
        """What commands are run on; None if there is nothing."""
        return next((path for kind in ("", ".npy", ".txt") if (path := self.folder / f"inputs{kind}").exists()), None)

    @property
    def secret(self) -> bytes:
        return bytes.fromhex((self.folder / _SECRET).read_text())

    @property
    def submissions(self) -> Path:
        return self.folder / "submissions"

    def profile(self, submission: str) -> Path:
        """Where the tie profile of a submission is."""
        return self.folder / "profiles" / f"{submission}.npz"

    def pair(self, rows: NDArray[Any]) -> Pair:
        """A submission's embeddings with the labels that belong to them."""
        n = self.rules.n_query
        if n is None:
            return open_pair(rows, self.labels)
        return open_pair(rows[:n], self.labels[:n], rows[n:], self.labels[n:])


def one_line(text: str, name: str, most: int = 60) -> str:
    """A name as people read it: one line of printable characters, so that none is hidden or changes the direction."""
    text = " ".join(text.split())
    if not text or len(text) > most or not text.isprintable():
        raise InvalidValueError(name, f"must have 1 to {most} printable characters, but is {checks.shown(text)}")
    return text


def _plain_labels(given: Any) -> NDArray[Any]:
    """Labels in an array that a file can hold without pickles."""
    array = input_labels.labels(given, len(given), "labels", "labels")
    plain = np.array(array.tolist()) if array.dtype.kind == "O" else array
    if plain.dtype.kind not in "iubUS":
        raise InvalidValueError("labels", "must be strings or integers of 64 bits, but hold larger ones")
    return plain


# ---------------------------------------------------------------------------------------------------------------------
# inputs of commands


def _copy_inputs(given: Path, folder: Path, n: int) -> None:
    """Copy the inputs into the organiser's folder, if there are as many as labels."""
    if not given.is_dir() and given.suffix not in (".npy", ".txt"):
        raise InvalidValueError("inputs", f"must be a .npy or .txt file or a folder, but is {given}")
    found = len(samples_in(given))
    if found != n:
        raise InvalidValueError("inputs", f"must have one sample per label, but got {found} samples for {n} labels")
    target = folder / f"inputs{'' if given.is_dir() else given.suffix}"
    if not given.is_dir():
        shutil.copyfile(given, target)
        return
    target.mkdir()
    for file in samples_in(given):
        shutil.copyfile(file, target / file.name)


def samples_in(path: Path) -> Any:
    """The samples of a ``.npy`` file (a mapped array), of a text file (its lines) or of a folder (its files)."""
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.is_file())
    try:
        if path.suffix == ".npy":
            return np.atleast_1d(np.load(path, mmap_mode="r", allow_pickle=False))
        return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise FileError(path, f" is not text in UTF-8: {reason(error)}") from None
    except ValueError as error:
        raise FileError(path, f" cannot be read: {reason(error)}") from None


# ---------------------------------------------------------------------------------------------------------------------
# files and folders that nobody else on the machine can read, whatever the umask


def private(path: Path) -> None:
    """Make an empty file that only its owner can read; leave one that is there."""
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def make_private(path: Path) -> None:
    """Take from everybody but the owner what they may do with a file, or with a folder and what is in it."""
    for each in (path, *path.rglob("*")):
        if not each.is_symlink():
            each.chmod(each.stat().st_mode & 0o700)


def remove(path: Path) -> None:
    """Remove a file, or a folder with what is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
