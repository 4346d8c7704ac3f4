"""Tasks: queries, gallery, relevance and the rule for ties. A task is opened, checked and warned about once.

embeddings, labels ──opened, checked──> Task ──counting pass, at the first question──> TieProfile
scores, a run, neighbors, ranks ──────────────────counted──────────────────────────────────┘
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.engine.count import count, opened_portions
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.own_gallery import queries_in_gallery
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.literals import DistanceName, ScoreTiesName, TiesName
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Ties
from deadheat.engine.ties.scores import ScoreTies
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import codes
from deadheat.inputs.conversion import card_of
from deadheat.inputs.files import Orders, paths_given
from deadheat.inputs.item_ids import OwnRows
from deadheat.inputs.label_sets import LabelSets, numbered
from deadheat.inputs.pair_rules import Rule, open_rules
from deadheat.inputs.samples import (
    EmbeddingsLike,
    LabelsLike,
    Pair,
    QueryLabels,
    Samples,
    labels_of_queries,
    open_pair,
    open_rows,
)
from deadheat.inputs.source import state_of_mask
from deadheat.support import checks
from deadheat.support.caching import cached_property
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import lazy
from deadheat.support.progress import Progress

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from deadheat.engine.counting import judged as judgements
    from deadheat.engine.counting import links, neighbors, runs, scored, unmatched
    from deadheat.engine.counting.judged import Junk
    from deadheat.engine.counting.portions import Portions
    from deadheat.engine.counting.runs import RunTables
    from deadheat.engine.profiles.portions import Portion
    from deadheat.inputs import trec
    from deadheat.inputs.trec import Documents, Path, Repeats, Table
else:
    judgements = lazy("deadheat.engine.counting.judged")
    links = lazy("deadheat.engine.counting.links")
    neighbors = lazy("deadheat.engine.counting.neighbors")
    runs = lazy("deadheat.engine.counting.runs")
    scored = lazy("deadheat.engine.counting.scored")
    trec = lazy("deadheat.inputs.trec")
    unmatched = lazy("deadheat.engine.counting.unmatched")

Order = Literal["descending", "ascending"]


class Task:
    """A retrieval task: queries, gallery, relevance and the rule for ties; the first argument of every analysis.

    Items with the label of a query are relevant to it. Without a gallery it is leave one out: every row is a query
    against all the others, excluded by its index. A task is opened and checked when it is made, and cannot change; its
    profile is counted when a function first needs it, and kept. Labels are copied. Rows are not: a task whose rows were
    changed before they were needed raises ValueError.

    Parameters
    ----------
    embeddings : (n_query, dim) array of floats, integers or bool
        Of NumPy, PyTorch, JAX or CuPy (bfloat16 too), a frame or a column of lists of pandas, Polars, pyarrow or
        datasets, or sparse, of SciPy or PyTorch, and made dense in pieces. Or embeddings on disk, read in pieces where
        their format allows it: a memory-mapped array, the path of a file (``.npz``, ``.npy``, ``.csv``, ``.tsv``,
        ``.parquet``, ``.safetensors``, ``.h5``), a pattern such as ``"emb-*.npy"``, whose files are taken in natural
        order (emb-2 before emb-10; a report says so), or a list of these, one after another. A URL, such as
        ``"s3://bucket/emb-*.npy"``, is fetched once, through fsspec (extra `files`).
    labels : (n_query,) integers or strings, optional
        Or the path of a file (``.txt`` too, one a line), a pattern, or a list of paths. Whole floats count as integers.
        By default they are in the files of the embeddings. Labels of queries and gallery that all come from files are
        compared as text if some are text, so that 7 is "7"; arrays are compared as what they are.
        Or **several labels a row**: a matrix of 0 and 1, (n_query, n_label), dense or of SciPy's sparse ones, or a list
        of sets of labels. A row without a label has nothing relevant, and is relevant to no query.
    gallery : (n_gallery, dim) array, optional
        The items that queries are ranked against, in any form that `embeddings` can have. By default the queries
        themselves.
    gallery_labels : (n_gallery,) integers or strings, optional
        In any form that `labels` can have. By default they are in the files of the gallery.
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming", "correlation"}
        Or another name of one of them: "cos", "l2", "l1", "manhattan", "taxicab", "dot", "dot_product", "ip", "inner".
        Hamming takes codes: -1 and 1, or 0 and 1, of any type, or bool; uint8 always has eight bits packed in each. A
        padded last byte needs no option, since bits that are equal in all codes change no distance. Correlation
        is the cosine of rows less their means, for rows that float64 centres exactly: integers, and mostly float32.
    ties : {"exact", "float16", "bfloat16", "float32"}, Rounded or Tolerance
        The rule for ties. "exact": items tie at exactly the same distance. "float16", "bfloat16" or "float32" (or
        another name of one of them, such as "fp16" or "half"): items tie if their similarities or distances are equal
        once rounded to this type; `deadheat.Rounded` says which of the two. A `deadheat.Tolerance`, for bounds alone:
        items tie within it.
    junk : (n_gallery,) or (n_query, n_gallery) array of bool, optional
        Items that are neither ranked nor relevant: for every query, or pair by pair. By default there is none.
    exclude : (n_query,) integers, or a pair of ids, optional
        With a gallery that the queries are in: the row of it that each query is, counted from 0, and -1 for none; or
        ids of the queries and of the gallery, ``(query_ids, gallery_ids)``, where equal ids are one item. A query is
        not ranked against itself. Without it, queries with an equal row under their label are looked for, and a
        `deadheat.errors.QueryInGalleryWarning` says how many there are.
    threads : int, optional
        Worker threads of every question. By default as many as this process may use, and one in each worker of an
        executor.
    progress : bool or callable
        True for a bar on standard error, or a function that is called with (done, total).
    checkpoint : path, optional
        A directory that keeps what is finished. A run that was killed goes on from there when it is started again
        with the same data and options, and ends with the same profile. It takes up to twice as long as without. By
        default nothing is kept.
    device : str or torch.device, optional
        "cuda" or "cuda:1": multiply and count on that card with PyTorch; what that leaves open is decided as always,
        so the profile is the same. By default it is the card that holds the embeddings, if they are a tensor there;
        "cpu" counts on the processor.
    executor : concurrent.futures.Executor, optional
        Workers that count, in other processes or on other machines: any executor of PEP 3148, such as Dask's
        ``client.get_executor(pure=False, retries=2)``. The profile is the same. `portion` is for schedulers that have
        no executor.
    relevance : {"any", "same", "count"}, optional
        Of several labels a row, the relevant items: those that share at least one label with the query (the default),
        those with the same set of labels, or graded by the number of labels that they share.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; the message names the argument, the rule and what came.
    ClusterError
        If a worker of an executor died or failed, and the executor did not repeat its work; when the profile is
        counted.

    Examples
    --------
    Four points on a line; the first query has one relevant item, tied with an irrelevant one:

    >>> task = Task([[0], [1], [-1], [5]], ["a", "a", "b", "b"], distance="euclidean")
    >>> task
    Task(4 × 1 float64, 2 classes, leave one out, euclidean, ties exact)
    >>> task.profile[0].closer, task.profile[0].tied
    (array([0]), array([2]))
    """

    _opened: Pair | None  # as given: equal sets of labels become classes in `_pair`
    _pair: Pair | None
    _options: CountingOptions | None
    _settings: Mapping[str, Any]  # as they were given
    n_in_gallery: int  # queries that were found in the gallery and warned of
    run: RunTables | None  # of `from_run`
    tie_rule: str | None  # in words
    knows_gallery: bool  # relevant items that are in no group of the profile are not in the gallery
    remarks: tuple[str, ...]  # sentences about how the data were read, for reports
    _labels: NDArray[Any] | None
    _threads: int
    _source: str  # in words, for messages
    _states: Mapping[str, Hashable]  # of the arguments that are not copied, when the task was made

    @plain_floats
    def __init__(
        self,
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
        executor: Executor | None = None,
        relevance: Literal["any", "same", "count"] | None = None,
    ) -> None:
        if device is None and executor is None:
            device = card_of(embeddings)
        settings: dict[str, Any] = {
            "distance": distance, "ties": ties, "junk": junk, "exclude": exclude, "threads": threads,
            "progress": progress, "checkpoint": checkpoint, "device": device, "executor": executor,
            "relevance": relevance,
        }  # fmt: skip
        options = CountingOptions.checked(**settings)  # before files are opened
        pair = open_pair(embeddings, labels, gallery, gallery_labels)
        paths = [str(path) for given in (embeddings, gallery) for path in paths_given(given)]
        self._open(pair, options, settings, " and ".join(paths))

    @classmethod
    @plain_floats
    def of_pair(cls, pair: Pair, *, files: str = "", remedy: str | None = None, **settings: Any) -> Task:
        """Return the task of queries and gallery that are open; `settings` are those of `Task`."""
        task = cls.__new__(cls)
        task._open(pair, CountingOptions.checked(**settings), settings, files, remedy=remedy)
        return task

    def _open(
        self, pair: Pair, options: CountingOptions, settings: Mapping[str, Any], files: str,
        n_in_gallery: int | None = None, remedy: str | None = None, watched: bool = True,
    ) -> None:  # fmt: skip
        opened, pair = pair, _settled(pair, options)
        query, items = pair.query, pair.gallery and pair.gallery.embeddings
        distance_registry.check(options.distance, query.embeddings, items)
        options.rule.check(distance_registry.find(options.distance))
        fitted = options.fitted(pair)
        if n_in_gallery is None:
            n_in_gallery = queries_in_gallery(pair, fitted, remedy)
        kept = {**settings, "junk": fitted.junk, "exclude": fitted.exclude}  # which the caller cannot change
        vars(self).update(
            _opened=opened, _pair=pair, _options=fitted, _settings=kept, n_in_gallery=n_in_gallery, run=None,
            _states=_states_of(pair, fitted.junk) if watched else {},
            tie_rule=fitted.rule.describe(fitted.distance),
            _labels=None if isinstance(query.labels, LabelSets) else query.labels, _threads=options.threads,
            _source=files, knows_gallery=True,
            remarks=(*pair.remarks, *codes.remarks(fitted.distance, query.embeddings, items)),
        )  # fmt: skip

    @classmethod
    @plain_floats
    def from_metadata(
        cls, embeddings: EmbeddingsLike, metadata: Any, *, positives: Rule, negatives: Rule,
        distance: DistanceName = "cosine", ties: TiesName | Ties = "exact", threads: int | None = None,
        progress: bool | Progress = False,
    ) -> Task:  # fmt: skip
        """Make a task of rows whose positive and negative pairs are given by rules on columns of metadata.

        A pair is positive, or negative, if it is equal in all columns under ``"same"`` and unequal in all under
        ``"different"``. Every other pair is junk. It is leave one out.

        Parameters
        ----------
        embeddings : (n, dim) array, or in another form that `Task` takes
        metadata : data frame or dict
            Columns of integers or strings, (n,), none of them missing in the columns of the rules.
        positives, negatives : dict
            Names of columns under "same", "different" or both, one or a list. A column that positives have under "same"
            is one that negatives have under "different". The columns under "same" of positives are the labels.
        distance, ties, threads, progress
            As in `Task`.

        Notes
        -----
        The profile is that of a mask of junk, of which a part is written at a time. A checkpoint, a device, an executor
        and questions other than measures need all of it in memory.

        Examples
        --------
        A control that ties with the replicate on the other plate; the one on the same plate is no positive:

        >>> metadata = {"compound": ["a", "a", "a", "DMSO"], "plate": [1, 1, 2, 2]}
        >>> task = Task.from_metadata(
        ...     [[1, 0], [1, 0], [0, 1], [0, 1]], metadata,
        ...     positives={"same": "compound", "different": "plate"}, negatives={"different": "compound"},
        ... )
        >>> task.profile.n_relevant, task.profile[0].tied
        (array([1, 1, 2, 0]), array([2]))
        """
        rows = open_rows(embeddings, "embeddings")
        labels, junk = open_rules(metadata, len(rows), positives, negatives)
        settings: Any = {"distance": distance, "ties": ties, "threads": threads, "progress": progress}
        return cls.of_pair(Pair(Samples(rows, labels), None), junk=junk, **settings)

    # -----------------------------------------------------------------------------------------------------------------
    # from what somebody else has ranked

    @classmethod
    @plain_floats
    def from_profile(
        cls, profile: TieProfile, labels: QueryLabels | None = None, *, threads: int | None = None
    ) -> Task:
        """Make a task of a profile that has been counted, such as one from a file.

        Parameters
        ----------
        profile : TieProfile
        labels : (n_query,) or dict, optional
            The labels of the queries, in their order or by `query_ids` of the profile, for means over classes. Their
            classes are then the independent units of `Report.interval` and `deadheat.compare`: a profile does not say
            whether there was a separate gallery.
        threads : int, optional
            Worker threads of every question. By default as many as this process may use.

        Examples
        --------
        Two items at one distance, one of them relevant:

        >>> from deadheat import evaluate, Task
        >>> task = Task.from_profile(TieProfile.from_groups([[(0, 0, 2, 1)]], n_ranked=[2]))
        >>> print(evaluate(task, "mAP")["AP"].summary())
        mAP 75.00 [50.00, 100.00] %
        """
        if not isinstance(profile, TieProfile):
            raise InvalidTypeError("profile", f"must be a TieProfile, but is {type(profile).__name__}")
        return cls._counted(profile, "a profile", labels, threads)

    @classmethod
    def _counted(
        cls, profile: TieProfile, source: str, labels: QueryLabels | None = None, threads: int | None = None,
        run: RunTables | None = None, ties: ScoreTiesName | Ties = "exact", knows_gallery: bool = False,
        remarks: Iterable[str] = (),
    ) -> Task:  # fmt: skip
        task = cls.__new__(cls)
        if labels is not None:
            labels = labels_of_queries(labels, profile.n_query, profile.query_ids)
        vars(task).update(
            _opened=None, _pair=None, _options=None, _settings={}, _states={}, n_in_gallery=0, run=run, _labels=labels,
            _threads=checks.thread_count(threads), _source=source, profile=profile,
            tie_rule=ScoreTies.checked(ties).describe(), knows_gallery=knows_gallery, remarks=tuple(remarks),
        )  # fmt: skip
        return task

    @classmethod
    @plain_floats
    def from_scores(
        cls,
        scores: ArrayLike,
        relevant: Any,
        *,
        order: Literal["descending", "ascending"] = "descending",
        junk: ArrayLike | None = None,
        ties: ScoreTiesName | Ties = "exact",
        threads: int | None = None,
    ) -> Task:
        """Make a task of a matrix of scores and a matrix of relevance.

        Parameters
        ----------
        scores : (n_query, n_gallery) array of floats, integers or bool
            Up to 64 bits, in any byte and memory order. Finite, of either sign; anything under `junk`.
        relevant : (n_query, n_gallery) array or SciPy sparse matrix, bool, integers or floats
            The relevance of each item, whatever its score; numbers are gains, such as 2 or 0.25: 0 is irrelevant.
        order : {"descending", "ascending"}
            Whether the best score is the highest, or, as for distances, the lowest.
        junk : (n_gallery,) or (n_query, n_gallery) array of bool, optional
            Items that are neither ranked nor relevant: for every query, or pair by pair. By default there is none.
        ties : {"exact", "float16", "bfloat16", "float32", "float64"}, Rounded or Tolerance
            "exact": items tie if their scores are the same number. Otherwise each score is rounded to this type first,
            once, to nearest, or items tie within a `deadheat.Tolerance`, for bounds alone, in the unit of the scores.
        threads : int, optional
            Worker threads of every question. By default as many as this process may use.

        Returns
        -------
        Task
            With `tied_by_grade` and `relevant_by_grade` if a grade other than 1 is given to an item that is not junk.

        Raises
        ------
        TypeError, ValueError
            If an argument breaks its rule; the message names the argument, the rule and what came.

        Notes
        -----
        Ties: items tie when their scores are the same number, compared in the type they came in: int64 and uint64 never
        go through floats, and -0.0 ties with 0.0.

        Undefined: a query without a relevant item is a singleton, `n_relevant` 0, with no tie group.

        Examples
        --------
        One item in front, then two tied of which both are relevant: every order of the tie gives the same, AP = 7/12.

        >>> profile = Task.from_scores([[2, 1, 1]], [[0, 1, 1]]).profile
        >>> profile.closer, profile.tied, profile.tied_relevant
        (array([1]), array([2]), array([2]))
        >>> from deadheat.measures import per_query
        >>> print(*(f"{value[0]:.4f}" for value in per_query(profile, "AP")))
        0.5833 0.5833 0.5833
        """
        profile = scored.profile_scores(scores, relevant, order=order, junk=junk, ties=ties, threads=threads)
        return cls._counted(profile, "scores", threads=threads, ties=ties)

    @classmethod
    @plain_floats
    def from_neighbors(
        cls,
        ids: Any,
        scores: Any = None,
        labels: LabelsLike | None = None,
        gallery_labels: LabelsLike | None = None,
        *,
        relevant: Sequence[Collection[Any] | Mapping[Any, int]] | None = None,
        n_gallery: int | None = None,
        gallery_ids: ArrayLike | None = None,
        order: Literal["descending", "ascending"] = "descending",
        counts: ArrayLike | None = None,
        exclude: Any = None,
        cut_ties: bool = True,
        embeddings: EmbeddingsLike | None = None,
        gallery: EmbeddingsLike | None = None,
        distance: DistanceName = "cosine",
        query_ids: Sequence[str] | None = None,
    ) -> Task:
        """Make a task of the neighbours that a vector index returned; all other items are in unknown order.

        Parameters
        ----------
        ids : (n_query, k) integers, or a list of rows of integers or strings
            The items returned: rows of the gallery, or ids that `gallery_ids` lists. The integer -1, with which faiss
            fills short rows, is nothing. No item comes twice in a row.
        scores : (n_query, k) array, or a list of rows
            The scores, or distances, of these items, best first in every row; anything where the id is -1. By
            default `embeddings` and `gallery` must be given.
        labels : (n_query,) integers or strings, optional
            Items with the label of a query are relevant to it. An array, a path, a pattern, or a list of paths; or
            several labels a row, of which an item must share one.
        gallery_labels : (n_gallery,) integers or strings, optional
            In any form that `labels` can have.
        relevant : sequence of collections, optional
            In place of labels: for each query the ids that are relevant, or a dictionary from ids to grades, of which 0
            and less are irrelevant. It needs `n_gallery` or `gallery_ids`.
        n_gallery : int, optional
            The number of items in the gallery. By default as many as `gallery_labels`, `gallery_ids` or `gallery` has.
        gallery_ids : (n_gallery,) integers or strings, optional
            The id of each item. By default ids are rows of the gallery, or, with `relevant`, anything. An id in
            `relevant` that is not among them counts in `n_relevant` and is never found, as in a TREC run.
        order : {"descending", "ascending"}
            Whether the best score is the highest, or, as for distances, the lowest.
        counts : (n_query,) integers, optional
            The number of entries of each row that count, as usearch returns it. By default all but -1.
        exclude : (n_query,) ids, optional
            The id of each query itself, where it is in the gallery; -1, or None in a list, for none. It is not ranked.
            Ask the index for one neighbour more.
        cut_ties : bool
            Whether an item that was not returned may have the score of the last one that was, as in any k nearest.
            False where none does: after a range search, or where scores are known to differ.
        embeddings : (n_query, dim) array of floats, integers or bool, optional
            The queries themselves, in place of `scores`: returned items are then ranked by their exact distances, not
            by scores that the index rounded, and tie if these are equal. Of NumPy, PyTorch, JAX or CuPy, a frame, the
            path of a file, a pattern, or a list of paths.
        gallery : (n_gallery, dim) array, optional
            The items themselves, in any form that `embeddings` can have.
        distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming", "correlation"}
            Of embeddings and gallery, as in `Task`.
        query_ids : sequence of str, optional
            Names of the queries, for the profile.

        Returns
        -------
        Task
            With `n_ordered`, unless everything was returned.

        Raises
        ------
        TypeError, ValueError
            If an argument breaks its rule; the message names the argument, the rule and what came.

        Notes
        -----
        Ties: items tie when their scores are the same number. Items that were not returned are one group after all
        others; it includes, under `cut_ties`, those with the score of the last one returned. Lower and upper hold for
        every complete ranking that begins as the index does: to know P@10 and Hit@10, ask for 11 neighbours, so that
        the tenth is not the last. Expected is the mean over the ties among the returned items. **Undefined:** expected
        is NaN for a query whose value depends on items that were not returned, and so is then the mean.

        An approximate index may miss an item that is closer than one it returned. Here the ranking is that of the
        index; `deadheat.index_recall` measures what it misses.

        Examples
        --------
        Two of five items were returned, a relevant and an irrelevant one, and another relevant item was not. It may be
        anywhere from rank 2, as it may tie with the last one returned, to rank 5:

        >>> profile = Task.from_neighbors([[3, 1]], [[0.9, 0.5]], relevant=[{3, 4}], n_gallery=5).profile
        >>> profile.closer, profile.tied, profile.n_ordered
        (array([0, 1]), array([1, 4]), array([1]))
        >>> from deadheat.measures import per_query
        >>> print(*(f"{value[0]:.2f}" for value in per_query(profile, "AP")))
        0.70 nan 1.00
        >>> print(*(f"{value[0]:.2f}" for value in per_query(profile, "P@1")))
        1.00 1.00 1.00
        """
        profile, known, remarks = neighbors.profile_neighbors(
            ids, scores, labels, gallery_labels, relevant=relevant, n_gallery=n_gallery, gallery_ids=gallery_ids,
            order=order, counts=counts, exclude=exclude, cut_ties=cut_ties, embeddings=embeddings, gallery=gallery,
            distance=distance, query_ids=query_ids,
        )  # fmt: skip
        return cls._counted(profile, "neighbors", known, knows_gallery=True, remarks=remarks)

    @classmethod
    @plain_floats
    def from_judged(
        cls,
        queries: EmbeddingsLike,
        gallery: EmbeddingsLike,
        qrels: Path | Table,
        query_ids: Iterable[str | int],
        gallery_ids: Iterable[str | int],
        *,
        junk: Junk | None = None,
        exclude: OwnRows | None = None,
        distance: DistanceName = "cosine",
        ties: TiesName | Ties = "exact",
        threads: int | None = None,
        progress: bool | Progress = False,
        executor: Executor | None = None,
    ) -> Task:
        """Make a task of embeddings whose relevance was judged, query by query and perhaps in grades.

        The qrels give the relevant documents, with grades if they have any.

        Parameters
        ----------
        queries : (n_query, dim) array of floats, integers or bool
            Embeddings of the queries: of NumPy, PyTorch, JAX or CuPy, a frame, the path of a file, a pattern such as
            ``"emb-*.npy"``, or a list of paths.
        gallery : (n_gallery, dim) array
            Embeddings of the documents, in any form that `queries` can have.
        qrels : path, dict, data frame or iterable of named tuples
            Lines ``qid iter docid rel``, or ``{query_id: {doc_id: grade}}``, or rows with ``query_id``, ``doc_id`` and
            ``relevance``; also a ranx ``Qrels``. Grades are as in `from_run`: 0 and less, and documents not listed,
            are irrelevant. Queries that have no embedding do not count.
        query_ids : (n_query,) strings or integers
            The id of each query in the qrels; each once. An integer is its decimal text.
        gallery_ids : (n_gallery,) strings or integers
            The id of each document in the qrels; each once.
        junk : dict or array of bool, optional
            Documents that are neither ranked nor relevant, whatever the qrels say: for every query, (n_gallery,), or
            pair by pair, (n_query, n_gallery), or ``{query_id: [doc_id, ...]}``, which becomes such a mask. By default
            there is none.
        exclude : (n_query,) integers, or a pair of ids, optional
            As in `Task`: a document for each query that is neither ranked nor relevant, which queries may share.
            ``(query_ids, gallery_ids)`` leaves out the document with the id of the query; ``(reference_ids,
            gallery_ids)`` the reference image of each composed query.
        distance, ties, threads, progress, executor
            As in `Task`.

        Returns
        -------
        Task
            Of all queries in their order; `query_ids` names them. A relevant document that is not in the gallery counts
            in `n_relevant` and in no group; the report says how many there are, and the ceiling that they set on each
            measure. Graded if a grade other than 1 occurs.

        Raises
        ------
        TypeError, ValueError
            If an argument breaks its rule; if ids come twice; if the qrels have none of the queries, or `junk` none of
            the documents; for grades together with a tolerance.
        ClusterError
            If a worker of an executor died or failed, and the executor did not repeat its work.

        Notes
        -----
        Ties: documents tie when their distances to the query are equal as real numbers, unless `ties` says otherwise.
        Undefined: a query without a relevant document is a singleton.

        Examples
        --------
        Documents a and b are equally far from the query, and b is relevant:

        >>> task = Task.from_judged([[0]], [[1], [-1]], {"q": {"b": 1}}, ["q"], ["a", "b"], distance="euclidean")
        >>> task.profile.closer, task.profile.tied, task.profile.n_relevant
        (array([0]), array([2]), array([1]))
        """
        profile, remarks = judgements.profile_judged(
            queries, gallery, qrels, query_ids, gallery_ids, junk=junk, exclude=exclude, distance=distance,
            ties=ties, threads=threads, progress=progress, executor=executor,
        )  # fmt: skip
        return cls._counted(profile, "judged embeddings", threads=threads, knows_gallery=True, remarks=remarks)

    @classmethod
    @plain_floats
    def from_ranks(cls, optimistic: ArrayLike, pessimistic: ArrayLike, n_candidates: ArrayLike) -> Task:
        """Make a task of queries with one positive each, from its first and its last possible rank.

        Parameters
        ----------
        optimistic : (n_query,) integers
            The rank of the positive, from 1 on, in front of all candidates with its score.
        pessimistic : (n_query,) integers
            Its rank behind all candidates with its score.
        n_candidates : int or (n_query,) integers
            The number of ranked candidates, with the positive and without other known positives.

        Returns
        -------
        Task
            One group a query, with one relevant item.

        Raises
        ------
        TypeError, ValueError
            If an argument is not as described, or not ``1 <= optimistic <= pessimistic <= n_candidates``.

        Notes
        -----
        Ties: all ranks from `optimistic` to `pessimistic` are equally likely. Their mean, the "realistic" rank, does
        not suffice: the mean of 1/rank is not one over the mean rank.

        Examples
        --------
        A scorer that gives the same score to all of 1,000 candidates:

        >>> from deadheat import link_prediction, Task
        >>> found = link_prediction(Task.from_ranks([1], [1000], 1000), ["MRR", "Hits@10"])
        >>> print(f"{found['MRR'].expected:.4f} {found['Hits@10'].expected:.3f}")
        0.0075 0.010
        """
        profile = links.profile_ranks(optimistic, pessimistic, n_candidates)
        return cls._counted(profile, "ranks")

    @classmethod
    @plain_floats
    def from_links(
        cls,
        positives: ArrayLike,
        negatives: ArrayLike,
        *,
        order: Order = "descending",
        junk: ArrayLike | None = None,
        ties: ScoreTiesName | Ties = "exact",
        threads: int | None = None,
    ) -> Task:
        """Make a task of positives, each ranked among its negatives, or all among the same negatives.

        Parameters
        ----------
        positives : (n_query,) or (n_query, 1) array of floats or integers
            The scores of the positives.
        negatives : (n_query, n_negative) or (n_negative,) array of floats or integers
            The scores of the negatives of each query, or of the negatives that all queries share.
        order : {"descending", "ascending"}
            Whether the best score is the highest, or, as for distances, the lowest.
        junk : (n_negative,) or (n_query, n_negative) array of bool, optional
            Other known positives, in the filtered setting: they are not ranked, and their scores may be NaN or
            infinite.
        ties : {"exact", "float16", "bfloat16", "float32", "float64"}, Rounded or Tolerance
            As in `from_scores`.
        threads : int, optional
            Worker threads of every question. By default as many as this process may use.

        Returns
        -------
        Task
            One group a query, with one relevant item.

        Raises
        ------
        TypeError, ValueError
            If an argument breaks its rule; the message names the argument, the rule and what came.

        Notes
        -----
        Ties: scores tie when they are the same number; two types are compared in one that holds both.

        Examples
        --------
        The positive ties with one of three negatives, behind another, which is a known positive:

        >>> profile = Task.from_links([0.5], [[0.9, 0.5, 0.1]]).profile
        >>> profile.closer, profile.tied, profile.n_ranked
        (array([1]), array([2]), array([4]))
        >>> filtered = Task.from_links([0.5], [[0.9, 0.5, 0.1]], junk=[[True, False, False]]).profile
        >>> filtered.closer, filtered.tied, filtered.n_ranked
        (array([0]), array([2]), array([3]))
        """
        profile = links.profile_links(positives, negatives, order=order, junk=junk, ties=ties, threads=threads)
        remarks = links.about_negatives(negatives, profile.n_query)
        return cls._counted(profile, "links", threads=threads, ties=ties, remarks=remarks)

    @classmethod
    @plain_floats
    def from_candidates(
        cls,
        scores: ArrayLike,
        positives: ArrayLike,
        *,
        order: Order = "descending",
        junk: ArrayLike | None = None,
        ties: ScoreTiesName | Ties = "exact",
        threads: int | None = None,
    ) -> Task:
        """Make a task of rows of candidates, of which one, the positive, is ranked among the others.

        Parameters
        ----------
        scores : (n_query, n_candidate) array of floats or integers
            The scores of all candidates, such as those of every entity as the tail of a triple.
        positives : (n_query,) array of integers
            The column of the positive in each row. It is ranked also where it is among the junk.
        order : {"descending", "ascending"}
            Whether the best score is the highest, or, as for distances, the lowest.
        junk : (n_candidate,) or (n_query, n_candidate) array of bool, optional
            Other known positives, in the filtered setting: they are not ranked, and their scores may be NaN or
            infinite.
        ties : {"exact", "float16", "bfloat16", "float32", "float64"}, Rounded or Tolerance
            As in `from_scores`.
        threads : int, optional
            Worker threads of every question. By default as many as this process may use.

        Returns
        -------
        Task
            One group a query, with one relevant item.

        Raises
        ------
        TypeError, ValueError
            If an argument breaks its rule; the message names the argument, the rule and what came.

        Notes
        -----
        Ties: scores tie when they are the same number.

        Examples
        --------
        >>> profile = Task.from_candidates([[0.9, 0.5, 0.5, 0.1]], [2], junk=[[True, False, True, False]]).profile
        >>> profile.closer, profile.tied, profile.n_ranked
        (array([0]), array([2]), array([3]))
        """
        profile = links.profile_candidates(scores, positives, order=order, junk=junk, ties=ties, threads=threads)
        return cls._counted(profile, "candidates", threads=threads, ties=ties)

    @classmethod
    @plain_floats
    def from_run(
        cls,
        run: Path | Table,
        qrels: Path | Table,
        *,
        rel: float | None = None,
        judged_only: bool = False,
        complete: bool = True,
        ties: ScoreTiesName | Ties = "exact",
        max_docs: int | None = None,
        repeats: Repeats | None = None,
        documents: Documents | None = None,
        labels: QueryLabels | None = None,
        threads: int | None = None,
    ) -> Task:
        """Make a task of a TREC run and its qrels.

        Parameters
        ----------
        run : path, dict, data frame or iterable of named tuples
            Lines ``qid Q0 docid rank score tag``, or ``{query_id: {doc_id: score}}``, or rows with ``query_id``,
            ``doc_id`` and ``score``, or with other names that the field has for them; also a ranx ``Run``. A file is
            known by its beginning: TREC, MS MARCO, JSON, JSON lines, Parquet, or names in the first line. Scores
            decide, highest first; a rank is read only where there is no score. Integer ids are their decimal text.
        qrels : path, dict, data frame or iterable of named tuples
            Lines ``qid iter docid rel``, or any other form of a run, with ``relevance``; also a ranx ``Qrels``. Grades
            are numbers such as 2 or 0.25; 0, integers below, and documents that are not listed, are irrelevant. Queries
            that the qrels do not have are left out, and a report says how many.
        rel : int or float, optional
            The least gain that is relevant (trec_eval's ``-l``), for measures that do not give their own; by default
            every gain above 0. The gains of nDCG are the grades, whatever `rel` is, as in trec_eval.
        judged_only : bool
            Whether documents without a judgement are taken out of the run (trec_eval's ``-J``). A grade below 0 is no
            judgement, as there.
        complete : bool
            Whether queries of the qrels that are not in the run count, as 0 (trec_eval's ``-c``).
        ties : {"exact", "float16", "bfloat16", "float32", "float64"}, Rounded or Tolerance
            As in `from_scores`: "float32" compares scores as pytrec_eval and trec_eval 9 do, "float64" as trec_eval 10
            does. By default a score in a file is the float64 nearest to its text, and floats and integers of any size
            in a dictionary are used unchanged.
        max_docs : int, optional
            The number of documents of each query that count, those with the highest scores (trec_eval's ``-M``). If
            documents that tie at the cut have different judgements, it is not decided which of them count, and
            ValueError is raised; a measure with a cutoff, such as ``mAP@1000``, has bounds there.
        repeats : {"max", "first"}, optional
            What a document is that the run lists several times, such as once for each of its chunks: its best entry,
            which has the highest score ("max") and comes first in the ranking ("first", the same), however the run is
            sorted. By default a document with two scores is refused.
        documents : dict or path, optional
            The document of each chunk, where the run has ids of chunks and the qrels have those of documents:
            ``{chunk_id: doc_id}``, or a file with both in each line.
        labels : dict or (n_query,), optional
            The label of each query, such as its type, by its id, ``{query_id: label}``, or in the order of the qrels,
            for means over classes. The classes are then the independent units of `Report.interval` and
            `deadheat.compare`.
        threads : int, optional
            Worker threads of every question. By default as many as this process may use.

        Returns
        -------
        Task
            Of the queries of the qrels in their order; `query_ids` of its profile names them. A relevant document that
            was not retrieved counts in `n_relevant` and in no group. The profile has all grades.

        Raises
        ------
        OSError
            If a file cannot be read.
        ValueError
            If a file breaks its form (the message names file and line), a score is not finite, a document is listed
            twice for a query, or run and qrels have no query in common.
        TypeError
            If a dictionary or a table holds something other than the above.

        Notes
        -----
        Files are text in UTF-8, fields separated by blanks or tabs, blank lines and lines that begin with # skipped;
        gzip is recognised.

        Ties: documents tie when their scores are the same number. As float32, 0.5 and 0.500000001 are. trec_eval and
        pytrec_eval rank tied documents by their id, descending; here a tie is a tie, and their value is between the
        bounds. For the mean that trec_eval prints, take ``complete=False`` and ``evaluate(task, singletons="zero")``
        and, where scores are read as float32 (pytrec_eval, trec_eval 9), ``ties="float32"``.

        bpref is over the judged documents alone, whatever `judged_only` is.

        Undefined: a query without a relevant document, or without judgements, is a singleton.

        Examples
        --------
        Document b is relevant and tied with c. Of q2 the run has nothing:

        >>> from deadheat import evaluate, Task
        >>> run = {"q1": {"a": 0.9, "b": 0.5, "c": 0.5}}
        >>> qrels = {"q1": {"b": 2, "a": 1}, "q2": {"a": 1}}
        >>> print(evaluate(Task.from_run(run, qrels), "AP AP(rel=2) nDCG@10"))
        measure (%)  lower  expected  upper
        mAP          41.67     45.83  50.00
        mAP(rel=2)   33.33     41.67  50.00
        nDCG@10      38.01     40.50  42.99
        <BLANKLINE>
        2 queries, each with a relevant item.
        mAP(rel=2) is undefined for 1 query with a relevant item, left out of its mean.
        Ties between relevant and irrelevant items: 1 group in 1 query, of 2 items.
        1 of 2 queries of the qrels is not in the run: nothing is retrieved for it.
        """
        options = runs.RunOptions.checked(rel, judged_only, complete, ties, max_docs)
        tables = runs.RunTables.of(*runs.open_both(run, qrels, repeats=repeats, documents=documents), options)
        remarks = unmatched.of_run(tables)
        return cls._counted(tables.profile(), "a run", labels, threads, run=tables, ties=ties, remarks=remarks)

    @classmethod
    @plain_floats
    def from_lists(
        cls, ranked_ids: Any, relevant_ids: Any, *, repeats: Repeats | None = None,
        labels: QueryLabels | None = None, threads: int | None = None,
    ) -> Task:  # fmt: skip
        """Make a task of ranked lists of ids without scores, such as those of an agent's memory.

        Parameters
        ----------
        ranked_ids : (n_query,) lists of ids, or a dict of such by query id
            What was found for each query, best first: strings or integers, as many as there are. A set of ids is a tied
            group, and so is a list or tuple among ids; a ranking of pairs alone is refused, as they may be hits, such
            as (id, text). The integer -1, with which faiss fills short rows, is nothing.
        relevant_ids : (n_query,) collections of ids, or dicts of id to grade; or a dict of such by query id
            What is relevant to each query.
        repeats : {"max", "first"}, optional
            A document that a list has several times is ranked where it comes first; "max" is another word for it. By
            default it is refused.
        labels : dict or (n_query,), optional
            As in `from_run`.
        threads : int, optional
            Worker threads of every question. By default as many as this process may use.

        Returns
        -------
        Task
            Of the queries of `relevant_ids`. A relevant document that was not found counts in `n_relevant` and in no
            group.

        Raises
        ------
        TypeError, ValueError
            If an argument breaks its rule; the message names the argument, the rule and what came.

        Notes
        -----
        Ties: places count, so that nothing ties but the ids of a group. Integer ids are their decimal text.

        Undefined: a query without a relevant document is a singleton.

        Examples
        --------
        Two memories for the first query, of which one is relevant; one for the second, at rank 2 or 3:

        >>> task = Task.from_lists([["m1", "m2"], ["m3", {"m4", "m5"}]], [["m1", "m9"], ["m4"]])
        >>> task.profile.closer, task.profile.tied, task.profile.n_relevant
        (array([0, 1]), array([1, 2]), array([2, 1]))
        """
        opened = runs.in_common(*trec.open_lists(ranked_ids, relevant_ids, repeats=repeats))
        tables = runs.RunTables.of(*opened, runs.RunOptions())
        remarks = unmatched.of_run(tables, ("ranked_ids", "relevant_ids"), unmatched.SPELLING)
        return cls._counted(tables.profile(), "lists", labels, threads, run=tables, remarks=remarks)

    # -----------------------------------------------------------------------------------------------------------------

    @plain_floats
    def replace(self, **settings: Any) -> Task:
        """Return a task on the same data with other settings: ``task.replace(distance="euclidean")``.

        Settings are those of `Task` behind its four arguments; those that are not named stay. The data are not opened
        again, and queries in the gallery are looked for again only under another `junk` or `exclude`.
        """
        opened = self._opened or self._refuse("other settings")
        self._require_unchanged()
        require_known(settings, "replace")
        every = {**self._settings, **settings}
        known = None if {"junk", "exclude"} & settings.keys() else self.n_in_gallery
        task = type(self).__new__(type(self))
        task._open(opened, CountingOptions.checked(**every), every, self._source, known)
        return task

    @plain_floats
    def with_rows(self, pair: Pair, exclude: Any = None, **changed: Any) -> Task:
        """Return the task of other rows with these labels; queries in the gallery are those of this one."""
        settings = {**self._settings, "checkpoint": None, **changed, "exclude": exclude}
        if not isinstance(pair.query.labels, LabelSets):
            settings["relevance"] = None  # which has become one label a row
        task = type(self).__new__(type(self))
        n_in_gallery = 0 if exclude is not None else self.n_in_gallery
        task._open(pair, CountingOptions.checked(**settings), settings, "", n_in_gallery, watched=False)
        return task

    @cached_property
    def profile(self) -> TieProfile:
        """The counts that every measure is computed from; counted once."""
        return count(self.pair, self.options)

    @plain_floats
    def portion(self, number: int, n: int) -> Portion:
        """Count portion `number` of `n` of the profile, counted from 0, for any scheduler of your own.

        Portions are counted in any order, in any process that makes a task of the same data and settings, and are about
        equally much work. `TieProfile.from_portions` adds them. They are pickled to travel. For executors of PEP 3148,
        the setting `executor` does all of this; it is ignored here, and so is `checkpoint`.

        Raises
        ------
        TypeError, ValueError
            If an argument breaks its rule, or a row has several labels.

        Notes
        -----
        **Ties, undefined:** a portion has no measures of its own. The sum has the digest of `profile`.

        What was opened for a portion is kept for the next one, about 60 bytes for each gallery item.

        Examples
        --------
        >>> task = Task([[0], [1], [-1], [5]], ["a", "a", "b", "b"], distance="euclidean")
        >>> portions = [task.portion(number, 3) for number in range(3)]
        >>> TieProfile.from_portions(portions) == task.profile
        True
        """
        n = checks.positive_integer(n, "n")
        number = checks.whole_number(number, "number", most=n - 1)
        rows_of(self, "portions")
        self._require_unchanged()
        return self._portions(n).count(number, self.threads)

    @cached_property
    def _portions(self) -> Callable[[int], Portions]:
        return opened_portions(self.pair, self.options)

    @property
    def labels(self) -> NDArray[Any] | None:
        """The labels of the queries, (n_query,); None if they are not known."""
        return self._labels

    @property
    def source(self) -> str:
        """The files of the embeddings, or a word for what was ranked, such as "scores"; empty for arrays."""
        return self._source

    @property
    def threads(self) -> int:
        """Worker threads of every question."""
        return self._threads

    @property
    def pair(self) -> Pair:
        """The queries and the gallery, unchanged; InvalidTypeError for a task that was not made of embeddings."""
        pair = self._pair if self._pair is not None else self._refuse("this")
        self._require_unchanged()
        return pair

    @property
    def files(self) -> Orders:
        """The order of the files that patterns matched, by argument."""
        return {} if self._pair is None else self._pair.files

    @property
    def has_gallery(self) -> bool:
        """True if queries are ranked against a gallery, and not against each other."""
        return self._pair is not None and self._pair.gallery is not None

    @property
    def options(self) -> CountingOptions:
        """The options of the counting pass; InvalidTypeError for a task that was not made of embeddings."""
        return self._options if self._options is not None else self._refuse("this")

    @property
    def has_rows(self) -> bool:
        """True if the task was made of embeddings."""
        return self._pair is not None

    @property
    def has_several_labels(self) -> bool:
        """True if a row can have several labels, and relevance is what rows share."""
        return self._pair is not None and isinstance(self._pair.query.labels, LabelSets)

    @property
    def n_excluded(self) -> int:
        """Number of queries that are left out of the gallery by `exclude`."""
        own = None if self._options is None else self._options.exclude
        return 0 if own is None else int((own >= 0).sum())

    def require_rows(self, what: str, argument: str = "task") -> None:
        """Refuse a task that was not made of embeddings: `what`, such as "groups", needs them."""
        if self._pair is None:
            self._refuse(what, argument)

    def _require_unchanged(self) -> None:
        """Refuse rows, or a mask of junk, that somebody has written to since the task was made."""
        if self._pair is None or not self._states:
            return
        now = _states_of(self._pair, self.options.junk)
        for name, state in self._states.items():
            if now[name] != state:
                verb = "were" if name == "embeddings" else "was"
                raise InvalidValueError(name, f"{verb} changed after the task was made: make it anew, or give a copy")

    def _refuse(self, what: str, argument: str = "task") -> NoReturn:
        rule = f"must be made of embeddings, dh.Task(embeddings, labels), for {what}, but was made of {self._source}"
        raise InvalidTypeError(argument, rule)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a task cannot change; task.replace({name}=...) gives another one")

    def __repr__(self) -> str:
        if self._pair is None:
            n_query = self.profile.n_query
            return f"Task({n_query:,} {'query' if n_query == 1 else 'queries'} of {self._source})"
        query, gallery, options = self._pair.query, self._pair.gallery, self.options
        several = isinstance(query.labels, LabelSets)
        n_class = len(query.labels.names if several else set(query.labels.tolist()))
        against = "leave one out" if gallery is None else f"gallery {_shape(gallery.embeddings)}"
        words = ("label", "labels") if several else ("class", "classes")
        classes = f"{n_class:,} {words[n_class != 1]}"
        parts = [_shape(query.embeddings), classes, against, options.distance.replace("_", " ")]
        ties = f"ties {options.rule.describe(options.distance)}"
        return f"Task({f'{self._source}: ' if self._source else ''}{', '.join([*parts, ties])})"


def _states_of(pair: Pair, junk: Any) -> dict[str, Hashable]:
    """Return the states of the arguments that a task does not copy."""
    rows = {"embeddings": pair.query, "gallery": pair.gallery}
    states = {name: samples.embeddings.state() for name, samples in rows.items() if samples is not None}
    if isinstance(junk, np.ndarray) and junk.ndim == 2:
        states["junk"] = state_of_mask(junk)
    return states


def _shape(source: Any) -> str:
    n, dim = source.shape
    return f"{n:,} × {dim:,} {source.stored}"


DATA = ("embeddings", "labels", "gallery", "gallery_labels")
SETTINGS = checks.OF_TASK


def require_known(names: Iterable[str], function: str, others: Sequence[str] = ()) -> None:
    """Refuse the name of an argument that is no setting of a task, nor one of the `others`."""
    for name in names:
        if name not in (*others, *SETTINGS):
            raise checks.no_argument(name, function, (*others, *SETTINGS))


def _settled(pair: Pair, options: CountingOptions) -> Pair:
    """Return a pair whose labels fit the relevance: one a row, or several that are compared label by label."""
    query, gallery = pair.query, pair.gallery
    if not isinstance(query.labels, LabelSets):
        if options.relevance is not None:
            came = f"is {options.relevance!r}, and labels have one"
            raise InvalidValueError("relevance", f"must be left out unless a row has several labels, but {came}")
        return pair
    if options.relevance == "same":
        of_query, of_items = numbered(query.labels, None if gallery is None else gallery.labels)
        items = None if gallery is None else gallery._replace(labels=of_items)
        return pair._replace(query=query._replace(labels=of_query), gallery=items)
    for name, value in (("checkpoint", options.checkpoint), ("executor", options.executor)):
        if value is not None:
            raise InvalidValueError(name, "must be left out where a row has several labels")
    return pair


def rows_of(task: Any, what: str, argument: str = "task", *, several: bool = False) -> Task:
    """Return a task that was made of embeddings, which `what` is asked of; `several` allows several labels a row."""
    if not isinstance(task, Task):
        rule = f"must be a task, dh.Task(embeddings, labels), for {what}, but is of type {type(task).__name__}"
        raise InvalidTypeError(argument, rule)
    task.require_rows(what, argument)
    if task.has_several_labels and not several:
        rule = f'must be one a row for {what}, or relevance must be "same", but rows have several'
        raise InvalidTypeError("labels" if argument == "task" else f"labels of {argument}", rule)
    return task


def profile_of_task(task: Any, kinds: str = "a Task or a TieProfile") -> TieProfile:
    """Return the profile of a task, or a profile itself; `kinds` says in a message what it may be."""
    if isinstance(task, TieProfile):
        return task
    if not isinstance(task, Task):
        raise InvalidTypeError("task", f"must be {kinds}, but is of type {type(task).__name__}")
    return task.profile
