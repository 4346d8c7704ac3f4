"""Credible regions: next to the slow definition, every order of equally dense items and draws, and SciPy's normal."""

from __future__ import annotations

import itertools
import math
import re
import sys
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from deadheat.analyses import confidence as dc
from reproduce import reference

few = settings(max_examples=80, deadline=None)
densities = st.integers(0, 3)


def every_order(items: list[int], draws: list[int], needed: int) -> list[Fraction]:
    """The share of items before the last needed draw, under every order of items and draws, densest first."""
    things, result = [*((d, True) for d in items), *((d, False) for d in draws)], []
    for order in itertools.permutations(things):
        if all(a[0] >= b[0] for a, b in itertools.pairwise(order)):
            before = itertools.accumulate(not is_item for _, is_item in order)  # draws so far
            inside = [is_item and n < needed for (_, is_item), n in zip(order, before, strict=True)]
            result.append(Fraction(sum(inside), len(items)))
    return result


@given(st.lists(densities, min_size=1, max_size=3), st.lists(densities, min_size=1, max_size=4), st.data())
@few
def test_shares_are_those_of_every_order(items: list[int], draws: list[int], data: st.DataObject) -> None:
    mass = data.draw(st.sampled_from([0.07, 0.25, 0.5, 0.75, 0.9]))
    exactly = Fraction(str(mass))
    every = every_order(items, draws, math.ceil(exactly * len(draws)))
    slow = reference.credible_recall(items, draws, [1] * len(items), exactly)
    assert slow == (min(every), sum(every) / len(every), max(every))
    result = dc.credible_recall([items], [draws], [[1] * len(items)], masses=[mass])
    assert [float(share[0]) for share in result.relevant] == [float(share) for share in slow]
    assert np.isnan(result.others).all()


@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 9), st.integers(0, 2**32 - 1))
@few
def test_queries_others_and_junk(n_query: int, n_item: int, n_draw: int, seed: int) -> None:
    random, masses = np.random.default_rng(seed), (0.3, 0.8)
    items, draws = random.integers(0, 5, (n_query, n_item)), random.integers(0, 5, (n_query, n_draw))
    relevant, junk = random.integers(0, 2, (n_query, n_item)), random.random((n_query, n_item)) < 0.2
    result = dc.credible_recall(items, draws, relevant, masses=masses, junk=junk)
    for per_query, means, wanted in (
        (result.relevant_per_query, result.relevant, (relevant > 0) & ~junk),
        (result.others_per_query, result.others, (relevant == 0) & ~junk),
    ):
        asked = np.flatnonzero(wanted.any(axis=1))
        for at, mass in enumerate(masses):
            slow = [reference.credible_recall(items[q], draws[q], wanted[q], Fraction(str(mass))) for q in asked]
            values = np.full((n_query, 3), np.nan)
            values[asked] = np.array(slow, dtype=float).reshape(-1, 3)
            np.testing.assert_array_equal(np.stack(per_query)[:, :, at].T, values)
            mean = [math.fsum(column) / len(asked) if len(asked) else math.nan for column in values[asked].T]
            np.testing.assert_array_equal([bound[at] for bound in means], mean)
    counted = ((relevant > 0) & ~junk).any(axis=1)
    assert (result.n_query, result.n_left_out) == (counted.sum(), (~counted).sum())
    lower, _, upper = result.relevant_per_query
    assert result.n_open == (lower < upper).any(axis=1).sum()
    shuffled = dc.credible_recall(items[:, ::-1], draws[:, ::-1], relevant[:, ::-1], masses=masses, junk=junk[:, ::-1])
    np.testing.assert_array_equal(shuffled.relevant, result.relevant)
    sparse = dc.credible_recall(items, draws, scipy.sparse.csr_array(relevant), masses=masses, junk=junk)
    np.testing.assert_array_equal(sparse.others, result.others)


def test_one_step_of_a_float_moves_an_item_off_the_end() -> None:
    for density, draws, mass, shares in (
        (0.5, [0.5], 0.5, [0.0, 0.5, 1.0]), (np.nextafter(0.5, 1), [0.5], 0.5, [1.0] * 3),
        (np.nextafter(0.5, 0), [0.5], 0.5, [0.0] * 3),
        (2**60, [2**60 + 1], 0.5, [0.0] * 3),  # the same number in float64
        (92.5, np.arange(100.0), 0.07, [0.0] * 3),  # the region ends at the 7th densest draw, 93
    ):  # fmt: skip
        result = dc.credible_recall([[density]], [draws], [[1]], masses=[mass])
        assert [share.tolist() for share in result.relevant] == [[share] for share in shares]
        assert result.n_open == (shares[0] < shares[2])


def test_normal_posteriors_by_scipy_s_distribution() -> None:
    """In one dimension: between the quantiles of the distribution itself; each dimension has its own scale."""
    random, ones = np.random.default_rng(1), np.ones(200, int)
    gallery, mass = random.normal(size=(200, 1)), 0.8
    result = dc.normal_credible_recall([[0.3]], [0.9], [1], gallery, ones, masses=mass)
    low, high = scipy.stats.norm(0.3, 0.9).interval(mass)
    assert result.relevant.expected[0] == ((gallery >= low) & (gallery <= high)).mean()
    plane, wide = random.normal(size=(50, 2)), np.array([[2.0, 0.5]])
    stretched = dc.normal_credible_recall([[0.0, 0.0]], wide, [1], plane, ones[:50])
    round_ = dc.normal_credible_recall([[0.0, 0.0]], [1.0], [1], plane / wide, ones[:50])
    np.testing.assert_array_equal(stretched.relevant.lower, round_.relevant.lower)
    result = dc.normal_credible_recall([[0.0], [0.1], [9.0]], [1, 1, 1], ["a", "a", "b"])  # leave one out
    assert (result.n_query, result.n_left_out) == (2, 1)
    assert result.relevant.expected.tolist() == [1.0] * 5
    assert np.isnan(result.relevant_per_query.expected[2]).all()
    assert "1 without a relevant item, left out" in str(result)


def test_items_that_share_a_label_are_relevant() -> None:
    random = np.random.default_rng(2)
    means, items = random.normal(size=(9, 2)), random.normal(size=(30, 2))
    labels, of_items = random.random((9, 4)) < 0.4, random.random((30, 4)) < 0.4
    labels[0] = False
    result = dc.normal_credible_recall(means, np.ones(9), labels, items, of_items, masses=[0.9])
    inside = np.square(means[:, None] - items).sum(axis=2) < scipy.stats.chi2.ppf(0.9, 2)
    for query, shared in enumerate(labels.astype(int) @ of_items.T.astype(int) > 0):
        for part, wanted in ((result.relevant_per_query, shared), (result.others_per_query, ~shared)):
            share = inside[query, wanted].mean() if wanted.any() else math.nan
            assert part.expected[query, 0] == pytest.approx(share, abs=1e-15, nan_ok=True)
    assert result.n_left_out == 1
    kinds = random.integers(0, 3, 9)
    one, hot = (dc.normal_credible_recall(means, np.ones(9), each) for each in (kinds, np.eye(3)[kinds]))
    assert one.to_dict() == hot.to_dict()


def test_an_item_that_rounding_could_decide_is_left_open() -> None:
    end = math.sqrt(scipy.stats.chi2.ppf(0.5, 1))
    for factor, shares in ((1, [0.0, math.nan, 1.0]), (1 + 1e-9, [0.0] * 3), (1 - 1e-9, [1.0] * 3)):
        result = dc.normal_credible_recall([[0.0]], [1.0], [1], [[end * factor]], [1], masses=[0.5])
        np.testing.assert_array_equal(np.concatenate(result.relevant), shares)
    far = dc.normal_credible_recall([[-1e308]], [1e-300], [1], [[1e308]], [1])
    assert not far.relevant.upper.any()  # infinitely far is outside


def test_what_it_shows() -> None:
    result = dc.credible_recall([[5, 3, 1], [1, 2, 3]], [[5, 3], [9, 9]], [[1, 1, 0], [0, 0, 0]], masses=[0.5, 0.9])
    lines = str(result).splitlines()
    relevant = [f"relevant inside (%), {end}" for end in ("lower", "expected", "upper")]
    assert re.split("  +", lines[0]) == ["mass (%)", *relevant, "others inside (%)"]
    assert lines[1].split() == ["50", "0.00", "25.00", "50.00", "0.00"]
    assert lines[-1] == "1 query, and 1 without a relevant item, left out. The end of a region decides 1."
    content = result.to_dict()
    assert content["relevant"]["expected"] == [0.25, 0.75]
    assert list(result.columns()) == ["mass", *(f"{part}_{end}" for part in ("relevant", "others")
                                               for end in ("lower", "expected", "upper"))]  # fmt: skip


def test_scipy_is_named_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(ModuleNotFoundError, match=r"normal_credible_recall needs scipy: pip install"):
        dc.normal_credible_recall([[1.0], [2.0]], [1.0, 1.0], [1, 1])
    assert dc.credible_recall([[1.0, 2.0]], [[1.0]], [[1, 0]]).n_query == 1


@pytest.mark.parametrize("multimodal", [False, True])
@pytest.mark.parametrize("factor", [2.0**1015, 2.0**500, 2.0**-1000])
def test_a_region_has_the_scale_of_its_samples(factor: float, multimodal: bool) -> None:
    """Sums of large floats overflow, and squares of small ones vanish; no interval may end at infinity for that."""
    samples = np.random.default_rng(0).standard_normal(200)
    usual = dc.highest_density_interval(samples, 0.8, multimodal=multimodal)
    result = dc.highest_density_interval(samples * factor, 0.8, multimodal=multimodal)
    assert result.probability == usual.probability
    np.testing.assert_allclose(result.intervals / factor, usual.intervals, rtol=1e-9)
    np.testing.assert_allclose(result.mode / factor, usual.mode, rtol=1e-9)


def test_regions_of_short_floats_and_of_integers_do_not_overflow() -> None:
    for values in (np.array([60000, 60000, 59000], np.float16), np.array([3e38, 3e38, 2.9e38], np.float32)):
        result = dc.highest_density_interval(values, 0.5)
        assert np.isfinite(result.intervals).all()
        assert values[2] <= result.mode <= values[0]
    assert dc.highest_density_interval(np.array([100, 100, 90], np.int8), 0.5).mode == 100


def test_a_density_of_any_height_and_place() -> None:
    usual = dc.highest_density_interval([0, 1, 2], 0.75, density=[0, 1, 0])
    for place in (1e300, 8e307, 1e-300):
        for height in (1.7e308, 5e-324):
            result = dc.highest_density_interval([0, place, 2 * place], 0.75, density=[0, height, 0])
            np.testing.assert_allclose(result.intervals / place, usual.intervals, rtol=1e-12)
            np.testing.assert_allclose([result.mode, result.probability], [place, usual.probability], rtol=1e-12)
