"""The loops of `src/core/counting`, bit by bit against their twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from counting import twins
from numpy.testing import assert_array_equal

from deadheat import _core
from deadheat.counting.counters import n_bins

DTYPES = [np.float32, np.float64]
SIZES = [(1, 1), (3, 7), (2, 16), (5, 33), (4, 64), (3, 131), (0, 5), (2, 0)]


def cuts(rng, n_row, n_interval, spread):
    """Ascending intervals, of any width, some of one number, one of them 0; a row may have fewer."""
    low = np.sort(
        np.where(rng.random((n_row, n_interval)) < 0.2, 0.0, spread * rng.standard_normal((n_row, n_interval)))
    )
    exactly = rng.random(low.shape) < 0.5
    high = np.where(low == 0, np.finfo(np.float64).tiny, np.nextafter(low, np.inf))
    high = np.where(exactly, high, low + spread * 1e-3)
    padding = np.arange(n_interval) >= rng.integers(0, n_interval + 1, n_row)[:, None]
    low[padding] = high[padding] = np.inf
    _core.make_ascending(low, high)
    return low, high


def errors(rng, n_row):
    relative = rng.choice([np.inf, 0.0, 1e-6, 0.5, 2.0], n_row)
    return (
        rng.choice([0.0, 1e-5, 0.3], n_row),
        relative,
        np.where(relative < np.inf, rng.choice([0.0, 1e-30], n_row), 0.0),
    )


def edges_of(low, high, off, closed, dtype):
    edges, others = np.empty((2, len(low), 2 * low.shape[1] + 1), dtype)
    n_edge = _core.build_edges(low, high, *off, closed, edges)
    assert n_edge == twins.build_edges(low, high, *off, closed, others)
    assert_array_equal(edges, others)
    assert_array_equal(np.signbit(edges), np.signbit(others))
    return edges, n_edge


def tables(edges, n_edge, closed, code):
    few = n_edge <= _core.FEW_EDGES
    codes = np.empty((len(edges), 1 if few else n_bins(n_edge)), code)
    base, scale = np.empty((2, len(edges)), edges.dtype)
    if not few:
        _core.build_bins(edges, closed, base, scale, codes)
    return base, scale, codes


def masks(rng, n_row, n_column, words):
    """Bits of rows and of columns, few of which are in both."""
    shapes = (n_row, words), (words, n_column)
    return tuple(np.uint32(1) << rng.integers(0, 4, shape).astype(np.uint32) for shape in shapes)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_interval", [1, 5, 16, 17, 60, 700])
def test_a_tile_is_counted(dtype, n_interval):
    rng = np.random.default_rng(n_interval)
    for n_row, n_column in SIZES:
        for spread, octaves in ((1.0, 0), (1e-3, 0), (1e30, 0), (1.0, 60)):  # crowded bins, the last
            closed, code = bool(rng.integers(2)), rng.choice([np.uint16, np.uint32])
            low, high = cuts(rng, n_row, n_interval, spread * 2.0 ** rng.uniform(-octaves, 0, (n_row, n_interval)))
            off = errors(rng, n_row) if octaves == 0 else (np.zeros(n_row), np.full(n_row, np.inf), np.zeros(n_row))
            edges, n_edge = edges_of(low, high, off, closed, dtype)
            tile = (spread * rng.standard_normal((n_row, n_column)) - rng.choice([0, 0, 2]) * spread).astype(dtype)
            tile *= (2.0 ** rng.uniform(-octaves, 0, tile.shape)).astype(dtype)
            some = rng.random(tile.shape)
            tile[some < 0.2] = rng.choice([0.0, -0.0])
            if n_row and n_edge:  # scores that are an edge, or next to one
                near = np.nextafter(edges, rng.choice([-np.inf, 0, np.inf], edges.shape).astype(dtype))
                chosen = np.take_along_axis(near, rng.integers(0, n_edge, tile.shape), axis=1)
                tile = np.where((some > 0.6) & np.isfinite(chosen), chosen, tile)
            zero_slot = np.full(n_row, -1, np.int32)
            if not closed and rng.integers(2):
                _core.slots_of_zero(low, high, zero_slot)
                assert_array_equal(zero_slot, twins.slots_of_zero(low, high), strict=True)
            places = masks(rng, n_row, n_column, rng.integers(0, 4))
            plain, start = bool(rng.integers(2)), 40
            weight = np.ones(n_column, np.int32) if plain else rng.integers(1, 5, n_column).astype(np.int32)
            excluded = np.sort(rng.integers(0, 2 * n_column + 40, (n_row, 9))).astype(np.int32)
            counts, others = np.zeros((2, n_row, 2 * n_interval + 1), np.int32)
            opened = np.empty((3, tile.size), np.int32)
            expected = twins.count_tile(tile, start, weight, excluded, edges, n_edge, closed, zero_slot, places, others)
            n = _core.count_tile(
                tile, start, weight, plain, excluded, edges, n_edge, closed, *tables(edges, n_edge, closed, code),
                zero_slot, places, counts, opened,
            )  # fmt: skip
            assert_array_equal(counts[:, 1:], others[:, 1:])
            assert n == len(expected)
            assert set(map(tuple, opened[:, :n].T.tolist())) == expected


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1), (5, 49), (50, 3), (385, 5), (7, 800), (100, 390)])
def test_products_are_counted_while_they_are_made(dtype, shape):
    """For both sides of a tile, with two sequences of cuts each: rows are whole numbers, so products are exact."""
    rng = np.random.default_rng(sum(shape))
    dim, panels = 70, _core.Panels32 if dtype == np.float32 else _core.Panels64
    left, right = (rng.integers(-3, 4, (n, dim)).astype(dtype) for n in shape)
    sides, expected = [], []
    for tile in (left @ right.T, right @ left.T):
        n_row, n_column = tile.shape
        offset = rng.integers(0, 9, n_column).astype(dtype) if rng.integers(2) else np.empty(0, dtype)
        tile = tile - offset if len(offset) else tile
        weight, start = rng.integers(1, 5, n_column).astype(np.int32), 40
        excluded = np.sort(rng.integers(0, n_column + 60, (n_row, 4))).astype(np.int32)
        counters = []
        for n_interval in (5, 60):
            low, high = (np.rint(bounds) for bounds in cuts(rng, n_row, n_interval, 30.0))
            off = np.full(n_row, 0.5), np.full(n_row, np.inf), np.zeros(n_row)
            edges, n_edge = edges_of(low, high, off, False, dtype)
            counts, others = np.zeros((2, n_row, 2 * n_interval + 1), np.int32)
            zero_slot, places = np.full(n_row, -1, np.int32), masks(rng, n_row, n_column, rng.integers(0, 3))
            _core.slots_of_zero(low, high, zero_slot)
            base, scale, codes = tables(edges, n_edge, False, np.uint16)
            opened, scores = np.empty((3, tile.size), np.int32), np.empty(tile.size)
            counters.append(((edges, n_edge, False, base, scale, codes, zero_slot, places), counts, opened, scores))
            of_tile = twins.count_tile(tile, start, weight, excluded, edges, n_edge, False, zero_slot, places, others)
            expected.append((tile, counts, others, opened, scores, of_tile))
        sides.append(((start, weight, False, excluded), offset, counters))
    n_open = _core.count_products(panels(left), panels(right), 32, sides)
    for n, (tile, counts, others, opened, scores, of_tile) in zip(itertools.chain(*n_open), expected, strict=True):
        assert_array_equal(counts[:, 1:], others[:, 1:])
        assert n == len(of_tile)
        assert set(map(tuple, opened[:, :n].T.tolist())) == of_tile
        assert_array_equal(scores[:n], tile[opened[0, :n], opened[1, :n]])
    assert sum(map(sum, n_open)) > 0 or 1 in shape


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("closed", [False, True])
def test_many_edges_in_one_bin(dtype, closed):
    """Up to all edges but two: scores are found by comparing interval by interval, and then by halving."""
    rng = np.random.default_rng(3)
    for n_crowded in (2, 5, 6, 7, 8, 40, 300):
        low = np.concatenate([[-1e6], 1 + np.arange(n_crowded) / 512, [5.0 + n_crowded], np.arange(2e6, 2e6 + 40)])
        low = np.tile(low, (3, 1))
        high = low + rng.choice([0, 1 / 1024, 1 / 512], low.shape)
        off = np.zeros(3), np.full(3, np.inf), np.zeros(3)
        edges, n_edge = edges_of(low, high, off, closed, dtype)
        tile = np.concatenate(
            [1 + rng.integers(-3, 2 * n_crowded + 9, (3, 70)) / 1024, rng.choice(edges[0, :-1], (3, 30))], 1
        )
        tile = tile.astype(dtype)
        counts, others = np.zeros((2, *edges.shape), np.int32)
        opened, weight = np.empty((3, tile.size), np.int32), rng.integers(1, 4, tile.shape[1]).astype(np.int32)
        excluded, zero_slot = np.full((3, 1), 1 << 20, np.int32), np.full(3, -1, np.int32)
        places = masks(rng, 3, tile.shape[1], 0)
        expected = twins.count_tile(tile, 0, weight, excluded, edges, n_edge, closed, zero_slot, places, others)
        n = _core.count_tile(
            tile, 0, weight, False, excluded, edges, n_edge, closed, *tables(edges, n_edge, closed, np.uint16),
            zero_slot, places, counts, opened,
        )  # fmt: skip
        assert_array_equal(counts[:, 1:], others[:, 1:])
        assert set(map(tuple, opened[:, :n].T.tolist())) == expected


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [1, 31, 32, 100])
def test_open_items_are_settled(dtype, dim):
    rng = np.random.default_rng(dim)
    for n_row, n_column in [(1, 1), (4, 9), (70, 140)]:
        left, right = (rng.integers(-4, 5, (n, dim)).astype(dtype) for n in (n_row, n_column))
        low, high = cuts(rng, n_row, 6, 4.0 * np.sqrt(dim))
        off = np.full(n_row, 0.5), np.full(n_row, np.inf), np.zeros(n_row)
        edges, _ = edges_of(low, high, off, False, dtype)
        n_group = (low < np.inf).sum(axis=1)
        rows = (
            np.flatnonzero(n_group)[rng.integers(0, max(1, (n_group > 0).sum()), 50)]
            if n_group.any()
            else np.empty(0, int)
        )
        slots = 2 * rng.integers(0, np.maximum(n_group[rows], 1)) + 1
        opened = np.stack([rows, rng.integers(0, n_column, len(rows)), slots]).astype(np.int32)
        weight = rng.integers(1, 4, n_column).astype(np.int32)
        offset = rng.integers(0, 3, n_column) / 2 if dim > 1 else np.empty(0)
        counts, others = np.zeros((2, n_row, 13), np.int32)
        reach = rng.choice([0.0, 0.25, 3.0], n_row)
        expected = twins.settle_open(opened, left, right, offset, weight, reach, edges, low, high, others)
        n = _core.settle_open(opened, left, right, offset, weight, reach, edges, low, high, counts)
        assert_array_equal(counts, others)
        assert_array_equal(opened[:, :n], expected)


@pytest.mark.parametrize("each", [1, 2])
def test_pairs_are_placed(each):
    rng = np.random.default_rng(each)
    for _ in range(30):
        low, high = cuts(rng, 5, 8, 1.0)
        rows, scores = rng.integers(0, 5, 60), rng.standard_normal(60)
        scores = np.where(rng.random(60) < 0.4, np.minimum(low[rows, rng.integers(0, 8, 60)], 3), scores)
        off, weights, guess = rng.choice([0.0, 1e-3, 0.4], 60), rng.integers(0, 4, 60), rng.integers(-1, 8, 60)
        counts, others = np.zeros((2, 5, 17), np.int32)
        listed = np.empty((3, 60), np.int64)
        n = _core.place_pairs(rows, guess, scores, off, weights, low, high, each, counts, listed)
        assert_array_equal(listed[:, :n], twins.place_pairs(rows, scores, off, weights, low, high, each, others))
        assert_array_equal(counts, others)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tile_is_turned(dtype):
    rng = np.random.default_rng(1)
    for shape in [*SIZES, (16, 16), (17, 40), (33, 31)]:
        buffer, out = (
            rng.standard_normal((shape[0], shape[1] + 3)).astype(dtype),
            np.full((shape[1], shape[0] + 5), 7, dtype),
        )
        _core.transpose(buffer[:, : shape[1]], out[:, : shape[0]])
        assert_array_equal(out[:, : shape[0]], buffer[:, : shape[1]].T)
        assert (out[:, shape[0] :] == 7).all()


def test_columns():
    rng = np.random.default_rng(2)
    for _ in range(30):
        n_column, n_class = int(rng.integers(1, 20)), 4
        inside = rng.random((n_class, n_column)) < 0.4
        keys, starts = np.flatnonzero(inside), np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        sizes, weight = rng.integers(1, 4, len(keys)), np.full(n_column, 9, np.int32)
        classes, shape = rng.integers(0, n_class, 6), (6, int(inside.sum(axis=1).max()) + 1)
        ours, theirs = np.empty((2, 3, *shape), np.int64)
        _core.relevant_columns(classes, starts, keys, sizes, weight, *ours)
        twins.relevant_columns(classes, starts, keys, sizes, weight, *theirs)
        assert_array_equal(ours, theirs)
        rows, taken = rng.integers(0, 6, 15), rng.integers(0, n_column, 15)
        same_class, unlisted = rng.random(15) < 0.5, np.empty(15, np.bool_)
        _core.take_out(rows, taken, same_class, *ours, unlisted)
        assert_array_equal(unlisted, twins.take_out(rows, taken, same_class, *theirs))
        assert_array_equal(ours, theirs)


def test_junk_is_taken_out():
    rng = np.random.default_rng(4)
    for n_item in (1, 7, 40):
        n_column, n_query = int(rng.integers(1, n_item + 1)), 5
        column = np.sort(rng.integers(0, n_column, n_item))
        items, starts = rng.permutation(n_item), np.searchsorted(column, np.arange(n_column + 1))
        mask, queries = rng.random((n_query, n_item)) < 0.5, rng.integers(0, n_query, 6)
        itself, classes, of_item = rng.integers(-1, n_item, 6), rng.integers(0, 2, 6), rng.integers(0, 2, n_item)
        columns = np.sort(rng.integers(0, n_column + 1, (6, 3)), axis=1)  # n_column is padding
        ours, theirs = np.full((2, 2, 6, 3), 9)
        _core.take_out_junk(queries, mask, itself, classes, of_item, items, starts, columns, *ours)
        twins.take_out_junk(queries, mask, itself, classes, of_item, items, starts, columns, *theirs)
        assert_array_equal(ours, theirs)
        for dtype in (np.float32, np.float64):
            tile = rng.standard_normal((6, n_column + 2)).astype(dtype)
            expected = tile.copy()
            _core.leave_out_junk(queries, mask, items, column, tile)
            twins.leave_out_junk(queries, mask, items, column, expected)
            assert_array_equal(tile, expected)
        _core.leave_out_junk(queries[:0], mask, items[:0], column[:0], np.empty((0, 0), np.float32))


def test_rankings_are_written_out():
    rng = np.random.default_rng(3)
    for n_column in (1, 2, 9):
        sizes = rng.integers(1, 4, n_column)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        by_column = rng.permutation(starts[-1])
        columns = np.argsort(rng.random((5, n_column)), axis=1)
        group = np.sort(rng.integers(-1, 4, (5, n_column)), axis=1)[:, ::-1].copy()
        junk = rng.random((5, starts[-1])) < 0.3
        first, excluded = np.concatenate([[0], np.cumsum(junk.sum(axis=1))]), np.ascontiguousarray(np.nonzero(junk)[1])
        ours, theirs = np.full((2, 2, 5, starts[-1]), -1)
        _core.expand(columns, group, by_column, starts, first, excluded, *ours)
        twins.expand(columns, group, by_column, starts, first, excluded, *theirs)
        assert_array_equal(ours, theirs)


@pytest.mark.parametrize(("step", "lead"), [(2, 1), (4, 2), (2, 0)])
def test_groups_are_collected_and_written_out(step, lead):
    rng = np.random.default_rng(step + lead)
    n_group, queries = rng.integers(0, 6, 7), rng.permutation(7)
    starts, lengths = np.arange(7) * 6, n_group[np.argsort(queries)]
    relevant = rng.integers(1, 4, (7, 6)).astype(np.int32)
    relevant[::2] = 1
    within, nearer = rng.integers(0, 9, (2, 7, step * 6 + 1)).astype(np.int32)
    within[:4] = nearer[:4] = rng.integers(0, 2, (4, step * 6 + 1))  # so that most are alone
    theirs, closer, others = np.zeros((4, 42), np.int64), np.zeros(42, np.int32), np.zeros((3, 42), np.int64)
    counts = queries, n_group, relevant, within, nearer, step, lead, starts
    n = _core.collect_groups(*counts, closer, others)
    twins.collect_groups(*counts, *theirs)
    others = others[:, :n].take(np.argsort(others[0, :n]), axis=1)
    assert 0 < n < len(closer)
    assert ((others[1] != 1) | (others[2] != 1)).all()
    for some in (np.arange(7), queries[:3], np.empty(0, np.int64)):
        places = np.concatenate([np.arange(6 * i, 6 * i + lengths[i]) for i in some] or [[]]).astype(np.int64)
        ours = np.zeros((4, len(places)), np.int64)
        _core.expand_groups(starts[some], lengths[some], closer, others, *ours)
        assert_array_equal(ours, theirs[:, places])


def test_a_small_group_is_ranked():
    rng = np.random.default_rng(5)
    undecided = 0
    for n in [1, 2, 3, 8, 20] * 6:
        columns, classes = rng.integers(0, max(1, n - n // 4), n), rng.integers(0, 3, n)
        scores = rng.integers(-9, 9, (n, n)) + rng.random(n)[columns] * rng.choice([0, 1])
        bounds = np.full((n, n), rng.choice([0.0, 1e-9]))
        n_group, arrays = np.empty(n, np.int64), np.empty((4, n * max(1, n - 1)), np.int64)
        total, expected = (
            _core.rank_group(scores, bounds, columns, classes, n_group, arrays),
            twins.rank_group(scores, bounds, columns, classes),
        )
        undecided += total < 0
        assert (expected is None) == (total < 0)
        if expected is not None:
            assert_array_equal(arrays[:, :total], expected[0])
            assert_array_equal(n_group, expected[1])
    assert 0 < undecided < 30


def test_given_scores_are_counted():
    rng = np.random.default_rng(6)
    for n, spread in [(1, 3), (40, 5), (300, 2**62), (300, 40)]:
        keys = rng.integers(-spread, spread, (4, n))
        keys[0, 0], keys[-1, -1] = np.iinfo(np.int64).min, np.iinfo(np.int64).max
        grades = rng.choice([-1, 0, 0, 1, 3], (4, n))
        n_group, n_ranked = np.empty((2, 4), np.int64)
        groups, by_grade = np.zeros((4 * n, 4), np.int64), np.zeros((4 * n, 2), np.int64)
        total = _core.count_groups(keys, grades, np.array([1, 3]), n_group, n_ranked, groups, by_grade)
        expected = twins.count_groups(keys, grades, [1, 3])
        assert_array_equal(groups[:total], np.reshape(expected[0], (-1, 4)))
        assert_array_equal(by_grade[:total], np.reshape(expected[1], (-1, 2)))
        assert_array_equal(n_group, expected[2])
        assert_array_equal(n_ranked, expected[3])
