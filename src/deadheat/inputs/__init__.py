"""Opening and checking of inputs: arrays, paths and labels become rows (perhaps on disk) and numbered labels."""
