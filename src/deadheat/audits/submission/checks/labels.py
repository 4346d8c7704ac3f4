"""What the labels are: their order in the file, queries with nothing to find, classes that make up the mean."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deadheat.audits.finding import Finding
from deadheat.audits.submission import limits
from deadheat.audits.submission.evidence import Evidence
from deadheat.audits.submission.wording import percent, share
from deadheat.reports.averaging import Averaging
from deadheat.reports.tables import count


def in_runs(evidence: Evidence) -> Iterator[Finding]:
    """Classes that come one after the other in the file."""
    runs, sorts, name = evidence.runs, evidence.zero_sorts, evidence.headline
    if not runs.found or sorts is None:
        return
    nothing = evidence.chance[name].expected
    moved = max(result.upper - result.lower for result in evidence.report.values())
    yield Finding(
        "labels in order",
        "warning" if moved >= limits.PRINTED else "note",
        f"The labels come in {count(runs.n_run, 'run', 'runs')} of one class each, for {runs.n_class} classes; "
        f"a random order has about {runs.likely:.0f}. In this order a plain stable sort gives all-zero embeddings "
        f"{name} {percent(sorts.file[name])}, where knowing nothing is worth {percent(nothing)}.",
        {
            "runs": runs.n_run, "classes": runs.n_class, "likely": runs.likely, "order": runs.order,
            "all_zero": {"file": sorts.file, "reversed": sorts.backwards, "expected": nothing},
        },
        "Shuffle the samples, so that no sort can find the labels in their order.",
    )  # fmt: skip


def without_relevant(evidence: Evidence) -> Iterator[Finding]:
    """Queries with nothing to find."""
    n, n_query = evidence.report.n_singleton, evidence.report.n_query
    if n:
        yield Finding(
            "queries without a relevant item",
            "warning" if n >= limits.MANY_SINGLETONS * n_query else "note",
            f"{share(n, n_query, 'queries').capitalize()} have no relevant item among what is ranked; "
            f"singletons: {evidence.report.singletons}.",
            {"queries": n, "n_query": n_query, "singletons": evidence.report.singletons},
            "Say how they count: left out, as 0 or as 1, they give different means.",
        )


def imbalance(evidence: Evidence) -> Iterator[Finding]:
    """Classes that make up most of the mean, and what the mean over classes is."""
    report, name = evidence.report, evidence.headline
    assert report.classes is not None
    values = report[name].per_query.expected
    sizes = np.bincount(report.classes[~np.isnan(values)])
    sizes = np.sort(sizes[sizes > 0])[::-1]
    n_class, total = len(sizes), int(sizes.sum())
    if not total:
        return
    over_queries, over_classes = (
        Averaging(average, report.n_query, report.labels).mean(values) for average in ("query", "class")
    )
    dominated = sizes[0] >= max(limits.DOMINANT_CLASS, 2 / n_class) * total
    if not dominated and abs(over_queries - over_classes) < limits.MEANS_APART:
        return
    yield Finding(
        "class imbalance",
        "warning",
        f"The largest of {n_class} classes has {share(int(sizes[0]), total, 'queries that count')}, the smallest "
        f"{sizes[-1]}; the mean of {name} is {percent(over_queries)} over queries and {percent(over_classes)} over "
        "classes.",
        {
            "classes": n_class, "largest": int(sizes[0]), "smallest": int(sizes[-1]), "queries": total,
            "effective_classes": total**2 / float(np.square(sizes, dtype=np.float64).sum()),
            "over_queries": over_queries, "over_classes": over_classes,
        },
        'Report both means (average="class"); they answer different questions.',
    )  # fmt: skip
