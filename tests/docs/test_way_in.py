"""The way in: the README's figures come from commands here, and the notebook is the tutorial, and runs."""

from __future__ import annotations

import contextlib
import io
import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import deadheat as dh
from tests import notebook

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def printed_by(example: str, monkeypatch: pytest.MonkeyPatch) -> str:
    pytest.importorskip("sklearn", reason="the table is of scikit-learn's digits (extra demo)")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(ROOT / "examples" / example), run_name="__main__")
    return printed.getvalue()


def test_the_first_picture_is_what_its_command_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = (ROOT / "docs" / "assets" / "two-orders.svg").read_text(encoding="utf-8")
    assert drawn == printed_by("two_orders.py", monkeypatch)
    values = re.findall(r'class="bold"[^>]*>([^<]*\d)', drawn)
    assert [value for value in values if value not in README] == []
    assert len(values) == 3


def test_the_first_table_is_what_its_command_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    table = printed_by("do_ties_matter.py", monkeypatch)
    assert table.count("\n") == 2 + 5
    assert table in README
    assert table in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


def test_the_times_of_the_readme_are_those_of_the_page_on_performance() -> None:
    measured = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    times = re.findall(r"([\d.]+) s\b", README[README.index("## How fast") :])
    assert times
    assert [each for each in times if not re.search(rf"\| {re.escape(each)} \|", measured)] == []


def test_the_notebook_is_the_tutorial() -> None:
    assert notebook.NOTEBOOK.read_text(encoding="utf-8") == notebook.text(), "python -m tests.notebook writes it anew"


@pytest.mark.slow
def test_the_notebook_runs_and_prints_what_it_shows() -> None:
    pytest.importorskip("sklearn", reason="the tutorial is about scikit-learn's digits (extra demo)")
    pytest.importorskip("matplotlib", reason="the tutorial draws").use("agg")
    names: dict[str, Any] = {}
    for cell in json.loads(notebook.NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec("".join(cell["source"]), names)
            shown = "".join(line for output in cell["outputs"] for line in output["text"])
            assert printed.getvalue().split() == shown.split()


def test_every_plot_has_a_picture_next_to_its_name() -> None:
    page = (ROOT / "docs" / "api" / "plots.md").read_text(encoding="utf-8")
    parts = dict(re.findall(r"^::: deadheat\.plots\.(\w+)\n(.*?)(?=^:::|\Z)", page, re.MULTILINE | re.DOTALL))
    assert {*parts} == {*dh.plots.__all__}
    without = [name for name, part in parts.items() if f"plots/{name.replace('_', '-')}.png#only-light" not in part]
    assert without == ["collision_legend"]  # the legend of another picture


def test_how_to_pages_are_short_and_open_with_their_subject_and_say_what_can_go_wrong() -> None:
    pages = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "how-to").iterdir()}
    assert len(pages) > 30
    assert [name for name, text in pages.items() if text.count("\n") > 120] == []
    assert [name for name, text in pages.items() if not re.match(r"# .+\n\n(?!For |Who|How |What )[`\w]", text)] == []
    assert [name for name, text in pages.items() if "What can go wrong" not in text] == []
