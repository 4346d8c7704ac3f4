"""Analyses beyond a single report: each takes embeddings or reports and returns one result."""
