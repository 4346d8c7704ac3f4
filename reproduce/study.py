"""The common parts of studies: settings and findings, data sets that several read, and the runner.

A study is a module with `TITLE`, its heading on the page; `SOURCE`, what was published where; `ABOUT`, what is done;
and `run`. A part of it, like the whole, takes a `Setting` and returns an `Outcome`. `NEEDS` names the optional packages
without which it cannot run, as they are imported; Matplotlib and Jinja are always needed.

Only the runner writes files: PNG, CSV, and one page that shows all of a folder. Every study leaves ``outcome.json``
there, and the page is made from all of these, so that a study can be run again by itself.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deadheat import __version__
from deadheat.engine.literals import DistanceName
from deadheat.errors import InvalidValueError, MissingPackageError
from deadheat.inputs.samples import read
from deadheat.support import checks
from deadheat.support.atomic import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STUDIES = {  # by module, in the order of the page: the question of each
    "toy": "three toy embeddings that Hit@1 cannot distinguish",
    "confidence": "ranking measures with a model's confidence",
    "collisions": "which neighbours are at equal distances",
    "exploit": "how far the order of the samples changes a score",
    "words": "edit distances and PHOC codes, where nearly all distances tie",
    "precision": "the same embeddings in fewer bits",
    "grouped": "Grouped Recall@K: cost, intervals, and the number of classes",
    "sampling": "coverage of intervals when queries, or whole classes, are sampled",
    "null": "how often a test gives p < 0.05 where nothing differs",
    "decisions": "how often boards and gates err, and what drop they find",
    "rerankers": "five rules for ties, and a reranker whose inputs are truncated",
    "records": "a lead of 3 in 500 questions, and the ties of fused ranks",
    "hashing": "hash codes: bounds, sorts and definitions of mAP of the same codes",
    "dropout": "a network on rendered words: train, test, and the gap between them",
}
PAGE = "index.html"
_RECORD = "outcome.json"
_SHOWN_ROWS = 40  # of a table on the page; its file has them all
WIDE = 0.1  # of the value compared: the half-width of an interval above which nothing is decided
LEVEL = 0.95  # of confidence intervals


class Mark(StrEnum):
    """The relation of a value to the published one."""

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
    """The settings of a run of a study."""

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
        return [[self._cell(*cell) for cell in zip(self.columns, row, strict=True)] for row in self.rows]

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


# ---------------------------------------------------------------------------------------------------------------------
# the data sets that several studies read, and what was published of them, in per cent as printed

TIES = "arXiv:1806.07171"
TIES_SLIDES = 'slides of arXiv:1806.07171, "Can we hack mAP?"'
WASHINGTON_RANGE = (95.34, 95.36)

GEORGE_WASHINGTON = "phocnet_gw.npz"
# Measured with SciPy's float64 distances: mAP in per cent by distance; and for the cosine distance rounded to a shorter
# type, mixed tie groups, lower and upper mAP, and their digits.
WASHINGTON_MAP: dict[DistanceName, float] = {"cosine": 95.5491, "euclidean": 95.7809, "cityblock": 95.6911}
WASHINGTON_ROUNDED = {"float32": (33, 95.54905, 95.54910, 5), "float16": (173, 95.5351, 95.5620, 4)}


def george_washington(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """PHOCNet's embeddings of the George Washington words, (1164, 504) float32, and the labels of the words."""
    embeddings, labels = read(path, embeddings_key="phocnet_features", labels_key="phocnet_labels")
    return np.asarray(embeddings), labels


# ---------------------------------------------------------------------------------------------------------------------
# the runner


def load(name: str) -> Any:
    """Import a study. A `ModuleNotFoundError` says what to install if Matplotlib or what it needs is not there."""
    _require("matplotlib")  # studies import it without saying who needs it
    study = import_module(f"reproduce.{name}")
    for package in ("jinja2", *getattr(study, "NEEDS", ())):
        _require(package)
    return study


def _require(package: str) -> Any:
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        text = f"reproduce needs {error.name or package}: pip install -r reproduce/requirements.txt"
        raise MissingPackageError(text, name=error.name) from None


def reproduce(
    names: Iterable[str] = (),
    out: str | os.PathLike[str] = "reproduced",
    *,
    data: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    quick: bool = False,
    threads: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Outcome]:
    """Run studies and write their figures (PNG), their tables (CSV), and ``index.html``, which shows them together.

    Parameters
    ----------
    names : iterable of str
        Names from `STUDIES`; none for all of them.
    out : path
        A folder, created if needed. Results of other studies in it stay on the page.
    data : path, optional
        A folder with data that is not part of deadheat: ``phocnet_gw.npz``, ``words.txt``, embeddings of CARS196 and
        so on. Findings without their data are marked "no data".
    cache : path, optional
        Where trained networks are kept; by default ``cache`` in `out`.
    quick : bool
        Smaller sizes, for a first look.
    threads : int, optional
    say : callable
        Takes lines about the progress.

    Returns
    -------
    dict of str to Outcome

    Raises
    ------
    ValueError
        If a name is unknown, or a folder is a file.
    ModuleNotFoundError
        If what a study needs is not installed; the message says how to install it. Nothing was run then.
    """
    chosen = list(dict.fromkeys(checks.choice(name, STUDIES, "study") for name in names)) or list(STUDIES)
    if data is not None and not Path(data).is_dir():
        raise InvalidValueError("data", f"must be a folder, but {data} is not one")
    studies = {name: load(name) for name in chosen}
    folder = _folder(Path(out), "out")
    store = _folder(folder / "cache" if cache is None else Path(cache), "cache")
    setting = Setting(None if data is None else Path(data), store, quick, threads, say)
    outcomes = {}
    for name, study in studies.items():
        say(f"{name}: {STUDIES[name]}")
        outcomes[name] = study.run(setting)
        _write_study(folder / name, study, outcomes[name], quick)
        _write_page(folder)
    return outcomes


def _folder(where: Path, argument: str) -> Path:
    if where.exists() and not where.is_dir():
        raise InvalidValueError(argument, f"must be a folder, but {where} is a file")
    where.mkdir(parents=True, exist_ok=True)
    return where


def _write_study(own: Path, study: Any, outcome: Outcome, quick: bool) -> None:
    own.mkdir(exist_ok=True)
    for picture in outcome.pictures:
        with replacing(own / f"{picture.name}.png") as file:
            picture.figure.savefig(file, format="png", dpi=160)
    for table in outcome.tables:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([table.headings, *table.cells()])
        _write(own / f"{table.name}.csv", text.getvalue())
    record = {
        "name": own.name,
        "title": study.TITLE,
        "source": study.SOURCE,
        "about": study.ABOUT,
        "quick": quick,
        "conclusion": outcome.conclusion,
        "text": list(outcome.text),
        "marks": dict(Counter(str(finding.mark) for finding in outcome.findings)),
        "findings": [vars(finding) for finding in outcome.findings],
        "pictures": [{"name": each.name, "caption": each.caption} for each in outcome.pictures],
        "tables": [
            {"name": each.name, "caption": each.caption, "columns": each.headings, "rows": each.cells()}
            for each in outcome.tables
        ],
    }
    _write(own / _RECORD, json.dumps(record, indent=1))


def _write_page(folder: Path) -> None:
    jinja2 = _require("jinja2")
    paths = [folder / name / _RECORD for name in STUDIES]
    records = [json.loads(path.read_text()) for path in paths if path.is_file()]
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page = environment.get_template("page.html")
    _write(folder / PAGE, page.render(studies=records, marks=list(Mark), version=__version__, shown=_SHOWN_ROWS))


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())
