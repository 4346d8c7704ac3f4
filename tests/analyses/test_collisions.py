"""Collisions against brute force: all pairs in fractions, square roots compared by squaring, groups by plain loops."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from deadheat import Rounded, Task
from deadheat.analyses import collisions as collision_groups
from deadheat.analyses.collisions import Counts, Kind, collisions
from deadheat.engine.counting import ranking


def gap_is_at_most(near, far, eps):
    """Return whether the oracle's distances `near` <= `far` are at most eps apart."""
    return oracles.sign_of_two_roots(far.a - near.a - eps, far.b, far.square, -near.b, near.square) <= 0


def groups_of_row(distances, relevant, eps):
    """Lists of (relevant items, items) of tie groups, one list for each collision group, nearest first."""
    keys, groups, last = [oracles._key(one) for one in distances], [], None
    for key in sorted(set(keys), reverse=True):
        members = [j for j in range(len(keys)) if keys[j] == key]
        first = distances[members[0]]
        if last is None or eps is None or not gap_is_at_most(last, first, eps):
            groups.append([])
        groups[-1].append((sum(relevant[j] for j in members), len(members)))
        last = first
    return groups


def rows_of(query, query_labels, gallery, gallery_labels, distance, eps):
    """The groups of every query."""
    alone = gallery is None
    labels = query_labels if alone else gallery_labels
    left, right = (oracles._rows_of(rows, distance) for rows in (query, query if alone else gallery))
    for i, one in enumerate(left):
        ranked = [j for j in range(len(right)) if not (alone and i == j)]
        distances = [oracles._distance(one, right[j], distance) for j in ranked]
        own = query_labels[i]
        relevant = [bool(own & labels[j]) if isinstance(own, set) else labels[j] == own for j in ranked]
        yield groups_of_row(distances, relevant, eps)


def kind_of(relevant, size):
    if size == 1:
        return Kind.NONE
    return Kind.RELEVANT if relevant == size else Kind.MIXED if relevant else Kind.IRRELEVANT


KINDS = ("relevant", "irrelevant", "mixed", "together")


def expected(rows, depth):
    """Kind, relevance and size as lists, and the counts as a dictionary."""
    matrices, places = ([], [], []), 0
    counts = {name: dict.fromkeys(("groups", "items", "queries", "largest"), 0) for name in KINDS}
    for groups in rows:
        kind, relevance, size, seen = [], [], [], set()
        for group in groups:
            m, n = map(sum, zip(*group, strict=True))
            inside = max(0, min(n, depth - len(kind)))
            for name in (kind_of(m, n).name.lower(), "together") if n > 1 and inside else ():
                count = counts[name]
                count["groups"] += 1
                count["items"] += inside
                count["queries"] += name not in seen
                count["largest"] = max(count["largest"], n)
                seen.add(name)
            kind += [kind_of(m, n)] * n
            size += [n] * n
            for part_relevant, part in group:
                relevance += [True] * part_relevant + [False] * (part - part_relevant)
        places += min(depth, len(kind))
        for matrix, row, beyond in zip(matrices, (kind, relevance, size), (Kind.BEYOND, False, 0), strict=True):
            matrix.append((row + [beyond] * depth)[:depth])
    return *matrices, counts | {"n_query": len(matrices[0]), "n_place": places}


def same(result, kinds, relevances, sizes, counts):
    for matrix, wanted, dtype in (
        (result.kind, kinds, np.int8), (result.relevant, relevances, np.bool_), (result.size, sizes, np.int32),
    ):  # fmt: skip
        assert_array_equal(matrix, wanted)
        assert matrix.dtype == dtype
    assert asdict(result.counts) == counts


def check(query, query_labels, gallery=None, gallery_labels=None, *, distance="cosine", within=None, depth=None):
    given_rows = np.asarray(query), query_labels, gallery, gallery_labels
    exact = None if within is None else Fraction(within)
    result = collisions(Task(*given_rows, distance=distance, threads=1), within=within, depth=depth)
    ranked = len(query) - 1 if gallery is None else len(gallery)
    same(result, *expected(rows_of(*given_rows, distance, exact), ranked if depth is None else depth))
    return result


EPS = st.sampled_from(
    [None, 0, 1e-10, 0.2, 0.5, 1, math.sqrt(2) - 1, math.nextafter(math.sqrt(2) - 1, 0), 1.0000001, 3]
)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.integers(0, 2)), min_size=2, max_size=9),
    split=st.integers(0, 8),
    distance=st.sampled_from(["cosine", "euclidean", "inner_product", "cityblock"]),
    eps=EPS,
    shift=st.sampled_from([0, 0.1]),
    depth=st.sampled_from([None, None, 1, 3, 20]),
)
def test_small_grids(rows, split, distance, eps, shift, depth):
    points, labels, cut = np.array([row[:2] for row in rows]) + shift, [row[2] for row in rows], split % len(rows)
    parts = (points[:cut], labels[:cut], points[cut:], labels[cut:]) if cut else (points, labels)
    check(*parts, distance=distance, within=eps, depth=depth)


@pytest.mark.parametrize("eps", [None, 1e-12, 2.0**-40, math.nextafter(2.0**-40, 0), 1e-3])
@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock"])
def test_rows_that_differ_by_2_to_the_minus_40(distance, eps):
    rng = np.random.default_rng(7)
    points = rng.integers(0, 3, (12, 3)) + 2.0**-40 * rng.integers(-1, 2, (12, 3))
    check(points, rng.integers(0, 2, 12).tolist(), distance=distance, within=eps)


@pytest.mark.parametrize("eps", [None, 1, 2, 0.5])
def test_hamming(eps):
    rng = np.random.default_rng(8)
    check(rng.random((10, 7)) < 0.5, rng.integers(0, 2, 10).tolist(), distance="hamming", within=eps)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(-2, 2), st.sets(st.integers(0, 3), max_size=3)), min_size=2, max_size=9),
    split=st.integers(0, 8),
    eps=st.sampled_from([None, 1]),
)
def test_items_that_share_a_label_are_relevant(rows, split, eps):
    points, labels, cut = [[row[0]] for row in rows], [row[1] for row in rows], split % len(rows)
    assume(any(labels[:cut] or [{0}]) and any(labels[cut:]))
    parts = (points[:cut], labels[:cut], points[cut:], labels[cut:]) if cut else (points, labels)
    check(*parts, distance="euclidean", within=eps)


def test_a_label_written_as_one_hot_and_counts_of_labels_change_nothing():
    rng = np.random.default_rng(4)
    codes, labels, several = rng.random((40, 6)) < 0.5, rng.integers(0, 5, 40), rng.random((40, 5)) < 0.3
    one, hot = (collisions(Task(codes, each, distance="hamming")) for each in (labels, np.eye(5)[labels]))
    same(hot, one.kind, one.relevant, one.size, asdict(one.counts))
    shared, counted = (
        collisions(Task(codes, several, distance="hamming", relevance=each), distances=["hamming"])["hamming"]
        for each in ("any", "count")
    )
    assert shared == counted
    assert shared.mixed.groups > 0


def linked(query, items, distance, eps):
    result = collisions(Task([query], ["a"], items, ["a", "b"], distance=distance), within=eps)
    return asdict(result.counts.mixed) == {"groups": 1, "items": 2, "queries": 1, "largest": 2}


@pytest.mark.parametrize(
    ("query", "items", "distance", "gap"),
    [
        ([0, 0], [[3, 4], [4, 0]], "euclidean", 1.0),
        ([0.5, 0.5], [[3.5, 4.5], [4.5, 0.5]], "euclidean", 1.0),
        ([0, 0], [[3e-7, 4e-7], [0, 0]], "euclidean", None),
        ([1, 1, 1, 1], [[1, 1, 1, 1], [3, 0, 0, 0]], "cosine", 0.5),
        ([1, 1, 1, 1], [[0, 0, 0, 0], [0, 7, 0, 0]], "cosine", 0.5),
        ([1.5, 1.5, 1.5, 1.5], [[0.1, 0.1, 0.1, 0.1], [1e30, 0, 0, 0]], "cosine", 0.5),
        ([1, 2], [[3, 1], [1, 2.5]], "cityblock", 2.5),
        ([1, 2], [[3, 1], [1, 2.5]], "inner_product", 1.0),
        ([0.1, 0.7], [[0.1, 0.7], [0.35, 0.7]], "cityblock", None),
    ],
)
def test_a_gap_of_exactly_eps_collides_and_a_wider_one_does_not(query, items, distance, gap):
    rows = [oracles._distance(*oracles._rows_of(np.array([query, item]), distance), distance) for item in items]
    if gap is None:  # a rational gap that is no float: the float below it is too small, the one above it is not
        near, far = sorted(float(one.a) + one.b * math.sqrt(one.square) for one in rows)
        gap = far - near
        ordered = sorted(rows, key=lambda one: -oracles._key(one))
        while not gap_is_at_most(*ordered, Fraction(gap)):
            gap = math.nextafter(gap, math.inf)
        while gap_is_at_most(*ordered, Fraction(math.nextafter(gap, 0))):
            gap = math.nextafter(gap, 0)
    assert linked(query, items, distance, gap)
    assert not linked(query, items, distance, math.nextafter(gap, 0))


@pytest.mark.parametrize(("sign", "sizes"), [(1, [2, 2, 1]), (-1, [1, 2, 2])])
def test_closeness_beyond_all_floats(sign, sizes):
    items = [[1e200], [1.5e200], [1.5e200]] * np.array(sign)
    result = collisions(Task([[1e200]], ["a"], items, ["a", "a", "b"], distance="inner_product"), within=1e308)
    assert result.size.tolist() == [sizes]


def test_what_floats_leave_open_is_settled_exactly(monkeypatch):
    seen, settled = [], collision_groups.settled
    monkeypatch.setattr(collision_groups, "settled", lambda *given: (seen.append(len(given[1])), settled(*given))[1])
    monkeypatch.setattr(collision_groups, "PAIRS_AT_ONCE", 2)
    points = np.array([[5.0 * k, 0] for k in range(1, 6)] + [[3.0 * k, 4.0 * k + 1] for k in range(1, 6)])
    check(points, [0, 1] * 5, distance="euclidean", within=5)
    assert sum(seen) > 4  # in several batches
    seen.clear()
    check(points, [0, 1] * 5, distance="cityblock", within=5)  # whole numbers, which floats decide
    check(np.random.default_rng(0).standard_normal((10, 3)), [0, 1] * 5, within=1e-3)  # gaps that differ from it
    assert sum(seen) == 0


@settings(max_examples=100, deadline=None)
@given(a=st.floats(-1e3, 1e3), b=st.floats(-1e3, 1e3), ulps=st.integers(-2, 2))
def test_differences_of_floats_are_compared_exactly(a, b, ulps):
    near, far = max(a, b), min(a, b)
    eps = abs(near - far)
    for _ in range(abs(ulps)):
        eps = math.nextafter(eps, math.inf if ulps > 0 else 0)
    known = (np.array([near]),) * 2, (np.array([far]),) * 2
    within, unsure = collision_groups.decided(*known, eps)
    assert not unsure[0]
    assert within[0] == (Fraction(near) - Fraction(far) <= Fraction(eps))
    bounds = (np.array([near - 1]), np.array([near + 1])), (np.array([far]), np.array([far]))
    within, unsure = collision_groups.decided(*bounds, eps)
    if within[0]:
        assert Fraction(near + 1) - Fraction(far) < Fraction(eps)
    if not unsure[0] and not within[0]:
        assert Fraction(near - 1) - Fraction(far) > Fraction(eps)


@pytest.mark.parametrize(
    ("distance", "ties", "within"),
    [("cosine", "exact", None), ("euclidean", "exact", 0.3), ("cityblock", "bfloat16", None)],
)
def test_order_blocks_and_threads_change_nothing(distance, ties, within, monkeypatch):
    rng = np.random.default_rng(3)
    query, gallery = rng.integers(-3, 4, (9, 2)) * 0.7, rng.integers(-3, 4, (30, 2)) * 0.7
    labels, names = rng.integers(0, 3, 9), rng.integers(0, 3, 30)
    how = {"distance": distance, "ties": ties}
    one = collisions(Task(query, labels, gallery, names, **how), within=within)
    assert one.counts.mixed.groups > 0
    monkeypatch.setattr(ranking, "BLOCK_ENTRIES", 70)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(30)
        task = Task(query, labels, gallery[order], names[order], threads=seed + 1, **how)
        two = collisions(task, within=within)
        same(two, one.kind, one.relevant, one.size, asdict(one.counts))


def test_a_single_sample():
    result = collisions(Task([[1.0]], ["a"]))
    assert (result.kind.shape, result.counts) == ((1, 0), Counts(n_query=1))


@pytest.mark.parametrize("ties", ["exact", "float16", "float32", Rounded("float16", of="distance")])
def test_mixed_groups_are_those_of_the_profile(ties):
    rng = np.random.default_rng(5)
    points, labels = np.round(rng.standard_normal((40, 3)), 1), rng.integers(0, 4, 40)
    task = Task(points, labels, ties=ties)
    mixed, known = collisions(task).counts.mixed, task.profile.ties
    assert (mixed.groups, mixed.queries, mixed.largest) == (known.mixed_groups, known.queries, known.largest)
    assert mixed.groups > 0


def test_counts_by_distance_are_those_of_each():
    rng = np.random.default_rng(9)
    points, labels = rng.integers(0, 5, (25, 2)), rng.integers(0, 3, 25)
    names = ["cosine", "euclidean", "cityblock"]
    task = Task(points, labels)
    table = collisions(task, distances=names, within=0.01, depth=9)
    assert list(table) == names
    for name in table:
        assert table[name] == collisions(task.replace(distance=name), within=0.01, depth=9).counts
    assert collisions(task, distances=("euclidean",))["euclidean"].together.groups > 0
    assert json.loads(table.to_json())["distances"]["cosine"]["counts"]["n_query"] == 25
    with pytest.raises(ValueError, match="distance must be one of cosine, euclidean, cityblock, but is 'hamming'"):
        table["hamming"]


EACH = [(None, [(0, 36), (36, 36)] * 2), (1, [(0, 36), (36, 36), (0, 6), (6, 6)])]


@pytest.mark.parametrize(("within", "calls"), EACH)
def test_progress_is_that_of_each_count_distance_by_distance(within, calls):
    seen = []
    points, labels = np.arange(12.0).reshape(6, 2), [0, 1] * 3
    task = Task(points, labels, progress=lambda *at: seen.append(at))
    collisions(task, distances=["euclidean", "cityblock"], within=within)
    assert seen == calls * 2


def test_printing():
    task = Task([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean")
    names = ["cosine", "euclidean", "cityblock"]
    lines = str(collisions(task, distances=names, within=0.5)).splitlines()
    assert [line.split("  ")[0] for line in lines if "groups" in line] == [f"{name}, within 0.5" for name in names]
    content = json.loads(collisions(task, within=2).to_json())
    assert (content["distance"], content["rule"], content["n_query"], content["depth"]) == (
        "euclidean",
        "within 2.0",
        3,
        2,
    )
    assert content["counts"]["mixed"] == {"groups": 2, "items": 4, "queries": 2, "largest": 2}


@pytest.mark.parametrize("within", [None, 0.5])
def test_junk_is_as_if_it_were_not_there(within):
    rng, how = np.random.default_rng(31), {"distance": "euclidean"}
    query, items = rng.integers(-2, 3, (9, 2)), rng.integers(-2, 3, (30, 2))
    labels, of_items = rng.integers(0, 3, 9), rng.integers(0, 3, 30)
    junk = rng.random(30) < 0.4
    left = collisions(Task(query, labels, items[~junk], of_items[~junk], **how), within=within)
    result = collisions(Task(query, labels, items, of_items, junk=junk, **how), within=within)
    same(result, left.kind, left.relevant, left.size, asdict(left.counts))


def test_junk_of_one_query_is_not_ranked_for_it_alone():
    task = Task([[0], [1], [-1], [5]], ["a", "a", "b", "b"], distance="euclidean")
    junk = np.zeros((4, 4), dtype=bool)
    assert collisions(task).kind[0].tolist()[:2] == [Kind.MIXED, Kind.MIXED]
    junk[0, 2] = True
    result = collisions(task.replace(junk=junk))
    assert result.kind[0].tolist() == [Kind.NONE, Kind.NONE, Kind.BEYOND]
