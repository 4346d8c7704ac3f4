"""Threads for one call: how many there are, what they give, and how they end, whatever happened."""

from __future__ import annotations

import os
import threading
import time

import pytest

from deadheat import _core
from deadheat.support import progress as module
from deadheat.support.progress import Workers, raise_if_cancelled


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_the_order_of_the_items(threads: int) -> None:
    with Workers(threads) as workers:
        assert workers.each(lambda item: item**2, range(20)) == [item**2 for item in range(20)]


def test_one_thread_is_the_callers() -> None:
    with Workers(1) as workers:
        assert set(workers.each(lambda item: threading.get_ident(), range(5))) == {threading.get_ident()}


def test_there_are_no_more_threads_than_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.os, "cpu_count", lambda: 2)
    barrier = threading.Barrier(2)

    def meet(item: int) -> int:
        barrier.wait(timeout=30)
        return threading.get_ident()

    with Workers(1000) as workers:
        assert len(set(workers.each(meet, range(40)))) == 2


def test_an_error_reaches_the_caller_and_no_thread_stays() -> None:
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError), Workers(2) as workers:
        workers.each(lambda item: 1 // item, [1, 0])
    assert workers.stop.is_set()
    assert threading.active_count() == before


def test_threads_compute_in_the_plain_mode_whatever_the_callers_is() -> None:
    flushes = 0x8040  # as in test_floats.py
    before = _core.set_float_mode()
    _core.set_float_mode(_core.set_float_mode() | flushes)
    try:
        with Workers(2) as workers:
            modes = workers.each(lambda item: _core.set_float_mode(), range(20))
        assert {mode & flushes for mode in modes} == {0}
    finally:
        assert _core.set_float_mode(before) & flushes == flushes  # the caller's was left alone


def test_an_error_ends_what_goes_on_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    waiting, asked = threading.Event(), []

    def work(item: int) -> None:
        if item == 0:
            waiting.wait(60)
            raise ZeroDivisionError
        waiting.set()
        while len(asked) < 100_000:
            asked.append(item)
            time.sleep(0.001)
            raise_if_cancelled()

    with pytest.raises(ZeroDivisionError), Workers(2) as workers:
        workers.each(work, range(50))
    assert set(asked) <= {1, 2}  # and what the thread with the error has begun since
    assert len(asked) < 100_000


def test_who_has_no_workers_is_never_stopped() -> None:
    done = []

    def work(item: int) -> None:
        raise_if_cancelled()
        done.append(item)

    work(-1)
    with Workers(1) as workers:
        workers.stop.set()
        workers.each(work, range(3))
    assert done == [-1, 0, 1, 2]
