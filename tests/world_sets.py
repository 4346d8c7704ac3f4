"""Small worlds of label sets, whole: all sets of 3 labels for each of 4 items, every rule of relevance.

Renaming labels changes no relevance, so that labellings that are least among their 6 renamings stand for all; the whole
world does without, as the code might read names. The items lie on a line, where some of them tie. What is expected is
made of Python's integers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import numpy as np

from deadheat import Task
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import QueryInGalleryWarning

RULES = ("any", "same", "count")
LABELS = 3
PLACES = (1, -1, 2, 1, -3)  # of items; from 1 two tie at 0, and -1 ties with what is to the other side
FORMS = ("matrix", "sets", "text")
Sets = tuple[int, ...]  # the labels of each item as bits


def labellings(n: int, up_to_names: bool) -> Iterator[Sets]:
    """All labellings of n items, or those that are least among their renamings."""
    renamed = [[sum(1 << new[i] for i in range(LABELS) if bits >> i & 1) for bits in range(2**LABELS)]
               for new in permutations(range(LABELS))]  # fmt: skip
    for sets in product(range(2**LABELS), repeat=n):
        if not up_to_names or all(sets <= tuple(new[bits] for bits in sets) for new in renamed):
            yield sets


def given(sets: Sets, form: str) -> Any:
    """Labels in one of the forms that a task takes."""
    rows = [[i for i in range(LABELS) if bits >> i & 1] for bits in sets]
    if form == "matrix":
        return np.array([[int(i in row) for i in range(LABELS + 1)] for row in rows])  # square: no matrix of relevance
    return [set(row) for row in rows] if form == "sets" else [["cab"[i] for i in row] for row in rows]


def grade(a: int, b: int, rule: str) -> int:
    shared = (a & b).bit_count()
    return {"any": int(shared > 0), "same": int(a == b and a > 0), "count": shared}[rule]


def expected(query: int, position: int, items: list[tuple[int, int]], rule: str) -> tuple[list[Any], int, int]:
    """The groups of a query, (closer, closer_relevant, tied, {grade: count}), items ranked and relevant ones."""
    ranked = [(abs(where - position), grade(query, bits, rule)) for bits, where in items]
    groups = []
    for level in sorted({distance for distance, relevant in ranked if relevant}):
        closer = [relevant for distance, relevant in ranked if distance < level]
        tied = [relevant for distance, relevant in ranked if distance == level]
        counts = {each: tied.count(each) for each in sorted(set(tied)) if each}
        groups.append((len(closer), sum(map(bool, closer)), len(tied), counts))
    return groups, len(ranked), sum(bool(relevant) for _, relevant in ranked)


def counted(profile: TieProfile) -> Iterator[tuple[list[Any], int, int]]:
    by_grade = profile.tied_relevant[:, None] if profile.tied_by_grade is None else profile.tied_by_grade
    grades = profile.grades.tolist()
    rows = zip(profile.closer, profile.closer_relevant, profile.tied, by_grade.tolist(), strict=True)
    groups = [(int(k), int(n), int(m), {g: c for g, c in zip(grades, counts, strict=True) if c})
              for k, n, m, counts in rows]  # fmt: skip
    for i, (start, end) in enumerate(zip(profile.offsets[:-1], profile.offsets[1:], strict=True)):
        yield groups[start:end], int(profile.n_ranked[i]), int(profile.n_relevant[i])


def check(sets: Sets, rule: str, form: str) -> int:
    """Compare a labelling, leave one out and as a gallery for a query of each set; return the number of queries."""
    places = list(zip(sets, PLACES, strict=False))
    rows = np.array(PLACES[: len(sets)], dtype=np.float32)[:, None]
    queries = tuple(range(2**LABELS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryInGalleryWarning)
        own = Task(rows, given(sets, form), distance="euclidean", relevance=rule, threads=1).profile
        other = Task(
            np.ones((len(queries), 1), np.float32), given(queries, form), gallery=rows,
            gallery_labels=given(sets, form), distance="euclidean", relevance=rule, threads=1,
        ).profile  # fmt: skip
    of_own = [expected(*each, places[:i] + places[i + 1 :], rule) for i, each in enumerate(places)]
    of_other = [expected(query, 1, places, rule) for query in queries]
    for profile, wanted in ((own, of_own), (other, of_other)):
        assert list(counted(profile)) == wanted, (sets, rule, form)
    return len(of_own) + len(of_other)
