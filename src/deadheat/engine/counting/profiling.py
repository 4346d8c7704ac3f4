"""From embeddings and labels to a tie profile."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike, NDArray

from deadheat.engine.counting.candidates import Relevance
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.own_gallery import queries_in_gallery
from deadheat.engine.counting.passes import CountingPass
from deadheat.engine.counting.problem import identity
from deadheat.engine.distances.distance import Distance
from deadheat.engine.literals import DistanceName, TiesName
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Ties
from deadheat.inputs import labels as input_labels
from deadheat.inputs.item_ids import OwnRows
from deadheat.inputs.samples import EmbeddingsLike, LabelsLike, Pair, open_pair
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import lazy
from deadheat.support.progress import Progress

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from deadheat.engine.counting import checkpoint as checkpoints
    from deadheat.engine.counting import on_device
    from deadheat.engine.counting.cluster import Cluster
    from deadheat.engine.counting.distributed import running
else:
    checkpoints = lazy("deadheat.engine.counting.checkpoint")
    on_device = lazy("deadheat.engine.counting.on_device")
    running = lazy("deadheat.engine.counting.distributed.running")


@plain_floats
def profile(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    distance: DistanceName = "cosine",
    ties: TiesName | Ties = "exact",
    junk: ArrayLike | None = None,
    exclude: OwnRows | None = None,
    threads: int | None = None,
    progress: bool | Progress = False,
    checkpoint: str | os.PathLike[str] | None = None,
    device: Any = None,
    executor: Executor | Callable[[], Executor] | Cluster | None = None,
) -> TieProfile:
    """Count, for every query and every distance at which it has a relevant item, what is closer and what is tied.

    Relevant to a query is what has its label. Without a gallery it is leave one out: every row is a query against
    all the others, taken out by its index.

    Parameters
    ----------
    embeddings : (n_query, dim) array of floats, integers or bool
        Of NumPy, PyTorch, JAX or CuPy (bfloat16 too), or a frame or a column of lists of pandas, Polars, pyarrow or
        datasets. Or embeddings on disk, read in pieces where their format allows it: a memory-mapped array, the path of
        a file (``.npz``, ``.npy``, ``.csv``, ``.tsv``, ``.parquet``, ``.safetensors``, ``.h5``), a pattern such as
        ``"emb-*.npy"``, whose files are taken in natural order (emb-2 before emb-10; a report says so), or a list of
        these, one after another. A URL, such as ``"s3://bucket/emb-*.npy"``, is fetched once, through fsspec (extra
        `files`).
    labels : (n_query,) integers or strings, optional
        Or the path of a file (``.txt`` too, one a line), a pattern, or a list of paths. By default they are in the
        files of the embeddings. Labels of queries and gallery that all come from files are compared as text if some
        are text, so that 7 is "7"; arrays are compared as what they are.
    gallery : (n_gallery, dim) array, optional
        What queries are ranked against, in any form that `embeddings` can have. By default the queries themselves.
    gallery_labels : (n_gallery,) integers or strings, optional
        In any form that `labels` can have. By default they are in the files of the gallery.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming"}
        Or another name of one of them: "cos", "l2", "l1", "manhattan", "taxicab", "dot", "dot_product", "ip", "inner".
        Hamming takes bool, or uint8 with eight bits packed in each.
    ties : str, Rounded or Tolerance
        Which items tie. "exact": those at exactly the same distance. "float16", "bfloat16" or "float32" (or another
        name of one of them, such as "fp16" or "half"): those whose similarity or distance is the same once it is
        rounded to this type; `deadheat.Rounded` says which of the two. A `deadheat.Tolerance`, for bounds alone: those
        within it.
    junk : (n_gallery,) or (n_query, n_gallery) array of bool, optional
        Items that are neither ranked nor relevant: for every query, or pair by pair. By default there is none.
    exclude : (n_query,) integers, or a pair of ids, optional
        With a gallery that the queries are in: the row of it that each query is, counted from 0, and -1 for none; or
        ids of the queries and of the gallery, ``(query_ids, gallery_ids)``, where equal ids are one item. A query is
        not ranked against itself. Without it, queries with an equal row under their label are looked for, and a
        `deadheat.errors.QueryInGalleryWarning` says how many there are.
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use, and one in each worker of an
        executor.
    progress : bool or callable
        True for a bar on standard error, or a function that is called with (done, total).
    checkpoint : path, optional
        A directory that keeps what is finished. A run that was killed goes on from there when it is started again
        with the same data and options, and ends with the same profile. It takes up to twice as long as without. By
        default nothing is kept.
    device : str or torch.device, optional
        "cuda", "cuda:1" or "cpu": multiply and count there with PyTorch; what that leaves open is decided as always,
        so the profile is the same, under TF32 too. By default NumPy does it.
    executor : concurrent.futures.Executor or Cluster, optional
        Workers that count, in other processes or on other machines: any executor of PEP 3148, such as Dask's
        ``client.get_executor(pure=False, retries=2)``, or a function that makes one. The profile is the same.
        `deadheat.Cluster` has options: a directory that all workers see, how many tasks, retries.

    Returns
    -------
    TieProfile

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; the message names the argument, the rule and what came.
    ClusterError
        If workers of an executor died or failed too often.

    Examples
    --------
    Four points on a line; the first query has one relevant item, tied with an irrelevant one:

    >>> import deadheat as dh
    >>> profile = dh.profile([[0], [1], [-1], [5]], ["a", "a", "b", "b"], distance="euclidean")
    >>> profile[0].closer, profile[0].tied
    (array([0]), array([2]))
    """
    options = CountingOptions.checked(
        distance=distance, ties=ties, junk=junk, threads=threads, progress=progress, checkpoint=checkpoint,
        device=device, exclude=exclude, executor=executor,
    )  # fmt: skip
    pair = open_pair(embeddings, labels, gallery, gallery_labels)
    options = options.fitted(pair)
    queries_in_gallery(pair, options)
    return profile_pair(pair, options)


@plain_floats
def profile_pair(pair: Pair, options: CountingOptions) -> TieProfile:
    """The profile of queries and a gallery, or of leave one out, that are open, with options that fit them."""
    if options.cluster is not None:
        return running.profile_on(options.cluster, pair, options)
    if pair.gallery is None:
        return profile_of(options.open(pair.query.embeddings), pair.query.labels, None, options)
    opened = options.open(pair.query.embeddings, pair.gallery.embeddings)
    return profile_of(opened, pair.query.labels, pair.gallery.labels, options)


@plain_floats
def profile_of(
    distance: Distance, labels: NDArray[Any], gallery_labels: NDArray[Any] | None, options: CountingOptions
) -> TieProfile:
    """The profile of what has been checked: an open distance, labels of its queries and items, and options.

    Without labels of the gallery it is leave one out.

    Examples
    --------
    >>> import numpy as np
    >>> options = CountingOptions.checked(distance="euclidean")
    >>> profile_of(options.open([[0], [1], [-1]]), np.array([1, 1, 2]), None, options)[0].tied
    array([2])
    """
    candidates = options.candidates(distance.n_query, distance.n_gallery, leave_one_out=gallery_labels is None)
    relevance = Relevance(*input_labels.label_codes(labels, gallery_labels), candidates)
    task = distance, options.rule, relevance, options.checkpoint is not None
    counting_pass = (
        CountingPass(*task) if options.device is None else on_device.DeviceCountingPass(options.device, *task)
    )
    if options.checkpoint is None:
        return counting_pass.run(options.threads, options.progress)
    known = identity(distance.name, options.rule, relevance, distance.fingerprint)
    with checkpoints.Checkpoint(options.checkpoint, known) as kept:
        return counting_pass.run(options.threads, options.progress, kept)
