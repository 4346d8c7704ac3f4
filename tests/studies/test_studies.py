"""The frame of the studies: findings and their marks, the files and the page they leave, and the command."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure

from deadheat.cli import main
from deadheat.errors import DeadheatError
from deadheat.studies.registry import STUDIES, Row, by_name
from deadheat.studies.runner import reproduce
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Study, Table, beside, joined, missing

ROOT = Path(__file__).parents[2]


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


TEXTS = {
    "title": "A coin", "source": "A paper", "about": "What it is.", "question": "heads or tails",
    "docs": "docs/studies/coin.md",
}  # fmt: skip


def a_study(name: str, run: Any, **parts: Any) -> Study:
    return Study(**{"name": name, **TEXTS, "run": run, **parts})


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Callable[[Study], None]:
    """Puts a study into a module, and that into the registry."""

    def put_one(study: Study) -> None:
        monkeypatch.setitem(sys.modules, f"made_{study.name}", SimpleNamespace(STUDY=study))
        monkeypatch.setitem(STUDIES, study.name, Row(study.name, study.question, f"made_{study.name}"))

    return put_one


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, put: Callable[[Study], None]) -> list[Setting]:
    """Two studies, `one` and `two`, and no others; what they were run with."""
    settings: list[Setting] = []

    def add(name: str, value: float, question: str) -> None:
        def run(setting: Setting) -> Outcome:
            settings.append(setting)
            setting.say("half way")
            return outcome(value)

        put(a_study(name, run, title=f"Study {name}", question=question))

    for name in list(STUDIES):
        monkeypatch.delitem(STUDIES, name)
    add("one", 18.684, "the first")
    add("two", 20.8, "the second")
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
    assert beside("x", 10.6, 10.4, digits=1, within=0.1).mark is Mark.DIFFERS
    assert beside("x", float("nan"), 10.4).mark is Mark.DIFFERS
    finding = beside("mAP", 18.6849, 18.68, source="Table 1")
    assert (finding.here, finding.published, finding.source) == ("18.68 %", "18.68 %", "Table 1")


def test_a_wide_interval_cannot_tell() -> None:
    """Inside ± 3927 of 6827.5 lies almost anything; a value outside differs all the same."""
    assert beside("x", 6000, 6827.5, within=3927).mark is Mark.TOO_FEW
    assert beside("x", 12000, 6827.5, within=3927).mark is Mark.DIFFERS
    assert beside("x", 110, -100, within=11).mark is Mark.DIFFERS
    assert beside("x", -105, -100, within=10).mark is Mark.AGREES
    assert beside("x", -105, -100, within=10.1).mark is Mark.TOO_FEW
    assert beside("x", 0.2, 0, within=0.25).mark is Mark.AGREES, "of nothing there is no tenth"
    assert Mark.by_interval(True, float("nan"), 1) is Mark.TOO_FEW
    assert str(Mark.TOO_FEW) == "too few draws to tell"


def test_a_table_has_as_many_cells_as_columns() -> None:
    with pytest.raises(ValueError, match="table values must have 2 cells a row, but has 1"):
        Table("values", "", ["a", "b"], [[1, 2], [3]])


def test_fractions_are_shown_in_per_cent_and_counts_are_not(tmp_path: Path, put: Callable[[Study], None]) -> None:
    table = Table("t", "", ["n", "mAP"], [[3, 0.07], [4, np.nan], [5, 1]], percent=["mAP"])
    assert table.headings == ["n", "mAP (%)"]
    assert table.cells() == [[3, 7.0], [4, None], [5, 100.0]]
    with pytest.raises(ValueError, match="percent of table t must be columns, but 'MRR' is none"):
        Table("t", "", ["n", "mAP"], [], percent=["MRR"])
    put(a_study("coin", lambda setting: Outcome([], tables=[table])))
    reproduce(["coin"], tmp_path)
    assert (tmp_path / "coin" / "t.csv").read_text() == "n,mAP (%)\n3,7.0\n4,\n5,100.0\n"
    assert "mAP (%)" in Page((tmp_path / "index.html").read_text()).text


def test_a_conclusion_comes_before_all_else(tmp_path: Path, put: Callable[[Study], None]) -> None:
    put(a_study("coin", lambda setting: joined([outcome(1.0), Outcome([])], conclusion="It is fair.")))
    reproduce(["coin"], tmp_path)
    text = Page((tmp_path / "index.html").read_text()).text
    assert text.index("It is fair.") < min(text.index(said) for said in ("What it is.", "One paragraph.", "18.68 %"))
    parts = [Outcome([], conclusion="One."), Outcome([]), Outcome([], conclusion="Two.")]
    assert joined(parts).conclusion == "One. Two."


def test_a_setting_finds_the_first_file_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "b.npz").touch()
    setting = Setting(tmp_path, tmp_path)
    assert setting.file("a.npz", "b.npz") == tmp_path / "b.npz"
    assert setting.file("a.npz") is None
    assert Setting(None, tmp_path).file("b.npz") is None


def test_a_study_leaves_pictures_tables_a_record_and_the_page(tmp_path: Path, made: list[Setting]) -> None:
    lines: list[str] = []
    outcomes = reproduce(["one"], tmp_path / "out", quick=True, threads=1, say=lines.append)
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
    reproduce(["two"], tmp_path)
    reproduce(["one"], tmp_path)
    assert Page((tmp_path / "index.html").read_text()).pictures == ["one/line.png", "two/line.png"]


def test_no_names_mean_all_studies_and_a_name_counts_once(tmp_path: Path, made: list[Setting]) -> None:
    assert list(reproduce(out=tmp_path)) == ["one", "two"]
    assert list(reproduce(["two", "two"], tmp_path)) == ["two"]


def test_bad_arguments_are_refused_before_anything_runs(tmp_path: Path, made: list[Setting]) -> None:
    with pytest.raises(ValueError, match="study must be one of one, two, but is 'onee'; did you mean 'one'"):
        reproduce(["one", "onee"], tmp_path / "out")
    with pytest.raises(ValueError, match=r"data must be a folder, but .*nowhere is not one"):
        reproduce(["one"], tmp_path / "out", data=tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"out must be a folder, but .*file is a file"):
        reproduce(["one"], tmp_path / "file")
    assert made == []
    assert not (tmp_path / "out").exists()


def test_a_missing_package_is_named_with_what_to_install(
    tmp_path: Path, made: list[Setting], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ModuleNotFoundError, match=r"reproduce needs jinja2: pip install 'deadheat\[reproduce\]'"):
        reproduce(["one"], tmp_path / "out")
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


# ---------------------------------------------------------------------------------------------------------------------
# the contract


def test_a_new_study_is_one_object_and_one_row(tmp_path: Path, put: Callable[[Study], None]) -> None:
    """Listed by the command, run, shown on the page: nothing else has to know of it."""
    put(a_study("coin", lambda setting: outcome(50.0)))
    assert "coin        heads or tails\n" in CliRunner().invoke(main, ["reproduce", "--list"]).stdout
    done = CliRunner().invoke(main, ["reproduce", "coin", "--out", str(tmp_path)])
    assert done.stdout.startswith("coin  1 differs, 1 no data, 1 new\n")
    page = Page((tmp_path / "index.html").read_text())
    assert page.pictures == ["coin/line.png"]
    assert {"A coin", "A paper", "What it is.", "50.00 %"} <= set(page.text)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("name", ""), ("name", "Two words"), ("name", 1), ("question", " "), ("title", None), ("source", ""),
        ("about", ""), ("docs", "docs/coin.txt"), ("docs", ""), ("run", None), ("run", lambda: None),
        ("needs", "scipy"), ("needs", (1,)),
    ],
)  # fmt: skip
def test_a_study_with_a_wrong_part_cannot_be_made(part: str, value: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{part} of study .* must be .*, but is") as caught:
        a_study(**{"name": "coin", "run": lambda setting: outcome(1), part: value})
    assert isinstance(caught.value, DeadheatError)


@pytest.mark.parametrize("part", ["name", "question", "title", "source", "about", "docs", "run"])
def test_a_study_without_a_part_cannot_be_made(part: str) -> None:
    parts = {"name": "coin", **TEXTS, "run": lambda setting: outcome(1)}
    assert Study(**parts).name == "coin"
    del parts[part]
    with pytest.raises(TypeError, match=f"'{part}'"):
        Study(**parts)


@pytest.mark.parametrize("row", STUDIES.values(), ids=STUDIES)
def test_every_row_agrees_with_its_study(row: Row) -> None:
    study = row.load()
    assert (study.name, study.question) == (row.name, row.question)


def test_a_row_is_refused_whose_study_is_none_or_another(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match=r"study must be a Study, but is None in deadheat\.errors"):
        Row("coin", "heads or tails", "deadheat.errors").load()
    coin = a_study("coin", lambda setting: outcome(1))
    monkeypatch.setitem(sys.modules, "made_coin", SimpleNamespace(STUDY=coin))
    assert Row("coin", "heads or tails", "made_coin").load() is coin
    with pytest.raises(ValueError, match="name of study 'dice' must be 'dice' as listed, but is 'coin'"):
        Row("dice", "heads or tails", "made_coin").load()
    with pytest.raises(ValueError, match="question of study 'coin' must be 'one to six' as listed, but is 'heads or"):
        Row("coin", "one to six", "made_coin").load()


def test_rows_have_names_of_their_own() -> None:
    row = Row("coin", "heads or tails", "made_coin")
    assert by_name(row) == {"coin": row}
    with pytest.raises(ValueError, match="study must have a name of its own, but coin is there twice"):
        by_name(row, row)


@pytest.mark.parametrize("given", [["one", "broken"], []])
def test_a_study_that_is_none_is_refused_before_anything_runs(
    given: list[str], tmp_path: Path, made: list[Setting], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STUDIES, "broken", Row("broken", "why", "deadheat.errors"))
    with pytest.raises(TypeError, match="study must be a Study"):
        reproduce(given, tmp_path / "out")
    assert made == []
    assert not (tmp_path / "out").exists()


def test_studies_are_listed_without_what_draws_or_computes() -> None:
    program = (
        "import sys; sys.modules |= dict.fromkeys(['matplotlib', 'jinja2', 'scipy']);"
        "from deadheat.studies import registry, runner;"
        "print(*registry.STUDIES); print({'numba', 'deadheat.plots', 'deadheat.studies.toy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [" ".join(STUDIES), "set()"]


def test_without_matplotlib_a_run_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"reproduce needs matplotlib: pip install 'deadheat\[reproduce\]'"):
        reproduce(["toy"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_study_must_find_an_outcome(tmp_path: Path, put: Callable[[Study], None]) -> None:
    put(a_study("coin", lambda setting: [50.0]))
    with pytest.raises(TypeError, match=r"study coin must find an Outcome, but found \[50\.0\]"):
        reproduce(["coin"], tmp_path)


def test_a_package_stops_only_the_studies_that_need_it(
    tmp_path: Path, made: list[Setting], put: Callable[[Study], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    put(a_study("two", lambda setting: outcome(1), needs=("rapidfuzz",)))
    assert list(reproduce(["one"], tmp_path / "one")) == ["one"]
    with pytest.raises(ModuleNotFoundError, match=r"reproduce needs rapidfuzz: pip install 'deadheat\[reproduce\]'"):
        reproduce(["one", "two"], tmp_path / "both")
    assert len(made) == 1
    assert not (tmp_path / "both").exists()


def test_tables_of_one_name_become_one() -> None:
    first, second = (
        Outcome(
            [Finding(what, "", Mark.NEW)], tables=[Table("a", "", ["x"], [[number]]), Table(what, "", ["y"], [[2]])]
        )
        for number, what in ((1, "b"), (3, "c"))
    )
    together = joined([first, second], ["Before."])
    assert [(table.name, table.rows) for table in together.tables] == [("a", [[1], [3]]), ("b", [[2]]), ("c", [[2]])]
    assert [finding.what for finding in together.findings] == ["b", "c"]
    assert together.text == ["Before."]


@pytest.mark.parametrize("row", STUDIES.values(), ids=STUDIES)
def test_every_study_has_a_page_that_shows_its_pictures(row: Row) -> None:
    study = row.load()
    text = (ROOT / study.docs).read_text()
    assert f"deadheat reproduce {study.name}" in text
    shown = {link.rsplit("/", 1)[-1] for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)}
    own = {path.name for path in (ROOT / "docs" / "studies").glob(f"{study.name}-*.png")}
    assert own
    assert own <= shown
