"""The tie profile of queries and a corpus under a score function of sentence-transformers, or of somebody's own.

one of theirs, dense embeddings ──exact distances──────────────────────> profile
any other                       ──the function, some queries at a time─> scores, as they are ─> profile
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.counting import CountingOptions
from deadheat.counting.judged import profile_of_judged
from deadheat.counting.scored import profile_scores
from deadheat.errors import InvalidValueError
from deadheat.profiles import TieProfile
from deadheat.support.extras import require

NEEDS = "sentence-transformers", "deadheat.integrations.sentence_transformers"
_similarity = require("sentence_transformers.util.similarity", *NEEDS)
_torch = require("torch", *NEEDS)

_DISTANCES = {"cosine": "cosine", "dot": "inner_product", "euclidean": "euclidean", "manhattan": "cityblock"}
_BLOCK_SCORES = 1 << 24  # scores of a function that are in memory at once


class Judged(NamedTuple):
    """Which documents are relevant to each query, by id, and the ids of the corpus."""

    relevant: dict[Any, set[Any]]
    corpus_ids: list[Any]


def distance_of(function: str | Callable[..., Any]) -> str | None:
    """The distance that their name or their function stands for; None for anything else."""
    if isinstance(function, str):
        return _DISTANCES.get(function)
    theirs = {name: _similarity.SimilarityFunction.to_similarity_fn(name) for name in _DISTANCES}
    return next((_DISTANCES[name] for name, known in theirs.items() if known is function), None)


def profile_of_scores(
    function: Callable[..., Any], distance: str | None, queries: Any, chunks: list[Any], judged: Judged,
    options: CountingOptions,
) -> TieProfile:  # fmt: skip
    """The tie profile of all queries against the chunks of a corpus, one after another."""
    names = tuple(map(str, judged.relevant))
    rows = [row for row in map(_rows, (queries, *chunks)) if row is not None]
    if distance is None or len(rows) <= len(chunks):
        return replace(_from_function(function, queries, chunks, judged, options), query_ids=names, check=False)
    options = replace(options, distance=distance)
    opened = options.open(rows[0], np.concatenate(rows[1:]))
    grades = {query: dict.fromkeys(items, 1) for query, items in judged.relevant.items()}
    profile = profile_of_judged(opened, grades, list(judged.relevant), judged.corpus_ids, options)
    return replace(profile, query_ids=names, check=False)


def _from_function(
    function: Callable[..., Any], queries: Any, chunks: list[Any], judged: Judged, options: CountingOptions
) -> TieProfile:
    """The tie profile of the scores that a function computes."""
    if not options.rule.exact_only:
        raise InvalidValueError("ties", "must be exact for a score function of your own, which can round by itself")
    place = {document: column for column, document in enumerate(judged.corpus_ids)}
    ids, parts, step = list(judged.relevant), [], max(1, _BLOCK_SCORES // len(place))
    for start in range(0, len(ids), step):
        some = _some(queries, start, min(start + step, len(ids)))
        scores = np.concatenate([array_of(function(some, _beside(some, chunk))) for chunk in chunks], axis=1)
        relevant = np.zeros(scores.shape, dtype=np.bool_)
        for row, query in enumerate(ids[start : start + step]):
            relevant[row, [place[each] for each in judged.relevant[query] if each in place]] = True
        parts.append(profile_scores(scores, relevant, threads=options.threads))
    n_relevant = np.array([len(judged.relevant[query]) for query in ids], dtype=np.int64)
    return replace(TieProfile.joined(parts), n_relevant=n_relevant, check=False)


def _rows(embeddings: Any) -> NDArray[Any] | None:
    """Embeddings as an array with the same numbers; None unless they are a plain matrix."""
    if _torch.is_tensor(embeddings) and embeddings.layout != _torch.strided:
        return None
    plain = getattr(embeddings, "ndim", 0) == 2
    return array_of(embeddings) if plain else None


def array_of(tensor: Any) -> NDArray[Any]:
    """A tensor as an array with the same numbers."""
    if not _torch.is_tensor(tensor):
        return np.asarray(tensor)
    tensor = tensor.detach().cpu()
    array: NDArray[Any] = (tensor.float() if tensor.dtype == _torch.bfloat16 else tensor).numpy()
    return array


def _some(queries: Any, start: int, stop: int) -> Any:
    """Some of the queries; a sparse tensor has no slices."""
    if _torch.is_tensor(queries) and queries.is_sparse:
        return queries.index_select(0, _torch.arange(start, stop, device=queries.device))
    return queries[start:stop]


def _beside(queries: Any, chunk: Any) -> Any:
    """A chunk of the corpus on the device of the queries."""
    return chunk.to(queries.device) if _torch.is_tensor(chunk) and _torch.is_tensor(queries) else chunk
