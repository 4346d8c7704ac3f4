"""Inputs, checked: in come arrays, paths and labels, out go rows (perhaps on disk) and numbered labels."""
