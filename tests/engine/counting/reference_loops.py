"""The loops of `src/core/counting` that Python calls once more, in plain Python and NumPy."""

from __future__ import annotations

import itertools

import numpy as np


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
