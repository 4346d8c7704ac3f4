"""How a `knn_func` ranks: in comes one of pytorch-metric-learning's, out goes the distance that ranks just so.

Exact equals only: what sorts in the same order for every input, with the same ties between real numbers. With it go
embeddings and classes to a tie profile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
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
    by_length : bool
        Whether rows of length 1 are compared by the length of their difference. That ranks as the cosine does; but
        rows of zeros stay zeros, which are nearer to the others than a right angle.
    """

    distance: str
    by_length: bool = False

    def holds(self, rows: Sequence[Array]) -> bool:
        """Whether it is the order of these rows: those that are normalised must not be too short for it."""
        if self.distance != "cosine":
            return True
        zero = np.concatenate([~part.any(axis=1) for part in rows])
        length = np.concatenate([np.linalg.norm(part.astype(np.float64), axis=1) for part in rows])
        if self.by_length and zero.any():
            return bool(zero.all())
        return bool((zero | (length >= _SHORTEST)).all())


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
    queries = open_samples(rows[0], classes.query, name="query", labels_name="query_labels")
    items = open_samples(rows[1], classes.reference, name="reference", labels_name="reference_labels")
    pair = Pair(queries, None if alone else items)
    itself = np.arange(len(classes.query)) if ref_includes_query and not alone else None
    options = CountingOptions.checked(distance=ranking.distance, exclude=itself, threads=threads).fitted(pair)
    queries_in_gallery(pair, options, _REMEDY)
    return profile_pair(pair, options)


def ranking_of(knn_func: Any) -> Ranking | None:
    """The ranking of a `knn_func`, or None if nothing here is its exact equal.

    Known are `FaissKNN` with a flat index, for L2 or inner products, and `CustomKNN` with the Lp distance for p of 1
    and 2, the dot product and the cosine similarity; no subclass of any, as it may do anything. Rows may be normalised
    for p of 2: other norms round them.
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
    by_length = type(distance) is distances.LpDistance and distance.power > 0
    by_product = type(distance) in (distances.CosineSimilarity, distances.DotProductSimilarity) and distance.power == 1
    if not by_length and not by_product:
        return None
    if distance.normalize_embeddings:
        return Ranking("cosine", by_length) if distance.p == 2 else None
    name = {1: "cityblock", 2: "euclidean"}.get(distance.p) if by_length else "inner_product"
    return None if name is None else Ranking(name)
