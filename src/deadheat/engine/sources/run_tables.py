"""A run and its qrels as dictionaries, and their tie groups: keys and grades of one query after another."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from itertools import islice, repeat
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from deadheat.engine.profiles.gains import leveled, with_unjudged
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.keyed import assemble, count_keys, keys_of
from deadheat.engine.ties.rule import Ties
from deadheat.engine.ties.scores import EQUAL, ScoreTies
from deadheat.errors import InvalidValueError
from deadheat.inputs.arrays import least_gain
from deadheat.inputs.trec import Checked, id_text
from deadheat.support import checks
from deadheat.support.arrays import Bool, Int64
from deadheat.support.lazy import fractions

Unjudged: TypeAlias = Literal["unknown", "irrelevant", "junk"] | float  # a number is unknown, and if relevant, of it


class RunOptions(NamedTuple):
    """The options of `from_run`, checked."""

    rel: float | None = None
    unjudged: Unjudged = "irrelevant"
    complete: bool = True
    rule: ScoreTies = EQUAL
    max_docs: int | None = None
    exclude: str | Mapping[str, frozenset[str]] | None = None

    @classmethod
    def checked(
        cls, rel: Any = None, unjudged: Any = "irrelevant", complete: Any = True, ties: Any = EQUAL,
        max_docs: Any = None, exclude: Any = None,
    ) -> RunOptions:  # fmt: skip
        whole, rule = checks.flag(complete, "complete"), ScoreTies.checked(ties)
        most = None if max_docs is None else checks.positive_integer(max_docs, "max_docs")
        level = None if rel is None else least_gain(rel, "rel")
        if rule.bounds_only and most is not None:
            raise InvalidValueError("max_docs", f"must be left out with a tolerance, which has no cut, but is {most}")
        return cls(level, checked_unjudged(unjudged, rule), whole, rule, most, _checked_exclude(exclude))

    def left_out(self, query: str) -> frozenset[str]:
        """Return the documents that are left out of the ranking of a query."""
        if self.exclude is None or isinstance(self.exclude, str):
            return frozenset([query] if self.exclude else [])
        return self.exclude.get(query, frozenset())


def checked_unjudged(unjudged: Any, rule: ScoreTies | Ties) -> Unjudged:
    """Return the treatment of unjudged documents, checked; under a tolerance they are not unknown."""
    if isinstance(unjudged, str):
        treated: Any = checks.choice(unjudged, ("unknown", "irrelevant", "junk"), "unjudged")
    else:
        treated = least_gain(unjudged, "unjudged")
    if rule.bounds_only and is_unknown(treated):
        given = checks.shown(unjudged)
        raise InvalidValueError("unjudged", f"must be 'irrelevant' or 'junk' with a tolerance, but is {given}")
    return treated  # type: ignore[no-any-return]


def is_unknown(unjudged: Unjudged) -> bool:
    """Return whether unjudged documents are irrelevant or relevant, of the largest judged gain or a given one."""
    return unjudged not in ("irrelevant", "junk")


def _checked_exclude(given: Any) -> Any:
    """Check `exclude` of a run: "itself", or the documents of each query by its id."""
    if isinstance(given, Mapping):
        rows = {id_text(query, "a query in exclude"): row for query, row in given.items()}
        kind = "lists of document ids"
        return {
            query: frozenset(id_text(item, "a document in exclude") for item in checks.listed(row, "exclude", kind))
            for query, row in rows.items()
        }
    if given is not None and not (isinstance(given, str) and given == "itself"):
        rule = 'must be "itself", or documents by query, {query_id: [doc_id, ...]}'
        raise InvalidValueError("exclude", f"{rule}, but is {checks.shown(given)}")
    return given


class RunTables(NamedTuple):
    """A run and its qrels, checked: scores and grades by query and document."""

    scores: Checked
    judged: Checked
    queries: list[str]  # of the qrels, those that count
    options: RunOptions

    @classmethod
    def of(cls, scores: Checked, judged: Checked, options: RunOptions) -> RunTables:
        """Return the tables with the queries that count; a `rel` of 1 is the default where grades are whole."""
        if options.exclude is not None:
            scores, judged = (_without(table, options) for table in (scores, judged))
        if getattr(judged, "alternatives", None):
            scores, judged = first_alternatives(scores, judged, options.rule)
        if options.rel == 1 and all(type(grade) is int for row in judged.values() for grade in row.values()):
            options = options._replace(rel=None)
        return cls(scores, judged, [query for query in judged if options.complete or query in scores], options)

    def profile(self) -> TieProfile:
        """Return the profile, with all grades, whatever ``options.rel`` is; there is at least one query."""
        known = [self.judged.get(query, {}) for query in self.queries]
        relevant = [{d: grade for d, grade in row.items() if grade > 0} for row in known]
        of_query = np.repeat(np.arange(len(relevant)), [len(row) for row in relevant])
        grades, gains = leveled(of_query, [grade for row in relevant for grade in row.values()], len(relevant))
        grade_values = np.unique(grades) if len(grades) else np.ones(1, dtype=np.int64)
        rule, unknown = self.options.rule, is_unknown(self.options.unjudged)
        rule.require_ungraded(grade_values)
        level = int(grade_values[-1]) + 1 if unknown else 0  # of unjudged documents, above the grades
        counted = np.append(grade_values, level) if unknown else grade_values
        by_grade = np.zeros((len(relevant), len(counted)), dtype=np.int64)
        np.add.at(by_grade, (of_query, np.searchsorted(grade_values, grades)), 1)
        blocks, grade = [], iter(grades.tolist())
        for number, (query, row) in enumerate(zip(self.queries, relevant, strict=True)):
            grade_of, ranked = dict(zip(row, islice(grade, len(row)), strict=True)), self.ranked(query)
            if unknown:
                grade_of |= dict.fromkeys((d for d, grade in known[number].items() if grade == 0), 0)
            of_ranked = np.fromiter(map(grade_of.get, ranked, repeat(level)), np.int64, len(ranked))
            if unknown:
                by_grade[number, -1] = np.count_nonzero(of_ranked == level)
            keys = _with_ends(list(ranked.values()), of_ranked > 0, rule)
            blocks.append(count_keys(keys[:, None], of_ranked[None], counted))
        own = None if unknown else gains
        profile = assemble(blocks, counted, by_grade, tuple(self.queries), own, rule.bounds_only)
        if not unknown:
            return profile
        return with_unjudged(profile, level, gain_of(self.options.unjudged, self.judged), gains)

    def profile_of_judged_documents(self) -> TieProfile:
        """Return the profile of judged documents alone, with unretrieved irrelevant ones behind all others."""
        profile = self._replace(options=self.options._replace(unjudged="junk")).profile()
        irrelevant = [sum(grade == 0 for grade in self.judged.get(query, {}).values()) for query in self.queries]
        relevant = np.bincount(profile.query_of_group, profile.tied_relevant, profile.n_query).astype(np.int64)
        return replace(profile, n_ranked=relevant + np.array(irrelevant, dtype=np.int64))

    def coverage(self) -> TieProfile:
        """Return the profile of all ranked documents in which the judged ones are relevant."""
        options = self.options._replace(unjudged="irrelevant")
        return self._replace(judged=all_judged(self.judged), options=options).profile()

    def unjudged_documents(self, query: str) -> set[str]:
        """Return the documents that are ranked for a query and that nobody judged."""
        return {d for d in self.ranked(query) if not self.judged[query].get(d, -1) >= 0}

    def ranked(self, query: str) -> dict[str, Any]:
        """Return the scores of the documents of a query that count."""
        ranked, known, most = self.scores.get(query, {}), self.judged.get(query, {}), self.options.max_docs
        if most is not None and len(ranked) > most:
            ranked = _first(most, ranked, known, query, self.options.rule)
        if self.options.unjudged == "junk":
            ranked = {d: ranked[d] for d, grade in known.items() if grade >= 0 and d in ranked}
        return ranked


def all_judged(judged: Checked) -> Checked:
    """Return judgements in which each document that has one is relevant."""
    return {query: {d: 1 for d, grade in row.items() if grade >= 0} for query, row in judged.items()}


def _without(table: Checked, options: RunOptions) -> Checked:
    """Return a table without the documents that are left out."""
    result = copy(table)
    for query, row in table.items():
        if not (out := options.left_out(query)).isdisjoint(row):
            result[query] = {item: number for item, number in row.items() if item not in out}
    return result


def first_alternatives(scores: Checked, judged: Checked, rule: ScoreTies) -> tuple[Checked, Checked]:
    """Return a run and qrels in which the relevant one of several alternatives is that which is ranked first.

    The others are as if nobody had judged them. If none is ranked, one of them is relevant and was not found. If
    alternatives tie for the first place among themselves alone, one of them is ranked before the others. A tie with
    further documents is refused, since no single document then has the distribution of the first place.
    """
    result, moved = copy(judged), copy(scores)
    result.alternatives = None  # type: ignore[attr-defined]
    for query, sets in judged.alternatives.items():  # type: ignore[attr-defined]
        ranked = scores.get(query, {})
        keys = dict(zip(ranked, keys_of_numbers(list(ranked.values()), rule).tolist(), strict=True))
        row, ahead = dict(judged[query]), set[str]()
        for items in sets:
            there = [item for item in items if item in row]
            best = max((keys[item] for item in there if item in keys), default=None)
            first = [item for item in there if keys.get(item) == best]
            if best is not None and len(first) > 1:
                if rule != EQUAL or list(keys.values()).count(best) > len(first):
                    said = f"but query {query!r} has {first[0]!r} and {first[1]!r}"
                    about = "must not tie alternatives of a judgement for their first place with other documents"
                    raise InvalidValueError("run", f"{about}, {said}")
                ahead.add(first[0])
            for item in there:
                if item != first[0]:
                    del row[item]
        result[query] = row
        if ahead:
            moved[query] = {item: 2 * key + (item in ahead) for item, key in keys.items()}
    return moved, result


def in_common(scores: Checked, judged: Checked) -> tuple[Checked, Checked]:
    """Return a run and qrels that have a query in common, and refuse others."""
    if not scores.keys() & judged.keys():
        actual = f"the run has {checks.few(scores)} and the qrels have {checks.few(judged)}"
        raise InvalidValueError("run and qrels", f"must have a query in common, but {actual}")
    return scores, judged


def gain_of(unjudged: Unjudged, judged: Checked) -> float:
    """Return the gain of an unknown document if it is relevant: by default the largest that is judged."""
    if unjudged != "unknown":
        return float(unjudged)
    largest = max((grade for row in judged.values() for grade in row.values()), default=0)
    return float(largest) if largest > 0 else 1.0


def _first(most: int, scores: dict[str, Any], grades: dict[str, int], query: str, rule: ScoreTies) -> dict[str, Any]:
    keys, items = keys_of_numbers(list(scores.values()), rule), list(scores)
    last = np.partition(keys, len(keys) - most)[len(keys) - most]
    tied = np.flatnonzero(keys == last)
    room = most - int(np.count_nonzero(keys > last))
    if room < len(tied) and len({grades.get(items[i], -1) for i in tied}) > 1:
        raise InvalidValueError(
            "max_docs",
            f"must not cut through documents that tie and have different judgements, but query {query!r} has "
            f"{len(tied)} at rank {most}; measures with a cutoff, such as mAP@{most}, have bounds there",
        )
    chosen = np.concatenate([np.flatnonzero(keys > last), tied[:room]])
    return {items[i]: scores[items[i]] for i in chosen}


def keys_of_numbers(numbers: list[Any], ties: ScoreTies) -> Int64:
    """Return keys as `keys_of` does, for Python numbers: places in sorted order, unless all become float64."""
    if ties.dtype is not None:
        return keys_of(ties.rounded(numbers), "descending")
    if not ties.bounds_only and set(map(type, numbers)) <= {float}:
        return keys_of(np.array(numbers, dtype=np.float64), "descending")
    position = {number: i for i, number in enumerate(sorted(set(numbers)))}
    return np.array([position[number] for number in numbers], dtype=np.int64)


def _with_ends(numbers: list[Any], relevant: Bool, ties: ScoreTies) -> Int64:
    """Return keys, (1, n), or for a tolerance, (3, n), with the first and last that tie with each relevant one."""
    keys = keys_of_numbers(numbers, ties)[None]
    if ties.eps is None:
        return keys
    ordered, tolerance = sorted(set(numbers)), fractions.Fraction(ties.eps)
    keys = np.repeat(keys, 3, axis=0)
    for i in np.flatnonzero(relevant):
        score = fractions.Fraction(numbers[i])
        keys[1:, i] = bisect_left(ordered, score - tolerance), bisect_right(ordered, score + tolerance) - 1
    return keys
