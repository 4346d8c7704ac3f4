"""What a confidence can be made of, or taught: the entropy of an item's labels, or of those around it, and its length.

In come embeddings, counts of labels, or what several annotators say of each item; out comes a number for each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.counting.ranking import Rankings, nearest_groups
from deadheat.engine.literals import DistanceName, TiesName
from deadheat.engine.ties.rule import Ties
from deadheat.errors import InvalidValueError
from deadheat.inputs import arrays, conversion
from deadheat.inputs import labels as input_labels
from deadheat.inputs import samples as input_samples
from deadheat.inputs.samples import EmbeddingsLike, LabelsLike, open_rows
from deadheat.support import checks
from deadheat.support.arrays import Float64
from deadheat.support.floats import plain_floats


@plain_floats
def label_entropy(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None,
    k: int,
    *,
    distance: DistanceName = "cosine",
    ties: TiesName | Ties = "exact",
    normalized: bool = False,
    threads: int | None = None,
) -> Float64:
    """Return the entropy of the labels around each embedding, in bits: a target for its uncertainty.

    Parameters
    ----------
    embeddings : (n, dim) array, path or list of paths
        In any form that `deadheat.profile` takes.
    labels : (n,) integers or strings, path or None
        Their labels; None if they are in the files of the embeddings.
    k : int
        How many neighbours: the neighbourhood is every other item that is at most as far as the k-th nearest.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming"}
        Or another name of one of them, such as "l2", "l1" or "dot". Hamming takes bool, or uint8 of eight bits each.
    ties : {"exact", "float16", "bfloat16", "float32"} or Rounded
        Which items tie: those whose distances are equal as real numbers, or once rounded to a type.
    normalized : bool
        Divide by log2 of the number of classes, so that entropies lie in [0, 1].
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use.

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
    samples = input_samples.open_samples(embeddings, labels)
    rankings = Rankings(samples.embeddings, distance=distance, ties=ties, threads=threads)
    codes, n = input_labels.label_codes(samples.labels)[0], rankings.n_query
    if size > n - 1:
        raise InvalidValueError("k", f"must be at most the number of other embeddings, {n - 1}, but is {size}")
    n_class = int(codes.max()) + 1
    entropy = np.empty(n)
    for block in rankings:
        row, rank = np.nonzero(nearest_groups(block, size))
        key = row * n_class + codes[block.items[row, rank]]
        counts = np.bincount(key, minlength=len(block.queries) * n_class).reshape(-1, n_class)
        entropy[block.queries] = [_bits(row_counts[row_counts > 0].tolist()) for row_counts in counts]
    return _per_class(entropy, n_class) if normalized else entropy


def _bits(counts: Sequence[float]) -> float:
    """The entropy of counts: a sum of terms that are not negative, exactly 0 for a single one."""
    total = math.fsum(counts)
    return math.fsum(count / total * math.log2(total / count) for count in counts)


def distribution_entropy(counts: ArrayLike, *, normalized: bool = False) -> Float64:
    """Return the entropy of the labels that each item was given, in bits: a target for its uncertainty [1]_.

    Parameters
    ----------
    counts : (n, n_class)
        How often each item was given each label, or shares of any total: finite, 0 or more.
    normalized : bool
        Divide by log2 of the number of classes, so that entropies lie in [0, 1].

    Returns
    -------
    (n,) float64

    Notes
    -----
    Ties: one value; the order of the classes changes no bit of it.

    Undefined: NaN for an item that was given no label, and everywhere if there is one class and `normalized` is asked.

    Raises
    ------
    ValueError, TypeError
        If `counts` is no matrix of finite numbers with a row and a column, or one of them is negative.

    References
    ----------
    .. [1] The study arrrrrmin/ranking-metrics, README, "Ground truth σ": label entropy as a σ-target.

    Examples
    --------
    >>> distribution_entropy([[2, 2], [4, 0], [0, 0]])
    array([ 1.,  0., nan])
    """
    matrix = arrays.embeddings(counts, "counts").astype(np.float64)
    if matrix.min() < 0:
        row, column = np.argwhere(matrix < 0)[0]
        rule = f"must not be negative, but holds {matrix[row, column]} in row {row}, column {column}"
        raise InvalidValueError("counts", rule)
    matrix = np.ldexp(matrix, -np.frexp(matrix.max(axis=1, keepdims=True))[1])  # shares of any total, without overflow
    entropy = np.array([_bits([c for c in row if c]) if any(row) else math.nan for row in matrix.tolist()])
    return _per_class(entropy, matrix.shape[1]) if normalized else entropy


def annotation_entropy(annotations: ArrayLike, *, missing: Any = None, normalized: bool = False) -> Float64:
    """Return the entropy of what several annotators say of each item, in bits: a target for its uncertainty.

    Parameters
    ----------
    annotations : (n, n_annotator)
        The label that each annotator gave each item: integers or strings.
    missing : integer or string, optional
        What stands for no label, such as -1 or "". None and NaN are refused: fill them with it.
    normalized : bool
        Divide by log2 of the number of different labels.

    Returns
    -------
    (n,) float64
        As `distribution_entropy` of the counts; NaN for an item that nobody gave a label.

    Raises
    ------
    ValueError, TypeError
        If `annotations` is no matrix of integers or strings, or holds no label.

    Examples
    --------
    >>> annotation_entropy([["cat", "cat", "dog", "dog"], ["cat", "cat", "cat", ""]], missing="")
    array([1., 0.])
    """
    matrix = conversion.plain(annotations, "annotations")
    if matrix.ndim != 2:
        raise InvalidValueError("annotations", f"must be a matrix, an item a row, but has shape {matrix.shape}")
    given = np.full(matrix.shape, True) if missing is None else np.asarray(matrix != missing)
    if not given.any():
        raise InvalidValueError("annotations", f"must hold a label, but has none in {matrix.size} entries")
    named = matrix[given]
    codes = input_labels.label_codes(input_labels.labels(named, len(named), "annotations", "entry"))[0]
    n_class = int(codes.max()) + 1
    counts = np.bincount(np.nonzero(given)[0] * n_class + codes, minlength=len(matrix) * n_class)
    return distribution_entropy(counts.reshape(-1, n_class), normalized=normalized)


def _per_class(entropy: Float64, n_class: int) -> Float64:
    """Entropies as shares of the largest one that so many classes can have; without a second class there is none."""
    return np.minimum(entropy / math.log2(n_class), 1.0) if n_class > 1 else np.full(len(entropy), np.nan)


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
    Ties: norms that are equal as real numbers can differ by one unit. Rows that were scaled to length 1 have
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
