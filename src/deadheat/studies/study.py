"""The contract of a study: what it says of itself, what it is given, and what it hands in.

A study is a module that exports one `Study`, with a row in `deadheat.studies.registry`. What it hands in are findings
beside the published values, tables and pictures. Nothing here writes a file: that is `deadheat.studies.page`.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.support.extras import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure


WIDE = 0.1  # of what is compared: half an interval that is wider cannot tell


class Mark(StrEnum):
    """How a value compares with the published one."""

    AGREES = "agrees"
    DIFFERS = "differs"
    TOO_FEW = "too few draws to tell"  # the published value lies inside an interval that is too wide
    OTHER_DATA = "other data"  # than the publication's: the effect, not the value
    NEW = "new"  # nothing was published
    NO_DATA = "no data"  # needs a file that was not found

    @classmethod
    def of(cls, agrees: bool) -> Mark:
        return cls.AGREES if agrees else cls.DIFFERS

    @classmethod
    def by_interval(cls, holds: bool, half_width: float, scale: float) -> Mark:
        """How a value from random draws stands: its interval holds the published one or not, and is narrow or not.

        A value outside the interval differs, however wide it is. One inside agrees only if half the width is at most a
        tenth (`WIDE`) of `scale`: the published value, or the range of the measure for a share or a published 0.

        Examples
        --------
        >>> Mark.by_interval(True, 0.5, 10), Mark.by_interval(True, 3927, 6827.5), Mark.by_interval(False, 3927, 6827.5)
        (<Mark.AGREES: 'agrees'>, <Mark.TOO_FEW: 'too few draws to tell'>, <Mark.DIFFERS: 'differs'>)
        """
        return cls.of(holds) if not holds or half_width <= WIDE * scale else cls.TOO_FEW


@dataclass(frozen=True)
class Setting:
    """What a study runs with.

    Parameters
    ----------
    data : Path or None
        A folder with files that are no part of deadheat.
    cache : Path
        A folder that keeps what takes minutes to compute; it exists.
    quick : bool
        Smaller sizes, for a first look and for tests; the page says so.
    threads : int or None
    say : callable
        Takes one line that tells a person what is going on.
    """

    data: Path | None
    cache: Path
    quick: bool = False
    threads: int | None = None
    say: Callable[[str], None] = lambda line: None

    def file(self, *names: str) -> Path | None:
        """The first of these files that is in the data folder."""
        places = [] if self.data is None else [self.data / name for name in names]
        return next((place for place in places if place.is_file()), None)


@dataclass(frozen=True)
class Finding:
    """One value, beside the published one if there is one. Both are written as a person reads them.

    Parameters
    ----------
    what : str
    here : str
        The value found; empty where data was missing.
    mark : Mark
    published, source : str
        The published value, and where it stands.
    why : str
        What explains a difference, what stands in for what, which file was not found.
    """

    what: str
    here: str
    mark: Mark
    published: str = ""
    source: str = ""
    why: str = ""


def beside(
    what: str, here: float, published: float, *, unit: str = "%", digits: int = 2, within: float | None = None,
    source: str = "", why: str = "",
) -> Finding:  # fmt: skip
    """A finding that agrees where the two values differ by no more than the published one is rounded.

    Parameters
    ----------
    here, published : float
        In `unit`.
    digits : int
        Decimals that were published.
    within : float, optional
        What may lie between them instead, for values that come from random draws. If that is more than a tenth of a
        published value other than 0, two values within it are too few draws to tell: `Mark.by_interval`.

    Examples
    --------
    >>> beside("mAP", 18.6849, 18.68).mark, beside("mAP", 18.69, 18.68, why="another sort").mark
    (<Mark.AGREES: 'agrees'>, <Mark.DIFFERS: 'differs'>)
    """
    allowed = (0.5 + 1e-9) * 10.0**-digits if within is None else within
    holds = abs(here - published) <= allowed
    mark = Mark.of(holds) if within is None else Mark.by_interval(holds, within, abs(published) or math.inf)
    form = f".{digits}f"
    return Finding(what, f"{here:{form}} {unit}".rstrip(), mark, f"{published:{form}} {unit}".rstrip(), source, why)


def missing(what: str, file: str, *, published: str = "", source: str = "") -> Finding:
    """A finding for which a file was not found."""
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

    def __post_init__(self) -> None:
        n_cell = next((len(row) for row in self.rows if len(row) != len(self.columns)), None)
        if n_cell is not None:
            raise InvalidValueError(
                f"table {self.name}", f"must have {len(self.columns)} cells a row, but has {n_cell}"
            )
        unknown = sorted(set(self.percent) - set(self.columns))
        if unknown:
            raise InvalidValueError(f"percent of table {self.name}", f"must be columns, but {unknown[0]!r} is none")

    @property
    def headings(self) -> list[str]:
        """The columns' names, with the unit of those in per cent."""
        return [f"{column} (%)" if column in self.percent else column for column in self.columns]

    def cells(self) -> list[list[Any]]:
        """The rows with plain Python values, None for NaN."""
        scales = [column in self.percent for column in self.columns]
        return [[_plain(value, scaled) for value, scaled in zip(row, scales, strict=True)] for row in self.rows]


@dataclass(frozen=True)
class Picture:
    """A figure, written as PNG; `name` is the file's name without its ending."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Outcome:
    """What a study found.

    `conclusion` is the answer to its question, made of the values that were found; the page opens with it. `text` is
    paragraphs of plain text below.
    """

    findings: Sequence[Finding]
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    text: Sequence[str] = ()
    conclusion: str = ""


def joined(parts: Iterable[Outcome], text: Sequence[str] = (), conclusion: str = "") -> Outcome:
    """One outcome of several, which come one after another; tables of one name become one table, with all their rows.

    `text` comes before that of the parts; `conclusion` is that of the whole, by default those of the parts together.
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


@dataclass(frozen=True, kw_only=True)
class Study:
    """What `deadheat reproduce` can run. All but `needs` must be given, or the study cannot be made.

    Parameters
    ----------
    name : str
        What the command calls it, and the name of its folder: a word in lower case.
    question : str
        What it asks, in a line of the command's list.
    title, source, about : str
        On the page: its heading, what was published where, and what is done.
    docs : str
        Its page in the documentation, from the root of the repository.
    run : callable
        Takes a `Setting` and returns an `Outcome`.
    needs : tuple of str
        Optional packages without which it cannot run, as they are imported; Matplotlib and Jinja are taken for granted.

    Raises
    ------
    TypeError, ValueError
        If one of them is not that.

    Examples
    --------
    >>> texts = dict(title="A coin", source="Nobody", about="Tosses.", docs="docs/studies/coin.md")
    >>> Study(name="coin", question="", run=lambda setting: Outcome([]), **texts)
    Traceback (most recent call last):
    deadheat.errors.InvalidValueError: question of study 'coin' must be a text that is not empty, but is ''
    """

    name: str
    question: str
    title: str
    source: str
    about: str
    docs: str
    run: Callable[[Setting], Outcome]
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for part in ("name", "question", "title", "source", "about", "docs"):
            text = getattr(self, part)
            if not isinstance(text, str):
                self._refuse(InvalidTypeError, part, "a text that is not empty")
            if not text.strip():
                self._refuse(InvalidValueError, part, "a text that is not empty")
        if not re.fullmatch("[a-z]+", self.name):
            self._refuse(InvalidValueError, "name", "a word in lower case")
        if not re.fullmatch(r"docs/[\w/-]+\.md", self.docs):
            self._refuse(InvalidValueError, "docs", "a page such as docs/studies/toy.md")
        if not isinstance(self.needs, tuple) or not all(isinstance(package, str) for package in self.needs):
            self._refuse(InvalidTypeError, "needs", "a tuple of names of packages")
        if not _takes_one(self.run):
            self._refuse(InvalidTypeError, "run", "a function of a setting")

    def _refuse(self, error: type[InvalidTypeError] | type[InvalidValueError], part: str, rule: str) -> None:
        raise error(f"{part} of study {self.name!r}", f"must be {rule}, but is {getattr(self, part)!r}")

    def require_packages(self) -> None:
        """Raise a `ModuleNotFoundError` that says what to install if a package that it needs is not there."""
        for package in ("jinja2", "matplotlib", *self.needs):
            require(package, "reproduce", "reproduce")


def _takes_one(function: object) -> bool:
    """Whether it can be called with one argument."""
    if not callable(function):
        return False
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return False
    return True


def _plain(value: Any, in_percent: bool) -> Any:
    """A value that JSON and CSV can hold; a fraction in per cent, without the last digits that the product rounds."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and math.isnan(value):
        return None
    return float(f"{100 * value:.12g}") if in_percent and isinstance(value, int | float) else value
