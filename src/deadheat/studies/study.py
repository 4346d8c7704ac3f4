"""The input and output of a study: values compared with published ones, tables and pictures.

A study is a module with `TITLE`, its heading on the page; `SOURCE`, what was published where; `ABOUT`, what is done;
and `run`. A part of it, like the whole, takes a `Setting` and returns an `Outcome`. `NEEDS` names the optional packages
without which it cannot run, as they are imported; Matplotlib and Jinja are always needed. Only
`deadheat.studies.runner` writes files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE = 0.1  # of the value compared: the half-width of an interval above which nothing is decided
LEVEL = 0.95  # of confidence intervals


class Mark(StrEnum):
    """How a value compares with the published one."""

    AGREES = "agrees"
    DIFFERS = "differs"
    TOO_FEW = "too few draws to tell"  # the published value lies inside an interval that is too wide
    OTHER_DATA = "other data"  # not the publication's: shows the effect, not the value
    NEW = "new"  # nothing was published
    NO_DATA = "no data"  # needs a file that was not found

    @classmethod
    def of(cls, agrees: bool) -> Mark:
        return cls.AGREES if agrees else cls.DIFFERS

    @classmethod
    def by_interval(cls, holds: bool, half_width: float, scale: float) -> Mark:
        """Compare a value from random draws: whether its interval holds the published one, and is narrow enough.

        A value outside the interval differs, however wide it is. One inside agrees only if half the width is at most a
        tenth (`WIDE`) of `scale`: the published value, or the range of the measure for a share or a published 0.

        Examples
        --------
        >>> Mark.by_interval(True, 0.5, 10), Mark.by_interval(True, 3927, 6827.5), Mark.by_interval(False, 3927, 6827.5)
        (<Mark.AGREES: 'agrees'>, <Mark.TOO_FEW: 'too few draws to tell'>, <Mark.DIFFERS: 'differs'>)
        """
        return cls.of(holds) if not holds or half_width <= WIDE * scale else cls.TOO_FEW

    @classmethod
    def of_every_draw(cls, n_hold: int, n_draw: int) -> Mark:
        """Compare a claim about every draw with the number of draws in which it holds.

        One draw in which it does not hold refutes it. If it holds in all n, the interval of Clopper and Pearson for the
        share reaches from 0.025^(1/n) to 1.

        Examples
        --------
        >>> str(Mark.of_every_draw(20, 20)), str(Mark.of_every_draw(2, 2)), str(Mark.of_every_draw(19, 20))
        ('agrees', 'too few draws to tell', 'differs')
        """
        least = ((1 - LEVEL) / 2) ** (1 / n_draw)
        return cls.by_interval(n_hold == n_draw, (1 - least) / 2, 1.0)


@dataclass(frozen=True)
class Setting:
    """What a study runs with."""

    data: Path | None  # a folder with files that are not part of deadheat
    cache: Path  # an existing folder for results that take minutes to compute
    quick: bool = False  # smaller sizes, for a first look and for tests; the page says so
    threads: int | None = None
    say: Callable[[str], None] = lambda line: None  # takes one line about the progress

    def file(self, name: str) -> Path | None:
        path = None if self.data is None else self.data / name
        return path if path is not None and path.is_file() else None


@dataclass(frozen=True)
class Finding:
    """One value, and the published one if there is one, both formatted for readers."""

    what: str
    here: str  # the value found; empty where data was missing
    mark: Mark = Mark.NEW
    published: str = ""
    source: str = ""  # where it was published
    why: str = ""  # explains a difference, a substitute, or a missing file


def compared(
    what: str, here: float, published: float, *, unit: str = " %", digits: int = 2, within: float | None = None,
    source: str = "", why: str = "",
) -> Finding:  # fmt: skip
    """A finding that agrees where the two values differ by no more than the published one is rounded.

    Both are in `unit`; `digits` is the number of decimals that were published. For values that come from random draws,
    `within` is the largest difference that agrees. If that is more than a tenth of a published value other than 0, two
    values within it are too few draws to tell: `Mark.by_interval`.

    Examples
    --------
    >>> compared("mAP", 18.6849, 18.68).mark, compared("mAP", 18.69, 18.68, why="another sort").mark
    (<Mark.AGREES: 'agrees'>, <Mark.DIFFERS: 'differs'>)
    """
    allowed = (0.5 + 1e-9) * 10.0**-digits if within is None else within
    holds = abs(here - published) <= allowed
    mark = Mark.of(holds) if within is None else Mark.by_interval(holds, within, abs(published) or math.inf)
    return Finding(what, f"{here:.{digits}f}{unit}", mark, f"{published:.{digits}f}{unit}", source, why)


def missing(what: str, file: str, *, published: str = "", source: str = "") -> Finding:
    return Finding(what, "", Mark.NO_DATA, published, source, f"put {file} into the folder given as --data")


@dataclass(frozen=True)
class Table:
    """A table, written as CSV in full and shown on the page; NaN is an empty cell.

    `name` is the file's name without its ending. Columns named in `percent` hold fractions, and are shown and written
    in per cent.
    """

    name: str
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    percent: Collection[str] = ()

    @property
    def headings(self) -> list[str]:
        return [f"{column} (%)" if column in self.percent else column for column in self.columns]

    def cells(self) -> list[list[Any]]:
        """The rows with values that JSON and CSV can hold: None for NaN, and per cent without digits from rounding."""
        return [list(starmap(self._cell, zip(self.columns, row, strict=True))) for row in self.rows]

    def _cell(self, column: str, value: Any) -> Any:
        value = value.item() if hasattr(value, "item") else value
        if isinstance(value, float) and math.isnan(value):
            return None
        return float(f"{100 * value:.12g}") if column in self.percent and isinstance(value, int | float) else value


@dataclass(frozen=True)
class Picture:
    """A figure, written as PNG; `name` is the file's name without its ending."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Outcome:
    findings: Sequence[Finding]
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    text: Sequence[str] = ()  # paragraphs below the conclusion
    conclusion: str = ""  # answers the study's question with the values found; comes first on the page


def joined(parts: Iterable[Outcome], text: Sequence[str] = (), conclusion: str = "") -> Outcome:
    """Join outcomes in their order; tables of the same name become one, with all their rows.

    `text` comes before the texts of the parts; `conclusion` is by default the conclusions of the parts together.
    """
    outcomes = list(parts)
    tables: dict[str, Table] = {}
    for table in (table for part in outcomes for table in part.tables):
        rows = [*tables[table.name].rows, *table.rows] if table.name in tables else table.rows
        tables[table.name] = replace(table, rows=rows)
    return Outcome(
        [finding for part in outcomes for finding in part.findings],
        [picture for part in outcomes for picture in part.pictures],
        list(tables.values()),
        [*text, *(paragraph for part in outcomes for paragraph in part.text)],
        conclusion or " ".join(part.conclusion for part in outcomes if part.conclusion),
    )
