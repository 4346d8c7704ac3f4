"""Chance level of a measure: random embeddings, random orders of all-zero ones, and the exact expectation of both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.orders import random_orders, tied_model
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.literals import DistanceName
from deadheat.engine.task import Task
from deadheat.errors import InvalidValueError
from deadheat.inputs import labels as input_labels
from deadheat.inputs.conversion import converting
from deadheat.inputs.samples import LabelsLike, open_labels
from deadheat.measures import names as measure_names
from deadheat.measures import values as measure_values
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.averaging import fractions
from deadheat.reports.statistics.settings import MOST_RESAMPLES
from deadheat.support import checks, scratch
from deadheat.support.arrays import Float64
from deadheat.support.floats import plain_floats
from deadheat.support.means import exact_mean, exact_means, sample_deviation


@dataclass(frozen=True, eq=False)
class RandomBaseline(Answer):
    """Chance level of a measure; all values are fractions in [0, 1].

    Attributes
    ----------
    embeddings : (draws,) float64
        The measure of random embeddings, none of which tie.
    orders : (draws,) float64
        The measure by a stable sort of all-zero embeddings, in random orders of the samples.
    expected : float
        The exact expectation of both: every ranking is equally likely.
    """

    measure: str
    embeddings: Float64 = field(repr=False)
    orders: Float64 = field(repr=False)
    expected: float

    @property
    def mean(self) -> float:
        """The mean over random embeddings."""
        return exact_mean(self.embeddings)

    @property
    def std(self) -> float:
        """The standard deviation over random embeddings, estimated from those drawn; NaN for a single one."""
        return sample_deviation(self.embeddings)

    @property
    def order_mean(self) -> float:
        """The mean over random orders of all-zero embeddings."""
        return exact_mean(self.orders)

    @property
    def order_std(self) -> float:
        """The standard deviation over random orders of all-zero embeddings; NaN for a single one."""
        return sample_deviation(self.orders)

    def panels(self) -> list[Panel]:
        """Return mean and standard deviation of both, and the expectation that they share."""
        return [Panel([
            Column("by chance", ["random embeddings", "random orders"], title=f"{self.measure} (%) by chance"),
            Column("mean", [self.mean, self.order_mean], "fraction"),
            Column("std", [self.std, self.order_std], "fraction"),
            Column("expected", [self.expected] * 2, "fraction"),
        ], key="by_chance")]  # fmt: skip

    def facts(self) -> dict[str, Any]:
        return {"measure": self.measure, "draws": len(self.embeddings)}

    def notes(self) -> list[str]:
        return [f"{len(self.embeddings)} random embeddings, and as many orders of the samples for all-zero embeddings."]


@plain_floats
def random_baseline(
    labels: LabelsLike,
    gallery_labels: LabelsLike | None = None,
    *,
    dim: int = 100,
    draws: int = 30,
    measure: str = "mAP",
    distance: DistanceName = "cosine",
    seed: int = 0,
    threads: int | None = None,
) -> RandomBaseline:
    """Evaluate a measure for random embeddings, and for all-zero embeddings in random orders of the samples.

    Parameters
    ----------
    labels : (n_query,)
        Integers or strings.
    gallery_labels : (n_gallery,), optional
        Labels of the items that the queries are ranked against. By default each sample against all others.
    dim : int
        Dimension of a random embedding, whose numbers are independent and uniform between 0 and 1.
    draws : int
        The number of random embeddings, and of random orders.
    measure : str
        The name of one measure.
    distance : {"cosine", "euclidean", "inner_product", "cityblock"}
        The distance between random embeddings.
    seed : int
        The same seed gives the same embeddings and orders on any machine.
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use.

    Raises
    ------
    UndefinedError
        If no query has a relevant item: no label comes twice, or none of the queries is in the gallery.

    Notes
    -----
    **Ties:** random embeddings have none in practice; if one has, its expected value counts. The items of a random
    ranking are in random order, so random embeddings and random orders have the same expectation, and it is that of the
    all-zero embedding. Their deviations differ: rankings of random embeddings are nearly independent, but one order of
    the samples serves all queries.

    References
    ----------
    Nicolaou et al. 2018, arXiv:1806.07171: 30 draws of dimension 100.

    Examples
    --------
    >>> drawn = random_baseline([0, 0, 1, 1], dim=3, draws=50)
    >>> round(drawn.expected, 4), abs(drawn.mean - drawn.expected) < 0.1, abs(drawn.order_mean - drawn.expected) < 0.1
    (0.6111, True, True)

    One query and a gallery of three, one of them relevant: at rank 1, 2 or 3.

    >>> round(random_baseline([0], [0, 1, 2], draws=2).expected, 4)  # (1 + 1/2 + 1/3)/3
    0.6111
    """
    (name,), seed = fractions([measure]), checks.seed(seed)
    asked = measure_names.parse(name)
    dim, draws = checks.positive_integer(dim, "dim"), checks.positive_integer(draws, "draws", MOST_RESAMPLES)
    distance = distance_registry.named(distance, takes="numbers")
    classes = _classes(labels, "labels")
    items = None if gallery_labels is None else _classes(gallery_labels, "gallery_labels")
    n_query, n_item = len(classes), 0 if items is None else len(items)
    most = scratch.available_memory() // (16 * (n_query + n_item))
    if dim > most:
        raise InvalidValueError(
            "dim", f"must be at most {most} for embeddings that fit in memory, but is {checks.shown(dim)}"
        )
    own = None if items is None else np.full(n_query, -1)  # equal rows say nothing here
    zero = tied_model(classes, items)
    between, threads = zero.bounds(asked), checks.thread_count(threads)
    values = []
    for draw in range(draws):
        n = n_query + n_item  # the stream is none of those of `random_orders`
        bits = np.random.PCG64(np.random.SeedSequence([seed, draw, dim, n])).random_raw(n * dim)
        rows = ((bits >> np.uint64(11)) * 2.0**-53).reshape(n, dim)  # between 0 and 1, the same for ever
        query, gallery = rows[:n_query], None if items is None else rows[n_query:]
        task = Task(query, classes, gallery, items, distance=distance, exclude=own, threads=threads)
        values.append(exact_means(measure_values.per_query(task.profile, asked)).expected)
    of_orders = zero.values(random_orders(zero.n, draws, seed), asked, between, threads)
    return RandomBaseline(asked.name, np.array(values), np.array(of_orders), exact_means(between).expected)


def _classes(labels: LabelsLike, name: str) -> NDArray[Any]:
    opened = open_labels(labels, name)
    listed = opened if hasattr(opened, "__len__") else checks.listed(opened, name, "a sequence of integers or strings")
    with converting(listed, name):
        size = listed.size if isinstance(listed, np.ndarray) else len(listed)
    classes = input_labels.labels(listed, size, name, name)
    if not len(classes):
        raise InvalidValueError(name, "must hold a label for each item, but are empty")
    return classes
