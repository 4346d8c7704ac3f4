"""Hash lookup, compared with sets that are listed item by item."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.analyses import hash_lookup
from deadheat.engine.counting import histograms


def balls(query: np.ndarray, gallery: np.ndarray, relevant: np.ndarray, ranked: np.ndarray) -> dict[str, list[Any]]:
    """Every value at every radius, from the ball of each query, in fractions; all arrays have one entry a bit."""
    distances = (query[:, None] != gallery).sum(axis=2)
    relevant, n_bits = relevant & ranked, query.shape[1]
    with_relevant = np.flatnonzero(relevant.any(axis=1))
    values: dict[str, list[Any]] = {}
    for radius in range(n_bits + 1):
        counts = [
            (len(ball := {*np.flatnonzero(ranked[q] & (distances[q] <= radius)).tolist()}),
             len(ball & {*np.flatnonzero(relevant[q]).tolist()}), int(relevant[q].sum()))
            for q in with_relevant.tolist()
        ]  # fmt: skip
        micro = [sum(each) for each in zip(*counts, strict=True)]

        def of(n: int, hits: int, total: int) -> tuple[Fraction, ...]:
            precision, recall = Fraction(hits, n) if n else Fraction(0), Fraction(hits, total)
            both = precision + recall
            return precision, recall, 2 * precision * recall / both if both else Fraction(0)

        macro = [sum(each) / len(counts) for each in zip(*(of(*each) for each in counts), strict=True)]
        n_empty = sum(n == 0 for n, _, _ in counts)
        row = [*macro, *of(*micro), Fraction(n_empty, len(counts)), n_empty]
        for name, value in zip(NAMES, row, strict=True):
            values.setdefault(name, []).append(value)
    return values


NAMES = ["precision", "recall", "f1", "precision_micro", "recall_micro", "f1_micro", "empty", "n_empty"]


def same(result: Any, wanted: dict[str, list[Any]]) -> None:
    columns = result.columns()
    assert [*columns] == ["radius", *NAMES]
    for name, values in wanted.items():
        assert columns[name] == pytest.approx([float(each) for each in values], rel=1e-15, abs=0), name
    assert columns["n_empty"] == wanted["n_empty"]


def drawn(seed: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    n, n_bits = int(rng.integers(5, 30)), int(rng.choice([1, 3, 8, 13, 64, 70]))
    bits = rng.random((n, n_bits)) < rng.choice([0.1, 0.5])
    return rng, bits, rng.integers(0, 4, n)


@pytest.mark.parametrize("seed", range(12))
def test_leave_one_out(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, bits, labels = drawn(seed)
    monkeypatch.setattr(histograms, "CELLS", int(rng.choice([1, 300, 1 << 22])))
    same_label, others = labels[:, None] == labels, ~np.eye(len(bits), dtype=bool)
    for junk in (None, rng.random(len(bits)) < 0.2, rng.random(same_label.shape) < 0.3):
        task = dh.Task(bits, labels, distance="hamming", junk=junk, threads=int(rng.integers(1, 4)))
        result = dh.hash_lookup(task)
        wanted = balls(bits, bits, same_label, others if junk is None else others & ~junk)
        same(result, wanted)
        assert result.n_query + result.n_singleton == len(bits)
        assert result.n_query == np.count_nonzero(task.profile.n_relevant)


@pytest.mark.parametrize("seed", range(12))
def test_a_gallery(seed: int) -> None:
    rng, bits, labels = drawn(seed)
    cut = len(bits) // 3
    relevant = labels[:cut, None] == labels[cut:]
    exclude = rng.integers(-1, len(bits) - cut, cut)
    for junk in (None, rng.random(len(bits) - cut) < 0.2, rng.random(relevant.shape) < 0.3):
        ranked = np.ones(relevant.shape, dtype=bool) if junk is None else np.broadcast_to(~junk, relevant.shape).copy()
        ranked[exclude >= 0, exclude[exclude >= 0]] = False
        pair = bits[:cut], labels[:cut], bits[cut:], labels[cut:]
        if not (relevant & ranked).any():
            continue
        result = dh.hash_lookup(dh.Task(*pair, distance="hamming", junk=junk, exclude=exclude))
        same(result, balls(bits[:cut], bits[cut:], relevant, ranked))


def test_several_labels() -> None:
    rng = np.random.default_rng(5)
    bits, several = rng.random((25, 6)) < 0.5, rng.random((25, 4)) < 0.3
    result = dh.hash_lookup(dh.Task(bits, several, distance="hamming"))
    shared = several.astype(int) @ several.T.astype(int) > 0
    same(result, balls(bits, bits, shared, ~np.eye(25, dtype=bool)))


def test_every_form_of_codes_has_the_same_values() -> None:
    _, bits, labels = drawn(2)
    one = dh.hash_lookup(dh.Task(bits, labels, distance="hamming"))
    signs = dh.hash_lookup(dh.Task(np.where(bits, 1.0, -1.0), labels, distance="hamming"))
    assert one.to_dict() == signs.to_dict()
    packed = dh.hash_lookup(dh.Task(np.packbits(bits, axis=1), labels, distance="hamming"))
    n_more = packed.n_bits - one.n_bits
    assert n_more == -bits.shape[1] % 8
    for name, values in one.columns().items():
        assert packed.columns()[name][: len(values)] == values
        assert name == "radius" or packed.columns()[name][len(values) :] == [values[-1]] * n_more
    assert packed.statistics.largest_correlation == one.statistics.largest_correlation
    assert packed.statistics.n_constant == one.statistics.n_constant + n_more
    assert_array_equal(packed.statistics.ones[: bits.shape[1]], one.statistics.ones)


def test_codes_of_any_length() -> None:
    """With each bit 1,400 times, all distances are 1,400 times as large."""
    _, bits, labels = drawn(2)
    long, short = (dh.hash_lookup(dh.Task(each, labels, distance="hamming")) for each in (bits.repeat(1400, 1), bits))
    assert long.n_bits > 1 << 12
    for name in NAMES:
        assert long.columns()[name][::1400] == short.columns()[name], name


def test_precision_and_recall_are_those_of_the_ranking() -> None:
    """No tie is open at the end of a radius: P and Recall at as many items as are within it."""
    rng = np.random.default_rng(3)
    bits, labels = rng.random((1, 9)) < 0.5, [0]
    gallery, of_gallery = rng.random((40, 9)) < 0.5, rng.integers(0, 2, 40)
    task = dh.Task(bits, labels, gallery, of_gallery, distance="hamming")
    result = dh.hash_lookup(task)
    distances = (bits != gallery).sum(axis=1)
    for radius in range(10):
        n = int((distances <= radius).sum())
        if n:
            precision, recall = (dh.evaluate(task, f"{name}@{n}")[f"{name}@{n}"] for name in ("P", "Recall"))
            assert precision.lower == precision.upper == result.macro.precision[radius]
            assert recall.lower == recall.upper == result.macro.recall[radius]


def test_queries_without_a_relevant_item_count_as_asked() -> None:
    """The field's precision within radius 2 has 0 for such a query; each filler against means that are made by hand."""
    _, bits, labels = drawn(5)
    cut = len(bits) // 2
    lone = np.arange(cut) % 3 == 0
    of_queries = np.where(lone, 99, labels[:cut])
    task = dh.Task(bits[:cut], of_queries, bits[cut:], labels[cut:], distance="hamming")
    skipped = dh.hash_lookup(task)
    assert skipped.n_singleton > 0
    n, n_all = skipped.n_query, skipped.n_query + skipped.n_singleton
    for singletons, fillers in {"zero": (0, 0, 0), "one": (1, 1, 1), "balanced": (0, 1, 0)}.items():
        result = dh.hash_lookup(task, singletons=singletons)
        for of_some, of_all, filler in zip(skipped.macro, result.macro, fillers, strict=True):
            assert of_all == pytest.approx((n * of_some + (n_all - n) * filler) / n_all, rel=1e-15, abs=1e-16)
        for name in ("n_query", "n_singleton", "best_radius"):
            assert getattr(result, name) == getattr(skipped, name)
        for one, other in zip((*result.micro, result.n_empty), (*skipped.micro, skipped.n_empty), strict=True):
            assert_array_equal(one, other)
        assert result.to_dict()["singletons"] == singletons
        assert any("in these means" in note for note in result.notes())
    n_item = len(bits) - cut  # all within the largest radius, so that `evaluate` has the same values at this cutoff
    for singletons in ("skip", "zero", "one", "balanced"):
        report = dh.evaluate(task, f"P@{n_item},Recall@{n_item}", singletons=singletons)
        macro = dh.hash_lookup(task, singletons=singletons).macro
        assert report[f"P@{n_item}"].expected == macro.precision[-1]
        assert report[f"Recall@{n_item}"].expected == macro.recall[-1]


# Codes ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_statistics_of_the_codes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, bits, labels = drawn(seed)
    bits[:, 0] = True  # constant
    bits = np.concatenate([bits, bits[:5]])
    labels = np.concatenate([labels, labels[:5]])
    monkeypatch.setattr(hash_lookup, "_BITS_AT_ONCE", int(rng.choice([1, 100, 1 << 22])))
    junk = rng.random(len(bits)) < 0.1
    result = dh.hash_lookup(dh.Task(bits, labels, distance="hamming", junk=junk)).statistics
    kept = bits[~junk]
    buckets = [sum((code == other).all() for other in kept) for code in kept]
    assert (result.n_code, result.largest_bucket) == (len(kept), max(buckets))
    assert result.n_distinct == len({tuple(code) for code in kept.tolist()})
    assert_array_equal(result.ones, kept.mean(axis=0))
    varies = (kept != kept[0]).any(axis=0)
    assert result.n_constant == np.count_nonzero(~varies)
    if varies.sum() < 2:
        assert np.isnan(result.largest_correlation)
    else:
        correlations = np.abs(np.corrcoef(kept[:, varies].T.astype(float)))
        assert result.largest_correlation == pytest.approx((correlations - np.eye(len(correlations))).max())


# What is shown --------------------------------------------------------------------------------------------------------


def test_the_table_has_few_radii_and_the_best() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 3
    bits = (rng.random((3, 32)) < 0.5)[labels] ^ (rng.random((60, 32)) < 0.2)
    result = dh.hash_lookup(dh.Task(bits, [*labels[:-1], 9], distance="hamming"))
    best = int(np.argmax(result.columns()["f1"]))
    assert best > 3
    (table,) = result.tables()
    assert [row[0] for row in table.rows] == ["0", "1", "2", "3", str(best)]
    assert table.rows[-1][3] == f"{100 * result.macro.f1[best]:.2f}"
    assert "Left out: 1 query without a relevant item." in result.notes()
    assert result.to_dict()["best_radius"] == best
    assert result.to_pandas().shape == (33, 9)
    assert "NaN" not in result.to_json()
