"""Tables of text, as text, Markdown, LaTeX and HTML, and the formats of the numbers in their cells.

`value` is the one rule for the number to report: ``expected [lower, upper]``, or one number where they are equal.
Tables are in per cent. `deadheat.reports.answer` makes them from results.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from deadheat.errors import printable
from deadheat.support import checks
from deadheat.support.lazy import html, lazy
from deadheat.support.triple import Triple

_MOST_CHARACTERS = 200  # of a cell
SCHEMA = 1  # of JSON; raised when a key goes, or changes its meaning
DIGITS = 2  # decimals of a value in per cent, unless others are asked for
_MOST_DIGITS = 15  # more than a float has
_FINEST = 6  # decimals up to which lower and upper are printed differently where `DIGITS` print the same
# What Markdown would take for code, emphasis, a cell, a link, markup or an entity.
_MARKDOWN = re.compile(r"[\\`*|]|(?<![^\W_])_|_(?![^\W_])|(?<=\])(?=[(\[:])|<(?=[a-zA-Z/!?])|&(?=#?\w+;)")
LETTERS = "abcdefghijklmnoprstuvwxyz"  # Unicode has no raised q that fonts know
_RAISED = "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
_UP, _DOWN = str.maketrans(LETTERS + "-", _RAISED + "⁻"), str.maketrans(_RAISED + "⁻", LETTERS + "-")
_RAISED_TEXT = re.compile(f"[{_RAISED}⁻]+(?:,[{_RAISED}⁻]+)*")
_LATEX = str.maketrans({
    **{character: f"\\{character}" for character in "&%$#_{}"}, "\\": r"\textbackslash{}", "~": r"\textasciitilde{}",
    "^": r"\^{}", "<": r"\ensuremath{<}", ">": r"\ensuremath{>}",
})  # fmt: skip
_STYLE = """<style>
.deadheat { overflow-x: auto }
.deadheat table { border-collapse: collapse; margin: .4em 0; background: none; color: inherit }
.deadheat :is(th, td) { text-align: right; white-space: nowrap; padding: .25em .8em; font-weight: normal; border: 0;
  border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); background: none;
  font-variant-numeric: tabular-nums }
.deadheat tr > :first-child { text-align: left }
.deadheat tr:first-child > th { font-weight: 600; border-bottom-color: currentColor }
.deadheat svg { width: 9em; height: 1em; vertical-align: middle }
.deadheat path { stroke: #d9730d; stroke-width: 2.5px; vector-effect: non-scaling-stroke }
.deadheat .axis { stroke: currentColor; stroke-width: 1px; opacity: .3 }
.deadheat rect { fill: #2f8fd6 }
.deadheat p { margin: .2em 0; opacity: .75; max-width: 60em }
</style>
"""  # of no colour that a theme could hide


class Table(NamedTuple):
    """A table of text cells; the first column is flush left, the others flush right.

    Labels, ids and names may be anything: unprintable characters are escaped, and a long cell loses its middle.
    HTML also draws the `bounds` of each row, where there are any: lower to upper, and expected, from 0 to 100 %.
    `notes` go below the tables of a result.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    bounds: Sequence[Any] = ()
    notes: Sequence[str] = ()

    def to_text(self) -> str:
        """Return the table as lines of plain text."""
        lines = self._printable()
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in lines)

    def to_markdown(self) -> str:
        """Return the table in Markdown; characters that it would interpret are escaped.

        Examples
        --------
        >>> print(Table(["measure (%)", "lower"], [["mAP", "9.50"], ["a|b", "-"]]).to_markdown())
        | measure (%)   |   lower |
        |:--------------|--------:|
        | mAP           |    9.50 |
        | a\\|b          |       - |
        """
        return _formatted([[markdown_text(cell) for cell in row] for row in self._printable()], "pipe")

    def to_latex(self) -> str:
        """Return the table for LaTeX with the package booktabs; characters that LaTeX would interpret are escaped."""
        return _superscripts(_formatted(self._printable(), "latex_booktabs"))

    def to_html(self) -> str:
        """Return the table in HTML; characters that a browser would interpret are escaped."""
        header, *rows = ([html.escape(cell.strip()) for cell in row] for row in self._printable())
        bars = [f"<td>{_bar(each)}</td>" for each in self.bounds] or [""] * len(rows)
        head = "".join(f'<th scope="col">{cell}</th>' for cell in header[1:])
        body = "".join(
            f'<tr><th scope="row">{first}</th>{bar}{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>\n'
            for (first, *cells), bar in zip(rows, bars, strict=True)
        )
        scale = "<th>0 to 100 %</th>" if self.bounds else ""
        return f'<table>\n<tr><th scope="col">{header[0]}</th>{scale}{head}</tr>\n{body}</table>'

    def _printable(self) -> list[list[str]]:
        return [[printable(cell, _MOST_CHARACTERS) for cell in row] for row in [self.header, *self.rows]]


def _bar(bounds: Any) -> str:
    """Draw lower to upper as a bar and expected as a mark, from 0 to 100; nothing where undefined."""
    if math.isnan(bounds.lower):
        return ""
    lower, width = 100 * bounds.lower, max(100 * (bounds.upper - bounds.lower), 0.6)
    mark = "" if math.isnan(bounds.expected) else f'<path d="M{100 * bounds.expected:.2f} 0V8"/>'
    bar = f'<path class="axis" d="M0 4H100"/><rect x="{lower:.2f}" y="2" width="{width:.2f}" height="4"/>{mark}'
    return f'<svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{bar}</svg>'


def notebook(tables: Sequence[Table], notes: Iterable[str] = ()) -> str:
    """Return tables and notes in HTML for a notebook, in the colours of its theme, light or dark."""
    below = "".join(f"<p>{html.escape(printable(note))}</p>" for note in notes)
    return f'<div class="deadheat">{_STYLE}{"".join(table.to_html() for table in tables)}{below}</div>'


def markdown_text(text: str) -> str:
    r"""Escape the characters of a text that Markdown would interpret, in whatever HTML it is put later.

    Examples
    --------
    >>> print(markdown_text("<b> `a|b` ![c](https://d.test) e_f 1 < 2"))
    &lt;b> \`a\|b\` ![c]\(https://d.test) e_f 1 < 2
    """
    entities = {"<": "&lt;", "&": "&amp;"}
    return _MARKDOWN.sub(lambda found: entities.get(found[0], f"\\{found[0]}"), text)


def latex_text(text: str) -> str:
    r"""Escape the characters of a text that LaTeX would interpret; raised letters are ``\textsuperscript``.

    Examples
    --------
    >>> print(latex_text("a_b < 50 % ᵃᵇ"))
    a\_b \ensuremath{<} 50 \% \textsuperscript{ab}
    """
    return _superscripts(text.translate(_LATEX))


def raised(words: Iterable[str]) -> str:
    """Join words of `LETTERS` as superscripts, with commas if a word has several letters.

    Examples
    --------
    >>> raised("bc"), raised(["ab", "ac"])
    ('ᵇᶜ', 'ᵃᵇ,ᵃᶜ')
    """
    listed = list(words)
    return ("," if any(len(word) > 1 for word in listed) else "").join(listed).translate(_UP)


def _superscripts(text: str) -> str:
    return _RAISED_TEXT.sub(lambda found: rf"\textsuperscript{{{found[0].translate(_DOWN)}}}", text)


def _formatted(lines: list[list[str]], style: str) -> str:
    header, *rows = lines
    sides = ("left", *("right" for _ in header[1:])) if rows else None
    tabulate = lazy("tabulate").tabulate  # not before a table is shown: the first result comes sooner
    text: str = tabulate(rows, headers=header, tablefmt=style, disable_numparse=True, colalign=sides)
    return text


def distinct_digits(results: Iterable[Any], digits: int, scale: float = 100.0) -> int:
    """Return the decimals of values in a table: `digits`, or more where lower and upper of one would print the same.

    More than six decimals are not added: nobody reports so small a difference.

    Examples
    --------
    >>> distinct_digits([Triple(0.25, 0.250001, 0.250002), Triple(0.5, 0.5, 0.5)], 2)
    4
    """
    digits = checks.whole_number(digits, "digits", most=_MOST_DIGITS)
    more, needed = range(digits, max(digits, _FINEST) + 1), [digits]
    for result in filter(has_ties, results):
        distinct = (n for n in more if f"{scale * result.lower:.{n}f}" != f"{scale * result.upper:.{n}f}")
        needed.append(next(distinct, digits))
    return max(needed)


def value(result: Any, digits: int = DIGITS, scale: float = 100.0) -> str:
    """Format the number to report, in per cent: expected with [lower, upper], or one number where they are equal.

    Examples
    --------
    >>> value(Triple(0.5, 0.5, 0.5)), value(Triple(0.5, 0.625, 1.0)), value(Triple(0.5, math.nan, 1.0))
    ('50.00', '62.50 [50.00, 100.00]', '[50.00, 100.00]')
    >>> value(Triple(0.25, 0.250001, 0.250002)), value(Triple(0.25, 0.25, 0.2500000001))
    ('25.0001 [25.0000, 25.0002]', '25.00')
    """
    form = decimals(distinct_digits([result], digits, scale))
    lower, expected, upper = (number(scale * getattr(result, name), form) for name in Triple._fields)
    if lower == upper:
        return lower
    return f"[{lower}, {upper}]" if math.isnan(result.expected) else f"{expected} [{lower}, {upper}]"


def headline(result: Any) -> Any:
    """Return the value that stands for all three: the expected one, or where there is none the lower one."""
    return np.where(np.isnan(result.expected), result.lower, result.expected)[()]


def has_ties(result: Any) -> bool:
    """Return whether ties make a difference to a value."""
    return bool(result.lower < result.upper)


def decimals(digits: Any) -> str:
    """Return the format of a number with this many decimals."""
    return f".{checks.whole_number(digits, 'digits', most=_MOST_DIGITS)}f"


def number(value: float, form: str) -> str:
    """Format a number, or return a dash where it is undefined."""
    return "-" if math.isnan(value) else format(value, form)


def p_value(value: float) -> str:
    """Format a p-value with four decimals, or as a power of ten below that; a dash where it is undefined.

    Examples
    --------
    >>> p_value(0.03125), p_value(2e-5), p_value(math.nan)
    ('0.0312', '2e-05', '-')
    """
    return "-" if math.isnan(value) else f"{value:.4f}" if value >= 1e-4 else f"{value:.0e}"


def count(n: int, singular: str, plural: str) -> str:
    """Format a number of things.

    Examples
    --------
    >>> count(1, "query", "queries"), count(2, "query", "queries")
    ('1 query', '2 queries')
    """
    return f"{n} {singular if n == 1 else plural}"


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: NumPy's numbers become Python's, NaN becomes None, in containers too.

    Examples
    --------
    >>> plain({"k": (np.int64(5), np.nan), "mAP": Triple(0.5, math.nan, 1.0)})
    {'k': [5, None], 'mAP': {'lower': 0.5, 'expected': None, 'upper': 1.0}}
    """
    if isinstance(value, Triple):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


def labelled(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content for JSON, with the version and the number of the schema (`deadheat/cli/schema.json`)."""
    return {"deadheat": program(), "schema": SCHEMA, **content}


def program() -> str:
    """Return the version of deadheat, as results carry it."""
    return str(lazy("importlib.metadata").version("deadheat"))
