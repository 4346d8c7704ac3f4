"""The door to a leaderboard: reports by name, all of the same queries, and by what they are ranked."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Literal

from deadheat.analyses.comparison.board import Leaderboard
from deadheat.analyses.comparison.comparing import compare
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.reports import Report
from deadheat.reports.options import Average, measure_names
from deadheat.support import checks
from deadheat.support.floats import plain_floats
from deadheat.support.triple import Triple

RankBy = Literal["lower", "expected", "upper"]


@plain_floats
def leaderboard(
    reports: Mapping[str, Report],
    *,
    measures: str | Iterable[str] | None = None,
    rank_by: RankBy = "lower",
    resample: Average | None = None,
    confidence_level: float = 0.95,
    method: str = "percentile",
    n_resamples: int = 9999,
    seed: int = 0,
) -> Leaderboard:
    """Rank systems on the same queries: values, intervals, who is significantly ahead of whom, what ties could swap.

    Parameters
    ----------
    reports : mapping of str to Report
        At least two, by the names to show; of the same queries and averaged alike, as `compare` has it.
    measures : str or iterable of str, optional
        What the table shows; by default what all reports show. The first one ranks.
    rank_by : {"lower", "expected", "upper"}
        Which value of it ranks. The lower bound is what a system can promise, whatever a sort does with its ties.
    resample, confidence_level, method, n_resamples, seed
        As in `compare`: classes are the independent units wherever labels are known and there is no separate gallery.

    Returns
    -------
    Leaderboard
        Tests are run when they are asked for: each pair of systems once for each measure.

    Raises
    ------
    ValueError, TypeError
        If there are fewer than two reports, they are not of the same queries, or an argument is not as described.

    Notes
    -----
    **Ties:** two systems whose bounds overlap could change places by their ties alone; the table marks them.

    **Significance:** of all pairs, for each measure by itself, by the worst-case p-values over all tie-breakings of
    `Difference.pvalue_worst_case`, after Holm's correction. So the chance that any letter in a column of the table is
    false is at most 1 − `confidence_level`, and no letter contradicts a rank by the same measure.

    Examples
    --------
    Three systems, eight queries, one relevant item each. The first always finds it at once, the second cannot tell it
    from another one in half of the queries, the third has it second:

    >>> import deadheat as dh
    >>> groups = {"sure": [(0, 0, 1, 1)] * 8, "torn": [(0, 0, 1, 1), (0, 0, 2, 1)] * 4, "late": [(1, 0, 1, 1)] * 8}
    >>> profiles = {name: dh.TieProfile.from_groups([[row] for row in rows], [3] * 8) for name, rows in groups.items()}
    >>> board = leaderboard({name: dh.measure(profile, "MRR", labels=range(8)) for name, profile in profiles.items()})
    >>> board.ranks
    {'sure': 1, 'torn': 2, 'late': 3}
    >>> board.ahead_of("sure"), board.could_swap
    (('late',), ())
    """
    _require_reports(reports)
    shown = _shared(reports) if measures is None else measure_names(measures)
    checks.choice(rank_by, Triple._fields, "rank_by")
    if rank_by == "expected":
        _require_expected(reports, shown[0])
    units = resample or _units(reports.values())
    names = sorted(reports, key=lambda name: _place(reports[name], shown[0], rank_by, name))
    ranked = {name: reports[name] for name in names}
    comparisons = {
        (a, b): compare(
            ranked[a], ranked[b], names=(a, b), measures=shown, resample=units, confidence_level=confidence_level,
            method=method, n_resamples=n_resamples, seed=seed,
        )
        for a, b in itertools.combinations(ranked, 2)
    }  # fmt: skip
    caveats = (caveat for report in ranked.values() for caveat in report.averaging.caveats(resample))
    return Leaderboard(ranked, shown, rank_by, comparisons, tuple(dict.fromkeys(caveats)))


def _require_reports(reports: Mapping[str, Report]) -> None:
    if not isinstance(reports, Mapping):
        raise InvalidTypeError("reports", f"must be a mapping of names to reports, but is {type(reports).__name__}")
    if len(reports) < 2:
        raise InvalidValueError("reports", f"must be at least two, but got {len(reports)}")
    for name, report in reports.items():
        if not isinstance(name, str) or not name.strip():
            raise InvalidTypeError("reports", f"must have names that are not empty, but has {name!r}")
        if not isinstance(report, Report):
            raise InvalidTypeError(f"reports[{name!r}]", f"must be a Report, but is {type(report).__name__}")


def _shared(reports: Mapping[str, Report]) -> tuple[str, ...]:
    """The measures that all reports show, in the order of the first."""
    first, *others = reports.values()
    names = tuple(name for name in first.measures if all(name in other.measures for other in others))
    if not names:
        raise InvalidValueError("reports", "must show a measure in common, or measures be given")
    return names


def _require_expected(reports: Mapping[str, Report], measure: str) -> None:
    """Refuse to rank by what a tolerance does not have, and perhaps a ranking that was cut."""
    for name, report in reports.items():
        if math.isnan(report[measure].expected) and not math.isnan(report[measure].lower):
            raise InvalidValueError("rank_by", f'must be "lower" or "upper", because {name!r} has no expected values')


def _units(reports: Iterable[Report]) -> Average:
    """What all tests swap and all intervals draw: classes, where one report asks for that and all know them."""
    listed = list(reports)
    by_class = any(report.averaging.units(None) == "class" for report in listed)
    return "class" if by_class and all(report.labels is not None for report in listed) else "query"


def _place(report: Report, measure: str, rank_by: str, name: str) -> tuple[float | str, ...]:
    """What puts reports in order: the value that ranks, then all three, then the name; undefined ones come last."""
    value = report[measure]
    keys = (getattr(value, rank_by), value.lower, value.expected, value.upper)
    return (*(math.inf if math.isnan(key) else -key for key in keys), name)
