"""`evaluate` and `measure`: from embeddings, or from a tie profile, to the means over queries that people quote.

embeddings, labels ──counting──> TieProfile ──measures──> Report
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from numpy.typing import ArrayLike

from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.own_gallery import queries_in_gallery
from deadheat.engine.counting.profiling import profile_pair
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Ties
from deadheat.errors import InvalidTypeError, InvalidValueError, UndefinedError
from deadheat.inputs.item_ids import OwnRows
from deadheat.inputs.samples import EmbeddingsLike, LabelsLike, Pair, open_pair
from deadheat.reports.averaging import Average, Singletons, SummaryOptions, checked_labels
from deadheat.reports.report import Report
from deadheat.support import checks
from deadheat.support.floats import plain_floats


@plain_floats
def evaluate(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    measures: str | Iterable[str] | None = None,
    distance: str = "cosine",
    ties: str | Ties = "exact",
    junk: ArrayLike | None = None,
    exclude: OwnRows | None = None,
    singletons: Singletons = "skip",
    average: Average = "query",
    threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    checkpoint: str | os.PathLike[str] | None = None,
    device: Any = None,
    executor: Any = None,
) -> Report:
    """Rank the gallery for each query by distance, and average each measure over the queries.

    The same as `measure(profile(...))`.

    Parameters
    ----------
    embeddings, labels, gallery, gallery_labels
        As in `deadheat.profile`: arrays or files. Without a gallery, each query is ranked against all others.
    measures : str or iterable of str, optional
        Names such as ``"mAP"``, ``"Hit@1"``, ``"nDCG@10"``, or one string with commas between them; default
        `deadheat.measures.DEFAULT_MEASURES`.
    distance, ties, junk, exclude, threads, progress, checkpoint, device, executor
        As in `deadheat.profile`. By default, items tie whose distances are equal as real numbers. Where the queries are
        in the gallery themselves, ``exclude`` says which row each is; otherwise that is looked for, and said.
    singletons, average
        As in `measure`.

    Returns
    -------
    Report
        Lower bound, expectation and upper bound of each measure.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, or no query has a relevant item. Names of measures, `singletons` and
        `average` are checked before the work begins.

    Examples
    --------
    Three points on a line, two of them of one class. Seen from 0, the points -1 and 1 are equally far:

    >>> report = evaluate([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean", measures=["mAP"])
    >>> report["mAP"].lower, report["mAP"].expected, report["mAP"].upper
    (0.75, 0.875, 1.0)
    """
    summary = SummaryOptions.checked(measures, singletons, average)
    options = CountingOptions.checked(
        distance=distance, ties=ties, junk=junk, threads=threads, progress=progress, checkpoint=checkpoint,
        device=device, exclude=exclude, executor=executor,
    )  # fmt: skip
    return evaluate_pair(open_pair(embeddings, labels, gallery, gallery_labels), options, summary)


@plain_floats
def evaluate_pair(
    pair: Pair, options: CountingOptions, summary: SummaryOptions, n_in_gallery: int | None = None
) -> Report:
    """`evaluate` of queries and a gallery, or of leave one out, that `open_pair` has opened and checked.

    `n_in_gallery` is the number of queries that are in the gallery, where it has been looked for and warned of.
    """
    options = options.fitted(pair)
    if n_in_gallery is None:
        n_in_gallery = queries_in_gallery(pair, options)  # warns before the work begins
    n_excluded = 0 if options.exclude is None else int((options.exclude >= 0).sum())
    return report_on(
        profile_pair(pair, options),
        summary,
        labels=pair.query.labels,
        distance=options.distance,
        tie_rule=options.rule.describe(options.distance),
        files=pair.files,
        n_in_gallery=n_in_gallery,
        n_excluded=n_excluded,
        separate_gallery=pair.gallery is not None and not n_in_gallery and not n_excluded,
        threads=options.threads,
    )


@plain_floats
def measure(
    profile: TieProfile,
    measures: str | Iterable[str] | None = None,
    *,
    singletons: Singletons = "skip",
    average: Average = "query",
    labels: ArrayLike | None = None,
    threads: int | None = None,
) -> Report:
    """Average measures of a profile over its queries.

    Parameters
    ----------
    profile : TieProfile
        From `deadheat.profile` or one of its siblings, or loaded from a file.
    measures : str or iterable of str, optional
        As in `evaluate`.
    singletons : {"skip", "zero", "one", "balanced"}
        What a query without any relevant item counts as. ``"skip"``: left out of the mean, its value is NaN (the
        paper's "chop"). ``"zero"`` (its "null") and ``"one"`` (its "perfect"): that value, in the means and per query.
        ``"balanced"``: 0 for measures of the precision kind and 1 for those of the recall kind.
    average : {"query", "class"}
        The mean over queries, or the mean over classes of the mean over the queries of a class. A class without a
        query that counts does not count.
    labels : (n_query,), optional
        The labels of the queries; needed for ``average="class"``. The report keeps them, and takes their classes as
        the independent units of `Report.interval` and `deadheat.compare`: a profile does not say whether there was a
        separate gallery.
    threads : int, optional
        Worker threads, for this call alone; by default as many as there are processors. A small profile takes fewer.

    Returns
    -------
    Report
        Lower bound, expectation and upper bound of each measure.

    Raises
    ------
    ValueError, TypeError
        If a name is unknown, an option is not one of those above, or no query has a relevant item.

    Examples
    --------
    Two items at one distance, one of them relevant:

    >>> profile = TieProfile.from_groups([[(0, 0, 2, 1)]], n_ranked=[2])
    >>> result = measure(profile, "mAP")["AP"]
    >>> result.lower, result.expected, result.upper
    (0.5, 0.75, 1.0)
    """
    if not isinstance(profile, TieProfile):
        raise InvalidTypeError("profile", f"must be a TieProfile, but got {type(profile).__name__}")
    summary = SummaryOptions.checked(measures, singletons, average)
    if average == "class" and labels is None:
        raise InvalidValueError('average="class"', "needs labels, one for each query")
    return report_on(
        profile,
        summary,
        labels=None if labels is None else checked_labels(labels, profile.n_query),
        tie_rule="tolerance" if profile.bounds_only else None,
        threads=checks.thread_count(threads),
    )


def report_on(profile: TieProfile, options: SummaryOptions, *, threads: int, **origin: Any) -> Report:
    """The report on a profile, with what was asked for computed at once; `origin`: its labels, distance, tie_rule."""
    if not profile.n_relevant.any():
        raise UndefinedError(
            f"no query has a relevant item, so that no measure is defined, but got {profile.n_query} queries, "
            "each without a ranked item of its own label"
        )
    report = Report(profile, options.measures, options.singletons, options.average, **origin)
    report.compute(options.measures, threads)
    return report
