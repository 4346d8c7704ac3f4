"""Evaluate embeddings and rankings: lower bound, exact expectation and upper bound of every measure."""

from importlib import import_module
from typing import Any

__version__ = "0.3.0"

_PLACES = {  # where each public name is: a module, or what is in one
    "CountedTask": "engine.sources.counted:CountedTask",
    "Receipt": "trust.receipts.document:Receipt",
    "Report": "reports.report:Report",
    "Result": "reports.result:Result",
    "Rounded": "engine.ties.rounded:Rounded",
    "Task": "engine.task:Task",
    "TieProfile": "engine.profiles.profile:TieProfile",
    "Tolerance": "engine.ties.tolerance:Tolerance",
    "audit": "trust.audits.submission_audit:audit",
    "audit_collection": "trust.audits.collection_audit:audit_collection",
    "audit_run": "trust.audits.run_audit:audit_run",
    "classification": "analyses.pooled:classification",
    "collisions": "analyses.collisions:collisions",
    "compare": "analyses.comparison:compare",
    "compare_formats": "analyses.quantization:compare_formats",
    "confidence": "analyses.confidence",
    "errors": "errors",
    "evaluate": "reports.evaluating:evaluate",
    "exploit": "analyses.exploit:exploit",
    "from_candidates": "engine.sources.candidates:from_candidates",
    "from_judged": "engine.sources.judged:from_judged",
    "from_lists": "engine.sources.run:from_lists",
    "from_neighbors": "engine.sources.neighbors:from_neighbors",
    "from_profile": "engine.sources.counted:from_profile",
    "from_ranks": "engine.sources.ranks:from_ranks",
    "from_run": "engine.sources.run:from_run",
    "from_scores": "engine.sources.scores:from_scores",
    "generalization_gap": "analyses.gaps:generalization_gap",
    "grouped": "analyses.grouped:grouped",
    "hash_lookup": "analyses.hash_lookup:hash_lookup",
    "html_report": "plots.pages:html_report",
    "index_recall": "analyses.index_recall:index_recall",
    "index_recall_of_truth": "analyses.index_recall:index_recall_of_truth",
    "leaderboard": "analyses.leaderboard:leaderboard",
    "link_prediction": "analyses.link_prediction:link_prediction",
    "measures": "measures",
    "p_values": "analyses.p_values:p_values",
    "pair_classification": "analyses.pooled:pair_classification",
    "plots": "plots",
    "precision_recall": "analyses.precision_recall:precision_recall",
    "random_baseline": "analyses.random_baseline:random_baseline",
    "read": "inputs.samples:read",
    "receipt": "trust.receipts.receipt:receipt",
    "split_half": "analyses.gaps:split_half",
    "verify": "trust.receipts.receipt:verify",
    "within": "inputs.relevance:within",
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
