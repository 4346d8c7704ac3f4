"""The door: two reports on the same queries, and how to test what lies between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from numpy.typing import ArrayLike

from deadheat.analyses.comparison.comparison import Comparison
from deadheat.analyses.comparison.difference import PairedTest
from deadheat.analyses.comparison.pairing import matched, require_alike, require_same_classes
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.reports import Report
from deadheat.reports.options import Average, measure_names
from deadheat.statistics import permutation
from deadheat.statistics.interval import BOOTSTRAP, level_between
from deadheat.support import checks

Alternative = Literal["two-sided", "greater", "less"]


def compare(
    a: Report,
    b: Report,
    *,
    measures: str | Iterable[str] | None = None,
    resample: Average | None = None,
    labels: ArrayLike | None = None,
    alternative: Alternative = "two-sided",
    confidence_level: float = 0.95,
    method: str = "percentile",
    n_resamples: int = 9999,
    seed: int = 0,
) -> Comparison:
    """Compare two systems on the same queries: paired tests, and who wins however the ties fall.

    Parameters
    ----------
    a, b : Report
        Of the same queries, averaged alike. They are matched by `query_ids` where both profiles have them, and by
        position otherwise; where both reports know the classes of the queries, these must agree. A query that only
        one of them has is left out if it has no relevant item, and an error if it has.
    measures : str or iterable of str, optional
        What the table shows; by default what both reports show. Any other measure can be asked for by its name.
    resample : {"query", "class"}, optional
        The independent units, which the tests swap and the bootstrap draws: queries, or whole classes; by default
        what the reports average over. See `Result.interval`.
    labels : (n_query,), optional
        For ``resample="class"``, the labels of the queries of `a`; by default the classes it knows.
    alternative : {"two-sided", "greater", "less"}
        What the p-values ask: whether A and B differ, A is better than B, or A is worse.
    confidence_level, seed
        As in `Result.interval`.
    method : {"percentile", "basic", "BCa"}
        The bootstrap for the intervals; see `deadheat.statistics.intervals`.
    n_resamples : int
        How often the bootstrap draws, and how many random swaps the permutation test makes. Where there are no more
        swaps than that (up to 13 units that differ, by default), every one is tried and the test is exact.

    Returns
    -------
    Comparison
        Tests are run when they are asked for.

    Raises
    ------
    ValueError, TypeError
        If the reports are not of the same queries or not averaged alike, show no measure in common, or an argument is
        not as described.

    Notes
    -----
    **Ties:** the worst case for A is its lower value against B's upper one, for each query; `Difference.pvalue_strict`
    and `Difference.winner` hold however the ties fall, in A and in B.

    For n queries each test takes time of n_resamples × n, in memory that does not grow with it: for 100 000 queries a
    few seconds, and the interval some ten.

    Each p-value stands for itself. With 20 measures, or 20 systems, one of 20 falls below 0.05 by chance: decide on the
    measure beforehand, or see `Comparison.false_discovery`.

    Examples
    --------
    A finds the relevant item first in three queries of three. B ties it with another one in two of them:

    >>> from deadheat import TieProfile, measure
    >>> a = measure(TieProfile.from_groups([[(0, 0, 1, 1)]] * 3, n_ranked=[2] * 3), "MRR")
    >>> b = measure(TieProfile.from_groups([[(0, 0, 1, 1)]] + [[(0, 0, 2, 1)]] * 2, n_ranked=[2] * 3), "MRR")
    >>> difference = compare(a, b)["MRR"]
    >>> round(difference.lower, 4), round(difference.expected, 4), round(difference.upper, 4)
    (0.0, 0.1667, 0.3333)
    >>> difference.n_wins_a, difference.n_wins_b, difference.n_open, difference.n_equal
    (0, 0, 2, 1)

    Swapping any of the two queries that differ gives a smaller sum; one swap of four gives so large a one, and the
    two-sided p-value is twice 1/4:

    >>> difference.pvalue, difference.pvalue_strict
    (0.5, 1.0)
    """
    for report, name in ((a, "a"), (b, "b")):
        if not isinstance(report, Report):
            raise InvalidTypeError(name, f"must be a Report, but is {type(report).__name__}")
    names = _shared(a, b) if measures is None else measure_names(measures)
    require_alike(a, b)
    test = PairedTest(
        resample=a.averaging.units(resample),
        alternative=checks.choice(alternative, permutation.ALTERNATIVES, "alternative"),
        confidence_level=level_between(confidence_level),
        method=checks.choice(method, BOOTSTRAP, "method"),
        n_resamples=checks.positive_integer(n_resamples, "n_resamples"),
        seed=checks.whole_number(seed, "seed"),
    )
    pairs = matched(a, b)
    clusters = a.averaging.clusters(resample, labels)
    require_same_classes(a, b, pairs)
    return Comparison(a, b, names, test, pairs, clusters)


def _shared(a: Report, b: Report) -> tuple[str, ...]:
    """The measures that both tables show, in the order of A."""
    names = tuple(name for name in a.measures if name in b.measures)
    if not names:
        raise InvalidValueError(
            "a and b",
            "must show a measure in common, or measures be given, "
            f"but they show {', '.join(a.measures)} and {', '.join(b.measures)}",
        )
    return names
