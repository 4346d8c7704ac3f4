"""Scores of one model in low and in high precision: what the ties of the low ones hide, and whether bounds say so.

low, high, qrels ──two reports on the same queries──> expectation, range, bias; how often bounds hold the high values
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.analyses.comparison import Comparison, compare
from deadheat.inputs import trec
from deadheat.inputs.trec import Path
from deadheat.inputs.trec import Table as Scores
from deadheat.reports.averaging import Singletons
from deadheat.reports.report import Report
from deadheat.reports.runs import RULES, by_rule, evaluate_run
from deadheat.reports.tables import DIGITS, Table, TabularResult, count, decimals, number, plain, program
from deadheat.support.floats import plain_floats

MEASURES = ("nDCG@10", "MRR@10", "Recall@10")
_ROUNDING = 1e-12  # of one value: the same ranking counted in other groups may differ by that
_COLUMNS = ("expectation", "range", "bias", "high", "held")


@plain_floats
def low_precision(
    low: Path | Scores,
    high: Path | Scores,
    qrels: Path | Scores,
    *,
    measures: str | Iterable[str] | None = MEASURES,
    singletons: Singletons = "skip",
) -> LowPrecision:
    """Evaluate scores of low precision next to those of high precision, by the protocol of Yang et al. [1]_.

    Parameters
    ----------
    low, high : path, dict, data frame or iterable of named tuples
        Two runs of one model, in any form that `deadheat.evaluate_run` takes: the scores as they come in bfloat16, say,
        and the same with the last step in float32.
    qrels : path, dict, data frame or iterable of named tuples
        The judgements.
    measures : str or iterable of str, optional
        Names, or one string with blanks or commas between them; by default nDCG@10, MRR@10 and Recall@10.
    singletons : {"skip", "zero", "one", "balanced"}
        What a query without a relevant item counts as: nothing; 0; 1; or 0 for measures of the precision kind and 1 for
        those of the recall kind.

    Returns
    -------
    LowPrecision
        Of each measure, as fractions: ``expectation``, the mean over all orders of tied documents (E[M]); ``range``,
        its upper less its lower bound; ``bias``, the value in the order of the file less the expectation; ``high``, the
        expectation in high precision; and ``held``, the share of the queries whose bounds in low precision hold both
        bounds in high precision.

    Raises
    ------
    OSError, TypeError, ValueError
        As `deadheat.evaluate_run` does.

    Notes
    -----
    Ties: documents tie when their scores are the same number. Rounding cannot swap two scores, so that scores that were
    merely rounded at the end hold every query; a share below 1 is what low precision did before that. Undefined: a
    query without a value does not count.

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
    of_low, of_high = (evaluate_run(run, judged, measures=measures, singletons=singletons) for run in (scores, high))
    listed = by_rule(next(iter(RULES)), scores, judged, list(judged), of_low.measures, singletons)
    return LowPrecision(of_low, of_high, listed)


@dataclass(frozen=True, eq=False)
class LowPrecision(TabularResult):
    """What low precision costs, a row for each measure.

    Attributes
    ----------
    low, high : Report
        Those of `deadheat.evaluate_run`.
    listed : dict of str to float
        The values in low precision where ties are in the order of the file.
    """

    low: Report
    high: Report
    listed: dict[str, float]

    def __getitem__(self, name: str) -> dict[str, float]:
        """Expectation, range, bias, high and held of a measure."""
        result, high = self.low[name], self.high[name]
        known, low = ~np.isnan(result.per_query.lower), result.per_query
        held = (low.lower <= high.per_query.lower + _ROUNDING) & (high.per_query.upper <= low.upper + _ROUNDING)
        share = float(held[known].mean()) if known.any() else np.nan
        bias = self.listed[result.name] - result.expected
        values = result.expected, result.upper - result.lower, bias, high.expected, share
        return dict(zip(_COLUMNS, values, strict=True))

    @property
    def comparison(self) -> Comparison:
        """High against low, as `deadheat.compare` does: tests, and who wins however ties fall."""
        return compare(self.high, self.low, names=("high", "low"))

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """The measures in per cent."""
        form = decimals(digits)
        rows = [[name, *(number(100 * each, form) for each in self[name].values())] for name in self.low.measures]
        return [Table(["measure (%)", *_COLUMNS], rows)]

    def notes(self) -> list[str]:
        """How many queries have ties that matter, in low and in high precision."""
        low, high = (count(report.ties.queries, "query", "queries") for report in (self.low, self.high))
        ties = f"Ties between relevant and irrelevant documents: {low} in low precision, {high} in high."
        return [f"{count(self.low.n_query, 'query', 'queries')}. {ties}"]

    def columns(self) -> dict[str, list[Any]]:
        """A row for each measure; fractions."""
        rows = [self[name] for name in self.low.measures]
        return {"measure": list(self.low.measures), **{each: [row[each] for row in rows] for each in _COLUMNS}}

    def to_dict(self) -> dict[str, Any]:
        """The values by measure, as plain values that JSON can hold."""
        return {"deadheat": program(), "measures": {name: plain(self[name]) for name in self.low.measures}}
