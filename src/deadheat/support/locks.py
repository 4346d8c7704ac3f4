"""Locks that belong to a process and not to an object."""

from __future__ import annotations

import os
from threading import Lock
from typing import Any


def process_lock(kind: Any = Lock) -> Any:
    """Return a lock, or another `kind` of lock, that is free in a forked process, also if another thread held it."""
    lock = kind()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lock._at_fork_reinit)
    return lock
