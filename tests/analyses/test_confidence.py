"""Confidence against every order of the ties, in exact fractions, and against scikit-learn and SciPy."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

import deadheat as dh
from deadheat.analyses import confidence as dc
from deadheat.support.triple import Triple

# A value of a query: lower, expected and upper in eighths, often all the same, and a level of confidence.
eighths = st.integers(0, 8)
plain = st.tuples(eighths, st.integers(0, 2)).map(lambda pair: ((pair[0],) * 3, pair[1]))
opened = st.tuples(st.tuples(eighths, eighths, eighths).map(lambda t: tuple(sorted(t))), st.integers(0, 2))
hits = st.tuples(st.sampled_from([(0, 0, 0), (8, 8, 8), (0, 3, 8)]), st.integers(0, 3))
few = settings(max_examples=60, deadline=None)


def arrays(queries: list[Any]) -> tuple[Triple, np.ndarray]:
    values = np.array([value for value, _ in queries], dtype=float).reshape(-1, 3) / 8
    return Triple(*values.T.copy()), np.array([level for _, level in queries], dtype=float)


def worlds_of(queries: list[Any]) -> list[tuple[int, ...]]:
    """Every choice of hits that the ties leave."""
    return list(itertools.product(*((0, 1) if v[0] < v[2] else (v[0] // 8,) for v, _ in queries)))


def orders(levels: list[int]) -> list[tuple[int, ...]]:
    """Every order of the queries with the confidence descending."""
    groups = [[i for i, other in enumerate(levels) if other == level] for level in sorted(set(levels), reverse=True)]
    return [sum(parts, ()) for parts in itertools.product(*(itertools.permutations(group) for group in groups))]


def running(errors: list[Fraction]) -> list[Fraction]:
    return [sum(errors[:k], Fraction(0)) / k for k in range(1, len(errors) + 1)]


def floats(values: Iterable[Fraction]) -> list[float]:
    return [float(value) for value in values]  # rounded once


@given(st.lists(st.one_of(plain, opened), min_size=1, max_size=5))
@few
def test_curves_are_those_of_every_order(queries: list[Any]) -> None:
    values, confidence = arrays(queries)
    curve = dc.error_reject_curve(values, confidence)
    errors = [[1 - Fraction(eighth, 8) for eighth in value] for value, _ in queries]
    every = orders([level for _, level in queries])
    high, mid, low = ([running([errors[i][bound] for i in order]) for order in every] for bound in range(3))
    np.testing.assert_array_equal(curve.lower, floats(map(min, zip(*low, strict=True))))
    np.testing.assert_array_equal(curve.upper, floats(map(max, zip(*high, strict=True))))
    np.testing.assert_array_equal(curve.expected, floats(sum(row) / len(mid) for row in zip(*mid, strict=True)))
    assert floats(min(low, key=sum)) == curve.lower.tolist()  # one order attains all of it
    assert floats(max(high, key=sum)) == curve.upper.tolist()
    assert curve.area.lower <= curve.area.expected <= curve.area.upper
    assert curve.area.lower == pytest.approx(float(min(map(sum, low)) / len(queries)), abs=1e-15)


@given(st.lists(plain, min_size=1, max_size=5))
@few
def test_excess_over_the_perfect_order(queries: list[Any]) -> None:
    values, confidence = arrays(queries)
    curve = dc.error_reject_curve(values, confidence)
    errors = [1 - Fraction(value[0], 8) for value, _ in queries]
    areas = [sum(running(list(order))) / len(errors) for order in itertools.permutations(errors)]
    assert curve.optimal_area.expected == pytest.approx(float(min(areas)), abs=1e-15)
    assert curve.random_area.expected == float(sum(errors) / len(errors))
    assert curve.random_area.expected == pytest.approx(float(sum(areas) / len(areas)), abs=1e-15)
    assert curve.excess_area.lower == curve.area.lower - curve.optimal_area.lower >= 0


@given(st.lists(opened, min_size=1, max_size=4))
@few
def test_excess_of_open_values_lies_within_its_outer_bounds(queries: list[Any]) -> None:
    values, confidence = arrays(queries)
    curve = dc.error_reject_curve(values, confidence)
    for chosen in itertools.product(*({value[0], value[2]} for value, _ in queries)):
        one = dc.error_reject_curve(np.array(chosen) / 8, confidence)
        assert curve.excess_area.lower <= one.excess_area.lower + 1e-15
        assert curve.excess_area.upper >= one.excess_area.upper - 1e-15
        assert curve.optimal_area.lower <= one.optimal_area.expected <= curve.optimal_area.upper
    is_open = any(value[0] < value[2] for value, _ in queries)
    assert math.isnan(curve.excess_area.expected) == math.isnan(curve.optimal_area.expected) == is_open
    assert curve.n_open == sum(value[0] < value[2] for value, _ in queries)


def test_order_of_the_queries_changes_no_bit() -> None:
    random = np.random.default_rng(0)
    upper, confidence, shuffle = random.random(300), random.integers(0, 20, 300) / 7, random.permutation(300)
    values = Triple(upper * 0.9, upper * 0.95, upper)
    one = dc.error_reject_curve(values, confidence)
    other = dc.error_reject_curve(Triple(*(array[shuffle] for array in values)), confidence[shuffle])
    for name in ("lower", "expected", "upper", "confidence"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.area, one.n_tied) == (other.area, 300)
    np.testing.assert_array_equal(one.coverage, np.arange(1, 301) / 300)
    np.testing.assert_array_equal(one.rejected, np.arange(299, -1, -1) / 300)


def test_one_step_of_a_float_breaks_a_tie_and_tiny_values_stay_exact() -> None:
    large = np.array([2**60 + 1, 2**60])  # the same number in float64
    for confidence, area in (
        ([0.5, 0.5], (0.25, 0.5, 0.75)), ([np.nextafter(0.5, 1), 0.5], (0.25,) * 3), (large, (0.25,) * 3),
    ):  # fmt: skip
        assert dc.error_reject_curve([1, 0], confidence).area == area
    assert dc.error_reject_curve([1, 0], [0.0, -0.0]).n_tied == 2
    tiny = [5e-324, 1.0, 2.0**-60]
    curve = dc.error_reject_curve(tiny, [3, 2, 1])
    assert curve.lower[-1] == float(sum(1 - Fraction(value) for value in tiny) / 3)


def test_a_tolerance_has_no_expectation() -> None:
    report = dh.evaluate([[0.0], [1], [-1.01], [5]], ["a", "a", "b", "b"], distance="euclidean", ties=dh.Tolerance(0.1))
    curve = dc.error_reject_curve(report["Hit@1"], [4, 3, 2, 1])
    assert np.isnan([*curve.expected, curve.random_area.expected]).all()
    for result in (curve.area, dc.confidence_accuracy(report["Hit@1"], [4, 3, 2, 1]).mean_accuracy):
        assert result.lower < result.upper
        assert math.isnan(result.expected)


def test_without_a_query_or_a_wrong_one() -> None:
    curve = dc.error_reject_curve([np.nan, np.nan], [1, 2])
    assert (curve.n_query, curve.n_left_out, len(curve.coverage), len(curve.lower)) == (0, 2, 0, 0)
    assert np.isnan([*curve.area, *curve.optimal_area, *curve.random_area]).all()
    assert dc.error_reject_curve([], []).n_query == 0
    empty, calibrated = dc.confidence_accuracy([np.nan], [1]), dc.calibration([np.nan], [0.5])
    assert (empty.n_query, empty.n_left_out) == (0, 1)
    nothing = *empty.mean_accuracy, *empty.right, empty.best_accuracy, empty.auroc, *calibrated.brier, *calibrated.ece
    assert np.isnan(nothing).all()
    right, wrong = (dc.confidence_accuracy([hit] * 3, [1, 2, 3]) for hit in (1, 0))
    assert np.isnan([right.auroc, wrong.auroc]).all()
    assert right.mean_accuracy.expected == wrong.mean_accuracy.expected == (0 + 1 + 2 + 3) / 3 / 4
    assert (right.best_accuracy, right.best_threshold, wrong.best_threshold) == (1.0, 1.0, math.inf)


def as_the_study(correct: np.ndarray, confidence: np.ndarray) -> float:
    share = correct.mean()
    false, true, _ = roc_curve(correct, confidence, drop_intermediate=False)
    return float((share * true + (1 - share) * (1 - false)).mean())


@pytest.mark.parametrize("levels", [5, 10**6])
def test_mean_accuracy_is_the_study_s(levels: int) -> None:
    random = np.random.default_rng(levels)
    for _ in range(20):
        correct = random.random(40) < 0.7
        confidence = random.integers(0, levels, 40) / levels
        result = dc.confidence_accuracy(correct, confidence)
        assert result.mean_accuracy == pytest.approx([as_the_study(correct, confidence)] * 3, abs=1e-14)
        assert result.auroc == pytest.approx(roc_auc_score(correct, confidence), abs=1e-14)
        assert dc.confidence_accuracy(correct, 12500 * confidence).mean_accuracy == result.mean_accuracy


@given(st.lists(hits, min_size=1, max_size=6))
@few
def test_accuracies_are_those_of_every_threshold_and_hit(queries: list[Any]) -> None:
    correct, confidence = arrays(queries)
    result = dc.confidence_accuracy(correct, confidence)
    thresholds = [math.inf, *sorted(set(confidence.tolist()), reverse=True)]

    def accuracies(right: tuple[int, ...]) -> list[Fraction]:
        holds = [[(c >= t) == bool(hit) for c, hit in zip(confidence, right, strict=True)] for t in thresholds]
        return [Fraction(sum(map(bool, row)), len(row)) for row in holds]

    worlds = worlds_of(queries)
    means = [sum(accuracies(world)) / len(thresholds) for world in worlds]
    likely = [Fraction(value[1], 8) for value, _ in queries]  # that each is right
    chances = [math.prod(p if hit else 1 - p for p, hit in zip(likely, world, strict=True)) for world in worlds]
    expected = sum(p * mean for p, mean in zip(chances, means, strict=True))
    assert result.mean_accuracy == tuple(floats([min(means), expected, max(means)]))
    assert result.n_open == sum(value[0] < value[2] for value, _ in queries)
    if result.n_open:
        assert np.isnan([result.best_accuracy, result.best_threshold, result.auroc, result.majority_accuracy]).all()
        return
    (known,) = worlds
    best = max(accuracies(known))
    assert (result.best_accuracy, result.best_threshold) == (float(best), thresholds[accuracies(known).index(best)])
    assert result.majority_accuracy == max(sum(known), len(known) - sum(known)) / len(known)
    right, wrong = ([c for c, other in zip(confidence, known, strict=True) if other == hit] for hit in (1, 0))
    wins = [Fraction(2 * bool(a > b) + bool(a == b), 2) for a, b in itertools.product(right, wrong)]
    assert math.isnan(result.auroc) if not wins else result.auroc == float(sum(wins) / len(wins))


@given(st.lists(st.tuples(st.sampled_from([(0, 0, 0), (8, 8, 8), (0, 3, 8)]), eighths), min_size=1, max_size=6))
@few
def test_calibration_of_every_choice_of_hits(queries: list[Any]) -> None:
    correct, level = arrays(queries)
    result = dc.calibration(correct, level / 8, bins=4)
    gaps, squares = [], []
    for world in worlds_of(queries):
        bins: dict[int, Fraction] = {}
        off = [Fraction(eighth, 8) - hit for hit, (_, eighth) in zip(world, queries, strict=True)]
        for gap, (_, eighth) in zip(off, queries, strict=True):
            at = max(0, -(-eighth // 2) - 1)  # eighths to four bins, each holding its upper edge
            bins[at] = bins.get(at, Fraction(0)) + gap
        gaps.append(sum(map(abs, bins.values())) / len(queries))
        squares.append(sum(gap**2 for gap in off) / len(queries))
    assert (result.ece.lower, result.ece.upper) == (float(min(gaps)), float(max(gaps)))
    assert (result.brier.lower, result.brier.upper) == (float(min(squares)), float(max(squares)))
    assert result.brier.lower <= result.brier.expected <= result.brier.upper
    assert result.ece.expected == result.ece.lower if len(gaps) == 1 else math.isnan(result.ece.expected)


def test_reliability_table_of_bins() -> None:
    result = dc.calibration([0, 1, 1, np.nan], [0.0, 0.2, 1.0, 0.5], bins=5)
    assert result.count.tolist() == [2, 0, 0, 0, 1]  # 0.2 is the upper edge of the first bin
    titles = ["0 to 20", "20 to 40", "40 to 60", "60 to 80", "80 to 100"]
    assert [row[:2] for row in result.tables()[1].rows] == [*zip(titles, "20001", strict=True)]
    np.testing.assert_array_equal(result.confidence, [0.1, np.nan, np.nan, np.nan, 1])
    np.testing.assert_array_equal(result.right.expected, [0.5, np.nan, np.nan, np.nan, 1])
    assert result.n_left_out == 1


def test_rank_correlation_is_scipy_s_on_any_scale() -> None:
    random = np.random.default_rng(3)
    one, other = random.integers(0, 9, 60).astype(float), random.random(60)
    result = dc.rank_correlation(one, other)
    rho, tau = scipy.stats.spearmanr(one, other), scipy.stats.kendalltau(one, other)
    values = (result.spearman, result.spearman_p, result.kendall, result.kendall_p)
    assert values == pytest.approx((rho.statistic, rho.pvalue, tau.statistic, tau.pvalue), rel=1e-12)
    shuffle = random.permutation(60)
    assert dc.rank_correlation(np.exp(one)[shuffle] * 12500, other[shuffle] - 3) == result


@pytest.mark.parametrize(("one", "other"), [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, 2], [0.0, -0.0])])
def test_rank_correlation_undefined(one: list[float], other: list[float]) -> None:
    result = dc.rank_correlation(one, other)
    assert all(map(math.isnan, (result.spearman, result.spearman_p, result.kendall, result.kendall_p)))
    assert result.n == len(one)
    for broken in (result.rho, result.tau):  # a constant can be broken into any order
        assert all(map(math.isnan, broken)) if len(one) < 2 else broken == (-1, 0, 1)


def strict_orders(levels: list[int]) -> list[list[int]]:
    """The ranks, from 1, under every way to break the ties."""
    n = len(levels)
    return [list(ranks) for ranks in itertools.permutations(range(1, n + 1))
            if all(ranks[i] < ranks[j] for i in range(n) for j in range(n) if levels[i] < levels[j])]  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=5))
@few
def test_rank_correlations_of_every_way_to_break_the_ties(pairs: list[tuple[int, int]]) -> None:
    one, other = (list(side) for side in zip(*pairs, strict=True))
    n = len(pairs)
    rhos, taus = [], []
    for first, second in itertools.product(strict_orders(one), strict_orders(other)):
        squares = sum((a - b) ** 2 for a, b in zip(first, second, strict=True))
        rhos.append(1 - Fraction(6 * squares, n * (n * n - 1)))
        agree = sum((first[i] < first[j]) == (second[i] < second[j]) for i in range(n) for j in range(i))
        taus.append(Fraction(4 * agree, n * (n - 1)) - 1)
    result = dc.rank_correlation(one, other)
    for broken, values in ((result.rho, rhos), (result.tau, taus)):
        assert list(broken) == floats([min(values), sum(values) / len(values), max(values)])


def test_rank_correlations_without_ties_are_one_value() -> None:
    random = np.random.default_rng(7)
    one, other = random.permutation(999), random.permutation(999)
    result = dc.rank_correlation(one, other)
    assert result.rho == pytest.approx([result.spearman] * 3, abs=1e-14)
    assert result.tau == pytest.approx([result.kendall] * 3, abs=1e-14)
    assert result.rho.lower == result.rho.expected == result.rho.upper
    assert result.tables()[0].header == ["correlation", "coefficient", "p"]
    levels = random.integers(0, 9, (2, 999))
    pairs = [np.sign(side[:, None] - side)[np.triu_indices(999, 1)] for side in levels]
    products, open_ = int((pairs[0] * pairs[1]).sum()), int((pairs[0] * pairs[1] == 0).sum())
    exactly = [float(Fraction(products + sign * open_, 999 * 499)) for sign in (-1, 0, 1)]
    assert list(dc.rank_correlation(*levels).tau) == exactly
    tied = dc.rank_correlation(one, other // 500)
    assert tied.tables()[0].header == ["correlation", "coefficient", "p", "lower", "expected", "upper"]
    assert tied.to_dict()["rho"] == tied.rho._asdict()
    assert "over all ways to break the ties" in str(tied)


def test_a_density_with_two_modes_has_two_pieces_and_a_plateau_belongs_to_the_region_as_a_whole() -> None:
    x, half = np.linspace(-10, 10, 4001), scipy.stats.norm.ppf(0.95) * 0.5
    density = scipy.stats.norm.pdf(x, -3, 0.5) + scipy.stats.norm.pdf(x, 3, 0.5)
    result = dc.highest_density_interval(x, 0.9, density=density)
    np.testing.assert_allclose(result.intervals, [[-3 - half, -3 + half], [3 - half, 3 + half]], atol=0.006)
    assert abs(result.mode) == pytest.approx(3)
    flat = dc.highest_density_interval([0, 3, 4], 0.5, density=[1, 1, 0])
    assert flat.intervals.tolist() == [[0.0, 3.0]]
    assert flat.probability == pytest.approx(3 / 3.5)
    assert flat.mode in (0.0, 3.0)


def test_samples_of_known_distributions() -> None:
    random = np.random.default_rng(4)
    normal = dc.highest_density_interval(random.normal(size=20000), 0.9)
    np.testing.assert_allclose(normal.intervals, [[-1.645, 1.645]], atol=0.1)
    assert normal.probability == pytest.approx(0.9, abs=2e-4)
    exponential = dc.highest_density_interval(random.exponential(size=20000), 0.8)
    np.testing.assert_allclose(exponential.intervals, [[0, math.log(5)]], atol=0.05)
    assert exponential.mode < 0.2
    mixture = np.concatenate([random.normal(-3, 0.5, 10000), random.normal(3, 0.5, 10000)])
    pieces = dc.highest_density_interval(mixture, 0.9, multimodal=True)
    half = scipy.stats.norm.ppf(0.95) * 0.5
    np.testing.assert_allclose(pieces.intervals, [[-3 - half, -3 + half], [3 - half, 3 + half]], atol=0.1)
    assert abs(pieces.mode) == pytest.approx(3, abs=0.2)
    assert pieces.probability == pytest.approx(0.9, abs=0.01)


def test_few_or_equal_samples() -> None:
    for multimodal in (False, True):
        result = dc.highest_density_interval([2.0, 2.0, 2.0], 0.9, multimodal=multimodal)
        assert (result.intervals.tolist(), result.mode, result.probability) == ([[2.0, 2.0]], 2.0, 1.0)
    counts = dc.highest_density_interval([1, 1, 1, 5, 5, 5, 9], 0.8, multimodal=True)
    assert counts.intervals.tolist() == [[1.0, 1.0], [5.0, 5.0]]
    assert counts.probability == 6 / 7


def by_hand(points: np.ndarray, labels: list[str], k: int) -> list[float]:
    squares, result = ((points[:, None] - points) ** 2).sum(axis=2).tolist(), []
    for i, row in enumerate(squares):
        half_width = sorted(row[:i] + row[i + 1 :])[k - 1]
        near = [labels[j] for j, square in enumerate(row) if j != i and square <= half_width]
        result.append(-sum(near.count(x) / len(near) * math.log2(near.count(x) / len(near)) for x in set(near)))
    return result


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=4, max_size=10), st.data())
@few
def test_label_entropy_of_grids(points: list[tuple[int, int]], data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.sampled_from("abc"), min_size=len(points), max_size=len(points)))
    k, array, n_class = data.draw(st.integers(1, len(points) - 1)), np.array(points), len(set(labels))
    task, transposed = (
        dh.Task(rows, names, distance="l2") for rows, names in ((array, labels), (array[::-1], labels[::-1]))
    )
    entropy, share = (dc.label_entropy(task, k, normalized=how) for how in (False, True))
    np.testing.assert_allclose(entropy, by_hand(array, labels, k), atol=1e-14)
    np.testing.assert_array_equal(entropy, dc.label_entropy(transposed, k)[::-1])
    if n_class == 1:
        assert np.isnan(share).all()
        np.testing.assert_array_equal(entropy, 0.0)
    else:
        np.testing.assert_allclose(share, entropy / math.log2(n_class))
        assert ((share >= 0) & (share <= 1)).all()


@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=1, max_size=4))
@few
def test_entropy_of_counts_is_scipy_s(counts: list[list[int]]) -> None:
    entropy = dc.distribution_entropy(counts)
    wanted = [scipy.stats.entropy(row, base=2) if any(row) else math.nan for row in counts]
    np.testing.assert_allclose(entropy, wanted, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(dc.distribution_entropy(np.array(counts)[:, ::-1]), entropy)
    np.testing.assert_array_equal(dc.distribution_entropy(np.array(counts) * 2.0**1021), entropy)  # of any total
    np.testing.assert_array_equal(dc.distribution_entropy(counts, normalized=True), entropy / math.log2(3))
    annotators = max(map(sum, counts))
    if annotators:
        rows = [["a"] * a + ["b"] * b + ["c"] * c + [""] * (annotators - a - b - c) for a, b, c in counts]
        np.testing.assert_array_equal(dc.annotation_entropy(rows, missing=""), entropy)


def test_entropy_has_no_negative_zero_and_no_class_of_one() -> None:
    assert not np.signbit(dc.distribution_entropy([[5, 0]])).any()
    assert np.isnan(dc.distribution_entropy([[3]], normalized=True)).all()
    assert dc.distribution_entropy([[3]]).tolist() == [0.0]
    assert dc.annotation_entropy([[7, 8, -1], [7, 7, 7]], missing=-1, normalized=True).tolist() == [1.0, 0.0]
    assert dc.annotation_entropy([[7, 8, 7, 8], [-1, -1, -1, 7]]).tolist() == pytest.approx([1.0, 0.8112781244591328])


def test_norms_are_within_one_unit(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    rows = random.normal(size=(200, 33)) * 2.0 ** random.integers(-300, 300, (200, 1))
    for row, norm in zip(rows, dc.norms(rows), strict=True):
        square = sum(Fraction(float(x)) ** 2 for x in row)
        step = Fraction(math.ulp(norm))
        assert (Fraction(float(norm)) - step) ** 2 < square < (Fraction(float(norm)) + step) ** 2
    np.save(tmp_path / "rows.npy", np.array([[3, 4], [5, 12]], dtype=np.uint8))
    assert dc.norms(tmp_path / "rows.npy").tolist() == dc.norms([[3, 4], [5, 12]]).tolist() == [5.0, 13.0]


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("scipy.stats", "arviz_stats.base"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModuleNotFoundError, match=r"rank_correlation needs scipy: pip install 'deadheat\[stats\]'"):
        dc.rank_correlation([1, 2], [1, 2])
    with pytest.raises(ModuleNotFoundError, match=r"arviz_stats: pip install 'deadheat\[stats\]'"):
        dc.highest_density_interval([1.0, 2.0])
    assert dc.highest_density_interval([0, 1, 2], 0.75, density=[0, 1, 0]).mode == 1.0
