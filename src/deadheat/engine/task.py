"""Tasks: queries, gallery, relevance and the rule for ties. A task is opened, checked and warned about once.

embeddings, labels ──opened, checked──> Task ──counting pass, at the first question──> TieProfile

Scores, runs and other rankings are counted when they are opened: `engine/sources/`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np

from deadheat.engine.count import count, opened_portions
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.own_gallery import queries_in_gallery
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.evaluable import Evaluable, Origin
from deadheat.engine.evaluable import profile_of_task as profile_of_task
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.settings import DATA, TaskSettings, require_known, shows_settings
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import codes
from deadheat.inputs.conversion import card_of
from deadheat.inputs.files import Orders, paths_given
from deadheat.inputs.label_sets import LabelSets, numbered
from deadheat.inputs.pair_rules import Rule, open_rules
from deadheat.inputs.relevance import Pairs
from deadheat.inputs.samples import (
    EmbeddingsLike,
    LabelsLike,
    Pair,
    Samples,
    Unlabelled,
    open_pair,
    open_rows,
    open_unlabelled,
)
from deadheat.inputs.source import state_of_mask
from deadheat.support import checks
from deadheat.support.caching import cached_property
from deadheat.support.floats import plain_floats

if TYPE_CHECKING:
    from deadheat.engine.counting.portions import Portions
    from deadheat.engine.profiles.portions import Portion


class Task(Evaluable):
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
    distance : {"cosine", "euclidean", "inner_product", "cityblock", "hamming", "correlation", "jaccard", "dice"}
        Or another name of one of them: "cos", "l2", "l1", "manhattan", "taxicab", "dot", "dot_product", "ip", "inner",
        "tanimoto". Hamming, Jaccard and Dice take codes: -1 and 1, or 0 and 1, of any type, or bool; uint8 always has
        eight bits packed in each. A last byte padded with zeros needs no option, since they change no distance. Jaccard
        is 1 − |q ∩ x| / |q ∪ x| of the ones of two codes, 0 if neither has any, and ranks as Dice does. Correlation
        is the cosine of rows less their means, for rows that float64 centres exactly: integers, and mostly float32.
    ties : {"exact", "float16", "bfloat16", "float32"}, Rounded or Tolerance
        The rule for ties. "exact": items tie at exactly the same distance. "float16", "bfloat16" or "float32" (or
        another name of one of them, such as "fp16" or "half"): items tie if their similarities or distances are equal
        once rounded to this type; `deadheat.Rounded` says which of the two. A `deadheat.Tolerance`, for bounds alone:
        items tie within it.
    relevant : (n_query, n_gallery) matrix, lists of rows, `deadheat.within`, or path, optional
        The relevant gallery rows of each query, in place of labels: a matrix of bool or gains, dense or SciPy's sparse;
        or for each query its rows, counted from 0, or a dictionary from rows to gains, in a list, in an array of
        integers padded with -1, or in a dictionary by query. `deadheat.within` gives a radius or a time window. A
        file has a matrix, or rows on a line for each query (``.txt``). A nested list of the shape of the matrix is one.
    junk : (n_gallery,) or (n_query, n_gallery) array of bool, optional
        Items that are neither ranked nor relevant: for every query, or pair by pair. By default there is none.
    exclude : (n_query,) integers, a pair of ids, (n_query, 2) ranges, or `deadheat.within`, optional
        With a gallery that the queries are in: the row of it that each query is, counted from 0, and -1 for none; or
        ids of the queries and of the gallery, ``(query_ids, gallery_ids)``, where equal ids are one item. A query is
        not ranked against itself. Without it, queries with an equal row under their label are looked for, and a
        `deadheat.errors.QueryInGalleryWarning` says how many there are. By a rule, also without a gallery, a query
        leaves out more, such as the frames around it: an array of the first row and that after the last, clipped to
        the gallery, ``within(10, times)``, or a sparse mask. The mask is not made as a whole, but with labels and a
        checkpoint, a device or an executor.
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
    ExecutorError
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

    _opened: Pair  # as given: equal sets of labels become classes in `_pair`
    _pair: Pair
    _settings: TaskSettings  # as they were given
    _states: Mapping[str, Hashable]  # of the arguments that are not copied, when the task was made
    options: CountingOptions  # of the counting pass
    files: Orders  # of the files that patterns matched, by argument
    tie_rule: str  # in words
    n_in_gallery: int  # queries that were found in the gallery and warned of
    has_rows: ClassVar[bool] = True

    @plain_floats
    @shows_settings
    def __init__(
        self,
        embeddings: EmbeddingsLike,
        labels: LabelsLike | None = None,
        gallery: EmbeddingsLike | None = None,
        gallery_labels: LabelsLike | None = None,
        **settings: Unpack[TaskSettings],
    ) -> None:
        require_known(settings, "Task", DATA)
        if settings.get("device") is None and settings.get("executor") is None:
            settings["device"] = card_of(embeddings)
        options = CountingOptions.checked(**settings)  # before files are opened
        if options.relevant is None:
            pair = open_pair(embeddings, labels, gallery, gallery_labels)
        else:
            for name, given in (("labels", labels), ("gallery_labels", gallery_labels)):
                if given is not None:
                    raise InvalidValueError(name, "must be left out where relevant says what is relevant")
            pair = open_unlabelled(embeddings, gallery)
        paths = [str(path) for given in (embeddings, gallery) for path in paths_given(given)]
        self._open(pair, options, settings, " and ".join(paths))

    @classmethod
    def _made(cls, pair: Pair, settings: Any, files: str = "", **how: Any) -> Task:
        task = cls.__new__(cls)
        task._open(pair, CountingOptions.checked(**settings), settings, files, **how)
        return task

    def _open(
        self, pair: Pair, options: CountingOptions, settings: TaskSettings, files: str,
        n_in_gallery: int | None = None, remedy: str | None = None, watched: bool = True,
    ) -> None:  # fmt: skip
        opened, pair = pair, _settled(pair, options)
        query, items = pair.query, pair.gallery and pair.gallery.embeddings
        distance_registry.check(options.distance, query.embeddings, items)
        options.rule.check(distance_registry.find(options.distance))
        fitted = options.fitted(pair)
        if n_in_gallery is None:
            n_in_gallery = queries_in_gallery(pair, fitted, remedy)
        kept = {name: getattr(fitted, name) for name in ("relevant", "junk", "exclude")}  # as nobody can change them
        vars(self).update(
            _opened=opened, _pair=pair, _settings={**settings, **kept},
            _states=_states_of(pair, fitted.junk) if watched else {},
            options=fitted, threads=options.threads, source=files, files=pair.files, n_in_gallery=n_in_gallery,
            labels=None if isinstance(query.labels, (LabelSets, Unlabelled)) else query.labels,
            tie_rule=fitted.rule.describe(fitted.distance),
            remarks=(*pair.remarks, *codes.remarks(fitted.distance, query.embeddings, items)),
        )  # fmt: skip

    @classmethod
    @plain_floats
    @shows_settings
    def from_metadata(
        cls, embeddings: EmbeddingsLike, metadata: Any, *, positives: Rule, negatives: Rule,
        **settings: Unpack[TaskSettings],
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
        **settings : arguments
            As in `Task`, without `junk`, `exclude`, `relevance` and `relevant`.

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
        require_known(settings, "from_metadata", ("embeddings", "metadata", "positives", "negatives"))
        for name in settings.keys() & {"junk", "exclude", "relevance", "relevant"}:
            raise InvalidTypeError(name, "must be left out with metadata, whose rules say which pairs are junk")
        CountingOptions.checked(**settings)  # before files are opened
        rows = open_rows(embeddings, "embeddings")
        labels, junk = open_rules(metadata, len(rows), positives, negatives)
        return task_of_pair(Pair(Samples(rows, labels), None), junk=junk, **settings)

    @plain_floats
    @shows_settings
    def replace(self, **settings: Unpack[TaskSettings]) -> Task:
        """Return a task on the same data with other settings: ``task.replace(distance="euclidean")``.

        Settings are those of `Task` behind its four arguments; those that are not named stay. The data are not opened
        again, and queries in the gallery are looked for again only under another `junk` or `exclude`.
        """
        self._require_unchanged()
        require_known(settings, "replace")
        every: TaskSettings = {**self._settings, **settings}
        if "exclude" in settings and "junk" not in settings and isinstance(every.get("junk"), Pairs):
            every["junk"] = None  # which was the rule of `exclude`
        known = None if {"junk", "exclude"} & settings.keys() else self.n_in_gallery
        return self._made(self._opened, every, self.source, n_in_gallery=known)

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
    def pair(self) -> Pair:
        """The queries and the gallery, unchanged."""
        self._require_unchanged()
        return self._pair

    @property
    def has_several_labels(self) -> bool:
        """True if a row can have several labels, and relevance is what rows share."""
        return isinstance(self._pair.query.labels, LabelSets)

    @property
    def n_excluded(self) -> int:
        """Number of queries that are left out of the gallery by `exclude`."""
        own = self.options.exclude
        return 0 if own is None else int((own >= 0).sum())

    @property
    def origin(self) -> Origin:
        """The facts that a report on this task states."""
        return Origin(
            self.labels, self.tie_rule, self.remarks, distance=self.options.distance, source=self.source,
            files=self.files, n_in_gallery=self.n_in_gallery, n_excluded=self.n_excluded,
            separate_gallery=self._pair.gallery is not None and not self.n_in_gallery and not self.n_excluded,
        )  # fmt: skip

    def _require_unchanged(self) -> None:
        """Refuse rows, or a mask of junk, that somebody has written to since the task was made."""
        if not self._states:
            return
        now = _states_of(self._pair, self.options.junk)
        for name, state in self._states.items():
            if now[name] != state:
                verb = "were" if name == "embeddings" else "was"
                raise InvalidValueError(name, f"{verb} changed after the task was made: make it anew, or give a copy")

    def __repr__(self) -> str:
        query, gallery, options = self._pair.query, self._pair.gallery, self.options
        several = isinstance(query.labels, LabelSets)
        against = "leave one out" if gallery is None else f"gallery {_shape(gallery.embeddings)}"
        words = ("label", "labels") if several else ("class", "classes")
        classes = "relevance by pairs"
        if options.relevant is None:
            n_class = len(query.labels.names if several else set(query.labels.tolist()))
            classes = f"{n_class:,} {words[n_class != 1]}"
        parts = [_shape(query.embeddings), classes, against, options.distance.replace("_", " ")]
        return f"Task({f'{self.source}: ' if self.source else ''}{', '.join([*parts, f'ties {self.tie_rule}'])})"


@plain_floats
def task_of_pair(pair: Pair, *, files: str = "", remedy: str | None = None, **settings: Any) -> Task:
    """Return the task of queries and gallery that are open; `settings` are those of `Task`."""
    return Task._made(pair, settings, files, remedy=remedy)


@plain_floats
def with_rows(task: Task, pair: Pair, exclude: Any = None, **changed: Any) -> Task:
    """Return the task of other rows with these labels; queries in the gallery are those of `task`."""
    settings: Any = {**task._settings, "checkpoint": None, **changed, "exclude": exclude}
    if not isinstance(pair.query.labels, LabelSets):
        settings["relevance"] = None  # which has become one label a row
    n_in_gallery = 0 if exclude is not None else task.n_in_gallery
    return Task._made(pair, settings, n_in_gallery=n_in_gallery, watched=False)


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


def _settled(pair: Pair, options: CountingOptions) -> Pair:
    """Return a pair whose labels fit the relevance: one a row, or several that are compared label by label."""
    query, gallery = pair.query, pair.gallery
    if options.relevant is not None:
        for name in ("checkpoint", "executor", "relevance"):
            if getattr(options, name) is not None:
                raise InvalidValueError(name, "must be left out where relevance is given pair by pair")
        query = query._replace(labels=Unlabelled(len(query.labels)))
        gallery = gallery and gallery._replace(labels=Unlabelled(len(gallery.labels)))
        return pair._replace(query=query, gallery=gallery)
    if isinstance(query.labels, Unlabelled):
        raise InvalidValueError("relevant", "must be given where there are no labels")
    if not isinstance(query.labels, LabelSets):
        if options.relevance is not None:
            actual = f"is {options.relevance!r}, and labels have one"
            raise InvalidValueError("relevance", f"must be left out unless a row has several labels, but {actual}")
        return pair
    if options.relevance == "same":
        of_query, of_items = numbered(query.labels, None if gallery is None else gallery.labels)
        items = None if gallery is None else gallery._replace(labels=of_items)
        return pair._replace(query=query._replace(labels=of_query), gallery=items)
    for name, value in (("checkpoint", options.checkpoint), ("executor", options.executor)):
        if value is not None:
            raise InvalidValueError(name, "must be left out where a row has several labels")
    return pair


def made_of_rows(task: Evaluable, what: str, argument: str = "task") -> InvalidTypeError:
    """Return the error for a task without embeddings, which `what`, such as "groups", needs."""
    rule = f"must be made of embeddings, dh.Task(embeddings, labels), for {what}, but was made of {task.source}"
    return InvalidTypeError(argument, rule)


def rows_of(task: Any, what: str, argument: str = "task", *, several: bool = False, pairs: bool = False) -> Task:
    """Return a task that was made of embeddings, which `what` is asked of.

    `several` allows several labels a row, and `pairs` relevance that is given pair by pair.
    """
    if not isinstance(task, Evaluable):
        rule = f"must be a task, dh.Task(embeddings, labels), for {what}, but is of type {type(task).__name__}"
        raise InvalidTypeError(argument, rule)
    if not isinstance(task, Task):
        raise made_of_rows(task, what, argument)
    if task.options.relevant is not None and not pairs:
        rule = f"must be given for {what}, but relevance is given pair by pair"
        raise InvalidTypeError("labels" if argument == "task" else f"labels of {argument}", rule)
    if task.has_several_labels and not several:
        rule = f'must be one a row for {what}, or relevance must be "same", but rows have several'
        raise InvalidTypeError("labels" if argument == "task" else f"labels of {argument}", rule)
    return task
