"""The files that hold embeddings and labels: in comes a path, out come arrays. The table of formats is `registry`."""
