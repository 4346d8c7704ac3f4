"""The door: two reports, which query of one is which of the other, and how to test what lies between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.analyses.comparison.comparison import Comparison
from deadheat.analyses.comparison.settings import PairedTest
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.reports import Report
from deadheat.reports.averaging import Averaging
from deadheat.reports.options import Average, measure_names
from deadheat.support.floats import plain_floats

Int64 = NDArray[np.int64]
Alternative = Literal["two-sided", "greater", "less"]


@plain_floats
def compare(
    a: Report,
    b: Report,
    *,
    names: Iterable[str] = ("A", "B"),
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
    names : (str, str)
        What the two are called in the table and in what is said of them.
    measures : str or iterable of str, optional
        What the table shows; by default what both reports show. Any other measure can be asked for by its name.
    resample : {"query", "class"}, optional
        The independent units, which the tests swap and the bootstrap draws: queries, or whole classes. By default
        classes, wherever labels are known and there is no separate gallery, since in leave one out the queries of a
        class rise and fall together; see `Result.interval`.
    labels : (n_query,), optional
        The labels of the queries of `a`, to take their classes as units; by default those that the reports know.
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
    **Ties:** the worst case for A is its lower value against B's upper one, for each query; `Difference.winner` and
    `Difference.pvalue_worst_case` hold however the ties fall, in A and in B.

    For n queries each test takes time of n_resamples × n, in memory that does not grow with it: for 100 000 queries a
    few seconds, and the interval some ten.

    Nothing depends on the order of the queries, and comparing B with A gives the same p-values as A with B.

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

    >>> difference.pvalue, difference.pvalue_worst_case
    (0.5, 1.0)
    """
    for report, name in ((a, "a"), (b, "b")):
        if not isinstance(report, Report):
            raise InvalidTypeError(name, f"must be a Report, but is {type(report).__name__}")
    called = _two_names(names)
    both = "a and b" if called == ("A", "B") else " and ".join(called)
    shown = _shared(a, b, both) if measures is None else measure_names(measures)
    _require_alike(a, b, both)
    place_in_b, n_query = _matched(a, b, both)
    _require_same_classes(a, b, place_in_b, both)
    averaging = _averaging(a, b, place_in_b)
    test = PairedTest.checked(
        resample=averaging.units(resample, labels), alternative=alternative, confidence_level=confidence_level,
        method=method, n_resamples=n_resamples, seed=seed,
    )  # fmt: skip
    clusters, caveats = averaging.clusters(resample, labels), averaging.caveats(resample, labels)
    return Comparison(a, b, called, shown, test, n_query, place_in_b, clusters, caveats)


def _two_names(names: Iterable[str]) -> tuple[str, str]:
    """What the two are called."""
    called = () if isinstance(names, str) else tuple(names)
    if len(called) != 2 or not all(isinstance(name, str) and name.strip() for name in called):
        raise InvalidTypeError("names", f"must be two strings that are not empty, but is {names!r}")
    if called[0] == called[1]:
        raise InvalidValueError("names", f"must be two different ones, but both are {called[0]!r}")
    return called[0], called[1]


def _averaging(a: Report, b: Report, place_in_b: Int64) -> Averaging:
    """The averaging of A, with the labels of B where only B knows them; leave one out if either may be that."""
    classes = a.labels
    if classes is None and b.classes is not None:
        classes = np.append(b.classes, -1)[place_in_b]
    separate = all(report.separate_gallery for report in (a, b) if report.labels is not None)
    return replace(a.averaging, labels=classes, separate_gallery=separate and classes is not None)


def _shared(a: Report, b: Report, both: str) -> tuple[str, ...]:
    """The measures that both tables show, in the order of A."""
    names = tuple(name for name in a.measures if name in b.measures)
    if not names:
        raise InvalidValueError(
            both,
            "must show a measure in common, or measures be given, "
            f"but they show {', '.join(a.measures)} and {', '.join(b.measures)}",
        )
    return names


def _matched(a: Report, b: Report, both: str) -> tuple[Int64, int]:
    """Where each query of A is in B, or -1, and how many there are: by ids if both have them, else by position."""
    ids_a, ids_b = a.profile.query_ids, b.profile.query_ids
    if ids_a is not None and ids_b is not None and ids_a != ids_b:
        return _matched_by_ids(a, ids_a, b, ids_b, both)
    if a.n_query != b.n_query:
        unlike = "" if ids_a is None and ids_b is None else ", and only one of them has query_ids"
        raise InvalidValueError(both, f"must be of the same queries, but have {a.n_query} and {b.n_query}{unlike}")
    return np.arange(a.n_query), a.n_query


def _matched_by_ids(
    a: Report, ids_a: tuple[str, ...], b: Report, ids_b: tuple[str, ...], both: str
) -> tuple[Int64, int]:
    in_a, in_b = _places(ids_a, "a"), _places(ids_b, "b")
    lacking = {"a": _counting(a, in_a, in_b), "b": _counting(b, in_b, in_a)}
    listed = [f"{len(ids)} only in {name} ({ids[0]!r}, ...)" for name, ids in lacking.items() if ids]
    if listed:
        raise InvalidValueError(both, f"must be of the same queries, but of those with a value {' and '.join(listed)}")
    place = np.array([in_b.get(query, -1) for query in ids_a], dtype=np.int64)
    return place, len(in_a.keys() | in_b.keys())


def _places(ids: tuple[str, ...], name: str) -> dict[str, int]:
    """Where each id is."""
    places = {query: place for place, query in enumerate(ids)}
    if len(places) < len(ids):
        raise InvalidValueError(name, "must have distinct query_ids to be matched by them, but has some twice")
    return places


def _counting(report: Report, places: dict[str, int], places_in_other: dict[str, int]) -> list[str]:
    """The ids that the other report lacks, of queries that can have a value."""
    missing = [query for query in places if query not in places_in_other]
    if report.singletons != "skip":
        return missing
    return [query for query in missing if report.profile.n_relevant[places[query]]]


def _require_alike(a: Report, b: Report, both: str) -> None:
    """Refuse reports whose means are over different things."""
    for name in ("average", "singletons"):
        of_a, of_b = getattr(a, name), getattr(b, name)
        if of_a != of_b:
            raise InvalidValueError(both, f"must have the same {name}, but have {of_a!r} and {of_b!r}")


def _require_same_classes(a: Report, b: Report, place_in_b: Int64, both: str) -> None:
    """Refuse reports whose queries have different labels: they are other queries, or in another order."""
    if a.classes is None or b.classes is None:
        return
    in_both = place_in_b >= 0
    of_a, of_b = a.classes[in_both], b.classes[place_in_b[in_both]]
    n_distinct_pair = len(np.unique(np.stack([of_a, of_b]), axis=1).T)
    if not n_distinct_pair == len(np.unique(of_a)) == len(np.unique(of_b)):
        raise InvalidValueError(both, "must be of the same queries in the same order, but their labels differ")
