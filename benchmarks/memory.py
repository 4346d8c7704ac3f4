"""Growth of the resident set during one `evaluate`, in a fresh process.

The target is the same however many relevant pairs there are, however many of them tie, and however long rows are.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from benchmarks import data, fresh, yardsticks
from benchmarks.cases import Case
from benchmarks.results import Row
from benchmarks.timing import Clock

_WARM_UP = 600  # items, and numbers in a row, of the smaller data that are evaluated before


def measure(case: Case, clock: Clock) -> Row:
    """Growth in MB."""
    fresh.require_linux()
    clock.tick("evaluating in a fresh process")
    result = fresh.run(["-m", "benchmarks.memory"], {"case": case, "threads": clock.threads})
    return Row(case, value=result["growth"] / 1e6, unit="MB", details=result)


def _grow(case: Case, threads: int) -> dict[str, Any]:
    """Evaluate once in this process."""
    small = dataclasses.replace(case.of_at_most(_WARM_UP), dim=min(case.dim, _WARM_UP))
    yardsticks.evaluate(data.make(small), case.distance, threads, ties=case.ties)
    arrays = data.make(case)
    fresh.forget_peak()
    before = fresh.resident()
    report = yardsticks.evaluate(arrays, case.distance, threads, ties=case.ties)
    growth = fresh.resident("VmHWM") - before
    profile = report.profile
    return {
        "before": before,
        "growth": growth,
        "relevant_pairs": int(profile.n_relevant.sum()),
        "groups": profile.n_group,
        "input": sum(rows.nbytes for rows in (arrays.query, arrays.gallery) if rows is not None),
    }


if __name__ == "__main__":
    given = fresh.settings()
    fresh.say(_grow(Case(**given["case"]), given["threads"]))
