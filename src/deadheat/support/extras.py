"""Optional packages: imported where they are used, with one line that says what to install if one is missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from deadheat.errors import MissingPackageError

_TITLES = {
    "torch": "PyTorch",
    "sentence_transformers": "sentence-transformers",
}  # of packages that are known by another name than that of their module


def require(module: str, extra: str, what: str) -> ModuleType:
    """Import a module of an optional package.

    If it is not installed, the message says what needs it (`what`, the subject of a sentence), and which extra of
    deadheat's brings it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or module).split(".")[0]
        title = _TITLES.get(package, package)
        raise MissingPackageError(f"{what} needs {title}: pip install 'deadheat[{extra}]'", name=package) from None
