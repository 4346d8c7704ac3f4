"""Rows as lines of a table, printed as they come, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from benchmarks.cases import SECTIONS
from benchmarks.results import Row
from benchmarks.targets import TARGETS

_WIDTHS = {"yardstick": 10, "evaluate": 10, "ratio": 7, "target": 11, "": 16}
_HEADINGS = {
    "threads": ("product", "evaluate", "", "target"),
    "growth": ("product", "evaluate", "", "target"),
    **dict.fromkeys(("size", "interpreter", "memory", "interrupt", "out of core"), ("", "found", "", "target")),
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
        if row.value is not None:
            outcome = Text(row.outcome.partition(":")[0], _STYLES[row.met])
            cells.add_row(escape(row.case.short_name), *numbers(row), outcome)
            self.console.print(cells)
            for note in filter(None, (row.details.get("note"), row.reason)):
                self.console.print(Text(f"  {note}", "dim"), soft_wrap=True)
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


_UNITS = {"s": " s", "MB": " MB", "times": "×"}


def numbers(row: Row) -> tuple[str, str, str, str]:
    """Yardstick, value, ratio and target as text, with a ``>`` before what is a lower bound."""
    unit, more = _UNITS.get(row.unit, ""), "> " if row.stopped else ""
    yardstick = "–" if row.yardstick is None else f"{_three(row.yardstick)}{unit}"
    value = "–" if row.value is None else f"{more}{_three(row.value)}{unit}"
    ratio = f"{more}{figure(row)}" if row.is_ratio else "–"
    return yardstick, value, ratio, "–" if row.case.target is None else str(row.case.target)


def figure(row: Row) -> str:
    """Return what the target speaks of as text."""
    if row.figure is None:
        return "–"
    if row.unit == "share":
        return f"{row.figure:.3f}"
    return f"{row.figure:.0f}" if row.figure >= 100 or row.unit == "count" else f"{row.figure:.2f}"


def _three(value: float) -> str:
    """At least three digits, without an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def targets(rows: Sequence[Row]) -> Table:
    """For each target what was reached by the cases that it is for, from the best to the worst."""
    view = Table("what", "reached", "target", "", title="Targets", title_justify="left")
    for target in TARGETS.values():
        of_it = [row for row in rows if row.case.target == target]
        if not of_it:
            continue
        figures = sorted((row for row in of_it if row.figure is not None), key=lambda row: target.missed_by(row.figure))
        ends = list(dict.fromkeys(f"{'> ' if row.stopped else ''}{figure(row)}" for row in figures[:1] + figures[-1:]))
        view.add_row(escape(target.what), " to ".join(ends) or "–", str(target), _verdict(of_it))
    return view


def _verdict(rows: Sequence[Row]) -> Text:
    """Return whether all cases of a target meet it, or how many do."""
    met, missed = (sum(row.met is met for row in rows) for met in (True, False))
    if missed:
        return Text("missed" if not met else f"missed by {missed} of {len(rows)}", _STYLES[False])
    return (
        Text("met", _STYLES[True])
        if met == len(rows)
        else Text(f"{len(rows) - met} of {len(rows)} not known", "yellow")
    )


def summary(rows: Sequence[Row]) -> list[str]:
    """Return how many cases meet their targets, and which do not."""
    count = {met: sum(row.met is met for row in rows) for met in (True, False)}
    states = {state: sum(row.state == state for row in rows) for state in ("not decided", "skipped", "failed")}
    parts = [f"{count[True]} of {count[True] + count[False]} targets met"]
    parts += [f"{number} {state}" for state, number in states.items() if number]
    missed = [row for row in rows if row.met is False]
    return [", ".join(parts), *(f"  {row.case.name}: {row.outcome}" for row in missed)]


def breakdown(title: str, functions: Sequence[tuple[str, int, float, float]]) -> Table:
    """Return where one evaluation spends its time."""
    view = Table("function", "calls", "s", "share", title=escape(title), title_justify="left")
    for name, calls, seconds, share in functions:
        view.add_row(escape(name), str(calls), _three(seconds), f"{share:.0%}")
    return view
