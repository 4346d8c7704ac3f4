"""The tie profile: in come the integers of a counting pass, out go profiles to keep, hash, slice, add and measure."""
