"""Evaluate embeddings and rankings: lower bound, exact expectation and upper bound of every measure."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deadheat import measures, plots, reference
    from deadheat.analyses import confidence, precision, words
    from deadheat.analyses.collisions import collisions
    from deadheat.analyses.comparison import compare, leaderboard
    from deadheat.analyses.exploit import exploit, random_baseline
    from deadheat.analyses.grouped import gap_trend, generalization_gap, grouped, model_correlation, split_half
    from deadheat.analyses.index_recall import index_recall
    from deadheat.analyses.precision_recall import precision_recall
    from deadheat.audits.evaluator import audit_evaluator
    from deadheat.audits.submission import audit
    from deadheat.counting import profile
    from deadheat.counting.cluster import Cluster
    from deadheat.counting.judged import profile_judged
    from deadheat.counting.neighbors import profile_neighbors
    from deadheat.counting.runs import profile_run
    from deadheat.counting.scored import profile_scores
    from deadheat.inputs import read
    from deadheat.pages import html_report
    from deadheat.profiles import TieProfile
    from deadheat.receipts import Receipt, Verification, receipt, verify
    from deadheat.reports import Report, Result, evaluate, measure
    from deadheat.reports.runs import evaluate_run
    from deadheat.ties import Rounded, Tolerance

__version__ = "0.1.0"

_PLACES = {  # where each public name is: a module, or what is in one
    "Cluster": "counting.cluster:Cluster",
    "Receipt": "receipts:Receipt",
    "Report": "reports:Report",
    "Result": "reports:Result",
    "Rounded": "ties:Rounded",
    "TieProfile": "profiles:TieProfile",
    "Tolerance": "ties:Tolerance",
    "Verification": "receipts:Verification",
    "audit": "audits.submission:audit",
    "audit_evaluator": "audits.evaluator:audit_evaluator",
    "collisions": "analyses.collisions:collisions",
    "compare": "analyses.comparison:compare",
    "confidence": "analyses.confidence",
    "evaluate": "reports:evaluate",
    "evaluate_run": "reports.runs:evaluate_run",
    "exploit": "analyses.exploit:exploit",
    "gap_trend": "analyses.grouped:gap_trend",
    "generalization_gap": "analyses.grouped:generalization_gap",
    "grouped": "analyses.grouped:grouped",
    "html_report": "pages:html_report",
    "index_recall": "analyses.index_recall:index_recall",
    "leaderboard": "analyses.comparison:leaderboard",
    "measure": "reports:measure",
    "measures": "measures",
    "model_correlation": "analyses.grouped:model_correlation",
    "plots": "plots",
    "precision": "analyses.precision",
    "precision_recall": "analyses.precision_recall:precision_recall",
    "profile": "counting:profile",
    "profile_judged": "counting.judged:profile_judged",
    "profile_neighbors": "counting.neighbors:profile_neighbors",
    "profile_run": "counting.runs:profile_run",
    "profile_scores": "counting.scored:profile_scores",
    "random_baseline": "analyses.exploit:random_baseline",
    "read": "inputs:read",
    "receipt": "receipts:receipt",
    "reference": "reference",
    "split_half": "analyses.grouped:split_half",
    "verify": "receipts:verify",
    "words": "analyses.words",
}

__all__ = [
    "Cluster",
    "Receipt",
    "Report",
    "Result",
    "Rounded",
    "TieProfile",
    "Tolerance",
    "Verification",
    "audit",
    "audit_evaluator",
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
    "leaderboard",
    "measure",
    "measures",
    "model_correlation",
    "plots",
    "precision",
    "precision_recall",
    "profile",
    "profile_judged",
    "profile_neighbors",
    "profile_run",
    "profile_scores",
    "random_baseline",
    "read",
    "receipt",
    "reference",
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
