"""What people hand over, checked: in come arrays, paths and labels, out go rows (perhaps on disk), numbered labels."""

from deadheat.inputs.arrays import (
    bits,
    embeddings,
    junk_mask,
    relevance,
    require_exact,
    require_same_dim,
    scores,
)
from deadheat.inputs.conversion import plain
from deadheat.inputs.item_ids import own_rows
from deadheat.inputs.labels import label_codes, labels
from deadheat.inputs.samples import Pair, Samples, open_pair, open_samples, read

__all__ = [
    "Pair",
    "Samples",
    "bits",
    "embeddings",
    "junk_mask",
    "label_codes",
    "labels",
    "open_pair",
    "open_samples",
    "own_rows",
    "plain",
    "read",
    "relevance",
    "require_exact",
    "require_same_dim",
    "scores",
]
