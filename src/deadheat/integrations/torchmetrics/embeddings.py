"""The metric of embeddings and labels: the result of `deadheat.evaluate` for the rows of all updates.

Every process has all rows, and profiles some of the queries against the whole gallery. The profiles are then gathered
and joined in the order of the queries, so that every process measures the same one, with the bits of a single process.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from torch import Tensor
from torchmetrics.utilities import rank_zero_warn

from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.own_gallery import queries_in_gallery
from deadheat.engine.counting.profiling import profile_pair
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Ties
from deadheat.errors import InvalidValueError, QueryInGalleryWarning, UndefinedError
from deadheat.inputs.samples import Pair, Samples, open_pair
from deadheat.inputs.source import Array, Source
from deadheat.integrations.torchmetrics.batches import (
    STATES,
    checked_batch,
    n_padded,
    samples_by_role,
    without_copies,
)
from deadheat.integrations.torchmetrics.gathering import RowMetric
from deadheat.reports.averaging import Average, Singletons, SummaryOptions
from deadheat.reports.evaluating import report_on
from deadheat.reports.report import Report
from deadheat.support.arrays import Int64, offsets_of


class EmbeddingRetrieval(RowMetric):
    """Rank the gallery for each query by distance, over all batches of an epoch and all processes.

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
        Where distances are computed, as in `deadheat.evaluate`; by default by NumPy. The value is the same.
    **kwargs
        Those of every metric of torchmetrics: ``compute_on_cpu=True`` keeps the rows in main memory,
        ``sync_on_compute``, ``dist_sync_on_step``, ``process_group`` and others.

    Attributes
    ----------
    measures : tuple of str
        The names of the measures, as the keys of the value have them.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    Notes
    -----
    The value is a dictionary of float64 tensors: under ``"mAP"`` the expected value over all ways to break the ties,
    under ``"mAP_lower"`` and ``"mAP_upper"`` its bounds; under `value`, one of these tensors.

    **Ties:** distances that are equal as real numbers, or what `ties` says. **Undefined:** NaN, with a warning, where
    no query has a relevant item (so also for a batch of `forward` without a pair of one label), and the expected value
    under a tolerance.

    Over processes, all gather all rows; each profiles a run of the queries, the integers are put together, and each
    measures the whole. A process may have no rows at all.

    Examples
    --------
    Three points on a line, two of them of one class. Seen from 0, the points -1 and 1 are equally far:

    >>> import torch
    >>> metric = EmbeddingRetrieval("mAP", distance="euclidean")
    >>> metric.update(torch.tensor([[0.0], [1.0]]), torch.tensor([7, 7]))
    >>> metric.update(torch.tensor([[-1.0]]), torch.tensor([8]))
    >>> {name: value.item() for name, value in metric.compute().items()}
    {'mAP': 0.875, 'mAP_lower': 0.75, 'mAP_upper': 1.0}
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
        if self._counting().rule.bounds_only and value == "expected":
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

        Raises
        ------
        ValueError, TypeError
            If an argument is not as described. The numbers themselves, such as NaN, are checked by `compute`.
        """
        self.keep(checked_batch(embeddings, labels, ids, role))

    def compute(self) -> Any:
        """The measures over all rows, and over all processes unless configured otherwise, each with its bounds."""
        try:
            report = self._report()
        except UndefinedError as error:
            return self.undefined(error)
        return self.answer({name: report[name] for name in report})

    def report(self) -> Report:
        """The whole report on the rows so far: tables, values of queries, intervals. Every process has to ask for it.

        Raises
        ------
        UndefinedError
            If no query has a relevant item.

        Examples
        --------
        >>> import torch
        >>> metric = EmbeddingRetrieval("mAP", distance="euclidean")
        >>> metric.update(torch.tensor([[0], [1], [-1]]), ["a", "a", "b"])
        >>> metric.report().summary()
        'mAP 87.50 [75.00, 100.00] %'
        """
        if self._is_synced:
            return self._report()
        with self.sync_context(dist_sync_fn=self.dist_sync_fn, should_sync=self._to_sync):
            return self._report()

    def _counting(self) -> CountingOptions:
        return CountingOptions.checked(
            distance=self.distance, ties=self.ties, threads=self.threads, device=self.counts_on
        )

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
        options, share = self._counting(), self.share()
        with warnings.catch_warnings():
            if share[0]:  # the first process warns for all
                warnings.simplefilter("ignore", QueryInGalleryWarning)
            n_in_gallery = queries_in_gallery(pair, options)
        return report_on(
            shared_profile(pair, options, share, self.gather),
            SummaryOptions(self.measures, self.singletons, self.average),
            labels=pair.query.labels,
            distance=options.distance,
            tie_rule=options.rule.describe(options.distance),
            n_in_gallery=n_in_gallery,
            separate_gallery=pair.gallery is not None and not n_in_gallery,
            threads=options.threads,
        )


def shared_profile(
    pair: Pair, options: CountingOptions, share: tuple[int, int], gather: Callable[[Int64], list[Int64]]
) -> TieProfile:
    """The profile of all queries; `share` is the rank of this process and their number."""
    rank, n_rank = share
    if n_rank == 1:
        return profile_pair(pair, options)
    cuts = np.arange(n_rank + 1) * len(pair.query.labels) // n_rank
    of_queries, of_groups = np.empty((0, 3), dtype=np.int64), np.empty((0, 4), dtype=np.int64)
    if cuts[rank] < cuts[rank + 1]:
        mine = _profile_of_run(pair, options, int(cuts[rank]), int(cuts[rank + 1]))
        of_queries = np.stack([np.diff(mine.offsets), mine.n_ranked, mine.n_relevant], axis=1)
        of_groups = np.stack([mine.closer, mine.closer_relevant, mine.tied, mine.tied_relevant], axis=1)
    n_group, n_ranked, n_relevant = np.concatenate(gather(of_queries)).T
    closer, closer_relevant, tied, tied_relevant = np.concatenate(gather(of_groups)).T
    return TieProfile(
        offsets_of(n_group), closer, closer_relevant, tied, tied_relevant, n_ranked, n_relevant,
        bounds_only=options.rule.bounds_only, check=False,
    )  # fmt: skip


def _profile_of_run(pair: Pair, options: CountingOptions, start: int, stop: int) -> TieProfile:
    run = slice(start, stop)
    query: Samples[Source] = Samples(Array(pair.query.embeddings.whole()[run]), pair.query.labels[run])
    if pair.gallery is not None:
        return profile_pair(pair._replace(query=query), options)
    return profile_pair(Pair(query, pair.query), replace(options, exclude=np.arange(start, stop)))
