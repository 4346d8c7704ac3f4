"""Audits of other evaluators: what a metric computes, and what else it can be made to give.

fn ──> bench: called with cases whose ties are known ──> observations ──> checks ──> findings

`adapters` has those that people use, by name; `python -m benchmarks.evaluators --all --markdown` prints the table of
docs/who-can-be-hacked.md.
"""

from benchmarks.evaluators.audit import EvaluatorAudit, audit_evaluator

__all__ = ["EvaluatorAudit", "audit_evaluator"]
