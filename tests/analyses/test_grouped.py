"""Grouped measures against a loop over groups, the draw against its definition, intervals against SciPy's formulas."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from engine.loops import taken
from hypothesis import example, given, settings
from hypothesis import strategies as st

import deadheat as dh
from deadheat.analyses.gaps import Gap, generalization_gap
from deadheat.analyses.grouped import GroupedResult, draw, grouped
from deadheat.engine.task import Task
from deadheat.engine.ties.rounded import Rounded
from deadheat.engine.ties.tolerance import Tolerance
from deadheat.inputs.source import Source
from deadheat.reports.statistics import intervals
from deadheat.reports.statistics.intervals import welch_degrees
from deadheat.support.triple import Triple
from reproduce import reference

stats = pytest.importorskip("scipy.stats")

MEASURES = ["Hit@1", "mAP", "MAP@R", "nDCG@3", "AUC"]


def grid(n_class: int, samples: int, seed: int = 0, dim: int = 2, high: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Points on a small integer grid, where ties are common; classes of 1 to `samples` points, in random order."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n_class) * 3 - 5, rng.integers(1, samples + 1, n_class))
    rng.shuffle(labels)
    return rng.integers(0, high, (len(labels), dim)), labels


def triple(result: GroupedResult | Gap) -> tuple[float, float, float]:
    return result.lower, result.expected, result.upper


def text_of(result) -> list[str]:
    return str(result).splitlines()


def looped(embeddings, labels, groups, measure, **options) -> np.ndarray:
    """The oracle: evaluate each group by itself; (3, n_group), NaN where no query has a relevant item."""
    values = []
    for group in groups:
        inside = np.isin(labels, group)
        if len(set(labels[inside])) == inside.sum():  # evaluate refuses singletons alone
            values.append((math.nan,) * 3)
            continue
        result = dh.evaluate(embeddings[inside], labels[inside], measures=measure, **options)[measure]
        values.append((result.lower, result.expected, result.upper))
    return np.array(values).T


@pytest.mark.parametrize(
    ("distance", "singletons"), [("cosine", "skip"), ("euclidean", "zero"), ("cityblock", "balanced")]
)
def test_groups_are_evaluated_one_by_one(distance: str, singletons: str) -> None:
    (embeddings, labels), how = grid(11, 4), {"distance": distance, "singletons": singletons}
    task = Task(embeddings, labels, distance=distance)
    report = grouped(task, group_size=3, measures=MEASURES, draws=2, seed=5, singletons=singletons)
    groups = [*report.group_labels(0), *report.group_labels(1)]
    for measure in MEASURES:
        expected = looped(embeddings, labels, groups, measure, **how)
        np.testing.assert_array_equal(np.array(report[measure].per_group), expected)
        for value, column in zip(triple(report[measure]), expected, strict=True):
            assert value == math.fsum(column[~np.isnan(column)]) / np.count_nonzero(~np.isnan(column))
    assert report["Hit@1"].lower < report["Hit@1"].expected < report["Hit@1"].upper


@pytest.mark.parametrize("ties", ["float16", Rounded("bfloat16"), Tolerance(0.25)])
def test_other_ties_are_carried_through(ties) -> None:
    embeddings, labels = grid(9, 4, high=6)
    report = grouped(Task(embeddings / 7, labels, ties=ties, distance="euclidean"), group_size=4, measures="mAP")
    expected = looped(embeddings / 7, labels, report.group_labels(), "mAP", ties=ties, distance="euclidean")
    np.testing.assert_array_equal(np.array(report["mAP"].per_group), expected)
    if isinstance(ties, Tolerance):
        assert math.isnan(report["mAP"].expected)
        assert report["mAP"].lower < report["mAP"].upper
        assert "that has no expectation" in str(report)


def test_a_group_without_a_value_is_counted_and_left_out() -> None:
    embeddings, labels = [[0], [1], [5], [9], [15], [25], [50], [51]], list("aabcdeff")
    seed = next(seed for seed in range(999) if {1, 2} in map(set, draw(6, 2, seed).groups.tolist()))  # b with c
    report = grouped(Task(embeddings, labels, distance="euclidean"), group_size=2, measures="Hit@1", seed=seed)
    result = report["Hit@1"]
    missing = [not {"a", "f"} & set(group) for group in report.group_labels()]
    np.testing.assert_array_equal(np.isnan(result.per_group.lower), missing)
    assert result.n_undefined == sum(missing) >= 1
    assert result.expected == 1.0
    assert f"Hit@1 has no value in {sum(missing)} group" in str(report)
    zero = grouped(Task(embeddings, labels), group_size=2, measures="Hit@1", seed=seed, singletons="zero")
    assert zero["Hit@1"].expected < 1


def with_gallery(seed: int, n_query: int = 30, n_gallery: int = 40, n_class: int = 8) -> dict[str, np.ndarray]:
    """Queries and a gallery on a small grid; some labels are only in one of them."""
    rng = np.random.default_rng(seed)
    return {
        "embeddings": rng.integers(0, 4, (n_query, 2)),
        "labels": rng.integers(0, n_class - 1, n_query),
        "gallery": rng.integers(0, 4, (n_gallery, 2)),
        "gallery_labels": rng.integers(1, n_class, n_gallery),
    }


def masks(kind: str, seed: int, n_query: int, n_gallery: int) -> dict:
    """Return arguments for what is not ranked: none, junk to all, or junk by pairs and the rows of the queries."""
    rng = np.random.default_rng([seed, 1])
    if kind == "junk":
        return {"junk": rng.random(n_gallery) < 0.3}
    if kind == "pairs":
        return {"junk": rng.random((n_query, n_gallery)) < 0.3, "exclude": rng.integers(-1, n_gallery, n_query)}
    return {}


@pytest.mark.parametrize("kind", ["none", "junk", "pairs"])
@pytest.mark.parametrize("alone", [True, False])
def test_every_grouping_has_the_value_of_the_definition(kind: str, alone: bool) -> None:
    """Five classes in two pairs: all 15 groupings are drawn by some seed, each against exact fractions."""
    data = with_gallery(5, 16, 20, 5)
    if alone:
        data = {"embeddings": data["embeddings"], "labels": np.arange(16) % 5}
    gallery = data.get("gallery", data["embeddings"])
    labels, gallery_labels = data["labels"].tolist(), data.get("gallery_labels", data["labels"]).tolist()
    junk = masks(kind, 5, len(labels), len(gallery))
    itself = junk.get("exclude", np.full(16, -1))
    if alone:
        itself = np.arange(16)
        junk.pop("exclude", None)
    ranked = np.ones((len(labels), len(gallery)), dtype=bool) & ~junk.get("junk", np.zeros(len(gallery), dtype=bool))
    ranked[np.flatnonzero(itself >= 0), itself[itself >= 0]] = False
    squares = ((data["embeddings"][:, None] - gallery[None]) ** 2).sum(axis=2)
    task, seen = Task(**data, **junk, distance="euclidean"), set()
    for seed in range(60):
        report = grouped(task, group_size=2, measures=["Hit@1", "Hit@3"], seed=seed)
        groups = report.group_labels()
        seen.add(frozenset(map(frozenset, groups)))
        for k in (1, 3):
            exact = reference.grouped_recall(squares, labels, gallery_labels, groups, ranked=ranked, k=k)
            for value, fraction in zip(triple(report[f"Hit@{k}"]), exact, strict=True):
                assert abs(Fraction(value) - fraction) <= Fraction(1, 2**52)
    assert len(seen) == 15


def test_labels_of_queries_and_of_the_gallery_make_the_groups() -> None:
    """A label that only the gallery has is one to be mistaken for; a group of such labels has no value."""
    gallery = [[0], [1], [5], [6]], np.array(["a", "b", "c", "d"])
    task = Task([[0], [1]], ["a", "é"], *gallery, distance="euclidean")
    report = grouped(task, group_size=2, seed=0, measures="mAP")
    assert report.labels == ("a", "b", "c", "d", "é")
    assert report["mAP"].n_undefined == 1
    assert report.profile.n_ranked.tolist() == [
        sum(label in "abcd" for label in group) for group in report.group_labels() for label in group if label in "aé"
    ]


def test_groups_without_queries_or_without_a_gallery() -> None:
    """Labels 0 to 3 are the queries', 4 to 7 the gallery's, and 8 is in both."""
    query, gallery = np.array([0, 1, 2, 3, 8, 8]), np.array([4, 5, 6, 7, 8])
    task = Task(np.eye(6), query, np.eye(5, 6), gallery)
    for seed in range(20):
        report = grouped(task, group_size=3, seed=seed, singletons="zero")
        queries = [sum(label in query for label in group) for group in report.group_labels()]
        values = report["mAP"].per_group.lower
        np.testing.assert_array_equal(np.isnan(values), np.array(queries) == 0)
        assert report.inside.n_query == sum(map(len, report.items))


def test_a_gap_of_queries_and_galleries() -> None:
    """Each side is what `grouped` and `evaluate` say of it, whether it has a gallery or not."""
    rows, with_test = with_gallery(1), with_gallery(2) | masks("pairs", 2, 30, 40)
    train = rows["embeddings"], rows["labels"]
    junk = np.arange(30) % 7 == 0
    sets = Task(*train, junk=junk), Task(**with_test)
    gap = generalization_gap(*sets, group_size=3, measure="mAP")
    assert gap.train_groups.profile == grouped(Task(*train, junk=junk), group_size=3).profile
    assert gap.test_groups.profile == grouped(Task(**with_test), group_size=3).profile
    assert gap.test_whole.profile == Task(**with_test).profile
    assert gap.train_whole.profile == dh.evaluate(*train, junk=junk).profile
    other = generalization_gap(*sets[::-1], group_size=3, measure="mAP")
    assert (other.grouped.expected, other.plain.expected) == (-gap.grouped.expected, -gap.plain.expected)


def test_the_draw_is_the_same_for_ever() -> None:
    """Written down when the draw was made; a change here changes everybody's numbers."""
    assert draw(12, 4, 0).groups.tolist() == [[11, 3, 2, 1], [8, 6, 0, 7], [4, 10, 5, 9]]
    assert draw(12, 4, 0, repeat=1).groups.tolist() == [[7, 10, 4, 11], [5, 1, 9, 8], [6, 2, 0, 3]]
    assert draw(12, 4, 2026).groups.tolist() == [[7, 0, 9, 4], [3, 2, 1, 8], [5, 6, 11, 10]]


def test_all_splits_are_equally_likely() -> None:
    """Five classes in two pairs and a rest: 15 ways. Chi-square over fixed seeds, and over fixed draws."""
    for count in (
        Counter(frozenset(map(frozenset, draw(5, 2, seed).groups.tolist())) for seed in range(3000)),
        Counter(frozenset(map(frozenset, draw(5, 2, 1, repeat).groups.tolist())) for repeat in range(3000)),
    ):
        assert len(count) == 15
        assert stats.chisquare(list(count.values())).pvalue > 0.01


def test_the_draw_knows_the_set_of_labels_and_nothing_else() -> None:
    embeddings, labels = grid(13, 3)
    report, once = grouped(Task(embeddings, labels), group_size=4), np.unique(labels)
    other = grouped(Task(np.zeros((26, 1)), np.concatenate([once, once])[::-1].astype(np.int16)), group_size=4)
    assert other.group_labels() == report.group_labels()
    assert report.labels == tuple(once.tolist())
    ((left_over,),) = report.left_over
    assert sorted([left_over, *np.ravel(report.group_labels())]) == once.tolist()


NAMES = ["x", "É", "b10", "b9", "b", "ß"]


@pytest.mark.parametrize(
    "labels",
    [
        *(np.array(NAMES, dtype=kind) for kind in (None, object, np.dtypes.StringDType())),
        NAMES,
        [2**63, -5, 10, 9, 0, 2**62],
        np.array([2**63, 5, 10, 9, 0, 2**62], dtype=np.uint64),
        np.array([b"x", b"\xc9", b"b10", b"b9", b"b", b"\xdf"]),
        [True, False],
    ],
)
def test_labels_are_sorted_as_what_they_are(labels) -> None:
    twice = [*labels, *labels]
    twice = np.array(twice, dtype=labels.dtype) if isinstance(labels, np.ndarray) else twice
    report = grouped(Task(np.zeros((len(twice), 1)), twice), group_size=2)
    plain = [label.decode("latin-1") if isinstance(label, bytes) else label for label in np.asarray(labels, object)]
    assert report.labels == tuple(sorted(plain))
    assert {type(label) for label in report.labels} <= {int, str}


@given(st.integers(0, 9999))
@example(1405)  # where groups of a single value have no standard error
@settings(max_examples=25, deadline=None)
def test_the_order_of_the_samples_changes_no_bit(seed: int) -> None:
    embeddings, labels = grid(9, 4, seed)
    names = np.array([f"class {label}" for label in labels], dtype=object)
    order = np.random.default_rng(seed).permutation(len(labels))
    options = {"group_size": 3, "measures": MEASURES, "draws": 2, "seed": seed}
    one = grouped(Task(embeddings, names), **options)
    other = grouped(Task(embeddings[order], names[order], threads=3), **options)
    assert one.group_labels(1) == other.group_labels(1)
    assert one.left_over == other.left_over
    for measure in MEASURES:
        np.testing.assert_array_equal(np.array(one[measure].per_group), np.array(other[measure].per_group))
        for of_one, of_other in zip(triple(one[measure]), triple(other[measure]), strict=True):
            assert of_one == of_other or (math.isnan(of_one) and math.isnan(of_other))
        np.testing.assert_array_equal(one[measure].errors, other[measure].errors)  # NaN of a single value, in both
    for mine, yours in zip(one.items, other.items, strict=True):
        assert set(mine) == set(order[yours])


def test_repeats_are_draws_one_after_another() -> None:
    often, once = (grouped(Task(*grid(14, 3)), group_size=4, measures="mAP", seed=8, draws=n) for n in (3, 1))
    assert (often.n_group, often.draws, len(often.left_over), often.n_class) == (3, 3, 3, 14)
    assert len(often["mAP"].per_group.lower) == 9
    np.testing.assert_array_equal(often["mAP"].per_group.lower[:3], once["mAP"].per_group.lower)
    assert len({often.group_labels(repeat) for repeat in range(3)}) == 3
    said = "3 groups of 4 labels each, drawn with seed 8, 3 times over. 2 of 14 labels left over each time."
    assert text_of(often)[3] == said


def result_of(values, draws: int = 1) -> GroupedResult:
    array = np.array(values, dtype=float)
    return GroupedResult("Hit@1", Triple(array / 2, array, np.minimum(1, array * 1.5)), len(array) // draws, draws)


def test_standard_error_with_repeats_is_that_of_one() -> None:
    """s² is 1/50 and 8/100 in the two draws, 5/100 on average; N is 2, so that s/√N is √(5/200)."""
    result = result_of([0.5, 0.7, 0.1, 0.5], draws=2)
    assert result.errors.expected == pytest.approx(math.sqrt(5 / 200), rel=1e-14)
    assert result.errors.lower == pytest.approx(math.sqrt(5 / 200) / 2, rel=1e-14)
    assert result.n_unit == 2
    assert result.expected == 0.45
    outcome = result.interval(confidence_level=0.5, method="t")
    assert (outcome.n, outcome.method, outcome.confidence_level) == (2, "t", 0.5)
    half_width = stats.t(1).isf(0.25) * math.sqrt(5 / 200)
    assert outcome.expected == pytest.approx((0.45 - half_width, 0.45 + half_width), rel=1e-13)
    assert result.interval(confidence_level=0.9, method="t").expected == (0, 1), "ends are cut to what a measure can be"


def test_bootstraps_of_repeats_are_averaged() -> None:
    values, how = np.random.default_rng(0).random(24), {"method": "percentile", "n_resamples": 500, "seed": 4}
    result, one, other = (
        result_of(part, draws).interval(confidence_level=0.9, **how)
        for part, draws in ((values, 2), (values[:12], 1), (values[12:], 1))
    )
    assert result.method == "percentile"
    assert result.upper == tuple((a + b) / 2 for a, b in zip(one.upper, other.upper, strict=True))


def test_repeats_with_groups_that_have_no_value() -> None:
    result = result_of([0.5, 0.7, np.nan, 0.1, 0.5, 0.9], draws=2)
    assert (result.n_undefined, result.n_unit) == (1, 2)
    assert result.expected == math.fsum([0.5, 0.7, 0.1, 0.5, 0.9]) / 5
    assert result.interval().n == 2


def test_interval_is_the_mean_and_a_quantile() -> None:
    values = np.array([0.1, 0.5, 0.4, 0.9, 0.3, 0.35, 0.6])
    low, high = result_of(values).interval(confidence_level=0.99).expected
    half_width = stats.t(6).isf(0.005) * values.std(ddof=1) / math.sqrt(7)
    assert (low, high) == pytest.approx((values.mean() - half_width, values.mean() + half_width), rel=1e-13)
    values = np.random.default_rng(1).random(40)
    assert result_of(values).interval() == result_of(values).interval(method="t")
    assert np.isnan([*result_of([0.5]).interval().expected, *result_of([0.5]).errors]).all()


def test_bootstrap_is_over_groups() -> None:
    values = np.random.default_rng(1).random(15)
    how: dict = {"confidence_level": 0.9, "method": "BCa", "n_resamples": 999, "seed": 3}
    result = result_of(values).interval(**how)
    assert result == intervals.mean_intervals(values / 2, values, np.minimum(1, values * 1.5), unit="group", **how)
    assert result.lower.high < result.expected.high < result.upper.high


def two_sets(**settings) -> tuple[Task, Task]:
    return Task(*grid(17, 4, seed=1, high=9), **settings), Task(*grid(12, 4, seed=2), **settings)


def test_gap_holds_what_ties_allow() -> None:
    gap = generalization_gap(*two_sets(), group_size=3, measure="success@1", seed=4)
    inside = [grouped(task, group_size=3, measures="Hit@1", seed=4)["Hit@1"] for task in two_sets()]
    whole = [dh.evaluate(task, "Hit@1")["Hit@1"] for task in two_sets()]
    assert gap.measure == "Hit@1"
    for side, one, other in ((gap.grouped, *inside), (gap.plain, *whole)):
        assert triple(side) == (one.lower - other.upper, one.expected - other.expected, one.upper - other.lower)
        assert side.lower < side.expected < side.upper
        result = side.interval()
        assert result.lower.low < side.lower < result.lower.high
        assert result.upper.low < side.upper < result.upper.high
        assert result.lower.low < result.expected.low < side.expected < result.expected.high < result.upper.high
        assert side.bound() == max(map(abs, (*result.lower, *result.expected, *result.upper)))
        assert side.bound(confidence_level=0.99) > side.bound(confidence_level=0.9)


def test_gap_of_groups_is_welchs() -> None:
    a, b = result_of([0.4, 0.5, 0.9]), result_of([0.1, 0.2, 0.15, 0.3, 0.5])
    gap = Gap(a, b, a.errors, b.errors, (3, 5))
    for level in (0.8, 0.95):
        result = stats.ttest_ind(a.per_group.expected, b.per_group.expected, equal_var=False).confidence_interval(level)
        interval = gap.interval(confidence_level=level)
        assert interval.expected == pytest.approx((result.low, result.high), rel=1e-12)
        lowest = stats.ttest_ind(a.per_group.lower, b.per_group.upper, equal_var=False).confidence_interval(level)
        assert interval.lower == pytest.approx((lowest.low, lowest.high), rel=1e-12)
        assert gap.bound(confidence_level=level) == max(-interval.lower.low, interval.upper.high)
    assert gap.interval().method == "t"
    assert gap.interval().n == 8


def test_margin_and_bound_of_a_gap_are_two_numbers() -> None:
    """t·se is Table 1's bound on a difference; |gap| + t·se bounds that of the populations."""
    a, b = result_of([0.4, 0.5, 0.9]), result_of([0.1, 0.2, 0.15, 0.3, 0.5])
    same = [GroupedResult("Hit@1", Triple(*[values.per_group.expected] * 3), values.n_group, 1) for values in (a, b)]
    for first, second in (same, same[::-1]):
        gap = Gap(first, second, first.errors, second.errors, (3, 5))
        degrees = welch_degrees([first.errors.expected, second.errors.expected], [3, 5])
        half_width = stats.t(degrees).isf(0.05) * math.hypot(a.errors.expected, b.errors.expected)
        assert gap.margin(confidence_level=0.9) == pytest.approx(half_width, rel=1e-12)
        assert gap.bound(confidence_level=0.9) == pytest.approx(abs(gap.expected) + half_width, rel=1e-12)
        result = gap.interval(confidence_level=0.9).expected
        assert gap.margin(confidence_level=0.9) == pytest.approx((result.high - result.low) / 2, rel=1e-12)
        assert gap.to_dict(confidence_level=0.9)["margin"] == gap.margin(confidence_level=0.9)
    tied = Gap(a, b, a.errors, b.errors, (3, 5))
    values = [ends.high for ends in tied._intervals(0.9, centred=True)]
    assert tied.margin(confidence_level=0.9) == max(values) > min(values)
    assert tied.interval(confidence_level=0.999).expected == (-1, 1), "cut; the margin is not"
    assert tied.margin(confidence_level=0.999) > 1
    assert math.isnan(Gap(a, b, a.errors, b.errors, (1, 5)).margin())


def test_plain_gap_has_the_error_of_a_ratio_over_classes() -> None:
    """Cochran's linearised ratio, written out: C/(C − 1) Σ (T_c − n_c·mean)² / (Σ n_c)²."""
    sets = two_sets()
    gap = generalization_gap(*sets, group_size=3)
    values, labels = gap.train_whole["Hit@1"].per_query.expected, sets[0].labels
    counted = ~np.isnan(values)
    classes = [values[counted & (labels == label)] for label in np.unique(labels[counted])]
    mean, n_class = values[counted].mean(), len(classes)
    squares = sum((own.sum() - len(own) * mean) ** 2 for own in classes)
    error = math.sqrt(n_class / (n_class - 1) * squares) / np.count_nonzero(counted)
    assert gap.plain.train_errors.expected == pytest.approx(error, rel=1e-12)
    assert gap.plain.n_unit[0] == n_class


def test_the_interval_of_a_gap_says_so_if_a_set_has_few_units() -> None:
    """17 and 12 classes make eight and six groups of two."""
    sets = two_sets()
    gap = generalization_gap(*sets, group_size=2)
    assert gap.grouped.n_unit == (8, 6)
    few = "with fewer than about 10 neither intervals nor p-values can be trusted."
    assert gap.grouped.interval().notes == (f"Only 6 groups in test: {few}",)
    assert generalization_gap(*reversed(sets), group_size=2).grouped.interval().notes == (
        f"Only 6 groups in train: {few}",
    )
    assert (
        generalization_gap(sets[0], sets[0], group_size=2)
        .grouped.interval()
        .notes[0]
        .startswith("Only 8 groups in each")
    )
    assert gap.plain.interval().notes == (), "classes are enough"
    assert few in str(gap.grouped.interval())


def test_gap_as_text_and_dictionary() -> None:
    gap = generalization_gap(*two_sets(), group_size=3, draws=2)
    content = json.loads(gap.to_json(confidence_level=0.9))
    assert content["n_class"] == {"train": 17, "test": 12}
    assert content["plain"]["expected"] == gap.plain.expected
    assert content["grouped"]["interval"]["upper"] == list(gap.grouped.interval(confidence_level=0.9).upper)
    assert content["grouped"]["bound"] == gap.grouped.bound(confidence_level=0.9)
    lines = text_of(gap)
    assert [line.split()[0] for line in lines[:7]] == ["measure", "Hit@1", "test", "gap", "Hit@1,", "test", "gap"]
    assert f"{100 * gap.grouped.expected:.2f}" in lines[3]
    assert lines[-1] == "17 classes in train and 12 classes in test, 2 and 0 of them in no group."
    assert repr(gap.plain).startswith("Gap(lower=")


def test_binary_codes_in_arrays_and_files(tmp_path) -> None:
    bits = np.random.default_rng(0).random((24, 11)) < 0.5
    labels = np.repeat(np.arange(6), 4)
    np.save(tmp_path / "bits.npy", bits)
    report = grouped(Task(bits, labels, distance="hamming"), group_size=2)
    expected = looped(bits, labels, report.group_labels(), "mAP", distance="hamming")
    np.testing.assert_array_equal(np.array(report["mAP"].per_group), expected)
    assert grouped(Task(tmp_path / "bits.npy", labels, distance="hamming"), group_size=2).profile == report.profile
    packed = np.packbits(bits, axis=1)
    assert grouped(Task(packed, labels, distance="hamming"), group_size=2).profile == report.profile


class Watched(Source):
    """Rows of an array; notes how many are taken at once from here and there."""

    def __init__(self, values: np.ndarray) -> None:
        self.shape, self.dtype, self.stored = values.shape, values.dtype, values.dtype
        self.values, self.taken = values, []

    def _read_into(self, start: int, out: np.ndarray) -> None:
        out[:] = self.values[start : start + len(out)]

    def _take_into(self, index: np.ndarray, out: np.ndarray) -> None:
        if not np.array_equal(index, np.arange(index[0], index[0] + len(index))):  # no piece of a walk through all
            self.taken.append(len(index))
        out[:] = self.values[index]


def test_no_more_than_a_group_is_taken_at_a_time() -> None:
    labels = np.tile(np.arange(60), 5)
    source = Watched(np.random.default_rng(0).standard_normal((300, 4)))
    grouped(Task(source, labels, distance="euclidean"), group_size=4, measures="Hit@1")
    assert max(source.taken) <= 20
    assert sum(source.taken) >= 300


def test_scores_are_computed_inside_groups_alone(monkeypatch) -> None:
    seen = taken(monkeypatch)
    labels = np.repeat(np.arange(40), 6)
    grouped(Task(np.random.default_rng(0).standard_normal((240, 8)), labels), group_size=5, measures="AP")
    assert {name for name, _ in seen} == {"small groups"}
    np.testing.assert_array_equal(np.concatenate([profile.n_ranked for _, profile in seen]), np.full(240, 29))


def test_progress_counts_the_pairs_inside_groups_and_a_gap_makes_four_passes() -> None:
    seen: list[tuple[int, int]] = []
    labels = np.repeat(np.arange(7), [1, 2, 3, 4, 5, 6, 7])
    task = Task(np.arange(28.0)[:, None], labels, progress=lambda *at: seen.append(at))
    report = grouped(task, group_size=3, draws=2)
    total = sum(len(items) ** 2 for items in report.items)
    assert (seen[0], seen[-1], len(seen)) == ((0, total), (total, total), 1 + 4)
    seen.clear()
    generalization_gap(*two_sets(progress=lambda *at: seen.append(at)), group_size=3)
    assert [done for done, _ in seen].count(0) == sum(done == total for done, total in seen) == 4


def test_report_as_text_names_what_is_left_over() -> None:
    points, labels = np.arange(50.0)[:, None] ** 2, np.repeat(np.arange(25), 2)
    report = grouped(Task(points, labels, distance="euclidean"), group_size=13, measures="Hit@1, mAP")
    lines = text_of(report)
    assert lines[0].split() == ["measure", "(%)", "value", "s.e."]
    assert [line.split()[0] for line in lines[1:3]] == ["Hit@1", "mAP"]
    named = ", ".join(map(str, report.left_over[0][:10]))
    assert lines[4] == f"1 group of 13 labels each, drawn with seed 0. 12 of 25 labels left over: {named} and 2 more."
    assert lines[5] == "Only 1 group: with fewer than about 10 neither intervals nor p-values can be trusted."
    assert lines[6] == "26 queries, each with a relevant item."
    content = report.to_dict()
    assert (content["cautions"], content["left_over"], content["n_class"]) == ([lines[5]], [[*report.left_over[0]]], 25)
    assert report.columns()["n_unit"] == [1, 1]
    many = grouped(Task(points, labels, distance="euclidean"), group_size=2, measures="Hit@1")
    assert (many.n_group, many.cautions()) == (12, [])
    assert "90 % interval" in many.to_text(confidence_level=0.9)
    even = grouped(Task(np.arange(50.0)[:, None], labels), group_size=5)
    assert "5 groups of 5 labels each, drawn with seed 0. No label is left over." in str(even)
    assert repr(report["mAP"]).startswith("GroupedResult('mAP', lower=")
