"""Receipts: a result and digests of its inputs, in a small file that anybody with the inputs can verify."""
