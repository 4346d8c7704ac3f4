"""What commands are run on: kept by the organiser, and handed to each command in an order that only this file knows.

The inputs are a ``.npy`` file (one sample for each entry of its first axis), a ``.txt`` file (one a line), or a folder
of files (in the order of their names). A command gets them shuffled by a secret, anew for each submission; so neither
the order of the samples nor a file's name says anything about them. What comes back is put in order again.
"""

from __future__ import annotations

import hmac
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import FileError, InvalidValueError
from deadheat.printable import reason

_KINDS = (".npy", ".txt")


def keep(given: Path, folder: Path, n: int) -> None:
    """Copy the inputs into the organiser's folder, if there are as many as labels."""
    if given.is_dir():
        found = len(_files(given))
    elif given.suffix == ".npy":
        found = len(np.atleast_1d(_mapped(given)))
    elif given.suffix == ".txt":
        found = len(_lines(given))
    else:
        raise InvalidValueError("inputs", f"must be a .npy or .txt file or a folder, but is {given}")
    if found != n:
        raise InvalidValueError("inputs", f"must have one sample per label, but got {found} samples for {n} labels")
    target = folder / f"inputs{'' if given.is_dir() else given.suffix}"
    if not given.is_dir():
        shutil.copyfile(given, target)
        return
    target.mkdir()
    for file in _files(given):
        shutil.copyfile(file, target / file.name)


def kept(folder: Path) -> Path | None:
    """The inputs in the organiser's folder; None if there are none."""
    return next((path for kind in ("", *_KINDS) if (path := folder / f"inputs{kind}").exists()), None)


def order(secret: bytes, submission: str, n: int) -> NDArray[np.int64]:
    """The samples in the order in which a submission's command gets them; nobody can tell it without the secret.

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
    """Write the inputs in that order into a folder, and return what a command is told: a file, or a folder."""
    target = folder / f"samples{inputs.suffix}"
    if inputs.is_dir():
        target.mkdir()
        files = _files(inputs)
        for place, i in enumerate(order.tolist()):
            copy = target / f"{place:08d}{files[i].suffix}"
            shutil.copyfile(files[i], copy)
            os.utime(copy, (0, 0))  # the same for all
    elif inputs.suffix == ".npy":
        np.save(target, _mapped(inputs)[order], allow_pickle=False)
    else:
        lines = _lines(inputs)
        target.write_text("".join(f"{lines[i]}\n" for i in order.tolist()), encoding="utf-8")
    return target


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())


def _mapped(path: Path) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise FileError(path, f" cannot be read: {reason(error)}") from None
    return array


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise FileError(path, f" is not text in UTF-8: {reason(error)}") from None
