"""Ties of given scores that are rounded first, or within a tolerance: against plain loops over fractions."""

from fractions import Fraction

import numpy as np
import pytest

import deadheat as dh
from deadheat.engine import exact
from deadheat.engine.ties.scores import ScoreTies

RNG = np.random.default_rng(5)
SCORES = (RNG.integers(-6, 7, (30, 25)) / 8).astype(np.float64) + RNG.choice([0, 2.0**-40, 2.0**-9], (30, 25))
MARKS = RNG.random(SCORES.shape) < 0.25
MARKS[:, 3] |= ~MARKS.any(axis=1)
JUNK = RNG.random(SCORES.shape) < 0.15


def of_scores(scores, marks, junk, **ties):
    return dh.Task.from_scores(scores, marks, junk=junk, **ties).profile


def of_run(scores, marks, junk, **ties):
    """The same as a run and its qrels, with one name a column."""
    run = {f"q{i}": {f"d{j}": float(row[j]) for j in np.flatnonzero(~junk[i])} for i, row in enumerate(scores)}
    qrels = {f"q{i}": {f"d{j}": int(row[j]) for j in np.flatnonzero(~junk[i])} for i, row in enumerate(marks)}
    return dh.Task.from_run(run, qrels, **ties).profile


def descending(scores, marks, junk, **ties):
    return dh.Task.from_scores(-scores, marks, order="ascending", junk=junk, **ties).profile


FUNCTIONS = {"scores": of_scores, "distances": descending, "a run": of_run}


@pytest.mark.parametrize("dtype", exact.FORMATS)
@pytest.mark.parametrize("door", FUNCTIONS)
def test_scores_are_compared_as_they_are_rounded(door, dtype):
    rounded = exact.round_to(SCORES, dtype)
    assert FUNCTIONS[door](SCORES, MARKS, JUNK, ties=dtype).digest() == of_scores(rounded, MARKS, JUNK).digest()
    assert of_scores(SCORES, MARKS, JUNK).digest() != of_scores(rounded, MARKS, JUNK).digest()


def within(scores, marks, junk, eps):
    """Groups of a tolerance, by the definition: relevant items by score, others within eps of a group tie with it."""
    groups, ranked = [], []
    for row, mark, ignored in zip(scores, marks, junk, strict=True):
        items = [(Fraction(s), bool(m)) for s, m, j in zip(row.tolist(), mark, ignored, strict=True) if not j]
        relevant = sorted({s for s, m in items if m}, reverse=True)
        before, of_query = 0, []
        for value in relevant:
            n = sum(s == value for s, m in items if m)
            near = sum(s > value + Fraction(eps) for s, m in items if not m)
            tied = sum(abs(s - value) <= Fraction(eps) for s, m in items if not m)
            of_query.append((near + before, before, tied + n, n))
            before += n
        groups.append(of_query)
        ranked.append(len(items))
    return dh.TieProfile.from_groups(groups, ranked, bounds_only=True)


@pytest.mark.parametrize("eps", [0.0, 2.0**-41, 2.0**-40, 0.125, 0.1, 1e300])
@pytest.mark.parametrize("door", FUNCTIONS)
def test_windows_of_a_tolerance_are_exact(door, eps):
    assert (
        FUNCTIONS[door](SCORES, MARKS, JUNK, ties=dh.Tolerance(eps)).digest()
        == within(SCORES, MARKS, JUNK, eps).digest()
    )


def test_the_ends_of_a_window_are_those_of_exact_sums():
    scores = np.array([1.0, -1.0, 0.1, 3e-300, 1e308, 0.0])
    for eps in (0.0, 2.0**-54, 2.0**-52, 1e-17, 0.3, 1e308):
        low, high = ScoreTies(eps=eps).window(scores)
        for score, least, greatest in zip(scores.tolist(), low.tolist(), high.tolist(), strict=True):
            floor, ceiling = Fraction(score) - Fraction(eps), Fraction(score) + Fraction(eps)
            with np.errstate(over="ignore"):
                below, above = np.nextafter(least, -np.inf), np.nextafter(greatest, np.inf)
            assert least == -np.inf or Fraction(least) >= floor
            assert below == -np.inf or Fraction(float(below)) < floor
            assert greatest == np.inf or Fraction(greatest) <= ceiling
            assert above == np.inf or Fraction(float(above)) > ceiling


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("order", ["descending", "ascending"])
@pytest.mark.parametrize("ties", ["exact", "float16", "bfloat16", "float32", dh.Tolerance(0.125), dh.Tolerance(0.0)])
def test_one_positive_among_negatives_is_a_matrix_with_one_relevant_item(ties, order, shared):
    positives, negatives = SCORES[:, 0], np.tile(SCORES[0, 1:], (len(SCORES), 1)) if shared else SCORES[:, 1:]
    matrix = np.column_stack([positives, negatives])
    marks = np.zeros(matrix.shape, dtype=bool)
    marks[:, 0] = True
    expected = dh.Task.from_scores(matrix, marks, order=order, ties=ties).profile
    listed = negatives[0] if shared else negatives
    assert (
        dh.from_candidates(listed, positive_scores=positives, order=order, ties=ties).profile.digest()
        == expected.digest()
    )
    columns = np.zeros(len(matrix), dtype=int)
    assert (
        dh.from_candidates(matrix, positive_columns=columns, order=order, ties=ties).profile.digest()
        == expected.digest()
    )


def test_a_positive_one_step_of_float32_above_all_others_is_first_or_last_of_them():
    step = float(np.nextafter(np.float32(0.5), np.float32(1))) - 0.5
    run = {"q": {"a": 0.5 + step, **{f"d{i}": 0.5 for i in range(999)}}}
    near = dh.evaluate(dh.Task.from_run(run, {"q": {"a": 1}}, ties=dh.Tolerance(step)), "MRR")
    assert (near["MRR"].lower, near["MRR"].upper) == (1 / 1000, 1)
    assert np.isnan(near["MRR"].expected)
    assert f"tolerance {step!r}" in str(near)
    as_given = dh.evaluate(dh.Task.from_run(run, {"q": {"a": 1}}), "MRR")["MRR"]
    assert (as_given.lower, as_given.upper) == (1, 1)
    assert "float16 scores" in str(dh.evaluate(dh.Task.from_scores([[0.5, 0.5 + step]], [[1, 0]], ties="float16")))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dh.Task.from_scores([[3, 1]], [[2, 1]], ties=dh.Tolerance(1)), "ties must have tie groups where"),
        (
            lambda: dh.from_candidates([[0.5]], positive_scores=[1.0], ties="float80"),
            "ties must be one of exact, float64, float16",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(make, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        make()


# Masks ----------------------------------------------------------------------------------------------------------------

ODD = [-np.inf, np.inf, np.nan]


def hidden(value):
    """Two rows of which the last item is hidden, with this score."""
    return np.array([[0.5, 0.25, value], [0.25, 0.5, value]])


@pytest.mark.parametrize("ties", ["exact", "float16", dh.Tolerance(0.01)])
@pytest.mark.parametrize("value", ODD)
def test_junk_may_have_any_score_everywhere(value, ties):
    scores, mask = hidden(value), np.array([False, False, True])
    plain = dh.Task.from_scores(scores[:, :2], [[1, 0], [1, 0]], ties=ties).profile
    for junk in (mask, np.tile(mask, (2, 1))):
        marked = dh.Task.from_scores(scores, [[1, 0, 0], [1, 0, 0]], junk=junk, ties=ties).profile
        linked = dh.from_candidates(scores[:, 1:], positive_scores=scores[:, 0], junk=junk[..., 1:], ties=ties).profile
        chosen = dh.from_candidates(scores, positive_columns=[0, 0], junk=junk, ties=ties).profile
        assert marked.digest() == linked.digest() == chosen.digest() == plain.digest()


@pytest.mark.parametrize("value", ODD)
def test_without_junk_such_a_score_is_refused_with_the_way_out(value):
    scores = hidden(value)
    for make in (
        lambda: dh.Task.from_scores(scores, [[1, 0, 0], [1, 0, 0]]),
        lambda: dh.from_candidates(scores[:, 1:], positive_scores=scores[:, 0]),
        lambda: dh.from_candidates(scores, positive_columns=[0, 0]),
    ):
        with pytest.raises(
            ValueError, match=r"must be finite, but holds \S+ in row 0, column \d; to leave .* use junk$"
        ):
            make()


def test_rules_with_the_same_settings_are_equal() -> None:
    assert {dh.Tolerance(0.1), dh.Tolerance(0.1)} == {dh.Tolerance(0.1)} != {dh.Tolerance(0.2)}
    assert dh.Rounded("half") == dh.Rounded("float16") != dh.Rounded("float16", of="distance")
