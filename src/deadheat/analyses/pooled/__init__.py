"""One pooled ranking: items with a score and a label, of which one threshold decides which are accepted.

scores, labels ──────────────────────────┬──> profile of one query ──> `measuring` ──> `result`
embeddings, pairs ──> `pairs`, ranks ────┘
"""

from deadheat.analyses.pooled.classifying import classification, pair_classification
from deadheat.analyses.pooled.result import Classification, PooledValue

__all__ = ["Classification", "PooledValue", "classification", "pair_classification"]
