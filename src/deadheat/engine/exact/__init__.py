"""Exact arithmetic: in come numbers, out goes what they really are, or round to."""
