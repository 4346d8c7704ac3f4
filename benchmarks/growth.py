"""Growth of time with the number of items and with the dimension: the exponent of a power law.

The product's own exponent is found in the same way at the same time, for a product of a larger matrix can be faster or
slower by the operation, and what is beyond that is ours.
"""

from __future__ import annotations

import dataclasses
import functools
import statistics
from collections.abc import Sequence

import numpy as np

from benchmarks import data, yardsticks
from benchmarks.cases import Case
from benchmarks.results import Row
from benchmarks.timing import Clock


def fit(sizes: Sequence[int], seconds: Sequence[float]) -> tuple[float, float]:
    """The exponent b of seconds = a·sizeᵇ by least squares on logarithms, and its standard error."""
    x, y = np.log(sizes), np.log(seconds)
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    residuals = y - y.mean() - slope * x
    error = np.sqrt(residuals @ residuals / max(1, len(x) - 2) / (x @ x))
    return slope, float(error)


def measure(case: Case, clock: Clock) -> Row:
    """The exponent of `evaluate` and that of the product."""
    works: dict[str, yardsticks.Work] = {}
    for size in case.along:
        one = dataclasses.replace(case, n=size) if case.axis == "n" else dataclasses.replace(case, dim=size)
        arrays = data.make(one)
        works[f"yardstick {size}"] = yardsticks.YARDSTICKS[case.yardstick](one, arrays, clock.threads)
        works[f"evaluate {size}"] = functools.partial(yardsticks.evaluate, arrays, case.distance, clock.threads)
    for what in (f"yardstick {case.along[0]}", f"evaluate {case.along[0]}"):
        clock.tick(f"warming up, {what}")
        clock.once(works[what])
    times = clock.by_turns(works)
    medians = {
        who: [statistics.median(times[f"{who} {size}"]) for size in case.along] for who in ("yardstick", "evaluate")
    }
    plain, plain_error = fit(case.along, medians["yardstick"])
    ours, error = fit(case.along, medians["evaluate"])
    details = {
        "axis": case.axis, "sizes": list(case.along), "medians": medians,
        "standard_error": error, "yardstick_standard_error": plain_error,
    }  # fmt: skip
    return Row(case, plain, ours, "exponent", times, details)
