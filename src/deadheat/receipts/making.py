"""From inputs, options and a report to a receipt."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from numpy.typing import ArrayLike

from deadheat import inputs
from deadheat.counting import CountingOptions
from deadheat.inputs import Pair, Samples, open_pair
from deadheat.inputs.own_rows import OwnRows
from deadheat.inputs.source import Source
from deadheat.inputs.sources import EmbeddingsLike, LabelsLike
from deadheat.receipts.canonical import digest_of_labels, digest_of_mask, digest_of_own_rows, digest_of_rows
from deadheat.receipts.document import SCHEMA, VERSION, Receipt
from deadheat.reports import Report
from deadheat.reports.evaluating import evaluate_pair
from deadheat.reports.options import Average, Singletons, SummaryOptions
from deadheat.reports.tables import program
from deadheat.support.floats import plain_floats
from deadheat.support.triple import Triple
from deadheat.ties import Ties


@plain_floats
def receipt(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    measures: str | Iterable[str] | None = None,
    distance: str = "cosine",
    ties: str | Ties = "exact",
    junk: ArrayLike | None = None,
    exclude: OwnRows | None = None,
    singletons: Singletons = "skip",
    average: Average = "query",
    threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    checkpoint: str | os.PathLike[str] | None = None,
    device: Any = None,
) -> Receipt:
    """Evaluate, and say what the result follows from, so that anybody who has the inputs can verify it.

    Parameters
    ----------
    embeddings, labels, gallery, gallery_labels, measures, distance, ties, junk, exclude, singletons, average
        As in `deadheat.evaluate`. They decide the result, and the receipt has them: options as they are, and inputs as
        digests of their values (`deadheat.receipts.canonical` says of which bytes), whatever file or type holds them.
    threads, progress, checkpoint, device
        As in `deadheat.evaluate`. They decide nothing, and the receipt does not have them.

    Returns
    -------
    Receipt
        To be saved as JSON, and signed where an organiser publishes it.

    Raises
    ------
    ValueError, TypeError
        As `deadheat.evaluate`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from deadheat import verify
    >>> embeddings, labels = [[0, 1], [1, 0], [1, 1]], ["a", "b", "a"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "r.json")
    ...     receipt(embeddings, labels, measures="mAP, Hit@1").save(path)
    ...     print(verify(path, embeddings, labels))
    ...     print(verify(path, [[0, 1], [1, 0], [1, 2]], labels).differences[0].name)
    match: r.json follows from these inputs
    inputs.embeddings.sha256
    """
    summary = SummaryOptions.checked(measures, singletons, average)
    options = CountingOptions.checked(
        distance=distance, ties=ties, junk=junk, threads=threads, progress=progress, checkpoint=checkpoint,
        device=device, exclude=exclude,
    )  # fmt: skip
    pair = open_pair(embeddings, labels, gallery, gallery_labels)
    return receipt_of(evaluate_pair(pair, options, summary), pair, options)


@plain_floats
def receipt_of(report: Report, pair: Pair, options: CountingOptions) -> Receipt:
    """The receipt of a report on these inputs with these options."""
    return Receipt.of(
        {
            "schema": SCHEMA,
            "schema_version": VERSION,
            "deadheat": program(),
            "inputs": _inputs(pair, options.fitted(pair)),
            "options": {
                "distance": options.distance,
                "ties": options.rule.describe(options.distance),
                "measures": list(report.measures),
                "singletons": report.singletons,
                "average": report.average,
            },
            "queries": {"n_query": report.n_query, "n_singleton": report.n_singleton},
            "ties": report.ties._asdict(),
            "profile": report.profile.digest(),
            "measures": {name: _values(report, name) for name in report.measures},
        }
    )


def _inputs(pair: Pair, options: CountingOptions) -> dict[str, Any]:
    """The shapes and digests of everything that was handed over."""
    content = _samples(pair.query, "embeddings", "labels")
    if pair.gallery is not None:
        content |= _samples(pair.gallery, "gallery", "gallery_labels")
    n_query = len(pair.query.labels)
    mask = inputs.junk_mask(options.junk, n_query, n_query if pair.gallery is None else len(pair.gallery.labels))
    if mask is not None:
        content["junk"] = {"shape": list(mask.shape), "sha256": digest_of_mask(mask)}
    if options.exclude is not None:
        content["exclude"] = {"shape": [n_query], "sha256": digest_of_own_rows(options.exclude)}
    return content


def _samples(samples: Samples[Source], name: str, labels_name: str) -> dict[str, Any]:
    rows, labels = samples
    return {
        name: {"shape": list(rows.shape), "sha256": digest_of_rows(rows)},
        labels_name: {"shape": list(labels.shape), "sha256": digest_of_labels(labels)},
    }


def _values(report: Report, name: str) -> dict[str, Any]:
    """A measure's numbers, as decimals that stand for exactly one float64 and as that number's bits."""
    result = report[name]
    values = {end: float(getattr(result, end)) for end in Triple._fields}
    both = {end: {"decimal": repr(value), "hex": value.hex()} for end, value in values.items()}
    return {**both, "n_query": result.n_query, "n_undefined": result.n_undefined}
