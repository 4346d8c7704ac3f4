"""Relevance given pair by pair, and pairs left out by a rule: the profile is that of exact scores and whole masks."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import deadheat as dh
from deadheat.engine.counting import chunks, within
from deadheat.errors import DeadheatError

SCORES = {
    "inner_product": lambda q, g: q @ g.T,
    "euclidean": lambda q, g: -np.square(q[:, None] - g[None]).sum(axis=2),
}
FORMS = {
    "matrix": lambda m: m,
    "nested lists": lambda m: m.tolist(),
    "sparse": sparse.coo_array,
    "rows": lambda m: [{i: g for i, g in enumerate(row) if g} for row in m.tolist()],
    "by query": lambda m: {q: {i: g for i, g in enumerate(row) if g} for q, row in enumerate(m.tolist())},
}


def points(seed: int, n: int) -> Any:
    return np.random.default_rng(seed).integers(-2, 3, (n, 2)).astype(float)


def grades_of(seed: int, shape: tuple[int, int], kind: str) -> Any:
    rng = np.random.default_rng(seed)
    marks = rng.random(shape) < 0.3
    return {
        "bool": marks,
        "whole": marks * rng.integers(1, 4, shape),
        "real": marks * rng.choice([0.25, 1, 2.5], shape),
    }[kind]


def written_out(positions: Any, others: Any, radius: Any) -> Any:
    """The pairs within a radius, in fractions."""
    rows, columns = ([[Fraction(x) for x in np.atleast_1d(p).tolist()] for p in part] for part in (positions, others))
    most = Fraction(radius) ** 2
    inside = [[sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) <= most for b in columns] for a in rows]
    return np.array(inside)


@pytest.fixture(params=[False, True], ids=["one chunk", "many chunks"], autouse=True)
def _chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        monkeypatch.setattr(chunks, "LISTED", 30)
        monkeypatch.setattr(within, "WIDE", 0)
        monkeypatch.setattr(within, "CELLS", 200)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["bool", "whole", "real"])
@pytest.mark.parametrize("distance", SCORES)
def test_the_profile_is_that_of_exact_scores(distance: str, kind: str, form: str) -> None:
    for seed in range(4):
        queries, gallery = points(seed, 17), points(seed + 50, 23)
        matrix = grades_of(seed, (17, 23), kind)
        for junk in (None, np.arange(23) % 5 == 0, np.random.default_rng(seed).random((17, 23)) < 0.2):
            task = dh.Task(queries, gallery=gallery, relevant=FORMS[form](matrix), junk=junk, distance=distance)
            expected = dh.from_scores(SCORES[distance](queries, gallery), matrix, junk=junk)
            assert task.profile.digest() == expected.profile.digest()
            assert (task.profile.tied > task.profile.tied_relevant).any()


@pytest.mark.parametrize("kind", ["bool", "whole", "real"])
@pytest.mark.parametrize("out", ["within", "ranges", "sparse"])
def test_left_out_by_a_rule_is_junk(out: str, kind: str) -> None:
    for seed in range(4):
        n, rng = 30, np.random.default_rng(seed)
        rows, matrix, frames = points(seed, n), grades_of(seed, (n, n), kind), rng.permutation(n)
        mask = np.abs(frames[:, None] - frames) <= 3
        exclude: Any = {"within": dh.within(3, frames), "sparse": sparse.csr_array(mask)}.get(out)
        if out == "ranges":
            begins = np.arange(n) - 4
            exclude = np.stack([begins, begins + 5], axis=1)
            mask = (np.arange(n) >= begins[:, None]) & (np.arange(n) < begins[:, None] + 5)
        scores, itself = SCORES["euclidean"](rows, rows), np.eye(n, dtype=bool)
        expected = dh.from_scores(scores, matrix, junk=mask | itself).profile
        for ties in ("exact", "float16"):  # small integers and their roots, which float16 distinguishes
            task = dh.Task(rows, relevant=matrix, exclude=exclude, distance="euclidean", ties=ties)
            assert task.profile.digest() == expected.digest()
        separate = dh.Task(rows, gallery=rows, relevant=matrix, exclude=sparse.csr_array(mask | itself), distance="l2")
        assert separate.profile.digest() == expected.digest()
        assert task.replace(exclude=None).profile == dh.from_scores(scores, matrix, junk=itself).profile


@pytest.mark.parametrize("ties", ["exact", "float16", dh.Tolerance(0.5)])
@pytest.mark.parametrize("several", [False, True])
def test_labels_with_what_a_rule_leaves_out(several: bool, ties: Any) -> None:
    n = 40
    rows, others, frames = points(1, n), points(2, n + 5), np.arange(n + 5) // 2
    labels: Any = np.arange(n + 5) % 3
    labels = [{int(each)} | ({9} if i % 4 == 0 else set()) for i, each in enumerate(labels)] if several else labels
    rule, mask = dh.within(1, frames[:n]), np.abs(frames[:n, None] - frames[:n]) <= 1
    alone = dh.Task(rows, labels[:n], exclude=rule, ties=ties)
    assert alone.profile.digest() == dh.Task(rows, labels[:n], junk=mask, ties=ties).profile.digest()
    both = dh.Task(rows, labels[:n], others, labels, exclude=dh.within(1, frames[:n], frames), ties=ties)
    mask = np.abs(frames[:n, None] - frames) <= 1
    assert both.profile.digest() == dh.Task(rows, labels[:n], others, labels, junk=mask, ties=ties).profile.digest()


POSITIONS = {
    "frames": (3, np.arange(25) // 2),
    "tenths": (0.3, np.arange(25) * 0.1),
    "plane": (5, np.stack([np.arange(25) % 7, np.arange(25) // 7], axis=1) * np.array([3, 4])),
    "diagonal": (0.5, np.stack([np.arange(25) * 0.3, np.arange(25) * 0.4], axis=1)),
    "far": (0.1, 1e9 + np.arange(25) * 0.1),
    "one place": (0, np.zeros((25, 3))),
    "tiny": (1e-100, np.arange(25) * 1e-100),
    "large": (1e100, (np.arange(25) - 12) * 8e98),
}


@pytest.mark.parametrize("case", POSITIONS)
def test_within_compares_real_numbers(case: str) -> None:
    radius, positions = POSITIONS[case]
    expected = written_out(positions, positions, radius)
    rows = points(3, 25)
    task = dh.Task(rows, relevant=dh.within(radius, positions))
    assert task.profile.digest() == dh.Task(rows, relevant=expected).profile.digest()
    others = positions[5:]
    task = dh.Task(rows, gallery=rows[5:] + 10, relevant=dh.within(radius, positions, others))
    assert task.profile == dh.Task(rows, gallery=rows[5:] + 10, relevant=expected[:, 5:]).profile


@pytest.mark.parametrize("unit", ["s", "ns", "D"])
def test_times_are_compared_in_one_unit(unit: str) -> None:
    start = np.datetime64("2026-01-01", unit)
    times = start + np.arange(20) * np.timedelta64(3, "D")
    expected = dh.Task(points(4, 20), relevant=dh.within(6, np.arange(20) * 3)).profile
    for radius in (timedelta(days=6), np.timedelta64(6 * 24, "h")):
        assert dh.Task(points(4, 20), relevant=dh.within(radius, times)).profile == expected
    listed = [time.astype("datetime64[us]").item() for time in times]
    assert dh.Task(points(4, 20), relevant=dh.within(timedelta(days=6), listed)).profile == expected


def test_lists_of_rows_are_padded_and_read_from_files(tmp_path: Path) -> None:
    rows = points(5, 6)
    expected = dh.Task(rows, relevant=[[1, 2], [0], [5, 0], [], [3, 3], None]).profile
    text, array, matrix = tmp_path / "pairs.txt", tmp_path / "pairs.npy", tmp_path / "pairs.npz"
    text.write_text("1 2\n0\n5,0\n\n3 4\n\n")
    np.save(array, np.array([[1, 2], [0, -1], [5, 0], [-1, -1], [3, 4], [-1, -1]]))
    dense = np.zeros((6, 6), dtype=int)
    dense[[0, 0, 1, 2, 2, 4, 4], [1, 2, 0, 5, 0, 3, 4]] = 1  # row 4 itself is not ranked
    sparse.save_npz(matrix, sparse.csr_array(dense))
    for given in (text, array, matrix, {0: {1, 2}, 1: [0], 2: np.array([5, 0]), 4: {3: 1}}):
        assert dh.Task(rows, relevant=given).profile == expected


def test_a_receipt_has_one_digest_for_a_rule_and_its_pairs() -> None:
    rows, frames = points(6, 12), np.arange(12)
    near = np.abs(frames[:, None] - frames) <= 2
    task = dh.Task(rows, relevant=dh.within(2, frames), exclude=dh.within(1, frames))
    listed = dh.Task(rows, relevant=near, junk=np.abs(frames[:, None] - frames) <= 1)
    made = dh.receipt(task, measures="mAP")
    assert made.content == dh.receipt(listed, measures="mAP").content
    assert not dh.verify(made, listed).differences
    assert "inputs.junk" in {each.name for each in dh.verify(made, dh.Task(rows, relevant=near)).differences}
    assert "labels" not in made.content["inputs"]


def test_a_query_in_the_gallery_is_noticed() -> None:
    rows = np.arange(12.0).reshape(6, 2) ** 2
    with pytest.warns(
        dh.errors.QueryInGalleryWarning, match="6 of 6 queries are in the gallery themselves, as an equal row,"
    ):
        dh.Task(rows, gallery=rows, relevant=dh.within(1, range(6), range(6)))


ROWS = np.arange(8.0).reshape(4, 2) ** 2
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"relevant": [[0]]}, "relevant must have one entry per query, but got 1 for 4 queries"),
    ({"relevant": np.zeros((4, 3))}, r"relevant must have the shape of queries and gallery, \(4, 4\)"),
    ({"relevant": [[4], [], [], []]}, "relevant must be rows of the gallery, 0 to 3"),
    ({"relevant": [["a"], [], [], []]}, "relevant must be rows of the gallery"),
    ({"relevant": {"q": [1]}}, "relevant must have queries by their row, 0 to 3, but has 'q'; dh.from_j"),
    ({"relevant": 3}, "relevant must be a matrix"),
    ({"relevant": np.eye(4), "labels": [1, 1, 2, 2]}, "labels must be left out where relevant says"),
    ({"relevant": np.eye(4), "relevance": "same"}, "relevance must be left out"),
    ({"relevant": np.eye(4), "checkpoint": "x"}, "checkpoint must be left out"),
    ({"relevant": dh.within(1, range(3))}, "positions must have one entry per row of embeddings, but got 3 for 4"),
    ({"relevant": dh.within(1, range(4), range(4))}, "gallery_positions must be given with a gallery"),
    ({"relevant": dh.within(1, range(4)), "gallery": ROWS}, "gallery_positions must be given with a gallery"),
    ({"labels": [1, 1, 2, 2], "exclude": [0, 1, 2, 3]}, "exclude must be left out without a gallery, or be a rule"),
    ({"labels": [1, 1, 2, 2], "exclude": np.array([[2, 1]] * 4)}, "exclude must have ranges that begin before"),
    ({"labels": [1, 1, 2, 2], "exclude": np.zeros((4, 2))}, "exclude must be ranges of rows"),
    ({"labels": [1, 1, 2, 2], "exclude": dh.within(0, range(4)), "junk": np.zeros(4, bool)}, "junk must be left out"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "said"), REFUSED)
def test_what_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(DeadheatError, match=said):
        dh.Task(ROWS, **given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((-1, [1]), "radius must not be less than 0|radius must be"), ((np.nan, [1]), "radius must"),
        ((1, [np.nan]), "positions must be finite"), ((1, [1e101]), "positions must be from"),
        ((1, [[1, 2]], [[1]]), "positions and gallery_positions must have as many"), ((1, []), "positions must be"),
        ((1, ["a"]), "positions must hold real numbers"), ((timedelta(1), [1]), "radius must be a timedelta, and"),
        ((1, np.array(["2026-01-01"], "M8[s]")), "radius must be a timedelta"), ((1e-200, [1]), "radius must be 0, or"),
        ((timedelta(1), np.array(["NaT"], "M8[s]")), "positions must be one time"),
    ],
)  # fmt: skip
def test_positions_that_are_refused(given: Any, said: str) -> None:
    with pytest.raises(DeadheatError, match=said):
        dh.within(*given)


def test_a_tolerance_takes_a_rule_and_other_questions_ask_for_labels() -> None:
    near = np.array([[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]])
    left_out, ties = dh.within(0, [0, 0, 1, 2]), dh.Tolerance(0.1)
    mask = np.equal.outer([0, 0, 1, 2], [0, 0, 1, 2])
    expected = dh.Task(ROWS, relevant=near, junk=mask, ties=ties).profile
    assert dh.Task(ROWS, relevant=near, exclude=left_out, ties=ties).profile == expected
    plain = dh.Task(ROWS, relevant=dh.within(1, range(4)))
    for question in (dh.collisions, dh.exploit, dh.audit, dh.grouped):
        with pytest.raises(DeadheatError, match="labels must be given for"):
            question(plain, **({"group_size": 2} if question is dh.grouped else {}))
    with pytest.raises(DeadheatError, match="relevant must be given where there are no labels"):
        plain.replace(relevant=None)
    assert dh.Task(ROWS, [1, 1, 2, 2]).replace(relevant=dh.within(1, range(4))).profile == plain.profile
