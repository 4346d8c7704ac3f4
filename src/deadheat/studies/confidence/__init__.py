"""Ranking measures with a model's confidence: the ranking-metrics study's experiment, and real embeddings beside it.

In comes a setting; out come the curves of the experiment with their bounds, on draws of our own and on the study's, the
norm and the label entropy as confidences of real embeddings, σ-targets, highest density intervals and what they hold.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadheat.studies.confidence import ambiguity, densities, experiment, pictures, real, regions, there
from deadheat.studies.confidence.experiment import STEPS, Draw
from deadheat.studies.study import Outcome, Setting, Study, joined

_SOURCE = (
    "the study arrrrrmin/ranking-metrics, tests/test_uncertainty.py, after Musgrave et al. 2020 and the library "
    "tinkoff-ai/probabilistic-embeddings; excess AURC: Geifman, Uziel, El-Yaniv 2019"
)
_ABOUT = (
    "In the second toy example, 100 drawn labels are flipped. The flipped points all get one confidence, which moves "
    "from 0.05 to 1, and the measures of confidence are to notice. Because the flipped are equally confident, the "
    "study's single numbers depend on a sort; here each has a lower bound, an expectation and an upper bound. Then the "
    "norm and the entropy of the neighbours' labels serve as confidences of real embeddings. Stand-in models of digits "
    "that are blurred, cropped and annotated by stand-in annotators show what a σ-target tells, and which items lie in "
    "the credible regions of a posterior."
)


def run(setting: Setting) -> Outcome:
    """The experiment over several draws and on the study's own, real embeddings, σ-targets, and credible regions."""
    n, seeds = (400, range(2)) if setting.quick else (2000, range(20))
    setting.say(f"{len(seeds)} draws of {n} points, {len(STEPS)} steps each")
    draws = [experiment.run(seed, n, setting.threads) for seed in seeds]
    setting.say("the study's own draws, real embeddings, σ-targets, highest densities, credible regions")
    ours = Outcome(experiment.findings(draws), pictures.of(draws), [pictures.table(draws)])
    parts = [part.run(setting) for part in (there, real, ambiguity, densities, regions)]
    return joined([ours, *parts], _text(draws), _conclusion(draws))


def _conclusion(draws: Sequence[Draw]) -> str:
    """What the measures notice of the flipped, and what they leave open."""
    by_hit = experiment.values_of(draws, lambda step: step.by_hit)
    first, last = 100 * by_hit[:, 0, 1].mean(), 100 * by_hit[:, -1, 1].mean()
    width = 100 * (by_hit[:, :, 2] - by_hit[:, :, 0]).max()
    accuracy = experiment.values_of(draws, lambda step: step.accuracy.mean_accuracy.expected)
    majority = experiment.values_of(draws, lambda step: step.accuracy.majority_accuracy)
    return (
        f"The error-reject area notices wrong confidences: it rises from {first:.1f} to {last:.1f} % as the flipped "
        f"points become the most confident. But it is no single number where confidences tie: the order of the equally "
        f"confident moves it by up to {width:.2f} points. Confidence against Recall@1 averages over all thresholds "
        f"({100 * accuracy.min():.1f} to {100 * accuracy.max():.1f} %), and stays below the guess that every query is "
        f"right in {100 * (accuracy <= majority).mean():.0f} % of the cases."
    )


def _text(draws: Sequence[Draw]) -> list[str]:
    flipped = [int(draw.data.flipped.sum()) for draw in draws]
    unflipped = np.concatenate([draw.data.original[~draw.data.flipped] for draw in draws])
    wrong = [1 - draw.hit.expected[draw.data.flipped].mean() for draw in draws]
    return [
        f"The flipped points are drawn with replacement, so that {min(flipped)} to {max(flipped)} of them are "
        f"different. Of these, {100 * min(wrong):.0f} to {100 * max(wrong):.0f} % have a nearest neighbour of the "
        f"other label. The confidences of all other points lie between {unflipped.min():.3f} and "
        f"{unflipped.max():.3f}, so that nothing changes while that of the flipped moves below or above this range.",
    ]


STUDY = Study(
    name="confidence",
    question="ranking measures with a model's confidence",
    title="Ranking measures with a model's confidence",
    source=_SOURCE,
    about=_ABOUT,
    docs="docs/studies/confidence.md",
    run=run,
    needs=("scipy", "sklearn", "arviz_stats"),
)
