"""Receipts: what a result follows from and what it is, in a small file that anybody with the inputs can verify.

inputs, options ──evaluate──> Report ──> Receipt ──save──> r.json ──verify──> match, or what differs
"""

from deadheat.receipts.document import Receipt
from deadheat.receipts.making import receipt, receipt_of
from deadheat.receipts.verifying import Verification, verify

__all__ = ["Receipt", "Verification", "receipt", "receipt_of", "verify"]
