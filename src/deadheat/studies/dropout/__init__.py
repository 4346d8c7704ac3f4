"""The study of dropout: in come files of embeddings, or words to render, out go the gaps between train and test."""

from deadheat.studies.dropout.study import STUDY

__all__ = ["STUDY"]
