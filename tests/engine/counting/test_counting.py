"""The counting pass against brute force in exact fractions, and on larger data against integer arithmetic.

Small cases are drawn by kind of data, distance, ties, junk, memory layout and tile size, all of them full of ties.
`DEADHEAT_FUZZ=N` draws N cases of every kind and distance instead of a few.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import oracles
import pytest
from engine.kinds import BIT_KINDS, KINDS, drawn
from keyed import counts_of, groups_of, profiled

import deadheat as dh
from deadheat.engine import count
from deadheat.engine.counting import candidates, layout
from deadheat.engine.distances import registry as distance_registry

CASES = int(os.environ.get("DEADHEAT_FUZZ", "14"))  # of each kind and distance
NUMBERS = tuple(name for name in distance_registry.names(takes="numbers") if name != "correlation")  # a cosine
ALL_KINDS = [(name, distance) for distance in NUMBERS for name in KINDS]
ALL_KINDS += [(name, distance) for distance in oracles.BITS for name in BIT_KINDS]


# Cases ----------------------------------------------------------------------------------------------------------------


def laid_out(rng, array, folder):
    """The same values in some memory layout: byte order, Fortran order, strides, odd addresses, read-only memmap."""
    layout = rng.choice(["C", "C", "C", "F", "big-endian", "strided", "unaligned", "read-only", "memmap"])
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "big-endian":
        return array.astype(array.dtype.newbyteorder(">"))
    if layout == "unaligned":
        return np.frombuffer(b"x" + array.tobytes(), "u1")[1:].view(array.dtype).reshape(array.shape)
    if layout == "strided":
        return np.repeat(array[::-1], 2, axis=1)[::-1, ::2]
    if layout == "memmap":
        np.save(folder / "array.npy", array)
        return np.load(folder / "array.npy", mmap_mode="r")
    array = array.copy()
    array.setflags(write=layout != "read-only")
    return array


@dataclass
class Case:
    data: tuple[Any, ...]  # queries, their labels, the gallery, its labels
    distance: str
    junk: Any
    ties: Any
    oracle_ties: Any

    def found(self, threads):
        options = {"distance": self.distance, "junk": self.junk, "ties": self.ties, "threads": threads}
        return counts_of(profiled(*self.data, **options))

    def wanted(self):
        return oracles.profile(*self.data, distance=self.distance, junk=self.junk, ties=self.oracle_ties)


def draw_ties(rng, distance):
    """A meaning of tied, for the package and for the oracle."""
    which = rng.random()
    if which < 0.5:
        return "exact", "exact"
    if which < 0.75:
        eps = float(rng.choice([0, 5e-324, 1e-8, 1e-3, 0.5, 1, 2, 1e300]))
        return dh.Tolerance(eps), ("tolerance", eps)
    dtype = str(rng.choice(["float16", "bfloat16", "float32"]))
    usual = kind = "similarity" if distance in oracles.SIMILARITIES else "distance"
    if distance in ("cosine", "jaccard", "dice") and rng.random() < 0.5:
        kind = "distance"
    default = kind == usual and rng.random() < 0.5
    return (dtype if default else dh.Rounded(dtype, of=kind)), ("rounded", dtype, kind)


def draw_labels(rng, n, n_class):
    """Labels as small integers, as 64-bit integers that float64 does not distinguish, or as strings."""
    codes = rng.integers(0, n_class, n)
    which = rng.random()
    if which < 0.6:
        return codes.astype(rng.choice([np.uint8, np.int16, np.int64]))
    if which < 0.75:
        return np.uint64(2**64 - 8) + codes.astype(np.uint64)
    if which < 0.85:
        return [2**60 + int(code) for code in codes]
    return np.array(["", "a", "a ", "b", "ü"])[codes]


def draw_case(rng, make, distance, folder):
    n, d = int(rng.integers(2, 12)), int(rng.choice([1, 2, 3, 4, 9]))
    labels = draw_labels(rng, 2 * n, int(rng.integers(1, 5)))
    gallery = gallery_labels = None
    both = make(rng, 2 * n, d)  # rows of one pool, so that queries and gallery share some
    query, query_labels = laid_out(rng, both[:n], folder), labels[:n]
    if rng.random() < 0.4:
        gallery, gallery_labels = laid_out(rng, both[n:], folder), labels[n:]
        if rng.random() < 0.2:
            query = np.zeros_like(query)
        if both.dtype == np.float32 and rng.random() < 0.2:
            gallery = np.asarray(gallery, dtype=np.float64)
    shape = {0: None, 1: None, 2: None, 3: (n,), 4: (n, n)}[int(rng.integers(5))]
    junk = None if shape is None else rng.random(shape) < 0.3
    return Case((query, query_labels, gallery, gallery_labels), distance, junk, *draw_ties(rng, distance))


@pytest.mark.parametrize(("name", "distance"), ALL_KINDS)
def test_small_cases_equal_brute_force(name, distance, monkeypatch, tmp_path):
    make = (BIT_KINDS if distance in oracles.BITS else KINDS)[name]
    for number in range(4 * CASES if distance in oracles.BITS else CASES):
        rng = np.random.default_rng([zlib.crc32(f"{name} {distance}".encode()), number])
        case = draw_case(rng, make, distance, tmp_path)
        monkeypatch.setattr(layout, "TILE_COLUMNS", int(rng.choice([2, 3, 1024])))
        monkeypatch.setattr(candidates, "_PAIRS_AT_ONCE", int(rng.choice([20, 1 << 20])))
        assert case.found(threads=1 + number % 2) == case.wanted(), (number, case)


# Larger data, whose distances are exact in 64-bit or Python integers --------------------------------------------------


def exact_keys(query, gallery, distance):
    """Integers, larger is closer, from integer matrices; (n_query, n_gallery)."""
    if distance == "cityblock":
        return -np.abs(query[:, None] - gallery[None]).sum(axis=2)
    products = query @ gallery.T
    if distance == "inner_product":
        return products
    squares = (gallery**2).sum(axis=1)
    if distance == "euclidean":
        return 2 * products - squares
    scale = np.lcm.reduce(np.maximum(squares, 1).astype(object))
    products, squares = products.astype(object), np.maximum(squares, 1).astype(object)
    keys = products * abs(products) * (scale // squares)
    return np.unique(keys, return_inverse=True)[1].reshape(keys.shape)  # their order, in small integers


def counted(keys, relevant, ranked):
    """The profile of a matrix of keys, one query at a time."""
    result = []
    for key, is_relevant, is_ranked in zip(keys, relevant, ranked, strict=True):
        key, is_relevant = key[is_ranked], is_relevant[is_ranked]
        levels, group = np.unique(key, return_inverse=True)
        tied, tied_relevant = (np.bincount(some, minlength=len(levels)) for some in (group, group[is_relevant]))
        closer, closer_relevant = len(key) - np.cumsum(tied), is_relevant.sum() - np.cumsum(tied_relevant)
        table = np.stack([closer, closer_relevant, tied, tied_relevant], axis=1)[tied_relevant > 0][::-1]
        groups = list(map(tuple, table.tolist()))
        result.append({"groups": groups, "n_ranked": len(key), "n_relevant": int(is_relevant.sum())})
    return result


def hidden_ties(rng, n):
    """Rows that are permutations of each other among queries of equal entries: ties that only integers can see."""
    rows = rng.permuted(np.broadcast_to(rng.integers(-(2**27), 2**27, 6), (n, 6)), axis=1)
    rows[: n // 8] = rng.integers(2**26, 2**27, (n // 8, 1))
    return rows


LARGER = {
    "small_integers": lambda rng, n: rng.integers(-2, 3, (n, 6)),
    "many_duplicates": lambda rng, n: drawn(rng, rng.integers(-9, 10, (12, 5)), n),
    "few_directions": lambda rng, n: drawn(rng, rng.integers(-3, 4, (12, 4)), n) * rng.integers(1, 4, (n, 1)),
    # beyond what float32 holds exactly, by little
    "products_just_above_2_24": lambda rng, n: rng.integers(2000, 2100, (n, 6)),
    # float32 leaves all of it open, float64 is exact
    "saturated_below_2_53": lambda rng, n: 2**23 + rng.integers(0, 4, (n, 4)),
    # beyond what float64 holds exactly, by little, and no larger than what is examined as integers
    "products_just_above_2_53": lambda rng, n: rng.integers(2**26 - 30, 2**26 + 1, (n, 5)),
    # float32 leaves all of it open, float64 what is tied
    "saturated_above_2_53": lambda rng, n: 2**27 + rng.integers(-2, 3, (n, 3)) * 2**12 + 1,
    "hidden_ties": hidden_ties,
    "sparse_and_orthogonal": lambda rng, n: rng.integers(-(2**27), 2**27, (n, 8)) * (rng.random((n, 8)) >= 0.8),
    "all_magnitudes": lambda rng, n: (
        rng.integers(-3, 4, (n, 4)) * 2 ** rng.integers(0, 27, (n, 1)) + rng.integers(0, 2, (n, 1))
    ),
}


@pytest.mark.parametrize("n_class", [2, 25])
@pytest.mark.parametrize("distance", NUMBERS)
@pytest.mark.parametrize("name", LARGER)
def test_larger_data_equal_integer_arithmetic(name, distance, n_class, monkeypatch):
    rng = np.random.default_rng(zlib.crc32(f"{name} {distance} {n_class}".encode()))
    n = 60 if distance == "cosine" else 120
    rows, labels = LARGER[name](rng, n), rng.integers(0, n_class, n)
    keys = exact_keys(rows, rows, distance)
    same, others = labels[:, None] == labels, ~np.eye(n, dtype=bool)
    values = rows * 2.0**-30  # a scale of its own, so that nothing rests on the values being integers
    for junk in (None, rng.random(n) < 0.2, rng.random((n, n)) < 0.2):
        ranked = others if junk is None else others & ~junk
        wanted = counted(keys, same & ranked, ranked)
        for block, tile in ((512, 1024), (17, 13)):
            monkeypatch.setattr(layout, "BLOCK_ROWS", block)
            monkeypatch.setattr(layout, "TILE_COLUMNS", tile)
            profile = profiled(values, labels, distance=distance, junk=junk, threads=2)
            assert counts_of(profile) == wanted
    labels[:3] = 99  # in the queries only
    same = labels[: n // 3, None] == labels[n // 6 :]
    wanted = counted(exact_keys(rows[: n // 3], rows[n // 6 :], distance), same, np.ones_like(same))
    profile = profiled(values[: n // 3], labels[: n // 3], values[n // 6 :], labels[n // 6 :], distance=distance)
    assert counts_of(profile) == wanted


@pytest.mark.parametrize("size", [2**22 - 3, 2**51 - 3])
def test_city_block_sums_just_above_what_a_float_holds(size):
    """Two distant clusters: sums above 2^24 and 2^53 that differ by one, of elements that are small integers."""
    rng = np.random.default_rng(4)
    rows = rng.choice([-size, size], (120, 1)) + rng.integers(-3, 4, (120, 6))
    labels, others = rng.integers(0, 5, 120), ~np.eye(120, dtype=bool)
    wanted = counted(exact_keys(rows, rows, "cityblock"), (labels[:, None] == labels) & others, others)
    assert counts_of(profiled(rows * 1.0, labels, distance="cityblock")) == wanted


@pytest.mark.parametrize("share", [0.5, 0.9, 0.97, 0.995])
@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock"])
def test_what_is_outside_a_giant_class_counts_the_same_in_tiles_and_one_by_one(distance, share, monkeypatch):
    """One by one if it is less than a sixteenth; with items outside in columns of the class, and without."""
    rng = np.random.default_rng(8)
    monkeypatch.setattr(layout, "BLOCK_ENTRIES", 5000)
    others, seen = ~np.eye(200, dtype=bool), []
    for values in (3, 12):
        rows, labels = rng.integers(-values, values + 1, (200, 3)), rng.permutation(np.arange(200) >= share * 200)
        wanted = counted(exact_keys(rows, rows, distance), (labels[:, None] == labels) & others, others)
        for streamed_shards, shard_bytes in ((1, 1 << 20), (1000, 1 << 28)):
            monkeypatch.setattr(count, "STREAMED_SHARDS", streamed_shards)
            monkeypatch.setattr(layout, "SHARD_BYTES", shard_bytes)
            profile = profiled(rows, labels, distance=distance, progress=lambda *at: seen.append(at))
            assert counts_of(profile) == wanted
            assert seen[-1][0] == seen[-1][1] > 0


@pytest.mark.parametrize("scale", [1.0, 3.0, 7 * 2.0**-60])
@pytest.mark.parametrize("distance", NUMBERS)
def test_small_integers_in_any_unit_need_one_pass(distance, scale):
    rows = np.random.default_rng(1).integers(-5, 6, (120, 8)).astype(np.float32) * np.float32(scale)
    (only,) = distance_registry.make(distance, rows, None, exact_only=True).levels
    assert only.exact


# By hand --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", NUMBERS)
def test_one_step_breaks_a_tie(distance):
    """Three equal items; one step of one coordinate puts the middle one before or behind the two others."""
    gallery = np.full((3, 2), [1.25, 0.75])
    for target, position in ((0.0, "behind"), (9.0, "before")):
        moved = gallery.copy()
        moved[1, 0] = np.nextafter(1.25, target)
        profile = profiled([[5.0, 0.1]], [0], moved, [1, 0, 1], distance=distance)
        assert groups_of(profile) == [[(0 if position == "before" else 2, 0, 1, 1)]]
    assert groups_of(profiled([[5.0, 0.1]], [0], gallery, [1, 0, 1], distance=distance)) == [[(0, 0, 3, 1)]]


def test_under_cosine_multiples_tie_and_zero_is_orthogonal_to_all():
    gallery = [[1, 2], [3, 6], [0.1, 0.2], [0, 0], [2, -1], [-1, -2]]
    profile = profiled([[1, 2], [0, 0]], ["a", "b"], gallery, ["a", "x", "x", "b", "b", "a"])
    assert counts_of(profile) == [
        {"groups": [(0, 0, 3, 1), (5, 1, 1, 1)], "n_ranked": 6, "n_relevant": 2},
        {"groups": [(0, 0, 6, 2)], "n_ranked": 6, "n_relevant": 2},
    ]


def test_a_single_item_and_a_gallery_of_junk():
    junk = profiled([[1.0]], ["a"], [[1.0], [2.0]], ["a", "a"], junk=[True, True])
    for nothing in (profiled([[1.0, 2.0]], ["a"]), junk):
        assert counts_of(nothing) == [{"groups": [], "n_ranked": 0, "n_relevant": 0}]


def test_leave_one_out_takes_out_the_query_and_not_its_double():
    profile = profiled([[1, 0], [1, 0], [0, 1]], ["a", "a", "a"], distance="euclidean")
    assert groups_of(profile) == [[(0, 0, 1, 1), (1, 1, 1, 1)], [(0, 0, 1, 1), (1, 1, 1, 1)], [(0, 0, 2, 2)]]


LABEL_FORMS = {
    "Python integers": lambda c: [2**80 + int(x) for x in c],
    "list of strings": lambda c: ["abcde"[x] for x in c],
    "bytes": lambda c: np.array([b"a", b"b", b"c", b"d", b"e"])[c],
    "object": lambda c: np.array(["abcde"[x] for x in c], dtype=object),
    "StringDType": lambda c: np.array(["abcde"[x] for x in c], dtype=np.dtypes.StringDType()),
    "big-endian": lambda c: c.astype(">i4"),
}


@pytest.mark.parametrize("form", LABEL_FORMS)
def test_labels_of_any_kind_count_the_same(form):
    rng = np.random.default_rng(5)
    rows, codes = rng.integers(0, 3, (40, 3)), rng.integers(0, 5, 40)
    labels = LABEL_FORMS[form](codes)
    assert profiled(rows, labels) == profiled(rows, codes)
    split = [profiled(rows[:9], given[:9], rows[9:], given[9:]) for given in (labels, codes)]
    assert split[0] == split[1]


def test_labels_of_different_integer_types_are_compared_as_integers():
    unsigned, signed = np.array([2**64 - 1, 5], dtype=np.uint64), np.array([-1, 5])
    assert profiled(np.zeros((2, 1)), unsigned, np.zeros((2, 1)), signed).n_relevant.tolist() == [0, 1]


def test_inputs_are_left_alone():
    rows, labels = np.random.default_rng(0).standard_normal((50, 3)), np.arange(50) % 4
    junk = np.eye(50, dtype=bool)[::-1].copy()
    before = rows.tobytes(), labels.tobytes(), junk.tobytes()
    for distance in NUMBERS:
        profiled(rows, labels, distance=distance, junk=junk)
    assert (rows.tobytes(), labels.tobytes(), junk.tobytes()) == before


@pytest.mark.parametrize("distance", NUMBERS)
def test_a_tolerance_beyond_the_largest_float(distance):
    """Closeness, shifted, overflows: the interval ends at infinity and is no NaN."""
    rows = np.array([[1.5e308, -1.5e308], [-1e308, 1.5e308], [3e300, 1e300], [0, 0], [1.5e308, 1.5e308]])
    labels = [0, 0, 1, 1, 0]
    result = profiled(rows, labels, distance=distance, ties=dh.Tolerance(1e300))
    wanted = oracles.profile(rows, labels, None, None, distance=distance, ties=("tolerance", 1e300))
    assert counts_of(result) == wanted


@pytest.mark.parametrize("distance", NUMBERS)
def test_rows_of_zeros_next_to_numbers_of_all_exponents(distance):
    """Rows are scaled for the first levels: what becomes too small for that stays different from 0, and 0 stays 0."""
    rng = np.random.default_rng(3)
    for _ in range(6):
        rows, labels = rng.standard_normal((14, 4)) * 2.0 ** rng.integers(-1074, 900, (14, 4)), rng.integers(0, 3, 14)
        rows[rng.random(14) < 0.3] = 0
        result = counts_of(profiled(rows, labels, distance=distance))
        assert result == oracles.profile(rows, labels, None, None, distance=distance, junk=None, ties="exact")
