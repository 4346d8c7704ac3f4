"""The experiment on the study's own draws: what its README and its figures print, from its own seed.

Its tests draw one after the other. The README's number is that of tests/test_uncertainty.py run alone, the number in
the figure that of all tests run together, where the toy examples are drawn first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deadheat.studies import published, seeded, toy
from deadheat.studies.confidence.experiment import SCALE, STEPS, Draw, Flipped, confidences, measured
from deadheat.studies.study import Finding, Mark, Outcome, Setting, Table, beside
from deadheat.support.triple import Triple

_HALF = 0.5
_STRIPES = toy.STRIPES[2]


class There(NamedTuple):
    """One run of the study's tests: the moved confidences measured, and the average that the correlation shows."""

    draw: Draw
    average: float


def alone() -> tuple[Flipped, float]:
    """What tests/test_uncertainty.py draws if nothing is drawn before."""
    return _drawn(seeded.Uniform())


def together() -> tuple[Flipped, float]:
    """The same if all tests are run, those of the toy examples first."""
    uniform = seeded.Uniform()
    for stripes in toy.STRIPES.values():
        seeded.points(uniform, stripes)
    return _drawn(uniform)


def _drawn(uniform: seeded.Uniform) -> tuple[Flipped, float]:
    """The points of the first test with their flipped labels; of the second, the average of the drawn confidences."""
    points, items = seeded.corrupted(uniform, _STRIPES)
    flipped = np.zeros(len(points), dtype=bool)
    flipped[items] = True
    labels = (points[:, 0] > 0).astype(np.int64)
    others, chosen = seeded.corrupted(uniform, _STRIPES)
    average = round(float(confidences(others)[chosen].mean()), 4) * SCALE  # as its code rounds it
    return Flipped(points, np.where(flipped, 1 - labels, labels), flipped, confidences(points)), average


def run(setting: Setting) -> Outcome:
    """Both runs, next to what is printed."""
    runs = {"tests/test_uncertainty.py alone": alone(), "all tests together": together()}
    found = {name: There(measured(data, setting.threads), average) for name, (data, average) in runs.items()}
    one, all_together = found.values()
    why = "the study's own points: PyTorch's generator with the seed 42, "
    return Outcome(
        findings=[
            beside(
                f"average of the original confidences times {SCALE:g}, tests/test_uncertainty.py alone", one.average,
                published.RANK_CORRELATION_PEAK, unit="", digits=1, source=published.RANKING_METRICS,
                why=f"{why}in the order in which this file draws",
            ),
            beside(
                f"average of the original confidences times {SCALE:g}, all tests together", all_together.average,
                published.RANK_CORRELATION_AVERAGE, unit="", digits=1, source=published.RANK_CORRELATION_FIGURE,
                why=f"{why}after the toy examples",
            ),
            *(_error(name, there) for name, there in found.items()),
            _default(one),
        ],
        tables=[_table(found)],
    )  # fmt: skip


def _error(name: str, there: There) -> Finding:
    """The right end of the figure's axis."""
    area = there.draw.steps[-1].by_hit
    return Finding(
        f"error-reject area by Hit@1 at a confidence of 1, {name}",
        f"{100 * area.expected:.2f} % [{100 * area.lower:.2f}, {100 * area.upper:.2f}]",
        Mark.of(abs(100 * area.expected - published.MOVED_ERROR) <= _HALF),
        f"about {published.MOVED_ERROR} %",
        published.MOVED_FIGURE,
        "read off the axis, to half a point; where in the interval the study's number lies, its sort decides",
    )


def _default(there: There) -> Finding:
    """The number in the middle of the figure, both ways."""
    step = there.draw.steps[int(np.flatnonzero(STEPS == _HALF)[0])]
    return Finding(
        f"confidence against Recall@1 at a confidence of {_HALF:g}: all thresholds, and scikit-learn's default",
        f"{100 * step.accuracy.mean_accuracy.expected:.2f} and {100 * step.by_default:.2f} %",
        Mark.NEW,
        why="the study's own points, tests/test_uncertainty.py alone; its code asks for all thresholds "
        "(drop_intermediate=False), the default drops those at which the ROC curve goes on as before",
    )


def _table(found: dict[str, There]) -> Table:
    rows = [
        [name, confidence, step.accuracy.mean_accuracy.expected, step.by_default, *step.by_hit, *step.by_map]
        for name, there in found.items()
        for confidence, step in zip(STEPS.tolist(), there.draw.steps, strict=True)
    ]
    areas = [f"ERC by {by}: {end}" for by in ("Hit@1", "MAP@R") for end in Triple._fields]
    columns = ["run", "confidence of the flipped", "all thresholds", "scikit-learn's default", *areas]
    return Table("own-draws", "The study's own draws", columns, rows, percent=columns[2:])
