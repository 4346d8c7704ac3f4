"""Collisions in a matrix of distances: in come numbers and relevance, out go `Collisions`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat import inputs
from deadheat.analyses.collisions.groups import Bool, GroupedRanks, require_room
from deadheat.analyses.collisions.linking import checked_width, decided
from deadheat.analyses.collisions.results import Collisions
from deadheat.counting.candidates import Candidates
from deadheat.errors import InvalidValueError
from deadheat.support import checks
from deadheat.support.floats import plain_floats
from deadheat.ties import Exact


@plain_floats
def collisions_of_distances(
    distances: ArrayLike,
    relevant: ArrayLike,
    *,
    within: float | None = None,
    depth: int | None = None,
    leave_one_out: bool = False,
) -> Collisions:
    """Find the collisions in a matrix of distances, as a system sees them that ranks by these numbers as they are.

    Parameters
    ----------
    distances : (n_query, n_gallery)
        Real numbers of at most 64 bits; lower is nearer.
    relevant : (n_query, n_gallery) bool
    within, depth
        As in `collisions`.
    leave_one_out : bool
        Whether item i is query i, and so is not ranked for it.

    Returns
    -------
    Collisions
        As of `collisions`, with the type of the numbers as `rule`.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule, or item i cannot be query i because there are not as many.

    Examples
    --------
    >>> found = collisions_of_distances([[0.1, 0.3, 0.1 + 0.2]], [[True, True, False]])
    >>> found.size, found.rule
    (array([[1, 1, 1]], dtype=int32), 'float64 distances')
    >>> collisions_of_distances([[0.1, 0.3, 0.1 + 0.2]], [[True, True, False]], within=1e-16).size
    array([[1, 2, 2]], dtype=int32)
    """
    width = checked_width(within, Exact())
    values, mask, rule = _sorted(distances, relevant, leave_one_out)
    depth = values.shape[1] if depth is None else checks.positive_integer(depth, "depth")
    require_room(len(values), depth)
    tie_starts = np.ones(values.shape, dtype=np.bool_)
    tie_starts[:, 1:] = values[:, 1:] != values[:, :-1]
    starts = tie_starts.copy()
    if width is not None:
        links, _ = decided((-values[:, :-1],) * 2, (-values[:, 1:],) * 2, float(width))
        starts[:, 1:] &= ~links
        rule += f" within {float(width)!r}"
    ranks = GroupedRanks.of(np.arange(len(values)), np.ones_like(starts), mask, tie_starts, starts)
    return Collisions(*ranks.matrices(depth), ranks.counts(depth), "given", rule)


def _sorted(distances: ArrayLike, relevant: ArrayLike, leave_one_out: bool) -> tuple[NDArray[np.float64], Bool, str]:
    """Distances in order and the relevance of what is there, (n_query, n_ranked), and what the distances are."""
    matrix, mask = inputs.scores(distances, "distances"), inputs.plain(relevant, "relevant")
    inputs.require_exact(matrix, "distances")
    if mask.shape != matrix.shape or mask.dtype != np.bool_:
        came = f"{mask.dtype} of shape {mask.shape}"
        raise InvalidValueError("relevant", f"must be bool of the shape of distances, {matrix.shape}, but is {came}")
    if leave_one_out and matrix.shape[0] != matrix.shape[1]:
        raise InvalidValueError("distances", f"must be square for leave_one_out, but have shape {matrix.shape}")
    values, candidates = matrix.astype(np.float64), Candidates.of(*matrix.shape, leave_one_out=leave_one_out)
    starts, items = candidates.excluded(np.arange(len(values)))
    values[np.repeat(np.arange(len(values)), np.diff(starts)), items] = np.inf
    order = np.argsort(values, axis=1, kind="stable")[:, : int(candidates.n_ranked().max())]
    return (
        np.take_along_axis(values, order, axis=1),
        np.take_along_axis(mask, order, axis=1),
        f"{matrix.dtype} distances",
    )
