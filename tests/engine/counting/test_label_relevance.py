"""Relevance of single items by labels, against matrices of labels written out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from deadheat.engine.counting.label_relevance import LabelRelevance
from deadheat.inputs.label_sets import LabelSets, label_sets


def sets_of(matrix: np.ndarray) -> LabelSets:
    return label_sets(matrix, "labels", len(matrix), "rows")


@pytest.mark.parametrize("n_label", [2, 64, 65, 130])
def test_items_that_share_a_label_are_relevant(n_label: int) -> None:
    rng = np.random.default_rng(n_label)
    query, items = (rng.random((n, n_label)) < 2 / n_label for n in (20, 30))
    query[3], items[5], items[-1] = False, False, True
    relevance = LabelRelevance(sets_of(query), sets_of(items))
    written_out = query.astype(int) @ items.T.astype(int) > 0
    assert relevance.several
    assert_array_equal(relevance.of(np.arange(20)[:, None], slice(None)), written_out)
    assert_array_equal(relevance.of(7, slice(None)), written_out[7])
    some = rng.integers(0, 20, 50), rng.integers(-30, 30, 50)
    assert_array_equal(relevance.of(*some), written_out[some])
    ranked = rng.integers(-1, 30, (4, 9))
    assert_array_equal(relevance.of(np.arange(4)[:, None], ranked), written_out[np.arange(4)[:, None], ranked])
    assert_array_equal(relevance.n_relevant(), written_out.sum(axis=1))
    same = (items[:, None] == items).all(axis=2) & items.any(axis=1) | np.eye(30, dtype=bool)
    assert_array_equal(relevance.classes[:, None] == relevance.classes, same)


@pytest.mark.parametrize("n_label", [5, 64])
def test_one_hot_is_the_vector(n_label: int) -> None:
    rng = np.random.default_rng(0)
    query, items = rng.integers(0, n_label, 40), rng.integers(0, n_label - 1, 300)
    query[0] = n_label - 1  # which no item has
    one = LabelRelevance(query, items)
    hot = LabelRelevance(*(sets_of(np.eye(n_label, dtype=int)[each]) for each in (query, items)))
    assert (one.several, hot.several) == (False, False)
    assert_array_equal(one.of(np.arange(40)[:, None], slice(None)), query[:, None] == items)
    assert_array_equal(one.n_relevant(), (query[:, None] == items).sum(axis=1))
    for name in ("classes", "query_classes"):
        assert_array_equal(getattr(one, name), getattr(hot, name))


def test_a_row_without_a_label_is_relevant_to_nobody() -> None:
    for matrix in ([[0, 0], [1, 0], [0, 0], [1, 0]], [[0, 0], [1, 1], [0, 0], [1, 0]]):
        relevance = LabelRelevance(*[sets_of(np.array(matrix))] * 2)
        assert relevance.of(np.arange(4)[:, None], slice(None)).astype(int).tolist() == [
            [0, 0, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0], [0, 1, 0, 1]
        ]  # fmt: skip
        assert relevance.n_relevant().tolist() == [0, 2, 0, 2]
        assert len(set(relevance.classes[[0, 1, 2]].tolist())) == 3
