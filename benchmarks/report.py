"""Rows as lines of a table, printed as they come, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from benchmarks.cases import SECTIONS
from benchmarks.results import Row

_WIDTHS = {"yardstick": 10, "evaluate": 10, "ratio": 7, "target": 11, "": 16}
_HEADINGS = {
    "memory": ("limit", "used", "ratio", "target"),
    "out of core": ("limit", "used", "ratio", "target"),
    "growth": ("product", "evaluate", "expon.", "target"),
}  # of the columns, where they are not those of `_WIDTHS`
_WIDEST_NAME, _NARROWEST_NAME = 60, 24
_STYLES = {True: "green", False: "bold red", None: "dim"}


class Printer:
    """Prints rows one by one as one table, with a heading wherever a section begins."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._section = ""

    def row(self, row: Row) -> None:
        """Print one row."""
        if row.case.section != self._section:
            self._section = row.case.section
            self._heading()
        cells = self._grid()
        if row.state == "measured":
            outcome = Text(row.outcome, _STYLES[row.met])
            cells.add_row(escape(row.case.short_name), *numbers(row), outcome)
            self.console.print(cells)
        else:
            self.console.print(Text(f"{row.case.short_name}  {row.outcome}", "yellow"), soft_wrap=True)

    def _heading(self) -> None:
        self.console.print(f"\n[bold]{self._section}[/bold]  [dim]{SECTIONS[self._section]}[/dim]", soft_wrap=True)
        cells = self._grid()
        cells.add_row(*(Text(title, "dim") for title in ("case", *_HEADINGS.get(self._section, _WIDTHS))))
        self.console.print(cells)

    def _grid(self) -> Table:
        grid = Table.grid(padding=(0, 1))
        others = sum(_WIDTHS.values()) + len(_WIDTHS)
        grid.add_column(width=max(_NARROWEST_NAME, min(_WIDEST_NAME, self.console.width - others)))
        for title, width in _WIDTHS.items():
            grid.add_column(width=width, justify="right" if title else "left")
        return grid


def numbers(row: Row) -> tuple[str, str, str, str]:
    """Yardstick, value, ratio and target as text, with a ``>`` before what is a lower bound."""
    unit = "" if row.unit == "exponent" else f" {row.unit}"
    more = "> " if row.stopped else ""
    yardstick = "–" if row.yardstick is None else f"{_three(row.yardstick)}{unit}"
    value = "–" if row.value is None else f"{more}{_three(row.value)}{unit}"
    return yardstick, value, ratio(row), target(row)


def ratio(row: Row) -> str:
    """What the target speaks of as text."""
    if row.figure is None:
        return "–"
    return f"{'> ' if row.stopped else ''}{row.figure:{'.0f' if row.figure >= 100 else '.2f'}}"


def target(row: Row) -> str:
    """The target as text."""
    wanted, tolerance = row.case.target, row.case.tolerance
    if wanted is None:
        return "–"
    return f"≤ {wanted:g}" if tolerance is None else f"{wanted:.2f} ± {tolerance:g}"


def _three(value: float) -> str:
    """At least three digits, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def summary(rows: Sequence[Row]) -> list[str]:
    """How many targets are met, and which are missed."""
    count = {met: sum(row.met is met for row in rows) for met in (True, False)}
    states = {state: sum(row.state == state for row in rows) for state in ("skipped", "failed")}
    parts = [f"{count[True]} of {count[True] + count[False]} targets met"]
    parts += [f"{number} {state}" for state, number in states.items() if number]
    missed = [row for row in rows if row.met is False]
    return [", ".join(parts), *(f"  {row.case.name}: {row.outcome}" for row in missed)]


def breakdown(title: str, functions: Sequence[tuple[str, int, float, float]]) -> Table:
    """Where one evaluation spends its time."""
    view = Table("function", "calls", "s", "share", title=escape(title), title_justify="left")
    for name, calls, seconds, share in functions:
        view.add_row(escape(name), str(calls), _three(seconds), f"{share:.0%}")
    return view
