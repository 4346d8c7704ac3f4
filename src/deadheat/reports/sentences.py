"""What a reader has to know beside the numbers of a report: which queries count, and what the ties do."""

from __future__ import annotations

from deadheat.profiles import Ties
from deadheat.reports.tables import count


def about_queries(n_query: int, n_singleton: int, n_class: int | None, singletons: str) -> str:
    """How many queries there are, and which of them count.

    Examples
    --------
    >>> about_queries(3, 1, None, "skip")
    '3 queries, 1 of them without a relevant item (a singleton) and left out of the means.'
    """
    queries = count(n_query, "query", "queries")
    mean = "" if n_class is None else f" Means are over {count(n_class, 'class', 'classes')}."
    if not n_singleton:
        return f"{queries}, each with a relevant item.{mean}"
    noun = "a singleton" if n_singleton == 1 else "singletons"
    treated = {
        "skip": "left out of the means",
        "zero": "counted as 0",
        "one": "counted as 100 %",
        "balanced": "counted as 0 in measures of precision and 100 % in those of recall",
    }[singletons]
    return f"{queries}, {n_singleton} of them without a relevant item ({noun}) and {treated}.{mean}"


def about_gallery(n_query: int, n_in_gallery: int, n_excluded: int) -> list[str]:
    """Whether queries are in the gallery themselves; mostly nothing."""
    what_of_them = {
        "as an equal row with their label, and ranked against it: exclude= leaves it out": n_in_gallery,
        "and not ranked against their own row": n_excluded,
    }
    return [
        f"{n} of {count(n_query, 'query', 'queries')} {'is' if n == 1 else 'are'} in the gallery themselves, {what}."
        for what, n in what_of_them.items()
        if n
    ]


def about_ties(
    ties: Ties, distance: str | None, rule: str | None, *, bounds_only: bool, affected: bool, n_cut: int = 0
) -> str:
    """What the ties decide, by the distance and the rule where these are known.

    Examples
    --------
    >>> about_ties(Ties(2, 1, 3), "cosine", "exact", bounds_only=False, affected=True)
    'Ties between relevant and irrelevant items (cosine, exact): 2 groups in 1 query, the largest of 3 items.'
    """
    where = ", ".join(filter(None, (distance, rule)))
    by = f" ({where})" if where else ""
    if bounds_only:
        return f"Ties{by}: every relevant item may move by the tolerance, either way; that has no expectation."
    if not ties.mixed_groups:
        of_what = " among what was returned" if n_cut else ""
        return f"No tie{of_what} affects the result{by}{'' if n_cut and affected else ': lower = expected = upper'}."
    groups = f"{count(ties.mixed_groups, 'group', 'groups')} in {count(ties.queries, 'query', 'queries')}"
    size = f"of {ties.largest} items" if ties.mixed_groups == 1 else f"the largest of {ties.largest} items"
    verdict = "" if affected else "; none affects a value shown, so that lower = expected = upper"
    return f"Ties between relevant and irrelevant items{by}: {groups}, {size}{verdict}."


def about_cut(n_cut: int, affected: bool) -> list[str]:
    """Where rankings were cut, what is not known of them; mostly nothing.

    Examples
    --------
    >>> about_cut(3, False)
    ['In 3 queries relevant items were not returned or may tie with the last returned; this affects no value shown.']
    """
    if not n_cut:
        return []
    effect = "this affects no value shown"
    if affected:
        effect = "their ranks have bounds only, and what depends on them no expectation"
    queries = count(n_cut, "query", "queries")
    return [f"In {queries} relevant items were not returned or may tie with the last returned; {effect}."]
