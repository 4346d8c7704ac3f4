"""Models ranked by a table of scores: intervals of ranks, chances to win, and the files that scores come in."""

from __future__ import annotations

import json
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import passed
from cli.calling import reason as refused

import deadheat as dh
from deadheat.inputs.score_tables import read_scores
from deadheat.reports.statistics.permutation import step_down

RNG = np.random.default_rng(11)
NAMES = ("steady", "lucky", "close", "behind", "last")
TABLE = np.round(RNG.normal(0, 1, (5, 12)) + 20 * RNG.random(12) + np.array([3, 2.9, 2.5, 1, -6])[:, None], 2)
SCORES = {
    name: {f"t{i}": score for i, score in enumerate(row)} for name, row in zip(NAMES, TABLE.tolist(), strict=True)
}


def test_intervals_of_ranks_are_what_the_significant_pairs_leave() -> None:
    board, means = dh.score_leaderboard(SCORES), {name: sum(row.values()) / 12 for name, row in SCORES.items()}
    pairs = [sorted(pair, key=lambda name: -means[name]) for pair in combinations(NAMES, 2)]
    adjusted = step_down(np.array([TABLE[NAMES.index(a)] - TABLE[NAMES.index(b)] for a, b in pairs]), 9999, 0)
    ahead = {(a, b) for (a, b), p in zip(pairs, adjusted, strict=True) if p < 0.05}
    for name in NAMES:
        low, high = 1 + sum((other, name) in ahead for other in NAMES), 5 - sum((name, o) in ahead for o in NAMES)
        assert board.rank_intervals[name] == (low, high)
        assert low <= board.ranks[name] <= high
    assert 0 < len(ahead) < len(pairs)
    assert board.tied_for_first == tuple(name for name in board if board.rank_intervals[name][0] == 1)
    assert list(board) == sorted(NAMES, key=lambda name: -means[name])
    reverse = {name: dict(reversed(SCORES[name].items())) for name in reversed(NAMES)}
    assert dh.score_leaderboard(reverse).to_dict() == board.to_dict()


def test_chances_to_win_are_those_of_every_draw() -> None:
    """Three tasks: all 27 draws, each as likely; the bootstrap comes near."""
    scores = {"a": {"x": 3.0, "y": 0.0, "z": 1.0}, "b": {"x": 1.0, "y": 1.0, "z": 1.0}}
    board = dh.score_leaderboard(scores, n_resamples=40_000)
    sums = [[sum(row[task] for task in drawn) for row in scores.values()] for drawn in product("xyz", repeat=3)]
    exact = sum((a > b) + (a == b) / 2 for a, b in sums) / 27
    assert abs(board.win_probability("a", "b") - exact) < 0.01
    assert board.win_probability("a", "b") + board.win_probability("b", "a") == pytest.approx(1, abs=1e-12)
    assert board.first["a"] == pytest.approx(board.win_probability("a", "b"), abs=1e-12)


def test_equal_models_share_a_rank_and_first_place() -> None:
    equal = dict(zip("abcdefgh", range(8), strict=True))
    board = dh.score_leaderboard({"one": equal, "two": equal, "zero": dict.fromkeys("abcdefgh", -1)})
    assert board.ranks == {"one": 1, "two": 1, "zero": 3}
    assert (board.pvalue("one", "two"), board.win_probability("one", "two")) == (1.0, 0.5)
    assert board.rank_intervals == {"one": (1, 2), "two": (1, 2), "zero": (3, 3)}
    assert board.first == {"one": 0.5, "two": 0.5, "zero": 0.0}
    assert board.notes()[1] == "Statistically tied for first place: one, two."
    alone = dh.score_leaderboard({"one": equal, "zero": dict.fromkeys("abcdefgh", -1)})
    assert alone.notes()[1] == "one is first (p < 0.05)."


def test_missing_scores() -> None:
    lacking = {**SCORES, "close": {task: x for task, x in SCORES["close"].items() if task != "t3"}}
    lacking["last"] = {**lacking["last"], "t3": float("nan")}
    message = r"'close' has no 't3' \(2 missing; missing='tasks' or 'models' leaves them out\)"
    with pytest.raises(ValueError, match=message):
        dh.score_leaderboard(lacking)
    assert dh.score_leaderboard(lacking, missing="tasks").left_out == ("t3",)
    board = dh.score_leaderboard(lacking, missing="models")
    assert (sorted(board), len(board.tasks), board.left_out) == (["behind", "lucky", "steady"], 12, ("close", "last"))


def test_too_few_tasks_are_said() -> None:
    few = {name: {task: row[task] for task in ("t0", "t1", "t2")} for name, row in SCORES.items()}
    said = "No difference can be significant, for the smallest p is 0.25: there are too few tasks."
    assert said in str(dh.score_leaderboard(few))
    assert "smallest p is 0.1: raise n_resamples." in str(dh.score_leaderboard(SCORES, n_resamples=9))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tasks = list(SCORES["steady"])
    wide = [["model", *tasks], *([name, *map(str, row.values())] for name, row in SCORES.items())]
    Path("wide.csv").write_text("".join(",".join(row) + "\n" for row in wide))
    long = [["score", "note", "model", "task"]]
    long += [[str(x), "-", name, task] for name, row in SCORES.items() for task, x in row.items()]
    Path("long.tsv").write_text("".join("\t".join(row) + "\n" for row in long))
    return tmp_path


def write(path: str, content: Any) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(content))


def test_tables_of_both_shapes(folder: Path) -> None:
    board, how = dh.score_leaderboard(SCORES, n_resamples=200, seed=3), ("--n-resamples", 200, "--seed", 3)
    for name in ("wide.csv", "long.tsv"):
        assert passed("leaderboard", "--scores", name, *how) == f"{board}\n"
    assert json.loads(passed("leaderboard", "--scores", "wide.csv", *how, "--json")) == json.loads(board.to_json())
    passed("leaderboard", "--scores", "wide.csv", "--n-resamples", 99, "--plot", "ranks.png")
    assert Path("ranks.png").read_bytes().startswith(b"\x89PNG")


def test_results_of_mteb(folder: Path) -> None:
    mteb = pytest.importorskip("mteb.results")
    for model, score in (("a", 0.5), ("b", 0.25)):
        for task, more in (("One", 0.0), ("Two", 0.125)):
            subsets = [{"hf_subset": s, "languages": ["eng-Latn"], "main_score": score + more + i / 8, "ap": 0.1 * i}
                       for i, s in enumerate(("x", "y"))]  # fmt: skip
            content = {"task_name": task, "dataset_revision": "1", "mteb_version": "2", "evaluation_time": 1.0,
                       "scores": {"test": subsets}}  # fmt: skip
            write(f"results/org__{model}/rev/{task}.json", content)
            assert mteb.TaskResult.model_validate(content).get_score() == score + more + 1 / 16
        if model == "b":
            write("results/org__b/rev/model_meta.json", {"name": "org/b"})
    assert read_scores(Path("results")) == {
        "org__a": {"One": 0.5625, "Two": 0.6875},
        "org/b": {"One": 0.3125, "Two": 0.4375},
    }
    assert read_scores(Path("results"), "ap")["org/b"] == {"One": 0.05, "Two": 0.05}
    assert refused("leaderboard", "--scores", "results", "--score-name", "f1") == (
        "results/org__a/rev/One.json must have a number 'f1' in each subset of each split"
    )


def test_results_of_swe_bench(folder: Path) -> None:
    write("verified/2025_x/results/results.json", {"no_generation": ["i3"], "no_logs": [], "resolved": ["i1", "i2"]})
    write("verified/2025_y/results/results.json", {"no_generation": [], "no_logs": [], "resolved": ["i2"]})
    assert read_scores(Path("verified")) == {
        "2025_x": {"i1": 1.0, "i2": 1.0, "i3": 0.0}, "2025_y": {"i1": 0.0, "i2": 1.0, "i3": 0.0}
    }  # fmt: skip
    write("verified/2025_y/results/results.json", {"solved": []})
    assert refused("leaderboard", "--scores", "verified") == (
        "verified/2025_y/results/results.json must have a list 'resolved' of the items that are resolved"
    )


def test_results_of_helm(folder: Path) -> None:
    def item(name: str, *means: float, perturbation: Any = None) -> list[dict[str, Any]]:
        return [{"instance_id": name, "train_trial_index": i, "perturbation": perturbation,
                 "stats": [{"name": {"name": "exact_match", "split": "test"}, "count": 1, "mean": mean},
                           {"name": {"name": "runtime"}, "count": 1, "mean": 3.5}]}
                for i, mean in enumerate(means)]  # fmt: skip

    for model, values in (("x_1", (1.0, 0.0)), ("x_2", (1.0, 1.0))):
        rows = [*item("id1", *values), *item("id2", 1.0), *item("id2", 0.0, perturbation={"name": "typos"})]
        write(f"runs/v1/mmlu:subject=law,model={model}/per_instance_stats.json", rows)
    assert read_scores(Path("runs"), "exact_match") == {
        "x_1": {"mmlu:subject=law id1": 0.5, "mmlu:subject=law id2": 1.0},
        "x_2": {"mmlu:subject=law id1": 1.0, "mmlu:subject=law id2": 1.0},
    }
    file = "runs/v1/mmlu:subject=law,model=x_1/per_instance_stats.json"
    rule = "must have the score that score_name names, one of exact_match, runtime"
    assert refused("leaderboard", "--scores", "runs") == f"{file} {rule}"
    write(file, [{"id": 3}])
    assert refused("leaderboard", "--scores", "runs") == "runs holds results that are not as described: 'stats'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,x,x\na,1,2\n", " has more than one column called 'x'"),
        ("model,x,y\na,1\n", ", line 2: must have 3 cells, but has 2"),
        ("model,x,y\na,1,good\n", ", line 2: must have scores that are finite numbers, but has 'good'"),
        ("model,x,y\na,1,inf\n", ", line 2: must have scores that are finite numbers, but has 'inf'"),
        ("model,x,y\na,1,2\na,1,2\n", " has more than one score of 'a' for 'x'"),
        ("model,x,y\n", " has no scores"),
    ],
)
def test_tables_that_are_wrong(folder: Path, text: str, message: str) -> None:
    Path("bad.csv").write_text(text)
    assert refused("leaderboard", "--scores", "bad.csv") == f"bad.csv{message}"


def test_mistakes_are_one_line(folder: Path) -> None:
    Path("empty").mkdir()
    for arguments, message in {
        "nope.csv": "nope.csv: No such file or directory",
        "a.txt": "scores must be a folder or end in .csv or .tsv, but is a.txt",
        "empty": "empty must hold results of MTEB, SWE-bench or HELM in JSON, but holds no such file",
        "wide.csv a.npz": "--scores goes without FILE, but got a.npz",
        "wide.csv --labels l.npy": "--labels goes without --scores",
        "wide.csv --resample class": "--resample goes without --scores",
        "wide.csv --score-name x": "score_name goes with a folder of results, but wide.csv is a table",
        "wide.csv --n-resamples 0": "n_resamples must be at least 1, but is 0",
    }.items():
        assert refused("leaderboard", "--scores", *arguments.split()) == message
    assert refused("leaderboard", "a.npz", "b.npz", "--plot", "x.png") == "--plot goes with --scores"
