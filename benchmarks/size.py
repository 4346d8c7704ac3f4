"""Lines to read, of the package and of the core, counted in the checkout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.cases import Case
from benchmarks.results import ROOT, Row
from benchmarks.targets import TARGETS
from benchmarks.timing import Clock

_PACKAGE, _CORE = ROOT / "src" / "deadheat", ROOT / "src" / "core"


def measure(case: Case, clock: Clock) -> Row:
    """One count, with its parts."""
    parts = next(count() for key, count in _COUNTS.items() if TARGETS[key].what == case.data)
    note = ", ".join(f"{name} {count:,}" for name, count in parts.items()) if len(parts) > 1 else ""
    return Row(case, value=sum(parts.values()), unit="count", details={"parts": parts, "note": note})


def _python() -> dict[str, int]:
    """Lines of each package."""
    return _lines(_PACKAGE, (".py",))


def _core() -> dict[str, int]:
    """Lines of each folder of the core."""
    return _lines(_CORE, (".cpp", ".h"))


def _lines(root: Path, endings: tuple[str, ...]) -> dict[str, int]:
    lines: dict[str, int] = {}
    for file in sorted(path for path in root.rglob("*") if path.suffix in endings):
        name = file.relative_to(root).parts[0]
        lines[name] = lines.get(name, 0) + len(file.read_text(encoding="utf-8").splitlines())
    return lines


_COUNTS: dict[str, Callable[[], dict[str, int]]] = {"python": _python, "core": _core}
"""The counts by the keys of their targets."""
