"""Python programs run in a process of their own, and what that process has resident."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.data import Unavailable
from benchmarks.results import ROOT

_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class ChildFailed(Exception):
    """A program ended with an error, which is the message."""


class Silent(Exception):
    """A program said nothing for as long as it was given."""


def run(program: list[str], settings: dict[str, Any], environment: dict[str, str] | None = None) -> dict[str, Any]:
    """Run ``python PROGRAM SETTINGS`` in the checkout; the last line that it prints is JSON.

    Raises
    ------
    ChildFailed
        With the last line of what it said on standard error, if it failed.
    """
    done = subprocess.run(
        [sys.executable, *program, _text(settings)],
        cwd=ROOT, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise _failure(program, done.stderr, done.returncode)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _text(settings: dict[str, Any]) -> str:
    """Settings as JSON, cases among them as dictionaries of their fields."""
    return json.dumps(settings, default=dataclasses.asdict)


def _failure(program: list[str], error: str, status: int) -> ChildFailed:
    said = error.strip().splitlines()
    return ChildFailed(said[-1] if said else f"{' '.join(program)} ended with status {status}")


@contextlib.contextmanager
def talking(program: list[str], settings: dict[str, Any]) -> Iterator[Callable[[float], Any]]:
    """``python PROGRAM SETTINGS`` in the checkout while it runs, for a program whose every line is JSON.

    Yields a function of a number of seconds, which gives the next line if it comes within them. Otherwise it ends the
    program and raises `Silent`; a program that failed raises `ChildFailed`. At the end the program is ended.
    """
    command = [sys.executable, *program, _text(settings)]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True) as child,
    ):
        assert child.stdout is not None
        lines = child.stdout

        def says(within: float) -> Any:
            too_late = threading.Timer(within, child.kill)
            begin = time.monotonic()
            too_late.start()
            line = lines.readline()
            too_late.cancel()
            if line:
                return json.loads(line)
            if time.monotonic() - begin >= within:
                raise Silent(f"{' '.join(program)} said nothing for {within:g} s")
            status = child.wait()
            errors.seek(0)
            raise _failure(program, errors.read(), status)

        try:
            yield says
        finally:
            child.kill()


def settings() -> Any:
    """Return what the parent handed over."""
    return json.loads(sys.argv[1])


def say(what: object) -> None:
    """Tell the parent, in one line of JSON."""
    print(json.dumps(what), flush=True)


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
