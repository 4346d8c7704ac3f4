"""The input of OGB's and TGB's evaluators, evaluated with lower, expected and upper; neither need be installed.

python examples/graph_benchmarks.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import deadheat as dh
from deadheat.analyses.link_prediction import LinkPrediction


def evaluate(input_dict: Mapping[str, Any], eval_metric: str | Iterable[str] = "mrr") -> LinkPrediction:
    """Evaluate link prediction from the input of ``Evaluator.eval`` of OGB or TGB.

    Parameters
    ----------
    input_dict : mapping
        ``y_pred_pos`` and ``y_pred_neg``; its own ``eval_metric`` takes precedence.
    eval_metric : str or iterable of str
        ``"mrr"`` or ``"hits@50"``.
    """
    asked = input_dict.get("eval_metric", eval_metric)
    names = [asked] if isinstance(asked, str) else list(asked)
    measures = [{"mrr": "MRR"}.get(name, str(name).replace("hits", "Hits")) for name in names]
    task = dh.from_candidates(input_dict["y_pred_neg"], positive_scores=input_dict["y_pred_pos"])
    return dh.link_prediction(task, measures)


def main() -> None:
    rng = np.random.default_rng(0)
    batch = {"y_pred_pos": rng.integers(0, 6, 400), "y_pred_neg": rng.integers(0, 6, (400, 30))}
    print(evaluate(batch, ["mrr", "hits@1", "hits@10"]))


if __name__ == "__main__":
    main()
