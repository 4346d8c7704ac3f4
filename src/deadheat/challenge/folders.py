"""Files and folders of the organiser's, which nobody else on the machine can read, whatever the umask."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def private(path: Path) -> None:
    """Make an empty file that only its owner can read; leave one that is there."""
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def make_private(path: Path) -> None:
    """Take from everybody but the owner what they may do with a file, or with a folder and what is in it."""
    for each in (path, *path.rglob("*")):
        if not each.is_symlink():
            each.chmod(each.stat().st_mode & 0o700)


def remove(path: Path) -> None:
    """Remove a file, or a folder with what is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
