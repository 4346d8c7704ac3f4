"""The same embeddings in fewer bits: values of a measure, a limit on the loss, and the number of ties.

In come embeddings and labels; out go embeddings whose numbers have been rounded, or a report on these for each format.
Here the embeddings are rounded. `ties="float16"` of `deadheat.evaluate` rounds the scores instead, and
`deadheat.low_precision` compares two runs of scores, of low and of high precision.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deadheat.analyses.comparison import Comparison, compare
from deadheat.analyses.difference import Difference, PairedTest
from deadheat.analyses.rounding import DEFAULT, FORMATS, Format, Rounding, format_name, formats_named, quantized
from deadheat.engine import exact
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.task import Task, rows_of, with_rows
from deadheat.errors import InvalidValueError
from deadheat.inputs import arrays, trec
from deadheat.inputs.samples import Pair, Samples
from deadheat.inputs.source import Array, Source
from deadheat.inputs.trec import Path
from deadheat.inputs.trec import Table as Scores
from deadheat.reports.averaging import Average, Singletons, SummaryOptions
from deadheat.reports.evaluating import evaluate, report_of
from deadheat.reports.report import Report
from deadheat.reports.runs import RULES, by_rule
from deadheat.reports.tables import (
    DIGITS,
    Table,
    TabularResult,
    columns_of_values,
    count,
    decimals,
    number,
    plain,
    program,
)
from deadheat.support.arrays import Float64
from deadheat.support.floats import plain_floats
from deadheat.support.triple import columns_of_bounds

__all__ = ["FORMATS", "Format", "FormatComparison", "compare_formats", "quantized"]


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
class FormatComparison(TabularResult):
    """Reports on the same embeddings in several formats: `comparison["int8"]` is a `Report`, by any name of the format.

    Printing gives a table for each measure, in per cent; everything else is a fraction in [0, 1].

    Attributes
    ----------
    reports : mapping of str to Report
        By format, in the order that was asked for.
    base : str
        The format that the others are compared with.
    dim : int
        The number of dimensions.
    distance : str
    measures : tuple of str
    comparisons : mapping of str to Comparison
        Each format, A, against `base`, B: p-values, intervals, wins.
    notices : tuple of str
        Sentences on formats that were left out, or in which all vectors are equal.
    """

    reports: Mapping[str, Report]
    base: str
    dim: int
    distance: str
    measures: tuple[str, ...]
    comparisons: Mapping[str, Comparison] = field(repr=False)
    notices: tuple[str, ...] = ()

    def __getitem__(self, format: str) -> Report:
        """Return the report for a format; raises ValueError for one that was not asked for."""
        return self.reports[format_name(format, self.reports)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    def bytes_per_vector(self, format: str) -> int:
        """Return the bytes of a gallery vector in a format; see `Format.bytes_per_vector`."""
        name = format_name(format, self.reports)
        return FORMATS[name].bytes_per_vector(self.dim, self.distance)

    def difference(self, format: str, measure: str) -> Difference:
        """Return the difference of a format, A, and `base`, B, in a measure: tests, intervals, and values per query."""
        return self.comparisons[format_name(format, self.reports)][measure]

    def change(self, format: str, measure: str) -> Change:
        """Return the change of a measure by a format, with a confidence interval over queries or classes.

        If a format changes no rank of any query, the change is 0: the ties of both are the same.
        """
        name = format_name(format, self.reports)
        if self.reports[name].profile == self.reports[self.base].profile:
            return Change(0.0, 0.0, 0.0, 0.0)
        difference = self.difference(name, measure)
        interval = difference.interval()
        lowest = interval.lower.low
        return Change(difference.expected, *interval.expected, lowest if math.isnan(lowest) else max(0.0, -lowest))

    def to_dict(self) -> dict[str, Any]:
        """Return size, changes and report (`Report.to_dict`) of each format, as plain values that JSON can hold."""
        content = {
            name: {
                "bits": FORMATS[name].bits,
                "bytes": self.bytes_per_vector(name),
                "changes": {measure: plain(self.change(name, measure)._asdict()) for measure in self.measures},
                **report.to_dict(),
            }
            for name, report in self.reports.items()
        }
        about = {"distance": self.distance, "dim": self.dim, "base": self.base}
        return {**about, "test": dict(vars(self._test)), "formats": content}

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return a row for each measure and format, in the order of the tables."""
        rows = [(measure, name) for measure in self.measures for name in self.reports]
        results = [self.reports[name][measure] for measure, name in rows]
        ties = [self.reports[name].ties for _, name in rows]
        changes = [self.change(name, measure) for measure, name in rows]
        return {
            "measure": [measure for measure, _ in rows],
            "format": [name for _, name in rows],
            "bits": [FORMATS[name].bits for _, name in rows],
            "bytes": [self.bytes_per_vector(name) for _, name in rows],
            **columns_of_bounds(results),
            "difference": [change.expected for change in changes],
            **{part: [getattr(change, part) for change in changes] for part in Change._fields[1:]},
            **{part: [getattr(each, part) for each in ties] for part in _TIES},
        }

    @property
    def _test(self) -> PairedTest:
        """Settings of the paired tests, the same for all formats."""
        return self.comparisons[self.base].test

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """Return a table for each measure, in per cent and percentage points."""
        level, tables = f"{100 * self._test.confidence_level:g} % interval", []
        for measure in self.measures:
            values, cells = columns_of_values([report[measure] for report in self.reports.values()], digits)
            header = (f"{measure} (%)", "bytes", *values, f"- {self.base}", level, "loses at most")
            rows = [
                [name, str(self.bytes_per_vector(name)), *row, *self._cells(name, measure, digits)]
                for name, row in zip(self.reports, cells, strict=True)
            ]
            tables.append(Table(header, rows))
        return tables

    def _cells(self, name: str, measure: str, digits: int) -> list[str]:
        """Format the change in percentage points; the limit on the loss is rounded up."""
        if name == self.base:
            return ["", "", ""]
        change, form = self.change(name, measure), f"z{decimals(digits)}"  # no minus before a zero
        low, high = (format(100 * end, form) for end in (change.low, change.high))
        interval, most = "-" if math.isnan(change.low) else f"[{low}, {high}]", 100 * change.loses_at_most
        most = most if math.isnan(most) else math.ceil(most * 10**digits) / 10**digits
        return [number(100 * change.expected, form), interval, number(most, form)]

    def notes(self) -> list[str]:
        """Explain the columns other than the values of a measure."""
        units = "classes" if self._test.resample == "class" else "queries"
        return [
            f"Bytes: of a vector of the gallery, {count(self.dim, 'number', 'numbers')}.",
            f"- {self.base}: of the expected values, in points. Interval: paired bootstrap ({self._test.method}) over "
            f"{units}.",
            "Loses at most: a confidence limit, the low end of the interval with every tie against the format and for "
            f"{self.base}.",
            *self.notices,
        ]


@plain_floats
def compare_formats(
    task: Task,
    *,
    formats: str | Iterable[str] | None = None,
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
    """Evaluate the same embeddings in several formats, with a confidence limit on the loss of each.

    Parameters
    ----------
    task : Task
        Made of embeddings, which are loaded into memory. Scales are those of queries and gallery together.
    formats : str or iterable of str, optional
        The formats to round to: names as for `quantized`, or one string with commas between them. "(float query)" after
        a format with int8 or one bit, such as "int8 (float query)", leaves queries in float32 (minus `threshold` for
        one bit), and rounds the gallery alone. By default float32, bfloat16, float16, int8, int8 per dimension, int8
        per vector, int8 (float query) and 1 bit, except types too short for the largest number.
    base : str, optional
        The format that the others are compared with, which comes first if it is not among `formats`. By default the
        embeddings as they are: "float32" where that holds every number, and else "float64".
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
        As `quantized` and `deadheat.evaluate`; for one bit with float queries under another distance than cosine and
        inner product, as a bit has no length.

    Notes
    -----
    Ties: distances of the rounded numbers are compared exactly. That is the least effect of rounding the embedding; a
    system that also rounds its scores has more ties, and ``ties="float16"`` adds these.

    Examples
    --------
    The second number is nearer to the first than the third is. In eight bits the two are 13 and −13 steps from it, and
    one bit shows only that one is above and the other below:

    >>> task = Task([[0.0], [0.1], [-0.105], [1.0]], ["a", "a", "b", "b"], distance="euclidean")
    >>> found = compare_formats(task, formats="float64, int8, binary", measures="mAP", resample="query")
    >>> print(found)
    mAP (%)  bytes  lower  expected  upper  - float64    95 % interval  loses at most
    float64      8  66.67     66.67  66.67
    int8         1  54.17     60.42  66.67      -6.25   [-18.75, 0.00]          37.50
    1 bit        1  41.67     61.11  83.33      -5.56  [-25.00, 14.58]          50.00
    <BLANKLINE>
    Bytes: of a vector of the gallery, 1 number.
    - float64: of the expected values, in points. Interval: paired bootstrap (percentile) over queries.
    Loses at most: a confidence limit, the low end of the interval with every tie against the format and for float64.
    """
    summary = SummaryOptions.checked(measures, singletons, average)
    test = {"resample": resample, "confidence_level": confidence_level, "n_resamples": n_resamples, "seed": seed}
    task = rows_of(task, "formats", several=True)
    return compare_formats_of(task, summary, formats=formats, base=base, threshold=threshold, **test)


@plain_floats
def compare_formats_of(
    task: Task,
    summary: SummaryOptions,
    *,
    formats: str | Iterable[str] | None = None,
    base: str | None = None,
    threshold: ArrayLike | str = 0.0,
    **test: Any,
) -> FormatComparison:
    """Return the comparison of formats of a task, for measures and means that are checked."""
    pair, options = task.pair, task.options
    distance_registry.named(options.distance, takes="numbers")
    asked = None if formats is None else formats_named(formats)
    first = None if base is None else FORMATS[format_name(base, argument="base")]
    PairedTest.checked(**test)
    query, items = _whole(pair.query), None if pair.gallery is None else _whole(pair.gallery)
    if items is not None:
        arrays.require_same_dim(query.embeddings, items.embeddings)
    parts = [part.embeddings for part in (query, items) if part is not None]
    rounding = Rounding.of(parts, threshold)
    if first is None:
        fits = all((exact.round_to(part, "float32") == part).all() for part in parts)
        first = FORMATS["float32" if fits else "float64"]
    usual, too_short = rounding.fitting(FORMATS[name] for name in DEFAULT)
    rows = list(dict.fromkeys([first, *usual])) if asked is None else asked if first in asked else [first, *asked]
    for row in rows:
        comparable = row.number != "1 bit" or options.distance in ("cosine", "inner_product")  # a bit has no length
        if row.float_query and not comparable:
            rule = f"must be left out unless distance is cosine or inner_product, but distance is {options.distance!r}"
            raise InvalidValueError(f"formats: {row.name!r}", rule)
    reports = {row.name: report_of(_rounded(task, row, query, items, rounding), summary) for row in rows}
    comparisons = {name: compare(report, reports[first.name], **test) for name, report in reports.items()}
    dim = query.embeddings.shape[1]
    notices = (*(too_short if asked is None else ()), *rounding.notices(rows, parts))
    return FormatComparison(reports, first.name, dim, options.distance, summary.measures, comparisons, notices)


def _rounded(
    task: Task, row: Format, query: Samples[Float64], items: Samples[Float64] | None, rounding: Rounding
) -> Task:
    """Return the task on queries and gallery in a format; without items, it is leave one out."""
    if row.float_query:
        gallery = query if items is None else items
        queries, stored = rounding.asymmetric(query.embeddings, gallery.embeddings, row)
        pair = Pair(Samples(Array(queries), query.labels), Samples(Array(stored), gallery.labels))
        return with_rows(task, pair, task.options.exclude if items is not None else np.arange(len(stored)))
    scaled = task.options.distance != "cosine"  # which no scale of a vector changes
    queries = rounding.stored(query.embeddings, row, "embeddings", scaled=scaled)
    if items is None:
        return with_rows(task, Pair(Samples(Array(queries), query.labels), None))
    stored = rounding.stored(items.embeddings, row, "gallery", scaled=scaled)
    pair = Pair(Samples(Array(queries), query.labels), Samples(Array(stored), items.labels))
    return with_rows(task, pair, task.options.exclude)


def _whole(samples: Samples[Source]) -> Samples[Float64]:
    return Samples(samples.embeddings.whole().astype(np.float64), samples.labels)


OF_RUNS = ("nDCG@10", "MRR@10", "Recall@10")
_ROUNDING = 1e-12  # of one value: the same ranking counted in other groups may differ by that
_COLUMNS = ("expectation", "range", "bias", "high", "held")


@plain_floats
def low_precision(
    low: Path | Scores,
    high: Path | Scores,
    qrels: Path | Scores,
    *,
    measures: str | Iterable[str] | None = OF_RUNS,
    singletons: Singletons = "skip",
) -> LowPrecision:
    """Evaluate scores of low precision next to those of high precision, by the protocol of Yang et al. [1]_.

    Parameters
    ----------
    low, high : path, dict, data frame or iterable of named tuples
        Two runs of one model, in any form that `deadheat.Task.from_run` takes: such as the scores in bfloat16, and the
        same with the last step in float32.
    qrels : path, dict, data frame or iterable of named tuples
        The judgements.
    measures : str or iterable of str, optional
        Names, or one string with blanks or commas between them; by default nDCG@10, MRR@10 and Recall@10.
    singletons : {"skip", "zero", "one", "balanced"}
        The value of a query without a relevant item: none; 0; 1; or 0 for measures of the precision kind and 1 for
        those of the recall kind.

    Returns
    -------
    LowPrecision
        Of each measure, as fractions: ``expectation``, the mean over all orders of tied documents (E[M]); ``range``,
        its upper minus its lower bound; ``bias``, the value in the order of the file minus the expectation; ``high``,
        the expectation in high precision; and ``held``, the share of the queries whose bounds in low precision hold
        both bounds in high precision.

    Raises
    ------
    OSError, TypeError, ValueError
        As `deadheat.Task.from_run` does.

    Notes
    -----
    Ties: documents tie when their scores are the same number. Rounding cannot swap two scores, so that ``held`` is 1
    for scores that were only rounded at the end; a share below 1 is an effect of low precision before that. Undefined:
    a query without a value does not count.

    References
    ----------
    .. [1] K. Yang et al., Reliable Evaluation Protocol for Low-Precision Retrieval, arXiv:2508.03306.

    Examples
    --------
    >>> high = {"q": {"a": 0.5012, "b": 0.5013, "c": 0.1}}
    >>> low = {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}
    >>> print(low_precision(low, high, {"q": {"a": 1}}, measures="MRR@10"))
    measure (%)  expectation  range   bias   high    held
    MRR@10             75.00  50.00  25.00  50.00  100.00
    <BLANKLINE>
    1 query. Ties between relevant and irrelevant documents: 1 query in low precision, 0 queries in high.
    """
    scores, judged = trec.open_run(low), trec.open_qrels(qrels)
    tasks = (Task.from_run(run, judged) for run in (scores, high))
    of_low, of_high = (evaluate(task, measures, singletons=singletons) for task in tasks)
    listed = by_rule(next(iter(RULES)), scores, judged, of_low.measures, singletons)
    return LowPrecision(of_low, of_high, listed)


@dataclass(frozen=True, eq=False)
class LowPrecision(TabularResult):
    """Effect of low precision on each measure.

    Attributes
    ----------
    low, high : Report
        The reports of `deadheat.evaluate`.
    listed : dict of str to float
        The values in low precision where ties are in the order of the file.
    """

    low: Report
    high: Report
    listed: dict[str, float]

    def __getitem__(self, name: str) -> dict[str, float]:
        """Return expectation, range, bias, high and held of a measure."""
        result, high = self.low[name], self.high[name]
        known, low = ~np.isnan(result.per_query.lower), result.per_query
        held = (low.lower <= high.per_query.lower + _ROUNDING) & (high.per_query.upper <= low.upper + _ROUNDING)
        share = float(held[known].mean()) if known.any() else np.nan
        bias = self.listed[result.name] - result.expected
        values = result.expected, result.upper - result.lower, bias, high.expected, share
        return dict(zip(_COLUMNS, values, strict=True))

    @property
    def comparison(self) -> Comparison:
        """Comparison of high and low precision by `deadheat.compare`: tests, and wins however ties fall."""
        return compare(self.high, self.low, names=("high", "low"))

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """Return a table of the measures in per cent."""
        form = decimals(digits)
        rows = [[name, *(number(100 * each, form) for each in self[name].values())] for name in self.low.measures]
        return [Table(["measure (%)", *_COLUMNS], rows)]

    def notes(self) -> list[str]:
        """Return the numbers of queries with mixed ties, in low and in high precision."""
        low, high = (count(report.ties.queries, "query", "queries") for report in (self.low, self.high))
        ties = f"Ties between relevant and irrelevant documents: {low} in low precision, {high} in high."
        return [f"{count(self.low.n_query, 'query', 'queries')}. {ties}"]

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each measure; fractions."""
        rows = [self[name] for name in self.low.measures]
        return {"measure": list(self.low.measures), **{each: [row[each] for row in rows] for each in _COLUMNS}}

    def to_dict(self) -> dict[str, Any]:
        """Return the values by measure, as plain values that JSON can hold."""
        return {"deadheat": program(), "measures": {name: plain(self[name]) for name in self.low.measures}}
