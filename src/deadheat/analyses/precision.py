"""The same embeddings in fewer bits: what is left of a measure, and how many ties come in.

In come embeddings and labels; out go embeddings whose numbers have been rounded, or reports on these, one a precision.
What is rounded here is the embedding. `ties="float16"` of `deadheat.evaluate` rounds the scores instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat import distances, exact, inputs
from deadheat.counting import CountingOptions
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import Pair, Samples
from deadheat.inputs.sources import Array, EmbeddingsLike, LabelsLike, Source
from deadheat.reports import Report
from deadheat.reports.evaluating import evaluate_pair
from deadheat.reports.options import Average, Singletons, SummaryOptions
from deadheat.reports.tables import Table, TabularResult, number
from deadheat.support import checks
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Progress
from deadheat.support.triple import Triple
from deadheat.ties import Ties

__all__ = ["KINDS", "Precisions", "precisions", "quantized"]

KINDS = {"float64": 64, "float32": 32, "bfloat16": 16, "float16": 16, "int8": 8, "1 bit": 1}  # bits a number

_STORED = {"float32": np.float32, "bfloat16": np.float32, "float16": np.float16}
_INT8 = 127
_DOUBT = 2.0**-40  # far more than two roundings of a number up to 127 can change it


def quantized(embeddings: ArrayLike, kind: str, *, threshold: ArrayLike = 0.0) -> NDArray[Any]:
    """Round embeddings to the numbers that a shorter type has.

    Parameters
    ----------
    embeddings : (n, dim) array of floats, integers or bool
        Finite.
    kind : {"float64", "float32", "bfloat16", "float16", "int8", "1 bit"}
        Floating-point types: the nearest number of the type, ties to even. int8, symmetric: x / max|x| · 127 to the
        nearest integer, ties to even, with one scale for the whole array; all zeros stay so. 1 bit: +1 where a
        number is at least `threshold`, and −1 where it is below; so a zero counts as positive, of either sign.
    threshold : float or (dim,) array, optional
        For "1 bit" alone.

    Returns
    -------
    (n, dim)
        As float64, float32, float16 or int8. NumPy has no bfloat16: float32 holds its numbers. One bit comes as int8
        ±1. All of these go into `deadheat.evaluate` as they are.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule, or a number is too large for the type; the message names the argument, the
        rule and what came.

    Notes
    -----
    Ties: rows that become equal tie for every query. Between ±1 vectors of dimension d with h different entries the
    inner product is d − 2h, the squared Euclidean distance 4h, city block 2h and the cosine 1 − 2h/d, so that all of
    them rank as Hamming distance ranks the bits.

    Examples
    --------
    >>> quantized([[0.3, -1.0, 0.0]], "int8").tolist(), quantized([[0.3, -1.0, 0.0]], "1 bit").tolist()
    ([[38, -127, 0]], [[1, -1, 1]])
    >>> quantized([[0.3]], "bfloat16").tolist()
    [[0.30078125]]
    """
    checks.choice(kind, KINDS, "kind")
    values = inputs.embeddings(embeddings, "embeddings").astype(np.float64)
    return _rounded(values, kind, "embeddings", _largest(values), _threshold(threshold, values.shape[1]))


@dataclass(frozen=True, eq=False)
class Precisions(TabularResult):
    """Reports on the same embeddings at several precisions: `precisions["int8"]` is a `Report`.

    Printing gives a table for each measure, in per cent; everything else is a fraction in [0, 1].

    Attributes
    ----------
    reports : mapping of str to Report
        By kind, in the order that was asked for.
    distance : str
    measures : tuple of str
    """

    reports: Mapping[str, Report]
    distance: str
    measures: tuple[str, ...]

    def __getitem__(self, kind: str) -> Report:
        """The report for a kind; raises ValueError for one that was not asked for."""
        return self.reports[checks.choice(kind, self.reports, "kind")]

    def __iter__(self) -> Iterator[str]:
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    def to_dict(self) -> dict[str, Any]:
        """By kind, its bits and its report (`Report.to_dict`), as plain Python values that JSON can hold."""
        kinds = {kind: {"bits": KINDS[kind], **report.to_dict()} for kind, report in self.reports.items()}
        return {"distance": self.distance, "measures": list(self.measures), "kinds": kinds}

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """A row a measure and kind, in the order of the tables."""
        rows = [(measure, kind, report) for measure in self.measures for kind, report in self.reports.items()]
        return {
            "measure": [measure for measure, _, _ in rows],
            "kind": [kind for _, kind, _ in rows],
            "bits": [KINDS[kind] for _, kind, _ in rows],
            **{bound: [getattr(report[measure], bound) for measure, _, report in rows] for bound in Triple._fields},
            "mixed_groups": [report.ties.mixed_groups for _, _, report in rows],
            "queries": [report.ties.queries for _, _, report in rows],
            "largest": [report.ties.largest for _, _, report in rows],
        }

    def tables(self) -> list[Table]:
        """A table for each measure, in per cent."""
        return [self._table(measure) for measure in self.measures]

    def _table(self, measure: str) -> Table:
        rows = []
        for kind, report in self.reports.items():
            result, ties = report[measure], report.ties
            values = [number(100 * getattr(result, bound), ".4f") for bound in Triple._fields]
            rows.append([kind, str(KINDS[kind]), *values, *map(str, (ties.mixed_groups, ties.queries, ties.largest))])
        header = (f"{measure} (%)", "bits", *Triple._fields, "mixed groups", "queries", "largest")
        return Table(header, rows)

    def notes(self) -> list[str]:
        """Nothing: the ties are in the tables."""
        return []


@plain_floats
def precisions(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    kinds: str | Iterable[str] = tuple(KINDS),
    measures: str | Iterable[str] | None = None,
    distance: str = "cosine",
    threshold: ArrayLike = 0.0,
    ties: str | Ties = "exact",
    junk: ArrayLike | None = None,
    singletons: Singletons = "skip",
    average: Average = "query",
    threads: int | None = None,
    progress: bool | Progress = False,
    device: Any = None,
) -> Precisions:
    """Evaluate the same embeddings at several precisions.

    Parameters
    ----------
    embeddings, labels, gallery, gallery_labels
        As in `deadheat.evaluate`, and taken into memory. Queries and gallery are rounded with one scale for both.
    kinds : str or iterable of str
        What to round to: see `quantized`.
    distance : {"cosine", "euclidean", "inner_product", "cityblock"}
    threshold : float or (dim,) array, optional
        For "1 bit": see `quantized`.
    measures, ties, junk, singletons, average, threads, progress, device
        As in `deadheat.evaluate`. There is a pass for each kind, with its own progress.

    Returns
    -------
    Precisions

    Raises
    ------
    TypeError, ValueError
        As `quantized` and `deadheat.evaluate`.

    Notes
    -----
    Ties: distances of the rounded numbers, compared exactly. That is the least that rounding the embedding does; a
    system that also rounds its scores has more ties, and ``ties="float16"`` adds these.

    Examples
    --------
    The second number is nearer to the first than the third is. In eight bits the two are 13 and −13 steps from it, and
    in one bit it is only above or below:

    >>> print(precisions([[0.0], [0.1], [-0.105], [1.0]], ["a", "a", "b", "b"], distance="euclidean", measures="mAP",
    ...                  kinds=["float32", "int8", "1 bit"]))
    mAP (%)  bits    lower  expected    upper  mixed groups  queries  largest
    float32    32  66.6667   66.6667  66.6667             0        0        0
    int8        8  54.1667   60.4167  66.6667             1        1        2
    1 bit       1  41.6667   61.1111  83.3333             3        3        3
    """
    checks.choice(distance, distances.names(takes="numbers"), "distance")
    chosen = _chosen(kinds)
    summary = SummaryOptions.checked(measures, singletons, average)
    options = CountingOptions.checked(
        distance=distance, ties=ties, junk=junk, threads=threads, progress=progress, device=device
    )
    pair = inputs.open_pair(embeddings, labels, gallery, gallery_labels)
    query, items = _whole(pair.query), None if pair.gallery is None else _whole(pair.gallery)
    if items is not None:
        inputs.require_same_dim(query.embeddings, items.embeddings)
    largest = max(_largest(part.embeddings) for part in (query, items) if part is not None)
    split = _threshold(threshold, query.embeddings.shape[1])

    def rounded(part: Samples[NDArray[np.float64]], kind: str, name: str) -> Samples[Source]:
        return Samples(Array(_rounded(part.embeddings, kind, name, largest, split)), part.labels)

    reports = {}
    for kind in chosen:
        gallery_of_kind = None if items is None else rounded(items, kind, "gallery")
        pair_of_kind = Pair(rounded(query, kind, "embeddings"), gallery_of_kind)
        reports[kind] = evaluate_pair(pair_of_kind, options, summary)
    return Precisions(reports, distance, summary.measures)


def _whole(samples: Samples[Source]) -> Samples[NDArray[np.float64]]:
    """Samples in memory, with their numbers as float64."""
    return Samples(samples.embeddings.whole().astype(np.float64), samples.labels)


def _chosen(kinds: str | Iterable[str]) -> list[str]:
    """The kinds that were asked for, each once."""
    names = [kinds] if isinstance(kinds, str) else list(kinds)
    if not names:
        raise InvalidValueError("kinds", "must name at least one precision, but got none")
    return list(dict.fromkeys(checks.choice(kind, KINDS, "kind") for kind in names))


def _rounded(
    values: NDArray[np.float64], kind: str, name: str, largest: float, threshold: NDArray[np.float64]
) -> NDArray[Any]:
    """Checked embeddings in a kind, given the largest size of a number for int8 and the threshold for one bit."""
    if kind == "float64":
        return values
    if kind == "int8":
        return _to_int8(values, largest)
    if kind == "1 bit":
        return np.where(values >= threshold, 1, -1).astype(np.int8)
    rounded = exact.round_to(values, kind)
    if not np.isfinite(rounded).all():
        row, column = np.argwhere(np.isinf(rounded))[0]
        place = f"{values[row, column]} in row {row}, column {column}"
        raise InvalidValueError(name, f"must stay finite in {kind}, but holds {place}")
    return rounded.astype(_STORED[kind])


def _to_int8(values: NDArray[np.float64], largest: float) -> NDArray[np.int8]:
    """The integers nearest to 127 · x / largest: in floating point, and in fractions where that is near a half."""
    if largest == 0:
        return np.zeros(values.shape, dtype=np.int8)
    scaled = values / largest * _INT8
    nearest = np.rint(scaled)
    doubtful = np.abs(np.abs(scaled - np.trunc(scaled)) - 0.5) < _DOUBT
    distinct, place = np.unique(values[doubtful], return_inverse=True)
    decided = [round(Fraction(value) * _INT8 / Fraction(largest)) for value in distinct.tolist()]
    nearest[doubtful] = np.array(decided, dtype=np.float64)[place]
    return nearest.astype(np.int8)


def _largest(values: NDArray[np.float64]) -> float:
    """The largest size of a number."""
    return float(np.abs(values).max())


def _threshold(threshold: ArrayLike, dim: int) -> NDArray[np.float64]:
    """Check the threshold of one bit."""
    values = np.asarray(threshold)
    if values.dtype.kind not in "iuf" or values.dtype.itemsize > 8:
        raise InvalidTypeError("threshold", f"must hold real numbers of at most 64 bits, but has dtype {values.dtype}")
    if values.shape not in ((), (dim,)):
        rule = f"must be one number or one a dimension, ({dim},), but has shape {values.shape}"
        raise InvalidValueError("threshold", rule)
    if not np.isfinite(values).all():
        raise InvalidValueError("threshold", "must be finite, but is not")
    return values.astype(np.float64)
