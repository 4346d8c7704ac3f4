"""Who is relevant: of the candidates of a query, those of its class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deadheat.counting.candidates import Candidates

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Relevance:
    """Relevance by label.

    Parameters
    ----------
    query_class : (n_query,) int64
        The class of each query; −1 where no gallery item has its label.
    gallery_class : (n_gallery,) int64
    candidates : Candidates
        Who is ranked.
    """

    query_class: Int64
    gallery_class: Int64
    candidates: Candidates

    @classmethod
    def of_all(cls, candidates: Candidates) -> Relevance:
        """Everything is relevant to everybody."""
        n_query, n_gallery = candidates.n_query, len(candidates.ranked)
        return cls(np.zeros(n_query, dtype=np.int64), np.zeros(n_gallery, dtype=np.int64), candidates)

    @cached_property
    def class_size(self) -> Int64:
        """How many gallery items, junk or not, each query's class has; only where every query has a class."""
        return np.asarray(np.bincount(self.gallery_class)[self.query_class])
