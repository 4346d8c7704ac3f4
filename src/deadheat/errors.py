"""Errors and warnings of deadheat, in one tree: `except DeadheatError` catches every error.

    DeadheatError
    ├── InputError             an argument breaks its rule; `argument` names it
    │   ├── InvalidValueError  ... by its value (also a ValueError)
    │   └── InvalidTypeError   ... by its type (also a TypeError)
    ├── UndefinedError         nothing relevant anywhere, so that no measure has a value (also a ValueError)
    ├── FileError              the content of a file breaks its rule; `path` names it (also a ValueError)
    ├── StorageError           no room for temporary files, or no memory for the work on them (also an OSError)
    ├── ExecutorError           workers of an executor died, failed or do not fit together (also a RuntimeError)
    └── MissingPackageError    an optional package is not installed (also a ModuleNotFoundError)

    UserWarning
    ├── QueryInGalleryWarning  queries are ranked against a gallery that they are in
    └── LongRunWarning         a question will take minutes; the message says how many

Other errors of the system about files (`OSError`) are raised unchanged. Messages quote files and arguments: characters
that are not printable are escaped, and the middle of a long message is left out (`printable`); `args` have the whole
text.
"""

from __future__ import annotations

import os
import re
from typing import Any

__all__ = [
    "DeadheatError",
    "ExecutorError",
    "FileError",
    "InputError",
    "InvalidTypeError",
    "InvalidValueError",
    "LongRunWarning",
    "MissingPackageError",
    "QueryInGalleryWarning",
    "StorageError",
    "UndefinedError",
]  # fmt: skip

MOST = 1000  # characters of a message,
_TITLE = 300  # of these, of the argument or file that it begins with
_TAIL = 200  # from the end of a part, where the rule mostly is
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def printable(text: str, most: int | None = None) -> str:
    r"""Escape every character of a text that is not printable, and leave out its middle if it is long.

    Control characters, those that change the direction of writing or have no width, surrogates, line breaks, and blanks
    other than the space are not printable (`str.isprintable`). Letters of any script stay.

    Parameters
    ----------
    most : int, optional
        The number of characters to show; default, all.

    Examples
    --------
    >>> print(printable("Zoë \x1b[2J \u202e日本"))
    Zoë \x1b[2J \u202e日本
    >>> printable(1000 * "a" + "b", most=10)
    'aaaaa...ab'
    """
    text = _shortened(text, most)
    if text.isprintable():
        return text
    escaped = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return _shortened(escaped, most)


def _shortened(text: str, most: int | None) -> str:
    if most is None or len(text) <= most:
        return text
    tail = min(_TAIL, most // 5)
    return f"{text[: most - tail - 3]}...{text[-tail:]}"


def _sentence(parts: tuple[Any, ...], between: str) -> str:
    """Return a message of at most `MOST` characters, with room for the rule whatever the title is."""
    title, rule = parts
    return printable(f"{printable(title, _TITLE)}{between}{rule}", MOST)


def reason(error: BaseException, most: int = 200) -> str:
    """Return the message of another library's error: in one line, without addresses in memory, and short.

    Examples
    --------
    >>> reason(ValueError("bad\\n  <file object at 0x7f00>"))
    'bad <file object>'
    """
    return printable(_ADDRESS.sub("", " ".join(str(error).split())), most)


class DeadheatError(Exception):
    """The base class of all errors of deadheat."""

    def __str__(self) -> str:
        return printable(super().__str__(), MOST)


class InputError(DeadheatError):
    """Error of an argument that breaks its rule.

    Parameters
    ----------
    title : str
        The argument's name, perhaps with a part of it: ``gallery``, ``gallery[2]``, ``gallery: emb-1.npy``,
        ``checkpoint 'run'``.
    rule : str
        The rest of the sentence: the rule, and the value that was given.

    Attributes
    ----------
    argument : str
        The argument's name.
    file : str or None
        The file that it was read from, if the title says so.

    Examples
    --------
    >>> error = InvalidValueError("gallery[2]", "must be two-dimensional (n, dim), but has shape (3,)")
    >>> print(error)
    gallery[2] must be two-dimensional (n, dim), but has shape (3,)
    >>> error.argument
    'gallery'
    >>> InvalidValueError("gallery: emb-1.npy", "must be finite, but holds nan in row 0, column 2").file
    'emb-1.npy'
    """

    def __init__(self, title: str, rule: str) -> None:
        super().__init__(title, rule)  # both, so that the error can be pickled
        self.argument = re.split(r"[:\[ ]", title, maxsplit=1)[0]
        self.file = title.partition(": ")[2] or None

    def __str__(self) -> str:
        return _sentence(self.args, " ")


class InvalidValueError(InputError, ValueError):
    """Error of an argument with an invalid value."""


class InvalidTypeError(InputError, TypeError):
    """Error of an argument of an invalid type."""


class UndefinedError(DeadheatError, ValueError):
    """Error where no measure has a value, because no query has a relevant item."""


class FileError(DeadheatError, ValueError):
    """Error of a file whose content breaks its rule.

    Parameters
    ----------
    path : path
    rule : str
        The rest of the sentence; it begins with a blank, or with ``, line 3: ...``.

    Examples
    --------
    >>> print(FileError("points.csv", ", line 3: 2 columns, but line 1 has 3"))
    points.csv, line 3: 2 columns, but line 1 has 3
    """

    def __init__(self, path: str | os.PathLike[str], rule: str) -> None:
        super().__init__(os.fspath(path), rule)
        self.path = os.fspath(path)

    def __str__(self) -> str:
        return _sentence(self.args, "")


class StorageError(DeadheatError, OSError):
    """Error of a run without room for its temporary files, or without memory to work on them.

    Examples
    --------
    >>> print(StorageError(28, "cannot keep 900 MB in temporary files in '/tmp': No space left on device"))
    cannot keep 900 MB in temporary files in '/tmp': No space left on device
    """

    def __str__(self) -> str:
        return printable(str(self.strerror), MOST)


class ExecutorError(DeadheatError, RuntimeError):
    """Error of workers of an executor: they died, failed too often, do not see a file, or do not fit together."""


class MissingPackageError(DeadheatError, ModuleNotFoundError):
    """Error of an optional package that is not installed; the message says how to install it."""


class QueryInGalleryWarning(UserWarning):
    """Warning that queries are in the gallery and find themselves; `exclude` of `deadheat.evaluate` leaves them out."""


class LongRunWarning(UserWarning):
    """Warning before a question that will take minutes, with an estimate; an interrupt (Ctrl-C) ends it at once."""


def __dir__() -> list[str]:
    return __all__
