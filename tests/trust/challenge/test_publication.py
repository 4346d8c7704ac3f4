"""What leaves the organiser's machine: two decimals, and nothing by which two answers that read the same can differ."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trust.challenge.conftest import LABELS, ROWS, board_page, passed, refused, states, submitted

import deadheat as dh
from deadheat.trust.challenge import leaderboard
from deadheat.trust.challenge.challenge import Challenge
from deadheat.trust.challenge.store import Store, Submission
from deadheat.trust.receipts.document import Receipt


def report(*ranks: int) -> dh.Report:
    """A report on queries with one relevant item each; a negative rank is one that a tie with the next could give."""
    groups = [[(abs(rank) - 1, 0, 1 + (rank < 0), 1)] for rank in ranks]
    profile = dh.TieProfile.from_groups(groups, [10_000] * len(ranks))
    return dh.measure(profile, "MRR", labels=np.arange(len(ranks)) // 40)


def published(reports: dict[str, dh.Report]) -> list[dict[str, Any]]:
    names = enumerate(sorted(reports), 1)
    found = {name: (Submission(i, name, name, "", "", None, 0.0, "scored", 1, ""), "file") for i, name in names}
    return leaderboard.rows(found, reports, ["MRR"])


@pytest.mark.parametrize("rank", [9, -9])
def test_what_reads_the_same_is_published_the_same(rank: int) -> None:
    ranks = [1, 2, 3, 5] * 1000
    a, b = report(*ranks, 10), report(*ranks, rank)
    assert a["MRR"].lower < b["MRR"].upper
    assert f"{100 * a['MRR'].lower:.2f}" == f"{100 * b['MRR'].upper:.2f}"
    third = report(*ranks[:-1], 8, 8)
    one, other = (published({"first": x, "second": y, "third": third}) for x, y in ((a, b), (b, a)))
    assert json.dumps(one) == json.dumps(other)
    assert [row["rank"] for row in one] == [1, 1, 1]


def test_nobody_is_ahead_of_what_reads_the_same() -> None:
    reports = {"a": report(*[8000] * 4000), "b": report(*[8001] * 4000)}
    assert dh.leaderboard(reports).ahead_of("a") == ("b",)
    assert [row["ahead_of"] for row in published(reports)] == [[], []]


def test_ranks_and_marks_are_made_of_what_is_published() -> None:
    reports = {"tied": report(*[1, -1] * 400), "good": report(*[1] * 800), "bad": report(*[4] * 800)}
    rows = published(reports)
    assert [(row["name"], row["rank"], row["could_pass"]) for row in rows] == [
        ("good", 1, []), ("tied", 2, []), ("bad", 3, [])
    ]  # fmt: skip
    assert [row["ahead_of"] for row in rows] == [["bad"], ["bad"], []]  # "good" is not ahead in the best case of "tied"
    swapping = published({"a": report(*[-1] * 80), "b": report(*[1, 3] * 40)})
    assert [(row["name"], row["could_pass"]) for row in swapping] == [("b", []), ("a", ["b"])]


def test_the_ties_of_one_entry_make_no_other_rank_uncertain() -> None:
    anything = dh.TieProfile.from_groups([[(0, 0, 10_000, 1)]] * 80, [10_000] * 80)
    empty = dh.measure(anything, "MRR", labels=np.arange(80) // 40)
    rows = published({"a": report(*[1, 2] * 40), "b": report(*[2] * 80), "zero": empty})
    assert [(row["name"], row["could_pass"]) for row in rows] == [("a", []), ("b", []), ("zero", ["a", "b"])]
    board = leaderboard.Board(("MRR",), rows)
    assert [row[1] for row in board.tables()[0].rows] == ["1", "2", "3~"]
    assert board.notes()[-1] == "~ Its own ties could put zero ahead of a, b."
    frame = board.to_pandas()
    assert list(frame["team"]) == ["a", "b", "zero"]
    assert [frame[end][0] for end in ("lower", "upper")] == [0.75, 0.75]


def test_the_first_of_a_teams_submissions_that_read_the_same_counts(tmp_path: Path) -> None:
    labels = np.arange(1500) % 50
    rows = np.random.default_rng(0).normal(size=(50, 8))[labels] + np.random.default_rng(1).normal(size=(1500, 8))
    moved = rows.copy()
    moved[0] += np.random.default_rng(2).normal(size=8) * 0.3
    (low, first), (high, second) = sorted(
        ((dh.evaluate(each, labels)["mAP"].lower, each) for each in (rows, moved)), key=lambda pair: pair[0]
    )
    assert low < high
    assert f"{100 * low:.2f}" == f"{100 * high:.2f}"
    made = Challenge.create(tmp_path / "challenge", labels)
    submitted(made, first, title="low")
    submitted(made, second, title="high")
    assert states(made) == ["scored", "scored"]
    assert [each[0].title for each in leaderboard.entries(made, Store(made.folder)).values()] == ["low"]


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from numbers(each)
    elif isinstance(value, float):
        yield value


@pytest.fixture
def full(made: Challenge) -> Challenge:
    """A challenge with a board of three teams, one of which has two submissions."""
    for team, rows in (("A", ROWS), ("B", ROWS[:, :3]), ("B", ROWS[:, :2]), ("C", ROWS * 0)):
        submitted(made, rows, team)
    assert set(states(made)) == {"scored"}
    leaderboard.keep(made, Store(made.folder))
    return made


def test_no_number_has_more_than_two_decimals(full: Challenge) -> None:
    store = Store(full.folder)
    exact = [float(end) for _, text, _ in store.scores() for end in Receipt(json.loads(text))["mAP"][:3]]
    assert any(value != round(value, 4) for value in exact)
    for every, n_row in (([], 3), (["--all"], 4)):
        rows = json.loads(passed("leaderboard", full.folder, *every, "--json"))["rows"]
        assert len(rows) == n_row
        assert all(value == round(value, 4) for value in numbers(rows))
        for form in ("--markdown", "--latex"):
            text = passed("leaderboard", full.folder, *every, form)
            assert set(map(len, re.findall(r"\d\.(\d+)", text))) == {2}
    assert all(value == round(value, 4) for value in numbers(leaderboard.kept(store)) if value <= 1)

    site, text = board_page(full)
    found = re.findall(r"\d+\.(\d+)", text.partition("</table>")[0])
    assert len(found) > 30
    assert max(map(len, found)) == 2
    for submission, receipt, _ in store.scores():
        answer = site.as_json(submission, receipt, 0, False)
        assert {len(end.partition(".")[2]) for ends in answer["percent"].values() for end in ends.values()} == {2}


def test_the_organiser_can_have_exact_values(full: Challenge) -> None:
    exact = json.loads(passed("leaderboard", full.folder, "--exact", "--json"))
    best = {each["name"]: each["measures"]["mAP"]["lower"] for each in exact["systems"]}
    assert best["A"] == dh.evaluate(ROWS, LABELS)["mAP"].lower
    assert "." in passed("leaderboard", full.folder, "--exact", "--digits", 5)
    assert "digits must be 2 in what is published" in refused("leaderboard", full.folder, "--digits", 5)


def test_a_board_that_was_kept_with_exact_values_is_not_shown(full: Challenge) -> None:
    store = Store(full.folder)
    known = json.loads(store.board() or "")
    store.keep_board(json.dumps({"of": known["of"], "rows": [{"team": "A", "values": {"mAP": [1 / 3] * 3}}]}))
    assert leaderboard.kept(store) == []
    leaderboard.keep(full, store)
    assert json.loads(store.board() or "") == known


@pytest.mark.parametrize("n_team", [1, 3])
@pytest.mark.parametrize("n_measure", [1, 2])
def test_bits_count_the_answers(n_measure: int, n_team: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaderboard, "DIGITS", -2)  # of whole units: 0 and 1
    triples = list(itertools.combinations_with_replacement((0, 1), 3))
    intervals = itertools.combinations_with_replacement((0, 1), 2)
    others = [("ahead", "behind", "neither")] * (n_team - 1)
    answers = itertools.product(*[triples] * n_measure, intervals, *others)
    assert leaderboard.bits(n_measure, n_team) == pytest.approx(math.log2(len(set(answers))))
