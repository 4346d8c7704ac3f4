"""The stub of the compiled core, which is written by a program."""

from __future__ import annotations

import pytest


def test_stub_is_that_of_the_core() -> None:
    pytest.importorskip("nanobind", reason="writes the stub")
    from tests.stub import STUB, stub

    assert STUB.read_text() == stub(), "the core has changed: run `python -m tests.stub`"
