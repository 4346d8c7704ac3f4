"""What a confidence can be made of, or taught: from embeddings to the labels around each, and its length."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from deadheat import inputs
from deadheat.analyses.confidence.queries import Float64
from deadheat.counting.ranking import Rankings, nearest_groups
from deadheat.errors import InvalidValueError
from deadheat.inputs.sources import EmbeddingsLike, LabelsLike, open_rows
from deadheat.support import checks
from deadheat.support.floats import plain_floats
from deadheat.ties import Ties


@plain_floats
def label_entropy(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None,
    k: int,
    *,
    distance: str = "cosine",
    ties: str | Ties = "exact",
    normalized: bool = False,
    threads: int | None = None,
) -> Float64:
    """Return the entropy of the labels around each embedding, in bits: a target for its uncertainty.

    Parameters
    ----------
    embeddings, labels : (n, dim), and (n,) or None
        As in `deadheat.profile`.
    k : int
        How many neighbours: the neighbourhood is every other item that is at most as far as the k-th nearest.
    distance, ties, threads
        As in `deadheat.profile`; but a tolerance has no neighbourhoods.
    normalized : bool
        Divide by log2 of the number of classes, so that entropies lie in [0, 1].

    Returns
    -------
    (n,) float64
        0 where all neighbours have one label, whether or not it is that of the embedding itself.

    Notes
    -----
    Ties: all items as far as the k-th nearest belong to the neighbourhood, which is larger than k then. So there is
    one value, and it depends on the embeddings and the labels alone.

    Undefined: normalised entropies are NaN where there is one class.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks its rule, or there are fewer than k other items.

    Examples
    --------
    From 0, the points 1 and -1 are equally far and have different labels; from 1, the nearest is 0:

    >>> label_entropy([[0], [1], [-1]], ["a", "a", "b"], 1, distance="euclidean")
    array([1., 0., 0.])
    """
    size = checks.positive_integer(k, "k")
    samples = inputs.open_samples(embeddings, labels)
    rankings = Rankings(samples.embeddings, distance=distance, ties=ties, threads=threads)
    codes, n = inputs.label_codes(samples.labels)[0], rankings.n_query
    if size > n - 1:
        raise InvalidValueError("k", f"must be at most the number of other embeddings, {n - 1}, but is {size}")
    n_class = int(codes.max()) + 1
    entropy = np.empty(n)
    for block in rankings:
        row, rank = np.nonzero(nearest_groups(block, size))
        key = row * n_class + codes[block.items[row, rank]]
        counts = np.bincount(key, minlength=len(block.queries) * n_class).reshape(-1, n_class)
        entropy[block.queries] = [_bits(row_counts[row_counts > 0].tolist()) for row_counts in counts]
    if not normalized:
        return entropy
    return np.minimum(entropy / math.log2(n_class), 1.0) if n_class > 1 else np.full(n, np.nan)


def _bits(counts: Sequence[int]) -> float:
    """The entropy of counts: a sum of terms that are not negative, exactly 0 for a single one."""
    total = sum(counts)
    return math.fsum(count / total * math.log2(total / count) for count in counts)


@plain_floats
def norms(embeddings: EmbeddingsLike) -> Float64:
    """Return the euclidean norm of each embedding, which some losses make large for inputs that are easy.

    Parameters
    ----------
    embeddings : (n, dim)
        As `deadheat.profile` takes them.

    Returns
    -------
    (n,) float64
        By `math.hypot`: within one unit in the last place, and nearly always correctly rounded.

    Notes
    -----
    Ties: norms that are equal as real numbers can come out one unit apart. Rows that were scaled to length 1 have
    norms that differ by their rounding alone, which says nothing.

    Raises
    ------
    ValueError, TypeError
        If the embeddings are not a matrix of finite numbers.

    Examples
    --------
    >>> norms([[3, 4], [0, 5], [0, 0]])
    array([5., 5., 0.])
    """
    pieces = open_rows(embeddings, "embeddings").pieces()
    return np.array([math.hypot(*row) for _, rows in pieces for row in rows.tolist()], dtype=np.float64)
