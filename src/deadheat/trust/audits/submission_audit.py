"""Audit of a submission: in come embeddings and labels, out go findings, the most serious first.

embeddings, labels ──> evidence: every pass over the data, once ──> checks, one row each ──> findings ──> Audit
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from deadheat.engine.counting.options import CountingOptions
from deadheat.inputs.item_ids import OwnRows
from deadheat.inputs.samples import EmbeddingsLike, LabelsLike, Pair, open_pair
from deadheat.reports.averaging import Average, Singletons, SummaryOptions
from deadheat.reports.tables import DIGITS, Table, count, decimals, number, plain, program, value
from deadheat.support import checks
from deadheat.support.floats import plain_floats
from deadheat.support.progress import Progress
from deadheat.trust.audits.evidence import Evidence, collect
from deadheat.trust.audits.findings import Audited, Finding, bounds, most_serious_first
from deadheat.trust.audits.submission_checks import CHECKS

MEASURES = ("mAP", "MAP@R", "Hit@1")  # the headline first


@plain_floats
def audit(
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    measures: str | Iterable[str] | None = MEASURES,
    distance: str = "cosine",
    junk: ArrayLike | None = None,
    exclude: OwnRows | None = None,
    singletons: Singletons = "skip",
    average: Average = "query",
    seed: int = 0,
    threads: int | None = None,
    progress: bool | Progress = False,
    device: Any = None,
) -> Audit:
    """Find what a careful referee would ask about a submission: embeddings and the labels that they are scored by.

    How far the score moves by how ties are broken, by the type of the scores, and by the order of the samples under a
    plain sort; zero, constant and repeated embeddings; dead and saturated dimensions, and few levels; near ties that
    float32 cannot distinguish; labels in order, queries with nothing to find, unequal classes; and whether the score is
    more than knowing nothing gets.

    Parameters
    ----------
    embeddings, labels, gallery, gallery_labels
        As in `deadheat.evaluate`: arrays or files.
    measures : str or iterable of str, optional
        As there; by default mAP, MAP@R and Hit@1. The first is compared with chance.
    distance, junk, exclude, singletons, average, threads, progress, device
        As there. There is a pass for exact distances and one for each type of scores, each with its own progress.
    seed : int
        Of shuffled orders, random embeddings, and queries that are looked at where there are too many for whole
        rankings. The same seed gives the same findings on any machine.

    Returns
    -------
    Audit
        The findings, the most serious first. **Ties:** all values are given as lower, expected and upper, but those of
        a plain sort, which has only one. **Undefined:** NaN as in `deadheat.evaluate`, and for standard deviations of
        what was not drawn.

    Raises
    ------
    TypeError, ValueError
        As `deadheat.evaluate` does.

    Notes
    -----
    A finding is *serious* where the score should not be believed as it stands, a *warning* where a reader has to know
    of it, a *note* where a reader may like to. The thresholds, and reasons for them, are in
    `deadheat.trust.audits.thresholds`.

    It takes a few times as long as `deadheat.evaluate`. Whole rankings, which a plain sort needs, are made only where a
    tie affects a measure, and for many items of a sample of the queries. Random embeddings are drawn for about a
    thousand samples at most; the deviation of random rankings is exact for any number.

    Examples
    --------
    Embeddings that are all zero, sorted by class:

    >>> import numpy as np
    >>> found = audit(np.zeros((60, 4)), np.repeat(["a", "b", "c"], 20))
    >>> [finding.name for finding in found.of("serious")]
    ['ties', 'sample order', 'chance', 'zero embeddings']
    >>> found.passes()
    False
    >>> print(found["zero embeddings"].sentence)
    All 60 rows are zero throughout (rows 0, 1, 2, 3, 4, ...) and carry no information.
    """
    summary = SummaryOptions.checked(measures, singletons, average)
    options = CountingOptions.checked(
        distance=distance, junk=junk, threads=threads, progress=progress, device=device, exclude=exclude
    )
    seed = checks.whole_number(seed, "seed")
    return audit_pair(open_pair(embeddings, labels, gallery, gallery_labels), options, summary, seed)


@plain_floats
def audit_pair(pair: Pair, options: CountingOptions, summary: SummaryOptions, seed: int) -> Audit:
    """`audit` of queries and a gallery, or of leave one out, that are open and checked."""
    evidence = collect(pair, options, summary, seed)
    return Audit(most_serious_first(found for check in CHECKS for found in check(evidence)), evidence)


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Audited):
    """What a careful referee would ask about a submission.

    Printing it gives the verdict, the measures by exact distances, rounded scores, plain sorts and chance, and then the
    findings. Iterating goes through the findings.

    Attributes
    ----------
    findings : tuple of Finding
        The most serious first; ``name``, ``severity``, ``sentence``, ``figures`` and ``advice`` of each.
    evidence : Evidence
        What they were found in: ``evidence.report`` is that of `deadheat.evaluate`.
    """

    findings: tuple[Finding, ...]
    evidence: Evidence

    def about(self) -> str:
        (n, dim), gallery = self.evidence.pair.query.embeddings.shape, self.evidence.pair.gallery
        against = "" if gallery is None else f" against {len(gallery.labels)}"
        return f"{count(n, 'embedding', 'embeddings')}{against} of dim {dim}, {self.evidence.report.distance}"

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """The measures in per cent: by exact distances, rounded scores, plain sorts and chance."""
        form = decimals(digits)
        evidence, names = self.evidence, self.evidence.report.measures
        reports = {"exact distances": evidence.report}
        reports |= {f"scores in {dtype}": report for dtype, report in evidence.rounded.items()}
        single = self._plain_sorts() | {"chance": {name: evidence.chance[name].expected for name in names}}
        rows = [[title, *(value(report[name], digits) for name in names)] for title, report in reports.items()]
        rows += [[title, *(number(100 * each[name], form) for name in names)] for title, each in single.items()]
        return [Table(["measure (%)", *names], rows)]

    def to_dict(self) -> dict[str, Any]:
        """The findings, and the values that the table shows, unrounded, as plain values that JSON can hold."""
        evidence = self.evidence
        values = {what: bounds(report) for what, report in {**evidence.rounded, "chance": evidence.chance}.items()}
        sorts = self._plain_sorts()
        return {
            "deadheat": program(),
            "distance": evidence.report.distance,
            "n_query": evidence.report.n_query,
            "counts": self.counts(),
            "measures": {
                name: plain(
                    ends
                    | {what: each[name] for what, each in values.items()}
                    | {"plain_sort": {title: each[name] for title, each in sorts.items()}}
                )
                for name, ends in bounds(evidence.report).items()
            },
            "findings": [each.to_dict() for each in self.findings],
        }

    def _plain_sorts(self) -> dict[str, dict[str, float]]:
        """Rows of values by a plain sort, where ties make any difference."""
        sorts = self.evidence.sorts
        if sorts is None:
            return {}
        return {
            "plain sort, as in the file": sorts.file,
            "plain sort, reversed": sorts.backwards,
            "plain sort, shuffled": {name: values[0] for name, values in sorts.shuffled.items()},
        }
