"""`deadheat compare` and `deadheat leaderboard`: what the library prints, and one line for all that can go wrong."""

from __future__ import annotations

import functools
import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

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
    assert "Tests and intervals are over 12 classes." in str(result)
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
    by_upper = dh.leaderboard(reports("half", "full"), n_resamples=200, rank_by="upper", resample="query", seed=3)
    args = ("half.npz", "full.npz", *QUICK, "--rank-by", "upper", "--resample", "query", "--seed", 3)
    assert passed("leaderboard", *args) == f"{by_upper}\n"


def test_labels_galleries_and_names(folder: Path) -> None:
    files = ("full.npy", "half.npy")
    alone = passed("compare", "full.npz", "half.npz", *QUICK)
    assert passed("compare", *files, "--labels", "labels.npy", *QUICK) == alone
    named = passed("compare", *files, "--labels", "labels.npy", "--name", "ours", "--name", "theirs", *QUICK)
    assert named.splitlines()[0].split()[2:7] == ["ours", "theirs", "ours", "-", "theirs"]
    galleries = ("--gallery", "full-items.npz", "--gallery", "half-items.npz")
    over_queries = passed("compare", "full.npz", "half.npz", *galleries, *QUICK)
    assert "Tests and intervals are over queries." in over_queries
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
    tasks = {name: dh.Task.from_run(f"{name}.run", "qrels", rel=rel) for name in ("first", "last")}
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
    judged = [dh.evaluate(dh.Task.from_run(path, "qrels", ties="float16"), "MRR") for path in ("first.run", "last.run")]
    expected = dh.compare(*judged, names=("first", "last"))
    asked = ("compare", "first.run", "last.run", "--qrels", "qrels", "-m", "MRR", "--ties", "float16")
    assert passed(*asked) == f"{expected}\n"


GATE = ("compare", "a.npz", "b.npz", "-m", "Hit@1", "--distance", "euclidean", "--fail-if-worse", "--n-resamples", "9")


def gate(*new: float, by: str | None = None, drop: float | None = None, old: tuple[float, ...] = (0, 0, 9, 9)) -> Any:
    """Exit status and message where two classes of two samples lie at these places, old and new."""
    for name, places in (("a", old), ("b", new)):
        np.savez(f"{name}.npz", embeddings=np.array(places)[:, None], labels=[0, 0, 1, 1])
    options = {"--max-drop": drop, "--gate-by": by}
    result = run(*GATE, *(part for pair in options.items() if pair[1] is not None for part in pair))
    assert result.stdout.startswith("measure (%)")
    return result.exit_code, result.stderr


def test_a_gate_by_default_needs_the_lower_bound(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    passes = "deadheat: b passes: no measure is below a's by the {} (Hit@1).\n"
    lost = "deadheat: b is worse than a by the {}: Hit@1 by {} points, where {} are allowed.\n"
    bound, mean = "lower bound", "expected value"
    assert gate(0, 0, 9, 9) == (0, passes.format(bound))
    assert gate(0, 0, 0, 0) == (1, lost.format(bound, 100, 0))  # everything ties: from 0 to 100, on average 33
    assert gate(0, 0, 0, 0, by="lower", drop=99.5) == (1, lost.format(bound, 100, 99.5))
    assert gate(0, 0, 0, 0, by="expected", drop=0.5) == (1, lost.format(mean, 66.67, 0.5))
    assert gate(0, 0, 0, 0, by="expected", drop=67)[0] == 0
    assert gate(0, 0, 0, 0, by="certain")[0] == 0
    assert (
        gate(0, 0, 0, 0, old=(0, 0, 0, 0), by="lower")[0] == gate(0, 0, 0, 0, old=(0, 0, 0, 0), by="expected")[0] == 0
    )
    assert gate(0, 0, 9, 9, old=(0, 0, 0, 0)) == (0, passes.format(bound))
    assert gate(0, 4, 0, 9, old=(0, 0, 0, 0)) == (0, passes.format(bound))
    assert gate(0, 4, 0, 9, old=(0, 0, 0, 0), by="expected")[0] == 1


def test_a_gate_by_what_is_certain_fails_only_where_the_new_system_is_worse_however_ties_fall(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    certain: Any = functools.partial(gate, by="certain")
    passes = "deadheat: b passes: no measure is below a's under any tie-breaking (Hit@1).\n"
    assert certain(0, 0, 9, 9) == (0, passes)
    assert certain(0, 0, 0, 0) == (0, passes)  # everything ties: from 0 to 100
    lost = "deadheat: b is worse than a under any tie-breaking: Hit@1 by at least {} points, where {} are allowed.\n"
    assert certain(0, 4, 3, 9) == (1, lost.format(100, 0))
    assert certain(0, 4, 0, 9) == (1, lost.format(75, 0))  # 4 has its own and another at 0, all others miss
    assert certain(0, 4, 0, 9, drop=74.9)[0] == 1
    assert certain(0, 4, 0, 9, drop=75) == (
        0, "deadheat: b passes: no measure is below a's by more than 75 points under any tie-breaking (Hit@1).\n"
    )  # fmt: skip
    assert certain(0, 0, 9, 9, old=(0, 0, 0, 0)) == (0, passes)
    assert certain(0, 4, 3, 9, old=(0, 0, 0, 0)) == (0, passes)  # the old one may have had nothing either


def test_collapsed_systems_fail_the_gate_and_equal_ones_pass(folder: Path) -> None:
    with np.load("full.npz") as full:
        np.savez("zero.npz", embeddings=np.zeros_like(full["embeddings"]), labels=full["labels"])
    Path("good.run").write_text("".join(f"q{i} Q0 d{j} 1 {-j} t\n" for i in range(8) for j in range(9)))
    Path("constant.run").write_text("".join(f"q{i} Q0 d{j} 1 0.5 t\n" for i in range(8) for j in range(9)))
    Path("qrels").write_text("".join(f"q{i} 0 d0 1\n" for i in range(8)))
    asked = ("--fail-if-worse", "--max-drop", "0.5", "-m", "mAP,Hit@1", "--n-resamples", "9")
    of_runs = ("--qrels", "qrels", "-m", "MRR@10 nDCG@10", *asked[:3])
    assert run("compare", "full.npz", "zero.npz", *asked).exit_code == 1
    assert run("compare", "zero.npz", "full.npz", *asked).exit_code == 0
    assert run("compare", "full.npz", "full.npz", "--name", "a", "--name", "b", *asked).exit_code == 0
    assert run("compare", "good.run", "constant.run", *of_runs).exit_code == 1
    assert run("compare", "constant.run", "good.run", *of_runs).exit_code == 0
    report = reports("full")["full"]
    assert dh.compare(report, report).dropped() == ()


def test_dropped_agrees_with_every_arrangement() -> None:
    """Three queries with one relevant item each, tied with others: all values of the mean, in fractions."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        groups = [[(int(k), 0, int(tied), 1) for k, tied in rng.integers([0, 1], [3, 4], (3, 2))] for _ in "ab"]
        means = [
            {sum(each, Fraction(0)) / 3 for each in product(*([Fraction(1, k + i) for i in range(1, n + 1)]
             for k, _, n, _ in rows))} for rows in groups
        ]  # fmt: skip
        least = min(means[0]) - max(means[1])
        a, b = (dh.evaluate(dh.TieProfile.from_groups([[row] for row in rows], [9] * 3), "RR") for rows in groups)
        for drop in (0.0, 0.125, 0.25):
            assert dh.compare(a, b).dropped(drop) == (("MRR",) if min(means[0]) - min(means[1]) > drop else ())
            assert dh.compare(a, b).dropped(drop, "certain") == (("MRR",) if least > Fraction(drop) else ())


def test_a_gate_that_cannot_be_decided(folder: Path) -> None:
    groups = [(0, 0, 1, 1)]
    a, b = (dh.evaluate(dh.TieProfile.from_groups(rows, [9, 9]), "RR") for rows in ([groups, []], [[], groups]))
    with pytest.raises(ValueError, match="MRR must have a value in A and B for some query"):
        dh.compare(a, b).dropped()
    report = reports("full")["full"]
    with pytest.raises(ValueError, match=r"max_drop must be a fraction in \[0, 1\], but is 1\.5"):
        dh.compare(report, report).dropped(1.5)
    with pytest.raises(ValueError, match="gate_by must be one of lower, expected, certain, but is 'upper'"):
        dh.compare(report, report).dropped(gate_by="upper")  # type: ignore[arg-type]
    tolerant = dh.evaluate("full.npz", ties=dh.Tolerance(0.01), measures="mAP")
    assert dh.compare(tolerant, tolerant).dropped(gate_by="lower") == ()
    with pytest.raises(ValueError, match="mAP must have an expected value, which a tolerance does not have: gate by l"):
        dh.compare(tolerant, tolerant).dropped(gate_by="expected")


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
          for option in ("--max-drop 1", "--gate-by lower")),
        *((f"compare full.npz half.npz --fail-if-worse --max-drop {wrong}",
           f"--max-drop must be points of per cent from 0 to 100, but is {wrong}") for wrong in ("-1", "101")),
        *((f"{command} nope.npz half.npz {option}", message) for command in ("compare", "leaderboard")
          for option, message in SETTINGS.items()),  # before anything is read
    ],
)  # fmt: skip
def test_mistakes_are_one_line(folder: Path, args: str, message: str) -> None:
    assert refused(*args.split()) == message
    assert "is not one of 'lower', 'expected', 'upper'" in refused("leaderboard", "nope", "no", "--rank-by", "mean")


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
