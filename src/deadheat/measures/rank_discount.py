"""User-defined measures: a sum over the relevant items of a discount of ranks, such as rank-biased precision [1]_.

In come a name and a discount; out comes a row of the catalogue, whose name every function then accepts.

.. [1] Moffat, Zobel 2008, Rank-biased precision for measurement of retrieval effectiveness.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.measures import names
from deadheat.measures.family import ClosedForms, Counted, Family, Fill, Measure, RankSum
from deadheat.measures.groups import defined, distinct, filled, groups_within, last_ranks, sum_by_query
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64
from deadheat.support.triple import Triple

Over = Literal["nothing", "relevant", "best"]
Discount = Callable[[NDArray[np.float64]], ArrayLike]


class RankDiscount(ClosedForms):
    """The sum of discounts at the ranks of relevant items, undivided or divided by R or by that of the best order."""

    def __init__(self, name: str, discount: Discount, over: Over) -> None:
        self.name, self.discount, self.over = name, discount, over

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        table = np.concatenate([[0.0], np.cumsum(self._table(profile))])
        last = np.maximum(last_ranks(profile, measure), 0)[profile.query_of_group]
        closer, tied, m = profile.closer, profile.tied, profile.tied_relevant

        def between(first: Int64, stop: Int64) -> Float64:
            """Sum the discounts of those ranks after `first`, up to `stop`, that count."""
            return np.asarray(table[np.minimum(stop, last)] - table[np.minimum(first, last)])

        mean = between(closer, closer + tied) * (m / tied)
        sums = between(closer + tied - m, closer + tied), mean, between(closer, closer + m)
        every, scale = np.arange(profile.n_group), self._scale(profile.n_relevant, measure, table)
        values = [defined(profile, sum_by_query(profile, every, each) * scale) for each in sums]
        return filled(Triple(*values), out)

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the deviation of a linear rank statistic, from the spread of the discounts of each group's slots."""
        discounts = self._table(profile)
        group, slots = groups_within(profile, measure, profile.tied > profile.tied_relevant)
        k, tied, m = profile.closer[group], profile.tied[group], profile.tied_relevant[group]
        one, number = distinct(slots, tied, k)
        spread = np.empty(len(one))
        for place, (first, n, size) in enumerate(zip(k[one], slots[one], tied[one], strict=True)):
            values = np.zeros(size)
            values[:n] = discounts[first : first + n]
            spread[place] = np.square(values - values.mean()).sum()
        variance = spread[number] * (m * (tied - m) / (tied * (tied - 1)))
        table = np.concatenate([[0.0], np.cumsum(discounts)])
        scale = self._scale(profile.n_relevant, measure, table)
        return defined(profile, np.sqrt(sum_by_query(profile, group, variance)) * scale)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        discount = np.concatenate([[0.0], self._discounts(n)])
        return RankSum(Counted.ONE, discount, self._scale(relevant, measure, np.cumsum(discount)))

    def _scale(self, relevant: Int64, measure: Measure, table: Float64) -> Float64:
        """Return one over the divisor of the sum, (n_query,); `table` has the running sums of the discounts."""
        if self.over == "nothing":
            return np.ones(len(relevant))
        if self.over == "relevant":
            return np.asarray(1.0 / np.maximum(relevant, 1))
        best = table[np.minimum(relevant, measure.limit or len(table) - 1)]
        return np.asarray(np.divide(1.0, best, out=np.zeros(len(best)), where=best > 0))

    def _table(self, profile: TieProfile) -> Float64:
        """Return the discounts of all ranks that can count, from 1 on."""
        furthest = int((profile.closer + profile.tied).max(initial=0))
        return self._discounts(max(furthest, int(profile.n_relevant.max(initial=0)), 1))

    def _discounts(self, n: int) -> Float64:
        values = np.asarray(self.discount(np.arange(1.0, n + 1)), dtype=np.float64)
        if values.shape != (n,):
            raise InvalidValueError("discount", f"must give one number for each rank, but gives shape {values.shape}")
        if not np.isfinite(values).all() or (values < 0).any() or (np.diff(values) > 0).any():
            raise InvalidValueError("discount", f"of {self.name} must be finite, not negative, and never increase")
        return values


def register(
    name: str,
    discount: Discount,
    *,
    over: Over = "nothing",
    sentence: str = "",
    aliases: Sequence[str] = (),
) -> Family:
    """Register a measure of your own: a sum over the relevant items of a discount of their ranks.

    Its name, with or without ``@k``, is then accepted wherever names of measures are, in this process.

    Parameters
    ----------
    name : str
        Letters, digits and hyphens, such as ``"RBP-80"``; none that the catalogue has.
    discount : callable
        Given ranks from 1 on, (n,) float64, returns the contribution of a relevant item at each rank: finite, not
        negative, and never increasing.
    over : {"nothing", "relevant", "best"}
        The divisor of the sum: none, the number of relevant items, or the sum of the best order.
    sentence : str
        The value for a query in words, for `listing`.
    aliases : sequence of str
        Other spellings.

    Returns
    -------
    Family
        Its row of the catalogue.

    Raises
    ------
    InvalidValueError, InvalidTypeError
        If an argument breaks its rule; when a value is computed, also if the discounts do.

    Notes
    -----
    Ties: the lower bound has the relevant items last in each tie group, the upper bound first, and the expectation is
    the mean over all orders: every slot of a group has its mean discount. The bits of values depend on those of your
    discounts. **Undefined:** NaN for a query without a relevant item.

    Examples
    --------
    Rank-biased precision with persistence 0.8, of one relevant item that ties with one that is not:

    >>> from deadheat import TieProfile, evaluate
    >>> row = register("RBP-80", lambda rank: 0.2 * 0.8 ** (rank - 1), sentence="0.2 * 0.8^(rank - 1), summed")
    >>> profile = TieProfile.from_groups([[(0, 0, 2, 1)]], n_ranked=[2])
    >>> print(evaluate(profile, "RBP-80")["RBP-80"].summary())
    RBP-80 18.00 [16.00, 20.00] %
    >>> unregister("RBP-80")
    """
    if not isinstance(name, str) or not name.replace("-", "").isalnum():
        raise InvalidValueError("name", f"must be letters, digits and hyphens, but is {checks.shown(name)}")
    if not callable(discount):
        raise InvalidTypeError("discount", f"must be a function of ranks, but is {checks.shown(discount)}")
    checks.choice(over, get_args(Over), "over")
    forms = RankDiscount(name, discount, over)
    others = tuple(checks.listed(aliases, "aliases", "strings"))
    row = Family(name, "may", "precision", forms, checks.text(sentence, "sentence") if sentence else name, others)
    names.add(row)
    return row


def unregister(name: str) -> None:
    """Remove a registered measure from the catalogue."""
    names.remove(name)
