"""The metric of embeddings and labels: the result of `deadheat.evaluate` for the rows of all updates.

    update: batch ──checked_batch──> rows of each state ──RowMetric──> all rows, of all processes
    compute: states ──samples_by_role──> KeptRows ──without_copies──> pair ──shared_profile──> Report

All states are tensors of numbers, so that torchmetrics can move, copy and gather them. Text labels are kept as UTF-8
bytes (`text`, joined) and the length of each (`labels`).

`torch.utils.data.DistributedSampler` deals the samples out in turn, and repeats the first ones until all processes have
equally many. In leave one out a copy is the nearest neighbour of its own sample, so that copies must be removed before
counting. The ids of the samples identify them; without ids, they are visible at the ends of the processes' rows.

Every process has all rows, and profiles some of the queries against the whole gallery. The profiles are then gathered
and concatenated in the order of the queries, so that every process measures the same one, with the bits of a single
process.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torchmetrics.utilities import rank_zero_warn

from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.task import Task, task_of_pair, with_rows
from deadheat.engine.ties.rule import Ties
from deadheat.errors import InvalidTypeError, InvalidValueError, QueryInGalleryWarning, UndefinedError
from deadheat.inputs import conversion
from deadheat.inputs import labels as input_labels
from deadheat.inputs.samples import Pair, Samples, open_pair
from deadheat.inputs.source import Array, Source
from deadheat.integrations.torchmetrics.gathering import RowMetric, kept
from deadheat.reports.averaging import Average, Singletons, SummaryOptions
from deadheat.reports.evaluating import report_of
from deadheat.reports.report import Report
from deadheat.support import checks
from deadheat.support.arrays import Bool, Int64, offsets_of

STATES = ("kinds", "labels", "text", "ids", "embeddings")
ROLES = ("query", "gallery")
_TEXT, _WITH_IDS = 4, 8  # added to the role, 0 for both at once, in `kinds`
_ROUNDING = 0.05  # of a row's largest number: the effect of another batch size on a sample, also in bfloat16


class EmbeddingRetrieval(RowMetric):
    """Metric that ranks the gallery for each query by distance, over all batches of an epoch and all processes.

    The value is that of `deadheat.evaluate` for the same rows, bit for bit, for any batch size, number of processes and
    order.

    Parameters
    ----------
    measures, distance, ties, singletons, average, threads
        As in `deadheat.evaluate`. Processes on one machine share its processors: divide the `threads` among them.
    value : {"lower", "expected", "upper"}, optional
        For one measure: a single number as the value, for wrappers and loggers that need a scalar. Select checkpoints
        by the lower bound; report the expected value with both bounds. By default, all three in a dictionary.
    device : str or torch.device, optional
        Where items are counted, as in `deadheat.evaluate`; by default on the card that keeps the rows, if one does. The
        value is the same.
    **kwargs
        Those of every metric of torchmetrics: ``compute_on_cpu=True`` keeps the rows in main memory,
        ``sync_on_compute``, ``dist_sync_on_step``, ``process_group`` and others.

    Attributes
    ----------
    measures : tuple of str
        The names of the measures, as the keys of the value have them.

    Notes
    -----
    The value is a dictionary of float64 tensors: under ``"mAP"`` the expected value over all ways to break the ties,
    under ``"mAP_lower"`` and ``"mAP_upper"`` its bounds; under `value`, one of these tensors.

    **Ties:** distances that are equal as real numbers, or tie by `ties`. **Undefined:** NaN, with a warning, where
    no query has a relevant item (so also for a batch of `forward` without a pair of one label) and `singletons` is
    ``"skip"``, and the expected value under a tolerance.

    With several processes, each gathers all rows and profiles a run of the queries; then all gather these profiles, and
    each measures all queries. A process may have no rows at all.

    Examples
    --------
    Three points on a line, two of them of one class. Seen from 0, the points -1 and 1 are equally far:

    >>> import torch
    >>> metric = EmbeddingRetrieval("mAP", distance="euclidean")
    >>> metric.update(torch.tensor([[0.0], [1.0]]), torch.tensor([7, 7]))
    >>> metric.update(torch.tensor([[-1.0]]), torch.tensor([8]))
    >>> {name: value.item() for name, value in metric.compute().items()}
    {'mAP': 0.875, 'mAP_lower': 0.75, 'mAP_upper': 1.0}
    >>> metric.report().summary()
    'mAP 87.50 [75.00, 100.00] %'
    >>> metric = EmbeddingRetrieval("mAP", distance="euclidean", value="lower")
    >>> metric(torch.tensor([[0.0], [1.0], [-1.0]]), torch.tensor([7, 7, 8]))
    tensor(0.7500, dtype=torch.float64)
    """

    def __init__(
        self,
        measures: str | Iterable[str] | None = None,
        *,
        distance: str = "cosine",
        ties: str | Ties = "exact",
        singletons: Singletons = "skip",
        average: Average = "query",
        value: Literal["lower", "expected", "upper"] | None = None,
        threads: int | None = None,
        device: Any = None,
        **kwargs: Any,
    ) -> None:
        summary = SummaryOptions.checked(measures, singletons, average)
        super().__init__(STATES, summary.measures, value, **kwargs)
        self.singletons, self.average = summary.singletons, summary.average
        self.distance, self.ties, self.threads, self.counts_on = distance, ties, threads, device
        if CountingOptions.checked(**self._settings()).rule.bounds_only and value == "expected":
            raise InvalidValueError("value", "must be lower or upper under a tolerance, which has no expected value")

    def update(self, embeddings: Tensor, labels: Any, ids: Any = None, role: str | None = None) -> None:
        """Keep a batch.

        Parameters
        ----------
        embeddings : (n, dim) tensor
            Floats of any size, including bfloat16, integers or bool, on any device; detached from its graph. A batch
            may be empty.
        labels : (n,) integers or strings
            A tensor, array or list. Integers of up to 64 bits stay distinct, however large.
        ids : (n,) integers, optional
            The index of each sample in the dataset. Rows with the same id are copies, such as those that a
            `DistributedSampler` adds, and count once. Without ids there is only a warning.
        role : {"query", "gallery"}, optional
            The role of these rows. By default both, where each is ranked against all others. Copies are found
            among the rows of one role.
        """
        self.keep(checked_batch(embeddings, labels, ids, role))

    def compute(self) -> Any:
        """Compute the measures, each with its bounds, over the rows of all processes unless configured otherwise."""
        try:
            report = self._report()
        except UndefinedError as error:
            return self.undefined(error)
        return self.answer({name: report[name] for name in report})

    def _settings(self) -> dict[str, Any]:
        return {"distance": self.distance, "ties": self.ties, "threads": self.threads, "device": self.counts_on}

    def _report(self) -> Report:
        states = {name: self.rows(name) for name in STATES}
        parts = samples_by_role(states, self._rows_of_ranks if self._is_synced else [])
        if not parts or not all(len(part.labels) for part in parts.values()):
            empty = [role for role, part in parts.items() if not len(part.labels)]
            raise UndefinedError(f"there are no rows{f' of role {empty[0]!r}' if empty else ''}")
        for role, part in parts.items():
            n = n_padded(part) if part.ids is None else 0
            if n:
                rows = "rows" if role is None else f"rows of role {role!r}"
                rank_zero_warn(
                    f"all processes have equally many {rows}, and the last of {n} seems to be a copy that "
                    "DistributedSampler added, which counts as another sample: give update() the ids of the samples to "
                    "exclude copies"
                )
        parts = {role: without_copies(part) for role, part in parts.items()}
        query, gallery = (parts[None], None) if None in parts else (parts["query"], parts["gallery"])
        pair = open_pair(*query[:2]) if gallery is None else open_pair(*query[:2], *gallery[:2])
        share = self.share()
        with warnings.catch_warnings():
            if share[0]:  # the first process warns for all
                warnings.simplefilter("ignore", QueryInGalleryWarning)
            task = task_of_pair(
                pair, **self._settings() | {"device": self.counts_on or conversion.card_of(states["embeddings"])}
            )
        if share[1] > 1:
            vars(task)["profile"] = shared_profile(task, share, self.gather)
        return report_of(task, SummaryOptions(self.measures, self.singletons, self.average))


class KeptRows(NamedTuple):
    """Rows that the metric has kept, with their labels, ids and processes."""

    embeddings: NDArray[Any]  # (n, dim)
    labels: NDArray[Any]  # (n,)
    ids: Int64 | None  # (n,), where they were given
    rank: Int64  # (n,), the process that each row is from

    def take(self, index: Any) -> KeptRows:
        ids = None if self.ids is None else self.ids[index]
        return KeptRows(self.embeddings[index], self.labels[index], ids, self.rank[index])


def checked_batch(embeddings: Tensor, labels: Any, ids: Any, role: str | None) -> dict[str, Tensor]:
    """Check a batch, and return the rows to append to each state."""
    if not isinstance(embeddings, Tensor):
        raise InvalidTypeError("embeddings", f"must be a tensor, but is {type(embeddings).__name__}")
    if embeddings.layout != torch.strided or embeddings.is_complex() or embeddings.is_quantized:
        given = f"is of dtype {embeddings.dtype} and layout {embeddings.layout}"
        raise InvalidTypeError("embeddings", f"must be a dense tensor of real numbers, but {given}")
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
    """Return all rows: under None those that are both queries and gallery, else under "query" and "gallery"."""
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
    """Return integers and None; or the lengths of strings, and their bytes."""
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


def without_copies(samples: KeptRows) -> KeptRows:
    """Return one row for each id, ascending; all rows unchanged if there are no ids.

    Rows with the same id that differ in their labels, or in their embeddings by more than rounding, are refused.
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
    """Return the number of apparent copies by `DistributedSampler`: 0 unless all processes have equally many rows.

    With p copies the last rows of the last p processes are the first rows of the first p.
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
    """Return whether pairs of rows are equal up to rounding."""
    left, right = (embeddings[index].astype(np.float64) for index in (rows, others))
    bound = _ROUNDING * np.abs(right).max(axis=1, initial=0)
    return np.asarray(np.abs(left - right).max(axis=1, initial=0) <= bound)


def shared_profile(task: Task, share: tuple[int, int], gather: Callable[[Int64], list[Int64]]) -> TieProfile:
    """Return the profile of all queries; `share` is the rank of this process and the number of processes."""
    (rank, n_rank), pair = share, task.pair
    cuts = np.arange(n_rank + 1) * len(pair.query.labels) // n_rank
    of_queries, of_groups = np.empty((0, 3), dtype=np.int64), np.empty((0, 4), dtype=np.int64)
    if cuts[rank] < cuts[rank + 1]:
        run = slice(int(cuts[rank]), int(cuts[rank + 1]))
        query: Samples[Source] = Samples(Array(pair.query.embeddings.whole()[run]), pair.query.labels[run])
        itself = np.arange(run.start, run.stop) if pair.gallery is None else None
        mine = with_rows(task, Pair(query, pair.gallery or pair.query), itself).profile
        of_queries = np.stack([np.diff(mine.offsets), mine.n_ranked, mine.n_relevant], axis=1)
        of_groups = np.stack([mine.closer, mine.closer_relevant, mine.tied, mine.tied_relevant], axis=1)
    n_group, n_ranked, n_relevant = np.concatenate(gather(of_queries)).T
    closer, closer_relevant, tied, tied_relevant = np.concatenate(gather(of_groups)).T
    return TieProfile(
        offsets_of(n_group), closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant,
        bounds_only=task.options.rule.bounds_only, check=False,
    )  # fmt: skip
