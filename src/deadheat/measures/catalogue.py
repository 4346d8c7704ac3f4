"""The catalogue of measures: one row a family. Whatever knows measures by name reads it here.

A new measure is a row here, and its closed forms in one file of its family. The other spellings are those of trec_eval,
ir_measures, ranx, torchmetrics, pytorch-metric-learning, sentence-transformers and the papers.
"""

from __future__ import annotations

import numpy as np

from deadheat.measures.average_precision import AveragePrecision
from deadheat.measures.discounted_gain import GAINS, DiscountedGain
from deadheat.measures.family import Family, key
from deadheat.measures.first_last_hit import FirstHit, LastHit
from deadheat.measures.hits import Hits, SetCounts
from deadheat.measures.interpolated import RECALLS, Interpolated, nearest, reached
from deadheat.measures.pairs import Area, Preferences

DEFAULT_MEASURES: tuple[str, ...] = ("mAP", "MAP@R", "R-Precision", "Hit@1", "Hit@10", "MRR", "nDCG@10")


FAMILIES = (
    Family(
        "mAP", "may", "precision", AveragePrecision(),
        "precision at the rank of each relevant item (up to k only), summed, over R",
        ("AP", "average precision", "mean average precision", "map cut"),
    ),
    Family(
        "MAP@R", "R", "precision", AveragePrecision(),
        "the same with k = R",
        ("AP@R", "MAPR", "MAP at R", "average precision at R", "mean average precision at R"),
    ),
    Family(
        "R-Precision", "R", "precision", Hits(factor=1.0, size=0.0, share=1.0),
        "hits / R with k = R",
        ("Rprec", "precision at R", "precision@R", "P@R"),
    ),
    Family(
        "P", "must", "precision", Hits(factor=1.0, size=1.0, share=0.0),
        "hits / k, also where fewer than k items are ranked",
        ("precision", "prec"),
    ),
    Family(
        "Recall", "must", "recall", Hits(factor=1.0, size=0.0, share=1.0),
        "hits / R, as in information retrieval",
        ("R",),
    ),
    Family(
        "Hit", "must", "recall", FirstHit(reciprocal=False),
        "1 if there is a hit, else 0; metric learning calls it Recall@k. Also CMC@k",
        ("Success", "CMC", "hits", "hit rate", "hit ratio", "HR", "rank", "accuracy"),
    ),
    Family(
        "MRR", "may", "precision", FirstHit(reciprocal=True),
        "1 over the rank of the first relevant item, 0 if that is beyond k",
        ("RR", "recip rank", "reciprocal rank", "mean reciprocal rank"),
    ),
    Family(
        "nDCG", "may", "precision", DiscountedGain(),
        "gains over log2(rank + 1), summed, over the same for the best order",
        ("normalized DCG", "normalised DCG", "normalized discounted cumulative gain", "ndcg cut"),
        choices=GAINS,
    ),
    Family(
        "F1", "must", "precision", Hits(factor=2.0, size=1.0, share=1.0),
        "2 hits / (k + R), the harmonic mean of P@k and Recall@k",
        ("F1-score",),
    ),
    Family(
        "AUC", "never", "precision", Area(),
        "share of (relevant, irrelevant) pairs with the relevant item in front",
        ("ROC AUC", "AUC ROC", "AUROC", "ROC AUC score"),
    ),
    Family(
        "mINP", "never", "precision", LastHit(),
        "R over the rank of the last relevant item, 0 if one was not retrieved",
        ("INP",),
    ),
    Family(
        "bpref", "never", "precision", Preferences(),
        "mean over relevant items of 1 - min(x, R) / min(N, R): x of the N judged irrelevant items in front",
        ("binary preference",),
    ),
    Family(
        "IPrec", "recall", "precision", Interpolated(reached),
        "best precision at a relevant item from recall r on: from the r R-th, rounded up",
        ("interpolated precision",),
    ),
    Family(
        "iprec_at_recall", "recall", "precision", Interpolated(nearest),
        "the same as trec_eval 10 has it: from the r R-th, rounded to the nearest",
        (),
    ),
    Family(
        "11pt_avg", "never", "precision", Interpolated(nearest, RECALLS),
        "mean of iprec_at_recall@0, @0.1, ..., @1",
        ("11pt",),
    ),
    Family(
        "SetP", "never", "precision", SetCounts(lambda h: h, lambda n, r: n),
        "share of the ranked items that is relevant; no order changes it, nor the next four",
        ("set precision",),
    ),
    Family(
        "SetR", "never", "recall", SetCounts(lambda h: h, lambda n, r: r),
        "share of the relevant items that is ranked",
        ("set recall",),
    ),
    Family(
        "SetRelP", "never", "precision", SetCounts(lambda h: h, np.minimum),
        "relevant items that are ranked, over the lesser of ranked and R",
        ("set relative P", "set relative precision"),
    ),
    Family(
        "SetAP", "never", "precision", SetCounts(lambda h: h * h, lambda n, r: n * r),
        "SetP times SetR",
        ("set map", "set average precision"),
    ),
    Family(
        "SetF", "never", "precision", SetCounts(lambda h: 2.0 * h, lambda n, r: n + r),
        "harmonic mean of SetP and SetR",
        ("set F1",),
    ),
)  # fmt: skip

SPELLINGS = {spelling: (row, choice) for row in FAMILIES for spelling, choice in row.spellings.items()}


def find(name: str) -> tuple[Family, str | None] | None:
    """The row that a name without cutoff stands for, and the choice that it means; None if there is no such row.

    Examples
    --------
    >>> find("Success")[0].name
    'Hit'
    """
    return SPELLINGS.get(key(name))


def listing() -> str:
    """The catalogue as people read it: what `deadheat measures` prints.

    Examples
    --------
    >>> print("\\n".join(listing().splitlines()[2:5]))
    name          also           value for a query
    mAP, mAP@k    AP             precision at the rank of each relevant item (up to k only), summed, over R
    MAP@R         AP@R           the same with k = R
    """
    cells = [("name", "also", "value for a query"), *map(_cells, FAMILIES)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)][:2]
    table = [f"{name:{widths[0]}}  {also:{widths[1]}}  {sentence}" for name, also, sentence in cells]
    return "\n".join([
        "R is the number of relevant items of a query; hits are those among its first k ranks. Means are over queries.",
        "",
        *table,
        "",
        f"Case does not matter. Shown by default: {', '.join(DEFAULT_MEASURES)}.",
    ])  # fmt: skip


def _cells(row: Family) -> tuple[str, str, str]:
    end = {"must": "@k", "recall": "@r"}.get(row.cutoff, "")
    name = f"{row.name}, {row.name}@k" if row.cutoff == "may" else row.name + end
    also = row.aliases[0] + end if row.aliases else ""
    return name, also, row.sentence
