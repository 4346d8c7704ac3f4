"""One rule for the number, in the same words wherever it is given; and no phrase that reads as if translated."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REPORT = "Report `expected [lower, upper]`, or one number where they are equal."
RANK = "Rank systems, gate releases and choose checkpoints by the lower bound"
TEXTS = [
    *(ROOT / name for name in ("README.md", "AGENTS.md", "CONTRIBUTING.md", "mkdocs.yml", "pyproject.toml")),
    *(ROOT / "docs").rglob("*.md"),
    *(path for kind in ("py", "html", "js", "cpp", "h") for path in (ROOT / "src").rglob(f"*.{kind}")),
]
INSTEAD = {  # what it should read, and how it once did
    "Files work too": r"do as well as arrays",
    "Integrations": r"at home where",
    "It neither trains models nor does approximate search": r"trains nothing|searches nothing",
    "excluded and reported": r"(left out|excluded|looked for),? and said",
    "in unknown order": r"order that nobody knows",
    "the score guaranteed under any tie-breaking": r"what no (order|tie)[^.]* falls? short of",
    "submit": r"\bhand(s|ed|ing)? in\b",
    "a shareable report": r"(page|report) to hand on",
    "recomputed": r"\bcomput(e|es|ed|ing|ation)( \w+){0,5} anew\b",
}


def test_every_page_that_gives_the_rule_for_the_number_gives_it_in_these_words() -> None:
    paths = (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
    pages = {path: " ".join(path.read_text(encoding="utf-8").split()) for path in paths}
    giving = {path for path, text in pages.items() if re.search(r"[Rr]eport `expected \[lower, upper\]`", text)}
    assert giving == {path for path, text in pages.items() if REPORT in text and RANK in text}
    assert {path.name for path in giving if f"{REPORT} {RANK}" in pages[path]} >= {"README.md", "which-number.md"}
    assert [path.name for path, text in pages.items() if "numbers to quote" in text] == []


@pytest.mark.parametrize("better", INSTEAD)
def test_phrases_that_were_replaced_do_not_come_back(better: str) -> None:
    assert len(TEXTS) > 300
    old = re.compile(INSTEAD[better].replace(" ", r"\s+"), re.IGNORECASE)
    assert [
        f"{path.relative_to(ROOT)}: {found[0]!r}"
        for path in TEXTS
        for found in old.finditer(path.read_text(encoding="utf-8"))
    ] == [], f"write {better!r}"


_CLAUSE = re.compile(r"(What|How|Where|Who|Which|Whether|When)\b")


def test_docstrings_and_comments_of_the_core_begin_with_a_verb_or_a_noun() -> None:
    """And with no free relative clause, at which readers stop. Ruff's D401 holds the imperative of functions."""
    found = []
    for path in (ROOT / "src" / "deadheat").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = ast.get_docstring(node) or ""
                found += [f"{path.name}: {text.splitlines()[0]}"] if _CLAUSE.match(text) else []
    for path in (path for kind in ("h", "cpp") for path in (ROOT / "src" / "core").rglob(f"*.{kind}")):
        lines = path.read_text(encoding="utf-8").splitlines()
        before = ["", *lines]
        found += [
            f"{path.name}: {line.strip()}"
            for line, last in zip(lines, before, strict=False)
            if re.match(rf"\s*///?\s*{_CLAUSE.pattern}", line) and not last.strip().startswith("//")
        ]
    assert found == []
