"""Tie profiles of TREC runs.

run, qrels ──open_both──> dictionaries ──profile_tables──> keys, grades of one query ─> groups ─> profile
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any, Literal, NamedTuple

import numpy as np

from deadheat.engine.counting.scored import assemble, count_keys, keys_of
from deadheat.engine.profiles.parts import at_level
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.inputs import trec
from deadheat.inputs.trec import Checked, Path, Table
from deadheat.support import checks
from deadheat.support.arrays import Int64
from deadheat.support.floats import plain_floats

ScoreDtype = Literal["float32", "float64"]
_DTYPES = ("float32", "float64")


class RunOptions(NamedTuple):
    """How a run is judged: the options of `profile_run`, checked."""

    rel: int = 1
    judged_only: bool = False
    complete: bool = True
    score_dtype: ScoreDtype | None = None
    max_docs: int | None = None

    @classmethod
    def checked(cls, rel: Any, judged_only: Any, complete: Any, score_dtype: Any, max_docs: Any = None) -> RunOptions:
        only, whole = checks.flag(judged_only, "judged_only"), checks.flag(complete, "complete")
        if score_dtype is not None:
            checks.choice(score_dtype, _DTYPES, "score_dtype")
        most = None if max_docs is None else checks.positive_integer(max_docs, "max_docs")
        return cls(checks.positive_integer(rel, "rel", 2**63 - 1), only, whole, score_dtype, most)


@plain_floats
def profile_run(
    run: Path | Table,
    qrels: Path | Table,
    *,
    rel: int = 1,
    judged_only: bool = False,
    complete: bool = True,
    score_dtype: ScoreDtype | None = None,
    max_docs: int | None = None,
) -> TieProfile:
    """Count, for every query of a TREC run and every score at which it has a relevant document, what ties with it.

    Parameters
    ----------
    run : path, dict, data frame or iterable of named tuples
        Lines ``qid Q0 docid rank score tag``, or ``{query_id: {doc_id: score}}``, or rows with ``query_id``, ``doc_id``
        and ``score``, as ir_measures has them; also a ranx ``Run``. Scores decide, highest first, and the rank is not
        read.
    qrels : path, dict, data frame or iterable of named tuples
        Lines ``qid iter docid rel``, or ``{query_id: {doc_id: grade}}``, or rows with ``query_id``, ``doc_id`` and
        ``relevance``; also a ranx ``Qrels``. Grades are integers; 0 and less, and documents that are not listed, are
        irrelevant.
    rel : int
        The least grade that is relevant (trec_eval's ``-l``). The profile knows nothing of grades below, so that they
        have no gain in nDCG either; `deadheat.evaluate_run` keeps those gains, as trec_eval does.
    judged_only : bool
        Whether documents without a judgement are taken out of the run (trec_eval's ``-J``). A grade below 0 is no
        judgement, as there.
    complete : bool
        Whether queries of the qrels count of which the run has nothing (trec_eval's ``-c``). If not, the profile has
        the queries that are in both.
    score_dtype : {"float32", "float64"}, optional
        Round the scores to this type first: float64 as trec_eval 10 does, float32 as pytrec_eval and trec_eval 9 do.
        By default a score in a file is the float64 nearest to its text, and floats and integers of any size in a
        dictionary are what they are.
    max_docs : int, optional
        Only so many documents of each query count, those with the highest scores (trec_eval's ``-M``). Where documents
        that tie at the cut have different judgements, it is not decided which of them count, and ValueError is raised;
        a measure with a cutoff, such as ``mAP@1000``, has bounds there.

    Returns
    -------
    TieProfile
        The queries of the qrels in their order and, if `complete`, then the queries of the run that the qrels do not
        have. `query_ids` names them. A relevant document that was not retrieved counts in `n_relevant` and in no group.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        If a file breaks its form (the message names file and line), a score is not finite, a document is listed
        twice for a query, or run and qrels have no query in common.
    TypeError
        If a dictionary or a table holds something other than the above.

    Notes
    -----
    Files are text in UTF-8, fields separated by blanks or tabs, blank lines and lines that begin with # skipped; gzip
    is recognised.

    Ties: documents tie when their scores are the same number. As float32, 0.5 and 0.500000001 are. trec_eval and
    pytrec_eval rank tied documents by their id, descending; here a tie is a tie, and their value is between the bounds.

    Undefined: a query without a relevant document, or without judgements, is a singleton.

    Examples
    --------
    Document b is relevant and tied with c, behind a. Document d is relevant and was not retrieved:

    >>> profile = profile_run({"q1": {"a": 0.9, "b": 0.5, "c": 0.5}}, {"q1": {"b": 1, "d": 1}})
    >>> profile.closer, profile.tied, profile.n_relevant
    (array([1]), array([2]), array([2]))

    So b is at rank 2 or 3, and AP is (1/2)/2 or (1/3)/2:

    >>> from deadheat.measures import per_query
    >>> print(*(f"{value[0]:.4f}" for value in per_query(profile, "AP")))
    0.1667 0.2083 0.2500
    """
    options = RunOptions.checked(rel, judged_only, complete, score_dtype, max_docs)
    scores, judged = open_both(run, qrels)
    queries = list(dict.fromkeys([*judged, *scores])) if options.complete else [q for q in judged if q in scores]
    return at_level(profile_tables(scores, judged, queries, options), options.rel)


def open_both(run: Path | Table, qrels: Path | Table) -> tuple[Checked, Checked]:
    """A run and qrels, which must have a query in common."""
    scores, judged = trec.open_run(run), trec.open_qrels(qrels)
    if not scores.keys() & judged.keys():
        came = f"the run has {checks.few(scores)} and the qrels have {checks.few(judged)}"
        raise InvalidValueError("run and qrels", f"must have a query in common, but {came}")
    return scores, judged


def profile_tables(scores: Checked, judged: Checked, queries: Sequence[str], options: RunOptions) -> TieProfile:
    """The profile of some queries, at least one, with all grades, whatever ``options.rel`` is."""
    relevant = {query: {d: grade for d, grade in judged.get(query, {}).items() if grade > 0} for query in queries}
    grades = {grade for row in relevant.values() for grade in row.values()}
    grade_values = np.array(sorted(grades) or [1], dtype=np.int64)
    by_grade = np.zeros((len(queries), len(grade_values)), dtype=np.int64)
    for counts, row in zip(by_grade, relevant.values(), strict=True):
        np.add.at(counts, np.searchsorted(grade_values, list(row.values())), 1)
    blocks = []
    for query in queries:
        known, ranked = judged.get(query, {}), scores.get(query, {})
        if options.max_docs is not None and len(ranked) > options.max_docs:
            ranked = _first(options.max_docs, ranked, known, query, options.score_dtype)
        if options.judged_only:
            ranked = {d: ranked[d] for d, grade in known.items() if grade >= 0 and d in ranked}
        keys = keys_of_numbers(list(ranked.values()), options.score_dtype)
        of_ranked = np.fromiter(map(relevant[query].get, ranked, repeat(0)), np.int64, len(ranked))
        blocks.append(count_keys(keys[None], of_ranked[None], grade_values))
    return assemble(blocks, grade_values, by_grade, tuple(queries))


def profile_judged_documents(
    scores: Checked, judged: Checked, queries: Sequence[str], options: RunOptions
) -> TieProfile:
    """The profile of judged documents alone, with the irrelevant ones that were not retrieved behind all others."""
    profile = profile_tables(scores, judged, queries, options._replace(judged_only=True))
    irrelevant = [sum(grade == 0 for grade in judged.get(query, {}).values()) for query in queries]
    found = np.bincount(profile.query_of_group, profile.tied_relevant, profile.n_query).astype(np.int64)
    return replace(profile, n_ranked=found + np.array(irrelevant, dtype=np.int64))


def _first(
    most: int, scores: dict[str, Any], grades: dict[str, int], query: str, dtype: ScoreDtype | None
) -> dict[str, Any]:
    keys, items = keys_of_numbers(list(scores.values()), dtype), list(scores)
    last = np.partition(keys, len(keys) - most)[len(keys) - most]
    tied = np.flatnonzero(keys == last)
    room = most - int(np.count_nonzero(keys > last))
    if room < len(tied) and len({grades.get(items[i], -1) for i in tied}) > 1:
        raise InvalidValueError(
            "max_docs",
            f"must not cut through documents that tie and have different judgements, but query {query!r} has "
            f"{len(tied)} at rank {most}; measures with a cutoff, such as mAP@{most}, have bounds there",
        )
    chosen = np.concatenate([np.flatnonzero(keys > last), tied[:room]])
    return {items[i]: scores[items[i]] for i in chosen}


def keys_of_numbers(numbers: list[Any], dtype: ScoreDtype | None) -> Int64:
    """As `keys_of`, for Python numbers; where integers are among them that stay, their places in sorted order."""
    if dtype is not None:
        with np.errstate(over="ignore"):  # too large for float32 is infinity, as in C
            return keys_of(np.array(list(map(nearest_float64, numbers)), dtype=np.float64).astype(dtype), "descending")
    if set(map(type, numbers)) <= {float}:
        return keys_of(np.array(numbers, dtype=np.float64), "descending")
    place = {number: i for i, number in enumerate(sorted(set(numbers)))}
    return np.array([place[number] for number in numbers], dtype=np.int64)


def nearest_float64(number: float) -> float:
    """The nearest float64, infinity for an integer that is beyond them."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
