"""ranx's Run and Qrels go in as they are; nothing of ranx is computed here, which it would compile for minutes."""

from __future__ import annotations

import numpy as np
import pytest
from integrations.needs import needs

import deadheat as dh

pytestmark = [needs("ranx"), *(pytest.mark.filterwarnings(f"ignore::Warning:{name}") for name in ("ranx", "numba"))]


def test_runs_qrels_and_their_data_frames() -> None:
    from ranx import Qrels, Run

    rng = np.random.default_rng(0)
    run = {f"q{i}": {f"d{j}": float(rng.integers(0, 4)) for j in range(10)} for i in range(6)}
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(12)} for i in range(6)}
    expected = dh.evaluate(dh.from_run(run, qrels))
    theirs = Run(run), Qrels(qrels)
    assert str(dh.evaluate(dh.from_run(*theirs))) == str(expected)
    assert dh.from_run(*(each.to_dataframe() for each in theirs)).profile == expected.profile
