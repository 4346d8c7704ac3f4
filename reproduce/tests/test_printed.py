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


def assert_same(printed_now: Any, recorded: Any, where: str) -> None:
    """Integers are equal, other numbers in texts up to a unit of their last digit, in tables to six digits."""
    if isinstance(recorded, dict):
        assert list(printed_now) == list(recorded), where
        for name, part in recorded.items():
            assert_same(printed_now[name], part, f"{where}, {name}")
    elif isinstance(recorded, list):
        assert len(printed_now) == len(recorded), where
        for number, (one, other) in enumerate(zip(printed_now, recorded, strict=True)):
            assert_same(one, other, f"{where}, {number}")
    elif isinstance(recorded, str) and printed_now != recorded:
        (one, values), (other, wanted) = _split(printed_now), _split(recorded)
        assert one == other, where
        for value, number in zip(values, wanted, strict=True):
            unit = Decimal(1).scaleb(number.as_tuple().exponent) if number != number.to_integral_value() else 0
            assert abs(value - number) <= unit, f"{where}: {printed_now!r} for {recorded!r}"
    elif isinstance(recorded, float):
        assert printed_now == pytest.approx(recorded, rel=1e-6, abs=1e-9), where
    else:
        assert printed_now == recorded, where


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
    ("printed_now", "same"),
    [("3 of 4, 1.25 %", True), ("3 of 4, 1.26 %", True), ("3 of 4, 1.27 %", False), ("2 of 4, 1.25 %", False)],
)
def test_texts_are_compared_number_by_number(printed_now: str, same: bool) -> None:
    if same:
        assert_same(printed_now, "3 of 4, 1.25 %", "")
    else:
        with pytest.raises(AssertionError):
            assert_same(printed_now, "3 of 4, 1.25 %", "")
