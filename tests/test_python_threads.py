"""Python threads that evaluate at once get the bits of one alone, and a free-threaded Python stays so."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor

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
        found = list(pool.map(together, range(N_THREAD)))
    assert [found[seed % N_THREAD][seed // N_THREAD] for seed in range(len(alone))] == alone


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this needs a free-threaded Python")
def test_a_free_threaded_python_stays_so() -> None:
    program = "import sys, deadheat as dh; dh.evaluate([[1.0], [2.0]], [0, 0]); print(sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
