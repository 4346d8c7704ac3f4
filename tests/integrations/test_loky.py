"""loky's workers count; a killed one is replaced, since `get_reusable_executor` makes another executor."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from integrations.needs import needs

import deadheat as dh
from deadheat.engine.counting.cluster import n_worker

pytestmark = needs("loky")


@pytest.fixture
def make() -> Iterator[Any]:
    import loky

    yield lambda: loky.get_reusable_executor(2, timeout=30)
    loky.get_reusable_executor(2).shutdown(wait=True, kill_workers=True)


def samples() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.integers(-50, 51, (1500, 8)).astype(np.float32), rng.integers(0, 100, 1500)


def test_the_profile_is_the_same(make: Any) -> None:
    rows, labels = samples()
    assert n_worker(make()) == 2
    assert dh.profile(rows, labels, executor=make()).digest() == dh.profile(rows, labels).digest()


@pytest.mark.filterwarnings("ignore:A worker stopped while some jobs:UserWarning")
def test_a_worker_that_is_killed_in_the_middle(make: Any) -> None:
    rows, labels = samples()
    killed: list[int] = []

    def progress(done: int, total: int) -> None:
        if done and not killed:
            killed.append(next(iter(make()._processes)))
            os.kill(killed[0], signal.SIGKILL)

    found = dh.profile(rows, labels, executor=dh.Cluster(make, tasks=15), progress=progress)
    assert killed
    assert found.digest() == dh.profile(rows, labels).digest()
