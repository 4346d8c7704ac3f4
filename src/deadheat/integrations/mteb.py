"""MTEB: its saved predictions, which end at the best 1000, and its cached embeddings, which are complete.

    {task}_predictions.json ──read_predictions──> {query: {document: score}} ──evaluate_predictions──> Report
    cache/{task}/query, …/document ──read_embeddings──> rows ──deadheat.Task.from_judged──> TieProfile

MTEB need not be installed: both are plain files.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.task import Task
from deadheat.errors import FileError, InvalidTypeError, InvalidValueError, reason
from deadheat.inputs import trec
from deadheat.inputs.disk import File, Place
from deadheat.inputs.predictions import read_predictions
from deadheat.reports.evaluating import evaluate
from deadheat.reports.report import Report
from deadheat.support import checks

DEFAULT_MEASURES = ("nDCG@10", "mAP@10", "Recall@10", "P@10", "MRR@10", "Hit@10")  # those of MTEB, at its main cutoff


def profile_predictions(
    predictions: str | os.PathLike[str] | Mapping[str, Mapping[str, float]],
    qrels: Any,
    *,
    n_documents: int | None,
    subset: str | None = None,
    split: str | None = None,
    ignore_identical_ids: bool = False,
) -> TieProfile:
    """Return the tie profile of MTEB's predictions, with bounds for documents that were not saved.

    Parameters
    ----------
    predictions : path or dict
        A file as in `read_predictions`, or the result of that.
    qrels : path or dict
        As in `deadheat.Task.from_run`: ``{query_id: {doc_id: grade}}``, a task's ``relevant_docs``.
    n_documents : int or None
        The number of documents in the corpus. None for reranking, where the predictions hold everything that is ranked.
    subset, split
        As in `read_predictions`.
    ignore_identical_ids : bool
        Whether to exclude the document with the id of the query: the task's attribute of the same name.

    Returns
    -------
    TieProfile
        Of the queries that are in both, as MTEB averages them. Unless all documents were returned it has `n_ordered`;
        see `deadheat.Task.from_neighbors`.

    Notes
    -----
    Ties: documents with equal scores tie; MTEB ranks them by their id, descending. Of the documents that tie with the
    last one, its sort decided which are among the best 1000, so that a relevant document that was not saved may have
    any rank from that tie on. Lower and upper hold for all of these ranks.

    Examples
    --------
    Documents a and b tie, b is relevant, and one more document was not saved:

    >>> counted = profile_predictions({"q": {"a": 0.5, "b": 0.5}}, {"q": {"b": 1}}, n_documents=3)
    >>> counted.closer, counted.tied
    (array([0]), array([3]))
    """
    if isinstance(predictions, (str, os.PathLike)):
        predictions = read_predictions(predictions, subset=subset, split=split)
    scores, judged = trec.open_run(predictions), trec.open_qrels(qrels)
    queries = [query for query in judged if query in scores]
    if not queries:
        counts = f"{len(scores)} and {len(judged)} queries"
        raise InvalidValueError("predictions and qrels", f"must have a query in common, but have none among {counts}")
    if n_documents is None:
        ranked = {query: dict(scores[query]) for query in queries}
        for query in queries if ignore_identical_ids else ():
            ranked[query].pop(query, None)
        return Task.from_run(ranked, {query: judged[query] for query in queries}).profile
    rows = {query: sorted(scores[query].items(), key=lambda pair: -pair[1]) for query in queries}
    own = [query if ignore_identical_ids and query in scores[query] else None for query in queries]
    return Task.from_neighbors(
        [[document for document, _ in rows[query]] for query in queries],
        [[score for _, score in rows[query]] for query in queries],
        relevant=[judged[query] for query in queries],
        n_gallery=checks.positive_integer(n_documents, "n_documents"),
        exclude=own,
        query_ids=tuple(queries),
    ).profile


def evaluate_predictions(
    predictions: str | os.PathLike[str] | Mapping[str, Mapping[str, float]],
    qrels: Any,
    *,
    n_documents: int | None,
    subset: str | None = None,
    split: str | None = None,
    ignore_identical_ids: bool = False,
    measures: str | Iterable[str] | None = DEFAULT_MEASURES,
) -> Report:
    """Evaluate MTEB's predictions: lower bound, expectation and upper bound of each measure.

    Parameters
    ----------
    predictions, qrels, n_documents, subset, split, ignore_identical_ids
        As in `profile_predictions`.
    measures : str or iterable of str
        As in `deadheat.evaluate`; MTEB's names, such as ``ndcg_at_10``, are understood.

    Returns
    -------
    Report
        The mean is over the queries that are in both and have a relevant document.

    Examples
    --------
    >>> saved = {"q": {"a": 0.5, "b": 0.5, "c": 0.25}}
    >>> evaluate_predictions(saved, {"q": {"b": 1}}, n_documents=9, measures="ndcg_at_10, hit_rate_at_1").summary()
    'nDCG@10 81.55 [63.09, 100.00] %, Hit@1 50.00 [0.00, 100.00] %'
    """
    counted = profile_predictions(
        predictions, qrels, n_documents=n_documents, subset=subset, split=split,
        ignore_identical_ids=ignore_identical_ids,
    )  # fmt: skip
    return evaluate(counted, measures)


def read_embeddings(folder: str | os.PathLike[str], texts: Sequence[str]) -> NDArray[np.float32]:
    """Read the embeddings of texts from a cache of MTEB's, ``CachedEmbeddingWrapper(model, cache)``.

    Parameters
    ----------
    folder : path
        ``cache/{task}/query`` or ``cache/{task}/document``.
    texts : sequence of str
        The encoded texts: of a document its title, a space and its text, stripped; of a query its text, a space and its
        instruction, if any.

    Returns
    -------
    (n_text, dim) float32 array

    Raises
    ------
    OSError
        If a file of the cache cannot be read.
    FileError
        If a file is not as MTEB writes it.
    InvalidValueError, InvalidTypeError
        If a text is not in the cache, or not a string.
    """
    texts, folder = list(texts), Path(checks.path(folder, "folder"))
    odd = next((text for text in texts if not isinstance(text, str)), None)
    if odd is not None:
        raise InvalidTypeError("texts", f"must be strings, but one is {odd!r:.50}")
    dim, index = _number(folder / "dimension"), _index(folder / "index.json")
    vectors = folder / "vectors.npy"  # despite its name, raw numbers without the header of NumPy
    if vectors.stat().st_size % (4 * dim):
        raise FileError(vectors, f" must hold rows of {dim} float32, but has {vectors.stat().st_size} bytes")
    rows = [index.get(hashlib.sha256(text.encode()).hexdigest(), -1) for text in texts]
    if -1 in rows:
        missing = f"{rows.count(-1)} of {len(rows)} are not; the first is {texts[rows.index(-1)]!r:.50}"
        raise InvalidValueError("texts", f"must all be in {folder}, but {missing}")
    n = vectors.stat().st_size // (4 * dim)
    if rows and max(rows) >= n:
        raise FileError(vectors, f" must hold row {max(rows)}, but ends after {n}")
    return File(Place(str(vectors), "<f4", 0, (n, dim)), "texts").take(np.array(rows, dtype=np.int64))


def _number(path: Path) -> int:
    text = path.read_text(encoding="utf-8").strip()
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise FileError(path, f" must hold the dim, a positive integer, but holds {text!r:.50}")
    return int(text)


def _index(path: Path) -> dict[str, int]:
    try:
        index = json.loads(path.read_bytes())
    except ValueError as error:
        raise FileError(path, f" is not JSON: {reason(error)}") from None
    if not isinstance(index, dict) or not all(type(row) is int and row >= 0 for row in index.values()):
        raise FileError(path, " must hold a dictionary of row numbers")
    return index
