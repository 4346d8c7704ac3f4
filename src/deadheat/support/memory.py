"""How much memory there is."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_NOBODY_SAYS = 8 << 30  # bytes, where the system does not tell


def available() -> int:
    """The bytes that a process could take now without anything being swapped out, about.

    Examples
    --------
    >>> available() > 0
    True
    """
    free = _free()
    with suppress(OSError, ValueError):  # there is no container, or it says "max"
        return min(free, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return free


def _free() -> int:
    with suppress(OSError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
    with suppress(AttributeError, ValueError, OSError):  # all that is built in, which is more than is free
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return _NOBODY_SAYS
