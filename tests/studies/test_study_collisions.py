"""The study of collisions: the published rule by hand, a quick run, and George Washington."""

from __future__ import annotations

import csv

import numpy as np
from data import data_file
from numpy.testing import assert_array_equal

from deadheat.analyses.collisions import Kind, collisions
from deadheat.counting.ranking import Rankings
from deadheat.studies.collisions import claims, published_noise, rule, washington
from deadheat.studies.runner import reproduce
from deadheat.studies.study import Mark, Setting

# ---------------------------------------------------------------------------------------------------------------------
# the published rule


def test_the_published_rule_by_hand():
    distances = np.array([[0.0, 0.5, 0.5 + 1e-12, 0.9], [0.5, 0.0, 1e-11, 0.4]])
    relevant = np.array([[True, True, False, False], [True, True, True, False]])
    found = rule.published_rule(distances, relevant, 1e-10)
    assert_array_equal(found.order, [[0, 1, 2, 3], [1, 2, 3, 0]])
    assert_array_equal(found.colliding, [[False, True, False], [True, False, False]])
    assert_array_equal(found.kind, [[0, Kind.IRRELEVANT, 0], [Kind.RELEVANT, 0, 0]])
    assert_array_equal(found.with_itself, [[False, False, False], [True, False, False]])


def test_real_ties_among_its_collisions():
    points = np.array([[0.0, 0], [3, 4], [5, 0], [5, 1e-9], [0, 0]])
    distances = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    found = rule.published_rule(distances, np.ones((5, 5), dtype=bool), 1e-7)
    of_origin = rule.Published(found.order[:1], found.gap[:1], found.colliding[:1], found.relevant[:1])
    assert of_origin.colliding.sum() == 3  # itself and its duplicate; (3, 4) and (5, 0); and what is nearly there
    assert rule.real_ties(Rankings(points, distance="euclidean"), of_origin) == 2


def test_what_the_sources_say_of_collisions_is_judged_by_counts():
    points = np.array([[0.0], [1.0], [1.0], [5.0]])  # seen from 0, what collides are the gaps 1 and 2 of three
    published = rule.published_rule(np.abs(points - points.T), np.ones((4, 4), dtype=bool), 0.5)
    assert_array_equal(np.nonzero(published.colliding), [[0, 1, 2, 3], [1, 0, 0, 1]])
    assert rule.Ruled.of(published, 3) == (4, 3, 0.0, 0.0)
    none = rule.Ruled.of(rule.published_rule(np.abs(points - points.T), np.ones((4, 4), dtype=bool), 0.0))
    assert none.n_collision == 0
    assert np.isnan(none.right_half)
    data = rule.Data("line", "A line", points, np.zeros(4), 0.5)
    for cosine, euclidean, mark in (
        (149, 10, Mark.DIFFERS), (150, 10, Mark.AGREES), (240, 10, Mark.AGREES), (251, 10, Mark.DIFFERS),
        (20, 0, Mark.DIFFERS),
    ):  # fmt: skip
        pairs = {"cosine": none._replace(n_collision=cosine), "euclidean": none._replace(n_collision=euclidean)}
        assert claims.fewer(data, "all", pairs, judged=True).mark == mark
        assert claims.fewer(data, "all", pairs, judged=False).mark == Mark.OTHER_DATA
    sides = {
        "cosine": rule.Ruled(100, 0, 0.96, 0.5),
        "euclidean": rule.Ruled(100, 0, 0.9, 0.5),
        "cityblock": rule.Ruled(99, 0, 0.9, 0.5),
    }
    found = claims.right_side(data, "all", sides, judged=True)
    assert [(finding.here, finding.mark) for finding in found] == [
        ("96 %, 50 %", Mark.AGREES), ("90 %, 50 %", Mark.DIFFERS),
    ]  # fmt: skip


def test_places_on_the_right():
    colliding = np.array([[True, False, True, True], [False, False, False, True]])
    published = rule.Published(np.empty(0, np.int64), np.empty(0), colliding, colliding)
    assert rule.Ruled.of(published) == (4, 0, 0.75, 0.5)


def test_noise_collides_less_under_the_e_of_the_words():
    data = rule.Data("noise", "Noise", published_noise(84, 504), np.zeros(84), 1e-5)
    first, second, ratio, third = claims.noise_eps(data, "all", judged=False)
    assert first.here == "cosine 0, euclidean 0, cityblock 0"
    assert ratio.mark == Mark.OTHER_DATA
    count = [int(finding.here.split()[1].rstrip(",")) for finding in (first, second, third)]
    assert count[0] < count[1] < count[2]


def test_groups_that_rounding_splits_and_merges():
    number = np.array([[-1, 0, 0, 1, 2], [0, 0, 0, -1, 1]])
    distances = np.array([[0, 1, 1, 2, 2], [1, 1, 1, 0, 3]])
    assert rule.split_and_merged(number, distances) == (0, 1)
    assert rule.split_and_merged(number, distances + np.array([0, 0, 0.5, 0, 0])) == (2, 1)


def test_the_noise_is_drawn_once_and_for_all():
    noise = published_noise(1164, 504)
    assert noise.shape == (1164, 504)
    assert 0 <= noise.min() < noise.max() < 1
    assert_array_equal(noise[:2], published_noise(2, 504))  # and so does not depend on what comes after


# ---------------------------------------------------------------------------------------------------------------------
# the study


def test_a_quick_run_without_data(tmp_path):
    outcome = reproduce(["collisions"], tmp_path, quick=True)["collisions"]
    marks = {finding.mark for finding in outcome.findings}
    assert marks == {Mark.NO_DATA, Mark.OTHER_DATA, Mark.NEW}
    assert {picture.name for picture in outcome.pictures} == {"noise", "noise-amplified", "digits", "grid"}
    with open(tmp_path / "collisions" / "counts.csv") as file:
        rows = list(csv.DictReader(file))
    exact = {(row["set"], row["distance"]): row for row in rows if row["collision"] == "exact"}
    assert len(exact) == 9
    assert int(exact["white noise", "cosine"]["colliding items"]) == 0
    digits = collisions(*_first_digits(300), distance="cityblock").counts
    assert int(exact["digits", "cityblock"]["mixed groups"]) == digits.mixed.groups > 0
    assert int(exact["digits", "cityblock"]["colliding items"]) == digits.together.items
    assert (tmp_path / "index.html").read_text().count("<img") == 4


def _first_digits(n):
    from sklearn.datasets import load_digits

    digits = load_digits()
    return digits.data[:n], digits.target[:n]


def test_george_washington(tmp_path):
    file = data_file("phocnet_gw.npz")
    part = washington.run(Setting(file.parent, tmp_path, quick=True))
    assert {picture.name for picture in part.pictures} == {"gw", "gw-amplified", "gw-precision", "matrices"}
    pair, exact = part.findings[-2:]
    assert pair.mark == Mark.AGREES
    assert pair.here == "samples 1162 and 1163, of two classes"
    assert 0 < float(exact.here) < 1e-17
    counted, moving, *published_rule = part.findings[:5]
    ratio, side, *_ = part.findings[5:]
    count = [finding.here.partition(",")[0] for finding in published_rule]
    assert f"{count[0]} to {count[1]}" in ratio.here
    assert (side.mark, side.here[-1]) == (Mark.OTHER_DATA, "%")
    assert (counted.here, counted.mark) == ("899, 166", Mark.AGREES)
    assert (moving.here, moving.mark) == ("0; 0.00 points", Mark.DIFFERS)
    for finding in published_rule:
        assert finding.here.endswith(", 0")  # none of the published collisions is a tie


def test_george_washington_within_1e_10():
    """The pairs of the published picture are those within 1e-10 in exact arithmetic, but for the query's own gap."""
    file = data_file("phocnet_gw.npz")
    data = washington.load(file)[1000:]
    for distance in ("cosine", "euclidean"):
        found = rule.published_rule(rule.distances_of(data, distance), data.relevant, 1e-10)
        counts = collisions(data.embeddings, data.labels, distance=[distance], within=1e-10)[distance]
        pairs = counts.together.items - counts.together.groups
        assert pairs == found.colliding[:, 1:].sum() > 0
