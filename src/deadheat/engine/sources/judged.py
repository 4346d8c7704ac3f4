"""`from_judged`: embeddings whose relevance was judged, not by labels but query by query, and perhaps in grades.

One counting pass has the groups of all relevant items. Which of them are in which group, and so how many of each grade,
follows from their exact distances alone.

    embeddings, qrels ──> pairs (query, item, grade) ──one pass──> binary profile ──tie groups of the pairs──> profile
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from deadheat.engine.count import count_judged, count_judged_in_portions
from deadheat.engine.counting.candidates import Judged
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.ranking import pair_groups
from deadheat.engine.distances.distance import Distance
from deadheat.engine.evaluable import Origin
from deadheat.engine.literals import DistanceName, TiesName
from deadheat.engine.profiles.gains import leveled, with_grades, with_unjudged
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources import unmatched
from deadheat.engine.sources.counted import CountedTask
from deadheat.engine.sources.run_tables import Unjudged, all_judged, checked_unjudged, gain_of, is_unknown
from deadheat.engine.ties.rule import Ties, require_ungraded
from deadheat.errors import InvalidValueError
from deadheat.inputs import arrays, codes, item_ids, trec
from deadheat.inputs.item_ids import OwnRows
from deadheat.inputs.samples import EmbeddingsLike, Pair, Samples, open_rows
from deadheat.inputs.source import Chosen, Source
from deadheat.inputs.trec import Checked, Path, Table
from deadheat.support import checks
from deadheat.support.arguments import VALUES, names_argument
from deadheat.support.arrays import Bool, Int64
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Progress

if TYPE_CHECKING:
    from concurrent.futures import Executor

Ids = Sequence[Hashable]
Grades = Mapping[Any, Mapping[Any, float]]  # of what is relevant to each query, by id
_MOST_PAIRS = 2**25  # whose unjudged documents are counted one by one: 24 bytes each
Junk = ArrayLike | Mapping[str, Collection[str]]


@plain_floats
def from_judged(
    queries: EmbeddingsLike,
    gallery: EmbeddingsLike,
    qrels: Path | Table,
    query_ids: Iterable[str | int],
    gallery_ids: Iterable[str | int],
    *,
    unjudged: Unjudged = "irrelevant",
    junk: Junk | None = None,
    exclude: OwnRows | None = None,
    distance: DistanceName = "cosine",
    ties: TiesName | Ties = "exact",
    threads: int | None = None,
    progress: bool | Progress = False,
    executor: Executor | None = None,
) -> CountedTask:
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
    unjudged : {"irrelevant", "junk", "unknown"} or float
        As in `from_run`. All documents are ranked, so that with ``"unknown"`` all without a judgement are counted one
        by one, for at most 2^25 pairs of a query and a document; a run of the first ones takes less.
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
    CountedTask
        Of all queries in their order; `query_ids` names them. A relevant document that is not in the gallery counts
        in `n_relevant` and in no group; the report says how many there are, and the ceiling that they set on each
        measure. Graded if a grade other than 1 occurs.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; if ids come twice; if the qrels have none of the queries, or `junk` none of
        the documents; for grades together with a tolerance.
    ExecutorError
        If a worker of an executor died or failed, and the executor did not repeat its work.

    Notes
    -----
    Ties: documents tie when their distances to the query are equal as real numbers, unless `ties` says otherwise.
    Undefined: a query without a relevant document is a singleton.

    Examples
    --------
    Documents a and b are equally far from the query, and b is relevant:

    >>> task = from_judged([[0]], [[1], [-1]], {"q": {"b": 1}}, ["q"], ["a", "b"], distance="euclidean")
    >>> task.profile.closer, task.profile.tied, task.profile.n_relevant
    (array([0]), array([2]), array([1]))
    """
    settings: dict[str, Any] = {
        "distance": distance, "ties": ties, "junk": junk, "exclude": exclude, "threads": threads, "progress": progress,
        "executor": executor,
    }  # fmt: skip
    checked_unjudged(unjudged, CountingOptions.checked(**settings).rule)  # before files are opened
    query, items = open_rows(queries, "queries"), open_rows(gallery, "gallery")
    ids = unique_ids(query_ids, "query_ids", len(query)), unique_ids(gallery_ids, "gallery_ids", len(items))
    judged = trec.open_qrels(qrels)
    if not judged.keys() & set(ids[0]):
        actual = f"but query_ids are {checks.few(ids[0])} and the qrels have {checks.few(judged)}"
        raise InvalidValueError("query_ids and qrels", f"must have a query in common, {actual}")
    opened = JudgedRows(query, items, *ids, judged)
    return CountedTask("judged embeddings", opened, {"unjudged": unjudged, **settings})


class JudgedRows(NamedTuple):
    """Opened embeddings of queries and documents, their ids, and the judgements."""

    queries: Source
    gallery: Source
    query_ids: list[str]
    gallery_ids: list[str]
    judged: Checked

    def counts(self, *, unjudged: Unjudged, **settings: Any) -> tuple[TieProfile, Origin]:
        options, shape = CountingOptions.checked(**settings), (len(self.queries), len(self.gallery))
        sources, ids = (self.queries, self.gallery), (self.query_ids, self.gallery_ids)
        rows: Distance | Pair
        if options.executor is None:
            rows = options.open(*sources)
        else:
            query, items = (Samples(source, np.arange(len(source))) for source in sources)
            rows = Pair(query, items)
        known = self.judged.keys() & set(self.query_ids)
        relevant = {query: {item: grade for item, grade in self.judged[query].items() if grade > 0} for query in known}
        own = None if options.exclude is None else item_ids.own_rows(options.exclude, *shape)
        options = replace(options, junk=_junk_mask(options.junk, *ids), exclude=own)
        others = None if checked_unjudged(unjudged, options.rule) == "irrelevant" else self._unjudged()
        if others is not None and unjudged == "junk":
            mask = others if options.junk is None else others | options.junk
            options, others = replace(options, junk=mask), None
        elif others is not None:
            pairs = np.nonzero(others)
            others[pairs] = ~options.candidates(*shape, leave_one_out=False).left_out(*pairs)
        gain = gain_of(unjudged, self.judged) if is_unknown(unjudged) else 1.0
        profile = profile_of_judged(rows, relevant, *ids, options, others, gain)
        profile = replace(profile, query_ids=tuple(ids[0]), check=False)
        remarks = (*codes.remarks(options.distance, *sources), *unmatched.of_gallery(self.judged, *ids))
        every = self._replace(judged=all_judged(self.judged))
        coverage = partial(_profile_of, every, unjudged="irrelevant", **settings)
        rows_of = {query: row for row, query in enumerate(ids[0])}
        pool = None if others is None else partial(_unjudged_documents, rows_of, ids[1], others)
        return profile, Origin(remarks=remarks, knows_gallery=True, coverage=coverage, pool=pool)

    def _unjudged(self) -> Bool:
        """Return a mask of the pairs without a judgement, (n_query, n_gallery)."""
        n_pair = len(self.query_ids) * len(self.gallery_ids)
        if n_pair > _MOST_PAIRS:
            rule = f"must be 'irrelevant' for more than {_MOST_PAIRS} pairs of a query and a document"
            raise InvalidValueError(
                "unjudged", f"{rule}, but there are {n_pair}; from_run takes a run of the first ones"
            )
        judged = {query: [d for d, grade in row.items() if grade >= 0] for query, row in self.judged.items()}
        return ~_mask_of(judged, self.query_ids, self.gallery_ids)


def _profile_of(rows: JudgedRows, **settings: Any) -> TieProfile:
    return rows.counts(**settings)[0]


def _unjudged_documents(row_of: dict[str, int], gallery_ids: list[str], unjudged: Bool, query: str) -> set[str]:
    """Return the documents that are ranked for a query and not judged, by a mask (n_query, n_gallery)."""
    return {gallery_ids[item] for item in np.flatnonzero(unjudged[row_of[query]])}


def _junk_mask(junk: Junk | None, query_ids: list[str], gallery_ids: list[str]) -> Bool | None:
    """Return junk as a mask, from a mask or from ids; ids that have no row do not count."""
    shape = len(query_ids), len(gallery_ids)
    if not isinstance(junk, Mapping):
        given: Bool | None = arrays.junk_mask(junk, *shape)
        return given
    kind = "lists of document ids"
    ids = {
        trec.id_text(query, "an id in junk"): [
            trec.id_text(each, "an id in junk") for each in checks.listed(row, "junk", kind)
        ]
        for query, row in junk.items()
    }
    mask = _mask_of(ids, query_ids, gallery_ids)
    if any(ids.values()) and not mask.any():
        actual = f"but has none for {checks.few(ids)}, such as {next(filter(None, ids.values()))[0]!r}"
        raise InvalidValueError("junk", f"must name documents of gallery_ids for queries of query_ids, {actual}")
    return mask


def _mask_of(documents: Mapping[str, list[str]], query_ids: list[str], gallery_ids: list[str]) -> Bool:
    """Return a mask of the pairs of a query and one of its documents, (n_query, n_gallery)."""
    mask = np.zeros((len(query_ids), len(gallery_ids)), dtype=np.bool_)
    query, item, _ = _pairs({query: dict.fromkeys(row, 1) for query, row in documents.items()}, query_ids, gallery_ids)
    mask[query[item >= 0], item[item >= 0]] = True
    return mask


@plain_floats
def profile_of_judged(
    rows: Distance | Pair,
    relevant: Grades,
    query_ids: Ids,
    gallery_ids: Ids,
    options: CountingOptions,
    others: Bool | None = None,
    gain: float = 1.0,
) -> TieProfile:
    """Return the profile of checked data: an open distance, the grades above 0 of each query, ids and options.

    With an executor in the options, `rows` are sources for its workers. `others` are the pairs without a judgement, if
    they are unknown, none of them junk, and `gain` is theirs if they are relevant.
    """
    query, item, of_pairs = _pairs(relevant, query_ids, gallery_ids)
    candidates = options.candidates(len(query_ids), len(gallery_ids), leave_one_out=False)
    kept = (item < 0) | ~candidates.left_out(query, item)  # what is not in the gallery counts, and is never found
    query, item, of_pairs = query[kept], item[kept], list(compress(of_pairs, kept.tolist()))
    grade, gains = leveled(query, of_pairs, len(query_ids))
    level = int(grade.max(initial=0)) + 1
    if others is not None:
        query, item = (np.concatenate(pair) for pair in zip((query, item), np.nonzero(others), strict=True))
        grade = np.append(grade, np.full(len(query) - len(grade), level))
    grades = np.unique(grade) if len(grade) else np.ones(1, dtype=np.int64)
    graded = grades.tolist() != [1]
    require_ungraded(options.rule, graded)
    index, there = np.searchsorted(grades, grade), item >= 0
    n_relevant = np.zeros((len(query_ids), len(grades)), dtype=np.int64)
    np.add.at(n_relevant, (query, index), 1)
    query, item, index = query[there], item[there], index[there]
    relevance = Judged.of(query, item, candidates)
    if isinstance(rows, Pair):
        profile = count_judged_in_portions(rows, relevance, options)
    else:
        profile = count_judged(rows, relevance, options)
    own = None if others is not None else gains
    profile = replace(profile, n_relevant=n_relevant.sum(axis=1), gains=own, check=False)
    if graded:
        profile = with_grades(profile, query, _groups_of(rows, options, query, item), index, grades, n_relevant)
    return profile if others is None else with_unjudged(profile, level, gain, gains)


def _groups_of(rows: Distance | Pair, options: CountingOptions, query: Int64, item: Int64) -> Int64:
    """Return `pair_groups`; of rows that an executor counted, those of the pairs are opened here."""
    if isinstance(rows, Pair) and len(query):
        (queries, query), (items, item) = (np.unique(each, return_inverse=True) for each in (query, item))
        assert rows.gallery is not None
        rows = options.open(Chosen(rows.query.embeddings, queries), Chosen(rows.gallery.embeddings, items))
    return query if isinstance(rows, Pair) else pair_groups(rows, query, item, options.rule)


def _pairs(relevant: Grades, query_ids: Ids, gallery_ids: Ids) -> tuple[Int64, Int64, list[float]]:
    """Return query, item and gain of each relevant pair; −1 for an item that is not in the gallery."""
    row_of = {name: row for row, name in enumerate(gallery_ids)}
    pairs = [(row, row_of.get(item, -1)) for row, name in enumerate(query_ids) for item in relevant.get(name, {})]
    gains = [gain for name in query_ids for gain in relevant.get(name, {}).values()]
    query, item = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return query, item, gains


@names_argument
def unique_ids(ids: Any, n: int) -> list[str]:
    """Check ids: one string or integer, as its decimal text, for each of `n` rows, each once."""
    given = checks.listed(ids, VALUES, "a sequence of strings or integers")
    listed = [trec.id_text(each, f"{VALUES}[{place}]") for place, each in enumerate(given)]
    if len(listed) != n:
        raise InvalidValueError(VALUES, f"must have one entry per row, but got {len(listed)} ids for {n} rows")
    if len(set(listed)) < n:
        seen: set[str] = set()
        twice = next(each for each in listed if each in seen or seen.add(each))  # type: ignore[func-returns-value]
        raise InvalidValueError(VALUES, f"must hold each id once, but holds {twice!r} again")
    return listed
