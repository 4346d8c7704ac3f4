"""The checks of an evaluator: in comes its bench, on which they call it; out go findings.

The order of the samples; numbers that mean the same in other types, labels and scales; threads and repetition; and what
holds for every answer. `CHECKS`, at the end, has a row for each.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.evaluators import cases
from benchmarks.evaluators.bench import SAME, Bench, EmptySystem, Observation, span, widest
from benchmarks.evaluators.cases import Case
from deadheat.analyses.exploit import exploit
from deadheat.engine.task import Task
from deadheat.reports.tables import count
from deadheat.support.arrays import Array, Int64
from deadheat.support.lazy import lazy
from deadheat.trust.audits.findings import Finding

_ALARM = 3.0  # standard deviations above random that chance does not explain
_REPAIR = (
    "Break ties by a stated rule that no submission controls, or report the lower bound, as deadheat.evaluate does."
)
_SHOWN = 3  # inputs in a sentence


# ---------------------------------------------------------------------------------------------------------------------
# orders


def empty_system(bench: Bench, draws: int) -> EmptySystem:
    """Call the function with a system that knows nothing, in some orders."""
    labels, maker = bench.labels, bench.maker
    rows = maker.empty(labels)
    result = {
        name: bench.see(maker.case(f"{maker.empty_name}, {name}", rows, labels, order))
        for name, order in cases.orders(labels, draws, bench.seed).items()
    }
    first = next(iter(result.values()))
    deviation = bench.definitions[0].deviation(first.case) if bench.definitions else math.nan
    small = cases.small_labels()
    levels = bench.see(maker.case("few levels", maker.coarse(small, bench.seed), small))
    return EmptySystem(result, first.truth, deviation, levels)


def findings_of_empty(bench: Bench, empty: EmptySystem) -> Iterator[Finding]:
    """Return what an empty system gains, and what the function makes of ties."""
    name, best = bench.maker.empty_name, empty.highest
    figures: dict[str, Any] = {
        "values": {name: each.value for name, each in empty.by_order.items()},
        "possible": None if empty.truth is None else empty.truth._asdict(),
        "random_std": empty.deviation,
        "standard_deviations_above_random": empty.sigmas,
    }
    if empty.verdict == "by order":
        low, high = min(figures["values"].values()), max(figures["values"].values())
        sentence = f"A system that knows nothing ({name}) scores from {bench.per_cent(low)} to {bench.per_cent(high)}"
        yield Finding("sample order", "serious", f"{sentence}, by the order of the samples alone.", figures, _REPAIR)
    elif empty.verdict == "neither bound nor expectation":
        values = f"{name}: {bench.per_cent(best.value)}; few levels: {bench.per_cent(empty.few_levels.value)}"
        sentence = f"Ties count as neither bound nor expectation ({values})."
        yield Finding("meaning of ties", "warning", sentence, figures, "Say in the documentation what ties are worth.")
    elif empty.verdict != "no value":
        yield Finding("meaning of ties", "note", f"Ties count as: {empty.verdict} (on {name}).", figures)
    if empty.sigmas > _ALARM:
        assert empty.truth is not None
        sentence = (
            f"A system that knows nothing ({name}) scores {bench.per_cent(best.value)} in the order "
            f"{_order_of(best)!r}, {empty.sigmas:.0f} standard deviations above the "
            f"{bench.per_cent(empty.truth.expected)} of random ones."
        )
        yield Finding("empty system", "serious", sentence, figures, _REPAIR)


def without_ties(bench: Bench) -> Iterator[Finding]:
    """Return whether order matters even where nothing ties."""
    labels, maker = cases.small_labels(), bench.maker
    rows = maker.distinct(labels, bench.seed)
    as_made = np.arange(len(labels))
    orders = {"as made": as_made, "reversed": as_made[::-1]} | cases.orders(labels, 1, bench.seed)
    result = [bench.see(maker.case(f"no ties, {name}", rows, labels, order)) for name, order in orders.items()]
    if widest(result) > SAME:
        sentence = f"Without any tie, the order of the samples moves the value by {bench.per_cent(widest(result))}."
        figures = {"values": {each.case.name: each.value for each in result}}
        advice = "Look at how labels follow their samples."
        yield Finding("sample order without ties", "serious", sentence, figures, advice)


def with_ties(bench: Bench) -> Iterator[Finding]:
    """Few levels and copies, in orders that are made to gain: adversarial ones too where embeddings are known."""
    labels, maker = cases.small_labels(), bench.maker
    levels, copies = maker.coarse(labels, bench.seed), maker.repeated(labels, bench.seed)
    usual = cases.orders(labels, 1, bench.seed)
    groups = {"few levels": (levels, usual | _adversarial(bench, levels, labels)), "copies": (copies, usual)}
    moved = {
        name: [bench.see(maker.case(f"{name}, {order}", rows, labels, orders[order])) for order in orders]
        for name, (rows, orders) in groups.items()
    }
    figures = {name: {_order_of(each): each.value for each in outcomes} for name, outcomes in moved.items()}
    wide = {name: widest(outcomes) for name, outcomes in moved.items() if widest(outcomes) > SAME}
    if wide:
        parts = " and ".join(f"{bench.per_cent(width)} ({name})" for name, width in wide.items())
        sentence = f"The order of the samples moves the value by {parts}."
        yield Finding("sample order with ties", "serious", sentence, figures, _REPAIR)
    if bench.form in ("scores", "query"):  # every order gives the same
        scores, relevant = np.array([[2.0, 1, 1], [3, 2, 2], [4, 1, 1]]), np.tile([False, True, True], (3, 1))
        bench.see(Case("relevant items tied behind the others", scores, relevant))


def by_place(bench: Bench) -> Iterator[Finding]:
    """Return what the place in the list, and an id that follows it, gains where all scores are equal."""
    if bench.form == "embeddings":
        return
    n = len(bench.labels)
    n_relevant = 1 if bench.form == "candidates" else int(np.count_nonzero(bench.labels == 0))
    first, last = (bench.see(cases.same_relevant(n, n_relevant, first=first)) for first in (True, False))
    if widest((first, last)) > SAME:
        sentence = (
            f"With all scores zero, a query with {count(n_relevant, 'relevant item', 'relevant items')} in {n} scores "
            f"{bench.per_cent(first.value)} if that comes first in the list and {bench.per_cent(last.value)} if last."
        )
        yield Finding("place in the list", "serious", sentence, {"first": first.value, "last": last.value}, _REPAIR)


def _adversarial(bench: Bench, rows: Array, labels: Int64) -> dict[str, Int64]:
    """The worst and the best order that are found for a stable sort of embeddings."""
    if bench.form != "embeddings" or not bench.definitions:
        return {}
    definition = bench.definitions[0]
    distance: Any = definition.reading.name.partition(",")[0]
    result = exploit(
        Task(rows, labels, distance=distance, threads=1), measure=definition.measure.name, draws=1, searches=2
    )
    return {"made for a low value": result.lowest.order, "made for a high value": result.highest.order}


def _order_of(observation: Observation) -> str:
    """The order in the name of a case."""
    return observation.case.name.partition(", ")[2]


# ---------------------------------------------------------------------------------------------------------------------
# numbers


def same_numbers(bench: Bench) -> Iterator[Finding]:
    """Return inputs that change nothing: the same labels under other names, numbers in other types and scales."""
    labels, maker = cases.small_labels(), bench.maker
    plain = maker.case("no ties", maker.distinct(labels, bench.seed), labels)
    before = bench.call(plain).value

    def unmoved(tried: Iterable[Case], name: str, advice: str, severity: str = "serious") -> Iterator[Finding]:
        """A finding if a case moves the value; NaN moves nothing here, as it has a finding of its own."""
        moved = [result for case in tried if abs((result := bench.see(case, ranged=False)).value - before) > SAME]
        if moved:
            values = ", ".join(f"{each.case.name}: {bench.per_cent(each.value, 4)}" for each in moved)
            figures = {"before": before} | {each.case.name: each.value for each in moved}
            sentence = f"What should change nothing changes {bench.per_cent(before, 4)}: {values}."
            yield Finding(name, severity, sentence, figures, advice)

    if bench.form == "embeddings":
        names = {  # float32 and float64 hold only every other one of the largest
            "labels above 2^24": plain.second + 2**24,
            "labels above 2^53": plain.second + 2**53,
            "labels near 2^63": 2**63 - 1 - plain.second,
            "negative labels": -1 - plain.second,
            "labels as text": np.array([f"class {label}" for label in plain.second]),
        }
        seconds = [Case(name, plain.first, each, common=name == "labels above 2^24") for name, each in names.items()]
        yield from unmoved(seconds, "labels", "Compare labels as they are, never as floats.")
    else:
        kinds = ("int64", "uint8", "float32")
        seconds = [
            Case(f"relevance as {kind}", plain.first, plain.second.astype(kind), kind == "int64") for kind in kinds
        ]
        yield from unmoved(seconds, "type of the relevance", "Convert relevance to bool before comparing.")
    wide = [Case(f"no ties, {name}", plain.first.astype(name), plain.second) for name in ("float32", "float64")]
    yield from unmoved(wide, "type", "Sort in the type that came, or refuse it.")
    half = [Case("no ties, float16", plain.first.astype(np.float16), plain.second, common=False)]
    yield from unmoved(half, "float16", "Convert float16 before computing with it.", "warning")
    close = maker.case("differences of 1e-9, float64", maker.far(labels, bench.seed, gap=1e-9), labels)
    close = replace(close, common=False)
    if bench.see(close, ranged=False)._replace(truth=span(bench.definitions, close)).impossible:
        sentence = "Scores that differ by 1e-9 in float64 are not distinguished as they came."
        advice = "Compute and sort in float64 where float64 came."
        yield Finding("resolution", "warning", sentence, {"gap": 1e-9}, advice)
    moves = {"times 1024": (1024.0, 0.0), "times 1/1024": (1 / 1024, 0.0)}
    if bench.form != "embeddings":  # below zero, and far from it
        moves |= {"minus 2, all below zero": (1.0, -2.0), "plus 64": (1.0, 64.0)}
    scaled = [Case(name, plain.first * times + plus, plain.second) for name, (times, plus) in moves.items()]
    advice = "Scores are of either sign and any size: let nothing but their order count."
    yield from unmoved(scaled, "shifted or scaled scores", advice)


def nothing_to_find(bench: Bench) -> Iterator[Finding]:
    """A query without a relevant item: what it counts as; and what comes of none that has one."""
    if bench.form == "candidates":  # each has its positive
        return
    labels = cases.small_labels()
    labels[0] = labels.max() + 1
    alone = bench.maker.case("one query without a relevant item", bench.maker.distinct(labels, bench.seed), labels)
    if bench.form == "query":
        alone = replace(alone, first=alone.first[:1], second=alone.second[:1])
    else:
        yield from _convention(bench, alone, len(labels))
    singletons = np.arange(len(labels))
    none = bench.maker.case("no query with a relevant item", bench.maker.distinct(singletons, bench.seed), singletons)
    result = bench.call(alone if bench.form == "query" else none)
    if not math.isnan(result.value):
        sentence = f"With nothing to find anywhere, the value is {bench.per_cent(result.value)}, as if it were defined."
        yield Finding("undefined value", "warning", sentence, {"value": result.value}, "Return NaN, or raise.")


def _convention(bench: Bench, case: Case, n: int) -> Iterator[Finding]:
    """Return what a single query without a relevant item does to the mean."""
    name, result = "query without relevant items", bench.call(case)
    if result.error is not None or math.isnan(result.value):
        yield Finding(name, "note", f"One such query: {result.error or 'NaN'}.")
    elif bench.definitions:
        left_out = bench.definitions[0].truth(case).expected
        rest = left_out * (n - 1) / n
        counted = {"is excluded": left_out, "counts as 0": rest, "counts as 1": rest + bench.scale / n}
        close = (name for name, expected in counted.items() if abs(result.value - expected) <= SAME)
        how, figures = next(close, "changes the mean"), {"value": result.value} | counted
        severity, advice = "warning", "Exclude such queries and report how many there are."
        if how == "is excluded":
            severity, advice = "note", ""
        yield Finding(name, severity, f"A query without relevant items {how}.", figures, advice)


# ---------------------------------------------------------------------------------------------------------------------
# machine


def repeated(bench: Bench) -> Iterator[Finding]:
    """The same input again and again, on one thread and on two: copies, whose products may be rounded differently."""
    products = bench.form == "embeddings"  # enough of them for a library to use threads
    labels = np.repeat(np.arange(40), 10) if products else cases.small_labels()
    case = bench.maker.case(f"copies among {len(labels)} samples", bench.maker.repeated(labels, bench.seed), labels)
    first, again = bench.see(case), bench.call(case)
    if not _same(first, again):
        sentence = f"The same input gave {first.value!r} and then {again.value!r}."
        figures = {"values": [first.value, again.value]}
        yield Finding("repetition", "serious", sentence, figures, "Leave nothing to an unseeded draw.")
    elif thread_control():
        with threads(1):
            one = bench.call(case)
        with threads(2):
            two = bench.call(case)
        if not _same(one, two):
            sentence = f"One thread gave {one.value!r}, two gave {two.value!r}."
            severity, figures = "serious" if widest((one, two)) > SAME else "note", {"values": [one.value, two.value]}
            yield Finding("threads", severity, sentence, figures, "Do not decide ties by rounded products.")


def arguments(bench: Bench) -> Iterator[Finding]:
    """Return whether any call so far has written into what it was given."""
    wrote = [each.case.name for each in bench.seen if each.wrote]
    if wrote:
        sentence = "It writes into the arrays that it is given, so that a second call sees others."
        yield Finding("arguments", "warning", sentence, {"inputs": wrote}, "Work on a copy.")


def _same(one: Observation, other: Observation) -> bool:
    return one.value == other.value or (math.isnan(one.value) and math.isnan(other.value))


def thread_control() -> bool:
    """Return whether threads of libraries can be limited in this process."""
    return find_spec("threadpoolctl") is not None


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Let BLAS, OpenMP and PyTorch work with so many threads for a while."""
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else None
    with lazy("threadpoolctl").threadpool_limits(limits=n):
        try:
            if torch:
                torch.set_num_threads(n)
            yield
        finally:
            if torch:
                torch.set_num_threads(before)


# ---------------------------------------------------------------------------------------------------------------------
# answers


def out_of_range(bench: Bench) -> Iterator[Finding]:
    """Values that no way to break the ties gives."""
    result = [(each, each.truth) for each in bench.seen if each.truth is not None and each.impossible]
    if not result:
        return
    worst, truth = max(result, key=lambda pair: max(pair[1].lower - pair[0].value, pair[0].value - pair[1].upper))
    others = count(len(result) - 1, "other input is", "other inputs are")
    more = f" ({others} out of range too)" if len(result) > 1 else ""
    sentence = (
        f"{worst.case.name!r} gives {bench.per_cent(worst.value, 4)}, but every way to break its ties lies in "
        f"[{bench.per_cent(truth.lower, 4)}, {bench.per_cent(truth.upper, 4)}]{more}."
    )
    figures = {"inputs": [each.to_dict() for each, _ in result]}
    yield Finding("out of range", "serious", sentence, figures, "Compare the definition with reproduce.reference.")


def errors(bench: Bench) -> Iterator[Finding]:
    """Inputs that raise; serious if any evaluator should take one of them."""
    for severity, common in (("serious", True), ("note", False)):
        result = [each for each in bench.seen if each.error is not None and each.case.common is common]
        if result:
            figures = {each.case.name: each.error for each in result}
            error = " ".join(str(result[0].error).split())
            sentence = f"It raises on {_listed(result)}: {error[:120]}{'...' if len(error) > 120 else '.'}"
            yield Finding("error", severity, sentence, figures, "Take such input, or refuse it in one clear line.")


def not_a_number(bench: Bench) -> Iterator[Finding]:
    """Inputs whose value is defined, and for which NaN comes back."""
    result = [each for each in bench.seen if each.error is None and math.isnan(each.value)]
    if result:
        figures = {"inputs": [each.case.name for each in result]}
        yield Finding("NaN", "serious", f"It gives NaN for {_listed(result)}.", figures, "These values are defined.")


def _listed(outcomes: Sequence[Observation]) -> str:
    names = [each.case.name for each in outcomes]
    rest = len(names) - _SHOWN
    return "; ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


CHECKS: tuple[Callable[[Bench], Iterator[Finding]], ...] = (
    without_ties, with_ties, by_place, same_numbers, nothing_to_find, repeated, arguments,
    out_of_range, not_a_number, errors,
)  # fmt: skip
