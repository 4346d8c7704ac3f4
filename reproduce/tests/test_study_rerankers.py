"""The study of rerankers: equal inputs and nothing else tie, and the rules are at the bounds they should be at."""

from __future__ import annotations

import pytest

from reproduce.rerankers import MEAN, constant_ndcg, scores_of, truncated

RULES = ["in the order of the file", "in the order of the file, reversed", "by id, ascending", "by id, descending"]


def test_a_constant_scorer() -> None:
    row = truncated(0, 20, 10)
    assert row.constant == 1
    assert [row.rules[rule] for rule in RULES] == [1.0, 0.1, 1.0, 0.1]
    assert row.rules[MEAN] == pytest.approx(sum(1 / rank for rank in range(1, 11)) / 10)
    assert constant_ndcg(11) == 0.0 < constant_ndcg(10)


def test_less_seen_is_more_earned_where_ties_keep_the_order() -> None:
    rows = [truncated(length, 100, 20) for length in (64, 128, 256)]
    listed = [row.rules[RULES[0]] for row in rows]
    assert listed == sorted(listed, reverse=True)
    assert [row.lower for row in rows] == sorted(row.lower for row in rows)
    for row in rows:
        assert (row.rules[RULES[0]], row.rules[RULES[1]]) == (row.upper, row.lower)  # the positive is the first
        assert row.lower <= row.rules[MEAN] <= row.upper


def test_only_what_is_cut_ties() -> None:
    whole = scores_of(10**6, 20, 20)
    assert all(len(set(row.values())) == 20 for row in whole.values())
    assert all(len(set(row.values())) == 1 for row in scores_of(0, 20, 20).values())
