"""Calls of Python by the counting pass: rows, rules, progress, cancellation; its three steps; its partition."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import test_invariance as invariance
from keyed import counts_of, profiled

import deadheat as dh
from deadheat.engine import count
from deadheat.engine.counting import layout, passes
from deadheat.engine.counting.candidates import Relevance
from deadheat.engine.counting.layout import TILE_COLUMNS, ColumnRange, Partition
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.passes import CountingPass, Polling
from deadheat.engine.ties.rounded import rule_of
from deadheat.engine.ties.rule import Cuts
from deadheat.inputs import labels as input_labels
from deadheat.inputs.source import Array

# Rows that Python hands out -------------------------------------------------------------------------------------------


class Read(Array):
    """Rows that are read when they are asked for, as those on disk are."""

    def __init__(self, rows, asked=lambda: None):
        super().__init__(rows)
        self.in_memory, self._asked = False, asked

    def _take_into(self, index, out):
        self._asked()
        super()._take_into(index, out)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(layout, "BLOCK_ROWS", 24)
    monkeypatch.setattr(layout, "TILE_COLUMNS", 50)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("ties", ["exact", "float16"])
@pytest.mark.parametrize("distance", invariance.PRODUCTS)
def test_rows_that_are_read_count_as_those_in_memory(distance, ties):
    for kind in (invariance.gaussian_with_duplicates, invariance.near_saturated, invariance.mixed_magnitudes):
        rows, labels = invariance.example(kind)
        wanted = profiled(rows, labels, distance=distance, ties=ties).digest()
        split = profiled(rows[:50], labels[:50], rows, labels, distance=distance, ties=ties).digest()
        seen_threads: set[int] = set()
        read = Read(rows, lambda seen=seen_threads: seen.add(threading.get_ident()))
        for threads in (1, 2, 3):
            assert profiled(read, labels, distance=distance, ties=ties, threads=threads).digest() == wanted
            result = profiled(rows[:50], labels[:50], read, labels, distance=distance, ties=ties, threads=threads)
            assert result.digest() == split
        assert seen_threads - {threading.get_ident()}


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
def test_an_error_while_rows_are_read_is_raised_in_the_caller(distance, threads):
    rows, labels = invariance.example(invariance.near_saturated)
    wanted, asked = profiled(rows, labels, distance=distance), []

    def ask(last=None):
        asked.append(None)
        if len(asked) == last:
            raise OSError("the disk is gone")

    profiled(Read(rows, ask), labels, distance=distance, threads=threads)
    for last in {1, 2, len(asked) // 3, len(asked) // 2, len(asked) - threads}:
        asked.clear()
        with pytest.raises(OSError, match=r"^the disk is gone$"):
            profiled(Read(rows, lambda at=last: ask(at)), labels, distance=distance, threads=threads)
        assert profiled(rows, labels, distance=distance, threads=threads) == wanted


# Rules of Python ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rule", [dh.Rounded("float16"), dh.Tolerance(0.1)], ids=str)
@pytest.mark.parametrize("part", ["group", "cuts", "decide"])
def test_an_error_in_a_rule_is_raised_in_the_caller(part, rule, threads, monkeypatch):
    rng = np.random.default_rng(5)  # rows that lie on the ends of what is tied
    halves, tenths = rng.choice([0, 2049, 2051, 2053, 2055, 2057], (170, 2)), rng.integers(-3, 4, (170, 3)) / 10
    owner, name = (Cuts, "count_below") if part == "decide" else (type(rule), part)
    whole, calls = getattr(owner, name), []

    def fail(*args):
        calls.append(None)
        if len(calls) == 2:
            raise MemoryError("no room")
        return whole(*args)

    monkeypatch.setattr(owner, name, fail)
    with pytest.raises(MemoryError, match=r"^no room$"):
        profiled(halves if isinstance(rule, dh.Rounded) else tenths, np.arange(170) % 9, distance="cityblock",
                 ties=rule, threads=threads)  # fmt: skip


# Progress -------------------------------------------------------------------------------------------------------------


def runs():
    rng = np.random.default_rng(1)
    rows, labels = rng.standard_normal((300, 5)), rng.integers(0, 9, 300)
    giant, alone = np.where(np.arange(300) < 290, 0, 1), np.where(np.arange(300) < 150, np.arange(300), labels)
    pairs = rng.random((300, 300)) < 0.3
    return {
        "leave one out": ((rows, labels), {}),
        "a gallery": ((rows[:60], labels[:60], rows[60:], labels[60:]), {}),
        "a giant class": ((rows, giant), {}),
        "singletons": ((rows, alone), {}),
        "junk": ((rows, labels), {"junk": pairs}),
        "float16": ((rows, labels), {"ties": "float16"}),
    }


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shards", ["one", "many", "streamed"])
@pytest.mark.parametrize("name", runs())
def test_progress_begins_with_nothing_never_falls_and_is_complete_once(name, shards, threads, monkeypatch):
    monkeypatch.setattr(layout, "BLOCK_ROWS", 24)
    monkeypatch.setattr(count, "STREAMED_SHARDS", 1 if shards == "streamed" else 1000)
    monkeypatch.setattr(layout, "SHARD_BYTES", 1 if shards == "many" else 1 << 28)
    monkeypatch.setattr(passes, "LISTED", 1)  # so that each shard is reported
    calls = []
    args, options = runs()[name]
    profiled(*args, **options, threads=threads, progress=lambda done, total: calls.append((done, total)))
    done, totals = zip(*calls, strict=True)
    assert (done[0], len(set(totals)), done.count(totals[-1])) == (0, 1, 1)
    assert list(done) == sorted(done)
    assert done[-1] == totals[-1] > 0
    assert (
        shards != "many" or len(calls) > 3 or name == "a giant class"
    )  # whose rows are sorted: nothing is kept of them


@pytest.mark.parametrize("threads", [1, 2])
def test_a_poll_that_raises_ends_the_pass_soon(threads):
    """Straight from the core: a poll that raises ends all threads before the work is done."""
    rows = np.random.default_rng(0).standard_normal((6000, 256)).astype(np.float32)
    counting = pass_over(rows, np.arange(6000) % 30, "cosine", "exact", CountingPass)
    seen = []

    def progress(done, total):
        seen.append(done)
        if len(seen) == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match=r"^enough$"):
        counting.run(count._divide, threads, progress)
    assert seen[-1] < len(counting.layout.active) * counting.problem.n_column


# Classes without end --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", ["euclidean", "inner_product"])
def test_so_many_groups_that_their_slots_need_more_than_16_bits(distance, monkeypatch):
    monkeypatch.setattr(count, "SORTED_SHARE", 2)
    rng = np.random.default_rng(2)
    items = rng.permutation(23_000) / 7 + 1
    labels = np.where(rng.random(23_000) < 0.75, 0, 1)
    assert 2 * np.count_nonzero(labels == 0) > 1 << 15
    profile = profiled([[1.0], [0.5]], [0, 1], items[:, None], labels, distance=distance)
    order = np.argsort(items if distance == "euclidean" else -items)
    for query in (0, 1):
        places = np.flatnonzero(labels[order] == query)
        np.testing.assert_array_equal(profile[query : query + 1].closer, places)
        assert (profile[query : query + 1].tied == 1).all()


# The ladder, with NumPy for the first step and the second -------------------------------------------------------------


def pass_over(rows, labels, distance, rule, kind, junk=None):
    options = CountingOptions.checked(distance=distance, ties=rule, junk=junk)
    metric = options.open(rows)
    candidates = options.candidates(metric.n_query, metric.n_gallery, leave_one_out=True)
    return kind(metric, rule_of(rule), Relevance(*input_labels.label_codes(labels, None), candidates))


def in_tiles(left):
    yield CountingPass.tiles, left.numbers


class ByHand(CountingPass):
    """A pass that counts tiles itself, from the edges of blocks, and leaves what is open to exact arithmetic."""

    def count_shards(self, shards, assembly, threads, report, *, outside_tiles=True):
        self.seen, core = Counter(), self.core
        ((queries, _),) = shards
        with Polling(core, report) as poll:
            made = core.make(queries, threads, poll)
        for block in made:
            for band, ends in enumerate(self.problem.distance.columns.bands):
                self._count(block, band, np.arange(*ends))
        made.collect(outside_tiles, assembly.groups)

    def _count(self, block, band, columns):
        scores, weight = self.distance.scores, self.problem.weight
        counted = np.array([np.isin(columns, left_out, invert=True) for left_out in block.excluded])
        rows, places = np.nonzero(counted)
        for counter in range(block.n_counter):
            row, position = rows, places
            for number in range(len(self.distance.levels)):
                tile = scores.tile(number, block.queries, columns)
                edges, closed = block.edges(counter, number, band)
                slots = [np.searchsorted(line, tile[i], side="right") for i, line in enumerate(edges)]
                slot = np.array(slots)[row, position]
                is_open = (slot % 2 == 1) & (not closed)
                counts = np.zeros((len(edges), edges.shape[1] + 1), dtype=np.int32)
                np.add.at(counts, (row[~is_open], slot[~is_open]), weight[columns[position[~is_open]]])
                block.add(counter, counts)
                self.seen[number] += len(row)
                row, position, slot = row[is_open], position[is_open], slot[is_open]
            self.seen["exactly"] += len(row)
            exact = scores.pair_scores(block.queries[row], columns[position])
            block.place(counter, row, columns[position], exact, slot >> 1)


@pytest.mark.parametrize("rule", ["exact", "float16", dh.Tolerance(0.01)], ids=str)
@invariance.every_kind_and_distance
def test_tiles_may_be_counted_elsewhere(kind, distance, rule):
    rows, labels = invariance.example(kind, 110)
    wanted = profiled(rows, labels, distance=distance, ties=rule)
    by_hand = pass_over(rows, labels, distance, rule, ByHand)
    assert by_hand.run(in_tiles, 2, False).digest() == wanted.digest()


class ByTwo(ByHand):
    """The same, while two threads add what cancels."""

    def _count(self, block, band, columns):
        ones = np.ones((len(block.queries), 1 + block.edges(0, 0, band)[0].shape[1]), dtype=np.int32)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda sign: [block.add(0, sign * ones) for _ in range(100)], (1, -1)))
        super()._count(block, band, columns)


def test_threads_that_count_for_one_block_lose_nothing():
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((600, 4)), np.arange(600) // 300
    wanted = profiled(rows, labels, distance="cosine")
    assert pass_over(rows, labels, "cosine", "exact", ByTwo).run(in_tiles, 2, False).digest() == wanted.digest()


def test_each_step_leaves_what_it_cannot_decide_and_little_else():
    rng = np.random.default_rng(1)
    random, labels = rng.standard_normal((200, 16)), np.arange(200) % 40
    hidden = rng.permuted(np.broadcast_to(rng.standard_normal(6), (200, 6)), axis=1)
    hidden[:40] = rng.standard_normal((40, 1))  # from which permutations are equally far
    shares = {}
    for name, rows in {"random": random, "closer than float32": 1 + 1e-9 * random, "hidden ties": hidden}.items():
        by_hand = pass_over(rows, labels, "inner_product", "exact", ByHand)
        result = by_hand.run(in_tiles, 1, False)
        assert counts_of(result) == counts_of(profiled(rows, labels, distance="inner_product"))
        first, last = by_hand.seen[0], len(by_hand.distance.levels) - 1
        shares[name] = by_hand.seen[last] / first, by_hand.seen["exactly"] / first
    assert shares["random"][0] < 0.01
    assert shares["random"][1] == 0
    assert shares["closer than float32"][0] > 0.5
    assert shares["closer than float32"][1] < 0.01
    assert shares["hidden ties"][1] > 0.1


# How it is cut up ----------------------------------------------------------------------------------------------------


def blocks_of(size, number, band=0, start=0, first=0):
    """Ranges as long as blocks of columns, each a block of queries, or none if `first` is -1."""
    ranges = (range(start + k * size, start + (k + 1) * size) for k in range(number))
    return [ColumnRange(part, band, first if first < 0 else first + k) for k, part in enumerate(ranges)]


TWO_BANDS = [*blocks_of(100, 2), *blocks_of(100, 2, band=1, start=200, first=2)]


@pytest.mark.parametrize(
    ("ranges", "shard", "joined"),
    [
        (blocks_of(300, 9), {4, 5},
         [(0, 900, 0, -1), (900, 1200, 0, -1), (1200, 1500, 0, 4), (1500, 1800, 0, 5), (1800, 2700, 0, -1)]),
        (blocks_of(300, 4), {0, 1, 2, 3}, [(300 * k, 300 * (k + 1), 0, k) for k in range(4)]),
        (TWO_BANDS, set(), [(0, 200, 0, -1), (200, 400, 1, -1)]),
        (blocks_of(TILE_COLUMNS // 2, 4, first=-1), set(),
         [(0, TILE_COLUMNS, 0, -1), (TILE_COLUMNS, 2 * TILE_COLUMNS, 0, -1)]),
    ],
    ids=["blocks of a shard stay by themselves", "all are of the shard", "never over a band", "never beyond a tile"],
)  # fmt: skip
def test_ranges_of_a_shard_are_joined(ranges, shard, joined):
    cut = Partition.__new__(Partition)  # whose problem it must not look at
    cut.tile_columns = TILE_COLUMNS
    assert [(r.columns.start, r.columns.stop, r.band, r.block) for r in cut.joined(ranges, shard)] == joined
