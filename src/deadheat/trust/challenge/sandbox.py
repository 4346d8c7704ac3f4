"""A command in a sandbox, bubblewrap (https://github.com/containers/bubblewrap), and under limits of time and memory.

In the sandbox a command sees the system's programs and libraries, its own folder and the shuffled inputs, all
read-only, an empty folder in memory to write to, no network, no other process, and nothing of the organiser's. A
machine may have no bubblewrap, or forbid what it needs; then a command is refused, unless the organiser says it may run
unprotected.

What it writes to standard output goes to a file, up to a size. Memory is limited twice: by the system for each process
(`limited`), and by a watch on all that descend from it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from deadheat.errors import DeadheatError, InvalidValueError

BUBBLEWRAP, NOTHING = "bubblewrap", "none"
UNPROTECTED = " (unprotected)"  # after the name of whoever's command ran without a sandbox
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_FILES = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime")  # links within /usr, and where libraries are
_TRIAL = 10.0  # seconds
_NOBODY = "65534"

_SHELL = 'ulimit -v "$1" 2>&-; ulimit -c 0; made=$2; shift 2; "$@" >&2 || exit $?; exec cat -- "$made"'
_INTERVAL = 0.1  # seconds between two looks at a command's processes
_DRAIN = 2.0  # seconds, for the rest of the errors of a command that has ended
_PROCESSES = 256
_PIECE, _KEPT = 1 << 20, 1 << 16  # bytes read at once; bytes kept of its errors


class Refused(DeadheatError):
    """There is no sandbox, and nobody said that a command may run without one."""


def protection(folder: Path, unprotected: bool, also: Sequence[Path]) -> str:
    """What will protect the organiser's folder; refused if it would be nothing and nobody allowed that."""
    if unprotected:
        return NOTHING
    reason = available()
    if reason is not None:
        raise Refused(f"a command must run in a sandbox, but {reason} (--unprotected runs it without one)")
    require_hidden(folder, also)
    return BUBBLEWRAP


@cache
def available() -> str | None:
    """Why there is no sandbox here; None if there is one."""
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap (bwrap) is not installed"
    try:
        words = wrapped(["true"], {}, [], 1 << 20)
        tried = subprocess.run(words, capture_output=True, timeout=_TRIAL, stdin=subprocess.DEVNULL, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap cannot be run: {error}"
    errors = " ".join(tried.stderr.decode(errors="replace").split())
    return None if tried.returncode == 0 else f"bubblewrap does not work here: {errors:.200}"


def wrapped(words: Sequence[str], shown: dict[str, Path], also: Sequence[Path], memory: int) -> list[str]:
    """The words of a command that runs `words` in the sandbox.

    It sees read-only what is `shown`, by the path at which it sees it, and begins in the first; and `also`, where that
    is. `memory` is how many bytes it may write to ``/output``, ``/tmp`` and ``/dev/shm``, each of which is in memory.
    """
    options = ["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv"]
    options += ["--cap-drop", "ALL", "--uid", _NOBODY, "--gid", _NOBODY, "--hostname", "sandbox"]
    options += ["--proc", "/proc", "--dev", "/dev"]
    for folder in _SYSTEM:
        if os.path.islink(folder):
            options += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            options += ["--ro-bind", folder, folder]
    for file in _FILES:
        options += ["--ro-bind-try", file, file]
    for folder in ("/tmp", "/output", "/dev/shm"):
        options += ["--size", str(memory), "--tmpfs", folder]
    for path in also:
        options += ["--ro-bind", str(path), str(path)]
    for place, source in shown.items():
        options += ["--ro-bind", str(source), place]
    for name, value in environment().items():
        options += ["--setenv", name, value]
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", next(iter(shown), "/")]
    return [shutil.which("bwrap") or "bwrap", *options, "--", *words]


def environment() -> dict[str, str]:
    """What a command knows of the machine: as little as it needs."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "TMPDIR": "/tmp"}


def require_hidden(folder: Path, also: Sequence[Path]) -> None:
    """Refuse to run where the sandbox would show the organiser's folder."""
    for shown in (*map(Path, _SYSTEM), *also):
        seen = shown.resolve()
        if folder.is_relative_to(seen) or seen.is_relative_to(folder):
            raise InvalidValueError("DIR", f"must be where commands cannot see it, but {folder} is in {shown}")


# ---------------------------------------------------------------------------------------------------------------------
# limits


@dataclass(frozen=True)
class Limits:
    """What a command may take: seconds, bytes of memory, bytes of output."""

    seconds: float
    memory: int
    output: int


class Stopped(Exception):
    """A command broke a limit, or ended with an error; `errors` is the end of what it wrote to standard error."""

    def __init__(self, reason: str, errors: str = "") -> None:
        super().__init__(reason)
        self.errors = errors


def limited(words: Sequence[str], output: Path, memory: int) -> list[str]:
    """Words of a shell that runs a command with so many bytes of memory, and then prints the file it has made.

    Standard output is the one way out of a sandbox; what a command prints there itself goes where its errors go.
    """
    return ["/bin/sh", "-c", _SHELL, "sh", str(memory >> 10), str(output), *words]


def run(words: Sequence[str], output: Path, limits: Limits, environment: dict[str, str], folder: Path) -> None:
    """Run a command and write its standard output to a file; Stopped says that it broke a limit, or failed."""
    reasons, errors, over, end = list[str](), b"", threading.Event(), time.monotonic() + limits.seconds
    with (
        open(output, "wb") as file,
        subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
            cwd=folder, start_new_session=True,
        ) as process,
    ):  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        said = os.dup(process.stderr.fileno())

        def stop(reason: str) -> None:
            reasons.append(reason)
            _kill(process.pid)

        def watch() -> None:
            """Look at the process and all that descend from it, and kill them when they take too much."""
            while not over.wait(_INTERVAL):
                memory, n_process = _taken(process.pid)
                if time.monotonic() > end:
                    stop(f"the command took longer than {limits.seconds:g} seconds")
                elif memory > limits.memory:
                    stop(f"the command took more than {limits.memory >> 20} MB of memory")
                elif n_process > _PROCESSES:
                    stop(f"the command had more than {_PROCESSES} processes")

        def listen() -> None:
            """Keep the end of the command's errors, of which there may be as many as it likes."""
            nonlocal errors
            while piece := os.read(said, _KEPT):
                errors = (errors + piece)[-_KEPT:]
            os.close(said)

        watching, listening = threading.Thread(target=watch), threading.Thread(target=listen, daemon=True)
        watching.start()
        listening.start()
        try:
            written = 0
            while piece := os.read(process.stdout.fileno(), _PIECE):
                written += len(piece)
                if written > limits.output:
                    stop(f"the command returned more than {limits.output >> 20} MB")
                    break
                file.write(piece)
            if hasattr(os, "waitid"):  # leave its number taken, so that nobody else's process is killed by that number
                os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            else:
                process.wait()
        finally:
            over.set()
            _kill(process.pid)  # whatever happened, leave nothing behind
            watching.join()
            listening.join(_DRAIN)  # without a sandbox, a process that escaped may still have it open
    text = errors.decode(errors="replace")
    if reasons:
        raise Stopped(reasons[0], text)
    if process.returncode != 0:
        raise Stopped(f"the command ended with status {process.returncode}", text)


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
    """All processes that descend from one; none where there is no /proc."""
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
