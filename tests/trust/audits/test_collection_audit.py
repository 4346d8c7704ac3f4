"""Audits of judged collections: each finding on a collection made to have it, and none on a sound one."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli import calling
from graded_queries import value

import deadheat as dh

IDS = [f"d{i}" for i in range(20)]
ROWS = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
QRELS = {f"q{i}": {f"d{i}": 1, f"d{i + 1}": 0} for i in range(10)}


def names(outcome: Any) -> list[str]:
    return [each.name for each in outcome]


def test_nothing_is_found_in_a_sound_collection() -> None:
    outcome = dh.audit_collection(ROWS, QRELS, IDS)
    assert not len(outcome)
    assert outcome.best == outcome.ceilings == {"nDCG@10": 1.0, "Recall@100": 1.0, "MRR": 1.0}
    assert outcome.verdict() == "nothing found (10 queries, 20 documents)"


def test_unreachable_documents_and_their_ceilings() -> None:
    """In fractions: of the grades of each query, those in the gallery first, the others missing."""
    qrels = {"a": {"d1": 1, "x": 2, "y": 1}, "b": {"d2": 3, "d3": 1}, "c": {"z": 1}, "none": {"d4": 0}}
    asked = ["mAP", "Recall@1", "MRR", "P@2", "Hit@1", "nDCG"]
    outcome = dh.audit_collection(ROWS, qrels, IDS, measures=asked)
    grades = [([1], [2, 1]), ([3, 1], []), ([], [1])]
    for name in asked:
        expected = [value(name, there, missing) for there, missing in grades]
        best = [value(name, sorted([*there, *missing], reverse=True), []) for there, missing in grades]
        assert outcome.ceilings[name] == pytest.approx(float(sum(expected, Fraction(0)) / 3), rel=1e-13)
        assert outcome.best[name] == pytest.approx(float(sum(best, Fraction(0)) / 3), rel=1e-13)
    about = outcome["unreachable documents"]
    assert about.severity == "serious"
    assert about.sentence.startswith(
        "3 of 6 relevant documents (50 %) are not in the gallery, in 2 of 3 queries (67 %); 1 query has no other. "
    )
    figures = {"documents": 3, "total": 6, "queries": 2, "queries_without_any": 1, "which": ["x", "y", "z"]}
    assert figures.items() <= about.figures.items()
    assert outcome["queries without a relevant item"].figures["which"] == ["none"]
    task = dh.from_judged(ROWS[:4], ROWS, qrels, list(qrels), IDS)
    assert dh.evaluate(task, asked).ceilings == pytest.approx(outcome.ceilings, rel=1e-13)


def test_copies_and_how_they_were_judged() -> None:
    """d1 = d0 and d4 = d3 = d2: q0 has d0 alone, q2 two grades, q7 only copies of what is irrelevant."""
    rows = ROWS.copy()
    rows[1], rows[3], rows[4] = rows[0], rows[2], rows[2]
    qrels = {"q0": {"d0": 1}, "q2": {"d2": 1, "d3": 0, "d4": 1}, "q7": {"d7": 1, "d0": 0}}
    texts = {name: {"text": str(row)} for name, row in zip(IDS, rows.tolist(), strict=True)}
    for outcome in (dh.audit_collection(rows, qrels, IDS), dh.audit_collection(texts, qrels)):
        assert names(outcome) == ["copies judged differently", "copies"]
        copies = {"documents": 5, "total": 20, "largest": 3, "which": ["d0", "d1", "d2", "d3", "d4"]}
        assert outcome["copies"].figures == copies
        judged = {"queries": 2, "total": 3, "unjudged": 1, "of_another_grade": 1, "which": ["q0", "q2"]}
        assert outcome["copies judged differently"].figures == judged
    same_pattern = {"q0": {"d0": 1, "d1": 1}, "q2": {"d2": 1, "d3": 1, "d4": 1}}
    assert names(dh.audit_collection(rows, same_pattern, IDS)) == ["copies"]
    rows[1, 0] = np.nextafter(rows[0, 0], np.float32(9))  # one bit, and they are no copies
    assert dh.audit_collection(rows, qrels, IDS)["copies"].figures["documents"] == 3


@pytest.mark.parametrize(
    ("grades", "unused"),
    [([1], None), ([2, 1], None), ([1, 3], "2"), ([2], "1"), ([1, 7, 9], "2 to 6, 8"), ([1, -1], None)],
)
def test_unused_grades(grades: list[int], unused: str | None) -> None:
    qrels = {"q": {f"d{i}": grade for i, grade in enumerate(grades)}}
    outcome = dh.audit_collection(ROWS, qrels, IDS)
    assert names(outcome) == ([] if unused is None else ["unused grades"])
    if unused is not None:
        assert outcome["unused grades"].sentence.startswith(
            f"No document of the gallery has grade {unused}; some have "
        )
    lost = dh.audit_collection(ROWS, {"q": {**qrels["q"], "not there": 12}}, IDS)["unused grades"]
    assert lost.figures["unused"][-1] == [max(grades) + 1, 12]


def test_files_and_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids in the file of the embeddings or in one of their own; numbers are the text that the qrels have."""
    monkeypatch.chdir(tmp_path)
    np.savez("corpus.npz", embeddings=ROWS, ids=np.arange(20), labels=np.arange(20))
    np.save("rows.npy", ROWS)
    Path("ids.txt").write_text("\n".join(map(str, range(20))))
    Path("qrels").write_text("q 0 3 1\nq 0 21 1\n")
    outcome = dh.audit_collection(ROWS, {"q": {"3": 1, "21": 1}}, np.arange(20))
    assert outcome.of("serious")
    for given in (("corpus.npz", "qrels"), ("rows.npy", "qrels", "--ids", "ids.txt")):
        done = calling.run("audit-collection", *given)
        assert (done.exit_code, done.stdout) == (1, f"{outcome}\n")
    printed = json.loads(calling.run("audit-collection", "corpus.npz", "qrels", "--json=-", "-m", "MRR").stdout)
    assert (printed["ceilings"], printed["n_document"]) == ({"MRR": 1.0}, 20)
    assert calling.refused("audit-collection", "rows.npy", "qrels").startswith("gallery_ids must be one-dimensional")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            (ROWS, QRELS, IDS[1:]),
            "gallery_ids must have one entry per row of the gallery, but got 19 labels for 20 rows",
        ),
        ((ROWS, QRELS, ["d1"] * 20), "gallery_ids must hold each id once, but holds 'd1' again"),
        (({"d1": "text"}, QRELS, ["d1"]), "gallery_ids must be left out where the gallery has documents by id"),
        (({0.5: "text"}, QRELS), r"gallery_ids\[0\] must be a string or an integer, but is 0.5"),
        ((ROWS, {"q": {"d1": 0}}, IDS), "no query has a relevant document"),
        ((ROWS, {}, IDS), "qrels must hold at least one query"),
    ],
)
def test_refused(given: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        dh.audit_collection(*given)
