"""Figures 2, 3 and 4 of Nicolaou et al. 2018: which neighbours collide, and which of the collisions are ties.

The published picture calls it a collision where two neighbours in rank are less than e apart in rounded distances. Here
that rule stands beside the exact one, on the paper's data if it is there (`washington`), and on sets that need no file.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deadheat.analyses.collisions import collisions
from deadheat.counting.ranking import Rankings
from deadheat.studies.collisions import claims, washington
from deadheat.studies.collisions.rule import DISTANCES, Data, Matrix, distances_of, group_numbers, split_and_merged
from deadheat.studies.collisions.shown import as_published, count_table, row_of_images, rule_table
from deadheat.studies.collisions.washington import load, rule_findings
from deadheat.studies.data import GEORGE_WASHINGTON, digits
from deadheat.studies.study import Finding, Mark, Outcome, Setting, Study, joined

_SOURCE = (
    "Nicolaou et al. 2018, Non-deterministic Behavior of Ranking-based Metrics when Evaluating Embeddings, "
    "arXiv:1806.07171, figures 2, 3 and 4, and the code and data that were published with it (anguelos/embedding_map)."
)
_ABOUT = (
    "The paper draws, for every query and rank, whether two neighbours in rank are closer together than e, and takes "
    "this for the ambiguity of the ranking. Two neighbours that are that close need not tie. Here each collision is "
    "looked at exactly: is it a tie of the real numbers, and is the group relevant, irrelevant, or mixed? Only a mixed "
    "group can change a measure."
)


def run(setting: Setting) -> Outcome:
    """The four sets, one after another."""
    text = [
        "The paper shows figures 2 and 3 without a count, so that only the pictures can be compared. Orange is a "
        "relevant collision (red in the paper), blue an irrelevant one, as in the paper; black is a mixed one, which "
        "the paper does not tell apart.",
        "The published rule sorts the query itself among the items, and counts the gap between it and its nearest "
        "neighbour; deadheat takes the query out by its index.",
    ]
    outcome = joined([part(setting) for part in (washington.run, white_noise, pixels, grid)], text)
    return replace(outcome, conclusion=_conclusion(outcome))


def _conclusion(outcome: Outcome) -> str:
    """How many published collisions are ties, set by set."""
    rule = next(table for table in outcome.tables if table.name == "published-rule")
    count, ties = (rule.columns.index(name) for name in ("collisions", "ties of the real numbers"))
    told = []
    for name in dict.fromkeys(row[0] for row in rule.rows):
        rows = [row for row in rule.rows if row[0] == name]
        told.append(f"{name} {sum(row[ties] for row in rows):,} of {sum(row[count] for row in rows):,}")
    return (
        "A small gap between two neighbours is seldom a tie of float embeddings, and nearly always one of integers. "
        f"Collisions by the published rule that are ties of the real numbers: {'; '.join(told)}."
    )


def published_noise(n: int, dim: int) -> Matrix:
    """White noise, (n, dim) in [0, 1), as the published code draws it: the same generator, seed and draws before it."""
    random = np.random.RandomState(1337)
    random.shuffle(np.arange(1000))
    for _ in range(30):  # the random embeddings that stand beside the all-zero one
        random.random_sample((1000, 100))
    return random.random_sample((n, dim))


def white_noise(setting: Setting) -> Outcome:
    """Figure 3."""
    file = setting.file(GEORGE_WASHINGTON)
    if file is not None:
        labels = load(file).labels
    else:  # words by how often they come: 431 of them, as on George Washington
        share = 1 / np.arange(1, 432)
        labels = np.random.default_rng(0).choice(431, size=1164, p=share / share.sum())
    first = 1080 if setting.quick else 900
    everything = Data("white noise", "White noise", published_noise(len(labels), 504), labels, 1e-5)
    part, samples = everything[first:], f"{first} to {len(labels) - 1}"
    setting.say(f"white noise: {len(part.labels)} samples")
    origin = "George Washington" if file else "made words"
    caption = (
        f"Figure 3: uniform noise in 504 dimensions with the labels of {origin}, samples {samples}. Above, the "
        "published rule with e = 1e-5; below, the groups within 1e-5 in exact arithmetic."
    )
    picture, kinds = as_published(part, "noise", caption, setting)
    rule, pairs = rule_table(part, samples, setting)
    amplified = row_of_images(
        "noise-amplified", "The lower row of the picture above, amplified by 3 ranks and 3 queries.", kinds, amplify=3
    )
    why = "" if file else f"labels that were made here stand in for those of {GEORGE_WASHINGTON}"
    findings = rule_findings(part, samples, pairs, "figure 3", Mark.NEW if file else Mark.OTHER_DATA, why)
    judged, which = not setting.quick, f"samples {samples}"
    findings.append(claims.fewer(part, which, pairs, judged=judged))
    findings += claims.noise_eps(part, which, judged=judged)
    return Outcome(findings, [picture, amplified], [rule, count_table(part, samples, setting)])


def pixels(setting: Setting) -> Outcome:
    """Digits: their pixels are integers, which truly tie."""
    images, labels = digits()
    n, shown = (300, 150) if setting.quick else (len(labels), 450)
    data = Data("digits", "scikit-learn's digits", images[:n], labels[:n], 1e-10)
    setting.say(f"digits: {n} samples")
    pictures = [
        (distance, collisions(data.embeddings[:shown], data.labels[:shown], distance=distance, threads=setting.threads))
        for distance in DISTANCES
    ]
    caption = (
        f"Exact ties of the first {shown} of {data.title}: 8 × 8 pixels, grey levels from 0 to 16. City block "
        "distances are whole numbers of at most 1024, Euclidean distances and cosines are roots."
    )
    picture = row_of_images("digits", caption, pictures)
    samples = "all" if n == len(labels) else f"0 to {n - 1}"
    rule, _ = rule_table(data, samples, setting)
    return Outcome(_rounding_findings(data, setting), [picture], [rule, count_table(data, samples, setting)])


def _rounding_findings(data: Data, setting: Setting) -> list[Finding]:
    """What float64 makes of exact ties."""
    findings = []
    for distance in DISTANCES:
        rankings = Rankings(data.embeddings, distance=distance, threads=setting.threads)
        counted = collisions(data.embeddings, data.labels, distance=[distance], threads=setting.threads)[distance]
        split, merged = split_and_merged(group_numbers(rankings), distances_of(data, distance))
        findings.append(
            Finding(
                f"{data.name}, {distance}: exact tie groups, those that are mixed, those that float64 distances split",
                f"{counted.together.groups}, {counted.mixed.groups}, {split}",
                Mark.NEW,
                why=f"groups of equal float64 distances that are no tie: {merged}",
            )
        )
    return findings


def grid(setting: Setting) -> Outcome:
    """Points of a grid, in classes that can be seen: every tie is mixed or not for a reason."""
    side = 10
    points = np.stack(np.meshgrid(np.arange(1, side + 1), np.arange(1, side + 1)), axis=-1).reshape(-1, 2)
    labels = (points[:, 0] > side // 2) + 2 * (points[:, 1] > side // 2)
    data = Data("grid", f"A grid of {side} × {side} points", points, labels, 1e-10)
    images = [
        (distance, collisions(points, labels, distance=distance, threads=setting.threads)) for distance in DISTANCES
    ]
    caption = (
        f"Exact ties of the {side} × {side} points (1, 1) to ({side}, {side}), whose class is the quarter that they "
        "lie in. With cosine, what lies in one direction from the origin ties."
    )
    picture = row_of_images("grid", caption, images)
    return Outcome(_rounding_findings(data, setting), [picture], [count_table(data, "all", setting)])


STUDY = Study(
    name="collisions",
    question="which neighbours are equally far",
    title="Collisions: which neighbours are equally far",
    source=_SOURCE,
    about=_ABOUT,
    docs="docs/studies/collisions.md",
    run=run,
    needs=("scipy", "sklearn"),
)
