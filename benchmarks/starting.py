"""What a user waits for at first: the import, NumPy's with it, and the first call."""

from __future__ import annotations

import functools
import statistics

from benchmarks import fresh
from benchmarks.cases import Case
from benchmarks.results import Row

_TIMES = 5

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
    """Medians of a few fresh processes, of all steps at once."""
    found = [fresh.run(["-c", _PROGRAM], {}) for _ in range(_TIMES)]
    imported, first = (statistics.median(times[step] for times in found) for step in ("import", "first"))
    both = statistics.median(times["import"] + times["first"] for times in found)
    return {"import": imported, "first call": first, "import and first call": both}
