"""What chance earns: random embeddings and random orders have the expectation of one tie."""

from __future__ import annotations

import itertools
import json
import math
from functools import partial

import numpy as np
import pytest

import deadheat as dh
from deadheat.analyses.exploit import random_baseline


def test_random_embeddings_and_random_orders_have_the_expectation_of_one_tie():
    labels = np.arange(200) % 5
    drawn = random_baseline(labels, dim=20, draws=40, distance="euclidean")
    assert drawn.expected == dh.evaluate(np.zeros((200, 1)), labels, measures="mAP")["mAP"].expected
    for values, mean, std in (
        (drawn.embeddings, drawn.mean, drawn.std), (drawn.orders, drawn.order_mean, drawn.order_std)
    ):  # fmt: skip
        assert mean == pytest.approx(float(np.mean(values)), rel=1e-14)
        assert std == pytest.approx(float(np.std(values, ddof=1)), rel=1e-12)
        assert abs(mean - drawn.expected) < 4 * std / math.sqrt(40)
        assert 0 < std < 0.01


def test_a_random_baseline_depends_on_the_seed_alone():
    draw = partial(random_baseline, [0, 0, 1, 1, 1], dim=3)
    one, two, longer, other = draw(draws=4, threads=1), draw(draws=4, threads=2), draw(draws=6), draw(draws=4, seed=1)
    np.testing.assert_array_equal(one.embeddings, two.embeddings)
    np.testing.assert_array_equal(one.orders, two.orders)
    np.testing.assert_array_equal(longer.embeddings[:4], one.embeddings)
    assert not np.array_equal(other.embeddings, one.embeddings)


def test_one_draw_has_no_deviation():
    drawn = random_baseline([0, 0, 1], draws=1)
    assert np.isnan([drawn.std, drawn.order_std]).all()
    assert json.loads(drawn.to_json())["embeddings"]["std"] is None
    assert [line.split()[-2] for line in str(drawn).splitlines()[1:3]] == ["-", "-"]


def test_it_is_exported_as_every_result_is():
    drawn = random_baseline([0, 0, 1, 1], dim=3, draws=4, measure="Hit@1")
    content = json.loads(drawn.to_json())
    assert content["embeddings"] == {"mean": drawn.mean, "std": drawn.std}
    assert content["orders"] == {"mean": drawn.order_mean, "std": drawn.order_std}
    assert (content["measure"], content["draws"], content["expected"]) == ("Hit@1", 4, drawn.expected)
    assert drawn.columns()["mean"] == [drawn.mean, drawn.order_mean]
    header, *rows = str(drawn).splitlines()
    assert header.split() == ["Hit@1", "(%)", "by", "chance", "mean", "std", "expected"]
    assert rows[0].split() == ["random", "embeddings", f"{100 * drawn.mean:.2f}", f"{100 * drawn.std:.2f}", "33.33"]


def test_with_a_gallery_the_expectation_is_that_of_every_order_of_it():
    labels, items = [0, 0, 1], [0, 1, 1, 2]
    values = [
        [np.mean(np.arange(1, len(hits) + 1) / (hits + 1)) for q in labels for hits in [np.flatnonzero(order == q)]]
        for order in map(np.array, itertools.permutations(items))
    ]
    drawn = random_baseline(labels, items, dim=4, draws=200)
    assert drawn.expected == pytest.approx(np.mean(values), abs=1e-14)
    assert abs(drawn.mean - drawn.expected) < 4 * drawn.std / np.sqrt(200)
    assert abs(drawn.order_mean - drawn.expected) < 4 * drawn.order_std / np.sqrt(200)
