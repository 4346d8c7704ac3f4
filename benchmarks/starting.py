"""What a user waits for at first: the import, and the first call with a cold and a warm Numba cache."""

from __future__ import annotations

import functools
import tempfile

from benchmarks import fresh
from benchmarks.cases import Case
from benchmarks.results import Row

# A text and not a module of this package, which would have NumPy imported before the clock starts.
_PROGRAM = """
import json, time
begin = time.perf_counter()
import deadheat as dh
imported = time.perf_counter()
import numpy as np
dh.evaluate(np.random.default_rng(0).standard_normal((100, 8)), np.arange(100) % 5)
print(json.dumps({"import": imported - begin, "first": time.perf_counter() - imported}))
"""


def measure(case: Case) -> Row:
    """Seconds of one step; there is nothing to compare it with."""
    seconds = _all_steps()[case.data]
    return Row(case, None, seconds, "s", None, {"evaluate": [seconds]})


@functools.cache
def _all_steps() -> dict[str, float]:
    """The steps, measured once, because a warm cache is what a cold one leaves behind."""
    with tempfile.TemporaryDirectory(prefix="deadheat-") as cache:
        cold = fresh.run(["-c", _PROGRAM], {}, {"NUMBA_CACHE_DIR": cache})
        warm = fresh.run(["-c", _PROGRAM], {}, {"NUMBA_CACHE_DIR": cache})
    return {
        "import": warm["import"],
        "first call, cold cache": cold["first"],
        "first call, warm cache": warm["first"],
    }
