"""Audits of submissions: each finding on data made to have it, and not on data made to just lack it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import deadheat as dh
from deadheat.errors import InvalidTypeError, QueryInGalleryWarning
from deadheat.trust.audits import thresholds
from deadheat.trust.audits.evidence import Runs
from deadheat.trust.audits.findings import SEVERITIES, Finding, most_serious_first
from deadheat.trust.audits.run_audit import Looks, RunAudit
from deadheat.trust.audits.submission_audit import Audit
from tests.data import data_file

Rows = NDArray[Any]
N, DIM, N_CLASS = 240, 16, 6
MEASURES = ("mAP", "Hit@1")


def made(seed: int = 0) -> tuple[Rows, Rows]:
    """Sound embeddings: float32, no two equal, in no order, classes of about one size."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(N) % N_CLASS)
    return (rng.normal(size=(N_CLASS, DIM))[labels] + rng.normal(size=(N, DIM))).astype(np.float32), labels


SOUND, LABELS = made()
SORTED, ZERO = np.sort(LABELS), np.zeros((N, 4))


def audit(
    rows: Rows, labels: Rows = LABELS, *more: Any, measures: Any = MEASURES, singletons: Any = "skip",
    average: Any = "query", seed: Any = 0, **settings: Any,
) -> Audit:  # fmt: skip
    task = dh.Task(rows, labels, *more, **{"threads": 1, **settings})
    return dh.audit(task, measures=measures, singletons=singletons, average=average, seed=seed)


def put(value: Any, *position: Any) -> Rows:
    """Sound embeddings with something put in a position."""
    rows = SOUND.copy()
    rows[position] = value
    return rows


@pytest.fixture(scope="module")
def sound() -> Audit:
    return audit(SOUND)


@pytest.fixture(scope="module")
def zeros() -> Audit:
    """All zero, one class after the other."""
    return audit(ZERO, SORTED)


def severity(outcome: Audit, name: str) -> str | None:
    return outcome[name].severity if name in outcome else None


def stable(labels: Rows) -> float:
    """mAP of all-zero embeddings, leave one out, in the order of the file: by its definition."""
    ranks = [1 + np.flatnonzero(np.delete(labels, query) == label) for query, label in enumerate(labels)]
    return float(np.mean([(np.arange(1, len(rank) + 1) / rank).mean() for rank in ranks]))


def test_sound_embeddings_have_only_notes(sound: Audit) -> None:
    assert {finding.severity for finding in sound} <= {"note"}
    assert sound.passes(strict=True)
    usual = {"chance", "scores in bfloat16", "scores in float16", "near ties"}
    assert {"chance"} <= {finding.name for finding in sound} <= usual


def test_zero_embeddings_in_order_are_found(zeros: Audit) -> None:
    assert {finding.name for finding in zeros.of("serious")} == {"ties", "sample order", "chance", "zero embeddings"}
    assert not zeros.passes()


# Rows, dimensions and labels ------------------------------------------------------------------------------------------

TEN = list(range(thresholds.EXAMPLES))
ONE, OTHER = (np.flatnonzero(label == LABELS) for label in (0, 1))
PAIRS = SOUND.copy()  # one of two classes, and one inside a class
PAIRS[OTHER[0]], PAIRS[ONE[2]] = PAIRS[ONE[0]], PAIRS[ONE[1]]
FAINT = 1e-9 * np.random.default_rng(1).normal(size=(10, DIM))
BY_CLASS = np.random.default_rng(0).normal(size=(N_CLASS, DIM))[LABELS]
QUARTER = DIM // 4
DOUBLED = put(2 * SOUND[ONE[0]], OTHER[0])  # positive multiples are the same to cosine alone


def clipped(n: int) -> Rows:
    """Some dimensions clipped, so that most rows are at the largest number."""
    return np.where(np.arange(DIM) < n, np.minimum(SOUND, np.quantile(SOUND, 0.3, axis=0)), SOUND).astype(np.float32)


def rounded(levels: int) -> Rows:
    low, high = SOUND.min(), SOUND.max()
    return (np.rint((SOUND - low) / (high - low) * (levels - 1)) + 1).astype(np.float32)


def alone(n: int) -> Rows:
    """Labels of which so many come once."""
    return np.where(np.arange(N) < n, 100 + np.arange(N), LABELS)


def case(outcome: dict[str, Any], rows: Rows = SOUND, labels: Rows = LABELS, **options: Any) -> Any:
    """Expected findings: severity, figures or a part of the sentence; None for nothing."""
    return pytest.param(outcome, rows, labels, options, id=", ".join(outcome))


ZEROED = {"zero embeddings": {"rows": 12, "n": N, "which": TEN}, "duplicates across classes": None}


@pytest.mark.parametrize(
    ("outcome", "rows", "labels", "options"),
    [
        case({"zero embeddings": "warning"}, put(0, slice(11))),
        case({"zero embeddings": "serious"}, put(0, slice(12))),
        case(ZEROED, put(0, slice(12))),  # these are zero, and that is the finding
        case({"nearly zero embeddings": "warning"}, put(FAINT, slice(10))),
        case({"nearly zero embeddings": {"which": TEN}}, put(FAINT, slice(10))),
        case({"nearly zero embeddings": None}, 1e-9 * np.arange(1, N + 1)[:, None] * np.ones(4)),
        case({"constant embeddings": "warning"}, put([[2.0], [-0.5]], [3, 5])),
        case({"constant embeddings": {"which": [3, 5]}}, put([[2.0], [-0.5]], [3, 5])),
        case({"constant embeddings": None}, np.arange(1.0, N + 1)[:, None], distance="euclidean"),  # of one dimension
        case({"duplicates across classes": "warning", "duplicates inside classes": "note"}, PAIRS),
        case({"duplicates across classes": {"which": sorted([ONE[0], OTHER[0]])}}, PAIRS),
        case({"duplicates inside classes": {"which": sorted(ONE[1:3]), "distinct": N - 2}}, PAIRS),
        case({"duplicates across classes": "serious"}, put(SOUND[0], slice(20))),
        case({"duplicates across classes": "20 of 240 rows (8.3 %) are equal to a row of another class (rows 0, 1, 2, "
              "3, 4, ...). 221 rows are distinct."}, put(SOUND[0], slice(20))),
        case({"duplicates across classes": {"largest": 20}}, put(SOUND[0], slice(20))),
        case({"duplicates inside classes": "serious", "duplicates across classes": None}, BY_CLASS),
        case({"duplicates across classes": "warning"}, DOUBLED),
        case({"duplicates across classes": None}, DOUBLED, distance="euclidean"),
        case({"dead dimensions": "note"}, put(1.5, slice(None), 0)),
        case({"dead dimensions": "warning"}, put(1.5, slice(None), slice(QUARTER))),
        case({"dead dimensions": {"dimensions": 2, "dim": DIM, "which": [0, 1]}}, put(1.5, slice(None), [0, 1])),
        case({"saturated dimensions": "warning"}, clipped(DIM)),
        case({"saturated dimensions": "warning"}, clipped(QUARTER)),
        case({"saturated dimensions": "note"}, clipped(QUARTER - 1)),
        case({"saturated dimensions": "3 of 16 dimensions (19 %) of the embeddings are at their largest or smallest "
              "number in 50 % of the rows or more."}, clipped(3)),
        case({"saturated dimensions": None}, np.maximum(SOUND - np.quantile(SOUND, 0.7, axis=0), 0)),  # at zero
        case({"few levels": "warning", "ties": "serious", "saturated dimensions": None}, rounded(2)),
        case({"few levels": "All 16 dimensions of the embeddings have few distinct numbers: mostly 2."}, rounded(2)),
        case({"few levels": "warning"}, rounded(16)),
        case({"few levels": "note"}, rounded(40)),
        case({"few levels": None}, np.repeat(SOUND[: N // 8], 8, axis=0)),  # copies
        case({"queries without a relevant item": "note"}, labels=alone(5)),
        case({"queries without a relevant item": "warning"}, labels=alone(N // 2)),
        case({"queries without a relevant item": "5 of 240 queries (2.1 %) have no relevant item"}, labels=alone(5)),
        case({"queries without a relevant item": {"queries": 5}}, labels=alone(5)),
        case({"class imbalance": None}, labels=LABELS % 2),  # half and half
        case({"undefined measure": "serious", "chance": None}, labels=LABELS * 0, measures=["AUC", "mAP"]),
        case(  # codes are not examined as numbers, and may be equal
            {"duplicates across classes": "warning", "ties": "serious", "few levels": None, "zero embeddings": None,
             "constant embeddings": None, "dead dimensions": None}, SOUND[:, :4] > 0, distance="hamming",
        ),
    ],
)  # fmt: skip
def test_findings(outcome: dict[str, Any], rows: Rows, labels: Rows, options: dict[str, Any]) -> None:
    audited = audit(rows, labels, **options)
    for name, expected in outcome.items():
        if isinstance(expected, dict):
            assert expected.items() <= audited[name].figures.items()
        elif expected is None or expected in SEVERITIES:
            assert severity(audited, name) == expected
        else:
            assert expected in audited[name].sentence
    json.loads(audited.to_json())


def test_a_small_share_of_rows_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thresholds, "SOME_ROWS", 0.046)
    assert [severity(audit(put(0, slice(n))), "zero embeddings") for n in (11, 12)] == ["note", "serious"]


def test_the_gallery_is_looked_at_too() -> None:
    outcome = audit(SOUND[:40], LABELS[:40], put(0, slice(40, 43))[40:], LABELS[40:])
    assert "zero embeddings" not in outcome
    assert outcome["zero embeddings in the gallery"].figures["rows"] == 3


def test_one_class_that_is_the_mean_is_a_warning() -> None:
    labels = np.where(np.arange(N) < 170, 0, LABELS + 1)
    outcome = audit(SOUND, labels)["class imbalance"]
    assert outcome.severity == "warning"
    assert {"largest": 170, "queries": N, "classes": N_CLASS + 1}.items() <= outcome.figures.items()
    for average in ("class", "query"):
        expected = dh.evaluate(SOUND, labels, average=average)["mAP"].expected  # type: ignore[arg-type]
        assert outcome.figures[{"class": "over_classes", "query": "over_queries"}[average]] == expected


def test_labels_in_order_are_a_note_unless_something_ties(sound: Audit, zeros: Audit) -> None:
    outcome = audit(SOUND[np.argsort(LABELS, kind="stable")], SORTED)
    assert outcome.passes(strict=True)
    assert [severity(each, "labels in order") for each in (sound, outcome, zeros)] == [None, "note", "warning"]
    figures = zeros["labels in order"].figures
    assert figures["runs"] == N_CLASS
    assert figures["all_zero"]["file"]["mAP"] == pytest.approx(stable(SORTED), abs=1e-12)


def test_runs_are_counted_against_a_random_order() -> None:
    rng = np.random.default_rng(0)
    shuffled = [Runs.of(rng.permutation(LABELS)) for _ in range(300)]
    assert np.mean([each.n_run for each in shuffled]) == pytest.approx(Runs.of(LABELS).likely, abs=1)
    assert Runs.of(SORTED).order == 1
    alternating = np.arange(N) % N_CLASS
    others = [Runs.of(codes) for codes in (np.arange(9), np.zeros(9, int), alternating)]
    assert not any(each.found for each in [*shuffled, *others])


# Ties, rounding, noise and orders -------------------------------------------------------------------------------------


def test_tie_breaking_moves_the_score_as_far_as_evaluate_says(zeros: Audit) -> None:
    report = dh.evaluate(ZERO, SORTED, measures=MEASURES)
    figures = zeros["ties"].figures
    for name, result in report.items():
        assert figures["measures"][name] == {"lower": result.lower, "expected": result.expected, "upper": result.upper}
        assert figures["moves"][name] == result.upper - result.lower
    assert figures["mixed_groups"] == report.ties.mixed_groups == N
    assert zeros["ties"].sentence.startswith("How ties are broken moves mAP between")


def test_a_tie_that_moves_little_is_a_note() -> None:
    """Many queries, of which one has two items at one distance: nothing that a table would show."""
    line = np.arange(700.0)[:, None] ** 1.5
    line[:3] = [[-2e6], [-1e6], [-3e6]]  # the first is between the next two
    labels = np.array([0, 0, 1, *np.arange(697) // 2 + 2])
    outcome = audit(line, labels, distance="euclidean", average="class", measures="mAP")["ties"]
    assert (outcome.figures["queries"], outcome.figures["mixed_groups"], outcome.severity) == (1, 1, "note")
    assert 0 < outcome.figures["moves"]["mAP"] < thresholds.PRINTED


def test_rounded_scores_move_further_than_exact_ones() -> None:
    """Twenty numbers to one side of 1, closer together than float32 there: exact distances distinguish them."""
    rows, labels = 1 + np.random.default_rng(0).permutation(40)[:, None] * 2.0**-50, np.append(np.arange(40) % 2, 0)
    far = np.concatenate([rows, [[0.0]]])
    outcome = audit(far, labels, distance="inner_product")
    exact, rounded = (
        dh.evaluate(far, labels, distance="inner_product", measures="mAP", ties=ties)["mAP"]
        for ties in ("exact", "float32")
    )
    figures, near = outcome["scores in float32"].figures, outcome["near ties"]
    assert (outcome["scores in float32"].severity, near.severity) == ("serious", "warning")
    assert figures["measures"]["mAP"]["lower"] == rounded.lower < exact.lower
    assert figures["measures"]["mAP"]["upper"] == rounded.upper > exact.upper
    moved = (exact.lower - rounded.lower) + (rounded.upper - exact.upper)
    assert figures["moves"]["mAP"] == pytest.approx(moved, abs=1e-15)
    assert near.figures["queries_in_float32"] > near.figures["queries"]
    plain = audit(np.arange(41.0)[:, None], labels, distance="inner_product")
    assert {"scores in float32", "near ties"}.isdisjoint(finding.name for finding in plain)


@pytest.mark.parametrize("distance", ["cosine", "cityblock", "inner_product"])
def test_ties_that_noise_has_broken_are_found_by_a_tolerance(distance: str) -> None:
    """A quarter of the rows are one point: with noise below the precision of float32 their ties are gone, and back."""
    rows, noise = SOUND.astype(np.float64), np.random.default_rng(1).uniform(-1e-9, 1e-9, (N // 4, DIM))
    rows[: N // 4] = rows[0]
    equal = audit(rows, distance=distance)
    rows[: N // 4] += noise
    noisy = audit(rows, distance=distance)
    assert (severity(equal, "ties"), severity(equal, "noise")) == ("serious", None)
    assert (severity(noisy, "ties"), severity(noisy, "noise")) == (None, "serious")
    outcome, report = noisy["noise"].figures, noisy.evidence.report["mAP"]
    bounds = outcome["measures"]["mAP"]
    assert bounds["lower"] < report.lower == report.upper < bounds["upper"]
    assert bounds["lower"] == pytest.approx(equal.evidence.report["mAP"].lower, abs=1e-3)
    again = dh.evaluate(rows, LABELS, measures="mAP", distance=distance, ties=dh.Tolerance(outcome["eps"]))["mAP"]
    assert (again.lower, again.upper) == (bounds["lower"], bounds["upper"])


def test_the_order_of_the_file_gives_what_a_stable_sort_gives(zeros: Audit) -> None:
    uneven = np.repeat([0, 1, 2], [5, 10, 25])  # or both directions give the same
    for outcome, labels in ((zeros, SORTED), (audit(np.zeros((40, 1)), uneven), uneven)):
        orders = outcome["sample order"].figures["orders"]["mAP"]
        assert [orders["file"], orders["reversed"]] == pytest.approx([stable(labels), stable(labels[::-1])], abs=1e-12)
    orders = zeros["sample order"].figures["orders"]["mAP"]
    assert orders["file"] == pytest.approx(dh.exploit(dh.Task(ZERO, SORTED), draws=1, searches=1).as_given, abs=1e-12)
    expected = zeros.evidence.report["mAP"].expected
    assert all(abs(value - expected) < 0.02 for value in orders["shuffled"])
    assert orders["file"] > expected + 0.05


def test_shuffled_samples_gain_nothing_by_their_order() -> None:
    """One order serves all queries, so that it moves a mean further than independent ties do."""
    for seed in range(3):
        rows, labels = made(seed)
        rows[:40] = rows[0]
        assert severity(audit(rows, labels), "sample order") in (None, "note")
    assert severity(audit(ZERO), "sample order") in (None, "note")


def test_where_few_queries_are_ranked_their_order_stands_for_all(zeros: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thresholds, "SORTED_ITEMS", 1)
    monkeypatch.setattr(thresholds, "FEWEST_QUERIES", 80)
    outcome = [each["sample order"] for each in (audit(ZERO, SORTED), zeros)]
    assert [(each.figures["n_query"], each.figures["sampled"]) for each in outcome] == [(80, True), (N, False)]
    part, whole = (each.figures["orders"]["mAP"]["file"] for each in outcome)
    assert part == pytest.approx(whole, abs=0.05)
    assert "(estimated from 80 queries)" in outcome[0].sentence
    monkeypatch.setattr(thresholds, "KEPT_ITEMS", 60 * N)
    assert audit(ZERO, SORTED)["sample order"].figures["n_query"] == 60


@pytest.mark.parametrize("given", [{}, {"junk": np.random.default_rng(3).random(80) < 0.3}, {"exclude": np.arange(30)}])
def test_plain_sorts_keep_to_the_bounds_with_a_gallery(given: dict[str, Any]) -> None:
    rows = np.random.default_rng(3).integers(0, 2, (80, 3)).astype(float)
    with warnings.catch_warnings(action="ignore"):
        outcome = audit(rows[:30], LABELS[:30], rows, LABELS[:80], **given)
        report = dh.evaluate(rows[:30], LABELS[:30], rows, LABELS[:80], measures=MEASURES, **given)
    assert outcome.evidence.report.profile == report.profile
    sorts = outcome.evidence.sorts
    assert sorts is not None
    for name in MEASURES:
        reached = [sorts.file[name], sorts.backwards[name], *sorts.shuffled[name]]
        assert report[name].lower <= min(reached) <= max(reached) <= report[name].upper
        assert len(set(reached)) > 1


# Chance ---------------------------------------------------------------------------------------------------------------


def test_random_embeddings_are_not_beyond_chance() -> None:
    outcome = audit(np.random.default_rng(5).normal(size=(N, DIM)).astype(np.float32))["chance"]
    assert outcome.severity == "serious"
    assert abs(outcome.figures["standard_deviations"]["ties"]) < thresholds.BEYOND_CHANCE
    chance = dh.evaluate(np.zeros((N, 1)), LABELS)["mAP"]
    assert (outcome.figures["chance"], outcome.figures["std"]["ties"]) == (chance.expected, chance.std)


def test_deviations_from_chance_are_those_of_random_embeddings(sound: Audit) -> None:
    figures = sound["chance"].figures
    drawn = dh.random_baseline(LABELS, draws=thresholds.MOST_DRAWS)
    assert figures["std"]["draws"] == drawn.std
    assert figures["standard_deviations"]["draws"] == (figures["lower"] - figures["chance"]) / drawn.std
    assert figures["std"]["ties"] / 2 < drawn.std < figures["std"]["ties"] * 3


def test_where_nothing_is_drawn_more_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between three and six deviations of random rankings: enough if random embeddings do not deviate more."""
    rows = np.random.default_rng(0).normal(size=(N, DIM)) + 0.5 * np.eye(N_CLASS, DIM)[LABELS]
    drawn = audit(rows)["chance"]
    assert drawn.figures["standard_deviations"]["draws"] > thresholds.BEYOND_CHANCE
    assert drawn.figures["standard_deviations"]["ties"] < thresholds.BEYOND_CHANCE * thresholds.UNDRAWN
    monkeypatch.setattr(thresholds, "DRAWN_PAIRS", 0)
    undrawn = audit(rows)["chance"]
    assert (drawn.severity, undrawn.severity) == ("note", "serious")
    assert np.isnan(undrawn.figures["std"]["draws"])


def test_a_score_that_all_zero_embeddings_have_in_this_order_is_serious() -> None:
    """A little better than chance, in a file sorted by class: a sort gives as much to a model that knows nothing."""
    weak = np.random.default_rng(1).normal(size=(N, 4))
    weak[:, :2] += 0.9 * (SORTED[:, None] == [0, 1])
    outcome = audit(weak, SORTED)["chance"]
    assert outcome.figures["chance"] < outcome.figures["lower"] <= outcome.figures["all_zero_in_order_of_file"]
    assert outcome.severity == "serious"
    assert outcome.figures["all_zero_in_order_of_file"] == pytest.approx(stable(SORTED), abs=1e-12)


def test_queries_that_find_themselves_are_serious_and_not_warned_of_again() -> None:
    queries, name = (SOUND[:50], LABELS[:50]), "queries in the gallery"
    with pytest.warns(QueryInGalleryWarning, match="^50 of 50 queries are in the gallery"):
        task = dh.Task(*queries, SOUND, LABELS)
    with warnings.catch_warnings(action="error"):
        outcome = dh.audit(task)
    assert severity(outcome, name) == "serious"
    assert outcome[name].figures == {"queries": 50, "n_query": 50}
    assert name not in audit(*queries, SOUND, LABELS, exclude=np.arange(50))
    assert name not in audit(*queries, SOUND[50:], LABELS[50:])


# Files, arguments and what is shown -----------------------------------------------------------------------------------


def test_real_embeddings_have_nothing_serious() -> None:
    with np.load(data_file("phocnet_gw.npz")) as file:
        rows, labels = file["phocnet_features"], file["phocnet_labels"].ravel()
    outcome = audit(rows, labels)
    assert outcome.passes()
    assert outcome["queries without a relevant item"].figures["queries"] == 265


def test_files_in_pieces_give_the_same(tmp_path: Path, sound: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.inputs.source._PIECE", 7 * DIM * 4)  # 7 rows at a time
    np.save(tmp_path / "rows.npy", SOUND)
    assert audit(str(tmp_path / "rows.npy")).to_dict() == sound.to_dict()  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_findings(zeros: Audit) -> None:
    assert audit(ZERO, SORTED, threads=2).to_json() == zeros.to_json()
    shuffled = [
        each["sample order"].figures["orders"]["mAP"]["shuffled"] for each in (zeros, audit(ZERO, SORTED, seed=1))
    ]
    assert shuffled[0] != shuffled[1]


def test_it_is_text_json_markdown_and_a_frame(zeros: Audit) -> None:
    text, severities = str(zeros), [finding.severity for finding in zeros]
    assert text.startswith(zeros.verdict())
    assert text.index("SERIOUS: ties") < text.index("warning: ")
    assert max(map(len, text.splitlines())) <= 100
    assert not any(line.lstrip().startswith("%") for line in text.splitlines())
    content = json.loads(zeros.to_json())
    assert content["counts"]["serious"] == 4
    assert [each["severity"] for each in content["findings"]] == severities == sorted(severities, key=SEVERITIES.index)
    measures = content["measures"]["mAP"]
    assert (measures["upper"], measures["plain_sort"]["plain sort, as in the file"]) == (
        1,
        pytest.approx(stable(SORTED)),
    )
    assert "- **serious: ties.**" in zeros.to_markdown()
    assert "serious: zero embeddings." in zeros._repr_html_()
    assert list(zeros.to_pandas()["severity"]) == severities
    with pytest.raises(ValueError, match=r"^name must be one of .*, but is 'few levels'"):
        zeros["few levels"]


def test_arguments_are_those_of_evaluate() -> None:
    with pytest.raises(InvalidTypeError, match="seed must be an integer"):
        audit(SOUND, seed="x")
    outcome = audit(SOUND, average="class", singletons="zero", measures="nDCG@10").evidence
    assert outcome.headline == "nDCG@10"
    assert outcome.report["nDCG@10"].lower == dh.evaluate(SOUND, LABELS, average="class")["nDCG@10"].lower


def test_a_finding_has_one_of_three_severities() -> None:
    with pytest.raises(ValueError, match="severity must be one of serious, warning, note"):
        Finding("x", "grave", "X.")
    outcome = [Finding(name, severity, "X.") for name, severity in zip("abc", reversed(SEVERITIES), strict=True)]
    assert [finding.name for finding in most_serious_first(outcome)] == ["c", "b", "a"]
    parts = [RunAudit(tuple(outcome[:n]), Looks.of({}), None, None, {}) for n in (3, 2, 1)]
    assert [(each.passes(), each.passes(strict=True)) for each in parts] == [(0, 0), (1, 0), (1, 1)]


# Several labels a row


def test_one_label_written_as_a_row_of_them_is_audited_as_that_label() -> None:
    rows = np.round(SOUND)  # with ties, so that sorts are compared too
    rows[:3] = rows[5]
    one = audit(rows, SORTED)
    several = audit(rows, np.eye(N_CLASS, dtype=bool)[SORTED])
    of_labels = {"chance", "class imbalance"}  # no random embeddings are drawn, and no means over classes compared
    for first, second in zip(*([f for f in each if f.name not in of_labels] for each in (one, several)), strict=True):
        assert first == second
    assert several["chance"].figures["lower"] == one["chance"].figures["lower"]
    assert (several.evidence.draws, one.evidence.draws is None) == (None, False)
    for position in ("sorts", "zero_sorts"):
        first, second = (getattr(each.evidence, position) for each in (one, several))
        assert (first.file, first.backwards, first.shuffled) == (second.file, second.backwards, second.shuffled)


def test_a_plain_sort_finds_the_items_that_share_a_label() -> None:
    rng = np.random.default_rng(3)
    rows, labels = rng.integers(0, 2, (40, 6)), rng.random((40, 5)) < 0.3
    outcome = audit(rows, labels, distance="cityblock", measures="mAP")
    sorts = outcome.evidence.sorts
    assert sorts is not None
    share, distances = (labels[:, None] & labels).any(axis=2), np.abs(rows[:, None] - rows).sum(axis=2)
    values = []
    for query in range(40):
        order = np.argsort(distances[query], kind="stable")
        hits = share[query][order[order != query]]
        if hits.any():
            values.append((np.cumsum(hits) / np.arange(1, 40))[hits].mean())
    assert sorts.file["mAP"] == pytest.approx(np.mean(values), rel=1e-12)
    assert outcome.evidence.report.n_singleton == 40 - len(values) > 0


def test_shared_labels_are_not_counted_by_an_audit() -> None:
    with pytest.raises(ValueError, match=r'^relevance must be "any" or "same" for an audit, but is "count"$'):
        audit(SOUND, np.eye(N_CLASS)[LABELS], relevance="count")
    assert audit(SOUND, np.eye(N_CLASS)[LABELS], relevance="same")["chance"] is not None
