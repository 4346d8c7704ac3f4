"""Python programs run in a process of their own, and what that process has resident."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.data import Unavailable
from benchmarks.results import ROOT

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class ChildFailed(Exception):
    """A program ended with an error, which is the message."""


def run(program: list[str], settings: dict[str, Any], environment: dict[str, str] | None = None) -> dict[str, Any]:
    """Run ``python PROGRAM SETTINGS`` in the checkout; the last line that it prints is JSON.

    Raises
    ------
    ChildFailed
        With the last line of what it said on standard error, if it failed.
    """
    done = subprocess.run(
        [sys.executable, *program, json.dumps(settings)],
        cwd=ROOT, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise ChildFailed(said[-1] if said else f"{' '.join(program)} ended with status {done.returncode}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def settings() -> Any:
    """What the parent handed over."""
    return json.loads(sys.argv[1])


def require_linux() -> None:
    """Refuse where the kernel does not tell what a process has resident."""
    if not _STATUS.is_file():
        raise Unavailable("resident memory is read from /proc, which is not here")


def resident(name: str = "VmRSS") -> int:
    """Bytes that this process has resident now (``VmRSS``) or had at most (``VmHWM``)."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def forget_peak() -> None:
    """Let ``VmHWM`` begin anew from what is resident now."""
    _CLEAR.write_text("5")
