"""The loops of `src/core/ties` once more, in plain Python."""

from __future__ import annotations

import itertools

import numpy as np


def next_number(value):
    return np.finfo(np.float64).tiny if value == 0 else np.nextafter(value, np.inf)


def starts_of(score, bound):
    """Where all scores from one on are surely above all before it."""
    low, high = score - bound, score + bound
    return [j == 0 or high[:j].max() < low[j:].min() for j in range(len(score))]


def sort_rows(order, columns, count, irrelevant, score, bound):
    starts = np.zeros(order.shape, np.bool_)
    for values in (columns, count, irrelevant, score, bound):
        values[:] = np.take_along_axis(values, order, axis=1)
    for i, n in enumerate((count > 0).sum(axis=1)):
        starts[i, :n] = starts_of(score[i, :n], bound[i, :n])
    return starts


def unsure_runs(starts, count, bound):
    runs = []
    for i, n in enumerate((count > 0).sum(axis=1)):
        begins = [*np.flatnonzero(starts[i, :n]), n]
        for begin, end in itertools.pairwise(begins):
            if end - begin > 1 and bound[i, begin:end].max() > 0:
                runs.append((i, begin, end))
    return np.array(runs, np.int64).reshape(-1, 3).T


def sort_runs(runs, better, error, columns, count, irrelevant, score, bound, starts):
    first = 0
    for i, begin, end in runs.T:
        part = np.s_[i, begin:end]
        score[part], bound[part] = better[first : first + end - begin], error[first : first + end - begin]
        first += end - begin
        order = np.argsort(score[part], kind="stable")
        for values in (columns, count, irrelevant, score, bound):
            values[part] = values[part][order]
        starts[i, begin + 1 : end] = starts_of(score[part], bound[part])[1:]


def number_groups(starts, count, group, first, total):
    for i, n in enumerate((count > 0).sum(axis=1)):
        group[i, :n] = np.cumsum(starts[i, :n]) - 1
        begins = np.flatnonzero(starts[i, :n])
        first[i, : len(begins)] = begins
        np.add.at(total[i], group[i, :n], count[i, :n])


def single_items(count, irrelevant, score, bound):
    single = not (count > 1).any() and not irrelevant.any()
    return single, (count > 0).sum(axis=1), bound.max(axis=1), ((score == 0) & (bound == 0)).any(axis=1)


def all_apart(score, reach, n_entry):
    return all(
        score[i, j] - reach[i] > score[i, j - 1] + reach[i] for i in range(len(score)) for j in range(1, n_entry[i])
    )


def exact_cuts(score, bound, n_group, low, high):
    low[:], high[:] = np.inf, np.inf
    for i in range(len(score)):
        for g in range(n_group[i]):
            value, reach = score[i, g], bound[i, g]
            slack = 2.0**-51 * (abs(value) + reach) + 1e-300
            if reach == 0:
                low[i, g], high[i, g] = value, next_number(value)
            else:
                low[i, g], high[i, g] = (value - reach) - slack, (value + reach) + slack


def make_ascending(low, high):
    high[:] = np.maximum.accumulate(high, axis=1)
    low[:] = np.minimum.accumulate(low[:, ::-1], axis=1)[:, ::-1]
