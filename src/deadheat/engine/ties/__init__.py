"""Rules for ties: in come scores and their bounds, out go groups of relevant items and the cuts between them."""
