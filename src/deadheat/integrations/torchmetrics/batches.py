"""Checked batches of embeddings to keep; and all of them together, without copies.

All states are tensors of numbers, so that torchmetrics can move, copy and gather them. Text labels are kept as UTF-8
bytes (`text`, joined) and the length of each (`labels`).

`torch.utils.data.DistributedSampler` deals the samples out in turn, and repeats the first ones until all processes have
equally many. In leave one out a copy is the nearest neighbour of its own sample, so that copies must be removed before
counting. The ids of the samples identify them; without ids, they are visible at the ends of the processes' rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion
from deadheat.inputs import labels as input_labels
from deadheat.integrations.torchmetrics.gathering import kept
from deadheat.support import checks
from deadheat.support.arrays import Bool, Int64, offsets_of

STATES = ("kinds", "labels", "text", "ids", "embeddings")
ROLES = ("query", "gallery")
_TEXT, _WITH_IDS = 4, 8  # added to the role, 0 for both at once, in `kinds`


class KeptRows(NamedTuple):
    """Some of the kept rows."""

    embeddings: NDArray[Any]  # (n, dim)
    labels: NDArray[Any]  # (n,)
    ids: Int64 | None  # (n,), where they were given
    rank: Int64  # (n,), the process that each row is from

    def take(self, index: Any) -> KeptRows:
        ids = None if self.ids is None else self.ids[index]
        return KeptRows(self.embeddings[index], self.labels[index], ids, self.rank[index])


def checked_batch(embeddings: Tensor, labels: Any, ids: Any, role: str | None) -> dict[str, Tensor]:
    """The rows to append to each state for a batch."""
    if not isinstance(embeddings, Tensor):
        raise InvalidTypeError("embeddings", f"must be a tensor, but is {type(embeddings).__name__}")
    if embeddings.layout != torch.strided or embeddings.is_complex() or embeddings.is_quantized:
        came = f"is of dtype {embeddings.dtype} and layout {embeddings.layout}"
        raise InvalidTypeError("embeddings", f"must be a dense tensor of real numbers, but {came}")
    if embeddings.ndim != 2:
        raise InvalidValueError(
            "embeddings", f"must be two-dimensional (n, dim), but has shape {tuple(embeddings.shape)}"
        )
    code = 0 if role is None else 1 + ROLES.index(checks.choice(role, ROLES, "role"))
    n, device = len(embeddings), embeddings.device
    numbers, text = _labels(labels, n)
    kind = code + (_TEXT if text is not None else 0) + (_WITH_IDS if ids is not None else 0)
    return {
        "kinds": torch.full((n,), kind, dtype=torch.uint8, device=device),
        "labels": numbers.to(device),
        "text": (torch.empty(0, dtype=torch.uint8) if text is None else text).to(device),
        "ids": torch.zeros(n, dtype=torch.int64, device=device) if ids is None else _integers(ids, n, "ids").to(device),
        "embeddings": kept(embeddings),
    }


def samples_by_role(states: Mapping[str, Tensor | None], rows_of_ranks: list[int]) -> dict[str | None, KeptRows]:
    """All rows: under None those that are both queries and gallery, else under "query" and "gallery"."""
    if states["kinds"] is None or states["embeddings"] is None:
        return {}
    kinds = conversion.plain(states["kinds"], "kinds")
    roles = kinds & 3
    for name, flags in (("role", roles), ("ids", kinds & _WITH_IDS)):
        if flags.any() and not flags.all():
            raise InvalidValueError(name, "must be given in every update or in none, but came in some")
    if len(np.unique(kinds & _TEXT)) > 1:
        raise InvalidTypeError("labels", "must be all integers or all strings, but some updates differ from others")
    labels = conversion.plain(states["labels"], "labels")
    if kinds[0] & _TEXT:
        labels = _strings(labels, states["text"])
    ids = conversion.plain(states["ids"], "ids") if kinds[0] & _WITH_IDS else None
    rank = np.repeat(np.arange(max(1, len(rows_of_ranks))), rows_of_ranks or [len(kinds)])
    samples = KeptRows(conversion.plain(states["embeddings"], "embeddings"), labels, ids, rank)
    if not roles.any():
        return {None: samples}
    return {role: samples.take(roles == code) for code, role in enumerate(ROLES, 1)}


def _labels(labels: Any, n: int) -> tuple[Tensor, Tensor | None]:
    """Integers; or the lengths of strings, and their bytes."""
    if isinstance(labels, Tensor):
        return _integers(labels, n, "labels"), None
    array = input_labels.labels(labels, n, "labels", "embeddings")
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    if array.dtype.kind in "iub" or (len(array) and not isinstance(array[0], str)):
        return _integers(array.tolist(), n, "labels"), None
    words = [str(label).encode() for label in array]
    lengths = torch.tensor([len(word) for word in words], dtype=torch.int64)
    return lengths, torch.from_numpy(np.frombuffer(bytearray().join(words), dtype=np.uint8))


def _integers(values: Any, n: int, name: str) -> Tensor:
    try:
        tensor = values if isinstance(values, Tensor) else torch.as_tensor(np.asarray(values))
    except (TypeError, ValueError, OverflowError):  # not a number, or beyond 64 bits
        raise InvalidTypeError(name, "must be integers from -2^63 to 2^63 - 1") from None
    whole = not (tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.uint64)
    if not whole and tensor.numel():  # an empty list has floats
        allowed = "integers or strings" if name == "labels" else "integers of at most 63 bits"
        raise InvalidTypeError(name, f"must be {allowed}, but has dtype {tensor.dtype}")
    if tensor.shape != (n,):
        raise InvalidValueError(
            name, f"must have one entry per row of embeddings, ({n},), but has shape {tuple(tensor.shape)}"
        )
    return tensor.detach().to(torch.int64, copy=True)


def _strings(lengths: Int64, text: Tensor | None) -> NDArray[Any]:
    whole = b"" if text is None else conversion.plain(text, "labels").tobytes()
    ends = offsets_of(lengths).tolist()
    array = np.empty(len(lengths), dtype=object)
    array[:] = [whole[start:stop].decode() for start, stop in pairwise(ends)]
    return array


_ROUNDING = 0.05  # of a row's largest number: the effect of another batch size on a sample, also in bfloat16


def without_copies(samples: KeptRows) -> KeptRows:
    """One row for each id, ascending; unchanged without ids.

    Raises
    ------
    InvalidValueError
        If rows with the same id differ in their labels, or in their embeddings by more than rounding.
    """
    if samples.ids is None:
        return samples
    _, first, inverse = np.unique(samples.ids, return_index=True, return_inverse=True)
    copies = np.setdiff1d(np.arange(len(samples.ids)), first)
    original = first[inverse[copies]]
    same = (samples.labels[copies] == samples.labels[original]) & _close(samples.embeddings, copies, original)
    if not same.all():
        wrong = samples.ids[copies[np.flatnonzero(~same)[0]]]
        rule = f"must name one sample each, as its row of the dataset does, but rows of different ones have id {wrong}"
        raise InvalidValueError("ids", f"{rule}: is it the place in a batch, or was reset() left out?")
    return samples.take(first)


def n_padded(samples: KeptRows) -> int:
    """The number of rows that seem to be copies by `DistributedSampler`: 0 unless all processes have equally many.

    With p copies the last rows of the last p processes are the first rows of the first p.

    Examples
    --------
    >>> rows = np.array([[0.0], [2.0], [1.0], [0.0]])  # samples 0 and 2, and then 1 and 0 once more
    >>> n_padded(KeptRows(rows, np.array([5, 5, 6, 5]), None, np.array([0, 0, 1, 1])))
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
    """Whether pairs of rows are equal up to rounding."""
    left, right = (embeddings[index].astype(np.float64) for index in (rows, others))
    reach = _ROUNDING * np.abs(right).max(axis=1, initial=0)
    return np.asarray(np.abs(left - right).max(axis=1, initial=0) <= reach)
