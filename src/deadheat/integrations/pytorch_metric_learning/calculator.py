"""The `AccuracyCalculator`: in come embeddings and labels, out goes the dictionary that it makes, with bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from pytorch_metric_learning.utils import accuracy_calculator as original
from pytorch_metric_learning.utils import common_functions

from deadheat.inputs import embeddings
from deadheat.integrations.pytorch_metric_learning.labels import Classes, classes_of
from deadheat.integrations.pytorch_metric_learning.metrics import METRICS, values_of
from deadheat.integrations.pytorch_metric_learning.rankings import Ranking, profile_of, ranking_of
from deadheat.reports.averaging import Averaging
from deadheat.support import checks
from deadheat.support.arrays import Array, Float64
from deadheat.support.extras import require
from deadheat.support.means import exact_mean
from deadheat.support.warn import warn

_SENTENCE = "pytorch-metric-learning computes {} by its own code, as one value without bounds, because {}"


class AccuracyCalculator(original.AccuracyCalculator):  # type: ignore[misc]
    """The calculator of pytorch-metric-learning, with what ties leave open beside each metric.

    A subclass: testers, hooks and subclasses of its own take it as they take the original, `calculate_*` methods that
    somebody adds are called with the arguments that they ask for, and those that somebody overrides are theirs.

    Parameters
    ----------
    include, exclude : tuple or list of str
        Metrics to compute, all by default, and metrics not to.
    avg_of_avgs : bool
        Whether to average over classes the mean over the queries of a class.
    return_per_class : bool
        Whether to return a list, the mean of each class that has a query with a relevant item, labels ascending.
    k : int, "max_bin_count" or None
        Ranks that count: so many, as many as the largest class has relevant items, or all.
    label_comparison_fn : callable, optional
        With one, pytorch-metric-learning computes everything.
    device : torch.device, optional
        Where pytorch-metric-learning computes what it computes. Tie groups are counted on the processor.
    knn_func : callable, optional
        How to rank; by default `FaissKNN`, which is Euclidean distance. Known are `FaissKNN` with ``IndexFlatL2`` or
        ``IndexFlatIP``, and `CustomKNN` with `CosineSimilarity`, `DotProductSimilarity`, or `LpDistance` with p of 2
        or, not normalised, 1; with another, pytorch-metric-learning computes everything.
    kmeans_func : callable, optional
        How to cluster, for NMI and AMI, which are pytorch-metric-learning's.

    Raises
    ------
    ValueError, TypeError, NotImplementedError
        As the original does.
    MissingPackageError
        If pytorch-metric-learning, or faiss where it is the default, is not installed.

    Notes
    -----
    Ties: `precision_at_1`, `r_precision`, `mean_average_precision`, `mean_average_precision_at_r` and
    `mean_reciprocal_rank` are expectations over all orders of tied items, with the bounds under the same name and
    ``_lower`` or ``_upper``; the three are equal where no tie matters. Whatever is computed by the library's own code
    has one value, without bounds, and a warning says so once. Undefined: NaN if no query has a relevant item; a query
    without one does not count. Embeddings are compared as they came, and not cast to float32.

    Examples
    --------
    Three points on a line. Seen from 0, the points -1 and 1 are equally far, and only one of them is relevant:

    >>> import torch
    >>> calculator = AccuracyCalculator(include=("precision_at_1",), device=torch.device("cpu"))
    >>> calculator.get_accuracy(torch.tensor([[0.0], [1.0], [-1.0]]), torch.tensor([0, 0, 1]))
    {'precision_at_1': 0.75, 'precision_at_1_lower': 0.5, 'precision_at_1_upper': 1.0}
    """

    _announced = False
    _bounded = True  # whether the last call was one whose metrics come with bounds

    def __init__(
        self,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        avg_of_avgs: bool = False,
        return_per_class: bool = False,
        k: int | str | None = None,
        label_comparison_fn: Any = None,
        device: Any = None,
        knn_func: Any = None,
        kmeans_func: Any = None,
    ) -> None:
        if knn_func is None or kmeans_func is None:
            require("faiss", "pytorch-metric-learning", "AccuracyCalculator without knn_func and kmeans_func")
        super().__init__(
            include, exclude, avg_of_avgs, return_per_class, k, label_comparison_fn, device, knn_func, kmeans_func
        )

    def get_accuracy(
        self,
        query: Any,
        query_labels: Any,
        reference: Any = None,
        reference_labels: Any = None,
        ref_includes_query: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Rank the reference for each query, and average each metric over the queries.

        Parameters
        ----------
        query : (n_query, dim) tensor or array
        query_labels : (n_query,) tensor or array of numbers
            Or (n_query, levels): two labels are equal if they are in every level.
        reference, reference_labels
            As those of the queries; by default the queries themselves, each ranked against the others.
        ref_includes_query : bool
            Whether the first n_query items of the reference are the queries; then each is left out of its own ranking,
            by its place.
        include, exclude : tuple or list of str
            Further choice among the metrics of this calculator, for this call alone.

        Returns
        -------
        dict
            A float for each metric, or with `return_per_class` a list of floats, in [0, 1].

        Raises
        ------
        ValueError
            As the original does; and if embeddings are not finite.

        Warns
        -----
        QueryInGalleryWarning
            If queries are in the reference and `ref_includes_query` does not say so.
        """
        if reference is None:
            reference, reference_labels, ref_includes_query = query, query_labels, True
        asked = self.get_function_dict(include, exclude)
        ranking, metrics, rows = self._ranking(), self._standard(asked), []
        if ranking is not None and metrics:
            rows = [embeddings(query, "query")]
            rows.append(rows[0] if reference is query else embeddings(reference, "reference"))
        self._bounded = ranking is not None and ranking.holds(rows)
        if not self._bounded:
            self._announce(metrics)
            metrics = []
        if self.label_comparison_fn is original.EQUALITY:
            classes = classes_of(query_labels, reference_labels)
            if not classes.plain:
                query_labels, reference_labels = classes.query, classes.reference
        found = super().get_accuracy(
            query, query_labels, reference, reference_labels, ref_includes_query, include, [*exclude, *metrics]
        )
        self.curr_function_dict = asked
        if ranking is not None and metrics:
            found |= self._with_bounds(metrics, ranking, rows, classes, ref_includes_query)
        return {name: found[name] for name in [*self.get_curr_metrics(), *found]}

    def get_curr_metrics(self) -> list[str]:
        """The metrics that are computed, each followed by its bounds, so that testers average and hooks find these."""
        bounded = self._standard(self.curr_function_dict) if self._bounded and self._ranking() else []
        return [
            name
            for metric in super().get_curr_metrics()
            for name in ([metric, f"{metric}_lower", f"{metric}_upper"] if metric in bounded else [metric])
        ]

    def requires_knn(self) -> list[str]:
        """The metrics of which pytorch-metric-learning has to know neighbours: it forgets one."""
        return [*super().requires_knn(), "mean_reciprocal_rank"]

    def _ranking(self) -> Ranking | None:
        """How the items are ranked, if metrics come with bounds."""
        return ranking_of(self.knn_func) if self.label_comparison_fn is original.EQUALITY else None

    def _standard(self, functions: dict[str, Any]) -> list[str]:
        """The metrics among them that are measures of a tie profile, and that nobody has overridden."""
        return [
            name
            for name, function in functions.items()
            if name in METRICS
            and getattr(function, "__func__", None) is getattr(original.AccuracyCalculator, f"calculate_{name}")
        ]

    def _announce(self, metrics: list[str]) -> None:
        """Say, once, that some metrics come without bounds, and why."""
        if metrics and not self._announced:
            self._announced = True
            if self.label_comparison_fn is not original.EQUALITY:
                reason = "label_comparison_fn decides what is relevant"
            elif self._ranking() is None:
                reason = "knn_func ranks as no distance of deadheat's does"
            else:
                reason = "there are rows of zeros, which have no direction, for a knn_func that normalises"
            warn(_SENTENCE.format(", ".join(metrics), reason), UserWarning)

    def _with_bounds(
        self, metrics: list[str], ranking: Ranking, rows: list[Array], classes: Classes, ref_includes_query: bool
    ) -> dict[str, Any]:
        """Some metrics, and the bounds of each."""
        counts = np.bincount(classes.reference, minlength=int(classes.query.max()) + 1)[np.unique(classes.query)]
        k = self.determine_k(torch.from_numpy(counts), len(classes.reference), ref_includes_query)
        common_functions.LOGGER.info("counting tie groups within the first %d ranks", k)
        threads = checks.thread_count(None)
        profile = profile_of(ranking, rows, classes, ref_includes_query, threads)
        if not profile.n_relevant.any():
            common_functions.LOGGER.warning("None of the query labels are in the reference set.")
        by_class = self.avg_of_avgs or self.return_per_class
        averaging = Averaging("class" if by_class else "query", len(classes.query), classes.query)
        return {
            f"{metric}{suffix}": self._mean(values, averaging)
            for metric, triple in values_of(profile, metrics, max(k, 1), threads).items()
            for suffix, values in zip(("_lower", "", "_upper"), triple, strict=True)
        }

    def _mean(self, values: Float64, averaging: Averaging) -> float | list[float]:
        """The mean over queries or classes, or that of each class; NaN where no class has a query that counts."""
        if not self.return_per_class:
            return averaging.mean(values)
        means = [exact_mean(part) for part in averaging.parts(values)]
        return means or [math.nan] * len(np.unique(averaging.labels))
