"""Evaluation of the input of OGB's and TGB's evaluators, with lower, expected and upper; neither need be installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from deadheat.analyses.link_prediction import LinkPrediction, link_prediction
from deadheat.engine.sources.candidates import from_candidates
from deadheat.errors import InvalidValueError


def evaluate(input_dict: Mapping[str, Any], eval_metric: str | Iterable[str] = "mrr") -> LinkPrediction:
    """Evaluate link prediction from the input of ``Evaluator.eval`` of OGB or TGB.

    Parameters
    ----------
    input_dict : mapping
        ``y_pred_pos`` and ``y_pred_neg``, as in `deadheat.from_candidates`; its own ``eval_metric`` takes precedence.
    eval_metric : str or iterable of str
        ``"mrr"`` or ``"hits@50"``.

    Examples
    --------
    >>> import numpy as np
    >>> batch = {"y_pred_pos": np.ones(2), "y_pred_neg": np.ones((2, 999)), "eval_metric": ["mrr"]}
    >>> print(f"{evaluate(batch)['MRR'].expected:.4f}")
    0.0075
    """
    missing = [key for key in ("y_pred_pos", "y_pred_neg") if key not in input_dict]
    if missing:
        raise InvalidValueError("input_dict", f"must have y_pred_pos and y_pred_neg, but lacks {', '.join(missing)}")
    asked = input_dict.get("eval_metric", eval_metric)
    names = [asked] if isinstance(asked, str) else list(asked)
    named = [{"mrr": "MRR"}.get(name, str(name).replace("hits", "Hits")) for name in names]
    task = from_candidates(input_dict["y_pred_neg"], positive_scores=input_dict["y_pred_pos"])
    return link_prediction(task, named)
