"""What trec_eval makes of counts and of measures at a cutoff of each query's own: in comes a report, out go its values.

They are no rows of the catalogue: their cutoffs are multiples of R, or the ranks at which the best order changes grade.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deadheat import measures as rank_measures
from deadheat.profiles import Int64, TieProfile, at_level
from deadheat.reports.report import Report
from deadheat.reports.result import Float64
from deadheat.support.triple import Triple

_UTILITY = (1.0, -1.0, 0.0, 0.0)  # of a relevant and an irrelevant document, retrieved or not


def at(name: str, rel: int) -> str:
    """The name of a measure in a report at a level of relevance."""
    return rank_measures.parse(name).at_level(rel).name


def found_in(profile: TieProfile) -> Int64:
    """The relevant documents that were retrieved, of each query."""
    return np.bincount(profile.query_of_group, profile.tied_relevant, profile.n_query).astype(np.int64)


def utility(report: Report, name: str, rel: int, n_docs: int) -> Triple[Float64]:
    """Documents retrieved and not, relevant and not, each times its coefficient; no order changes it."""
    coefficients = [float(text) for text in name.split("_")[1].split(",")] if "_" in name else _UTILITY
    level = at_level(report.profile, rel)
    found, ranked, relevant = found_in(level), level.n_ranked, level.n_relevant
    parts = (found, ranked - found, relevant - found, n_docs + found - ranked - relevant)
    total: Float64 = np.zeros(level.n_query)
    for a, part in zip(coefficients, parts, strict=True):
        total += a * part
    return Triple(total, total, total)


def _relative_precision(report: Report, cutoff: float, rel: int) -> Triple[Float64]:
    """Precision over the best there is: recall where no more than k documents are relevant."""
    few = at_level(report.profile, rel).n_relevant <= cutoff
    recall, precision = (report[at(f"{name}@{int(cutoff)}", rel)].per_query for name in ("Recall", "P"))
    lower, expected, upper = (np.where(few, *both) for both in zip(recall, precision, strict=True))
    return Triple(lower, expected, upper)


def _multiple(report: Report, factor: float, rel: int) -> Triple[Float64]:
    """Precision at a multiple of R, rounded as trec_eval does."""
    cutoffs = (factor * at_level(report.profile, rel).n_relevant + 0.9).astype(np.int64)
    return _at_cutoffs(report, at("P@1", rel), cutoffs)


def _at_levels(report: Report, cutoff: float, rel: int) -> Triple[Float64]:
    """The mean of nDCG@k over every k at which the best order changes its grade, and at the end if that is beyond."""
    profile = report.profile
    by_grade = profile.n_relevant[:, None] if profile.relevant_by_grade is None else profile.relevant_by_grade
    total = [np.zeros(profile.n_query) for _ in range(3)]
    points = np.zeros(profile.n_query)
    ends = [by_grade[:, grade:].sum(axis=1) for grade in reversed(range(by_grade.shape[1]))]
    counts = [by_grade[:, grade] > 0 for grade in reversed(range(by_grade.shape[1]))]
    beyond = profile.n_ranked > profile.n_relevant + 1
    for end, counted in zip([*ends, profile.n_ranked], [*counts, beyond], strict=True):
        for sums, values in zip(total, _at_cutoffs(report, "nDCG@1", end), strict=True):
            sums += np.where(counted, values, 0.0)
        points += counted
    unknown, *_ = report[at("R-Precision", rel)].per_query
    none = at_level(profile, rel).n_relevant == 0
    lower, expected, upper = (np.where(none, unknown, values / np.maximum(points, 1)) for values in total)
    return Triple(lower, expected, upper)


def _at_cutoffs(report: Report, name: str, cutoffs: Int64) -> Triple[Float64]:
    """A measure of each query at a cutoff of its own; as R-precision where nothing is relevant."""
    measure = rank_measures.parse(name)
    values = [each.copy() for each in report[at("R-Precision", measure.rel)].per_query]
    defined = at_level(report.profile, measure.rel).n_relevant > 0
    for cutoff in np.unique(cutoffs[defined]).tolist():
        some = np.flatnonzero(defined & (cutoffs == cutoff))
        if cutoff == 0:  # a share of R that is no document
            for each in values:
                each[some] = 0.0
            continue
        found = rank_measures.per_query(report.profile[some], measure.row.measure(cutoff, rel=measure.rel))
        for all_values, each in zip(values, found, strict=True):
            all_values[some] = each
    return Triple(*values)


MADE: dict[str, Callable[[Report, float, int], Triple[Float64]]] = {
    "relative_P": _relative_precision,
    "Rprec_mult": _multiple,
    "Rndcg": _at_levels,
}
