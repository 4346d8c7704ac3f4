"""The common parts of all studies: findings and their marks, the files and the page they leave, and the command."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from matplotlib.figure import Figure

from reproduce import study as runner
from reproduce.__main__ import main
from reproduce.study import (
    STUDIES,
    Finding,
    Mark,
    Outcome,
    Picture,
    Setting,
    Table,
    compared,
    joined,
    missing,
    reproduce,
)

ROOT = Path(__file__).parents[2]


def outcome(value: float) -> Outcome:
    figure = Figure(figsize=(2, 1))
    figure.subplots().plot([0, 1], [0, value])
    return Outcome(
        [compared("mAP", value, 18.68, source="Table 1"), missing("Hit@1", "cars196-test.npz"), Finding("ties", "3")],
        [Picture("line", "A line <to> look at", figure)],
        [
            Table("values", "All values", ["name", "value", "share"],
                  [["a", np.float64(0.1), 0.07], ["b", np.nan, np.nan], ["c", np.int64(7), 1]], percent=["share"])
        ],
        ["One paragraph."],
        "It is fair.",
    )  # fmt: skip


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Setting]:
    """Two studies, `one` and `two`, and no others; what they were run with."""
    settings: list[Setting] = []

    def add(name: str, value: float) -> None:
        def run(setting: Setting) -> Outcome:
            settings.append(setting)
            setting.say("half way")
            return outcome(value)

        study = SimpleNamespace(TITLE=f"Study {name}", SOURCE="A paper", ABOUT="What it is.", run=run)
        if name == "two":
            study.NEEDS = ("rapidfuzz",)
        monkeypatch.setitem(sys.modules, f"reproduce.{name}", study)

    monkeypatch.setattr(runner, "STUDIES", {"one": "the first", "two": "the second"})
    add("one", 18.684)
    add("two", 20.8)
    return settings


def command(*words: object) -> Result:
    return CliRunner().invoke(main, [*map(str, words)])


class Page(HTMLParser):
    """The pictures, links and texts of a page; every tag that is opened must be closed."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.open, self.pictures, self.links, self.text = ([] for _ in range(4))  # type: list[str]
        self.feed(path.read_text())
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.pictures += [given["src"] or ""] if tag == "img" else []
        self.links += [given["href"] or ""] if tag == "a" else []
        self.open += [tag] if tag not in ("img", "meta") else []

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data.strip())


# ---------------------------------------------------------------------------------------------------------------------
# findings and tables


@pytest.mark.parametrize(
    ("here", "published", "how", "mark"),
    [
        (18.6849, 18.68, {}, Mark.AGREES), (18.6851, 18.68, {}, Mark.DIFFERS), (18.675, 18.68, {}, Mark.AGREES),
        (10.487, 10.4, {"digits": 1, "within": 0.1}, Mark.AGREES), (float("nan"), 10.4, {}, Mark.DIFFERS),
        (10.6, 10.4, {"digits": 1, "within": 0.1}, Mark.DIFFERS),
        # inside ± 3927 of 6827.5 lies almost anything; a value outside differs all the same
        (6000, 6827.5, {"within": 3927}, Mark.TOO_FEW), (12000, 6827.5, {"within": 3927}, Mark.DIFFERS),
        (110, -100, {"within": 11}, Mark.DIFFERS), (-105, -100, {"within": 10}, Mark.AGREES),
        (-105, -100, {"within": 10.1}, Mark.TOO_FEW), (0.2, 0, {"within": 0.25}, Mark.AGREES),  # of 0 there is no tenth
    ],
)  # fmt: skip
def test_a_finding_agrees_up_to_the_rounding_of_the_published_value(
    here: float, published: float, how: dict[str, Any], mark: Mark
) -> None:
    assert compared("x", here, published, **how).mark is mark


def test_a_finding_is_printed_with_the_digits_of_the_published_value() -> None:
    finding = compared("mAP", 18.6849, 18.68, source="Table 1")
    assert (finding.here, finding.published, finding.source) == ("18.68 %", "18.68 %", "Table 1")
    assert Mark.by_interval(True, float("nan"), 1) is Mark.TOO_FEW


@pytest.mark.parametrize("n", [1, 2, 16, 17, 20])
def test_few_draws_decide_nothing_about_all_draws(n: int) -> None:
    """By SciPy's interval of Clopper and Pearson, whose half is at most a tenth from 17 draws on."""
    from scipy.stats import binomtest

    low, high = binomtest(n, n).proportion_ci(0.95, method="exact")
    expected = Mark.AGREES if (high - low) / 2 <= 0.1 else Mark.TOO_FEW
    assert Mark.of_every_draw(n, n) is expected is (Mark.AGREES if n >= 17 else Mark.TOO_FEW)
    assert Mark.of_every_draw(n - 1, n) is Mark.DIFFERS


def test_fractions_are_shown_in_per_cent_and_counts_are_not() -> None:
    (table,) = outcome(1).tables
    assert table.headings == ["name", "value", "share (%)"]
    assert table.cells() == [["a", 0.1, 7.0], ["b", None, None], ["c", 7, 100.0]]
    with pytest.raises(ValueError, match="zip"):
        Table("values", "", ["a", "b"], [[1, 2], [3]]).cells()


def test_parts_are_joined_and_tables_of_one_name_become_one() -> None:
    first, second = (
        Outcome([Finding(what, "")], tables=[Table("a", "", ["x"], [[number]]), Table(what, "", ["y"], [[2]])],
                text=[f"Text {what}."], conclusion=f"It is {what}.")
        for number, what in ((1, "b"), (3, "c"))
    )  # fmt: skip
    together = joined([first, Outcome([]), second], ["Before."])
    assert [(table.name, table.rows) for table in together.tables] == [("a", [[1], [3]]), ("b", [[2]]), ("c", [[2]])]
    assert [finding.what for finding in together.findings] == ["b", "c"]
    assert together.text == ["Before.", "Text b.", "Text c."]
    assert together.conclusion == "It is b. It is c."
    assert joined([first, second], conclusion="So be it.").conclusion == "So be it."


def test_a_setting_finds_a_file_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "b.npz").touch()
    assert Setting(tmp_path, tmp_path).file("b.npz") == tmp_path / "b.npz"
    assert Setting(tmp_path, tmp_path).file("a.npz") is None
    assert Setting(None, tmp_path).file("b.npz") is None


# ---------------------------------------------------------------------------------------------------------------------
# files, page and command


def test_a_study_leaves_pictures_tables_a_record_and_the_page(tmp_path: Path, made: list[Setting]) -> None:
    lines: list[str] = []
    assert list(reproduce(["one"], tmp_path / "out", quick=True, threads=1, say=lines.append)) == ["one"]
    assert lines == ["one: the first", "half way"]
    assert made[0] == Setting(None, tmp_path / "out" / "cache", True, 1, lines.append)
    assert made[0].cache.is_dir()
    folder = tmp_path / "out" / "one"
    assert (folder / "line.png").read_bytes().startswith(b"\x89PNG")
    with open(folder / "values.csv", newline="") as file:
        assert list(csv.reader(file)) == [
            ["name", "value", "share (%)"], ["a", "0.1", "7.0"], ["b", "", ""], ["c", "7", "100.0"]
        ]  # fmt: skip
    assert json.loads((folder / "outcome.json").read_text())["marks"] == {"agrees": 1, "no data": 1, "new": 1}
    page = Page(tmp_path / "out" / "index.html")
    assert page.pictures == ["one/line.png"]
    assert "one/values.csv" in page.links
    for said in ("Study one", "A paper", "One paragraph.", "18.68 %", "A line <to> look at", "Table 1", "share (%)",
                 "A quick run on smaller sizes: the values are not those of the study."):  # fmt: skip
        assert said in page.text
    assert any("cars196-test.npz" in text for text in page.text)
    others = ("What it is.", "One paragraph.", "18.68 %")
    assert page.text.index("It is fair.") < min(map(page.text.index, others)), "the conclusion comes first"


def test_the_page_keeps_the_studies_of_earlier_runs_in_their_order(tmp_path: Path, made: list[Setting]) -> None:
    assert list(reproduce(["two", "two"], tmp_path)) == ["two"]
    reproduce(["one"], tmp_path)
    assert Page(tmp_path / "index.html").pictures == ["one/line.png", "two/line.png"]
    assert list(reproduce(out=tmp_path)) == ["one", "two"], "no names mean all"


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


@pytest.mark.parametrize(
    ("package", "names"), [("matplotlib", ["one"]), ("jinja2", ["one"]), ("rapidfuzz", ["one", "two"])]
)
def test_a_missing_package_is_named_with_what_to_install(
    package: str, names: list[str], tmp_path: Path, made: list[Setting], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        ModuleNotFoundError, match=rf"reproduce needs {package}: pip install -r reproduce/requirements.txt"
    ):
        reproduce(names, tmp_path / "out")
    assert made == []
    assert not (tmp_path / "out").exists()
    if package == "rapidfuzz":
        assert list(reproduce(["one"], tmp_path / "out")) == ["one"], "the other study does not need it"


def test_the_command_lists_runs_and_says_where_the_page_is(tmp_path: Path, made: list[Setting]) -> None:
    assert command("--list").stdout == "one  the first\ntwo  the second\n"
    done = command("two", "--out", tmp_path / "out", "--quick")
    assert done.exit_code == 0
    assert done.stdout == f"two  1 differs, 1 no data, 1 new\n{tmp_path / 'out' / 'index.html'}\n"
    assert done.stderr == "two: the second\nhalf way\n"
    wrong = command("three", "--out", tmp_path / "out")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("Error: study must be one of one, two, but is 'three'")
    assert wrong.stderr.count("\n") == 1


def test_the_command_replaces_no_page_but_its_own(tmp_path: Path, made: list[Setting]) -> None:
    page = tmp_path / "index.html"
    page.write_text("<!doctype html><title>My own</title>")
    refused = command("one", "--out", tmp_path)
    assert refused.exit_code == 2
    assert refused.stderr == (
        f"Error: cannot write {page}: it is there and is not a page of reproduce (--force overwrites it)\n"
    )
    assert made == []
    assert command("one", "--out", tmp_path, "--force").exit_code == 0
    assert command("two", "--out", tmp_path).exit_code == 0, "the page is now its own"
    assert Page(page).pictures == ["one/line.png", "two/line.png"]
    page.write_bytes(b"")
    assert command("two", "--out", tmp_path).exit_code == 0, "an empty file may be replaced"


def test_a_file_that_is_not_george_washington_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "phocnet_gw.npz", embeddings=np.zeros((3, 2)), labels=np.zeros(3, dtype=int))
    done = command("precision", "--quick", "--data", tmp_path, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "phocnet_gw.npz has no array 'phocnet_features', only 'embeddings', 'labels'" in done.stderr
    assert "Traceback" not in done.stderr


# ---------------------------------------------------------------------------------------------------------------------
# the studies there are


def test_studies_are_listed_without_what_draws_or_computes() -> None:
    program = (
        "import sys; sys.modules |= dict.fromkeys(['matplotlib', 'jinja2', 'scipy']);"
        "from reproduce import study;"
        "print(*study.STUDIES); print({'numba', 'deadheat.plots', 'reproduce.toy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [" ".join(STUDIES), "set()"]


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_texts_and_a_page_that_shows_its_pictures(name: str) -> None:
    study: Any = runner.load(name)
    assert all(text.strip() for text in (study.TITLE, study.SOURCE, study.ABOUT, STUDIES[name]))
    page = (
        ROOT
        / "docs"
        / ("statistics.md" if name in ("sampling", "null", "decisions", "complaints") else f"studies/{name}.md")
    )
    text = page.read_text()
    assert f"python -m reproduce {name}" in text
    shown = {link.rsplit("/", 1)[-1] for link in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)}
    own = {path.name for path in (ROOT / "docs" / "studies").glob(f"{name}-*.png")}
    assert own or name in ("decisions", "complaints")  # which have tables alone
    assert own <= shown
