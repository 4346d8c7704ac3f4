"""Cost: processor time against the number of samples."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat import evaluate, grouped, plots
from deadheat.plots import style
from deadheat.studies.grouped.populations import DISTANCE, GROUP_SIZE, GROUPED, MEASURE, PLAIN, Extent
from deadheat.studies.study import WIDE, Finding, Mark, Outcome, Picture, Setting, Table

_SAMPLES, _DIM, _MOST_PLAIN = 10, 64, 64_000
_SEED = 7


def by_cost(setting: Setting, extent: Extent) -> Outcome:
    """Processor time against samples, on one thread, grouped and plain."""
    rows = []
    for n_class in extent.cost:
        embeddings, labels = _white_noise(n_class)
        setting.say(f"  cost: {len(labels)} samples")
        settings = {"measures": MEASURE, "distance": DISTANCE, "threads": 1}
        ways: dict[str, Callable[..., Any]] = {GROUPED: partial(grouped, group_size=GROUP_SIZE)}
        if len(labels) <= _MOST_PLAIN:
            ways[PLAIN] = evaluate
        for what, way in ways.items():
            report, seconds = _timed(partial(way, embeddings, labels, **settings), extent.times)
            rows.append((what, len(labels), int(report.profile.n_ranked.sum()), seconds))
    table = np.array(rows, dtype=[("what", "U32"), ("samples", int), ("pairs", int), ("seconds", float)])
    figure = style.figure(5.6, 3.6)
    sides = {what: table[table["what"] == what] for what in (PLAIN, GROUPED)}
    plots.processor_time(
        {what: (side["samples"], side["seconds"]) for what, side in sides.items()}, ax=figure.subplots()
    )
    caption = f"Processor time for {MEASURE} on one thread, {_SAMPLES} samples a class in {_DIM} dimensions."
    return Outcome(
        _findings(table),
        [Picture("cost", caption, figure)],
        [Table("cost", "Pairs ranked, and processor seconds on one thread", table.dtype.names or (), table.tolist())],
    )


def _white_noise(n_class: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    labels = np.repeat(np.arange(n_class), _SAMPLES)
    rng = np.random.default_rng(_SEED)
    return rng.standard_normal((len(labels), _DIM), dtype=np.float32), labels


def _timed(work: Callable[[], Any], times: int) -> tuple[Any, float]:
    """What some work gives, and the least processor time that it took: others on the machine do not count."""
    result, shortest = None, math.inf
    for _ in range(times):
        begin = time.process_time()
        result = work()
        shortest = min(shortest, time.process_time() - begin)
    return result, shortest


def _findings(table: NDArray[Any]) -> list[Finding]:
    findings = []
    for what, power, published in ((GROUPED, 1, "n at a fixed group size: n²/r for r groups"), (PLAIN, 2, "n²")):
        rows = table[table["what"] == what]
        pairs, _ = slope_of(rows["samples"], rows["pairs"])
        slope, error = slope_of(rows["samples"], rows["seconds"])
        agrees = abs(slope - power) <= WIDE * power and abs(pairs - power) <= 0.01
        findings.append(
            Finding(
                f"{MEASURE} {what}: growth with n samples",
                f"pairs as n^{pairs:.3f}, time as n^{slope:.2f} (s.e. {error:.2f})",
                Mark.by_interval(agrees, 2 * error, power),
                published,
                "by its definition",
                "" if agrees else "work that is not done pair by pair counts too, most at few samples",
            )
        )
    return findings


def slope_of(n: ArrayLike, values: ArrayLike) -> tuple[float, float]:
    """The slope of a straight line through logarithms, by least squares, and its standard error."""
    x, y = np.log(np.asarray(n, dtype=np.float64)), np.log(np.asarray(values, dtype=np.float64))
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    unexplained = float(np.square(y - slope * x).sum())
    return slope, math.sqrt(unexplained / (len(x) - 2) / float(x @ x)) if len(x) > 2 else math.nan
