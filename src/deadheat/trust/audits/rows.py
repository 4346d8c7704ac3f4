"""What the numbers of the embeddings look like: in comes a source, read in pieces; out go counts, and findings.

source ──look_at──> Rows: zero, faint, constant and equal rows; dimensions ──findings_in──> findings
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.distances.columns import Columns
from deadheat.inputs.source import Source
from deadheat.support.arrays import Bool, Int64
from deadheat.trust.audits import thresholds
from deadheat.trust.audits.findings import SEVERITIES, Finding, by_share, listed, share


@dataclass(frozen=True, eq=False)
class Dimensions:
    """The dimensions, (dim,) each; all but `dead` come from a sample of distinct rows."""

    dead: Bool  # all rows have one number
    levels: Int64  # distinct numbers other than zero
    filled: Int64  # rows with a number other than zero
    at_limit: NDArray[np.float64]  # the larger share of those with the largest or smallest number, unless that is zero
    n_sampled: int

    @property
    def few_levels(self) -> Bool:
        """Where there are so few numbers that each came several times."""
        repeated = self.filled >= thresholds.SEEN_AGAIN * self.levels
        return np.asarray(~self.dead & repeated & (self.levels < thresholds.FEW_LEVELS))

    @property
    def quantised(self) -> bool:
        """Whether most dimensions that are not dead have few levels."""
        live = np.count_nonzero(~self.dead)
        return bool(live and np.count_nonzero(self.few_levels) >= thresholds.LEVEL_DIMENSIONS * live)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one set of embeddings; arrays have the numbers of rows."""

    n: int
    dim: int
    zero: Int64  # throughout
    faint: Int64  # not zero, but shorter than the precision of float32 times the mean length
    constant: Int64  # one number throughout other than zero
    across: Int64  # with an equal row of another class; zero rows do not count
    inside: Int64  # with an equal row of their own class
    n_distinct: int
    largest: int  # how many rows the most frequent one stands for
    length: float  # the mean norm (of city block, or else Euclid's), to the nearest power of two
    dimensions: Dimensions


def look_at(source: Source, codes: Int64, distance: str) -> Rows:
    """Look at all rows, which have classes by number; under cosine positive multiples are equal.

    Examples
    --------
    >>> from deadheat.inputs.source import Array
    >>> points = Array(np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0], [1.0, 2.0]]))
    >>> rows = look_at(points, np.array([0, 1, 0, 1]), "euclidean")
    >>> rows.zero, rows.across, rows.inside
    (array([2]), array([0, 1, 3]), array([1, 3]))
    """
    columns = Columns.of(source, distance == "cosine")
    norms, constant, dead = _scanned(source, 1 if distance == "cityblock" else 2)
    zero, mean = norms == 0, float(np.mean(norms))
    column = columns.column_of_item
    of_both, place = np.unique(column * (int(codes.max()) + 1) + codes, return_inverse=True)
    n_equal = np.bincount(column)[column]
    n_of_class = np.bincount(place, minlength=len(of_both))[place]  # of the equal rows
    return Rows(
        *source.shape,
        zero=np.flatnonzero(zero),
        faint=np.flatnonzero(~zero & (norms < thresholds.PRECISION * mean)),
        constant=np.flatnonzero(constant & ~zero),
        across=np.flatnonzero((n_equal > n_of_class) & ~zero),
        inside=np.flatnonzero((n_of_class > 1) & ~zero),
        n_distinct=len(columns),
        largest=int(n_equal.max()),
        length=2.0 ** round(math.log2(mean)) if 0 < mean < math.inf else mean,
        dimensions=_dimensions(source, columns, dead),
    )


def _scanned(source: Source, order: int) -> tuple[NDArray[np.float64], Bool, Bool]:
    """Norms of rows, and which are one number throughout, (n,); which dimensions are one number throughout, (dim,)."""
    n, dim = source.shape
    norms, constant = np.empty(n), np.empty(n, dtype=np.bool_)
    low, high = np.full(dim, np.inf), np.full(dim, -np.inf)
    for start, rows in source.pieces():
        part = slice(start, start + len(rows))
        peaks = np.abs(rows.astype(np.float64)).max(axis=1)  # no square overflows, or vanishes
        norms[part] = peaks * np.linalg.norm(rows / np.where(peaks, peaks, 1)[:, None], order, axis=1)
        constant[part] = (rows == rows[:, :1]).all(axis=1) if dim > 1 else False
        low, high = np.minimum(low, rows.min(axis=0)), np.maximum(high, rows.max(axis=0))
    return norms, constant, low == high


def _dimensions(source: Source, columns: Columns, dead: Bool) -> Dimensions:
    most = max(1, thresholds.SAMPLE_NUMBERS // source.shape[1])
    n_sampled = min(most, len(columns))
    picked = columns.item_of_column[np.linspace(0, len(columns) - 1, n_sampled).astype(np.int64)]
    values = np.sort(source.take(np.sort(picked)), axis=0)
    first = np.vstack([np.ones((1, values.shape[1]), dtype=np.bool_), values[1:] != values[:-1]])
    filled = values != 0
    at_limit = [np.where(limit != 0, (values == limit).mean(axis=0), 0.0) for limit in (values[0], values[-1])]
    return Dimensions(dead, (first & filled).sum(axis=0), filled.sum(axis=0), np.maximum(*at_limit), n_sampled)


# ---------------------------------------------------------------------------------------------------------------------
# findings


def findings_in(rows: Rows, part: str, numbers: bool) -> Iterator[Finding]:
    """What is wrong with one part of a submission, "embeddings" or "gallery"; `numbers` is false for binary codes."""
    coded = not numbers or rows.dimensions.quantised
    groups = [_empty_rows(rows, part), _equal_rows(rows, part, coded), _poor_dimensions(rows, part)]
    for group in groups if numbers else groups[1:2]:
        for found in group:
            yield found if part == "embeddings" else replace(found, name=f"{found.name} in the gallery")


def _empty_rows(rows: Rows, part: str) -> Iterator[Finding]:
    """Rows that are zero, zero but for noise, or one number again and again."""
    if len(rows.zero):
        what = f"zero throughout ({listed(rows.zero)}) and carry no information."
        advice = "Find out where they come from: unreadable items, or a dead layer."
        yield _of_rows(rows.zero, rows, part, "zero embeddings", "serious", what, advice)
    if len(rows.faint):
        length = f"shorter than {thresholds.PRECISION:.2g} times the mean length"
        what = f"{length} ({listed(rows.faint)}): zero, but for noise or rounding."
        advice = "Set them to zero, so that they tie; under cosine such rows are ranked by the direction of the noise."
        yield _of_rows(rows.faint, rows, part, "nearly zero embeddings", "serious", what, advice)
    if len(rows.constant):
        what = f"one number throughout ({listed(rows.constant)})."
        advice = "They say nothing but that number; under cosine all of one sign are the same."
        yield _of_rows(rows.constant, rows, part, "constant embeddings", "warning", what, advice)


def _equal_rows(rows: Rows, part: str, coded: bool) -> Iterator[Finding]:
    """Equal rows under different labels, and under one label, where they find each other first.

    They are what codes of few levels are made for, and never serious there: the finding "ties" says what they move.
    """
    most, n = "warning" if coded else "serious", len(rows.inside)
    number, distinct = f"{rows.n_distinct} rows are distinct.", {"distinct": rows.n_distinct, "largest": rows.largest}
    if len(rows.across):
        what = f"equal to a row of another class ({listed(rows.across)}). {number}"
        advice = "Look for items that were submitted twice under two labels, or that the model cannot distinguish."
        yield _of_rows(rows.across, rows, part, "duplicates across classes", most, what, advice, **distinct)
    if n:
        what = f"equal to a row of their own class ({listed(rows.inside)}). {number}"
        advice = "Take copies of an item out; if the items differ, ask how the model comes to one embedding for all."
        found = _of_rows(rows.inside, rows, part, "duplicates inside classes", most, what, advice, **distinct)
        mild = "warning" if n >= thresholds.MANY_COPIES * rows.n else "note"
        yield replace(found, severity=most if n >= thresholds.MOSTLY_COPIES * rows.n else mild)


def _poor_dimensions(rows: Rows, part: str) -> Iterator[Finding]:
    """Dimensions with one number in all rows, mostly at their largest or smallest number, or of few levels."""
    dims, dim, examples = rows.dimensions, rows.dim, slice(thresholds.EXAMPLES)
    dead = np.flatnonzero(dims.dead)
    if len(dead) and rows.n > 1:
        yield Finding(
            "dead dimensions",
            "warning" if len(dead) >= thresholds.DEAD_DIMENSIONS * dim else "note",
            f"{share(len(dead), dim, 'dimensions').capitalize()} of the {part} have the same number in every row.",
            {"dimensions": len(dead), "dim": dim, "which": dead[examples].tolist()},
            "Look for dead units or inputs that never vary, and drop these dimensions.",
        )
    stuck = np.flatnonzero(~dims.dead & (dims.levels > 2) & (dims.at_limit >= thresholds.SATURATED_ROWS))
    if len(stuck):
        yield Finding(
            "saturated dimensions",
            "warning" if len(stuck) >= thresholds.SATURATED_DIMENSIONS * dim else "note",
            f"{share(len(stuck), dim, 'dimensions').capitalize()} of the {part} are at their largest or smallest "
            f"number in {100 * thresholds.SATURATED_ROWS:.0f} % of the rows or more.",
            {"dimensions": len(stuck), "dim": dim, "which": stuck[examples].tolist(), "rows_looked_at": dims.n_sampled},
            "Submit what comes before the sigmoid, tanh or clipping.",
        )
    if dims.quantised:
        n = int(dims.few_levels.sum())
        with_zero = dims.levels + (dims.filled < dims.n_sampled)
        levels = int(np.median(with_zero[dims.few_levels]))
        yield Finding(
            "few levels",
            "warning" if levels <= thresholds.VERY_FEW_LEVELS else "note",
            f"{share(n, dim, 'dimensions').capitalize()} of the {part} have few distinct numbers: mostly {levels}.",
            {"dimensions": n, "dim": dim, "levels": levels, "rows_looked_at": dims.n_sampled},
            "Say that they are quantised; deadheat quantization shows what that costs.",
        )


def _of_rows(which: Int64, rows: Rows, part: str, name: str, most: str, what: str, advice: str, **more: int) -> Finding:
    """A finding about some rows, as serious as their share is, but no more than `most`."""
    severity = max(by_share(len(which), rows.n), most, key=SEVERITIES.index)
    subject = f"{share(len(which), rows.n, 'rows').capitalize()}{'' if part == 'embeddings' else ' of the gallery'} are"
    figures = {"rows": len(which), "n": rows.n, "which": which[: thresholds.EXAMPLES].tolist(), **more}
    return Finding(name, severity, f"{subject} {what}", figures, advice)
