"""What `deadheat.audit` gives: the measures however they may be ranked, and findings, the most serious first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deadheat.audits import finding
from deadheat.audits.finding import SEVERITIES, Finding
from deadheat.audits.submission.evidence import Evidence
from deadheat.reports.tables import DIGITS, Table, TabularResult, count, decimals, number, plain, program, value
from deadheat.support.lazy import json
from deadheat.support.triple import Triple

_WIDTH = 100  # of lines of text
_PLURALS = {"serious": "serious findings", "warning": "warnings", "note": "notes"}
_SINGULARS = {"serious": "serious finding", "warning": "warning", "note": "note"}


@dataclass(frozen=True, eq=False)
class Audit(TabularResult):
    """What a careful referee would ask about a submission.

    Printing it gives the verdict, the measures by exact distances, rounded scores, plain sorts and chance, and then the
    findings. Iterating goes through the findings.

    Attributes
    ----------
    findings : tuple of Finding
        The most serious first; ``name``, ``severity``, ``sentence``, ``figures`` and ``advice`` of each.
    evidence : Evidence
        What they were found in: ``evidence.report`` is that of `deadheat.evaluate`.
    """

    findings: tuple[Finding, ...]
    evidence: Evidence

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, name: str) -> Finding:
        """The first finding of a name; raises KeyError where nothing of the kind was found."""
        found = next((each for each in self.findings if each.name == name), None)
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name: object) -> bool:
        return any(each.name == name for each in self.findings)

    def of(self, severity: str) -> tuple[Finding, ...]:
        """The findings of one severity: "serious", "warning" or "note"."""
        return tuple(each for each in self.findings if each.severity == severity)

    def passes(self, *, strict: bool = False) -> bool:
        """Whether nothing serious was found; if it is strict, no warning either."""
        return finding.passes(self.findings, strict)

    def verdict(self) -> str:
        """How many findings of each severity there are, in a line."""
        counts = [(len(self.of(each)), each) for each in SEVERITIES]
        told = [count(n, _SINGULARS[each], _PLURALS[each]) for n, each in counts if n]
        return f"{', '.join(told) or 'nothing found'} ({self._about()})"

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """The measures, in per cent, by everything that a ranking can depend on."""
        form = decimals(digits)
        evidence, names = self.evidence, self.evidence.report.measures
        rows = [["exact distances", *(value(evidence.report[name], digits) for name in names)]]
        for dtype, report in evidence.rounded.items():
            rows.append([f"scores in {dtype}", *(value(report[name], digits) for name in names)])
        for title, values in self._plain_sorts().items():
            rows.append([title, *(number(100 * values[name], form) for name in names)])
        rows.append(["chance", *(number(100 * evidence.chance[name].expected, form) for name in names)])
        return [Table(["measure (%)", *names], rows)]

    def notes(self) -> list[str]:
        """The findings."""
        return [f"{each.severity}: {each.name}. {each.sentence} {each.advice}".strip() for each in self.findings]

    def to_text(self, **options: Any) -> str:
        """The verdict, the table and the findings, as lines that fit a terminal: what `print` shows."""
        table = "\n\n".join(table.to_text() for table in self.tables(**options))
        return "\n\n".join([self.verdict(), table, *map(_paragraph, self.findings)])

    def to_markdown(self, **options: Any) -> str:
        """The verdict, the table and a list of the findings, in Markdown."""
        tables = [table.to_markdown() for table in self.tables(**options)]
        listed = [
            f"- **{each.severity}: {each.name}.** {each.sentence} {each.advice}".strip() for each in self.findings
        ]
        return "\n\n".join([f"**{self.verdict()}**", *tables, "\n".join(listed)]).rstrip() + "\n"

    def columns(self) -> dict[str, list[Any]]:
        """The findings, a row each; their figures as JSON."""
        columns: dict[str, list[Any]] = {
            name: [getattr(each, name) for each in self.findings] for name in ("severity", "name", "sentence", "advice")
        }
        return {**columns, "figures": [json.dumps(plain(each.figures)) for each in self.findings]}

    def to_dict(self) -> dict[str, Any]:
        """The findings, and the values that the table shows, unrounded, as plain values that JSON can hold."""
        evidence = self.evidence
        values = {"exact": evidence.report, **evidence.rounded, "chance": evidence.chance}
        return {
            "deadheat": program(),
            "distance": evidence.report.distance,
            "n_query": evidence.report.n_query,
            "counts": {severity: len(self.of(severity)) for severity in SEVERITIES},
            "measures": {
                name: {
                    **{what: plain(_triple(report[name])) for what, report in values.items()},
                    "plain_sort": {title: plain(each[name]) for title, each in self._plain_sorts().items()},
                }
                for name in evidence.report.measures
            },
            "findings": [each.to_dict() for each in self.findings],
        }

    def _about(self) -> str:
        """What was audited."""
        (n, dim), gallery = self.evidence.pair.query.embeddings.shape, self.evidence.pair.gallery
        against = "" if gallery is None else f" against {len(gallery.labels)}"
        return f"{count(n, 'embedding', 'embeddings')}{against} of dim {dim}, {self.evidence.report.distance}"

    def _plain_sorts(self) -> dict[str, dict[str, float]]:
        """Rows of values by a plain sort, where ties make any difference."""
        sorts = self.evidence.sorts
        if sorts is None:
            return {}
        return {
            "plain sort, as in the file": sorts.file,
            "plain sort, reversed": sorts.backwards,
            "plain sort, shuffled": {name: values[0] for name, values in sorts.shuffled.items()},
        }

    def __repr__(self) -> str:
        return f"Audit({self.verdict()})"


def _triple(result: Any) -> dict[str, float]:
    return {end: getattr(result, end) for end in Triple._fields}


def _paragraph(found: Finding) -> str:
    """A finding as lines: how serious, what, and what to do below it."""
    severity = found.severity.upper() if found.severity == "serious" else found.severity
    lines = [f"{severity}: {found.name}", _wrapped(found.sentence, "  ", "  ")]
    return "\n".join([*lines, _wrapped(found.advice, "  -> ", "     ")] if found.advice else lines)


def _wrapped(text: str, first: str, others: str) -> str:
    """A text in lines, none of which begins with a sign of per cent."""
    together = text.replace(" %", "\N{NO-BREAK SPACE}%")
    lines = textwrap.fill(together, _WIDTH, initial_indent=first, subsequent_indent=others)
    return lines.replace("\N{NO-BREAK SPACE}", " ")
