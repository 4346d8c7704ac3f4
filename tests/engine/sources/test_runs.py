"""Profiles of TREC runs: by hand, as those of matrices, and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from engine.counting.keyed import assert_as_oracle, groups_of, queries_of
from numpy.testing import assert_array_equal

from deadheat import from_run, from_scores
from deadheat.engine.profiles.parts import at_level
from deadheat.engine.ties.rounded import Rounded
from deadheat.measures import per_query
from deadheat.reports.evaluating import evaluate

RUN = """
q2 Q0 a 1 3.5 tag
q2\tQ0\tb\t2\t2\ttag
q2 Q0 c 3 2.0 tag

q1 Q0 a 9 -1e-3 tag
q1 Q0 c 1 -1 tag
q9 Q0 a 1 1 tag
"""
QRELS = """
q1 0 a 2
q1 0 c 0
q1 0 x 1
q2 0 b 1
q2 0 a -1
q3 0 a 1
"""
RUN_TABLE = {"q2": {"a": 3.5, "b": 2, "c": 2.0}, "q1": {"a": -1e-3, "c": -1}, "q9": {"a": 1}}
QRELS_TABLE = {"q1": {"a": 2, "c": 0, "x": 1}, "q2": {"b": 1, "a": -1}, "q3": {"a": 1}}


def files(folder: Path, run: str | bytes = RUN, qrels: str | bytes = QRELS) -> tuple[Path, Path]:
    paths = folder / "my.run", folder / "my.qrels"
    for path, content in zip(paths, (run, qrels), strict=True):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return paths


def test_run_by_hand() -> None:
    profile = from_run(RUN_TABLE, QRELS_TABLE).profile
    assert profile.query_ids == ("q1", "q2", "q3")  # those of the qrels
    assert queries_of(profile) == [
        {"groups": [(0, 0, 1, 1)], "graded": [(0, 1, {2: 1})], "n_ranked": 2, "n_relevant": 2},
        {"groups": [(1, 0, 2, 1)], "graded": [(1, 2, {1: 1})], "n_ranked": 3, "n_relevant": 1},
        {"groups": [], "graded": [], "n_ranked": 0, "n_relevant": 1},
    ]
    assert profile.relevant_by_grade is not None
    assert_array_equal(profile.grades, [1, 2])
    assert_array_equal(profile.relevant_by_grade, [[1, 1], [1, 0], [1, 0]])
    assert_array_equal(per_query(profile, "AP").upper, [0.5, 0.5, 0])


def test_files_dictionaries_and_tables_of_other_libraries_agree(tmp_path: Path) -> None:
    expected = from_run(RUN_TABLE, QRELS_TABLE).profile
    run, qrels = files(tmp_path)
    zipped, windows = tmp_path / "my.run.gz", tmp_path / "windows.run"
    zipped.write_bytes(gzip.compress(RUN.encode()))
    windows.write_bytes(b"\xef\xbb\xbf" + RUN.strip().replace("\n", "\r\n").encode())
    given = [(one, two) for one in (run, str(run), zipped, windows, RUN_TABLE) for two in (qrels, QRELS_TABLE)]
    for one, two in (*given, (SCORED, JUDGED), (iter(SCORED), iter(JUDGED)), (Ranx(RUN_TABLE), Ranx(QRELS_TABLE))):
        profile = from_run(one, two).profile
        assert profile == expected
        assert profile.query_ids == expected.query_ids


def test_runs_equal_matrices() -> None:
    rng = np.random.default_rng(6)
    scores = rng.choice([-0.0, 0.0, -1.5, 2.25, 1e300, 5e-324], (40, 9))
    for most in (1, 3):
        grades = rng.integers(0, most + 1, scores.shape)
        run = {f"q{i}": {f"d{j}": score for j, score in enumerate(row)} for i, row in enumerate(scores)}
        qrels = {f"q{i}": {f"d{j}": grade for j, grade in enumerate(row)} for i, row in enumerate(grades)}
        profile = from_run(run, qrels).profile
        assert_as_oracle(profile, scores, grades)
        assert profile.digest() == from_scores(scores, grades).profile.digest()
        assert from_run({q: run[q] for q in reversed(run)}, qrels).profile == profile


def test_numbers_of_a_dictionary_are_what_they_are() -> None:
    scores = {"a": 2**60, "b": 2**60 + 1, "c": float(2**60), "d": 10**400}
    assert groups_of(from_run({"q": scores}, {"q": {"a": 1}}).profile) == [[(2, 0, 2, 1)]]
    for kind in (np.float16, np.float32, np.int8, np.uint64):
        profile = from_run({"q": {"a": kind(1), "b": 1.0, "c": kind(2)}}, {"q": {"a": kind(1).astype(np.int8)}}).profile
        assert groups_of(profile) == [[(1, 0, 2, 1)]]


def test_unicode_and_odd_ids(tmp_path: Path) -> None:
    run, qrels = files(tmp_path, "é Q0 d\u00a01 1 1 t\né Q0 01 1 1 t\n", "é 0 d\u00a01 1\né 0 1 1\n")
    profile = from_run(run, qrels).profile
    assert (profile.query_ids, groups_of(profile)) == (("é",), [[(0, 0, 2, 1)]])
    assert (profile.n_ranked.tolist(), profile.n_relevant.tolist()) == ([2], [2])


GOOD_RUN, GOOD_QRELS = "q Q0 a 1 1 t\n", "q 0 a 1\n"
BAD_RUNS = [
    ("q Q0 a 1 1 t\n\nq Q0 b 1 1\n", r"my\.run, line 3: .* 6 fields \(qid Q0 docid rank score tag\), but has 5"),
    ("q Q0 a 1 one t\n", r"my\.run, line 1: score must be a number, but is of type str"),
    ("q Q0 a 1 1_0 t\n", r"my\.run, line 1: score must be a number, but is of type str"),
    ("q Q0 a 1 nan t\n", r"my\.run, line 1: score must be finite, but is nan"),
    ("q Q0 a 1 1e999 t\n", r"my\.run, line 1: score must be finite, but is inf"),
    (
        "q Q0 a 1 1 t\nq Q0 a 2 0 t\n",
        r"my\.run, line 2: run must list document 'a' once .* has score 1.0 in line 1 and",
    ),
    (b"q Q0 a\x00 1 1 t\n", r"my\.run, line 1: a NUL byte; damaged, or another kind of file\?"),
    *((empty, r"my\.run must hold at least one query, but is empty") for empty in ("", "\n \n", "# nothing\n")),
    (gzip.compress(GOOD_RUN.encode(), mtime=0)[:-9], r"my\.run is damaged or truncated"),
    (gzip.compress(GOOD_RUN.encode(), mtime=0)[:-4] + b"abcd", r"my\.run is damaged or truncated"),
    ("7 Q0 a 1 1 t\n", "must have a query in common, but the run has 1 .'7'. and the qrels have 1 .'q'."),
]
BAD_QRELS = [
    ("q 0 a\n", r"my\.qrels, line 1: a line must have 4 fields \(qid iter docid rel\), but has 3"),
    *(
        (
            f"q 0 a {odd}\n",
            rf"my\.qrels, line 1: rel must be an integer, or a gain of 0, or from 1e-100 to 1e100, but is {came}$",
        )
        for odd, came in (
            ("-1.5", "a negative one, with which nDCG is no fraction of an ideal"),
            ("nan", "NaN"),
            ("inf", "a larger one"),
            ("1e-101", "a smaller one"),
        )
    ),
    ("q 0 a yes\n", r"my\.qrels, line 1: rel must be a number, but is of type str"),
    ("q 0 a 9223372036854775808\n", r"my\.qrels, line 1: rel must be below 2\^63"),
    (
        "q 0 a 1\nq 0 b 1\nq 0 a 0\n",
        r"my\.qrels, line 3: qrels must list document 'a' once for .* has rel 1 in line 1 and rel 0$",
    ),
    ("", r"my\.qrels must hold at least one query, but is empty"),
]


@pytest.mark.parametrize(
    ("run", "qrels", "message"),
    [*((bad, GOOD_QRELS, why) for bad, why in BAD_RUNS), *((GOOD_RUN, bad, why) for bad, why in BAD_QRELS)],
)
def test_refuses_bad_files(tmp_path: Path, run: str | bytes, qrels: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        from_run(*files(tmp_path, run, qrels))
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        from_run(tmp_path / "none.run", QRELS_TABLE)


# What trec_eval has options for ---------------------------------------------------------------------------------------


def test_comments_and_blank_lines(tmp_path: Path) -> None:
    run, qrels = files(tmp_path, f"# BM25, one decimal\n  # {RUN}", f"#\n{QRELS}# end")
    assert from_run(run, qrels).profile == from_run(RUN_TABLE, QRELS_TABLE).profile


def test_level_of_relevance() -> None:
    """The profile has all grades, and the level is that of the measures."""
    rng = np.random.default_rng(3)
    scores, grades = rng.integers(0, 4, (30, 12)), rng.integers(0, 4, (30, 12))
    run, qrels = (
        {f"q{i}": {f"d{j}": int(v) for j, v in enumerate(row)} for i, row in enumerate(of)} for of in (scores, grades)
    )
    for rel in (1, 2, 3, 4):
        task = from_run(run, qrels, rel=rel)
        above = from_scores(scores, np.where(grades >= rel, grades, 0)).profile
        assert task.profile == from_scores(scores, grades).profile
        assert at_level(task.profile, rel).digest() == above.digest()
        if rel < 4:
            (result,) = evaluate(task, "AP").values()
            assert_array_equal(result.per_query, evaluate(above, "AP")["AP"].per_query)
    assert_array_equal(at_level(from_run(RUN_TABLE, QRELS_TABLE, rel=2).profile, 2).n_relevant, [1, 0, 0])


def test_judged_documents_only() -> None:
    run = {"q": {"a": 3.0, "unknown": 2.0, "no judgement": 2.0, "b": 2.0, "c": 1.0}}
    qrels = {"q": {"a": 0, "no judgement": -1, "b": 1, "c": 1}}
    assert groups_of(from_run(run, qrels, judged_only=True).profile) == [[(1, 0, 1, 1), (2, 1, 1, 1)]]
    assert groups_of(from_run(run, qrels).profile) == [[(1, 0, 3, 1), (4, 1, 1, 1)]]


@pytest.mark.parametrize(
    ("most", "groups"), [(1, []), (2, [(1, 0, 1, 1)]), (3, [(1, 0, 2, 2)]), (4, [(1, 0, 2, 2), (3, 2, 1, 1)])]
)
def test_only_the_first_documents_count(most: int, groups: list[Any]) -> None:
    """Of two that tie at the cut any may be taken if their judgements are equal."""
    run = {"q": {"d": 1.0, "b": 2.0, "a": 3.0, "c": 2.0}}
    profile = from_run(run, {"q": {"a": 0, "b": 1, "c": 1, "d": 1}}, max_docs=most).profile
    assert (groups_of(profile), profile.n_ranked.tolist(), profile.n_relevant.tolist()) == ([groups], [most], [3])
    if most == 2:
        with pytest.raises(ValueError, match=r"max_docs must not cut .* query 'q' has 2 at rank 2; measures"):
            from_run(run, {"q": {"b": 1}}, max_docs=most)


def test_only_queries_in_both() -> None:
    profile = from_run(RUN_TABLE, QRELS_TABLE, complete=False).profile
    assert profile.query_ids == ("q1", "q2")
    assert profile == from_run(RUN_TABLE, QRELS_TABLE).profile[:2]


@pytest.mark.parametrize(
    ("scores", "tied"),  # with the first, as they are, as float32, as float16
    [
        ([0.5, 0.500000001], [1, 2, 2]), ([2**60, 2**60 + 1], [1, 2, 2]), ([2**24, 2**24 + 1], [1, 2, 2]),
        ([1e39, 1e40], [1, 2, 2]),  # infinite as float32
        ([10**400, 10**401], [1, 2, 2]), ([-1e-60, 0.0, -0.0], [1, 3, 3]), ([1.0, 1.0001], [1, 1, 2]),
    ],
)  # fmt: skip
def test_scores_are_rounded_to_a_type(scores: list[float], tied: list[int]) -> None:
    run = {"q": dict(zip("abc", scores, strict=False))}
    result = [from_run(run, {"q": {"a": 1}}, ties=ties).profile.tied[0] for ties in ("exact", "float32", "float16")]
    assert result == tied


@pytest.mark.parametrize(
    ("option", "error", "message"),
    [
        ({"rel": 0}, ValueError, "rel must be above 0, but is 0"),
        ({"rel": "1"}, TypeError, "rel must be a number, but is '1'"),
        ({"judged_only": 1}, TypeError, "judged_only must be True or False, but is 1"),
        ({"complete": "no"}, TypeError, "complete must be True or False, but is 'no'"),
        (
            {"ties": "float8"},
            ValueError,
            "ties must be one of exact, float64, float16, bfloat16, float32, but is 'float8'",
        ),
        (
            {"ties": Rounded("float16", of="distance")},
            ValueError,
            "ties must round the scores themselves, without of, but is",
        ),
    ],
)
def test_refuses_bad_options(option: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        from_run(RUN_TABLE, QRELS_TABLE, **option)


# Tables of other libraries --------------------------------------------------------------------------------------------


class ScoredDoc(NamedTuple):
    query_id: str
    doc_id: str
    score: float


class Qrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class Ranx:
    """As ranx's Run and Qrels are, as far as they are read."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def keys(self) -> Any:
        return self.table.keys()

    def to_dict(self) -> Any:
        return dict(self.table)


SCORED = [ScoredDoc(query, item, score) for query, row in RUN_TABLE.items() for item, score in row.items()]
JUDGED = [Qrel(query, item, grade) for query, row in QRELS_TABLE.items() for item, grade in row.items()]


@pytest.mark.parametrize(
    ("ids", "grade"),
    [(("query_id", "doc_id"), "relevance"), (("qid", "docno"), "label"), (("q_id", "doc_id"), "score")],
)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_data_frames(library: str, ids: tuple[str, str], grade: str) -> None:
    module: Any = pytest.importorskip(library, reason=f"data frames of {library}")
    make = module.table if library == "pyarrow" else module.DataFrame
    run = make({ids[0]: [r[0] for r in SCORED], ids[1]: [r[1] for r in SCORED], "score": [float(r[2]) for r in SCORED]})
    qrels = make({ids[0]: [r[0] for r in JUDGED], ids[1]: [r[1] for r in JUDGED], grade: [r[2] for r in JUDGED]})
    assert from_run(run, qrels).profile == from_run(RUN_TABLE, QRELS_TABLE).profile


@pytest.mark.parametrize(
    ("run", "qrels", "error", "message"),
    [
        (7, {"q": {"a": 1}}, TypeError, "run must be a path, dictionaries, a data frame or named tuples, but is int"),
        ({}, {"q": {"a": 1}}, ValueError, "run must hold at least one query, but is empty"),
        ({"q": {"a": 1}}, {}, ValueError, "qrels must hold at least one query"),
        ({1.0: {"a": 1}}, {"q": {"a": 1}}, TypeError, "id of a query must be a string or an integer, but is 1.0"),
        ({"q": {True: 1}}, {"q": {"a": 1}}, TypeError, "id of a document must be a string or an integer, but is True"),
        ({"q": 1}, {"q": {"a": 1}}, TypeError, "run must hold a dictionary, or a list of hits, for each query, but"),
        ({"q": {"a": "1"}}, {"q": {"a": 1}}, TypeError, "run, query 'q', document 'a': score must be a number"),
        ({"q": {"a": None}}, {"q": {"a": 1}}, TypeError, "score must be a number, but is of type NoneType"),
        ({"q": {"a": float("nan")}}, {"q": {"a": 1}}, ValueError, "document 'a': score must be finite, but is nan"),
        (
            {"q": {"a": 1}},
            {"q": {"a": -1.5}},
            ValueError,
            "qrels, query 'q', document 'a': rel must be an integer, or a gain",
        ),
        ({"q": {"a": 1}}, {"q": {"a": 2**63}}, ValueError, r"rel must be below 2\^63"),
        ({"q": {"a": 1}}, {"r": {"a": 1}}, ValueError, "run and qrels must have a query in common"),
        ([("q", "a", 1)], JUDGED, TypeError, r"run must have query_id, doc_id, score, but has a tuple"),
        (SCORED, SCORED[:0], ValueError, "qrels must hold at least one query, but is empty"),
        (
            [*SCORED, ScoredDoc(*SCORED[0][:2], 9)],
            JUDGED,
            ValueError,
            "list document 'a' once for query 'q2', but has score 3.5 in row 1 and score 9; repeats=",
        ),
        ([ScoredDoc("q1", "a", float("nan"))], JUDGED, ValueError, "score must be finite, but is nan"),
        (SCORED, [Qrel("q1", "a", "1.5")], TypeError, "rel must be a number, but is of type str"),  # type: ignore[arg-type]
        ([ScoredDoc(None, "a", 1.0)], JUDGED, TypeError, "id of a query must be a string"),  # type: ignore[arg-type]
    ],
)
def test_refuses_bad_dictionaries_and_tables(run: Any, qrels: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        from_run(run, qrels)
