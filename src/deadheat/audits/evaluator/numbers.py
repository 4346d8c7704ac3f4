"""Whether a function sees the same numbers as its caller: labels, types, scales, queries with nothing to find."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from deadheat.audits.evaluator import inputs
from deadheat.audits.evaluator.bench import Bench, Observation
from deadheat.audits.evaluator.definitions import SAME, span
from deadheat.audits.evaluator.inputs import Case
from deadheat.audits.finding import Finding
from deadheat.support.triple import Triple


def base(bench: Bench, seed: int) -> Case:
    """The input without ties that the others are compared with."""
    labels = inputs.small_labels()
    return bench.maker.case("no ties", bench.maker.distinct(labels, seed), labels)


def second_arguments(bench: Bench, seed: int) -> Iterator[Finding]:
    """The same labels under other names, or the same relevance in other types: the value must stay."""
    plain = base(bench, seed)
    if bench.form == "embeddings":
        yield from _unmoved(bench, plain, _relabelled(plain), "labels", "Compare labels as they are, never as floats.")
        return
    types = {"relevance as int64": np.int64, "relevance as uint8": np.uint8, "relevance as float32": np.float32}
    cases = [
        Case(name, plain.first, plain.second.astype(dtype), name.endswith("int64")) for name, dtype in types.items()
    ]
    yield from _unmoved(bench, plain, cases, "type of the relevance", "Convert relevance to bool before comparing.")


def types(bench: Bench, seed: int) -> Iterator[Finding]:
    """The same numbers in float16, float32 and float64, and numbers that only float64 tells apart."""
    plain = base(bench, seed)
    wide = [Case(f"no ties, {name}", plain.first.astype(name), plain.second) for name in ("float32", "float64")]
    yield from _unmoved(bench, plain, wide, "type", "Sort in the type that came, or refuse it.")
    half = [Case("no ties, float16", plain.first.astype(np.float16), plain.second, common=False)]
    yield from _unmoved(bench, plain, half, "float16", "Convert float16 before computing with it.", "warning")
    labels = inputs.small_labels()
    close = bench.maker.case("", bench.maker.far(labels, seed, gap=1e-9), labels).called(
        "differences of 1e-9, float64", common=False
    )
    truth = span(bench.definitions, close)
    if bench.see(close, ranged=False)._replace(truth=truth).impossible:
        sentence = "Scores that differ by 1e-9 in float64 are not told apart as they came."
        yield Finding(
            "resolution", "warning", sentence, {"gap": 1e-9}, "Compute and sort in float64 where float64 came."
        )


def scales(bench: Bench, seed: int) -> Iterator[Finding]:
    """Scores moved and stretched, exactly, so that their order is the same: below zero, far from it, large, tiny."""
    plain = base(bench, seed)
    moves = {"times 1024": (1024.0, 0.0), "times 1/1024": (1 / 1024, 0.0)}
    if bench.form != "embeddings":
        moves |= {"minus 2, all below zero": (1.0, -2.0), "plus 64": (1.0, 64.0)}
    cases = [Case(name, plain.first * times + plus, plain.second) for name, (times, plus) in moves.items()]
    advice = "Scores are of either sign and any size: let nothing but their order count."
    yield from _unmoved(bench, plain, cases, "shifted or scaled scores", advice)


def nothing_to_find(bench: Bench, seed: int) -> Iterator[Finding]:
    """A query without a relevant item: what it counts as; and what comes of none that has one."""
    labels = inputs.small_labels()
    labels[0] = labels.max() + 1
    alone = bench.maker.case("one query without a relevant item", bench.maker.distinct(labels, seed), labels)
    if bench.form == "query":
        alone = Case("a query without a relevant item", alone.first[:1], alone.second[:1], common=False)
    else:
        yield from _convention(bench, alone, len(labels))
    nobody = np.arange(len(labels))
    none = bench.maker.case("no query with a relevant item", bench.maker.distinct(nobody, seed), nobody)
    found = bench.try_out((alone if bench.form == "query" else none).called(none.name, common=False))
    if not math.isnan(found.value):
        sentence = f"With nothing to find anywhere, the value is {bench.per_cent(found.value)}, as if it were defined."
        yield Finding("undefined value", "warning", sentence, {"value": found.value}, "Return NaN, or raise.")


def _convention(bench: Bench, case: Case, n: int) -> Iterator[Finding]:
    """What a single query without a relevant item does to the mean."""
    found = bench.try_out(case)
    if found.answer.error is not None or math.isnan(found.value):
        yield Finding("query without relevant items", "note", f"One such query: {found.answer.error or 'NaN'}.")
    elif bench.definitions:
        left_out = bench.definitions[0].truth(case)
        rest = Triple(*(value * (n - 1) / n for value in left_out))
        counted = {
            "is left out": left_out,
            "counts as 0": rest,
            "counts as 1": Triple(*(v + bench.scale / n for v in rest)),
        }
        how = next(
            (name for name, truth in counted.items() if abs(found.value - truth.expected) <= SAME), "changes the mean"
        )
        severity = "note" if how == "is left out" else "warning"
        figures = {"value": found.value} | {name: truth.expected for name, truth in counted.items()}
        advice = "" if severity == "note" else "Leave such queries out and say how many there are."
        yield Finding(
            "query without relevant items", severity, f"A query without relevant items {how}.", figures, advice
        )


def _relabelled(plain: Case) -> list[Case]:
    """The same classes under other labels; float32 and float64 hold only every other one of the largest."""
    labels = plain.second
    names = {
        "labels above 2^24": labels + 2**24,
        "labels above 2^53": labels + 2**53,
        "labels near 2^63": 2**63 - 1 - labels,
        "negative labels": -1 - labels,
    }
    cases = [Case(name, plain.first, each, common=name == "labels above 2^24") for name, each in names.items()]
    return [*cases, Case("labels as text", plain.first, np.array([f"class {label}" for label in labels]), common=False)]


def _unmoved(
    bench: Bench, plain: Case, cases: list[Case], name: str, advice: str, severity: str = "serious"
) -> Iterator[Finding]:
    """A finding if a case moves the value of the plain one."""
    before = bench.try_out(plain).value
    moved: list[Observation] = [
        each for case in cases if abs((each := bench.see(case, ranged=False)).value - before) > SAME
    ]  # NaN moves nothing here: it has a finding of its own
    if moved:
        values = ", ".join(f"{each.case.name}: {bench.per_cent(each.value, 4)}" for each in moved)
        figures = {"before": before} | {each.case.name: each.value for each in moved}
        sentence = f"What should change nothing changes {bench.per_cent(before, 4)}: {values}."
        yield Finding(name, severity, sentence, figures, advice)
