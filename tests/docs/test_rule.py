"""One rule for the number to report: wherever a page gives it, it is this sentence."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
REPORT = "Report `expected [lower, upper]`, or one number where they are equal."
RANK = "Rank systems, gate releases and choose checkpoints by the lower bound"


def test_every_page_that_gives_the_rule_gives_this_one() -> None:
    paths = (ROOT / "README.md", *ROOT.glob("docs/**/*.md"))
    pages = {path: " ".join(path.read_text("utf-8").split()) for path in paths}
    giving = {path.name for path, text in pages.items() if re.search(r"[Rr]eport `expected \[lower, upper\]`", text)}
    assert giving == {path.name for path, text in pages.items() if REPORT in text and RANK in text}
    assert "which-number.md" in giving
    assert [path.name for path, text in pages.items() if "numbers to quote" in text] == []
