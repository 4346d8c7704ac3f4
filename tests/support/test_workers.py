"""Threads for one call: what BLAS has meanwhile, and what it has afterwards, whatever happened."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from deadheat.support.workers import Workers


def blas_threads() -> set[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_the_order_of_the_items(threads: int) -> None:
    with Workers(threads) as workers:
        assert workers.each(lambda item: item**2, range(20)) == [item**2 for item in range(20)]


def test_blas_has_one_thread_meanwhile_and_what_it_had_afterwards() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with Workers(2):
            assert blas_threads() == {1}
        assert blas_threads() == before
        with pytest.raises(ZeroDivisionError), Workers(2) as workers:
            workers.each(lambda item: 1 // item, [1, 0])
        assert blas_threads() == before


def test_work_without_blas_leaves_it_as_it_is() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with Workers(2, uses_blas=False):
            assert blas_threads() == before
