"""How many of the true neighbours an approximate index returns: ids and embeddings come in, a table goes out."""

from deadheat.analyses.index_recall.measuring import index_recall
from deadheat.analyses.index_recall.result import IndexRecall, Recall

__all__ = ["IndexRecall", "Recall", "index_recall"]
