"""Results: one row a case, whether it meets its target, and a run as JSON."""

from __future__ import annotations

import dataclasses
import os
import platform
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from threadpoolctl import threadpool_info

from benchmarks.cases import Case

ROOT = Path(__file__).resolve().parents[1]
Unit = Literal["s", "MB", "exponent", "times", "share", "count"]
_PACKAGES = (
    "deadheat", "numpy", "scipy", "scikit-learn", "faiss-cpu", "pyarrow", "torch", "torchmetrics",
    "pytorch-metric-learning", "ranx",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """The result of a case.

    Attributes
    ----------
    case : Case
    yardstick, value : float or None
        The yardstick's median and that of `evaluate`, in `unit`.
    unit : {"s", "MB", "exponent", "times", "share", "count"}
    times : dict
        All single times in seconds.
    details : dict
        What else was found; under ``"note"`` a line for the reader.
    reason : str
        Why nothing was measured, where nothing was, or why the target does not apply.
    state : {"measured", "not decided", "skipped", "failed"}
    stopped : bool
        Whether the evaluation was ended before it was through, so that `value` and `figure` are lower bounds.
    """

    case: Case
    yardstick: float | None = None
    value: float | None = None
    unit: Unit = "s"
    times: dict[str, list[float]] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    state: Literal["measured", "not decided", "skipped", "failed"] = "measured"
    stopped: bool = False

    @property
    def is_ratio(self) -> bool:
        """True if the target is about the time over the yardstick's."""
        return self.unit == "s" and self.yardstick is not None

    @property
    def figure(self) -> float | None:
        """The figure of the target: the ratio of `value` to `yardstick`, or the value itself."""
        if self.value is None or self.yardstick is None or not self.is_ratio:
            return self.value
        return self.value / self.yardstick

    @property
    def missed_by(self) -> float | None:
        """The excess of the figure over the target's limit; None where there is no target, or nothing to compare."""
        if self.figure is None or self.case.target is None or self.state != "measured":
            return None
        return self.case.target.missed_by(self.figure)

    @property
    def met(self) -> bool | None:
        """True if the target is met; None where nothing was measured, that is not known, or there is no target."""
        if self.missed_by is None or (self.stopped and self.missed_by <= 0):
            return None
        return self.missed_by <= 0

    @property
    def outcome(self) -> str:
        """``"met"``, ``"missed by 12 %"``, or why there is no such thing."""
        if self.state != "measured":
            return f"{self.state}: {self.reason}"
        if self.case.target is None or self.missed_by is None:
            return "no target"
        if self.missed_by <= 0:
            return "stopped" if self.stopped else "met"
        if self.case.target.kind == "about":
            return f"missed by {self.missed_by:.2g}"
        percent = 100 * self.missed_by
        return f"missed by {percent:.0f} %" if percent >= 10 else f"missed by {percent:.2g} %"

    def to_dict(self) -> dict[str, Any]:
        """The row as plain values, with the case's fields among them."""
        own = {
            "yardstick_value": self.yardstick,
            "value": self.value,
            "unit": self.unit,
            "figure": self.figure,
            "is_ratio": self.is_ratio,
            "met": self.met,
            "outcome": self.outcome,
            "state": self.state,
            "stopped": self.stopped,
            "times": self.times,
            "details": self.details,
        }
        return {"name": self.case.name, "short_name": self.case.short_name, **dataclasses.asdict(self.case), **own}


def timed(case: Case, times: dict[str, list[float]]) -> Row:
    """The row of a case whose yardstick and evaluation were timed by turns."""
    yardstick, value = (statistics.median(times[what]) for what in ("yardstick", "evaluate"))
    pairs = [ours / plain for plain, ours in zip(times["yardstick"], times["evaluate"], strict=True)]
    deviation = {"lowest_ratio": min(pairs), "highest_ratio": max(pairs)}
    return Row(case, yardstick, value, "s", times, deviation)


def run_record(rows: Sequence[Row], threads: int, repeats: int, scale: float) -> dict[str, Any]:
    """A whole run as plain values that JSON can hold."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "machine": machine(),
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in _PACKAGES}},
        "blas": [
            {key: info[key] for key in info if key != "filepath"}
            for info in threadpool_info()
            if info["user_api"] == "blas"
        ],
        "threads": threads,
        "repeats": repeats,
        "scale": scale,
        "rows": [row.to_dict() for row in rows],
    }


def machine() -> dict[str, Any]:
    """Return what the numbers were taken on."""
    return {
        "processor": _processor(),
        "processors": processors(),
        "system": platform.platform(),
        "memory_bytes": _memory(),
        "load": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
    }


def processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    """The processor's name where the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit that was measured, with a ``+`` where files differ from it."""
    command = ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=+"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
