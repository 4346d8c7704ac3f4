"""Pooled scores: every value against all arrangements of the ties, in exact fractions, and pairs in exact order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, groupby, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deadheat as dh
from deadheat.analyses.pooled import NAMES

THRESHOLDS = ("TPR@FPR=0.5", "TPR@FPR=0.3", "EER", "best F1", "best accuracy")
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
    """What a measure of thresholds is if a cut may be anywhere in a ranking."""

    def value(labels: list[int], n: int) -> Fraction:
        negatives = len(labels) - sum(labels)
        if name == "EER":
            return min(max(Fraction(false, negatives), Fraction(n - hits, n)) for hits, false in cuts(labels))
        if name == "best F1":
            return max(Fraction(2 * hits, hits + false + n) for hits, false in cuts(labels))
        if name == "best accuracy":
            return max(Fraction(hits + negatives - false, n + negatives) for hits, false in cuts(labels))
        rate = Fraction(name.removeprefix("TPR@FPR="))
        return max(Fraction(hits, n) for hits, false in cuts(labels) if Fraction(false, negatives) <= rate)

    return value


MEASURES = {"AP": average_precision, "AUC": area} | {name: of_cuts(name) for name in THRESHOLDS}


@settings(max_examples=150)
@given(SCORED, st.integers(0, 2))
def test_every_arrangement(items: list[tuple[int, int]], missing: int) -> None:
    scores, labels = zip(*items, strict=True)
    n = sum(labels) + missing
    found = dh.classification(scores, labels, n_positive=n)
    for name, oracle in MEASURES.items():
        value = found[name]
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
    order = "ascending" if ascending else "descending"
    found = dh.classification(-scores if ascending else scores, labels, order=order)
    mirrored = dh.classification(scores, labels)
    for name in THRESHOLDS:
        value, sign = found[name], -1 if ascending else 1
        assert value.threshold == sign * mirrored[name].threshold
        accepted = scores >= sign * value.threshold
        n, negatives = int(labels.sum()), int((1 - labels).sum())
        hits, false = int(labels[accepted].sum()), int((1 - labels)[accepted].sum())
        errors = max(Fraction(false, negatives), Fraction(n - hits, n))
        reached = {
            "EER": errors,
            "best F1": Fraction(2 * hits, hits + false + n),
            "best accuracy": Fraction(hits + negatives - false, n + negatives),
        }.get(name, Fraction(hits, n))
        assert math.isclose(reached, value.upper if name == "EER" else value.lower, abs_tol=1e-12)


def test_a_rate_that_is_a_share_of_the_negatives_is_reached() -> None:
    """29 of 100 negatives are 0.29, although 0.29 · 100 is below 29 in float64."""
    scores = [3] * 29 + [2] + [1] * 71
    labels = [0] * 29 + [1] + [0] * 71
    found = dh.classification(scores, labels)
    assert (found["TPR@FPR=0.29"].lower, found["TPR@FPR=0.28"].lower) == (1, 0)


def test_grouped_average_precision_may_leave_what_orders_have() -> None:
    found = dh.classification([2, 1, 1], [0, 1, 1])
    assert found["AP"].lower == found["AP"].upper == pytest.approx(7 / 12)
    assert found["AP (scikit-learn)"].lower == pytest.approx(2 / 3)
    assert "above what any order" in str(found)


@settings(max_examples=100)
@given(SCORED)
def test_neighbours_values(items: list[tuple[int, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    scores, labels = zip(*items, strict=True)
    found = dh.classification(scores, labels)
    grouped = found["AP (scikit-learn)"].expected
    assert math.isclose(metrics.average_precision_score(labels, scores), grouped, abs_tol=1e-12)
    assert grouped >= found["AP"].lower - 1e-12
    assert math.isclose(metrics.roc_auc_score(labels, scores), found["AUC"].expected, abs_tol=1e-12)


def test_names() -> None:
    found = dh.classification([2, 1, 1], [0, 1, 1])
    assert found.measures == NAMES
    assert found["µAP"] == found["μAP"] == found["AP"]
    assert found["ROC AUC"].name == "AUC"


# Pairs ---------------------------------------------------------------------------------------------------------------


def closeness(distance: str, x: list[Fraction], y: list[Fraction]) -> Fraction:
    """A number that is in the order of the closeness of two rows."""
    dot = sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))
    if distance == "inner_product":
        return dot
    if distance == "euclidean":
        return -sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0))
    if distance == "cityblock":
        return -sum((abs(a - b) for a, b in zip(x, y, strict=True)), Fraction(0))
    norms = sum(a * a for a in x) * sum(b * b for b in y)
    return dot * abs(dot) / norms if norms else Fraction(0)


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock"])
@pytest.mark.parametrize("scale", [1.0, 0.1, "normal", "near"])
def test_pairs_are_in_their_exact_order(distance: str, scale: float | str) -> None:
    """Integers have ties; tenths have ties that float64 breaks, and breaks that it ties; the rest has hardly any."""
    rng = np.random.default_rng(7)
    rows = rng.integers(-2, 3, (14, 3)).astype(np.float64)
    if scale == "normal":
        rows = rng.normal(size=rows.shape)
    elif scale == "near":  # one unit in the last place of one number apart
        rows[7:] = np.nextafter(rows[:7] * 0.3 + 1, 2)
        rows[:7] = rows[:7] * 0.3 + 1
    else:
        rows *= float(scale)
    pairs = np.array([*combinations(range(14), 2), (3, 1), (5, 5), (6, 6)])
    exact = [[Fraction(value) for value in row] for row in rows.tolist()]
    true = [closeness(distance, exact[i], exact[j]) for i, j in pairs.tolist()]
    rank = {value: number for number, value in enumerate(sorted(set(true)))}
    same = rng.integers(0, 2, len(pairs))
    found = dh.pair_classification(rows, pairs, same, distance=distance)
    by_rank = dh.classification([rank[value] for value in true], same)
    assert found.profile == by_rank.profile
    value = closeness(distance, exact[pairs[0, 0]], exact[pairs[0, 1]])
    alone = dh.pair_classification(rows, pairs, np.arange(len(pairs)) == 0, distance=distance, measures="AP")
    shown = {"cosine": lambda v: math.copysign(math.sqrt(abs(v)), v), "euclidean": lambda v: -math.sqrt(-v)}
    assert alone._levels[0] == pytest.approx(float(shown.get(distance, float)(value)), abs=1e-12)


def test_pairs_of_binary_codes() -> None:
    codes = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1]], dtype=bool)
    found = dh.pair_classification(codes, [[0, 3], [0, 1], [1, 2], [0, 2]], [1, 1, 0, 0], distance="hamming")
    assert found.profile == dh.classification([0, -1, -1, -2], [1, 1, 0, 0]).profile
    assert found["best F1"].threshold == -1


def test_pairs_of_many_equal_rows_are_quick_and_exact() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5, 8)).astype(np.float32)[rng.integers(0, 5, 400)]
    pairs = rng.integers(0, 400, (20000, 2))
    found = dh.pair_classification(rows, pairs, rng.integers(0, 2, 20000), measures="AP")
    assert len(np.unique(found._keys)) == 11  # ten pairs of distinct rows, and each with itself


# Intervals -----------------------------------------------------------------------------------------------------------


def test_intervals_do_not_depend_on_the_order_of_items() -> None:
    rng = np.random.default_rng(3)
    scores, labels, people = rng.integers(0, 6, 60), np.arange(60) % 2, rng.integers(0, 12, 60)
    order = rng.permutation(60)
    for groups in (None, people):
        found, shuffled = (
            dh.classification(scores[some], labels[some], None if groups is None else groups[some])
            for some in (np.arange(60), order)
        )
        for name in ("AP", "EER", "best F1"):
            assert str(found.interval(name, n_resamples=99)) == str(shuffled.interval(name, n_resamples=99))
    assert (found.interval("AP").unit, found.interval("AP").n) == ("group", 12)


def test_intervals_are_percentiles_of_all_resamples() -> None:
    """Of two groups a resample is one of four; both of those with one group twice are known."""
    found = dh.classification([3, 1, 2, 2], [1, 0, 1, 0], ["a", "a", "b", "b"])
    ends = found.interval("AUC", confidence_level=0.99, n_resamples=2000)
    assert (ends.lower.low, ends.lower.high) == (0.0, 1.0)  # b twice: all tie; a twice: none does
    assert (ends.expected.low, ends.upper.low) == (0.5, 1.0)
    assert ends.unit == "group"


def test_unscored_positives_are_drawn_too() -> None:
    found = dh.classification([2, 1], [1, 0], n_positive=3)
    assert "3 positives (2 without a score), 1 negative" in str(found)
    assert found.interval("AP", n_resamples=199).n == 4
    assert found["AP"].upper == pytest.approx(1 / 3)
    assert found.interval("AP", n_resamples=499).upper.high > 1 / 3


def test_a_result_as_plain_values() -> None:
    found = dh.classification([2, 1, 1], [0, 1, 1], measures=["AP", "best accuracy"])
    values = found.to_dict()["measures"]
    assert values["best accuracy"] == {"lower": 2 / 3, "expected": 2 / 3, "upper": 2 / 3, "threshold": 1.0}
    assert values["AP"]["threshold"] is None
    nothing = dh.classification([2, 1, 0], [0, 0, 1])
    assert nothing["best accuracy"].threshold == math.inf
    assert nothing.to_dict()["measures"]["best accuracy"]["threshold"] is None
    assert "none accepted" in str(nothing)


def test_labels_of_floats_that_are_0_and_1_are_classes() -> None:
    for labels in ([0.0, 1.0, 1.0], np.array([0, 1, 1], np.float32)):
        assert dh.classification([2, 1, 1], labels).to_dict() == dh.classification([2, 1, 1], [0, 1, 1]).to_dict()
