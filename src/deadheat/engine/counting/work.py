"""Work: queries, items, labels and settings, from which loops take the distance and the relevance that they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deadheat.engine.counting.candidates import Candidates
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.distances.distance import Distance
from deadheat.inputs.samples import Pair
from deadheat.support.arrays import Array, Int64
from deadheat.support.caching import cached_property


@dataclass(frozen=True)
class Work:
    """Queries to count against their gallery, or against each other.

    `opened` is the distance, if the caller has it. With a `group`, only these rows are ranked, against each other; the
    embeddings of the pair and the open distance are then those of all rows.
    """

    pair: Pair  # of rows, or words of bits
    settings: CountingOptions
    opened: Distance | None = None
    group: Int64 | None = None

    @property
    def labels(self) -> Any:
        return self.pair.query.labels

    @property
    def gallery_labels(self) -> Any:
        """The labels of the gallery, None for leave one out."""
        return None if self.pair.gallery is None else self.pair.gallery.labels

    @cached_property
    def distance(self) -> Distance:
        query, gallery = self.pair[:2]
        if self.group is not None:
            return self.settings.open(taken(query.embeddings, self.group))
        return self.opened or self.settings.open(query.embeddings, gallery and gallery.embeddings)

    @cached_property
    def candidates(self) -> Candidates:
        n_query, n_item = len(self.labels), len(self.labels if self.pair.gallery is None else self.gallery_labels)
        return self.settings.candidates(n_query, n_item, leave_one_out=self.pair.gallery is None)


def taken(rows: Any, index: Int64) -> Array:
    """Return some rows of an array or of a source."""
    return np.asarray(rows[index] if isinstance(rows, np.ndarray) else rows.take(index))
