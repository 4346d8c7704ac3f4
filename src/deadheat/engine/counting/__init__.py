"""The counting pass: in come embeddings, scores or runs with who is relevant, out go tie profiles and rankings."""
