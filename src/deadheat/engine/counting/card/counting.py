"""Counting the scores of a tile between the edges of its rows: by a kernel, `count.cu`, or by sorting in PyTorch alone.

The kernel is compiled by NVIDIA's `cuda.bindings`, a documented interface to NVRTC and the driver, which PyTorch's
wheels for CUDA on Linux bring since 2.10. (`torch.cuda._compile_kernel` wants a CUDA toolkit, Triton a C compiler.)
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from deadheat.engine.counting.card.device import Card, Tensor

THREADS, SHARED_BYTES = 512, 48 << 10  # of a block, which takes one row
ROOM = 1 << 16  # for undecided items, until their number is known


def count_between(card: Card, tile: Tensor, edges: Tensor, weight: Tensor | None, closed: bool) -> list[Tensor]:
    """Count a tile, (n_row, n_column), between ascending edges, (n_row, n_edge), in float64; a column counts `weight`.

    Returns the counts, (n_row, n_edge + 1), and the row, the column and the slot of each undecided item.
    """
    (n_row, n_edge), kernel, room = edges.shape, kernel_of(card), ROOM
    if kernel is None or (shared := 8 * n_edge + 4 * (n_edge + 1)) > SHARED_BYTES:
        return by_sorting(card, tile, edges, weight, closed)
    counts = edges.new_empty((n_row, n_edge + 1), dtype=card.torch.int32)
    while True:
        output = counts.new_zeros(1 + 3 * room)
        kernel(n_row, shared, tile, edges, weight, tile.shape[1], n_edge, int(not closed), room, counts, output)
        if (n_open := int(output[0])) <= room:
            return [counts, *output[1 : 1 + 3 * n_open].long().view(-1, 3).T.contiguous()]
        room = n_open


def by_sorting(card: Card, tile: Tensor, edges: Tensor, weight: Tensor | None, closed: bool) -> list[Tensor]:
    """Count in sorted rows, where the scores of a slot are neighbours, and each edge is looked up."""
    torch, pad = card.torch, card.torch.nn.functional.pad
    scores, columns = tile.sort(dim=1)
    ends = pad(torch.searchsorted(scores, edges), (0, 1), value=tile.shape[1])  # positions where slots end
    below = ends if weight is None else pad(weight[columns].cumsum(dim=1), (1, 0)).gather(1, ends)
    counts = pad(below.diff(dim=1), (1, 0)).int()
    n_open = ends.diff(dim=1)[:, : 0 if closed else None : 2]
    counts[:, 1 : 2 * n_open.shape[1] : 2] = 0
    rows, numbers = n_open.nonzero(as_tuple=True)
    sizes = n_open[rows, numbers]
    first = (ends[rows, 2 * numbers] - sizes.cumsum(dim=0) + sizes).repeat_interleave(sizes)
    rows, numbers = rows.repeat_interleave(sizes), numbers.repeat_interleave(sizes)
    return [counts, rows, columns[rows, first + torch.arange(len(first), device=card.where)], 2 * numbers + 1]


@cache
def kernel_of(card: Card) -> Callable[..., None] | None:
    """Return a function that launches the kernel; None, with a line in the log, if there is no kernel."""
    if card.where.type == "cpu":
        return None
    try:
        driver, properties = import_module("cuda.bindings.driver"), card.torch.cuda.get_device_properties(card.where)
        with card.torch.cuda.device(card.where):
            module = _done(driver.cuModuleLoadData(cubin(f"sm_{properties.major}{properties.minor}")))
        function = _done(driver.cuModuleGetFunction(module, b"count_rows"))
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        why = " ".join(str(error).split())
        logging.getLogger("deadheat").warning("%s: scores are sorted, not counted by a kernel: %s", card.where, why)
        return None

    def launch(n_row: int, shared: int, *arguments: Tensor | int | None) -> None:  # arguments of `count_rows`
        values = tuple(each if isinstance(each, int) else 0 if each is None else each.data_ptr() for each in arguments)
        types = tuple(ctypes.c_int if isinstance(each, int) else ctypes.c_void_p for each in arguments)
        stream, shape = card.torch.cuda.current_stream().cuda_stream, (n_row, 1, 1, THREADS, 1, 1)
        _done(driver.cuLaunchKernel(function, *shape, shared, stream, (values, types), 0))

    return launch


def cubin(architecture: str) -> bytes:
    """Compile the kernel for an architecture, such as "sm_90"."""
    nvrtc, source = import_module("cuda.bindings.nvrtc"), Path(__file__).with_name("count.cu").read_bytes()
    program = _done(nvrtc.nvrtcCreateProgram(source, b"count.cu", 0, [], []))
    _done(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=" + architecture.encode()]))
    code = bytearray(_done(nvrtc.nvrtcGetCUBINSize(program)))
    _done(nvrtc.nvrtcGetCUBIN(program, code))
    return bytes(code)


def _done(answer: tuple[Any, ...]) -> Any:
    """Return the values of a call of cuda.bindings after its status, which must be success."""
    status, *rest = answer
    if int(status):
        raise RuntimeError(f"{status.name} of {type(status).__name__}")
    return rest[0] if rest else None
