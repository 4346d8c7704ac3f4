"""How a counting pass is cut up: ranges of columns for a shard."""

from __future__ import annotations

from types import SimpleNamespace

from deadheat.engine.counting.layout import TILE_COLUMNS, ColumnRange, Layout


def joined(ranges, shard):
    layout = Layout.__new__(Layout)
    layout.problem = SimpleNamespace()  # which it must not look at
    return [(r.columns.start, r.columns.stop, r.band, r.block) for r in layout.joined(ranges, shard)]


def blocks_of(size, number, band=0, start=0, first=0):
    return [
        ColumnRange(range(start + k * size, start + (k + 1) * size), band, first + k) for k in range(number)
    ]  # fmt: skip


def test_the_blocks_of_a_shard_stay_by_themselves_and_what_is_beside_them_is_joined():
    ranges = blocks_of(300, 9)
    assert joined(ranges, {4, 5}) == [
        (0, 900, 0, -1), (900, 1200, 0, -1), (1200, 1500, 0, 4), (1500, 1800, 0, 5), (1800, 2700, 0, -1),
    ]  # fmt: skip


def test_where_all_blocks_are_of_the_shard_nothing_is_joined():
    ranges = blocks_of(300, 4)
    assert joined(ranges, {0, 1, 2, 3}) == [(300 * k, 300 * (k + 1), 0, k) for k in range(4)]


def test_no_range_reaches_over_a_band():
    ranges = [*blocks_of(100, 2), *blocks_of(100, 2, band=1, start=200, first=2)]
    assert joined(ranges, set()) == [(0, 200, 0, -1), (200, 400, 1, -1)]


def test_ranges_of_columns_that_are_no_queries_are_joined_too_but_never_beyond_a_tile():
    ranges = [
        ColumnRange(range(k, k + TILE_COLUMNS // 2), 0, -1) for k in range(0, 2 * TILE_COLUMNS, TILE_COLUMNS // 2)
    ]
    assert joined(ranges, set()) == [(0, TILE_COLUMNS, 0, -1), (TILE_COLUMNS, 2 * TILE_COLUMNS, 0, -1)]
