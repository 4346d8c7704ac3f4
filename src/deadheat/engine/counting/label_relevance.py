"""Relevance by labels of single items, for analyses of rankings; a profile counts relevant items without it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import deadheat._core as _core
from deadheat.inputs.label_sets import LabelSets, numbered
from deadheat.inputs.labels import label_codes
from deadheat.support.arrays import Bool, Int32, Int64


class LabelRelevance:
    """Relevance of gallery items to queries: those of the query's label, or that share one where a row has several.

    Attributes
    ----------
    several : bool
        True if a row has more than one label; sets of at most one are compared as single labels are.
    classes : (n_item,) int32
        The class of each item by number; where a row has several labels, items with equal sets of them are a class.
    query_classes : (n_query,) int32
        The class whose items are relevant to each query, -1 for none; undefined where a row has several labels.

    Examples
    --------
    >>> from deadheat.inputs.label_sets import label_sets
    >>> sets = label_sets([{"cat", "pet"}, {"dog", "pet"}, {"dog"}, set()], "labels", 4, "embeddings")
    >>> relevance = LabelRelevance(sets, sets)
    >>> relevance.of(np.array([0, 2]), np.array([1, 3])), relevance.n_relevant()
    (array([ True, False]), array([2, 3, 2, 0]))
    """

    def __init__(self, labels: NDArray[Any] | LabelSets, gallery_labels: NDArray[Any] | LabelSets) -> None:
        sets = [each for each in (labels, gallery_labels) if isinstance(each, LabelSets)]
        self.several = any(int(each.sizes().max(initial=0)) > 1 for each in sets)
        if self.several:
            self._query, self._items = (each.words for each in sets)
            self.classes: Int32 = sets[-1].classes().astype(np.int32)
            return
        codes = label_codes(*(numbered(*sets) if sets else (labels, gallery_labels)))
        self.query_classes, self.classes = (each.astype(np.int32) for each in codes)

    def of(self, queries: Any, items: Any) -> Bool:
        """Return which items are relevant to which queries, in the shape that the two indices broadcast to."""
        if not self.several:
            return np.asarray(self.query_classes[queries] == self.classes[items])
        words = zip(self._query.T, self._items.T, strict=True)
        shared: Bool = np.logical_or.reduce([mine[queries] & theirs[items] != 0 for mine, theirs in words])
        return shared

    def n_relevant(self) -> Int64:
        """Return the number of items that are relevant to each query, ranked or not, (n_query,)."""
        if not self.several:
            sizes = np.bincount(self.classes, minlength=1)
            return np.where(self.query_classes >= 0, sizes[self.query_classes], 0)
        bins, nothing = np.zeros((len(self._query), 2), dtype=np.int32), np.empty((1, 0), dtype=np.uint64)
        query, item = (np.repeat(nothing, len(words), axis=0) for words in (self._query, self._items))
        _core.LabelledItems(item, self._items, False).histograms(query, self._query, 2, bins)
        return bins[:, 1].astype(np.int64)
