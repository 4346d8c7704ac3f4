"""Counting on a card: a filter, which counts what its bounds decide and hands the rest to the core's ladder."""
