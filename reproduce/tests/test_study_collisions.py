"""The study of collisions: the published rule by hand, and exact counts next to it."""

from __future__ import annotations

import numpy as np
from data import data_file
from numpy.testing import assert_array_equal

from deadheat.analyses.collisions import Kind, collisions
from deadheat.engine.task import Task
from reproduce import collisions as study
from reproduce.study import Mark


def test_the_published_rule_by_hand():
    distances = np.array([[0.0, 0.5, 0.5 + 1e-12, 0.9], [0.5, 0.0, 1e-11, 0.4]])
    relevant = np.array([[True, True, False, False], [True, True, True, False]])
    result = study.published_rule(distances, relevant, 1e-10)
    assert_array_equal(result.order, [[0, 1, 2, 3], [1, 2, 3, 0]])
    assert_array_equal(result.colliding, [[False, True, False], [True, False, False]])
    assert_array_equal(result.kind, [[0, Kind.IRRELEVANT, 0], [Kind.RELEVANT, 0, 0]])
    assert_array_equal(result.with_itself, [[False, False, False], [True, False, False]])


def test_real_ties_among_its_collisions():
    points = np.array([[0.0, 0], [3, 4], [5, 0], [5, 1e-9], [0, 0]])
    distances = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    result = study.published_rule(distances, np.ones((5, 5), dtype=bool), 1e-7)
    of_origin = study.Published(result.order[:1], result.gap[:1], result.colliding[:1], result.relevant[:1])
    assert of_origin.colliding.sum() == 3  # itself and its duplicate; (3, 4) and (5, 0); and what is nearly there
    rankings = study.rankings_of(Task(points, np.zeros(5), distance="euclidean"))
    assert study.real_ties(rankings, of_origin) == 2


def test_what_the_sources_say_of_collisions_is_judged_by_counts():
    points = np.array([[0.0], [1.0], [1.0], [5.0]])  # seen from 0, what collides are the gaps 1 and 2 of three
    distances, relevant = np.abs(points - points.T), np.ones((4, 4), dtype=bool)
    published = study.published_rule(distances, relevant, 0.5)
    assert_array_equal(np.nonzero(published.colliding), [[0, 1, 2, 3], [1, 0, 0, 1]])
    assert study.Ruled.of(published, 3) == (4, 3, 0.0, 0.0)
    colliding = np.array([[True, False, True, True], [False, False, False, True]])
    assert study.Ruled.of(study.Published(np.empty(0, np.int64), np.empty(0), colliding, colliding))[2:] == (0.75, 0.5)
    none = study.Ruled.of(study.published_rule(distances, relevant, 0.0))
    assert none.n_collision == 0
    assert np.isnan(none.right_half)
    data = study.Data("line", "A line", points, np.zeros(4), 0.5)
    for cosine, euclidean, mark in (
        (149, 10, Mark.DIFFERS), (150, 10, Mark.AGREES), (240, 10, Mark.AGREES), (251, 10, Mark.DIFFERS),
        (20, 0, Mark.DIFFERS),
    ):  # fmt: skip
        pairs = {"cosine": none._replace(n_collision=cosine), "euclidean": none._replace(n_collision=euclidean)}
        assert study.fewer(data, pairs, judged=True).mark == mark
        assert study.fewer(data, pairs, judged=False).mark == Mark.OTHER_DATA
    counts = {"cosine": (100, 0.95), "euclidean": (100, 0.9), "cityblock": (99, 0.9)}
    sides = {distance: study.Ruled(n, 0, right, 0.5) for distance, (n, right) in counts.items()}
    result = [(finding.here, finding.mark) for finding in study.right_side(data, sides, judged=True)]
    assert result == [("95 %, 50 %", Mark.AGREES), ("90 %, 50 %", Mark.DIFFERS)]


def test_groups_that_rounding_splits_and_merges():
    number = np.array([[-1, 0, 0, 1, 2], [0, 0, 0, -1, 1]])
    distances = np.array([[0, 1, 1, 2, 2], [1, 1, 1, 0, 3]])
    assert study.split_and_merged(number, distances) == (0, 1)
    assert study.split_and_merged(number, distances + np.array([0, 0, 0.5, 0, 0])) == (2, 1)


def test_george_washington_within_1e_10():
    """The pairs of the published picture are those within 1e-10 in exact arithmetic, but for the query's own gap."""
    file = data_file("phocnet_gw.npz")
    data = study.load(file)[1000:]
    for distance in ("cosine", "euclidean"):
        result = study.published_rule(study.distances_of(data, distance), data.relevant, 1e-10)
        counts = collisions(Task(data.embeddings, data.labels), distances=[distance], within=1e-10)[distance]
        pairs = counts.together.items - counts.together.groups
        assert pairs == result.colliding[:, 1:].sum() > 0
