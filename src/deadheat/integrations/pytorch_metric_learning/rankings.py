"""How a `knn_func` ranks: in comes one of pytorch-metric-learning's, out goes the distance that ranks just so.

Exact equals only: what sorts in the same order for every input, with the same ties between real numbers. With it go
embeddings and classes to a tie profile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from pytorch_metric_learning import distances
from pytorch_metric_learning.utils import inference

from deadheat.counting import CountingOptions, profile_pair, queries_in_gallery
from deadheat.errors import InvalidValueError
from deadheat.inputs import Pair, open_samples
from deadheat.integrations.pytorch_metric_learning.labels import Classes
from deadheat.profiles import TieProfile
from deadheat.support.arrays import Array

_REMEDY = "leave out reference, or give ref_includes_query=True"
_SHORTEST = 1e-12  # rows that are shorter are not brought to length 1: `eps` of torch.nn.functional.normalize


class Ranking(NamedTuple):
    """The order in which items come for a query.

    Attributes
    ----------
    distance : str
        A name that `deadheat.profile` knows.
    normalizer : BaseDistance or None
        What normalises the rows first; None where they are taken as they are.
    """

    distance: str
    normalizer: Any = None

    def prepared(self, query: Array, reference: Array) -> tuple[str, Array, Array]:
        """The distance and the rows that it is between.

        Rows of length 1 rank as the cosine does, which needs no rounded row. Only where a row is too short to have a
        direction are rows normalised as pytorch-metric-learning does; the cosine with a row of zeros is 0 in both.
        """
        if self.normalizer is None:
            return self.distance, query, reference
        zeros_too = self.distance == "inner_product"
        if self.normalizer.p == 2 and all(_have_direction(rows, zeros_too) for rows in (query, reference)):
            return "cosine", query, reference
        return self.distance, self._normalized(query), self._normalized(reference)

    def _normalized(self, rows: Array) -> Array:
        return self.normalizer.normalize(torch.tensor(rows)).numpy()  # type: ignore[no-any-return]


def profile_of(
    ranking: Ranking, rows: Sequence[Array], classes: Classes, ref_includes_query: bool, threads: int
) -> TieProfile:
    """The tie profile of the rows of queries and reference, where each query may be left out by its place.

    Where both are the same array, that is leave one out, which takes half as long.
    """
    if rows[0].shape[1] != rows[1].shape[1]:
        rule = f"must have the same dim, but have {rows[0].shape[1]} and {rows[1].shape[1]} columns"
        raise InvalidValueError("query and reference", rule)
    alone = ref_includes_query and rows[1] is rows[0]
    distance, query, reference = ranking.prepared(*rows)
    queries = open_samples(query, classes.query, name="query", labels_name="query_labels")
    items = open_samples(reference, classes.reference, name="reference", labels_name="reference_labels")
    pair = Pair(queries, None if alone else items)
    itself = np.arange(len(classes.query)) if ref_includes_query and not alone else None
    options = CountingOptions.checked(distance=distance, exclude=itself, threads=threads).fitted(pair)
    queries_in_gallery(pair, options, _REMEDY)
    return profile_pair(pair, options)


def ranking_of(knn_func: Any) -> Ranking | None:
    """The ranking of a `knn_func`, or None if nothing here is its exact equal.

    Known are `FaissKNN` with a flat index, for L2 or inner products, and `CustomKNN` with the Lp distance for p of 1
    and 2, the dot product and the cosine similarity, normalised or not; no subclass of any, as it may do anything.
    """
    if type(knn_func) is inference.FaissKNN:
        return _of_index(knn_func)
    if type(knn_func) is inference.CustomKNN:
        batched = type(knn_func.distance) is distances.BatchedDistance
        return _of_distance(knn_func.distance.distance if batched else knn_func.distance)
    return None


def _of_index(knn: Any) -> Ranking | None:
    """That of faiss, unless somebody fills the index before, or reads it afterwards."""
    if knn.reset_before and knn.reset_after:
        if knn.index_init_fn is inference.faiss.IndexFlatL2:
            return Ranking("euclidean")
        if knn.index_init_fn is inference.faiss.IndexFlatIP:
            return Ranking("inner_product")
    return None


def _of_distance(distance: Any) -> Ranking | None:
    """That of a distance; a positive power of a number that is not negative changes no order."""
    name = None
    if type(distance) in (distances.CosineSimilarity, distances.DotProductSimilarity) and distance.power == 1:
        name = "inner_product"
    if type(distance) is distances.LpDistance and distance.power > 0:
        name = {1: "cityblock", 2: "euclidean"}.get(distance.p)
    return None if name is None else Ranking(name, distance if distance.normalize_embeddings else None)


def _have_direction(rows: Array, zeros_too: bool) -> bool:
    """Whether normalising brings every row to length 1; or, where zeros do as well, leaves it zero."""
    length = np.linalg.norm(rows.astype(np.float64), axis=1)
    return bool(((length >= _SHORTEST) | (zeros_too & (length == 0))).all())
