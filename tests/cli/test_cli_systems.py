"""`deadheat compare` and `deadheat leaderboard`: what the library prints, and one line for all that can go wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli.calling import passed, run
from cli.calling import reason as refused

import deadheat as dh
from deadheat.cli import systems

LABELS = np.repeat(np.arange(12), 3)
POINTS = np.random.default_rng(0).normal(size=(12, 6))[LABELS] + 0.8 * np.random.default_rng(1).normal(size=(36, 6))
SYSTEMS = {"full": POINTS, "rounded": np.rint(POINTS), "half": POINTS[:, :3]}
QUICK = ("-m", "mAP,Hit@1", "--n-resamples", "200")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, rows in SYSTEMS.items():
        np.savez(tmp_path / f"{name}.npz", embeddings=rows, labels=LABELS)
        np.save(tmp_path / f"{name}.npy", rows)
        np.savez(tmp_path / f"{name}-items.npz", embeddings=rows + 0.5, labels=LABELS)
        np.save(tmp_path / f"{name}-items.npy", rows + 0.5)
    np.save(tmp_path / "labels.npy", LABELS)
    np.savez(tmp_path / "short.npz", embeddings=POINTS[:30], labels=LABELS[:30])
    np.savez(tmp_path / "reversed.npz", embeddings=POINTS[::-1], labels=LABELS[::-1] // 2)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def reports(*names: str, **options: object) -> dict[str, dh.Report]:
    return {name: dh.evaluate(SYSTEMS[name], LABELS, measures="mAP, Hit@1", **options) for name in names}  # type: ignore[arg-type]


def test_compare_prints_what_python_prints(folder: Path) -> None:
    result = dh.compare(*reports("full", "half").values(), names=("full", "half"), n_resamples=200)
    task = ("compare", "full.npz", "half.npz", *QUICK)
    assert passed(*task) == f"{result}\n"
    assert "Tests and intervals are over 12 classes" in str(result)
    assert passed(*task, "--explain") == f"{result}\n\n{result.explain()}\n"
    how = {"resample": "query", "alternative": "less", "confidence_level": 0.8, "method": "BCa", "seed": 5}
    flags = [part for name, value in how.items() for part in (f"--{name.replace('_', '-')}", value)]
    a, b = reports("full", "half", distance="euclidean").values()
    result = dh.compare(a, b, names=("full", "half"), n_resamples=200, **how)  # type: ignore[arg-type]
    assert json.loads(passed(*task, *flags, "--distance", "euclidean", "--json", "-")) == json.loads(result.to_json())


def test_leaderboard_prints_what_python_prints(folder: Path) -> None:
    result = dh.leaderboard(reports("half", "full", "rounded"), n_resamples=200)
    task = ("leaderboard", "half.npz", "full.npz", "rounded.npz", *QUICK)
    assert passed(*task) == f"{result}\n"
    assert passed(*task, "--latex", "-") == result.to_latex()
    by_upper = dh.leaderboard(reports("half", "full"), n_resamples=200, by="upper", resample="query", seed=3)
    args = ("half.npz", "full.npz", *QUICK, "--by", "upper", "--resample", "query", "--seed", 3)
    assert passed("leaderboard", *args) == f"{by_upper}\n"


def test_labels_galleries_and_names(folder: Path) -> None:
    files = ("full.npy", "half.npy")
    alone = passed("compare", "full.npz", "half.npz", *QUICK)
    assert passed("compare", *files, "--labels", "labels.npy", *QUICK) == alone
    named = passed("compare", *files, "--labels", "labels.npy", "--name", "ours", "--name", "theirs", *QUICK)
    assert named.splitlines()[0].split()[2:7] == ["ours", "theirs", "ours", "-", "theirs"]
    galleries = ("--gallery", "full-items.npz", "--gallery", "half-items.npz")
    over_queries = passed("compare", "full.npz", "half.npz", *galleries, *QUICK)
    assert "Tests and intervals are over queries" in over_queries
    both = ("--labels", "labels.npy", "--labels", "labels.npy", "--gallery-labels", "labels.npy")
    items = ("--gallery", "full-items.npy", "--gallery", "half-items.npy")
    assert passed("compare", *files, *both, *items, *QUICK) == over_queries
    np.save("own.npy", np.arange(36))
    galleries = ("--gallery", "full.npz", "--gallery", "half.npz")
    excluded = passed("compare", "full.npz", "half.npz", *galleries, "--exclude", "own.npy", *QUICK)
    assert excluded == alone  # leave one out, over classes


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    queries = range(8)
    Path("qrels").write_text("".join(f"q{query} 0 a 2\nq{query} 0 b 1\n" for query in queries))
    Path("first.run").write_text("".join(f"q{query} Q0 a 1 0.9 x\n" for query in queries))
    Path("last.run").write_text("".join(f"q{query} Q0 c 1 0.9 x\nq{query} Q0 a 2 0.9 x\n" for query in queries[1:]))


def run_reports(measures: str, rel: int = 1) -> dict[str, dh.Report]:
    tasks = {name: dh.from_run(f"{name}.run", "qrels", rel=rel) for name in ("first", "last")}
    return {name: dh.evaluate(task, measures) for name, task in tasks.items()}


def test_runs_are_compared_with_qrels(runs: None) -> None:
    result = dh.compare(*run_reports("MRR AP").values(), names=("first", "last"))
    asked = ("compare", "first.run", "last.run", "--qrels", "qrels", "-m", "MRR AP")
    assert passed(*asked) == f"{result}\n"
    assert result["MRR"].pvalue < 0.05
    assert passed(*asked, "--explain", "--html", "page.html") == f"{result}\n\n{result.explain()}\n"
    assert "<h1>first and last</h1>" in Path("page.html").read_text()
    strict = dh.compare(*run_reports("AP", rel=2).values(), names=("first", "last"))
    assert passed(*asked[:-1], "AP", "--rel", 2) == f"{strict}\n"
    assert run(*reversed(asked[1:3]), "--qrels", "qrels").exit_code == 2
    gate = run("compare", "first.run", "last.run", "--qrels", "qrels", "-m", "MRR", "--fail-if-worse")
    assert gate.exit_code == 1


def test_a_leaderboard_of_runs_says_whose_queries_are_missing(runs: None) -> None:
    board = dh.leaderboard(run_reports("MRR"))
    for asked in (
        ("leaderboard", "first.run", "last.run", "--qrels", "qrels"),
        ("run", "qrels", "first.run", "last.run"),
        ("run", "--qrels", "qrels", "first.run", "last.run"),
    ):
        assert passed(*asked, "-m", "MRR", "--explain") == f"{board}\n\n{board.explain()}\n"
    missing = "last: 1 of 8 queries of the qrels is not in the run: nothing is retrieved for it."
    assert missing in str(board).splitlines()
    assert missing in str(dh.compare(*run_reports("MRR").values(), names=("first", "last"))).splitlines()
    assert board.to_dict()["systems"][1]["remarks"] == [missing.removeprefix("last: ")]


def test_options_that_runs_or_embeddings_lack_are_refused(runs: None) -> None:
    both = ("first.run", "last.run")
    assert refused("compare", *both, "--qrels", "qrels", "--distance", "l2") == "--distance goes without --qrels"
    assert refused("leaderboard", *both, "-l", "2") == "-l goes with --qrels"
    assert refused("compare", *both, "--qrels", "qrels", "--ties-of", "distance") == "--ties-of goes without --qrels"


def test_runs_take_ties_as_embeddings_do(runs: None) -> None:
    judged = [dh.evaluate(dh.from_run(path, "qrels", ties="float16"), "MRR") for path in ("first.run", "last.run")]
    expected = dh.compare(*judged, names=("first", "last"))
    asked = ("compare", "first.run", "last.run", "--qrels", "qrels", "-m", "MRR", "--ties", "float16")
    assert passed(*asked) == f"{expected}\n"


@pytest.fixture
def hits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of 40 queries, of which they miss the first 0, 3 or 8; `tied` has one score for the relevant document."""
    monkeypatch.chdir(tmp_path)
    Path("qrels").write_text("".join(f"q{i:02} 0 d0 1\n" for i in range(40)))
    scores = {"old": (0, 9), "same": (0, 9), "some": (3, 9), "many": (8, 9), "tied": (0, 1)}
    for name, (missed, best) in scores.items():
        rows = ((i, [("d0", -1 if i < missed else best), ("d1", 1)]) for i in range(40))
        lines = (f"q{i:02} Q0 {document} 1 {score} t\n" for i, listed in rows for document, score in listed)
        Path(f"{name}.run").write_text("".join(lines))
    Path("other.run").write_text("".join(f"q{i:02} Q0 d2 1 1 t\n" for i in range(40)))


def gate(new: str, *options: object) -> tuple[int, list[str]]:
    """Exit status and lines on standard error of the gate on Hit@1."""
    asked = ("compare", "old.run", f"{new}.run", "--qrels", "qrels", "-m", "Hit@1", "--fail-if-worse")
    result = run(*asked, *options, "--n-resamples", 999)
    assert result.stdout.startswith("measure (%)") == (result.exit_code < 2)
    return result.exit_code, result.stderr.splitlines()


def test_a_gate_has_three_readings(hits: None) -> None:
    """Three queries of 40 are no evidence (p = 1/8) and eight are (p = 1/256)."""
    rows = {
        ("same",): 0, ("some",): 0, ("many",): 1, ("tied",): 1,
        ("some", "--gate", "drop"): 1, ("some", "--gate", "drop", "--margin", 7.5): 0,
        ("some", "--gate", "as_good", "--margin", 5): 1, ("some", "--gate", "as_good", "--margin", 25): 0,
        ("many", "--margin", 5): 1, ("many", "--margin", 10): 0, ("many", "--confidence-level", 0.999): 2,
        ("tied", "--by", "upper"): 0, ("tied", "--by", "expected"): 1, ("other",): 2,
        ("same", "--gate", "as_good", "--margin", 0): 1,
    }  # fmt: skip
    assert {asked: gate(*asked)[0] for asked in rows} == rows


def test_a_gate_says_why_on_standard_error(hits: None) -> None:
    status, lines = gate("many", "--margin", 1)
    pair = [dh.evaluate(dh.from_run(f"{name}.run", "qrels"), "Hit@1") for name in ("old", "many")]
    decision = dh.compare(*pair, names=("old", "many"), n_resamples=999).gate(0.01)
    assert (status, lines) == (1, [f"deadheat: {line}" for line in decision.notes()])
    assert lines[0].startswith("deadheat: many is significantly worse than old: Hit@1 by 20.00 points (p = 0.0125)")
    assert lines[1].startswith("deadheat: With 40 queries, the smallest drop that is found in 80 % of such samples: ")
    assert gate("other")[1] == [
        "deadheat: other must rank something that is judged for some query, but ranks nothing of the kind for any"
    ]


def test_a_gate_is_in_every_text(hits: None) -> None:
    status, lines = gate("many", "--margin", 1, "--json", "gate.json", "--markdown", "gate.md", "--latex", "gate.tex")
    content = json.loads(Path("gate.json").read_text())["gate"]
    assert (status, content["rule"], content["margin"], content["passed"]) == (1, "worse", 0.01, False)
    assert (content["failed"], content["names"], content["by"]) == (["Hit@1"], ["old", "many"], "lower")
    row = content["tests"]["Hit@1"]
    assert (row["drop"], row["verdict"]) == (0.2, "fails")
    assert f"p = {row['pvalue']:.4f}" in content["verdict"] == lines[0].removeprefix("deadheat: ")
    assert f"{100 * row['detectable']:.2f} points of Hit@1" in lines[1]
    assert all("many is significantly worse than old" in Path(name).read_text() for name in ("gate.md", "gate.tex"))


def test_an_index_has_the_same_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve queries of 40 lose one of four neighbours; two that tie with the last one make up for each other."""
    monkeypatch.chdir(tmp_path)
    h5py, n = pytest.importorskip("h5py"), 40
    ids = np.tile(np.arange(6), (n, 1))
    files = {"truth": ids, "old": ids[:, :4], "same": ids[:, [0, 1, 2, 4]], "new": ids[:, :4].copy()}
    files["new"][:12, 3] = 9
    for name, rows in files.items():
        with h5py.File(f"{name}.h5", "w") as file:
            file["neighbors"] = rows
            if name == "truth":
                file["distances"] = np.tile([0.0, 1, 2, 3, 3, 4], (n, 1))
    asked = ("index-recall", "truth.h5", "old.h5")
    for new, options, status in (
        ("same", (), 0), ("new", (), 1), ("new", ("--margin", "4"), 0), ("new", ("--gate", "drop"), 1),
        ("new", ("--gate", "drop", "--margin", "7.5"), 0), ("same", ("--gate", "as_good", "--margin", "9"), 0),
        ("new", ("--gate", "as_good", "--margin", "9"), 1), ("new", ("--confidence-level", "0.9999"), 2),
    ):  # fmt: skip
        result = run(*asked, f"{new}.h5", "-k", "4", "--fail-if-worse", *options)
        assert result.exit_code == status, (new, options, result.stderr)
    result = run(*asked, "new.h5", "-k", "4", "--fail-if-worse")
    assert result.stdout.startswith("index  recall@4 (%)")
    assert result.stderr.startswith(
        "deadheat: new is significantly worse than old: recall@4 by 7.50 points (p = 0.0002"
    )
    for more in ((), ("new.h5", "same.h5")):
        assert refused(*asked, *more, "--fail-if-worse").startswith("--fail-if-worse goes with two FOUND, the old one")
    assert "99 % interval" in passed(*asked, "-k", "4", "--confidence-level", "0.99")


def test_collapsed_systems_fail_the_gate_and_equal_ones_pass(folder: Path) -> None:
    with np.load("full.npz") as full:
        np.savez("zero.npz", embeddings=np.zeros_like(full["embeddings"]), labels=full["labels"])
    Path("good.run").write_text("".join(f"q{i} Q0 d{j} 1 {-j} t\n" for i in range(8) for j in range(9)))
    Path("constant.run").write_text("".join(f"q{i} Q0 d{j} 1 0.5 t\n" for i in range(8) for j in range(9)))
    Path("qrels").write_text("".join(f"q{i} 0 d0 1\n" for i in range(8)))
    asked = ("--fail-if-worse", "-m", "mAP,Hit@1", "--n-resamples", "99")
    of_runs = ("--qrels", "qrels", "-m", "MRR@10 nDCG@10", "--fail-if-worse")
    for rule in (("--gate", "worse"), ("--gate", "drop", "--margin", "0.5"), ("--gate", "as_good", "--margin", "0.5")):
        assert run("compare", "full.npz", "zero.npz", *asked, *rule).exit_code == 1
        assert run("compare", "zero.npz", "full.npz", *asked, *rule).exit_code == 0
        assert run("compare", "good.run", "constant.run", *of_runs, *rule).exit_code == 1
        assert run("compare", "constant.run", "good.run", *of_runs, *rule).exit_code == 0
    assert run("compare", "full.npz", "full.npz", "--name", "a", "--name", "b", *asked).exit_code == 0


def test_slices_by_a_column_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The column is in FILE, and then no part of the embedding, in the file of the labels, or in one of its own."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows, labels, camera = rng.integers(0, 4, (2, 24, 3)), np.arange(24) % 6, np.arange(24) % 2
    for name, values in zip("ab", rows, strict=True):
        lines = (
            ",".join(map(str, [*row, label, seen])) for row, label, seen in zip(values, labels, camera, strict=True)
        )
        Path(f"{name}.csv").write_text("x,y,z,label,camera\n" + "".join(f"{line}\n" for line in lines))
        np.save(f"{name}.npy", values.astype("f"))
    np.savez("labels.npz", labels=labels, camera=camera)
    a, b = (dh.evaluate(values, labels, measures="mAP") for values in rows)
    asked = ("-m", "mAP", "--slice-column", "camera")
    of_labels = (*asked, "--labels", "labels.npz")
    of_a, of_pair = f"{a.by_slice(camera)}\n", f"{dh.compare(a, b, names=('a', 'b')).by_slice(camera)}\n"
    assert passed("evaluate", "a.csv", *asked) == passed("evaluate", "a.npy", *of_labels) == of_a
    assert passed("evaluate", "a.npy", *of_labels, "--by-slice", "labels.npz", "--html", "page.html") == of_a
    assert "Slices, drawn" in Path("page.html").read_text()
    assert passed("compare", "a.csv", "b.csv", *asked) == passed("compare", "a.npy", "b.npy", *of_labels) == of_pair
    assert "camera" in refused("evaluate", "a.npy", "-m", "mAP", "--labels", "labels.npz", "--slice-column", "camara")


def test_slices_are_printed_in_place_of_the_table(hits: None, folder: Path) -> None:
    Path("types.tsv").write_text("".join(f"q{i:02}\t{'who' if i < 10 else 'when'}\n" for i in reversed(range(40))))
    column = {f"q{i:02}": "who" if i < 10 else "when" for i in range(40)}
    old, many = (dh.evaluate(dh.from_run(f"{name}.run", "qrels"), "Hit@1") for name in ("old", "many"))
    of_runs = ("--by-slice", "types.tsv", "-m", "Hit@1")
    assert passed("run", "qrels", "many.run", *of_runs) == f"{many.by_slice(column)}\n"
    of_words = {query: f"{word}  is it" for query, word in column.items()}
    Path("words.txt").write_text("".join(f"{query} {words}\n" for query, words in of_words.items()))
    assert (
        passed("run", "qrels", "many.run", "--by-slice", "words.txt", "-m", "Hit@1") == f"{many.by_slice(of_words)}\n"
    )
    sliced = dh.compare(old, many, names=("old", "many")).by_slice(column)
    assert sliced["who"]["Hit@1"].tested == 0.8
    assert passed("compare", "old.run", "many.run", "--qrels", "qrels", *of_runs) == f"{sliced}\n"
    types = np.arange(36) % 2
    Path("types.txt").write_text("".join(f"{each}\n" for each in types))
    full = reports("full")["full"].by_slice(types)
    asked = ("evaluate", "full.npz", "-m", "mAP,Hit@1", "--by-slice", "types.txt")
    assert passed(*asked) == f"{full}\n"
    assert json.loads(passed(*asked, "--json", "-")) == json.loads(full.to_json())
    Path("short.txt").write_text("1\n2\n")
    assert refused(*asked[:-1], "short.txt").startswith("short.txt: labels must have one entry per")
    assert refused("run", "qrels", "many.run", "--by-slice", "types.txt") == (
        "types.txt, line 1: must be a query id and its one value"
    )
    assert refused(*asked, "--std") == "--std goes with the table, which slices replace"
    two = ("run", "qrels", "old.run", "many.run", "--by-slice", "types.tsv")
    assert refused(*two) == "--by-slice goes with the table of one RUN; deadheat compare takes it for two"


def test_weights_from_a_file(folder: Path) -> None:
    weights = np.arange(36) % 5
    Path("weights.txt").write_text("".join(f"{each}\n" for each in weights))
    full, half = (dh.evaluate(SYSTEMS[name], LABELS, measures="mAP", weights=weights) for name in ("full", "half"))
    asked = ("-m", "mAP", "--weights", "weights.txt")
    assert passed("evaluate", "full.npz", *asked, "--receipt", "r.json") == f"{full}\n"
    pair = dh.compare(full, half, names=("full", "half"), n_resamples=99)
    assert passed("compare", "full.npz", "half.npz", *asked, "--n-resamples", "99") == f"{pair}\n"
    board = dh.leaderboard({"full": full, "half": half}, n_resamples=99)
    assert passed("leaderboard", "full.npz", "half.npz", *asked, "--n-resamples", "99") == f"{board}\n"
    assert passed("verify", "r.json", "full.npz", "--weights", "weights.txt").startswith("match")
    assert run("verify", "r.json", "full.npz").exit_code == 1
    Path("qrels").write_text("".join(f"q{i} 0 d 1\n" for i in range(3)))
    Path("a.run").write_text(
        "".join(f"q{i} Q0 d{'x' * i} 1 2 a\nq{i} Q0 d 2 1 a\n" for i in range(1, 3)) + "q0 Q0 d 1 2 a"
    )
    Path("traffic.tsv").write_text("q2\t1\nq0\t8\nq1\t1\n")
    report = dh.evaluate(dh.from_run("a.run", "qrels"), "MRR", weights={"q0": 8, "q1": 1, "q2": 1})
    assert report["MRR"].lower == 0.9
    of_run = ("run", "qrels", "a.run", "-m", "MRR", "--weights")
    assert passed(*of_run, "traffic.tsv") == f"{report}\n"
    Path("odd.tsv").write_text("q2\t1\nq0\tmany\nq1\t1\n")
    assert refused(*of_run, "odd.tsv") == "odd.tsv must hold a number for each query, but has 'many'"
    assert refused(*of_run, "traffic.tsv", "--by-id").startswith("--weights goes with no --by-id and no --trec-eval")
    Path("short.txt").write_text("1\n2\n")
    assert refused("evaluate", "full.npz", "--weights", "short.txt") == (
        "short.txt: weights must have one entry for each query, but have shape (2,) for 36 queries"
    )


def test_a_margin_is_in_the_unit_of_the_measure(folder: Path) -> None:
    gated = ("compare", "full.npz", "half.npz", "-m", "MnR", "--fail-if-worse", "--gate", "drop", "--margin")
    drop = dh.compare(*(dh.evaluate(SYSTEMS[name], LABELS, measures="MnR") for name in ("full", "half")))["MnR"].drop
    assert 0 < drop < 50
    assert [run(*gated, str(margin)).exit_code for margin in (0.9 * drop, 1.1 * drop)] == [1, 0]


SETTINGS = {
    "--resample classes": "--resample must be one of query, class, but is 'classes'; did you mean 'class'?",
    "--seed -1": "--seed must be at least 0, but is -1",
}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("compare full.npz", "compare takes two files, but got 1"),
        ("compare full.npz half.npz rounded.npz",
         "compare takes two files, but got 3; deadheat leaderboard takes more"),
        ("leaderboard full.npz", "leaderboard takes at least two files, but got 1"),
        ("compare full.npz nope.npz", "nope.npz: No such file or directory"),
        ("compare full.npz short.npz", "full and short must be of the same queries, but have 36 and 30"),
        ("leaderboard full.npz reversed.npz",
         "full and reversed must be of the same queries in the same order, but their labels differ"),
        ("compare full.npz ./full.npz",
         "each system must have a name of its own (--name), but two are called 'full.npz'"),
        ("compare full.npz half.npz --name a", "--name must be given once for each FILE, but got 1 for 2 files"),
        ("compare full.npz half.npz --gallery half.npz",
         "--gallery must be given once for each FILE, but got 1 for 2 files"),
        ("leaderboard full.npz half.npz rounded.npz --labels labels.npy --labels labels.npy",
         "--labels must be given once, or once for each FILE, but got 2 for 3 files"),
        ("compare full.npz half.npz --gallery-labels labels.npy", "--gallery-labels goes with --gallery"),
        ("compare full.npz half.npz --explain --json -",
         "--explain goes with the table, but another text is to be printed"),
        ("compare full.npz half.npz --json - --latex -", "two results cannot both be written to standard output"),
        ("compare full.npz half.npz --json half.npz",
         "cannot write half.npz: it is there already (--force overwrites it)"),
        *((f"compare full.npz half.npz {option}", f"{option.split()[0]} goes with --fail-if-worse")
          for option in ("--margin 1", "--gate drop")),
        *((f"compare full.npz half.npz --fail-if-worse --margin {wrong}",
           f"--margin must be points of per cent from 0 to 100, but is {wrong}") for wrong in ("-1", "101")),
        *((f"{command} nope.npz half.npz {option}", message) for command in ("compare", "leaderboard")
          for option, message in SETTINGS.items()),  # before anything is read
    ],
)  # fmt: skip
def test_mistakes_are_one_line(folder: Path, args: str, message: str) -> None:
    assert refused(*args.split()) == message
    assert "is not one of 'lower', 'expected', 'upper'" in refused("leaderboard", "nope", "no", "--by", "mean")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("nope.npz", "nope.npz: No such file or directory"),
        ("nope-*.npz", "nope-*.npz: embeddings must be files that are there, but none fits 'nope-*.npz'"),
        ("half.npz --exclude nope.npy", "nope.npy: No such file or directory"),
        ("half.npz --labels labels.npy --labels nope.npy", "nope.npy: No such file or directory"),
    ],
)
def test_a_missing_file_is_found_before_any_is_ranked(
    folder: Path, args: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(systems, "report_of", lambda *_: pytest.fail("a file was ranked"))
    for command in ("compare", "leaderboard"):
        assert refused(command, "full.npz", *args.split()) == message


@pytest.fixture
def suites(folder: Path) -> dict[str, dict[str, dh.Report]]:
    """A folder for each system, with a file for each task, and its reports."""
    reports: dict[str, dict[str, dh.Report]] = {}
    for system in ("full", "half"):
        for task, shift in (("birds", 0.0), ("cars", 0.5)):
            rows = np.rint(SYSTEMS[system] + shift)
            for own in (system, f"{system}-bare"):
                (folder / own).mkdir(exist_ok=True)
            np.savez(folder / system / f"{task}.npz", embeddings=rows, labels=LABELS)
            np.save(folder / f"{system}-bare" / f"{task}.npy", rows)
            reports.setdefault(system, {})[task] = dh.evaluate(rows, LABELS, measures="mAP")
    (folder / "labels").mkdir()
    for task in ("birds", "cars"):
        np.save(folder / "labels" / f"{task}.npy", LABELS)
    Path("groups.csv").write_text("birds,animals\ncars,things\n")
    return reports


def test_folders_are_systems_and_their_files_tasks(suites: dict[str, dict[str, dh.Report]]) -> None:
    settings = ("-m", "mAP", "--n-resamples", "200")
    result = dh.leaderboard(suites, n_resamples=200)
    assert passed("leaderboard", "full", "half", *settings) == f"{result}\n"
    assert passed("leaderboard", "full", "half", *settings, "--explain") == f"{result}\n\n{result.explain()}\n"
    bare = ("full-bare", "half-bare", "--name", "full", "--name", "half", *settings)
    assert passed("leaderboard", *bare, "--labels", "labels.npy") == f"{result}\n"
    assert passed("leaderboard", *bare, "--labels", "labels") == f"{result}\n"
    grouped = dh.leaderboard(suites, groups={"birds": "animals", "cars": "things"}, resample="task", n_resamples=200)
    args = ("--groups", "groups.csv", "--resample", "task", "--json", "-")
    assert json.loads(passed("leaderboard", "full", "half", *settings, *args)) == json.loads(grouped.to_json())
    Path(".hidden").mkdir()
    Path("full", ".notes").write_text("")
    assert passed("leaderboard", "full", "half", *settings) == f"{result}\n"
    crossed = {
        name: {task: dh.evaluate(np.load(f"{name}-bare/{task}.npy"), LABELS, np.load(f"{name}-bare/{task}.npy"), LABELS,
                                 measures="mAP", distance="euclidean") for task in ("birds", "cars")}
        for name in suites
    }  # fmt: skip
    galleries = ("--gallery", "full", "--gallery", "half", "--distance", "euclidean")
    assert (
        passed("leaderboard", "full", "half", *galleries, *settings) == f"{dh.leaderboard(crossed, n_resamples=200)}\n"
    )


def test_runs_of_several_tasks(runs: None) -> None:
    for system in ("first", "last"):
        Path(system).mkdir()
        for task in ("news", "law"):
            Path(system, f"{task}.run").write_bytes(Path(f"{system}.run").read_bytes())
    Path("judged").mkdir()
    for task in ("news", "law"):
        Path("judged", f"{task}.qrels").write_bytes(Path("qrels").read_bytes())
    of_one = run_reports("MRR")
    expected = dh.leaderboard({name: dict.fromkeys(("law", "news"), one) for name, one in of_one.items()})
    asked = ("leaderboard", "first", "last", "-m", "MRR", "--qrels")
    assert passed(*asked, "judged") == passed(*asked, "qrels") == f"{expected}\n"
    Path("last", "law.run").unlink()
    Path("third").mkdir()
    for task in ("news", "law"):
        Path("third", f"{task}.run").write_bytes(Path("last.run").read_bytes())
    assert "last is left out, as it lacks 1 task: law." in passed(*asked[:3], "third", *asked[3:], "judged")
    Path("judged", "law.qrels").unlink()
    assert refused(*asked, "judged") == "judged must have a file for each task, but has none for law"


def test_folders_that_do_not_fit_are_refused_in_a_line(suites: dict[str, dict[str, dh.Report]]) -> None:
    both = "FILEs must all be files or all be folders, but full is one, half.npz not"
    assert refused("leaderboard", "full", "half.npz") == both
    Path("full", "cars.npy").write_bytes(b"")
    assert (
        refused("leaderboard", "full", "half") == "full must have one file for each task, but has cars.npy and cars.npz"
    )
    Path("none").mkdir()
    assert refused("leaderboard", "none", "half") == "none must have a file for each task, but has none"
    Path("full", "cars.npy").unlink()
    Path("full", "cars.npz").unlink()
    assert refused("leaderboard", "full", "half").endswith("with all tasks, but got 1: full lacks cars")
    groups = refused("leaderboard", "full.npz", "half.npz", "--groups", "groups.csv")
    assert groups == "--groups must be left out unless reports are by system and task"
