"""ranx's Run and Qrels go in as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from integrations.needs import needs

import deadheat as dh

pytestmark = [
    needs("ranx"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ranx"),
    pytest.mark.filterwarnings("ignore::numba.NumbaTypeSafetyWarning"),
    pytest.mark.filterwarnings("ignore:unsafe cast"),
]

PAIRS = {"map": "mAP", "mrr": "MRR", "ndcg@4": "nDCG@4"}  # few, because ranx compiles each for many seconds


def tables(seed: int, distinct: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    scores = [rng.permutation(10) if distinct else rng.integers(0, 4, 10) for _ in range(6)]
    run = {f"q{i}": {f"d{j}": float(score) for j, score in enumerate(row)} for i, row in enumerate(scores)}
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(12)} | {"d0": 1} for i in range(6)}
    return run, qrels


@pytest.mark.parametrize("distinct", [True, False], ids=["no ties", "ties"])
def test_values_are_those_of_ranx_or_around_them(distinct: bool) -> None:
    from ranx import Qrels, Run, evaluate

    for seed in range(5):
        run, qrels = tables(seed, distinct)
        theirs = evaluate(Qrels(qrels), Run(run), list(PAIRS))
        report = dh.evaluate_run(Run(run), Qrels(qrels), measures=list(PAIRS.values()))
        assert report.profile == dh.profile_run(run, qrels)
        for name, ours in PAIRS.items():
            assert report[ours].lower - 1e-6 <= theirs[name] <= report[ours].upper + 1e-6, name
            if distinct:
                assert report[ours].expected == pytest.approx(theirs[name], abs=1e-6), name


def test_its_data_frames_go_in_too() -> None:
    from ranx import Qrels, Run

    run, qrels = tables(0, False)
    given = Run(run).to_dataframe(), Qrels(qrels).to_dataframe()
    assert dh.profile_run(*given) == dh.profile_run(run, qrels)
