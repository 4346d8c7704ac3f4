"""Programs as users write them, read by mypy and pyright: the good lines pass, those that end in `# wrong` do not.

At run time `help`, completion and `inspect` see the same arguments.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import deadheat as dh
from deadheat.engine.settings import DEFAULTS, TaskSettings

ROOT = Path(__file__).parent.parent
PROGRAMS = {
    "one_line": """
        rows, labels = np.zeros((3, 2)), np.array([0, 0, 1])
        report = dh.evaluate(rows, labels, distance="L2", ties="half", threads=2, measures="mAP", singletons="zero")
        lower: float = report["mAP"].lower
        dh.evaluate(embeddings="set.npz", exclude=[0, 1], gallery="items.npz", average="class")
        dh.evaluate(rows, labels, measures=["mAP", "Hit@1"], junk=rows[:, 0] > 0, progress=print, relevance="same")
    """,
    "one_line_wrong": """
        dh.evaluate([[0]], [0], distnace="l2")  # wrong
        dh.evaluate([[0]], [0], distance="euclid")  # wrong
        dh.evaluate([[0]], [0], threads="4")  # wrong
        dh.evaluate([[0]], [0], metric="l2")  # wrong
        dh.evaluate([[0]], [0], singletons="skipped")  # wrong
    """,
    "tasks": """
        task = dh.Task([[0]], [0], distance="cos", ties=dh.Tolerance(0.5), checkpoint=Path("kept"))
        other: dh.Task = task.replace(distance="manhattan", ties=dh.Rounded("float16"))
        report = dh.evaluate(other, "mAP", singletons="one", average="class")
        dh.evaluate(task, measures=["mAP"])
        profile: dh.TieProfile = task.profile
        dh.evaluate(profile, "mAP", labels=[1], threads=1)
        dh.grouped(task, group_size=2)
    """,
    "tasks_wrong": """
        task = dh.Task([[0]], [0], distance="cosin")  # wrong
        task = dh.Task([[0]], [0], ties="exactly")  # wrong
        task = dh.Task([[0]], [0], thread=3)  # wrong
        task.replace(threads="all")  # wrong
        dh.evaluate(task, distance="l2")  # wrong
        number: int = task.profile  # wrong
    """,
    "sources": """
        tasks = [
            dh.from_scores([[2, 1]], [[0, 1]], order="ascending", ties="float64"),
            dh.from_run({"q": {"a": 1.0}}, {"q": {"a": 1}}, rel=1),
            dh.from_lists([["a"]], [["b"]]),
            dh.from_candidates([[1.0]], positive_scores=[2.0]),
            dh.from_ranks([1], [2], 5),
        ]
        reports = [dh.evaluate(task) for task in tasks]
        again: dh.CountedTask = tasks[0].replace(ties="float16")
        dh.link_prediction(dh.from_candidates([[1.0]], positive_columns=[0]))
        both: list[dh.Task | dh.CountedTask] = [again, dh.Task([[0]], [0])]
        profiles = [task.profile for task in both]
    """,
    "sources_wrong": """
        dh.from_scores([[0]], [[0]], order="up")  # wrong
        dh.from_run("run.txt")  # wrong
        dh.from_run("run.txt", "qrels.txt", complete=1.5)  # wrong
        dh.from_ranks([1], [2], 5, ties="exact")  # wrong
        dh.audit(dh.from_scores([[0]], [[0]]))  # wrong
        dh.grouped(dh.from_run("run.txt", "qrels.txt"))  # wrong
    """,
    "analyses": """
        task = dh.Task([[0]], [0])
        table = dh.collisions(task, distances=["cosine", "l2"])
        a, b = dh.evaluate(task), dh.evaluate(task.replace(ties="float16"))
        dh.compare(a, b)
        dh.exploit(task, seed=1)
        names: list[str] = [name for name in dh.measures.listing()]
    """,
    "analyses_wrong": """
        task = dh.Task([[0]], [0])
        dh.grouped(task, singletons="none")  # wrong
        dh.audit(task, average="classes")  # wrong
        dh.collisions(task, distances=["cosine", "cosin"])  # wrong
        dh.exploit(task, rng=3)  # wrong
        dh.evalute(task)  # wrong
    """,
    "plots": """
        from deadheat.plots import bounds, cmc
        report = dh.evaluate([[0]], [0])
        figure = dh.plots.cmc(report).figure
        ax = bounds(report)
        ax.set_title("mine")
    """,
    "plots_wrong": """
        from deadheat.plots import nonsense  # wrong
        report = dh.evaluate([[0]], [0])
        dh.plots.nothing(report)  # wrong
        dh.plots.cmc(report, depth=3)  # wrong
        number: int = dh.plots.bounds(report)  # wrong
    """,
}
HEAD = "from pathlib import Path\n\nimport deadheat as dh\nimport numpy as np\n"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    for name, program in PROGRAMS.items():
        (folder / f"{name}.py").write_text(HEAD + inspect.cleandoc(program) + "\n")
    (folder / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT / "src")]}))
    return folder


def wrong_lines(folder: Path) -> set[tuple[str, int]]:
    files = {path.stem: path.read_text().splitlines() for path in folder.glob("*.py")}
    return {(name, i) for name, lines in files.items() for i, line in enumerate(lines, 1) if line.endswith("# wrong")}


def output_of(command: list[str], folder: Path) -> str:
    environment = os.environ | {"MYPYPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", *command]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


@pytest.mark.slow
def test_mypy_finds_the_wrong_lines_and_no_others(programs: Path, pytestconfig: pytest.Config) -> None:
    pytest.importorskip("mypy")
    cache = pytestconfig.cache.mkdir("mypy") if pytestconfig.cache else programs / "cache"
    output = output_of(["mypy", "--strict", "--follow-imports=silent", "--cache-dir", str(cache), "."], programs)
    result = re.findall(r"^(\w+)\.py:(\d+): error: ", output, re.MULTILINE)
    assert {(name, int(line)) for name, line in result} == wrong_lines(programs)


@pytest.mark.slow
def test_pyright_finds_the_wrong_lines_and_no_others(programs: Path) -> None:
    pytest.importorskip("pyright")
    output = output_of(["pyright", "--outputjson", "--pythonpath", sys.executable], programs)
    errors = [each for each in json.loads(output)["generalDiagnostics"] if each["severity"] == "error"]
    assert {(Path(each["file"]).stem, each["range"]["start"]["line"] + 1) for each in errors} == wrong_lines(programs)


def test_jedi_completes_the_public_names(monkeypatch: pytest.MonkeyPatch) -> None:
    jedi = pytest.importorskip("jedi")
    finders = [each for each in sys.meta_path if "Redirecting" not in type(each).__name__]  # not an editable one
    monkeypatch.setattr(sys, "meta_path", finders)
    project = jedi.Project(str(ROOT / "src"), sys_path=[str(ROOT / "src"), *sys.path])
    environment = jedi.api.environment.InterpreterEnvironment()
    script = jedi.Script("import deadheat as dh\ndh.from_", project=project, environment=environment)
    assert {each.name for each in script.complete()} == {name for name in dh.__all__ if name.startswith("from_")}


def test_signatures_name_every_setting_with_its_default() -> None:
    assert list(DEFAULTS) == list(TaskSettings.__annotations__)
    data = ["embeddings", "labels", "gallery", "gallery_labels"]
    firsts: dict[Any, list[str]] = {
        dh.Task: data, dh.evaluate: [*data, "measures", "singletons", "average", "weights"], dh.Task.replace: ["self"],
        dh.Task.from_metadata: ["embeddings", "metadata", "positives", "negatives"],
    }  # fmt: skip
    for function, first in firsts.items():
        parameters = inspect.signature(function).parameters
        assert list(parameters) == [*first, *DEFAULTS]
        assert {name: parameters[name].default for name in DEFAULTS} == DEFAULTS
    assert inspect.signature(dh.Task).parameters["threads"].annotation == "int | None"
