"""`from_run`: a TREC run and its qrels. `from_lists`: ranked lists of ids without scores.

run, qrels ──opened──> dictionaries ──keys, grades of one query (`run_tables`)──> groups ─> profile
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

from deadheat.engine.evaluable import Origin
from deadheat.engine.literals import ScoreTiesName
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources import unmatched
from deadheat.engine.sources.counted import CountedTask, labels_of
from deadheat.engine.sources.run_tables import RunOptions, RunTables, Unjudged, in_common, is_unknown
from deadheat.engine.ties.rule import Ties
from deadheat.inputs import trec
from deadheat.inputs.row_columns import ColumnMap
from deadheat.inputs.samples import QueryLabels
from deadheat.inputs.trec import Checked, Documents, Path, Repeats, Table
from deadheat.support.caching import cached_property
from deadheat.support.floats import plain_floats


@plain_floats
def from_run(
    run: Path | Table,
    qrels: Path | Table,
    *,
    rel: float | None = None,
    unjudged: Unjudged = "irrelevant",
    complete: bool = True,
    ties: ScoreTiesName | Ties = "exact",
    max_docs: int | None = None,
    order: Literal["descending", "ascending"] = "descending",
    exclude: Literal["itself"] | Mapping[str, Collection[str]] | None = None,
    repeats: Repeats | None = None,
    documents: Documents | None = None,
    columns: ColumnMap | None = None,
    qrels_columns: ColumnMap | None = None,
    labels: QueryLabels | None = None,
    threads: int | None = None,
) -> RunTask:
    """Make a task of a TREC run and its qrels.

    Parameters
    ----------
    run : path, dict, data frame or iterable of named tuples
        Lines ``qid Q0 docid rank score tag``, or ``{query_id: {doc_id: score}}``, or rows with ``query_id``,
        ``doc_id`` and ``score``, or with other names that the field has for them; also a ranx ``Run``. Or the hits of
        each query, ``{query_id: hits}``, as engines return them: a list of dictionaries, objects, or pairs of an id
        and a score, or a response that holds one. A file is known by its beginning: TREC, MS MARCO, JSON, JSON lines,
        Parquet, or names in the first line. Scores decide, highest first; a rank is read only where there is no
        score, and lists without either are rankings. Integer ids are their decimal text.
    qrels : path, dict, data frame or iterable of named tuples
        Lines ``qid iter docid rel``, or any other form of a run, with ``relevance``; also a ranx ``Qrels``, or the
        relevant documents of each query, ``{query_id: {doc_id, ...}}``. An entry may be a set or list of alternatives,
        ``{query_id: [{"a", "b"}, "c"]}``: one relevant item, which is found where the first of them is. Grades
        are numbers such as 2 or 0.25; 0, integers below, and documents that are not listed, are irrelevant. Queries
        that the qrels do not have are left out, and a report says how many.
    rel : int or float, optional
        The least gain that is relevant (trec_eval's ``-l``), for measures that do not give their own; by default
        every gain above 0. The gains of nDCG are the grades, whatever `rel` is, as in trec_eval.
    unjudged : {"irrelevant", "junk", "unknown"} or float
        What documents of the run without a judgement are; a grade below 0 is none, as in trec_eval. Irrelevant; taken
        out of the run, which leaves a condensed list (``"junk"``, trec_eval's ``-J``); or unknown: each is irrelevant
        or relevant, and the bounds hold over all of these worlds and the ties together. If relevant, its gain is the
        largest that is judged, or the number that is given in place of ``"unknown"``.
    complete : bool
        Whether queries of the qrels that are not in the run count, as 0 (trec_eval's ``-c``).
    ties : {"exact", "float16", "bfloat16", "float32", "float64"}, Rounded or Tolerance
        As in `from_scores`: "float32" compares scores as pytrec_eval and trec_eval 9 do, "float64" as trec_eval 10
        does. By default a score in a file is the float64 nearest to its text, and floats and integers of any size
        in a dictionary are used unchanged.
    max_docs : int, optional
        The number of documents of each query that count, those with the highest scores (trec_eval's ``-M``). If
        documents that tie at the cut have different judgements, it is not decided which of them count, and
        ValueError is raised; a measure with a cutoff, such as ``mAP@1000``, has bounds there.
    order : {"descending", "ascending"}
        Whether the best score is the highest, or, as for distances, the lowest.
    exclude : "itself" or dict, optional
        Documents that are neither ranked nor relevant: that with the id of the query (``ignore_identical_ids`` of BEIR
        and MTEB), or those of each query, ``{query_id: [doc_id, ...]}``. By default a report says where queries are
        ranked for themselves.
    repeats : {"max", "first"}, optional
        What a document is that the run lists several times, such as once for each of its chunks: its best entry,
        which has the highest score ("max") and comes first in the ranking ("first", the same), however the run is
        sorted. By default a document with two scores is refused.
    documents : dict or path, optional
        The document of each chunk, where the run has ids of chunks and the qrels have those of documents:
        ``{chunk_id: doc_id}``, or a file with both in each line.
    columns, qrels_columns : dict, optional
        The columns of the run, and of the qrels, that have no usual names: ``{"query": ..., "document": ...,
        "score": ...}``, with "relevance" in place of "score" for qrels. Each is a name, also that of a field of hits,
        or, in a file whose first line has no names, a place from 0. ``"separator"`` splits a cell with several
        documents, best first, such as ``" "``, and ``"order": "ascending"`` is for distances and e-values.
    labels : dict or (n_query,), optional
        The label of each query, such as its type, by its id, ``{query_id: label}``, or in the order of the qrels,
        for means over classes. The classes are then the independent units of `Report.interval` and
        `deadheat.compare`.
    threads : int, optional
        Worker threads of every question. By default as many as this process may use.

    Returns
    -------
    CountedTask
        Of the queries of the qrels in their order; `query_ids` of its profile names them. A relevant document that
        was not retrieved counts in `n_relevant` and in no group. The profile has all grades.

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
    Files are text in UTF-8, fields separated by blanks or tabs, blank lines and lines that begin with # skipped;
    gzip is recognised.

    Ties: documents tie when their scores are the same number. As float32, 0.5 and 0.500000001 are. trec_eval and
    pytrec_eval rank tied documents by their id, descending; here a tie is a tie, and their value is between the
    bounds. For the mean that trec_eval prints, take ``complete=False`` and ``evaluate(task, singletons="zero")``
    and, where scores are read as float32 (pytrec_eval, trec_eval 9), ``ties="float32"``.

    bpref is over the judged documents alone, whatever `unjudged` is.

    With unknown documents there is no expected value, unless their relevance does not matter. Documents that were not
    retrieved stay irrelevant; `deadheat.compare` and `leaderboard` take those that another system retrieved as unknown,
    too. Bounds are those of one gain: the lower one also holds for all smaller ones.

    Alternatives: every measure is defined, of the positions of the first ones; further ones keep their positions, and
    are as if nobody had judged them. A tie for the first place among the alternatives of one item is refused.

    Undefined: a query without a relevant document, or without judgements, is a singleton.

    Examples
    --------
    Document b is relevant and tied with c. Of q2 the run has nothing:

    >>> from deadheat import evaluate
    >>> run = {"q1": {"a": 0.9, "b": 0.5, "c": 0.5}}
    >>> qrels = {"q1": {"b": 2, "a": 1}, "q2": {"a": 1}}
    >>> print(evaluate(from_run(run, qrels), "AP AP(rel=2) nDCG@10"))
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
    options = RunOptions.checked(rel, unjudged, complete, ties, max_docs, exclude)  # before files are read
    opened = in_common(
        trec.open_run(run, repeats=repeats, documents=documents, columns=columns, order=order),
        trec.open_qrels(qrels, columns=qrels_columns, alternatives=True),
    )
    return RunTask("a run", Run(*opened), _settings(options) | {"labels": labels, "threads": threads})


@plain_floats
def from_lists(
    ranked_ids: Any,
    relevant_ids: Any,
    *,
    unjudged: Unjudged = "irrelevant",
    exclude: Literal["itself"] | Mapping[str, Collection[str]] | None = None,
    repeats: Repeats | None = None,
    documents: Documents | None = None,
    labels: QueryLabels | None = None,
    threads: int | None = None,
) -> RunTask:
    """Make a task of ranked lists of ids without scores, such as those of an agent's memory.

    Parameters
    ----------
    ranked_ids : (n_query,) lists of ids, or a dict of such by query id
        What was found for each query, best first: strings or integers, as many as there are. A set of ids is a tied
        group, and so is a list or tuple among ids; a ranking of pairs alone is refused, as they may be hits, such
        as (id, text). The integer -1, with which faiss fills short rows, is nothing, and so is None for a whole list.
    relevant_ids : (n_query,) collections of ids, or dicts of id to grade; or a dict of such by query id
        What is relevant to each query. A set or list among ids has alternatives, as in `from_run`: one relevant item,
        which is found where the first of them is.
    unjudged : {"irrelevant", "junk", "unknown"} or float
        As in `from_run`: what found documents are that `relevant_ids` does not have. Dicts can have grade 0 for those
        that were judged to be irrelevant.
    exclude : "itself" or dict, optional
        As in `from_run`; "itself" is the id of the query, in a dictionary.
    repeats : {"max", "first"}, optional
        A document that a list has several times is ranked where it comes first; "max" is another word for it. By
        default it is refused.
    documents : dict or path, optional
        The document of each chunk, where ids are those of chunks: as in `from_run`, mostly with `repeats`.
    labels : dict or (n_query,), optional
        As in `from_run`.
    threads : int, optional
        Worker threads of every question. By default as many as this process may use.

    Returns
    -------
    CountedTask
        Of the queries of `relevant_ids`. A relevant document that was not found counts in `n_relevant` and in no
        group.

    Notes
    -----
    Ties: places count, so that nothing ties but the ids of a group. Integer ids are their decimal text.

    Undefined: a query without a relevant document is a singleton.

    Examples
    --------
    Two memories for the first query, of which one is relevant; one for the second, at rank 2 or 3:

    >>> task = from_lists([["m1", "m2"], ["m3", {"m4", "m5"}]], [["m1", "m9"], ["m4"]])
    >>> task.profile.closer, task.profile.tied, task.profile.n_relevant
    (array([0, 1]), array([1, 2]), array([2, 1]))
    """
    options = RunOptions.checked(unjudged=unjudged, exclude=exclude)
    opened = in_common(*trec.open_lists(ranked_ids, relevant_ids, repeats=repeats, documents=documents))
    settings = {"unjudged": options.unjudged, "exclude": exclude, "labels": labels, "threads": threads}
    return RunTask("lists", Run(*opened, ("ranked_ids", "relevant_ids"), unmatched.SPELLING), settings)


def task_of_tables(scores: Checked, judged: Checked, options: RunOptions) -> RunTask:
    """Return the task of a run and qrels that are open."""
    return RunTask("a run", Run(scores, judged), _settings(options))


def _settings(options: RunOptions) -> dict[str, Any]:
    return {"ties" if name == "rule" else name: value for name, value in options._asdict().items()}


class Run(NamedTuple):
    """The tables of a run and its qrels, or of lists, and the names of both in a remark."""

    scores: Checked
    judged: Checked
    sides: tuple[str, str] = ("the run", "the qrels")
    advice: str = unmatched.CHUNKS

    def tables(self, labels: Any = None, threads: int | None = None, **options: Any) -> RunTables:
        """Return the tables with checked options; labels and threads are no part of them."""
        return RunTables.of(self.scores, self.judged, RunOptions.checked(**options))

    def counts(self, *, labels: Any = None, **settings: Any) -> tuple[TieProfile, Origin]:
        tables = self.tables(**settings)
        remarks, profile = unmatched.of_run(tables, self.sides, self.advice), tables.profile()
        return profile, Origin(
            labels_of(profile, labels), tables.options.rule.describe(), tuple(remarks), coverage=tables.coverage,
            pool=tables.unjudged_documents if is_unknown(tables.options.unjudged) else None,
        )  # fmt: skip


class RunTask(CountedTask):
    """A task of documents that are ranked for queries, of which some are judged."""

    _opened: Run
    is_run = True

    @cached_property
    def run(self) -> RunTables:
        """The scores and the judgements, with the options of the run."""
        return self._opened.tables(**self._settings)

    @cached_property
    def _judged(self) -> TieProfile:
        return self.run.profile_of_judged_documents()

    @property
    def rel(self) -> float | None:  # type: ignore[override]
        """The least gain that is relevant; None for every one above 0."""
        return self.run.options.rel

    @property
    def origin(self) -> Origin:
        """The facts that a report on this task states."""
        remarks = (*_lacking(self.run), *trec.remarks_of(self.run.scores, self.run.judged), *self.remarks)
        return super().origin._replace(
            remarks=remarks, separate_gallery=self.labels is None,  # classes that are given are the units
            judged=self._judged, rel=self.rel,
        )  # fmt: skip


def _lacking(run: RunTables) -> list[str]:
    """Return remarks on queries that are in one of the tables alone."""
    n_judged, n_missing = len(run.judged), len(run.judged.keys() - run.scores)
    n_unjudged, remarks = len(run.scores.keys() - run.judged), []
    if n_missing:
        is_not, them = ("is not", "it") if n_missing == 1 else ("are not", "them")
        said = f": nothing is retrieved for {them}" if run.options.complete else ", and left out"
        remarks.append(f"{n_missing} of {_queries(n_judged)} of the qrels {is_not} in the run{said}.")
    if n_unjudged:
        is_not = "is not" if n_unjudged == 1 else "are not"
        remarks.append(f"{_queries(n_unjudged)} of the run {is_not} in the qrels, and left out.")
    return remarks


def _queries(n: int) -> str:
    return f"{n} {'query' if n == 1 else 'queries'}"
