"""Public board of a competition with secret labels: rounded lower bounds, and ranks by these.

files ──each evaluated, or refused in one line──> lower bounds ──two decimals of per cent──> PublicBoard
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.report import Report
from deadheat.reports.tables import Table, count

_DECIMALS = 2  # of per cent


def lower_bounds(report: Report) -> dict[str, float]:
    """Return the lower bound of each measure; a fraction, NaN where it is undefined."""
    return {name: result.lower for name, result in report.items()}


@dataclass(frozen=True, eq=False)
class PublicBoard(Answer):
    """Systems ordered by the lower bound of the first measure, the best first.

    Neither ties nor the order of a file can raise a lower bound. Rounding reveals less of the labels, and ranks follow
    from the rounded values, so that they reveal nothing more.

    Attributes
    ----------
    measures : tuple of str
    values : dict of str to tuple of float
        By name, the lower bound of each measure in per cent, to two decimals; NaN where it is undefined.
    refused : dict of str to str
        By name, the reason why a submission was not ranked, in one line.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> labels = list("aabb")
    >>> reports = {name: evaluate(rows, labels, measures="Hit@1", distance="euclidean")
    ...            for name, rows in {"zeros": [[0]] * 4, "good": [[0], [1], [5], [6]]}.items()}
    >>> bounds = {name: lower_bounds(report) for name, report in reports.items()}
    >>> print(PublicBoard.of(bounds, {"late": "late.npz must have 4 rows, but has 3"}))
    system  rank  Hit@1 (%)
    good       1     100.00
    zeros      2       0.00
    <BLANKLINE>
    Lower bounds over all tie-breakings, rounded; ranks are by what is shown.
    1 submission refused:
    late: late.npz must have 4 rows, but has 3
    """

    measures: tuple[str, ...]
    values: dict[str, tuple[float, ...]]
    refused: Mapping[str, str]

    @classmethod
    def of(cls, lower: Mapping[str, Mapping[str, float]], refused: Mapping[str, str]) -> PublicBoard:
        """Return the board of systems by their lower bounds: fractions by measure, of the same measures for all."""
        measures = tuple(next(iter(lower.values()), ()))
        values = {
            name: tuple(round(100 * bounds[each], _DECIMALS) for each in measures) for name, bounds in lower.items()
        }
        ranked = sorted(values, key=lambda name: (-values[name][0], name))
        return cls(measures, {name: values[name] for name in ranked}, refused)

    @property
    def ranks(self) -> dict[str, int]:
        """The rank of each system, from 1; systems with equal values share a rank."""
        first = [row[0] for row in self.values.values()]
        return {name: 1 + sum(other > row[0] for other in first) for name, row in self.values.items()}

    def panels(self) -> list[Panel]:
        """Return one table: a row for each system, in per cent."""
        columns = [Column("system", list(self.values)), Column("rank", list(self.ranks.values()), "rank")]
        columns += [
            Column(name, [row[i] for row in self.values.values()], "number", f"{name} (%)", unit="per cent")
            for i, name in enumerate(self.measures)
        ]
        return [Panel(columns, key="public", by_name=False)]

    def tables(self, *, digits: int = _DECIMALS, **options: Any) -> list[Table]:
        """Return one table, with at most two decimals, whatever `digits` is; none without systems."""
        return super().tables(digits=min(digits, _DECIMALS), **options) if self.values else []

    def notes(self) -> list[str]:
        """Return the meaning of the numbers, and each submission that was refused."""
        said = ["Lower bounds over all tie-breakings, rounded; ranks are by what is shown."] if self.values else []
        if self.refused:
            said.append(f"{count(len(self.refused), 'submission', 'submissions')} refused:")
        return said + [f"{name}: {reason}" for name, reason in self.refused.items()]

    def facts(self) -> dict[str, Any]:
        return {"unit": "per cent", "refused": dict(self.refused)}
