"""Gates: may system B replace A? Three readings of "worse", each with its test, and the drop that the sample can show.

In come the differences of one or more measures, each with a value for every independent unit; out goes a `Gate`, which
is true where B passes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from deadheat.analyses.difference import ROUNDING, Difference
from deadheat.errors import InvalidValueError
from deadheat.reports.answer import Answer, Caution, Column, Panel
from deadheat.reports.statistics import margins
from deadheat.reports.statistics.intervals import counted
from deadheat.reports.statistics.permutation import holm
from deadheat.reports.tables import p_value
from deadheat.support import checks

Rule = Literal["drop", "worse", "as_good"]
POWER = 0.8  # of the drop that is printed
_LEAVE_ONE_OUT = (
    "Leave one out: where nothing differs, tests over classes reject more often than their level says, 10 to 13 % at "
    "5 % for mAP (`python -m reproduce null`), since each class is also part of the gallery of the others."
)
_RARE_GAINS = (
    "a large gain in one more query would undo the evidence; where losses are small and gains large and rare, the test "
    "errs in 7 to 14 % at 5 % (`python -m reproduce decisions`)."
)


@dataclass(frozen=True, eq=False)
class Gate(Answer):
    """The decision on system B for each measure; true if B passes in all.

    Attributes
    ----------
    differences : dict of str to Difference
        By measure.
    rule : {"drop", "worse", "as_good"}
    margin : float
        The drop that is allowed, a fraction in [0, 1].
    pvalues : dict of str to float
        By measure, one-sided. "worse": that the drop is within the margin, after Holm for several measures; "as_good":
        that it is not. NaN for "drop", which has no test.
    detectable : dict of str to float
        By measure, the smallest drop that the rule shows in 80 % of such samples. For "as_good", the smallest margin
        within which a system without a drop passes in 80 %. Fractions; NaN for "drop".
    failed : tuple of str
        The measures in which B does not pass.
    """

    differences: dict[str, Difference]
    rule: Rule
    margin: float
    pvalues: dict[str, float]
    detectable: dict[str, float]
    failed: tuple[str, ...]
    _cautions: tuple[str, ...] = field(repr=False)

    @property
    def _first(self) -> Difference:
        return next(iter(self.differences.values()))

    @property
    def passed(self) -> bool:
        """True if B passes in all measures."""
        return not self.failed

    def __bool__(self) -> bool:
        return self.passed

    def panels(self) -> list[Panel]:
        """Return one table with a row for each measure."""
        shown, tests = list(self.pvalues), self.rule != "drop"
        least = "passing margin" if self.rule == "as_good" else "detectable drop"
        return [Panel([
            Column("measure", shown, "measure"),
            Column("drop", [row.drop for row in self.differences.values()], "fraction"),
            Column("pvalue", list(self.pvalues.values()), "probability", "p", only="" if tests else "data"),
            Column("detectable", list(self.detectable.values()), "fraction", least, only="" if tests else "data"),
            Column("verdict", ["fails" if name in self.failed else "passes" for name in shown]),
        ], key="tests", kinds=[row.measure.unit for row in self.differences.values()])]  # fmt: skip

    def facts(self) -> dict[str, Any]:
        """Return the rule, the decision, and the sentence that says why."""
        sentence = {"by": self._first.by, "names": list(self._first.names), "verdict": self.verdict()}
        return {**self._facts_of("rule", "margin", "passed", "failed"), **sentence}

    def notes(self) -> list[str]:
        """Return the decision in a sentence, and what the sample can show."""
        return [self.verdict(), *self._about_power(), *map(Caution, self._cautions)]

    def verdict(self) -> str:
        """Return the decision, and why, in one sentence."""
        a, b = self._first.names
        points = " or ".join(dict.fromkeys(row.shown(self.margin, "g") for row in self.differences.values()))
        rows = [self.differences[name] for name in self.failed or self.differences]
        drops = ", ".join(f"{row.name} by {row.shown(row.drop)}" + self._shown(self.pvalues[row.name]) for row in rows)
        within = {
            "drop": f"no measure falls by more than {points}",
            "worse": f"no measure is shown to fall by more than {points}",
            "as_good": f"every measure is shown to fall by less than {points}",
        }[self.rule]
        if self.passed:
            return f"{b} passes: {within} from {a} ({drops})."
        fails = {
            "drop": "is worse than", "worse": "is significantly worse than", "as_good": "is not shown to be as good as",
        }[self.rule]  # fmt: skip
        return f"{b} {fails} {a}: {drops}, where {points} are allowed."

    def _shown(self, pvalue: float) -> str:
        return "" if math.isnan(pvalue) else f" (p = {p_value(pvalue)})"

    def _about_power(self) -> list[str]:
        if self.rule == "drop":
            return []
        units = counted(min(row.n_unit for row in self.differences.values()), self._first.unit)
        listed = ", ".join(
            f"{self.differences[name].shown(value)} of {name}" for name, value in self.detectable.items()
        )
        what = {
            "worse": f"the smallest drop that is found in {100 * POWER:.0f} % of such samples",
            "as_good": f"the smallest margin within which {100 * POWER:.0f} % of systems without a drop pass",
        }[self.rule]
        return [f"With {units}, {what}: {listed}."]


def gate(
    rows: Sequence[Difference], margin: float, rule: Rule, *, leave_one_out: bool, cautions: Sequence[str],
    refuse_few: bool = True,
) -> Gate:  # fmt: skip
    """Return the decision on B for some measures: see `Comparison.gate`. Without `refuse_few`, few units pass none."""
    margin = checks.real_number(margin, "margin", least=0)
    checks.choice(rule, get_args(Rule), "rule")
    _require_margin(rows, margin, rule)
    for row in rows:
        if math.isnan(row.tested):
            what = f"{row.by} values" if row.n_pair else "a value"
            raise InvalidValueError(row.name, f"must have {what} in {' and '.join(row.names)} for some query")
    alpha = rows[0].test.alpha
    if rule != "drop" and refuse_few:
        _require_enough(rows, margin, rule, alpha)
    pvalues, detectable = _tests(rows, margin, rule, alpha)
    failed = tuple(
        row.name for row in rows if (
            row.drop > margin + ROUNDING if rule == "drop" else
            pvalues[row.name] < alpha if rule == "worse" else not pvalues[row.name] < alpha
        )
    )  # fmt: skip
    about = [_LEAVE_ONE_OUT] if leave_one_out and rule != "drop" else []
    undone = [row.name for row in rows if row.name in failed and margins.rare_gain_could_undo(row.drops, alpha)]
    if rule == "worse" and margin == 0 and undone:
        about.append(f"{', '.join(undone)}: {_RARE_GAINS}")
    return Gate({row.name: row for row in rows}, rule, margin, pvalues, detectable, failed, (*about, *cautions))


def _require_enough(rows: Sequence[Difference], margin: float, rule: Rule, alpha: float) -> None:
    """Refuse samples so small that the rule could fail no system, or pass none, whatever its values."""
    if rule == "worse":  # in any measure, after Holm
        p = len(rows) * min(margins.least_larger_pvalue(row.drops, margin, row.test.n_resamples) for row in rows)
    else:  # in all of them
        p = max(margins.smaller_pvalue(row.drops.all_at(-1.0), margin) for row in rows)
    if p < alpha:
        return
    units, what = counted(min(row.n_unit for row in rows), rows[0].unit), "fail" if rule == "worse" else "pass"
    no_system = f"no system could {what}, as p is at least {p_value(p)}, and not below {alpha:.2g}"
    raise InvalidValueError("rule", f'must be "drop" with {units} and margin {margin:g}: by "{rule}" {no_system}')


def _require_margin(rows: Sequence[Difference], margin: float, rule: Rule) -> None:
    """Refuse a margin that is none of the unit, or a test that needs the worst value of a measure that has none."""
    other = next((row for row in rows if row.measure.row.within != (0, 1)), None)
    if other is None:
        if margin > 1:
            raise InvalidValueError("margin", f"must be a fraction in [0, 1], but is {margin:g}")
    elif margin and len({row.measure.unit for row in rows}) > 1:
        raise InvalidValueError("margin", f"must be 0 for measures in different units, but is {margin:g}")
    elif rule == "as_good" or (margin and rule == "worse"):
        rule_of = "'drop', or 'worse' with a margin of 0"
        raise InvalidValueError("rule", f"must be {rule_of}, for {other.name} has no worst value, but is {rule!r}")


def _tests(
    rows: Sequence[Difference], margin: float, rule: Rule, alpha: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the p-values, and the drops or margins that such samples show, by measure."""
    if rule == "drop":
        nothing = dict.fromkeys((row.name for row in rows), math.nan)
        return nothing, nothing
    if rule == "as_good":  # all have to be shown, so that none needs to be adjusted (Berger 1982)
        pvalues = {row.name: margins.smaller_pvalue(row.drops, margin) for row in rows}
        return pvalues, {row.name: margins.passing_margin(row.drops, alpha, POWER) for row in rows}
    pvalues = holm({
        row.name: margins.larger_pvalue(row.drops, margin, n_resamples=row.test.n_resamples, seed=row.test.seed)
        for row in rows
    })  # fmt: skip
    level = alpha / len(rows)
    return pvalues, {row.name: margin + margins.detectable_drop(row.drops, level, POWER) for row in rows}
