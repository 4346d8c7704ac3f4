"""Tie profiles of embeddings and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from deadheat.engine.counting.candidates import Relevance
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.problem import identity
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
    from deadheat.engine.counting import checkpoint as checkpoints
    from deadheat.engine.counting import several
    from deadheat.engine.counting.distributed import running
else:
    several = lazy("deadheat.engine.counting.several")
    checkpoints = lazy("deadheat.engine.counting.checkpoint")
    running = lazy("deadheat.engine.counting.distributed.running")


@plain_floats
def profile_rows(pair: Pair, options: CountingOptions) -> TieProfile:
    """Return the profile of open queries and gallery, or of leave one out, with options fitted to them."""
    if options.cluster is not None:
        return running.profile_on(options.cluster, pair, options)
    opened = options.open(pair.query.embeddings, pair.gallery and pair.gallery.embeddings)
    return profile_of(opened, pair.query.labels, pair.gallery and pair.gallery.labels, options)


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
    plain = options.checkpoint is None and isinstance(options.rule, Exact)
    if plain and isinstance(distance, Hamming) and distance.is_short:
        return several.profile_of_codes(distance, relevance.query_class, relevance.gallery_class, candidates, options)
    counting_pass = options.counting_pass(distance, relevance)
    if options.checkpoint is None:
        return counting_pass.run(options.threads, options.progress)
    known = identity(distance.name, options.rule, relevance, distance.fingerprint)
    with checkpoints.Checkpoint(options.checkpoint, known) as kept:
        return counting_pass.run(options.threads, options.progress, kept)
