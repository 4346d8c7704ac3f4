"""`evaluate_run`: from a TREC run and its qrels to a report; and `by_rule`, what one way of breaking ties would give.

run, qrels ──counting.runs──> TieProfile ──measures──> Report
run, qrels ──each query sorted as a rule sorts it──> a run without ties ──> values by measure
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from deadheat.engine.counting.runs import (
    RunOptions,
    ScoreDtype,
    keys_of_numbers,
    open_both,
    profile_judged_documents,
    profile_tables,
)
from deadheat.errors import UndefinedError
from deadheat.inputs.trec import Checked, Path, Table
from deadheat.reports.averaging import Singletons, SummaryOptions
from deadheat.reports.report import Report
from deadheat.reports.tables import count
from deadheat.support import checks
from deadheat.support.floats import plain_floats

RUN_MEASURES = ("mAP", "nDCG@10", "MRR", "P@10", "R-Precision", "Recall@100")


@plain_floats
def evaluate_run(
    run: Path | Table,
    qrels: Path | Table,
    *,
    measures: str | Iterable[str] | None = None,
    rel: int = 1,
    judged_only: bool = False,
    complete: bool = True,
    singletons: Singletons = "skip",
    score_dtype: ScoreDtype | None = None,
    max_docs: int | None = None,
    by_id: bool = False,
    threads: int | None = None,
) -> Report:
    """Average measures of a TREC run over the queries of its qrels.

    Parameters
    ----------
    run : path, dict, data frame or iterable of named tuples
        Lines ``qid Q0 docid rank score tag``, or ``{query_id: {doc_id: score}}``, or rows with ``query_id``, ``doc_id``
        and ``score``; also a ranx ``Run``. Scores decide, highest first, and the rank is not read.
    qrels : path, dict, data frame or iterable of named tuples
        Lines ``qid iter docid rel``, or ``{query_id: {doc_id: grade}}``, or rows with ``query_id``, ``doc_id`` and
        ``relevance``; also a ranx ``Qrels``. Queries that they do not have are left out, and the report says how many.
    measures : str or iterable of str, optional
        Names such as ``"AP"``, ``"nDCG@10"``, ``"P(rel=2)@5"``, those of trec_eval (``"ndcg_cut_10"``) too, or one
        string with blanks or commas between them. Default mAP, nDCG@10, MRR, P@10, R-Precision, Recall@100.
    rel : int
        The least grade that is relevant (trec_eval's ``-l``), for measures that do not give their own. The gains of
        nDCG are the grades, whatever `rel` is, as in trec_eval.
    judged_only : bool
        Whether documents without a judgement are taken out of the run (trec_eval's ``-J``).
    complete : bool
        Whether queries of the qrels count of which the run has nothing, as 0 (trec_eval's ``-c``).
    singletons : {"skip", "zero", "one", "balanced"}
        What a query without a relevant document counts as: see `deadheat.measure`. trec_eval, pytrec_eval, ir_measures
        and ranx count it as 0 (``"zero"``).
    score_dtype : {"float32", "float64"}, optional
        Round the scores to this type first: float64 as trec_eval 10 does, float32 as pytrec_eval and trec_eval 9 do.
        By default they are what they are.
    max_docs : int, optional
        Only so many documents of each query count, those with the highest scores (trec_eval's ``-M``).
    by_id : bool
        Whether the table has a column of what trec_eval prints: the values once tied documents are ranked by their id,
        the last in the alphabet first.
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use.

    Returns
    -------
    Report
        Lower bound, expectation and upper bound of each measure. Intervals take the queries as independent units.

    Raises
    ------
    OSError, ValueError, TypeError
        As `deadheat.profile_run`; if a name is unknown or an option is not one of those above; or if no query has a
        relevant document and such queries are skipped.

    Notes
    -----
    Ties: documents tie when their scores are the same number. For the mean that trec_eval prints, ask for
    ``complete=False, singletons="zero"`` and, where scores are read as float32 (pytrec_eval, trec_eval 9),
    ``score_dtype="float32"``. It ranks tied documents by their id, which is one of the orders that the bounds hold for.

    bpref is over the judged documents alone, whatever `judged_only` is; of a profile without judgements, such as that
    of `deadheat.profile_run`, every document that is not relevant is one that was judged so.

    Undefined: a query without a relevant document, unless `singletons` says otherwise.

    Examples
    --------
    Document b is relevant and tied with c. Of q2 the run has nothing:

    >>> run = {"q1": {"a": 0.9, "b": 0.5, "c": 0.5}}
    >>> qrels = {"q1": {"b": 2, "a": 1}, "q2": {"a": 1}}
    >>> print(evaluate_run(run, qrels, measures="AP AP(rel=2) nDCG@10"))
    measure (%)  lower  expected  upper
    mAP          41.67     45.83  50.00
    mAP(rel=2)   33.33     41.67  50.00
    nDCG@10      38.01     40.50  42.99
    <BLANKLINE>
    2 queries, each with a relevant item.
    mAP(rel=2) is undefined for 1 query with a relevant item, left out of its mean.
    Ties between relevant and irrelevant items: 1 group in 1 query, of 2 items.
    1 of 2 queries of the qrels is not in the run: nothing is retrieved for it.
    """
    options = RunOptions.checked(rel, judged_only, complete, score_dtype, max_docs)
    asked = RUN_MEASURES if measures is None else measures
    summary = SummaryOptions.checked(asked, singletons, rel=options.rel)
    n_thread, with_ids = checks.thread_count(threads), checks.flag(by_id, "by_id")
    scores, judged = open_both(run, qrels)
    report = _report(scores, judged, summary, options)
    report.compute(report.measures, n_thread)
    if not with_ids:
        return report
    return replace(report, by_id=by_rule(BY_ID, scores, judged, summary.measures, singletons, options))


def _report(scores: Checked, judged: Checked, summary: SummaryOptions, options: RunOptions) -> Report:
    """The report on a run and qrels that have been checked."""
    queries = [query for query in judged if options.complete or query in scores]
    profile = profile_tables(scores, judged, queries, options)
    if summary.singletons == "skip" and not profile.n_relevant.any():
        raise UndefinedError(
            f"no query has a relevant document, so that no measure is defined, but got {len(queries)} queries, each "
            "judged without a grade above 0"
        )
    return Report(
        profile,
        summary.measures,
        summary.singletons,
        separate_gallery=True,
        tie_rule=None if options.score_dtype is None else f"{options.score_dtype} scores",
        judged=profile_judged_documents(scores, judged, queries, options),
        rel=options.rel,
        remarks=_remarks(len(judged), len(judged.keys() - scores), len(scores.keys() - judged), options.complete),
    )


def _remarks(n_judged: int, n_missing: int, n_unjudged: int, complete: bool) -> tuple[str, ...]:
    found = []
    if n_missing:
        is_not, them = ("is not", "it") if n_missing == 1 else ("are not", "them")
        what = f": nothing is retrieved for {them}" if complete else ", and left out"
        found.append(f"{n_missing} of {count(n_judged, 'query', 'queries')} of the qrels {is_not} in the run{what}.")
    if n_unjudged:
        is_not = "is not" if n_unjudged == 1 else "are not"
        found.append(f"{count(n_unjudged, 'query', 'queries')} of the run {is_not} in the qrels, and left out.")
    return tuple(found)


BY_ID = "by id, descending"  # as trec_eval
Row = dict[str, Any]  # the scores of a query, in the order of the file

RULES: dict[str, Callable[[Row], list[str]]] = {  # documents, the best first
    "in the order of the file": lambda row: sorted(row, key=lambda each: -row[each]),
    "in the order of the file, reversed": lambda row: sorted(row, key=row.__getitem__)[::-1],
    "by id, ascending": lambda row: sorted(sorted(row), key=lambda each: -row[each]),
    BY_ID: lambda row: sorted(sorted(row, reverse=True), key=lambda each: -row[each]),
}


def by_rule(
    rule: str, scores: Checked, judged: Checked, names: Iterable[str], singletons: Singletons,
    options: RunOptions | None = None,
) -> dict[str, float]:  # fmt: skip
    """Means of measures once a rule has broken every tie.

    Examples
    --------
    >>> tied, judged = {"q": {"b": 1, "a": 1}}, {"q": {"b": 1}}
    >>> [by_rule(rule, tied, judged, ["MRR"], "skip")["MRR"] for rule in RULES]
    [1.0, 0.5, 0.5, 1.0]
    """
    options = options or RunOptions()
    compared = {query: dict(zip(row, keys_of_numbers(list(row.values()), options.score_dtype).tolist(), strict=True))
                for query, row in scores.items()}  # fmt: skip
    ranked = {query: RULES[rule](row) for query, row in compared.items()}
    places = {query: dict(zip(row, range(len(row), 0, -1), strict=True)) for query, row in ranked.items()}
    summary = SummaryOptions.checked(names, singletons, rel=options.rel)
    report = _report(places, judged, summary, options._replace(score_dtype=None))
    return {name: result.lower for name, result in report.items()}
