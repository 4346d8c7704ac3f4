"""Every public function with a few values as each of its arguments: a result, or an error in one line.

`test_junk.py` makes random calls with values of every kind.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import confidence as dc
from deadheat.analyses import quantization as dq
from deadheat.errors import DeadheatError

ROWS, LABELS = np.arange(16.0).reshape(8, 2) ** 2, np.array([0, 1, 0, 1, 2, 2, 3, 3])
SCORES, MARKS = np.array([[3.0, 1.0, 2.0], [1.0, 1.0, 0.0]]), np.array([[1, 0, 0], [0, 1, 0]])
REPORT = dh.evaluate(ROWS, LABELS)
EMBEDDED = {"embeddings": ROWS, "labels": LABELS}
TASK = dh.Task(ROWS, LABELS)
GAP = {"train": TASK, "test": TASK, "group_size": 2}
JUDGED = {"run": {"q": {"a": 0.5, "b": 0.5}}, "qrels": {"q": {"a": 1}}}
TRUTH = {"returned": [[0, 1]], "ids": [[0, 1, 2]], "distances": [[0.0, 1.0, 2.0]], "k": 2}
SHARES = [0.25, 0.5, 0.75, 0.9]
HITS = [True, False, True, True]


def evaluate(task: Any, measures: Any = None, singletons: Any = "skip", average: Any = "query") -> Any:
    """`dh.evaluate` with names for what it takes by place."""
    return dh.evaluate(task, measures, singletons=singletons, average=average)


GOOD: dict[Callable[..., Any], dict[str, Any]] = {
    dh.Rounded: {"dtype": "float16"}, dh.TieProfile.from_groups: {"groups": [[(0, 0, 2, 1)]], "n_ranked": [3]},
    dh.Tolerance: {"eps": 0.5}, dh.Task: EMBEDDED, dh.from_candidates: {"scores": SCORES, "positive_columns": [0, 1]},
    dh.from_judged: {
        "queries": ROWS[:1], "gallery": ROWS[:2], "qrels": JUDGED["qrels"], "query_ids": ["q"],
        "gallery_ids": ["a", "b"],
    },
    dh.Task.from_metadata: {
        "embeddings": ROWS, "metadata": {"a": LABELS, "b": np.arange(8) % 3}, "positives": {"same": "a"},
        "negatives": {"same": ["b"], "different": ["a"]},
    }, dh.from_neighbors: {"ids": [[0, 1]], "scores": [[0.5, 0.1]], "relevant": [{0}], "n_gallery": 3},
    dh.from_profile: {"profile": REPORT.profile},
    dh.from_ranks: {"optimistic": [1], "pessimistic": [2], "n_candidates": [5]}, dh.from_run: JUDGED,
    dh.from_lists: {"ranked_ids": [["a", "b"]], "relevant_ids": [["b"]]},
    dh.from_scores: {"scores": SCORES, "relevant": MARKS}, dh.audit: {"task": TASK},
    dh.audit_collection: {"gallery": ROWS[:2], "gallery_ids": ["a", "b"], "qrels": JUDGED["qrels"]},
    dh.audit_run: JUDGED, dh.classification: {"scores": [0.5, 0.5, 0.1], "labels": [1, 0, 1]},
    dh.collisions: {"task": TASK}, dh.compare: {"a": REPORT, "b": REPORT, "n_resamples": 20},
    evaluate: {"task": TASK}, dh.exploit: {"task": TASK} | {"searches": 1, "draws": 2}, dh.generalization_gap: GAP,
    dh.grouped: {"task": TASK} | {"group_size": 2},
    dh.hash_lookup: {"task": dh.Task(ROWS > 4, LABELS, distance="hamming")}, dh.html_report: {"report": REPORT},
    dh.index_recall: {"returned": [[0, 1]], "queries": ROWS[:1], "gallery": ROWS, "k": 2, "distance": "l2"},
    dh.index_recall_of_truth: TRUTH, dh.leaderboard: {"reports": {"a": REPORT, "b": REPORT}, "n_resamples": 20},
    dh.link_prediction: {"task": dh.from_ranks([1], [2], [5])}, dh.p_values: {"task": TASK, "n_resamples": 20},
    dh.pair_classification: {"embeddings": ROWS, "pairs": [[0, 1], [0, 2]], "same": [1, 0]},
    dh.precision_recall: {"task": REPORT.profile}, dh.random_baseline: {"labels": LABELS, "draws": 2, "dim": 2},
    dh.read: {"path": "nowhere.npz"}, dh.receipt: {"task": TASK},
    dh.split_half: {"task": TASK} | {"group_size": 2, "draws": 2},
    dh.within: {"radius": 1.5, "positions": ROWS},
    dh.verify: {"task": TASK, "receipt": dh.receipt(TASK)}, dc.annotation_entropy: {"annotations": [[0, 1], [1, 1]]},
    dc.calibration: {"correct": HITS, "confidence": SHARES},
    dc.confidence_accuracy: {"correct": HITS, "confidence": SHARES},
    dc.confidence_report: {"report": REPORT, "confidence": np.arange(8.0)},
    dc.credible_recall: {"items": SCORES, "samples": SCORES, "relevant": MARKS.astype(bool)},
    dc.distribution_entropy: {"counts": [[1, 2]]}, dc.error_reject_curve: {"values": HITS, "confidence": SHARES},
    dc.highest_density_interval: {"values": SHARES}, dc.label_entropy: {"task": TASK, "k": 2},
    dc.norms: {"embeddings": ROWS},
    dc.normal_credible_recall: {"embeddings": ROWS, "sigma": ROWS + 1, "labels": LABELS},
    dc.rank_correlation: {"confidence": SHARES, "target": SHARES}, dh.compare_formats: {"task": TASK},
    dq.quantized: {"embeddings": ROWS, "format": "int8"},
}  # fmt: skip
NO_FUNCTIONS = {"CountedTask", "Receipt", "Report", "Result", "TieProfile"}

FEW = [None, -1, np.nan, "x", b"x", object(), [], [[1, 2], [3]], {"q": {"a": "x"}}, np.zeros((1, 1, 1)), REPORT]


def refusal(function: Callable[..., Any], given: dict[str, Any]) -> str:
    """Return the message of a call that is refused; nothing where there is a result."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            result = function(**given)
            str(result)
    except DeadheatError as error:
        return str(error)
    except OSError as error:
        return f"OSError {error.strerror}"
    return ""


def parameters(function: Callable[..., Any]) -> list[str]:
    """Return the parameters that can be given by name."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [name for name, parameter in signature.parameters.items() if parameter.kind in by_name]


CASES = [(function, name) for function in GOOD for name in parameters(function)]


def test_every_public_function_is_walked() -> None:
    walked = {function.__name__ for function in GOOD} | NO_FUNCTIONS
    assert {name for name in dh.__all__ if callable(getattr(dh, name))} <= walked
    assert {name for name in dc.__all__ if inspect.isfunction(getattr(dc, name))} <= walked
    for function, given in GOOD.items():
        assert refusal(function, given) in ("", "OSError No such file or directory"), function.__name__


@pytest.mark.parametrize(("function", "name"), CASES, ids=lambda each: each if isinstance(each, str) else each.__name__)
def test_what_is_refused_is_refused_in_one_line(
    function: Callable[..., Any], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where a checkpoint may be written
    for value in FEW:
        said = refusal(function, GOOD[function] | {name: value})
        assert said.isprintable()
        assert len(said) < 600


@pytest.mark.parametrize("function", [each for each in GOOD if each is not evaluate], ids=lambda each: each.__name__)
def test_too_many_arguments_by_position_are_refused_with_those_that_go_by_name(function: Callable[..., Any]) -> None:
    given = inspect.signature(function).parameters.values()
    by_name = [each.name for each in given if each.kind == each.KEYWORD_ONLY]
    n = len(given) - len(by_name) - any(each.kind == each.VAR_KEYWORD for each in given)
    with pytest.raises(DeadheatError) as caught:
        function(*[object()] * (n + 1))
    message = str(caught.value)
    assert f" takes {n} argument" in message
    assert f"but got {n + 1}" in message
    assert not by_name or message.endswith(f"{by_name[-1]}=")


def test_arguments_by_position_name_the_task_or_the_keyword() -> None:
    with pytest.raises(
        DeadheatError,
        match=r"^audit takes 1 argument by position \(task\), but got 2; of rows and labels "
        r"make a task, dh.Task\(embeddings, labels\); by name it takes measures=, ",
    ):
        dh.audit(ROWS, LABELS)
    for method in (REPORT.by_class, REPORT.worst):
        with pytest.raises(DeadheatError, match=r"^n must be an integer, but is 'mAP'; did you mean measures=[?]$"):
            method("mAP")
    with pytest.raises(
        DeadheatError, match=r"^by_query takes 0 arguments by position, but got 1; by name it takes measures=$"
    ):
        REPORT.by_query("mAP")


@pytest.mark.parametrize("function", [dh.exploit, dh.audit, dh.collisions, dh.grouped, dh.hash_lookup, dh.evaluate])
def test_a_setting_of_a_task_belongs_to_the_task(function: Callable[..., Any]) -> None:
    with pytest.raises(DeadheatError, match=r"^ties belongs to the task: give it to dh.Task, or take task.replace"):
        function(TASK, ties="float16")
