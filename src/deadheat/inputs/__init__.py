"""What people hand over, checked: in come arrays, paths and labels, out go rows (perhaps on disk), numbered labels."""
