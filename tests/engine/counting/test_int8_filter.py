"""The int8 filter changes no group: profiles with it and without are the same, on data that it is used for.

It is used under AVX2, and under AVX-512 with VNNI. Elsewhere both runs are the same, nothing here could fail, and it
is skipped. `DEADHEAT_INSTRUCTION_SET=avx2 pytest` tests the products of AVX2 on a newer processor.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import _core
from deadheat.engine.counting import problem

CPU_INFO = Path("/proc/cpuinfo")  # of Linux; elsewhere AVX-512 is taken to have VNNI
HAS_VNNI = "avx512_vnni" in CPU_INFO.read_text() if CPU_INFO.exists() else True

pytestmark = pytest.mark.skipif(
    _core.instruction_set() != "avx2" and not (_core.instruction_set() == "avx512" and HAS_VNNI),
    reason=f"the int8 filter needs AVX2 or AVX-512 VNNI, but the core uses {_core.instruction_set()}, VNNI: {HAS_VNNI}",
)

N, DIM = 900, 48


def clusters(seed: int, dtype: Any = np.float32, size: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Classes far from each other, but for a few samples that are far from their class; some rows are equal."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(N) // size)
    far = np.where(rng.random((N, 1)) < 0.02, 6.0, 0.3)
    rows = rng.standard_normal((N, DIM))[labels] + far * rng.standard_normal((N, DIM))
    rows[rng.integers(0, N, 20)] = rows[rng.integers(0, N, 20)]
    return rows.astype(dtype), labels


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def same(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    def with_and_without(*args: Any, **options: Any) -> None:
        result = []
        for least in (1 << 62, 0):
            monkeypatch.setattr(problem, "LEAST_FOR_INT8", least)
            result.append(dh.Task(*args, threads=request.param, **options).profile)
        assert result[0] == result[1]

    return with_and_without


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_leave_one_out(distance: str, dtype: Any, same: Any) -> None:
    same(*clusters(1, dtype), distance=distance)


@pytest.mark.parametrize("ties", ["float16", dh.Tolerance(1e-3)], ids=str)
def test_other_meanings_of_a_tie(ties: Any, same: Any) -> None:
    same(*clusters(2), ties=ties, distance="euclidean")


def test_a_gallery_with_junk_and_rows_left_out(same: Any) -> None:
    (rows, labels), (gallery, gallery_labels) = clusters(3), clusters(4)
    gallery[:300], gallery_labels[:300] = rows[:300] + np.float32(0.1), labels[:300]
    rng = np.random.default_rng(5)
    for junk in (None, rng.random(N) < 0.3, rng.random((N, N)) < 0.3):
        same(rows, labels, gallery, gallery_labels, junk=junk, exclude=rng.integers(-1, N, N), distance="inner_product")


def test_numbers_that_int8_cannot_hold(same: Any) -> None:
    rows, labels = clusters(6, np.float64)
    rows *= 10.0 ** np.random.default_rng(7).integers(-40, 41, (N, 1))
    rows[labels == 0] = 0
    for distance in ("cosine", "inner_product"):
        same(rows, labels, distance=distance)


def test_integers_that_it_holds_exactly(same: Any) -> None:
    rows, labels = clusters(8)
    same(np.round(rows * 20).astype(np.int8), labels, distance="euclidean")
