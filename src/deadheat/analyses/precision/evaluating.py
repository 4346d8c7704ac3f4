"""The door: embeddings and labels, a report on them in each format, and what each format costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat import distances, exact, inputs
from deadheat.analyses.comparison import PairedTest, compare
from deadheat.analyses.precision.formats import DEFAULT, FORMATS, Format, all_named, named
from deadheat.analyses.precision.result import Precisions
from deadheat.analyses.precision.rounding import Rounding
from deadheat.counting import CountingOptions
from deadheat.errors import InvalidValueError
from deadheat.inputs import Pair, Samples
from deadheat.inputs.own_rows import OwnRows
from deadheat.inputs.sources import Array, EmbeddingsLike, LabelsLike, Source
from deadheat.reports.evaluating import evaluate_pair
from deadheat.reports.options import Average, Singletons, SummaryOptions
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Progress
from deadheat.ties import Ties

MEASURES = ("mAP", "Hit@1")

Float64 = NDArray[np.float64]


@plain_floats
def precisions(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    formats: str | Iterable[str] | None = None,
    base: str | None = None,
    measures: str | Iterable[str] | None = MEASURES,
    distance: str = "cosine",
    threshold: ArrayLike | str = 0.0,
    ties: str | Ties = "exact",
    junk: ArrayLike | None = None,
    exclude: OwnRows | None = None,
    singletons: Singletons = "skip",
    average: Average = "query",
    resample: Average | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Progress = False,
    device: Any = None,
) -> Precisions:
    """Evaluate the same embeddings in several formats, and say what each of them loses at most.

    Parameters
    ----------
    embeddings, labels, gallery, gallery_labels
        As in `deadheat.evaluate`, and taken into memory. Scales are those of queries and gallery together.
    formats : str or iterable of str, optional
        What to round to, as in `quantized`; one string can hold several, with commas between them. "(float query)"
        behind a format with int8 or one bit, such as "int8 (float query)", leaves queries in float32, less `threshold`
        if it is one bit, and rounds the gallery alone. By default float32, bfloat16, float16, int8, int8 per
        dimension, int8 per vector, int8 (float query) and 1 bit, but for types too short for the largest number.
    base : str, optional
        The format that the others are compared with, which comes first if it is not among `formats`. By default the
        embeddings as they are: "float32" where that holds every number, and else "float64".
    measures : str or iterable of str, optional
        As in `deadheat.evaluate`; by default mAP and Hit@1.
    distance : {"cosine", "euclidean", "inner_product", "cityblock"}
    threshold : float, (dim,) array, "mean" or "median", optional
        For "1 bit": see `quantized`.
    resample, confidence_level, n_resamples, seed
        For the intervals of differences: as in `deadheat.compare`.
    ties, junk, exclude, singletons, average, threads, progress, device
        As in `deadheat.evaluate`. There is a pass for each format, with its own progress.

    Returns
    -------
    Precisions

    Raises
    ------
    TypeError, ValueError
        As `quantized` and `deadheat.evaluate`; for one bit with float queries under another distance than cosine and
        inner product, as a bit has no length.

    Notes
    -----
    Ties: distances of the rounded numbers, compared exactly. That is the least that rounding the embedding does; a
    system that also rounds its scores has more ties, and ``ties="float16"`` adds these.

    Examples
    --------
    The second number is nearer to the first than the third is. In eight bits the two are 13 and −13 steps from it, and
    in one bit it is only above or below:

    >>> found = precisions([[0.0], [0.1], [-0.105], [1.0]], ["a", "a", "b", "b"], distance="euclidean", measures="mAP",
    ...                    formats="float64, int8, binary", resample="query")
    >>> print(found)
    mAP (%)  bytes  lower  expected  upper  - float64    95 % interval  loses at most
    float64      8  66.67     66.67  66.67
    int8         1  54.17     60.42  66.67      -6.25   [-18.75, 0.00]          37.50
    1 bit        1  41.67     61.11  83.33      -5.56  [-25.00, 14.58]          50.00
    <BLANKLINE>
    Bytes: of a vector of the gallery, 1 number.
    - float64: of the expected values, in points. Interval: paired bootstrap (percentile) over queries.
    Loses at most: the low end of the interval, with every tie against the format and for float64.
    """
    summary = SummaryOptions.checked(measures, singletons, average)
    options = CountingOptions.checked(
        distance=distance, ties=ties, junk=junk, threads=threads, progress=progress, device=device, exclude=exclude
    )
    test = {"resample": resample, "confidence_level": confidence_level, "n_resamples": n_resamples, "seed": seed}
    pair = inputs.open_pair(embeddings, labels, gallery, gallery_labels)
    return precisions_of_pair(pair, options, summary, formats=formats, base=base, threshold=threshold, **test)


@plain_floats
def precisions_of_pair(
    pair: Pair,
    options: CountingOptions,
    summary: SummaryOptions,
    *,
    formats: str | Iterable[str] | None = None,
    base: str | None = None,
    threshold: ArrayLike | str = 0.0,
    **test: Any,
) -> Precisions:
    """`precisions` of queries and a gallery, or of leave one out, that the inputs have opened and checked."""
    distances.named(options.distance, takes="numbers")
    asked = None if formats is None else all_named(formats)
    first = None if base is None else named(base, "base")
    PairedTest.checked(**test)
    query, items = _whole(pair.query), None if pair.gallery is None else _whole(pair.gallery)
    if items is not None:
        inputs.require_same_dim(query.embeddings, items.embeddings)
    parts = [part.embeddings for part in (query, items) if part is not None]
    rounding = Rounding.of(parts, threshold)
    first = FORMATS["float32" if all(map(_is_float32, parts)) else "float64"] if first is None else first
    usual, too_short = rounding.fitting(FORMATS[name] for name in DEFAULT)
    rows = list(dict.fromkeys([first, *usual])) if asked is None else asked if first in asked else [first, *asked]
    _require_lengths(rows, options.distance)
    rounded = _Rounded(query, items, rounding, options)
    reports = {row.name: evaluate_pair(*rounded.pair(row), summary) for row in rows}
    comparisons = {name: compare(report, reports[first.name], **test) for name, report in reports.items()}
    dim = query.embeddings.shape[1]
    notices = (*(too_short if asked is None else ()), *rounding.notices(rows, parts))
    return Precisions(reports, first.name, dim, options.distance, summary.measures, comparisons, notices)


class _Rounded(NamedTuple):
    """Checked embeddings, and how they are rounded and counted."""

    query: Samples[Float64]
    items: Samples[Float64] | None  # None for leave one out
    rounding: Rounding
    options: CountingOptions

    def pair(self, row: Format) -> tuple[Pair, CountingOptions]:
        """Queries and gallery in a format, and how they are to be counted."""
        if row.float_query:
            return self._asymmetric(row)
        scaled = self.options.distance != "cosine"  # which no scale of a vector changes
        query, items = (
            None if part is None else _samples(self.rounding.stored(part.embeddings, row, name, scaled=scaled), part)
            for part, name in ((self.query, "embeddings"), (self.items, "gallery"))
        )
        assert query is not None
        return Pair(query, items), self.options

    def _asymmetric(self, row: Format) -> tuple[Pair, CountingOptions]:
        """Float queries against a rounded gallery; in leave one out that is the same items, but for the query."""
        items = self.query if self.items is None else self.items
        queries, stored = self.rounding.asymmetric(self.query.embeddings, items.embeddings, row)
        pair = Pair(_samples(queries, self.query), _samples(stored, items))
        if self.items is not None:
            return pair, self.options
        return pair, replace(self.options, exclude=np.arange(len(stored)))


def _samples(embeddings: NDArray[Any], like: Samples[Any]) -> Samples[Source]:
    return Samples(Array(embeddings), like.labels)


def _whole(samples: Samples[Source]) -> Samples[Float64]:
    """Samples in memory, with their numbers as float64."""
    return Samples(samples.embeddings.whole().astype(np.float64), samples.labels)


def _is_float32(values: Float64) -> bool:
    """Whether float32 holds every number."""
    return bool((exact.round_to(values, "float32") == values).all())


def _require_lengths(rows: Iterable[Format], distance: str) -> None:
    """Refuse float queries against bits where the length of a vector counts: a bit has none."""
    for row in rows:
        if row.float_query and row.number == "1 bit" and distance not in ("cosine", "inner_product"):
            rule = f"must be left out unless distance is cosine or inner_product, but distance is {distance!r}"
            raise InvalidValueError(f"formats: {row.name!r}", rule)
