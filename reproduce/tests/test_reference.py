"""reproduce.reference against golden values, against brute force in exact fractions, and part against part."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import oracles
import pytest
from data import data_file
from hypothesis import given, settings
from hypothesis import strategies as st

from reproduce import reference


@st.composite
def tie_groups(draw, max_tied=7, max_groups=3):
    """The tie groups of one ranking, and how many items it has."""
    groups, closer, relevant = [], 0, 0
    for _ in range(draw(st.integers(1, max_groups))):
        closer += draw(st.integers(0, 3))
        tied = draw(st.integers(1, max_tied))
        tied_relevant = draw(st.integers(1, tied))
        groups.append((closer, relevant, tied, tied_relevant))
        closer, relevant = closer + tied, relevant + tied_relevant
    return groups, closer + draw(st.integers(0, 2))


small_matrices = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed))


# ---------------------------------------------------------------------------------------------------------------------
# golden values


# Figure 1 of Nicolaou et al. 2018 (arXiv:1806.07171), two relevant items in 100; the paper cuts off the decimals.
@pytest.mark.parametrize(
    ("ranks", "exact", "printed"),
    [
        ((1, 6), Fraction(2, 3), 66.66), ((1, 2), Fraction(1), 100), ((1, 5), Fraction(7, 10), 70),
        ((2, 7), Fraction(11, 28), 39.28), ((1, 7), Fraction(9, 14), 64.28), ((2, 5), Fraction(9, 20), 45),
    ],
)  # fmt: skip
def test_figure_1(ranks, exact, printed):
    assert reference.ap_of_ranks(ranks) == exact
    assert math.floor(exact * 10_000) / 100 == printed
    ranked = np.isin(np.arange(1, 101), ranks)[None]
    assert reference.average_precision(ranked)[0] == pytest.approx(float(exact), abs=1e-15)
    assert oracles.average_precision(tuple(ranked[0].astype(int))) == exact
    # The same from distances 1 .. 100, where nothing ties.
    groups = reference.tie_groups(np.arange(100), ranked[0])
    assert reference.ap_bounds(groups) == (exact, exact)
    assert reference.ap_expected(groups) == exact
    assert reference.ap_variance(groups) == 0


def zero_embeddings(labels):
    """Distances and relevance of all-zero embeddings, each sample left out of its own ranking."""
    relevant = reference.without_self(reference.relevance_matrix(labels))
    return np.zeros(relevant.shape), relevant


SORTED = np.sort(np.arange(1000) % 10)
CYCLIC = np.arange(1000) % 10
SHUFFLED = np.random.default_rng(0).permutation(CYCLIC)


@pytest.mark.parametrize("labels", [SORTED, CYCLIC, SHUFFLED], ids=["sorted", "cyclic", "shuffled"])
def test_all_zero_embeddings_have_one_value_in_any_order(labels):
    distances, relevant = zero_embeddings(labels)
    bounds = reference.map_bounds(distances, relevant)
    assert [round(100 * value, 4) for value in bounds] == [5.1773, 10.4953, 100.0]  # DESIGN.md
    (group,) = {tuple(reference.tie_groups(d, r)) for d, r in zip(distances, relevant, strict=True)}
    assert group == ((0, 0, 999, 99),)


def test_a_plain_sort_of_all_zero_embeddings_depends_on_the_order_of_the_samples():
    by_class, cyclic = (
        reference.map_unspecified(*zero_embeddings(labels), kind="stable") for labels in (SORTED, CYCLIC)
    )
    # A stable sort leaves the file's order: 20.8 % when the file is sorted by class (DESIGN.md), half of it when not.
    assert (round(100 * by_class, 1), round(100 * cyclic, 2)) == (20.8, 10.32)
    # The same samples, the file merely turned round: the order alone moves the value.
    reversed_file, mixed = (
        reference.map_unspecified(*zero_embeddings(SORTED), kind="stable", order=order)
        for order in (np.arange(999)[::-1], np.random.default_rng(1).permutation(999))
    )
    assert reversed_file == pytest.approx(by_class, abs=1e-12)  # the classes are symmetric
    assert abs(mixed - by_class) > 0.05


def test_adding_a_small_e_does_not_separate_ties():
    distances, relevant = [[0.3] * 6], [[1, 1, 0, 0, 0, 1]]
    assert 0.3 + 1e-20 == 0.3
    order = [2, 0, 1, 5, 3, 4]  # relevant at ranks 2, 3 and 4
    shown = np.array(relevant)[:, order]
    pessimistic, optimistic = reference.map_by_adding(distances, shown, e=1e-20, kind="stable")
    assert pessimistic == optimistic
    lower, _, upper = reference.map_bounds(distances, relevant)
    assert round(lower, 4) == 0.3833
    assert upper == 1.0
    assert lower < pessimistic < upper
    assert reference.ap_bounds([(0, 0, 6, 3)]) == (Fraction(23, 60), Fraction(1))
    # An e large enough to be felt gives the bounds here.
    assert reference.map_by_adding(distances, shown, e=1e-10) == pytest.approx((lower, upper), abs=1e-15)


# ---------------------------------------------------------------------------------------------------------------------
# George Washington, as published and mended


@pytest.fixture(scope="module")
def washington():
    """Labels (1164,) and the float64 distances of SciPy, by name."""
    pytest.importorskip("scipy", reason="the published figures are those of SciPy's cdist")
    with np.load(data_file("phocnet_gw.npz"), allow_pickle=False) as data:
        features, labels = data["phocnet_features"], data["phocnet_labels"].ravel()
    return labels, {
        name: reference.distance_matrix(features, distance=name, use_scipy=True)
        for name in ("cosine", "euclidean", "cityblock")
    }


MENDED = {"remove_self": "index", "count_rank_one": False, "separate": "count"}


@pytest.mark.parametrize(
    ("distance", "options", "printed"),
    [
        # The range 95.34-95.36 of the paper is cosine; its "optimistic" end is the lower one. Its other e is no better.
        ("cosine", {}, (95.3495, 95.3607)), ("cosine", {"e": 1e-32}, (95.3495, 95.3607)),
        # The default distance of the published code, euclidean, shows no range.
        ("euclidean", {}, (95.5852,) * 3), ("cityblock", {}, (95.4744,) * 3),
        ("cosine", {"remove_self": "index"}, (95.3495,) * 3),
        ("cosine", {"remove_self": "index", "count_rank_one": False}, (95.5491,) * 3),
        ("cosine", MENDED, (95.5491,) * 3), ("euclidean", MENDED, (95.7809,) * 3),
        ("cityblock", MENDED, (95.6911,) * 3),
    ],
)  # fmt: skip
def test_washington_as_published_and_mended_step_by_step(washington, distance, options, printed):
    labels, distances = washington
    for mode, percent in zip(("optimistic", "pessimistic", "unspecified"), printed, strict=False):
        value = reference.published_map(None, labels, mode=mode, distances=distances[distance], **options)
        assert round(100 * value, 4) == percent, mode


def test_washington_by_which_queries_the_range_was_made(washington):
    """One pair at a rounded distance of 0, of two classes: 1162 finds itself, and the singleton 1163 finds itself."""
    labels, distances = washington
    given_ = {"distances": distances["cosine"], "mode": "pessimistic"}
    dropped_column = reference.published_ap(None, labels, **given_)
    dropped_self = reference.published_ap(None, labels, remove_self="index", **given_)
    changed = ~np.isclose(dropped_column, dropped_self, rtol=0, atol=0, equal_nan=True)
    assert np.flatnonzero(changed).tolist() == [1162, 1163]
    assert distances["cosine"][1162, 1163] == 0
    assert labels[1162] != labels[1163]
    assert np.isnan(dropped_self[1163])
    assert dropped_column[1163] == 1.0
    assert np.isfinite(dropped_column).sum() == 900
    assert np.isfinite(dropped_self).sum() == 899
    # Counting rank 1 on a miss changes exactly the queries whose nearest item is irrelevant.
    mended = reference.published_ap(None, labels, **given_ | MENDED)
    assert np.sum((mended != dropped_self) & np.isfinite(mended)) == 30


@pytest.mark.parametrize(
    ("dtype", "interval", "n_mixed", "digits"),
    [  # DESIGN.md; distances rounded from SciPy's float64
        ("float64", (95.5491, 95.5491), 0, 4),
        ("float32", (95.54905, 95.54910), 33, 5),
        ("float16", (95.5351, 95.5620), 173, 4),
    ],
)
def test_washington_rounded_distances(washington, dtype, interval, n_mixed, digits):
    labels, distances = washington
    rounded = reference.without_self(distances["cosine"]).astype(dtype)
    relevant = reference.without_self(reference.relevance_matrix(labels))
    lower, expected, upper = reference.map_bounds(rounded, relevant)
    assert (round(100 * lower, digits), round(100 * upper, digits)) == interval
    assert lower <= expected <= upper
    groups = [group for d, r in zip(rounded, relevant, strict=True) for group in reference.tie_groups(d, r)]
    assert sum(tied > tied_relevant for _, _, tied, tied_relevant in groups) == n_mixed
    for mode, value in (("pessimistic", lower), ("optimistic", upper)):
        sorted_value = reference.published_map(
            None, labels, distances=distances["cosine"], mode=mode, dtype=dtype, **MENDED
        )
        assert sorted_value == pytest.approx(value, abs=1e-14)


# ---------------------------------------------------------------------------------------------------------------------
# part against part


@settings(max_examples=150)
@given(tie_groups(max_tied=6, max_groups=2))
def test_paths_and_closed_forms_equal_every_arrangement(drawn):
    groups, n_ranked = drawn
    n_relevant = groups[-1][1] + groups[-1][3]
    moments = reference.ap_by_arrangements(groups)
    assert tuple(moments) == oracles.arrangement_values(groups, n_ranked, n_relevant, oracles.average_precision)
    assert reference.ap_bounds(groups) == (moments.lower, moments.upper)
    assert reference.ap_expected(groups) == moments.expected
    assert reference.ap_expected_by_paths(groups) == moments.expected
    assert reference.ap_variance(groups) == moments.variance


@pytest.mark.parametrize("tied", range(1, 9))
def test_variance_of_every_small_group(tied):
    for tied_relevant in range(1, tied + 1):
        for closer, closer_relevant in ((0, 0), (3, 0), (3, 2)):
            before = [(0, 0, 1, 1), (1, 1, 1, 1)][:closer_relevant]
            groups = [*before, (closer, closer_relevant, tied, tied_relevant)]
            assert reference.ap_variance(groups) == reference.ap_by_arrangements(groups).variance


@given(small_matrices)
@settings(max_examples=100)
def test_tie_groups_equal_the_oracle(rng):
    labels = rng.integers(0, 3, 8)
    points = rng.integers(-2, 3, (8, 2))
    distances = reference.without_self(reference.distance_matrix(points, distance="cityblock"))
    relevant = reference.without_self(reference.relevance_matrix(labels))
    wanted = oracles.profile(points, labels, distance="cityblock")
    assert [reference.tie_groups(d, r) for d, r in zip(distances, relevant, strict=True)] == [
        query["groups"] for query in wanted
    ]


@given(small_matrices)
@settings(max_examples=100)
def test_the_four_ways_to_bound_agree_where_e_can_be_felt(rng):
    """Distances are integers, so e = 1/4 separates ties and nothing else, and is exact in float64."""
    labels = rng.integers(0, 3, 9)
    distances = rng.integers(0, 4, (9, 9))
    relevant = reference.without_self(reference.relevance_matrix(labels))
    if not relevant.any():
        return
    others = reference.without_self(distances)
    lower, expected, upper = reference.map_bounds(others, relevant)
    assert reference.map_by_adding(others, relevant, e=0.25) == pytest.approx((lower, upper), abs=1e-14)
    assert lower - 1e-14 <= reference.map_unspecified(others, relevant) <= upper + 1e-14
    assert lower - 1e-14 <= expected <= upper + 1e-14
    for mode, value in (("pessimistic", lower), ("optimistic", upper)):
        for separate in ("add", "count"):
            got = reference.published_map(
                None, labels, distances=distances, mode=mode, e=0.25, remove_self="index", count_rank_one=False,
                separate=separate,
            )  # fmt: skip
            assert got == pytest.approx(value, abs=1e-14)


def test_counting_rank_one_divides_by_one_more():
    """R = 2, ranks 2 and 3: (1/2 + 2/3)/2, and as published divided by three changes of recall."""
    distances = np.array([[0, 1, 2, 3], [1, 0, 9, 9], [2, 9, 0, 9], [3, 9, 9, 0]])
    labels = [7, 8, 7, 7]
    as_published = reference.published_ap(None, labels, distances=distances)[0]
    mended = reference.published_ap(None, labels, distances=distances, count_rank_one=False)[0]
    assert mended == pytest.approx((1 / 2 + 2 / 3) / 2, abs=1e-15)
    assert as_published == pytest.approx((1 / 2 + 2 / 3) / 3, abs=1e-15)


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock"])
def test_distances_agree_with_scipy(distance):
    pytest.importorskip("scipy")
    rng = np.random.default_rng(0)
    query, gallery = rng.standard_normal((5, 7)), rng.standard_normal((6, 7)).astype(np.float32)
    got = reference.distance_matrix(query, gallery, distance=distance)
    wanted = reference.distance_matrix(query, gallery, distance=distance, use_scipy=True)
    np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-15)


def test_undefined_is_nan():
    nothing = np.zeros((2, 3), dtype=bool)
    assert math.isnan(reference.map_unspecified(np.zeros((2, 3)), nothing))
    assert all(math.isnan(value) for value in reference.map_bounds(np.zeros((2, 3)), nothing))
    assert np.isnan(reference.published_ap([[0.0], [1.0]], [0, 1], use_scipy=False)).all()
    assert math.isnan(reference.published_map([[0.0], [1.0]], [0, 1], use_scipy=False))


def test_a_query_alone_in_its_group_does_not_count():
    assert reference.grouped_recall([[1, 2], [1, 2]], "ab", "aa", ["ab"]) == (1, 1, 1)


@pytest.mark.parametrize(
    "groups",
    [[], [(0, 0, 2, 0)], [(0, 0, 2, 3)], [(0, 1, 2, 1)], [(0, 0, 3, 1), (2, 1, 1, 1)], [(0, 0, 3, 1), (3, 0, 1, 1)]],
)
@pytest.mark.parametrize("name", ["bounds", "expected", "expected_by_paths", "by_arrangements", "variance"])
def test_groups_that_are_none(name, groups):
    with pytest.raises(ValueError, match=r"tie groups|undefined"):
        getattr(reference, f"ap_{name}")(groups)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: reference.ap_of_ranks([2, 2]), "ranks must be distinct"),
        (lambda: reference.ap_by_arrangements([(0, 0, 6, 3)], limit=10), "more than the limit of 10"),
        (lambda: reference.without_self(np.zeros((2, 3))), "square"),
        (lambda: reference.distance_matrix([[1]], distance="chebyshev"), "distance must be"),
        (lambda: reference.published_ap([[0.0], [1.0]], [0, 0], mode="other"), "mode must be"),
        (lambda: reference.published_ap([[0.0], [1.0]], [0, 0], remove_self="other"), "remove_self must be"),
        (lambda: reference.published_ap([[0.0], [1.0]], [0, 0], separate="other"), "separate must be"),
        (lambda: reference.published_ap(None, [0, 0], distances=np.zeros((3, 3))), "need distances of shape"),
    ],
)
def test_other_errors(wrong, message):
    with pytest.raises(ValueError, match=message):
        wrong()


# ---------------------------------------------------------------------------------------------------------------------
# the oracles themselves, on values small enough to check by hand


def test_oracle_rounding_to_small_floats():
    def rounded(value, dtype_name):
        return oracles.pattern_to_float(oracles.round_to(value, dtype_name), dtype_name)

    def rational(x):
        return oracles.Surd(Fraction(x), 0, Fraction(0))

    assert rounded(rational(65519), "float16") == 65504.0
    assert rounded(rational(65520), "float16") == math.inf  # the midpoint goes to even, which is infinity
    assert rounded(rational(Fraction(1, 2**25)), "float16") == 0.0  # half the least subnormal
    assert rounded(rational(1 + Fraction(1, 2**11)), "float16") == 1.0
    assert rounded(rational(1 + Fraction(3, 2**11)), "float16") == 1 + 2**-9
    assert rounded(rational(257), "bfloat16") == 256.0
    assert rounded(oracles.Surd(Fraction(0), 1, Fraction(2)), "float32") == float(np.float32(math.sqrt(2)))
    assert rounded(oracles.Surd(Fraction(1), -1, Fraction(1, 2)), "float16") == float(np.float16(1 - math.sqrt(0.5)))
    for x in np.random.default_rng(0).standard_normal(300) * 10.0 ** np.arange(-9, 6).repeat(20):
        with np.errstate(over="ignore", under="ignore"):
            assert rounded(rational(float(x)), "float16") == float(np.float16(x))


def test_oracle_sign_of_two_roots():
    half = Fraction(1, 2)
    for (a, s, b, t, c), sign in (
        ((-3, 1, 4, 1, 1), 0), ((-3, 1, 2, 1, 2), -1), ((0, 1, 3, -1, 2), 1), ((half, -1, Fraction(9, 4), 1, 1), 0),
        ((half, 1, 2, -1, 2), 1), ((-half, 1, 5, -1, 2), 1),
    ):  # fmt: skip
        assert oracles.sign_of_two_roots(Fraction(a), s, Fraction(b), t, Fraction(c)) == sign


def test_oracle_profiles_by_hand():
    points = np.array([[1, 0], [3, 0], [0, 0], [0, 1], [-1, 0]])
    labels = np.array(["a", "a", "a", "b", "b"])
    first = oracles.profile(points, labels)[0]  # where zero ties with 90 degrees
    assert first == {"groups": [(0, 0, 1, 1), (1, 1, 2, 1)], "n_ranked": 4, "n_relevant": 2}
    junk = np.array([False, False, False, True, False])
    assert oracles.profile(points, labels, junk=junk)[0]["groups"] == [(0, 0, 1, 1), (1, 1, 1, 1)]
    tolerant = oracles.profile(points, labels, distance="cityblock", ties=("tolerance", 1))[0]
    # Distances to the query: 2 (a), 1 (a), 2 (b), 2 (b). Both ends of t - 1 .. t + 1 count as tied.
    assert tolerant["groups"] == [(0, 0, 3, 1), (1, 1, 3, 1)]


@given(tie_groups(max_tied=4))
def test_states_of_the_dynamic_programme_add_up_to_the_closed_form(query: tuple) -> None:
    for group in query[0]:
        assert reference.ap_expected_by_paths([(0, 0, *group[2:])]) == reference.ap_expected([(0, 0, *group[2:])])
        ways, states = {}, reference.tie_states(group)
        for hits in itertools.combinations(range(1, group[2] + 1), group[3]):
            for i in range(1, group[2] + 1):
                key = (i, sum(place <= i for place in hits))
                passed, arrived = ways.get(key, (0, 0))
                ways[key] = passed + 1, arrived + (i in hits)
        total = sum(ways[key][0] for key in ways if key[0] == 1)
        assert {(s.position, s.hits): (s.through * total, s.by_hit * total) for s in states} == ways
