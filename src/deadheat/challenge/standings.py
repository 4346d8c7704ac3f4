"""From scores to the leaderboard: the best submission of each team, ranked by its lower bound."""

from __future__ import annotations

import math
from typing import Any

from deadheat.analyses.comparison import Leaderboard, leaderboard
from deadheat.challenge import sandbox
from deadheat.challenge.settings import Challenge
from deadheat.challenge.store import Store, Submission
from deadheat.errors import InvalidValueError
from deadheat.pages import drawing
from deadheat.profiles import TieProfile
from deadheat.receipts import Receipt
from deadheat.reports import Report
from deadheat.reports.evaluating import report_on
from deadheat.reports.tables import plain
from deadheat.support.lazy import json
from deadheat.support.triple import Triple

Entry = tuple[Submission, str]  # and what protected the labels from it


def entries(challenge: Challenge, store: Store, every: bool = False) -> dict[str, Entry]:
    """Submissions by the name that the leaderboard has for them: every one, or the best of each team.

    Which is best goes by the lower bound that ranks; of equal ones, by which came first.
    """
    measure, best, values = challenge.rules.measures[0], dict[str, Entry](), dict[str, float]()
    for submission, receipt, protection in store.scores():
        name = f"{submission.team} #{submission.number}" if every else submission.team
        value = Receipt(json.loads(receipt))[measure].lower
        if name not in values or value > values[name] or math.isnan(values[name]):
            values[name], best[name] = value, (submission, protection)
    return {f"{name}{sandbox.UNPROTECTED if each[1] == sandbox.NOTHING else ''}": each for name, each in best.items()}


def reports(challenge: Challenge, found: dict[str, Entry]) -> dict[str, Report]:
    """The report of each, from its profile."""
    rules = challenge.rules
    counting = rules.counting
    return {
        name: report_on(
            TieProfile.load(challenge.profile(submission.id)), rules.summary, threads=counting.threads,
            labels=challenge.query_labels, distance=rules.distance, tie_rule=counting.rule.describe(rules.distance),
            separate_gallery=rules.n_query is not None,
        )
        for name, (submission, _) in found.items()
    }  # fmt: skip


def board(challenge: Challenge, store: Store, every: bool = False) -> Leaderboard | Report:
    """The leaderboard; of a single one its report, since there is nobody to be ahead of."""
    found = reports(challenge, entries(challenge, store, every))
    if not found:
        raise InvalidValueError("DIR", f"must hold a scored submission, but {challenge.folder} has none yet")
    return leaderboard(found) if len(found) > 1 else next(iter(found.values()))


def keep(challenge: Challenge, store: Store) -> None:
    """Keep what the page shows, if it is of other submissions than those that count now."""
    found = entries(challenge, store)
    of = sorted(submission.id for submission, _ in found.values())
    known = store.board()
    if found and (known is None or json.loads(known)["of"] != of):
        store.keep_board(json.dumps({"of": of, "rows": _rows(challenge, found)}))


def _rows(challenge: Challenge, found: dict[str, Entry]) -> list[dict[str, Any]]:
    """What the page shows of each, in the order of the ranks."""
    listed, measures = reports(challenge, found), challenge.rules.measures
    ranked = leaderboard(listed) if len(listed) > 1 else None
    rows = []
    for name in ranked or listed:
        submission, protection = found[name]
        report = listed[name]
        interval = (report.interval(measures[0]) if ranked is None else ranked.interval(name)).expected
        row = {
            "rank": 1 if ranked is None else ranked.ranks[name],
            "team": submission.team,
            "title": submission.title,
            "received": submission.received,
            "protection": protection,
            "values": {m: [getattr(report[m], part) for part in Triple._fields] for m in measures},
            "interval": [interval.low, interval.high],
            "bar": drawing.bar(report[measures[0]], (interval.low, interval.high)),
            "ahead_of": [] if ranked is None else [found[other][0].team for other in ranked.ahead_of(name)],
            "could_swap": ranked is not None and any(name in pair for pair in ranked.could_swap),
        }
        rows.append(plain(row))
    return rows
