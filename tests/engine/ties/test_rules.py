"""The meanings of "tied": what they refuse, the groups they make whatever the bounds on scores, and their cuts."""

from __future__ import annotations

import re
from itertools import groupby

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat._core import RelevantItems
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.ties.rounded import rule_of

# What is refused ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ties", "kind", "parts"),
    [
        ("float8", ValueError, ("'float8'", "float16")),
        ("float64", ValueError, ("'float64'",)),
        ("Exact", ValueError, ("did you mean 'exact'?",)),
        ("", ValueError, ("exact, float16, bfloat16, float32",)),
        (None, TypeError, ("None",)),
        (1e-6, TypeError, ("1e-06",)),
        (np.float16, TypeError, ("float16",)),
        (dh.Tolerance, TypeError, ("Tolerance",)),
    ],
)  # fmt: skip
def test_bad_ties_are_refused(ties, kind, parts):
    with pytest.raises(kind, match=r"^ties must be ") as caught:
        rule_of(ties)
    assert all(part in str(caught.value) for part in parts), caught.value


@pytest.mark.parametrize(
    ("eps", "kind"),
    [(-1e-9, ValueError), (np.nan, ValueError), (np.inf, ValueError), ("0.1", TypeError), (None, TypeError),
     (True, TypeError), (1j, TypeError), ([0.1], TypeError)],
)  # fmt: skip
def test_bad_tolerances_are_refused(eps, kind):
    with pytest.raises(kind, match=r"^eps must be .*" + re.escape(repr(eps) if kind is TypeError else str(eps))):
        dh.Tolerance(eps)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (("float15",), ValueError, "dtype must be one of float16, bfloat16, float32, but is 'float15'; did you"),
        ((np.float16,), TypeError, "dtype must be one of "),
        (("float16", "distances"), ValueError, "of must be one of similarity, distance, but is 'distances'; did you"),
    ],
)
def test_bad_roundings_are_refused(given, error, message):
    with pytest.raises(error, match=f"^{message}"):
        dh.Rounded(*given)


@pytest.mark.parametrize(
    ("alias", "name"),
    [("fp16", "float16"), ("Half", "float16"), ("bf16", "bfloat16"), ("FP32", "float32"), ("single", "float32")],
)
def test_types_have_other_names(alias, name):
    assert (rule_of(alias).dtype, dh.Rounded(alias).dtype) == (name, name)


@pytest.mark.parametrize(
    ("distance", "rounded"),
    [*((name, "similarity") for name in ("euclidean", "cityblock", "hamming")), ("inner_product", "distance")],
)
def test_only_what_a_distance_has_can_be_rounded(distance, rounded):
    has = "distance" if rounded == "similarity" else "similarity"
    with pytest.raises(ValueError, match=f"^of must be '{has}' for distance '{distance}', but is '{rounded}'$"):
        dh.Task(np.eye(3, dtype=bool), [0, 0, 1], distance=distance, ties=dh.Rounded("float16", of=rounded))
    assert dh.Rounded("float16", of=has).describe(distance) == dh.Rounded("float16").describe(distance)


# Groups and cuts ------------------------------------------------------------------------------------------------------

SLACKS = [0.0, 1e-9, 0.1, 10.0]  # that are added to the bounds on scores


def thirds(seed, n=40):
    """Points on a small grid of numbers that are not exact, so that equal distances are rare and near ones common."""
    return np.random.default_rng(seed).integers(-2, 3, (n, 2)) / 3


def scored(distance, queries, columns):
    """Scores of pairs, and how far each may be off."""
    scores = distance.scores.pair_scores(queries, columns)
    return scores, distance.scores.pair_bounds(queries, columns, scores)


def all_relevant(distance, n_query, slack):
    """All columns of some queries, as relevant items whose scores may be off by so much more than they are."""
    queries, columns = np.indices((n_query, len(distance.columns)))
    pairs = queries.ravel(), columns.ravel()
    score, bound = (values.reshape(queries.shape) for values in scored(distance, *pairs))
    noise = np.random.default_rng(1).uniform(-slack, slack, score.shape)
    ones = np.ones_like(columns)
    return RelevantItems(
        queries=np.arange(n_query), columns=columns, count=ones, irrelevant=ones * 2, score=score + noise,
        bound=bound + slack,
    )  # fmt: skip


def exact_groups(distance, query):
    """Sets of columns that are equally far from a query, farthest first, from their exact closeness alone."""
    columns = np.arange(len(distance.columns))
    closeness = distance.exact_closeness(np.full(len(columns), query), columns)
    squares = closeness.signed_squares()
    ascending = sorted(columns.tolist(), key=lambda column: squares[column])
    return [set(group) for _, group in groupby(ascending, key=lambda column: squares[column])]


@pytest.mark.parametrize("slack", SLACKS)
@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock"])
def test_groups_are_those_of_the_exact_closeness_whatever_the_scores_leave_open(distance, slack):
    metric = distance_registry.make(distance, thirds(0, 6), thirds(1), exact_only=False)
    relevant = all_relevant(metric, 6, slack)
    groups = rule_of("exact").group(metric, relevant)
    for row in range(6):
        sets = exact_groups(metric, row)
        assert groups.n_group[row] == len(sets)
        assert groups.total[row, : len(sets)].tolist() == [len(group) for group in sets]
        for number, group in enumerate(sets):
            assert set(relevant.columns[row, groups.of_entry[row] == number].tolist()) == group
            assert groups.columns[row, number] in group


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock"])
def test_rounded_values_do_not_depend_on_the_bounds(distance, dtype):
    metric = distance_registry.make(distance, thirds(0, 6), thirds(1), exact_only=False)
    rule = rule_of(dtype)
    first, *others = (rule.group(metric, all_relevant(metric, 6, slack)) for slack in SLACKS)
    for groups in others:
        assert_array_equal(groups.score, first.score)
        assert_array_equal(groups.total, first.total)
        assert not groups.bound.any()
    exact = rule_of("exact").group(metric, all_relevant(metric, 6, 0.0))
    assert (first.n_group <= exact.n_group).all()


@pytest.mark.parametrize("ties", ["float16", dh.Tolerance(0.05)], ids=str)
@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock"])
def test_items_are_above_the_cuts_of_the_groups_that_they_are_at_least_as_near_as(distance, ties):
    """Every item against all cuts: certain where its score lies outside the interval, and by its exact closeness."""
    metric = distance_registry.make(distance, thirds(0, 3), thirds(1), exact_only=False)
    rule = rule_of(ties)
    relevant = all_relevant(metric, 3, 0.0)
    groups = rule.group(metric, relevant)
    sequences = rule.cuts(metric, groups)
    columns = np.arange(len(metric.columns))
    for row in range(3):
        queries, n_group = np.full(len(columns), row), int(groups.n_group[row])
        score, bound = scored(metric, queries, columns)
        closeness = metric.exact_closeness(queries, columns)
        group_of = dict(zip(relevant.columns[row].tolist(), groups.of_entry[row].tolist(), strict=True))
        for cuts in sequences:
            per_group = 2 // len(sequences)
            counted = cuts.count_below(queries, closeness, columns * 0, columns * 0 + per_group * n_group)
            for column in columns.tolist():
                every = np.arange(per_group * n_group)
                above = cuts.above(every * 0 + row, every, closeness, every * 0 + column).tolist()
                assert counted[column] == sum(above)
                assert cuts.count_below(queries[:1], closeness, *np.full((2, 1), n_group)) == n_group  # known already
                assert above == sorted(above, reverse=True)  # cuts ascend
                for cut, is_above in enumerate(above):
                    interval = cut // cuts.per_interval
                    if score[column] - bound[column] >= cuts.high[row, interval]:
                        assert is_above
                    if score[column] + bound[column] < cuts.low[row, interval]:
                        assert not is_above
                if len(sequences) == 1:  # tied with its own group: above the first of its cuts, and not the second
                    assert sum(above) == 2 * group_of[column] + 1
