"""The types of the compiled core for mypy, `src/deadheat/_core.pyi`: `python -m tests.stub` writes them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from nanobind.stubgen import StubGen

from deadheat import _core

STUB = Path(__file__).parent.parent / "src" / "deadheat" / "_core.pyi"


def stub() -> str:
    """The stub of the core as it is built: arrays as NDArray of their type, formatted as Ruff does."""
    generator = StubGen(_core)
    generator.put(_core)
    text = re.sub(r"Annotated\[(NDArray\[[\w.]+\]), dict\(shape=\([^)]*\)[^)]*\)\]", r"\1", generator.get())
    text = re.sub(
        r"tuple\[(NDArray\[[\w.]+\])(?:, \1)+\]", r"tuple[\1, ...]", text
    )  # of any length, as callers have them
    text = re.sub(r"^(\w+: int) = \d+$", r"\1", text, flags=re.MULTILINE)  # some depend on the process
    text = re.sub(r"\btuple\b(?!\[)", "tuple[object, ...]", text)
    for arguments in (["check", "--fix-only", "--select=F401,I,UP"], ["format"]):
        command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", str(STUB), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    STUB.write_text(stub())
