"""The study of hash codes: codes are those of their names, and every sort prints a value within the bounds."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from deadheat.engine.task import Task
from deadheat.reports.evaluating import evaluate
from reproduce.hashing import (  # fmt: skip
    METHODS,
    SORTS,
    by_sorts,
    coded,
    digits,
    hyperplanes,
    is_open,
    map_of_sort,
    principal,
    quantised,
)

pytest.importorskip("sklearn")


def test_the_digits_and_their_labels() -> None:
    data = digits(200)
    assert sorted([*data.query, *data.gallery]) == list(range(200))
    assert len(data.query) == 40
    np.testing.assert_allclose(data.images[data.gallery].mean(axis=0), 0, atol=1e-12)
    part = dict(zip(data.labels["digit"].tolist(), data.labels["several"].tolist(), strict=True))
    assert part[0] == [True, True, False]
    assert part[1] == part[3] == [False, False, False]
    assert part[7] == [False, False, True]
    assert part[8] == [True, True, True]
    assert part[9] == [False, True, True]


def test_directions() -> None:
    points = np.random.default_rng(3).normal(size=(300, 6)) * [1, 9, 2, 7, 3, 5]
    assert hyperplanes(points, 20).shape == (6, 20)
    directions = principal(points, 3)
    assert np.abs(directions).argmax(axis=0).tolist() == [1, 3, 5]  # the directions of the largest variance
    assert (directions.max(axis=0) > 0.9).all()
    np.testing.assert_allclose(quantised(points, 3).T @ quantised(points, 3), np.eye(3), atol=1e-12)


def test_every_round_of_itq_lowers_the_quantisation_error() -> None:
    points = digits(300).images

    def error(rounds: int) -> float:
        projected = points @ quantised(points, 8, rounds)
        return float(((np.where(projected > 0, 1, -1) - projected) ** 2).sum())

    errors = [error(rounds) for rounds in range(8)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > errors[-1]


def test_a_sort_by_hand() -> None:
    relevant, distances = np.array([[False, True, False, True]]), np.array([[1, 1, 0, 2]])
    assert map_of_sort(distances, relevant, "stable") == (1 / 3 + 2 / 4) / 2
    assert map_of_sort(distances[:, ::-1], relevant[:, ::-1], "stable") == (1 / 2 + 2 / 4) / 2
    nothing = np.vstack([relevant, [[False] * 4]])
    assert map_of_sort(np.repeat(distances, 2, axis=0), nothing, "stable") == (1 / 3 + 2 / 4) / 2


def test_sorts_of_every_order_of_the_gallery_attain_the_bounds_of_one_query() -> None:
    codes, labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0, 1]], dtype=bool), np.array([0, 0, 1, 0, 1])
    distances, relevant = (codes[1:] != codes[0]).sum(axis=1), labels[1:] == labels[0]
    orders = [list(order) for order in permutations(range(4))]
    values = [map_of_sort(distances[None, o], relevant[None, o], "stable") for o in orders]
    result = evaluate(Task(codes[:1], labels[:1], codes[1:], labels[1:], distance="hamming"), "mAP")["mAP"]
    assert (result.lower, result.upper) == (min(values), max(values))
    assert result.expected == pytest.approx(sum(values) / len(values))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("labels", ["digit", "several"])
def test_sorts_are_within_the_bounds(method: str, labels: str) -> None:
    data = digits(150)
    codes, values = coded(data, method, 8), data.labels[labels]
    task = Task(codes[data.query], values[data.query], codes[data.gallery], values[data.gallery], distance="hamming")
    result, printed = evaluate(task, "mAP")["mAP"], by_sorts(data, codes, labels)
    assert len(printed) == len(SORTS)
    assert all(result.lower < value < result.upper for value in printed)
    assert len({*printed}) > 2


def test_which_of_two_is_greater() -> None:
    assert is_open((0.1, 0.3), (0.2, 0.4))
    assert is_open((0.2, 0.4), (0.1, 0.3))
    assert is_open((0.1, 0.4), (0.2, 0.3))
    assert not is_open((0.1, 0.2), (0.2, 0.3))
