"""A comparison as text: like `_render`, where fractions become per cent. Plain ASCII."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from deadheat.reports.render import count, digits, markdown_table, number, plain_table

if TYPE_CHECKING:
    from deadheat.analyses.comparison import Comparison, Difference


def text(comparison: Comparison) -> str:
    """The comparison as a plain table with a few sentences below."""
    return "\n".join([*plain_table(_cells(comparison)), "", *_sentences(comparison)])


def markdown(comparison: Comparison) -> str:
    """The comparison as a Markdown table with a few sentences below."""
    return "\n".join([*markdown_table(_cells(comparison)), "", *_sentences(comparison)]) + "\n"


def _cells(comparison: Comparison) -> list[list[str]]:
    found = [comparison[name] for name in comparison.measures]
    means = [[100 * difference.lower, 100 * difference.expected, 100 * difference.upper] for difference in found]
    fixed = f".{digits(means)}f"
    header = ["lower", "expected", "upper", f"{100 * comparison.test.confidence_level:g} % interval", "p", "strict p"]
    rows = [
        [
            difference.name,
            *(number(value, fixed) for value in row),
            _interval(difference, fixed),
            _pvalue(difference.pvalue),
            _pvalue(difference.pvalue_strict),
            *map(str, (difference.n_wins_a, difference.n_wins_b, difference.n_open, difference.n_equal)),
        ]
        for difference, row in zip(found, means, strict=True)
    ]
    return [["A - B (%)", *header, "A wins", "B wins", "open", "equal"], *rows]


def _interval(difference: Difference, fixed: str) -> str:
    low, high = difference.interval.expected
    return "-" if math.isnan(low) else f"[{100 * low:{fixed}}, {100 * high:{fixed}}]"


def _pvalue(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}" if value >= 1e-4 else f"{value:.0e}"


def _sentences(comparison: Comparison) -> list[str]:
    found = [comparison[name] for name in comparison.measures]
    return [_about_pairs(comparison, found), *_about_tests(comparison, found), _verdict(found)]


def _about_pairs(comparison: Comparison, found: list[Difference]) -> str:
    numbers = {(difference.n_pair, difference.n_left_out) for difference in found}
    if len(numbers) > 1:
        fewest = count(min(numbers)[0], "query", "queries")
        return f"At least {fewest} in pairs; where A or B has no value, both are left out."
    n_pair, n_left_out = numbers.pop()
    means = " Means are over classes." if comparison.report_a.average == "class" else ""
    left_out = f"; {n_left_out} without a value in A or B left out" if n_left_out else ""
    return f"{count(n_pair, 'query', 'queries')} in pairs{left_out}.{means}"


def _about_tests(comparison: Comparison, found: list[Difference]) -> list[str]:
    test, exact = comparison.test, [difference.is_exact for difference in found]
    units = "classes" if test.resample == "class" else "queries"
    asked = {"two-sided": "two-sided", "greater": "whether A is better", "less": "whether A is worse"}[test.alternative]
    random = f"{test.n_resamples} random swaps of {units}"
    swaps = f"every swap of {units}" if all(exact) else f"{random}, or every one" if any(exact) else random
    return [
        f"p: paired permutation test of the expected values, {asked}, {swaps}.",
        "Strict p: the largest p however the ties fall. "
        f"Interval: of expected, bootstrap ({test.method}) over {units}.",
        "Wins: of queries, however the ties fall; open: the ties decide; equal: one value, whatever the ties do.",
    ]


def _verdict(found: list[Difference]) -> str:
    won = {who: [difference.name for difference in found if difference.winner == who] for who in ("A", "B")}
    parts = [f"{who} is ahead in {', '.join(names)}" for who, names in won.items() if names]
    rest = [difference.name for difference in found if difference.winner is None]
    undecided = f"nobody in {', '.join(rest)}" if parts else f"nobody is ahead in {', '.join(rest)}"
    return f"In the mean, however the ties fall: {'; '.join([*parts, *([undecided] if rest else [])])}."
