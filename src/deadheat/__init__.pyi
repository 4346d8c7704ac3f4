"""Evaluate embeddings and rankings: lower bound, exact expectation and upper bound of every measure."""

from deadheat import measures, plots, reference
from deadheat.analyses import confidence, quantization
from deadheat.analyses.collisions import collisions
from deadheat.analyses.comparison import compare
from deadheat.analyses.exploit import exploit
from deadheat.analyses.gaps import generalization_gap, split_half
from deadheat.analyses.grouped import grouped
from deadheat.analyses.index_recall import index_recall, index_recall_of_truth
from deadheat.analyses.leaderboard import leaderboard
from deadheat.analyses.link_prediction import LinkPrediction, link_prediction
from deadheat.analyses.model_trends import gap_trend, model_correlation
from deadheat.analyses.pooled import classification, pair_classification
from deadheat.analyses.precision_recall import precision_recall
from deadheat.analyses.quantization import low_precision
from deadheat.analyses.random_baseline import random_baseline
from deadheat.engine.counting.cluster import Cluster
from deadheat.engine.counting.judged import profile_judged
from deadheat.engine.counting.links import profile_candidates, profile_links, profile_ranks
from deadheat.engine.counting.neighbors import profile_neighbors
from deadheat.engine.counting.profiling import profile
from deadheat.engine.counting.runs import profile_run
from deadheat.engine.counting.scored import profile_scores
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rounded import Rounded
from deadheat.engine.ties.tolerance import Tolerance
from deadheat.inputs.samples import read
from deadheat.plots.pages import html_report
from deadheat.reports.evaluating import evaluate, measure
from deadheat.reports.report import Report
from deadheat.reports.result import Result
from deadheat.reports.runs import evaluate_run
from deadheat.trust.audits.run_audit import audit_run
from deadheat.trust.audits.submission_audit import audit
from deadheat.trust.receipts.document import Receipt
from deadheat.trust.receipts.receipt import Verification, receipt, verify

__version__: str

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
    "split_half",
    "verify",
]
