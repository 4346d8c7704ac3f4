"""How much the resident set grows during one `evaluate`, in a fresh process.

The limit is 256 MB, 16 bytes a relevant pair, and 32 bytes a group for the profile that the report keeps.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from benchmarks import data, fresh, yardsticks
from benchmarks.cases import Case
from benchmarks.results import Row

_MB = 1_000_000
_BASE, _A_PAIR, _A_GROUP = 256 * _MB, 16, 32


def measure(case: Case, threads: int) -> Row:
    """Growth against its limit."""
    fresh.require_linux()
    found = fresh.run(["-m", "benchmarks.memory"], {"case": dataclasses.asdict(case), "threads": threads})
    limit = _BASE + _A_PAIR * found["relevant_pairs"] + _A_GROUP * found["groups"]
    return Row(case, limit / _MB, found["growth"] / _MB, "MB", found["growth"] / limit, details=found)


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
