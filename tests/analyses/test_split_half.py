"""Halves of the classes: against groups that are evaluated one by one, and what ties, splits and few groups do."""

from __future__ import annotations

import json
import math
from statistics import NormalDist, stdev

import numpy as np
import pytest

import deadheat as dh
from deadheat.analyses.gaps import SplitHalf
from deadheat.engine.ties.tolerance import Tolerance

stats = pytest.importorskip("scipy.stats")


def grid(n_class: int = 17, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three points a class on a small integer grid, where ties are common."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 5, (3 * n_class, 2)), np.repeat(np.arange(n_class), 3)


def exact_halves(embeddings: np.ndarray, labels: np.ndarray, halves: SplitHalf, k: int) -> list[tuple]:
    """Lower, expected and upper of both halves of each split, by the definition in exact fractions."""
    squares = ((embeddings[:, None] - embeddings[None]) ** 2).sum(axis=2)
    ranked, names, n_half = ~np.eye(len(labels), dtype=bool), labels.tolist(), halves.groups.n_group // 2
    drawn = [halves.groups.group_labels(split) for split in range(halves.groups.repeats)]
    sides = [(groups[:n_half], groups[n_half : 2 * n_half]) for groups in drawn]
    return [tuple(dh.reference.grouped_recall(squares, names, names, side, ranked=ranked, k=k) for side in pair)
            for pair in sides]  # fmt: skip


@pytest.mark.parametrize("k", [1, 3])
def test_differences_of_halves_are_those_of_the_definition(k: int) -> None:
    embeddings, labels = grid()
    halves = dh.split_half(embeddings, labels, group_size=3, measure=f"Hit@{k}", splits=6, seed=2, distance="euclidean")
    assert halves.groups.n_group == 5
    for split, (first, second) in enumerate(exact_halves(embeddings, labels, halves, k)):
        lower, upper = first.lower - second.upper, first.upper - second.lower
        least = max(0, lower, -upper)
        exact = least, abs(first.expected - second.expected), max(abs(lower), abs(upper))
        for values, fraction in zip(halves.differences, exact, strict=True):
            assert values[split] == pytest.approx(float(fraction), abs=2**-51)
    assert (halves.differences.lower < halves.differences.upper).all()
    assert any(halves.differences.lower > 0) or k == 1


def test_margins_and_limits_are_z_times_the_standard_error() -> None:
    """z √(σ₁²/N₁ + σ₂²/N₂) and value + z σ/√N, by the standard library's z; σ by its stdev."""
    embeddings, labels = np.random.default_rng(1).standard_normal((80, 3)), np.arange(80) % 20
    halves = dh.split_half(embeddings, labels, group_size=2, splits=4, measure="mAP")
    how, z = {"confidence_level": 0.9, "method": "normal"}, NormalDist().inv_cdf(0.95)
    values = halves.grouped.per_group.expected.reshape(4, 10).tolist()
    margins = [z * math.hypot(stdev(row[:5]) / 5**0.5, stdev(row[5:]) / 5**0.5) for row in values]
    assert halves.margins(**how) == pytest.approx(margins, rel=1e-12)
    error = math.sqrt(sum(stdev(row) ** 2 for row in values) / 4 / 10)
    assert halves.upper_limit(**how).expected == pytest.approx(halves.grouped.expected + z * error, rel=1e-12)
    content = json.loads(halves.to_json(**how))
    assert content["margin"]["expected"] == pytest.approx(math.fsum(margins) / 4, rel=1e-12)
    assert content["margin"]["spread"] == pytest.approx(stdev(margins), rel=1e-12)
    assert content["difference"]["spread"] == pytest.approx(stdev(halves.differences.expected.tolist()), rel=1e-12)
    assert content["plain"]["expected"] == dh.evaluate(embeddings, labels, measures="mAP")["mAP"].expected
    assert content["upper_limit"]["expected"] == halves.upper_limit(**how).expected
    assert halves.margins().mean() > halves.margins(method="normal").mean(), "few groups: Student's t"


def test_halves_of_queries_and_a_gallery() -> None:
    embeddings, labels = grid()
    order, options = np.random.default_rng(0).permutation(len(labels)), {"group_size": 3, "measure": "mAP"}
    both = embeddings, labels, embeddings[order], labels[order]
    alone = dh.split_half(embeddings, labels, splits=3, **options)
    assert dh.split_half(*both, exclude=np.argsort(order), splits=3, **options).to_dict() == alone.to_dict()
    less = {"junk": np.arange(len(labels)) % 5 == 0, "exclude": np.argsort(order)}
    without = dh.split_half(*both, splits=3, **less, **options)
    assert without.groups.profile == dh.grouped(*both, **less, group_size=3, repeats=3).profile
    assert without.plain.expected != alone.plain.expected


def test_what_is_undefined_is_not_zero() -> None:
    few = dh.split_half(*grid(6), group_size=2, splits=2)
    assert few.groups.n_group == 3
    assert np.isnan(few.margins()).all()
    assert few.to_dict()["margin"] == {"lower": None, "expected": None, "upper": None, "spread": None}
    assert dh.split_half(*grid(), group_size=3, splits=1).to_dict()["difference"]["spread"] is None
    under = dh.split_half(*grid(), group_size=3, ties=Tolerance(0.1), distance="euclidean")
    assert np.isnan(under.differences.expected).all()
    assert under.to_dict()["margin"]["expected"] > 0
    assert under.to_dict()["difference"]["lower"] < under.to_dict()["difference"]["upper"]


def test_halves_as_text() -> None:
    halves = dh.split_half(np.arange(51.0)[:, None] ** 2, np.arange(51) // 3, group_size=3, splits=5, distance="l2")
    lines = halves.to_text(confidence_level=0.9).splitlines()
    assert lines[0].split() == ["measure", "(%)", "value", "s.d."]
    assert [line.split("  ")[0] or line.split()[0] for line in lines[1:6]] == [
        "Hit@1, plain", "Hit@1 in groups of 3", "upper", "difference of two halves", "90",
    ]  # fmt: skip
    assert lines[7] == (
        "5 splits of 17 classes into halves of 2 groups of 3 each, drawn with seed 0; 5 classes are in no half each "
        "time. s.d.: over the splits."
    )
