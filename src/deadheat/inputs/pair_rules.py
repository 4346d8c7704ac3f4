"""Positive and negative pairs of rows by rules on columns of metadata; all other pairs are junk.

a frame, rules ──columns numbered──> labels (what positives share) and `PairRules` (the mask of junk, in parts)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs.conversion import converting, is_frame
from deadheat.inputs.labels import labels
from deadheat.support import checks
from deadheat.support.arguments import VALUES, names_argument
from deadheat.support.arrays import Bool, Int64, slices

_FEWEST = 256  # rows of a part, if it need not be smaller

Rule = Mapping[str, str | Sequence[str]]
Numbers = tuple[Int64, list[Int64]]  # of rows: equal in every pair of a rule, and unequal


class RuledMask:
    """A mask of junk by a rule, (n_query, n_gallery): `np.asarray` writes all of it, ``mask[np.ix_(...)]`` a part."""

    ndim, dtype = 2, np.dtype(np.bool_)
    shape: tuple[int, int]

    def __getitem__(self, places: Any) -> Bool:
        """Return the mask for the rows and columns that are asked for, as by `np.ix_`."""
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Bool:
        return self[np.ix_(*map(np.arange, self.shape))]

    def parts(self, most: int) -> list[tuple[Int64, Int64]]:
        """Return all rows in parts of at most `most`, each with every column that is not junk to all of the part."""
        queries, items = map(np.arange, self.shape)
        return [(queries[some], items) for some in slices(len(queries), most)]


class PairRules(RuledMask):
    """The mask of junk between n rows, (n, n): True for pairs that are neither positive nor negative."""

    def __init__(self, positives: Numbers, negatives: Numbers) -> None:
        self._rules, self.shape = (positives, negatives), (len(positives[0]), len(positives[0]))

    def __getitem__(self, places: Any) -> Bool:
        rows, columns = places
        broken = []
        for same, different in self._rules:
            broken.append(same[rows] != same[columns])
            for number in different:
                broken[-1] |= number[rows] == number[columns]
        return np.asarray(broken[0] & broken[1])

    def parts(self, most: int) -> list[tuple[Int64, Int64]]:
        (shared, _), (key, _) = self._rules
        order, parts, begin = np.lexsort((shared, key)), [], 0
        for end in [*(np.flatnonzero(np.diff(key[order])) + 1).tolist(), len(key)]:
            if end - begin >= _FEWEST or end == len(key):
                parts += [order[begin:end][some] for some in slices(end - begin, most)]
                begin = end
        return [(p, np.flatnonzero(np.isin(key, key[p]) | np.isin(shared, shared[p]))) for p in parts]


def open_rules(metadata: Any, n: int, positives: Rule, negatives: Rule) -> tuple[NDArray[Any], PairRules]:
    """Return a label for each of `n` rows, which positives share, and the junk between them."""
    (same, other), (negative_same, different) = _sides(positives, "positives"), _sides(negatives, "negatives")
    if not set(same) & set(different):
        rule = "must have a column under 'different' that positives have under 'same', so that no pair is both"
        raise InvalidValueError("negatives", f"{rule}, but have {checks.few(different)} and {checks.few(same)}")
    if not isinstance(metadata, Mapping) and not is_frame(metadata):
        got = f"is of type {type(metadata).__name__}"
        raise InvalidTypeError("metadata", f"must be a data frame or a dictionary of columns, but {got}")
    held = list(getattr(metadata, "column_names", getattr(metadata, "columns", metadata)))  # Arrow's have values
    columns = {}
    for name in dict.fromkeys([*same, *other, *negative_same, *different]):
        if name not in held:
            raise InvalidValueError("metadata", f"must have the columns of the rules, but has no {checks.shown(name)}")
        with converting(metadata, "metadata"):
            column = metadata[name]
        columns[name] = labels(column, n, f"metadata[{name!r}]", "embeddings")

    def numbers(*names: str) -> Int64:
        known: dict[Any, int] = {}
        rows = zip([0] * n, *(columns[name].tolist() for name in names), strict=True)
        return np.array([known.setdefault(row, len(known)) for row in rows], dtype=np.int64)

    junk = PairRules(
        (numbers(*same), [numbers(name) for name in other]),
        (numbers(*negative_same), [numbers(name) for name in different]),
    )
    if len(same) == 1:
        return columns[same[0]], junk
    return np.array([str(row) for row in zip(*(columns[name].tolist() for name in same), strict=True)]), junk


@names_argument
def _sides(rule: Any) -> list[list[str]]:
    """Return the names of the columns that a rule has under "same", and of those under "different"."""
    given = checks.mapping(rule, VALUES, "a dictionary with 'same' and 'different'")
    odd = next((key for key in given if key not in ("same", "different")), None)
    if odd is not None:
        raise InvalidValueError(VALUES, f"must have no other names than 'same' and 'different', but has {odd!r}")
    sides = (given.get(side, ()) for side in ("same", "different"))
    names = [[side] if isinstance(side, str) else checks.listed(side, VALUES, "names of columns") for side in sides]
    for column in (*names[0], *names[1]):
        if not isinstance(column, (str, int)):
            raise InvalidTypeError(VALUES, f"must be names of columns, but has {checks.shown(column)}")
    return names
