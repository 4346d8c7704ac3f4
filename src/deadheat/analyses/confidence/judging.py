"""All that the analyses say of one confidence: from a report and a confidence of each query to a `ConfidenceReport`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from deadheat.analyses.confidence import queries
from deadheat.analyses.confidence.accuracy import ConfidenceAccuracy, confidence_accuracy, titled_values
from deadheat.analyses.confidence.correlation import RankCorrelation, rank_correlation
from deadheat.analyses.confidence.rejecting import RejectCurve, error_reject_curve, titled_areas
from deadheat.errors import InvalidTypeError
from deadheat.reports import Report
from deadheat.reports.tables import DIGITS, Table, TabularResult, plain
from deadheat.support.triple import Triple

REJECTED = (0, 5, 10, 20, 50)  # per cent of the queries
_HIT = "Hit@1"


@dataclass(frozen=True, eq=False)
class ConfidenceReport(TabularResult):
    """What a confidence is worth, by the measures of a report.

    Attributes
    ----------
    curves : dict of str to RejectCurve
        Error against reject, by measure.
    accuracy : ConfidenceAccuracy
        The confidence as a guess at Hit@1, the study's "confidence against Recall@1".
    correlation : RankCorrelation or None
        With a target; None if none was given.
    """

    curves: dict[str, RejectCurve]
    accuracy: ConfidenceAccuracy
    correlation: RankCorrelation | None

    def to_dict(self) -> dict[str, Any]:
        """The parts as plain Python values that JSON can hold; of a curve the areas and the error at some rejects."""
        curves = {}
        for name, curve in self.curves.items():
            at = {f"{percent / 100:g}": errors._asdict() for percent, errors in _errors(curve)}
            curves[name] = curve.to_dict() | {"error_at_rejected": plain(at)}
        correlation = None if self.correlation is None else self.correlation.to_dict()
        return {"curves": curves, "accuracy": self.accuracy.to_dict(), "correlation": correlation}

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """A row a value: of which part, which value, and its bounds."""
        parts = {f"error by {name}": _rows(curve) for name, curve in self.curves.items()}
        parts[f"confidence against {_HIT}"] = titled_values(self.accuracy)
        if self.correlation is not None:
            parts["rank correlation"] = {"rho": self.correlation.rho, "tau": self.correlation.tau}
        rows = [(part, name, *triple) for part, named in parts.items() for name, triple in named.items()]
        return dict(zip(("of", "value", *Triple._fields), map(list, zip(*rows, strict=True)), strict=True))

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """A table a measure, one of the guess, one of the correlations."""
        found = [queries.table_of_triples(f"error by {name}", _rows(curve), digits)
                 for name, curve in self.curves.items()]  # fmt: skip
        found.append(queries.table_of_triples(f"confidence against {_HIT}", titled_values(self.accuracy), digits))
        return found + ([] if self.correlation is None else self.correlation.tables())

    def notes(self) -> list[str]:
        """Which queries count by each measure, where the guess is best, and what the correlation is of."""
        notes = [f"{name}: {note}" for name, curve in self.curves.items() for note in curve.notes()]
        notes += self.accuracy.notes()[:-1]
        return notes + ([] if self.correlation is None else [f"Correlation: {self.correlation.notes()[0]}"])


def confidence_report(report: Report, confidence: ArrayLike, target: ArrayLike | None = None) -> ConfidenceReport:
    """Return the error-reject curve of each measure, the accuracy of the confidence, and its correlation with a target.

    Parameters
    ----------
    report : Report
        Of measures with values in [0, 1].
    confidence : (n_query,)
        Finite numbers of any scale; larger is surer.
    target : (n_query,), optional
        What the confidence should be in the order of; of a target for its uncertainty, such as an entropy, a good
        confidence is in the reverse order, and correlates negatively.

    Returns
    -------
    ConfidenceReport
        Which says what ties leave open in each part as `error_reject_curve`, `confidence_accuracy` and
        `rank_correlation` do.

    Raises
    ------
    ValueError, TypeError
        As these three do, or if `report` is no Report.
    ModuleNotFoundError
        Without SciPy if there is a target.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate([[0.0], [1.0], [-1.0]], ["a", "a", "b"], distance="euclidean", measures="Hit@1")
    >>> found = confidence_report(report, [2, 1, 0])
    >>> found.curves["Hit@1"].area
    Triple(lower=0.0, expected=0.375, upper=0.75)
    >>> found.accuracy.mean_accuracy.upper
    0.5
    """
    if not isinstance(report, Report):
        raise InvalidTypeError("report", f"must be a Report, as evaluate returns, but is {type(report).__name__}")
    return ConfidenceReport(
        {name: error_reject_curve(report[name], confidence) for name in report},
        confidence_accuracy(report[_HIT], confidence),
        None if target is None else rank_correlation(confidence, target),
    )


def _rows(curve: RejectCurve) -> dict[str, Triple[float]]:
    """The areas by their titles, and the error at some rejects."""
    return titled_areas(curve) | {f"rejecting {percent} %": at for percent, at in _errors(curve)}


def _errors(curve: RejectCurve) -> list[tuple[int, Triple[float]]]:
    """The error of the kept where so many per cent of the queries are rejected, rounded down."""
    n, curves = curve.n_query, (curve.lower, curve.expected, curve.upper)
    kept = {percent: n - n * percent // 100 for percent in REJECTED}
    return [(percent, Triple(*(float(values[k - 1]) for values in curves))) for percent, k in kept.items()]
