"""Judgements as sets, lists and alternatives, documents that are left out, distances in a run, and nothing found."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import DeadheatError
from deadheat.measures import per_query

RUN = {"q": {"a": 3.0, "b": 2.0, "c": 2.0, "q": 5.0}, "p": {"a": 1.0, "x": 0.5}}
QRELS: Any = {"q": {"a": 1, "b": 1}, "p": {"x": 1}}
FORMS: list[Any] = [
    {"q": {"a", "b"}, "p": frozenset({"x"})},
    {"q": ["a", "b"], "p": ["x"]},
    {"q": [{"a"}, ["b"]], "p": [["x"]]},
    {"q": ("a", "b"), "p": {"x": 1}},
]


@pytest.mark.parametrize("qrels", FORMS)
def test_sets_and_lists_are_judgements_of_one(qrels: Any, tmp_path: Path) -> None:
    assert dh.from_run(RUN, qrels).profile == dh.from_run(RUN, QRELS).profile
    path = tmp_path / "qrels.json"
    lists = {q: [list(each) if isinstance(each, set) else each for each in row] for q, row in qrels.items()}
    path.write_text(json.dumps(lists))
    assert dh.from_run(RUN, path).profile.digest() == dh.from_run(RUN, QRELS).profile.digest()


def orders(row: dict[str, int]) -> Any:
    """Every order of documents whose scores do not rise."""
    levels = [[d for d in row if row[d] == s] for s in sorted({*row.values()}, reverse=True)]
    for parts in itertools.product(*map(itertools.permutations, levels)):
        yield [d for part in parts for d in part]


def values_of(ranking: list[str], sets: list[Any]) -> dict[str, Fraction]:
    """Measures by definition: an item is found where the first of its alternatives is."""
    places = [min((ranking.index(d) + 1 for d in each if d in ranking), default=None) for each in sets]
    hits = sorted(place for place in places if place is not None)
    n = len(sets)
    return {
        "AP": sum((Fraction(i, place) for i, place in enumerate(hits, 1)), Fraction(0)) / n,
        "Recall@2": Fraction(sum(place <= 2 for place in hits), n),
        "P@3": Fraction(sum(place <= 3 for place in hits), 3),
        "RR": Fraction(1, hits[0]) if hits else Fraction(0),
        "Hit@1": Fraction(int(1 in hits)),
    }


def ties_with_others(row: dict[str, int], sets: list[Any]) -> bool:
    best = [max((row[d] for d in each if d in row), default=None) for each in sets]
    first = [{d for d in each if row.get(d) == s} for each, s in zip(sets, best, strict=True) if s is not None]
    tied = [{d for d in row if row[d] == s} for s in best if s is not None]
    return any(len(mine) > 1 and mine != every for mine, every in zip(first, tied, strict=True))


def test_alternatives_are_found_where_the_first_is() -> None:
    rng, n_refused, n_counted, n_open = np.random.default_rng(0), 0, 0, 0
    for _ in range(400):
        names = [f"d{i}" for i in range(rng.integers(2, 7))]
        row = {d: int(rng.integers(0, 4)) for d in names if rng.random() < 0.9}
        labels = rng.integers(0, 4, len(names))
        sets = [{d for d, label in zip(names, labels, strict=True) if label == k} for k in (1, 2, 3)]
        sets = [each for each in sets if each] or [{"elsewhere", "d0"}]
        judged = {"q": [next(iter(s)) if len(s) == 1 and rng.random() < 0.5 else s for s in sets]}
        run = {"q": row, "p": {"x": 1}}
        if ties_with_others(row, sets):
            with pytest.raises(DeadheatError, match="must not tie alternatives of a judgement for their first place"):
                dh.from_run(run, judged | {"p": ["x"]})
            n_refused += 1
            continue
        profile = dh.from_run(run, judged | {"p": ["x"]}).profile
        every = [values_of(ranking, sets) for ranking in orders(row)]
        for name in every[0]:
            value = per_query(profile, name)
            column = [each[name] for each in every]
            ends = tuple(float(end[0]) for end in value[:3])
            expected = (min(column), sum(column, Fraction(0)) / len(column), max(column))
            assert ends == pytest.approx(tuple(map(float, expected)), abs=1e-15), (row, sets, name)
            n_open += min(column) < max(column)
        n_counted += 1
    assert n_counted > 200
    assert n_refused > 20
    assert n_open > 100


def test_lists_have_alternatives_documents_and_nothing_found() -> None:
    task = dh.from_lists(
        [["m1", "m2", "m3"], None, [{"m4", "m5"}, "m6"]], [[{"m2", "m3"}, "m1"], ["m1"], [["m4", "m5"]]]
    )
    assert task.profile == dh.TieProfile.from_groups(
        [[(0, 0, 1, 1), (1, 1, 1, 1)], [], [(0, 0, 1, 1)]], [3, 0, 3], [2, 1, 1]
    )
    documents = {"a1": "a", "a2": "a", "b1": "b"}
    chunks = dh.from_lists([["b1", "a2", "a1"]], [["a"]], documents=documents, repeats="first")
    assert chunks.profile == dh.from_lists([["b", "a"]], [["a"]]).profile
    assert dh.from_run({"q": None, "p": {"x": 1}}, {"q": ["a"], "p": None}).profile.n_relevant.tolist() == [1, 0]
    ranks = dh.from_ranks([1, None], [2, None], [5, 5]).profile
    assert (ranks.n_group, ranks.n_relevant.tolist()) == (1, [1, 1])
    assert per_query(ranks, "RR").expected.tolist() == [0.75, 0]
    neighbors = dh.from_neighbors([[3], None], [[0.5], None], relevant=[{3}, {1}], n_gallery=5, cut_ties=False)
    assert neighbors.profile.n_relevant.tolist() == [1, 1]


def test_documents_are_left_out_by_id() -> None:
    without = {query: {d: s for d, s in row.items() if d != query} for query, row in RUN.items()}
    expected = dh.from_run(without, QRELS).profile
    for qrels in (QRELS, {**QRELS, "q": {**QRELS["q"], "q": 1}}):
        task = dh.from_run(RUN, qrels, exclude="itself")
        assert task.profile == expected
        assert not task.remarks
        assert dh.from_run(RUN, qrels, exclude={"q": ["q", "elsewhere"]}).profile == expected
        assert task.replace(exclude=None).profile.n_ranked.tolist() == [4, 2]
    assert "leaves it out" in dh.from_run(RUN, QRELS).remarks[-1]
    lists = dh.from_lists({"q": ["q", "a"]}, {"q": ["a"]}, exclude="itself")
    assert lists.profile.closer.tolist() == [0]


def test_distances_in_a_run(tmp_path: Path) -> None:
    scores = {query: {d: -s for d, s in row.items()} for query, row in RUN.items()}
    expected = dh.from_run(RUN, QRELS).profile
    assert dh.from_run(scores, QRELS, order="ascending").profile == expected
    path = tmp_path / "a.run"
    lines = [f"{q} Q0 {d} 0 {s} tag" for q, row in scores.items() for d, s in row.items()]
    path.write_text("\n".join([*lines, "q Q0 a 9 7 tag"]))  # a second chunk, farther
    assert dh.from_run(path, QRELS, order="ascending", repeats="max").profile == expected
    ranks = tmp_path / "ranks.tsv"
    ranks.write_text("q\ta\t1\nq\tb\t2\n")
    listed = [{"qid": "q", "docno": "a", "rank": 1}]
    for given in (ranks, listed, {"q": ["a", "b"]}):
        with pytest.raises(DeadheatError, match="order must be left out where the run has"):
            dh.from_run(given, {"q": ["a"]}, order="ascending")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: dh.from_run(RUN, QRELS, exclude="self"), 'exclude must be "itself", or documents by query'),
        (lambda: dh.from_run(RUN, QRELS, exclude={"q": "a"}), "exclude must be lists of document ids"),
        (lambda: dh.from_run(RUN, QRELS, order="up"), "order must be one of"),
        (lambda: dh.from_run(RUN, {"q": [{"a", "b"}, {"b", "c"}]}), "no document in two of a query"),
        (lambda: dh.from_run(RUN, {"q": [{"a", "b"}, "b"]}), "must list document 'b' once"),
        (lambda: dh.from_run(RUN, {"q": [set(), "b"]}), "query 'q' has one without any"),
        (lambda: dh.from_run(RUN, {"q": [{"b", "c"}]}, ties="float16"), "must not tie alternatives of a judgement"),
        (lambda: dh.audit_run(RUN, {"q": [{"b", "a"}]}), "qrels must list documents, not alternatives"),
        (lambda: dh.from_run({"q": {"a", "b"}}, QRELS), "run must hold a dictionary, or a list of hits"),
        (lambda: dh.from_ranks([1, None], [2, 3], [5, 5]), "must be at least 1"),
    ],
)  # fmt: skip
def test_what_is_refused(call: Any, said: str) -> None:
    with pytest.raises(DeadheatError, match=said):
        call()
