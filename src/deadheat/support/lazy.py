"""Modules that are imported when they are used: slow ones of the standard library and our own, and optional packages.

`lazy` makes a stand-in for any module. Those of the standard library are made here, once, to be imported from here:

    from deadheat.support.lazy import json
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from deadheat.errors import MissingPackageError

_TITLES = {"torch": "PyTorch", "sentence_transformers": "sentence-transformers"}  # of packages known by another name


class lazy:
    """A stand-in for a module, by its full name, that imports it on use.

    For its types, import the module under `typing.TYPE_CHECKING` too, under the same name.

    Examples
    --------
    >>> lazy("colorsys").rgb_to_hsv(1, 1, 1)
    (0.0, 0.0, 1)
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)

    def __repr__(self) -> str:
        return f"lazy({self._name!r})"


if TYPE_CHECKING:
    import decimal
    import difflib
    import fractions
    import glob
    import hashlib
    import html
    import json
    import tempfile
    from concurrent import futures
else:
    decimal, difflib, fractions, futures = map(lazy, ("decimal", "difflib", "fractions", "concurrent.futures"))
    glob, hashlib, html, json, tempfile = map(lazy, ("glob", "hashlib", "html", "json", "tempfile"))

__all__ = [
    "decimal", "difflib", "fractions", "futures", "glob", "hashlib", "html", "json", "lazy", "require", "tempfile",
]  # fmt: skip


def require(module: str, extra: str, what: str) -> ModuleType:
    """Import a module of an optional package.

    If it is not installed, the message says that `what` (the subject of a sentence) needs it, and names the extra that
    installs it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or module).split(".")[0]
        title = _TITLES.get(package, package)
        raise MissingPackageError(f"{what} needs {title}: pip install 'deadheat[{extra}]'", name=package) from None
