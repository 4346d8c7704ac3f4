"""torchmetrics: metrics of batches, of epochs and of several processes. `pip install 'deadheat[torchmetrics]'`.

EmbeddingRetrieval   embeddings and labels, as `deadheat.evaluate` takes them
ScoredRetrieval      scores, targets and their queries, as the metrics of `torchmetrics.retrieval` take them

Both are a `torchmetrics.Metric` whose value is a dictionary: of each measure ``mAP``, ``mAP_lower`` and ``mAP_upper``.
"""

from deadheat.support.lazy import require

require("torchmetrics", "torchmetrics", "deadheat.integrations.torchmetrics")

from deadheat.integrations.torchmetrics.embeddings import EmbeddingRetrieval
from deadheat.integrations.torchmetrics.scored import ScoredRetrieval

__all__ = ["EmbeddingRetrieval", "ScoredRetrieval"]
