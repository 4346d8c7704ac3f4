"""Measures of one's own, against all orders by brute force, and under every name that takes measures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import measures
from deadheat.errors import InputError
from deadheat.measures.names import parse, parse_all
from deadheat.measures.values import all_bounds

SCORES = np.array([[3, 2, 2, 2, 1, 1], [1, 1, 1, 1, 1, 1], [6, 5, 4, 3, 2, 1]])
MARKS = np.array([[0, 1, 0, 1, 0, 1], [1, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0]], dtype=bool)
PROFILE = dh.from_scores(SCORES, MARKS).profile


def discount(rank: Any) -> Any:
    return 0.2 * 0.8 ** (rank - 1.0)


@pytest.fixture
def registered() -> Iterator[None]:
    rows = [measures.register(f"own-{over}", discount, over=over, aliases=[f"mine {over}"])  # type: ignore[arg-type]
            for over in ("nothing", "relevant", "best")]  # fmt: skip
    yield
    for row in rows:
        measures.unregister(row.name)


def values(scores: Any, marks: Any, over: str, k: int) -> list[float]:
    """The value of every order of the tied items of a query."""
    results = []
    for order in permutations(range(len(scores))):
        if any(scores[a] < scores[b] for a, b in pairwise(order)):
            continue
        ranks = [rank for rank, item in enumerate(order, 1) if marks[item] and rank <= k]
        best = sum(discount(rank) for rank in range(1, min(int(marks.sum()), k) + 1))
        results.append(sum(map(discount, ranks)) / {"nothing": 1, "relevant": marks.sum(), "best": best}[over])
    return results


@pytest.mark.parametrize("k", [2, 4, 6])
@pytest.mark.parametrize("over", ["nothing", "relevant", "best"])
def test_bounds_expectation_and_deviation_over_all_orders(over: str, k: int, registered: None) -> None:
    lower, expected, upper = measures.per_query(PROFILE, f"own-{over}@{k}")
    std = measures.std(PROFILE, f"own-{over}@{k}")
    for query in range(3):
        every = values(SCORES[query], MARKS[query], over, k)
        ours = lower[query], expected[query], upper[query], std[query]
        assert ours == pytest.approx((min(every), np.mean(every), max(every), np.std(every)), abs=1e-15)
    assert lower[2] == expected[2] == upper[2]


def test_it_is_known_by_all_its_names_and_everywhere(registered: None) -> None:
    report = dh.evaluate(PROFILE, "own-best, mine best@3")
    assert report.measures == ("own-best", "own-best@3")
    assert "own-best, own-best@k" in measures.listing()
    task = dh.Task(np.zeros((4, 1)), [0, 0, 1, 1])
    assert dh.exploit(task, measure="own-relevant", draws=2).bounds == pytest.approx((0.128, 0.16266667, 0.2))
    assert dh.compare(report, report, measures="own-best")["own-best"].expected == 0


def test_a_name_or_discount_that_cannot_be_is_refused(registered: None) -> None:
    for name, message in (("mAP", "must be a name of its own, but 'map' is mAP"), ("", "must be letters"),
                          ("own-best", "must be a name of its own"), ("a@5", "must be letters")):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            measures.register(name, discount)
    with pytest.raises(TypeError, match=r"^discount must be a function of ranks, but is 3$"):
        measures.register("other", 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="over must be one of nothing, relevant, best"):
        measures.register("other", discount, over="all")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be the name of a measure that was registered"):
        measures.unregister("mAP")
    for wrong in (lambda rank: rank, lambda rank: -rank, lambda rank: rank * np.nan, lambda rank: 1.0):
        measures.register("wrong", wrong)
        with pytest.raises(ValueError, match=r"^discount .*must"):
            dh.evaluate(PROFILE, "wrong")
        measures.unregister("wrong")
    measures.register("wrong", lambda rank: ["a"] * len(rank))
    with pytest.raises(TypeError, match=r"^discount must give numbers, but gives \['a'"):
        dh.evaluate(PROFILE, "wrong")
    measures.unregister("wrong")
    assert "wrong" not in measures.listing()


def test_no_rounding_puts_an_expectation_beyond_its_bounds() -> None:
    """Every rank counts the same, so that ties decide nothing: 49 times 1/49 is not 1 in float64."""
    measures.register("flat", np.ones_like)
    profile = dh.TieProfile.from_groups([[(0, 0, n, m)] for n in range(2, 60) for m in (1, n // 2)],
                                        [n for n in range(2, 60) for _ in "ab"])  # fmt: skip
    lower, expected, upper = measures.per_query(profile, "flat")
    measures.unregister("flat")
    assert lower.tolist() == expected.tolist() == upper.tolist() == profile.n_relevant.tolist()


def test_only_the_ranks_that_count_have_a_discount(registered: None) -> None:
    profile = dh.TieProfile.from_groups([[(0, 0, 10**10, 1)]], n_ranked=[10**10])
    assert measures.per_query(profile, "own-nothing@2").expected[0] == pytest.approx(0.36 / 10**10, rel=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: measures.find(3), "name must be a string, but is 3"),
        (lambda: parse(["AP"]), "a measure must be given by its name"),
        (lambda: parse("x" * 10**5), "a measure's name must have at most 200 characters, but 'xxx"),
        (lambda: parse_all("x" * 10**5), "a measure's name must have at most 200 characters, but 'xxx"),
        (lambda: parse_all("AP", rel="2"), "rel must be a number, but is '2'"),
        (lambda: parse_all("AP", rel=0), "rel must be above 0, but is 0"),
        (lambda: parse_all("AP", top_k=0), "top_k must be at least 1, but is 0"),
        (lambda: all_bounds(PROFILE, ["AP"], threads=0), "threads must be at least 1, but is 0"),
        (lambda: all_bounds(PROFILE, "AP"), "measures must be names, such as"),
        (lambda: all_bounds(3, ["AP"]), "profile must be a TieProfile, as task.profile is, but is 3"),
        (lambda: measures.per_query([1], "AP"), "profile must be a TieProfile, as task.profile is, but is .1."),
        (lambda: measures.per_query(PROFILE, 3), "a measure must be given by its name"),
        (lambda: measures.std(None, "AP"), "profile must be a TieProfile, as task.profile is, but is None"),
        (lambda: measures.std(PROFILE, b"AP"), "a measure must be given by its name"),
        (lambda: measures.register("new", discount, aliases=[3]), "aliases must be a string, but is 3"),
        (lambda: measures.register("new", discount, aliases=["-"]), "aliases must not be empty"),
        (lambda: measures.unregister(np.array(["a", "b"])), "name must be a string, but is array"),
    ],
)
def test_arguments_of_every_function_are_checked(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=rf"^{message}") as caught:
        call()
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_measures_are_given_by_name_or_parsed() -> None:
    by_name, parsed = (all_bounds(PROFILE, [each])[0] for each in ("P@2", parse("P@2")))
    np.testing.assert_array_equal(by_name, parsed)
