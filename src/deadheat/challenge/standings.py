"""From scores to the leaderboard: the best submission of each team, ranked by its lower bound."""

from __future__ import annotations

import math

from deadheat.analyses.comparison import Leaderboard, leaderboard
from deadheat.challenge import publication
from deadheat.challenge.publication import Board, Entry, Row
from deadheat.challenge.settings import Challenge
from deadheat.challenge.store import Store
from deadheat.errors import InvalidValueError
from deadheat.profiles import TieProfile
from deadheat.receipts import Receipt
from deadheat.reports import Report
from deadheat.reports.evaluating import report_on
from deadheat.reports.tables import DIGITS
from deadheat.support.lazy import json


def entries(challenge: Challenge, store: Store, every: bool = False) -> dict[str, Entry]:
    """Submissions by the name that the leaderboard has for them: every one, or the best of each team.

    Which is best goes by the published lower bound that ranks; of equal ones, by which came first.
    """
    measure, best, values = challenge.rules.measures[0], dict[str, Entry](), dict[str, float]()
    for submission, receipt, protection in store.scores():
        name = f"{submission.team} #{submission.number}" if every else submission.team
        value = publication.rounded(Receipt(json.loads(receipt))[measure].lower)
        if name not in values or value > values[name] or math.isnan(values[name]):
            values[name], best[name] = value, (submission, protection)
    return {publication.unprotected(name, each[1]): each for name, each in best.items()}


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


def exact(challenge: Challenge, store: Store, every: bool = False) -> Leaderboard | Report:
    """The leaderboard for the organiser; of a single one its report, since there is nobody to be ahead of."""
    found = reports(challenge, _scored(challenge, store, every))
    return leaderboard(found) if len(found) > 1 else next(iter(found.values()))


def board(challenge: Challenge, store: Store, every: bool = False) -> Board:
    """The leaderboard for everybody."""
    measures = challenge.rules.measures
    return Board(measures, _rows(challenge, _scored(challenge, store, every)))


def keep(challenge: Challenge, store: Store) -> None:
    """Keep what the page shows, if it is of other submissions than those that count now."""
    found = entries(challenge, store)
    key = {"digits": DIGITS, "of": sorted(submission.id for submission, _ in found.values())}
    known = json.loads(store.board() or "{}")
    if found and {name: known.get(name) for name in key} != key:
        store.keep_board(json.dumps({**key, "rows": _rows(challenge, found)}))


def kept(store: Store) -> list[Row]:
    """What the page shows; nothing of what an earlier deadheat has kept, which was not rounded."""
    known = json.loads(store.board() or "{}")
    rows: list[Row] = known["rows"] if known.get("digits") == DIGITS else []
    return rows


def _rows(challenge: Challenge, found: dict[str, Entry]) -> list[Row]:
    return publication.rows(found, reports(challenge, found), challenge.rules.measures)


def _scored(challenge: Challenge, store: Store, every: bool) -> dict[str, Entry]:
    found = entries(challenge, store, every)
    if not found:
        raise InvalidValueError("DIR", f"must hold a scored submission, but {challenge.folder} has none yet")
    return found
