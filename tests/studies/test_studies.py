"""The frame of the studies: findings and their marks, the files and the page they leave, and the command."""

from __future__ import annotations

import csv
import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure

from deadheat import studies
from deadheat.cli import main
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Table, beside, missing


def outcome(value: float) -> Outcome:
    figure = Figure(figsize=(2, 1))
    figure.subplots().plot([0, 1], [0, value])
    return Outcome(
        [
            beside("mAP", value, 18.68, source="Table 1"),
            missing("Hit@1", "cars196-test.npz"),
            Finding("ties", "3", Mark.NEW),
        ],
        [Picture("line", "A line <to> look at", figure)],
        [Table("values", "All values", ["name", "value"], [["a", np.float64(0.1)], ["b", np.nan], ["c", np.int64(7)]])],
        ["One paragraph."],
    )


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Setting]:
    """Two studies, `one` and `two`; what they were run with."""
    settings: list[Setting] = []

    def study(name: str, value: float) -> None:
        module = ModuleType(f"deadheat.studies.{name}")

        def run(setting: Setting) -> Outcome:
            settings.append(setting)
            setting.say("half way")
            return outcome(value)

        vars(module).update(TITLE=f"Study {name}", SOURCE="A paper", ABOUT="What it is.", run=run)
        monkeypatch.setitem(sys.modules, module.__name__, module)

    study("one", 18.684)
    study("two", 20.8)
    monkeypatch.setattr(studies, "STUDIES", {"one": "the first", "two": "the second"})
    return settings


class Page(HTMLParser):
    """The pictures, links and marks of a page; every tag that is opened must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.pictures: list[str] = []
        self.links: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "img":
            self.pictures.append(given["src"] or "")
        if tag == "a":
            self.links.append(given["href"] or "")
        if tag not in ("img", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data.strip())


def test_a_finding_agrees_up_to_the_rounding_of_the_published_value() -> None:
    assert beside("x", 18.6849, 18.68).mark is Mark.AGREES
    assert beside("x", 18.6851, 18.68).mark is Mark.DIFFERS
    assert beside("x", 18.675, 18.68).mark is Mark.AGREES
    assert beside("x", 10.487, 10.4, digits=1, within=0.1).mark is Mark.AGREES
    assert beside("x", float("nan"), 10.4).mark is Mark.DIFFERS
    finding = beside("mAP", 18.6849, 18.68, source="Table 1")
    assert (finding.here, finding.published, finding.source) == ("18.68 %", "18.68 %", "Table 1")


def test_a_table_has_as_many_cells_as_columns() -> None:
    with pytest.raises(ValueError, match="table values must have 2 cells a row, but has 1"):
        Table("values", "", ["a", "b"], [[1, 2], [3]])


def test_a_setting_finds_the_first_file_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "b.npz").touch()
    setting = Setting(tmp_path, tmp_path)
    assert setting.file("a.npz", "b.npz") == tmp_path / "b.npz"
    assert setting.file("a.npz") is None
    assert Setting(None, tmp_path).file("b.npz") is None


def test_a_study_leaves_pictures_tables_a_record_and_the_page(tmp_path: Path, made: list[Setting]) -> None:
    lines: list[str] = []
    outcomes = studies.reproduce(["one"], tmp_path / "out", quick=True, threads=1, say=lines.append)
    assert list(outcomes) == ["one"]
    assert lines == ["one: the first", "half way"]
    assert made[0].quick
    assert made[0].threads == 1
    assert made[0].cache == tmp_path / "out" / "cache"
    assert made[0].cache.is_dir()
    folder = tmp_path / "out" / "one"
    assert (folder / "line.png").read_bytes().startswith(b"\x89PNG")
    with open(folder / "values.csv", newline="") as file:
        assert list(csv.reader(file)) == [["name", "value"], ["a", "0.1"], ["b", ""], ["c", "7"]]
    record = json.loads((folder / "outcome.json").read_text())
    assert record["marks"] == {"agrees": 1, "no data": 1, "new": 1}
    page = Page((tmp_path / "out" / "index.html").read_text())
    assert page.pictures == ["one/line.png"]
    assert "one/values.csv" in page.links
    for said in ("Study one", "A paper", "One paragraph.", "18.68 %", "A line <to> look at", "Table 1"):
        assert said in page.text
    assert "A quick run on smaller sizes: the values are not those of the study." in page.text
    assert any("cars196-test.npz" in text for text in page.text)


def test_the_page_keeps_the_studies_of_earlier_runs_in_their_order(tmp_path: Path, made: list[Setting]) -> None:
    studies.reproduce(["two"], tmp_path)
    studies.reproduce(["one"], tmp_path)
    assert Page((tmp_path / "index.html").read_text()).pictures == ["one/line.png", "two/line.png"]


def test_no_names_mean_all_studies_and_a_name_counts_once(tmp_path: Path, made: list[Setting]) -> None:
    assert list(studies.reproduce(out=tmp_path)) == ["one", "two"]
    assert list(studies.reproduce(["two", "two"], tmp_path)) == ["two"]


def test_bad_arguments_are_refused_before_anything_runs(tmp_path: Path, made: list[Setting]) -> None:
    with pytest.raises(ValueError, match="study must be one of one, two, but is 'onee'; did you mean 'one'"):
        studies.reproduce(["one", "onee"], tmp_path / "out")
    with pytest.raises(ValueError, match=r"data must be a folder, but .*nowhere is not one"):
        studies.reproduce(["one"], tmp_path / "out", data=tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"out must be a folder, but .*file is a file"):
        studies.reproduce(["one"], tmp_path / "file")
    assert made == []
    assert not (tmp_path / "out").exists()


def test_a_missing_package_is_named_with_what_to_install(
    tmp_path: Path, made: list[Setting], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ModuleNotFoundError, match=r"reproduce needs jinja2: pip install 'deadheat\[reproduce\]'"):
        studies.reproduce(["one"], tmp_path / "out")
    assert made == []


def test_the_command_lists_runs_and_says_where_the_page_is(tmp_path: Path, made: list[Setting]) -> None:
    listed = CliRunner().invoke(main, ["reproduce", "--list"])
    assert listed.stdout == "one  the first\ntwo  the second\n"
    done = CliRunner().invoke(main, ["reproduce", "two", "--out", str(tmp_path / "out"), "--quick"])
    assert done.exit_code == 0
    assert done.stdout == f"two  1 differs, 1 no data, 1 new\n{tmp_path / 'out' / 'index.html'}\n"
    assert done.stderr == "two: the second\nhalf way\n"
    wrong = CliRunner().invoke(main, ["reproduce", "three", "--out", str(tmp_path / "out")])
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("deadheat: study must be one of one, two, but is 'three'")
    assert wrong.stderr.count("\n") == 1


def test_a_file_that_is_not_george_washington_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "phocnet_gw.npz", embeddings=np.zeros((3, 2)), labels=np.zeros(3, dtype=int))
    done = CliRunner().invoke(
        main, ["reproduce", "precision", "--quick", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    )
    assert done.exit_code == 2
    assert "phocnet_gw.npz has no array 'phocnet_features', only 'embeddings', 'labels'" in done.stderr
    assert "Traceback" not in done.stderr


def test_every_study_says_what_it_is() -> None:
    from importlib import import_module

    for name in studies.STUDIES:
        module = import_module(f"deadheat.studies.{name}")
        assert all(isinstance(getattr(module, what), str) for what in ("TITLE", "SOURCE", "ABOUT")), name
        assert callable(module.run)
