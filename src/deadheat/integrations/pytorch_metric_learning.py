"""pytorch-metric-learning: its `AccuracyCalculator` with lower bound, expectation and upper bound of each metric.

    query, reference ──ranking_of──> a distance of deadheat's ──┐
    their labels ──classes_of──> numbers of classes ────────────┴──> TieProfile ──values_of──> calculator ──> dictionary

A ranking is known if it gives the same order for every input, with the same ties between real numbers. Everything else
is left to the library's own code, with one warning.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.task import task_of_pair
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.arrays import embeddings
from deadheat.inputs.conversion import card_of, plain
from deadheat.inputs.samples import Pair, open_samples
from deadheat.measures.names import parse
from deadheat.measures.values import all_bounds
from deadheat.reports.averaging import Averaging
from deadheat.reports.result import ENDS
from deadheat.support.arguments import VALUES, names_argument
from deadheat.support.arrays import Array, Float64, Int64
from deadheat.support.lazy import require
from deadheat.support.means import exact_mean
from deadheat.support.progress import warn
from deadheat.support.triple import Triple

require("pytorch_metric_learning", "pytorch-metric-learning", "deadheat.integrations.pytorch_metric_learning")

import torch
from pytorch_metric_learning import distances
from pytorch_metric_learning.utils import accuracy_calculator as original
from pytorch_metric_learning.utils import common_functions, inference

_SENTENCE = "pytorch-metric-learning computes {} by its own code, as one value without bounds, because {}"


class AccuracyCalculator(original.AccuracyCalculator):  # type: ignore[misc]
    """The calculator of pytorch-metric-learning, with the bounds that ties leave for each metric.

    A subclass: testers, hooks and subclasses work as with the original. Added `calculate_*` methods are called with the
    arguments that they name, and overridden ones are used.

    Parameters
    ----------
    include, exclude : tuple or list of str
        Metrics to compute, by default all, and metrics to omit.
    avg_of_avgs : bool
        Whether to average the means of the classes.
    return_per_class : bool
        Whether to return a list: the mean of each class that has a query with a relevant item, labels ascending.
    k : int, "max_bin_count" or None
        Ranks that count: the first k, as many as the largest class has relevant items, or all.
    label_comparison_fn : callable, optional
        With one, pytorch-metric-learning computes everything.
    device : torch.device, optional
        Where pytorch-metric-learning computes. Tie groups are counted on the CPU.
    knn_func : callable, optional
        How to rank; by default `FaissKNN`, which is Euclidean distance. Known are `FaissKNN` with ``IndexFlatL2`` or
        ``IndexFlatIP``, and `CustomKNN` with `CosineSimilarity`, `DotProductSimilarity`, or `LpDistance` with p of 2
        or, not normalised, 1; with another, pytorch-metric-learning computes everything.
    kmeans_func : callable, optional
        How to cluster for NMI and AMI, which pytorch-metric-learning computes.

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
    ``_lower`` or ``_upper``; the three are equal where no tie matters. Metrics computed by the library's own code
    have one value without bounds, with one warning. Undefined: NaN if no query has a relevant item; a query
    without one does not count. Embeddings are compared in their own type, not cast to float32.

    Examples
    --------
    Three points on a line. Seen from 0, the points -1 and 1 are equally far, and only one of them is relevant:

    >>> import torch
    >>> calculator = AccuracyCalculator(include=("precision_at_1",), device=torch.device("cpu"))
    >>> calculator.get_accuracy(torch.tensor([[0.0], [1.0], [-1.0]]), torch.tensor([0, 0, 1]))
    {'precision_at_1': 0.75, 'precision_at_1_lower': 0.5, 'precision_at_1_upper': 1.0}
    """

    _announced = False
    _bounded = True  # whether the metrics of the last call have bounds

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
            A further selection from the metrics of this calculator, for this call only.

        Returns
        -------
        dict
            A float for each metric, or with `return_per_class` a list of floats, in [0, 1].

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
        result = super().get_accuracy(
            query, query_labels, reference, reference_labels, ref_includes_query, include, [*exclude, *metrics]
        )
        self.curr_function_dict = asked
        if ranking is not None and metrics:
            result |= self._with_bounds(metrics, ranking, rows, classes, ref_includes_query, card_of(query))
        return {name: result[name] for name in [*self.get_curr_metrics(), *result]}

    def get_curr_metrics(self) -> list[str]:
        """Return the computed metrics, each followed by its bounds, so that testers average and hooks find these."""
        bounded = self._standard(self.curr_function_dict) if self._bounded and self._ranking() else []
        return [
            name
            for metric in super().get_curr_metrics()
            for name in ([metric + end for end in ENDS] if metric in bounded else [metric])
        ]

    def requires_knn(self) -> list[str]:
        """Return the metrics that need neighbours; pytorch-metric-learning omits one."""
        return [*super().requires_knn(), "mean_reciprocal_rank"]

    def _ranking(self) -> Ranking | None:
        return ranking_of(self.knn_func) if self.label_comparison_fn is original.EQUALITY else None

    def _standard(self, functions: dict[str, Any]) -> list[str]:
        """Return the metrics that are measures of a tie profile and not overridden."""
        return [
            name
            for name, function in functions.items()
            if name in METRICS
            and getattr(function, "__func__", None) is getattr(original.AccuracyCalculator, f"calculate_{name}")
        ]

    def _announce(self, metrics: list[str]) -> None:
        """Warn, once, that some metrics come without bounds, and why."""
        if metrics and not self._announced:
            self._announced = True
            if self.label_comparison_fn is not original.EQUALITY:
                reason = "label_comparison_fn decides what is relevant"
            elif self._ranking() is None:
                reason = "knn_func ranks differently from every distance of deadheat"
            else:
                reason = "there are rows of zeros, which have no direction, for a knn_func that normalises"
            warn(_SENTENCE.format(", ".join(metrics), reason), UserWarning)

    def _with_bounds(
        self, metrics: list[str], ranking: Ranking, rows: list[Array], classes: ClassNumbers, ref_includes_query: bool,
        device: Any,
    ) -> dict[str, Any]:  # fmt: skip
        counts = np.bincount(classes.reference, minlength=int(classes.query.max()) + 1)[np.unique(classes.query)]
        k = self.determine_k(torch.from_numpy(counts), len(classes.reference), ref_includes_query)
        common_functions.LOGGER.info("counting tie groups within the first %d ranks", k)
        if rows[0].shape[1] != rows[1].shape[1]:
            rule = f"must have the same dim, but have {rows[0].shape[1]} and {rows[1].shape[1]} columns"
            raise InvalidValueError("query and reference", rule)
        alone = ref_includes_query and rows[1] is rows[0]  # leave one out, which takes half as long
        queries = open_samples(rows[0], classes.query, names=("query", "query_labels"))
        items = open_samples(rows[1], classes.reference, names=("reference", "reference_labels"))
        pair = Pair(queries, None if alone else items)
        itself = np.arange(len(classes.query)) if ref_includes_query and not alone else None
        remedy = "leave out reference, or give ref_includes_query=True"
        task = task_of_pair(pair, remedy=remedy, distance=ranking.distance, exclude=itself, device=device)
        profile = task.profile
        if not profile.n_relevant.any():
            common_functions.LOGGER.warning("None of the query labels are in the reference set.")
        by_class = self.avg_of_avgs or self.return_per_class
        averaging = Averaging("class" if by_class else "query", len(classes.query), classes.query)
        return {
            metric + end: self._mean(getattr(triple, which), averaging)
            for metric, triple in values_of(profile, metrics, max(k, 1), task.threads).items()
            for end, which in ENDS.items()
        }

    def _mean(self, values: Float64, averaging: Averaging) -> float | list[float]:
        """Return the mean over queries or classes, or of each class; NaN where no class has a query that counts."""
        if not self.return_per_class:
            return averaging.mean(values)
        means = [exact_mean(part) for part in averaging.parts(values)]
        return means or [math.nan] * len(np.unique(averaging.labels))


_SHORTEST = 1e-12  # shorter rows are not normalised to length 1: `eps` of torch.nn.functional.normalize


class Ranking(NamedTuple):
    """The order of the items for a query.

    With `by_length`, rows of length 1 are compared by the length of their difference. This ranks as the cosine does,
    except that rows of zeros are closer to the others than orthogonal rows.
    """

    distance: str  # a name that `deadheat.Task` knows
    by_length: bool = False

    def holds(self, rows: Sequence[Array]) -> bool:
        """Return whether this is the order of these rows: rows that are normalised must not be too short."""
        if self.distance != "cosine":
            return True
        zero = np.concatenate([~part.any(axis=1) for part in rows])
        length = np.concatenate([np.linalg.norm(part.astype(np.float64), axis=1) for part in rows])
        if self.by_length and zero.any():
            return bool(zero.all())
        return bool((zero | (length >= _SHORTEST)).all())


def ranking_of(knn_func: Any) -> Ranking | None:
    """Return the ranking of a `knn_func`, or None if no distance of deadheat equals it exactly.

    Known are `FaissKNN` with a flat index, for L2 or inner products, and `CustomKNN` with the Lp distance for p of 1
    and 2, the dot product and the cosine similarity, but no subclasses. Rows may be normalised for p of 2 only.
    """
    if type(knn_func) is inference.FaissKNN:  # whose index is neither filled before nor kept afterwards
        flat = {"euclidean": inference.faiss.IndexFlatL2, "inner_product": inference.faiss.IndexFlatIP}
        emptied = knn_func.reset_before and knn_func.reset_after
        return next((Ranking(name) for name, init in flat.items() if emptied and knn_func.index_init_fn is init), None)
    if type(knn_func) is not inference.CustomKNN:
        return None
    batched = type(knn_func.distance) is distances.BatchedDistance
    distance = knn_func.distance.distance if batched else knn_func.distance
    by_length = type(distance) is distances.LpDistance and distance.power > 0  # which keeps the order of lengths
    by_product = type(distance) in (distances.CosineSimilarity, distances.DotProductSimilarity) and distance.power == 1
    if not by_length and not by_product:
        return None
    if distance.normalize_embeddings:
        return Ranking("cosine", by_length) if distance.p == 2 else None
    name = {1: "cityblock", 2: "euclidean"}.get(distance.p) if by_length else "inner_product"
    return None if name is None else Ranking(name)


_EXACT = 2**53  # beyond which a float64 may represent several integers


class ClassNumbers(NamedTuple):
    """The number of the class of each query and of each item."""

    query: Int64  # (n_query,)
    reference: Int64  # (n_reference,)
    plain: bool  # whether the labels came in one dimension, and float32 distinguishes them


def classes_of(query_labels: Any, reference_labels: Any) -> ClassNumbers:
    """Assign numbers to labels of queries and reference together: (n,) or (n, levels), none of them NaN."""
    parts = _numbers(query_labels, "query_labels"), _numbers(reference_labels, "reference_labels")
    if parts[0].shape[1:] != parts[1].shape[1:]:
        rule = f"must have as many levels, but have shapes {parts[0].shape} and {parts[1].shape}"
        raise InvalidValueError("query_labels and reference_labels", rule)
    together = np.concatenate(parts)
    for part in parts if together.dtype.kind == "f" else ():
        if part.dtype.kind in "iu" and part.size and max(-int(part.min()), int(part.max())) > _EXACT:
            rule = f"must be of one type where they exceed 2^53, but have dtypes {parts[0].dtype} and {parts[1].dtype}"
            raise InvalidValueError("query_labels and reference_labels", rule)
    values, numbers = np.unique(together, axis=0 if together.ndim > 1 else None, return_inverse=True)
    query, reference = np.split(numbers.reshape(-1).astype(np.int64, copy=False), [len(parts[0])])
    with np.errstate(over="ignore"):
        short = values.astype(np.float32)
    distinct = bool((short[1:] > short[:-1]).all())
    return ClassNumbers(query, reference, together.ndim == 1 and distinct)


@names_argument
def _numbers(labels: Any) -> Array:
    array = plain(labels)
    if array.dtype.kind not in "iubf":
        raise InvalidTypeError(VALUES, f"must be numbers, but has dtype {array.dtype}")
    if array.ndim not in (1, 2):
        raise InvalidValueError(
            VALUES, f"must be one label, or one for each level, an embedding, but has shape {array.shape}"
        )
    if np.isnan(array).any():
        raise InvalidValueError(VALUES, "must not hold NaN, which equals no label")
    return array


METRICS = {  # the measure of a query with R <= k, and with R > k
    "precision_at_1": ("Hit@1", "Hit@1"),
    "r_precision": ("R-Precision", "P@{k}"),
    "mean_average_precision": ("mAP@{k}", "mAP@{k}"),
    "mean_average_precision_at_r": ("MAP@R", "mAP@{k}"),
    "mean_reciprocal_rank": ("MRR@{k}", "MRR@{k}"),
}


def values_of(profile: TieProfile, metrics: Iterable[str], k: int, threads: int) -> dict[str, Triple[Float64]]:
    """Return lower, expected and upper value of each metric for each query; NaN without a relevant item."""
    pairs = {metric: [name.format(k=k) for name in METRICS[metric]] for metric in metrics}
    measures = {name: parse(name) for pair in pairs.values() for name in pair}
    result = dict(zip(measures, all_bounds(profile, list(measures.values()), threads), strict=True))
    within = profile.n_relevant <= k
    return {
        metric: Triple(*(np.where(within, *both) for both in zip(result[all_of_them], result[first_k], strict=True)))
        for metric, (all_of_them, first_k) in pairs.items()
    }
