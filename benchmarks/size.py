"""How much there is to read: counted in the checkout, wherever under `src/deadheat` the packages of the engine lie."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.cases import Case
from benchmarks.results import ROOT, Row
from benchmarks.targets import TARGETS
from benchmarks.timing import Clock

_PACKAGE, _CORE = ROOT / "src" / "deadheat", ROOT / "src" / "core"
_ENGINE = ("engine", "distances", "ties", "exact", "counting")
_NOT_ENGINE = ("profiles",)  # within `engine`, what comes out
_LAYOUT = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def measure(case: Case, clock: Clock) -> Row:
    """One count, with its parts."""
    parts = next(count() for key, count in _COUNTS.items() if TARGETS[key].what == case.data)
    note = ", ".join(f"{name} {count:,}" for name, count in parts.items()) if len(parts) > 1 else ""
    return Row(case, value=sum(parts.values()), unit="count", details={"parts": parts, "note": note})


def names() -> set[str]:
    """What Python asks of the core: every `_core.NAME`."""
    return {name for file in _files(_PACKAGE) for name in re.findall(r"_core\.\w+", file.read_text(encoding="utf-8"))}


def code_lines(source: str) -> int:
    """Lines of code: neither blank nor of comments, docstrings or imports."""
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        ):
            code.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(code)


def methods(name: str) -> dict[str, int]:
    """How many functions the classes of a name define."""
    return {
        f"{file.relative_to(_PACKAGE)}": sum(isinstance(part, ast.FunctionDef) for part in node.body)
        for file in _files(_PACKAGE)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name == name
    }


def _engine() -> dict[str, int]:
    """Code lines of each package of the engine."""
    lines: dict[str, int] = {}
    for folder in (_PACKAGE / name for name in _ENGINE):
        for file in _files(folder):
            inside = file.relative_to(folder).parts
            name = inside[0] if folder.name == "engine" and len(inside) > 1 else folder.name
            if name not in _NOT_ENGINE:
                lines[name] = lines.get(name, 0) + code_lines(file.read_text(encoding="utf-8"))
    return lines


def _core() -> dict[str, int]:
    """Lines of each folder of the core."""
    lines: dict[str, int] = {}
    for file in sorted(path for path in _CORE.rglob("*") if path.suffix in (".cpp", ".h")):
        name = file.relative_to(_CORE).parts[0]
        lines[name] = lines.get(name, 0) + len(file.read_text(encoding="utf-8").splitlines())
    return lines


def _files(folder: Path) -> Iterator[Path]:
    return iter(sorted(folder.rglob("*.py")))


_COUNTS: dict[str, Callable[[], dict[str, int]]] = {
    "names": lambda: {"names": len(names())},
    "python": _engine,
    "core": _core,
    "methods": lambda: methods("Distance"),
}
"""The counts by the keys of their targets."""
