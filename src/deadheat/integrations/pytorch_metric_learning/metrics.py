"""The metrics of pytorch-metric-learning as measures of a tie profile, cut at the k that its calculator works with.

With k below the number R of relevant items, its `r_precision` is the share of the first k, and its
`mean_average_precision_at_r` still divides by R. All are 0 for a query whose first relevant item comes after k.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deadheat.measures import parse
from deadheat.measures.values import all_bounds
from deadheat.profiles import TieProfile
from deadheat.support.arrays import Float64
from deadheat.support.triple import Triple

METRICS = {  # the measure of a query with R <= k, and with R > k
    "precision_at_1": ("Hit@1", "Hit@1"),
    "r_precision": ("R-Precision", "P@{k}"),
    "mean_average_precision": ("mAP@{k}", "mAP@{k}"),
    "mean_average_precision_at_r": ("MAP@R", "mAP@{k}"),
    "mean_reciprocal_rank": ("MRR@{k}", "MRR@{k}"),
}


def values_of(profile: TieProfile, metrics: Iterable[str], k: int, threads: int) -> dict[str, Triple[Float64]]:
    """Lower, expected and upper value of each metric for each query; NaN for a query that has no relevant item.

    Examples
    --------
    Two relevant items, tied with a third in front; with k = 1 only the first rank counts:

    >>> profile = TieProfile.from_groups([[(0, 0, 3, 2)]], n_ranked=[3])
    >>> [value.tolist() for value in values_of(profile, ["r_precision"], 1, 1)["r_precision"]]
    [[0.0], [0.6666666666666666], [1.0]]
    """
    pairs = {metric: [name.format(k=k) for name in METRICS[metric]] for metric in metrics}
    measures = {name: parse(name) for pair in pairs.values() for name in pair}
    found = dict(zip(measures, all_bounds(profile, list(measures.values()), threads), strict=True))
    within = profile.n_relevant <= k
    return {
        metric: Triple(*(np.where(within, *both) for both in zip(found[all_of_them], found[first_k], strict=True)))
        for metric, (all_of_them, first_k) in pairs.items()
    }
