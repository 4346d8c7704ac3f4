"""Tie profiles of TREC runs: in come a run and qrels, out goes a `TieProfile` with the names of the queries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deadheat.counting.keyed import KeyedGroups, assemble, count_keys, keys_of
from deadheat.errors import InvalidValueError
from deadheat.inputs import trec
from deadheat.inputs.trec import Path, Table
from deadheat.profiles import TieProfile

Int64 = NDArray[np.int64]


def profile_run(run: Path | Table, qrels: Path | Table) -> TieProfile:
    """Count, for every query of a TREC run and every score at which it has a relevant document, what ties with it.

    Parameters
    ----------
    run : path or dict
        Lines ``qid Q0 docid rank score tag``, or ``{query_id: {doc_id: score}}``. Scores decide, highest first, and
        the rank is not read. In a file a score is the float64 nearest to its text; in a dictionary, floats and
        integers of any size are what they are.
    qrels : path or dict
        Lines ``qid iter docid rel``, or ``{query_id: {doc_id: grade}}``. Grades are integers; 0 and less, and
        documents that are not listed, are irrelevant.

    Returns
    -------
    TieProfile
        The queries of the qrels in their order, also those of which the run has nothing (as trec_eval has them with
        its option -c), then the queries of the run that the qrels do not have. `query_ids` names them. A relevant
        document that was not retrieved counts in `n_relevant` and in no group.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        If a file breaks its form (the message names file and line), a score is not finite, a document is listed
        twice for a query, or run and qrels have no query in common.
    TypeError
        If a dictionary holds something other than the above.

    Notes
    -----
    Files are text in UTF-8, fields separated by blanks or tabs, blank lines skipped; gzip is recognised.

    Ties: documents tie when their scores are equal as float64. trec_eval reads scores as float32, so that there 0.5
    and 0.500000001 tie, and then ranks tied documents by their id, descending; here a tie is a tie.

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
    scores, judged = trec.open_run(run), trec.open_qrels(qrels)
    if not scores.keys() & judged.keys():
        raise InvalidValueError(
            "run and qrels",
            f"must have a query in common, but the run has {_listed(scores)} and the qrels have {_listed(judged)}",
        )
    relevant = {query: {item: grade for item, grade in row.items() if grade > 0} for query, row in judged.items()}
    grades = {grade for row in relevant.values() for grade in row.values()}
    grade_values = np.array(sorted(grades) or [1], dtype=np.int64)
    queries = list(dict.fromkeys([*judged, *scores]))
    blocks = [_count_query(scores.get(query, {}), relevant.get(query, {}), grade_values) for query in queries]
    by_grade = np.zeros((len(queries), len(grade_values)), dtype=np.int64)
    for counts, query in zip(by_grade, queries, strict=True):
        np.add.at(counts, np.searchsorted(grade_values, list(relevant.get(query, {}).values())), 1)
    return assemble(blocks, grade_values, by_grade, tuple(queries))


def _count_query(scores: dict[str, float], relevant: dict[str, int], grade_values: Int64) -> KeyedGroups:
    """The tie groups of one query."""
    grades = np.array([relevant.get(item, 0) for item in scores], dtype=np.int64)
    return count_keys(_keys_of_numbers(list(scores.values()))[None], grades[None], grade_values)


def _keys_of_numbers(numbers: list[float]) -> Int64:
    """As `keys_of`, for Python numbers; where integers are among them, their places in sorted order."""
    if all(type(number) is float for number in numbers):
        return keys_of(np.array(numbers, dtype=np.float64), "descending")
    place = {number: i for i, number in enumerate(sorted(set(numbers)))}
    return np.array([place[number] for number in numbers], dtype=np.int64)


def _listed(table: Table) -> str:
    """How many queries, and the first of them."""
    return f"{len(table)} ({', '.join(map(repr, list(table)[:3]))}{', …' if len(table) > 3 else ''})"
