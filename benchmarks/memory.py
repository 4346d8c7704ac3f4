"""How much the resident set grows during one `evaluate`, in a fresh process.

The limit is the same however many relevant pairs there are.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from benchmarks import data, fresh, yardsticks
from benchmarks.cases import Case
from benchmarks.results import Row

_MB = 1_000_000
_LIMIT = 200 * _MB


def measure(case: Case, threads: int) -> Row:
    """Growth against its limit."""
    fresh.require_linux()
    found = fresh.run(["-m", "benchmarks.memory"], {"case": dataclasses.asdict(case), "threads": threads})
    return Row(case, _LIMIT / _MB, found["growth"] / _MB, "MB", found["growth"] / _LIMIT, details=found)


def _grow(case: Case, threads: int) -> dict[str, Any]:
    """Evaluate once in this process."""
    small = data.make(dataclasses.replace(case, n=600, class_size=min(case.class_size, 100)))
    yardsticks.evaluate(small, case.distance, threads)
    arrays = data.make(case)
    fresh.forget_peak()
    before = fresh.resident()
    report = yardsticks.evaluate(arrays, case.distance, threads)
    growth = fresh.resident("VmHWM") - before
    profile = report.profile
    return {
        "before": before,
        "growth": growth,
        "relevant_pairs": int(profile.n_relevant.sum()),
        "groups": len(profile.closer),
        "input": arrays.query.nbytes + arrays.query_labels.nbytes,
    }


if __name__ == "__main__":
    given = fresh.settings()
    print(json.dumps(_grow(Case(**given["case"]), given["threads"])))
