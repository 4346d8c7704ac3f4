"""Audit of a judged collection, before any system ranks it: in come documents and qrels, out go findings.

qrels, ids of the documents ──> what is not there, and the ceilings that it sets
rows or texts ────────────────> copies under other ids, and how they were judged
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from deadheat.engine.distances.columns import Columns
from deadheat.engine.sources.judged import unique_ids
from deadheat.engine.sources.run import from_run
from deadheat.errors import InvalidValueError
from deadheat.inputs import trec
from deadheat.inputs.files import FileLayout
from deadheat.inputs.labels import labels
from deadheat.inputs.samples import EmbeddingsLike, open_labels, open_rows
from deadheat.inputs.trec import Checked
from deadheat.reports.answer import Panel
from deadheat.reports.averaging import fractions
from deadheat.reports.evaluating import evaluate
from deadheat.reports.tables import count
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import json
from deadheat.trust.audits import findings, thresholds
from deadheat.trust.audits.findings import Audited, Finding, share, table_of_ways

MEASURES = ("nDCG@10", "Recall@100", "MRR")
_IDS = FileLayout(labels_key="ids", label_column="ids")  # where a file has more than that


@plain_floats
def audit_collection(
    gallery: EmbeddingsLike | Mapping[str, Any],
    qrels: trec.Path | trec.Table,
    gallery_ids: Any = None,
    *,
    measures: str | Iterable[str] | None = MEASURES,
) -> CollectionAudit:
    """Find what a collection does to every system that is evaluated on it: its documents and their judgements.

    It checks for relevant documents that are not there, and the ceilings that these set; queries without a relevant
    document; equal documents under several ids, and differences in their judgements; and grades that no document has.

    Parameters
    ----------
    gallery : (n_gallery, dim) array, path, or dict of str to text
        Embeddings of the documents, in any form that `deadheat.Task` takes, or the documents by id, as BEIR's corpus.
    qrels : path, dict, data frame or iterable of named tuples
        As in `deadheat.from_run`.
    gallery_ids : (n_gallery,) strings or integers, or a path, optional
        The id of each row in the qrels. By default they are in the file of the embeddings, under the name ``ids``.
    measures : str or iterable of str
        The measures whose ceilings are computed.

    Returns
    -------
    CollectionAudit
        The findings, the most serious first. **Ties:** none, as nothing is ranked. **Undefined:** queries without a
        relevant document are left out of the ceilings.

    Raises
    ------
    OSError, TypeError, ValueError
        As `deadheat.from_judged` does, and if no query has a relevant document.

    Examples
    --------
    Document d is not there, and b is a copy of a that nobody judged:

    >>> found = audit_collection([[1], [1], [2]], {"q": {"a": 1, "d": 1}}, ["a", "b", "c"], measures="Recall@10")
    >>> [finding.name for finding in found], found.ceilings
    (['unreachable documents', 'copies judged differently', 'copies'], {'Recall@10': 0.5})
    """
    copy_of, judged, names = _opened(gallery, gallery_ids), trec.open_qrels(qrels), fractions(measures)
    relevant = {query: {each: grade for each, grade in row.items() if grade > 0} for query, row in judged.items()}
    there = {query: {each: row[each] for each in row if each in copy_of} for query, row in relevant.items()}
    best, ceilings = (
        {name: result.upper for name, result in evaluate(from_run(first, judged), names).items()}
        for first in (relevant, there)
    )
    made = *_unreachable(relevant, there, best, ceilings), *_copies(judged, copy_of), *_unused_grades(judged, there)
    return CollectionAudit(findings.most_serious_first(made), len(judged), len(copy_of), best, ceilings)


@dataclass(frozen=True, eq=False, repr=False)
class CollectionAudit(Audited):
    """The audit of a collection.

    Attributes
    ----------
    findings : tuple of Finding
        The most serious first; ``name``, ``severity``, ``sentence``, ``figures`` and ``advice`` of each.
    n_query, n_document : int
    best, ceilings : dict of str to float
        By measure, its value with every relevant document first, and with every one that is in the gallery first.
    """

    findings: tuple[Finding, ...]
    n_query: int
    n_document: int
    best: Mapping[str, float]
    ceilings: Mapping[str, float]

    def about(self) -> str:
        return f"{count(self.n_query, 'query', 'queries')}, {count(self.n_document, 'document', 'documents')}"

    def panels(self) -> list[Panel]:
        """Return the best values and the ceilings of the measures, in per cent."""
        return [
            table_of_ways({}, {"every relevant document first": self.best, "those in the gallery first": self.ceilings})
        ]

    def facts(self) -> dict[str, Any]:
        """Return the numbers of queries and documents, the best values and the ceilings."""
        return self._facts_of("n_query", "n_document", "best", "ceilings")


def _opened(gallery: Any, gallery_ids: Any) -> dict[str, int]:
    """Return by id of a document a number for its row or text, equal where these are."""
    if isinstance(gallery, Mapping):
        if gallery_ids is not None:
            raise InvalidValueError("gallery_ids", "must be left out where the gallery has documents by id")
        numbers: dict[str, int] = {}
        texts = (json.dumps(each, sort_keys=True, default=str) for each in gallery.values())
        ids, copy_of = list(gallery), [numbers.setdefault(text, len(numbers)) for text in texts]
    else:
        rows, given = open_rows(gallery, "gallery", _IDS), gallery if gallery_ids is None else gallery_ids
        named = labels(open_labels(given, "gallery_ids", _IDS), len(rows), "gallery_ids", "the gallery")
        ids, copy_of = named.astype(np.str_).tolist(), Columns.of(rows).column_of_item.tolist()
    return dict(zip(unique_ids(ids, "gallery_ids", len(copy_of)), copy_of, strict=True))


def _some(
    name: str, severity: str, which: Sequence[str], total: int, kind: str, what: str, advice: str, **figures: Any
) -> Iterator[Finding]:
    """Yield a finding on some of all documents or queries, if there are any."""
    if which:
        figures |= {kind.split()[-1]: len(which), "total": total, "which": which[: thresholds.EXAMPLES]}
        yield findings.some(name, severity, len(which), total, kind, what, advice, **figures)


def _unreachable(
    relevant: Checked, there: Checked, best: Mapping[str, float], ceilings: Mapping[str, float]
) -> Iterator[Finding]:
    """Yield findings on queries without a relevant document, and on relevant documents that are not there."""
    empty = [query for query, row in relevant.items() if not row]
    yield from _some(
        "queries without a relevant item",
        "warning" if len(empty) >= thresholds.MANY_SINGLETONS * len(relevant) else "note",
        empty, len(relevant), "queries", "have no document with a grade above 0.",
        "State how they count: excluded, as 0 or as 1; the means differ.",
    )  # fmt: skip
    lost = [(query, each) for query, row in relevant.items() for each in row if each not in there[query]]
    moves = {name: best[name] - ceilings[name] for name in best}
    queries, (name, move) = {query for query, _ in lost}, findings.worst(moves)
    alone = sum(not there[query] for query in queries)
    yield from _some(
        "unreachable documents", findings.by_move(move), [each for _, each in lost], sum(map(len, relevant.values())),
        "relevant documents",
        f"are not in the gallery, in {share(len(queries), len(relevant) - len(empty), 'queries')}; "
        f"{count(alone, 'query has', 'queries have')} no other. The ceiling of {name} is "
        f"{findings.percent(ceilings[name])} in place of {findings.percent(best[name])}.",
        "Look whether the ids are those of the qrels, and state the ceilings with every result.",
        queries=len(queries), queries_without_any=alone, moves=moves,
    )  # fmt: skip


def _copies(judged: Checked, copy_of: Mapping[str, int]) -> Iterator[Finding]:
    """Yield findings on documents that are equal, and on queries for which they were judged differently."""
    sizes, unjudged, otherwise = np.bincount(list(copy_of.values()), minlength=1), {}, {}
    copies, largest = [each for each, number in copy_of.items() if sizes[number] > 1], int(sizes.max())
    severity = max(findings.by_share(len(copies), len(copy_of)), "warning", key=findings.SEVERITIES.index)
    yield from _some(
        "copies", severity, copies, len(copy_of), "documents",
        f"are equal to one with another id; the most frequent is there {largest} times.",
        "Equal documents tie exactly, whatever the model: keep one of each, or report the bounds.", largest=largest,
    )  # fmt: skip
    for query, row in judged.items():
        grades = defaultdict(list)
        for document in row.keys() & copy_of.keys():
            grades[copy_of[document]].append(row[document])
        relevant = {number: of_copies for number, of_copies in grades.items() if max(of_copies) > 0}
        unjudged[query] = int(sum(sizes[number] - len(of_copies) for number, of_copies in relevant.items()))
        otherwise[query] = sum(len(of_copies) - of_copies.count(max(of_copies)) for of_copies in relevant.values())
    queries = [query for query in judged if unjudged[query] or otherwise[query]]
    figures = {"unjudged": sum(unjudged.values()), "of_another_grade": sum(otherwise.values())}
    yield from _some(
        "copies judged differently", findings.by_share(len(queries), len(judged)), queries, len(judged), "queries",
        f"have copies of a relevant document that are not judged like it: {figures['unjudged']} not at all, "
        f"{figures['of_another_grade']} with another grade.",
        "Give all copies of a document one grade: no system can rank one of them before the others.", **figures,
    )  # fmt: skip


def _unused_grades(judged: Checked, there: Checked) -> Iterator[Finding]:
    """Yield a finding on whole grades, up to the highest in the qrels, that no document of the gallery has."""
    given, used = ({grade for row in each.values() for grade in row.values()} for each in (judged, there))
    if not used or any(grade != int(grade) for grade in given):
        return
    gaps = [(a + 1, b - 1) for a, b in pairwise(sorted({0, *used, max(given) + 1})) if b - a > 1]
    unused = ", ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in gaps)
    if gaps:
        sentence = f"No document of the gallery has grade {unused}; some have {', '.join(map(str, sorted(used)))}."
        advice = "Say which gains the grades stand for: nDCG depends on their differences."
        yield Finding(
            "unused grades", "note", sentence, {"unused": list(map(list, gaps)), "used": sorted(used)}, advice
        )
