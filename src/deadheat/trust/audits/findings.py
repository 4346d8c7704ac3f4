"""The findings of an audit: each a sentence with figures, its severity, and advice.

`Audited` is the base of every audit: findings, the most serious first, with a verdict, as text, tables and values.
Below are the formats of numbers in sentences: scores in per cent, rows by number, counts with their shares.
"""

from __future__ import annotations

import html
import math
import textwrap
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from deadheat.errors import printable
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.report import Report
from deadheat.reports.tables import count, latex_text, markdown_text, plain
from deadheat.support import checks
from deadheat.support.arrays import Int64
from deadheat.support.lazy import json
from deadheat.support.triple import Triple
from deadheat.trust.audits import thresholds

SEVERITIES = ("serious", "warning", "note")  # the most serious first
_WIDTH = 100  # of lines of text


@dataclass(frozen=True)
class Finding:
    """One finding of an audit.

    Attributes
    ----------
    name : str
        The subject of the check, in lower case: "zero embeddings". The same subject always has the same name.
    severity : {"serious", "warning", "note"}
        Serious if the score should not be believed as it stands, a warning if a reader has to know of it, a note if a
        reader may like to know.
    sentence : str
        The finding, with its most important figures.
    figures : mapping of str to numbers, text, lists and mappings of them
        All figures, unrounded; scores are fractions in [0, 1].
    advice : str
        The recommended action.

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
        """Return the finding as plain Python values that JSON can hold."""
        content: dict[str, Any] = plain(vars(self))
        return content


def most_serious_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sort findings by severity; those of one severity stay in their order."""
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


class Audited(Answer):
    """Findings, the most serious first; iterating goes through them."""

    findings: tuple[Finding, ...]

    @abstractmethod
    def about(self) -> str:
        """Return a description of what was audited, in a few words."""

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __getitem__(self, name: str) -> Finding:
        """Return the first finding of a name; raises ValueError where there is none."""
        return checks.part({each.name: each for each in reversed(self.findings)}, name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(each.name == name for each in self.findings)

    def of(self, severity: str) -> tuple[Finding, ...]:
        """Return the findings of one severity: "serious", "warning" or "note"."""
        checks.choice(severity, SEVERITIES, "severity")
        return tuple(each for each in self.findings if each.severity == severity)

    def passes(self, *, strict: bool = False) -> bool:
        """Return whether there is no serious finding and, if `strict`, no warning either."""
        refused = ("serious", "warning") if checks.flag(strict, "strict") else ("serious",)
        return not any(map(self.of, refused))

    def counts(self) -> dict[str, int]:
        """Count the findings of each severity."""
        return {severity: len(self.of(severity)) for severity in SEVERITIES}

    def verdict(self) -> str:
        """Return the counts of findings in one line, with what was audited."""
        names = {"serious": "serious finding"}
        counted = [count(n, name := names.get(each, each), f"{name}s") for each, n in self.counts().items() if n]
        return f"{', '.join(counted) or 'nothing found'} ({self.about()})"

    def notes(self) -> list[str]:
        """Return the findings, a line each."""
        return list(self._listed("{} {}"))

    def _listed(self, form: str, written: Callable[[str], str] = str) -> Iterator[str]:
        """Yield each finding as a line: its title and its text, in this form."""
        for finding in self.findings:
            title, text = f"{finding.severity}: {finding.name}.", f"{finding.sentence} {finding.advice}".strip()
            yield form.format(written(title), written(text))

    def to_text(self, **options: Any) -> str:
        """Return the verdict, the table and the findings, as lines that fit a terminal, as `print` shows them."""
        table = "\n\n".join(table.to_text() for table in self.tables(**options))
        return "\n\n".join([self.verdict(), table, *map(_paragraph, self.findings)])

    def to_markdown(self, **options: Any) -> str:
        """Return the verdict, the table and a list of the findings, in Markdown."""
        tables = [table.to_markdown() for table in self.tables(**options)]
        listed = "\n".join(self._listed("- **{}** {}", markdown_text))
        return "\n\n".join([f"**{markdown_text(self.verdict())}**", *tables, listed]).rstrip() + "\n"

    def to_latex(self, **options: Any) -> str:
        """Return the verdict, the table and the findings, for LaTeX with the package booktabs."""
        return f"\\noindent\\textbf{{{latex_text(self.verdict())}}}\n\n{super().to_latex(**options)}"

    def to_dict(self, **options: Any) -> dict[str, Any]:
        """Return the findings and the values behind them, unrounded, as plain Python values that JSON can hold."""
        findings = {"counts": self.counts(), "findings": [each.to_dict() for each in self], "notes": [self.verdict()]}
        return super().to_dict(**options) | findings

    def data(self, **options: Any) -> Panel:
        """Return the findings, a row each; their figures as JSON."""
        names = ("severity", "name", "sentence", "advice")
        columns = [Column(name, [getattr(each, name) for each in self.findings]) for name in names]
        return Panel([*columns, Column("figures", [json.dumps(plain(each.figures)) for each in self.findings])])

    def _repr_html_(self) -> str:
        """Return the verdict, the table and a list of the findings, in HTML for a notebook."""
        listed = "".join(self._listed("<li><strong>{}</strong> {}</li>", html.escape))
        tables = "".join(table.to_html() for table in self.tables())
        return f"<p><strong>{html.escape(self.verdict())}</strong></p>{tables}<ul>{listed}</ul>"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.verdict()})"


def _paragraph(finding: Finding) -> str:
    """Format a finding as lines: severity and name, then sentence and advice; no line begins with a per cent sign."""
    severity = finding.severity.upper() if finding.severity == "serious" else finding.severity
    lines = [f"{severity}: {finding.name}"]
    for first, text in (("  ", finding.sentence), ("  -> ", finding.advice)):
        together = text.replace(" %", "\N{NO-BREAK SPACE}%")
        lines += textwrap.wrap(together, _WIDTH, initial_indent=first, subsequent_indent=" " * len(first))
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


# ---------------------------------------------------------------------------------------------------------------------
# sentences


def by_move(move: float) -> str:
    """Return the severity of something that moves a score this far."""
    return "serious" if move >= thresholds.CLAIMED else "warning" if move >= thresholds.PRINTED else "note"


def by_share(n: int, total: int) -> str:
    """Return the severity of something that n of all rows or queries have."""
    many, some = thresholds.MANY_ROWS * total, thresholds.SOME_ROWS * total
    return "serious" if n >= many else "warning" if n >= some else "note"


def worst(moves: Mapping[str, float]) -> tuple[str, float]:
    """Return the first measure that moves as seriously as any or, if all move little, the one that moves most."""
    known = {name: 0.0 if math.isnan(move) else move for name, move in moves.items()}  # what is undefined does not move
    name = most = max(known, key=lambda name: known[name])
    if known[most] >= thresholds.PRINTED:
        name = next(name for name, move in known.items() if by_move(move) == by_move(known[most]))
    return name, known[name]


def bounds(report: Report) -> dict[str, dict[str, float]]:
    """Return lower, expected and upper of each measure."""
    return {name: {end: getattr(result, end) for end in Triple._fields} for name, result in report.items()}


def table_of_ways(reports: Mapping[str, Report], values: Mapping[str, Mapping[str, float]]) -> Panel:
    """Return a table with a row for each way to get the measures: reports with bounds, then single values."""
    single = {title: {name: Triple(*[each] * 3) for name, each in row.items()} for title, row in values.items()}
    rows: dict[str, Any] = {**reports, **single}
    measures = next(iter(rows.values()))
    columns = [Column(name, [row[name] for row in rows.values()], "fraction", shape="value") for name in measures]
    return Panel([Column("measure", list(rows)), *columns], key="")


def of_ties(report: Report, what: str, advice: str, **figures: Any) -> Iterator[Finding]:
    """Yield a finding if the way of breaking ties moves any measure; `what` names the tied items."""
    widths = {name: result.upper - result.lower for name, result in report.items()}
    name, width = worst(widths)
    if width <= 0:
        return
    result, about = report[name], report.ties
    yield Finding(
        "ties",
        by_move(width),
        f"How ties are broken moves {name} {between(result.lower, result.upper)}; expected {percent(result.expected)}. "
        f"{count(about.mixed_groups, 'tie group holds', 'tie groups hold')} relevant and irrelevant {what}, in "
        f"{count(about.queries, 'query', 'queries')}; the largest has {about.largest}.",
        {**figures, "moves": widths, **about._asdict()},
        advice,
    )


def percent(score: float) -> str:
    """Format a fraction in per cent, with two decimals."""
    return f"{100 * score:.2f} %"


def points(difference: float) -> str:
    """Format a difference of scores in points of per cent, to two digits.

    Examples
    --------
    >>> points(0.25), points(0.000123), points(0.01), points(1)
    ('25 points', '0.012 points', '1 point', '100 points')
    """
    text = _two_digits(100 * difference)
    return f"{text} point{'' if text == '1' else 's'}"


def between(low: float, high: float) -> str:
    """Format the range between two scores; where both read the same, only its width.

    Examples
    --------
    >>> between(0.25, 0.5), between(0.25, 0.250001)
    ('between 25.00 % and 50.00 % (25 points)', 'by 0.0001 points')
    """
    texts, width = (percent(low), percent(high)), points(high - low)
    return f"by {width}" if texts[0] == texts[1] else f"between {texts[0]} and {texts[1]} ({width})"


def some(
    name: str, severity: str, n: int, total: int, things: str, sentence: str, advice: str, /, **figures: Any
) -> Finding:
    """Return a finding about n of all things; its sentence begins with their share."""
    return Finding(name, severity, f"{share(n, total, things).capitalize()} {sentence}", figures, advice)


def share(n: int, total: int, what: str) -> str:
    """Format a number of things with their share of the total."""
    return f"{n} of {total} {what} ({_two_digits(100 * n / total)} %)" if n < total else f"all {total} {what}"


def _two_digits(number: float) -> str:
    """Format a number to two digits, or as a whole number, without an exponent, if it has more."""
    return f"{number:.2g}" if number < 99.5 else f"{number:.0f}"


def listed(rows: Int64) -> str:
    """Format the numbers of the first of some rows, for a sentence."""
    shown = ", ".join(map(str, rows[:5].tolist()))
    return f"row{'' if len(rows) == 1 else 's'} {shown}{', ...' if len(rows) > 5 else ''}"


def deviations(number: float) -> str:
    """Format a number of standard deviations, to about three digits.

    Examples
    --------
    >>> deviations(-1.46), deviations(20345.6)
    ('-1.46', '20,346')
    """
    return f"{number:.3g}" if abs(number) < 100 else f"{number:,.0f}"
