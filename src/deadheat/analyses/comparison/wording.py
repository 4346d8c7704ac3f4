"""A comparison in words and cells, in which fractions become per cent. Plain ASCII."""

from __future__ import annotations

import math

from deadheat.analyses.comparison.difference import Difference, PairedTest
from deadheat.reports.render import count, digits, number
from deadheat.reports.tables import Table
from deadheat.support.triple import Triple


def table(differences: list[Difference], test: PairedTest) -> Table:
    """A row for each measure."""
    means = [[100 * getattr(difference, name) for name in Triple._fields] for difference in differences]
    fixed = f".{digits(means)}f"
    rows = [
        [
            difference.name,
            *(number(value, fixed) for value in row),
            _interval(difference, fixed),
            _pvalue(difference.pvalue),
            _pvalue(difference.pvalue_strict),
            *map(str, (difference.n_wins_a, difference.n_wins_b, difference.n_open, difference.n_equal)),
        ]
        for difference, row in zip(differences, means, strict=True)
    ]
    level = f"{100 * test.confidence_level:g} % interval"
    header = ["A - B (%)", *Triple._fields, level, "p", "strict p", "A wins", "B wins", "open", "equal"]
    return Table(header, rows)


def notes(differences: list[Difference], test: PairedTest, average: str) -> list[str]:
    """Which pairs count, how they were tested, and who is ahead."""
    return [_about_pairs(differences, average), *_about_tests(differences, test), _verdict(differences)]


def _interval(difference: Difference, fixed: str) -> str:
    low, high = difference.interval().expected
    return "-" if math.isnan(low) else f"[{100 * low:{fixed}}, {100 * high:{fixed}}]"


def _pvalue(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}" if value >= 1e-4 else f"{value:.0e}"


def _about_pairs(differences: list[Difference], average: str) -> str:
    numbers = {(difference.n_pair, difference.n_left_out) for difference in differences}
    if len(numbers) > 1:
        fewest = count(min(numbers)[0], "query", "queries")
        return f"At least {fewest} in pairs; where A or B has no value, both are left out."
    n_pair, n_left_out = numbers.pop()
    means = " Means are over classes." if average == "class" else ""
    left_out = f"; {n_left_out} without a value in A or B left out" if n_left_out else ""
    return f"{count(n_pair, 'query', 'queries')} in pairs{left_out}.{means}"


def _about_tests(differences: list[Difference], test: PairedTest) -> list[str]:
    exact = [difference.is_exact for difference in differences]
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


def _verdict(differences: list[Difference]) -> str:
    ahead: dict[str | None, list[str]] = {"A": [], "B": [], None: []}
    for difference in differences:
        ahead[difference.winner].append(difference.name)
    parts = [f"{who} is ahead in {', '.join(ahead[who])}" for who in ("A", "B") if ahead[who]]
    if ahead[None]:
        parts.append(f"nobody {'' if parts else 'is ahead '}in {', '.join(ahead[None])}")
    return f"In the mean, however the ties fall: {'; '.join(parts)}."
