"""Remarks on ids that do not match: returned documents that nothing judges, and queries that are ranked for themselves.

A value of 0 says nothing about a ranking whose ids are those of chunks, or are spelled in another way.

run, qrels ──of_run──> remarks      qrels, gallery ──of_gallery──> remarks      neighbors ──of_ids──> Unmatched
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from deadheat.engine.sources.run_tables import RunTables
from deadheat.inputs.item_ids import IdRows
from deadheat.inputs.trec import Checked
from deadheat.support import checks
from deadheat.support.arrays import Bool, Int64

CHUNKS = "Ids must be spelled the same in both; for ids of chunks, documents= (--documents) gives the document of each."
SPELLING = "Ids must be spelled the same in both."


class Unmatched(NamedTuple):
    """Queries for which nothing that was returned is judged: all of them, or most; and an example."""

    n: int  # such queries,
    n_query: int  # and those that have something returned and something judged
    query: Any  # the first of them, with an id of each side
    returned: Any
    judged: Any

    def sentence(self, returned: str = "the run", judged: str = "the qrels", advice: str = SPELLING) -> str:
        """Return the remark, with the names of the two sides."""
        queries = "query" if self.n_query == 1 else "queries"
        example = f"query {checks.shown(self.query)} has {checks.shown(self.returned)} in {returned}"
        return (
            f"In {self.n} of {self.n_query} {queries} {returned} and {judged} have no document in common: "
            f"{example} and {checks.shown(self.judged)} in {judged}. {advice}".rstrip()
        )


def of_run(tables: RunTables, sides: tuple[str, str] = ("the run", "the qrels"), advice: str = CHUNKS) -> list[str]:
    """Return the remarks on the ids of a run and its qrels; mostly none."""
    lacking, own = documents(tables), own_queries(tables)
    remarks = [] if lacking is None else [lacking.sentence(*sides, advice)]
    if tables.options.unjudged == "junk" and not any(0 in row.values() for row in tables.judged.values()):
        judges = f"{sides[1][:1].upper()}{sides[1][1:]} judge no document as irrelevant"
        remarks.append(f"{judges}: without unjudged ones, all that is left is relevant.")
    if own:
        remarks.append(
            f'{about_own(len(own), len(tables.scores))[0]} exclude="itself" (--exclude-itself) leaves it out.'
        )
    return remarks


def documents(tables: RunTables) -> Unmatched | None:
    """Return the queries of a run without a judged document, if they are all, or most and no judgement has their ids.

    The items that a recommender ranks for a user are judged for others.
    """
    scores, judged = tables.scores, tables.judged
    queries = [query for query in tables.queries if scores.get(query) and judged[query]]
    matched = np.array([not judged[query].keys().isdisjoint(scores[query]) for query in queries], dtype=np.bool_)
    known = matched.copy()
    if matched.any():
        every = set().union(*judged.values())
        known[~matched] = [not every.isdisjoint(scores[queries[i]]) for i in np.flatnonzero(~matched)]
    lacking = _most(np.ones(len(queries), dtype=np.bool_), matched, known)
    if not len(lacking):
        return None
    first = queries[lacking[0]]
    return Unmatched(len(lacking), len(queries), first, next(iter(scores[first])), next(iter(judged[first])))


def own_queries(tables: RunTables) -> list[str]:
    """Return the queries whose own id is ranked for them and is not relevant.

    Ids of digits may be of other things, such as users and items: they count where most queries have it.
    """
    scores, judged, queries, options = tables
    least = 0 if options.unjudged == "junk" else -np.inf
    own = [query for query in queries if query in scores.get(query, ()) and least <= judged[query].get(query, -1) <= 0]
    return own if 2 * len(own) > len(scores) else [query for query in own if not query.isdigit()]


def about_own(n: int, n_query: int) -> tuple[str, str]:
    """Return the fact that queries are ranked for themselves, and advice."""
    queries = "query" if n_query == 1 else "queries"
    return (
        f"In {n} of {n_query} {queries} a document with the id of the query is ranked, and is not relevant.",
        "Leave it out if it is the query itself.",
    )


def of_gallery(judged: Checked, query_ids: Sequence[str], gallery_ids: Sequence[str]) -> list[str]:
    """Return the remark on qrels whose documents are not in a gallery; mostly none."""
    there = set(gallery_ids)
    queries = [query for query in query_ids if judged.get(query)]
    matched = np.array([not judged[query].keys().isdisjoint(there) for query in queries], dtype=np.bool_)
    lacking = _most(np.ones_like(matched), matched, matched)
    if not len(lacking):
        return []
    first = queries[lacking[0]]
    remark = Unmatched(len(lacking), len(queries), first, gallery_ids[0], next(iter(judged[first])))
    return [remark.sentence("gallery_ids")]


def of_ids(returned: IdRows, codes: Int64, listed: IdRows, of_listed: Int64, hits: Bool) -> Unmatched | None:
    """Return the queries of which no returned id is listed, if they are all, or most and no query lists their ids.

    Codes are numbers of ids, equal where ids are, and -1 for a listed id that nothing can return; `hits` marks returned
    ids that are relevant.
    """
    n_query, n_code = len(returned.lengths), int(max(codes.max(initial=-1), of_listed.max(initial=-1))) + 1
    counted = (returned.lengths > 0) & (listed.lengths > 0)
    if 2 * np.count_nonzero(counted & (np.bincount(returned.row[hits], minlength=n_query) > 0)) > counted.sum():
        return None  # as mostly, without a search
    pairs = returned.row * n_code + codes, (listed.row * n_code + of_listed)[of_listed >= 0]
    matched, known = (
        np.bincount(returned.row[np.isin(*each)], minlength=n_query) > 0 for each in (pairs, (codes, of_listed))
    )
    lacking = _most(counted, matched, known)
    if not len(lacking):
        return None
    query = int(lacking[0])
    ids = (part.values[part.row == query][0].tolist() for part in (returned, listed))
    return Unmatched(len(lacking), int(np.count_nonzero(counted)), query, *ids)


def _most(counted: Bool, matched: Bool, known: Bool) -> Int64:
    """Return the queries that count and are not matched, if they are all, or most and what they have is not known."""
    lacking = counted & ~matched
    if (counted & matched).any():
        lacking &= ~known
    queries = np.flatnonzero(lacking)
    return queries if 2 * len(queries) > np.count_nonzero(counted) else queries[:0]
