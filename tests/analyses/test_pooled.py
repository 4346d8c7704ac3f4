"""Pooled scores: every value against all arrangements of the ties, in exact fractions, and pairs in exact order."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, groupby, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deadheat as dh
from deadheat.analyses.thresholds import NAMES

ERRORS = ("EER", "FNMR@FMR=0.5", "FNMR@FMR=0.3")
THRESHOLDS = ("TPR@FPR=0.5", "TPR@FPR=0.3", "FNMR@FMR=0.5", "FNMR@FMR=0.3", "EER", "best F1", "best accuracy")
SCORED = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=2, max_size=9).filter(
    lambda items: {label for _, label in items} == {0, 1}
)


def arrangements(items: list[tuple[int, int]]) -> Iterator[list[int]]:
    """The labels in every distinct order of the ties, all equally likely, the best score first."""
    parts = []
    for _, group in groupby(sorted(items, reverse=True), key=lambda item: item[0]):
        labels = [label for _, label in group]
        size, m = len(labels), sum(labels)
        parts.append([[int(i in where) for i in range(size)] for where in combinations(range(size), m)])
    for chosen in product(*parts):
        yield [label for part in chosen for label in part]


def cuts(labels: list[int]) -> Iterator[tuple[int, int]]:
    """Hits and false alarms of every cut of a ranking."""
    for k in range(len(labels) + 1):
        yield sum(labels[:k]), k - sum(labels[:k])


def average_precision(labels: list[int], n: int) -> Fraction:
    return sum((Fraction(sum(labels[: i + 1]), i + 1) for i, hit in enumerate(labels) if hit), Fraction(0)) / n


def area(labels: list[int], n: int) -> Fraction:
    negatives = len(labels) - sum(labels)
    right = sum(labels[i] > labels[j] for i in range(len(labels)) for j in range(i + 1, len(labels)))
    return Fraction(right, n * negatives)


def of_cuts(name: str) -> Callable[[list[int], int], Fraction]:
    """Return a measure of thresholds if a cut may be anywhere in a ranking."""

    def value(labels: list[int], n: int) -> Fraction:
        negatives = len(labels) - sum(labels)
        best = min if name in ERRORS else max
        return best(at_cut(name, hits, false, n, negatives) for hits, false in cuts(labels))

    return value


def at_cut(name: str, hits: int, false: int, n: int, negatives: int) -> Fraction:
    """The measure if so many positives of n, and so many negatives, are accepted; 0 where the rate is too high."""
    if name == "EER":
        return max(Fraction(false, negatives), Fraction(n - hits, n))
    if name == "best F1":
        return Fraction(2 * hits, hits + false + n)
    if name == "best accuracy":
        return Fraction(hits + negatives - false, n + negatives)
    rates, _, rate = name.partition("=")
    accepted = Fraction(hits, n) * (Fraction(false, negatives) <= Fraction(rate))
    return 1 - accepted if rates == "FNMR@FMR" else accepted


MEASURES = {"AP": average_precision, "AUC": area} | {name: of_cuts(name) for name in THRESHOLDS}


@settings(max_examples=150)
@given(SCORED, st.integers(0, 2))
def test_every_arrangement(items: list[tuple[int, int]], missing: int) -> None:
    scores, labels = zip(*items, strict=True)
    n = sum(labels) + missing
    result = dh.classification(scores, labels, n_positive=n)
    for name, oracle in MEASURES.items():
        value = result[name]
        values = [oracle(order, n) for order in arrangements(items)]
        assert math.isclose(value.lower, min(values), abs_tol=1e-12), name
        assert math.isclose(value.upper, max(values), abs_tol=1e-12), name
        if name in ("AP", "AUC"):
            assert math.isclose(value.expected, sum(values) / len(values), abs_tol=1e-12)
        elif value.lower != value.upper:
            assert math.isnan(value.expected)


@settings(max_examples=150)
@given(SCORED, st.booleans())
def test_thresholds_have_the_value(items: list[tuple[int, int]], ascending: bool) -> None:
    scores, labels = map(np.array, zip(*items, strict=True))
    sign, order = (-1, "ascending") if ascending else (1, "descending")
    result, mirrored = dh.classification(sign * scores, labels, order=order), dh.classification(scores, labels)
    for name in THRESHOLDS:
        value = result[name]
        assert value.threshold == sign * mirrored[name].threshold
        accepted = labels[scores >= sign * value.threshold].tolist()
        n = int(labels.sum())
        reached = at_cut(name, sum(accepted), len(accepted) - sum(accepted), n, len(labels) - n)
        assert math.isclose(reached, value.upper if name in ERRORS else value.lower, abs_tol=1e-12)


def test_a_rate_that_is_a_share_of_the_negatives_is_reached() -> None:
    """29 of 100 negatives are 0.29, although 0.29 · 100 is below 29 in float64."""
    result = dh.classification([3] * 29 + [2] + [1] * 71, [0] * 29 + [1] + [0] * 71)
    assert (result["TPR@FPR=0.29"].lower, result["TPR@FPR=0.28"].lower) == (1, 0)


@pytest.mark.parametrize(("other", "name"), [
    ("TAR@FAR=1e-1", "TPR@FPR=0.1"), ("tar@far = .1", "TPR@FPR=0.1"), ("TMR@FMR=0.1", "TPR@FPR=0.1"),
    ("FRR@FAR=.5", "FNMR@FMR=0.5"), ("FNR@FPR=.5", "FNMR@FMR=0.5"), ("fnmr@fmr=.5", "FNMR@FMR=0.5"),
])  # fmt: skip
def test_names_of_identification(other: str, name: str) -> None:
    result = dh.classification([3, 2, 2, 1] * 9, [1, 1, 0, 0] * 9)
    assert (result[other].name, result[other].lower) == (name, result[name].lower)
    with pytest.raises(ValueError, match="must have a rate from 0 to 1 behind TAR@FAR=, but is 'TAR@FAR=2'"):
        result["TAR@FAR=2"]


def test_names_and_grouped_average_precision_that_leaves_what_orders_have() -> None:
    result = dh.classification([2, 1, 1], [0, 1, 1])
    assert result["AP"].lower == result["AP"].upper == pytest.approx(7 / 12)
    assert result["AP (scikit-learn)"].lower == pytest.approx(2 / 3)
    assert "above what any order" in str(result)
    assert result.measures == NAMES
    assert result["µAP"] == result["μAP"] == result["AP"]
    assert result["ROC AUC"].name == "AUC"


@settings(max_examples=100)
@given(SCORED)
def test_neighbours_values(items: list[tuple[int, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    scores, labels = zip(*items, strict=True)
    result = dh.classification(scores, labels)
    grouped = result["AP (scikit-learn)"].expected
    assert math.isclose(metrics.average_precision_score(labels, scores), grouped, abs_tol=1e-12)
    assert grouped >= result["AP"].lower - 1e-12
    assert math.isclose(metrics.roc_auc_score(labels, scores), result["AUC"].expected, abs_tol=1e-12)


# Pairs ---------------------------------------------------------------------------------------------------------------


def closeness(distance: str, x: list[Fraction], y: list[Fraction]) -> Fraction:
    """A number that is in the order of the closeness of two rows."""
    dot, gaps = sum(map(operator.mul, x, y), Fraction(0)), list(map(operator.sub, x, y))
    norms = sum(a * a for a in x) * sum(b * b for b in y)
    return {
        "inner_product": dot, "euclidean": -sum(gap * gap for gap in gaps), "cityblock": -sum(map(abs, gaps)),
        "cosine": dot * abs(dot) / norms if norms else Fraction(0),
    }[distance]  # fmt: skip


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock"])
@pytest.mark.parametrize("scale", [1.0, 0.1, "normal", "near"])
def test_pairs_are_in_their_exact_order(distance: str, scale: float | str) -> None:
    """Integers have ties; tenths have ties that float64 breaks, and breaks that it ties; the rest has hardly any."""
    rng = np.random.default_rng(7)
    rows = rng.integers(-2, 3, (14, 3)).astype(np.float64)
    if scale == "normal":
        rows = rng.normal(size=rows.shape)
    elif scale == "near":  # one unit in the last place of one number apart
        near = rows[:7] * 0.3 + 1
        rows = np.concatenate([near, np.nextafter(near, 2)])
    else:
        rows *= float(scale)
    pairs = np.array([*combinations(range(14), 2), (3, 1), (5, 5), (6, 6)])
    exact = [[Fraction(value) for value in row] for row in rows.tolist()]
    true = [closeness(distance, exact[i], exact[j]) for i, j in pairs.tolist()]
    same = rng.integers(0, 2, len(pairs))
    result = dh.pair_classification(rows, pairs, same, distance=distance)
    assert result.profile == dh.classification([sorted(set(true)).index(value) for value in true], same).profile
    alone = dh.pair_classification(rows, pairs, np.arange(len(pairs)) == 0, distance=distance, measures="AP")
    shown = {"cosine": lambda v: math.copysign(math.sqrt(abs(v)), v), "euclidean": lambda v: -math.sqrt(-v)}
    levels = [float(shown.get(distance, float)(value)) for value in sorted(set(true), reverse=True)]
    assert alone._levels.tolist() == pytest.approx(levels, abs=1e-12)


def test_pairs_of_binary_codes() -> None:
    codes = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1]], dtype=bool)
    result = dh.pair_classification(codes, [[0, 3], [0, 1], [1, 2], [0, 2]], [1, 1, 0, 0], distance="hamming")
    assert result.profile == dh.classification([0, -1, -1, -2], [1, 1, 0, 0]).profile
    assert result["best F1"].threshold == -1


# Intervals -----------------------------------------------------------------------------------------------------------


def test_intervals_do_not_depend_on_the_order_of_items() -> None:
    rng = np.random.default_rng(3)
    items, people = np.array([rng.integers(0, 6, 60), np.arange(60) % 2]), rng.integers(0, 12, 60)
    for groups in ([], [people]):
        result, shuffled = (
            dh.classification(*items[:, some], *(group[some] for group in groups))
            for some in (np.arange(60), rng.permutation(60))
        )
        for name in ("AP", "EER", "best F1"):
            assert str(result.interval(name, n_resamples=49)) == str(shuffled.interval(name, n_resamples=49))
    assert (result.interval("AP", n_resamples=9).unit, result.interval("AP", n_resamples=9).n) == ("group", 12)


def test_intervals_are_percentiles_of_all_resamples() -> None:
    """Of two groups a resample is one of four; both of those with one group twice are known."""
    result = dh.classification([3, 1, 2, 2], [1, 0, 1, 0], ["a", "a", "b", "b"])
    ends = result.interval("AUC", confidence_level=0.99, n_resamples=999)
    assert (ends.lower.low, ends.lower.high) == (0.0, 1.0)  # b twice: all tie; a twice: none does
    assert (ends.expected.low, ends.upper.low) == (0.5, 1.0)
    assert ends.unit == "group"
    of_both = dh.classification([1, 2], [1, 0]).interval("AP", n_resamples=99)  # resamples of one class do not count
    assert of_both.lower == of_both.upper == (0.5, 0.5)


def test_unscored_positives_are_drawn_too() -> None:
    result = dh.classification([2, 1], [1, 0], n_positive=3)
    assert "3 positives (2 without a score), 1 negative" in str(result)
    assert result.interval("AP", n_resamples=199).n == 4
    assert result["AP"].upper == pytest.approx(1 / 3)
    assert result.interval("AP", n_resamples=499).upper.high > 1 / 3


def test_classes_in_words_and_names_in_any_case() -> None:
    marks = np.array([1, 0, 1, 0])
    expected = str(dh.classification([4, 3, 2, 1], marks, measures=["EER", "AUC"]))
    for negative, positive in (("0", "1"), ("0.0", "1.0"), ("False", "True"), ("no", "YES"), ("nontarget", "target")):
        labels = [(negative, positive)[mark] for mark in marks]
        assert str(dh.classification([4, 3, 2, 1], labels, measures="eer, AUROC")) == expected
    assert dh.classification([4, 3, 2, 1], marks)["average precision"].name == "AP"
    with pytest.raises(
        dh.errors.InvalidValueError, match=r"labels must hold two classes .* but holds 2 \('cat', 'dog'\); say which"
    ):
        dh.classification([2, 1], ["dog", "cat"])


def test_a_result_as_plain_values() -> None:
    result = dh.classification([2, 1, 1], [0, 1, 1], measures=["AP", "best accuracy"])
    values = result.to_dict()["measures"]
    assert values["best accuracy"] == {"lower": 2 / 3, "expected": 2 / 3, "upper": 2 / 3, "threshold": 1.0}
    assert values["AP"]["threshold"] is None
    nothing = dh.classification([2, 1, 0], [0, 0, 1])
    assert nothing["best accuracy"].threshold == math.inf
    assert nothing.to_dict()["measures"]["best accuracy"]["threshold"] is None
    assert "none accepted" in str(nothing)
    for labels in ([0.0, 1.0, 1.0], np.array([0, 1, 1], np.float32)):  # floats that are 0 and 1 are classes
        assert dh.classification([2, 1, 1], labels, measures=["AP", "best accuracy"]).to_dict() == result.to_dict()
