"""Evaluators, audited: in comes a metric, out go what it computes, and what else it can be made to give.

adapters, locating ──> fn ──> bench: calling, inputs, definitions ──> orders, numbers, machine, general ──> result
"""

from deadheat.audits.evaluator.auditing import audit_evaluator
from deadheat.audits.evaluator.result import EvaluatorAudit, EvaluatorSurvey

__all__ = ["EvaluatorAudit", "EvaluatorSurvey", "audit_evaluator"]
