"""Distances: in come checked embeddings, out go fast scores with a proven error bound, and the exact closeness."""
