"""What every audit is: findings, the most serious first, with a verdict, as text, tables and values."""

from __future__ import annotations

import html
import textwrap
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

from deadheat.reports.tables import TabularResult, count, plain
from deadheat.support.lazy import json
from deadheat.trust.audits.findings import SEVERITIES, Finding

_WIDTH = 100  # of lines of text
_COUNTED = {
    "serious": ("serious finding", "serious findings"),
    "warning": ("warning", "warnings"),
    "note": ("note", "notes"),
}


class Audited(TabularResult):
    """Findings, the most serious first; iterating goes through them."""

    findings: tuple[Finding, ...]

    @abstractmethod
    def about(self) -> str:
        """What was audited, in a few words."""

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
        return not (self.of("serious") or (strict and self.of("warning")))

    def counts(self) -> dict[str, int]:
        """How many findings of each severity there are."""
        return {severity: len(self.of(severity)) for severity in SEVERITIES}

    def verdict(self) -> str:
        """The same in a line, with what was audited."""
        counted = [count(n, *_COUNTED[each]) for each, n in self.counts().items() if n]
        return f"{', '.join(counted) or 'nothing found'} ({self.about()})"

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
        names = ("severity", "name", "sentence", "advice")
        figures = [json.dumps(plain(each.figures)) for each in self.findings]
        return {name: [getattr(each, name) for each in self.findings] for name in names} | {"figures": figures}

    def _repr_html_(self) -> str:
        """The verdict, the table and a list of the findings, as a notebook shows them."""
        listed = (
            f"<li><strong>{each.severity}: {html.escape(each.name)}.</strong> "
            f"{html.escape(f'{each.sentence} {each.advice}'.strip())}</li>"
            for each in self.findings
        )
        tables = "".join(table.to_html() for table in self.tables())
        return f"<p><strong>{html.escape(self.verdict())}</strong></p>{tables}<ul>{''.join(listed)}</ul>"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.verdict()})"


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
