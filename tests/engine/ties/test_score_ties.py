"""Ties of given scores: rounded once, or within a tolerance whose windows are exact, in every public function."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import oracles
import pytest
from engine.counting.keyed import groups_of

import deadheat as dh
from deadheat.engine.sources.keyed import profile_lists
from deadheat.engine.ties.scores import ScoreTies

TYPES = ["float16", "bfloat16", "float32", "float64"]
LARGE = [2**24 + 1, 2**53 + 1, 2**60 + 2**36 + 1, 2**60 + 2**36, 2**62 + 2**54 + 1, 2**63 - 1, -(2**63), 65519, 65520]
HALVES = [1 + 2**-11, 1 + 2**-11 + 2**-52, 1 + 3 * 2**-11, 2.0**-25, 2.0**-25 * 1.5, 5e-324, 0.1, 65519.99, 1e39]


def nearest(number: Any, dtype: str) -> float:
    """The number rounded by the bisection of the oracles, over patterns of bits in fractions."""
    return oracles.pattern_to_float(
        oracles.round_to(oracles.Surd(Fraction(number), Fraction(0), Fraction(0)), dtype), dtype
    )


@pytest.mark.parametrize("dtype", TYPES)
def test_each_number_is_rounded_once(dtype: str) -> None:
    """Integers beyond 2^53 too, which a float64 between would round twice, and those of Python that no array holds."""
    rng = np.random.default_rng(0)
    near = [2**e + 2 ** (e - 24) + int(k) for e in (56, 60, 61) for k in rng.integers(-3, 4, 8)]
    whole = [*LARGE, *near, *(-n for n in near), *rng.integers(-(2**63), 2**63, 200).tolist()]
    rule, reals = ScoreTies.checked(dtype), [*HALVES, *(-x for x in HALVES), *rng.normal(size=200).tolist()]
    assert rule.rounded(np.array(whole)).tolist() == [nearest(n, dtype) for n in whole]
    assert rule.rounded(np.array(reals)).tolist() == [nearest(x, dtype) for x in reals]
    unsigned = [2**64 - 1, 2**63 + 2**39, 2**63 + 2**39 + 1, 7]
    assert rule.rounded(np.array(unsigned, dtype=np.uint64)).tolist() == [nearest(n, dtype) for n in unsigned]
    huge = [*whole, *reals, 2**100 + 2**76 + 1, -(2**100 + 2**76), 10**400, -(10**400), True]
    assert rule.rounded(huge).tolist() == [nearest(x, dtype) for x in huge]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u1", "i4", "i8", "u8", "?"])
@pytest.mark.parametrize("eps", [0, 0.5, 1, 1.0000000001, 2.0**-30, 5e-324, 0.1, 2.0**63, 1e300, 1.7e308])
def test_the_ends_of_a_window_are_exact(dtype: str, eps: float) -> None:
    """The least and the greatest number of the kind that is not further away, at the ends of the types too."""
    rng = np.random.default_rng(1)
    if dtype.startswith("f"):
        largest = np.finfo(dtype).max
        scores = np.array([0, 0.1, 0.3, -0.5, 1, largest, -largest, *rng.normal(size=40)], dtype=dtype)
    elif dtype == "?":
        scores = np.array([False, True])
    else:
        ends = np.iinfo(dtype)
        scores = np.array([ends.min, ends.min + 1, ends.max, ends.max - 1, 0, 5], dtype=dtype)
    low, high = ScoreTies.checked(dh.Tolerance(eps)).window(scores)
    for score, least, most in zip(scores.tolist(), low, high, strict=True):
        inside = [abs(Fraction(end.item()) - Fraction(score)) <= Fraction(eps) for end in (least, most)]
        assert inside == [True, True], (score, least, most)
        if dtype.startswith("f"):
            with np.errstate(over="ignore"):
                beyond = [np.nextafter(least, -np.inf), np.nextafter(most, np.inf)]
        else:
            ends = np.iinfo(least.dtype)
            beyond = [max(int(least) - 1, ends.min), min(int(most) + 1, ends.max)]
        for end, next_one in zip((least, most), beyond, strict=True):
            if next_one != end and math.isfinite(next_one):
                assert abs(Fraction(next_one if isinstance(next_one, int) else next_one.item()) - Fraction(score)) > eps


def by_function(scores: Any, relevant: Any, **how: Any) -> dict[str, Callable[[], dh.TieProfile]]:
    """The profile of a matrix of scores, made in every way that fits; with one relevant item a row also as links."""
    rows, columns = np.nonzero(relevant)
    single = {
        "links": lambda: dh.from_candidates(
            scores[~relevant].reshape(len(scores), -1), positive_scores=scores[rows, columns], **how
        ).profile,
        "candidates": lambda: dh.from_candidates(scores, positive_columns=columns, **how).profile,
    }  # fmt: skip
    run = {f"{q}": {f"{d}": score for d, score in enumerate(row)} for q, row in enumerate(scores.tolist())}
    qrels = {f"{q}": {f"{d}": 1 for d in np.flatnonzero(marks)} or {"0": 0} for q, marks in enumerate(relevant)}
    return {
        "scores": lambda: dh.from_scores(scores, relevant, **how).profile,
        "negated": lambda: dh.from_scores(-scores, relevant, order="ascending", **how).profile,
        "a run": lambda: dh.from_run(run, qrels, **how).profile,
        "lists": lambda: profile_lists(
            scores.ravel(), relevant.astype(np.int64).ravel(), np.full(len(scores), scores.shape[1]),
            ScoreTies.checked(how["ties"]),
        ),
        **(single if (relevant.sum(axis=1) == 1).all() else {}),
    }  # fmt: skip


def windows(row: Any, relevant: Any, eps: float) -> list[tuple[int, ...]]:
    """The groups of a query under a tolerance, counted pair by pair in fractions: those of the definition."""
    numbers = [Fraction(score) for score in row.tolist()]
    result = sorted({numbers[d] for d in np.flatnonzero(relevant)}, reverse=True)
    others = [number for number, mark in zip(numbers, relevant, strict=True) if not mark]
    groups, seen = [], 0
    for score in result:
        m = sum(numbers[d] == score for d in np.flatnonzero(relevant))
        above = sum(other > score + Fraction(eps) for other in others)
        groups.append((above + seen, seen, sum(abs(other - score) <= Fraction(eps) for other in others) + m, m))
        seen += m
    return groups


@pytest.mark.parametrize("eps", [0.0, 0.1, 0.2, 0.25, 3.0, 2.0**-54])
@pytest.mark.parametrize("kind", ["decimals", "integers", "large integers", "float32"])
@pytest.mark.parametrize("most", [1, 3])
def test_a_tolerance_in_every_function(kind: str, eps: float, most: int) -> None:
    """Against pairs in fractions; 0.1, 0.2 and 0.3 are where a difference of floats is wrong."""
    rng = np.random.default_rng(3)
    scores = rng.integers(-4, 9, (12, 9)) / 10
    if kind == "float32":
        scores = scores.astype(np.float32)
    elif kind != "decimals":
        scores = (scores * 10).round().astype(np.int64) + (2**53 if kind.startswith("large") else 0)
    relevant = np.arange(9) < rng.integers(1, most + 1, 12)[:, None]
    expected = [windows(row, marks, eps) for row, marks in zip(scores, relevant, strict=True)]
    for name, make in by_function(scores, relevant, ties=dh.Tolerance(eps)).items():
        profile = make()
        assert profile.bounds_only, name
        assert groups_of(profile) == expected, name
        assert (profile.n_ranked == 9).all(), name


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("most", [1, 3])
def test_rounded_scores_in_every_function(dtype: str, most: int) -> None:
    """The profile of the numbers that the oracle rounds to."""
    rng = np.random.default_rng(4)
    relevant = np.arange(12) < rng.integers(1, most + 1, 20)[:, None]
    for scores in (1 + rng.integers(0, 40, (20, 12)) * 2.0**-13, 2**55 + rng.integers(0, 40, (20, 12)) * 2**28 + 1):
        if dtype == "float16" and scores[0, 0] > 1e5:
            continue  # all infinite
        rounded = np.array([[nearest(score, dtype) for score in row] for row in scores.tolist()])
        expected = dh.from_scores(rounded, relevant).profile
        assert {
            name: make() == expected for name, make in by_function(scores, relevant, ties=dtype).items()
        } == dict.fromkeys(by_function(scores, relevant, ties=dtype), True)


def test_a_step_of_float32_above_999_negatives() -> None:
    """The reciprocal rank of the issue: what rounds it joins, or a tolerance of that step, but nothing smaller."""
    positive, negatives = np.nextafter(np.float32(0.5), np.float32(1)), np.full(999, 0.5, dtype=np.float32)
    step = float(positive) - 0.5

    def found(ties: Any) -> list[float]:
        result = dh.evaluate(dh.from_candidates([negatives], positive_scores=[positive], ties=ties), "MRR")["MRR"]
        return [result.lower, result.expected, result.upper]

    harmonic = float(sum(Fraction(1, rank) for rank in range(1, 1001)) / 1000)
    assert found("exact") == found("float32") == [1, 1, 1]
    assert found(dh.Tolerance(step / 2))[::2] == [1, 1]
    assert found("bfloat16") == found("float16") == pytest.approx([0.001, harmonic, 1], rel=1e-15)
    lower, expected, upper = found(dh.Tolerance(step))
    assert (lower, upper) == (0.001, 1)
    assert math.isnan(expected)
    task = dh.from_candidates([negatives], positive_scores=[positive], ties=dh.Tolerance(step))
    assert f"Ties (tolerance {step!r}): every relevant item may move" in str(dh.evaluate(task, "MRR"))
    ranks = dh.link_prediction(task, ["MR", "MRR", "AMRI"])
    assert (ranks["MR"].lower, ranks["MR"].upper, ranks["MRR"].lower) == (1, 1000, 0.001)
    assert np.isnan([ranks[name].expected for name in ("MR", "MRR", "AMRI")]).all()


@pytest.mark.parametrize("dtypes", [("i8", "f8"), ("f4", "f8"), ("u1", "f2"), ("f8", "i4")])
def test_positives_and_negatives_of_two_types(dtypes: tuple[str, str]) -> None:
    """Half a unit away in either type, and a little further; for each query, and for all of them."""
    near, far = np.array([5, 6]).astype(dtypes[0]), np.array([5.5, 5, 6.625, 4.25, 6]).astype(dtypes[1])
    for negatives in (far, np.stack([far, far])):
        profile = dh.from_candidates(negatives, positive_scores=near, ties=dh.Tolerance(0.5)).profile
        for row, positive in enumerate(near.tolist()):
            difference = [Fraction(other) - Fraction(positive) for other in far.tolist()]
            assert profile.closer[row] == sum(each > Fraction(1, 2) for each in difference)
            assert profile.tied[row] == 1 + sum(abs(each) <= Fraction(1, 2) for each in difference)


def test_bounds_of_a_tolerance_hold_for_every_move() -> None:
    """Each relevant item moved on its own, to either end or not at all, and each tie broken either way."""
    rng = np.random.default_rng(6)
    for _ in range(10):
        scores, relevant = rng.integers(0, 6, (1, 7)).astype(float), np.arange(7) < 3
        names = ["mAP", "MRR", "nDCG@3", "All@4", "P@2", "AUC"]
        report = dh.evaluate(dh.from_scores(scores, relevant[None], ties=dh.Tolerance(1)), names)
        reached = {name: [math.inf, -math.inf] for name in names}
        for moves in np.ndindex(3, 3, 3):
            moved = scores.copy()
            moved[0, :3] += np.array(moves) - 1
            own = dh.evaluate(dh.from_scores(moved, relevant[None]), names)
            for name, ends in reached.items():
                ends[:] = min(ends[0], own[name].lower), max(ends[1], own[name].upper)
        for name, ends in reached.items():
            assert [report[name].lower, report[name].upper] == pytest.approx(ends, rel=1e-15), name


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"ties": "float8"}, "ties must be one of exact, float64, float16, bfloat16, float32, but is 'float8'"),
        ({"ties": dh.Rounded("float16", of="distance")}, "ties must round the scores themselves, without of, but is "),
        ({"ties": None}, "ties must be one of exact, float64, float16, bfloat16, float32, but is None"),
    ],
)
def test_what_is_refused_in_every_function(how: dict[str, Any], message: str) -> None:
    scores, relevant = np.array([[1.0, 2.0]]), np.array([[True, False]])
    for name, make in by_function(scores, relevant, **how).items():
        with pytest.raises((ValueError, TypeError)) as error:
            make()
        assert str(error.value).startswith(message), name


def test_a_tolerance_refuses_grades_and_a_cut() -> None:
    rows, run, qrels = [[1.0], [2.0]], {"q": {"a": 1.0, "b": 2.0}}, {"q": {"a": 2, "b": 1}}
    for make in (
        lambda **how: dh.from_scores([[1.0, 2.0]], [[1, 2]], **how),
        lambda **how: dh.from_run(run, qrels, **how),
        lambda **how: dh.from_judged(rows[:1], rows, qrels, ["q"], ["a", "b"], **how),
        lambda **how: dh.Task(rows, [{1, 2}, {1, 2}], relevance="count", **how).profile,
        lambda **how: dh.Task(rows, relevant=[[0, 2], [1, 0]], **how).profile,
    ):
        with pytest.raises(ValueError, match=r"^ties must have tie groups where relevance is graded, but a tolerance"):
            make(ties=dh.Tolerance(1))
    with pytest.raises(ValueError, match=r"^max_docs must be left out with a tolerance, which has no cut, but is 1$"):
        dh.from_run(run, qrels, ties=dh.Tolerance(1), max_docs=1)


def test_rules_with_the_same_settings_are_equal() -> None:
    assert {dh.Tolerance(0.1), dh.Tolerance(0.1)} == {dh.Tolerance(0.1)} != {dh.Tolerance(0.2)}
    assert dh.Rounded("half") == dh.Rounded("float16") != dh.Rounded("float16", of="distance")
