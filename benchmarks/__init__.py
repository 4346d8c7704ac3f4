"""Measurements of speed and memory, as ratios to a named rival in one run. Run with `python -m benchmarks`."""
