"""Whole rankings against exact keys in fractions: every item, its place, and its tie group."""

from __future__ import annotations

import numpy as np
import oracles
import pytest
from engine.kinds import BIT_KINDS, KINDS
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from deadheat import Rounded, Tolerance
from deadheat.engine.counting import ranking
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.ranking import Ranked, Rankings, nearest_groups
from deadheat.engine.distances import registry as distance_registry

NUMBERS = tuple(name for name in distance_registry.names(takes="numbers") if name != "correlation")  # a cosine


def keys_of(query, gallery, distance, ties="exact"):
    """A number for each item that is larger where it is closer, and equal where it ties."""
    if ties == "exact":
        return [oracles.exact_key(query, item, distance) for item in gallery]
    (row,), rows = oracles._rows_of(query[None], distance), oracles._rows_of(gallery, distance)
    name, kind = ties
    return [oracles._rounded_key(oracles._distance(row, item, distance), distance, name, kind) for item in rows]


def expected(query, gallery, distance, ties="exact"):
    """Items and groups of each row, as `Ranked` has them."""
    alone = gallery is None
    gallery = query if alone else gallery
    items, groups = np.full((2, len(query), len(gallery)), -1)
    for i, one in enumerate(query):
        keys = keys_of(one, gallery, distance, ties)
        order = sorted((j for j in range(len(gallery)) if not (alone and j == i)), key=lambda j: (-keys[j], j))
        levels = sorted({keys[j] for j in order}, reverse=True)
        items[i, : len(order)] = order
        groups[i, : len(order)] = [levels.index(keys[j]) for j in order]
    return items, groups


def rankings_of(query, gallery=None, **settings):
    return Rankings(query, gallery, CountingOptions.checked(**settings))


def whole(rankings):
    """All blocks put together, and how many there were."""
    blocks = list(rankings)
    assert_array_equal(np.concatenate([block.queries for block in blocks]), np.arange(rankings.n_query))
    matrices = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("items", "group"))
    return (*matrices, len(blocks))


def check(query, gallery, distance, ties="exact"):
    query = np.asarray(query)
    rule = ties if ties == "exact" else Rounded(ties[0], of=ties[1])
    rankings = rankings_of(query, gallery, distance=distance, ties=rule, threads=2)
    items, group, _ = whole(rankings)
    want_items, want_group = expected(query, gallery, distance, ties)
    assert_array_equal(items, want_items)
    assert_array_equal(group, want_group)
    assert (rankings.n_query, rankings.n_gallery) == items.shape


def made(kind, n, dim, seed):
    """Small data of many ties."""
    return (KINDS | BIT_KINDS)[kind](np.random.default_rng([seed, n, dim]), n, dim)


TIED = ("integer_grid", "gaussian", "duplicates", "scaled_duplicates", "some_zero_rows", "saturated_in_float64")
every_kind_and_distance = pytest.mark.parametrize(
    ("kind", "distance"),
    [*((kind, name) for kind in TIED for name in NUMBERS), *(("bits", name) for name in oracles.BITS)],
)


# The rankings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alone", [True, False])
@every_kind_and_distance
def test_all_items_are_in_exact_order_and_in_exact_groups(kind, distance, alone):
    query = made(kind, 14, 3, 0)
    check(query, None if alone else made(kind, 17, 3, 1), distance)


@settings(max_examples=60, deadline=None)
@given(
    data=st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=1, max_size=9),
    split=st.integers(0, 9),
    distance=st.sampled_from(NUMBERS),
    shift=st.sampled_from([0.0, 0.25, 0.1]),
)
def test_small_grids(data, split, distance, shift):
    rows = np.array(data) + shift
    cut = split % len(rows)
    check(rows if cut == 0 else rows[:cut], None if cut == 0 else rows[cut:], distance)


@pytest.mark.parametrize(
    "ties", [("float16", None), ("bfloat16", None), ("float32", "distance"), ("float16", "distance")]
)
@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock"])
@pytest.mark.parametrize("kind", ["gaussian", "saturated_in_float64", "some_zero_rows"])
def test_rounded_ties(kind, distance, ties):
    check(made(kind, 12, 3, 2), None, distance, ties)
    check(made(kind, 5, 3, 3), made(kind, 11, 3, 4), distance, ties)


def test_a_single_sample_has_nobody_to_rank():
    items, group, _ = whole(rankings_of([[1.0, 2.0]]))
    assert (items.tolist(), group.tolist()) == ([[-1]], [[-1]])


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock"])
@pytest.mark.parametrize("kind", ["integer_grid", "gaussian", "duplicates"])
def test_blocks_and_threads_change_nothing(kind, distance, monkeypatch):
    query, wanted = made(kind, 23, 4, 5), None
    for entries, threads, n_block in ((ranking.BLOCK_ENTRIES, 1, 1), (1, 3, 23), (23 * 5, 1, 5), (23 * 5, 4, 5)):
        monkeypatch.setattr(ranking, "BLOCK_ENTRIES", entries)
        rankings = rankings_of(query, distance=distance, threads=threads)
        *result, n = whole(rankings)
        result += [np.concatenate(side) for side in zip(*map(rankings.closeness, rankings), strict=True)]
        assert n == n_block
        wanted = result if wanted is None else wanted
        for one, other in zip(result, wanted, strict=True):
            assert_array_equal(one, other)


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"ties must have tie groups, but Tolerance\(0.1\) has none"):
        rankings_of([[1.0]], ties=Tolerance(0.1))
    with pytest.raises(ValueError, match="of must be 'distance' for distance 'euclidean'"):
        rankings_of([[1.0]], distance="euclidean", ties=Rounded("float16", of="similarity"))


# Closeness ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", ["cityblock", "inner_product"])
@pytest.mark.parametrize(
    ("rows", "known"),
    [
        *((np.array([[3, 4], [0, 7], [-1, 2]]) * unit, True) for unit in (1, 6.0, np.float32(0.1))),
        # products that are below the least float, or above the largest
        *((np.array([[3, 4], [0, 7], [-1, 2]]) * 2.0**power, None) for power in (-600, 600)),
        (np.array([[0.1, 0.2], [0.8, 0.4], [0.4, 0.1]]), False),  # 0.1 has too many digits for its multiples
        (np.array([[0.1, 0.7], [0.3, 0.2], [1 / 3, 0.9]]), False),
    ],
)
def test_closeness_of_whole_multiples_is_one_number(distance, rows, known):
    rankings = rankings_of(rows, distance=distance)
    (block,) = rankings
    low, high = rankings.closeness(block)
    known = distance == "cityblock" if known is None else known
    assert_array_equal(np.isnan([low, high]), [block.items < 0] * 2)
    assert (low[block.items >= 0] == high[block.items >= 0]).all() == known
    for i, k in np.argwhere(block.items >= 0):
        assert low[i, k] <= oracles.exact_key(rows[i], rows[block.items[i, k]], distance) <= high[i, k]


# The k nearest --------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.integers(0, 4), min_size=1, max_size=8), k=st.integers(1, 12), alone=st.booleans())
def test_the_nearest_and_all_that_tie_with_the_last(rows, k, alone):
    query = np.array(rows)[:, None]
    (block,) = rankings_of(query, None if alone else query, distance="euclidean")
    result = nearest_groups(block, k)
    for i, one in enumerate(rows):
        gaps = {j: abs(one - other) for j, other in enumerate(rows) if not (alone and i == j)}
        limit = sorted(gaps.values())[:k][-1:]
        want = {j for j, gap in gaps.items() if limit and gap <= limit[0]}
        assert set(block.items[i][result[i]].tolist()) == want


@pytest.mark.parametrize(("k", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)])
def test_k_must_be_a_positive_integer(k, error):
    with pytest.raises(error, match="k must be"):
        nearest_groups(Ranked(np.array([0]), np.array([[1, 2]]), np.array([[0, 1]])), k)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("by_pair", [False, True])
@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
def test_junk_is_not_ranked(distance, by_pair, alone):
    """The remaining items are in the order, and in the groups, of the ranking of everything."""
    query = made("integer_grid", 17, 2, 3)
    gallery = None if alone else made("duplicates", 11, 2, 4)
    n_gallery = 17 if alone else 11
    junk = np.random.default_rng(5).random((17, n_gallery) if by_pair else n_gallery) < 0.4
    items, group, _ = whole(rankings_of(query, gallery, distance=distance))
    left, left_group, _ = whole(rankings_of(query, gallery, distance=distance, junk=junk))
    is_junk = np.broadcast_to(junk, (17, n_gallery))
    for row in range(17):
        stays = (items[row] >= 0) & ~is_junk[row, items[row]]
        n_left = stays.sum()
        assert_array_equal(left[row, :n_left], items[row, stays])
        assert_array_equal(left_group[row, :n_left], np.unique(group[row, stays], return_inverse=True)[1])
        assert (left[row, n_left:] == -1).all()
        assert (left_group[row, n_left:] == -1).all()


@every_kind_and_distance
def test_the_nearest_by_tiles_are_those_of_whole_rankings(kind, distance, monkeypatch):
    rng = np.random.default_rng(8)
    for alone in (True, False):
        query, gallery = made(kind, 12, 3, 8), None if alone else made(kind, 15, 3, 9)
        rankings = rankings_of(query, gallery, distance=distance)
        metric = distance_registry.make(distance, query, gallery, True)
        (whole,) = rankings
        column_of_item = np.append(metric.columns.column_of_item, -1)
        for k in (1, 2, 5, 20):
            for name, most in (("BLOCK_ROWS", 5), ("TILE_COLUMNS", 6), ("MOST_CANDIDATES", 30), ("PAIRS", 12)):
                monkeypatch.setattr(ranking, name, int(rng.integers(1, most)))
            wanted, group = nearest_groups(whole, k), whole.group
            for block in ranking.nearest(metric, rankings.candidates, k, threads=2):
                last, closer, tied = block.within(k)
                for row, i in enumerate(block.queries.tolist()):
                    of_item = group[i, wanted[i]]
                    assert last[row] == of_item.max(initial=0)
                    assert (closer[row], tied[row]) == ((of_item < last[row]).sum(), (of_item == last[row]).sum())
                    columns = column_of_item[whole.items[i, wanted[i]]]
                    assert_array_equal(block.groups_of(np.full(len(columns), row), columns), of_item)
                    others = np.setdiff1d(np.arange(len(metric.columns)), block.columns[row])
                    assert (block.groups_of(np.full(len(others), row), others) == block.group.shape[1]).all()
