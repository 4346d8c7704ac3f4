"""Correlation: the cosine of rows that are centred in fractions, or one line for those that are not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import oracles
import pytest

import deadheat as dh
from deadheat.engine.distances.cosine import centred


def centred_integers(rows: Any) -> list[list[int]]:
    """d x - Σx of each row, times a power of two that makes it whole."""
    result = []
    for row in rows.tolist():
        exact = [Fraction(x) for x in row]
        centre = [len(exact) * x - sum(exact) for x in exact]
        shift = max(x.denominator for x in centre)
        result.append([int(x * shift) for x in centre])
    return result


def rows_of(kind: str) -> Any:
    rng = np.random.default_rng(1)
    if kind == "integers":
        return rng.integers(-2, 3, (24, 4))
    if kind == "bytes":
        return rng.integers(0, 256, (24, 4)).astype(np.uint8)
    rows = rng.integers(-3, 4, (24, 4)) * rng.choice([1.0, 0.125], (24, 1)) + rng.choice([0.0, 1e6], (24, 1))
    return rows.astype(np.float32)  # multiples and shifts of a few directions: ties as real numbers


@pytest.mark.parametrize("kind", ["integers", "bytes", "floats"])
@pytest.mark.parametrize("gallery", [False, True])
def test_it_is_the_cosine_of_centred_rows(kind: str, gallery: bool) -> None:
    rows, labels = rows_of(kind), np.arange(24) % 5
    centre = centred_integers(rows)
    others = (rows[:12], labels[:12]) if gallery else ()
    task = dh.Task(rows, labels, *others, distance="Pearson", exclude=np.full(24, -1) if gallery else None)
    assert any(task.profile.tied > 1) == (kind != "bytes")
    items = range(12 if gallery else 24)
    for query in range(24):
        ranked = [item for item in items if gallery or item != query]
        keys = [oracles.exact_key(centre[query], centre[item]) for item in ranked]
        expected = []
        for key in sorted(set(keys), reverse=True):
            tied = [labels[i] == labels[query] for i, k in zip(ranked, keys, strict=True) if k == key]
            closer = [labels[i] == labels[query] for i, k in zip(ranked, keys, strict=True) if k > key]
            if any(tied):
                expected.append((len(closer), sum(closer), len(tied), sum(tied)))
        result = task.profile[query]
        got = zip(result.closer, result.closer_relevant, result.tied, result.tied_relevant, strict=True)
        assert [tuple(map(int, group)) for group in got] == expected


def test_a_row_and_its_multiples_and_shifts_tie() -> None:
    row = np.random.default_rng(2).integers(0, 1000, 64)
    rows = np.stack([row, 3 * row + 17, 7 * row, row + 1, row[::-1]])
    result = dh.Task(rows, [0, 0, 1, 1, 1], distance="correlation").profile[0]
    assert (result.closer.tolist(), result.tied.tolist(), result.tied_relevant.tolist()) == ([0], [3], [1])


def test_float32_mostly_passes_and_keeps_its_last_bits() -> None:
    rows = np.random.default_rng(3).standard_normal((200, 100)).astype(np.float32)
    exact = centred_integers(rows[:3])
    for got, row in zip(centred(rows[:3]).tolist(), exact, strict=True):
        assert len({Fraction(x) / y for x, y in zip(got, row, strict=True) if y}) == 1
    assert dh.evaluate(rows, np.arange(200) % 10, distance="correlation", measures="mAP")["mAP"].expected > 0


@pytest.mark.parametrize("rows", [
    np.random.default_rng(4).standard_normal((3, 4)), [[1e300, 1e-300]], [[2.0**52 + 1, 1.0]], [[5e-324, 1.0]],
    [[1.7e308, -1.7e308, 1e290]],
])  # fmt: skip
def test_rows_that_float64_does_not_centre_are_refused(rows: Any) -> None:
    rows = np.vstack([rows, np.zeros_like(rows)])
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as caught:
        dh.Task(rows, np.arange(len(rows)), distance="correlation")
    assert str(caught.value) == (
        "embeddings must have rows that float64 centres exactly, as d x - Σx, for distance 'correlation': "
        "centre them yourself, and take 'cosine'"
    )
    with pytest.raises(ValueError, match="d x - Σx"):
        dh.Task(np.zeros_like(rows), np.arange(len(rows)), rows, np.arange(len(rows)), distance="correlation")


def test_constant_rows_have_correlation_0() -> None:
    profile = dh.Task([[1, 2, 4], [5, 5, 5], [7, 7, 7], [2, 1, 0]], [0, 0, 1, 1], distance="correlation").profile
    assert profile[0].tied.tolist() == [2]
    assert profile[0].closer.tolist() == [0]
    assert profile[1].tied.tolist() == [3]
