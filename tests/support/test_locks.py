"""A forked process is held up by no lock that another thread had, and deletes nothing of the process that forked it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this needs a system that forks")

_HELD = """
import os, threading
from threading import RLock
from deadheat.engine.counting import executors
from deadheat.support import atomic, locks, scratch
held = [atomic._UMASK, scratch._turn, executors._turn, locks.process_lock(RLock)]
taken, over = threading.Event(), threading.Event()
def hold():
    for lock in held: lock.acquire()
    taken.set(); over.wait()
thread = threading.Thread(target=hold); thread.start(); taken.wait()
child = os.fork()
if child == 0:
    os._exit(sum(not lock.acquire(timeout=1) for lock in held))
status = os.waitpid(child, 0)[1]
over.set()
print(os.waitstatus_to_exitcode(status))
"""
_COPY = """
import os, sys
from deadheat.support.scratch import own_copy
copy = own_copy("file://" + sys.argv[1])
if os.fork() == 0:
    sys.exit()
os.wait()
print(os.path.exists(copy), flush=True)
"""


def printed(program: str, *arguments: str) -> str:
    """Return the output of a program in a process of its own: a fork may not warn in ours."""
    command = [sys.executable, "-W", "ignore", "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


@forks
def test_locks_that_another_thread_held_are_free_in_a_forked_process() -> None:
    assert printed(_HELD) == "0"


@forks
def test_a_forked_process_that_ends_leaves_the_copies_of_urls(tmp_path: Path) -> None:
    pytest.importorskip("fsspec")
    (tmp_path / "a.txt").write_text("1\n")
    assert printed(_COPY, str(tmp_path / "a.txt")) == "True"
