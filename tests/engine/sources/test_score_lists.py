"""Lists of scores of any lengths, flat columns and verdicts, against brute force and against runs with ids."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from engine.counting.keyed import counts_of
from oracles import average_precision, profile_scores

import deadheat as dh
from deadheat.errors import InputError


def random_lists(rng: np.random.Generator, kind: str = "f8") -> tuple[list[Any], list[Any]]:
    lengths = rng.integers(0, 7, rng.integers(2, 9))
    lengths[0], lengths[1] = 0, 3
    return [rng.integers(-2, 3, n).astype(kind) for n in lengths], [rng.integers(0, 3, n) for n in lengths]


@pytest.mark.parametrize("kind", ["f4", "f8", "i8", "i2"])
def test_lists_are_counted_as_one_by_one(kind: str) -> None:
    """As matrices of one row: arrays, lists, lists by query, or flat with ids or sizes, in any order of rows."""
    rng = np.random.default_rng(len(kind))
    for _ in range(30):
        scores, grades = random_lists(rng, kind)
        order = ["descending", "ascending"][rng.integers(2)]
        junk = [rng.random(len(row)) < 0.3 for row in scores]
        empty = {"groups": [], "n_ranked": 0, "n_relevant": 0}
        want = [
            {key: value for key, value in profile_scores([s], [g], order=order, junk=[j])[0].items() if key != "graded"}
            if len(s) else empty
            for s, g, j in zip(scores, grades, junk, strict=True)
        ]  # fmt: skip
        listed = [[row.tolist() for row in rows] for rows in (scores, grades, junk)]
        given = dh.from_scores(scores, grades, junk=junk, order=order).profile
        assert counts_of(given) == want
        assert dh.from_scores(*listed[:2], junk=listed[2], order=order).profile == given
        named = [{f"q{i}": row for i, row in enumerate(rows)} for rows in listed[:2]]
        assert dh.from_scores(*named, order=order).profile.query_ids == tuple(named[0])
        flat, sizes = [np.concatenate(rows) for rows in (scores, grades, junk)], [len(row) for row in scores]
        if len(sizes) != len(flat[0]):  # else they are ids
            by_size = dh.from_scores(*flat[:2], groups=sizes, junk=flat[2], order=order)
            assert by_size.profile == given
        ids, mixed = np.repeat(np.arange(len(sizes)), sizes), rng.permutation(len(flat[0]))
        by_id = dh.from_scores(
            *(column[mixed] for column in flat[:2]), groups=ids[mixed], junk=flat[2][mixed], order=order
        )
        names = [int(name) for name in by_id.profile.query_ids or ()]
        assert names == list(dict.fromkeys(ids[mixed].tolist()))
        assert counts_of(by_id.profile) == [want[name] for name in names]


def test_values_are_those_of_every_order() -> None:
    scores, grades = [[0.5, 0.5, 0.25], [], [1, 1]], [[1, 0, 1], [], [0, 1]]
    result = dh.evaluate(dh.from_scores(scores, grades), "mAP")["mAP"]
    values = []
    for s, g in zip(scores, grades, strict=True):
        orders = [order for order in permutations(range(len(s))) if all(s[a] >= s[b] for a, b in pairwise(order))]
        of_query = [average_precision([g[i] for i in order]) for order in orders if s]
        values += [(min(of_query), sum(of_query) / len(of_query), max(of_query))] if s else []
    want = [float(sum(each) / Fraction(len(values))) for each in zip(*values, strict=True)]
    assert [result.lower, result.expected, result.upper] == pytest.approx(want, rel=1e-15)
    assert dh.evaluate(dh.from_scores(scores, grades), "mAP", singletons="zero")["mAP"].upper == want[2] * 2 / 3


def test_verdicts_are_in_rank_order() -> None:
    for verdicts in ([[0, 1], [1, 1, 0], []], [[False, True], [True, True, False], []], [[0.0, 0.5], [0.5, 1, 0], []]):
        task = dh.from_scores(relevant=verdicts)
        assert task.profile.closer.tolist() == [1, 0, 1]
        assert task.profile.tied.tolist() == [1, 1, 1]
        assert task.profile.n_ranked.tolist() == [2, 3, 0]
    matrix = dh.from_scores(relevant=np.array([[0, 1], [1, 1]])).profile
    assert (
        matrix == dh.from_scores(relevant={"a": [0, 1], "b": [1, 1]}).profile[[0, 1]]._replace_names()
        if hasattr(matrix, "_replace_names")
        else True
    )
    flat = dh.from_scores(relevant=[0, 1, 1, 1, 0], groups=[2, 3]).profile
    assert flat.closer.tolist() == [1, 0, 1]
    with pytest.raises(InputError, match="order must be left out where relevant is in rank order"):
        dh.from_scores(relevant=[[1]], order="ascending")


COLUMNS = {"score": [0.5, 0.5, 0.9], "y": [1, 0, 1], "qid": ["a", "a", "b"]}


@pytest.mark.parametrize("library", ["dict", "pandas", "polars", "pyarrow", "datasets"])
def test_a_table_has_the_columns(library: str) -> None:
    def made(columns: dict[str, list[Any]]) -> Any:
        if library == "dict":
            return columns
        module = pytest.importorskip(library)
        if library == "datasets":
            return module.Dataset.from_dict(columns)
        return getattr(module, "table" if library == "pyarrow" else "DataFrame")(columns)

    want = dh.from_scores(COLUMNS["score"], COLUMNS["y"], groups=COLUMNS["qid"]).profile
    assert want.query_ids == ("a", "b")
    assert want.tied.tolist() == [2, 1]
    assert dh.from_scores(made(COLUMNS)).profile == want
    other = made({"p": COLUMNS["score"], "clicked": COLUMNS["y"], "session": COLUMNS["qid"], "score": [1, 2, 3]})
    columns = {"score": "p", "relevance": "clicked", "query": "session"}
    assert dh.from_scores(other, columns=columns).profile == want
    with pytest.raises(InputError, match="scores must have columns of score, relevance, query, but has none of r"):
        dh.from_scores(other)


@pytest.mark.parametrize(
    ("scores", "relevant", "more", "said"),
    [
        ([[1], [1, 2]], [[1], [1]], {}, "relevant must have an entry for each score, but has 1 for 2 of query 1"),
        ([[1], [1, 2]], [[1]], {}, "relevant must have an entry for each score, but has 1 lists for 2"),
        ([[1], []], [1, 0], {}, "relevant must be a list for each query, but has 1 for one"),
        ({"a": [1]}, {"b": [1]}, {}, "scores and relevant must both be dictionaries, of the same queries"),
        ({"a": [1]}, [[1]], {}, "scores and relevant must both be dictionaries, of the same queries"),
        ([0.5, 1], [1, 0], {}, "must be two-dimensional"),
        (np.array([0.5, 1]), [1, 0], {}, "groups= says which query each belongs to, [scores] makes them one"),
        ([0.5, 1], [1, 0], {"groups": [2, 1, 1]}, "sizes of queries that add up to all scores, but has shape (3,)"),
        ([0.5, 1], [1, 0], {"groups": [3, -1, 0]}, "sizes of queries that add up to all scores, but has shape (3,)"),
        ([0.5, 1], [1], {"groups": [2]}, "scores must be (n,) as the groups are given, but has shape (2,) for 1"),
        ([[float("nan")], []], [[1], []], {}, "scores must be finite, but holds nan in row 0"),
        ([[1], []], [[-1], []], {}, "relevant must hold grades of 0 and more, but holds -1"),
        ([[2**53 + 1], [0.5, 1]], [[1], [1, 0]], {}, "float64 does not hold 9007199254740993"),
        ([[1], []], [[1], []], {"junk": [True, False]}, "junk must have True or False for each of 1 scores"),
        ([[1], []], [[1], []], {"columns": {"query": "q"}}, "columns must be left out unless scores is a table"),
        ([[1]], None, {}, "relevant must be given, unless scores is a table"),
        (None, None, {}, "relevant must be given, unless scores is a table"),
        (None, [], {}, "relevant must have at least one query, but is empty"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(scores: Any, relevant: Any, more: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        dh.from_scores(scores, relevant, **more)


def test_settings_are_those_of_a_matrix() -> None:
    task = dh.from_scores([[0.5, 0.50000001, 0.25], [1.0]], [[1, 0, 0], [1]])
    assert task.profile.tied.tolist() == [1, 1]
    assert task.replace(ties="float32").profile.tied.tolist() == [2, 1]
    near = task.replace(ties=dh.Tolerance(0.3)).profile
    assert near.bounds_only
    assert near.tied.tolist() == [3, 1]
