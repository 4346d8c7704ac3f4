"""The search behind `collisions`: in come its arguments, checked; out go the groups of all queries, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from deadheat import inputs
from deadheat.analyses.collisions.counts import Counts
from deadheat.analyses.collisions.groups import GroupedRanks, Int64
from deadheat.analyses.collisions.linking import linked
from deadheat.analyses.collisions.results import Collisions
from deadheat.counting.ranking import Rankings
from deadheat.inputs.sources import EmbeddingsLike, LabelsLike, open_labels
from deadheat.support import checks
from deadheat.support.progress import Progress, Reporting
from deadheat.ties import Ties

Samples = tuple[EmbeddingsLike, LabelsLike, EmbeddingsLike | None, LabelsLike | None]


class Search:
    """The groups of all queries under one distance, block by block when iterated.

    Parameters
    ----------
    samples : tuple
        Embeddings, labels, gallery and gallery labels, as `collisions` takes them.
    distance : str
    ties : Ties
    width : Fraction or None
        How far apart neighbours may be that collide; None for ties alone.
    depth : int or None
    threads, progress
    """

    def __init__(
        self,
        samples: Samples,
        *,
        distance: str,
        ties: Ties,
        width: Fraction | None,
        depth: int | None,
        threads: int | None,
        progress: bool | Progress,
    ) -> None:
        embeddings, labels, gallery, gallery_labels = samples
        inputs.require_together(gallery, gallery_labels)
        self.rankings = Rankings(embeddings, gallery, distance=distance, ties=ties, threads=threads)
        most_ranked = int(self.rankings.candidates.n_ranked().max())
        self.depth = most_ranked if depth is None else checks.positive_integer(depth, "depth")
        self.distance, self.width, self.progress = distance, width, progress
        self.rule = ties.describe(distance) if width is None else f"within {float(width)!r}"
        self._query_class, self._item_class = self._classes(labels, gallery_labels)

    def _classes(self, labels: LabelsLike, gallery_labels: LabelsLike | None) -> tuple[Int64, Int64]:
        n_query, n_gallery = self.rankings.n_query, self.rankings.n_gallery
        query = inputs.labels(open_labels(labels, "labels"), n_query, "labels", "embeddings")
        if gallery_labels is None:
            return inputs.label_codes(query)
        opened = open_labels(gallery_labels, "gallery_labels")
        return inputs.label_codes(query, inputs.labels(opened, n_gallery, "gallery_labels", "gallery"))

    def __iter__(self) -> Iterator[GroupedRanks]:
        with Reporting(self.progress, self.rankings.n_query, f"ranking ({self.distance})", "queries") as report:
            for block in self.rankings:
                valid = block.items >= 0
                relevant = (self._item_class[block.items] == self._query_class[block.queries, None]) & valid
                tie_starts = valid.copy()
                tie_starts[:, 1:] &= block.group[:, 1:] != block.group[:, :-1]
                starts = tie_starts
                if self.width is not None:
                    starts = tie_starts & ~linked(self.rankings, block, tie_starts, self.width)
                yield GroupedRanks.of(block.queries, valid, relevant, tie_starts, starts)
                report(len(block.queries))

    def collisions(self) -> Collisions:
        """All that was found, rank by rank."""
        shape = self.rankings.n_query, self.depth
        kind, relevant, size = np.empty(shape, np.int8), np.empty(shape, np.bool_), np.empty(shape, np.int32)
        counts = Counts()
        for ranks in self:
            kind[ranks.queries], relevant[ranks.queries], size[ranks.queries] = ranks.matrices(self.depth)
            counts += ranks.counts(self.depth)
        return Collisions(kind, relevant, size, counts, self.distance, self.rule)

    def counts(self) -> Counts:
        """The counts alone, in memory that does not grow with the queries."""
        return sum((ranks.counts(self.depth) for ranks in self), Counts())
