"""What ties and the order of the samples do to a function: checks that call it, and say what they found."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from deadheat.analyses.exploit import exploit
from deadheat.audits.evaluator import inputs
from deadheat.audits.evaluator.bench import Bench, Observation, spread
from deadheat.audits.evaluator.definitions import SAME
from deadheat.audits.finding import Finding
from deadheat.support.arrays import Array, Int64
from deadheat.support.triple import Triple

_ALARM = 3.0  # standard deviations above random that chance does not explain
_REPAIR = (
    "Break ties by a stated rule that no submission controls, or report the lower bound, as deadheat.evaluate does."
)


class Empty(NamedTuple):
    """What a system that knows nothing gets: its value in some orders of the samples, and what is possible."""

    by_order: dict[str, Observation]
    truth: Triple[float] | None
    deviation: float

    @property
    def highest(self) -> Observation:
        """The order that is worth most."""
        return max(self.by_order.values(), key=lambda each: -math.inf if math.isnan(each.value) else each.value)

    @property
    def sigmas(self) -> float:
        """How many standard deviations of random rankings that is above their expectation."""
        if self.truth is None or not self.deviation > 0:
            return math.nan
        return (self.highest.value - self.truth.expected) / self.deviation

    @property
    def verdict(self) -> str:
        """What the function makes of ties, in a few words."""
        if math.isnan(self.highest.value):
            return "no value"
        if spread(self.by_order.values()) > SAME:
            return "by order"
        if self.truth is None:
            return "not by order"
        ends = {"lower bound": self.truth.lower, "expectation": self.truth.expected, "upper bound": self.truth.upper}
        near = [name for name, value in ends.items() if abs(value - self.highest.value) <= SAME]
        return near[0] if near else "neither bound nor expectation"


def empty_system(bench: Bench, labels: Int64, draws: int, seed: int) -> Empty:
    """Call the function with a system that knows nothing, in some orders."""
    maker, rows = bench.maker, bench.maker.empty(labels)
    found = {
        name: bench.see(maker.case(f"{maker.empty_name}, {name}", rows, labels, order))
        for name, order in inputs.orders(labels, draws, seed).items()
    }
    first = next(iter(found.values()))
    deviation = bench.definitions[0].deviation(first.case) if bench.definitions else math.nan
    return Empty(found, first.truth, deviation)


def findings_of_empty(bench: Bench, empty: Empty) -> Iterator[Finding]:
    """What an empty system gains, and what the function makes of ties."""
    name, best, figures = bench.maker.empty_name, empty.highest, _figures(empty)
    if empty.verdict == "by order":
        low, high = min(figures["values"].values()), max(figures["values"].values())
        sentence = f"A system that knows nothing ({name}) scores from {bench.per_cent(low)} to {bench.per_cent(high)}"
        yield Finding("sample order", "serious", f"{sentence}, by the order of the samples alone.", figures, _REPAIR)
    elif empty.verdict == "neither bound nor expectation":
        sentence = (
            f"Of ties ({name}) it makes {bench.per_cent(best.value)}, which is neither bound nor the expectation."
        )
        yield Finding("meaning of ties", "warning", sentence, figures, "Say in the documentation what ties are worth.")
    elif empty.verdict != "no value":
        yield Finding("meaning of ties", "note", f"Ties count as: {empty.verdict} (on {name}).", figures)
    if empty.sigmas > _ALARM:
        assert empty.truth is not None
        gain = f"scores {bench.per_cent(best.value)} in the order {_order_of(best)!r}"
        above = (
            f"{empty.sigmas:.0f} standard deviations above the {bench.per_cent(empty.truth.expected)} of random ones"
        )
        sentence = f"A system that knows nothing ({name}) {gain}, {above}."
        yield Finding("empty system", "serious", sentence, figures, _REPAIR)


def without_ties(bench: Bench, seed: int) -> Iterator[Finding]:
    """Whether order matters even where nothing ties."""
    labels, maker = inputs.small_labels(), bench.maker
    rows = maker.distinct(labels, seed)
    orders = {"as made": np.arange(len(labels)), "reversed": np.arange(len(labels))[::-1]} | inputs.orders(
        labels, 1, seed
    )
    found = [bench.see(maker.case(f"no ties, {name}", rows, labels, order)) for name, order in orders.items()]
    if spread(found) > SAME:
        sentence = f"Without any tie, the order of the samples moves the value by {bench.per_cent(spread(found))}."
        figures = {"values": {each.case.name: each.value for each in found}}
        yield Finding(
            "sample order without ties", "serious", sentence, figures, "Look at how labels follow their samples."
        )


def with_ties(bench: Bench, seed: int) -> Iterator[Finding]:
    """Few levels and copies, in orders that are made to gain: adversarial ones where embeddings are known."""
    labels, maker = inputs.small_labels(), bench.maker
    groups = {"few levels": maker.coarse(labels, seed), "copies": maker.repeated(labels, seed)}
    moved = {}
    for name, rows in groups.items():
        orders = inputs.orders(labels, 1, seed) | (_adversarial(bench, rows, labels) if name == "few levels" else {})
        moved[name] = [bench.see(maker.case(f"{name}, {order}", rows, labels, orders[order])) for order in orders]
    figures = {name: {_order_of(each): each.value for each in found} for name, found in moved.items()}
    wide = {name: spread(found) for name, found in moved.items() if spread(found) > SAME}
    if wide:
        parts = " and ".join(f"{bench.per_cent(width)} ({name})" for name, width in wide.items())
        yield Finding(
            "sample order with ties",
            "serious",
            f"The order of the samples moves the value by {parts}.",
            figures,
            _REPAIR,
        )
    if bench.form != "embeddings":
        bench.see(inputs.tied_behind())


def by_place(bench: Bench, n: int, n_relevant: int) -> Iterator[Finding]:
    """What place in the list, and an id that follows it, is worth where all scores are equal."""
    if bench.form == "embeddings":
        return
    first, last = (bench.see(inputs.one_asked(n, n_relevant, first=first)) for first in (True, False))
    if spread((first, last)) > SAME:
        values = (
            f"{bench.per_cent(first.value)} if they come first in the list and {bench.per_cent(last.value)} if last"
        )
        sentence = f"With all scores zero, {n_relevant} relevant items in {n} score {values}."
        yield Finding("place in the list", "serious", sentence, {"first": first.value, "last": last.value}, _REPAIR)


def _adversarial(bench: Bench, rows: Array, labels: Int64) -> dict[str, Int64]:
    """The worst and the best order that are found for a stable sort, where that can be looked for."""
    if bench.form != "embeddings" or not bench.definitions:
        return {}
    definition = bench.definitions[0]
    distance = definition.reading.name.partition(",")[0]
    found = exploit(rows, labels, measure=definition.measure.name, distance=distance, draws=1, tries=2, threads=1)
    return {"made for a low value": found.lowest.order, "made for a high value": found.highest.order}


def _figures(empty: Empty) -> dict[str, Any]:
    """What an empty system scores, and what could be."""
    return {
        "values": {name: each.value for name, each in empty.by_order.items()},
        "possible": None if empty.truth is None else empty.truth._asdict(),
        "random_std": empty.deviation,
        "standard_deviations_above_random": empty.sigmas,
    }


def _order_of(observation: Observation) -> str:
    """The order in the name of a case."""
    return observation.case.name.partition(", ")[2]
