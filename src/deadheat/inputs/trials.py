"""Pairs of items by their ids, with a class and perhaps a score each: trials of faces and of speakers.

In come files of text or rows; out go `Trials`. A line of a file is ``label a b`` (VoxCeleb) or ``a b label`` (Kaldi and
NIST: enrolled, test, target or nontarget), also with a score: ``label a b score``, ``a b label score`` or ``a b score
label``. LFW's pairs.txt begins with the numbers of folds and pairs; its lines are ``name i j`` and ``name i name j``.
The layout is the one of these that fits every line, and two that fit are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deadheat.errors import FileError, InvalidTypeError, InvalidValueError
from deadheat.inputs import conversion, limits
from deadheat.inputs.files import fields_of_lines, unzipped
from deadheat.inputs.formats.tables import is_number
from deadheat.inputs.labels import from_text, label_codes
from deadheat.inputs.labels import labels as checked_labels
from deadheat.support import checks
from deadheat.support.arguments import VALUES, names_argument
from deadheat.support.arrays import Array, Bool, Int64

SPELLINGS = (  # of the negative and the positive class, in lower case; first 0 and 1, as the others are numbers then
    ("0", "1"), ("0.0", "1.0"), ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("negative", "positive"),
    ("nontarget", "target"), ("impostor", "genuine"), ("different", "same"),
)  # fmt: skip
_LAYOUTS = {2: ("ab",), 3: ("lab", "abl"), 4: ("labs", "abls", "absl")}  # l: label, s: score
_RULE = "must be pairs (a, b), or trials (label, a, b) or (a, b, label), each also with a score"


class Trials(NamedTuple):
    """Pairs of ids, and what else their rows or their file say."""

    ids: Array  # (2 * n,): the first of each pair, then the second of each
    same: Any = None  # (n,) classes in any spelling
    scores: Array | None = None  # (n,) float64
    subjects: Array | None = None  # (2 * n,), as `ids`
    folds: Int64 | None = None  # (n,)

    @property
    def n_pair(self) -> int:
        return len(self.ids) // 2


def read_trials(path: Any) -> Trials:
    """Read a file of pairs or trials."""
    lines = []
    for line in fields_of_lines(path):
        lines.append(line)
        if len(lines) > limits.current().lines:
            raise FileError(path, f" must have at most {limits.current().lines} lines, but has more")
    if not lines:
        raise FileError(path, " must have a pair in each line, but is empty")
    first = lines[0][1]
    if len(first) < 3 and all(cell.isdecimal() for cell in first) and len(lines) > 1 and len(lines[1][1]) > 2:
        return _lfw(path, [int(cell) for cell in first], lines[1:])
    odd = next((number for number, cells in lines if len(cells) != len(first)), None)
    if odd is not None:
        raise FileError(path, f", line {odd}: must have {len(first)} fields like line {lines[0][0]}")
    try:
        return _of_columns([list(column) for column in zip(*(row for _, row in lines), strict=True)])
    except (InvalidTypeError, InvalidValueError) as error:
        raise FileError(path, f": {error}") from None


def has_scored_trials(path: Any) -> bool:
    """Return whether a file of text begins with four fields between blanks, none of which is a name of a column."""
    if path.suffix.lower() in (".csv", ".tsv", ".npz", ".npy", ".parquet", ".h5", ".hdf5", ".safetensors", ".jsonl"):
        return False
    with unzipped(path) as file:
        cells = file.readline(1 << 12).split()
    return len(cells) == 4 and not {b"score", b"label"} & set(cells)


def _lfw(path: Any, header: list[int], lines: list[tuple[int, list[str]]]) -> Trials:
    """Return the pairs of LFW: in each fold as many of one person as of two; the id of an image is name_0001."""
    n_fold, size = ([1, *header] if len(header) == 1 else header)[-2:]
    if len(lines) != 2 * n_fold * size:
        rule = (
            f"must have 2 x {size} pairs in each of {n_fold} folds, as its first line says, but has {len(lines)} pairs"
        )
        raise FileError(path, f" {rule}")
    ids: tuple[list[str], list[str]] = ([], [])
    names: tuple[list[str], list[str]] = ([], [])
    for number, cells in lines:
        if len(cells) not in (3, 4) or not all(cell.isdecimal() for cell in (cells[1], cells[-1])):
            raise FileError(path, f", line {number}: must be 'name i j' or 'name i name j'")
        for side, name, image in ((0, cells[0], cells[1]), (1, cells[-2] if len(cells) == 4 else cells[0], cells[-1])):
            ids[side].append(f"{name}_{int(image):04d}")
            names[side].append(name)
    same = np.array([first == second for first, second in zip(*names, strict=True)])
    folds = np.arange(len(lines)) // (2 * size) if n_fold > 1 else None
    return Trials(np.array(ids[0] + ids[1]), same, None, np.array(names[0] + names[1]), folds)


def trials_of(pairs: Any) -> Trials:
    """Return trials of rows in memory: of two to four entries, or an array of two columns."""
    if hasattr(pairs, "__array__"):
        rows = conversion.plain(pairs, "pairs").tolist()
    else:
        rows = checks.listed(pairs, "pairs", _RULE.removeprefix("must be "))
    rows = [row if isinstance(row, (list, tuple)) else () for row in rows]
    widths = {len(row) for row in rows}
    if len(widths) != 1 or not widths <= _LAYOUTS.keys():
        raise InvalidValueError(
            "pairs", f"{_RULE}, but has rows of {', '.join(map(str, sorted(widths))) or 'no'} entries"
        )
    return _of_columns([list(column) for column in zip(*rows, strict=True)])


def _of_columns(columns: list[list[Any]]) -> Trials:
    if len(columns) not in _LAYOUTS:
        raise InvalidValueError("pairs", f"{_RULE}, but have {len(columns)} fields")
    spelled = [_spelling(column) is not None for column in columns]
    numbers = [all(isinstance(cell, (str, int, float)) and is_number(cell) for cell in column) for column in columns]
    fitting = [
        layout for layout in _LAYOUTS[len(columns)]
        if all({"l": spelled, "s": numbers}.get(part, [True] * 4)[place] for place, part in enumerate(layout))
    ]  # fmt: skip
    if len(fitting) != 1:
        got = (
            "no column has two classes in a known spelling"
            if not fitting
            else "either of two columns may be the classes"
        )
        raise InvalidValueError("pairs", f"{_RULE}, but {got}: give pairs (a, b) and same=")
    parts = dict(zip(fitting[0], columns, strict=True))
    ids = [*parts["a"], *parts["b"]]
    as_text = all(isinstance(cell, str) for cell in ids)
    scores = np.array(list(map(float, parts["s"]))) if "s" in parts else None
    return Trials(
        from_text(ids) if as_text else checked_labels(ids, len(ids), "pairs", "pairs"), parts.get("l"), scores
    )


@names_argument
def classes(labels: ArrayLike, n: int, what: str) -> Bool:
    """Return which items are positive; both classes must occur, in a spelling that is known."""
    array = conversion.plain(labels)
    if array.shape != (n,):
        raise InvalidValueError(VALUES, f"must have one entry per {what}, but has shape {array.shape} for {n}")
    if array.dtype.kind in "OUT" and all(isinstance(each, str) for each in array.tolist()):
        array = _from_text(array.tolist())
    if array.dtype.kind not in "biuf":
        raise InvalidTypeError(VALUES, f"must be bool, or integers 0 and 1, but has dtype {array.dtype}")
    if set(values := np.unique(array).tolist()) != {0, 1}:
        raise InvalidValueError(VALUES, f"must hold 0 and 1 (or False and True), and both, but holds {values}"[:200])
    return array.astype(np.bool_)


def _spelling(cells: Sequence[Any]) -> tuple[str, str] | None:
    """Return the negative and the positive class in a known spelling, if these are all that cells hold."""
    lower = {str(cell).strip().lower() for cell in cells}
    return next((pair for pair in SPELLINGS if lower == set(pair)), None)


def _from_text(cells: list[str]) -> Bool:
    """Return the items that text calls positive, by the spellings that are known."""
    if (pair := _spelling(cells)) is not None:
        return np.array([cell.strip().lower() == pair[1] for cell in cells])
    rule = f"must hold two classes in a known spelling, such as 0 and 1, but holds {checks.few(sorted(set(cells)))}"
    raise InvalidValueError(VALUES, f"{rule}; say which is positive: labels == 'cat'")


def groups_of(groups: Any, n: int, trials: Trials | None, what: str) -> Int64 | None:
    """Return the numbers of the groups of items, (n, 1), or of the subjects of both items of each pair, (n, 2).

    `groups` has an entry for each item, two for each, or is a dictionary from the ids of the trials to subjects.
    """
    if groups is None and trials is not None and trials.subjects is not None:
        return label_codes(trials.subjects)[0].reshape(2, n).T
    if groups is None:
        return None
    if isinstance(groups, Mapping):
        if trials is None:
            raise InvalidValueError("groups", "must have an entry per score: a dictionary is for pairs by id")
        ids = trials.ids.tolist()
        lacking = [each for each in dict.fromkeys(ids) if each not in groups]
        if lacking:
            raise InvalidValueError("groups", f"must have a subject for each id, but lacks {checks.few(lacking)}")
        return label_codes(checked_labels([groups[each] for each in ids], 2 * n, "groups", "pairs"))[0].reshape(2, n).T
    if _are_pairs(groups, n):
        flat = conversion.plain(groups, "groups").T.ravel()
        return label_codes(checked_labels(flat, 2 * n, "groups", what))[0].reshape(2, n).T
    return label_codes(checked_labels(groups, n, "groups", what))[0][:, None]


def _are_pairs(values: Any, n: int) -> bool:
    shape = getattr(values, "shape", None)
    if shape is not None:
        return tuple(shape) == (n, 2)
    rows = values if isinstance(values, (list, tuple)) and len(values) == n else ()
    return bool(rows) and all(isinstance(row, (list, tuple)) and len(row) == 2 for row in rows)
