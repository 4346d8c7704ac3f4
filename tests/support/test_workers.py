"""Threads for one call: how many there are, the order of what they make, and how they end."""

from __future__ import annotations

import os
import threading
import time

import pytest

from deadheat.support.workers import Workers, go_on


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_the_order_of_the_items(threads: int) -> None:
    with Workers(threads) as workers:
        assert workers.each(lambda item: item**2, range(20)) == [item**2 for item in range(20)]


def test_there_are_no_more_threads_than_processors() -> None:
    with Workers(1000) as workers:
        used = set(workers.each(lambda _: time.sleep(0.001) or threading.get_ident(), range(200)))
    assert len(used) <= (os.cpu_count() or 1)


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
            go_on()

    with pytest.raises(ZeroDivisionError), Workers(2) as workers:
        workers.each(work, range(50))
    assert set(asked) <= {1, 2}  # and what the thread with the error has begun since
    assert len(asked) < 100_000


def test_who_has_no_workers_is_never_stopped() -> None:
    go_on()
    with Workers(1) as workers:
        workers.stop.set()
        workers.each(lambda _: go_on(), range(3))
