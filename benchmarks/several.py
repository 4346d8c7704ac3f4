"""Codes whose items have several labels each, next to all distances and the product of the labels, and to argsort."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

import deadheat as dh
from benchmarks.cases import Case
from benchmarks.results import Row, timed
from benchmarks.timing import Clock

N_LABEL, SHARE, BITS = 81, 0.03, 64
MEASURES = "mAP, mAP(over='hits')@5000, P@100, nDCG@100, Recall@100"
_ROWS, _SEED = 100, 0

Codes = NDArray[np.uint64]
Labels = NDArray[np.bool_]


def measure(case: Case, clock: Clock) -> Row:
    """Both by turns, in the same number of threads."""
    clock.tick("generating the data")
    query, item = _made(case.n_query or case.n, 1), _made(case.n, 2)
    packed = [codes.view(np.uint8).reshape(len(codes), -1) for codes, _ in (query, item)]

    def evaluate() -> object:
        task = dh.Task(packed[0], query[1], packed[1], item[1], distance="hamming", threads=clock.threads)
        return dh.evaluate(task, MEASURES)

    return timed(
        case,
        clock.by_turns({"yardstick": YARDSTICKS[case.yardstick](query, item, clock.threads), "evaluate": evaluate}),
    )


def _made(n: int, stream: int) -> tuple[Codes, Labels]:
    """Codes that follow labels, and the labels."""
    rng = np.random.default_rng([_SEED, stream])
    labels = rng.random((n, N_LABEL)) < SHARE
    weights = np.random.default_rng(_SEED).normal(size=(N_LABEL, BITS))
    bits = labels @ weights + rng.normal(size=(n, BITS)) > 0
    return np.packbits(bits, axis=1).view(np.uint64)[:, 0], labels


def _distances_and_labels(
    query: tuple[Codes, Labels], item: tuple[Codes, Labels], threads: int
) -> Callable[[], object]:
    """All distances by XOR and `bitwise_count`, and the boolean product of the labels; nothing is kept."""

    def block(rows: slice) -> None:
        for code in query[0][rows]:
            np.bitwise_count(item[0] ^ code)
        _ = query[1][rows].astype(np.float32) @ item[1].T.astype(np.float32) > 0

    def work() -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(block, (slice(i, i + _ROWS) for i in range(0, len(query[0]), _ROWS))))

    return work


def _argsort(query: tuple[Codes, Labels], item: tuple[Codes, Labels], threads: int) -> Callable[[], object]:
    """The way of DeepHash-pytorch's `CalcTopMap`: query by query, an argsort of the distances; it has one thread."""

    def work() -> float:
        values = []
        for code, labels in zip(*query, strict=True):
            relevant = (item[1] & labels).any(axis=1)
            hits = relevant[np.argsort(np.bitwise_count(item[0] ^ code))]
            ranks = np.flatnonzero(hits) + 1
            values.append(float((np.arange(1, len(ranks) + 1) / ranks).mean()) if len(ranks) else 0.0)
        return float(np.mean(values))

    return work


YARDSTICKS = {"XOR and the labels' product": _distances_and_labels, "argsort of each query": _argsort}
