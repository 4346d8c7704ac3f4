"""Do two confidences put the queries into the same order? From both of each query to a `RankCorrelation`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.analyses.confidence.queries import UNDEFINED, confidences, plain_values
from deadheat.errors import InvalidValueError
from deadheat.reports.tables import Table, TabularResult, count, has_ties, number
from deadheat.support.arrays import Int64
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import require
from deadheat.support.triple import Triple, columns_of_bounds


@dataclass(frozen=True)
class RankCorrelation(TabularResult):
    """How far two confidences agree in order: coefficients in [−1, 1], each with the p-value of no association.

    Attributes
    ----------
    spearman, spearman_p : float
        Spearman's rho, equal confidences having their mean rank.
    kendall, kendall_p : float
        Kendall's tau-b, which corrects for ties.
    rho, tau : Triple[float]
        Spearman's rho and Kendall's tau-a of strict orders: lower, expected and upper over all ways to break the ties.
    n : int
        Pairs.
    """

    spearman: float
    spearman_p: float
    kendall: float
    kendall_p: float
    rho: Triple[float]
    tau: Triple[float]
    n: int

    def to_dict(self) -> dict[str, Any]:
        """The coefficients and p-values as plain Python values that JSON can hold; None where one is undefined."""
        return plain_values(self, self.__dataclass_fields__)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """A row a coefficient; lower, expected and upper are those over all ways to break the ties."""
        return {
            "correlation": ["Spearman's rho", "Kendall's tau-b"],
            "coefficient": [self.spearman, self.kendall],
            "p": [self.spearman_p, self.kendall_p],
            **columns_of_bounds((self.rho, self.tau)),
        }

    def tables(self) -> list[Table]:
        """The coefficients, which are no shares and stay as they are; their p-values; and what ties leave open."""
        forms = {"coefficient": ".4f", "p": ".3g"}
        forms |= dict.fromkeys(Triple._fields, ".4f") if has_ties(self.rho) else {}
        columns = self.columns()
        cells = [[number(value, form) for value in columns[name]] for name, form in forms.items()]
        return [Table(("correlation", *forms), list(zip(columns["correlation"], *cells, strict=True)))]

    def notes(self) -> list[str]:
        """How many pairs there are, and what the bounds are of."""
        tied = "; lower, expected, upper: rho and tau-a over all ways to break the ties" if has_ties(self.rho) else ""
        return [f"{count(self.n, 'pair', 'pairs')}{tied}."]


@plain_floats
def rank_correlation(confidence: ArrayLike, target: ArrayLike) -> RankCorrelation:
    """Return Spearman's rho and Kendall's tau-b of predicted and target confidences with two-sided p-values.

    SciPy computes them, from ranks: any increasing change of scale leaves every bit as it is, and so does the order of
    the pairs.

    Parameters
    ----------
    confidence, target : (n,)
        Finite numbers of any scale.

    Notes
    -----
    Ties: both coefficients are defined for ties, and have one value. A target of a few levels ties most of its items,
    and the corrections hide how much of the order it leaves open. `rho` and `tau` show it: what the coefficients of
    strict orders are if ties are broken for the confidence, against it, and on average, ties on either side being
    broken independently, all ways equally likely. They are computed in integers and rounded once; the bounds are
    attained, both by the same orders.

    Undefined: NaN for fewer than two pairs; the coefficients also where either side is constant, which leaves `rho`
    and `tau` anywhere from −1 to 1. The p-value of rho is NaN for two pairs.

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

    Two levels of the target leave a half of the order open:

    >>> rank_correlation([1, 2, 3, 4], [0, 0, 1, 1]).rho
    Triple(lower=0.6, expected=0.8, upper=1.0)
    """
    first, second = confidences(confidence, "confidence"), confidences(target, "target")
    if len(first) != len(second):
        rule = f"must have the same number of entries, but have {len(first)} and {len(second)}"
        raise InvalidValueError("confidence and target", rule)
    ranks = np.stack([np.unique(values, return_inverse=True)[1] for values in (first, second)])
    in_order = ranks[:, np.lexsort((ranks[1], ranks[0]))]  # the same sums, whatever order the pairs came in
    rho, tau = _broken_rho(in_order), _broken_tau(in_order)
    if len(first) < 2 or (ranks.max(axis=1) == 0).any():
        return RankCorrelation(math.nan, math.nan, math.nan, math.nan, rho, tau, len(first))
    stats = require("scipy.stats", "stats", "rank_correlation")
    (spearman, spearman_p), (kendall, kendall_p) = stats.spearmanr(*in_order), stats.kendalltau(*in_order)
    return RankCorrelation(float(spearman), float(spearman_p), float(kendall), float(kendall_p), rho, tau, len(first))


def _broken_rho(ranks: Int64) -> Triple[float]:
    """Spearman's rho over all ways to break the ties.

    The sum of products of ranks is largest if the ties of each side are broken by the other side, since equal numbers
    on one side are then sorted by the other (rearrangement inequality). Reversing one side negates rho. A broken tie
    has its mean rank on average, independently on both sides.
    """
    first, second = ranks
    n = len(first)
    if n < 2:
        return UNDEFINED
    least, most = (4 * _largest_product(first, other) for other in (-second, second))
    mean = sum((_doubled_mid_ranks(first) * _doubled_mid_ranks(second)).tolist())
    shift, scale = 3 * n * (n + 1) ** 2, n * (n * n - 1)
    return Triple((shift - 3 * least) / scale, (3 * mean - shift) / scale, (3 * most - shift) / scale)


def _largest_product(first: Int64, second: Int64) -> int:
    """The sum of products of ranks, each side's ties broken by the other side."""
    ranks = (1 + np.argsort(np.lexsort(keys)) for keys in ((second, first), (first, second)))
    return sum(np.multiply(*ranks).tolist())


def _doubled_mid_ranks(numbers: Int64) -> Int64:
    """Twice the mean rank of each number among its equals, from 2."""
    _, group, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
    return np.asarray((2 * np.cumsum(sizes) - sizes + 1)[group])


def _broken_tau(ranks: Int64) -> Triple[float]:
    """Kendall's tau-a over all ways to break the ties: a tied pair can go either way, and all of them at once."""
    first, second = ranks
    n = len(first)
    if n < 2:
        return UNDEFINED
    pairs = n * (n - 1) // 2
    tied, tied_second, tied_both = (_tied_pairs(numbers) for numbers in (first, second, first * n + second))
    is_open = tied + tied_second - tied_both
    difference = pairs - is_open - 2 * _inversions(second)
    return Triple(*((difference + sign * is_open) / pairs for sign in (-1, 0, 1)))


def _tied_pairs(numbers: Int64) -> int:
    sizes = np.unique(numbers, return_counts=True)[1]
    return int((sizes * (sizes - 1) // 2).sum())


def _inversions(numbers: Int64) -> int:
    """Pairs of which the first number is larger: within each half, and across."""
    if len(numbers) <= 32:
        return int(np.triu(numbers[:, None] > numbers, 1).sum())
    left, right = numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]
    across = len(left) - np.searchsorted(np.sort(left), right, side="right")
    return _inversions(left) + _inversions(right) + int(across.sum())
