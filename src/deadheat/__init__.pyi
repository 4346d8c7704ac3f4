"""Evaluate embeddings and rankings: lower bound, exact expectation and upper bound of every measure."""

from deadheat import errors, measures, plots
from deadheat.analyses import confidence
from deadheat.analyses.collisions import collisions
from deadheat.analyses.comparison import compare
from deadheat.analyses.exploit import exploit
from deadheat.analyses.gaps import generalization_gap, split_half
from deadheat.analyses.grouped import grouped
from deadheat.analyses.hash_lookup import hash_lookup
from deadheat.analyses.index_recall import index_recall, index_recall_of_truth
from deadheat.analyses.leaderboard import leaderboard
from deadheat.analyses.link_prediction import link_prediction
from deadheat.analyses.p_values import p_values
from deadheat.analyses.pooled import classification, pair_classification
from deadheat.analyses.precision_recall import precision_recall
from deadheat.analyses.quantization import compare_formats
from deadheat.analyses.random_baseline import random_baseline
from deadheat.engine.counting.cluster import Cluster
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.task import Task
from deadheat.engine.ties.rounded import Rounded
from deadheat.engine.ties.tolerance import Tolerance
from deadheat.inputs.samples import read
from deadheat.plots.pages import html_report
from deadheat.reports.evaluating import evaluate
from deadheat.reports.report import Report
from deadheat.reports.result import Result
from deadheat.trust.audits.collection_audit import audit_collection
from deadheat.trust.audits.run_audit import audit_run
from deadheat.trust.audits.submission_audit import audit
from deadheat.trust.receipts.document import Receipt
from deadheat.trust.receipts.receipt import receipt, verify

__version__: str

__all__ = [
    "Cluster",
    "Receipt",
    "Report",
    "Result",
    "Rounded",
    "Task",
    "TieProfile",
    "Tolerance",
    "audit",
    "audit_collection",
    "audit_run",
    "classification",
    "collisions",
    "compare",
    "compare_formats",
    "confidence",
    "errors",
    "evaluate",
    "exploit",
    "generalization_gap",
    "grouped",
    "hash_lookup",
    "html_report",
    "index_recall",
    "index_recall_of_truth",
    "leaderboard",
    "link_prediction",
    "measures",
    "p_values",
    "pair_classification",
    "plots",
    "precision_recall",
    "random_baseline",
    "read",
    "receipt",
    "split_half",
    "verify",
]
