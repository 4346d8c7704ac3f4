"""What holds for every input: the value is possible, is a number, and comes. In come observations, out go findings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from deadheat.audits.evaluator.bench import Bench, Observation
from deadheat.audits.finding import Finding
from deadheat.reports.tables import count

_SHOWN = 3  # inputs in a sentence


def out_of_range(bench: Bench) -> Iterator[Finding]:
    """Values that no way to break the ties gives."""
    found = [each for each in bench.seen if each.impossible]
    if not found:
        return
    worst = max(found, key=_excess)
    assert worst.truth is not None
    between = f"[{bench.per_cent(worst.truth.lower, 4)}, {bench.per_cent(worst.truth.upper, 4)}]"
    sentence = (
        f"{worst.case.name!r} gives {bench.per_cent(worst.value, 4)}, but every way to break its ties lies in {between}"
    )
    others = count(len(found) - 1, "other input is", "other inputs are")
    more = f" ({others} out of range too)" if len(found) > 1 else ""
    figures = {"inputs": [each.to_dict() for each in found]}
    yield Finding(
        "out of range", "serious", f"{sentence}{more}.", figures, "Compare the definition with deadheat.reference."
    )


def errors(bench: Bench) -> Iterator[Finding]:
    """Inputs that raise; serious if any evaluator should take one of them."""
    for severity, common in (("serious", True), ("note", False)):
        found = [each for each in bench.seen if each.answer.error is not None and each.case.common is common]
        if found:
            figures = {each.case.name: each.answer.error for each in found}
            said = " ".join(str(found[0].answer.error).split())
            sentence = f"It raises on {_listed(found)}: {said[:120]}{'...' if len(said) > 120 else '.'}"
            yield Finding("error", severity, sentence, figures, "Take such input, or refuse it in one clear line.")


def not_a_number(bench: Bench) -> Iterator[Finding]:
    """Inputs whose value is defined and yet came out NaN."""
    found = [each for each in bench.seen if each.answer.error is None and math.isnan(each.value)]
    if found:
        figures = {"inputs": [each.case.name for each in found]}
        yield Finding("NaN", "serious", f"It gives NaN for {_listed(found)}.", figures, "These values are defined.")


def _excess(observation: Observation) -> float:
    """How far a value is outside of what is possible."""
    truth = observation.truth
    return 0.0 if truth is None else max(truth.lower - observation.value, observation.value - truth.upper)


def _listed(found: Sequence[Observation]) -> str:
    names = [each.case.name for each in found]
    rest = len(names) - _SHOWN
    return "; ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
