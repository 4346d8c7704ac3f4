"""What the embeddings look like: zero, constant and repeated rows, and dimensions that say little."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from deadheat.audits.finding import Finding
from deadheat.audits.submission import limits
from deadheat.audits.submission.evidence import Evidence
from deadheat.audits.submission.rows import Rows
from deadheat.audits.submission.wording import listed, named, share
from deadheat.support.arrays import Int64


def zero(evidence: Evidence) -> Iterator[Finding]:
    """Rows that are zero throughout."""
    for part, rows in evidence.parts.items():
        if len(rows.zero) and evidence.takes_numbers:
            yield Finding(
                _titled("zero embeddings", part),
                _by_share(len(rows.zero), rows.n),
                f"{_rows(rows.zero, rows)} {_of(part)} zero throughout ({listed(rows.zero)}) and say nothing of their "
                "items.",
                _figures(rows.zero, rows),
                "Find out where they come from: items that could not be read, or a layer that died.",
            )


def faint(evidence: Evidence) -> Iterator[Finding]:
    """Rows that are zero but for noise, to which cosine gives a direction."""
    for part, rows in evidence.parts.items():
        if len(rows.faint) and evidence.takes_numbers:
            yield Finding(
                _titled("nearly zero embeddings", part),
                _by_share(len(rows.faint), rows.n),
                f"{_rows(rows.faint, rows)} {_of(part)} shorter than {limits.PRECISION:.2g} times the mean length "
                f"({listed(rows.faint)}): zero, but for noise or rounding.",
                _figures(rows.faint, rows),
                "Set them to zero, so that they tie; under cosine such rows are ranked by the direction of the noise.",
            )


def constant(evidence: Evidence) -> Iterator[Finding]:
    """Rows that hold one number, again and again."""
    for part, rows in evidence.parts.items():
        if len(rows.constant) and evidence.takes_numbers:
            yield Finding(
                _titled("constant embeddings", part),
                "warning" if len(rows.constant) >= limits.SOME_ROWS * rows.n else "note",
                f"{_rows(rows.constant, rows)} {_of(part)} one number throughout ({listed(rows.constant)}).",
                _figures(rows.constant, rows),
                "They say nothing but that number; under cosine all of one sign are the same.",
            )


def across_classes(evidence: Evidence) -> Iterator[Finding]:
    """Equal rows under different labels."""
    for part, rows in evidence.parts.items():
        if len(rows.across):
            yield Finding(
                _titled("duplicates across classes", part),
                _capped(_by_share(len(rows.across), rows.n), evidence, rows),
                f"{_rows(rows.across, rows)} {_of(part)} equal to a row of another class ({listed(rows.across)}). "
                f"{rows.n_distinct} rows are distinct.",
                {**_figures(rows.across, rows), "distinct": rows.n_distinct, "largest": rows.largest},
                "Look for items that were handed in twice under two labels, or that the model cannot tell apart.",
            )


def inside_classes(evidence: Evidence) -> Iterator[Finding]:
    """Equal rows under one label, which find each other first."""
    for part, rows in evidence.parts.items():
        n = len(rows.inside)
        if n:
            mild = "warning" if n >= limits.MANY_COPIES * rows.n else "note"
            severity = "serious" if n >= limits.MOSTLY_COPIES * rows.n else mild
            yield Finding(
                _titled("duplicates inside classes", part),
                _capped(severity, evidence, rows),
                f"{_rows(rows.inside, rows)} {_of(part)} equal to a row of their own class ({listed(rows.inside)}). "
                f"{rows.n_distinct} rows are distinct.",
                {**_figures(rows.inside, rows), "distinct": rows.n_distinct, "largest": rows.largest},
                "Take copies of an item out; if the items differ, ask how the model comes to one embedding for all.",
            )


def dead_dimensions(evidence: Evidence) -> Iterator[Finding]:
    """Dimensions in which all rows have one number."""
    for part, rows in evidence.parts.items():
        dead = np.flatnonzero(rows.dimensions.dead)
        if len(dead) and rows.n > 1 and evidence.takes_numbers:
            yield Finding(
                _titled("dead dimensions", part),
                "warning" if len(dead) >= limits.DEAD_DIMENSIONS * rows.dim else "note",
                f"{share(len(dead), rows.dim, 'dimensions').capitalize()} of the {part} have the same number in every "
                "row.",
                {"dimensions": len(dead), "dim": rows.dim, "which": named(dead)},
                "Look for units that died, or inputs that never vary, and leave these dimensions out.",
            )


def saturated(evidence: Evidence) -> Iterator[Finding]:
    """Dimensions that are mostly at their largest or smallest number."""
    for part, rows in evidence.parts.items():
        dims = rows.dimensions
        stuck = np.flatnonzero(~dims.dead & (dims.levels > 2) & (dims.at_end >= limits.SATURATED_ROWS))
        if len(stuck) and evidence.takes_numbers:
            yield Finding(
                _titled("saturated dimensions", part),
                "warning" if len(stuck) >= limits.SATURATED_DIMENSIONS * rows.dim else "note",
                f"{share(len(stuck), rows.dim, 'dimensions').capitalize()} of the {part} are at their largest or "
                f"smallest number in {100 * limits.SATURATED_ROWS:.0f} % of the rows or more.",
                {"dimensions": len(stuck), "dim": rows.dim, "which": named(stuck), "rows_looked_at": dims.n_sampled},
                "Hand in what comes before the sigmoid, tanh or clipping.",
            )


def few_levels(evidence: Evidence) -> Iterator[Finding]:
    """Numbers that come from few levels."""
    for part, rows in evidence.parts.items():
        if not (evidence.takes_numbers and _quantised(rows)):
            continue
        dims = rows.dimensions
        levels = int(np.median(_levels(rows)[dims.few_levels]))
        yield Finding(
            _titled("few levels", part),
            "warning" if levels <= limits.VERY_FEW_LEVELS else "note",
            f"{share(int(dims.few_levels.sum()), rows.dim, 'dimensions').capitalize()} of the {part} have few distinct "
            f"numbers: mostly {levels}.",
            {
                "dimensions": int(dims.few_levels.sum()), "dim": rows.dim, "levels": levels,
                "rows_looked_at": dims.n_sampled,
            },
            "Say that they are quantised; deadheat precision tells what that costs.",
        )  # fmt: skip


def _levels(rows: Rows) -> Int64:
    """Distinct numbers in each dimension, zero among them."""
    dims = rows.dimensions
    return dims.levels + (dims.filled < dims.n_sampled)


def _quantised(rows: Rows) -> bool:
    """Whether most dimensions that are not dead have few levels."""
    live = np.count_nonzero(~rows.dimensions.dead)
    return bool(live and np.count_nonzero(rows.dimensions.few_levels) >= limits.LEVEL_DIMENSIONS * live)


def _capped(severity: str, evidence: Evidence, rows: Rows) -> str:
    """Equal rows are what codes of few levels are made for: what that moves, the ties say."""
    coded = not evidence.takes_numbers or _quantised(rows)
    return "warning" if severity == "serious" and coded else severity


def _by_share(n: int, total: int) -> str:
    return "serious" if n >= limits.MANY_ROWS * total else "warning" if n >= limits.SOME_ROWS * total else "note"


def _titled(name: str, part: str) -> str:
    """The gallery's findings by a name of their own."""
    return name if part == "embeddings" else f"{name} in the gallery"


def _rows(which: Int64, rows: Rows) -> str:
    return share(len(which), rows.n, "rows").capitalize()


def _of(part: str) -> str:
    return "are" if part == "embeddings" else "of the gallery are"


def _figures(which: Int64, rows: Rows) -> dict[str, Any]:
    return {"rows": len(which), "n": rows.n, "which": named(which)}
