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
from deadheat.engine.literals import DistanceName, TiesName
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Ties
from deadheat.errors import InputError, InvalidTypeError, InvalidValueError, UndefinedError
from deadheat.inputs.item_ids import OwnRows
from deadheat.inputs.samples import EmbeddingsLike, LabelsLike, Pair, open_pair
from deadheat.reports.averaging import Average, Singletons, SummaryOptions, checked_labels, measure_names
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
    distance: DistanceName = "cosine",
    ties: TiesName | Ties = "exact",
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
    embeddings : (n_query, dim) array, path or list of paths
        The queries, as arrays or files in any form that `deadheat.profile` takes.
    labels : (n_query,) integers or strings, or path, optional
        Their labels; whole floats count as integers. By default they are in the files of the embeddings.
    gallery : (n_gallery, dim) array, path or list of paths, optional
        What queries are ranked against. By default each is ranked against all others: leave one out.
    gallery_labels : (n_gallery,) integers or strings, or path, optional
        Its labels. By default they are in the files of the gallery.
    measures : str or iterable of str, optional
        Names such as ``"mAP"``, ``"Hit@1"`` or ``"nDCG@10"``, or one string with commas between them. By default
        `deadheat.measures.DEFAULT_MEASURES`.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming"}
        Or another name of one of them, such as "l2", "l1" or "dot". Hamming takes bool, or uint8 of eight bits each.
    ties : {"exact", "float16", "bfloat16", "float32"}, Rounded or Tolerance
        Which items tie: those whose distances are equal as real numbers, or once rounded to a type; see
        `deadheat.Rounded` and, for bounds alone, `deadheat.Tolerance`.
    junk : (n_gallery,) or (n_query, n_gallery) array of bool, optional
        Items that are neither ranked nor relevant: for every query, or pair by pair. By default there is none.
    exclude : (n_query,) integers, or a pair of ids, optional
        Where queries are in the gallery: the row that each query is, which is not ranked for it, or -1; or
        ``(query_ids, gallery_ids)``, where equal ids are one item. By default such rows are looked for, with a warning.
    singletons : {"skip", "zero", "one", "balanced"}
        What a query without a relevant item counts as: nothing; 0; 1; or 0 for measures of the precision kind and 1 for
        those of the recall kind.
    average : {"query", "class"}
        What means are over: queries, or classes of the means over their queries.
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use.
    progress : bool or callable
        True for a bar on standard error, or a function that is called with (done, total).
    checkpoint : path, optional
        A directory that keeps what is finished, so that a run that was killed goes on from there. By default nothing
        is kept.
    device : str or torch.device, optional
        "cuda", "cuda:1" or "cpu", to multiply and count there with PyTorch. By default NumPy does it.
    executor : concurrent.futures.Executor or Cluster, optional
        Workers that count, in other processes or on other machines; see `deadheat.profile`. By default there are none.

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
    _require_no_measures(gallery)
    summary = SummaryOptions.checked(measures, singletons, average)
    options = CountingOptions.checked(
        distance=distance, ties=ties, junk=junk, threads=threads, progress=progress, checkpoint=checkpoint,
        device=device, exclude=exclude, executor=executor,
    )  # fmt: skip
    return evaluate_pair(open_pair(embeddings, labels, gallery, gallery_labels), options, summary)


def _require_no_measures(gallery: Any) -> None:
    """Refuse names of measures in the place of the gallery."""
    first = gallery[0] if isinstance(gallery, list) and gallery else gallery
    if isinstance(first, str):
        try:
            measure_names(gallery)
        except InputError:  # names of files
            return
        raise InvalidTypeError("gallery", f"must be embeddings, but is {gallery!r}; did you mean measures=?")


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
        Names such as ``"mAP"``, ``"Hit@1"`` or ``"nDCG@10"``, or one string with commas between them. By default
        `deadheat.measures.DEFAULT_MEASURES`.
    singletons : {"skip", "zero", "one", "balanced"}
        What a query without a relevant item counts as. ``"skip"``: nothing, its value is NaN (the paper's "chop").
        ``"zero"`` (its "null") and ``"one"`` (its "perfect"): that value, in the means and per query. ``"balanced"``: 0
        for measures of the precision kind and 1 for those of the recall kind.
    average : {"query", "class"}
        The mean over queries, or the mean over classes of the mean over the queries of a class. A class without a
        query that counts does not count.
    labels : (n_query,), optional
        The labels of the queries; needed for ``average="class"``. The report keeps them, and takes their classes as
        the independent units of `Report.interval` and `deadheat.compare`: a profile does not say whether there was a
        separate gallery.
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use.

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
