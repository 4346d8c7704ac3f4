"""Whether a function gives the same twice, on one thread and on two, and leaves its arguments alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deadheat.audits.evaluator import inputs
from deadheat.audits.evaluator.bench import Bench, Observation, spread
from deadheat.audits.evaluator.calling import thread_control, threads
from deadheat.audits.evaluator.definitions import SAME
from deadheat.audits.evaluator.inputs import Case
from deadheat.audits.finding import Finding
from deadheat.support.arrays import Array


def repeated(bench: Bench, seed: int) -> Iterator[Finding]:
    """The same input again and again, on one thread and on two: copies, whose products one rounding may part."""
    products = bench.form == "embeddings"  # large enough for a library to share them out among threads
    labels = np.repeat(np.arange(40), 10) if products else inputs.small_labels()
    case = bench.maker.case(f"copies among {len(labels)} samples", bench.maker.repeated(labels, seed), labels)
    first, again = bench.see(case), bench.try_out(case)
    if not _same(first, again):
        sentence = f"The same input gave {first.value!r} and then {again.value!r}."
        figures = {"values": [first.value, again.value]}
        yield Finding("repetition", "serious", sentence, figures, "Leave nothing to an unseeded draw.")
    elif thread_control():
        by_count = [_with_threads(bench, case, n) for n in (1, 2)]
        if not _same(*by_count):
            sentence = f"One thread gave {by_count[0].value!r}, two gave {by_count[1].value!r}."
            figures = {"values": [each.value for each in by_count]}
            severity = "serious" if spread(by_count) > SAME else "note"
            yield Finding("threads", severity, sentence, figures, "Do not decide ties by rounded products.")


def arguments(bench: Bench) -> Iterator[Finding]:
    """Whether any call so far has written into what it was given."""
    wrote = [each.case.name for each in bench.seen if each.answer.wrote]
    if wrote:
        sentence = "It writes into the arrays that it is given, so that a second call sees others."
        yield Finding("arguments", "warning", sentence, {"inputs": wrote}, "Work on a copy.")


def _with_threads(bench: Bench, case: Case, n: int) -> Observation:
    with threads(n):
        return bench.try_out(case)


def _same(*found: Observation) -> bool:
    """Whether values agree bit by bit."""
    values: Array = np.array([each.value for each in found])
    return bool(np.array_equal(values, np.full(len(values), values[0]), equal_nan=True))
