"""Every value, text and picture of a small run of every study is the recorded one."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pytest

from reproduce.tests import printed
from tests.data import data_file

NUMBER = re.compile(r"((?<![\w.])[-+−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?)")


def assert_same(found: Any, recorded: Any, place: str) -> None:
    """Integers are equal, other numbers in texts up to a unit of their last digit, in tables to six digits."""
    if isinstance(recorded, dict):
        assert list(found) == list(recorded), place
        for name, part in recorded.items():
            assert_same(found[name], part, f"{place}, {name}")
    elif isinstance(recorded, list):
        assert len(found) == len(recorded), place
        for number, (one, other) in enumerate(zip(found, recorded, strict=True)):
            assert_same(one, other, f"{place}, {number}")
    elif isinstance(recorded, str) and found != recorded:
        (one, values), (other, wanted) = _split(found), _split(recorded)
        assert one == other, place
        for value, number in zip(values, wanted, strict=True):
            unit = Decimal(1).scaleb(number.as_tuple().exponent) if number != number.to_integral_value() else 0
            assert abs(value - number) <= unit, f"{place}: {found!r} for {recorded!r}"
    elif isinstance(recorded, float):
        assert found == pytest.approx(recorded, rel=1e-6, abs=1e-9), place
    else:
        assert found == recorded, place


def _split(text: str) -> tuple[list[str], list[Decimal]]:
    parts = NUMBER.split(text)
    return parts[::2], [Decimal(part.replace(",", "").replace("−", "-")) for part in parts[1::2]]


@pytest.fixture(scope="module")
def recorded() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(printed.RECORDED.read_text(encoding="utf-8"))
    assert list(result) == printed.RUNS
    return result


@pytest.mark.parametrize("name", printed.RUNS)
def test_what_is_printed_and_drawn(name: str, recorded: dict[str, Any]) -> None:
    if name in printed.WITH_FILE:
        data_file("phocnet_gw.npz")
    outcome = printed.run(name)
    result = json.loads(json.dumps(printed.of_outcome(outcome)))
    assert_same(result, recorded[name], name)
    assert len({finding.what for finding in outcome.findings}) == len(outcome.findings)


@pytest.mark.parametrize(
    ("found", "same"),
    [("3 of 4, 1.25 %", True), ("3 of 4, 1.26 %", True), ("3 of 4, 1.27 %", False), ("2 of 4, 1.25 %", False)],
)
def test_texts_are_compared_number_by_number(found: str, same: bool) -> None:
    if same:
        assert_same(found, "3 of 4, 1.25 %", "")
    else:
        with pytest.raises(AssertionError):
            assert_same(found, "3 of 4, 1.25 %", "")
