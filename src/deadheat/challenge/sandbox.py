"""Who keeps a command from what is not its business: bubblewrap (https://github.com/containers/bubblewrap).

In it a command sees the system's programs and libraries, its own folder and the shuffled inputs, all read-only, an
empty folder in memory to write to, no network, no other process, and nothing of the organiser's. A machine may have no
bubblewrap, or forbid what it needs; then a command is refused, unless the organiser says it may run unprotected.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from deadheat.errors import InvalidValueError

BUBBLEWRAP, NOTHING = "bubblewrap", "none"
UNPROTECTED = " (unprotected)"  # after the name of whoever's command ran without a sandbox
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
_FILES = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime")  # links within /usr, and where libraries are
_TRIAL = 10.0  # seconds
_NOBODY = "65534"


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
    said = " ".join(tried.stderr.decode(errors="replace").split())
    return None if tried.returncode == 0 else f"bubblewrap does not work here: {said:.200}"


def wrapped(words: Sequence[str], shown: dict[str, Path], also: Sequence[Path], memory: int) -> list[str]:
    """The words of a command that runs `words` in the sandbox.

    Parameters
    ----------
    words : sequence of str
    shown : dict of str to Path
        What it sees read-only, by the path at which it sees it; it begins in the first.
    also : sequence of Path
        What else it sees, where it is.
    memory : int
        Bytes that it may write to ``/output``, to ``/tmp`` and to ``/dev/shm``, each of which is in memory.
    """
    options = [
        "--unshare-all",
        "--unshare-user",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--cap-drop",
        "ALL",
    ]
    options += ["--uid", _NOBODY, "--gid", _NOBODY, "--hostname", "sandbox"]
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
    """What a command is told of the machine: as little as it needs."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "TMPDIR": "/tmp"}


def require_hidden(folder: Path, also: Sequence[Path]) -> None:
    """Refuse to run where the sandbox would show the organiser's folder."""
    for shown in (*map(Path, _SYSTEM), *also):
        seen = shown.resolve()
        if folder.is_relative_to(seen) or seen.is_relative_to(folder):
            raise InvalidValueError("DIR", f"must be where commands cannot see it, but {folder} is in {shown}")
