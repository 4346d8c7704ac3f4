"""The same embeddings in fewer bits or dimensions: values of a measure, a limit on the loss, and the number of ties.

In come a task of embeddings, with labels or judgements, or of scores; out goes a report for each format and number of
dimensions. Embeddings are truncated and rounded, and scores are rounded.

    task ──_opened──> Sweep: its arrays, and the task of each step ──report of each──> FormatComparison
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from deadheat.analyses.comparison import Comparison, compare
from deadheat.analyses.difference import Difference, PairedTest
from deadheat.analyses.gate import Gate
from deadheat.analyses.rounding import DEFAULT, FORMATS, StorageFormat, format_name, formats_named, quantized
from deadheat.analyses.sweep import SCORES, RoundedScores, Step, Vectors, dims_of, opened
from deadheat.engine import exact
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.evaluable import Evaluable
from deadheat.errors import InvalidValueError
from deadheat.reports.answer import Answer, Caution, Column, Panel
from deadheat.reports.averaging import Average, Singletons, SummaryOptions, fractions
from deadheat.reports.evaluating import report_of
from deadheat.reports.report import Report
from deadheat.reports.statistics.intervals import Interval
from deadheat.reports.tables import DIGITS, count, plain
from deadheat.support import checks
from deadheat.support.floats import plain_floats

__all__ = ["FORMATS", "FormatComparison", "StorageFormat", "compare_formats", "quantized"]


def __dir__() -> list[str]:
    return __all__


MEASURES = ("mAP", "Hit@1")
_TIES = ("mixed_groups", "queries", "largest")


class Change(NamedTuple):
    """Change of a measure by a format, as fractions: its mean minus that of the base format.

    `expected` is the difference of the expected values, and `low` to `high` its confidence interval. `loses_at_most` is
    a confidence limit: how far below 0 the interval reaches if every tie falls against the format and in favour of the
    base.
    """

    expected: float
    low: float
    high: float
    loses_at_most: float


@dataclass(frozen=True, eq=False)
class FormatComparison(Answer):
    """Reports on the same embeddings in several formats: `comparison["int8"]` is a `Report`, by any name of the format.

    With `dims=`, names are such as "256 dims", or "int8, 256 dims" if formats were given too; `comparison[256]` is the
    first with so many. Printing gives a table for each measure, in per cent; everything else is a fraction in [0, 1].

    Attributes
    ----------
    reports : mapping of str to Report
        By format, in the order that was asked for.
    base : str
        The format that the others are compared with.
    dim : int
        The number of dimensions of the embeddings; 1 for scores.
    steps : mapping of str to Step
        The format and the number of dimensions of each.
    margin : float or None
        The loss within which `smallest` is shown to be, as a fraction.
    comparisons : mapping of str to Comparison
        Each format, A, against `base`, B: p-values, intervals, wins.
    notices : tuple of str
        Sentences on formats that were left out, or in which all vectors are equal.
    """

    reports: Mapping[str, Report]
    base: str
    dim: int
    distance: str | None
    measures: tuple[str, ...]
    steps: Mapping[str, Step]
    margin: float | None
    comparisons: Mapping[str, Comparison] = field(repr=False)
    notices: tuple[str, ...] = ()

    def __getitem__(self, format: str | int) -> Report:
        """Return the report for a format; raises ValueError for one that was not asked for."""
        return self.reports[self._name(format)]

    def _name(self, format: str | int) -> str:
        """Return the name of a step from a name of its format, or from its number of dimensions."""
        if isinstance(format, int):
            return next((name for name, step in self.steps.items() if step.dim == format), str(format))
        number, comma, dims = str(format).partition(", ")
        return format_name(format, self.reports) if not comma else format_name(number) + comma + dims

    def __iter__(self) -> Iterator[str]:
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    def bytes_per_vector(self, format: str) -> int:
        """Return the bytes of a gallery vector in a format; see `StorageFormat.bytes_per_vector`."""
        step = self.steps[checks.choice(self._name(format), self.steps, "format")]
        if self.distance is None:
            return step.format.bits // 8
        return step.format.bytes_per_vector(step.dim, self.distance)

    @property
    def by_dim(self) -> bool:
        """True if the steps differ in their number of dimensions alone."""
        return len({step.format for step in self.steps.values()}) == 1 < len(self.steps)

    def difference(self, format: str, measure: str) -> Difference:
        """Return the difference of a format, A, and `base`, B, in a measure: tests, intervals, and values per query."""
        return self.comparisons[checks.choice(self._name(format), self.steps, "format")][measure]

    def change(self, format: str, measure: str) -> Change:
        """Return the change of a measure by a format, with a confidence interval over queries or classes.

        If a format changes no rank of any query, the change is 0: the ties of both are the same.
        """
        name = checks.choice(self._name(format), self.steps, "format")
        if self.reports[name].profile == self.reports[self.base].profile:
            return Change(0.0, 0.0, 0.0, 0.0)
        difference = self.difference(name, measure)
        interval = difference.interval()
        lowest = interval.lower.low
        return Change(difference.expected, *interval.expected, lowest if math.isnan(lowest) else max(0.0, -lowest))

    def smallest(self, margin: float | None = None) -> str:
        """Return the smallest format that is shown to lose less than a margin in every measure; the base if none is.

        Formats are tested against the base from the largest down, each by `Comparison.gate` with the rule "as_good",
        and the first that does not pass ends it. So the chance that any format is called within the margin that is not
        is at most 1 − the confidence level, without an adjustment (fixed sequence; Maurer et al. 1995).

        Parameters
        ----------
        margin : float, optional
            A fraction in [0, 1]; by default the one that `compare_formats` was given.
        """
        if margin is None and self.margin is None:
            raise InvalidValueError("margin", "must be given here or to compare_formats")
        return self._within(self.margin if margin is None else margin)[0]

    def _within(self, margin: float | None) -> tuple[str, list[Gate]]:
        """Return the smallest name within a margin, and the gates up to the first that does not pass."""
        test, base = vars(self._test), self.base
        sizes = {name: self.bytes_per_vector(name) for name in self.reports}
        smallest, gates = base, list[Gate]()
        for name in sorted(sizes, key=lambda name: -sizes[name]):
            if name == base or sizes[name] > sizes[base]:
                continue
            pair = self.reports[base], self.reports[name]
            comparison = compare(*pair, names=(base, name), measures=self.measures, **test)
            gates.append(comparison._gate(checks.real_number(margin, "margin"), "as_good", refuse_few=False))
            if not gates[-1]:
                break
            smallest = name
        return smallest, gates

    def _about_dims(self) -> list[str]:
        """Return the meaning of fewer dimensions."""
        if all(step.dim == self.dim for step in self.steps.values()):
            return []
        takes = f"{self.distance} takes as they are, not normalised again"
        which = "cosine normalises again" if self.distance == "cosine" else takes
        return [f"Dims: vectors, also of queries, are truncated to their first dimensions, which {which}."]

    def _about_margin(self) -> list[str]:
        """Return the smallest format within the margin, the first that is not, and cautions of its test."""
        if self.margin is None:
            return []
        smallest, gates = self._within(self.margin)
        points = f"{100 * self.margin:g} {'point' if self.margin == 0.01 else 'points'} of {self.base}"
        shown = f"{smallest} is the smallest shown to be within {points}, tested from the largest down"
        if smallest == self.base:
            shown = f"No smaller one is shown to be within {points}"
        last = f"; {gates[-1].verdict()}" if gates and not gates[-1] else "."
        cautions = dict.fromkeys(caution for gate in gates for caution in gate.cautions())
        return [f"{shown}{last}", *map(Caution, cautions)]

    def panels(self) -> list[Panel]:
        """Return a table for each measure, in per cent and percentage points; the limit on the loss is rounded up."""
        level, reports, panels = f"{100 * self._test.confidence_level:g} % interval", self.reports.values(), []
        ties = [[getattr(report.ties, name) for report in reports] for name in _TIES]
        for measure in self.measures:
            changes = [self.change(name, measure) for name in self.reports]
            losses = [change.loses_at_most for change in changes]
            panels.append(Panel([
                Column("format", list(self.reports), title=f"{measure} (%)"),
                Column("bits", [step.format.bits for step in self.steps.values()], "bits", only="data"),
                Column("dim", [step.dim for step in self.steps.values()], "count", only="data"),
                Column("bytes", [self.bytes_per_vector(name) for name in self.reports], "bytes"),
                Column("", [report[measure] for report in reports], "fraction", shape="bounds"),
                Column("difference", [change.expected for change in changes], "fraction", f"- {self.base}"),
                Column("", [Interval(change.low, change.high) for change in changes], "fraction", level, "interval"),
                Column("loses_at_most", list(map(_rounded_up, losses)), "fraction", only="table"),
                Column("loses_at_most", losses, "fraction", only="data"),
                *(Column(name, counts, "count", only="data") for name, counts in zip(_TIES, ties, strict=True)),
            ], key="", part=("measure", measure)))  # fmt: skip
        return panels

    def facts(self) -> dict[str, Any]:
        """Return size, changes and report of each format, and the settings of the tests."""
        content = {
            name: {
                "bits": self.steps[name].format.bits,
                "dim": self.steps[name].dim,
                "bytes": self.bytes_per_vector(name),
                "changes": {measure: plain(self.change(name, measure)._asdict()) for measure in self.measures},
                **report.to_dict(),
            }
            for name, report in self.reports.items()
        }
        smallest = {} if self.margin is None else {"margin": self.margin, "smallest": self.smallest()}
        facts = self._facts_of("distance", "dim", "base") | smallest
        return facts | {"test": dict(vars(self._test)), "formats": content}

    @property
    def _test(self) -> PairedTest:
        """Settings of the paired tests, the same for all formats."""
        return self.comparisons[self.base].test

    def notes(self) -> list[str]:
        """Explain the columns other than the values of a measure."""
        units = "classes" if self._test.resample == "class" else "queries"
        one = next(iter(self.steps.values())).dim == max(step.dim for step in self.steps.values()) == self.dim
        numbers = count(self.dim, "number", "numbers") + ("" if one else ", or the first of them")
        what = "of a score" if self.distance is None else f"of a vector of the gallery, {numbers}"
        return [
            f"Bytes: {what}.",
            *self._about_dims(),
            *self._about_margin(),
            f"- {self.base}: of the expected values, in points. Interval: paired bootstrap ({self._test.method}) over "
            f"{units}.",
            "Loses at most: a confidence limit, the low end of the interval with every tie against the format and for "
            f"{self.base}.",
            *self.notices,
        ]


def _rounded_up(loss: float) -> float:
    """Round a limit up to the decimals of a table."""
    return loss if math.isnan(loss) else math.ceil(loss * 10 ** (DIGITS + 2)) / 10 ** (DIGITS + 2)


@plain_floats
def compare_formats(
    task: Evaluable,
    *,
    formats: str | Iterable[str] | None = None,
    dims: int | Iterable[int] | None = None,
    margin: float | None = None,
    base: str | None = None,
    measures: str | Iterable[str] | None = MEASURES,
    threshold: ArrayLike | str = 0.0,
    singletons: Singletons = "skip",
    average: Average = "query",
    resample: Average | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    seed: int = 0,
) -> FormatComparison:
    """Evaluate the same embeddings in several formats or dimensions, with a confidence limit on the loss of each.

    Parameters
    ----------
    task : Task
        Made of embeddings, with labels or by `deadheat.from_judged`, which are loaded into memory. Scales are those of
        queries and gallery together. Or of scores, such as `deadheat.from_run` makes, which are then rounded to the
        formats float32, bfloat16 and float16.
    formats : str or iterable of str, optional
        The formats to round to: names as for `quantized`, or one string with commas between them. "(float query)" after
        a format with int8 or one bit, such as "int8 (float query)", leaves queries in float32 (minus `threshold` for
        one bit), and rounds the gallery alone. By default float32, bfloat16, float16, int8, int8 per dimension, int8
        per vector, int8 (float query) and 1 bit, except types too short for the largest number.
    dims : integers, optional
        The numbers of dimensions to truncate vectors to, such as ``(64, 128, 256)`` of Matryoshka embeddings, in each
        format; without `formats` in the base format alone. Truncated vectors are not normalised, but by
        ``distance="cosine"``.
    margin : float, optional
        The loss that is allowed, a fraction in [0, 1]: the table then says which is the smallest that is shown to be
        within it (`FormatComparison.smallest`).
    base : str, optional
        The format, with all dimensions, that the others are compared with, which comes first if it is not among
        `formats`. By default the embeddings as they are: "float32" where that holds every number, and else "float64".
    measures : str or iterable of str, optional
        Names such as ``"mAP"``, or one string with commas between them; by default mAP and Hit@1.
    threshold : float, (dim,) array, "mean" or "median", optional
        For "1 bit": see `quantized`.
    singletons : {"skip", "zero", "one", "balanced"}
        The value of a query without a relevant item: none; 0; 1; or 0 for measures of the precision kind and 1 for
        those of the recall kind.
    average : {"query", "class"}
        The units of means: queries, or classes, each by the mean over its queries.
    resample : {"query", "class"}, optional
        The independent units, which tests swap and the bootstrap draws: queries, or whole classes. By default classes,
        if labels are known and there is no separate gallery, since the queries of a class are then correlated.
    confidence_level : float
        The level of each single interval, strictly between 0 and 1.
    n_resamples : int
        The number of bootstrap resamples, and of random swaps in a permutation test.
    seed : int
        The seed of all random draws. The same seed gives the same result on any machine.

    Raises
    ------
    TypeError, ValueError
        For one bit with float queries under another distance than cosine and inner product, as a bit has no length.

    Notes
    -----
    Ties: distances of the rounded numbers are compared exactly. That is the least effect of rounding the embedding; a
    system that also rounds its scores has more ties, and ``ties="float16"`` adds these.

    Examples
    --------
    The second number is nearer to the first than the third is. In eight bits the two are 13 and −13 steps from it, and
    one bit shows only that one is above and the other below:

    >>> from deadheat import Task
    >>> task = Task([[0.0], [0.1], [-0.105], [1.0]], ["a", "a", "b", "b"], distance="euclidean")
    >>> found = compare_formats(task, formats="float64, int8, binary", measures="mAP", resample="query")
    >>> print(found)
    mAP (%)  bytes  lower  expected  upper  - float64    95 % interval  loses at most
    float64      8  66.67     66.67  66.67       0.00     [0.00, 0.00]           0.00
    int8         1  54.17     60.42  66.67      -6.25   [-60.24, 0.00]          60.24
    1 bit        1  41.67     61.11  83.33      -5.56  [-25.00, 27.78]          50.00
    <BLANKLINE>
    Bytes: of a vector of the gallery, 1 number.
    - float64: of the expected values, in points. Interval: paired bootstrap (percentile) over queries.
    Loses at most: a confidence limit, the low end of the interval with every tie against the format and for float64.
    """
    summary = SummaryOptions.checked(fractions(measures), singletons, average)
    test: dict[str, Any] = {"resample": resample, "confidence_level": confidence_level, "n_resamples": n_resamples}
    test["seed"] = seed
    PairedTest(**test)  # before any work
    allowed = None if margin is None else checks.real_number(margin, "margin", least=0)
    source = opened(task, threshold)
    first, steps, notices = _steps(source, formats, dims, None if base is None else format_name(base, argument="base"))
    reports = {name: report_of(source.at(step), summary) for name, step in steps.items()}
    comparisons = {name: compare(report, reports[first], **test) for name, report in reports.items()}
    result = FormatComparison(
        reports, first, source.dim, source.distance, summary.measures, steps, allowed, comparisons, notices
    )  # fmt: skip
    if margin is not None:
        result.smallest()  # or the reason why the gate cannot tell
    return result


def _steps(
    source: Vectors | RoundedScores, formats: str | Iterable[str] | None, dims: Any, base: str | None
) -> tuple[str, dict[str, Step], tuple[str, ...]]:  # fmt: skip
    """Return the name of the base, the steps by name, and notices about formats."""
    asked = None if formats is None else formats_named(formats)
    notices: tuple[str, ...] = ()
    if isinstance(source, RoundedScores):
        rows = [FORMATS[name] for name in SCORES] if asked is None else asked
        odd = next((row.name for row in rows if row.name not in SCORES), None)
        if odd is not None or dims is not None:
            got = f"formats: {odd!r}" if odd is not None else "dims"
            raise InvalidValueError(got, f"must be left out for scores, which take {', '.join(SCORES)}")
        first = FORMATS["float64" if base is None else checks.choice(base, SCORES, "base")]
    else:
        first, rows, notices = _formats_of(source, asked, base)
        if asked is None and dims is not None:
            rows = [first]
    rows = rows if first in rows else [first, *rows]
    cuts = [source.dim] if dims is None else dims_of(dims, source.dim)
    every = [Step(first, source.dim), *(Step(row, dim) for row in rows for dim in cuts)]
    if dims is None:
        every = [Step(row, source.dim) for row in rows]
    named = {_step_name(step, asked, dims): step for step in every}
    return _step_name(Step(first, source.dim), asked, dims), named, notices


def _step_name(step: Step, asked: Any, dims: Any) -> str:
    cut = [f"{step.dim} dims"] if dims is not None else []
    return ", ".join([*([step.format.name] if asked is not None or not cut else []), *cut])


def _formats_of(
    source: Vectors, asked: list[StorageFormat] | None, base: str | None
) -> tuple[StorageFormat, list[StorageFormat], tuple[str, ...]]:
    """Return the base format of embeddings, the formats to round to, and notices about them."""
    distance_registry.named(source.distance, takes="numbers")
    fits = all((exact.round_to(part, "float32") == part).all() for part in source.parts)
    first = FORMATS[base or ("float32" if fits else "float64")]
    usual, too_short = source.rounding.fitting(FORMATS[name] for name in DEFAULT)
    rows = usual if asked is None else asked
    for row in rows:
        comparable = row.number != "1 bit" or source.distance in ("cosine", "inner_product")  # a bit has no length
        if row.float_query and not comparable:
            rule = f"must be left out unless distance is cosine or inner_product, but distance is {source.distance!r}"
            raise InvalidValueError(f"formats: {row.name!r}", rule)
    notices = (*(too_short if asked is None else ()), *source.rounding.notices(rows, list(source.parts)))
    return first, rows, notices
