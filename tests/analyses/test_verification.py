"""Verification and identification: detection cost, areas, folds, trials, templates, subjects, against enumeration."""

from __future__ import annotations

import math
import re
import runpy
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deadheat as dh
from tests.analyses.test_pooled import SCORED, arrangements, cuts

Items = list[tuple[int, int]]


def thresholds(items: Items) -> list[tuple[int, int]]:
    """Accepted positives and negatives at every threshold; the first accepts nothing."""
    limits = [math.inf, *sorted({score for score, _ in items}, reverse=True)]
    accepted = [[label for score, label in items if score >= limit] for limit in limits]
    return [(sum(labels), len(labels) - sum(labels)) for labels in accepted]


def partial_area(labels: list[int], rate: Fraction, n: int) -> Fraction:
    """The area of the step function of one order, by adding the width of each negative below the rate."""
    negatives, hits, area, used = labels.count(0), 0, Fraction(0), Fraction(0)
    for label in labels:
        if label:
            hits += 1
        else:
            width = min(Fraction(1, negatives), rate - used)
            area, used = area + width * Fraction(hits, n), used + width
    return area / rate


@settings(max_examples=150)
@given(SCORED, st.sampled_from(["0.5", "0.3", "0.05", "1"]), st.integers(0, 2))
def test_partial_areas_are_those_of_every_order(items: Items, rate: str, missing: int) -> None:
    scores, labels = zip(*items, strict=True)
    n, x = sum(labels) + missing, Fraction(rate)
    values = [partial_area(order, x, n) for order in arrangements(items)]
    result = dh.classification(scores, labels, n_positive=n)
    result, scaled = result[f"AUC@FPR={rate}"], result[f"pAUC@FPR={rate} (McClish)"]
    exact = min(values), sum(values, Fraction(0)) / len(values), max(values)
    assert (result.lower, result.expected, result.upper) == tuple(map(float, exact))
    exact = tuple((1 + (value - x / 2) / (1 - x / 2)) / 2 for value in exact)
    assert (scaled.lower, scaled.expected, scaled.upper) == tuple(map(float, exact))


@settings(max_examples=150)
@given(SCORED, st.sampled_from([(0.01, 1, 1), (0.5, 1, 1), (0.01, 10, 1), (0.9, 1, 2.5)]))
def test_detection_cost_is_the_least_of_every_threshold(items: Items, setting: tuple[float, float, float]) -> None:
    scores, labels = zip(*items, strict=True)
    p, miss, fa = (Fraction(str(each)) for each in setting)
    n, negatives = sum(labels), len(labels) - sum(labels)
    costs = [
        (miss * p * Fraction(n - hits, n) + fa * (1 - p) * Fraction(false, negatives)) / min(miss * p, fa * (1 - p))
        for hits, false in thresholds(items)
    ]  # fmt: skip
    value = dh.classification(scores, labels)[f"minDCF({setting[0]}, c_miss={miss.numerator}, c_fa={float(fa)})"]
    assert value.lower == value.expected == value.upper == float(min(costs)) <= 1
    limits = [math.inf, *sorted(set(scores), reverse=True)]
    assert value.threshold == limits[costs.index(min(costs))]  # the strictest, as accepting one more group never helps


def test_detection_costs_that_float64_does_not_distinguish_are_compared_exactly() -> None:
    """Both thresholds cost 3/10, as 2/10 + 1/10, which float64 makes larger, and as 0 + 3/10: the strictest wins."""
    scores = [3] * 9 + [2] * 4 + [1] * 7
    value = dh.classification(scores, [1] * 8 + [0] + [1, 1, 0, 0] + [0] * 7)["minDCF(p=0.5)"]
    assert (value.lower, value.threshold) == (0.3, 3.0)


@settings(max_examples=150)
@given(SCORED, st.sampled_from(["0.5", "0.95", "0.3", "1"]))
def test_false_positives_at_a_true_positive_rate(items: Items, rate: str) -> None:
    scores, labels = zip(*items, strict=True)
    n, negatives, x = sum(labels), len(labels) - sum(labels), Fraction(rate)
    value = dh.classification(scores, labels)[f"FPR@TPR={rate}"]
    at = [Fraction(false, negatives) for hits, false in thresholds(items) if Fraction(hits, n) >= x]
    inside = [
        min(Fraction(false, negatives) for hits, false in cuts(order) if Fraction(hits, n) >= x)
        for order in arrangements(items)
    ]
    assert (
        (value.lower, value.upper) == (float(min(inside)), float(max(inside))) == (float(min(inside)), float(min(at)))
    )
    accepted = [label for score, label in items if score >= value.threshold]
    assert Fraction(accepted.count(0), negatives) == min(at)


def test_positives_without_a_score_are_reached_by_accepting_all() -> None:
    value = dh.classification([2, 1], [1, 0], n_positive=3)["FPR95"]
    assert (value.name, value.lower, value.upper, value.threshold) == ("FPR@TPR=0.95", 1.0, 1.0, 1.0)


@pytest.mark.parametrize("order", ["descending", "ascending"])
def test_measures_at_a_given_threshold(order: Any) -> None:
    sign = 1 if order == "descending" else -1
    scores, labels = sign * np.array([4, 3, 3, 1]), [1, 1, 0, 0]
    result = dh.classification(scores, labels, order=order)
    for limit, right in ((5, 2), (4, 3), (3.5, 3), (3, 3), (2, 3), (1, 2), (-9, 2)):
        assert result[f"accuracy@threshold={sign * limit}"].expected == right / 4, limit
    rates = [result[f"{name}@threshold={3 * sign}"].lower for name in ("TPR", "FPR", "F1")]
    assert rates == [1.0, 0.5, 0.8]
    assert result[f"TPR@threshold={3.5 * sign}"].lower == 0.5
    large = dh.classification([2**53 + 1, 2**53], [1, 0])
    assert large["accuracy@threshold=9007199254740992"].lower == 0.5  # the largest two are integers, and no floats
    single = dh.classification(np.array([0.1, 0.2], dtype=np.float32), [0, 1])
    assert single["FPR@threshold=0.1"].lower == 1.0  # float32(0.1) is above 0.1


def test_pairs_at_a_given_threshold() -> None:
    """The cosine is 2/√5, and 0.8944271909999159 is the float64 below it."""
    result = dh.pair_classification([[1, 0], [2, 1], [0, 1]], [[0, 1], [0, 2]], [1, 0])
    low = 0.8944271909999159
    assert result["best accuracy"].threshold == low
    assert [result[f"TPR@threshold={limit!r}"].lower for limit in (low, math.nextafter(low, 1))] == [1.0, 0.0]


def test_other_tools_have_the_same_values_without_ties() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 400)
    scores = rng.normal(labels.astype(float))
    result = dh.classification(scores, labels)
    for rate in (0.1, 0.37, 1.0):
        ours = result[f"pAUC@FPR={rate} (McClish)"].expected
        assert ours == pytest.approx(metrics.roc_auc_score(labels, scores, max_fpr=rate), abs=1e-12)
    false, true, limits = metrics.roc_curve(labels, scores, drop_intermediate=False)
    assert result["FPR95"].lower == false[np.argmax(true >= 0.95)]
    costs = (0.01 * (1 - true) + 0.99 * false) / 0.01
    assert result["minDCF"].lower == pytest.approx(costs.min(), abs=1e-12)
    assert result["minDCF"].threshold == limits[np.argmin(costs)]


def test_names_in_one_text_may_hold_commas() -> None:
    result = dh.classification([2, 1], [1, 0], measures="EER, minDCF(0.001, 10, 1), CMC@3, FAR@TAR=.9")
    assert result.measures == ("EER", "minDCF(p=0.001, miss=10.0, fa=1.0)", "rank-3", "FPR@TPR=0.9")


# Folds ---------------------------------------------------------------------------------------------------------------


@settings(max_examples=100)
@given(SCORED, st.data())
def test_folds_take_the_strictest_of_the_best_thresholds_of_the_others(items: Items, data: Any) -> None:
    folds = data.draw(
        st.lists(st.integers(0, 2), min_size=len(items), max_size=len(items)).filter(lambda x: len(set(x)) > 1)
    )
    scores, labels = zip(*items, strict=True)
    result = dh.classification(scores, labels).folds(folds)
    limits = sorted({*scores, math.inf}, reverse=True)

    def right(limit: float, inside: bool, fold: int) -> int:
        chosen = [item for item, each in zip(items, folds, strict=True) if (each == fold) is inside]
        return sum((score >= limit) == bool(label) for score, label in chosen)

    for fold, name in enumerate(result.names):
        most = max(right(limit, False, name) for limit in limits)
        best = [limit for limit in limits if right(limit, False, name) == most]
        values = [right(limit, True, name) / folds.count(name) for limit in best]
        assert (result.accuracy[fold], result.lower[fold], result.upper[fold]) == (values[0], min(values), max(values))
        assert result.thresholds[fold] == best[0]
    assert result.mean == pytest.approx(np.mean(result.accuracy))
    assert result.standard_error == pytest.approx(np.std(result.accuracy, ddof=1) / math.sqrt(len(result.names)))


def test_a_number_of_folds_is_of_consecutive_items() -> None:
    model = pytest.importorskip("sklearn.model_selection")
    result = dh.classification(np.arange(11) % 7, np.arange(11) % 2)
    parts = np.empty(11, dtype=np.int64)
    for number, (_, test) in enumerate(model.KFold(3).split(np.arange(11))):
        parts[test] = number
    assert result.folds(3).accuracy.tolist() == result.folds(parts).accuracy.tolist()
    assert result.folds().names == tuple(range(1, 11))
    for folds, rule in (([0] * 11, "must be at least 2"), (12, "must be at most 11"), ([0], "must have one entry")):
        with pytest.raises(dh.errors.InvalidValueError, match=rf"^folds {rule}"):
            result.folds(folds)


# Trials --------------------------------------------------------------------------------------------------------------

VOICES = {"a/1": [1, 0], "a/2": [2, 1], "b/1": [0, 3], "c/1": [3, 6]}
LINES = [("a/1", "a/2", 1), ("b/1", "c/1", 0), ("a/1", "c/1", 0)]
WRITTEN = {
    "1 a b": "\n".join(f"{same} {a} {b}" for a, b, same in LINES),
    "a b target": "\r\n".join(f"{a} {b} {'target' if same else 'nontarget'}" for a, b, same in LINES) + "\r\n\r\n",
    "commas": "\n".join(f"{a},{b},{same}" for a, b, same in LINES),
    "tabs": "\n".join(f"{a}\t{b}\t{bool(same)}" for a, b, same in LINES),
}


@pytest.mark.parametrize("form", [*WRITTEN, "rows", "labels first", "same=", "array"])
@pytest.mark.parametrize("by_id", [True, False])
def test_trials_are_pairs_of_rows(form: str, by_id: bool, tmp_path: Path) -> None:
    pairs: Any = {
        "rows": LINES, "labels first": [(same, a, b) for a, b, same in LINES], "same=": [row[:2] for row in LINES],
        "array": np.array([row[:2] for row in LINES]),
    }.get(form)  # fmt: skip
    if form in WRITTEN:
        pairs = tmp_path / "trials.txt"
        pairs.write_text(WRITTEN[form])
    same = [1, 0, 0] if form in ("same=", "array") else None
    rows = dh.pair_classification(list(VOICES.values()), [[0, 1], [2, 3], [0, 3]], [1, 0, 0])
    given: Any = {"embeddings": VOICES} if by_id else {"embeddings": [*VOICES.values()], "ids": [*VOICES]}
    result = dh.pair_classification(pairs=pairs, same=same, groups={key: key[0] for key in VOICES}, **given)
    assert str(result) == str(rows)
    assert (result.interval("AP", n_resamples=9).unit, result.interval("AP", n_resamples=9).n) == ("subject", 3)


@pytest.mark.parametrize("line", ["{l} {a} {b} {s}", "{a} {b} {l} {s}", "{a} {b} {s} {l}"])
def test_trials_with_scores(line: str, tmp_path: Path) -> None:
    scores = [0.5, -1e-3, 0.5]
    path = tmp_path / "scored.trials"
    path.write_text("\n".join(
        line.format(l=same, a=a, b=b, s=score) for (a, b, same), score in zip(LINES, scores, strict=True)
    ))  # fmt: skip
    expected = dh.classification(scores, [1, 0, 0])
    assert str(dh.classification(path)) == str(expected)
    assert str(
        dh.classification([(a, b, same, score) for (a, b, same), score in zip(LINES, scores, strict=True)])
    ) == str(expected)
    with pytest.raises(dh.errors.InvalidValueError, match="pairs must be without scores"):
        dh.pair_classification(VOICES, path)


def test_integers_in_a_file_may_be_text_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "trials.txt"
    path.write_text("7 8 target\n7 9 nontarget\n")
    rows = [[1, 0], [2, 1], [0, 1]]
    for ids, groups in (([7, 8, 9], {7: 1, 8: 1, 9: 2}), (["7", "8", "9"], {"7": 1, "8": 1, "9": 2})):
        assert dh.pair_classification(rows, path, ids=ids, groups=groups)["AUC"].lower == 1.0
        assert dh.pair_classification(dict(zip(ids, rows, strict=True)), path, groups=groups)["AUC"].lower == 1.0


LFW = "2\t1\nann\t1\t2\nann\t1\tbob\t10\nbob\t2\t10\nbob\t2\tann\t2\n"


def test_pairs_of_lfw_have_folds_and_subjects(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text(LFW)
    faces = {"ann_0001": [1, 0], "ann_0002": [1, 0.1], "bob_0002": [0, 1], "bob_0010": [0.2, 1]}
    result = dh.pair_classification(faces, path)
    assert (result["AUC"].lower, result.n_positive, result.folds().names) == (1.0, 2, (1, 2))
    assert (result.interval("AUC", n_resamples=9).unit, result.interval("AUC", n_resamples=9).n) == ("subject", 2)
    path.write_text("2\n" + LFW.partition("\n")[2])  # a development set: one fold of two and two
    assert dh.pair_classification(faces, path).folds(2).names == (1, 2)


@pytest.mark.parametrize(("text", "reason"), [
    ("", " must have a pair in each line, but is empty"),
    ("1 a b\n1 a", ", line 2: must have 3 fields like line 1"),
    ("1 a b\n1 a c", "no column has two classes in a known spelling"),
    ("1 5 0\n0 5 1", "either of two columns may be the classes"),
    ("1 a b x\n0 a c y", "no column has two classes in a known spelling"),
    ("a\nb", ": pairs must be pairs (a, b), or trials"),
    ("3 1\nann 1 2\nann 1 bob 2", " must have 2 x 1 pairs in each of 3 folds"),
    ("1 1\nann 1 2\nann 1 bob x", ", line 3: must be 'name i j' or 'name i name j'"),
])  # fmt: skip
def test_files_that_hold_no_trials(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "trials.txt"
    path.write_text(text)
    with pytest.raises(dh.errors.FileError) as error:
        dh.pair_classification(VOICES, path)
    assert str(error.value).startswith(f"{path}")
    assert reason in str(error.value)


@pytest.mark.parametrize("templates", ["max", "mean"])
def test_several_templates_a_person(templates: Any) -> None:
    rng = np.random.default_rng(2)
    rows, ids = (rng.integers(-3, 4, (15, 3)) + 0.5) / 10, rng.integers(0, 5, 15)
    pairs = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    same = np.arange(10) % 2
    result = dh.pair_classification(rows, pairs, same, ids=ids, templates=templates, distance="euclidean")

    def squared(x: Any, y: Any) -> Fraction:
        return sum(((Fraction(p) - Fraction(q)) ** 2 for p, q in zip(x, y, strict=True)), Fraction(0))

    if templates == "max":
        gaps = [min(squared(x, y) for x in rows[ids == a] for y in rows[ids == b]) for a, b in pairs]
    else:
        means = [[math.fsum(column) / len(column) for column in rows[ids == a].T] for a in range(5)]
        gaps = [squared(means[a], means[b]) for a, b in pairs]
    ranks = [sorted(set(gaps)).index(gap) for gap in gaps]
    assert result.profile == dh.classification(ranks, same, order="ascending").profile


def test_sums_of_templates_are_rounded_once() -> None:
    rows = {
        "a": [[0.1], [0.2], [0.3]],
        "b": [0.0],
        "c": [0.6 / 3],
    }  # 0.1 + 0.2 + 0.3 is 0.6000000000000001 step by step
    trials = [("a", "b", 1), ("c", "b", 0)]
    assert dh.pair_classification(rows, trials, templates="mean", distance="l2")["AUC"].expected == 0.5


# Identification ------------------------------------------------------------------------------------------------------

PROBE = st.tuples(st.lists(st.integers(0, 2), min_size=3, max_size=3), st.integers(0, 3))
SEARCH = st.lists(PROBE, min_size=2, max_size=5).filter(lambda probes: len({who < 3 for _, who in probes}) == 2)


@settings(max_examples=80)
@given(SEARCH, st.sampled_from(["0", "0.5", "1"]))
def test_identification_over_every_order(probes: list[tuple[list[int], int]], rate: str) -> None:
    """Person 3 is not enrolled. Ties of people are broken for each probe; then those of the scores of probes."""
    scores, people = [row for row, _ in probes], [who for _, who in probes]
    result = dh.classification(scores, (people, [0, 1, 2]))
    mated = [(row, who) for row, who in probes if who < 3]
    for k in (1, 2):
        ends = []
        for row, who in mated:
            ahead, tied = sum(x > row[who] for x in row), row.count(row[who])
            ranks = [Fraction(ahead + place < k) for place in range(tied)]
            ends.append((min(ranks), sum(ranks, Fraction(0)) / tied, max(ranks)))
        value = result[f"rank-{k}"]
        exact = [float(sum(column) / len(mated)) for column in zip(*ends, strict=True)]
        assert [value.lower, value.expected, value.upper] == pytest.approx(exact, abs=1e-15)
    others, values = [(max(row), 0) for row, who in probes if who == 3], []
    choices = [
        {max(row) == row[who] and (first or row.count(row[who]) == 1) for first in (True, False)} for row, who in mated
    ]
    for first in product(*choices):
        items = [(row[who], 1) for (row, who), is_first in zip(mated, first, strict=True) if is_first] + others
        for order in arrangements(items):
            allowed = [hits for hits, false in cuts(order) if Fraction(false, len(others)) <= Fraction(rate)]
            values.append(Fraction(max(allowed), len(mated)))
    value = result[f"TPIR@FPIR={rate}"]
    assert (value.lower, value.upper) == (float(min(values)), float(max(values)))


def test_people_and_not_images_are_ranked() -> None:
    """Three images of bob tie with the one of ann: she is first in half of the orders, not in a quarter."""
    images, people = [[0.5, 0.5, 0.5, 0.5], [0.1, 0.2, 0.9, 0.3]], ["ann", "bob", "bob", "bob"]
    result = dh.classification(images, (["ann", "eve"], people), templates="max")
    assert (result["rank-1"].expected, result["rank-2"].lower) == (0.5, 1.0)
    mean = dh.classification(images, (["bob", "eve"], people), templates="mean")
    assert mean._levels.tolist() == [0.5, math.fsum([0.2, 0.9, 0.3]) / 3, 0.1]
    near = dh.classification(np.negative(images), (["ann", "eve"], people), templates="max", order="ascending")
    assert str(near) == str(result).replace(" 0.9", "-0.9").replace(" 0.5", "-0.5")
    with pytest.raises(
        dh.errors.InvalidValueError, match="templates must be 'max' or 'mean' where a person has several"
    ):
        dh.classification(images, (["ann", "eve"], people))
    with pytest.raises(dh.errors.InvalidValueError, match="measure must be a measure of scores; rank-k and TPIR"):
        dh.classification([2, 1], [1, 0])["rank-1"]


def test_trials_of_every_person_with_every_probe_are_a_search() -> None:
    rng = np.random.default_rng(1)
    scores, people = rng.integers(0, 5, (6, 3)), np.array([0, 1, 2, 9, 9, 0])
    rows = [(f"p{j}", f"q{i}", int(people[i] == j), int(scores[i, j])) for j in range(3) for i in range(6)]
    whole, listed = dh.classification(scores, (people, [0, 1, 2])), dh.classification(rows)
    for name in ("rank-1", "TPIR@FPIR=0.5", "EER"):
        assert whole[name] == listed[name]
    for wrong in (rows[:-1], [*rows[:-1], rows[0]]):
        with pytest.raises(dh.errors.InvalidValueError, match=r"^pairs must compare each probe"):
            dh.classification(wrong)["rank-1"]
    known = dh.classification(scores[:3], (people[:3], [0, 1, 2]))
    assert math.isnan(known["TPIR@FPIR=0.5"].lower)
    assert whole.interval("rank-1", n_resamples=9).unit == "subject"


# Subjects ------------------------------------------------------------------------------------------------------------


def test_subjects_of_both_sides_are_drawn() -> None:
    """A pair counts as often as both of its people were drawn, multiplied; one of a single person as often as that."""
    rng = np.random.default_rng(4)
    sides, scores, other = rng.integers(0, 5, (40, 2)), rng.integers(0, 6, 40), rng.integers(0, 6, 40)
    labels = (sides[:, 0] == sides[:, 1]) | (rng.random(40) < 0.2)
    a, b = (dh.classification(each, labels, groups=sides) for each in (scores, other))
    draws, values, differences = np.random.default_rng(0), [], []
    for _ in range(60):
        times = np.bincount(draws.integers(0, 5, 5), minlength=5)
        items = [i for i, (p, q) in enumerate(sides) for _ in range(times[p] * (times[q] if p != q else 1))]
        if len(set(labels[items])) == 2:
            x, y = (dh.classification(each[items], labels[items])["EER"] for each in (scores, other))
            values.append((x.lower, x.upper))
            differences.append((x.lower - y.upper, x.upper - y.lower))
    for result, drawn in (
        (a.interval("EER", n_resamples=60), values),
        (a.interval("EER", minus=b, n_resamples=60), differences),
    ):
        ends = np.quantile(drawn, [0.025, 0.975], axis=0)
        assert [*result.lower, *result.upper] == pytest.approx([*ends[:, 0], *ends[:, 1]], abs=1e-12)
        assert (result.unit, result.n) == ("subject", 5)
    with pytest.raises(dh.errors.InvalidValueError, match="minus must be of the same items"):
        a.interval("EER", minus=dh.classification(other, labels))
    with pytest.raises(dh.errors.InvalidTypeError, match="minus must be a Classification"):
        a.interval("EER", minus=3)  # type: ignore[arg-type]


def test_probes_are_drawn_by_their_subjects() -> None:
    scores = [[3, 1], [1, 2], [0, 2], [1, 1], [2, 0]]
    result = dh.classification(scores, ([0, 0, 1, 9, 8], [0, 1]))
    draws, values = np.random.default_rng(0), []
    for _ in range(50):
        times = np.bincount(draws.integers(0, 4, 4), minlength=4)  # of subjects 0, 1, 8, 9
        of_probes = times[[0, 0, 1, 3, 2]]
        if of_probes[:3].any():
            values.append(float(of_probes[:3] @ [1, 0, 1] / of_probes[:3].sum()))
    result = result.interval("rank-1", n_resamples=50)
    assert [*result.lower] == pytest.approx(np.quantile(values, [0.025, 0.975]), abs=1e-12)
    assert (result.unit, result.n) == ("subject", 4)


def test_the_example_of_speakers_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On files like those of aeon, of five speakers whose utterances have two coefficients."""
    rng = np.random.default_rng(3)
    for part in ("TRAIN", "TEST"):
        lines = [
            ":".join([*(",".join(map(str, (row + rng.normal(size=3)).round(3))) for row in (who, -who)), str(who)])
            for who in (1, 2, 3, 4, 5) for _ in range(4)
        ]  # fmt: skip
        (tmp_path / f"JapaneseVowels_{part}.ts").write_text("@timestamps false\n@data\n" + "\n".join(lines) + "\n")
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "speakers.py"))["main"](tmp_path)
    printed = capsys.readouterr().out
    assert "30 positives, 160 negatives" in printed
    assert re.search(r"^mean: rank-1 [0-9.]+, TPIR@FPIR=0.1 [0-9.]+, EER [0-9.]+$", printed, re.MULTILINE)
