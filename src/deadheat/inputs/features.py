"""Columns of tables and data frames that are no features: looked for by name and by content, and remarked.

What is said while input is opened is collected here, and shown below the table of a report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from deadheat.support.arrays import Array

_NAME = re.compile(r"unnamed: ?\d+|level_\d+|(.*[_ -])?ids?|index|idx|fold|split", re.IGNORECASE)
_FEWEST = 4  # rows: of fewer, integers that differ say nothing

_remarks: ContextVar[list[str] | None] = ContextVar("remarks", default=None)


@contextmanager
def remarks() -> Iterator[list[str]]:
    """Collect what is said of input that is opened in this block."""
    said: list[str] = []
    token = _remarks.set(said)
    try:
        yield said
    finally:
        _remarks.reset(token)


def look_at(names: Sequence[str] | None, rows: Array, remedy: str) -> None:
    """Say which columns of an embedding look like no features: by their names, or as numbers of rows."""
    said = _remarks.get()
    if said is None or rows.ndim != 2 or rows.dtype.kind not in "iuf":
        return
    odd = {place for place, name in enumerate(names or ()) if _NAME.fullmatch(str(name).strip())}
    titles = [
        f"column {place if names is None else repr(names[place])}" for place in sorted(odd | _numbers_of_rows(rows))
    ]
    if 0 < len(titles) < rows.shape[1]:
        shown = ", ".join(titles[:3]) + (f" and {len(titles) - 3} more" if len(titles) > 3 else "")
        said.append(f"Dimensions include what looks like no feature: {shown}; {remedy}.")


def _numbers_of_rows(rows: Array) -> set[int]:
    """Return the columns of distinct integers, where others hold fractions."""
    if len(rows) < _FEWEST or rows.dtype.kind != "f":
        return set()
    whole = (rows == np.rint(rows)).all(axis=0)
    if whole.all():
        return set()
    return {place for place in np.flatnonzero(whole).tolist() if len(np.unique(rows[:, place])) == len(rows)}
