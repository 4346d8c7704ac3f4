"""The study of collisions and its pictures: the published rule by hand, no mark lost between pixels, a quick run."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from data import data_file
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

from deadheat.analyses import collisions as collision
from deadheat.analyses.collisions import Kind, collisions
from deadheat.counting.ranking import Rankings
from deadheat.plots import collisions as plots
from deadheat.studies import collisions as study
from deadheat.studies import reproduce
from deadheat.studies.study import Mark, Setting, Table

# ---------------------------------------------------------------------------------------------------------------------
# pictures


def pixels(figure, dpi):
    """The picture as it is saved, (height, width, 3)."""
    from matplotlib import image

    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=dpi)
    content.seek(0)
    return image.imread(content)[:, :, :3]


def count_of(picture, colour):
    from matplotlib.colors import to_rgb

    return int((np.abs(picture - np.array(to_rgb(colour))).max(axis=2) < 0.1).sum())


@pytest.mark.parametrize("place", [(0.37, 0.71), (0, 0), (1, 1), (0.5, 0)])
@pytest.mark.parametrize(("shape", "dpi"), [((700, 1100), 100), ((900, 40), 100), ((1000, 1000), 137)])
def test_no_single_mark_is_lost_in_a_small_picture(shape, dpi, place):
    kind = np.zeros(shape, dtype=np.int8)
    cell = tuple(int(share * (size - 1)) for share, size in zip(place, shape, strict=True))
    kind[cell] = Kind.RELEVANT
    figure = Figure(figsize=(2.6, 2.4), dpi=100, layout="constrained")
    plots.collision_image(kind, ax=figure.subplots(), legend=False)
    assert count_of(pixels(figure, dpi), plots.COLOURS[Kind.RELEVANT]) > 0


def test_marks_are_widened_only_as_far_as_needed():
    def reach(shape, dpi):
        figure = Figure(figsize=(4, 4), dpi=dpi)
        return plots._needed(figure.subplots(), shape)

    assert reach((100, 100), 100) == 0
    assert reach((1000, 100), 100) == reach((100, 1000), 100) > 0
    assert reach((1000, 1000), 500) == 0
    assert reach((4000, 100), 100) > reach((1000, 100), 100)


def test_widening_by_plain_loops():
    rng = np.random.default_rng(0)
    kind = rng.choice([-1, 0, 0, 0, 0, 1, 2, 3], (9, 13)).astype(np.int8)
    for reach in (0, 1, 3):
        wide = plots.amplified(kind, reach)
        for i, k in np.ndindex(kind.shape):
            near = kind[max(0, i - reach) : i + reach + 1, max(0, k - reach) : k + reach + 1]
            assert wide[i, k] == (-1 if kind[i, k] == -1 else near.max())


def test_colours_keep_their_order_in_grey():
    from matplotlib.colors import to_rgb

    grey = {code: np.dot(to_rgb(colour), [0.299, 0.587, 0.114]) for code, colour in plots.COLOURS.items()}
    order = [grey[code] for code in (Kind.NONE, Kind.RELEVANT, Kind.IRRELEVANT, Kind.MIXED)]
    assert min(-np.diff(order)) > 0.15


def test_axes_say_what_is_there():
    figure = Figure(figsize=(5, 5), dpi=100)
    found = collisions(np.arange(6)[:, None], [0, 1] * 3, distance="cityblock", depth=8)
    ax = plots.collision_image(found, ax=figure.subplots())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rank", "query")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["relevant", "irrelevant", "mixed", "no rank"]
    assert ax.get_xlim() == (-0.5, 9.5)  # and one cell around it
    assert ax.get_ylim() == (6.5, -1.5)
    wide = plots.collision_image(found, ax=Figure().subplots(), amplify=2)
    assert wide.get_xlabel() == "rank\n(each mark widened by 2)"
    empty = plots.collision_image(np.zeros((2, 2), dtype=np.int8), ax=Figure().subplots(), legend=False)
    assert [text.get_text() for text in empty.texts] == ["no collision"]
    assert empty.get_legend() is None


def test_matrices():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plots.distance_matrix([[0.0, 1.0], [1.0, 0.0]], ax=left, label="cosine distance") is left
    assert plots.shift_matrix(np.eye(2, dtype=bool), ax=right) is right
    assert_array_equal(right.images[0].get_array(), [[0, 1], [1, 0]])
    labels = [text.get_text() for text in figure.axes[-1].get_yticklabels()]
    assert labels == ["0 (relevant)", "e (irrelevant)"]


@pytest.mark.parametrize(("amplify", "error"), [(-1, ValueError), (1.5, TypeError), (True, TypeError)])
def test_bad_widening(amplify, error):
    with pytest.raises(error, match="amplify must be"):
        plots.collision_image(np.ones((2, 2), dtype=np.int8), ax=Figure().subplots(), amplify=amplify)


def test_nothing_to_draw():
    with pytest.raises(ValueError, match=r"found must have at least one query and one rank, but has shape \(1, 0\)"):
        plots.collision_image(collisions([[1.0]], [0]), ax=Figure().subplots())


# ---------------------------------------------------------------------------------------------------------------------
# the published rule


def test_the_published_rule_by_hand():
    distances = np.array([[0.0, 0.5, 0.5 + 1e-12, 0.9], [0.5, 0.0, 1e-11, 0.4]])
    relevant = np.array([[True, True, False, False], [True, True, True, False]])
    found = study.published_rule(distances, relevant, 1e-10)
    assert_array_equal(found.order, [[0, 1, 2, 3], [1, 2, 3, 0]])
    assert_array_equal(found.colliding, [[False, True, False], [True, False, False]])
    assert_array_equal(found.kind, [[0, Kind.IRRELEVANT, 0], [Kind.RELEVANT, 0, 0]])
    assert_array_equal(found.with_itself, [[False, False, False], [True, False, False]])


def test_real_ties_among_its_collisions():
    points = np.array([[0.0, 0], [3, 4], [5, 0], [5, 1e-9], [0, 0]])
    distances = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    found = study.published_rule(distances, np.ones((5, 5), dtype=bool), 1e-7)
    of_origin = study.Published(found.order[:1], found.gap[:1], found.colliding[:1], found.relevant[:1])
    assert of_origin.colliding.sum() == 3  # itself and its duplicate; (3, 4) and (5, 0); and what is nearly there
    assert study.real_ties(Rankings(points, distance="euclidean"), of_origin) == 2


def test_groups_that_rounding_splits_and_merges():
    number = np.array([[-1, 0, 0, 1, 2], [0, 0, 0, -1, 1]])
    distances = np.array([[0, 1, 1, 2, 2], [1, 1, 1, 0, 3]])
    assert study.split_and_merged(number, distances) == (0, 1)
    assert study.split_and_merged(number, distances + np.array([0, 0, 0.5, 0, 0])) == (2, 1)


def test_the_noise_is_drawn_once_and_for_all():
    noise = study.published_noise(1164, 504)
    assert noise.shape == (1164, 504)
    assert 0 <= noise.min() < noise.max() < 1
    assert_array_equal(noise[:2], study.published_noise(2, 504))  # and so does not depend on what comes after


def test_tables_of_one_name_become_one():
    tables = [Table("a", "", ["x"], [[1]]), Table("b", "", ["y"], [[2]]), Table("a", "", ["x"], [[3]])]
    first, second = study._together(tables)
    assert (first.name, first.rows, second.rows) == ("a", [[1], [3]], [[2]])


# ---------------------------------------------------------------------------------------------------------------------
# the study


def test_a_quick_run_without_data(tmp_path):
    outcome = reproduce(["collisions"], tmp_path, quick=True)["collisions"]
    marks = {finding.mark for finding in outcome.findings}
    assert marks == {Mark.NO_DATA, Mark.STAND_IN, Mark.NEW}
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
    part = study._george_washington(Setting(file.parent, tmp_path, quick=True), file)
    assert {picture.name for picture in part.pictures} == {"gw", "gw-amplified", "gw-precision", "matrices"}
    pair, exact = part.findings[-2:]
    assert pair.mark == Mark.AGREES
    assert pair.here == "samples 1162 and 1163, of two classes"
    assert 0 < float(exact.here) < 1e-17
    for finding in part.findings[:3]:
        assert finding.here.endswith(", 0")  # none of the published collisions is a tie


def test_george_washington_within_1e_10():
    """The pairs of the published picture are those within 1e-10 in exact arithmetic, but for the query's own gap."""
    file = data_file("phocnet_gw.npz")
    data = study._load(file)[1000:]
    for distance in ("cosine", "euclidean"):
        found = study.published_rule(study._distances(data, distance), data.relevant, 1e-10)
        counts = collision.collisions(data.embeddings, data.labels, distance=[distance], within=1e-10)[distance]
        pairs = counts.together.items - counts.together.groups
        assert pairs == found.colliding[:, 1:].sum() > 0
