"""A challenge: the folder that its organiser keeps.

DIR/challenge.json    the rules
    labels.npy        of every sample, in the organiser's order
    inputs...         what commands are run on, if there are any
    secret            what the order of samples is shuffled by
    challenge.db      teams, submissions, scores
    handed-in/        a file or a folder a submission
    profiles/         the tie profile of each that is scored
"""

from __future__ import annotations

import os
import secrets
import shutil
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadheat import inputs
from deadheat.challenge import samples
from deadheat.challenge.folders import make_private
from deadheat.challenge.rules import SECONDS_PER_DAY, Rules
from deadheat.errors import FileError, InvalidValueError
from deadheat.inputs import Pair, open_pair
from deadheat.inputs.sources import LabelsLike, open_labels
from deadheat.support.lazy import json, tempfile

SCHEMA, VERSION = "deadheat.Challenge", 1
_FILE, _LABELS, _SECRET = "challenge.json", "labels.npy", "secret"


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
        title: str = "Challenge",
        measures: str | None = None,
        distance: str = "cosine",
        singletons: str = "skip",
        average: str = "query",
        n_query: int | None = None,
        per_day: int = 10,
        upload: int = 200,
        dim: int = 4096,
        seconds: int = 600,
        memory: int = 4096,
        seconds_per_day: int = SECONDS_PER_DAY,
    ) -> Self:
        """Make the folder, whole or not at all; nobody but the organiser can read it.

        Parameters
        ----------
        folder : path
            Must not be there yet, or be empty.
        labels : labels or path
            Of every sample.
        sequestered : path, optional
            What commands are run on: see `deadheat.challenge.samples`.
        title, measures, distance, singletons, average, n_query, per_day, upload, dim, seconds, memory, seconds_per_day
            See `Rules`.

        Raises
        ------
        OSError, ValueError, TypeError
            If a file cannot be read or written, or an argument is not as described.
        """
        folder = Path(folder)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InvalidValueError("folder", f"must not be there yet, but {folder} is, and is not empty")
        if not folder.absolute().parent.is_dir():
            raise InvalidValueError("folder", f"must be in a folder that is there, but {folder.parent} is none")
        known = _plain_labels(open_labels(labels, "labels"))
        rules = Rules.checked(
            known, measures, title=title, distance=distance, singletons=singletons, average=average, n_query=n_query,
            per_day=per_day, upload=upload, dim=dim, seconds=seconds, memory=memory,
            seconds_per_day=seconds_per_day,
        )  # fmt: skip
        made = Path(tempfile.mkdtemp(dir=folder.absolute().parent, prefix=f".{folder.name}."))  # mode 0700
        try:
            np.save(made / _LABELS, known, allow_pickle=False)
            if sequestered is not None:
                samples.keep(Path(sequestered), made, len(known))
            (made / _SECRET).write_text(secrets.token_hex(32))
            for name in ("handed-in", "profiles"):
                (made / name).mkdir()
            about = {"schema": SCHEMA, "schema_version": VERSION, **asdict(rules)}
            (made / _FILE).write_text(f"{json.dumps(about, indent=2)}\n", encoding="utf-8")
            make_private(made)
            os.replace(made, folder)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        return cls(folder.resolve(), rules)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Self:
        """A challenge that was made before.

        Raises
        ------
        OSError
            If there is none.
        FileError
            If its file is damaged, or of another version.
        """
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

    @cached_property
    def query_labels(self) -> NDArray[Any]:
        return self.labels[: self.rules.n_query]

    @property
    def secret(self) -> bytes:
        return bytes.fromhex((self.folder / _SECRET).read_text())

    @property
    def handed_in(self) -> Path:
        return self.folder / "handed-in"

    def profile(self, submission: str) -> Path:
        """Where the tie profile of a submission is."""
        return self.folder / "profiles" / f"{submission}.npz"

    def remove_unfinished_profiles(self) -> None:
        """Remove what was being written when the one worker was killed; only for the one worker."""
        for path in (self.folder / "profiles").glob(".*"):
            path.unlink(missing_ok=True)

    def pair(self, rows: NDArray[Any]) -> Pair:
        """A submission's embeddings with the labels that belong to them."""
        n = self.rules.n_query
        if n is None:
            return open_pair(rows, self.labels)
        return open_pair(rows[:n], self.labels[:n], rows[n:], self.labels[n:])


def _plain_labels(given: Any) -> NDArray[Any]:
    """Labels in an array that a file can hold without pickles."""
    array = inputs.labels(given, len(given), "labels", "labels")
    plain = np.array(array.tolist()) if array.dtype.kind == "O" else array
    if plain.dtype.kind not in "iubUS":
        raise InvalidValueError("labels", "must be strings or integers of 64 bits, but hold larger ones")
    return plain
