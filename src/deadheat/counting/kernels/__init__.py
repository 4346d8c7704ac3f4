"""The loops of the counting pass, one file a stage: in come flat arrays of integers and floats, and arrays to fill.

No loop here decides a comparison by a rounded value.
"""
