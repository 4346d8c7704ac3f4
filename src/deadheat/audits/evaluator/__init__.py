"""Evaluators, audited: in comes somebody's metric, out go what it computes and how it can be made to give something else.

adapters, locating ──> fn ──> auditing: bench (calling, inputs, definitions) ──> orders, numbers, machine, general ──> result
"""

from deadheat.audits.evaluator.auditing import audit_evaluator
from deadheat.audits.evaluator.result import EvaluatorAudit, EvaluatorSurvey

__all__ = ["EvaluatorAudit", "EvaluatorSurvey", "audit_evaluator"]
