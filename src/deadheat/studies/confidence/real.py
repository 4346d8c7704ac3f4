"""Norm and label entropy as confidences of real embeddings: George Washington's words and scikit-learn's digits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import deadheat as dh
from deadheat import plots
from deadheat.analyses import confidence as measures
from deadheat.analyses.confidence import RejectCurve
from deadheat.plots import style
from deadheat.studies.data import GEORGE_WASHINGTON, digits, george_washington
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Table, missing

_BY = ("Hit@1", "MAP@R")
_NORM, _AGREEMENT = "norm", "agreement of the labels around"


class Real(NamedTuple):
    """Embeddings with their measures and their confidences."""

    name: str
    title: str
    report: dh.Report
    confidences: dict[str, NDArray[np.float64]]

    def curve(self, confidence: str, by: str) -> RejectCurve:
        return measures.error_reject_curve(self.report[by], self.confidences[confidence])


def run(setting: Setting) -> Outcome:
    """Curves, areas and correlations of each data set that is there."""
    file = setting.file(GEORGE_WASHINGTON)
    images, labels = digits()
    kept = slice(400 if setting.quick else None)
    sets = [_real("digits", "scikit-learn's digits, euclidean", images[kept], labels[kept], 10, "euclidean", setting)]
    if file is not None:
        title = "George Washington, PHOCNet, cosine"
        sets.append(_real("washington", title, *george_washington(file), 5, "cosine", setting))
    findings = [finding for real in sets for finding in _findings(real)]
    if file is None:
        findings.append(missing("George Washington: norm and label entropy as confidence", GEORGE_WASHINGTON))
    return Outcome(
        findings=findings,
        pictures=[
            *[Picture(real.name, f"{real.title}: two confidences, by Hit@1. In the bands, equal confidences decide.",
                      _curves(real)) for real in sets],
            Picture("reliability", f"{sets[0].title}: is the agreement of the labels around a probability that the "
                    "nearest is right? The area of a mark is its number of queries.", _reliability(sets[0])),
        ],
        tables=[_table(sets)],
    )  # fmt: skip


def _real(
    name: str, title: str, embeddings: NDArray[Any], labels: NDArray[Any], k: int, distance: str, setting: Setting
) -> Real:
    """The report, the norms, and 1 − normalised entropy of the k nearest labels."""
    entropy = measures.label_entropy(embeddings, labels, k, distance=distance, normalized=True, threads=setting.threads)
    report = dh.evaluate(embeddings, labels, distance=distance, measures=_BY, threads=setting.threads)
    return Real(name, title, report, {_NORM: measures.norms(embeddings), _AGREEMENT: 1 - entropy})


def _findings(real: Real) -> list[Finding]:
    findings = []
    for confidence in real.confidences:
        curve = real.curve(confidence, "Hit@1")
        area, random = curve.area, curve.random_area.expected
        better = "below" if area.upper < random else "above" if area.lower > random else "on both sides of"
        findings.append(
            Finding(
                f"{real.title}: error-reject area by Hit@1, confidence: {confidence}",
                f"{100 * area.expected:.2f} % [{100 * area.lower:.2f}, {100 * area.upper:.2f}]",
                Mark.NEW,
                why=f"{better} that of a random order, {100 * random:.2f} %; {curve.n_tied} of {curve.n_query} queries "
                f"have a confidence that another has too",
            )
        )
    correlation = measures.rank_correlation(real.confidences[_NORM], real.confidences[_AGREEMENT])
    what = f"{real.title}: Spearman's rho of the norm and the agreement of the labels around"
    return [*findings, Finding(what, f"{correlation.spearman:.3f} (p = {correlation.spearman_p:.2g})", Mark.NEW)]


def _curves(real: Real) -> Figure:
    figure = style.figure(8.6, 3.5)
    for ax, plot in zip(figure.subplots(1, 2), (plots.error_reject, plots.risk_coverage), strict=True):
        for number, confidence in enumerate(real.confidences):
            curve = real.curve(confidence, "Hit@1")
            plot(curve, ax=ax, label=confidence, number=number, references=number == 0)
    return figure


def _reliability(real: Real) -> Figure:
    figure = style.figure(4.6, 4.2)
    calibration = measures.calibration(real.report["Hit@1"], real.confidences[_AGREEMENT], bins=10)
    ax = plots.reliability(calibration, ax=figure.subplots())
    ax.set_title(f"ECE {100 * calibration.ece.upper:.1f} %, Brier score {calibration.brier.expected:.3f}", fontsize=10)
    ax.legend(frameon=False, loc="lower right", fontsize=9)
    return figure


def _table(sets: Sequence[Real]) -> Table:
    rows = []
    for real in sets:
        for confidence, values in real.confidences.items():
            guess = measures.confidence_accuracy(real.report["Hit@1"], values)
            for by in _BY:
                curve = real.curve(confidence, by)
                rows.append(
                    [real.name, confidence, by, *curve.area, curve.random_area.expected, curve.optimal_area.upper,
                     curve.excess_area.lower, curve.excess_area.upper, curve.n_query, curve.n_tied, curve.n_open]
                    + ([guess.mean_accuracy.expected, guess.best_accuracy, guess.majority_accuracy, guess.auroc]
                       if by == "Hit@1" else [math.nan] * 4)
                )  # fmt: skip
    columns = ["data", "confidence", "by", "ERC lower", "ERC expected", "ERC upper", "random order", "perfect order",
               "excess lower", "excess upper", "queries", "equally confident", "open values",
               "mean accuracy", "best accuracy", "majority", "AUROC"]  # fmt: skip
    in_percent = [*columns[3:10], *columns[13:]]
    return Table("real", "Real embeddings: areas and accuracies", columns, rows, percent=in_percent)
