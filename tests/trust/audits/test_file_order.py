"""Embeddings of the file's order over labels in order: detected, whatever they look like, and honest ones are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import deadheat as dh
from deadheat.trust.audits.evidence import Evidence
from deadheat.trust.audits.file_order import nearness, row_numbers
from deadheat.trust.audits.submission_audit import Audit

Rows = NDArray[Any]
SORTED = np.repeat(np.arange(16), 15)
N = len(SORTED)


def audit(rows: Rows, labels: Rows = SORTED, *more: Any, **settings: Any) -> Audit:
    return dh.audit(dh.Task(rows.astype(np.float32), labels, *more, threads=1, **settings), measures="mAP")


def walk(rng: np.random.Generator) -> Rows:
    return np.cumsum(rng.normal(size=(N, 32)), axis=0)


def waves(rng: np.random.Generator) -> Rows:
    angles = np.arange(N)[:, None] / np.array([5, 20, 80, 300]) + rng.normal(size=4)
    return np.hstack([np.sin(angles), np.cos(angles)])


def smoothed(rng: np.random.Generator) -> Rows:
    noise = rng.normal(size=(N + 9, 32))
    return np.stack([noise[row : row + 10].mean(axis=0) for row in range(N)])


def model(rng: np.random.Generator, noise: float = 1.0, labels: Rows = SORTED) -> Rows:
    return rng.normal(size=(16, 32))[labels] + noise * rng.normal(size=(N, 32))


def pairs_of_photos(rng: np.random.Generator) -> Rows:
    """Two photos of one thing after the other, as in many files."""
    return model(rng) + np.repeat(rng.normal(size=(N // 2, 32)), 2, axis=0)


def quality(rng: np.random.Generator) -> Rows:
    """The best photo of each class first."""
    return model(rng, 0.5) * (2.0 - (np.arange(N) % 15) / 15)[:, None]


def similar_classes(rng: np.random.Generator) -> Rows:
    """Neighbouring classes are similar, as in a taxonomy."""
    return np.cumsum(rng.normal(size=(16, 32)), axis=0)[SORTED] + rng.normal(size=(N, 32))


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
@pytest.mark.parametrize("make", [walk, waves, smoothed])
def test_embeddings_of_the_order_do_not_pass(make: Any, distance: str) -> None:
    outcome = audit(make(np.random.default_rng(0)), distance=distance)
    assert outcome["file order"].severity == "serious"
    assert outcome["file order"].figures["share"] > 0.9
    assert not outcome.passes()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("make", [model, pairs_of_photos, quality, similar_classes])
def test_sound_embeddings_over_sorted_labels_pass(make: Any, seed: int) -> None:
    outcome = audit(make(np.random.default_rng(seed)))
    assert "labels in order" in outcome
    assert "file order" not in outcome
    assert outcome.passes()


def test_an_order_that_says_nothing_of_the_labels_is_no_finding() -> None:
    """The same walk over shuffled labels scores nothing, and its finding is that of chance."""
    rng = np.random.default_rng(0)
    outcome = audit(walk(rng), rng.permutation(SORTED))
    assert "file order" not in outcome
    assert outcome["chance"].severity == "serious"


def test_few_classes_are_a_warning_as_near_copies_may_follow_each_other() -> None:
    labels = np.repeat([0, 1, 2], 80)
    outcome = audit(walk(np.random.default_rng(0)), labels)["file order"]
    assert (outcome.severity, outcome.figures["of_different_classes"]) == ("warning", False)
    assert "file order" not in audit(model(np.random.default_rng(0), labels=labels), labels)


def test_codes_and_a_gallery_have_an_order_too() -> None:
    rng = np.random.default_rng(0)
    codes = np.cumsum(rng.random((N, 256)) < 0.01, axis=0) % 2
    outcome = dh.audit(dh.Task(codes.astype(np.uint8), SORTED, distance="hamming", threads=1), measures="mAP")
    assert outcome["file order"].severity == "serious"
    rows = walk(rng)
    outcome = audit(rows[::5], SORTED[::5], (rows + 0.1).astype(np.float32), SORTED)
    assert outcome["file order"].severity == "serious"


def evidence_of(labels: Rows, gallery: Rows | None) -> Evidence:
    more = () if gallery is None else (np.zeros((len(gallery), 1)), gallery)
    return audit(np.zeros((len(labels), 1)), labels, *more).evidence


@pytest.mark.parametrize("gallery", [None, np.repeat(np.arange(16), 4)])
def test_the_baseline_is_average_precision_by_the_difference_of_rows(gallery: Rows | None) -> None:
    """Computed here by sorting; without a gallery rows at one distance tie, so that the range is compared."""
    labels = np.repeat(np.arange(16), 3)
    items = labels if gallery is None else gallery
    task = dh.Task(np.zeros((48, 1)), labels, *(() if gallery is None else (np.zeros((64, 1)), gallery)))
    outcome = dh.evaluate(row_numbers(task), measures="mAP")["mAP"]
    ends = []
    for best in (True, False):
        values = []
        for row in range(48):
            positions = (2 * np.arange(len(items)) + 1) * 48 - (2 * row + 1) * len(items)
            relevant = items == labels[row]
            order = np.lexsort((~relevant if best else relevant, abs(positions)))
            order = order[order != row] if gallery is None else order
            ranks = 1 + np.flatnonzero(relevant[order])
            values.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
        ends.append(np.mean(values))
    assert (outcome.upper, outcome.lower) == pytest.approx(ends, abs=1e-12)
    numbered = evidence_of(labels, gallery).numbered
    assert numbered is not None
    assert numbered["mAP"].lower == outcome.lower


def test_nearness_is_the_mean_share_of_the_class_that_is_farther() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(-2, 3, (N, 3)).astype(np.float64)  # many ties
    task = dh.Task(rows, SORTED)
    source = task.pair.query.embeddings
    outcome = nearness(source, SORTED, "euclidean", 1)
    assert (outcome.n, outcome.across) == (15, True)
    shares = []
    for step in (1, -1):
        values = []
        for row in np.flatnonzero(np.diff(SORTED)) + (step < 0):
            others = [other for other in np.flatnonzero(SORTED[row + step] == SORTED) if other != row + step]
            squares = np.square(rows[others] - rows[row]).sum(axis=1)
            nearest = np.square(rows[row + step] - rows[row]).sum()
            values.append(np.mean((squares > nearest) + (squares == nearest) / 2))
        shares.append(np.mean(values))
    assert outcome.share == pytest.approx(min(shares), abs=1e-12)


def test_nearness_has_the_deviation_of_random_orders() -> None:
    """The standard deviation is that of shuffling rows within classes, and the threshold is not reached in 100."""
    rng = np.random.default_rng(0)
    rows, drawn = rng.normal(size=(N, 4)), []
    for _ in range(100):
        order = np.lexsort((rng.random(N), SORTED))
        drawn.append(nearness(dh.Task(rows[order], SORTED).pair.query.embeddings, SORTED, "euclidean", 1))
    shares = np.array([each.share for each in drawn])
    assert not any(each.found for each in drawn)
    assert shares.mean() < 0.5  # the smaller one of two
    assert shares.std() < 1.1 * drawn[0].std
    assert drawn[0].std == pytest.approx(np.sqrt(16 / (12 * 14) / 15), rel=1e-12)
