"""The engine: in come checked rows, scores or runs with labels, out go the integers of a `TieProfile`."""
