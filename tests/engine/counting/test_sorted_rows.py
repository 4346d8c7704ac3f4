"""Rows that are mostly relevant: sorted or counted between cuts, they have the same groups."""

import numpy as np
import pytest
from engine.loops import taken

from benchmarks import cliffs
from deadheat import Task
from deadheat.engine import count
from deadheat.engine.counting import layout

N = 160
KINDS = {
    "random": cliffs.random_float64,
    "float32": lambda labels, dim, rng: rng.standard_normal((len(labels), dim), dtype=np.float32),
    "integers": lambda labels, dim, rng: rng.integers(-2, 3, (len(labels), dim)),
    "constant": lambda labels, dim, rng: np.zeros((len(labels), dim)),
    "one far away": lambda labels, dim, rng: (
        np.where(np.arange(len(labels)) == 5, 1e30, 1)[:, None] * rng.random((1, dim))
    ),
    "copies": lambda labels, dim, rng: rng.standard_normal((7, dim))[rng.integers(0, 7, len(labels))],
    **{name: cliffs.NAMED[name] for name in ("two-valued", "an ulp apart", "one decimal", "sparse", "time stamps")},
    **cliffs.ADVERSARIAL,
}


def settings(rng):
    """Two classes in several settings, and a query whose label the gallery does not have."""
    labels = np.where(rng.random(N) < 0.9, 0, 1)
    return {
        "leave one out": ((labels,), {}),
        "gallery": ((labels[:40],), {"gallery_labels": labels[40:]}),
        "excluded": ((labels[:40],), {"gallery_labels": labels[40:], "exclude": np.where(rng.random(40) < 0.5, 3, -1)}),
        "junk": ((labels,), {"junk": rng.random((N, N)) < 0.3}),
        "junk of all": ((labels,), {"junk": rng.random(N) < 0.3}),
        "several labels": ((rng.random((N, 5)) < 0.4,), {}),
        "shared labels": ((rng.random((N, 3)) < 0.7,), {"relevance": "count"}),
    }


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock"])
@pytest.mark.parametrize("kind", KINDS)
def test_sorted_or_counted_groups_are_the_same(kind, distance, monkeypatch):
    rng = np.random.default_rng(4)
    rows = KINDS[kind](np.zeros(N), 8, rng)
    for name, ((labels,), options) in settings(rng).items():
        options = dict(options)
        data = (rows, labels) if "gallery_labels" not in options else (
            rows[:40], labels, rows[40:], options.pop("gallery_labels"))  # fmt: skip
        profiles = {}
        for part in (0, 2):  # all rows are sorted, and none
            monkeypatch.setattr(count, "SORTED_SHARE", part)
            profiles[part] = Task(*data, distance=distance, **options).profile
        assert profiles[0].digest() == profiles[2].digest(), name


def sorted_queries(seen):
    """The queries whose rows were sorted, of what `taken` has recorded."""
    return [int(q) for name, blocks in seen if name == "sorted rows" for queries in blocks.values() for q in queries]


@pytest.mark.parametrize("blocks", [24, 1024])
def test_only_queries_with_much_that_is_relevant_have_their_rows_sorted(blocks, monkeypatch):
    monkeypatch.setattr(layout, "BLOCK_ROWS", blocks)
    rng, seen = np.random.default_rng(1), taken(monkeypatch)
    labels = np.where(np.arange(400) < 240, 0, np.arange(400))
    task = Task(rng.standard_normal((400, 4)), rng.permutation(labels))
    assert task.profile.n_query == 400
    large = np.flatnonzero(task.labels == 0)
    assert sorted(sorted_queries(seen)) == large.tolist()


def test_columns_that_are_made_ready_for_each_row_of_blocks_give_the_same(monkeypatch):
    """More columns than are kept ready: 96 MB of float64 rows."""
    rng = np.random.default_rng(3)
    rows, labels = rng.standard_normal((3100, 4096), dtype=np.float32), np.arange(3100) % 2
    few = Task(rows[:8], labels[:8], rows, labels, exclude=np.arange(8))
    result = few.profile.digest()
    monkeypatch.setattr(count, "SORTED_SHARE", 2)
    assert Task(rows[:8], labels[:8], rows, labels, exclude=np.arange(8)).profile.digest() == result
