"""`from_lists`: ranked lists of ids without scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from deadheat.engine.sources import unmatched
from deadheat.engine.sources.run import Run, RunTask
from deadheat.engine.sources.run_tables import RunOptions, Unjudged, checked_unjudged, in_common
from deadheat.inputs import trec
from deadheat.inputs.samples import QueryLabels
from deadheat.inputs.trec import Documents, Repeats
from deadheat.support.floats import plain_floats


@plain_floats
def from_lists(
    ranked_ids: Any,
    relevant_ids: Any,
    *,
    unjudged: Unjudged = "irrelevant",
    exclude: Literal["itself"] | Mapping[str, Collection[str]] | None = None,
    repeats: Repeats | None = None,
    documents: Documents | None = None,
    labels: QueryLabels | None = None,
    threads: int | None = None,
) -> RunTask:
    """Make a task of ranked lists of ids without scores, such as those of an agent's memory.

    Parameters
    ----------
    ranked_ids : (n_query,) lists of ids, or a dict of such by query id
        What was found for each query, best first: strings or integers, as many as there are. A set of ids is a tied
        group, and so is a list or tuple among ids; a ranking of pairs alone is refused, as they may be hits, such
        as (id, text). The integer -1, with which faiss fills short rows, is nothing, and so is None for a whole list.
    relevant_ids : (n_query,) collections of ids, or dicts of id to grade; or a dict of such by query id
        What is relevant to each query. A set or list among ids has alternatives, as in `from_run`: one relevant item,
        which is found where the first of them is.
    unjudged : {"irrelevant", "junk", "unknown"} or float
        As in `from_run`: what found documents are that `relevant_ids` does not have. Dicts can have grade 0 for those
        that were judged to be irrelevant.
    exclude : "itself" or dict, optional
        As in `from_run`; "itself" is the id of the query, in a dictionary.
    repeats : {"max", "first"}, optional
        A document that a list has several times is ranked where it comes first; "max" is another word for it. By
        default it is refused.
    documents : dict or path, optional
        The document of each chunk, where ids are those of chunks: as in `from_run`, mostly with `repeats`.
    labels : dict or (n_query,), optional
        As in `from_run`.
    threads : int, optional
        Worker threads of every question. By default as many as this process may use.

    Returns
    -------
    CountedTask
        Of the queries of `relevant_ids`. A relevant document that was not found counts in `n_relevant` and in no
        group.

    Notes
    -----
    Ties: places count, so that nothing ties but the ids of a group. Integer ids are their decimal text.

    Undefined: a query without a relevant document is a singleton.

    Examples
    --------
    Two memories for the first query, of which one is relevant; one for the second, at rank 2 or 3:

    >>> task = from_lists([["m1", "m2"], ["m3", {"m4", "m5"}]], [["m1", "m9"], ["m4"]])
    >>> task.profile.closer, task.profile.tied, task.profile.n_relevant
    (array([0, 1]), array([1, 2]), array([2, 1]))
    """
    treated = checked_unjudged(unjudged)
    RunOptions.checked(exclude=exclude)
    opened = in_common(*trec.open_lists(ranked_ids, relevant_ids, repeats=repeats, documents=documents))
    tables = Run(*opened, ("ranked_ids", "relevant_ids"), unmatched.SPELLING)
    return RunTask("lists", tables, {"unjudged": treated, "exclude": exclude, "labels": labels, "threads": threads})
