"""What people hand over, checked: in come arrays, paths and labels, out go rows (perhaps on disk), numbered labels."""

from deadheat.inputs.arrays import (
    bits,
    embeddings,
    float_type,
    from_tensor,
    junk_mask,
    matrix,
    relevance,
    require_exact,
    require_filled,
    require_same_dim,
    scores,
)
from deadheat.inputs.labels import label_codes, labels, require_together
from deadheat.inputs.samples import Pair, Samples, open_pair, open_samples

__all__ = [
    "Pair",
    "Samples",
    "bits",
    "embeddings",
    "float_type",
    "from_tensor",
    "junk_mask",
    "label_codes",
    "labels",
    "matrix",
    "open_pair",
    "open_samples",
    "relevance",
    "require_exact",
    "require_filled",
    "require_same_dim",
    "require_together",
    "scores",
]
