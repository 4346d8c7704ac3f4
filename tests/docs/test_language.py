"""The words of `words.py` everywhere, and one rule for the number, in the same words wherever it is given."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs import words

ROOT = Path(__file__).parents[2]
REPORT = "Report `expected [lower, upper]`, or one number where they are equal."
RANK = "Rank systems, gate releases and choose checkpoints by the lower bound"
FOLDERS = ("docs", "src/core", "src/deadheat", "tests", "benchmarks", "examples", "reproduce", "build_backend")
FILES = (
    "README.md",
    "AGENTS.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "mkdocs.yml",
    "mkdocs_hooks.py",
    "pyproject.toml",
    "conftest.py",
)


def test_every_page_that_gives_the_rule_for_the_number_gives_it_in_these_words() -> None:
    paths = (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
    pages = {path: " ".join(path.read_text(encoding="utf-8").split()) for path in paths}
    giving = {path for path, text in pages.items() if re.search(r"[Rr]eport `expected \[lower, upper\]`", text)}
    assert giving == {path for path, text in pages.items() if REPORT in text and RANK in text}
    assert {path.name for path in giving if f"{REPORT} {RANK}" in pages[path]} >= {"README.md", "which-number.md"}
    assert [path.name for path, text in pages.items() if "numbers to quote" in text] == []


@pytest.mark.parametrize("area", [*FOLDERS, *FILES])
def test_words_are_those_of_the_field(area: str) -> None:
    """`python -m tests.docs.words PATH` prints the same list."""
    if wrong := [line.replace(f"{ROOT}/", "") for line in words.check(ROOT / area)]:
        pytest.fail("\n".join([*wrong, f"{len(wrong)} findings"]), pytrace=False)


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("page.md", "For\nwhoever cuts a cut-off.\n\n```\ncut\n```\n\n`cut`\n", [2, 2]),
        ("page.md", "as far\nas there are\n\n>>> of = 1\n>>> [of for of in a]\n", [1, 4]),
        ("a.py", '"""What it is."""\nturned = [found for found in f(lambda of: of)]  # told beside\n', [1, 2, 2, 2]),
        ("a.py", "def go_on(each, *, place=0):\n    with x as found:\n        self.came = 1\n", [1, 1, 1, 2, 3]),
        ("a.py", "class MyReach:\n    spread: int\n\n    def f(self):\n        '''How.'''\n", [1, 2, 5]),
        ("a.cpp", '/// Which.\nint f(Rung a) { return; }\nint of = 1;  // Alike\nauto b = "twin"\n', [1, 2, 3, 3, 4]),
        ("a.cpp", "for (auto &each : a) b += each;\nfor (auto &each : a) {\n    b += each;\n}\n", [2]),
    ],
)  # fmt: skip
def test_words_are_found_in_text_and_names(tmp_path: Path, name: str, text: str, lines: list[int]) -> None:
    (tmp_path / name).write_text(text)
    assert [int(line.split(":")[1]) for line in words.findings(tmp_path / name)] == lines


def test_a_class_has_a_name_and_a_module_an_alias_of_its_own(tmp_path: Path) -> None:
    package = tmp_path / "src" / "deadheat"
    package.mkdir(parents=True)
    (package / "rows.py").write_text("class Rows: ...\n")
    (package / "other.py").write_text("from deadheat import rows\nclass _Rows: ...\nclass One: ...\n")
    (package / "third.py").write_text("from deadheat import other, rows as r\n")
    assert [line.removeprefix(f"{package}/").split(" -> ")[0] for line in words.check(package)] == [
        "other.py:2: class Rows", "rows.py:1: class Rows", "other.py:1: rows", "third.py:1: r",
    ]  # fmt: skip
