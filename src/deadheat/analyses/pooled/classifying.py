"""From scores and labels, or from pairs of embeddings, to the result: arguments are checked here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from deadheat.analyses.pooled.measuring import NAMES, named
from deadheat.analyses.pooled.pairs import ranks_of_pairs
from deadheat.analyses.pooled.result import Classification
from deadheat.engine.counting.scored import keys_of, profile_scores
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.literals import DistanceName
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion
from deadheat.inputs import labels as input_labels
from deadheat.inputs.samples import EmbeddingsLike
from deadheat.support import checks
from deadheat.support.arrays import Bool
from deadheat.support.floats import plain_floats


@plain_floats
def classification(
    scores: ArrayLike,
    labels: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    order: Literal["descending", "ascending"] = "descending",
    n_positive: int | None = None,
    measures: str | Iterable[str] = NAMES,
) -> Classification:
    """Measure scores of positives and negatives as one ranking: AP, areas, and thresholds that exist.

    For binary and pair classification, verification, and copy detection, where the pairs of all queries are pooled.

    Parameters
    ----------
    scores : (n,) array of floats, integers or bool
        Finite numbers, compared as they are given.
    labels : (n,) array of bool, or of integers 0 and 1
        What is positive; both classes must occur.
    groups : (n,) array of integers or strings, optional
        Whole groups are the units of `Classification.interval`, such as the pairs of one person; by default each item.
    order : {"descending", "ascending"}
        Whether the best score is the highest or, as for distances, the lowest.
    n_positive : int, optional
        All positives, where some have no score because they were not returned: they are behind all others, as µAP has
        it [3]_.
    measures : str or iterable of str
        What the table shows; `Classification` lists the names.

    Returns
    -------
    Classification
        **Ties:** lower, expected and upper over all orders of equal scores; no threshold lies inside a tie.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks its rule.

    Notes
    -----
    AP is the mean precision at the positives. Nothing is interpolated: straight lines between the points of a
    precision-recall curve are optimistic [1]_, and tools that draw different ones rank classifiers differently [2]_.

    References
    ----------
    .. [1] Davis, Goadrich 2006, The relationship between precision-recall and ROC curves.
    .. [2] Chen et al. 2024, Commonly used software tools produce conflicting and overly-optimistic AUPRC values, Genome
       Biology 25:118.
    .. [3] Douze et al. 2021, The 2021 image similarity dataset and challenge, arXiv:2106.09672.

    Examples
    --------
    A negative in front of two positives that tie. Every order has AP (1/2 + 2/3)/2 = 7/12:

    >>> print(classification([2, 1, 1], [0, 1, 1], measures=["AP", "AP (scikit-learn)", "best F1"]))
    measure (%)        value  threshold
    AP                 58.33          -
    AP (scikit-learn)  66.67          -
    best F1            80.00          1
    <BLANKLINE>
    2 positives, 1 negative, 2 distinct scores.
    AP (scikit-learn) is above what any order of the ties has.
    """
    checks.choice(order, ("descending", "ascending"), "order")
    numbers = conversion.plain(scores, "scores", unmasked="leave items out of all arguments")
    if numbers.ndim != 1:
        raise InvalidValueError("scores", f"must be one-dimensional (n,), but has shape {numbers.shape}")
    if numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
        place = int(np.argmin(np.isfinite(numbers)))
        raise InvalidValueError("scores", f"must be finite, but holds {numbers[place]} in entry {place}")
    positive = _classes(labels, len(numbers), "labels", "score")
    names = tuple(dict.fromkeys(map(named, [measures] if isinstance(measures, str) else measures)))
    codes = (
        None
        if groups is None
        else input_labels.label_codes(input_labels.labels(groups, len(numbers), "groups", "scores"))[0]
    )
    profile, keys = profile_scores(numbers[None], positive[None], order=order), keys_of(numbers, order)
    if n_positive is not None:
        if groups is not None:
            raise InvalidValueError("groups", "must be left out with n_positive: items without a score have no group")
        n_all = checks.whole_number(n_positive, "n_positive", int(np.count_nonzero(positive)))
        profile = replace(profile, n_relevant=np.array([n_all]))
    levels = np.unique(numbers[positive])[:: -1 if order == "descending" else 1].astype(np.float64)
    nothing = np.inf if order == "descending" else -np.inf
    return Classification(profile, names, levels, keys, positive, codes, nothing)


@plain_floats
def pair_classification(
    embeddings: EmbeddingsLike,
    pairs: ArrayLike,
    same: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    distance: DistanceName = "cosine",
    measures: str | Iterable[str] = NAMES,
) -> Classification:
    """Measure pairs of embeddings, of which those of the same class should be closer: verification.

    Parameters
    ----------
    embeddings : (n, dim) array, path or list of paths
        In any form that `deadheat.profile` takes.
    pairs : (n_pair, 2) array of integers
        Two rows of the embeddings for each pair, counted from 0.
    same : (n_pair,) array of bool, or of integers 0 and 1
        Which pairs are positive.
    groups : (n_pair,) array of integers or strings, optional
        Whole groups are the units of `Classification.interval`, such as the pairs of one person; by default each pair.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming"}
        Or another name of one of them, such as "l2", "l1" or "dot". Hamming takes bool, or uint8 of eight bits each.
    measures : str or iterable of str
        What the table shows; `Classification` lists the names.

    Returns
    -------
    Classification
        Thresholds are similarities or minus distances, as near as float64 has them. **Ties:** pairs tie where their
        closeness is equal as a real number; no rounded value decides.

    Raises
    ------
    ValueError, TypeError
        If an argument breaks its rule.

    Examples
    --------
    The cosines of the first two pairs are 2/√5, whatever rounding makes of them:

    >>> found = pair_classification([[1, 0], [2, 1], [0, 3], [3, 6]], [[0, 1], [2, 3], [0, 3]], [1, 0, 0])
    >>> found["AP"].lower, found["AP"].expected, found["AP"].upper
    (0.5, 0.75, 1.0)
    """
    metric = distance_registry.make(distance_registry.named(distance), embeddings, None, exact_only=False).measuring()
    rows = conversion.plain(pairs, "pairs")
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise InvalidValueError("pairs", f"must have shape (n_pair, 2), but has shape {rows.shape}")
    if rows.dtype.kind not in "iu":
        raise InvalidTypeError("pairs", f"must hold integers, but has dtype {rows.dtype}")
    odd = rows[(rows < 0) | (rows >= metric.n_gallery)]
    if len(odd):
        raise InvalidValueError("pairs", f"must hold rows from 0 to {metric.n_gallery - 1}, but holds {odd[0]}")
    positive = _classes(same, len(rows), "same", "pair")
    ranks, closeness = ranks_of_pairs(metric, rows.astype(np.int64))
    found, shown = classification(ranks, positive, groups, measures=measures), np.empty(ranks.max() + 1)
    shown[ranks] = closeness
    return replace(found, _levels=shown[np.unique(ranks[positive])[::-1]])


def _classes(labels: ArrayLike, n: int, name: str, what: str) -> Bool:
    """Which items are positive."""
    array = conversion.plain(labels, name)
    if array.shape != (n,):
        raise InvalidValueError(name, f"must have one entry per {what}, but has shape {array.shape} for {n}")
    if array.dtype.kind not in "biu":
        raise InvalidTypeError(name, f"must be bool, or integers 0 and 1, but has dtype {array.dtype}")
    if set(found := np.unique(array).tolist()) != {0, 1}:
        raise InvalidValueError(name, f"must hold 0 and 1 (or False and True), and both, but holds {found}"[:200])
    return array.astype(np.bool_)
