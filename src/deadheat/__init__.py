"""Evaluate embeddings and rankings: lower bound, exact expectation and upper bound of every measure."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deadheat import measures, plots, reference
    from deadheat.analyses import confidence, quantization, words
    from deadheat.analyses.collisions import collisions
    from deadheat.analyses.comparison import compare
    from deadheat.analyses.exploit import exploit
    from deadheat.analyses.gaps import generalization_gap
    from deadheat.analyses.grouped import grouped
    from deadheat.analyses.halves import split_half
    from deadheat.analyses.index_recall import index_recall
    from deadheat.analyses.leaderboard import leaderboard
    from deadheat.analyses.link_prediction import LinkPrediction, link_prediction
    from deadheat.analyses.low_precision import low_precision
    from deadheat.analyses.model_trends import gap_trend, model_correlation
    from deadheat.analyses.pooled import classification, pair_classification
    from deadheat.analyses.precision_recall import precision_recall
    from deadheat.analyses.random_baseline import random_baseline
    from deadheat.analyses.score_leaderboard import score_leaderboard
    from deadheat.analyses.truth_recall import index_recall_of_truth
    from deadheat.audits.evaluator_audit import audit_evaluator
    from deadheat.audits.run_audit import audit_run
    from deadheat.audits.submission_audit import audit
    from deadheat.counting import profile
    from deadheat.counting.cluster import Cluster
    from deadheat.counting.judged import profile_judged
    from deadheat.counting.links import profile_candidates, profile_links, profile_ranks
    from deadheat.counting.neighbors import profile_neighbors
    from deadheat.counting.runs import profile_run
    from deadheat.counting.scored import profile_scores
    from deadheat.inputs import read
    from deadheat.pages import html_report
    from deadheat.profiles import TieProfile
    from deadheat.receipts.document import Receipt
    from deadheat.receipts.receipt import Verification, receipt, verify
    from deadheat.reports import Report, Result, evaluate, measure
    from deadheat.reports.runs import evaluate_run
    from deadheat.ties import Rounded, Tolerance

__version__ = "0.1.0"

_PLACES = {  # where each public name is: a module, or what is in one
    "Cluster": "counting.cluster:Cluster",
    "LinkPrediction": "analyses.link_prediction:LinkPrediction",
    "Receipt": "receipts.document:Receipt",
    "Report": "reports:Report",
    "Result": "reports:Result",
    "Rounded": "ties:Rounded",
    "TieProfile": "profiles:TieProfile",
    "Tolerance": "ties:Tolerance",
    "Verification": "receipts.receipt:Verification",
    "audit": "audits.submission_audit:audit",
    "audit_evaluator": "audits.evaluator_audit:audit_evaluator",
    "audit_run": "audits.run_audit:audit_run",
    "classification": "analyses.pooled:classification",
    "collisions": "analyses.collisions:collisions",
    "compare": "analyses.comparison:compare",
    "confidence": "analyses.confidence",
    "evaluate": "reports:evaluate",
    "evaluate_run": "reports.runs:evaluate_run",
    "exploit": "analyses.exploit:exploit",
    "gap_trend": "analyses.model_trends:gap_trend",
    "generalization_gap": "analyses.gaps:generalization_gap",
    "grouped": "analyses.grouped:grouped",
    "html_report": "pages:html_report",
    "index_recall": "analyses.index_recall:index_recall",
    "index_recall_of_truth": "analyses.truth_recall:index_recall_of_truth",
    "leaderboard": "analyses.leaderboard:leaderboard",
    "link_prediction": "analyses.link_prediction:link_prediction",
    "low_precision": "analyses.low_precision:low_precision",
    "measure": "reports:measure",
    "measures": "measures",
    "model_correlation": "analyses.model_trends:model_correlation",
    "pair_classification": "analyses.pooled:pair_classification",
    "plots": "plots",
    "precision_recall": "analyses.precision_recall:precision_recall",
    "profile": "counting:profile",
    "profile_candidates": "counting.links:profile_candidates",
    "profile_judged": "counting.judged:profile_judged",
    "profile_links": "counting.links:profile_links",
    "profile_neighbors": "counting.neighbors:profile_neighbors",
    "profile_ranks": "counting.links:profile_ranks",
    "profile_run": "counting.runs:profile_run",
    "profile_scores": "counting.scored:profile_scores",
    "quantization": "analyses.quantization",
    "random_baseline": "analyses.random_baseline:random_baseline",
    "read": "inputs:read",
    "receipt": "receipts.receipt:receipt",
    "reference": "reference",
    "score_leaderboard": "analyses.score_leaderboard:score_leaderboard",
    "split_half": "analyses.halves:split_half",
    "verify": "receipts.receipt:verify",
    "words": "analyses.words",
}

__all__ = [
    "Cluster",
    "LinkPrediction",
    "Receipt",
    "Report",
    "Result",
    "Rounded",
    "TieProfile",
    "Tolerance",
    "Verification",
    "audit",
    "audit_evaluator",
    "audit_run",
    "classification",
    "collisions",
    "compare",
    "confidence",
    "evaluate",
    "evaluate_run",
    "exploit",
    "gap_trend",
    "generalization_gap",
    "grouped",
    "html_report",
    "index_recall",
    "index_recall_of_truth",
    "leaderboard",
    "link_prediction",
    "low_precision",
    "measure",
    "measures",
    "model_correlation",
    "pair_classification",
    "plots",
    "precision_recall",
    "profile",
    "profile_candidates",
    "profile_judged",
    "profile_links",
    "profile_neighbors",
    "profile_ranks",
    "profile_run",
    "profile_scores",
    "quantization",
    "random_baseline",
    "read",
    "receipt",
    "reference",
    "score_leaderboard",
    "split_half",
    "verify",
    "words",
]


def __getattr__(name: str) -> Any:
    """The one door: whatever is public is imported when it is first asked for, so that `import deadheat` is quick."""
    if name not in _PLACES:
        raise AttributeError(f"module 'deadheat' has no attribute {name!r}")
    room, _, item = _PLACES[name].partition(":")
    module = import_module(f"deadheat.{room}")
    globals()[name] = value = getattr(module, item) if item else module
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
