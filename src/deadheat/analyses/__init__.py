"""Questions beyond one report, each answered by itself: in come embeddings or reports, out goes one result."""
