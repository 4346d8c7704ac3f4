"""Marks of tests that need other libraries, with one line where these are absent; their values within our bounds."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

import pytest


def require(*modules: str) -> None:
    """Skip a whole file, which may import these modules below, unless they can be imported."""
    mark = needs(*modules)
    if mark.args[0]:
        pytest.skip(mark.kwargs["reason"], allow_module_level=True)


def needs(*modules: str) -> pytest.MarkDecorator:
    """A mark that skips a test, or as `pytestmark` a whole file, unless these modules can be imported."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(
        bool(missing), reason=f"needs {', '.join(missing)}: pip install -r tests/integrations/requirements-all.txt"
    )


def widest(ours: Mapping[str, float], theirs: Mapping[str, float], slack: float = 1e-12) -> float:
    """The largest distance of our bounds for their keys, which must hold the expectation and, but for rounding, theirs.

    If it is 0, all our values are equal, and theirs up to rounding.
    """
    for key, value in theirs.items():
        assert ours[key + "_lower"] <= ours[key] <= ours[key + "_upper"], key
        assert ours[key + "_lower"] - slack <= value <= ours[key + "_upper"] + slack, key
    return max(ours[key + "_upper"] - ours[key + "_lower"] for key in theirs)
