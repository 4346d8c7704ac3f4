"""What each shortcut of the engine is worth: the time with and without it, relative to random data of the same type.

python -m benchmarks.rent        the table of docs/exactness.md, in about two minutes

A shortcut is taken out by replacing the one function or attribute that it hangs on. Times are processor times of one
thread, best of three, of 2,000 rows of 64 numbers in classes of 20.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np

import deadheat as dh
from benchmarks import cliffs

_LABELS, _DIM = np.arange(2000) // 20, 64
_KINDS = {**cliffs.NAMED, **cliffs.ADVERSARIAL}

SHORTCUTS: list[tuple[str, str, Any, list[tuple[str, str]]]] = [  # name, what it hangs on, in its place, data
    ("places of few numbers", "dense.Dense.patterns", None, [("sparse", "inner_product"), ("two-valued", "cosine")]),
    ("centre taken off", "centring.common_centre", lambda *_: None, [("offset", "euclidean")]),
    ("tangents", "bounds.tangents_hold", lambda _: False, [("time stamps", "cosine")]),
    ("usual square or sum", "scaling.usual", lambda _: 0.0,
     [("float64 softmax", "cityblock"), ("tf-idf", "euclidean")]),
    ("bounds by squares", "bounds.by_squares", lambda *_: (np.inf, 0.0, 0.0), [("norms over octaves", "euclidean")]),
    ("sizes of products", "scaling.mostly_spread", lambda _: False, [("exponents within rows", "cosine")]),
    ("overlaps", "cityblock.Cityblock.between", classmethod(lambda kind, query, gallery, _: kind(query, gallery)),
     [("float64 softmax", "cityblock")]),
]  # fmt: skip


def _seconds(rows: Any, distance: str) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        dh.profile(rows, _LABELS, distance=distance, threads=1)
        times.append(time.process_time() - start)
    return min(times)


@cache
def _of_random(distance: str, dtype: Any) -> float:
    rows = np.random.default_rng(0).standard_normal((len(_LABELS), _DIM)).astype(dtype)
    return _seconds(rows, distance)


def table() -> Iterator[tuple[str, str, str, float, float]]:
    """Shortcut, data, distance, and the ratio to random data with it and without."""
    for name, hook, instead, cases in SHORTCUTS:
        for kind, distance in cases:
            rows = _KINDS[kind](_LABELS, _DIM, np.random.default_rng(1))
            base, kept = _of_random(distance, rows.dtype.type), _seconds(rows, distance)
            with patch(f"deadheat.engine.distances.{hook}", instead):
                yield name, kind, distance, kept / base, _seconds(rows, distance) / base


if __name__ == "__main__":
    print("| shortcut | data, distance | with | without |\n|---|---|---|---|")
    for shortcut, data, metric, kept, without in table():
        print(f"| {shortcut} | {data}, {metric} | {kept:.1f} | {without:.1f} |", flush=True)
