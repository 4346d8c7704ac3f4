"""Every constant that covers roundings is proved by machine, and has its row in CONTRIBUTING."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import bounds as proofs

ROOT = Path(__file__).resolve().parents[3]


def check(claim: str, domain: str = "a, b >= 0", value: str | None = None) -> proofs.Check:
    return proofs.Check("SEPARATED", value, proofs.compare_of(claim), domain)


def test_every_constant_is_proved_and_has_its_row():
    scores = {score.title: proofs.in_small_format(score) for score in proofs.SCORES if score.in_tests}
    table = proofs.rows(scores)
    assert all(row.needed <= 1 and row.reached <= 1 for row in table)
    assert all(row.claims or row.cases for row in table)
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if re.match(r"\| `[A-Z_0-9]+` \|", line)] == list(map(str, table))


def test_lines_are_read():
    text = "".join(path.read_text(encoding="utf-8") for path in (proofs.HEADER, proofs.MODULE))
    assert len(proofs.checks()) == len(re.findall(r"^\W+check [A-Z]", text, re.MULTILINE)) > 50
    for line in proofs.checks():
        if line.in_roundoffs is not None:
            known = proofs.KNOWN | proofs.constants()
            assert proofs.exact_end(line.in_roundoffs, known) == known[line.name]


@pytest.mark.parametrize(
    ("claim", "true"),
    [
        ("fl(a + b) <= a + b", False),
        ("fl(a + b) <= (a + b) * (1 + u)", True),
        ("fl(fl(a + b)) <= (a + b) * (1 + 2*u)", False),
        ("fl(a - b) <= (a - b) + u * (a + b)", True),
        ("fl(a - b) <= (a - b) + u * a", False),
        ("fl(a) + fl(b) >= (a + b) * (1 - u)", True),
        ("fl(a) + fl(b) >= a + b - u * a", False),
    ],
)
def test_only_true_claims_hold(claim, true):
    assert proofs.holds(check(claim), proofs.KNOWN | proofs.constants()) == true


def test_small_formats_find_what_is_wrong():
    _, share = proofs.in_format(check("fl(b + a) <= (a + b) * (1 + u)", value="1 + 8*u"), proofs.Format(4))
    assert 0.5 < share <= 1
    _, share = proofs.in_format(check("fl(b + a) <= (a + b) * (1 + u / 2)", value="1 + 8*u"), proofs.Format(4))
    assert share > 1


def test_scores_beyond_their_bounds_are_found(monkeypatch):
    monkeypatch.setattr(proofs.bounds, "of_overlaps", lambda dim, dtype: proofs.bounds.gamma(1, dtype) / 2)
    (overlaps,) = (score for score in proofs.SCORES if "overlaps" in score.title)
    assert proofs.in_small_format(overlaps)[1] > 1


@pytest.mark.slow
def test_longer_scores():
    for score in proofs.SCORES:
        if not score.in_tests:
            assert proofs.in_small_format(score)[1] <= 1


def test_the_core_has_as_many_sums():
    text = (proofs.HEADER.parent / "distances/row_products.h").read_text(encoding="utf-8")
    assert re.search(r"constexpr int SUMS = (\d+);", text)[1] == str(proofs.bounds.LANES)
