"""Plots: in come results, out go Matplotlib axes: those given as `ax`, or new ones. `pip install 'deadheat[plots]'`.

A `measure` is any name of one; `legend=False` leaves the legend to the caller; nothing to draw is a ValueError.

- `cmc`: Hit@k against k
- `precision_at_k`, `recall_at_k`: P@k and Recall@k against k, up to the gallery
- `precision_recall`: precision against recall, of a query or a mean
- `hash_lookup`: precision and recall within each Hamming radius
- `roc`, `det`: true positives, or false negatives on probit axes, against false positives of pooled scores
- `per_class`: the classes, the worst on top
- `caterpillar`: each query from worst to best, with its bounds under ties
- `bounds`: a report, or several: lower, expected, upper
- `mean_intervals`: several reports with the confidence intervals of their means
- `slices`: a report or a comparison for each value of a column
- `differences`: A − B for each query of a comparison
- `collision_image`: collisions, by query and rank
- `collision_legend`: a legend of its colours, under a figure of several
- `error_reject`, `risk_coverage`: the error when the least confident queries are rejected
- `reliability`: the share of right queries against their confidence
- `credible_recall`: the share of relevant items in the regions where a posterior is densest
- `order_ranges`: the values that orders of the samples give, between the bounds
- `group_values`: the groups of a grouped measure, and their mean
- `format_changes`: the same embeddings in fewer bits: differences
- `measure_against_bytes`: the same embeddings in fewer bits: a measure against bytes per vector
- `tie_sizes`: the sizes of tie groups
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deadheat.support.floats import plain_floats
from deadheat.support.lazy import require

if TYPE_CHECKING:
    from deadheat.plots.confidences import credible_recall, error_reject, reliability, risk_coverage
    from deadheat.plots.precisions import format_changes, measure_against_bytes
    from deadheat.plots.reports import (
        bounds,
        caterpillar,
        cmc,
        det,
        differences,
        group_values,
        hash_lookup,
        mean_intervals,
        per_class,
        precision_at_k,
        precision_recall,
        recall_at_k,
        roc,
        slices,
    )
    from deadheat.plots.ties import collision_image, collision_legend, order_ranges, tie_sizes

__all__ = [
    "bounds", "caterpillar", "cmc", "collision_image", "collision_legend", "credible_recall", "det", "differences",
    "error_reject", "format_changes", "group_values", "hash_lookup", "mean_intervals", "measure_against_bytes",
    "order_ranges", "per_class", "precision_at_k", "precision_recall", "recall_at_k", "reliability", "risk_coverage",
    "roc", "slices", "tie_sizes",
]  # fmt: skip

_MODULES = ("confidences", "precisions", "reports", "ties")


if not TYPE_CHECKING:  # to which every name of a module with `__getattr__` is one

    def __getattr__(name: str) -> Any:
        """Import all plots at the first use of one: the HTML report of `deadheat.plots.pages` needs no Matplotlib."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        require("matplotlib", "plots", "deadheat.plots")
        for module in _MODULES:
            for public, value in vars(import_module(f"{__name__}.{module}")).items():
                if public in __all__:  # what is drawn are the numbers of the plain mode
                    globals()[public] = value if isinstance(value, type) else plain_floats(value)
        return globals()[name]


def __dir__() -> list[str]:
    return __all__
