"""Do two confidences put the queries into the same order? From both of each query to a `RankCorrelation`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.analyses.confidence.queries import confidences, plain_values
from deadheat.errors import InvalidValueError
from deadheat.reports.tables import Table, TabularResult, count, number
from deadheat.support.extras import require
from deadheat.support.floats import plain_floats


@dataclass(frozen=True)
class RankCorrelation(TabularResult):
    """How far two confidences agree in order: coefficients in [−1, 1], each with the p-value of no association.

    Attributes
    ----------
    spearman, spearman_p : float
        Spearman's rho, equal confidences having their mean rank.
    kendall, kendall_p : float
        Kendall's tau-b, which corrects for ties.
    n : int
        Pairs.
    """

    spearman: float
    spearman_p: float
    kendall: float
    kendall_p: float
    n: int

    def to_dict(self) -> dict[str, Any]:
        """The coefficients and p-values as plain Python values that JSON can hold; None where one is undefined."""
        return plain_values(self, self.__dataclass_fields__)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """A row a coefficient."""
        return {
            "correlation": ["Spearman's rho", "Kendall's tau-b"],
            "coefficient": [self.spearman, self.kendall],
            "p": [self.spearman_p, self.kendall_p],
        }

    def tables(self) -> list[Table]:
        """The coefficients, which are no shares and stay as they are, and their p-values."""
        rows = [
            [name, number(value, ".4f"), number(p, ".3g")]
            for name, value, p in zip(*self.columns().values(), strict=True)
        ]
        return [Table(tuple(self.columns()), rows)]

    def notes(self) -> list[str]:
        """How many pairs there are."""
        return [f"{count(self.n, 'pair', 'pairs')}."]


@plain_floats
def rank_correlation(confidence: ArrayLike, target: ArrayLike) -> RankCorrelation:
    """Return Spearman's rho and Kendall's tau-b of predicted and target confidences, two-sided p-values beside them.

    SciPy computes them, from ranks: any increasing change of scale leaves every bit as it is, and so does the order of
    the pairs.

    Parameters
    ----------
    confidence, target : (n,)
        Finite numbers of any scale.

    Returns
    -------
    RankCorrelation

    Notes
    -----
    Ties: both coefficients are defined for ties, and have one value.

    Undefined: NaN for fewer than two pairs and where either is constant. The p-value of rho is NaN for two pairs.

    Raises
    ------
    ValueError, TypeError
        If the lengths differ, or a number is not finite.
    ModuleNotFoundError
        Without SciPy; the message says how to install it.

    Examples
    --------
    Of the three pairs of items, two are in the same order in both:

    >>> found = rank_correlation([0.1, 0.2, 0.3], [10, 30, 20])
    >>> round(found.spearman, 12), round(found.kendall, 12) == round(1 / 3, 12)
    (0.5, True)
    """
    first, second = confidences(confidence, "confidence"), confidences(target, "target")
    if len(first) != len(second):
        rule = f"must have the same number of entries, but have {len(first)} and {len(second)}"
        raise InvalidValueError("confidence and target", rule)
    ranks = np.stack([np.unique(values, return_inverse=True)[1] for values in (first, second)])
    if ranks.shape[1] < 2 or (ranks.max(axis=1) == 0).any():
        return RankCorrelation(math.nan, math.nan, math.nan, math.nan, len(first))
    stats = require("scipy.stats", "stats", "rank_correlation")
    in_order = ranks[:, np.lexsort((ranks[1], ranks[0]))]  # the same sums, whatever order the pairs came in
    rho, tau = stats.spearmanr(*in_order), stats.kendalltau(*in_order)
    return RankCorrelation(float(rho.statistic), float(rho.pvalue), float(tau.statistic), float(tau.pvalue), len(first))
