"""What leaves the organiser's machine: the one place that rounds, and that says how much a score tells.

Two submissions whose values read the same must not be told apart by anything else. So the values are rounded first, and
ranks, the order of the rows, marks and drawings are made of the rounded ones.

    Report, Leaderboard (exact) ──rounded──> rows ──> HTML, JSON, `deadheat challenge leaderboard`
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadheat.analyses.comparison import Leaderboard, leaderboard
from deadheat.challenge import sandbox
from deadheat.challenge.store import Submission
from deadheat.errors import InvalidValueError
from deadheat.pages import drawing
from deadheat.reports import Report
from deadheat.reports.tables import DIGITS, Table, TabularResult, plain, program
from deadheat.support.triple import Triple

Entry = tuple[Submission, str]  # and what protected the labels from it
Row = dict[str, Any]


def rounded(fraction: float) -> float:
    """A fraction with two decimals of its per cent.

    Examples
    --------
    >>> rounded(0.0215620), rounded(0.0215579)
    (0.0216, 0.0216)
    """
    return round(fraction, DIGITS + 2)


def triple(result: Any) -> Triple[float]:
    """Lower, expected and upper of a measure as everybody may see them."""
    return Triple(*(rounded(getattr(result, part)) for part in Triple._fields))


def percent(fraction: float | None) -> str:
    """A published fraction in per cent.

    Examples
    --------
    >>> percent(0.5), percent(None)
    ('50.00', '-')
    """
    return "-" if fraction is None or math.isnan(fraction) else f"{100 * rounded(fraction):.{DIGITS}f}"


def bits(n_measure: int, n_team: int) -> float:
    """How many bits the answer to one submission can tell about the labels, at most.

    It is the binary logarithm of the number of answers that can be told apart: lower ≤ expected ≤ upper of each measure
    and low ≤ high of one interval, all of them among 0.00, 0.01, ..., 100.00; and, of each other team, ahead of it,
    behind it, or neither.

    Examples
    --------
    >>> round(bits(n_measure=7, n_team=50)), round(bits(n_measure=1, n_team=1))
    (364, 63)
    """
    n_value = 10 ** (DIGITS + 2) + 1
    return (
        n_measure * math.log2(math.comb(n_value + 2, 3))
        + math.log2(math.comb(n_value + 1, 2))
        + (n_team - 1) * math.log2(3)
    )


def rows(found: Mapping[str, Entry], reports: Mapping[str, Report], measures: Sequence[str]) -> list[Row]:
    """What is published of each submission, in the order of the ranks; of equal ones the earlier comes first.

    "ahead_of" has the names of those that a submission is significantly ahead of and whose published value is lower.
    """
    first = measures[0]
    ranked = leaderboard(dict(reports)) if len(reports) > 1 else None
    values = {name: {m: triple(report[m]) for m in measures} for name, report in reports.items()}
    lower = {name: _least_if_undefined(each[first].lower) for name, each in values.items()}
    order = sorted(lower, key=lambda name: (-lower[name], found[name][0].number))
    pairs = itertools.combinations(order, 2)
    swapped = {name for a, b in pairs if values[b][first].upper > lower[a] for name in (a, b)}
    made = []
    for name in order:
        submission, protection = found[name]
        low, high = _interval(reports[name], ranked, name, first)
        row = {
            "rank": 1 + sum(other > lower[name] for other in lower.values()),
            "name": name,
            "team": submission.team,
            "title": submission.title,
            "received": int(submission.received),
            "protection": protection,
            "values": values[name],
            "interval": [low, high],
            "bar": drawing.bar(values[name][first], (low, high)),
            "ahead_of": [other for other in _behind(ranked, name, order) if lower[other] < lower[name]],
            "could_swap": name in swapped,
        }
        made.append(plain(row))
    return made


def _least_if_undefined(value: float) -> float:
    return -1.0 if math.isnan(value) else value


def _interval(report: Report, ranked: Leaderboard | None, name: str, measure: str) -> tuple[float, float]:
    found = (report.interval(measure) if ranked is None else ranked.interval(name)).expected
    return rounded(found.low), rounded(found.high)


def _behind(ranked: Leaderboard | None, name: str, order: Sequence[str]) -> list[str]:
    behind = () if ranked is None else ranked.ahead_of(name)
    return [other for other in order if other in behind]


@dataclass(frozen=True, eq=False)
class Board(TabularResult):
    """A leaderboard as it may be published.

    Attributes
    ----------
    measures : tuple of str
        The lower bound of the first one ranks.
    rows : list of dict
        See `rows`.
    """

    measures: tuple[str, ...]
    rows: list[Row]

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """One table: a row for each submission, in per cent."""
        if digits != DIGITS:
            raise InvalidValueError(
                "digits", f"must be {DIGITS} in what is published (--exact has more), but is {digits}"
            )
        first, *others = self.measures
        header = ["team", "rank", f"{first} lower (%)", "expected", "upper", "95 % interval"]
        header += [*(f"{name} lower (%)" for name in others), "ahead of"]
        return [Table(header, [self._cells(row) for row in self.rows])]

    def _cells(self, row: Row) -> list[str]:
        first, *others = self.measures
        values = row["values"]
        low, high = map(percent, row["interval"])
        cells = [row["name"], f"{row['rank']}{'~' if row['could_swap'] else ''}", *map(percent, values[first])]
        return [*cells, f"[{low}, {high}]", *(percent(values[name][0]) for name in others), ", ".join(row["ahead_of"])]

    def notes(self) -> list[str]:
        """What the columns say."""
        swaps = ["~ ties alone could put it in another place."] if any(row["could_swap"] for row in self.rows) else []
        return [
            f"Ranked by the lower bound of {self.measures[0]}, as it is rounded here; equal ones share a rank.",
            "Ahead of: significantly, whatever the ties do (p < 0.05, Holm's correction for all pairs).",
            *swaps,
        ]

    def columns(self) -> dict[str, list[Any]]:
        """A row for each submission and measure: rounded fractions, NaN where undefined."""
        listed = [(row, name) for row in self.rows for name in self.measures]
        ends = zip(*(row["values"][name] for row, name in listed), strict=True)
        return {
            "rank": [row["rank"] for row, _ in listed],
            "team": [row["name"] for row, _ in listed],
            "measure": [name for _, name in listed],
            **{
                part: [math.nan if end is None else end for end in each]
                for part, each in zip(Triple._fields, ends, strict=True)
            },
        }

    def to_dict(self) -> dict[str, Any]:
        """The rows, as the page gives them to programs."""
        about = {"deadheat": program(), "rank_by": {"measure": self.measures[0], "value": "lower"}}
        return {**about, "rows": [public(row) for row in self.rows]}


def public(row: Row) -> Row:
    """What of a row is for programs: all but where the page draws it."""
    return {name: value for name, value in row.items() if name != "bar"}


def unprotected(name: str, protection: str) -> str:
    """A name with the mark of whoever's command ran without a sandbox."""
    return f"{name}{sandbox.UNPROTECTED if protection == sandbox.NOTHING else ''}"
