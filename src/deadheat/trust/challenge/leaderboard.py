"""From scores to the leaderboard: what leaves the organiser's machine, and how much it reveals of the labels.

Nothing else may distinguish two submissions whose values read the same. So the values are rounded first, here and
nowhere else, and ranks, the order of the rows, marks and drawings are made of the rounded ones.

    scores ──> best of each team ──> Report, Leaderboard (exact) ──rounded──> rows ──> HTML, JSON, command
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadheat.analyses.leaderboard import Leaderboard, leaderboard
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.plots import pages
from deadheat.reports.evaluating import report_on
from deadheat.reports.report import Report
from deadheat.reports.tables import DIGITS, Table, TabularResult, plain, program
from deadheat.support.lazy import json
from deadheat.support.triple import Triple
from deadheat.trust.challenge import sandbox
from deadheat.trust.challenge.challenge import Challenge
from deadheat.trust.challenge.store import Store, Submission
from deadheat.trust.receipts.document import Receipt

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
    """How many bits the answer to one submission can reveal of the labels, at most.

    It is the binary logarithm of the number of different answers: lower ≤ expected ≤ upper of each measure
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

    "ahead_of" has the names of those that a submission is significantly ahead of and whose published value is lower;
    "could_pass" those ranked above it that its own ties could put it ahead of: its upper bound is above their lower
    bound. Nobody else's ties can do that, for the lower bounds, which rank, hold however ties are broken.
    """
    first = measures[0]
    ranked = leaderboard(dict(reports)) if len(reports) > 1 else None
    values = {name: {m: triple(report[m]) for m in measures} for name, report in reports.items()}
    lower = {name: -1.0 if math.isnan(each[first].lower) else each[first].lower for name, each in values.items()}
    order = sorted(lower, key=lambda name: (-lower[name], found[name][0].number))
    made = []
    for place, name in enumerate(order):
        submission, protection = found[name]
        exact = (reports[name].interval(first) if ranked is None else ranked.interval(name)).expected
        interval = rounded(exact.low), rounded(exact.high)
        behind = () if ranked is None else ranked.ahead_of(name)
        row = {
            "rank": 1 + sum(other > lower[name] for other in lower.values()),
            "name": name,
            "team": submission.team,
            "title": submission.title,
            "received": int(submission.received),
            "protection": protection,
            "values": values[name],
            "interval": list(interval),
            "bar": pages.bar(values[name][first], interval),
            "ahead_of": [other for other in order if other in behind and lower[other] < lower[name]],
            "could_pass": [above for above in order[:place] if values[name][first].upper > lower[above]],
        }
        made.append(plain(row))
    return made


@dataclass(frozen=True, eq=False)
class Board(TabularResult):
    """A leaderboard as it may be published."""

    measures: tuple[str, ...]  # the lower bound of the first one ranks
    rows: list[Row]

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """One table: a row for each submission, in per cent."""
        if digits != DIGITS:
            rule = f"must be {DIGITS} in what is published (--exact has more), but is {digits}"
            raise InvalidValueError("digits", rule)
        first, *others = self.measures
        header = ["team", "rank", f"{first} lower (%)", "expected", "upper", "95 % interval", "ahead of"]
        header += [f"{name} lower (%)" for name in others]
        return [Table(header, [self._cells(row) for row in self.rows])]

    def _cells(self, row: Row) -> list[str]:
        first, *others = self.measures
        values = row["values"]
        low, high = map(percent, row["interval"])
        cells = [row["name"], f"{row['rank']}{'~' if row['could_pass'] else ''}", *map(percent, values[first])]
        return [*cells, f"[{low}, {high}]", ", ".join(row["ahead_of"]), *(percent(values[name][0]) for name in others)]

    def notes(self) -> list[str]:
        """What the columns say."""
        moves = [f"{row['name']} ahead of {', '.join(row['could_pass'])}" for row in self.rows if row["could_pass"]]
        return [
            f"Ranked by the lower bound of {self.measures[0]}, as it is rounded here; equal ones share a rank.",
            "Ahead of: significantly, however ties are broken (p < 0.05, Holm's correction for all pairs).",
            *([f"~ Its own ties could put {'; '.join(moves)}."] if moves else []),
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
    kept = {name: value for name, value in row.items() if name not in ("bar", "values")}
    ends = {name: dict(zip(Triple._fields, values, strict=True)) for name, values in row["values"].items()}
    return kept | {"measures": ends}


def entries(challenge: Challenge, store: Store, every: bool = False) -> dict[str, Entry]:
    """Submissions by the name that the leaderboard has for them: every one, or the best of each team.

    Which is best goes by the published lower bound that ranks; of equal ones, by which came first.
    """
    measure, best, values = challenge.rules.measures[0], dict[str, Entry](), dict[str, float]()
    for submission, receipt, protection in store.scores():
        name = f"{submission.team} #{submission.number}" if every else submission.team
        value = rounded(Receipt(json.loads(receipt))[measure].lower)
        if name not in values or value > values[name] or math.isnan(values[name]):
            values[name], best[name] = value, (submission, protection)
    marks = {sandbox.NOTHING: sandbox.UNPROTECTED}  # whose command ran without a sandbox
    return {name + marks.get(each[1], ""): each for name, each in best.items()}


def reports(challenge: Challenge, found: dict[str, Entry]) -> dict[str, Report]:
    """The report of each, from its profile."""
    rules = challenge.rules
    counting = rules.counting
    return {
        name: report_on(
            TieProfile.load(challenge.profile(submission.id)), rules.summary, labels=challenge.labels[: rules.n_query],
            distance=rules.distance, tie_rule=counting.rule.describe(rules.distance), threads=counting.threads,
            separate_gallery=rules.n_query is not None,
        )
        for name, (submission, _) in found.items()
    }  # fmt: skip


def exact(challenge: Challenge, store: Store, every: bool = False) -> Leaderboard | Report:
    """The leaderboard for the organiser; of a single one its report, since there is nobody to be ahead of."""
    found = reports(challenge, _scored(challenge, store, every))
    return leaderboard(found) if len(found) > 1 else next(iter(found.values()))


def board(challenge: Challenge, store: Store, every: bool = False) -> Board:
    """The leaderboard for everybody."""
    return Board(challenge.rules.measures, _rows(challenge, _scored(challenge, store, every)))


def keep(challenge: Challenge, store: Store) -> None:
    """Keep what the page shows, if it is of other submissions than those that count now."""
    found = entries(challenge, store)
    key = {"digits": DIGITS, "of": sorted(submission.id for submission, _ in found.values())}
    known = json.loads(store.board() or "{}")
    if found and {name: known.get(name) for name in key} != key:
        store.keep_board(json.dumps({**key, "rows": _rows(challenge, found)}))


def kept(store: Store) -> list[Row]:
    """What the page shows; nothing that was kept with other digits."""
    known = json.loads(store.board() or "{}")
    shown: list[Row] = known["rows"] if known.get("digits") == DIGITS else []
    return shown


def _rows(challenge: Challenge, found: dict[str, Entry]) -> list[Row]:
    return rows(found, reports(challenge, found), challenge.rules.measures)


def _scored(challenge: Challenge, store: Store, every: bool) -> dict[str, Entry]:
    found = entries(challenge, store, every)
    if not found:
        raise InvalidValueError("DIR", f"must hold a scored submission, but {challenge.folder} has none yet")
    return found
