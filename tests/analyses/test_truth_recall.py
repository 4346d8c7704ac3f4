"""Recall by a ground truth of ids and distances: against the search by embeddings, plain sets, and others' files."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from cli.calling import passed
from cli.calling import reason as refused

import deadheat as dh

RNG = np.random.default_rng(7)
BASE = RNG.integers(0, 4, (40, 2)).astype(np.float32)  # full of duplicates and ties
QUERIES = RNG.integers(0, 4, (25, 2)).astype(np.float32)
FAR = np.sqrt(((QUERIES[:, None].astype(float) - BASE) ** 2).sum(axis=2))
IDS = np.argsort(FAR, axis=1, kind="stable").astype(np.int32)
DISTANCES = np.take_along_axis(FAR, IDS, axis=1)
RETURNED = {
    "stable": IDS[:, :6],
    "any": np.array([RNG.permutation(40)[:6] for _ in QUERIES]),
    "reversed": np.argsort(FAR[:, ::-1], axis=1, kind="stable")[:, :6].copy(),
    "short": np.where(RNG.random((25, 6)) < 0.4, -1, IDS[:, :6]),
}
RETURNED["reversed"] = 39 - RETURNED["reversed"]


@pytest.mark.parametrize("k", [1, 4, 6])
def test_it_is_what_a_search_by_the_embeddings_gives(k: int) -> None:
    by_search = dh.index_recall(RETURNED, QUERIES, BASE, k, distance="euclidean")
    by_truth = dh.index_recall_of_truth(RETURNED, IDS, DISTANCES, k)
    assert (by_truth.n_tied, by_truth.n_cut) == (by_search.n_tied, 0)
    for name in RETURNED:
        np.testing.assert_array_equal(by_truth[name].by_id, by_search[name].by_id)
        np.testing.assert_array_equal(by_truth[name].n_returned, by_search[name].n_returned)


def test_every_way_to_keep_the_tied_items() -> None:
    """By plain sets: what one search could have kept, for each tolerance."""
    far = np.sort(np.round(RNG.random((30, 8)) * 4) / 4 + RNG.random((30, 8)) * 1e-4, axis=1)
    ids = np.array([RNG.permutation(50)[:8] for _ in far])
    came = np.array([RNG.permutation(50)[:4] for _ in far]) % 50
    came[:, :2] = ids[:, 2:4]
    came = np.array([list(dict.fromkeys([*row.tolist(), *range(50)]))[:4] for row in came])
    for tolerance in (0.0, 1e-3, 0.3):
        found = dh.index_recall_of_truth(came, ids, far, 3, tolerance=tolerance)["index"]
        for query, row in enumerate(far):
            closer = {i for i, d in zip(ids[query], row, strict=True) if d - row[2] < -tolerance}
            tied = [i for i, d in zip(ids[query], row, strict=True) if abs(d - row[2]) <= tolerance]
            kept = [len({*came[query, :3]} & (closer | {*some})) / 3 for some in combinations(tied, 3 - len(closer))]
            expected = (min(kept), sum(kept) / len(kept), max(kept))
            np.testing.assert_allclose([part[query] for part in found.by_id], expected, rtol=0, atol=1e-12)


def test_a_ground_truth_that_ends_inside_a_tie_is_said() -> None:
    result = dh.index_recall_of_truth([[0, 5], [0, 1]], [[0, 1, 2], [0, 1, 2]], [[0.0, 1, 1], [0, 1, 2]], 2)
    assert (result.n_cut, result["index"].recall) == (1, 0.75)
    said = "In 1 query the ground truth ends inside the tie with number 2: recall is at least what is shown."
    assert said in str(result)
    assert json.loads(result.to_json())["n_cut"] == 1


def binary(path: str, *arrays: np.ndarray) -> None:
    """As big-ann-benchmarks' xbin_write and usbin_write have them."""
    head = np.array(arrays[0].shape, dtype="<u4")
    Path(path).write_bytes(b"".join(part.tobytes() for part in (head, *arrays)))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    binary("truth.ibin", IDS)
    binary("far.fbin", DISTANCES.astype("<f4"))
    binary("both.bin", IDS, DISTANCES.astype("<f4"))
    binary("any.ibin", RETURNED["any"].astype("<i4"))
    np.save("any.npy", RETURNED["any"])


def test_files_of_big_ann_benchmarks(files: None) -> None:
    found = dh.index_recall_of_truth({"any": RETURNED["any"]}, IDS, DISTANCES.astype("<f4"), 5, tolerance=1e-6)
    more = ("-k", 5, "--tolerance", "1e-6")
    assert passed("index-recall", "truth.ibin", "any.ibin", "--distances", "far.fbin", *more) == f"{found}\n"
    assert passed("index-recall", "both.bin", "any.npy", *more) == f"{found}\n"
    binary("near.fbin", -DISTANCES.astype("<f4"))
    similar = ("--distances", "near.fbin", "--similarity")
    assert passed("index-recall", "truth.ibin", "any.npy", *similar, *more) == f"{found}\n"
    assert json.loads(passed("index-recall", "both.bin", "any.npy", *more, "--json")) == json.loads(found.to_json())


def test_files_of_ann_benchmarks(files: None) -> None:
    """`tolerance` is its epsilon: the items within d_k + ε, but no more of them than there are places."""
    h5py = pytest.importorskip("h5py")
    with h5py.File("truth.hdf5", "w") as file:
        file["neighbors"], file["distances"] = IDS, DISTANCES.astype("<f4")
        file["train"], file["test"] = BASE, QUERIES
    with h5py.File("any.hdf5", "w") as file:
        file["neighbors"] = RETURNED["any"].astype("<i4")
        file["times"] = np.zeros(25)
    found = dh.index_recall_of_truth({"any": RETURNED["any"]}, IDS, DISTANCES.astype("<f4"), 5, tolerance=1e-3)
    printed = passed("index-recall", "truth.hdf5", "any.hdf5", "-k", 5, "--tolerance", "1e-3")
    assert printed == f"{found}\n"
    theirs = [np.count_nonzero(FAR[q, row[:5]] <= DISTANCES[q, 4] + 1e-3) / 5 for q, row in enumerate(RETURNED["any"])]
    np.testing.assert_allclose(found["any"].per_query, theirs, rtol=0, atol=1e-12)


def test_mistakes_are_one_line(files: None) -> None:
    Path("cut.ibin").write_bytes(Path("truth.ibin").read_bytes()[:-4])
    Path("tiny.ibin").write_bytes(b"123")
    np.save("f.npy", np.arange(3))
    for arguments, message in {
        "truth.ibin": "index-recall takes TRUTH and at least one FOUND",
        "truth.ibin any.ibin": "truth.ibin has no distances; --distances FILE names them",
        "far.fbin any.ibin": "far.fbin has no ids",
        "both.bin far.fbin": "far.fbin has no ids",
        "truth.ibin any.npy --distances any.ibin": "any.ibin has no distances",
        "cut.ibin any.ibin": "cut.ibin must have 4008 bytes, for its head says 25 rows of 40 numbers, but has 4004",
        "tiny.ibin any.ibin": "tiny.ibin must have 8 bytes, for it has no head, but has 3",
        "f.npy any.ibin": "f.npy must have ids or distances with a row for each query, but has an array of shape (3,)",
        "none.bin any.ibin": "none.bin: No such file or directory",
        "both.txt any.ibin": "neighbors must be a file that ends in one of .h5, .hdf5, .ibin, .fbin, .bin, .npy, "
        "but is both.txt",
        "both.bin any.ibin -k 50": "ids must have at least k = 50 items for each query, but has 40",
    }.items():
        assert refused("index-recall", *arguments.split()) == message
