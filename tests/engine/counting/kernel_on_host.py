"""The counting kernel of a card, `count.cu`, compiled as C++ and called on PyTorch tensors in main memory."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from deadheat.engine.counting.card import counting

_THREADS = 3  # of a block
_SOURCE = """
#include "cuda_on_host.h"
#include "count.cu"
extern "C" void run(int n_row, int n_thread, const double *scores, const double *edges, const int *weight, int n_column,
                    int n_edge, int openable, int room, int *counts, int *found) {
    launch(count_rows, n_row, n_thread, scores, edges, weight, n_column, n_edge, openable, room, counts, found);
}
"""


@cache
def kernel_on_host(card: Any) -> Callable[..., None]:
    """Return what launches the kernel, as `counting.kernel_of` does."""
    compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    folder = Path(tempfile.mkdtemp(prefix="kernel-"))
    (folder / "run.cpp").write_text(_SOURCE, encoding="utf-8")
    places = Path(__file__).parents[2] / "core", Path(counting.__file__).parent
    command = [compiler, "-std=c++20", "-O1", "-pthread", "-shared", "-fPIC", *(f"-I{place}" for place in places)]
    subprocess.run([*command, str(folder / "run.cpp"), "-o", str(folder / "run.so")], check=True, timeout=120)
    run = ctypes.CDLL(str(folder / "run.so")).run
    shutil.rmtree(folder, ignore_errors=True)

    def start(n_row: int, shared: int, *arguments: Any) -> None:
        assert shared <= counting.SHARED_BYTES
        assert all(each is None or isinstance(each, int) or each.is_contiguous() for each in arguments)
        given = [ctypes.c_int(each) if isinstance(each, int) else _pointer(each) for each in arguments]
        run(n_row, _THREADS, *given)

    return start


def _pointer(tensor: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(0 if tensor is None else tensor.data_ptr())
