"""Measures of one's own: in come a name and a discount of ranks, out comes a row of the catalogue.

Every function then accepts the name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.measures.family import Family, Measure, key
from deadheat.measures.names import FAMILIES, SPELLINGS, MeasureNameError
from deadheat.measures.rank_discount import Over, RankDiscount
from deadheat.support import checks
from deadheat.support.arrays import Float64

Discount = Callable[[NDArray[np.float64]], ArrayLike]
_BUILT_IN = len(FAMILIES)  # rows from here on have been registered


class GivenDiscount(RankDiscount):
    """The sum of the discounts that a user's function gives, which are checked whenever it is called."""

    def __init__(self, name: str, discount: Discount, over: Over) -> None:
        self.name, self.discount, self.over = name, discount, over

    def discounts(self, n: int, measure: Measure) -> Float64:
        given = self.discount(np.arange(1.0, n + 1))
        try:
            values = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidTypeError("discount", f"must give numbers, but gives {checks.shown(given)}") from None
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
        Letters, digits and hyphens, such as ``"nRR"``; none that the catalogue has.
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
    The reciprocal ranks of all relevant items, over those of the best order, where one ties with one that is not:

    >>> from deadheat import TieProfile, evaluate
    >>> row = register("nRR", lambda rank: 1 / rank, over="best", sentence="reciprocal ranks over the best")
    >>> profile = TieProfile.from_groups([[(0, 0, 2, 1)]], n_ranked=[2])
    >>> print(evaluate(profile, "nRR")["nRR"].summary())
    nRR 75.00 [50.00, 100.00] %
    >>> unregister("nRR")
    """
    if not isinstance(name, str) or not name.replace("-", "").isalnum():
        raise InvalidValueError("name", f"must be letters, digits and hyphens, but is {checks.shown(name)}")
    if not callable(discount):
        raise InvalidTypeError("discount", f"must be a function of ranks, but is {checks.shown(discount)}")
    checks.choice(over, get_args(Over), "over")
    forms = GivenDiscount(name, discount, over)
    others = tuple(checks.text(alias, "aliases") for alias in checks.listed(aliases, "aliases", "strings"))
    if not all(map(key, others)):
        raise InvalidValueError("aliases", "must not be empty")
    row = Family(name, "may", "precision", forms, checks.text(sentence, "sentence") if sentence else name, others)
    taken = next((spelling for spelling in row.spellings if spelling in SPELLINGS), None)
    if taken is not None:
        rule = f"{name!r} must be a name of its own, but {taken!r} is {SPELLINGS[taken][0].name}"
        raise MeasureNameError("name", rule)
    FAMILIES.append(row)
    SPELLINGS.update({spelling: (row, choice) for spelling, choice in row.spellings.items()})
    return row


def unregister(name: str) -> None:
    """Remove a registered measure from the catalogue."""
    checks.text(name, "name")
    row = next((row for row in FAMILIES[_BUILT_IN:] if row.name == name), None)
    if row is None:
        raise MeasureNameError("name", f"{checks.shown(name)} must be the name of a measure that was registered")
    FAMILIES.remove(row)
    for spelling in row.spellings:
        del SPELLINGS[spelling]
