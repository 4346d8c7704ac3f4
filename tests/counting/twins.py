"""The loops of `src/core/counting` once more, in plain Python and NumPy."""

from __future__ import annotations

import itertools

import numpy as np

LOWEST_EDGE = -3e38
TINY_SINGLE = np.finfo(np.float32).tiny


def reach_at(value, absolute, relative, tiny):
    if not relative < 1:
        return absolute
    reach = (relative * abs(value) + tiny) * (1 + 2.0**-50) + 2.0**-51 * abs(value)
    return min(absolute, reach + 5e-324 if value != 0 else tiny)


def not_below(value, exactly, dtype):
    if dtype == np.float64:
        return value
    if not exactly:
        return dtype(value + (2.0**-23 * abs(value) + 1e-37))
    edge = dtype(value)
    if edge >= value:
        return edge
    return dtype(TINY_SINGLE) if edge == 0 else np.nextafter(edge, dtype(np.inf))


def build_edges(low, high, error, relative, tiny, closed, edges):
    dtype, most = edges.dtype.type, 0
    edges[:] = np.inf
    for i in range(len(low)):
        last = LOWEST_EDGE
        for g in range(int((low[i] < np.inf).sum())):
            below = max(low[i, g] - reach_at(low[i, g], error[i], relative[i], tiny[i]), last)
            above = high[i, g] + reach_at(high[i, g], error[i], relative[i], tiny[i])
            edges[i, 2 * g] = not_below(below, True, dtype) if closed else below
            edges[i, 2 * g + 1] = not_below(max(above, below), closed, dtype)
            last = float(edges[i, 2 * g + 1])
            most = max(most, 2 * g + 2)
    return most


def slots_of_zero(low, high):
    is_zero = (low == 0) & (high == np.finfo(np.float64).tiny)
    return np.where(is_zero.any(axis=1), 2 * is_zero.argmax(axis=1) + 1, -1).astype(np.int32)


def count_tile(tile, start, weight, excluded, edges, n_edge, closed, zero_slot, places, counts):
    """Fills `counts`, but for slot 0; returns the open items as a set of (row, place, slot)."""
    (of_rows, of_columns), opened = places, set()
    for i, row in enumerate(tile):
        counted = np.setdiff1d(np.arange(len(row)), excluded[i] - start)
        slots = np.searchsorted(edges[i, :n_edge], row[counted], side="right")
        is_open = (slots % 2 == 1) & (not closed)
        if zero_slot[i] >= 0:
            is_zero = (row[counted] == 0) & ~(of_rows[i][:, None] & of_columns[:, counted]).any(axis=0)
            slots, is_open = np.where(is_zero, zero_slot[i], slots), is_open & ~is_zero
        opened |= {(i, int(j), int(slot)) for j, slot in zip(counted[is_open], slots[is_open], strict=True)}
        np.add.at(counts[i], slots[~is_open], weight[counted[~is_open]])
    return opened


def product_of_rows(a, b):
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    whole, sums = len(a) - len(a) % 32, np.zeros(32)
    for begin in range(0, whole, 32):
        sums += a[begin : begin + 32] * b[begin : begin + 32]
    while len(sums) > 1:
        sums = sums[: len(sums) // 2] + sums[len(sums) // 2 :]
    total = sums[0]
    for x, y in zip(a[whole:], b[whole:], strict=True):
        total += x * y
    return total


def settle_open(opened, left, right, offset, weight, reach, edges, low, high, counts):
    """Fills `counts`; returns what stays open, as columns like those of `opened`."""
    left_over = []
    for i, j, slot in opened.T:
        score, g = product_of_rows(left[i], right[j]) - (offset[j] if len(offset) else 0.0), slot // 2
        nearest, farthest = score + reach[i], score - reach[i]
        apart_below = g == 0 or edges[i, slot - 2] < edges[i, slot - 1] or farthest >= high[i, g - 1]
        apart_above = edges[i, slot] < edges[i, slot + 1] or g + 1 == low.shape[1] or nearest < low[i, g + 1]
        if nearest < low[i, g] and apart_below:
            counts[i, slot - 1] += weight[j]
        elif not nearest < low[i, g] and farthest >= high[i, g] and apart_above:
            counts[i, slot + 1] += weight[j]
        else:
            left_over.append((i, j, slot))
    return np.array(left_over, np.int32).reshape(-1, 3).T


def place_pairs(rows, scores, errors, weights, low, high, each, counts):
    """Fills `counts`; returns the listed pairs, as columns."""
    listed = []
    for p, i in enumerate(rows):
        surely = int((high[i] <= scores[p] - errors[p]).sum())
        possible = int((low[i] <= scores[p] + errors[p]).sum())
        if surely >= possible:
            counts[i, 2 * surely] += weights[p]
        elif (
            each == 2
            and errors[p] == 0
            and high[i, surely] == (np.nextafter(low[i, surely], np.inf) if low[i, surely] else np.finfo(float).tiny)
        ):
            counts[i, 2 * surely + 1] += weights[p]
        else:
            listed.append((p, surely * each, possible * each))
    return np.array(listed, np.int64).reshape(-1, 3).T


def relevant_columns(classes, starts, keys, sizes, weight, columns, count, irrelevant):
    columns[:], count[:], irrelevant[:] = len(weight), 0, 0
    for i, number in enumerate(classes):
        own = slice(starts[number], starts[number + 1])
        n = own.stop - own.start
        columns[i, :n], count[i, :n] = keys[own] % len(weight), sizes[own]
        irrelevant[i, :n] = weight[columns[i, :n]] - sizes[own]


def take_out(rows, taken, same_class, columns, count, irrelevant):
    unlisted = np.ones(len(rows), np.bool_)
    for p, i in enumerate(rows):
        for place in np.flatnonzero(columns[i] == taken[p]):
            unlisted[p] = False
            (count if same_class[p] else irrelevant)[i, place] -= 1
    return unlisted


def take_out_junk(queries, mask, itself, classes, class_of_item, items, starts, columns, count, irrelevant):
    for i, j in np.ndindex(columns.shape):
        if columns[i, j] < len(starts) - 1:
            for item in items[starts[columns[i, j]] : starts[columns[i, j] + 1]]:
                if mask[queries[i], item] and item != itself[i]:
                    (count if class_of_item[item] == classes[i] else irrelevant)[i, j] -= 1


def leave_out_junk(queries, mask, items, places, tile):
    for i, query in enumerate(queries):
        tile[i, places[mask[query, items]]] = -np.inf


def expand(columns, group, by_column, starts, first_excluded, excluded, items, numbers):
    for row in range(len(columns)):
        left_out = set(excluded[first_excluded[row] : first_excluded[row + 1]].tolist())
        found = [
            (number, item)
            for entry, number in enumerate(group[row])
            if number >= 0
            for item in by_column[starts[columns[row, entry]] : starts[columns[row, entry] + 1]].tolist()
            if item not in left_out
        ]
        for place, (number, item) in enumerate(sorted(found)):
            items[row, place], numbers[row, place] = item, number


def collect_groups(queries, n_group, relevant, within, nearer, step, lead, starts, *arrays):
    """The four arrays in full."""
    for i, query in enumerate(queries):
        for place, g in enumerate(range(n_group[i] - 1, -1, -1), starts[query]):
            seen = relevant[i, g + 1 : n_group[i]].sum()
            above_within, above_nearer = within[i, step * g + 1 :].sum(), nearer[i, step * g + lead + 1 :].sum()
            values = above_nearer + seen, seen, above_within - above_nearer + relevant[i, g], relevant[i, g]
            for array, value in zip(arrays, values, strict=True):
                array[place] = value


def rank_group(scores, bounds, columns, classes):
    """The groups as rows, and how many each query has; None if two neighbours are undecided."""
    rows, n_group = [], []
    for row in range(len(scores)):
        order = [int(item) for item in np.argsort(-scores[row], kind="stable") if item != row]
        groups = [[item] for item in order[:1]]
        for last, item in itertools.pairwise(order):
            reach = bounds[row, last] + bounds[row, item]
            if columns[last] == columns[item] or (reach == 0 and scores[row, last] == scores[row, item]):
                groups[-1].append(item)
            elif scores[row, last] - scores[row, item] > reach * (1 + 2.0**-50):
                groups.append([item])
            else:
                return None
        closer = closer_relevant = n = 0
        for group in groups:
            relevant = sum(classes[item] == classes[row] for item in group)
            if relevant:
                rows.append((closer, closer_relevant, len(group), relevant))
                n += 1
            closer, closer_relevant = closer + len(group), closer_relevant + relevant
        n_group.append(n)
    return np.array(rows, np.int64).reshape(-1, 4).T, n_group


def count_groups(keys, grades, grade_values):
    """Rows of groups, their relevant items by grade, and n_group and n_ranked of each row."""
    groups, by_grade, n_group = [], [], []
    for key, grade in zip(keys, grades, strict=True):
        levels = np.unique(key[grade > 0])[::-1]
        for level in levels:
            ranked, relevant = grade >= 0, grade > 0
            masks = (key > level) & ranked, (key > level) & relevant, (key == level) & ranked, (key == level) & relevant
            groups.append([mask.sum() for mask in masks])
            by_grade.append([((key == level) & (grade == value)).sum() for value in grade_values])
        n_group.append(len(levels))
    return groups, by_grade, n_group, (grades >= 0).sum(axis=1)
