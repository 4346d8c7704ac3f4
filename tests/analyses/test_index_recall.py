"""Recall of an index against every exact search that there is: one for each way to break the tie at the k-th place.

By a ground truth of ids and distances: against the search by embeddings, plain sets, and others' files.
"""

from __future__ import annotations

import json
import math
import multiprocessing
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import oracles
import pytest
from cli.calling import passed, run
from cli.calling import reason as refused
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.analyses.index_recall import IndexRecall
from deadheat.engine.counting import ranking
from deadheat.engine.distances import registry as distance_registry
from deadheat.errors import ExecutorError, FileError, InputError, InvalidTypeError, InvalidValueError
from deadheat.inputs.ground_truth import read_neighbors

DISTANCES = distance_registry.names()


def made(kind: str, n: int, dim: int, rng: np.random.Generator) -> Any:
    """Small data, of many ties or of nearly equal distances."""
    if kind == "grid":
        return rng.integers(-1, 2, (n, dim)).astype(np.float32)
    if kind == "zeros":
        return np.zeros((n, dim))
    if kind == "floats":
        return rng.standard_normal((n, dim)).astype(np.float32)
    return rng.integers(0, 2, (n, dim)) + 2.0**-40 * rng.integers(-1, 2, (n, dim))  # a hair apart


def exact_searches(keys: list[Fraction], k: int) -> list[set[int]]:
    """The k nearest of all, whichever of those that tie at the end are kept."""
    last = sorted(keys, reverse=True)[min(k, len(keys)) - 1]
    closer = {i for i, key in enumerate(keys) if key > last}
    tied = [i for i, key in enumerate(keys) if key == last]
    return [closer | set(kept) for kept in combinations(tied, min(k, len(keys)) - len(closer))]


@pytest.mark.parametrize(
    ("distance", "kind"),
    [("cosine", "near"), ("euclidean", "grid"), ("inner_product", "floats"), ("cityblock", "zeros"),
     ("hamming", "grid"), ("jaccard", "grid")],
)  # fmt: skip
def test_recall_is_over_all_exact_searches(distance: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng([DISTANCES.index(distance), len(kind)])
    for _ in range(12):
        for limit, most in (("TILE_COLUMNS", 6), ("BLOCK_ROWS", 4), ("MOST_CANDIDATES", 40), ("PAIRS", 20)):
            monkeypatch.setattr(ranking, limit, int(rng.integers(1, most)))
        n_query, n, k = rng.integers(1, 5), int(rng.integers(1, 9)), int(rng.integers(1, 7))
        rows = made(kind, n_query + n, 3, rng)
        rows = rows > 0.5 if distance in oracles.BITS else rows
        queries, base = rows[:n_query], rows[n_query:]
        returned = [rng.permutation(n)[:length].tolist() for length in rng.integers(0, n + 1, n_query)]
        outcome = dh.index_recall(returned, queries, base, k, distance=distance, threads=int(rng.integers(1, 3)))
        (result,) = outcome.recalls.values()
        n_tied = 0
        for i, query in enumerate(queries):
            keys = [oracles.exact_key(query, item, distance) for item in base]
            searches = exact_searches(keys, k)
            values = [Fraction(len(search & set(returned[i][:k])), len(search)) for search in searches]
            got = [values[i] for values in result.by_id]
            want = [float(value) for value in (min(values), sum(values) / len(values), max(values))]
            assert got == pytest.approx(want, rel=1e-15)
            assert got[2] == want[2] == result.per_query[i]
            last = sorted(keys, reverse=True)[len(searches[0]) - 1]
            near = sum(keys[item] >= last for item in returned[i][:k])
            assert result.by_distance[i] == float(Fraction(near, len(searches[0])))
            n_tied += len(searches) > 1
        assert outcome.n_tied == n_tied


@pytest.mark.parametrize("kind", ["grid", "floats", "zeros"])
def test_filtered_queries_and_any_depth_are_over_all_exact_searches(kind: str, monkeypatch: Any) -> None:
    """Of what is allowed for a query, whatever else is as near, equal to it, or returned; k-recall@R with R >= k."""
    rng, outside = np.random.default_rng(len(kind)), 0
    for _ in range(40):
        for limit, most in (("TILE_COLUMNS", 6), ("BLOCK_ROWS", 4), ("MOST_CANDIDATES", 40), ("PAIRS", 20)):
            monkeypatch.setattr(ranking, limit, int(rng.integers(1, most)))
        n, k = int(rng.integers(1, 10)), int(rng.integers(1, 4))
        rows, depth = made(kind, n, 2, rng), k + int(rng.integers(0, 4))
        returned = [rng.permutation(n)[:length].tolist() for length in rng.integers(0, n + 1, n)]
        allowed = rng.random((n, n) if rng.random() < 0.7 else n) < rng.choice([0.2, 0.7, 1.0])
        own = np.where(rng.random(n) < 0.5, np.arange(n), -1)
        given = {"distance": "euclidean", "allowed": allowed, "exclude": own, "depth": depth}
        outcome = dh.index_recall(returned, rows, rows, k, **given)
        values = outcome["index"].by_id
        for i in range(n):
            items = [j for j in range(n) if np.broadcast_to(allowed, (n, n))[i, j] and j != own[i]]
            kept = [j for j in returned[i] if j != own[i]][:depth]
            outside += len({*kept} - {*items})
            if not items:
                assert np.isnan([each[i] for each in values]).all()
                continue
            searches = exact_searches([oracles.exact_key(rows[i], rows[j], "euclidean") for j in items], k)
            shares = [Fraction(len({items[j] for j in search} & {*kept}), len(search)) for search in searches]
            want = [float(each) for each in (min(shares), sum(shares) / len(shares), max(shares))]
            assert [each[i] for each in values] == pytest.approx(want, rel=1e-15)
        outside -= outcome.n_outside["index"]
    assert outside == 0
    with pytest.raises(InputError, match=r"allowed must be bool, \(2\) or \(1, 2\), but has shape \(1,\) and"):
        dh.index_recall([[0]], [[0.0]], [[0.0], [1.0]], 1, distance="l2", allowed=[True])


def test_one_recall_at_r_by_a_ground_truth() -> None:
    """TEXMEX's and faiss' definition: is the nearest item among the first R, whichever of those that tie."""
    ids, distances, returned = [[0, 1, 2, 3]], [[1.0, 1.0, 2.0, 3.0]], [[5, 6, 1, 0]]
    for depth, want in ((1, (0, 0, 0)), (3, (0, 0.5, 1)), (4, (1, 1, 1))):
        result = dh.index_recall_of_truth(returned, ids, distances, 1, depth=depth)
        assert tuple(result["index"].recall_by_id) == want
        assert ("1-recall@" in str(result)) == (depth > 1)
        assert result["index"].recall_by_distance == want[2]
    similar = dh.index_recall_of_truth(returned, ids, -np.array(distances), 1, depth=3, order="descending")
    assert tuple(similar["index"].recall_by_id) == (0, 0.5, 1)
    with pytest.raises(InputError, match="depth must be at least 2, but is 1"):
        dh.index_recall_of_truth(returned, ids, distances, 2, depth=1)
    with pytest.raises(InputError, match='row 0 do not; order="descending" is for similarities'):
        dh.index_recall_of_truth(returned, ids, -np.array(distances), 1)


@pytest.mark.parametrize("kind", ["grid", "floats"])
def test_a_query_that_is_in_the_base_is_nobody_s_neighbour(kind: str) -> None:
    rng = np.random.default_rng(6)
    rows = made(kind, 12, 2, rng)
    itself = np.where(rng.random(12) < 0.8, np.arange(12), -1)
    returned = [rng.permutation(12)[:6] for _ in range(12)]
    result = dh.index_recall(returned, rows, rows, 3, distance="euclidean", exclude=itself)["index"]
    for i in range(12):
        others = [j for j in range(12) if j != itself[i]]
        searches = exact_searches([oracles.exact_key(rows[i], rows[j], "euclidean") for j in others], 3)
        kept = [j for j in returned[i].tolist() if j != itself[i]][:3]
        values = [len({others[j] for j in search} & set(kept)) / 3 for search in searches]
        want = [min(values), np.mean(values), max(values)]
        assert [each[i] for each in result.by_id] == pytest.approx(want, rel=1e-15)


def test_missing_entries_were_not_found_whatever_says_so() -> None:
    base, queries = np.arange(5.0)[:, None], np.zeros((2, 1))
    as_faiss = np.array([[0, -1, -1], [0, 1, 2]])
    as_usearch = {"keys": np.array([[0, 7, 7], [0, 1, 2]], dtype=np.uint64), "counts": np.array([1, 3])}
    for ids, counts in ((as_faiss, None), (as_usearch["keys"], as_usearch["counts"]), ([[0], [0, 1, 2]], None)):
        result = dh.index_recall(ids, queries, base, 3, distance="euclidean", counts=counts)
        assert result["index"].per_query.tolist() == [1 / 3, 1.0]
        assert result["index"].n_returned.tolist() == [1, 3]
        assert "index: fewer than 3 came back for 1 of them." in result.to_text()


def test_ids_of_the_base() -> None:
    base, queries = np.arange(5.0)[:, None], np.zeros((1, 1))
    names = np.array([2**63 + 5, 2**63 + 4, 7, 8, 9], dtype=np.uint64)
    rows = dh.index_recall([[0, 3]], queries, base, 2, distance="euclidean")
    for ids in (names, [f"doc{i}" for i in range(5)]):
        returned = np.array([[ids[0], ids[3]]])
        assert dh.index_recall(returned, queries, base, 2, distance="l2", gallery_ids=ids).to_dict() == rows.to_dict()


def test_one_table_of_several_indexes() -> None:
    returned, base, queries = {"all": [[0, 1]], "half": [[0, 4]]}, np.arange(5.0)[:, None], np.zeros((1, 1))
    outcome = dh.index_recall(returned, queries, base, 2, distance="euclidean", queries_per_second={"half": 1234.5})
    assert (list(outcome), len(outcome)) == (["all", "half"], 2)
    assert outcome.to_markdown().splitlines()[:4] == [
        "| index   |   recall@2 (%) |   95 % interval |   all found |   queries/s |",
        "|:--------|---------------:|----------------:|------------:|------------:|",
        "| all     |         100.00 |               - |      100.00 |           - |",
        "| half    |          50.00 |               - |        0.00 |       1,234 |",
    ]
    assert json.loads(outcome.to_json())["indexes"]["half"]["recall"] == 0.5
    assert outcome.to_pandas()["recall"].tolist() == [1.0, 0.5]
    assert outcome["half"].recall_by_id == (0.5, 0.5, 0.5)
    rng = np.random.default_rng(0)
    rows, some = rng.standard_normal((50, 3)), [rng.permutation(50)[:10] for _ in range(50)]
    result = dh.index_recall(some, rows, rows, 10, distance="cosine")["index"]
    low, high = result.interval()
    assert 0 < low < result.recall < high < 1


def two_indexes(n_query: int, n_gallery: int, *, bits: bool = False) -> tuple[Any, Any, dict[str, Any]]:
    """Points on a grid, and two indexes: one that returns lists of any length, one of rows that are full."""
    rng = np.random.default_rng(0)
    queries, base = (rng.integers(-2, 3, (n, 6)).astype(np.float32) for n in (n_query, n_gallery))
    ragged = [rng.permutation(n_gallery)[: rng.integers(0, 20)].tolist() for _ in range(n_query)]
    both = {"ragged": ragged, "full": np.stack([rng.permutation(n_gallery)[:12] for _ in range(n_query)])}
    return (queries > 0, base > 0, both) if bits else (queries, base, both)


def require_same(result: IndexRecall, alone: IndexRecall) -> None:
    assert result.n_tied == alone.n_tied > 0
    for name, recall in alone.recalls.items():
        assert_array_equal(np.stack(result[name].by_id), np.stack(recall.by_id))
    assert str(result) == str(alone)


class Counted(Executor):
    """Keeps the numbers that it has handed on; the task `failing` fails."""

    def __init__(self, executor: Executor, failing: int = -1) -> None:
        self.executor, self.failing = executor, failing
        self.tasks: list[int] = []

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.tasks.append(args[-1])
        if self.tasks[-1] == self.failing:
            failed: Future[Any] = Future()
            failed.set_exception(OSError("the network is gone"))
            return failed
        return self.executor.submit(function, *args, **kwargs)


@pytest.fixture
def _many_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.analyses.index_recall._PAIRS", 800)
    monkeypatch.setattr("deadheat.analyses.index_recall._QUERIES", 7)


@pytest.mark.usefixtures("_many_portions")
@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock", "hamming"])
def test_workers_find_the_same(distance: str, tmp_path: Path) -> None:
    """Of arrays and files, of codes and of ids by name; and what fails, or is wrong, is one error."""
    queries, base, returned = two_indexes(90, 300, bits=distance == "hamming")
    given = {"distance": distance, "exclude": np.where(np.arange(90) % 3, -1, np.arange(90))}
    search = partial(dh.index_recall, returned, queries, **given)
    alone, seen = search(base), list[tuple[int, int]]()
    np.save(tmp_path / "base.npy", np.packbits(base, axis=1) if distance == "hamming" else base)
    names = [f"item {number}" for number in range(300)]
    named = {key: [[names[item] for item in row] for row in rows] for key, rows in returned.items()}
    with ThreadPoolExecutor(2) as threads:
        counted = Counted(threads)
        require_same(search(base, executor=counted, progress=lambda *state: seen.append(state)), alone)
        assert counted.tasks == [*range(13)]
        assert (seen[0], seen[-1], len(seen)) == ((0, 27_000), (27_000, 27_000), 14)
        asked = np.packbits(queries, axis=1) if distance == "hamming" else queries
        files = dh.index_recall(named, asked, tmp_path / "base.npy", gallery_ids=names, executor=threads, **given)
        require_same(files, alone)
        with pytest.raises(ExecutorError, match=r"^the executor failed: OSError: the network is gone$"):
            search(base, executor=Counted(threads, 1))
        untouched = Counted(threads)
        for rows, executor, message in (
            (queries[:, :5], untouched, "queries and gallery must have the same dim, but have 5 and 6 columns"),
            (queries[:8], untouched, "has 90 for 8 queries"),
            (queries, 3, "executor must be an executor of PEP 3148"),
        ):
            with pytest.raises((InvalidValueError, InvalidTypeError), match=message):
                dh.index_recall(returned, rows, base, distance=distance, executor=executor)
        assert untouched.tasks == []


@pytest.mark.slow
def test_processes_find_the_same_in_files(tmp_path: Path) -> None:
    queries, base, returned = two_indexes(1000, 2000)
    alone = dh.index_recall(returned, queries, base, distance="euclidean", threads=2)
    np.save(tmp_path / "base.npy", base)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        counted = Counted(executor)
        file = tmp_path / "base.npy"
        require_same(dh.index_recall(returned, queries, file, distance="euclidean", executor=counted, threads=1), alone)
    assert counted.tasks == [0, 1]


RNG = np.random.default_rng(7)
POINTS = RNG.integers(0, 4, (40, 2)).astype(np.float32)  # full of duplicates and ties
QUERIES = RNG.integers(0, 4, (25, 2)).astype(np.float32)
FAR = np.sqrt(((QUERIES[:, None].astype(float) - POINTS) ** 2).sum(axis=2))
IDS = np.argsort(FAR, axis=1, kind="stable").astype(np.int32)
NEAREST = np.take_along_axis(FAR, IDS, axis=1)
RETURNED = {
    "stable": IDS[:, :6],
    "any": np.array([RNG.permutation(40)[:6] for _ in QUERIES]),
    "reversed": np.argsort(FAR[:, ::-1], axis=1, kind="stable")[:, :6].copy(),
    "short": np.where(RNG.random((25, 6)) < 0.4, -1, IDS[:, :6]),
}
RETURNED["reversed"] = 39 - RETURNED["reversed"]


@pytest.mark.parametrize("k", [1, 4, 6])
def test_it_is_what_a_search_by_the_embeddings_gives(k: int) -> None:
    by_search = dh.index_recall(RETURNED, QUERIES, POINTS, k, distance="euclidean")
    by_truth = dh.index_recall_of_truth(RETURNED, IDS, NEAREST, k)
    assert (by_truth.n_tied, by_truth.n_cut) == (by_search.n_tied, 0)
    for name in RETURNED:
        np.testing.assert_array_equal(by_truth[name].by_id, by_search[name].by_id)
        np.testing.assert_array_equal(by_truth[name].n_returned, by_search[name].n_returned)


def test_every_way_to_keep_the_tied_items() -> None:
    """By plain sets: what one search could have kept, for each tolerance."""
    far = np.sort(np.round(RNG.random((30, 8)) * 4) / 4 + RNG.random((30, 8)) * 1e-4, axis=1)
    ids = np.array([RNG.permutation(50)[:8] for _ in far])
    given = np.array([RNG.permutation(50)[:4] for _ in far]) % 50
    given[:, :2] = ids[:, 2:4]
    given = np.array([list(dict.fromkeys([*row.tolist(), *range(50)]))[:4] for row in given])
    for tolerance in (0.0, 1e-3, 0.3):
        result = dh.index_recall_of_truth(given, ids, far, 3, tolerance=tolerance)["index"]
        for query, row in enumerate(far):
            closer = {i for i, d in zip(ids[query], row, strict=True) if d - row[2] < -tolerance}
            tied = [i for i, d in zip(ids[query], row, strict=True) if abs(d - row[2]) <= tolerance]
            kept = [len({*given[query, :3]} & (closer | {*some})) / 3 for some in combinations(tied, 3 - len(closer))]
            expected = (min(kept), sum(kept) / len(kept), max(kept))
            np.testing.assert_allclose([part[query] for part in result.by_id], expected, rtol=0, atol=1e-12)


def test_a_ground_truth_that_ends_inside_a_tie_is_said() -> None:
    result = dh.index_recall_of_truth([[0, 5], [0, 1]], [[0, 1, 2], [0, 1, 2]], [[0.0, 1, 1], [0, 1, 2]], 2)
    assert (result.n_cut, result["index"].recall) == (1, 0.75)
    said = "In 1 query the ground truth ends inside the tie with number 2: recall is at least what is shown."
    assert said in str(result)
    assert json.loads(result.to_json())["n_cut"] == 1


def test_a_truth_of_k_columns_says_nothing_of_ties_with_the_last() -> None:
    result = dh.index_recall_of_truth([[0, 1], [0, 5]], [[0, 1], [0, 1]], [[0.0, 1], [0, 2]], 2)
    assert (result.n_cut, result.n_only_k) == (2, 2)
    said = (
        "In 2 queries the ground truth ends with number 2, so that ties with it are unknown: if there are any, recall"
    )
    assert f"{said} is at least what is shown." in str(result)
    assert "inside the tie" not in str(result)
    assert json.loads(result.to_json())["n_only_k"] == 2
    both = dh.index_recall_of_truth([[0, 1], [0, 5]], [[0, 1, 3], [0, 1]], [[0.0, 1, 1], [0, 2]], 2)
    assert (both.n_cut, both.n_only_k) == (2, 1)
    assert "In 1 query the ground truth ends inside the tie with number 2" in str(both)


def test_swapped_files_are_noticed(files: None) -> None:
    """A ground truth alone has the closest items, and mostly distances, and more items than an index returns."""
    h5py = pytest.importorskip("h5py")
    np.save("ten.npy", IDS[:, :10])
    for name, ids, far in (("truth", IDS, NEAREST), ("found", *_rows_of("any"))):
        with h5py.File(f"{name}.hdf5", "w") as file:
            file["neighbors"], file["distances"] = ids, far.astype("<f4")
    swapped = {
        ("found.hdf5", "truth.hdf5"): "truth.hdf5 has closer items, unlike found.hdf5: is found.hdf5",
        ("any.npy", "truth.hdf5"): "truth.hdf5 has distances, unlike any.npy: is any.npy",
        ("any.npy", "ten.npy"): "ten.npy has more items for each query, unlike any.npy: is any.npy",
    }
    for (first, second), warned in swapped.items():
        said = f"deadheat: warning: {warned} the ground truth? It goes first\n"
        assert run("index-recall", first, second, "-k", 5).stderr == said
        assert run("index-recall", second, first, "-k", 5).stderr == ""
    with h5py.File("exact.hdf5", "w") as file:
        file["neighbors"], file["distances"] = IDS[:, :6], np.nextafter(NEAREST[:, :6].astype("<f4"), np.float32(0))
    assert run("index-recall", "truth.hdf5", "exact.hdf5", "-k", 5).stderr == ""  # only rounded otherwise
    for name, ids, far in (("near", IDS, -NEAREST), ("few", *_rows_of("any"))):
        with h5py.File(f"{name}.hdf5", "w") as file:
            file["neighbors"], file["distances"] = ids, far if name == "near" else -far
    assert run("index-recall", "near.hdf5", "few.hdf5", "-k", 5, "--similarity").stderr == ""
    assert "few.hdf5 the ground" in run("index-recall", "few.hdf5", "near.hdf5", "-k", 5, "--similarity").stderr


def test_a_truth_with_fewer_items_than_k() -> None:
    """Query 0 has two items, which were found; query 1 has three places, of which two tie."""
    returned, ids = [[4, 8, -1, -1], [1, 3, 9, 7]], [[4, 8, -1, -1], [1, 2, 3, 5]]
    for padding in (math.inf, 3.4e38, math.nan, -1.0):
        for kind in (list, np.array):
            far = kind([[0.1, 0.2, padding, padding], [0.1, 0.2, 0.2, 0.4]])
            result = dh.index_recall_of_truth(returned, kind(ids), far, 3)
            assert result["index"].recall == (1 + 2 / 3) / 2
            assert result["index"].per_query.tolist() == [1, 2 / 3]
            assert (result.n_tied, result.n_cut) == (0, 0)
    ragged = dh.index_recall_of_truth(returned, [[4, 8, 1, 2, 3], [1, 2, 3]], [[1, 2, 3, 4, 5], [0.1, 0.2, 0.2]], 3)
    assert ragged["index"].per_query.tolist() == [2 / 3, 2 / 3]
    assert ragged.n_cut == 1  # the row of query 1 ends with a tie, and may go on
    nothing = dh.index_recall_of_truth([[1]], [[-1]], [[0.0]], 1)["index"]
    assert math.isnan(nothing.recall)


def test_filtered_queries_have_fewer_neighbours_than_k() -> None:
    """Two, one and no true neighbours of three places: padded by -1, by distance, or in rows of their own length."""
    returned = [[4, 8, 9], [1, 2, -1], [7, -1, -1], [1, 2, 3]]
    rows, far = [[8, 4], [3], [], [1, 2, 5]], [[0.1, 0.2], [0.1], [], [0.1, 0.2, 0.3]]
    expected = [Fraction(2, 2), Fraction(0, 1), None, Fraction(2, 3)]
    padded = [[*row, *[-1] * (3 - len(row))] for row in rows]
    for fill in (math.inf, 3.4e38, float(np.finfo(np.float32).max), math.nan):
        full = [[*row, *[fill] * (3 - len(row))] for row in far]
        given = [(padded, full), (np.array(padded), np.array(full, dtype=np.float32)), (rows, far), (rows, None)]
        given.append((padded, None))
        if not math.isnan(fill):
            given.append(([[*row, *[0] * (3 - len(row))] for row in rows], full))  # the distance says it
        for ids, distances in given:
            result = dh.index_recall_of_truth(returned, ids, distances, 3)
            for value, fraction in zip(result["index"].per_query, expected, strict=True):
                assert math.isnan(value) if fraction is None else value == float(fraction)
            assert result["index"].recall == pytest.approx(float(Fraction(5, 9)), abs=1e-15)
            assert (result.n_few, result.n_cut if distances is not None else 0) == (3, 0 if distances is None else 1)
            said = "3 queries have fewer than 3 true neighbours: recall is over those that exist"
            assert f"{said}; 1 without any is left out." in str(result)
            assert ("has no distances, so that ids alone are compared" in str(result)) == (distances is None)


def test_a_truth_that_is_less_deep_than_k_is_refused_though_rows_differ() -> None:
    """The deepest row may go on: it is the depth of the file, and not all that there is."""
    returned, ids = [list(range(100))] * 2, [list(range(10)), list(range(7))]
    for far in (None, [[float(i) for i in row] for row in ids]):
        with pytest.raises(ValueError, match=r"ids must have at least k = 11 items .* query 0 has 10; -1"):
            dh.index_recall_of_truth(returned, ids, far, 11)
        assert dh.index_recall_of_truth(returned, ids, far, 10)["index"].recall == 1


def test_a_truth_without_distances_compares_ids() -> None:
    result = dh.index_recall_of_truth([[0, 3]], [[0, 1, 2, 3]], k=2)
    assert result["index"].by_id.lower.tolist() == result["index"].by_id.upper.tolist() == [0.5]
    with pytest.raises(InputError, match=r"tolerance must be left out without distances, but is 0\.001"):
        dh.index_recall_of_truth([[0, 3]], [[0, 1, 2, 3]], k=2, tolerance=1e-3)
    with pytest.raises(InputError, match="ids must have at least k = 3 items for each query, but query 0 has 2"):
        dh.index_recall_of_truth([[0, 3], [0, 1]], [[0, 1], [2, 3]], k=3)


def test_parquet_with_and_without_distances(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    rows, far = [[8, 4], [], [1, 2, 5]], [[0.1, 0.2], None, [0.1, 0.2, 0.3]]
    returned = [[4, 8, 9], [1, 2, 3], [1, 2, 3]]
    parquet.write_table(pyarrow.table({"id": [0, 1, 2], "neighbors_id": rows}), "ids.parquet")
    parquet.write_table(pyarrow.table({"neighbors": rows, "distances": far}), "both.parquet")
    np.save("found.npy", np.array(returned))
    expected = dh.index_recall_of_truth({"found": returned}, rows, [row or [] for row in far], 3)
    assert passed("index-recall", "both.parquet", "found.npy", "-k", 3) == f"{expected}\n"
    expected = dh.index_recall_of_truth({"found": returned}, rows, k=3)
    assert expected["found"].recall == pytest.approx(5 / 6, abs=1e-15)
    assert passed("index-recall", "ids.parquet", "found.npy", "-k", 3) == f"{expected}\n"
    negated = [None if row is None else [-value for value in row] for row in far]
    parquet.write_table(pyarrow.table({"neighbors": rows, "distances": negated}), "near.parquet")
    printed = passed("index-recall", "near.parquet", "ids.parquet", "-k", 3, "--similarity")
    assert "100.00" in printed


def binary(path: str, *arrays: np.ndarray) -> None:
    """As big-ann-benchmarks' xbin_write and usbin_write have them."""
    head = np.array(arrays[0].shape, dtype="<u4")
    Path(path).write_bytes(b"".join(part.tobytes() for part in (head, *arrays)))


def _rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids and distances that an index found, the distances ascending."""
    far = np.take_along_axis(FAR, RETURNED[name], axis=1)
    order = np.argsort(far, axis=1, kind="stable")
    return np.take_along_axis(RETURNED[name], order, axis=1), np.take_along_axis(far, order, axis=1)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    binary("truth.ibin", IDS)
    binary("far.fbin", NEAREST.astype("<f4"))
    binary("both.bin", IDS, NEAREST.astype("<f4"))
    binary("any.ibin", RETURNED["any"].astype("<i4"))
    np.save("any.npy", RETURNED["any"])


def test_files_of_big_ann_benchmarks(files: None) -> None:
    result = dh.index_recall_of_truth({"any": RETURNED["any"]}, IDS, NEAREST.astype("<f4"), 5, tolerance=1e-6)
    more = ("-k", 5, "--tolerance", "1e-6")
    assert passed("index-recall", "truth.ibin", "any.ibin", "--distances", "far.fbin", *more) == f"{result}\n"
    assert passed("index-recall", "both.bin", "any.npy", *more) == f"{result}\n"
    binary("near.fbin", -NEAREST.astype("<f4"))
    similar = ("--distances", "near.fbin", "--similarity")
    assert passed("index-recall", "truth.ibin", "any.npy", *similar, *more) == f"{result}\n"
    printed = passed("index-recall", "both.bin", "any.npy", *more, "--json", "-")
    assert json.loads(printed) == json.loads(result.to_json())


def vecs(path: str, array: np.ndarray) -> None:
    dims = np.full((len(array), 1), array.shape[1], dtype="<i4").view(np.uint8)
    Path(path).write_bytes(np.hstack([dims, np.ascontiguousarray(array).view(np.uint8)]).tobytes())


def test_files_of_texmex_and_of_lines(files: None) -> None:
    """The same table from .ivecs, .npz and JSON lines, with distances next to the ids or in a file of their own."""
    near, returned = NEAREST.astype("<f4"), RETURNED["any"]
    result = dh.index_recall_of_truth({"any": returned}, IDS, near, 5, tolerance=1e-6)
    vecs("truth.ivecs", IDS.astype("<i4"))
    vecs("far.fvecs", near)
    vecs("any.ivecs", returned.astype("<i4"))
    np.savez("any.npz", returned)
    np.savez("both.npz", neighbors=IDS, distances=near)
    rows = [list(zip(*pair, strict=True)) for pair in zip(IDS.tolist(), near.tolist(), strict=True)]
    objects = [{"closest_ids": i, "closest_scores": d} for i, d in zip(IDS.tolist(), near.tolist(), strict=True)]
    for name, records in (("pairs", rows), ("objects", objects), ("any", returned.tolist())):
        Path(f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)))
    more = ("-k", 5, "--tolerance", "1e-6")
    for truth in (("truth.ivecs", "--distances", "far.fvecs"), ("both.npz",), ("pairs.jsonl",), ("objects.jsonl",)):
        for file in ("any.ivecs", "any.npz", "any.jsonl"):
            assert passed("index-recall", *truth, file, *more) == f"{result}\n"
    deeper = dh.index_recall_of_truth({"any": returned}, IDS, near, 1, depth=3)
    assert passed("index-recall", "both.npz", "any.npz", "-k", 1, "--depth", 3) == f"{deeper}\n"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("[1, 2]\n[1, ", "line 2: must be ids of one kind"),
        ("[1, 2]\n[1, 0.5]", "line 2: must be ids of one kind"),
        ("[[1, 0.5], [2]]", "line 1: must be ids of one kind"),
        ('[[1, "x"]]', "line 1: must be ids of one kind"),
        ('{"neighbours": [1]}', "line 1: must be ids of one kind"),
        ("[1, 2]\n[[1, 0.5]]", "must have numbers in each line, or in none, but has none for query 0"),
        ("", "must have ids or distances with a row for each query, but has neither"),
        ("[" * 100_000, "line 1: must be ids of one kind"),
    ],
)
def test_lines_that_do_not_fit_are_refused(lines: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(lines)
    with pytest.raises(FileError, match=said):
        read_neighbors(path)


def test_files_of_ann_benchmarks(files: None) -> None:
    """`tolerance` is its epsilon: the items within d_k + ε, but no more of them than there are places."""
    h5py = pytest.importorskip("h5py")
    with h5py.File("truth.hdf5", "w") as file:
        file["neighbors"], file["distances"] = IDS, NEAREST.astype("<f4")
        file["train"], file["test"] = POINTS, QUERIES
    with h5py.File("any.hdf5", "w") as file:
        file["neighbors"] = RETURNED["any"].astype("<i4")
        file["times"] = np.zeros(25)
    result = dh.index_recall_of_truth({"any": RETURNED["any"]}, IDS, NEAREST.astype("<f4"), 5, tolerance=1e-3)
    printed = passed("index-recall", "truth.hdf5", "any.hdf5", "-k", 5, "--tolerance", "1e-3")
    assert printed == f"{result}\n"
    theirs = [np.count_nonzero(FAR[q, row[:5]] <= NEAREST[q, 4] + 1e-3) / 5 for q, row in enumerate(RETURNED["any"])]
    np.testing.assert_allclose(result["any"].per_query, theirs, rtol=0, atol=1e-12)


def test_mistakes_are_one_line(files: None) -> None:
    Path("cut.ibin").write_bytes(Path("truth.ibin").read_bytes()[:-4])
    Path("tiny.ibin").write_bytes(b"123")
    np.save("f.npy", np.arange(3))
    for arguments, message in {
        "truth.ibin": "index-recall takes TRUTH and at least one FOUND",
        "truth.ibin any.ibin --tolerance 1e-3": "truth.ibin has no distances; --distances FILE names them",
        "far.fbin any.ibin": "far.fbin has no ids",
        "both.bin far.fbin": "far.fbin has no ids",
        "truth.ibin any.npy --distances any.ibin": "any.ibin has no distances",
        "cut.ibin any.ibin": "cut.ibin must have 4008 bytes, for its head says 25 rows of 40 numbers, but has 4004",
        "tiny.ibin any.ibin": "tiny.ibin must have 8 bytes, for it has no head, but has 3",
        "f.npy any.ibin": "f.npy must have ids or distances with a row for each query, but has an array of shape (3,)",
        "none.bin any.ibin": "none.bin: No such file or directory",
        "both.txt any.ibin": "neighbors must be a file that ends in one of .h5, .hdf5, .ibin, .ivecs, .fbin, .fvecs, "
        ".bin, .npy, .npz, .parquet, .jsonl, but is both.txt",
        "both.bin any.ibin -k 50": "ids must have at least k = 50 items for each query, but query 0 has 40; "
        "-1 stands for nothing, where there are no more",
    }.items():
        assert refused("index-recall", *arguments.split()) == message


def ann_benchmarks_recall(true: Any, of_returned: Any, k: int, epsilon: float) -> float:
    """As `ann_benchmarks/plotting/metrics.py` has it, from distances alone."""
    counts = [sum(d <= row[k - 1] + epsilon for d in found[:k]) for row, found in zip(true, of_returned, strict=True)]
    return float(np.mean(counts)) / k


def test_by_distance_is_the_recall_of_ann_benchmarks() -> None:
    """Ties make up for closer items that were missed; the difference is shown, and only where there is one."""
    rng = np.random.default_rng(0)
    distances = np.sort(rng.integers(0, 20, (30, 40)) / 16, axis=1)
    ids = np.argsort(rng.random((30, 40)), axis=1)
    index = np.sort(np.argsort(rng.random((30, 40)), axis=1)[:, :8], axis=1)
    returned, near = np.take_along_axis(ids, index, 1), np.take_along_axis(distances, index, 1)
    for tolerance in (0.0, 0.0625):
        result = dh.index_recall_of_truth(returned, ids, distances, 5, tolerance=tolerance)
        theirs = ann_benchmarks_recall(distances, near, 5, tolerance)
        assert result["index"].recall_by_distance == pytest.approx(theirs, rel=1e-15)
        assert result["index"].recall_by_distance > result["index"].recall
        assert "by distance" in str(result)
        assert "as ann-benchmarks does" in str(result)
    example = dh.index_recall_of_truth({"x": [[1, 2]], "y": [[0, 2]]}, [[0, 1, 2, 3]], [[0, 1, 1, 5.0]], 2)
    assert example.columns()["recall"] == [0.5, 1.0]
    assert example.columns()["by_distance"] == [1.0, 1.0]
    assert "distance" not in str(dh.index_recall_of_truth([[0, 1]], [[0, 1, 2, 3]], [[0, 1, 1, 5.0]], 2))
