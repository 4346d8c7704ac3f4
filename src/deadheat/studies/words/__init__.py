"""The study of words: in comes a word list, out go bounds and ties of edit distances and codes."""

from deadheat.studies.words.study import STUDY

__all__ = ["STUDY"]
