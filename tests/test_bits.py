"""No number changes: digests and means are, bit for bit, those that were recorded."""

from __future__ import annotations

import json

import bits
import pytest
from data import data_file


@pytest.fixture(scope="module")
def recorded() -> dict[str, list[str]]:
    return json.loads(bits.RECORDED.read_text(encoding="utf-8"))


def test_results_on_benchmark_data_and_on_random_small_data_have_the_bits_recorded(recorded) -> None:
    computed = bits.everything(real=False)
    assert len(computed) > 1200
    assert [name for name in computed if computed[name] != recorded.get(name)] == []
    assert {name for name in recorded if "George Washington" not in name} == set(computed)


def test_results_on_real_data_have_the_bits_recorded(recorded) -> None:
    data_file("phocnet_gw.npz")
    computed = dict(bits.george_washington())
    assert len(computed) > 10
    assert [name for name in computed if computed[name] != recorded.get(name)] == []
