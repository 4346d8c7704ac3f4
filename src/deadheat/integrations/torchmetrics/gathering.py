"""Metrics that keep rows unchanged, on every device, with correct synchronisation over processes, and plots.

torchmetrics gathers list states as tensors of the same type and dimensions in all processes. It aborts if a process has
no rows, or rows of another type. Here all processes agree beforehand:

    lists of rows ──each process──> type and width ──all──> common type and width of each state ──> torchmetrics' sync
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial, reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torchmetrics
from numpy.typing import NDArray
from torch import Tensor
from torchmetrics.utilities import rank_zero_warn
from torchmetrics.utilities.distributed import gather_all_tensors

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.reports.report import Report
from deadheat.reports.result import ENDS, Result
from deadheat.support import checks
from deadheat.support.arrays import Int64
from deadheat.support.lazy import lazy
from deadheat.support.triple import Triple

if TYPE_CHECKING:
    from deadheat.plots import layout, style
else:
    layout, style = map(lazy, ("deadheat.plots.layout", "deadheat.plots.style"))

Gather = Callable[[Tensor], list[Tensor]]

# The types of states; processes exchange the index here. Other types are converted to one of these: see `kept`.
_TYPES = (
    torch.float32, torch.float64, torch.float16, torch.bfloat16,
    torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool,
)  # fmt: skip
_WIDER = {torch.int16: torch.int32, torch.uint16: torch.int32, torch.uint32: torch.int64}  # gloo does not support these


class RowMetric(torchmetrics.Metric):  # type: ignore[misc, unused-ignore]
    """A metric whose states are lists of tensors (n, ...) that belong together; the first state has one entry a row."""

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    plot_lower_bound = 0.0
    plot_upper_bound = 1.0

    def __init__(self, states: tuple[str, ...], measures: tuple[str, ...], value: str | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.measures, self.value = measures, value
        if value is not None and checks.choice(value, Triple._fields, "value") and len(measures) > 1:
            raise InvalidValueError("value", f"must be left out for several measures, but is {value!r} for {measures}")
        for name in states:
            self.add_state(name, default=[], dist_reduce_fx="cat")
        self._rows_of_ranks: list[int] = []  # of what was gathered last

    def keep(self, batch: dict[str, Tensor]) -> None:
        """Append rows to each state, or to none if one of them does not match earlier rows."""
        for name, rows in batch.items():
            _require_common_kind(_filled([*getattr(self, name)[-1:], rows]), name)
        for name, rows in batch.items():
            getattr(self, name).append(rows)

    def rows(self, state: str) -> Tensor | None:
        """Return all rows of a state; None if there are none."""
        kept_rows = getattr(self, state)
        filled = _filled([kept_rows] if isinstance(kept_rows, Tensor) else kept_rows)
        _require_common_kind(filled, state)
        return torch.cat(filled) if filled else None

    def sync(
        self,
        dist_sync_fn: Callable[..., Any] | None = None,
        process_group: Any = None,
        should_sync: bool = True,
        distributed_available: Callable[[], bool] | None = None,
    ) -> None:
        """Synchronise as `torchmetrics.Metric.sync`, which every process has to call; some may have no rows."""
        available = distributed_available or self.distributed_available_fn
        if should_sync and not self._is_synced and available():
            self._agree(partial(dist_sync_fn or gather_all_tensors, group=process_group or self.process_group))
        super().sync(dist_sync_fn, process_group, should_sync, distributed_available)

    def _agree(self, gather: Gather) -> None:
        """Make each state one tensor, of the type and width that it has in all processes."""
        mine = {name: self.rows(name) for name in self._defaults}
        device = next((rows.device for rows in mine.values() if rows is not None), self.device)
        described = torch.tensor([_described(rows) for rows in mine.values()], device=device)
        everyone = torch.stack(gather(described)).cpu()  # (n_process, n_state, 3)
        for at, (name, rows) in enumerate(mine.items()):
            samples = [  # a row each as the processes have them, without data
                torch.empty((1, width) if width else 1, dtype=_TYPES[number], device="meta")
                for n, number, width in everyone[:, at].tolist()
                if n
            ] or [torch.empty(1)]
            _require_common_kind(samples, name)
            dtype = reduce(torch.promote_types, [sample.dtype for sample in samples])
            nothing = torch.empty((0, *samples[0].shape[1:]), device=device)
            setattr(self, name, [(nothing if rows is None else rows).to(dtype)])
        self._rows_of_ranks = everyone[:, 0, 0].tolist()

    def share(self) -> tuple[int, int]:
        """Return rank and number of the processes that compute together; (0, 1) for a single one."""
        if not (self._is_synced and self._to_sync and self.dist_sync_fn is None):
            return 0, 1
        return torch.distributed.get_rank(self.process_group), torch.distributed.get_world_size(self.process_group)

    def gather(self, rows: Int64) -> list[Int64]:
        """Gather the rows of all processes that compute together, in order of rank; all have the same width."""
        states = (getattr(self, name) for name in self._defaults)
        device = next((state.device for state in states if isinstance(state, Tensor)), self.device)  # as gathered
        gathered = gather_all_tensors(torch.from_numpy(rows).to(device), group=self.process_group)
        return [part.cpu().numpy() for part in gathered]

    def set_dtype(self, dst_type: str | torch.dtype) -> RowMetric:
        """Do nothing: rounding rows would change the result."""
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], exclude_state: Any = "") -> torch.nn.Module:
        """Move to another device without changing types."""
        moved: torch.nn.Module = super()._apply(lambda tensor: tensor.to(fn(tensor).device), exclude_state)
        return moved

    def answer(self, results: Mapping[str, Result | Triple[float]]) -> Any:
        """Return the value of the metric: numbers by key, or the one that `value` selects.

        They are float64 with the bits of `deadheat.evaluate`; float32 on devices without float64.
        """
        dtype = torch.float32 if self.device.type == "mps" else torch.float64
        numbers = {
            name + end: torch.tensor(getattr(result, which), dtype=dtype, device=self.device)
            for name, result in results.items()
            for end, which in ENDS.items()
        }
        end = "" if self.value == "expected" else f"_{self.value}"
        return numbers if self.value is None else numbers[self.measures[0] + end]

    def report(self) -> Report:
        """Return the report on the rows so far: tables, values of queries, intervals. Every process has to call this.

        Raises
        ------
        UndefinedError
            If there are no rows, or no query has a relevant item.
        """
        if self._is_synced:
            return self._report()
        with self.sync_context(dist_sync_fn=self.dist_sync_fn, should_sync=self._to_sync):
            return self._report()

    def _report(self) -> Report:
        """Return the report on the rows of this process, or of all once they are gathered."""
        raise NotImplementedError

    def undefined(self, why: object) -> Any:
        """Return the value where no query counts, NaN, and warn."""
        rank_zero_warn(f"every measure is NaN: {why}")
        return self.answer(dict.fromkeys(self.measures, Triple(*[math.nan] * 3)))

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Draw lower, expected and upper value of each measure; for several steps, as lines in bands.

        With `value`, which selects one number, plot as `torchmetrics.Metric.plot` does.

        Parameters
        ----------
        val : dict of tensors, or sequence of these, optional
            The result of `compute` or `forward`, of one step or several; by default that of `compute` now.
        ax : matplotlib.axes.Axes, optional

        Returns
        -------
        tuple of Figure and Axes

        Raises
        ------
        MissingPackageError
            Without Matplotlib, which the extra ``plots`` brings.
        """
        val = self.compute() if val is None else val
        return draw(val, ax) if self.value is None else self._plot(val, ax)


def kept(tensor: Tensor) -> Tensor:
    """Return a tensor as a state holds it: detached, copied, in a type that can be gathered."""
    wider = tensor.detach().to(_WIDER.get(tensor.dtype, tensor.dtype))
    return wider.clone(memory_format=torch.contiguous_format)


def _described(rows: Tensor | None) -> list[int]:
    """Return the number of rows, the index of their type, and their width, 0 for numbers."""
    if rows is None:
        return [0, 0, 0]
    return [len(rows), _TYPES.index(rows.dtype), rows.shape[1] if rows.ndim > 1 else 0]


def _filled(parts: list[Tensor]) -> list[Tensor]:
    return [part for part in parts if len(part)]


def _require_common_kind(parts: list[Tensor], state: str) -> None:
    """Refuse rows of different widths, and mixed kinds of numbers, which may have no common exact type."""
    for first, part in pairwise(parts):
        if part.shape[1:] != first.shape[1:]:
            given = f"{first.shape[1]} in some batches and {part.shape[1]} in others"
            raise InvalidValueError(state, f"must have the same dim throughout, but have {given}")
        if part.dtype != first.dtype and not (part.is_floating_point() and first.is_floating_point()):
            raise InvalidTypeError(state, f"must be of one kind throughout, but have {first.dtype} and {part.dtype}")


def draw(val: Any, ax: Any) -> tuple[Any, Any]:
    """Draw the values on the axes, new ones unless some are given; return figure and axes."""
    steps = [val] if isinstance(val, Mapping) else list(val)
    values = {
        name: np.array([[float(step[name + end]) for step in steps] for end in ("_lower", "", "_upper")])
        for name in steps[0]
        if f"{name}_lower" in steps[0]
    }
    ax = style.quiet(style.axes(ax), grid="x" if len(steps) == 1 else "y")
    if len(steps) == 1:
        style.ends(ax, 100 * np.concatenate(list(values.values()), axis=1), 6)
        ax.set_xlim(-2, 102)
        ax.set_xlabel("value (%)")
    else:
        _draw_steps(ax, values)
    layout.finish(ax, rows=list(values) if len(steps) == 1 else ())
    return ax.get_figure(), ax


def _draw_steps(ax: Any, values: Mapping[str, NDArray[np.float64]]) -> None:
    for number, (name, (lower, expected, upper)) in enumerate(values.items()):
        marker = style.MARKERS[(number + number // len(style.CYCLE)) % len(style.MARKERS)]  # new colours run out
        line, at = style.line(number) | {"marker": marker, "markersize": 4.5}, np.arange(len(expected))
        ax.fill_between(at, 100 * lower, 100 * upper, color=line["color"], alpha=0.18, linewidth=0)
        ax.plot(at, 100 * expected, label=name, **line)
    ax.set_ylim(-2, 102)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_xlabel("step")
    ax.set_ylabel("value (%)")
