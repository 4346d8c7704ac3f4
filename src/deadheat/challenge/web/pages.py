"""From the book to HTML and JSON: templates that escape whatever they show."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from deadheat.challenge import publication, sandbox
from deadheat.challenge.publication import percent
from deadheat.challenge.settings import Challenge
from deadheat.challenge.store import Submission
from deadheat.receipts import Receipt
from deadheat.reports.tables import program
from deadheat.support.extras import require
from deadheat.support.lazy import json
from deadheat.support.triple import Triple


class Pages:
    """The pages of a challenge."""

    def __init__(self, challenge: Challenge) -> None:
        jinja2 = require("jinja2", "challenge", "the page of a challenge")
        loaders = [jinja2.PackageLoader(f"deadheat.{room}", "templates") for room in ("challenge.web", "pages")]
        self._environment = jinja2.Environment(
            loader=jinja2.ChoiceLoader(loaders), autoescape=True, trim_blocks=True, lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )  # fmt: skip
        self._environment.filters |= {"percent": percent, "moment": moment}
        self._first = challenge.rules.measures[0]
        self._known = {"rules": challenge.rules, "version": program(), "unprotected": sandbox.NOTHING}
        self.style = str(self._environment.get_template("challenge.css").render())

    def render(self, name: str, **content: Any) -> str:
        return str(self._environment.get_template(name).render(self._known | content))

    def measures(self, receipt: Mapping[str, Any]) -> dict[str, Triple[float]]:
        """What is published of each measure that a receipt has."""
        found = Receipt(receipt)
        return {name: publication.triple(found[name]) for name in receipt["measures"]}

    def value(self, receipt: Mapping[str, Any]) -> Triple[float]:
        """Of the measure that ranks."""
        return publication.triple(Receipt(receipt)[self._first])

    def as_json(self, submission: Submission, receipt: str | None, ahead: int, waits: bool) -> dict[str, Any]:
        """A submission for a program of its team's."""
        about = {name: getattr(submission, name) for name in ("id", "number", "team", "title", "state", "message")}
        shown = {} if receipt is None else self.measures(json.loads(receipt))
        values = {name: {end: percent(getattr(each, end)) for end in each._fields} for name, each in shown.items()}
        return {
            **about,
            "sha256": submission.digest,
            "received": moment(submission.received),
            "ahead_in_queue": ahead if submission.state in ("queued", "scoring") else 0,
            "out_of_time": waits,
            "percent": values,
        }


def moment(seconds: float) -> str:
    """When, in UTC.

    Examples
    --------
    >>> moment(0)
    '1970-01-01 00:00 UTC'
    """
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(seconds))
