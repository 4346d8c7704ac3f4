"""Plots: in come results, out go Matplotlib axes: those given as `ax`, or new ones. `pip install 'deadheat[plots]'`.

A `measure` is any name of one; `legend=False` leaves the legend to the caller; nothing to draw is a ValueError.

cmc                            Hit@k against k
precision_recall               precision against recall, of a query or a mean
roc                            true against false positives of pooled scores
per_class                      the classes, the worst on top
caterpillar                    each query from worst to best, with what ties leave open
bounds                         a report, or several: lower, expected, upper
rank_intervals                 the ranks that models may have, and who is tied for first place
mean_intervals                 several reports with the confidence intervals of their means
differences                    A − B for each query of a comparison
collision_image                who collides, query by query and rank by rank
collision_legend               what its colours mean, under a figure of several
distance_matrix, shift_matrix  the matrix of distances, and what is added to it to decide its ties
error_reject, risk_coverage    what rejecting the least confident queries does to the error
reliability                    whether confidences hold as probabilities
highest_density                where a parameter lies
credible_recall                how many relevant items lie where a posterior is densest
labelled_points                points of a plane and their classes
sample_order                   which class comes when in a file
order_ranges                   what the order of the samples is worth
measure_against_classes        a measure against the number of classes, as a `Band` for each line
interval_coverage              how many intervals hold what they are for
gap_histogram                  differences found in many draws
group_values                   the groups of a grouped measure, and their mean
model_correlation              two measures of many models
gap_trend                      gaps against a number of each model, such as its size
processor_time                 seconds against the number of samples
format_changes                 the same embeddings in fewer bits: differences
measure_against_bytes          the same embeddings in fewer bits: what a vector takes
mixed_queries                  how many queries have a tie that decides something
tie_sizes                      how large tie groups are
tie_states                     the paths through one tie group, and the expectation that they add up to
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deadheat.support.floats import plain_floats
from deadheat.support.lazy import require

if TYPE_CHECKING:
    from deadheat.plots.confidences import (
        credible_recall,
        error_reject,
        highest_density,
        labelled_points,
        reliability,
        risk_coverage,
    )
    from deadheat.plots.grouped import (
        Band,
        gap_histogram,
        gap_trend,
        group_values,
        interval_coverage,
        measure_against_classes,
        model_correlation,
        processor_time,
    )
    from deadheat.plots.precisions import format_changes, measure_against_bytes
    from deadheat.plots.reports import (
        bounds,
        caterpillar,
        cmc,
        differences,
        mean_intervals,
        per_class,
        precision_recall,
        rank_intervals,
        roc,
    )
    from deadheat.plots.ties import (
        collision_image,
        collision_legend,
        distance_matrix,
        mixed_queries,
        order_ranges,
        sample_order,
        shift_matrix,
        tie_sizes,
        tie_states,
    )

__all__ = [
    "Band", "bounds", "caterpillar", "cmc", "collision_image", "collision_legend", "credible_recall", "differences",
    "distance_matrix", "error_reject", "format_changes", "gap_histogram", "gap_trend", "group_values",
    "highest_density", "interval_coverage", "labelled_points", "mean_intervals", "measure_against_bytes",
    "measure_against_classes", "mixed_queries", "model_correlation", "order_ranges", "per_class", "precision_recall",
    "processor_time", "rank_intervals", "reliability", "risk_coverage", "roc", "sample_order", "shift_matrix",
    "tie_sizes", "tie_states",
]  # fmt: skip

_MODULES = ("confidences", "grouped", "precisions", "reports", "ties")


def __getattr__(name: str) -> Any:
    """Import all plots when the first is asked for: the HTML report of `deadheat.plots.pages` needs no Matplotlib."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require("matplotlib", "plots", "deadheat.plots")
    for module in _MODULES:
        for public, value in vars(import_module(f"{__name__}.{module}")).items():
            if public in __all__:  # what is drawn are the numbers of the plain mode
                globals()[public] = value if isinstance(value, type) else plain_floats(value)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
