"""Audit of a submission: in come embeddings and labels, out go findings.

embeddings, labels ──> evidence: every pass over the data, once ──> checks, one row each ──> findings ──> Audit
"""

from deadheat.audits.submission.auditing import audit
from deadheat.audits.submission.result import Audit

__all__ = ["Audit", "audit"]
