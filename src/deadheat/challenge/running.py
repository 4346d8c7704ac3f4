"""A command under limits of time and memory: what it writes to standard output goes to a file, up to a size.

Memory is limited twice: by the system for each process (`limited`), and by a watch on all that descend from it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_SHELL = 'ulimit -v "$1" 2>&-; ulimit -c 0; made=$2; shift 2; "$@" >&2 || exit $?; exec cat -- "$made"'
_GLANCE = 0.1  # seconds between two looks
_PATIENCE = 2.0  # seconds, for the rest of what a command that has ended says
_PROCESSES = 256
_PIECE, _SAID = 1 << 20, 1 << 16  # bytes read at once; bytes kept of what it says


@dataclass(frozen=True)
class Limits:
    """What a command may take: seconds, bytes of memory, bytes of output."""

    seconds: float
    memory: int
    output: int


class Stopped(Exception):
    """A command broke a limit, or ended with an error; `said` is the end of what it wrote to standard error."""

    def __init__(self, reason: str, said: str = "") -> None:
        super().__init__(reason)
        self.said = said


def limited(words: Sequence[str], output: Path, memory: int) -> list[str]:
    """Words of a shell that runs a command with so many bytes of memory, and then prints the file it has made.

    Standard output is the one way out of a sandbox; what a command prints there itself goes where its errors go.
    """
    return ["/bin/sh", "-c", _SHELL, "sh", str(memory >> 10), str(output), *words]


def run(words: Sequence[str], output: Path, limits: Limits, environment: dict[str, str], folder: Path) -> None:
    """Run a command and write its standard output to a file.

    Raises
    ------
    Stopped
        If it breaks a limit, or does not end well.
    """
    with (
        open(output, "wb") as file,
        subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
            cwd=folder, start_new_session=True,
        ) as process,
    ):  # fmt: skip
        watch = _Watch(process, limits)
        said: list[bytes] = []
        watching = threading.Thread(target=watch.look)
        heard = os.dup(process.stderr.fileno())  # type: ignore[union-attr]
        listening = threading.Thread(target=_listen, args=(heard, said), daemon=True)
        watching.start()
        listening.start()
        try:
            _copy(process, file, limits.output, watch)
            _wait(process)
        finally:
            watch.end()
            watching.join()
            listening.join(_PATIENCE)  # without a sandbox, somebody may have got away and hold on to it
    text = b"".join(said).decode(errors="replace")
    if watch.reason is not None:
        raise Stopped(watch.reason, text)
    if process.returncode != 0:
        raise Stopped(f"the command ended with status {process.returncode}", text)


class _Watch:
    """Looks at a process and all that descend from it, and kills them when they take too much."""

    def __init__(self, process: subprocess.Popen[bytes], limits: Limits) -> None:
        self.reason: str | None = None
        self._process, self._limits, self._over = process, limits, threading.Event()

    def look(self) -> None:
        end = time.monotonic() + self._limits.seconds
        while not self._over.wait(_GLANCE):
            memory, n_process = _taken(self._process.pid)
            if time.monotonic() > end:
                self.stop(f"the command took longer than {self._limits.seconds:g} seconds")
            elif memory > self._limits.memory:
                self.stop(f"the command took more than {self._limits.memory >> 20} MB of memory")
            elif n_process > _PROCESSES:
                self.stop(f"the command had more than {_PROCESSES} processes")

    def stop(self, reason: str) -> None:
        self.reason = self.reason or reason
        _kill(self._process.pid)

    def end(self) -> None:
        """Whatever happened, leave nothing behind."""
        self._over.set()
        _kill(self._process.pid)


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait until it has ended, and leave its number to it, so that whoever is killed by that number is its own."""
    if hasattr(os, "waitid"):
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    else:
        process.wait()


def _copy(process: subprocess.Popen[bytes], file: object, most: int, watch: _Watch) -> None:
    written = 0
    while piece := os.read(process.stdout.fileno(), _PIECE):  # type: ignore[union-attr]
        written += len(piece)
        if written > most:
            watch.stop(f"the command handed back more than {most >> 20} MB")
            return
        file.write(piece)  # type: ignore[attr-defined]


def _listen(heard: int, said: list[bytes]) -> None:
    """Keep the end of what a command says, and let it say as much as it likes."""
    while piece := os.read(heard, _SAID):
        said[:] = [b"".join([*said, piece])[-_SAID:]]
    os.close(heard)


def _kill(pid: int) -> None:
    """Kill a process that leads a group of its own, and what descends from it in other groups."""
    for each in [*_descendants(pid), pid]:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(each, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _taken(pid: int) -> tuple[int, int]:
    """Bytes of memory that a process and its descendants take, and how many they are."""
    pages, found = 0, [pid, *_descendants(pid)]
    for each in found:
        with suppress(OSError, ValueError, IndexError):
            pages += int(Path(f"/proc/{each}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(found)


def _descendants(pid: int) -> list[int]:
    """All processes that descend from one; none where the system does not tell."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found: list[int] = []
    new = [pid]
    while new:
        new = [child for parent in new for child in children.get(parent, [])]
        found += new
    return found
