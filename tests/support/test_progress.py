"""Calls that take long: how their threads work and end, and progress, of which every amount is reported in order."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from deadheat import _core
from deadheat.support.progress import Bar, Reporting, Workers, raise_if_cancelled, rate_text

Calls = list[tuple[int, int]]


class Clock:
    """A clock that stands still until `now` is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("deadheat.support.progress.time", made)
    return made


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)


# a function


@pytest.mark.parametrize(
    ("total", "done", "amounts", "expected"),
    [
        (10, 0, [3, 0, 5, 2, 0], [0, 3, 8, 10]),
        (10, 0, [3], [0, 3]),  # what is not finished does not end with the total
        (0, 0, [], [0]),
        (7, 7, [], [7]),  # nothing left to do is reported once
        (10, 6, [4], [6, 10]),
    ],
)
def test_a_function_hears_of_every_amount(total: int, done: int, amounts: list[int], expected: list[int]) -> None:
    calls: Calls = []
    with Reporting(lambda done, total: calls.append((done, total)), total, done=done) as report:
        for amount in amounts:
            report(amount)
    assert calls == [(each, total) for each in expected]


def test_threads_lose_nothing_and_keep_the_order() -> None:
    calls: Calls = []

    def slow(done: int, total: int) -> None:
        time.sleep(1e-4)  # lets the other threads in between, if they can get in
        calls.append((done, total))

    with Reporting(slow, 800) as report, ThreadPoolExecutor(8) as pool:
        list(pool.map(report, [1] * 800))
    assert calls == [(done, 800) for done in range(801)]


class Stop(BaseException):
    """An exception of a function that the user gave."""


def test_what_a_function_raises_goes_to_who_reported_and_ends_the_calls() -> None:
    calls: Calls = []

    def stop(done: int, total: int) -> None:
        calls.append((done, total))
        if done >= 2:
            raise Stop

    with Reporting(stop, 5) as report, ThreadPoolExecutor(1) as pool:
        pool.submit(report, 1).result()
        with pytest.raises(Stop):
            pool.submit(report, 1).result()
        pool.submit(report, 1).result()
    assert calls == [(0, 5), (1, 5), (2, 5)]


def test_what_a_function_raises_at_the_start_is_raised() -> None:
    with pytest.raises(ZeroDivisionError), Reporting(lambda done, total: 1 // done, 5):
        pytest.fail("the work has begun")


@pytest.mark.parametrize("progress", [None, 1, "yes", [print]])
def test_what_progress_may_be(progress: object) -> None:
    with pytest.raises(TypeError, match=r"^progress must be True, False or a function of \(done, total\), but is "):
        Reporting(progress, 10)  # type: ignore[arg-type]


# the bar


@pytest.mark.usefixtures("terminal")
def test_true_draws_a_bar_on_standard_error(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with Reporting(True, 4_000_000, "counting", "pairs") as report:
        clock.now += 2
        report(2_400_000)
        time.sleep(0.3)  # the bar is drawn ten times a second
        print("what the work prints")
    out, err = capsys.readouterr()
    assert out == "what the work prints\n"
    for part in ("counting", "60%", "1.2 M pairs/s", "0:00:02, 0:00:01 left"):
        assert part in err
    assert err.endswith("\x1b[2K")  # wiped away


def test_false_draws_nothing_and_a_quick_run_with_patience_neither(capsys: pytest.CaptureFixture[str]) -> None:
    with Reporting(False, 4) as report:
        report(4)
    with Bar("quick", patience=60) as bar:
        bar(0, 2)
        bar(2, 2)
    with Bar("never begun", patience=0.01):
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")


def test_without_a_terminal_only_the_last_state_is_printed(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    with Reporting(True, 4, "ranking", "shards") as report:
        clock.now += 1
        for _ in range(4):
            report(1)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.split()[0] == "ranking"
    assert err.endswith("100% 4 shards/s 0:00:01, 0:00:00 left\n")
    assert err.count("\n") == 1


def text(bar: Bar) -> str:
    assert bar._meter is not None
    return str(bar._meter)


def test_the_rate_is_of_what_was_done_since_and_stays_between_reports(clock: Clock) -> None:
    with Bar("counting", patience=60) as bar:
        bar(9_000_000, 10_000_000)
        assert text(bar) == "0:00:00"
        clock.now += 10
        bar(9_500_000, 10_000_000)
        assert text(bar) == "50 k pairs/s 0:00:10, 0:00:10 left"
        clock.now += 4
        assert text(bar) == "50 k pairs/s 0:00:14, 0:00:06 left"
        clock.now += 60
        assert text(bar) == "50 k pairs/s 0:01:14, 0:00:00 left"
    with Bar("counting", patience=60) as bar:
        bar(0, 10**15)
        clock.now += 9999
        bar(999 * 10**9, 10**15)
        assert text(bar) == "100 M pairs/s 2:46:39, 115 days, 17:30:10 left"


@pytest.mark.usefixtures("terminal")
def test_a_bar_with_patience_comes_up_though_nothing_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar("slow", patience=0.01) as bar:
        bar(0, 2)
        deadline = time.monotonic() + 20
        while bar._drawn is None and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "slow" in capsys.readouterr().err


def test_rich_is_imported_only_for_a_bar_that_is_drawn() -> None:
    program = (
        "import sys\n"
        "from deadheat.support.progress import Bar, Reporting\n"
        "with Reporting(False, 1) as a, Reporting(lambda *_: None, 1) as b, Reporting(Bar('', patience=60), 1) as c:\n"
        "    a(1), b(1), c(1)\n"
        "print('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("False\n", "")


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        (0.0, "0 x/s"), (0.04, "0.04 x/s"), (1, "1 x/s"), (9.96, "10 x/s"), (99.4, "99 x/s"), (99.6, "100 x/s"),
        (999.4, "999 x/s"), (999.6, "1 k x/s"), (1.25e6, "1.2 M x/s"), (999.6e6, "1 G x/s"), (2.5e13, "25 T x/s"),
        (3e15, "3 P x/s"), (5e18, "5000 P x/s"),
    ],
)  # fmt: skip
def test_rates_for_people(rate: float, expected: str) -> None:
    assert rate_text(rate, "x") == expected


# threads


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_the_order_of_the_items_and_one_thread_is_the_callers(threads: int) -> None:
    with Workers(threads) as workers:
        result = workers.each(lambda item: (item**2, threading.get_ident()), range(20))
    assert [square for square, _ in result] == [item**2 for item in range(20)]
    assert ({thread for _, thread in result} == {threading.get_ident()}) == (threads == 1)


def test_there_are_no_more_threads_than_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    barrier = threading.Barrier(2)

    def meet(item: int) -> int:
        barrier.wait(timeout=30)
        return threading.get_ident()

    with Workers(1000) as workers:
        assert len(set(workers.each(meet, range(40)))) == 2


def test_the_caller_gets_an_error_and_no_thread_stays() -> None:
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


def test_an_error_ends_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
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
