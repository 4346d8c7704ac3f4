"""Means, reports and their text, on profiles small enough to work out by hand."""

from __future__ import annotations

import csv
import io
import json
import math
import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deadheat as dh
from deadheat import Task, from_neighbors, from_profile, from_run
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rounded import Rounded
from deadheat.engine.ties.tolerance import Tolerance
from deadheat.errors import InvalidTypeError, InvalidValueError, UndefinedError
from deadheat.measures import DEFAULT_MEASURES
from deadheat.reports import export
from deadheat.reports.averaging import Average, Singletons
from deadheat.reports.evaluating import evaluate
from deadheat.reports.report import Report
from deadheat.reports.result import Result
from deadheat.support.means import exact_mean

# Four queries: one of two tied items is relevant; a clear hit; a clear hit at rank 2; a singleton.
GROUPS = [[(0, 0, 2, 1)], [(0, 0, 1, 1)], [(1, 0, 1, 1)], []]
PROFILE = TieProfile.from_groups(GROUPS, n_ranked=[2, 2, 2, 2])
NO_TIES = TieProfile.from_groups(GROUPS[1:3], n_ranked=[2, 2])
WINDOWS = replace(TieProfile.from_groups(GROUPS[:1], n_ranked=[2]), bounds_only=True)


def triple(result: Result) -> tuple[float, float, float]:
    return result.lower, result.expected, result.upper


# Means


def test_mean_over_queries_leaves_singletons_out() -> None:
    report = evaluate(PROFILE, "mAP")
    result = report["mAP"]
    assert triple(result) == (2 / 3, 2.25 / 3, 2.5 / 3)
    assert (report.n_query, report.n_singleton, result.n_query, result.n_undefined) == (4, 1, 3, 0)
    np.testing.assert_array_equal(result.per_query.lower, [0.5, 1, 0.5, np.nan])


@pytest.mark.parametrize(
    ("singletons", "precision", "recall"), [("zero", 0.0, 0.0), ("one", 1.0, 1.0), ("balanced", 0.0, 1.0)]
)
def test_singletons_count_as_a_value(singletons: Singletons, precision: float, recall: float) -> None:
    report = evaluate(PROFILE, ["mAP", "Recall@1"], singletons=singletons)
    for name, filler, sums in (("mAP", precision, (2, 2.25, 2.5)), ("Recall@1", recall, (1, 1.5, 2))):
        assert triple(report[name]) == tuple((total + filler) / 4 for total in sums)
        assert [array[3] for array in report[name].per_query] == [filler] * 3
        assert (report[name].n_query, report[name].std_per_query[3]) == (4, 0)


def test_a_mean_over_classes_gives_each_the_same_weight() -> None:
    labels = ["a", "b", "b", "c"]
    assert triple(evaluate(PROFILE, "mAP", labels=labels)["mAP"]) == triple(evaluate(PROFILE, "mAP")["mAP"])
    report = evaluate(PROFILE, "mAP", average="class", labels=labels)
    assert triple(report["mAP"]) == ((0.5 + 0.75) / 2, (0.75 + 0.75) / 2, (1 + 0.75) / 2)
    assert report.n_class == 2  # the class of the singleton has no query that counts
    assert report["mAP"].std == 0.25 / 2  # AP of query 0 is 1/2 or 1: deviation 1/4, weight 1/2


def test_std_of_the_mean_adds_variances() -> None:
    two = TieProfile.from_groups([[(0, 0, 2, 1)], [(0, 0, 2, 1)], []], n_ranked=[2, 2, 2])
    result = evaluate(two, "mAP")["mAP"]
    assert result.std == math.sqrt(2 * 0.25**2) / 2
    np.testing.assert_array_equal(result.std_per_query, [0.25, 0.25, np.nan])


def test_no_tie_means_one_value_and_no_deviation() -> None:
    report = evaluate(NO_TIES)
    assert tuple(report) == DEFAULT_MEASURES
    assert report.notes()[-1] == "No tie affects the result: lower = expected = upper."
    for result in report.values():
        assert (result.expected, result.upper, result.std) == (result.lower, result.lower, 0)


def test_undefined_values_are_left_out_and_counted() -> None:
    # AUC compares with irrelevant items; the second query has none.
    profile = TieProfile.from_groups([[(0, 0, 1, 1)], [(0, 0, 1, 1)]], n_ranked=[2, 1])
    report = evaluate(profile, "AUC")
    assert triple(report["AUC"]) == (1, 1, 1)
    assert (report["AUC"].n_query, report["AUC"].n_undefined) == (1, 1)
    assert "AUC is undefined for 1 query with a relevant item, left out of its mean." in str(report)
    nowhere = evaluate(profile[1], "AUC")
    assert all(map(math.isnan, (*triple(nowhere["AUC"]), nowhere["AUC"].std)))
    undefined = dict.fromkeys(("lower", "expected", "upper"))
    assert nowhere.to_dict()["measures"]["AUC"] == undefined | {"n_query": 0, "n_undefined": 1}


def test_a_tolerance_has_bounds_and_no_expectation() -> None:
    report = evaluate(WINDOWS, "mAP", singletons="one")
    np.testing.assert_array_equal([*triple(report["mAP"]), report["mAP"].std], [0.5, np.nan, 1, np.nan])
    assert "mAP          50.00         -  100.00" in str(report)
    assert json.loads(report.to_json())["measures"]["mAP"]["expected"] is None


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=30), st.data())
def test_order_of_the_queries_changes_no_bit(drawn: list[tuple[int, int, int]], data: st.DataObject) -> None:
    groups = [[(closer, 0, tied, min(tied, relevant))] for closer, tied, relevant in drawn]
    profile = TieProfile.from_groups(groups, n_ranked=[11] * len(groups))
    order = np.array(data.draw(st.permutations(range(len(groups)))))
    labels = np.arange(len(groups)) % 3
    for average in ("query", "class"):
        one = evaluate(profile, ["mAP", "nDCG@3"], average=average, labels=labels)
        other = evaluate(profile[order], ["mAP", "nDCG@3"], average=average, labels=labels[order])
        for name in one:
            assert (*triple(one[name]), one[name].std) == (*triple(other[name]), other[name].std)


# The report


def test_to_dict_says_everything() -> None:
    report = evaluate(PROFILE, "mAP")
    content = report.to_dict(std=True)
    assert content.pop("deadheat")
    assert (content.pop("notes"), content.pop("cautions")) == (report.notes(), [])
    fractions, counts = ("lower", "expected", "upper", "std"), ("n_query", "n_undefined")
    assert content.pop("units") == dict.fromkeys(fractions, "fraction") | dict.fromkeys(counts, "count")
    values = {"lower": 2 / 3, "expected": 0.75, "upper": 2.5 / 3, "std": 0.25 / 3, "n_query": 3, "n_undefined": 0}
    assert content == {
        "distance": None, "ties": {"rule": None, "mixed_groups": 1, "queries": 1, "largest": 2}, "singletons": "skip",
        "average": "query", "n_query": 4, "n_singleton": 1, "n_class": None, "n_in_gallery": 0, "n_excluded": 0,
        "measures": {"mAP": values}, "files": {}, "remarks": [], "profile": PROFILE.digest(),
    }  # fmt: skip
    assert json.loads(report.to_json(std=True)) == report.to_dict(std=True) | {"schema": 1}
    assert "std" not in json.loads(report.to_json())["measures"]["mAP"]


def test_columns_are_fractions() -> None:
    report = evaluate(PROFILE, ["mAP", "Hit@1"])
    assert report.columns() == {
        "measure": ["mAP", "Hit@1"], "lower": [2 / 3, 1 / 3], "expected": [0.75, 0.5], "upper": [2.5 / 3, 2 / 3],
        "n_query": [3, 3], "n_undefined": [0, 0],
    }  # fmt: skip
    assert report.columns(std=True)["std"] == [0.25 / 3, 0.5 / 3]
    with pytest.raises(TypeError, match="deviation"):
        report.to_text(deviation=True)


def test_latex_html_and_frame_show_the_same_table() -> None:
    report = evaluate(WINDOWS, "mAP")
    rows = [" ".join(row.split()) for row in report.to_latex(std=True).splitlines()]
    assert rows[2] == r"measure (\%) & lower & expected & upper & std \\"
    assert rows[4] == r"mAP & 50.00 & - & 100.00 & - \\"
    page = report._repr_html_()
    bar = '<path class="axis" d="M0 4H100"/><rect x="50.00" y="2" width="50.00" height="4"/></svg></td>'
    assert '<th scope="col">measure (%)</th><th>0 to 100 %</th><th scope="col">lower</th>' in page
    assert f'aria-hidden="true">{bar}<td>50.00</td><td>-</td><td>100.00</td></tr>' in page
    assert page.endswith("that has no expectation.</p></div>")
    single = evaluate(PROFILE, "mAP")["mAP"]._repr_html_()
    assert '<path d="M75.00 0V8"/></svg></td><td>66.67</td><td>75.00</td><td>83.33</td>' in single
    assert single.endswith("<p>Mean over 3 queries with a value.</p></div>")
    assert "<td>75.00</td></tr>" in evaluate(NO_TIES)["mAP"]._repr_html_()
    interval = evaluate(PROFILE).interval("mAP")
    assert f"<td>{interval.lower.shown()}</td></tr>" in interval._repr_html_()
    frame = report.to_pandas(std=True)
    assert list(frame) == ["measure", "lower", "expected", "upper", "std", "n_query", "n_undefined"]
    np.testing.assert_array_equal(frame.loc[0, "lower":"upper"].astype(float), [0.5, np.nan, 1])


@pytest.mark.parametrize(
    ("interval", "settings"),
    [(True, {}), ({"confidence_level": 0.9}, {"confidence_level": 0.9}), ({"seed": 3, "n_resamples": 99},) * 2],
)
def test_every_form_has_the_interval(interval: Any, settings: dict[str, Any]) -> None:
    report = evaluate(PROFILE, ["mAP", "Hit@1"])
    outer = [report.interval(name, **settings).outer for name in report]
    level = f"{100 * settings.get('confidence_level', 0.95):g} % interval"
    shown = [f"[{100 * low:.2f}, {100 * high:.2f}]" for low, high in outer]
    for form, title in (
        (report.to_text, level),
        (report.to_markdown, level),
        (report.to_latex, level.replace("%", r"\%")),
    ):
        text = form(interval=interval)
        assert all(part in text for part in (title, *shown, " over 3 queries.")), text
        assert "An interval goes from the low end for the lower bound" in text
        assert "interval" not in form()
    columns = report.columns(interval=interval)
    assert list(zip(columns["low"], columns["high"], strict=True)) == outer
    content = report.to_dict(interval=interval)
    assert [content["measures"][name]["interval"] for name in report] == [list(ends) for ends in outer]
    assert content["units"]["low"] == content["units"]["high"] == "fraction"
    frame = report.to_pandas(interval=interval)
    assert list(frame["low"]) == columns["low"]
    assert any(note.endswith("over 3 queries.") for note in frame.attrs["notes"])
    assert b"over 3 queries." in report.to_arrow(interval=interval).schema.metadata[b"notes"]


def test_cautions_of_an_interval_are_in_every_form() -> None:
    report = evaluate([[0], [1], [-1], [4]], ["a", "a", "b", "b"], distance="euclidean", measures="mAP")
    caution = "Only 2 classes: with fewer than about 10 neither intervals nor p-values can be trusted."
    assert report.to_dict(interval=True)["cautions"] == [caution]
    assert report.to_dict()["cautions"] == report.cautions() == []
    assert report.to_text(interval=True).endswith(caution)
    assert caution in report.to_pandas(interval=True).attrs["notes"]


def test_no_interval_without_two_units() -> None:
    report = evaluate(PROFILE[:1], "mAP")
    assert report.to_text(interval=True).splitlines()[1].split()[-1] == "-"
    assert report.to_dict(interval=True)["measures"]["mAP"]["interval"] == [None, None]


@pytest.mark.parametrize(
    ("interval", "message"),
    [
        (0.95, "interval must be True or False"), ({"level": 0.9}, "must be True, False or some of confidence_level"),
        ({"labels": [1, 2]}, "has 'labels'"), ({"confidence_level": 95}, "confidence_level must lie strictly between"),
    ],
)  # fmt: skip
def test_settings_of_an_interval_that_are_refused(interval: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        evaluate(PROFILE, "mAP").to_text(interval=interval)


def close_call(closer: int) -> Report:
    """On one query whose relevant item ties with another, so far down that little depends on it."""
    return evaluate(TieProfile.from_groups([[(closer, 0, 2, 1)]], n_ranked=[closer + 2]), "mAP")


def test_two_decimals_unless_others_are_asked_for_or_distinguish_the_bounds() -> None:
    far, near = close_call(9), close_call(999)
    for report, digits, shown in ((far, 2, "9.09 9.55 10.00"), (far, 0, "9 10 10"), (near, 4, "0.0999 0.1000 0.1000")):
        assert report.to_text(digits=digits).splitlines()[1].split() == ["mAP", *shown.split()]
    assert str(near) == near.to_text(digits=4)
    assert near["mAP"].summary() == "mAP 0.1000 [0.0999, 0.1000] %"
    assert close_call(10**5).summary() == "mAP 0.00 %"  # the same with six decimals, too
    assert "|  9.0909 |" in far.to_markdown(digits=4)
    assert "& 9.0909 &" in " ".join(far.to_latex(digits=4).split())


@pytest.mark.parametrize(("digits", "message"), [(-1, "at least 0"), (2.5, "an integer"), (16, "at most 15")])
def test_digits_are_checked(digits: object, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^digits must be {message}, but is {digits}$"):
        evaluate(PROFILE).to_text(digits=digits)
    evaluate(PROFILE).to_text(digits=15)


def test_one_column_where_no_tie_affects_a_value() -> None:
    # The tie is at rank 2, so that it affects mAP and not the first rank.
    profile = TieProfile.from_groups([[(0, 0, 1, 1), (1, 1, 2, 1)]], n_ranked=[3])
    alone, both = (evaluate(profile, names).to_text().splitlines() for names in ("Hit@1", "Hit@1, mAP"))
    assert alone[:2] == ["measure (%)   value", "Hit@1        100.00"]
    said = "1 group in 1 query, of 2 items; none affects a value shown, so that lower = expected = upper."
    assert alone[3:] == [
        "1 query, each with a relevant item.", f"Ties between relevant and irrelevant items: {said}"
    ]  # fmt: skip
    assert both[:2] == ["measure (%)   lower  expected   upper", "Hit@1        100.00    100.00  100.00"]


def test_the_number_to_report() -> None:
    report = evaluate(PROFILE, "mAP, Hit@1")
    assert report.summary() == f"{report['mAP']}, Hit@1 50.00 [33.33, 66.67] %"
    assert report.summary(digits=0) == "mAP 75 [67, 83] %, Hit@1 50 [33, 67] %"
    assert str(report["mAP"]) == report["mAP"].summary() == "mAP 75.00 [66.67, 83.33] %"
    assert evaluate(NO_TIES)["mAP"].summary() == "mAP 75.00 %"
    assert evaluate(WINDOWS)["mAP"].summary() == "mAP [50.00, 100.00] %"


def test_recall_is_explained_wherever_it_is_shown() -> None:
    line = "Recall@k: the share of the relevant items among the first k; metric learning's Recall@K is Hit@k."
    report = evaluate(PROFILE, "mAP, Recall@10")
    assert [text.splitlines().count(line) for text in (str(report), report.to_markdown())] == [1, 1]
    assert line.replace("'", "&#x27;") in report._repr_html_()
    assert "Recall@k" not in str(evaluate(PROFILE, "mAP, Hit@1"))


def test_a_report_is_a_mapping_of_its_measures() -> None:
    report = evaluate(PROFILE, ["AP", "map", "Hit@1"])
    assert dict(report) == {"mAP": report["mAP"], "Hit@1": report["Hit@1"]}
    assert list(report.items()) == list(zip(report, report.values(), strict=True))
    assert (list(report), len(report), len(report.items())) == (["mAP", "Hit@1"], 2, 2)
    assert [name in report for name in ("average precision", "MRR", "nonsense", 3)] == [True, False, False, False]
    assert report["average-precision"] is report.get("AP") is report["mAP"]
    assert report.get("nonsense") is None
    assert {report: 1}[report] == 1
    assert report == pickle.loads(pickle.dumps(report)) == evaluate(PROFILE, "mAP, Hit@1")
    assert report not in (evaluate(PROFILE, "mAP"), evaluate(NO_TIES, "mAP, Hit@1"), "mAP")
    assert triple(report["RR"]) == (2 / 3, 2.25 / 3, 2.5 / 3)  # not asked for, computed, and not shown
    assert list(report) == ["mAP", "Hit@1"]
    assert "MRR" not in str(report)


def test_rankings_that_were_cut() -> None:
    outcome = from_neighbors([["a", "b"]], [[2.0, 1.0]], relevant=[{"a", "c"}], n_gallery=9).profile
    cut = "n 1 query relevant items were not returned or may tie with the last returned"
    assert str(evaluate(outcome, "Hit@1, mAP")).splitlines()[-1] == (
        f"Needs more neighbours: i{cut}, so that mAP has bounds and no expected value. "
        "A value at k needs k + 1 neighbours, and one more where the query's own row is excluded."
    )
    assert str(evaluate(outcome, "Hit@1")).splitlines()[-1] == f"I{cut}; this affects no value shown."
    assert [note[:4] for note in evaluate(outcome, "Hit@1, mAP").notes()] == ["1 qu", "Need"]  # of no ties


# From arrays


def test_evaluate_leave_one_out() -> None:
    report = evaluate([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean", measures=["mAP"])
    said = "Ties between relevant and irrelevant items (euclidean, exact): 1 group in 1 query, of 2 items."
    assert said in str(report)
    assert repr(report) == "Report(mAP 87.50 [75.00, 100.00] %; 3 queries, euclidean, exact)"
    assert repr(report["mAP"]) == "Result('mAP', lower=0.75, expected=0.875, upper=1.0)"
    assert repr(evaluate(report.profile, "mAP")) == "Report(mAP 87.50 [75.00, 100.00] %; 3 queries)"


@pytest.mark.parametrize(
    ("ties", "distance", "rule"),
    [("exact", "cosine", "exact"), ("float16", "cosine", "float16 similarity"),
     ("float16", "euclidean", "float16 distance"), (Rounded("float32", of="distance"), "cosine", "float32 distance"),
     (Tolerance(1e-6), "cosine", "tolerance 1e-06")],
)  # fmt: skip
def test_tie_rule_in_words(ties: Any, distance: Any, rule: str) -> None:
    assert evaluate(np.eye(3), [1, 1, 2], distance=distance, ties=ties, measures="mAP").tie_rule == rule


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"measures": "mop"}, ValueError, "unknown measure 'mop'"),
        ({"measures": ["mAP", 3]}, TypeError, "3"),
        ({"measures": []}, ValueError, "measures must name at least one measure, but got none"),
        ({"measures": "Hit@0"}, ValueError, "cutoff"),
        ({"measures": "Hit@-1"}, ValueError, "Hit@-1"),
        ({"measures": "Hit@1.5"}, ValueError, "1.5"),
        ({"singletons": "chop"}, ValueError, "singletons must be one of skip, zero, one, balanced, but is 'chop'"),
        ({"average": "macro"}, ValueError, "average must be one of query, class, but is 'macro'"),
        ({"average": None}, TypeError, "average must be one of query, class, but is None"),
    ],
)
def test_bad_options_are_refused_before_the_work(
    options: dict[str, object], kind: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deadheat.engine.task.count", lambda *_, **__: pytest.fail("the work has begun"))
    with pytest.raises(kind, match=f"^[^\\n]*{message}[^\\n]*$"):
        evaluate(np.eye(3), [1, 1, 2], **options)  # type: ignore[arg-type]


def test_nothing_relevant_anywhere_is_refused() -> None:
    with pytest.raises(UndefinedError, match=r"^no query has a relevant item, .* but got 3 queries"):
        evaluate(np.eye(3), [1, 2, 3])


@pytest.mark.parametrize("average", ["query", "class"])
@pytest.mark.parametrize(
    ("singletons", "precision", "recall"), [("zero", 0.0, 0.0), ("one", 1.0, 1.0), ("balanced", 0.0, 1.0)]
)
def test_singletons_that_count_may_be_all_queries(
    singletons: Singletons, precision: float, recall: float, average: Average
) -> None:
    report = evaluate(np.eye(3), [1, 2, 3], measures=["mAP", "Recall@1"], singletons=singletons, average=average)
    assert [report[name].expected for name in report] == [precision, recall]
    assert report.n_class == (3 if average == "class" else None)
    assert "3 of them without a relevant item" in str(report)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"average": "class"}, ValueError, 'average="class" needs labels, one for each query'),
        ({"labels": [1, 2, 3]}, ValueError, "labels must have one entry per .* but got 3 labels for 4 rows"),
        (
            {"labels": np.array([1.5, 2, 3, 4])},
            TypeError,
            "labels must be integers or strings, .* holds another number in row 0",
        ),
        ({"threads": 0}, ValueError, "threads must be at least 1, but is 0"),
    ],
)
def test_what_a_profile_refuses(options: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"^{message}$"):
        evaluate(PROFILE, **options)


LINE = Task([[0.0], [1.0], [2.0]], [1, 1, 2], distance="euclidean")


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ((LINE,), {"distance": "l2"},
         "distance belongs to the task: give it to dh.Task, or take task.replace(distance=...)"),
        ((from_profile(PROFILE),), {"threads": 1}, "threads belongs to the task: give it to dh.Task"),
        ((LINE,), {"by_id": True}, "by_id is no argument of evaluate, which takes"),
        ((LINE, "mAP"), {"measures": "mAP"}, "evaluate must be given a task and measures, and options by name"),
        ((LINE, "mAP", "zero"), {}, "evaluate must be given a task and measures, and options by name"),
        (([[0.0], [1.0]], [1, 1], "mAP"), {}, "gallery must be embeddings, but is 'mAP'; did you mean measures=?"),
        (([[0.0], [1.0]], [1, 1]), {"metric": "l2"}, "metric is no argument of evaluate; did you mean distance=?"),
    ],
)  # fmt: skip
def test_what_is_in_the_wrong_place_is_refused(given: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidTypeError, match=f"^{re.escape(message)}"):
        evaluate(*given, **options)


def test_a_task_is_not_made_of_anything_but_a_profile() -> None:
    with pytest.raises(TypeError, match=r"^profile must be a TieProfile, but is list$"):
        from_profile([[0.5]])  # type: ignore[arg-type]


# Classes and queries, worst first, against plain loops and by hand

# AP is 1/2 or 1; 1; 1/2; 1/3; undefined
FIVE = TieProfile.from_groups([*GROUPS[:3], [(2, 0, 1, 1)], []], n_ranked=[3] * 5)
LABELS = np.array(["b", "b", "a", "a", "c"])
REPORT = evaluate(FIVE, "mAP, Hit@1", labels=LABELS)


def test_queries_worst_first() -> None:
    assert str(REPORT.worst(3, measures="Hit@1, mAP")).splitlines()[-3:] == [
        "0          b         1  50.00 [0.00, 100.00]  75.00 [50.00, 100.00]",
        "",
        "3 of 5 queries, worst Hit@1 first; 1 without a value left out.",
    ]
    outcome = (REPORT.worst(3, measures="Hit@1, mAP"), REPORT.worst(2), REPORT.worst())
    assert [each.rows["query"] for each in outcome] == [[2, 3, 0], [3, 2], [3, 2, 0, 1]]


@pytest.mark.parametrize("kind", [np.int64, np.str_, object, np.bytes_])
def test_class_means_are_those_of_a_loop(kind: type) -> None:
    rng = np.random.default_rng(2)
    names = rng.integers(0, 9, 80)
    labels = names.astype(kind)
    report = evaluate(rng.integers(0, 3, (80, 2)), labels, distance="euclidean", measures="mAP, P@5")
    table = report.by_class(measures="P@5, mAP")
    assert list(table.per_row) == ["P@5", "mAP"]
    members = [names == int(label) for label in table.rows["class"]]
    assert sorted(map(int, table.rows["class"])) == sorted(set(names.tolist()))
    for measured, triple in table.per_row.items():
        for values, per_query in zip(triple, report[measured].per_query, strict=True):
            np.testing.assert_array_equal(values, [exact_mean(per_query[own]) for own in members])
    assert (np.diff(table.per_row["P@5"].expected) >= 0).all()
    assert table.rows["queries"] == [own.sum() for own in members]


def test_classes_do_not_depend_on_the_order_of_the_samples() -> None:
    rng = np.random.default_rng(4)
    rows, labels = rng.integers(0, 3, (60, 2)), rng.integers(0, 12, 60).astype(object)
    one, other = (evaluate(rows[i], labels[i], distance="euclidean") for i in (np.arange(60), rng.permutation(60)))
    assert one.by_class().to_dict() == other.by_class().to_dict()


def test_singletons_that_count_are_listed() -> None:
    report = evaluate(FIVE, "mAP", labels=LABELS, singletons="zero")
    assert (report.worst(1).rows["query"], report.by_class(1).rows["class"]) == ([4], ["c"])


def test_a_tolerance_orders_by_the_lower_bound() -> None:
    windows = replace(TieProfile.from_groups([[(0, 0, 2, 1)], [(1, 0, 1, 1)]], n_ranked=[2, 2]), bounds_only=True)
    assert "0             1  [50.00, 100.00]" in str(evaluate(windows, "mAP").worst())
    assert evaluate(windows, "mAP").worst().rows["query"] == [1, 0]


def test_ids_of_a_run_and_no_labels() -> None:
    run = {"q-7": {"a": 2.0, "b": 1.0}, "q-8": {"a": 2.0, "b": 1.0}}
    profile = from_run(run, {"q-7": {"b": 1}, "q-8": {"a": 1}}).profile
    table = evaluate(profile, "mAP").worst()
    assert table.rows == {"query": ["q-7", "q-8"], "relevant": [1, 1]}
    with pytest.raises(InvalidValueError, match=r"^per_class needs the labels of the queries: "):
        evaluate(profile).by_class()


def test_a_breakdown_has_rows_and_columns() -> None:
    table = REPORT.by_class()
    first, _, last = json.loads(table.to_json())["rows"]
    values = {"mAP": (1 / 2 + 1 / 3) / 2, "Hit@1": 0.0}
    measures = {name: dict.fromkeys(("lower", "expected", "upper"), each) for name, each in values.items()}
    assert first == {"class": "a", "queries": 2, **measures}
    assert last["mAP"]["lower"] is None
    bounds = [f"{name}_{bound}" for name in values for bound in ("lower", "expected", "upper")]
    assert list(table.columns()) == ["class", "queries", *bounds]
    assert "87.50 [75.00, 100.00]" in str(table)


def test_every_query_in_order() -> None:
    table = REPORT.by_query()
    columns = table.columns()
    assert [*columns][:3] == ["query", "label", "relevant"]
    assert [columns["query"], columns["label"]] == [list(range(REPORT.n_query)), list(REPORT.labels)]
    for name, result in REPORT.items():
        for bound, values in result.per_query._asdict().items():
            np.testing.assert_array_equal(columns[f"{name}_{bound}"], values)
    assert list(REPORT.by_query(measures="P@1").per_row) == ["P@1"]
    assert "without a value of mAP" in str(table)


@pytest.mark.parametrize("n", [0, -1, 2.5, "3"])
def test_how_many_is_checked(n: object) -> None:
    for ask in (REPORT.by_class, REPORT.worst):
        with pytest.raises((InvalidValueError, InvalidTypeError), match=r"^n must be "):
            ask(n)  # type: ignore[arg-type]


def test_no_text_in_a_table_of_queries_is_a_formula() -> None:
    """Numbers stay numbers: as labels, as ids in text, and as values."""
    names = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\tx", "\nx", "-5", "+1.5", "a=b", "x\r=y"]
    for labels, shown in (
        (names, [f"'{name}" for name in names[:6]] + names[6:9] + [r"x\r=y"]),
        (np.arange(-5, 5), [str(number) for number in range(-5, 5)]),
    ):
        file = io.BytesIO()
        export.write(dh.evaluate(np.zeros((20, 1)), [*labels, *labels], measures="mAP"), file, Path("values.csv"))
        rows = list(csv.reader(io.StringIO(file.getvalue().decode(), newline="")))
        assert [row[1] for row in rows[1:11]] == shown
        assert all(float(cell) >= 0 for row in rows[1:] for cell in (row[0], *row[2:]))
