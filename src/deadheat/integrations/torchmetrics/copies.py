"""Copies of samples: those that a distributed sampler adds so that all processes have equally many.

`torch.utils.data.DistributedSampler` deals the samples out by turns, and then begins anew until every process has as
many as the others. In leave one out a copy is its own sample's nearest neighbour, so copies must go before anything is
counted. With the ids of the samples they are known; without, they show at the ends of the processes' rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidValueError
from deadheat.integrations.torchmetrics.batches import Samples
from deadheat.support.arrays import Bool, Int64

_ROUNDING = 0.05  # of a row's largest number: what batches of another size may do to one sample, in bfloat16 too


def without_copies(samples: Samples) -> Samples:
    """One row for each id, ascending; as they are where there are no ids.

    Raises
    ------
    InvalidValueError
        If rows with one id are not one sample: their labels differ, or their embeddings do by more than rounding.
    """
    if samples.ids is None:
        return samples
    _, first, inverse = np.unique(samples.ids, return_index=True, return_inverse=True)
    copies = np.setdiff1d(np.arange(len(samples.ids)), first)
    original = first[inverse[copies]]
    same = (samples.labels[copies] == samples.labels[original]) & _close(samples.embeddings, copies, original)
    if not same.all():
        odd = samples.ids[copies[np.flatnonzero(~same)[0]]]
        rule = f"must name one sample each, as its row of the dataset does, but rows of different ones have id {odd}"
        raise InvalidValueError("ids", f"{rule}: is it the place in a batch, or was reset() left out?")
    return samples.take(first)


def n_padded(samples: Samples) -> int:
    """How many rows seem to be copies that `DistributedSampler` added: 0 unless all processes have equally many.

    With p copies the last rows of the last p processes are the first rows of the first p.

    Examples
    --------
    >>> rows = np.array([[0.0], [2.0], [1.0], [0.0]])  # samples 0 and 2, and then 1 and 0 once more
    >>> n_padded(Samples(rows, np.array([5, 5, 6, 5]), None, np.array([0, 0, 1, 1])))
    1
    """
    starts = np.flatnonzero(np.diff(samples.rank, prepend=-1))
    counts = np.diff(starts, append=len(samples.rank))
    if len(counts) < 2 or (counts != counts[0]).any() or (samples.rank[starts] != np.arange(len(starts))).any():
        return 0
    last = starts + counts - 1
    for n in range(len(starts) - 1, 0, -1):
        copies, original = last[-n:], starts[:n]
        same = samples.labels[copies] == samples.labels[original]
        if np.all(same) and _close(samples.embeddings, copies, original).all():
            return n
    return 0


def _close(embeddings: NDArray[np.generic], rows: Int64, others: Int64) -> Bool:
    """Whether rows are equal to others but for rounding, pair by pair."""
    left, right = (embeddings[index].astype(np.float64) for index in (rows, others))
    reach = _ROUNDING * np.abs(right).max(axis=1, initial=0)
    return np.asarray(np.abs(left - right).max(axis=1, initial=0) <= reach)
