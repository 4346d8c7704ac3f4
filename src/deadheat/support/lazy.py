"""Modules that a first result does not need: they are imported when something of them is first asked for.

`lazy` makes one of any name. Of the standard library they are made here, once, to be imported from here:

    from deadheat.support.lazy import json
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


class _Lazy:
    """Stands for a module, and hands on whatever is asked of it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)

    def __repr__(self) -> str:
        return f"lazy({self._name!r})"


def lazy(name: str) -> Any:
    """A module by its full name, imported on use.

    Whoever wants its types imports it under `typing.TYPE_CHECKING` too, under the same name.

    Examples
    --------
    >>> lazy("colorsys").rgb_to_hsv(1, 1, 1)
    (0.0, 0.0, 1)
    """
    return _Lazy(name)


if TYPE_CHECKING:
    import difflib
    import fractions
    import glob
    import hashlib
    import html
    import json
    import tempfile
    from concurrent import futures
else:
    difflib = lazy("difflib")
    fractions = lazy("fractions")
    futures = lazy("concurrent.futures")
    glob = lazy("glob")
    hashlib = lazy("hashlib")
    html = lazy("html")
    json = lazy("json")
    tempfile = lazy("tempfile")

__all__ = ["difflib", "fractions", "futures", "glob", "hashlib", "html", "json", "lazy", "tempfile"]
