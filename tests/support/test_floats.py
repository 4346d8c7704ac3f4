"""A process that flushes subnormal numbers to zero, or makes an underflow an error, gets the same numbers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import deadheat as dh
from deadheat import _core
from deadheat.support.floats import plain_mode

FLAGS = 0x3F  # what has happened, not what is to be done
FLUSHING = _core.PLAIN_FLOAT_MODE & ~FLAGS | 0x8040  # flush to zero, and denormals are zero, as -ffast-math sets them


@pytest.fixture
def flushing():
    before = _core.set_float_mode(FLUSHING)
    yield
    _core.set_float_mode(before)


def values(report):
    return [value for name in report for value in (report[name].lower, report[name].expected, report[name].upper)]


def in_a_flushing_process(work):
    """What some work gives in a new thread whose mode flushes."""

    def flushed():
        before = _core.set_float_mode(FLUSHING)
        try:
            tiny = np.float64(5e-324)
            assert tiny * np.float64(1.0) == 0  # the mode is on, else nothing would be tested
            return work()
        finally:
            assert _core.set_float_mode(before) & ~FLAGS == FLUSHING  # and was put back

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(flushed).result()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("distance", ["euclidean", "cosine", "inner_product", "cityblock"])
@pytest.mark.parametrize(("dtype", "tail"), [(np.float32, 1e-40), (np.float64, 1e-310)])
def test_flushing_to_zero_changes_nothing(distance, dtype, tail, threads):
    rng = np.random.default_rng(4)
    rows = np.concatenate([np.array([[1, 0], [1, tail], [1, 2 * tail]]), rng.integers(-3, 4, (60, 2)) * tail])
    labels = np.concatenate([[0, 0, 1], rng.integers(0, 9, 60)])
    rows = rows.astype(dtype)
    report = dh.evaluate(rows, labels, distance=distance, threads=threads)
    flushed = in_a_flushing_process(lambda: dh.evaluate(rows, labels, distance=distance, threads=threads))
    assert report.profile.digest() == flushed.profile.digest()
    assert values(report) == values(flushed)


def test_subnormal_scores_are_told_apart():
    def tied():
        return dh.profile_scores([[1e-310, 2e-310, 0.0]], [[1, 0, 0]]).tied.tolist()

    assert tied() == in_a_flushing_process(tied) == [1]


def test_three_points():
    rows, labels = np.array([[1, 0], [1, 1e-40], [1, 2e-40]]), [0, 0, 1]

    def hits():
        hit = dh.evaluate(rows, labels, distance="euclidean", measures="Hit@1")["Hit@1"]
        return hit.lower, hit.expected, hit.upper

    assert hits() == in_a_flushing_process(hits)


def test_an_underflow_is_no_error():
    rows, labels = np.array([[1e-300, 1e-310], [2e-300, 0], [1e-5, 1e-320], [3e-300, 5e-324]]), [0, 1, 0, 1]
    for distance in ("euclidean", "cosine", "inner_product", "cityblock"):
        report = dh.evaluate(rows, labels, distance=distance)
        with np.errstate(all="raise"):
            assert values(dh.evaluate(rows, labels, distance=distance)) == values(report)


def test_the_mode_is_put_back(flushing):
    with plain_mode():
        assert _core.set_float_mode(_core.PLAIN_FLOAT_MODE) & ~FLAGS == _core.PLAIN_FLOAT_MODE
    assert _core.set_float_mode(FLUSHING) & ~FLAGS == FLUSHING
