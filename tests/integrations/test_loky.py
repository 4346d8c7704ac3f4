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


@pytest.mark.filterwarnings("ignore:A worker stopped while some jobs:UserWarning")
def test_a_worker_that_is_killed_in_the_middle(make: Any) -> None:
    rng, killed = np.random.default_rng(3), list[int]()
    rows, labels = rng.integers(-50, 51, (1500, 8)).astype(np.float32), rng.integers(0, 100, 1500)
    assert n_worker(make()) == 2

    def progress(done: int, total: int) -> None:
        if done and not killed:
            killed.append(next(iter(make()._processes)))
            os.kill(killed[0], signal.SIGKILL)

    found = dh.profile(rows, labels, executor=dh.Cluster(make, tasks=15), progress=progress)
    assert killed
    assert found.digest() == dh.profile(rows, labels).digest()
