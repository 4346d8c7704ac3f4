"""Tasks: opened and warned of once, counted once, and refused by what needs more than they have."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inputs.written import refusal
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.engine import task as tasks
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.distances import registry as distance_registry
from deadheat.errors import InvalidTypeError, InvalidValueError, QueryInGalleryWarning, UndefinedError
from deadheat.inputs.samples import Pair

RNG = np.random.default_rng(0)
ROWS, LABELS = RNG.integers(-3, 4, (48, 3)).astype(np.float32) + np.float32(0.5), np.arange(48) % 8
QUERIES, QUERY_LABELS = RNG.integers(-3, 4, (12, 3)).astype(np.float32), np.arange(12) % 8
PROFILE = dh.TieProfile.from_groups([[(0, 0, 2, 1)], [(1, 0, 1, 1)]], n_ranked=[3, 3])
SCORES, RELEVANT = np.array([[3, 2, 2], [1, 1, 0]]), np.array([[0, 1, 0], [1, 0, 0]])
RUN, QRELS = {"q": {"a": 2.0, "b": 2.0}}, {"q": {"b": 1}}

COUNTED: dict[str, Callable[..., dh.CountedTask]] = {  # by what they are made of
    "a profile": lambda **how: dh.from_profile(PROFILE, **how),
    "scores": lambda **how: dh.from_scores(SCORES, RELEVANT, **how),
    "neighbors": lambda **how: dh.from_neighbors([[0, 2]], [[0.9, 0.5]], relevant=[{2}], n_gallery=3, **how),
    "judged embeddings": lambda **how: dh.from_judged([[1.0]], [[1.0], [2.0]], QRELS, ["q"], ["a", "b"], **how),
    "ranks": lambda: dh.from_ranks([1], [2], 5),
    "candidates": lambda **how: dh.from_candidates([[0.9, 0.5]], positive_scores=[0.5], **how),
    "a run": lambda **how: dh.from_run(RUN, QRELS, **how),
    "lists": lambda **how: dh.from_lists([["a"]], [["a"]], **how),
}
QUESTIONS: dict[str, Callable[[Any], object]] = {  # that need embeddings
    "groups": lambda task: dh.grouped(task, group_size=4),
    "halves": lambda task: dh.split_half(task, group_size=4),
    "collisions": dh.collisions,
    "an exploit": lambda task: dh.exploit(task, draws=2),
    "an audit": dh.audit,
    "a receipt": dh.receipt,
}

Passes = list[tuple[Pair, str]]


@pytest.fixture
def task() -> dh.Task:
    return dh.Task(ROWS, LABELS)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Passes:
    """The data, the distance and the ties of every counting pass."""
    made: Passes = []

    def counting(pair: Pair, options: CountingOptions) -> dh.TieProfile:
        made.append((pair, f"{options.distance}, {options.rule.describe(options.distance)}"))
        return profile_rows(pair, options)

    profile_rows = tasks.count
    monkeypatch.setattr("deadheat.engine.task.count", counting)
    return made


# Once -----------------------------------------------------------------------------------------------------------------


def test_nothing_is_counted_before_the_first_question_and_nothing_twice(passes: Passes) -> None:
    task = dh.Task(ROWS, LABELS, distance="L2", threads=2)
    assert (repr(task)[:5], task.labels is task.pair.query.labels, task.threads) == ("Task(", True, 2)
    assert passes == []
    first = dh.evaluate(task, "mAP")
    assert passes == [(task.pair, "euclidean, exact")]
    again = dh.evaluate(task, ["Hit@1", "nDCG"], average="class")
    assert first.profile is again.profile is task.profile
    dh.generalization_gap(task, task, group_size=4)
    dh.precision_recall(task)
    assert dh.verify(dh.receipt(task), task).matches
    assert len(passes) == 1
    dh.audit(task)
    dh.audit(task.replace(ties="float16"))  # audits are of exact ties; those of rounded scores have one pass together
    assert [how for pair, how in passes if pair is task.pair] == ["euclidean, exact"] * 2


def test_data_are_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    open_pair = tasks.open_pair
    monkeypatch.setattr("deadheat.engine.task.open_pair", lambda *given: (opened.append(given), open_pair(*given))[1])
    np.savez(tmp_path / "set.npz", embeddings=ROWS, labels=LABELS)
    task = dh.Task(tmp_path / "set.npz")
    for other in (task, task.replace(distance="cityblock"), task.replace(threads=1)):
        dh.evaluate(other)
        dh.grouped(other, group_size=4)
    assert len(opened) == 1


def test_queries_in_the_gallery_are_warned_of_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        task = dh.Task(ROWS[:20], LABELS[:20], ROWS, LABELS)
        for question in (dh.evaluate, dh.evaluate, *QUESTIONS.values()):
            question(task)
        others = [task.replace(distance="euclidean"), task.replace(ties="float16", threads=1)]
        reports = list(map(dh.evaluate, [task, *others]))
    (warning,) = (each for each in caught if issubclass(each.category, QueryInGalleryWarning))
    assert str(warning.message).startswith("20 of 20 queries are in the gallery themselves, ")
    assert warning.filename == __file__
    assert [report.n_in_gallery for report in reports] == [20, 20, 20]
    with pytest.warns(QueryInGalleryWarning, match=r"^17 of 20 queries"):  # looked for again
        assert task.replace(junk=np.arange(48) < 3).n_in_gallery == 17
    with warnings.catch_warnings(action="error"):
        assert task.replace(exclude=np.arange(20)).n_in_gallery == 0


def test_a_checkpoint_is_of_the_pass_of_the_task_alone(tmp_path: Path) -> None:
    """The passes of an audit, of groups, or of a receipt with another distance are not kept in the same place."""
    task = dh.Task(QUERIES, QUERY_LABELS, ROWS, LABELS, checkpoint=tmp_path / "kept")
    alone = task.replace(checkpoint=None)
    assert dh.audit(task).to_json() == dh.audit(alone).to_json()
    assert list((tmp_path / "kept").glob("portion-*"))
    assert dh.grouped(task, group_size=4).to_json() == dh.grouped(alone, group_size=4).to_json()
    assert dh.verify(dh.receipt(alone.replace(distance="l2")), task).matches
    assert dh.compare_formats(task, formats=["float16"], measures="mAP")["float16"]
    assert dh.collisions(task, distances=["l1", "cosine"])["cityblock"].n_query == 12
    with pytest.raises(ValueError, match="distance is 'cosine' there and 'euclidean' here"):
        dh.evaluate(task.replace(distance="l2"))


# No change ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["threads", "profile", "labels", "distance", "_options"])
def test_a_task_cannot_change(name: str, task: dh.Task) -> None:
    with pytest.raises(AttributeError, match=rf"^a task cannot change; task\.replace\({name}=\.\.\.\) gives another"):
        setattr(task, name, 3)
    assert task.profile == dh.Task(ROWS, LABELS).profile


@pytest.mark.parametrize("distance", distance_registry.names(takes="numbers"))
def test_replaced_settings_are_as_if_they_had_been_given(distance: Any, task: dh.Task) -> None:
    before = task.profile
    other = task.replace(distance=distance)
    assert other.pair is task.pair
    assert other.profile == dh.Task(ROWS, LABELS, distance=distance).profile
    assert (task.profile is before, task.options.distance) == (True, "cosine")


def test_settings_that_are_not_named_stay(task: dh.Task) -> None:
    junk = np.arange(48) % 5 == 0
    first = dh.Task(ROWS, LABELS, distance="L2", ties="fp16", junk=junk, threads=1)
    other = first.replace(distance="l1")
    assert repr(other) == "Task(48 × 3 float32, 8 classes, leave one out, cityblock, ties float16 distance)"
    assert other.profile == dh.Task(ROWS, LABELS, distance="cityblock", ties="float16", junk=junk).profile
    assert (other.threads, first.threads, first.replace(threads=2).threads) == (1, 1, 2)
    back = other.replace(distance="cosine", ties="exact", junk=None)
    assert back.profile == task.profile


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"distence": "l2"}, TypeError, "distence is no argument of replace; did you mean distance=?"),
        (
            {"labels": LABELS},
            TypeError,
            "labels is no argument of replace, which takes distance, ties, relevant, junk, exclude",
        ),
        ({"distance": "l3"}, ValueError, "distance must be one of "),
        ({"distance": "hamming"}, ValueError, "embeddings must be bool, bits packed in uint8, or numbers"),
        ({"ties": dh.Rounded("float16", of="distance"), "distance": "dot"}, ValueError, "of must be 'similarity' for"),
        ({"junk": [True]}, ValueError, "junk must have shape (48,) or (48, 48), but has shape (1,)"),
        ({"exclude": np.arange(48)}, ValueError, "exclude must be left out without a gallery"),
        ({"threads": 0}, ValueError, "threads must be "),
    ],
)
def test_settings_are_checked_when_they_are_replaced(settings: Any, kind: Any, message: str, task: dh.Task) -> None:
    assert refusal(kind, task.replace, **settings).startswith(message)


# What is shown --------------------------------------------------------------------------------------------------------


def test_it_says_what_it_is(tmp_path: Path, task: dh.Task) -> None:
    assert repr(task) == "Task(48 × 3 float32, 8 classes, leave one out, cosine, ties exact)"
    gallery = dh.Task(QUERIES[:1], ["a"], ROWS.astype(np.float16), ["a", "b"] * 24, distance="ip", ties="float16")
    assert repr(gallery) == (
        "Task(1 × 3 float32, 1 class, gallery 48 × 3 float16, inner product, ties float16 similarity)"
    )
    thousands = dh.Task(np.zeros((1200, 1)), np.arange(1200), ties=dh.Tolerance(0.5))
    assert repr(thousands) == "Task(1,200 × 1 float64, 1,200 classes, leave one out, cosine, ties tolerance 0.5)"
    query, items = tmp_path / "query.npz", tmp_path / "items.npz"
    np.savez(query, embeddings=QUERIES, labels=QUERY_LABELS)
    np.savez(items, embeddings=ROWS, labels=LABELS)
    assert repr(dh.Task(query)).startswith(f"Task({query}: 12 × 3 float32, 8 classes, leave one out, cosine")
    of_both = f"Task({query} and {items}: 12 × 3 float32, 8 classes, gallery 48 × 3 float32, euclidean, ties exact)"
    assert repr(dh.Task(query, gallery=items, distance="l2")) == of_both
    assert repr(dh.Task(query, gallery=items).replace(distance="l2")) == of_both


@pytest.mark.parametrize("made_of", COUNTED)
def test_a_task_without_embeddings_says_what_it_is_made_of(made_of: str) -> None:
    task = COUNTED[made_of]()
    n = {"a profile": "2 queries", "scores": "2 queries"}.get(made_of, "1 query")
    assert repr(task) == f"Task({n} of {made_of})"


# Without embeddings ---------------------------------------------------------------------------------------------------


def asked_of(made: str, name: str, actual: str) -> str:
    return f"{name} must be {made}dh.Task(embeddings, labels), for {actual}"


REPLACED: dict[str, list[dict[str, Any]]] = {  # settings under which a source is counted again
    "a profile": [{"labels": ["a", "b"]}, {"threads": 2}],
    "scores": [{"ties": "float16"}, {"order": "ascending"}, {"junk": [True, False, False], "threads": 2}],
    "neighbors": [{"cut_ties": False}],
    "judged embeddings": [{"distance": "l2", "ties": "float16"}, {"junk": [True, False]}, {"exclude": [0]}],
    "ranks": [],
    "candidates": [{"ties": dh.Tolerance(0.5)}, {"order": "ascending"}, {"junk": [True, False]}],
    "a run": [{"ties": "float16"}, {"rel": 2}, {"unjudged": "junk"}, {"labels": {"q": "x"}, "max_docs": 2}],
    "lists": [{"labels": ["x"]}, {"threads": 2}],
}


@pytest.mark.parametrize("made_of", COUNTED)
def test_replaced_settings_of_a_source_are_as_if_they_had_been_given(made_of: str) -> None:
    task = COUNTED[made_of]()
    for settings in REPLACED[made_of]:
        result, wanted = task.replace(**settings), COUNTED[made_of](**settings)
        assert result.profile == wanted.profile
        assert (result.threads, result.origin.tie_rule) == (wanted.threads, wanted.origin.tie_rule)
        assert_array_equal(result.labels, wanted.labels)
        assert dh.evaluate(result).to_json() == dh.evaluate(wanted).to_json()


@pytest.mark.parametrize("made_of", COUNTED)
def test_settings_that_a_source_does_not_have_are_refused(made_of: str) -> None:
    task = COUNTED[made_of]()
    said = f"{asked_of('made of embeddings, ', 'task', 'relevance=')}, but was made of {made_of}"
    assert refusal(InvalidTypeError, task.replace, relevance="any") == said
    assert refusal(InvalidTypeError, task.replace, tis="float16").startswith("tis is no argument of replace")
    with pytest.raises(AttributeError, match=r"^a task cannot change; task\.replace\(threads=\.\.\.\) gives another"):
        task.threads = 3  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(task)).profile == task.profile


def test_scores_that_changed_are_not_counted_again() -> None:
    scores = np.array([[0.9, 0.8999, 0.1]])
    task = dh.from_scores(scores, [[0, 1, 0]])
    assert task.replace(ties="float16").profile[0].tied.tolist() == [2]
    scores[0, 1] = 0.05
    said = "task has data that changed after it was made: make it anew, or give a copy"
    assert refusal(InvalidValueError, task.replace, ties="float16") == said


@pytest.mark.parametrize("what", QUESTIONS)
def test_questions_that_need_embeddings_refuse_what_has_none(what: str) -> None:
    for made_of, make in COUNTED.items():
        said = f"{asked_of('made of embeddings, ', 'task', what)}, but was made of {made_of}"
        assert refusal(InvalidTypeError, QUESTIONS[what], make()) == said
    for given, kind in ((ROWS, "ndarray"), (ROWS.tolist(), "list"), ("set.npz", "str"), (PROFILE, "TieProfile")):
        said = f"{asked_of('a task, ', 'task', what)}, but is of type {kind}"
        assert refusal(InvalidTypeError, QUESTIONS[what], given) == said


def test_a_gap_and_a_receipt_name_the_task_that_has_none(task: dh.Task) -> None:
    scores = COUNTED["scores"]()
    for name, given in {"train": (scores, task), "test": (task, scores)}.items():
        said = f"{asked_of('made of embeddings, ', name, 'a gap')}, but was made of scores"
        assert refusal(InvalidTypeError, dh.generalization_gap, *given) == said
    for name, arrays in {"train": (ROWS, task), "test": (task, ROWS)}.items():
        said = f"{asked_of('a task, ', name, 'a gap')}, but is of type ndarray"
        assert refusal(InvalidTypeError, dh.generalization_gap, *arrays) == said
    made = dh.receipt(task)
    assert refusal(InvalidTypeError, dh.verify, made, scores).endswith("for a receipt, but was made of scores")
    assert refusal(InvalidTypeError, dh.verify, made, ROWS).endswith("for a receipt, but is of type ndarray")


# Evaluated ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        ((ROWS, LABELS), {}),
        ((QUERIES, QUERY_LABELS, ROWS, LABELS), {"distance": "euclidean", "junk": np.arange(48) < 9, "threads": 2}),
        ((ROWS[:9], LABELS[:9], ROWS, LABELS), {"exclude": np.arange(9), "ties": "float16"}),
    ],
)
@pytest.mark.parametrize("means", [{}, {"singletons": "zero", "average": "class"}])
def test_in_one_line_and_in_two_it_is_the_same_report(given: Any, means: Any) -> None:
    data, settings = given
    at_once = dh.evaluate(*data, **settings, measures="mAP", **means)
    task = dh.Task(*data, **settings)
    for report in (dh.evaluate(task, "mAP", **means), dh.evaluate(task, measures=["AP"], **means)):
        assert report.to_json() == at_once.to_json()
        assert report.profile == at_once.profile
        for result, wanted in zip(report["mAP"].per_query, at_once["mAP"].per_query, strict=True):
            assert_array_equal(result, wanted)
        assert report["mAP"].interval() == at_once["mAP"].interval()


def values(result: Any) -> list[str]:
    """Its three numbers, of which the expected one may be NaN."""
    return [getattr(result, name).hex() for name in ("lower", "expected", "upper")]


@pytest.mark.parametrize("made_of", COUNTED)
def test_what_is_ranked_already_is_evaluated_as_it_is(made_of: str) -> None:
    task = COUNTED[made_of]()
    report, of_profile = dh.evaluate(task, "Hit@1"), dh.evaluate(task.profile, "Hit@1")
    assert values(report["Hit@1"]) == values(of_profile["Hit@1"])
    assert report.profile is task.profile
    if made_of not in ("neighbors", "ranks"):
        assert COUNTED[made_of](threads=3).threads == 3


def test_a_profile_with_labels_is_a_task_of_them(task: dh.Task) -> None:
    profile = task.profile
    of_labels = dh.evaluate(dh.from_profile(profile, LABELS, threads=1), "mAP", average="class")
    for report in (of_labels, dh.evaluate(profile, "mAP", labels=LABELS, average="class", threads=1)):
        assert values(report["mAP"]) == values(dh.evaluate(task, "mAP", average="class")["mAP"])
    said = refusal(ValueError, dh.evaluate, profile, average="class")
    assert said == 'average="class" needs labels, one for each query'
    assert "labels must have one entry per " in refusal(ValueError, dh.from_profile, profile, LABELS[:3])
    said = "profile must be a TieProfile, but is ndarray"
    assert refusal(InvalidTypeError, dh.from_profile, ROWS) == said


def test_nothing_relevant_is_said_when_it_is_asked() -> None:
    task = dh.Task(ROWS, np.arange(48))
    assert task.profile.n_relevant.sum() == 0
    with pytest.raises(UndefinedError, match=r"^no query has a relevant item, "):
        dh.evaluate(task)


BELONGS = "belongs to the task: give it to dh.Task"


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (("task",), {"distance": "l2"}, f"distance {BELONGS}, or take task.replace(distance=...)"),
        (("task",), {"threads": 1}, f"threads {BELONGS}, or take task.replace(threads=...)"),
        (("task",), {"labels": LABELS}, f"labels {BELONGS}"),
        (("scores",), {"distance": "l2"}, f"distance {BELONGS}"),
        (("task",), {"measure": "mAP"}, "measure is no argument of evaluate; did you mean measures=?"),
        (("task", "mAP", "Hit@1"), {}, "evaluate must be given a task and measures, and options by name"),
        (("task", "mAP"), {"measures": "mAP"}, "evaluate must be given a task and measures, and options by name"),
        ((ROWS, LABELS), {"measure": "mAP"}, "measure is no argument of evaluate; did you mean measures=?"),
        ((ROWS, LABELS), {"metric": "l2"}, "metric is no argument of evaluate; did you mean distance=?"),
        ((ROWS, LABELS), {"n_jobs": 2}, "n_jobs is no argument of evaluate; did you mean threads=?"),
        ((ROWS, LABELS), {"xyz": 2}, "xyz is no argument of evaluate, which takes embeddings, labels, gallery"),
        ((ROWS, LABELS, "mAP"), {}, "gallery must be embeddings, but is 'mAP'; did you mean measures=?"),
        ((ROWS, LABELS, ["mAP", "Hit@1"]), {}, "gallery must be embeddings, but is ['mAP', 'Hit@1']; did you mean"),
        ((PROFILE,), {"distance": "l2"}, "distance is no argument of "),
    ],
)
def test_what_evaluate_does_not_take_is_refused(given: Any, options: Any, message: str, passes: Passes) -> None:
    made = {"task": lambda: dh.Task(ROWS, LABELS), "scores": COUNTED["scores"]}
    first = made[given[0]]() if isinstance(given[0], str) else given[0]
    assert refusal(TypeError, dh.evaluate, first, *given[1:], **options).startswith(message)
    assert passes == []  # before the work begins


@pytest.mark.parametrize("make", [dh.Task, dh.evaluate])
def test_data_of_a_task_are_given_once(make: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match="labels"):
        make(ROWS, LABELS, labels=LABELS)
    assert refusal(TypeError, dh.Task, ROWS, LABELS, distence="l2") == (
        "distence is no argument of Task; did you mean distance=?"
    )
