"""Options are refused by the public function, before anything is opened; and who is ranked follows from them."""

from __future__ import annotations

import re
from typing import get_args

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.engine import exact, literals
from deadheat.engine.counting.candidates import Candidates
from deadheat.engine.distances import registry as distance_registry
from deadheat.errors import InputError


def test_every_name_is_in_the_types_and_no_other():
    distances = {name.lower() for name in get_args(literals.DistanceName)}
    assert distances == {*distance_registry.names(), *distance_registry.ALIASES}
    assert set(get_args(literals.TiesName)) == {"exact", *exact.FORMATS, *exact.ALIASES}


@pytest.mark.parametrize(
    ("wrong", "argument", "message"),
    [
        ({"distance": "cosin"}, "distance", "did you mean 'cosine'?"),
        ({"ties": "float12"}, "ties", "ties must be one of exact"),
        ({"threads": 0}, "threads", "threads must be at least 1, but is 0"),
        ({"threads": 1.5}, "threads", "threads must be an integer, but is 1.5"),
        ({"progress": "yes"}, "progress", "progress must be True, False or a function of (done, total), but is 'yes'"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_opened(wrong, argument, message):
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        dh.Task("nowhere.npy", "nowhere.npy", **wrong)
    assert caught.value.argument == argument


N_QUERY, N_GALLERY = 9, 7


def masks(n_query, n_gallery):
    rng = np.random.default_rng(0)
    return {"none": None, "gallery": rng.random(n_gallery) < 0.3, "pairs": rng.random((n_query, n_gallery)) < 0.3}


def left_out(candidates, junk, itself, query):
    """The ranked items that do not count for a query, by looking at each."""
    ranked = [item for item in range(len(candidates.ranked)) if junk is None or junk.ndim == 2 or not junk[item]]
    by_pair = junk is not None and junk.ndim == 2
    return [item for item in ranked if item == itself or (by_pair and junk[query, item])], ranked


@pytest.mark.parametrize("kind", ["none", "gallery", "pairs"])
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_who_counts(kind, leave_one_out, monkeypatch):
    monkeypatch.setattr("deadheat.engine.counting.candidates._PAIRS_AT_ONCE", 20)  # two or three queries at a time
    n_query = N_GALLERY if leave_one_out else N_QUERY
    junk = masks(n_query, N_GALLERY)[kind]
    candidates = Candidates.of(n_query, N_GALLERY, junk, leave_one_out=leave_one_out)
    queries = np.array([5, 0, 3])
    starts, items = candidates.excluded(queries)
    assert_array_equal(candidates.itself_of(queries), queries if leave_one_out else [-1, -1, -1])
    for position, query in enumerate(queries):
        excluded, _ = left_out(candidates, junk, query if leave_one_out else -1, query)
        assert_array_equal(items[starts[position] : starts[position + 1]], excluded)
    both = [left_out(candidates, junk, query if leave_one_out else -1, query) for query in range(n_query)]
    assert_array_equal(candidates.n_ranked(), [len(ranked) - len(excluded) for excluded, ranked in both])
    assert candidates.symmetric == leave_one_out
