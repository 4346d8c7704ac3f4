"""Real-valued gains, wherever relevance is given: against every order of ties, in fractions, and against each other."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import graded_queries
import numpy as np
import pytest

from deadheat import TieProfile, from_judged, from_neighbors, from_run, from_scores
from deadheat.engine.profiles import parts
from deadheat.engine.sources.keyed import profile_lists
from deadheat.measures import per_query, std
from deadheat.measures.discounted_gain import exponential

GAINS = [0.0, 0.0, 0.25, 0.75, 1.0, 1.5]
NAMES = ["nDCG", "nDCG@2", "nDCG(dcg='exp-log2')@3", "ERR@3", "AP", "AP(rel=0.75)", "P(rel=1)@2", "MRR(rel=1.25)"]


def data(n_query: int = 8, n_item: int = 6) -> tuple[Any, Any]:
    """Codes as queries and items, with many ties, and the gains of pairs."""
    rng = np.random.default_rng(11)
    gains = rng.choice(GAINS, (n_query, n_item))
    gains[1], gains[2] = 0.0, [0, 2, 0, 1, 0, 2]  # nothing relevant; gains that are whole
    return (rng.integers(0, 2, (n_query, 3), np.uint8), rng.integers(0, 2, (n_item, 3), np.uint8)), gains


def distances(codes: tuple[Any, Any]) -> Any:
    return (codes[0][:, None] != codes[1]).sum(axis=2)


def tables(codes: tuple[Any, Any], gains: Any) -> tuple[Any, Any]:
    """A run and qrels of the same, the irrelevant documents unjudged, irrelevant, or marked as junk is in TREC's."""
    run = {f"q{i}": {f"d{j}": -int(d) for j, d in enumerate(row)} for i, row in enumerate(distances(codes))}
    marks = itertools.cycle([0, -2, 0.0])
    return run, {f"q{i}": {f"d{j}": float(g) or next(marks) for j, g in enumerate(row)} for i, row in enumerate(gains)}


def at_level(name: str, gains: list[float]) -> tuple[str, list[float]]:
    if "rel=" not in name:
        return name, gains
    name, level, end = name.replace("(", ")").split(")")[0], float(name.split("rel=")[1].split(")")[0]), name[-2:]
    return name + (end if "@" in end else ""), [float(gain >= level) for gain in gains]


@pytest.mark.parametrize("name", NAMES)
def test_every_order_of_ties(name: str) -> None:
    codes, gains = data()
    profile = from_scores(distances(codes), gains, order="ascending").profile
    values, deviation = per_query(profile, name), std(profile, name)
    for query, (row, of_items) in enumerate(zip(distances(codes).tolist(), gains.tolist(), strict=True)):
        plain, counted = at_level(name, of_items)
        if not any(counted):
            assert np.isnan([value[query] for value in (*values, deviation)]).all()
            continue
        orders = [o for o in itertools.permutations(range(len(row))) if [row[i] for i in o] == sorted(row)]
        result = [Fraction(graded_queries.value(plain, [counted[i] for i in order], [])) for order in orders]
        mean = sum(result) / len(result)
        variance = sum((each - mean) ** 2 for each in result) / len(result)
        for value, exact in zip(values, (min(result), mean, max(result)), strict=True):
            assert graded_queries.close(value[query], exact, 2e-15)
        assert graded_queries.root_close(deviation[query], variance, 1e-12)


def test_wherever_relevance_is_given(tmp_path: Path) -> None:
    """Matrices dense, sparse and of float32; runs, of dictionaries and files; neighbours; embeddings and qrels."""
    codes, gains = data()
    profile = from_scores(distances(codes), gains, order="ascending").profile
    assert profile.gains is not None
    assert profile.gains.shape == (8, 3)
    run, qrels = tables(codes, gains)
    lines = "".join(f"{query} 0 {item} {gain}\n" for query, row in qrels.items() for item, gain in row.items())
    (tmp_path / "qrels").write_text(lines)
    (tmp_path / "qrels.json").write_text(json.dumps(qrels))
    beir = "".join("\t".join(line.split(" ")[::2]) + f"\t{line.split(' ')[3]}\n" for line in lines.splitlines())
    (tmp_path / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + beir)
    rows = [sorted(row, key=lambda item, row=row: -row[item]) for row in run.values()]
    relevant = [qrels[query] for query in run]
    scores = [[run[query][item] for item in row] for query, row in zip(run, rows, strict=True)]
    ids = [f"q{i}" for i in range(8)], [f"d{i}" for i in range(6)]
    result = [
        from_scores(distances(codes), gains.astype(np.float32), order="ascending"),
        from_run(run, qrels),
        *(from_run(run, tmp_path / name) for name in ("qrels", "qrels.json", "test.tsv")),
        from_neighbors(rows, scores, relevant=relevant, n_gallery=6),
        from_judged(*codes, qrels, *ids, distance="hamming"),
        from_judged(*codes, tmp_path / "qrels", *ids, distance="hamming", threads=2),
    ]
    assert {task.profile.digest() for task in result} == {profile.digest()}
    sparse = pytest.importorskip("scipy.sparse")
    for make in (sparse.csr_array, sparse.csr_matrix, sparse.coo_array):
        assert from_scores(distances(codes), make(gains), order="ascending").profile == profile


def test_whole_gains_are_grades_and_those_of_junk_do_not_count() -> None:
    codes, gains = data()
    whole, junk = np.ceil(gains), gains != np.ceil(gains)
    scores = -distances(codes)
    plain = from_scores(scores, whole.astype(int)).profile
    assert plain.gains is None
    assert from_scores(scores, whole).profile.digest() == plain.digest()
    run, qrels = tables(codes, whole)
    assert from_run(run, qrels).profile.digest() == plain.digest()
    expected = from_scores(scores, whole.astype(int), junk=junk).profile
    assert expected.gains is None
    assert from_scores(scores, gains, junk=junk).profile.digest() == expected.digest()
    one = from_scores(scores, gains, junk=np.arange(6) > 3).profile
    assert one == from_scores(scores[:, :4], gains[:, :4]).profile


@pytest.mark.parametrize("name", ["nDCG@4", "ERR@4", "AP(rel=0.75)"])
def test_lists_that_were_cut(name: str) -> None:
    """The four nearest of six; those that tie with the last, and all others, come behind in any order."""
    codes, gains = data()
    scores = -distances(codes)
    rows = np.argsort(-scores, kind="stable")[:, :4]
    relevant = [dict(enumerate(row.tolist())) for row in gains]
    values = np.take_along_axis(scores, rows, axis=1)
    profile = from_neighbors(rows, values, relevant=relevant, n_gallery=6).profile
    lower, _, upper = per_query(profile, name)
    for query in (0, 3, 4):
        cut = np.where(scores[query] > values[query, -1], scores[query], -9).tolist()
        plain, counted = at_level(name, gains[query].tolist())
        orders = [o for o in itertools.permutations(range(6)) if [cut[i] for i in o] == sorted(cut, reverse=True)]
        result = [Fraction(graded_queries.value(plain, [counted[i] for i in order], [])) for order in orders]
        assert graded_queries.close(lower[query], min(result), 2e-15)
        assert graded_queries.close(upper[query], max(result), 2e-15)
    best = per_query(profile.best_completed(), name)
    np.testing.assert_allclose(best.upper, upper, rtol=1e-15)


def test_profiles_are_kept_sliced_joined_added_and_cut(tmp_path: Path) -> None:
    codes, gains = data()
    scores = -distances(codes)
    profile = from_scores(scores, gains).profile
    profile.save(tmp_path / "profile.npz")
    loaded = TieProfile.load(tmp_path / "profile.npz")
    assert (loaded.digest(), loaded.gains.tolist()) == (profile.digest(), profile.gains.tolist())  # type: ignore[union-attr]
    other = from_scores(scores, np.where(gains == 0.75, 0.5, gains)).profile
    assert other.digest() != profile.digest()
    with pytest.raises(ValueError, match="must have the same relevant items, but their gains differ"):
        profile + other
    first, second, whole = (from_scores(scores[some], gains[some]).profile for some in ([0, 3], [4, 5], [2]))
    assert whole.gains is None
    for name in NAMES:
        expected = per_query(profile, name)
        for some, joined in (([0, 3, 4, 5, 2], TieProfile.joined([first, second, whole])), ([5, 2], profile[[5, 2]])):
            for values, kept in zip(per_query(joined, name), expected, strict=True):
                np.testing.assert_array_equal(values, kept[some])
    for rel in (0.1, 0.25, 0.5, 1.1, 9):
        above = from_scores(scores, np.where(gains >= rel, gains, 0)).profile
        assert (parts.at_level(profile, rel) == above) or above.gains is None
        assert np.array_equal(per_query(parts.at_level(profile, rel), "AP"), per_query(above, "AP"), equal_nan=True)


def test_profiles_that_contradict_themselves() -> None:
    profile = TieProfile.from_groups([[(0, 0, 1, 1)]], n_ranked=[1])
    arrays = {
        name: getattr(profile, name) for name in ("offsets", "closer", "closer_relevant", "tied", "tied_relevant")
    }
    of_queries = {name: getattr(profile, name) for name in ("n_ranked", "n_relevant")}
    for gains, rule in (
        ([[0.5, 1.0]], "gains must be .n_query, n_grade."),
        ([[0.0]], "gains must be positive for each grade"),
        ([[-0.5]], "gains must be finite and not negative"),
        ([[np.nan]], "gains must be finite"),
        ([["a"]], "gains must hold numbers"),
    ):
        with pytest.raises((ValueError, TypeError), match=rule):
            TieProfile(**arrays, **of_queries, gains=gains)


def test_rounded_distances_and_lists_of_different_lengths() -> None:
    """Whole distances beyond 2048, which float16 rounds to even numbers; lists of 1 to 9 items."""
    rng = np.random.default_rng(5)
    queries, gallery = rng.integers(0, 9, (6, 1)), rng.integers(2040, 2070, (9, 1))
    gains = rng.choice(GAINS, (6, 9))
    qrels = {f"q{i}": {f"d{j}": g for j, g in enumerate(row)} for i, row in enumerate(gains.tolist())}
    ids = list(qrels), [f"d{j}" for j in range(9)]
    rounded = (gallery.T - queries).astype(np.float16)
    expected = from_scores(rounded, gains, order="ascending").profile
    assert from_judged(queries, gallery, qrels, *ids, distance="euclidean", ties="float16").profile == expected
    lengths = [9, 1, 3, 8, 2, 1]
    run = {f"q{i}": {f"d{j}": -float(rounded[i, j]) for j in range(n)} for i, n in enumerate(lengths)}
    whole = from_run(run, {q: {d: qrels[q][d] for d in row} for q, row in run.items()}).profile
    flat = [np.concatenate([row[:n] for row, n in zip(rows, lengths, strict=True)]) for rows in (-rounded, gains)]
    assert profile_lists(*flat, np.array(lengths)) == whole


def test_powers_of_gains_are_rounded_once() -> None:
    """2^g - 1, also near 0, where a difference of two floats has no digit left."""
    for gain in (0.5, 0.25, 1.75, 1023 / 1024, 3.0, 100.0):
        assert exponential(np.array([gain]), 500, "a gain")[0] == float(graded_queries.two_to(gain) - 1)
    tiny = Fraction(1e-30) * Fraction("0.693147180559945309417232121458176568")
    assert exponential(np.array([[0.0, 1e-30]]), 500, "a gain").tolist() == [[0.0, float(tiny + tiny**2 / 2)]]
    with pytest.raises(ValueError, match=r"an exponential gain takes grades up to 500, but one is 500\.5"):
        per_query(from_scores([[1, 2]], [[500.5, 0.5]]).profile, "nDCG(dcg='exp-log2')")
    with pytest.raises(ValueError, match="ERR takes grades up to 4, but one is 5"):
        per_query(from_scores([[1, 2]], [[5, 1]]).profile, "ERR@10")


def test_err_of_a_large_group_is_close_to_that_of_random_orders() -> None:
    """500 items tied, 40 of them relevant; beyond 1000 slots there is no deviation."""
    rng = np.random.default_rng(2)
    gains = np.zeros(500)
    gains[:40] = rng.choice([0.5, 1, 2.5, 4], 40)
    profile = from_scores(np.zeros((1, 500)), gains[None]).profile
    chances = (2**gains - 1) / 16
    drawn = []
    for _ in range(4000):
        row = rng.permutation(chances)[:100]
        drawn.append((row * np.cumprod(np.append(1, 1 - row[:-1])) / np.arange(1, 101)).sum())
    assert abs(per_query(profile, "ERR@100").expected[0] - np.mean(drawn)) < 4 * np.std(drawn) / np.sqrt(4000)
    assert std(profile, "ERR@100")[0] == pytest.approx(np.std(drawn), rel=0.1)
    wide = from_scores(np.zeros((1, 1100)), np.pad(gains, (0, 600))[None]).profile
    assert np.isfinite([std(wide, "ERR@1000")[0], per_query(wide, "ERR@1100").expected[0]]).all()
    assert np.isnan(std(wide, "ERR@1001")[0])
