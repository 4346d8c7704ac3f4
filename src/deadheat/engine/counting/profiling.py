"""Tie profiles of embeddings and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from deadheat.engine.counting.candidates import Relevance
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.distances.distance import Distance
from deadheat.engine.distances.hamming import Hamming
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Exact
from deadheat.inputs import labels as input_labels
from deadheat.inputs.label_sets import LabelSets
from deadheat.inputs.samples import Pair
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import lazy

if TYPE_CHECKING:
    from deadheat.engine.counting import portions, several
else:
    several = lazy("deadheat.engine.counting.several")
    portions = lazy("deadheat.engine.counting.portions")


@plain_floats
def profile_rows(pair: Pair, options: CountingOptions) -> TieProfile:
    """Return the profile of open queries and gallery, or of leave one out, with options fitted to them."""
    if options.executor is not None or options.checkpoint is not None:
        return portions.profile_in_portions(pair, relevance_of(pair, options), options)
    opened = options.open(pair.query.embeddings, pair.gallery and pair.gallery.embeddings)
    return profile_of(opened, pair.query.labels, pair.gallery and pair.gallery.labels, options)


def relevance_of(pair: Pair, options: CountingOptions) -> Relevance:
    """Return relevance by one label a row."""
    items = None if pair.gallery is None else pair.gallery.labels
    n_query = len(pair.query.labels)
    candidates = options.candidates(n_query, n_query if items is None else len(items), leave_one_out=items is None)
    return Relevance(*input_labels.label_codes(pair.query.labels, items), candidates)


@plain_floats
def profile_of(
    distance: Distance, labels: NDArray[Any] | LabelSets, gallery_labels: Any, options: CountingOptions
) -> TieProfile:
    """Return the profile of checked data: an open distance, labels of its queries and items, and options.

    Without labels of the gallery it is leave one out.

    Examples
    --------
    >>> import numpy as np
    >>> options = CountingOptions.checked(distance="euclidean")
    >>> profile_of(options.open([[0], [1], [-1]]), np.array([1, 1, 2]), None, options)[0].tied
    array([2])
    """
    alone = gallery_labels is None
    if isinstance(labels, LabelSets):
        return several.profile_of_sets(distance, labels, labels if alone else gallery_labels, options, alone)
    candidates = options.candidates(distance.n_query, distance.n_gallery, leave_one_out=alone)
    relevance = Relevance(*input_labels.label_codes(labels, gallery_labels), candidates)
    if isinstance(options.rule, Exact) and isinstance(distance, Hamming) and distance.is_short:
        return several.profile_of_codes(distance, relevance.query_class, relevance.gallery_class, candidates, options)
    return options.counting_pass(distance, relevance).run(options.threads, options.progress)
