"""A process that flushes subnormals to zero, rounds otherwise, or makes an underflow an error gets the same numbers."""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

import deadheat as dh
from deadheat import _core
from deadheat.errors import InvalidTypeError
from deadheat.support.floats import plain_floats

FLAGS = 0x3F  # what has happened, not what is to be done
PLAIN = _core.set_float_mode(_core.set_float_mode())
FLUSHING = PLAIN & ~FLAGS | 0x8040  # flush to zero, and denormals are zero, as -ffast-math sets them
X86 = platform.machine() in ("x86_64", "AMD64")
ROUNDING = {"upward": 0x800, "downward": 0x400, "toward zero": 0xC00} if X86 else {
    "upward": 0x400000, "downward": 0x800000, "toward zero": 0xC00000,
}  # fmt: skip


@pytest.fixture
def flushing():
    before = _core.set_float_mode(FLUSHING)
    yield
    _core.set_float_mode(before)


def values(report):
    return [value for name in report for value in (report[name].lower, report[name].expected, report[name].upper)]


def in_mode(mode, work):
    """Return the result of some work in a new thread with this mode."""

    def there():
        if mode == "flushing":
            _core.set_float_mode(FLUSHING)
            assert np.float64(5e-324) * np.float64(1.0) == 0  # the mode is on, else nothing would be tested
        else:
            assert ctypes.CDLL(None).fesetround(ROUNDING[mode]) == 0
            thirds = np.float64(1.0) / np.float64([3.0, -3.0])
            assert abs(thirds[0]) != abs(thirds[1]) or mode == "toward zero"
        before = _core.set_float_mode()
        _core.set_float_mode(before)
        outcome = work()
        assert _core.set_float_mode() & ~FLAGS == before & ~FLAGS  # and was put back
        return outcome

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(there).result()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("distance", ["euclidean", "cosine", "inner_product", "cityblock"])
@pytest.mark.parametrize(("dtype", "tail"), [(np.float32, 1e-40), (np.float64, 1e-310)])
def test_flushing_to_zero_changes_nothing(distance, dtype, tail, threads):
    rng = np.random.default_rng(4)
    rows = np.concatenate([np.array([[1, 0], [1, tail], [1, 2 * tail]]), rng.integers(-3, 4, (60, 2)) * tail])
    labels = np.concatenate([[0, 0, 1], rng.integers(0, 9, 60)])
    rows = rows.astype(dtype)
    report = dh.evaluate(rows, labels, distance=distance, threads=threads)
    flushed = in_mode("flushing", lambda: dh.evaluate(rows, labels, distance=distance, threads=threads))
    assert report.profile.digest() == flushed.profile.digest()
    assert values(report) == values(flushed)


def test_subnormal_scores_differ():
    def tied():
        return dh.from_scores([[1e-310, 2e-310, 0.0]], [[1, 0, 0]]).profile.tied.tolist()

    assert tied() == in_mode("flushing", tied) == [1]


def test_an_underflow_is_no_error():
    rows, labels = np.array([[1e-300, 1e-310], [2e-300, 0], [1e-5, 1e-320], [3e-300, 5e-324]]), [0, 1, 0, 1]
    for distance in ("euclidean", "cosine", "inner_product", "cityblock"):
        report = dh.evaluate(rows, labels, distance=distance)
        with np.errstate(all="raise"):
            assert values(dh.evaluate(rows, labels, distance=distance)) == values(report)


def test_the_mode_is_put_back(flushing):
    assert plain_floats(_core.set_float_mode)() & ~FLAGS == PLAIN
    assert _core.set_float_mode(FLUSHING) & ~FLAGS == FLUSHING


SAMPLES = np.random.default_rng(7).integers(-2, 3, (61, 3)) / 7.0, np.arange(61) % 7
OTHERS = np.random.default_rng(8).integers(-2, 3, (61, 3)) / 7.0


def drawn(axes):
    """The numbers of what has been drawn."""
    numbers = [line.get_xydata().tolist() for line in axes.lines]
    return numbers + [patch.get_path().vertices.tolist() for patch in axes.patches]


def plain_results():
    """Whatever is computed when it is asked for, of results that are there."""
    report, other, task = dh.evaluate(*SAMPLES), dh.evaluate(OTHERS, SAMPLES[1]), dh.Task(*SAMPLES)
    return (
        report, dh.evaluate(*SAMPLES, average="class"), dh.leaderboard({"a": report, "b": other}),
        dh.compare(report, other), dh.grouped(task, group_size=3),
        dh.generalization_gap(task, dh.Task(OTHERS, SAMPLES[1]), group_size=3),
        dh.random_baseline(SAMPLES[1], draws=5), dh.exploit(task, draws=5),
    )  # fmt: skip


def read_out(*results):
    """All that they say, as values, as text and as a picture."""
    report, by_class, board, versus, groups, gap, *_ = results
    tables, plots = [report.by_class(), report.worst(7), report.by_query(), *results], dh.plots
    differences = [versus[name] for name in versus.measures]
    return [
        [(each.lower, each.expected, each.upper, each.std, each.std_per_query.tolist()) for each in report.values()],
        [(each.lower, each.interval(), each.pvalue, each.to_dict()) for each in differences],
        [(each.lower, each.expected, each.upper, each.errors) for each in map(groups.__getitem__, report)],
        [(gap.grouped.lower, gap.plain.upper, gap.grouped)],
        [result.to_dict() for result in results],
        [(table.columns(), table.to_json(), str(table)) for table in tables],
        [table.to_text(digits=13) for table in (report, by_class, board, groups)],
        [(each.interval(), each.interval(method="t"), each.summary(9), str(each)) for each in by_class.values()],
        [dh.receipt(dh.Task(*SAMPLES)).content, repr(report)],
        [*map(drawn, (plots.mean_intervals({"a": report}, "mAP"), plots.cmc(report), plots.bounds(report)))],
    ]


@cache
def in_the_plain_mode():
    return read_out(*plain_results())


@pytest.mark.parametrize("mode", [*ROUNDING, "flushing"])
def test_what_is_computed_when_it_is_asked_for_does_not_depend_on_the_mode(mode):
    results = plain_results()  # and nothing of them is computed yet

    def read():
        return read_out(*results)

    result = in_mode(mode, read)
    for some, others in zip(result, in_the_plain_mode(), strict=True):
        assert repr(some) == repr(others)
    assert repr(read()) == repr(in_the_plain_mode())  # nor does what was kept


@pytest.mark.parametrize("mode", ROUNDING)
def test_confidences_do_not_depend_on_the_mode(mode):
    correct, confidence = np.arange(37) % 3 == 0, np.sqrt(np.arange(37)) / 7
    ask = dh.confidence

    def read():
        norms = ask.norms(SAMPLES[0])
        return [
            ask.confidence_accuracy(correct, confidence).to_dict(), ask.calibration(correct, confidence).to_dict(),
            ask.error_reject_curve(correct, confidence).to_dict(), norms.tolist(),
            ask.rank_correlation(confidence, norms[:37]).to_dict(),
        ]  # fmt: skip

    assert repr(in_mode(mode, read)) == repr(read())


def test_an_argument_that_is_misspelt_gets_a_hint_and_no_other_error_does() -> None:
    @plain_floats
    def public(*, distance: str = "cosine") -> str:
        return distance

    with pytest.raises(TypeError, match=r"^distence is no argument of public; did you mean distance=\?$") as caught:
        public(distence="l2")
    assert isinstance(caught.value, InvalidTypeError)
    with pytest.raises(InvalidTypeError, match=r"^xyz is no argument of public, which takes distance$"):
        public(xyz=1)

    @plain_floats
    def calling(work: Callable[..., object]) -> object:
        return work(wark=1)  # the caller's own function: not ours to explain

    with pytest.raises(TypeError, match=r"got an unexpected keyword argument 'wark'$") as caught:
        calling(lambda work: None)
    assert not isinstance(caught.value, InvalidTypeError)
