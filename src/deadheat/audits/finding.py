"""What an audit finds: one thing in a sentence and figures, how serious it is, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deadheat.printable import printable
from deadheat.reports.tables import plain
from deadheat.support import checks

SEVERITIES = ("serious", "warning", "note")  # the most serious first


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes
    ----------
    name : str
        What was looked for, in lower case: "zero embeddings". The same thing always has the same name.
    severity : {"serious", "warning", "note"}
        Whether the score should not be believed as it stands, a reader has to know of it, or may like to know.
    sentence : str
        What was found, with its most important figures.
    figures : mapping of str to numbers, text, lists and mappings of them
        All figures, unrounded; scores are fractions in [0, 1].
    advice : str
        What to do.

    Examples
    --------
    >>> found = Finding("zero embeddings", "serious", "All 3 rows are zero.", {"rows": 3}, "Look at the export.")
    >>> found.to_dict()["severity"]
    'serious'
    """

    name: str
    severity: str
    sentence: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ""

    def __post_init__(self) -> None:
        checks.choice(self.severity, SEVERITIES, "severity")
        for text in ("sentence", "advice"):  # they quote labels, paths and what an evaluator raised
            object.__setattr__(self, text, printable(getattr(self, text)))

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain Python values that JSON can hold."""
        return {
            "name": self.name,
            "severity": self.severity,
            "sentence": self.sentence,
            "figures": plain(self.figures),
            "advice": self.advice,
        }


def most_serious_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings by severity; those of one severity stay in their order.

    Examples
    --------
    >>> found = [Finding("a", "note", "A."), Finding("b", "serious", "B."), Finding("c", "note", "C.")]
    >>> [finding.name for finding in most_serious_first(found)]
    ['b', 'a', 'c']
    """
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def passes(findings: Iterable[Finding], strict: bool = False) -> bool:
    """Whether a gate lets this through: nothing serious, and if it is strict no warning either.

    Examples
    --------
    >>> passes([Finding("a", "warning", "A.")]), passes([Finding("a", "warning", "A.")], strict=True)
    (True, False)
    """
    refused = SEVERITIES[: 2 if strict else 1]
    return not any(finding.severity in refused for finding in findings)
