"""The gain by each shortcut of the engine: the time with and without it, relative to random data of the same type.

python -m benchmarks.rent        the table of docs/exactness.md, in about two minutes

A shortcut is taken out by replacing the one function or attribute that it hangs on. Times are processor times of one
thread, best of three, of 2,000 rows of 64 numbers in classes of 20; with int8, of 10,000 of 512 in
classes of 5; in two classes, of 10,000 of 64.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import deadheat as dh
from benchmarks import cliffs

_SHAPE = (2000, 64, 20)  # rows, numbers in each, rows in a class
_LARGE = (10_000, 512, 5)
_MANY = (10_000, 64, 20)


def _clusters(deviation: float) -> cliffs.Kind:
    """Classes round points of their own, some samples farther from theirs than others."""

    def rows(labels: NDArray[Any], dim: int, rng: np.random.Generator) -> NDArray[Any]:
        centres = rng.standard_normal((int(labels.max()) + 1, dim))[labels]
        far = 0.8 * np.exp(deviation * rng.standard_normal((len(labels), 1)))
        return (centres + far * rng.standard_normal((len(labels), dim))).astype(np.float32)

    return rows


def _random(labels: NDArray[Any], dim: int, rng: np.random.Generator) -> NDArray[Any]:
    return rng.standard_normal((len(labels), dim)).astype(np.float32)


_KINDS = {
    **dict.fromkeys(cliffs.CLASSES, _random),
    **cliffs.NAMED,
    **cliffs.ADVERSARIAL,
    "clusters": _clusters(0.0),
    "uneven clusters": _clusters(0.7),
}


SHORTCUTS: list[tuple[str, str, Any, list[tuple[str, str]]]] = [  # name, what it hangs on, in its place, data
    ("match counts", "distances.distance.Dense.patterns", None,
     [("sparse", "inner_product"), ("two-valued", "cosine")]),
    ("centre subtracted", "distances.scaling.common_centre", lambda *_: None, [("offset", "euclidean")]),
    ("tangents", "distances.bounds.tangents_hold", lambda _: False, [("time stamps", "cosine")]),
    ("common offset", "distances.scaling.common_size", lambda _: 0.0,
     [("float64 softmax", "cityblock"), ("tf-idf", "euclidean")]),
    ("bounds by squares", "distances.bounds.by_squares", lambda *_: (np.inf, 0.0, 0.0),
     [("norms over octaves", "euclidean")]),
    ("sizes of products", "distances.scaling.mostly_of_wide_range", lambda _: False,
     [("exponents within rows", "cosine")]),
    ("overlaps", "distances.cityblock.Cityblock.between",
     classmethod(lambda kind, query, gallery, _: kind(query, gallery)),
     [("float64 softmax", "cityblock")]),
    ("int8 filter", "counting.problem.LEAST_FOR_INT8", 1 << 62,
     [("clusters", "cosine"), ("uneven clusters", "cosine")]),
    ("sorted rows", "count.SORTED_SHARE", 2, [(cliffs.HALVES, "cosine"), (cliffs.NINE_TENTHS, "cosine")]),
]  # fmt: skip


def _seconds(rows: Any, labels: NDArray[Any], distance: str) -> float:
    times = []
    for _ in range(3):
        start = time.process_time()
        dh.Task(rows, labels, distance=distance, threads=1).profile  # noqa: B018
        times.append(time.process_time() - start)
    return min(times)


@cache
def _of_random(shape: tuple[int, int, int], distance: str, dtype: Any) -> float:
    n, dim, size = shape
    rows = np.random.default_rng(0).standard_normal((n, dim)).astype(dtype)
    return _seconds(rows, np.arange(n) // size, distance)


def table() -> Iterator[tuple[str, str, str, float, float]]:
    """Shortcut, data, distance, and the ratio to random data with it and without."""
    for name, hook, instead, cases in SHORTCUTS:
        for kind, distance in cases:
            n, dim, size = shape = _LARGE if "clusters" in kind else _MANY if kind in cliffs.CLASSES else _SHAPE
            labels = cliffs.CLASSES.get(kind, np.asarray)(np.arange(n) // size)
            rows = _KINDS[kind](labels, dim, np.random.default_rng(1))
            base, kept = _of_random(shape, distance, rows.dtype.type), _seconds(rows, labels, distance)
            with patch(f"deadheat.engine.{hook}", instead):
                yield name, kind, distance, kept / base, _seconds(rows, labels, distance) / base


if __name__ == "__main__":
    print("| shortcut | data, distance | with | without |\n|---|---|---|---|")
    for shortcut, data, metric, kept, without in table():
        print(f"| {shortcut} | {data}, {metric} | {kept:.1f} | {without:.1f} |", flush=True)
