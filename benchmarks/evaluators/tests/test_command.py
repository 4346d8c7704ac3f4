"""`python -m benchmarks.evaluators`: names, exit status, what is printed, one line for what can go wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import deadheat as dh
from benchmarks.evaluators import adapters
from benchmarks.evaluators.__main__ import main
from benchmarks.evaluators.adapters import ADAPTERS
from benchmarks.evaluators.audit import audit_evaluator

SMALL = ("--classes", "3", "--class-size", "5")
MINE = """
import numpy as np


def first(scores, relevant):
    return relevant[scores.argmax()]


class Metrics:
    @staticmethod
    def crash(embeddings, labels):
        raise RuntimeError("no such thing")


number = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "metrics_of_mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def run(*args: str) -> Result:
    return CliRunner().invoke(main, args)


def refused(*args: str) -> str:
    """The last line of a call that must fail, without "Error: "."""
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr.splitlines()[-1].removeprefix("Error: ")


def test_a_function_of_ones_own(folder: Path) -> None:
    result = run("metrics_of_mine:first", "--form", "query", *SMALL)
    assert (result.exit_code, result.stderr) == (1, "")
    computes = "computes P@1, the highest score first or Hit@1, the highest score first"
    assert f"metrics_of_mine:first {computes}" in result.stdout
    assert run("metrics_of_mine:Metrics.crash", *SMALL).exit_code == 1


def test_what_is_sound_has_status_0_and_can_be_written(folder: Path) -> None:
    result = run("deadheat:map", *SMALL, "--json", "found.json", "--markdown")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "| a system that knows nothing, 15 samples" in result.stdout
    content = json.loads((folder / "found.json").read_text())
    assert (content["passes"], content["version"], content["ties"]) == (True, dh.__version__, "lower bound")
    row = ADAPTERS["deadheat:map"]
    same = audit_evaluator(row.fn, form="scores", name=row.name, version=row.version, n_classes=3, class_size=5)
    assert content == json.loads(same.to_json())


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "give either NAMEs or --all"),
        (["--all", "deadheat:map"], "give either NAMEs or --all"),
        (["--all", "--form", "query"], "--form and --measure belong to a NAME"),
        (["deadheat:mop"], "did you mean 'deadheat:map'?"),
        (["nonsense"], "must be a name in the table or module:function, but is 'nonsense'"),
        (["no_such_module:f"], "there is no 'no_such_module'"),
        (["metrics_of_mine:second"], "metrics_of_mine has no 'second'"),
        (["metrics_of_mine:number"], "metrics_of_mine:number is not"),
        (["metrics_of_mine:first", "--classes", "1"], "'--classes': 1 is not in the range x>=2"),
        (["metrics_of_mine:first", "-m", "mop"], "mop"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(folder: Path, args: list[str], message: str) -> None:
    assert message in refused(*args)


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    row = ADAPTERS["ranx:map"]._replace(package="a-package-that-is-not-there")
    monkeypatch.setitem(adapters.ADAPTERS, "ranx:map", row)
    assert refused("ranx:map") == (
        "ranx:map needs a-package-that-is-not-there: pip install a-package-that-is-not-there"
    )


def test_all_that_are_installed_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in set(ADAPTERS) - {"deadheat:map", "numpy:argsort", "ranx:map"}:
        monkeypatch.delitem(adapters.ADAPTERS, name)
    monkeypatch.setitem(ADAPTERS, "ranx:map", ADAPTERS["ranx:map"]._replace(package="a-package-that-is-not-there"))
    result = run("--all", *SMALL, "--markdown")
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    header, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines[:4])
    assert [row[0] for row in rows] == ["numpy:argsort", "deadheat:map"]
    assert lines[-1] == "Not installed: ranx:map."
    survey = adapters.survey(n_classes=3, class_size=5)
    assert json.loads(survey.to_json())["audits"] == [one.to_dict() for one in survey.audits]
    frame = survey.to_pandas()
    for number, one in enumerate(survey.audits):
        cells = dict(zip((name.removesuffix(" (%)") for name in header), rows[number], strict=True))
        assert {name: int(cells[name]) for name in one.counts()} == one.counts()
        assert f"{100 * frame['interleaved'][number]:.2f}" == cells["interleaved"]
        assert (frame["lower"][number], frame["ties"][number]) == (one.truth.lower, cells["ties count as"])
