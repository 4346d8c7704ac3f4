"""Loops that Numba compiles: relevant items in groups, and the cuts that groups make."""

from __future__ import annotations

from typing import Any

import numpy as np

from deadheat.support.arrays import Array
from deadheat.support.compiling import inner, kernel

TINY = np.finfo(np.float64).tiny  # the smallest normal number


@kernel
def sort_rows(order: Array, columns: Array, count: Array, irrelevant: Array, score: Array, bound: Array) -> Array:
    """Put the entries of each row in the given order, in place; where a score is surely above all before it.

    Entries with a count of 0 are padding and come last.
    """
    n_row, width = order.shape
    starts = np.zeros((n_row, width), np.bool_)
    kept = np.empty((3, width), np.int64)
    scores, bounds = np.empty(width), np.empty(width)
    for i in range(n_row):
        for j in range(width):
            entry = order[i, j]
            kept[0, j], kept[1, j], kept[2, j] = columns[i, entry], count[i, entry], irrelevant[i, entry]
            scores[j], bounds[j] = score[i, entry], bound[i, entry]
        n_entry = 0
        for j in range(width):
            columns[i, j], count[i, j], irrelevant[i, j] = kept[0, j], kept[1, j], kept[2, j]
            score[i, j], bound[i, j] = scores[j], bounds[j]
            n_entry += kept[1, j] > 0
        lowest = np.inf  # of the entries from j on
        for j in range(n_entry - 1, -1, -1):
            lowest = min(lowest, scores[j] - bounds[j])
            bounds[j], scores[j] = lowest, scores[j] + bounds[j]
        highest = -np.inf  # of the entries before j
        for j in range(n_entry):
            starts[i, j] = j == 0 or highest < bounds[j]
            highest = max(highest, scores[j])
    return starts


@kernel
def unsure_runs(starts: Array, count: Array, bound: Array, runs: Array) -> int:
    """List the runs of sorted entries whose bounds overlap, as row, begin and end; returns how many there are.

    `runs` has three rows and room for half as many runs as there are entries.
    """
    n = 0
    for i in range(starts.shape[0]):
        begin = 0
        for j in range(1, starts.shape[1] + 1):
            if j < starts.shape[1] and count[i, j] > 0 and not starts[i, j]:
                continue
            if j - begin > 1 and bound[i, begin:j].max() > 0:
                runs[0, n], runs[1, n], runs[2, n] = i, begin, j
                n += 1
            begin = j
            if j == starts.shape[1] or count[i, j] == 0:
                break
    return n


@kernel
def sort_runs(
    runs: Array, better: Array, error: Array,
    columns: Array, count: Array, irrelevant: Array, score: Array, bound: Array, starts: Array,
) -> None:  # fmt: skip
    """Sort the entries of each run by better scores, which take the place of the old, and note what starts anew."""
    first = 0
    for r in range(runs.shape[1]):
        i, begin, end = runs[0, r], runs[1, r], runs[2, r]
        for j in range(begin, end):
            score[i, j], bound[i, j] = better[first + j - begin], error[first + j - begin]
        first += end - begin
        order = np.argsort(score[i, begin:end])
        for values in (columns, count, irrelevant):
            values[i, begin:end] = values[i, begin:end][order]
        score[i, begin:end], bound[i, begin:end] = score[i, begin:end][order], bound[i, begin:end][order]
        highest, lowest = np.empty(end - begin), np.inf  # of the entries before j, and from j on
        highest[0] = -np.inf
        for j in range(begin + 1, end):
            highest[j - begin] = max(highest[j - begin - 1], score[i, j - 1] + bound[i, j - 1])
        for j in range(end - 1, begin, -1):
            lowest = min(lowest, score[i, j] - bound[i, j])
            starts[i, j] = highest[j - begin] < lowest


@kernel
def number_groups(starts: Array, count: Array, group: Array, first: Array, total: Array) -> None:
    """Number the groups of each row, note the first entry of each, and add up its counts."""
    for i in range(starts.shape[0]):
        current = -1
        for j in range(starts.shape[1]):
            if count[i, j] == 0:
                break
            if starts[i, j]:
                current += 1
                first[i, current] = j
            group[i, j] = current
            total[i, current] += count[i, j]


@inner
def next_number(value: Any, top: Any, tiny: Any) -> Any:
    """The next number of the same type; after 0 the smallest that no processor takes for 0. Exact scores skip none."""
    return tiny if value == 0 else np.nextafter(value, top)


@kernel
def all_apart(score: Array, reach: Array, n_entry: Array) -> bool:
    """Whether ascending scores are surely different in every row, if each may be off by the row's reach."""
    for i in range(score.shape[0]):
        apart = True
        for j in range(1, n_entry[i]):
            apart &= score[i, j] - reach[i] > score[i, j - 1] + reach[i]
        if not apart:
            return False
    return True


@kernel
def exact_cuts(score: Array, bound: Array, n_group: Array, low: Array, high: Array) -> None:
    """Where the threshold of each group lies: between `low` and `high`; infinite in padding.

    An exact score is the threshold itself: `low`, and `high` is the next number.
    """
    for i in range(score.shape[0]):
        for g in range(score.shape[1]):
            value, reach = score[i, g], bound[i, g]
            if g >= n_group[i]:
                low[i, g] = high[i, g] = np.inf
            elif reach == 0:
                low[i, g], high[i, g] = value, next_number(value, np.inf, TINY)
            else:
                slack = 2.0**-51 * (abs(value) + reach) + 1e-300
                low[i, g], high[i, g] = (value - reach) - slack, (value + reach) + slack


@kernel
def make_ascending(low: Array, high: Array) -> None:
    """Widen bounds on ascending numbers so that both bounds ascend, in place, row by row."""
    for i in range(low.shape[0]):
        for c in range(1, low.shape[1]):
            high[i, c] = max(high[i, c], high[i, c - 1])
        for c in range(low.shape[1] - 1, 0, -1):
            low[i, c - 1] = min(low[i, c - 1], low[i, c])
