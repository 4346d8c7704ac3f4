"""Rows that are kept ready for exact integers, or made ready anew for few pairs at a time, give one profile."""

from __future__ import annotations

import numpy as np
import pytest

import deadheat as dh
from benchmarks import cliffs
from deadheat.distances import dense, keys

LABELS = np.repeat(np.arange(20), 8)


@pytest.mark.parametrize("kind", ["two-valued", "counts over sums", "sparse", "saturated sigmoid"])
@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock", "inner_product"])
def test_profiles_do_not_depend_on_how_many_rows_are_held(distance, kind, monkeypatch):
    rows, found = cliffs.NAMED[kind](LABELS, 24, np.random.default_rng(1)), set()
    for kept, held in ((keys._KEPT_BYTES, dense._NUMBERS), (0, dense._NUMBERS), (0, 1 << 8), (0, 1)):
        monkeypatch.setattr(keys, "_KEPT_BYTES", kept)
        monkeypatch.setattr(dense, "_NUMBERS", held)
        profile = dh.profile(rows, LABELS, distance=distance)
        found.add(profile.digest() if callable(profile.digest) else profile.digest)
    assert len(found) == 1
