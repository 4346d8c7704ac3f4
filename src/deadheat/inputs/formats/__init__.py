"""Readers of files that hold embeddings and labels, as arrays. The table of formats is `registry`."""
