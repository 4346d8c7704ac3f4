"""The classes of the core are made by keyword, refuse a name that is unknown or missing, and keep arrays alive."""

from __future__ import annotations

import gc
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import deadheat._core as _core

POINTS = np.arange(6.0).reshape(3, 2)
ROWS = SimpleNamespace(array=POINTS, shape=POINTS.shape, dtype=POINTS.dtype, in_memory=True)
SCALED = SimpleNamespace(source=ROWS, factor=np.ones(3), divide=False)
CUTS = {"low": POINTS, "high": POINTS, "per_interval": 2, "sharp": False}


def of_scores(**others):
    level = _core.ScoreLevel(wide=True, wide_rows=True, exact=True, chunk=128, errors=_core.ScoreErrors())
    given = {"form": "product", "query": SCALED, "item": SCALED, "offset": np.empty(0), "squares": np.empty(0)}
    return {**given, "item_of_column": np.arange(3), "bound_by_terms": False, "bands": [], "levels": [level], **others}


@pytest.mark.parametrize(("kind", "fields"), [("Scores", of_scores), ("CutBounds", CUTS.copy)])
def test_a_field_that_is_unknown_or_missing_is_an_error(kind, fields):
    make, fields = getattr(_core, kind), fields()
    make(**fields)
    with pytest.raises(TypeError):
        make(**fields, colour=1)
    with pytest.raises(TypeError):
        make(*fields.values())
    for name in fields:
        with pytest.raises(TypeError):
            make(**{other: value for other, value in fields.items() if other != name})


def test_a_form_or_kind_of_another_name_is_an_error():
    """And not city block, which is the last of both."""
    with pytest.raises(TypeError):
        _core.Scores(**of_scores(form="products"))
    _core.ExactPairs("distance", ROWS, ROWS)
    with pytest.raises(TypeError):
        _core.ExactPairs("distances", ROWS, ROWS)


def test_arrays_live_as_long_as_the_objects_that_see_them():
    errors = _core.ScoreErrors(of_query=np.arange(100_000.0), of_item=np.ones(3))
    scores = _core.Scores(**of_scores(item_of_column=np.arange(3)[::-1].copy()))
    sizes = errors.of_query
    del errors
    gc.collect()
    others = [np.full(100_000, -1.0) for _ in range(10)]
    assert_array_equal(sizes, np.arange(100_000.0))
    assert_array_equal(scores.tile(0, np.arange(3), np.arange(3)), POINTS @ POINTS[::-1].T)
    assert len(others) == 10
    assert len(_core.ScoreErrors().offset) == 0
