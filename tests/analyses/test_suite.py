"""Suites: means, Borda points and tests against fractions, what is left out and refused, and the forms they take."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import Report, TieProfile, evaluate, leaderboard
from deadheat.analyses.suite import Suite
from deadheat.errors import InvalidValueError
from deadheat.reports.statistics import joint

# A query is (closer, tied): one relevant item, in a group of `tied` items behind `closer` others.
Query = tuple[int, int]
Systems = dict[str, dict[str, list[Query]]]


def report(queries: list[Query], measures: str = "MRR", **options: Any) -> Report:
    profile = TieProfile.from_groups([[(k, 0, tied, 1)] for k, tied in queries], n_ranked=[8] * len(queries))
    return evaluate(profile, measures, **options)


def reports(systems: Systems, measures: str = "MRR", **options: Any) -> dict[str, dict[str, Report]]:
    return {
        name: {task: report(rows, measures, **options) for task, rows in tasks.items()}
        for name, tasks in systems.items()
    }


def suite(systems: Systems, **options: Any) -> Suite:
    return leaderboard(reports(systems), **options)


def value(query: Query, end: str) -> Fraction:
    """The reciprocal rank: at worst, at best, or on average over the places in the tie group."""
    closer, tied = query
    places = [Fraction(1, closer + place) for place in range(1, tied + 1)]
    return {"lower": min(places), "upper": max(places), "expected": sum(places, Fraction(0)) / tied}[end]


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def drawn(seed: int, tasks: dict[str, int], names: str = "abcd") -> Systems:
    rng = np.random.default_rng(seed)
    return {
        name: {task: [(int(k), int(t)) for k, t in zip(rng.integers(0, 3, n), rng.integers(1, 3, n), strict=True)]
               for task, n in tasks.items()}
        for name in names
    }  # fmt: skip


TASKS = {"short": 3, "long": 5, "other": 2}
GROUPS = {"short": "words", "long": "words", "other": "pages", "elsewhere": "pages"}


@pytest.mark.parametrize("by", ["lower", "expected", "upper"])
def test_values_ranks_and_points_are_those_of_their_definitions(by: Any) -> None:
    for seed in range(5):
        systems = drawn(seed, TASKS)
        of_task = {name: {task: mean([value(query, by) for query in rows]) for task, rows in tasks.items()}
                   for name, tasks in systems.items()}  # fmt: skip
        result = suite(systems, by=by, groups=GROUPS, n_resamples=99)
        assert result.measures == ("mean over groups", "mean over tasks", "words", "pages")
        expected = {
            "mean over tasks": lambda v: mean(list(v.values())),
            "mean over groups": lambda v: mean([mean([v["short"], v["long"]]), v["other"]]),
            "words": lambda v: mean([v["short"], v["long"]]),
            "pages": lambda v: v["other"],
            "long": lambda v: v["long"],
        }
        for name, measure in itertools.product(systems, expected):
            exact = float(expected[measure](of_task[name]))
            assert getattr(result.value(name, measure), by) == pytest.approx(exact, rel=1e-15)
        first = {name: expected["mean over groups"](of_task[name]) for name in systems}
        assert result.ranks == {name: 1 + sum(other > first[name] for other in first.values()) for name in result}
        for name in systems:
            points = sum(
                (Fraction(1) if of_task[name][task] > of_task[other][task] else Fraction(1, 2))
                for other in systems for task in TASKS
                if other != name and of_task[name][task] >= of_task[other][task]
            )  # fmt: skip
            assert result.borda[name] == points
        assert sum(result.borda.values()) == len(TASKS) * 6
        plain = suite(systems, by=by, n_resamples=99)
        assert plain.measures == ("mean over tasks",)
        assert plain.value("a") == result.value("a", "mean over tasks")


def two_sided(differences: list[Fraction]) -> Fraction:
    """The p-value of the sign-flip test over every flip."""
    flips = [sum((s * d for s, d in zip(signs, differences, strict=True)), Fraction(0))
             for signs in itertools.product((1, -1), repeat=len(differences))]  # fmt: skip
    observed = sum(differences, Fraction(0))
    return min(Fraction(1), 2 * Fraction(sum(flip >= abs(observed) for flip in flips), len(flips)))


@pytest.mark.parametrize("seed", range(4))
def test_flips_are_of_queries_with_the_weight_of_their_task_or_of_tasks(seed: int) -> None:
    systems = drawn(seed, {**TASKS, "last": 3}, "ab")
    groups = GROUPS | {"last": "rest"}
    within, whole = (suite(systems, resample=unit, groups=groups) for unit in (None, "task"))
    weights = {
        "mean over tasks": dict.fromkeys(systems["a"], Fraction(1, 4)),
        "mean over groups": {task: Fraction(1, 6 if GROUPS.get(task) == "words" else 3) for task in systems["a"]},
        "words": {"short": Fraction(1, 2), "long": Fraction(1, 2)},
    }  # fmt: skip
    for measure, of_task in weights.items():
        rows = {
            task: [weight * (value(x, "lower") - value(y, "lower")) / len(systems["a"][task])
                   for x, y in zip(systems["a"][task], systems["b"][task], strict=True)]
            for task, weight in of_task.items()
        }  # fmt: skip
        queries = [difference for row in rows.values() for difference in row]
        assert within.pvalue("a", "b", measure) == pytest.approx(float(two_sided(queries)), abs=1e-12)
        tasks = [sum(row, Fraction(0)) for row in rows.values()]
        assert whole.pvalue("a", "b", measure) == pytest.approx(float(two_sided(tasks)), abs=1e-12)


def test_classes_are_swapped_and_drawn_as_a_whole() -> None:
    rng = np.random.default_rng(0)
    labels = {"x": np.repeat(np.arange(4), [1, 2, 3, 2]), "y": np.repeat(np.arange(3), 2)}
    systems = drawn(3, {"x": 8, "y": 6}, "ab")
    by_class = {
        name: {task: report(rows, labels=labels[task]) for task, rows in tasks.items()}
        for name, tasks in systems.items()
    }
    result = leaderboard(by_class)
    differences = {
        task: [value(x, "lower") - value(y, "lower")
               for x, y in zip(systems["a"][task], systems["b"][task], strict=True)]
        for task in labels
    }  # fmt: skip
    sums = [
        sum((d for d, own in zip(differences[task], labels[task], strict=True) if own == label), Fraction(0))
        / (2 * len(labels[task]))
        for task in labels for label in np.unique(labels[task])
    ]  # fmt: skip
    assert result.pvalue("a", "b") == pytest.approx(float(two_sided(sums)), abs=1e-12)
    assert "tests over 7 classes within 2 tasks" in str(result)
    assert result.interval("a").unit == "class"
    order = rng.permutation(8)
    moved = {
        name: {**tasks, "x": report([systems[name]["x"][i] for i in order], labels=labels["x"][order])}
        for name, tasks in by_class.items()
    }
    assert leaderboard(moved).to_dict() == result.to_dict()
    assert leaderboard(by_class, resample="query").interval("a").unit == "query"


def test_nothing_depends_on_the_order_of_systems_and_tasks() -> None:
    systems = reports(drawn(1, TASKS))
    boards = [
        leaderboard({name: dict(reversed(tasks.items()) if backwards else tasks.items()) for name, tasks in rows},
                    groups=GROUPS, n_resamples=99)
        for rows in (list(systems.items()), list(systems.items())[::-1]) for backwards in (False, True)
    ]  # fmt: skip
    first, *others = boards
    for other in others:
        assert (other.ranks, other.rank_intervals, other.borda) == (first.ranks, first.rank_intervals, first.borda)
        assert all(other.pvalue("a", x) == first.pvalue("a", x) for x in "bcd")


def test_intervals_are_named_for_what_is_drawn() -> None:
    """Tasks of one value each have no noise of queries, and tasks that differ are uncertain all the same."""
    tasks = {f"t{i}": [(i % 3, 1)] * 20 for i in range(12)}
    worse = {task: [(closer + 2, 1) for closer, _ in rows] for task, rows in tasks.items()}
    result = suite({"a": tasks, "b": worse}, n_resamples=499)
    queries, of_tasks = result.interval("a"), result.interval("a", resample="task")
    assert (queries.n, queries.unit, of_tasks.n, of_tasks.unit) == (240, "query", 12, "task")
    assert of_tasks.expected.low < queries.expected.low < result.value("a").lower
    assert result.ahead_of("a") == ("b",)
    header = result.tables()[0].header
    assert header[4:7] == ["95 % interval, queries", "95 % interval, tasks", "Borda"]
    assert "of tasks, drawn with their queries" in str(result)
    one = result.interval("a", "t0", resample="task").expected
    assert one.low != one.low, "one task has no variance"


def test_ranks_have_the_intervals_and_blocks_of_a_board() -> None:
    rng = np.random.default_rng(0)
    base = {task: rng.integers(0, 2, 30) for task in ("x", "y", "z")}
    systems = {
        f"s{i}": {task: [(int(k) + i // 2, 1) for k in rows] for task, rows in base.items()} for i in range(6)
    }  # pairs with equal values
    result = suite(systems, n_resamples=999)
    assert list(result.rank_intervals.values()) == [(1, 2), (1, 2), (3, 4), (3, 4), (5, 6), (5, 6)]
    assert "Ranks 1 to 2, 3 to 4 and 5 to 6 are not separable" in str(result)
    rows = np.stack([result._units("mean over tasks", "lower")[i] for i in range(6)])
    np.testing.assert_array_equal(joint.adjusted_pvalues(rows, 999, 0), result._joint("mean over tasks", "lower"))


def test_a_system_that_lacks_a_task_is_left_out_and_named() -> None:
    systems = reports(drawn(0, TASKS))
    del systems["c"]["long"], systems["c"]["other"]
    result = leaderboard(systems, n_resamples=99)
    assert sorted(result) == ["a", "b", "d"]
    caution = "c is left out, as it lacks 2 tasks: long and other."
    assert caution in result.cautions()
    assert caution in result.to_markdown()
    assert result.ranks == leaderboard({name: systems[name] for name in "abd"}, n_resamples=99).ranks
    del systems["a"]["short"], systems["b"]["short"]
    with pytest.raises(InvalidValueError, match="two systems with all tasks, but got 1: a lacks short"):
        leaderboard(systems)


def test_few_tasks_and_few_queries_are_said() -> None:
    result = suite(drawn(0, {"one": 1, "two": 2, "many": 9}), groups={"one": "g", "two": "h", "many": "h"})
    cautions = " ".join(result.cautions())
    for said in ("Only 3 tasks", "One query or class alone has no variance, so that intervals over queries lack that "
                 "of one.", "over tasks lack that of g.", "Fewer than 6 queries or classes in two:"):  # fmt: skip
        assert said in cautions
    assert "No difference can be significant here, for the smallest p is 0.25" in str(
        suite(drawn(0, TASKS), resample="task")
    )


def test_each_task_has_its_own_measure_unless_one_is_asked_for() -> None:
    rows = drawn(0, {"x": 6, "y": 6}, "ab")
    mixed = {
        name: {"x": report(tasks["x"], "MRR, Hit@1"), "y": report(tasks["y"], "Hit@2, MRR")}
        for name, tasks in rows.items()
    }
    result = leaderboard(mixed, n_resamples=99)
    assert result.tasks == {"x": "MRR", "y": "Hit@2"}
    assert "the mean over tasks (MRR in 1, Hit@2 in 1)" in str(result)
    assert leaderboard(mixed, measures="Hit@1", n_resamples=99).tasks == {"x": "Hit@1", "y": "Hit@1"}
    mixed["a"]["y"] = report(rows["a"]["y"], "Hit@3, MRR")
    assert leaderboard(mixed, n_resamples=99).tasks == {"x": "MRR", "y": "MRR"}


def test_queries_without_a_value_and_remarks_are_said() -> None:
    run = {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"a": 0.5}}
    qrels = {query: {"a": 1} for query in run}
    whole, part = (evaluate(dh.from_run(each, qrels, complete=False), "MRR") for each in (run, {"q1": run["q1"]}))
    result = leaderboard({"a": {"t": whole}, "b": {"t": evaluate(dh.from_run(run, qrels), "MRR")}}, n_resamples=99)
    assert "Reports with remarks" not in str(result)
    with pytest.raises(InvalidValueError, match="b and a on t must be of the same queries"):
        leaderboard({"a": {"t": whole}, "b": {"t": part}})


def test_every_form_has_the_rows_and_notes() -> None:
    result = suite(drawn(2, TASKS), groups=GROUPS, n_resamples=99)
    content = json.loads(result.to_json())
    assert [system["name"] for system in content["systems"]] == list(result)
    assert content["systems"][0]["tasks"]["long"]["lower"] == result.value(next(iter(result)), "long").lower
    assert content["groups"] == {"words": ["short", "long"], "pages": ["other"]}
    assert len(result.columns()["system"]) == 4 * 4
    assert "mean over groups" in result.to_latex()
    assert result.explain().count("\n") == 4
    assert dh.leaderboard(reports(drawn(2, TASKS)), by="expected", n_resamples=99).by == "expected"
