"""Link prediction measures: mean rank, reciprocal rank and hits of one positive among candidates.

    profile, one positive a query ───┐
    the same with all items tied ────┴─> weighted means of MR, MRR and Hits@k ─> corrected for chance

The chance value is that of a scorer that ties everything: the expected value of a profile with one group per query.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.evaluable import Evaluable, profile_of_task
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.ranks import from_ranks
from deadheat.errors import InvalidValueError
from deadheat.inputs.samples import LabelsLike
from deadheat.measures import names as measure_names
from deadheat.measures import values as measure_values
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.averaging import class_numbers, query_weights
from deadheat.reports.statistics.intervals import class_sums
from deadheat.reports.tables import Table, count
from deadheat.support import checks
from deadheat.support.arrays import Float64, Int64, distinct
from deadheat.support.floats import plain_floats
from deadheat.support.means import exact_mean
from deadheat.support.triple import ByName, Triple

DEFAULT_MEASURES = ("MR", "MRR", "Hits@1", "Hits@3", "Hits@10", "AMR", "AMRI", "adjusted MRR", "adjusted Hits@10")
_NAME = re.compile(r"A?MR|AMRI|(adjusted )?(MRR|Hits@[1-9][0-9]*)")


@dataclass(frozen=True, eq=False)
class LinkPrediction(Answer, ByName[Triple[float]]):
    """Measures of link prediction: ``result["MRR"]`` is lower, expected and upper.

    For MR and AMR less is better, so that their `lower` ranks the positive in front of its ties, and the cautious value
    is `upper`; for all others it is `lower`.

    Attributes
    ----------
    means : mapping of str to Triple of float
        By name, in the order in which they were asked for.
    per_query : mapping of str to Triple of (n_query,) arrays
        Values of MR, MRR and Hits@k for each query, which the means are taken over.
    n_relation : int or None
        The number of relations in the macro average; None for the mean over queries.
    n_query, n_tied : int
        All queries, and those whose positive ties with another candidate.
    remarks : tuple of str
        Sentences on how the data were read, such as that all positives share the negatives.
    """

    means: Mapping[str, Triple[float]]
    per_query: Mapping[str, Triple[Float64]] = field(repr=False)
    n_relation: int | None
    n_query: int
    n_tied: int
    remarks: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Triple[float]:
        return checks.part(self.means, name, "measure")

    def __iter__(self) -> Iterator[str]:
        return iter(self.means)

    def panels(self) -> list[Panel]:
        """Return one table with a row for each measure."""
        return [Panel([Column("measure", [*self], "measure"), Column("", [*self.values()], "number", shape="bounds")])]

    def tables(self, *, digits: int = 4, **options: Any) -> list[Table]:
        return super().tables(digits=digits, **options)

    def notes(self) -> list[str]:
        """Return a note on the queries and relations of the means, and the number of queries that ties affect."""
        said = count(self.n_query, "query", "queries")
        if self.n_relation is not None:
            said += f" of {count(self.n_relation, 'relation', 'relations')}, averaged"
        return [f"{said}; the positive ties with another candidate in {self.n_tied}.", *self.remarks]

    def facts(self) -> dict[str, Any]:
        return self._facts_of("n_query", "n_relation", "n_tied", "remarks")


@plain_floats
def link_prediction(
    task: Evaluable | TieProfile,
    measures: str | Iterable[str] = DEFAULT_MEASURES,
    *,
    relations: LabelsLike | None = None,
    weights: ArrayLike | None = None,
) -> LinkPrediction:
    """Measure the ranks of one positive per query, with bounds and expectation over all ways to break ties.

    Parameters
    ----------
    task : CountedTask or TieProfile
        Of queries with one relevant item each: from `from_ranks` or `from_candidates`. The profile of the head
        predictions alone is ``task.profile[is_head]``.
    measures : str or iterable of str
        Names, or one string with commas between them: ``MR`` (mean rank), ``MRR``, ``Hits@k``, ``AMR`` (MR over that of
        chance), ``AMRI`` (1 best, 0 chance), ``adjusted MRR`` and ``adjusted Hits@k`` (the same index of MRR and
        Hits@k).
    relations : (n_query,), optional
        The relation of each query, or another key, for the macro average: the mean over relations of the mean over the
        queries of a relation. By default it is micro, the mean over queries.
    weights : (n_query,), optional
        The weight of each query in the mean, or in the mean of its relation; not negative, and not all 0.

    Notes
    -----
    Ties: a positive with o - 1 candidates in front of it and its score shared with p - o others has each rank from o to
    p with the same probability, so that E[1/rank] = (H(p) - H(o - 1)) / (p - o + 1), H being the harmonic numbers.
    MR, AMR and AMRI are linear in the rank: their expectation is that of the mean of o and p, the "realistic" rank.

    Chance: a random order of the candidates of each query [1]_. The adjusted measures are (x - c) / (1 - c), and AMRI
    is 1 - (MR - 1) / (c - 1), with c the mean of the chance values under the same weights. **Undefined:** NaN where
    chance gives the best value already, as for Hits@10 among ten candidates, and without queries.

    References
    ----------
    .. [1] Berrendorf et al. 2020, On the ambiguity of rank-based evaluation of entity alignment or link prediction
       methods, for AMR and AMRI; Hoyt et al. 2022, A unified framework for rank-based evaluation metrics for link
       prediction in knowledge graphs, for the others.

    Examples
    --------
    The positive has a score of its own in one query, and ties with one candidate of three in the other:

    >>> from deadheat import from_candidates
    >>> task = from_candidates([[2, 1, 0], [2, 1, 0]], positive_scores=[3, 1])
    >>> print(link_prediction(task, ["MR", "MRR", "Hits@2", "AMRI"]))
    measure   lower  expected   upper
    MR       1.5000    1.7500  2.0000
    MRR      0.6667    0.7083  0.7500
    Hits@2   0.5000    0.7500  1.0000
    AMRI     0.3333    0.5000  0.6667
    <BLANKLINE>
    2 queries; the positive ties with another candidate in 1.
    """
    profile = profile_of_task(task)
    if profile.n_ordered is not None:
        raise InvalidValueError("task", "must be of whole rankings, but they are cut")
    for query in np.flatnonzero((profile.n_relevant != 1) | (np.diff(profile.offsets) != 1))[:1]:
        given = f"query {query} has {profile.n_relevant[query]}"
        raise InvalidValueError("task", f"must have one relevant item per query, which is ranked, but {given}")
    n_relation, groups = None, np.zeros(profile.n_query, dtype=np.int64)
    share = np.ones(profile.n_query) if weights is None else query_weights(weights, profile.n_query, profile.query_ids)
    if relations is not None:
        groups = class_numbers(relations, profile.n_query)
        n_relation = len(set(groups.tolist()))
    share = _scaled(share, groups)
    share = share if n_relation is None else _per_relation(share, groups)
    bases = {}
    for name in _listed(measures):
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            listed = "MR, MRR, Hits@k, AMR, AMRI, adjusted MRR, adjusted Hits@k"
            raise InvalidValueError("measures", f"must be of {listed}, but got {name!r}")
        bases[name] = "MR" if name in ("AMR", "AMRI") else name.removeprefix("adjusted ")  # compared with chance
    values = _values(profile, bases.values())
    of_bases = {base: Triple(*(_mean(each, share) for each in values[base])) for base in {*bases.values()}}
    sizes, index = distinct(profile.n_ranked)
    all_tied = from_ranks(np.ones_like(sizes), sizes, sizes).profile
    by_chance = _values(all_tied, [base for name, base in bases.items() if base != name])
    means = {}
    for name, base in bases.items():
        mean = of_bases[base]
        means[name] = _adjusted(name, mean, _mean(by_chance[base].expected[index], share)) if base != name else mean
    remarks = task.remarks if isinstance(task, Evaluable) else ()
    n_tied = int(np.count_nonzero(profile.tied > 1))
    return LinkPrediction(means, values, n_relation, profile.n_query, n_tied, remarks)


def _values(profile: TieProfile, names: Iterable[str]) -> dict[str, Triple[Float64]]:
    first, last = profile.closer + np.float64(1), profile.closer + profile.tied + np.float64(0)
    mean = np.full(len(first), np.nan) if profile.bounds_only else (first + last) / 2
    values: dict[str, Triple[Any]] = {"MR": Triple(first, mean, last)}
    others = [name for name in dict.fromkeys(names) if name != "MR"]
    bounds = measure_values.all_bounds(profile, [measure_names.parse(name) for name in others])
    return values | dict(zip(others, bounds, strict=True))


def _adjusted(name: str, mean: Triple[float], chance: float) -> Triple[float]:
    if name == "AMR":
        return Triple(*(each / chance for each in mean))
    if name == "AMRI":
        return Triple(*(1 - (each - 1) / (chance - 1) if chance > 1 else math.nan for each in mean[::-1]))
    return Triple(*((each - chance) / (1 - chance) if chance < 1 else math.nan for each in mean))


def _mean(values: Float64, weights: Float64) -> float:
    """Return the weighted mean, with sums rounded once, so that the order of the queries does not matter."""
    if (weights == 1).all():
        return exact_mean(values)
    total = math.fsum(weights.tolist())
    return math.fsum((values * weights).tolist()) / total if total else math.nan


def _listed(measures: Any) -> list[Any]:
    """Return the names of measures as a list."""
    if isinstance(measures, str):
        return re.split(r"\s*,\s*", measures.strip())
    return checks.listed(measures, "measures", "names of measures")


def _scaled(weights: Float64, groups: Int64) -> Float64:
    """Scale weights by a power of two for each group, so that the largest is from 1 to 2 and no sum overflows."""
    largest = np.zeros(int(groups.max(initial=0)) + 1)
    np.maximum.at(largest, groups, weights)
    scaled: Float64 = np.ldexp(weights, 1 - np.frexp(largest)[1][groups])
    return scaled


def _per_relation(weights: Float64, relations: Int64) -> Float64:
    """Return weights that add up to 1 in each relation."""
    (sums,), _ = class_sums(weights[None], relations)
    totals = sums[np.unique(relations, return_inverse=True)[1]]
    shares: Float64 = np.divide(weights, totals, out=np.zeros(len(weights)), where=totals > 0)
    return shares
