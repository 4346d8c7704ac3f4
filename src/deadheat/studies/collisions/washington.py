"""Figures 2 and 4 on PHOCNet's embeddings of George Washington: what collides there, and what rounding does."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np

from deadheat import Rounded, evaluate
from deadheat.counting.ranking import Rankings
from deadheat.studies import published
from deadheat.studies.collisions import claims
from deadheat.studies.collisions.rule import Data, Ruled, distances_of
from deadheat.studies.collisions.shown import (
    as_published,
    count_table,
    matrices,
    precision_picture,
    row_of_images,
    rule_table,
)
from deadheat.studies.data import GEORGE_WASHINGTON, WASHINGTON_MAP, WASHINGTON_ROUNDED, george_washington
from deadheat.studies.study import Finding, Mark, Outcome, Setting, Table, beside, joined, missing

_PAPER = "arXiv:1806.07171"
_NOTES = "not published: measured with SciPy's float64 distances on the same file"


def run(setting: Setting) -> Outcome:
    """Figures 2 and 4, and what rounding the distances does."""
    file = setting.file(GEORGE_WASHINGTON)
    if file is None:
        return _absent()
    everything = load(file)
    first, last = (1000, 1000) if setting.quick else (650, 900)
    types = () if setting.quick else ("float32", "float16")
    parts = [Outcome(_counted(everything))]
    parts += [_drawn(everything[first:], f"{first} to {len(everything.labels) - 1}", types, setting)]
    if not setting.quick:
        parts.append(_all_samples(everything, types, setting))
    return joined([*parts, Outcome(_nearest_pair(everything, setting), [matrices(everything[last:], last)])])


def _absent() -> Outcome:
    """What cannot be computed without the file."""
    return Outcome(
        [
            missing(what, GEORGE_WASHINGTON, published=published, source=f"{_PAPER}, {figure}")
            for what, published, figure in (
                ("figure 2: collisions on George Washington", "a picture, no count", "figure 2"),
                ("figure 4: the matrices D and E", "a picture", "figure 4"),
            )
        ]
    )


def _drawn(part: Data, samples: str, types: Sequence[str], setting: Setting) -> Outcome:
    """Figure 2 for some of the samples."""
    setting.say(f"{part.title}: {len(part.labels)} samples for the pictures")
    caption = (
        f"Figure 2: {part.title}, samples {samples}. Above, the published rule: two neighbours in rank less than "
        "1e-10 apart in float64, coloured by the farther one, the query itself at rank 0. Below, the groups within "
        "1e-10 in exact arithmetic, coloured by what is in the group."
    )
    picture, kinds = as_published(part, "gw", caption, setting)
    amplified = row_of_images(
        "gw-amplified",
        "The lower row of the picture above, amplified: every mark is widened by 3 ranks and 3 queries on every "
        "side, so that single collisions can be seen. The area of the marks says nothing about how many there are.",
        kinds,
        amplify=3,
    )
    rule, pairs = rule_table(part, samples, setting)
    judged, which = not setting.quick, f"samples {samples}"
    return Outcome(
        [
            *rule_findings(part, samples, pairs, "figure 2", Mark.NEW),
            claims.fewer(part, which, pairs, judged=judged),
            *claims.right_side(part, which, pairs, judged=judged),
        ],
        [picture, amplified, precision_picture(part, samples, setting)],
        [rule, count_table(part, samples, setting, types)],
    )


def _all_samples(everything: Data, types: Sequence[str], setting: Setting) -> Outcome:
    """The same counts for all samples, beside what was measured before."""
    setting.say(f"{everything.title}: all {len(everything.labels)} samples")
    rule, pairs = rule_table(everything, "all", setting)
    counts = count_table(everything, "all", setting, types)
    findings = rule_findings(everything, "all", pairs, "figure 2 shows a part of them", Mark.NEW)
    findings.append(claims.fewer(everything, "all samples", pairs, judged=True))
    findings += claims.right_side(everything, "all samples", pairs, judged=True)
    return Outcome([*findings, *_noted(everything, counts, setting)], tables=[rule, counts])


def _counted(data: Data) -> list[Finding]:
    """Queries and classes that the slides count, and the collision that they say moves mAP."""
    size = np.unique(data.labels, return_counts=True)[1]
    several = size > 1
    report = evaluate(data.embeddings, data.labels, measures=["mAP"])
    result, mixed = report["mAP"], report.ties.mixed_groups
    here = int(size[several].sum()), int(several.sum())
    printed = published.WASHINGTON_QUERIES, published.WASHINGTON_CLASSES
    return [
        Finding(
            "George Washington: queries with another of their class, and classes of these",
            "{}, {}".format(*here),
            Mark.of(here == printed),
            "{} samples, {} classes".format(*printed),
            published.TIES_SLIDES,
            f"all {len(data.labels)} samples stay in the gallery, of {len(size)} classes",
        ),
        Finding(
            "George Washington, cosine: tie groups that can move mAP, and by how much",
            f"{mixed}; {100 * (result.upper - result.lower):.2f} points",
            Mark.of(mixed == 1),
            f"one collision, about {published.WASHINGTON_EFFECT} %",
            published.TIES_SLIDES,
            "in float64 one pair of samples is at distance 0, which is no tie of the real numbers (below); the "
            "published code takes the wrong one of the two for the query itself (the study of the exploit)",
        ),
    ]


def load(file: Path) -> Data:
    """The file, with the e of the published picture."""
    return Data("George Washington", "PHOCNet embeddings of George Washington", *george_washington(file), 1e-10)


def rule_findings(
    data: Data, samples: str, pairs: dict[str, Ruled], figure: str, mark: Mark, why: str = ""
) -> list[Finding]:
    """How many collisions the published rule sees, and how many of them are ties."""
    which = "all samples" if samples == "all" else f"samples {samples}"
    return [
        Finding(
            f"{data.name}, {which}, {distance}: collisions by the published rule, and ties among them",
            f"{ruled.n_collision}, {ruled.n_tie}",
            mark,
            "a picture, no count",
            f"{_PAPER}, {figure}",
            why or f"pairs of neighbours in rank less than {data.eps:g} apart; a tie is equally far as a real number",
        )
        for distance, ruled in pairs.items()
    ]


def _noted(data: Data, counts: Table, setting: Setting) -> list[Finding]:
    """What had been measured on all samples before: mAP, and the mixed groups of rounded cosine distances."""
    mixed = {(row[2], row[3]): row[6] for row in counts.rows}
    findings = []
    for distance, noted in WASHINGTON_MAP.items():
        report = evaluate(data.embeddings, data.labels, distance=distance, measures=["mAP"], threads=setting.threads)
        name = f"George Washington, {distance}"
        findings.append(beside(f"{name}: mAP, lower bound", 100 * report["mAP"].lower, noted, digits=4, source=_NOTES))
        findings.append(beside(f"{name}: mAP, upper bound", 100 * report["mAP"].upper, noted, digits=4, source=_NOTES))
        for rule in ("exact", "float64 distance (SciPy)"):
            findings.append(
                beside(f"{name}: mixed tie groups, {rule}", mixed[distance, rule], 0, unit="", digits=0, source=_NOTES)
            )
    for name, (groups, lower, upper, digits) in WASHINGTON_ROUNDED.items():
        rule, what = f"{name} distance", f"George Washington, cosine distance rounded to {name}"
        report = evaluate(
            data.embeddings, data.labels, ties=Rounded(name, of="distance"), measures=["mAP"], threads=setting.threads
        )
        findings += [
            beside(f"{what}: mixed tie groups", mixed["cosine", rule], groups, unit="", digits=0, source=_NOTES),
            beside(f"{what}: mAP, lower bound", 100 * report["mAP"].lower, lower, digits=digits, source=_NOTES),
            beside(f"{what}: mAP, upper bound", 100 * report["mAP"].upper, upper, digits=digits, source=_NOTES),
        ]
    return findings


def _nearest_pair(data: Data, setting: Setting) -> list[Finding]:
    """The samples that SciPy puts at cosine distance 0 from each other, and how far apart they are exactly."""
    left, right = np.nonzero(np.triu(distances_of(data, "cosine") <= 0, 1))
    same = data.labels[left] == data.labels[right]
    pairs = [
        f"samples {i} and {j}, of {'one class' if alike else 'two classes'}"
        for i, j, alike in zip(left.tolist(), right.tolist(), same.tolist(), strict=True)
    ]
    here, noted = "; ".join(pairs) or "none", "samples 1162 and 1163, of two classes"
    metric = Rankings(data.embeddings, threads=setting.threads).metric
    squares = metric.exact_closeness(left, metric.columns.column_of_item[right]).signed_squares()
    with localcontext() as context:
        context.prec = 60
        apart = [1 - (Decimal(square.numerator) / Decimal(square.denominator)).sqrt() for square in squares]
    name = "George Washington: samples whose cosine distance is 0 in float64 (SciPy)"
    return [
        Finding(name, here, Mark.of(here == noted), noted, _NOTES),
        Finding(
            "George Washington: the exact cosine distance of these samples",
            ", ".join(f"{float(gap):.4g}" for gap in apart) or "none",
            Mark.NEW,
            why="where it is not 0, neither of the two ties with the query itself",
        ),
    ]
