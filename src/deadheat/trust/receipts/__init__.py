"""Receipts: what a result follows from and what it is, in a small file that anybody with the inputs can verify."""
