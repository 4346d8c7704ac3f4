"""Optional packages: imported where they are used, with one line that says what to install if one is missing."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from deadheat.errors import MissingPackageError

_TITLES = {"torch": "PyTorch"}  # of packages that are known by another name than that of their module


def require(module: str, extra: str, what: str) -> ModuleType:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        Such as ``"scipy.stats"``.
    extra : str
        The extra of deadheat's that brings it.
    what : str
        What needs it, as the subject of a sentence.

    Raises
    ------
    MissingPackageError
        If it is not installed; the message says how to install it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or module).split(".")[0]
        title = _TITLES.get(package, package)
        raise MissingPackageError(f"{what} needs {title}: pip install 'deadheat[{extra}]'", name=package) from None
