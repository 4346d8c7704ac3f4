"""Programs to time `deadheat.evaluate` against. A yardstick takes a case, its arrays and a thread count, and gives
the work to be timed; the preparation before that is not timed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

import deadheat as dh
from benchmarks.cases import Case
from benchmarks.data import Array, Arrays, Unavailable, make, random_like
from benchmarks.rivals import RIVALS, installed

Work = Callable[[], object]

_BLAS = ThreadpoolController()
DEVICE = "cuda"
_PRODUCT_ROWS = 512
_DEVICE_ROWS = 4096  # into a buffer of 1.6 GB for 100 000 columns
_XOR_ROWS, _XOR_COLUMNS = 64, 2048  # a block of 64-bit words is 1 MB, so that it stays in a core's cache


TIES = {str(ties): ties for ties in ("exact", "float16", dh.Tolerance(1e-3))}
"""The values of `Case.ties`."""


def evaluate(arrays: Arrays, distance: str, threads: int, device: str | None = None, ties: str = "exact") -> dh.Report:
    """The whole of `deadheat.evaluate`, with all default measures."""
    given = arrays.query, arrays.query_labels, arrays.gallery, arrays.gallery_labels
    how = {"distance": distance, "threads": threads, "device": device, "ties": TIES[ties], "junk": arrays.junk}
    return dh.evaluate(*given, **how)


def works(case: Case, threads: int) -> dict[str, Work]:
    """Return what a case is timed by: its yardstick, and `evaluate`."""
    arrays = make(case)
    device = DEVICE if case.section == "device" else None
    return {
        "yardstick": YARDSTICKS[case.yardstick](case, arrays, threads),
        "evaluate": lambda: evaluate(arrays, case.distance, threads, device, case.ties),
    }


def product(query: Array, gallery: Array, threads: int) -> None:
    """The whole product query·galleryᵀ in float32, in blocks of rows; nothing is kept of it.

    Each thread takes the next block and multiplies it by itself, into a buffer of its own: threads of a BLAS would wait
    for each other, and on a busy machine for long.
    """
    rows = min(_PRODUCT_ROWS, max(1, len(query) // (4 * threads)))
    starts = iter(range(0, len(query), rows))

    def work(_: int) -> None:
        buffer = np.empty((rows, len(gallery)), dtype=np.float32)
        for start in starts:
            block = query[start : start + rows]
            np.matmul(block, gallery.T, out=buffer[: len(block)])

    with _BLAS.limit(limits=1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))


def differing_bits(query: Array, gallery: Array, threads: int, out: Array | None = None) -> None:
    """All Hamming distances by XOR and `bitwise_count`, one 64-bit word after the other, in cache-sized blocks.

    Parameters
    ----------
    query, gallery : (n, words) uint64
    out : (n_query, n_gallery) uint16, optional
        Where the distances go; by default nothing is kept of them.
    """
    columns = np.ascontiguousarray(gallery.T)

    def rows(start: int) -> None:
        left = query[start : start + _XOR_ROWS]
        differing = np.empty((len(left), _XOR_COLUMNS), dtype=np.uint64)
        count = np.empty(differing.shape, dtype=np.uint8)
        total = np.empty(differing.shape, dtype=np.uint16)
        for first in range(0, len(gallery), _XOR_COLUMNS):
            right = columns[:, first : first + _XOR_COLUMNS]
            width = right.shape[1]
            total[:, :width] = 0
            for word in range(len(right)):
                np.bitwise_xor(left[:, word, None], right[word], out=differing[:, :width])
                np.bitwise_count(differing[:, :width], out=count[:, :width])
                np.add(total[:, :width], count[:, :width], out=total[:, :width])
            if out is not None:
                out[start : start + len(left), first : first + width] = total[:, :width]

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(rows, range(0, len(query), _XOR_ROWS)))


def _product(case: Case, arrays: Arrays, threads: int) -> Work:
    return lambda: product(arrays.query, arrays.columns, threads)


def _product_on_the_device(case: Case, arrays: Arrays, threads: int) -> Work:
    torch: Any = installed("torch")
    if not torch.cuda.is_available():
        raise Unavailable("no CUDA device")
    query, gallery = (torch.from_numpy(rows).to(DEVICE) for rows in (arrays.query, arrays.columns))
    buffer = torch.empty(min(_DEVICE_ROWS, len(query)), len(gallery), device=DEVICE)

    def work() -> None:
        for start in range(0, len(query), _DEVICE_ROWS):
            block = query[start : start + _DEVICE_ROWS]
            torch.matmul(block, gallery.T, out=buffer[: len(block)])
        torch.cuda.synchronize()

    return work


def _random_data(case: Case, arrays: Arrays, threads: int) -> Work:
    other = random_like(arrays)
    return lambda: evaluate(other, case.distance, threads)


def _random_of_its_type(case: Case, arrays: Arrays, threads: int) -> Work:
    """Random float64 next to float64, random float32 next to any other numbers, without junk and in plain classes.

    Random bits next to bits, and under exact ties: under a tolerance they would be what they are compared with.
    """
    if case.distance == "hamming":
        other, ties = "random bits", "exact"
    else:
        other, ties = "random float64" if arrays.query.dtype == np.float64 else "random", case.ties
    random = make(dataclasses.replace(case, data=other))
    return lambda: evaluate(random, case.distance, threads, ties=ties)


def _cdist(case: Case, arrays: Arrays, threads: int) -> Work:
    distance = installed("scipy.spatial.distance")
    return lambda: distance.cdist(arrays.query, arrays.columns, "cityblock")


def _xor(case: Case, arrays: Arrays, threads: int) -> Work:
    query, gallery = (np.ascontiguousarray(codes).view(np.uint64) for codes in (arrays.query, arrays.columns))
    return lambda: differing_bits(query, gallery, threads)


YARDSTICKS: dict[str, Callable[[Case, Arrays, int], Work]] = {
    "product": _product,
    "random data": _random_data,
    "random data of its type": _random_of_its_type,
    "product on the device": _product_on_the_device,
    "cdist": _cdist,
    "XOR": _xor,
    **RIVALS,
}
