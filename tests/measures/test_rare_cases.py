"""Cases that no other test of the measures comes to: `python -m tests.branches` lists branches that none takes."""

from __future__ import annotations

import numpy as np
import pytest
from graded_queries import profile_of

from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.measures import discounted_gain, per_query, std
from deadheat.measures.names import parse, parse_all
from deadheat.measures.values import all_bounds


def test_a_table_of_discounts_that_does_not_fit_into_memory_is_refused(monkeypatch):
    discounted_gain.discount_table.cache_clear()
    monkeypatch.setattr(discounted_gain.scratch, "available_memory", lambda: 0)
    with pytest.raises(InvalidValueError, match="more than the free memory"):
        discounted_gain.discount_table(11)


def test_first_ranks_without_any_query_that_has_one():
    assert np.isnan(per_query(TieProfile.from_groups([[]], [4], [0]), "MnR")).all()


def test_the_deviation_of_err_of_a_group_of_many_slots_is_unknown():
    wide = profile_of([([(0, 1500, {1: 1, 2: 3})], 1500, [])], [1, 2])
    assert std(wide, "ERR@1000")[0] > 0
    assert np.isnan(std(wide, "ERR@1001")[0])


def test_names_that_are_no_names():
    with pytest.raises(TypeError, match="given by its name"):
        parse_all([5], top_k=3)
    for name in ("nonsense-", "nonsense_lower@5", "P@nonsense-"):
        with pytest.raises(ValueError, match="nonsense"):
            parse(name)


def test_the_judged_share_needs_judgements():
    with pytest.raises(InvalidValueError, match="must be without Judged@5"):
        all_bounds(TieProfile.from_groups([[(0, 0, 1, 1)]], [4], [1]), ["Judged@5"])
