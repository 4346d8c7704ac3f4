"""Values copied from publications, compared with the list that they were copied from."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from reproduce import collisions, confidence, exploit
from reproduce import grouped_populations as grouped_recall
from tests.data import data_file


@pytest.fixture(scope="module")
def listed() -> dict[str, Any]:
    return tomllib.loads(data_file("published.toml").read_text(encoding="utf-8"))


def test_both_tables_of_grouped_recall_are_as_listed(listed: dict[str, Any]) -> None:
    grouped = listed["grouped_recall"]
    rows = {row["data"]: row for row in grouped["table_1"]}
    assert list(rows) == list(grouped_recall.TEST_SETS)
    for name, test_set in grouped_recall.TEST_SETS.items():
        row = rows[name]
        assert test_set[1:4] == (row["recall_at_1"], row["grouped"], row["bound"])
        assert (list(test_set.difference), list(test_set.bound_on_difference)) == (
            row["difference"], row["bound_on_difference"],
        )  # fmt: skip
    columns = grouped["table_2"]["columns"]
    assert columns[1:] == list(grouped_recall.Dropout._fields)
    assert {row[0]: tuple(row[1:]) for row in grouped["table_2"]["rows"]} == grouped_recall.DROPOUTS
    assert grouped["group_size"] == grouped_recall.GROUP_SIZE


def test_the_peak_and_the_slides_are_as_listed(listed: dict[str, Any]) -> None:
    assert listed["ranking_metrics"]["rank_correlation_peak_x"] == confidence.RANK_CORRELATION_PEAK
    numbers = [float(number) for number in re.findall(r"\d+\.?\d*", listed["embedding_ties"]["george_washington"])]
    slides = [collisions.QUERIES, collisions.CLASSES, collisions.EFFECT]
    assert numbers == slides
    assert re.findall(r"\d+", listed["embedding_ties"]["all_zero_gain"]) == [str(exploit.ZERO_GAIN)]


def test_gaps_are_differences() -> None:
    for row in grouped_recall.DROPOUTS.values():
        assert row.gap_grouped == pytest.approx(row.train_grouped - row.test_grouped)
        assert row.gap_recall == pytest.approx(row.train_recall - row.test_recall)
