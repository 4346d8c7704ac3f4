"""Evaluate embeddings and rankings: lower bound, exact expectation and upper bound of every measure."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PLACES = {  # where each public name is: a module, or what is in one
    "Cluster": "engine.counting.cluster:Cluster",
    "LinkPrediction": "analyses.link_prediction:LinkPrediction",
    "Receipt": "trust.receipts.document:Receipt",
    "Report": "reports.report:Report",
    "Result": "reports.result:Result",
    "Rounded": "engine.ties.rounded:Rounded",
    "TieProfile": "engine.profiles.profile:TieProfile",
    "Tolerance": "engine.ties.tolerance:Tolerance",
    "Verification": "trust.receipts.receipt:Verification",
    "audit": "trust.audits.submission_audit:audit",
    "audit_run": "trust.audits.run_audit:audit_run",
    "classification": "analyses.pooled:classification",
    "collisions": "analyses.collisions:collisions",
    "compare": "analyses.comparison:compare",
    "confidence": "analyses.confidence",
    "evaluate": "reports.evaluating:evaluate",
    "evaluate_run": "reports.runs:evaluate_run",
    "exploit": "analyses.exploit:exploit",
    "gap_trend": "analyses.model_trends:gap_trend",
    "generalization_gap": "analyses.gaps:generalization_gap",
    "grouped": "analyses.grouped:grouped",
    "html_report": "plots.pages:html_report",
    "index_recall": "analyses.index_recall:index_recall",
    "index_recall_of_truth": "analyses.index_recall:index_recall_of_truth",
    "leaderboard": "analyses.leaderboard:leaderboard",
    "link_prediction": "analyses.link_prediction:link_prediction",
    "low_precision": "analyses.quantization:low_precision",
    "measure": "reports.evaluating:measure",
    "measures": "measures",
    "model_correlation": "analyses.model_trends:model_correlation",
    "pair_classification": "analyses.pooled:pair_classification",
    "plots": "plots",
    "precision_recall": "analyses.precision_recall:precision_recall",
    "profile": "engine.counting.profiling:profile",
    "profile_candidates": "engine.counting.links:profile_candidates",
    "profile_judged": "engine.counting.judged:profile_judged",
    "profile_links": "engine.counting.links:profile_links",
    "profile_neighbors": "engine.counting.neighbors:profile_neighbors",
    "profile_ranks": "engine.counting.links:profile_ranks",
    "profile_run": "engine.counting.runs:profile_run",
    "profile_scores": "engine.counting.scored:profile_scores",
    "quantization": "analyses.quantization",
    "random_baseline": "analyses.random_baseline:random_baseline",
    "read": "inputs.samples:read",
    "receipt": "trust.receipts.receipt:receipt",
    "reference": "reference",
    "split_half": "analyses.gaps:split_half",
    "verify": "trust.receipts.receipt:verify",
}

__all__ = list(_PLACES)


def __getattr__(name: str) -> Any:
    """Whatever is public is imported when it is first asked for, so that `import deadheat` is quick."""
    if name not in _PLACES:
        near = [] if name.startswith("_") else import_module("difflib").get_close_matches(name, _PLACES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"module 'deadheat' has no attribute {name!r}{hint}", name=name, obj=None)
    path, _, item = _PLACES[name].partition(":")
    module = import_module(f"deadheat.{path}")
    globals()[name] = value = getattr(module, item) if item else module
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
