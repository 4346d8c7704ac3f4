"""What the checks judge: every pass over the data that an audit needs, made once.

pair ──> exact report ──> the same once scores are rounded, and once near ties count as ties
                      ──> what a plain sort gives, if any tie affects the report
     ──> labels ──> chance: embeddings that are all zero, and random ones drawn
     ──> rows
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from deadheat import inputs
from deadheat.analyses.exploit import RandomBaseline, random_baseline
from deadheat.audits.submission import limits
from deadheat.audits.submission.labels import Runs, runs_of
from deadheat.audits.submission.orders import PlainSorts, all_zero, of_zeros, plain_sorts
from deadheat.audits.submission.rows import Rows, look_at
from deadheat.counting import CountingOptions, profile_pair
from deadheat.errors import QueryInGalleryWarning
from deadheat.inputs import Pair, Samples
from deadheat.inputs.sources import Source
from deadheat.profiles import TieProfile
from deadheat.reports import Report
from deadheat.reports.evaluating import evaluate_pair, report_on
from deadheat.reports.options import SummaryOptions
from deadheat.reports.tables import has_ties
from deadheat.ties import Tolerance
from deadheat.ties import make as tie_rule

PARTS = ("embeddings", "gallery")
DTYPES = ("float32", "float16", "bfloat16")  # of scores, as systems serve them


class Near(NamedTuple):
    """A difference of distances, and a report in which all that differ by less tie: bounds alone."""

    eps: float
    report: Report


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that is known of a submission.

    Attributes
    ----------
    report : Report
        With exact ties.
    rounded : mapping of str to Report
        By type, with scores rounded to it.
    near : Near or None
        With a tolerance of the precision of float32, for rows of this length; None for bits.
    chance : Report
        On embeddings that know nothing: every ranking is equally likely.
    draws : RandomBaseline or None
        Random embeddings, of the first measure; None where that would take too long or has no such mean.
    sorts : PlainSorts or None
        What the order of the samples makes of the measures; None where no tie affects any of them.
    zero_sorts : PlainSorts or None
        What it makes of embeddings that are all zero; None where labels are in no order.
    runs : Runs
        How the labels of what is ranked follow each other in the file.
    parts : mapping of str to Rows
        Under "embeddings" and, where there is one, "gallery".
    """

    pair: Pair
    options: CountingOptions
    report: Report
    rounded: dict[str, Report] = field(repr=False)
    near: Near | None = field(repr=False)
    chance: Report = field(repr=False)
    draws: RandomBaseline | None
    sorts: PlainSorts | None
    zero_sorts: PlainSorts | None
    runs: Runs
    parts: dict[str, Rows] = field(repr=False)

    @property
    def headline(self) -> str:
        """The first measure, which is judged against chance."""
        return self.report.measures[0]

    @property
    def takes_numbers(self) -> bool:
        """Whether embeddings are rows of numbers, and not binary codes."""
        return self.options.distance != "hamming"


def collect(pair: Pair, options: CountingOptions, summary: SummaryOptions, seed: int) -> Evidence:
    """Make all passes; nothing is printed or warned of."""
    options = options.fitted(pair)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryInGalleryWarning)  # which is a finding
        report = evaluate_pair(pair, options, summary)
    affected = any(map(has_ties, report.values()))
    chance = _report(_all_tied(report.profile), pair, summary, options)
    runs = runs_of(inputs.label_codes(_ranked(pair).labels)[0])
    zeros = all_zero(pair), chance, of_zeros(options), summary, seed
    parts = {name: _rows(samples, options) for name, samples in zip(PARTS, pair[:2], strict=True) if samples}
    return Evidence(
        pair=pair,
        options=options,
        report=report,
        rounded={dtype: _report(_rounded(pair, options, dtype), pair, summary, options) for dtype in DTYPES},
        near=_near(pair, options, summary, parts),
        chance=chance,
        draws=_draws(pair, options, summary, seed),
        sorts=plain_sorts(pair, report, options, summary, seed) if affected else None,
        zero_sorts=plain_sorts(*zeros) if runs.found else None,
        runs=runs,
        parts=parts,
    )


def _ranked(pair: Pair) -> Samples[Source]:
    """What is ranked: the gallery, or in leave one out the queries themselves."""
    return pair.query if pair.gallery is None else pair.gallery


def _report(profile: TieProfile, pair: Pair, summary: SummaryOptions, options: CountingOptions) -> Report:
    return report_on(profile, summary, labels=pair.query.labels, distance=options.distance, threads=options.threads)


def _rounded(pair: Pair, options: CountingOptions, dtype: str) -> TieProfile:
    """The profile with scores rounded to a type."""
    return profile_pair(pair, replace(options, rule=tie_rule(dtype)))


def _all_tied(profile: TieProfile) -> TieProfile:
    """The profile of embeddings that are all zero, for the same queries, gallery and labels."""
    asking = profile.n_relevant > 0
    nothing = np.zeros(np.count_nonzero(asking), dtype=np.int64)
    return TieProfile(
        np.concatenate([[0], np.cumsum(asking)]), nothing, nothing, profile.n_ranked[asking],
        profile.n_relevant[asking], profile.n_ranked, profile.n_relevant, check=False,
    )  # fmt: skip


def _draws(pair: Pair, options: CountingOptions, summary: SummaryOptions, seed: int) -> RandomBaseline | None:
    """Random embeddings, as many as take a moment; only for plain means over queries, and where all is ranked."""
    draws = min(limits.MOST_DRAWS, limits.DRAWN_PAIRS // (len(pair.query.labels) * len(_ranked(pair).labels)))
    all_ranked = options.junk is None and options.exclude is None
    usual = all_ranked and (summary.singletons, summary.average) == ("skip", "query")
    if draws < limits.FEWEST_DRAWS or not usual:
        return None
    distance = "cosine" if options.distance == "hamming" else options.distance
    measure = summary.measures[0]
    gallery_labels = None if pair.gallery is None else pair.gallery.labels
    return random_baseline(
        pair.query.labels, gallery_labels, draws=draws, measure=measure, distance=distance, seed=seed,
        threads=options.threads,
    )  # fmt: skip


def _rows(samples: Samples[Source], options: CountingOptions) -> Rows:
    return look_at(samples.embeddings, inputs.label_codes(samples.labels)[0], options.distance)


def _near(pair: Pair, options: CountingOptions, summary: SummaryOptions, parts: dict[str, Rows]) -> Near | None:
    """Bounds once distances count as equal that differ by less than the numbers' precision; None for bits."""
    lengths = parts["embeddings"].length, parts[PARTS[0] if pair.gallery is None else PARTS[1]].length
    scale = {"cosine": 1.0, "inner_product": lengths[0] * lengths[1], "hamming": 0.0}.get(
        options.distance, max(lengths)
    )
    eps = limits.PRECISION * scale
    if not 0 < eps < math.inf:
        return None
    return Near(eps, _report(profile_pair(pair, replace(options, rule=Tolerance(eps))), pair, summary, options))
