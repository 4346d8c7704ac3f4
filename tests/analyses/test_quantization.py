"""Rounded embeddings against the nearest value computed in fractions, and reports on them; scores in low precision."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracles
import pytest
from data import data_file
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.analyses.quantization import compare_formats
from deadheat.analyses.rounding import FORMATS, quantized
from deadheat.engine import exact
from deadheat.engine.task import Task
from deadheat.errors import InvalidValueError

POINTS = np.random.default_rng(5).normal(size=(30, 4))
LABELS = np.arange(30) % 5
PLAIN = ("float64", "float32", "bfloat16", "float16", "int8", "1 bit")
DISTANCES = ("cosine", "euclidean", "inner_product", "cityblock")


def nearest_integer(value, largest):
    """By trying all of them: the q for which q / 127 is nearest to value / largest, the even one of two."""
    x, top = Fraction(value), Fraction(largest)
    return min(range(-127, 128), key=lambda q: (abs(q * top - 127 * x), q % 2))


@settings(deadline=None, max_examples=60)
@given(values=st.lists(st.floats(-60000, 60000, allow_subnormal=True), min_size=1, max_size=6))
def test_floats_are_the_nearest_of_their_type(values):
    for kind in ("float32", "bfloat16", "float16"):
        result = quantized([values], kind)[0]
        for value, rounded in zip(values, result.tolist(), strict=True):
            pattern = oracles.round_to(oracles.Surd(Fraction(value), 0, Fraction(0)), kind)
            assert rounded == oracles.pattern_to_float(pattern, kind)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [*((name, name) for name in ("float64", "float32", "float16", "int8")), ("bfloat16", "float32"), ("1 bit", "int8")],
)
def test_types_and_what_stays(kind, dtype):
    before, result = POINTS.copy(), quantized(POINTS, kind)
    assert (result.dtype, result.shape) == (dtype, POINTS.shape)
    assert_array_equal(quantized(result, kind), result)  # what is rounded stays, in int8 because 127 is its largest
    result[:] = 99  # a copy
    assert_array_equal(POINTS, before)
    assert_array_equal(quantized(np.array([[5, -3]], dtype=np.int64), "float64"), [[5.0, -3.0]])


NUMBERS = st.one_of(st.integers(-254, 254).map(float), st.floats(-1e3, 1e3), st.floats(-1e-300, 1e-300))


@settings(deadline=None, max_examples=60)
@given(values=st.lists(NUMBERS, min_size=1, max_size=5))
def test_int8_is_the_nearest_integer(values):
    largest = max(abs(value) for value in values)
    expected = [nearest_integer(value, largest) for value in values] if largest else [0] * len(values)
    assert quantized([values], "int8")[0].tolist() == expected


def test_int8_halves_go_to_the_even_integer_and_one_scale_is_for_all():
    """With 254 as the largest, every odd number is a half."""
    values = np.arange(-254.0, 255.0)
    assert_array_equal(quantized([values], "int8")[0], [round(Fraction(int(value), 2)) for value in values])
    result = quantized([[*np.nextafter(values, 1e9)[1:-1], 254.0]], "int8")[0][:-1]
    assert_array_equal(result[::2], (values[1:-1][::2] + 1) / 2)  # a hair above a half is no half
    largest, smallest = np.finfo(np.float64).max, 5e-324
    for given_rows, wanted in (
        ([[1.0, 2.0], [-4.0, 0.0]], [[32, 64], [-127, 0]]), (np.zeros((2, 3)), [[0, 0, 0], [0, 0, 0]]),
        ([[largest, -largest, 1.0]], [[127, -127, 0]]), ([[smallest, 2 * smallest]], [[64, 127]]),
    ):  # fmt: skip
        assert quantized(given_rows, "int8").tolist() == wanted


def test_int8_where_floating_point_alone_goes_wrong():
    """Two roundings can make a half of what is none."""
    random, wrong = np.random.default_rng(2), 0
    for _ in range(40):
        largest = float(random.uniform(1, 2))
        halves = np.nextafter((np.arange(127) + 0.5) / 127 * largest, random.choice([0.0, 9.0], size=127))
        result = quantized([[*halves, largest]], "int8")[0][:-1]
        for index in np.flatnonzero(result != np.rint(halves / largest * 127)):
            wrong += 1
            assert result[index] == nearest_integer(float(halves[index]), largest)
    assert wrong > 0


def test_one_bit_is_the_side_of_the_threshold():
    tenth = np.array([[0.1]], dtype=np.float32)  # a little more than a tenth
    values, nextafter = [[1.0, 0.0], [2.0, 5.0], [6.0, 7.0]], np.nextafter(np.float64(tenth.item()), 1)
    for given_rows, threshold, bits in (
        ([[0.0, -0.0, 1e-300, -1e-300]], 0, [[1, 1, 1, -1]]), ([[1.0, 2.0], [3.0, 4.0]], [3, 2.5], [[-1, -1], [1, 1]]),
        (tenth, 0.1, [[1]]), (tenth, nextafter, [[-1]]),
        (values, "mean", [[-1, -1], [-1, 1], [1, 1]]), (values, "median", [[-1, -1], [1, 1], [1, 1]]),
    ):  # fmt: skip
        assert quantized(given_rows, "1 bit", threshold=threshold).tolist() == bits


def test_the_largest_number_that_fits():
    assert quantized([[65519.0]], "float16").item() == 65504.0


@pytest.mark.parametrize("distance", DISTANCES)
def test_rows_are_evaluations_of_rounded_embeddings(distance):
    rounded = [name for name, row in FORMATS.items() if not row.float_query]
    result = compare_formats(Task(POINTS, LABELS, distance=distance), formats=rounded, measures=["mAP", "Hit@1"])
    assert (list(result), len(result)) == (rounded, 8)
    for kind in rounded:
        report = dh.evaluate(quantized(POINTS, kind), LABELS, distance=distance, measures=["mAP", "Hit@1"])
        assert result[kind].profile.digest() == report.profile.digest()
        assert result[kind]["mAP"].lower == report["mAP"].lower
        assert result[kind].measures == ("mAP", "Hit@1")


def test_queries_and_gallery_have_one_scale():
    """The largest number is in the gallery; with a scale of its own the query would become another direction."""
    query, gallery = np.array([[1.0, 0.004]]), np.array([[100.0, 3.0], [100.0, -3.0], [0.0, 50.0]])
    report = compare_formats(Task(query, [1], gallery, [1, 0, 0]), formats=["float64", "int8"], measures="mAP")
    assert (report["float64"]["mAP"].lower, report["float64"]["mAP"].upper) == (1.0, 1.0)
    assert (report["int8"]["mAP"].lower, report["int8"]["mAP"].upper) == (0.5, 1.0)  # the query is (1, 0) there


def test_options_go_to_evaluate():
    coarse = compare_formats(Task(POINTS, LABELS, ties="bfloat16"), formats="float64", singletons="zero")["float64"]
    assert (coarse.tie_rule, coarse.singletons) == ("bfloat16 similarity", "zero")
    split = compare_formats(Task(POINTS, LABELS), formats="1 bit", threshold=0.5)["1 bit"]
    assert split.profile == dh.evaluate(np.where(POINTS >= 0.5, 1, -1), LABELS).profile
    tolerant = compare_formats(Task(POINTS, LABELS, ties=dh.Tolerance(0.01)), formats="float64", measures="mAP")
    assert str(tolerant).splitlines()[1].split()[3] == "-"
    assert tolerant.to_dict()["formats"]["float64"]["measures"]["mAP"]["expected"] is None
    sizes = compare_formats(Task(np.random.default_rng(0).normal(size=(8, 9)), np.arange(8) % 2), formats=list(FORMATS))
    assert [sizes.bytes_per_vector(name) for name in PLAIN] == [72, 36, 18, 18, 9, 2]


def test_george_washington():
    """No mixed tie in the float32 of the file; split at a half, one bit keeps most of it, and at 0 nothing."""
    with np.load(data_file("phocnet_gw.npz")) as archive:
        features, labels = archive["phocnet_features"], archive["phocnet_labels"].ravel()
    result = compare_formats(Task(features, labels), measures="mAP", formats=["float64", "float32", "1 bit"])
    assert result["float64"].profile == result["float32"].profile
    assert round(100 * result["float64"]["mAP"].lower, 4) == 95.5491
    assert result["1 bit"].ties == type(result["1 bit"].ties)(899, 899, 1163)
    assert result["1 bit"]["mAP"].upper == 1.0


def integers_of(values, largest):
    """The 8 bits of each number, in fractions, halves to the even one."""
    pairs = zip(values.ravel().tolist(), np.broadcast_to(largest, values.shape).ravel().tolist(), strict=True)
    return np.array([round(127 * Fraction(x) / Fraction(top)) if top else 0 for x, top in pairs]).reshape(values.shape)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_int8_has_a_scale_for_each_dimension_or_vector(dtype):
    values = (np.random.default_rng(4).normal(size=(7, 5)) * [1, 10, 0, 1e-3, 1e6]).astype(dtype).astype(np.float64)
    values[3] = 0
    for part, axis in (("dimension", 0), ("vector", 1)):
        largest = np.abs(values).max(axis=axis, keepdims=True)
        scale = np.where(largest < 2.0**-126, largest, largest.astype(np.float32))  # the stored scale of the integers
        result = quantized(values, f"int8 per {part}")
        assert_array_equal(result, integers_of(values, largest) * scale)
        assert result.dtype == np.float64


def test_what_no_scale_changes_is_what_integers_say():
    """Cosine sees the direction alone, so that a vector needs no scale: bit for bit the profile of its integers."""
    result = compare_formats(Task(POINTS, LABELS), formats="int8 per vector", measures="mAP")
    assert result["int8 per vector"].profile == dh.evaluate(quantized(POINTS, "int8 per vector"), LABELS).profile
    assert result.bytes_per_vector("int8 per vector") == 4
    scaled = compare_formats(Task(POINTS, LABELS, distance="euclidean"), formats="int8 per vector", measures="mAP")
    assert scaled.bytes_per_vector("int8-per-vector") == 4 + 4


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("scale", ["", " per dimension", " per vector"])
def test_float_queries_meet_what_the_gallery_stands_for(distance, scale):
    """In fractions: the query in float32, each item its integers times its scale over 127."""
    points, labels = POINTS.astype(np.float32).astype(np.float64), LABELS
    name = f"int8{scale} (float query)"
    report = compare_formats(Task(points, labels, distance=distance), formats=name, measures="mAP")[name]
    axis = {"": None, " per dimension": 0, " per vector": 1}[scale]
    largest = np.abs(points).max(axis=axis, keepdims=True)
    items = integers_of(points, largest) * largest / 127
    product, square = points @ items.T, (items**2).sum(axis=1)
    distances = {
        "inner_product": -product,
        "cosine": -product / np.sqrt(square),
        "euclidean": ((points[:, None] - items) ** 2).sum(axis=2),
        "cityblock": np.abs(points[:, None] - items).sum(axis=2),
    }[distance]
    np.fill_diagonal(distances, np.inf)
    ranking = np.argsort(distances, axis=1)[:, :-1]
    relevant = labels[ranking] == labels[:, None]
    precision = np.cumsum(relevant, axis=1) / np.arange(1, len(points))
    values = (precision * relevant).sum(axis=1) / relevant.sum(axis=1)
    np.testing.assert_allclose(report["mAP"].per_query.expected, values, rtol=1e-12)


def test_a_query_is_not_ranked_for_itself_nor_is_junk():
    """With the embeddings as 8 bits already, float queries change nothing, and junk stays junk."""
    points, junk = np.random.default_rng(6).integers(-127, 128, size=(20, 3)), np.arange(20) % 7 == 3
    points[0, 0] = 127
    for given_junk in (None, junk, np.broadcast_to(junk, (20, 20))):
        task = Task(points, np.arange(20) % 4, distance="l2", junk=given_junk)
        result = compare_formats(task, formats="int8, int8 (float query)")
        assert result["int8"].profile == result["int8 float query"].profile == result["float32"].profile


def test_a_checkpoint_of_the_task_is_of_no_format(tmp_path):
    """It is of one pass over the rows as they are; formats are other rows."""
    task = Task(POINTS, LABELS, checkpoint=tmp_path / "kept")
    digest = task.profile.digest()
    result = compare_formats(task, formats="float64, int8", measures="mAP")
    assert result["float64"].profile.digest() == digest
    assert result["int8"].profile == dh.evaluate(quantized(POINTS, "int8"), LABELS).profile


def test_float_queries_against_bits():
    threshold = np.array([0.1, -0.2, 0.0, 0.3])
    points = POINTS.astype(np.float32)
    result = compare_formats(Task(points, LABELS, points, LABELS), formats="binary float query", threshold=threshold)
    queries = (points.astype(np.float64) - threshold).astype(np.float32)
    bits = np.where(points >= threshold, 1, -1)
    assert result["1 bit (float query)"].profile == dh.evaluate(queries, LABELS, bits, LABELS).profile


def test_bits_that_distinguish_nothing_are_said_so():
    said = "1 bit: no number is below the threshold, so that all vectors are one: choose another."
    for points, formats, is_said in (
        (np.abs(POINTS), "binary", True), (np.abs(POINTS), "int8", False), (POINTS, "binary", False),
    ):  # fmt: skip
        assert (said in compare_formats(Task(points, LABELS), formats=formats).notes()) is is_said


def test_the_base_is_the_embeddings_as_they_are():
    assert compare_formats(Task(POINTS, LABELS)).base == "float64"
    assert list(compare_formats(Task(POINTS, LABELS), formats="int8")) == ["float64", "int8"]
    assert compare_formats(Task(POINTS.astype(np.float32).astype(np.float64), LABELS)).base == "float32"
    assert compare_formats(Task(POINTS, LABELS), formats="int8", base="fp16").base == "float16"


def test_formats_have_other_names():
    for alias, name in {
        "fp16": "float16", "half": "float16", "BF16": "bfloat16", "fp32": "float32", "double": "float64",
        "binary": "1 bit", "1bit": "1 bit", "int8-per-vector": "int8 per vector",
        "binary_float_query": "1 bit (float query)",
    }.items():  # fmt: skip
        result = compare_formats(Task(POINTS, LABELS, distance="dot"), formats=alias, base=alias, measures="mAP")
        assert list(result) == [name]


def test_a_change_is_the_paired_comparison():
    result = compare_formats(
        Task(POINTS, LABELS), formats="1 bit", base="float32", measures="mAP", seed=3, n_resamples=999
    )
    difference = dh.compare(result["1 bit"], result["float32"], seed=3, n_resamples=999)["mAP"]
    interval, change = difference.interval(), result.change("binary", "AP")
    assert (change.expected, change.low, change.high) == (difference.expected, *interval.expected)
    assert change.loses_at_most == -interval.lower.low > 0
    columns = result.columns()
    assert columns["loses_at_most"] == [0.0, change.loses_at_most]
    assert columns["bytes"] == [16, 1]


def test_nothing_is_lost_where_no_rank_changes():
    """Ties of the embeddings themselves are no loss: they are the same ties."""
    images = np.random.default_rng(3).integers(0, 3, size=(60, 4))
    result = compare_formats(Task(images, np.arange(60) % 6), formats="float16", measures="mAP")
    assert result["float16"].ties.mixed_groups > 0
    assert result.change("float16", "mAP") == (0.0, 0.0, 0.0, 0.0)
    assert result.difference("float16", "mAP").lower < 0


def test_what_is_lost_at_most_is_rounded_up():
    result = compare_formats(Task(POINTS, LABELS), formats="bfloat16", measures="mAP", n_resamples=999)
    shown = float(str(result).splitlines()[2].split()[-1])
    assert 0 <= shown - 100 * result.change("bf16", "mAP").loses_at_most < 0.01


def test_a_type_too_short_is_left_out_unless_it_is_asked_for():
    points = 1e5 * POINTS
    result = compare_formats(Task(points, LABELS), measures="mAP")
    assert "float16" not in list(result)
    assert "float16 is left out: its largest number is 65504." in result.notes()
    assert "bfloat16" not in list(compare_formats(Task(1e300 * POINTS, LABELS), measures="mAP"))


def test_queries_in_a_gallery_can_be_excluded():
    how = {"formats": "int8, int8 float query", "measures": "mAP"}
    left_out = compare_formats(Task(POINTS, LABELS), **how)
    excluded = compare_formats(Task(POINTS, LABELS, POINTS, LABELS, exclude=np.arange(30)), **how)
    for name, report in left_out.reports.items():
        assert report.profile == excluded[name].profile


@pytest.mark.parametrize("swapped", [False, True])
def test_scores_rounded_at_the_end_let_neither_run_win_and_swapped_ones_do(swapped: bool) -> None:
    rng = np.random.default_rng(0)
    high = {f"q{q}": {f"d{d}": float(s) for d, s in enumerate(1 - rng.random(12) / 10)} for q in range(15)}
    rounded = {query: exact.round_to(np.array(list(row.values())), "bfloat16").tolist() for query, row in high.items()}
    low = {query: dict(zip(row, rounded[query], strict=True)) for query, row in high.items()}
    judged = {query: {f"d{d}": 1 for d in rng.choice(12, 3, replace=False)} for query in high}
    if swapped:
        (relevant, *_) = judged["q0"]
        low["q0"][relevant] = -1.0 if high["q0"][relevant] > 0.95 else 2.0
    result = dh.compare(*(dh.evaluate(dh.from_run(run, judged), "mAP") for run in (high, low)))["mAP"]
    assert result.n_wins_a + result.n_wins_b == int(swapped)
    assert result.lower < result.upper


def sweep_points():
    """Embeddings whose first dimensions hold the most, as Matryoshka training makes them."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(60), 4)
    points = rng.normal(size=(60, 12))[labels] + 0.7 * rng.normal(size=(240, 12))
    return (points * np.linspace(2, 0.2, 12)).astype(np.float32), labels


def test_dims_are_the_first_dimensions_in_each_format():
    points, labels = sweep_points()
    for distance in ("cosine", "inner_product", "euclidean"):
        result = compare_formats(dh.Task(points, labels, distance=distance), dims=(4, 8), measures="mAP")
        assert list(result) == ["12 dims", "8 dims", "4 dims"]
        for dim in (4, 8, 12):
            cut = dh.evaluate(points[:, :dim], labels, distance=distance, measures="mAP")
            assert result[dim].profile == result[f"{dim} dims"].profile == cut.profile
            assert result.bytes_per_vector(f"{dim} dims") == 4 * dim
        assert ("not normalised again" in str(result)) == (distance != "cosine")
    middle = np.median(points, axis=0)
    result = compare_formats(dh.Task(points, labels), dims=8, formats="int8 per dimension, binary", measures="mAP",
                            threshold=middle)  # fmt: skip
    assert list(result) == ["float32, 12 dims", "float32, 8 dims", "int8 per dimension, 8 dims", "1 bit, 8 dims"]
    for name, options in (("int8 per dimension", {}), ("1 bit", {"threshold": middle[:8]})):
        rounded = quantized(points[:, :8].astype(np.float64), name, **options)
        assert result[f"{name}, 8 dims"].profile == dh.evaluate(rounded, labels).profile
    assert result["binary, 8 dims"] is result["1 bit, 8 dims"]
    assert result.steps["1 bit, 8 dims"].dim == 8


def test_judged_embeddings_and_a_gallery_are_rounded_as_embeddings_with_labels_are():
    points, labels = sweep_points()
    queries, items = points[::4], np.delete(points, np.s_[::4], axis=0)
    of_items = np.delete(labels, np.s_[::4])
    qrels = {f"q{i}": {f"d{j}": 1 for j in np.flatnonzero(of_items == i)} for i in range(60)}
    task = dh.from_judged(queries, items, qrels, [f"q{i}" for i in range(60)], [f"d{j}" for j in range(180)])
    options = {
        "dims": (6, 12), "formats": "float32,int8,int8 float query,binary", "measures": "mAP", "resample": "query"
    }  # fmt: skip
    judged = compare_formats(task, **options)
    plain = compare_formats(dh.Task(queries, labels[::4], items, of_items), **options)
    assert list(judged) == list(plain)
    for name in plain:
        for end in ("lower", "expected", "upper"):
            assert getattr(judged[name]["mAP"], end) == getattr(plain[name]["mAP"], end)
    assert judged["int8 (float query), 6 dims"]["mAP"].lower != judged["1 bit, 6 dims"]["mAP"].lower


def test_scores_are_rounded_as_ties_rounds_them():
    rng = np.random.default_rng(0)
    run = {f"q{i}": {f"d{j}": float(score) for j, score in enumerate(1 + rng.random(40) / 64)} for i in range(20)}
    task = dh.from_run(run, {query: {"d0": 1, "d7": 2} for query in run})
    result = compare_formats(task, measures="mAP")
    assert list(result) == ["float64", "float32", "bfloat16", "float16"]
    assert [result.bytes_per_vector(name) for name in result] == [8, 4, 2, 2]
    for name in result:
        assert result[name].profile == task.replace(ties=name).profile
    assert result["float64"].profile == task.profile
    assert result["bfloat16"]["mAP"].lower < result["float64"]["mAP"].lower
    assert "Bytes: of a score." in str(result)


def test_the_smallest_within_a_margin_is_tested_from_the_largest_down():
    points, labels = sweep_points()
    dims = (2, 4, 6, 8, 9, 10, 11)
    result = compare_formats(dh.Task(points, labels), dims=dims, measures="mAP, Hit@1")
    base = result["12 dims"]

    def passes(dim, margin):
        both = dh.compare(base, result[dim], measures="mAP, Hit@1")
        return bool(both.gate(margin, "as_good"))

    ends = set()
    for margin in (0.01, 0.03, 0.05, 0.08, 0.15, 0.3, 0.9):
        expected = 12
        for dim in sorted(dims, reverse=True):
            if not passes(dim, margin):
                break
            expected = dim
        assert result.smallest(margin) == f"{expected} dims"
        ends.add(expected)
    assert len(ends) > 3
    said = compare_formats(dh.Task(points, labels), dims=dims, measures="mAP, Hit@1", margin=0.08)
    name = said.smallest()
    assert f"{name} is the smallest shown to be within 8 points of 12 dims" in str(said)
    assert said.to_dict()["smallest"] == name
    none = compare_formats(dh.Task(points, labels), dims=2, measures="mAP", margin=0.01)
    assert "No smaller one is shown to be within 1 point of 12 dims; 2 dims is not shown to be" in str(none)
    with pytest.raises(InvalidValueError, match="margin must be given here or to compare_formats"):
        result.smallest()


def test_a_format_after_the_first_that_fails_is_not_called_within_the_margin():
    """Six dimensions are worse than four, which alone would pass."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(60), 4)
    points = rng.normal(size=(60, 8))[labels] + 0.3 * rng.normal(size=(240, 8))
    points[:, 4:6], points[:, 6:] = 40 * rng.normal(size=(240, 2)), 400 * rng.normal(size=(60, 2))[labels]
    result = compare_formats(dh.Task(points, labels), dims=(4, 6, 8), measures="mAP", base="float64")
    assert dh.compare(result[8], result[4], measures="mAP").gate(0.1, "as_good")
    assert not dh.compare(result[8], result[6], measures="mAP").gate(0.1, "as_good")
    assert result.smallest(0.1) == "8 dims"
