"""Input that may not be what was meant is remarked below the table: in text, HTML and JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from cli.calling import passed
from cli.calling import run as command

import deadheat as dh

RUN = {f"q{i}": {f"d{i}.txt": 1.0, f"d{i + 1}.txt": 0.5} for i in range(4)}
QRELS = {f"q{i}": {f"d{i}": 1, "other": 0} for i in range(4)}
IN_COMMON = "have no document in common: query 'q0' has 'd0.txt' in the run and 'd0' in the qrels. Ids must be spelled "
IN_COMMON += "the same in both; for ids of chunks, documents= (--documents) gives the document of each."


def remarks(task: dh.Task) -> list[str]:
    """Return the remarks of a report, which are the last lines of its text and of its page, and are in its JSON."""
    report = dh.evaluate(task, "MRR", singletons="zero")
    outcome = [*report.remarks]
    assert not outcome or str(report).splitlines()[-len(outcome) :] == outcome
    assert json.loads(report.to_json())["remarks"] == outcome
    return outcome


def test_a_run_without_a_document_of_the_qrels_says_so() -> None:
    assert remarks(dh.from_run(RUN, QRELS)) == [f"In 4 of 4 queries the run and the qrels {IN_COMMON}"]
    of_documents = {f"d{i}.txt": f"d{i}" for i in range(5)}
    assert remarks(dh.from_run(RUN, QRELS, documents=of_documents)) == []
    assert remarks(dh.from_run({query: {"other": 1.0} for query in QRELS}, QRELS)) == []  # judged, if irrelevant


def test_most_queries_without_a_document_of_the_qrels_are_said_too() -> None:
    some = RUN | {"q3": {"d3": 1.0}}
    (said,) = remarks(dh.from_run(some, QRELS))
    assert said.startswith("In 3 of 4 queries")
    assert remarks(dh.from_run(some | {"q2": {"d2": 1.0}}, QRELS)) == []  # two of four
    recommended = {query: {"d3": 1.0, "d2": 0.5} for query in QRELS}  # relevant to others, as of a recommender
    assert remarks(dh.from_run(recommended, QRELS)) == []
    (said,) = remarks(dh.from_run({f"q{i}": {f"d{3 - i}": 1.0} for i in range(4)}, QRELS))  # of other queries
    assert said.startswith("In 4 of 4 queries")


def test_lists_neighbors_and_judged_embeddings_say_it_with_their_names() -> None:
    ranked, relevant = [["a.txt", "b.txt"]], [["a"]]
    (said,) = remarks(dh.from_lists(ranked, relevant))
    begin = "In 1 of 1 query {} and {} have no document in common: query {} has 'a.txt' in {} and 'a' in {}. Ids must"
    assert said.startswith(begin.format("ranked_ids", "relevant_ids", "'0'", "ranked_ids", "relevant_ids"))
    sides = "ids", "relevant"
    for more, query in (({"n_gallery": 3}, "0"), ({"gallery_ids": ["a.txt", "b.txt", "c"], "query_ids": ["q"]}, "'q'")):
        (said,) = remarks(dh.from_neighbors(ranked, [[2, 1]], relevant=relevant, **more))  # type: ignore[arg-type]
        assert said.startswith(begin.format(*sides, query, *sides))
    task = dh.from_judged([[0.0]], [[1.0], [2.0]], {"q": {"a": 1}}, ["q"], ["a.txt", "b.txt"])
    (said,) = remarks(task)
    assert said.startswith(begin.format("gallery_ids", "the qrels", "'q'", "gallery_ids", "the qrels"))
    outcome = [["a", "b"], ["b", "a"], ["a", "b"]]
    assert remarks(dh.from_neighbors(outcome, [[2, 1]] * 3, relevant=[["a"], ["c"], ["d"]], n_gallery=4)) == []
    assert remarks(dh.from_judged([[0.0]], [[1.0], [2.0]], {7: {8: 1}}, [7], np.array([8, 9]))) == []


def test_ids_are_shortened_and_bytes_that_are_not_text_can_be_printed(tmp_path: Path) -> None:
    run, qrels = tmp_path / "run", tmp_path / "qrels"
    run.write_bytes(b"q Q0 \xff" + b"x" * 100 + b" 1 1 t\n")
    qrels.write_text("q 0 d 1\n")
    (said,) = remarks(dh.from_run(run, qrels))
    assert r"'\udcffxxx" in said
    assert "x" * 60 not in said
    said.encode()


def test_the_commands_say_it_and_the_audit_finds_it_serious(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, table in {
        "run.json": RUN,
        "qrels.json": QRELS,
        "good.json": {q: {**r} for q, r in QRELS.items()},
    }.items():
        Path(name).write_text(json.dumps(table))
    assert IN_COMMON in passed("run", "qrels.json", "run.json", "--html", "page.html")
    assert IN_COMMON.replace("'", "&#39;") in Path("page.html").read_text()
    board = passed("leaderboard", "run.json", "good.json", "--qrels", "qrels.json")
    assert f"run: In 4 of 4 queries the run and the qrels {IN_COMMON}" in board
    lines = command("run", "qrels.json", "run.json", "--trec-eval")
    assert IN_COMMON in lines.stderr
    audit = dh.audit_run("run.json", "qrels.json")
    assert audit["documents not in the qrels"].severity == "serious"
    assert audit["documents not in the qrels"].figures == {"queries": 4, "n_query": 4}
    some = dh.audit_run(RUN | {"q3": {"d3": 1.0}}, QRELS)
    assert some["documents not in the qrels"].severity == "warning"
    assert "documents not in the qrels" not in dh.audit_run("good.json", "qrels.json")


def test_a_query_ranked_for_itself_is_remarked() -> None:
    run = {f"q{i}": {f"q{i}": 1.0, "d": 0.5} for i in range(3)} | {"q3": {"d": 1.0}}
    qrels = {query: {"d": 1} for query in run}
    (said,) = remarks(dh.from_run(run, qrels))
    assert said.startswith("In 3 of 4 queries a document with the id of the query is ranked, and is not relevant.")
    (said,) = remarks(dh.from_run(run, qrels, unjudged="junk"))
    assert said == "The qrels judge no document as irrelevant: without unjudged ones, all that is left is relevant."
    assert remarks(dh.from_run(run, {query: {"d": 1, "e": 0} for query in qrels}, unjudged="junk")) == []
    assert remarks(dh.from_run(run, {query: {"d": 1, query: 1} for query in run})) == []
    assert "queries ranked for themselves" in dh.audit_run(run, qrels)
    users = {str(i): {str(item): -float(item) for item in range(2)} for i in range(5)}  # of items 0 and 1
    assert remarks(dh.from_run(users, {user: {"0": 1} for user in users})) == []
    rows_found = [[i, (i + 1) % 4] for i in range(4)]  # each first for itself
    assert len(remarks(dh.from_lists(rows_found, [[(i + 1) % 4] for i in range(4)]))) == 1


def test_a_report_says_how_uint8_was_read() -> None:
    rng = np.random.default_rng(0)
    codes, labels = rng.integers(0, 256, (12, 4), dtype=np.uint8), np.arange(12) % 3
    as_numbers = 'uint8 was read as numbers; packed bits need distance="hamming" or "jaccard", and not cosine.'
    as_bits = "uint8 was read as packed bits, 32 in each code; numbers need another distance."
    assert remarks(dh.Task(codes, labels)) == [as_numbers]
    assert remarks(dh.Task(codes.astype(float), labels, codes, labels[::-1])) == [as_numbers]
    assert remarks(dh.Task(codes, labels, distance="hamming")) == [as_bits]
    assert remarks(dh.Task(codes, labels).replace(distance="hamming")) == [as_bits]
    judged = codes[:1], codes, {"q": {"0": 1}}, ["q"], range(12)
    assert remarks(dh.from_judged(*judged)) == [as_numbers]
    assert remarks(dh.from_judged(*judged, distance="hamming")) == [as_bits]
    outcome = dh.from_neighbors([[0, 1]], relevant=[{1}], embeddings=codes[:1], gallery=codes)
    assert remarks(outcome) == [as_numbers]
    for other in (codes > 127, np.where(codes > 127, 1, -1), (codes > 127).astype(np.uint8)):
        assert remarks(dh.Task(other, labels, distance="hamming")) == []


def test_negatives_that_all_positives_share_are_counted() -> None:
    positives, negatives = [0.9, 0.8, 0.3], [0.1, 0.7, 0.2]
    shared = "3 negatives, shared by all 3 positives. If each positive has one of its own, give scores[:, None]."
    task = dh.from_candidates(negatives, positive_scores=positives)
    outcome = dh.link_prediction(task, "MRR")
    assert remarks(task) == [shared] == [*outcome.remarks] == json.loads(outcome.to_json())["remarks"]
    assert str(outcome).splitlines()[-1] == shared
    assert remarks(dh.from_candidates(negatives[:2], positive_scores=positives)) == [
        "2 negatives, shared by all 3 positives."
    ]
    for own in (np.array(negatives)[:, None], [negatives] * 3):
        assert remarks(dh.from_candidates(own, positive_scores=positives)) == []
    assert remarks(dh.from_candidates(negatives, positive_scores=[0.9])) == []


def test_a_rate_that_the_negatives_do_not_resolve_is_said() -> None:
    scores, labels = np.arange(400.0), np.arange(400) >= 100
    outcome = dh.classification(scores, ~labels, measures=["TAR@FAR=1e-3", "FRR@FAR=1e-3", "TPR@FPR=0.01", "TPR@FPR=0"])
    finest = "300 negatives resolve a rate of 0.0033 and more"
    said = [f"{finest}: {name}=0.001 is the value at a rate of 0." for name in ("TPR@FPR", "FNMR@FMR")]
    assert str(outcome).splitlines()[-2:] == said == json.loads(outcome.to_json())["remarks"]
    assert outcome["TPR@FPR=0.001"].lower == outcome["TPR@FPR=0"].lower


# Labels by the id of the query ---------------------------------------------------------------------------------------

KINDS = {"q3": "who", "q0": "when", "q1": "who", "q2": "when", "other": "where"}


def test_labels_of_a_run_come_by_query_id_or_in_order() -> None:
    run = {query: {"a": 1.0, "b": 0.5} for query in QRELS}
    qrels = {query: {"a" if i < 3 else "b": 1} for i, query in enumerate(QRELS)}
    plain = dh.from_run(run, qrels)
    report = dh.evaluate(plain, "MRR")
    ordered = [KINDS[query] for query in qrels]
    for given in (KINDS, ordered):
        for task in (
            dh.from_run(run, qrels, labels=given),
            dh.from_lists({query: ["a", "b"] for query in qrels}, qrels, labels=given),
        ):
            of_classes = dh.evaluate(task, "MRR", average="class")
            assert of_classes["MRR"].expected == (1.0 + 0.75) / 2
            assert of_classes.n_class == 2
        assert dh.evaluate(plain.profile, "MRR", labels=given, average="class")["MRR"].expected == 0.875
        assert report.interval("MRR", labels=given).n == 2
        assert dh.compare(report, report, labels=given)["MRR"].n_unit == 2
    assert dh.from_run({7: {"a": 1}}, {7: {"a": 1}}, labels={7: "x"}).labels == ["x"]


def test_labels_that_cannot_be_matched_are_refused() -> None:
    task = dh.from_run(RUN, QRELS)
    with pytest.raises(
        ValueError, match="labels must have a label for each query by its id, but has none for query 'q1'"
    ):
        dh.from_run(RUN, QRELS, labels={"q0": "x"})
    without_ids = dh.from_scores([[1, 0], [1, 0]], [[1, 0], [1, 0]])
    said = "labels must be a sequence of integers or strings, one for each row in their order, but is a dict"
    for refused in (
        lambda: dh.evaluate(without_ids.profile, "MRR", labels={0: "a", 1: "b"}),
        lambda: dh.evaluate(without_ids, "MRR").interval("MRR", labels={0: "a", 1: "b"}),
        lambda: dh.evaluate([[0], [1]], {0: "a", 1: "a"}),
    ):
        with pytest.raises(TypeError, match=said):
            refused()
    with pytest.raises(TypeError, match=r"but is a set$"):
        dh.evaluate([[0], [1]], {"a", "b"})
    for refusing, maker in ((task, "from_run(run, qrels, labels=...)"), (without_ids, "from_profile(task.profile, ")):
        with pytest.raises(TypeError, match=re.escape(f"labels belongs to the task: give it to dh.{maker}")):
            dh.evaluate(refusing, "MRR", labels=["a", "b"])  # type: ignore[call-overload]


def test_neighbors_remember_their_labels() -> None:
    ids, scores, gallery_labels = [[0, 2], [3, 1]] * 2, [[2.0, 1.0]] * 4, list("aabb")
    task = dh.from_neighbors(ids, scores, list("abba"), gallery_labels)
    assert task.labels is not None
    assert task.labels.tolist() == list("abba")
    report = dh.evaluate(task, "MRR")
    outcome = dh.compare(report, report)
    assert outcome["MRR"].n_unit == 2
    assert "No labels are known" not in str(outcome)
    assert dh.from_neighbors(ids, scores, [{"a"}] * 4, [{"a"}] * 4).labels is None


def test_classes_of_a_run_are_the_units_of_intervals_and_tests() -> None:
    qrels = {f"{kind}{n}": {"a": 1} for kind in "xyz" for n in range(4)}
    run = {query: {"a": 1.0, "b": 2.0 * (query[0] == "x")} for query in qrels}
    report = dh.evaluate(dh.from_run(run, qrels, labels={query: query[0] for query in qrels}), "MRR")
    assert (report.interval("MRR").n, report.interval("MRR", resample="query").n) == (3, 12)
    assert dh.compare(report, report)["MRR"].n_unit == 3
    assert [*report.by_class().columns()["class"]] == ["x", "y", "z"]


def test_a_neighbour_that_was_judged_irrelevant_is_in_common() -> None:
    ids, scores, wanted = [["a", "b"]], [[2, 1]], {"c": 2}
    assert len(remarks(dh.from_neighbors(ids, scores, relevant=[wanted], n_gallery=3))) == 1
    assert remarks(dh.from_neighbors(ids, scores, relevant=[wanted | {"b": 0}], n_gallery=3)) == []
    ranked, relevant = [["a"], ["b"], ["c"]], [["a"], ["x"], ["y"]]  # one of three has one
    (said,) = remarks(dh.from_neighbors(ranked, [[1]] * 3, relevant=relevant, n_gallery=9))
    assert said.startswith("In 2 of 3 queries ids and relevant have no document in common: query 1 has 'b' in ids")
