"""The auditor on metrics that are broken on purpose, each in one way, and on sound ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from benchmarks.evaluators.audit import EvaluatorAudit, audit_evaluator
from benchmarks.evaluators.checks import thread_control
from deadheat.errors import InputError

Metric = Callable[[Any, Any], Any]


def audit(fn: Metric, form: str = "scores", **options: Any) -> EvaluatorAudit:
    return audit_evaluator(fn, form=form, **{"n_classes": 4, "class_size": 6, **options})


def names(outcomes: EvaluatorAudit, severity: str) -> list[str]:
    return [each.name for each in outcomes.of(severity)]


def sound(scores: Any, relevant: Any) -> float:
    """The lower bound of mAP."""
    return dh.evaluate(dh.from_scores(scores, relevant, threads=1), "mAP")["mAP"].lower


def of_embeddings(embeddings: Any, labels: Any) -> float:
    """The lower bound of mAP, euclidean."""
    return dh.evaluate(embeddings, labels, distance="euclidean", measures="mAP", threads=1)["mAP"].lower


def precisions(order: Any, relevant: Any) -> Any:
    """AP of each query, given its items in order; NaN for none."""
    hits = np.take_along_axis(np.asarray(relevant, dtype=bool), order, axis=1)
    with np.errstate(invalid="ignore"):
        return (np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1) * hits).sum(axis=1) / hits.sum(axis=1)


def stable(scores: Any, relevant: Any) -> float:
    """mAP of a stable sort: the system that comes first in the list is first among equals."""
    return float(np.nanmean(precisions(np.argsort(-scores, axis=1, kind="stable"), relevant)))


@pytest.mark.parametrize(("fn", "form"), [(sound, "scores"), (of_embeddings, "embeddings")])
def test_a_sound_evaluator_passes(fn: Metric, form: str) -> None:
    result = audit(fn, form)
    assert result.passes(strict=True)
    assert result.ties == "lower bound"
    assert result.sigmas < 0
    distance = "the highest score first" if form == "scores" else "euclidean, leave one out"
    assert f"mAP, {distance}" in result.definitions
    assert len(result.observations) > 30


def test_expectation_and_upper_bound_are_distinguished() -> None:
    def of(end: str, scale: int = 1) -> EvaluatorAudit:
        return audit(lambda s, r: scale * getattr(dh.evaluate(dh.from_scores(s, r), "mAP")["mAP"], end))

    expected, upper = of("expected"), of("upper")
    assert (expected.ties, expected.passes(), expected.sigmas) == ("expectation", True, pytest.approx(0, abs=1e-6))
    assert (upper.ties, names(upper, "serious")) == ("upper bound", ["empty system"])
    in_per_cent = of("upper", 100)["empty system"].sentence
    assert in_per_cent == upper["empty system"].sentence
    assert "scores 100.00 % in the order 'sorted by class'" in in_per_cent


def test_a_stable_sort_gives_what_exploit_finds() -> None:
    result = audit(stable)
    assert names(result, "serious") == ["sample order", "empty system", "sample order with ties", "place in the list"]
    answers = {each.case.name: each.value for each in result.observations}
    at = result["place in the list"].figures
    assert answers["all zero, relevant items first"] == at["first"] == 1
    assert answers["all zero, relevant items last"] == at["last"] < 1
    task = dh.Task(np.zeros((24, 2)), np.repeat(np.arange(4), 6))
    extremes = dh.exploit(task)
    values = {name: each.value for name, each in result.empty.by_order.items()}
    assert values["sorted by class"] == pytest.approx(extremes.highest.value, abs=1e-12)
    assert values["interleaved"] == pytest.approx(extremes.lowest.value, abs=1e-12)
    assert result.truth == pytest.approx(extremes.bounds, abs=1e-12)
    deviations = dh.measures.std(task.profile, "mAP")
    above = (extremes.highest.value - extremes.bounds.expected) / (np.sqrt(np.sum(deviations**2)) / 24)
    assert result.sigmas == pytest.approx(above, abs=1e-9)


def test_values_that_no_order_gives_are_out_of_range() -> None:
    def by_thresholds(scores: Any, relevant: Any) -> float:
        """AP as precision at each threshold times the recall gained there: equal scores are decided together."""
        above = scores[:, None, :] >= scores[:, :, None]
        relevant = np.asarray(relevant, dtype=bool)
        precision = (above & relevant[:, None, :]).sum(axis=2) / above.sum(axis=2)
        return float(np.nanmean((precision * relevant).sum(axis=1) / np.maximum(1, relevant.sum(axis=1))))

    result = audit(by_thresholds)
    assert "out of range" in names(result, "serious")
    assert result.ties == "neither bound nor expectation"
    behind = next(each for each in result["out of range"].figures["inputs"] if "tied behind" in each["input"])
    assert behind["value"] == pytest.approx(2 / 3)
    assert behind["possible"]["lower"] == behind["possible"]["upper"] == pytest.approx(7 / 12)


def writes(scores: Any, relevant: Any) -> float:
    scores[:] = np.sort(scores, axis=1)
    return 0.5


def only_positive(scores: Any, relevant: Any) -> float:
    order = np.argsort(-scores, axis=1, kind="stable")
    return float(np.nan_to_num(precisions(order, relevant * (scores > 0))).mean())


def as_zero(scores: Any, relevant: Any) -> float:
    return float(np.nan_to_num(precisions(np.argsort(-scores, axis=1), relevant)).mean())


def moved(scores: Any, relevant: Any) -> float:
    return sound(scores, relevant) + 1e-3


def picky(embeddings: Any, labels: Any) -> float:
    if not np.issubdtype(np.asarray(labels).dtype, np.integer):
        raise TypeError("labels must be integers")
    return of_embeddings(embeddings, labels)


RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("fn", "form", "severity", "name", "said"),
    [
        (
            lambda e, y: of_embeddings(e, y) + (y[0] == 0),
            "embeddings",
            "serious",
            "sample order without ties",
            "",
        ),
        (lambda s, r: sound(-s if s.dtype == np.float32 else s, r), "scores", "serious", "type", ""),
        (lambda s, r: sound(s.astype(np.float32), r), "scores", "warning", "resolution", ""),
        (lambda e, y: of_embeddings(e / e.dtype.type(7), y), "embeddings", "warning", "float16", ""),
        (lambda e, y: of_embeddings(e, np.float32(y).astype(int)), "embeddings", "serious", "labels", ""),
        (only_positive, "scores", "serious", "shifted or scaled scores", "minus 2, all below zero: 0.0000 %"),
        (as_zero, "scores", "warning", "query without relevant items", "counts as 0"),
        (as_zero, "scores", "warning", "undefined value", ""),
        (lambda s, r: float("nan"), "scores", "serious", "NaN", ""),
        (picky, "embeddings", "note", "error", "labels must be integers"),
        (lambda s, r: sound(s + 1e-3 * RNG.random(s.shape), r), "scores", "serious", "repetition", ""),
        (writes, "scores", "warning", "arguments", ""),
        (moved, "scores", "warning", "definition", ""),
    ],
)
def test_what_is_broken_is_found(fn: Metric, form: str, severity: str, name: str, said: str) -> None:
    result = audit(fn, form)
    (finding,) = [each for each in result.of(severity) if each.name == name]
    assert said in finding.sentence
    if name == "NaN":
        assert names(result, "serious") == ["NaN"]
    if fn is picky:  # an evaluator may answer only some inputs
        assert result.passes()


def test_a_measure_that_it_does_not_give_is_serious() -> None:
    result = audit(moved, measure="AP")
    assert "definition" in names(result, "serious")
    assert "mAP" in result["definition"].sentence


@pytest.mark.parametrize(
    ("fn", "said"),
    [(lambda s, r: [1, 2], "must return one number"), (lambda s, r: exit(3), "SystemExit")],
)
def test_whatever_is_raised_is_a_finding(fn: Metric, said: str) -> None:
    result = audit(fn)
    assert names(result, "serious") == ["error"]
    assert said in result["error"].sentence
    assert result.definitions == ()
    assert json.loads(result.to_json())["empty_system"]["values"]["interleaved"] is None


@pytest.mark.skipif(not thread_control(), reason="needs threadpoolctl (extra demo)")
def test_threads() -> None:
    from threadpoolctl import threadpool_info

    def counts_threads(scores: Any, relevant: Any) -> float:
        return 0.1 * min(each["num_threads"] for each in threadpool_info())

    pools = threadpool_info()
    if not pools:
        pytest.skip("no library of this process has threads")
    result = audit(counts_threads)
    assert "threads" in names(result, "serious")
    assert threadpool_info() == pools


def mean_over_classes(values: Any, labels: Any) -> float:
    return float(np.mean([np.nanmean(values[labels == label]) for label in np.unique(labels)]))


def of_profile(profile: dh.TieProfile, measure: str) -> Any:
    return dh.measures.per_query(profile, measure).lower


@pytest.mark.parametrize(
    ("fn", "form", "definition"),
    [
        (
            lambda s, r: np.nanmean(of_profile(dh.from_scores(s, r).profile, "P@5")),
            "scores",
            "P@5, the highest score first",
        ),
        (lambda s, r: 1 / (1 + np.argmax(r[np.argsort(-s)])), "query", "MRR, the highest score first"),
        (
            lambda s, r: np.nanmean(of_profile(dh.from_scores(-s, r).profile, "MRR")),
            "scores",
            "MRR, the lowest score first",
        ),
        (lambda s, r: 100 * sound(s, r), "scores", "mAP, the highest score first, in per cent"),
        (lambda s, r: sound(s.reshape(1, -1), r.reshape(1, -1)), "scores", "mAP, all pairs in one ranking"),
        (
            lambda s, r: np.nanmean(
                of_profile(dh.from_scores(s, r).profile, "mAP@3") * r.sum(1) / np.minimum(3, r.sum(1))
            ),
            "scores",
            "mAP@3, the highest score first, over min(R, k)",
        ),
        (
            lambda e, y: mean_over_classes(of_profile(dh.Task(e, y, distance="cosine").profile, "MAP@R"), y),
            "embeddings",
            "MAP@R, cosine, leave one out, mean over classes",
        ),
        (
            lambda e, y: np.nanmean(of_profile(dh.Task(e, y, e, y, distance="cityblock").profile, "R-Precision")),
            "embeddings",
            "R-Precision, cityblock, the query itself in its ranking",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_definitions(fn: Metric, form: str, definition: str) -> None:
    assert audit(fn, form).definitions[0] == definition


def test_results_can_be_written_and_are_those_of_the_seed() -> None:
    result = audit(stable)
    assert audit(stable).to_json() == result.to_json()
    assert audit(stable, seed=1).to_json() != result.to_json()
    content = json.loads(result.to_json())
    assert (content["passes"], content["ties"], content["empty_system"]["possible"]["upper"]) == (False, "by order", 1)
    assert len(content["observations"]) == len(result.observations)
    text = " ".join(result.to_text().split())
    assert "SERIOUS: sample order A system that knows nothing (all scores equal) scores from" in text
    assert "| a system that knows nothing, 24 samples" in result.to_markdown()
    assert "<li><strong>serious: sample order.</strong> A system" in result._repr_html_()
    assert list(result.to_pandas()["name"]) == [each.name for each in result.findings]


@pytest.mark.parametrize(
    ("fn", "options"),
    [(3, {}), *((sound, {name: value}) for name, value in (
        ("form", "vectors"), ("measure", "mop"), ("n_classes", 1), ("class_size", 1), ("draws", -1), ("seed", 0.5)))],
)  # fmt: skip
def test_arguments_are_checked(fn: Any, options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        audit_evaluator(fn, **options)
