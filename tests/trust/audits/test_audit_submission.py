"""Audits of submissions: each finding on data made to have it, and not on data made to just lack it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import deadheat as dh
from deadheat.errors import InvalidTypeError
from deadheat.trust.audits import thresholds
from deadheat.trust.audits.evidence import Runs
from deadheat.trust.audits.findings import SEVERITIES, Finding, most_serious_first
from deadheat.trust.audits.run_audit import Looks, RunAudit
from deadheat.trust.audits.submission_audit import Audit
from tests.data import data_file

Rows = NDArray[Any]
Data = tuple[Rows, Rows]
N, DIM, N_CLASS = 240, 16, 6


def made(seed: int = 0) -> Data:
    """Sound embeddings: float32, no two equal, in no order, classes of about one size."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(N) % N_CLASS)
    return (rng.normal(size=(N_CLASS, DIM))[labels] + rng.normal(size=(N, DIM))).astype(np.float32), labels


SOUND, LABELS = made()
MEASURES = ("mAP", "Hit@1")


def audit(rows: Rows, labels: Rows = LABELS, *more: Any, **options: Any) -> Audit:
    return dh.audit(rows, labels, *more, **{"measures": MEASURES, "threads": 1, **options})


def changed(change: Callable[[Rows], None]) -> Audit:
    """The audit of sound embeddings once something has been done to them."""
    rows = SOUND.copy()
    change(rows)
    return audit(rows)


@pytest.fixture(scope="module")
def sound() -> Audit:
    return audit(SOUND)


@pytest.fixture(scope="module")
def zeros() -> Audit:
    """All zero, one class after the other."""
    return audit(np.zeros((N, 4)), np.sort(LABELS))


def severity(found: Audit, name: str) -> str | None:
    return found[name].severity if name in found else None


def test_sound_embeddings_have_only_notes(sound: Audit) -> None:
    assert {finding.severity for finding in sound} <= {"note"}
    assert sound.passes(strict=True)
    usual = {"chance", "scores in bfloat16", "scores in float16", "near ties"}
    assert "chance" in sound
    assert {finding.name for finding in sound} <= usual


def test_zero_embeddings_in_order_are_found(zeros: Audit) -> None:
    serious = {finding.name for finding in zeros.of("serious")}
    assert serious == {"ties", "sample order", "chance", "zero embeddings"}
    assert not zeros.passes()
    assert zeros["zero embeddings"].figures == {"rows": N, "n": N, "which": list(range(thresholds.EXAMPLES))}


def test_tie_breaking_moves_the_score_as_far_as_evaluate_says(zeros: Audit, sound: Audit) -> None:
    report = dh.evaluate(np.zeros((N, 4)), np.sort(LABELS), measures=MEASURES)
    figures = zeros["ties"].figures
    for name in MEASURES:
        result = report[name]
        assert figures["measures"][name] == {"lower": result.lower, "expected": result.expected, "upper": result.upper}
        assert figures["moves"][name] == result.upper - result.lower
    assert figures["mixed_groups"] == report.ties.mixed_groups == N
    assert zeros["ties"].sentence.startswith("How ties are broken moves mAP between")
    assert "ties" not in sound


def test_a_tie_that_moves_little_is_a_note() -> None:
    """Many queries, of which one has two items at one distance: nothing that a table would show."""
    line = np.arange(700.0)[:, None] ** 1.5
    line[:3] = [[-2e6], [-1e6], [-3e6]]  # the first is between the next two
    labels = np.array([0, 0, 1, *np.arange(697) // 2 + 2])
    found = audit(line, labels, distance="euclidean", average="class", measures="mAP")
    assert found["ties"].figures["queries"] == 1
    assert found["ties"].figures["mixed_groups"] == 1
    assert 0 < found["ties"].figures["moves"]["mAP"] < thresholds.PRINTED
    assert found["ties"].severity == "note"


def test_rounded_scores_move_further_than_exact_ones() -> None:
    """Twenty numbers to one side of 1, closer together than float32 there: exact distances distinguish them."""
    rng = np.random.default_rng(0)
    rows = 1 + rng.permutation(40)[:, None] * 2.0**-50
    labels = np.arange(40) % 2
    far = np.concatenate([rows, [[0.0]]])
    found = audit(far, np.append(labels, 0), distance="inner_product")
    report = dh.evaluate(far, np.append(labels, 0), distance="inner_product", measures=MEASURES)
    rounded = dh.evaluate(far, np.append(labels, 0), distance="inner_product", measures=MEASURES, ties="float32")
    assert severity(found, "scores in float32") == "serious"
    measures = found["scores in float32"].figures["measures"]
    assert measures["mAP"]["lower"] == rounded["mAP"].lower < report["mAP"].lower
    assert measures["mAP"]["upper"] == rounded["mAP"].upper > report["mAP"].upper
    moved = (report["mAP"].lower - rounded["mAP"].lower) + (rounded["mAP"].upper - report["mAP"].upper)
    assert found["scores in float32"].figures["moves"]["mAP"] == pytest.approx(moved, abs=1e-15)
    assert severity(found, "near ties") == "warning"
    assert found["near ties"].figures["queries_in_float32"] > found["near ties"].figures["queries"]
    plain = audit(np.arange(41.0)[:, None], np.append(labels, 0), distance="inner_product")
    assert "scores in float32" not in plain
    assert "near ties" not in plain


@pytest.mark.parametrize("distance", ["cosine", "cityblock", "inner_product"])
def test_ties_that_noise_has_broken_are_found_by_a_tolerance(distance: str) -> None:
    """A quarter of the rows are one point: with noise below the precision of float32 their ties are gone, and back."""

    def collapsed(level: float) -> Audit:
        noise = np.random.default_rng(1).uniform(-level, level, (N // 4, SOUND.shape[1]))
        rows = SOUND.astype(np.float64)
        rows[: N // 4] = rows[0] + noise
        return audit(rows, distance=distance)

    equal, noisy = collapsed(0.0), collapsed(1e-9)
    assert severity(equal, "ties") == "serious"
    assert "noise" not in equal
    assert "ties" not in noisy
    assert severity(noisy, "noise") == "serious"
    found, report = noisy["noise"].figures, noisy.evidence.report["mAP"]
    bounds = found["measures"]["mAP"]
    assert bounds["lower"] < report.lower == report.upper < bounds["upper"]
    assert bounds["lower"] == pytest.approx(equal.evidence.report["mAP"].lower, abs=1e-3)
    rows = noisy.evidence.pair.query.embeddings.whole()
    again = dh.evaluate(rows, LABELS, measures="mAP", distance=distance, ties=dh.Tolerance(found["eps"]))["mAP"]
    assert (again.lower, again.upper) == (bounds["lower"], bounds["upper"])


def test_rows_that_are_zero_but_for_noise_are_named() -> None:
    def faint(rows: Rows) -> None:
        rows[:10] = np.random.default_rng(1).normal(size=(10, rows.shape[1])) * 1e-9

    found = changed(faint)
    assert severity(found, "nearly zero embeddings") is not None
    assert found["nearly zero embeddings"].figures["which"] == list(range(10))
    assert "nearly zero embeddings" not in audit(np.full((N, 4), 1e-9) * np.arange(1, N + 1)[:, None])


def stable(labels: Rows) -> float:
    """mAP of all-zero embeddings, leave one out, in the order of the file: by its definition."""
    total = 0.0
    for query, label in enumerate(labels):
        relevant = np.delete(labels, query) == label
        rank = 1 + np.flatnonzero(relevant)
        total += float((np.arange(1, len(rank) + 1) / rank).mean())
    return total / len(labels)


def test_the_order_of_the_file_gives_what_a_stable_sort_gives(zeros: Audit) -> None:
    labels = np.sort(LABELS)
    orders = zeros["sample order"].figures["orders"]["mAP"]
    assert orders["file"] == pytest.approx(stable(labels), abs=1e-12)
    assert orders["reversed"] == pytest.approx(stable(labels[::-1]), abs=1e-12)
    exploited = dh.exploit(np.zeros((N, 1)), labels, draws=1, tries=1)
    assert orders["file"] == pytest.approx(exploited.as_given, abs=1e-12)
    expected = zeros.evidence.report["mAP"].expected
    assert all(abs(value - expected) < 0.02 for value in orders["shuffled"])
    assert orders["file"] > expected + 0.05
    uneven = np.repeat([0, 1, 2], [5, 10, 25])  # or both directions give the same
    orders = audit(np.zeros((40, 1)), uneven)["sample order"].figures["orders"]["mAP"]
    assert [orders["file"], orders["reversed"]] == pytest.approx([stable(uneven), stable(uneven[::-1])], abs=1e-12)


def test_shuffled_samples_gain_nothing_by_their_order() -> None:
    """One order serves all queries, so that it moves a mean further than independent ties do."""
    for seed in range(3):
        rows, labels = made(seed)
        rows[:40] = rows[0]
        assert severity(audit(rows, labels), "sample order") in (None, "note")
    assert severity(audit(np.zeros((N, 4))), "sample order") in (None, "note")


def test_where_few_queries_are_ranked_their_order_stands_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = audit(np.zeros((N, 4)), np.sort(LABELS))
    monkeypatch.setattr(thresholds, "SORTED_ITEMS", 1)
    monkeypatch.setattr(thresholds, "FEWEST_QUERIES", 80)
    part = audit(np.zeros((N, 4)), np.sort(LABELS))
    figures, all_of_them = part["sample order"].figures, whole["sample order"].figures
    assert (figures["n_query"], figures["sampled"]) == (80, True)
    assert (all_of_them["n_query"], all_of_them["sampled"]) == (N, False)
    assert figures["orders"]["mAP"]["file"] == pytest.approx(all_of_them["orders"]["mAP"]["file"], abs=0.05)
    assert "(estimated from 80 queries)" in part["sample order"].sentence


@pytest.mark.parametrize("options", [{}, {"junk": True}, {"exclude": True}], ids=["plain", "junk", "exclude"])
def test_plain_sorts_keep_to_the_bounds_with_a_gallery(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 2, (80, 3)).astype(float)
    given: dict[str, Any] = {}
    if "junk" in options:
        given["junk"] = rng.random(80) < 0.3
    if "exclude" in options:
        given["exclude"] = np.arange(30)
    with warnings.catch_warnings(action="ignore"):
        found = audit(rows[:30], LABELS[:30], rows, LABELS[:80], **given)
        report = dh.evaluate(rows[:30], LABELS[:30], rows, LABELS[:80], measures=MEASURES, **given)
    assert found.evidence.report.profile == report.profile
    sorts = found.evidence.sorts
    assert sorts is not None
    for name in MEASURES:
        reached = [sorts.file[name], sorts.backwards[name], *sorts.shuffled[name]]
        assert report[name].lower <= min(reached) <= max(reached) <= report[name].upper
        assert len(set(reached)) > 1


def test_random_embeddings_are_not_beyond_chance() -> None:
    rows = np.random.default_rng(5).normal(size=(N, DIM)).astype(np.float32)
    found = audit(rows)
    assert severity(found, "chance") == "serious"
    figures = found["chance"].figures
    assert abs(figures["standard_deviations"]["ties"]) < thresholds.BEYOND_CHANCE
    assert figures["chance"] == dh.evaluate(np.zeros((N, 1)), LABELS)["mAP"].expected
    assert figures["std"]["ties"] == dh.evaluate(np.zeros((N, 1)), LABELS)["mAP"].std


def test_deviations_from_chance_are_those_of_random_embeddings(sound: Audit) -> None:
    figures = sound["chance"].figures
    drawn = dh.random_baseline(LABELS, draws=thresholds.MOST_DRAWS)
    assert figures["std"]["draws"] == drawn.std
    assert figures["standard_deviations"]["draws"] == (figures["lower"] - figures["chance"]) / drawn.std
    assert figures["std"]["ties"] / 2 < drawn.std < figures["std"]["ties"] * 3


def test_where_nothing_is_drawn_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between three and six deviations of random rankings: enough if random embeddings do not deviate more."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(N, DIM)) + 0.5 * np.eye(N_CLASS, DIM)[LABELS]
    drawn = audit(rows)["chance"]
    assert drawn.figures["standard_deviations"]["draws"] > thresholds.BEYOND_CHANCE
    assert drawn.figures["standard_deviations"]["ties"] < thresholds.BEYOND_CHANCE * thresholds.UNDRAWN
    assert drawn.severity == "note"
    monkeypatch.setattr(thresholds, "DRAWN_PAIRS", 0)
    undrawn = audit(rows)["chance"]
    assert undrawn.severity == "serious"
    assert np.isnan(undrawn.figures["std"]["draws"])


def test_a_score_that_all_zero_embeddings_reach_in_this_order_is_serious() -> None:
    """A little better than chance, in a file sorted by class: a sort gives as much to a model that knows nothing."""
    labels = np.sort(LABELS)
    weak = np.random.default_rng(1).normal(size=(N, 4))
    weak[:, 0] += 0.9 * (labels == 0)
    weak[:, 1] += 0.9 * (labels == 1)
    found = audit(weak, labels)
    figures = found["chance"].figures
    assert figures["chance"] < figures["lower"] <= figures["all_zero_in_order_of_file"]
    assert found["chance"].severity == "serious"
    assert figures["all_zero_in_order_of_file"] == pytest.approx(stable(labels), abs=1e-12)


def test_a_measure_without_a_value_is_serious() -> None:
    found = audit(SOUND, np.zeros(N, int), measures=["AUC", "mAP"])
    assert severity(found, "undefined measure") == "serious"
    assert "chance" not in found
    json.loads(found.to_json())


def test_queries_that_find_themselves_are_serious_and_not_warned_of() -> None:
    with warnings.catch_warnings(action="error"):
        found = audit(SOUND[:50], LABELS[:50], SOUND, LABELS)
    assert severity(found, "queries in the gallery") == "serious"
    assert found["queries in the gallery"].figures == {"queries": 50, "n_query": 50}
    assert "queries in the gallery" not in audit(SOUND[:50], LABELS[:50], SOUND, LABELS, exclude=np.arange(50))
    assert "queries in the gallery" not in audit(SOUND[:50], LABELS[:50], SOUND[50:], LABELS[50:])


@pytest.mark.parametrize(("n", "expected"), [(0, None), (11, "warning"), (12, "serious")])
def test_zero_rows_count(n: int, expected: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    found = changed(lambda rows: rows.__setitem__(slice(n), 0))
    assert severity(found, "zero embeddings") == expected
    assert "duplicates across classes" not in found  # they are zero, and that is the finding
    if n:
        which = list(range(thresholds.EXAMPLES))
        assert found["zero embeddings"].figures == {"rows": n, "n": N, "which": which}
        monkeypatch.setattr(thresholds, "SOME_ROWS", 0.046)
        found = changed(lambda rows: rows.__setitem__(slice(n), 0))
        assert severity(found, "zero embeddings") == {11: "note", 12: "serious"}[n]


def test_constant_rows_are_one_number() -> None:
    found = changed(lambda rows: rows.__setitem__([3, 5], [[2.0], [-0.5]]))
    assert severity(found, "constant embeddings") == "warning"
    assert found["constant embeddings"].figures["which"] == [3, 5]
    assert "constant embeddings" not in audit(np.arange(1.0, N + 1)[:, None], distance="euclidean")  # of one dimension


def test_duplicates_across_classes_are_distinguished_from_those_inside() -> None:
    first = {label: np.flatnonzero(label == LABELS) for label in (0, 1)}

    def copy(rows: Rows) -> None:
        rows[first[1][0]] = rows[first[0][0]]  # one pair of two classes
        rows[first[0][2]] = rows[first[0][1]]  # one of the same

    found = changed(copy)
    assert severity(found, "duplicates across classes") == "warning"
    assert found["duplicates across classes"].figures["which"] == sorted([first[0][0], first[1][0]])
    assert severity(found, "duplicates inside classes") == "note"
    assert found["duplicates inside classes"].figures["which"] == sorted([first[0][1], first[0][2]])
    assert found["duplicates inside classes"].figures["distinct"] == N - 2
    many = changed(lambda rows: rows.__setitem__(slice(20), rows[0]))
    assert severity(many, "duplicates across classes") == "serious"
    assert many["duplicates across classes"].figures["largest"] == 20


def test_an_embedding_for_each_class_is_serious() -> None:
    found = audit(np.random.default_rng(0).normal(size=(N_CLASS, DIM))[LABELS])
    assert severity(found, "duplicates inside classes") == "serious"
    assert "duplicates across classes" not in found


def test_positive_multiples_are_the_same_to_cosine_alone() -> None:
    rows = SOUND.copy()
    rows[1] = 2 * rows[0]
    names = {"duplicates across classes", "duplicates inside classes"}
    assert names & {finding.name for finding in audit(rows)}
    assert not names & {finding.name for finding in audit(rows, distance="euclidean")}


def test_the_gallery_is_looked_at_too() -> None:
    gallery = SOUND[40:].copy()
    gallery[:3] = 0
    found = audit(SOUND[:40], LABELS[:40], gallery, LABELS[40:])
    assert "zero embeddings" not in found
    assert found["zero embeddings in the gallery"].figures["rows"] == 3


@pytest.mark.parametrize(("n", "expected"), [(0, None), (1, "note"), (4, "warning")])
def test_dead_dimensions_count(n: int, expected: str | None) -> None:
    found = changed(lambda rows: rows.__setitem__((slice(None), slice(n)), 1.5))
    assert severity(found, "dead dimensions") == expected
    if n:
        assert found["dead dimensions"].figures == {"dimensions": n, "dim": DIM, "which": list(range(n))}


def test_saturated_dimensions_are_at_an_end_that_is_not_zero() -> None:
    clipped = np.clip(SOUND, None, np.quantile(SOUND, 0.3, axis=0)).astype(np.float32)
    assert severity(audit(clipped), "saturated dimensions") == "warning"
    quarter = SOUND.shape[1] // 4
    for n, expected in ((quarter, "warning"), (quarter - 1, "note")):
        some = np.concatenate([clipped[:, :n], SOUND[:, n:]], axis=1)
        assert severity(audit(some), "saturated dimensions") == expected
    rectified = np.maximum(SOUND - np.quantile(SOUND, 0.7, axis=0), 0)
    assert "saturated dimensions" not in audit(rectified)


@pytest.mark.parametrize(("levels", "expected"), [(2, "warning"), (16, "warning"), (40, "note"), (None, None)])
def test_few_levels_are_found(levels: int | None, expected: str | None) -> None:
    low, high = SOUND.min(), SOUND.max()
    rows = SOUND if levels is None else np.rint((SOUND - low) / (high - low) * (levels - 1)) + 1
    found = audit(rows.astype(np.float32))
    assert severity(found, "few levels") == expected
    if levels == 2:
        assert found["few levels"].figures["levels"] == 2
        assert severity(found, "ties") == "serious"  # what two levels do
        assert "saturated dimensions" not in found  # a bit is always at an end


def test_copies_are_not_taken_for_levels() -> None:
    found = audit(np.repeat(SOUND[: N // 8], 8, axis=0))
    assert "few levels" not in found


def test_codes_are_not_looked_at_as_numbers_and_may_be_equal() -> None:
    found = audit(SOUND[:, :4] > 0, distance="hamming")
    names = {finding.name for finding in found}
    assert names.isdisjoint({"few levels", "zero embeddings", "constant embeddings", "dead dimensions"})
    assert severity(found, "duplicates across classes") == "warning"
    assert severity(found, "ties") == "serious"


def test_labels_in_order_are_a_note_unless_something_ties(sound: Audit, zeros: Audit) -> None:
    order = np.argsort(LABELS, kind="stable")
    found = audit(SOUND[order], LABELS[order])
    assert severity(found, "labels in order") == "note"
    assert found.passes(strict=True)
    assert severity(zeros, "labels in order") == "warning"
    assert zeros["labels in order"].figures["runs"] == N_CLASS
    in_file = zeros["labels in order"].figures["all_zero"]["file"]["mAP"]
    assert in_file == pytest.approx(stable(np.sort(LABELS)), abs=1e-12)
    assert "labels in order" not in sound


def test_runs_are_counted_against_a_random_order() -> None:
    rng = np.random.default_rng(0)
    shuffled = [Runs.of(rng.permutation(LABELS)) for _ in range(300)]
    assert np.mean([each.n_run for each in shuffled]) == pytest.approx(Runs.of(LABELS).likely, abs=1)
    assert not any(each.found for each in shuffled)
    assert Runs.of(np.sort(LABELS)).order == 1
    assert not Runs.of(np.arange(9)).found
    assert not Runs.of(np.zeros(9, int)).found
    assert not Runs.of(np.arange(N) % N_CLASS).found  # in turns


@pytest.mark.parametrize(("n_singleton", "expected"), [(0, None), (5, "note"), (N // 2, "warning")])
def test_queries_without_a_relevant_item_count(n_singleton: int, expected: str | None) -> None:
    labels = LABELS.copy()
    labels[:n_singleton] = 100 + np.arange(n_singleton)
    found = audit(SOUND, labels)
    assert severity(found, "queries without a relevant item") == expected
    if n_singleton:
        assert found["queries without a relevant item"].figures["queries"] == n_singleton


def test_one_class_that_is_the_mean_is_a_warning(sound: Audit) -> None:
    labels = np.where(np.arange(N) < 170, 0, LABELS + 1)
    found = audit(SOUND, labels)
    figures = found["class imbalance"].figures
    assert found["class imbalance"].severity == "warning"
    assert (figures["largest"], figures["queries"], figures["classes"]) == (170, N, N_CLASS + 1)
    report = dh.evaluate(SOUND, labels, average="class")
    assert figures["over_classes"] == report["mAP"].expected
    assert figures["over_queries"] == dh.evaluate(SOUND, labels)["mAP"].expected
    assert "class imbalance" not in sound
    assert "class imbalance" not in audit(SOUND, LABELS % 2)  # half and half


def test_real_embeddings_have_nothing_serious() -> None:
    with np.load(data_file("phocnet_gw.npz")) as file:
        rows, labels = file["phocnet_features"], file["phocnet_labels"].ravel()
    found = audit(rows, labels)
    assert not found.of("serious")
    assert found["queries without a relevant item"].figures["queries"] == 265


def test_files_in_pieces_give_the_same(tmp_path: Path, sound: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.inputs.source._PIECE", 7 * DIM * 4)  # 7 rows at a time
    np.save(tmp_path / "rows.npy", SOUND)
    assert audit(str(tmp_path / "rows.npy")).to_dict() == sound.to_dict()  # type: ignore[arg-type]
    assert audit(np.load(tmp_path / "rows.npy", mmap_mode="r")).to_dict() == sound.to_dict()


def test_the_same_seed_gives_the_same_findings(zeros: Audit) -> None:
    again = audit(np.zeros((N, 4)), np.sort(LABELS), threads=2)
    assert again.to_json() == zeros.to_json()
    other = audit(np.zeros((N, 4)), np.sort(LABELS), seed=1)
    shuffled = [found["sample order"].figures["orders"]["mAP"]["shuffled"] for found in (zeros, other)]
    assert shuffled[0] != shuffled[1]


def test_it_is_text_json_markdown_and_a_frame(zeros: Audit) -> None:
    text = str(zeros)
    assert text.startswith(zeros.verdict())
    assert text.index("SERIOUS: ties") < text.index("warning: ") < len(text)
    assert max(map(len, text.splitlines())) <= 100
    assert not any(line.lstrip().startswith("%") for line in text.splitlines())
    content = json.loads(zeros.to_json())
    assert content["counts"]["serious"] == 4
    severities = [each["severity"] for each in content["findings"]]
    assert severities == sorted(severities, key=SEVERITIES.index)
    assert content["measures"]["mAP"]["upper"] == 1
    in_file = content["measures"]["mAP"]["plain_sort"]["plain sort, as in the file"]
    assert in_file == pytest.approx(stable(np.sort(LABELS)), abs=1e-12)
    assert "- **serious: ties.**" in zeros.to_markdown()
    frame = zeros.to_pandas()
    assert list(frame["severity"]) == [finding.severity for finding in zeros]
    assert json.loads(frame["figures"][0])["mixed_groups"] == N
    assert "serious: zero embeddings." in zeros._repr_html_()
    assert len(zeros) == len(list(zeros))
    with pytest.raises(KeyError):
        zeros["few levels"]


def test_arguments_are_those_of_evaluate() -> None:
    with pytest.raises(InvalidTypeError, match="seed must be an integer"):
        audit(SOUND, seed="x")
    with pytest.raises(ValueError, match="must be finite"):
        audit(np.full((N, 2), np.nan))
    with pytest.raises(ValueError, match="distance must be one of"):
        audit(SOUND, distance="x")
    found = audit(SOUND, average="class", singletons="zero", measures="nDCG@10")
    assert found.evidence.headline == "nDCG@10"
    assert found.evidence.report["nDCG@10"].lower == dh.evaluate(SOUND, LABELS, average="class")["nDCG@10"].lower


def test_a_finding_has_one_of_three_severities() -> None:
    with pytest.raises(ValueError, match="severity must be one of serious, warning, note"):
        Finding("x", "grave", "X.")
    found = [Finding(name, severity, "X.") for name, severity in zip("abc", reversed(SEVERITIES), strict=True)]
    assert [finding.name for finding in most_serious_first(found)] == ["c", "b", "a"]
    parts = [RunAudit(tuple(found[:n]), Looks.of({}), None, None, {}) for n in (3, 2, 1)]
    assert [(each.passes(), each.passes(strict=True)) for each in parts] == [(0, 0), (1, 0), (1, 1)]
