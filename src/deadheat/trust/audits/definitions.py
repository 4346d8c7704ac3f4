"""Which measure a function computes: every measure of the catalogue, in every reading, on inputs without ties.

A reading says how arguments become rankings (which distance, whether the query is in its own ranking, which end of the
scores is best, one ranking a query or one for all pairs), a convention how values of queries become one number.

    case, reading ──> tie profile ──> measure ──> values of queries ──> convention ──> lower, expected, upper
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from deadheat.engine.counting.profiling import profile
from deadheat.engine.counting.scored import profile_scores
from deadheat.engine.literals import DistanceName
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import names as measure_names
from deadheat.measures import values as measure_values
from deadheat.measures.family import Measure, NoRankSum
from deadheat.measures.names import FAMILIES
from deadheat.support.arrays import Array, Float64
from deadheat.support.triple import Triple
from deadheat.trust.audits.cases import Case

SAME = 1e-6  # two values that differ by less are one: what float32 leaves of a mean
_DECIMALS = 5  # that some libraries round to
_NARROW = 0.005  # the largest gap between bounds at which a value still distinguishes definitions
_CUTOFFS = (1, 3, 5, 10, 20, 50, 100)


class Reading(NamedTuple):
    """How arguments become rankings."""

    name: str
    profile: Callable[[Array, Array], TieProfile]
    of_classes: bool = False  # whether labels are known, so that classes can be averaged


class Convention(NamedTuple):
    """How the values of queries become one number."""

    name: str
    scale: float = 1.0
    of_classes: bool = False  # the mean over classes, not over queries
    over_what_fits: bool = False  # mAP@k divided by the relevant items that fit into k ranks: R / min(R, k) times it

    def fits(self, measure: Measure, reading: Reading) -> bool:
        """Whether it makes a difference to a measure."""
        cut_average_precision = measure.row.name == "mAP" and measure.cutoff is not None
        return (reading.of_classes or not self.of_classes) and (cut_average_precision or not self.over_what_fits)


@dataclass(frozen=True)
class Definition:
    """A measure, a reading and a convention: what a number may be."""

    measure: Measure
    reading: Reading
    convention: Convention

    def __str__(self) -> str:
        return ", ".join(filter(None, [self.measure.name, self.reading.name, self.convention.name]))

    def truth(self, case: Case) -> Triple[float]:
        """Lower, expected and upper of a case."""
        ends = measure_values.per_query(ranked(self.reading, case), self.measure)
        terms = (self._terms(case, values) for values in ends)
        return Triple(*(self.convention.scale * math.fsum(each) if len(each) else math.nan for each in terms))

    def deviation(self, case: Case) -> float:
        """The standard deviation of the value if each query breaks its ties at random, on its own."""
        terms = self._terms(case, measure_values.std(ranked(self.reading, case), self.measure))
        return self.convention.scale * math.sqrt(math.fsum(np.square(terms)))

    def _terms(self, case: Case, values: Float64) -> Float64:
        """What each query that has a value adds to the mean."""
        n_relevant = ranked(self.reading, case).n_relevant
        asking = n_relevant > 0
        if self.convention.over_what_fits:
            values = values * (n_relevant / np.maximum(1, np.minimum(n_relevant, self.measure.limit)))
        if self.convention.of_classes:
            _, codes = np.unique(case.second, return_inverse=True)
            sizes = np.bincount(codes[asking], minlength=int(codes.max()) + 1)
            weights = asking / np.maximum(1, sizes[codes]) / np.maximum(1, np.count_nonzero(sizes))
        else:
            weights = asking / np.maximum(1, np.count_nonzero(asking))
        terms = values * weights
        return np.asarray(terms[~np.isnan(terms)])


def candidates(form: str, asked: Measure | None, n_items: int) -> Iterator[Definition]:
    """All definitions of a form, or those of one measure; the plainest first, and no cutoff beyond so many items."""
    families = _OF_ONE_POSITIVE if form == "candidates" else None
    for reading in _READINGS[form]:
        for convention in _CONVENTIONS:
            for measure in _catalogue(n_items, families) if asked is None else (asked,):
                if convention.fits(measure, reading):
                    yield Definition(measure, reading, convention)


def matching(found: Sequence[Definition], case: Case, value: float) -> list[Definition]:
    """The definitions that give a value, up to `SAME`; in a reading that has a few ties here, up to these."""
    truths = [(definition, definition.truth(case)) for definition in found]
    return [each for each, truth in truths if truth.upper - truth.lower < _NARROW and possible(truth, value)]


def possible(truth: Triple[float], value: float) -> bool:
    """Whether some way to break the ties gives a value."""
    return truth.lower - slack(value) <= value <= truth.upper + slack(value)


def slack(value: float) -> float:
    """How far a value may be from the number that it stands for: half of its last decimal if it has five at most."""
    return 0.5 * 10.0**-_DECIMALS + 1e-12 if value == round(value, _DECIMALS) else SAME


def span(found: Sequence[Definition], case: Case) -> Triple[float] | None:
    """The possible values of a case under any of some definitions, and what the first expects; None without one."""
    if not found:
        return None
    truths = [definition.truth(case) for definition in found]
    return Triple(min(each.lower for each in truths), truths[0].expected, max(each.upper for each in truths))


@lru_cache(maxsize=64)
def ranked(reading: Reading, case: Case) -> TieProfile:
    """The tie profile of a case; the last ones are kept, since many measures read the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that queries are in the gallery is meant
        return reading.profile(case.first, case.second)


# ---------------------------------------------------------------------------------------------------------------------
# readings


def _leave_one_out(distance: DistanceName) -> Reading:
    name = f"{distance}, leave one out"
    return Reading(name, lambda rows, labels: profile(rows, labels, distance=distance), of_classes=True)


def _itself_ranked(distance: DistanceName) -> Reading:
    name = f"{distance}, the query itself in its ranking"
    return Reading(name, lambda rows, labels: profile(rows, labels, rows, labels, distance=distance), of_classes=True)


def _pooled(scores: Array, relevant: Array) -> TieProfile:
    return profile_scores(scores.reshape(1, -1), relevant.reshape(1, -1))


_DISTANCES: tuple[DistanceName, ...] = ("cosine", "euclidean", "inner_product", "cityblock")
_BY_QUERY = (
    Reading("the highest score first", profile_scores),
    Reading("the lowest score first", lambda scores, relevant: profile_scores(scores, relevant, order="ascending")),
)
_READINGS = {
    "embeddings": (*map(_leave_one_out, _DISTANCES), *map(_itself_ranked, _DISTANCES)),
    "scores": (*_BY_QUERY, Reading("all pairs in one ranking", _pooled)),
    "query": _BY_QUERY,
    "candidates": _BY_QUERY,
}
_OF_ONE_POSITIVE = ("MRR", "Hit")  # of which mAP, recall and others are then further names


_CONVENTIONS = (
    Convention(""),
    Convention("mean over classes", of_classes=True),
    Convention("over min(R, k)", over_what_fits=True),
    Convention("in per cent", scale=100.0),
)


def _catalogue(n_items: int, families: Sequence[str] | None) -> list[Measure]:
    """Every measure of some families that is a sum over the relevant items, with every cutoff that matters."""
    names: list[str] = []
    for row in FAMILIES:
        if not isinstance(row.forms, NoRankSum) and (families is None or row.name in families):
            names += [row.name] if row.cutoff != "must" else []
            names += [f"{row.name}@{k}" for k in _CUTOFFS if k < n_items and row.cutoff in ("may", "must")]
    return list(measure_names.parse_all(names))
