"""Pictures of collisions: no mark lost between pixels, and the matrices beside them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

from deadheat import collisions, plots
from deadheat.analyses.collisions import Kind
from deadheat.plots.images import COLOURS, amplified, least_reach


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
    assert count_of(pixels(figure, dpi), COLOURS[Kind.RELEVANT]) > 0


def test_marks_are_widened_only_as_far_as_needed():
    def reach(shape, dpi):
        figure = Figure(figsize=(4, 4), dpi=dpi)
        return least_reach(figure.subplots(), shape)

    assert reach((100, 100), 100) == 0
    assert reach((1000, 100), 100) == reach((100, 1000), 100) > 0
    assert reach((1000, 1000), 500) == 0
    assert reach((4000, 100), 100) > reach((1000, 100), 100)


def test_widening_by_plain_loops():
    rng = np.random.default_rng(0)
    kind = rng.choice([-1, 0, 0, 0, 0, 1, 2, 3], (9, 13)).astype(np.int8)
    for reach in (0, 1, 3):
        wide = amplified(kind, reach)
        for i, k in np.ndindex(kind.shape):
            near = kind[max(0, i - reach) : i + reach + 1, max(0, k - reach) : k + reach + 1]
            assert wide[i, k] == (-1 if kind[i, k] == -1 else near.max())


def test_colours_keep_their_order_in_grey():
    from matplotlib.colors import to_rgb

    grey = {code: np.dot(to_rgb(colour), [0.299, 0.587, 0.114]) for code, colour in COLOURS.items()}
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
    with pytest.raises(ValueError, match=r"^collisions must have at least one query and one rank, but has shape"):
        plots.collision_image(collisions([[1.0]], [0]), ax=Figure().subplots())
