"""The door of the counting pass: from embeddings and labels to a tie profile."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from deadheat import distances, inputs
from deadheat import ties as tie_rules
from deadheat.counting import devices
from deadheat.counting.checkpoint import Checkpoint
from deadheat.counting.passes import CountingPass
from deadheat.counting.relevance import Relevance
from deadheat.inputs import Pair, open_pair
from deadheat.inputs.sources import EmbeddingsLike, LabelsLike
from deadheat.profiles import TieProfile
from deadheat.support import checks
from deadheat.support.progress import Progress
from deadheat.ties import Ties


def profile(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    distance: str = "cosine",
    ties: str | Ties = "exact",
    junk: ArrayLike | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
    checkpoint: str | os.PathLike[str] | None = None,
    device: Any = None,
) -> TieProfile:
    """Count, for every query and every distance at which it has a relevant item, what is closer and what is tied.

    Relevant to a query is what has its label. Without a gallery it is leave one out: every row is a query against
    all the others, taken out by its index.

    Parameters
    ----------
    embeddings : (n_query, dim) array of floats, integers or bool
        Or embeddings on disk, read in pieces where their format allows it: a memory-mapped array, the path of a file
        (``.npz``, ``.npy``, ``.csv``, ``.tsv``, ``.parquet``), a pattern such as ``"emb-*.npy"``, or a list of these,
        one after another.
    labels : (n_query,) integers or strings, optional
        Or the path of a file (``.txt`` too, one a line), a pattern, or a list of paths. By default they are in the
        files of the embeddings. Labels of queries and gallery that all come from files are compared as text if some
        are text, so that 7 is "7"; arrays are compared as what they are.
    gallery : (n_gallery, dim) array, optional
    gallery_labels : (n_gallery,) integers or strings, optional
        Both as above; labels in the files of the gallery need not be given.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming"}
        Hamming takes bool, or uint8 with eight bits packed in each.
    ties : {"exact", "float16", "bfloat16", "float32"}, Rounded or Tolerance
        What tied means; see `deadheat.ties`.
    junk : (n_gallery,) or (n_query, n_gallery) bool, optional
        Items that are neither ranked nor relevant, for every query alike or pair by pair.
    threads : int, optional
        Worker threads, for this call alone; by default as many as there are processors.
    progress : bool or callable
        True for a bar on standard error, or a function that is called with (done, total).
    checkpoint : path, optional
        A directory that keeps what is finished. A run that was killed goes on from there when it is started again
        with the same data and options, and ends with the same profile. It takes up to twice as long as without.
    device : str or torch.device, optional
        "cuda", "cuda:1" or "cpu": multiply and count there with PyTorch; what that leaves open is decided as always,
        so the profile is the same, under TF32 too. By default NumPy does it.

    Returns
    -------
    TieProfile

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; the message names the argument, the rule and what came.

    Examples
    --------
    Four points on a line; the first query has one relevant item, tied with an irrelevant one:

    >>> import deadheat as dh
    >>> profile = dh.profile([[0], [1], [-1], [5]], ["a", "a", "b", "b"], distance="euclidean")
    >>> profile[0].closer, profile[0].tied
    (array([0]), array([2]))
    """
    rule = tie_rules.make(ties)
    workers = checks.thread_count(threads)
    kind = CountingPass if device is None else _pass_on(device)
    checks.choice(distance, distances.DISTANCES, "distance")
    pair = open_pair(embeddings, labels, gallery, gallery_labels)
    items = pair.gallery and pair.gallery.embeddings
    metric = distances.make(distance, pair.query.embeddings, items, rule.exact_only)
    rule.check(metric)
    relevance = _relevance(pair, junk)
    work = kind(metric, rule, relevance, resumable=checkpoint is not None)
    if checkpoint is None:
        return work.run(workers, progress)
    with Checkpoint(checkpoint, work.identity()) as kept:
        return work.run(workers, progress, kept)


def _pass_on(device: Any) -> Callable[..., CountingPass]:
    """What makes a counting pass on a device of PyTorch's."""
    return partial(devices.DeviceCountingPass, devices.open_device(device))


def _relevance(pair: Pair, junk: ArrayLike | None) -> Relevance:
    """Check junk, and work out who is relevant to whom."""
    gallery_labels = pair.gallery.labels if pair.gallery else None
    query_codes, gallery_codes = inputs.label_codes(pair.query.labels, gallery_labels)
    mask = inputs.junk_mask(junk, len(query_codes), len(gallery_codes))
    return Relevance.by_label(query_codes, gallery_codes, junk=mask, leave_one_out=pair.gallery is None)
