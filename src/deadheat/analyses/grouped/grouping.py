"""Grouped measures: the same measure inside groups of equally many classes, averaged, so that data sets compare.

In come embeddings, labels and the size of a group; out goes a `GroupedReport`. The labels are drawn into groups, the
tie profile is taken inside each group, and the mean over the groups is the value:

    labels ─draw─> groups of exactly S labels ─within─> one TieProfile ─measures─> per query ─> per group ─> mean

Only pairs inside a group are touched: about n²/r of them for r groups.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deadheat import distances, inputs
from deadheat import ties as tie_rules
from deadheat.analyses.grouped.drawing import draw, items_of_groups, sorted_classes
from deadheat.analyses.grouped.report import GroupedReport
from deadheat.counting.within import profile_within
from deadheat.errors import InvalidValueError
from deadheat.inputs.sources import EmbeddingsLike, LabelsLike, open_labels
from deadheat.reports.options import Singletons, SummaryOptions
from deadheat.reports.report import report_on
from deadheat.support import checks
from deadheat.support.progress import Progress, Reporting


def grouped(
    embeddings: EmbeddingsLike,
    labels: LabelsLike,
    *,
    group_size: int = 10,
    measures: str | Iterable[str] | None = None,
    seed: int = 0,
    repeats: int = 1,
    distance: str = "cosine",
    ties: str | tie_rules.Ties = "exact",
    singletons: Singletons = "skip",
    threads: int | None = None,
    progress: bool | Progress = False,
) -> GroupedReport:
    """The mean of a measure over groups of exactly `group_size` classes: GR@K_S = (1/N) Σ R@K(D_Gi) [1]_.

    A measure of retrieval falls as classes are added, because there is more to be mistaken for, so that its values on
    sets with different numbers of classes do not compare. Inside groups of equally many classes they do. The labels
    are split at random into N = n_class // group_size groups; inside each, leave one out, the measure is the mean over
    the group's queries; the grouped measure is the mean over the groups.

    Parameters
    ----------
    embeddings : (n, dim)
        As in `deadheat.profile`: an array, a memory map, the path of a file, a pattern, or a list of these. What is
        on disk is read in pieces, a group a thread at a time.
    labels : (n,)
        Integers or strings.
    group_size : int
        Labels in a group, S, at least 2.
    measures : str or iterable of str, optional
        As in `deadheat.evaluate`, such as ``"Hit@1"``, which metric learning calls Recall@1.
    seed : int
        The draw follows from it and from the set of labels, and from nothing else: see `draw`.
    repeats : int
        How many times to draw groups; the mean is over the groups of all of them. This lessens the noise of the draw.
        It brings no new classes.
    distance, ties, threads
        As in `deadheat.profile`.
    singletons : {"skip", "zero", "one", "balanced"}
        What a query without a relevant item counts as, as in `deadheat.measure`. A group in which no query has a value
        has none either, and is left out of the mean, and counted in `GroupedResult.n_undefined`.
    progress : bool or callable
        True for a bar on standard error, or a function that is called with (done, total), in pairs.

    Returns
    -------
    GroupedReport
        **Ties:** lower, expected and upper are means of the groups' values for each. **Undefined:** NaN where no group
        has a value.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described, there are fewer classes than `group_size`, or no query has a relevant item.

    References
    ----------
    .. [1] Zhdanov, Karpukhin 2023, Catching image retrieval generalization, arXiv:2306.13357.

    Examples
    --------
    Two points of each of five classes, and all points the same. The four in a group tie, so that the nearest one of the
    three others is the right one in one case of three:

    >>> report = grouped(np.zeros((10, 2)), list("aabbccddee"), group_size=2, measures="Hit@1")
    >>> report["Hit@1"].lower, round(report["Hit@1"].expected, 4), report["Hit@1"].upper
    (0.0, 0.3333, 1.0)
    >>> report.n_group, report.left_over
    (2, (('e',),))
    """
    options = SummaryOptions.checked(measures, singletons)
    size = checks.whole_number(group_size, "group_size", 2)
    seed = checks.whole_number(seed, "seed")
    repeats = checks.whole_number(repeats, "repeats", 1)
    rule, workers = tie_rules.make(ties), checks.thread_count(threads)
    rows = distances.opened(embeddings, distance, "embeddings")
    names, classes = sorted_classes(inputs.labels(open_labels(labels, "labels"), len(rows), "labels", "embeddings"))
    if len(names) < size:
        raise InvalidValueError("group_size", f"must be at most the number of classes, {len(names)}, but is {size}")
    draws = tuple(draw(len(names), size, seed, repeat) for repeat in range(repeats))
    groups = items_of_groups(classes, np.concatenate([drawn.groups for drawn in draws]))
    with Reporting(progress, sum(len(items) ** 2 for items in groups)) as report:
        profile = profile_within(rows, classes, groups, distance=distance, ties=rule, threads=workers, report=report)
    inside = report_on(profile, options, threads=workers, distance=distance, tie_rule=rule.describe(distance))
    return GroupedReport(options.measures, size, seed, names, draws, inside, groups)
