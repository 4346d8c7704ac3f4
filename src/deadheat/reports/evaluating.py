"""`evaluate`: from a task, or the data that make one, to the means of measures over queries.

Task ──counting──> TieProfile ──measures──> Report
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, overload

from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.task import DATA, Task, require_known
from deadheat.errors import InvalidTypeError, InvalidValueError, UndefinedError
from deadheat.inputs.samples import EmbeddingsLike, LabelsLike, QueryLabels
from deadheat.reports.averaging import Average, Singletons, SummaryOptions, require_no_measures
from deadheat.reports.report import Report
from deadheat.support import checks
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import lazy

if TYPE_CHECKING:
    from deadheat.reports import runs
else:
    runs = lazy("deadheat.reports.runs")

Measures = str | Iterable[str] | None

_OTHERS = (*DATA, "measures", "singletons", "average")  # arguments of `evaluate` that are no settings of a task


@overload
def evaluate(
    task: Task | TieProfile, measures: Measures = None, /, *, singletons: Singletons = ..., average: Average = ...
) -> Report: ...


@overload
def evaluate(
    task: Task | TieProfile, /, *, measures: Measures, singletons: Singletons = ..., average: Average = ...
) -> Report: ...


@overload
def evaluate(
    profile: TieProfile, measures: Measures = None, /, *, labels: QueryLabels, singletons: Singletons = "skip",
    average: Average = "query", threads: int | None = None,
) -> Report: ...  # fmt: skip


@overload
def evaluate(
    embeddings: EmbeddingsLike, labels: LabelsLike | None = None, gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None, *, measures: Measures = None, singletons: Singletons = "skip",
    average: Average = "query", **settings: Any,
) -> Report: ...  # fmt: skip


@plain_floats
def evaluate(
    task: Any = None,
    /,
    *more: Any,
    measures: Measures = None,
    singletons: Singletons = "skip",
    average: Average = "query",
    **settings: Any,
) -> Report:
    """Rank the gallery for each query, and average each measure over the queries.

    ``evaluate(task, measures)``, or in one line ``evaluate(embeddings, labels, measures=...)``, which makes the task:
    it takes all arguments of `deadheat.Task`. A `TieProfile`, perhaps with ``labels=``, is evaluated as it is.

    Parameters
    ----------
    task : Task, TieProfile or embeddings
        What is ranked, which items are relevant, and what counts as a tie.
    *more : arguments
        After a task or a profile, `measures`. After embeddings, labels, gallery and gallery_labels as in
        `deadheat.Task`.
    measures : str or iterable of str, optional
        Names such as ``"mAP"``, ``"Hit@1"`` or ``"nDCG@10"``, or one string with commas between them. By default
        `deadheat.measures.DEFAULT_MEASURES`; for a run mAP, nDCG@10, MRR, P@10, R-Precision and Recall@100.
    singletons : {"skip", "zero", "one", "balanced"}
        The value of a query without a relevant item. ``"skip"``: NaN, which does not count (the paper's "chop").
        ``"zero"`` (its "null"; trec_eval, pytrec_eval, ir_measures and ranx) and ``"one"`` (its "perfect"): that value,
        in the means and per query. ``"balanced"``: 0 for measures of the precision kind and 1 for those of the recall
        kind.
    average : {"query", "class"}
        The mean over queries, or the mean over classes of the mean over the queries of a class. A class without a
        query that counts does not count.
    **settings : arguments
        With embeddings, those of `deadheat.Task`, such as ``distance="euclidean"``. With a profile, ``labels=`` and
        ``threads=``.

    Returns
    -------
    Report
        Lower bound, expectation and upper bound of each measure.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or no query has a relevant item and `singletons` is ``"skip"``. Names of
        measures, `singletons` and `average` are checked before the work begins.

    Examples
    --------
    Three points on a line, two of them of one class. Seen from 0, the points -1 and 1 are equally far:

    >>> report = evaluate([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean", measures=["mAP"])
    >>> report["mAP"].lower, report["mAP"].expected, report["mAP"].upper
    (0.75, 0.875, 1.0)

    The same in two steps, when there is more to ask:

    >>> task = Task([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean")
    >>> evaluate(task, "mAP")["mAP"].expected
    0.875
    """
    if isinstance(task, (Task, TieProfile)):
        if len(more) > 1 or (more and measures is not None):
            raise InvalidTypeError("evaluate", "must be given a task and measures, and options by name")
        measures = more[0] if more else measures
        summary = SummaryOptions.checked(_default(task, measures), singletons, average, rel=_level(task))
        return report_of(_as_task(task, settings), summary)
    require_no_measures(more[1] if len(more) > 1 else settings.get("gallery"), "gallery", "embeddings")
    summary = SummaryOptions.checked(measures, singletons, average)
    require_known(settings, "evaluate", _OTHERS)
    if task is None and "embeddings" not in settings:
        raise InvalidTypeError("task", "must be given: a Task, a TieProfile, or embeddings with labels")
    return report_of(Task(*(() if task is None else (task, *more)), **settings), summary)


def _default(task: Task | TieProfile, measures: Measures) -> Measures:
    return runs.MEASURES if measures is None and isinstance(task, Task) and task.run is not None else measures


def _level(task: Task | TieProfile) -> float | None:
    """Return the least gain that is relevant; None for every one above 0."""
    return task.run.options.rel if isinstance(task, Task) and task.run is not None else None


def _as_task(task: Task | TieProfile, settings: dict[str, Any]) -> Task:
    """Return the task itself, or that of a profile; only with a profile are further settings allowed."""
    if isinstance(task, TieProfile):
        return Task.from_profile(task, **settings)
    require_known(settings, "evaluate", _OTHERS)
    for name in settings:
        maker = "Task"
        if name == "labels" and not task.has_rows:
            by_source = {"a run": "from_run(run, qrels", "lists": "from_lists(ranked_ids, relevant_ids"}
            maker = f"Task.{by_source.get(task.source, 'from_profile(task.profile')}, labels=...)"
        raise InvalidTypeError(name, checks.of_task(name, maker, replaced=task.has_rows))
    return task


@plain_floats
def report_of(task: Task, summary: SummaryOptions) -> Report:
    """Return the report on a task."""
    if summary.average == "class" and task.labels is None:
        raise InvalidValueError('average="class"', "needs labels, one for each query")
    if task.run is not None:
        return runs.report_on_run(task, summary)
    if not task.has_rows:
        rule = task.tie_rule or ("tolerance" if task.profile.bounds_only else None)
        return report_on(
            task.profile, summary, labels=task.labels, tie_rule=rule, threads=task.threads,
            knows_gallery=task.knows_gallery, remarks=task.remarks,
        )  # fmt: skip
    options = task.options
    return report_on(
        task.profile,
        summary,
        labels=task.labels,
        distance=options.distance,
        tie_rule=task.tie_rule,
        source=task.source,
        files=task.files,
        n_in_gallery=task.n_in_gallery,
        n_excluded=task.n_excluded,
        separate_gallery=task.has_gallery and not task.n_in_gallery and not task.n_excluded,
        remarks=task.remarks,
        threads=task.threads,
    )


def report_on(profile: TieProfile, options: SummaryOptions, *, threads: int, **origin: Any) -> Report:
    """Return the report on a profile, with its measures computed already.

    `origin` has the labels, distance, tie_rule and other fields of the report.
    """
    if options.singletons == "skip" and not profile.n_relevant.any():
        raise UndefinedError(
            f"no query has a relevant item, so that no measure is defined, but got {profile.n_query} queries, "
            "each without a ranked item of its own label"
        )
    report = Report(profile, options.measures, options.singletons, options.average, **origin)
    report._compute(options.measures, threads)
    return report
