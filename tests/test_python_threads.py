"""Python threads that evaluate at once get the bits of one alone and never wait for each other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import deadheat as dh

N_THREAD = 4


def digest(seed: int) -> str:
    """Of data full of ties, whose counts are added, measured and compared too."""
    rng = np.random.default_rng(seed)
    bits, labels = rng.integers(0, 2, (120, 8)).astype(bool), rng.integers(0, 6, 120)
    profile = dh.Task(bits, labels, distance="hamming", threads=2).profile
    means = dh.evaluate(profile, ["mAP", "nDCG@10", "Hit@1"]).to_dict()["measures"]
    return f"{profile.digest()} {means}"


def test_threads_at_once_get_the_bits_of_one_alone() -> None:
    alone = [digest(seed) for seed in range(3 * N_THREAD)]
    assert len(set(alone)) == len(alone)
    start = threading.Barrier(N_THREAD)

    def together(first: int) -> list[str]:
        start.wait()
        return [digest(seed) for seed in range(first, len(alone), N_THREAD)]

    with ThreadPoolExecutor(N_THREAD) as pool:
        results = list(pool.map(together, range(N_THREAD)))
    assert [results[seed % N_THREAD][seed // N_THREAD] for seed in range(len(alone))] == alone


def small_task(seed: int, **options: Any) -> dh.Task:
    rng = np.random.default_rng(seed)
    return dh.Task(rng.standard_normal((40, 4)), rng.integers(0, 4, 40), **options)


def test_a_progress_callback_that_waits_blocks_no_other_thread() -> None:
    begun, resume = threading.Event(), threading.Event()

    def wait(done: int, total: int) -> None:
        begun.set()
        assert resume.wait(60)

    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(dh.evaluate, small_task(0, progress=wait))
        assert begun.wait(60)
        other = pool.submit(dh.evaluate, small_task(1))
        try:
            other.result(timeout=30)
        finally:
            resume.set()
        assert str(waiting.result()) == str(dh.evaluate(small_task(0)))


def test_the_only_worker_of_an_executor_may_evaluate_another_task() -> None:
    begun = threading.Event()

    class Starting(ThreadPoolExecutor):
        def submit(self, *args: Any, **kwargs: Any) -> Any:
            begun.set()  # the second task is evaluated while the first waits for this executor
            return super().submit(*args, **kwargs)

    def second() -> str:
        assert begun.wait(60)
        return str(dh.evaluate(small_task(1)))

    def first() -> None:
        results.append(str(dh.evaluate(small_task(0, executor=pool))))

    results: list[str] = []
    pool = Starting(1)
    other = ThreadPoolExecutor.submit(pool, second)
    caller = threading.Thread(target=first)
    caller.start()
    caller.join(30)
    waits = caller.is_alive()
    pool.shutdown(cancel_futures=True)  # which would end the wait
    assert not waits, "the executor and the task wait for each other"
    assert (results, other.result()) == ([str(dh.evaluate(small_task(0)))], str(dh.evaluate(small_task(1))))


def in_a_fork(work: Callable[[], object], seconds: float = 30) -> int:
    """Return the exit status of a forked process: 0 after `work`, −9 if it had to be ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks while there are threads, from Python 3.12 on
        child = os.fork()
    if not child:
        try:
            work()
            os._exit(0)
        except BaseException:
            os._exit(1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this needs a system that forks")
def test_a_process_that_is_forked_while_another_thread_counts_can_count() -> None:
    same, other = str(dh.evaluate(small_task(0))), str(dh.evaluate(small_task(1)))
    counting, resume = threading.Event(), threading.Event()
    task = small_task(0, progress=lambda done, total: (counting.set(), resume.wait(60)))
    thread = threading.Thread(target=lambda: task.profile)
    thread.start()
    assert counting.wait(60)

    def work() -> None:
        resume.set()
        assert str(dh.evaluate(task)) == same
        assert str(dh.evaluate(small_task(1))) == other

    status = in_a_fork(work)
    resume.set()
    thread.join()
    assert status == 0


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this needs a free-threaded Python")
def test_a_free_threaded_python_stays_so() -> None:
    program = "import sys, deadheat as dh; dh.evaluate([[1.0], [2.0]], [0, 0]); print(sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
