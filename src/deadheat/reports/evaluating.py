"""`evaluate`: from a task, or the data that make one, to the means of measures over queries.

Task ──counting──> TieProfile ──measures──> Report
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Unpack, overload

from numpy.typing import ArrayLike

from deadheat.engine.evaluable import Evaluable
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.settings import DATA, TaskSettings, require_known, shows_settings
from deadheat.engine.sources.counted import from_profile
from deadheat.engine.task import Task
from deadheat.errors import InvalidTypeError, InvalidValueError, UndefinedError
from deadheat.inputs.samples import EmbeddingsLike, LabelsLike, QueryLabels
from deadheat.reports.averaging import Average, Singletons, SummaryOptions, require_no_measures
from deadheat.reports.report import Report
from deadheat.support import checks
from deadheat.support.floats import plain_floats

Measures = str | Iterable[str] | None
Weights = ArrayLike | Mapping[Any, float] | None

RUN_MEASURES = ("mAP", "nDCG@10", "MRR", "P@10", "R-Precision", "Recall@100", "Judged@10")
_OWN = ("measures", "singletons", "average", "weights")  # arguments of `evaluate` that are no part of a task


@overload
def evaluate(
    task: Evaluable | TieProfile, measures: Measures = None, /, *, singletons: Singletons = ..., average: Average = ...,
    weights: Weights = ...,
) -> Report: ...  # fmt: skip


@overload
def evaluate(
    task: Evaluable | TieProfile, /, *, measures: Measures, singletons: Singletons = ..., average: Average = ...,
    weights: Weights = ...,
) -> Report: ...  # fmt: skip


@overload
def evaluate(
    profile: TieProfile, measures: Measures = None, /, *, labels: QueryLabels, singletons: Singletons = "skip",
    average: Average = "query", weights: Weights = None, threads: int | None = None,
) -> Report: ...  # fmt: skip


@overload
def evaluate(
    embeddings: EmbeddingsLike, labels: LabelsLike | None = None, gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None, *, measures: Measures = None, singletons: Singletons = "skip",
    average: Average = "query", weights: Weights = None, **settings: Unpack[TaskSettings],
) -> Report: ...  # fmt: skip


@plain_floats
@partial(shows_settings, data=True)
def evaluate(
    task: Any = None,
    /,
    *more: Any,
    measures: Measures = None,
    singletons: Singletons = "skip",
    average: Average = "query",
    weights: Weights = None,
    **settings: Any,
) -> Report:
    """Rank the gallery for each query, and average each measure over the queries.

    ``evaluate(task, measures)``, or in one line ``evaluate(embeddings, labels, measures=...)``, which makes the task:
    it takes all arguments of `deadheat.Task`. A `TieProfile`, perhaps with ``labels=`` and ``threads=``, is evaluated
    as it is.

    Parameters
    ----------
    embeddings : Task, TieProfile or (n_query, dim) array
        A task, as `Task` and the functions ``from_...`` make it, a profile, or embeddings in any form that
        `deadheat.Task` takes.
    labels, gallery, gallery_labels : (n,) labels, and (n_gallery, dim) array, optional
        With embeddings, the further data of `deadheat.Task`. After a task or a profile the second argument is
        `measures`.
    measures : str or iterable of str, optional
        Names such as ``"mAP"``, ``"Hit@1"`` or ``"nDCG@10"``, or one string with commas between them. By default
        `deadheat.measures.DEFAULT_MEASURES`; for a run mAP, nDCG@10, MRR, P@10, R-Precision, Recall@100 and
        Judged@10, for lists the same without the last.
    singletons : {"skip", "zero", "one", "balanced"}
        The value of a query without a relevant item. ``"skip"``: NaN, which does not count (the paper's "chop").
        ``"zero"`` (its "null"; trec_eval, pytrec_eval, ir_measures and ranx) and ``"one"`` (its "perfect"): that value,
        in the means and per query. ``"balanced"``: 0 for measures of the precision kind and 1 for those of the recall
        kind.
    average : {"query", "class"}
        The mean over queries, or the mean over classes of the mean over the queries of a class. A class without a
        query that counts does not count.
    weights : (n_query,) or dict, optional
        The weights of the queries in a mean over queries, such as their traffic, or ``{query_id: weight}``; see
        `Report.weighted`. By default each query counts once.
    **settings : arguments
        With embeddings, those of `deadheat.Task`, such as ``distance="euclidean"``; see there.

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
    if isinstance(task, TieProfile):
        task = from_profile(task, **settings)
        settings = {}
    if isinstance(task, Evaluable):
        if len(more) > 1 or (more and measures is not None):
            raise InvalidTypeError("evaluate", "must be given a task and measures, and options by name")
        measures = more[0] if more else measures
        usual = RUN_MEASURES if task.source == "a run" else RUN_MEASURES[:-1]  # lists are mostly of relevant ids alone
        names = usual if measures is None and task.is_run else measures
        summary = SummaryOptions.checked(names, singletons, average, rel=task.rel)
        _refuse_settings(task, settings)
        return report_of(task, summary, weights)
    require_no_measures(more[1] if len(more) > 1 else settings.get("gallery"), "gallery", "embeddings")
    summary = SummaryOptions.checked(measures, singletons, average)
    require_known(settings, "evaluate", (*DATA, *_OWN))
    if task is None and "embeddings" not in settings:
        raise InvalidTypeError("task", "must be given: a Task, a TieProfile, or embeddings with labels")
    return report_of(Task(*(() if task is None else (task, *more)), **settings), summary, weights)


def _refuse_settings(task: Evaluable, settings: dict[str, Any]) -> None:
    """Refuse settings next to a task, to which they belong."""
    require_known(settings, "evaluate", (*DATA, *_OWN))
    has_rows = isinstance(task, Task)
    for name in settings:
        maker = "Task"
        if name == "labels" and not has_rows:
            by_source = {"a run": "from_run(run, qrels", "lists": "from_lists(ranked_ids, relevant_ids"}
            maker = f"{by_source.get(task.source, 'from_profile(task.profile')}, labels=...)"
        raise InvalidTypeError(name, checks.of_task(name, maker, replaced=has_rows))


@plain_floats
def report_of(task: Evaluable, summary: SummaryOptions, weights: Weights = None) -> Report:
    """Return the report on a task."""
    if summary.average == "class" and task.labels is None:
        raise InvalidValueError('average="class"', "needs labels, one for each query")
    if summary.singletons == "skip" and task.is_run and not task.profile.n_relevant.any():
        raise UndefinedError(
            f"no query has a relevant document, so that no measure is defined, but got {task.profile.n_query} queries, "
            "each judged without a grade above 0"
        )
    report = report_on(task.profile, summary, threads=task.threads, **task.origin._asdict())
    return report if weights is None else report.weighted(weights)


def report_on(profile: TieProfile, options: SummaryOptions, *, threads: int, **origin: Any) -> Report:
    """Return the report on a profile, with its measures computed already.

    `origin` has the labels, distance, tie_rule and other fields of the report.
    """
    if options.singletons == "skip" and not profile.n_relevant.any():
        raise UndefinedError(
            f"no query has a relevant item, so that no measure is defined, but got {profile.n_query} queries, "
            "each without a ranked item that is relevant to it"
        )
    report = Report(profile, options.measures, options.singletons, options.average, **origin)
    report._compute(options.measures, threads)
    return report
