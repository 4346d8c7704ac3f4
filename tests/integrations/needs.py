"""What a test of a neighbour needs, and the one line that says so where it is absent."""

from __future__ import annotations

import importlib.util

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
