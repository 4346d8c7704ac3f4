"""Low precision against high: the paper's measures by definition and against its library; what bounds must hold."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.engine.exact import formats as exact_formats

MEASURES = ["nDCG@10", "MRR@10", "Recall@3"]


def runs(seed: int, dtype: str) -> tuple[Any, Any, Any]:
    """Scores between 0.9 and 1, the same rounded, and judgements."""
    rng = np.random.default_rng(seed)
    high = {f"q{q}": {f"d{d}": float(s) for d, s in enumerate(1 - rng.random(12) / 10)} for q in range(15)}
    low = {
        query: dict(zip(row, exact_formats.round_to(np.array(list(row.values())), dtype).tolist(), strict=True))
        for query, row in high.items()
    }
    return low, high, {query: {f"d{d}": 1 for d in rng.choice(12, 3, replace=False)} for query in high}


@pytest.mark.parametrize("seed", range(8))
def test_scores_rounded_at_the_end_hold_every_query(seed: int) -> None:
    found = dh.low_precision(*runs(seed, "bfloat16"), measures=[*MEASURES, "mAP"])
    assert all(found[name]["held"] == 1 for name in found.low.measures)
    assert found["nDCG@10"]["range"] > 0.01
    assert found.high["mAP"].lower == found.high["mAP"].upper == found["mAP"]["high"]


def test_scores_that_swapped_do_not() -> None:
    low, high, judged = runs(0, "bfloat16")
    (relevant, *_) = judged["q0"]
    low["q0"][relevant] = -1.0 if high["q0"][relevant] > 0.95 else 2.0
    found = dh.low_precision(low, high, judged, measures="mAP")
    assert found["mAP"]["held"] == pytest.approx(14 / 15)


def test_measures_of_the_paper() -> None:
    """Expectation, range and bias of its library, tie-aware-retrieval-metrics."""
    trm = pytest.importorskip("trm")
    low, high, judged = runs(3, "bfloat16")
    ranked = {query: sorted(row, key=lambda d, row=row: -row[d]) for query, row in low.items()}  # type: ignore[misc]
    theirs = trm.evaluate(
        scores=[[low[query][d] for d in row] for query, row in ranked.items()],
        is_relevant=[[d in judged[query] for d in row] for query, row in ranked.items()],
        metrics=["mrr"], k_list=[10],
    ).metrics["mrr"][10]  # fmt: skip
    found = dh.low_precision(low, high, judged)["MRR@10"]
    assert found["expectation"] == pytest.approx(theirs.expected)
    assert found["range"] == pytest.approx(theirs.range)
    assert found["bias"] == pytest.approx(theirs.bias)
    assert abs(found["bias"]) > 0.001


def test_table_and_comparison() -> None:
    found = dh.low_precision(*runs(1, "bfloat16"), measures=MEASURES)
    assert found.columns()["measure"] == MEASURES
    assert json.loads(found.to_json())["measures"]["MRR@10"]["held"] == 1.0
    gained = found["MRR@10"]["high"] - found["MRR@10"]["expectation"]
    assert found.comparison["MRR@10"].expected == pytest.approx(gained)
    assert "expectation" in str(found)
