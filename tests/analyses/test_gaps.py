"""Halves of the classes against groups one by one, many models against NumPy and their own intervals."""

from __future__ import annotations

import json
import math
from statistics import stdev

import numpy as np
import pytest

import deadheat as dh
from deadheat.analyses.gaps import SplitHalf
from deadheat.engine.ties.tolerance import Tolerance
from reproduce import reference

stats = pytest.importorskip("scipy.stats")


def grid(n_class: int = 17, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three points a class on a small integer grid, where ties are common."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 5, (3 * n_class, 2)), np.repeat(np.arange(n_class), 3)


def exact_halves(embeddings: np.ndarray, labels: np.ndarray, halves: SplitHalf, k: int) -> list[tuple]:
    """Lower, expected and upper of both halves of each split, by the definition in exact fractions."""
    squares = ((embeddings[:, None] - embeddings[None]) ** 2).sum(axis=2)
    ranked, names, n_half = ~np.eye(len(labels), dtype=bool), labels.tolist(), halves.groups.n_group // 2
    drawn = [halves.groups.group_labels(split) for split in range(halves.groups.draws)]
    sides = [(groups[:n_half], groups[n_half : 2 * n_half]) for groups in drawn]
    return [tuple(reference.grouped_recall(squares, names, names, side, ranked=ranked, k=k) for side in pair)
            for pair in sides]  # fmt: skip


@pytest.mark.parametrize("k", [1, 3])
def test_differences_of_halves_are_those_of_the_definition(k: int) -> None:
    embeddings, labels = grid()
    task = dh.Task(embeddings, labels, distance="euclidean")
    halves = dh.split_half(task, group_size=3, measure=f"Hit@{k}", draws=6, seed=2)
    assert halves.groups.n_group == 5
    for split, (first, second) in enumerate(exact_halves(embeddings, labels, halves, k)):
        lower, upper = first.lower - second.upper, first.upper - second.lower
        least = max(0, lower, -upper)
        exact = least, abs(first.expected - second.expected), max(abs(lower), abs(upper))
        for values, fraction in zip(halves.differences, exact, strict=True):
            assert values[split] == pytest.approx(float(fraction), abs=2**-51)
    assert (halves.differences.lower < halves.differences.upper).all()
    assert halves.to_dict()["difference"]["std"] == pytest.approx(stdev(halves.differences.expected.tolist()))
    assert any(halves.differences.lower > 0) or k == 1


def test_margins_and_limits_are_students_quantile_times_the_standard_error() -> None:
    """t √(σ₁²/N₁ + σ₂²/N₂), with Welch's degrees of freedom, and value + t σ/√N; σ is the standard library's."""
    embeddings, labels = np.random.default_rng(1).standard_normal((80, 3)), np.arange(80) % 20
    halves = dh.split_half(dh.Task(embeddings, labels), group_size=2, draws=4, measure="mAP")
    how = {"confidence_level": 0.9}
    values = halves.grouped.per_group.expected.reshape(4, 10).tolist()
    margins = []
    for row in values:
        a, b = stdev(row[:5]) ** 2 / 5, stdev(row[5:]) ** 2 / 5
        margins.append(stats.t((a + b) ** 2 / ((a**2 + b**2) / 4)).ppf(0.95) * math.sqrt(a + b))
    assert halves.margins(**how) == pytest.approx(margins, rel=1e-12)
    error = math.sqrt(sum(stdev(row) ** 2 for row in values) / 4 / 10)
    limit = halves.grouped.expected + stats.t(9).ppf(0.95) * error
    assert halves.upper_limit(**how).expected == pytest.approx(limit, rel=1e-12)
    content = json.loads(halves.to_json(**how))
    assert content["margin"]["expected"] == pytest.approx(math.fsum(margins) / 4, rel=1e-12)
    assert content["margin"]["std"] == pytest.approx(stdev(margins), rel=1e-12)
    assert content["difference"]["std"] == pytest.approx(stdev(halves.differences.expected.tolist()), rel=1e-12)
    assert content["plain"]["expected"] == dh.evaluate(embeddings, labels, measures="mAP")["mAP"].expected
    assert content["upper_limit"]["expected"] == halves.upper_limit(**how).expected


def test_halves_of_queries_and_a_gallery() -> None:
    embeddings, labels = grid()
    order, options = np.random.default_rng(0).permutation(len(labels)), {"group_size": 3, "measure": "mAP"}
    both = dh.Task(embeddings, labels, embeddings[order], labels[order], exclude=np.argsort(order))
    alone = dh.split_half(dh.Task(embeddings, labels), draws=3, **options)
    assert dh.split_half(both, draws=3, **options).to_dict() == alone.to_dict()
    less = both.replace(junk=np.arange(len(labels)) % 5 == 0)
    without = dh.split_half(less, draws=3, **options)
    assert without.groups.profile == dh.grouped(less, group_size=3, draws=3).profile
    assert without.plain.expected != alone.plain.expected


def test_what_is_undefined_is_not_zero() -> None:
    few = dh.split_half(dh.Task(*grid(6)), group_size=2, draws=2)
    assert few.groups.n_group == 3
    assert np.isnan(few.margins()).all()
    assert few.to_dict()["margin"] == {"lower": None, "expected": None, "upper": None, "std": None}
    assert dh.split_half(dh.Task(*grid()), group_size=3, draws=1).to_dict()["difference"]["std"] is None
    under = dh.split_half(dh.Task(*grid(), ties=Tolerance(0.1), distance="euclidean"), group_size=3)
    assert np.isnan(under.differences.expected).all()
    assert under.to_dict()["difference"]["std"] == pytest.approx(stdev(under.differences.lower.tolist()))
    assert under.to_dict()["margin"]["expected"] > 0
    assert under.to_dict()["difference"]["lower"] < under.to_dict()["difference"]["upper"]


def test_halves_as_text() -> None:
    task = dh.Task(np.arange(51.0)[:, None] ** 2, np.arange(51) // 3, distance="l2")
    halves = dh.split_half(task, group_size=3, draws=5)
    lines = halves.to_text(confidence_level=0.9).splitlines()
    assert lines[0].split() == ["measure", "(%)", "value", "s.d."]
    assert [line.split("  ")[0] or line.split()[0] for line in lines[1:6]] == [
        "Hit@1, plain", "Hit@1 in groups of 3", "upper", "difference of two halves", "90",
    ]  # fmt: skip
    assert lines[7] == (
        "5 splits of 17 classes into halves of 2 groups of 3 each, drawn with seed 0; 5 classes are in no half each "
        "time. s.d.: over the splits."
    )
