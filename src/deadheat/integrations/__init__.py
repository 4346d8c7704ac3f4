"""Neighbours: one file each, imported on use, behind an extra of the same name whose absence is one line."""
