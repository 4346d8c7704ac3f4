"""Options are refused by the public function, before anything is opened."""

from __future__ import annotations

import re
from typing import get_args

import pytest

import deadheat as dh
from deadheat.engine import exact, literals
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
