"""Evaluate embeddings and rankings: lower bound, exact expectation and upper bound of every measure."""

from deadheat import errors as errors
from deadheat import measures as measures
from deadheat import plots as plots
from deadheat.analyses import confidence as confidence
from deadheat.analyses.collisions import collisions as collisions
from deadheat.analyses.comparison import compare as compare
from deadheat.analyses.exploit import exploit as exploit
from deadheat.analyses.gaps import generalization_gap as generalization_gap
from deadheat.analyses.gaps import split_half as split_half
from deadheat.analyses.grouped import grouped as grouped
from deadheat.analyses.hash_lookup import hash_lookup as hash_lookup
from deadheat.analyses.index_recall import index_recall as index_recall
from deadheat.analyses.index_recall import index_recall_of_truth as index_recall_of_truth
from deadheat.analyses.leaderboard import leaderboard as leaderboard
from deadheat.analyses.link_prediction import link_prediction as link_prediction
from deadheat.analyses.p_values import p_values as p_values
from deadheat.analyses.pooled import classification as classification
from deadheat.analyses.pooled import pair_classification as pair_classification
from deadheat.analyses.precision_recall import precision_recall as precision_recall
from deadheat.analyses.quantization import compare_formats as compare_formats
from deadheat.analyses.random_baseline import random_baseline as random_baseline
from deadheat.engine.profiles.profile import TieProfile as TieProfile
from deadheat.engine.sources.candidates import from_candidates as from_candidates
from deadheat.engine.sources.counted import CountedTask as CountedTask
from deadheat.engine.sources.counted import from_profile as from_profile
from deadheat.engine.sources.judged import from_judged as from_judged
from deadheat.engine.sources.neighbors import from_neighbors as from_neighbors
from deadheat.engine.sources.ranks import from_ranks as from_ranks
from deadheat.engine.sources.run import from_lists as from_lists
from deadheat.engine.sources.run import from_run as from_run
from deadheat.engine.sources.scores import from_scores as from_scores
from deadheat.engine.task import Task as Task
from deadheat.engine.ties.rounded import Rounded as Rounded
from deadheat.engine.ties.tolerance import Tolerance as Tolerance
from deadheat.inputs.relevance import within as within
from deadheat.inputs.samples import read as read
from deadheat.plots.pages import html_report as html_report
from deadheat.reports.evaluating import evaluate as evaluate
from deadheat.reports.report import Report as Report
from deadheat.reports.result import Result as Result
from deadheat.trust.audits.collection_audit import audit_collection as audit_collection
from deadheat.trust.audits.run_audit import audit_run as audit_run
from deadheat.trust.audits.submission_audit import audit as audit
from deadheat.trust.receipts.document import Receipt as Receipt
from deadheat.trust.receipts.receipt import receipt as receipt
from deadheat.trust.receipts.receipt import verify as verify

__version__: str

__all__ = [
    "CountedTask",
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
    "from_candidates",
    "from_judged",
    "from_lists",
    "from_neighbors",
    "from_profile",
    "from_ranks",
    "from_run",
    "from_scores",
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
    "within",
]
