"""A call of every plot, with names of systems and classes of any length."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes

import deadheat as dh
from deadheat import confidence, plots

Draw = Callable[..., Axes]


@cache
def examples(long: bool = False) -> dict[str, Draw]:
    """By name of a plot, a function of its `ax`; long names have several words, and one that cannot be broken."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(8), 5)
    embeddings = (rng.integers(-9, 10, (8, 8)))[labels] + rng.integers(-6, 7, (40, 8))
    many, more = "class of a very long name, as species have, number ", "a_network_with_a_long_name trained on birds "
    classes = np.array([f"{many * long}{each}" for each in labels])
    names = [f"{more * long}{each}" for each in "abc"]
    dimensions = [dh.Task(embeddings[:, :n], classes) for n in (8, 3, 2)]
    codes = dh.Task(embeddings > 0, classes, distance="hamming")
    tasks = dict(zip(names, [codes, *dimensions[1:]], strict=True))
    reports = {name: dh.evaluate(task, "mAP,Hit@1") for name, task in tasks.items()}
    report = reports[names[0]]
    norms = confidence.norms(embeddings)
    curve = confidence.error_reject_curve(report["Hit@1"], norms)
    scores = (rng.normal(size=400) + np.repeat([0, 1], 200)).round(1)
    pooled = dh.classification(scores, np.repeat([0, 1], 200))
    formats = dh.compare_formats(dimensions[0], measures="mAP")
    relevant = confidence.credible_recall([[3, 1]], [[4, 3, 2, 0]], [[1, 0]], masses=[0.25, 0.5, 0.9])
    differing = dh.compare(report, reports[names[1]], names=tuple(names[:2]))["mAP"]
    grouped = {name: dh.grouped(task, group_size=2) for name, task in tasks.items()}
    profiles = {name: each.profile for name, each in reports.items()}
    lookups = {name: dh.hash_lookup(codes) for name in names}
    exploits = {name: dh.exploit(task, draws=2) for name, task in tasks.items()}
    curves = {name: dh.precision_recall(each) for name, each in reports.items()}
    calls: dict[str, tuple[Any, dict[str, Any]]] = {
        "bounds": (reports, {}),
        "caterpillar": (report, {}),
        "cmc": (reports, {}),
        "collision_image": (dh.collisions(codes), {}),
        "credible_recall": (relevant, {"label": names[0]}),
        "det": (dict.fromkeys(names, pooled), {}),
        "differences": (differing, {}),
        "error_reject": (curve, {"label": names[0]}),
        "format_changes": (reports if long else formats, {}),
        "group_values": (grouped, {}),
        "hash_lookup": (lookups, {}),
        "mean_intervals": (reports, {}),
        "measure_against_bytes": (formats, {}),
        "order_ranges": (exploits, {}),
        "per_class": (report, {}),
        "precision_at_k": (reports, {}),
        "precision_recall": (curves, {}),
        "recall_at_k": (reports, {}),
        "reliability": (confidence.calibration(report["Hit@1"], norms / norms.max(), bins=4), {"label": names[0]}),
        "risk_coverage": (curve, {"label": names[0]}),
        "roc": (dict.fromkeys(names, pooled), {}),
        "tie_sizes": (profiles, {}),
    }
    assert {*calls, "collision_legend"} == {*plots.__all__}

    def call(name: str) -> Draw:
        given, settings = calls[name]
        return lambda ax=None, **more: getattr(plots, name)(given, **{**settings, **more}, ax=ax)

    return {name: call(name) for name in calls}
