"""What is said of a comparison: two lines below its table, and all the rest for those who ask."""

from __future__ import annotations

from collections.abc import Sequence

from deadheat.analyses.comparison.cells import listed
from deadheat.analyses.comparison.difference import Difference
from deadheat.reports.tables import count, has_ties
from deadheat.statistics.units import about_few, counted

Names = tuple[str, str]


def below_the_table(shown: Sequence[Difference], names: Names, average: str, caveats: Sequence[str]) -> list[str]:
    """What the numbers are of, and who is ahead; and what to beware of, if anything."""
    test = shown[0].test
    few = about_few(min(each.n_unit for each in shown), test.resample)
    return [f"{_values(shown)}{_pairs(shown, names)} {_units(shown, average)}", _verdict(shown, names), *few, *caveats]


def explanation(shown: Sequence[Difference], names: Names) -> str:
    """Every column and every test in a sentence or two."""
    (a, b), test = names, shown[0].test
    units = "classes" if test.resample == "class" else "queries"
    asked = {
        "two-sided": "whether they differ", "greater": f"whether {a} is better", "less": f"whether {a} is worse"
    }[test.alternative]  # fmt: skip
    wins = "\n".join(f"  {each.name}: {_wins(each, names)}" for each in shown)
    return "\n".join([
        f"{a}, {b}: means over the pairs that count. A number with [lower, upper] is the expected value over all "
        "tie-breakings, and what it is in the worst and in the best of them; a number alone does not depend on ties.",
        f"{a} - {b}: the mean difference, query by query. In lower, {a}'s ties are broken in the worst way and {b}'s "
        "in the best.",
        f"{100 * test.confidence_level:g} % interval: of the expected difference, for the population that the {units} "
        f"were drawn from; {test.method} bootstrap over {units}, {test.n_resamples} resamples.",
        f"p: paired permutation test of the expected values, {test.alternative}: {asked}. {_swaps(shown, units)}",
        "worst-case p over all tie-breakings: the largest p that any way to break the ties has. The column is left out "
        "where no tie changes anything.",
        f"ahead: p < {test.alpha:g}. Each measure is tested by itself; `false_discovery` adjusts for several.",
        f"Queries won, whatever the ties do:\n{wins}",
    ])  # fmt: skip


def _values(shown: Sequence[Difference]) -> str:
    return "Per cent; expected [lower, upper] over all tie-breakings. " if _tied(shown) else "Per cent. "


def _tied(shown: Sequence[Difference]) -> bool:
    """Whether ties change any of the differences."""
    return any(map(has_ties, shown))


def _pairs(shown: Sequence[Difference], names: Names) -> str:
    numbers = {(each.n_pair, each.n_left_out) for each in shown}
    if len(numbers) > 1:
        fewest = count(min(numbers)[0], "query", "queries")
        return f"At least {fewest} in pairs; those without a value in {names[0]} or {names[1]} are left out."
    n_pair, n_left_out = numbers.pop()
    left_out = f"; {n_left_out} without a value in {names[0]} or {names[1]} left out" if n_left_out else ""
    return f"{count(n_pair, 'query', 'queries')} in pairs{left_out}."


def _units(shown: Sequence[Difference], average: str) -> str:
    """What the tests swap and the intervals draw."""
    fewest = min(each.n_unit for each in shown)
    over = "queries" if shown[0].test.resample == "query" else counted(fewest, "class")
    return f"{'Means, tests' if average == 'class' else 'Tests'} and intervals are over {over}."


def _verdict(shown: Sequence[Difference], names: Names) -> str:
    """Who is significantly ahead in what, and whether ties could undo that."""
    by_side = dict(zip(("A", "B"), names, strict=True))
    certain: dict[str, list[str]] = {side: [] for side in by_side}
    on_average: dict[str, list[str]] = {side: [] for side in by_side}
    nobody = []
    for each in shown:
        if each.ahead is None:
            nobody.append(each.name)
        else:
            (certain if each.ahead == each.ahead_worst_case else on_average)[each.ahead].append(each.name)
    whatever = " whatever the ties do" if _tied(shown) else ""
    parts = [f"{by_side[side]} is ahead in {listed(found)}{whatever}" for side, found in certain.items() if found]
    parts += [
        f"{by_side[side]} is ahead in {listed(found)}, but not for every tie-breaking"
        for side, found in on_average.items()
        if found
    ]
    if nobody:
        parts.append(f"{'no' if parts else 'No'} significant difference in {listed(nobody)}")
    return f"{'; '.join(parts)} (p < {shown[0].test.alpha:g})."


def _swaps(shown: Sequence[Difference], units: str) -> str:
    exact = [each.is_exact for each in shown]
    random = f"{shown[0].test.n_resamples} random swaps"
    swaps = "every swap" if all(exact) else f"{random}, or every one where there are fewer" if any(exact) else random
    return f"It swaps the two, as if chance had said which one is which: {swaps} of {units}."


def _wins(each: Difference, names: Names) -> str:
    by_ties = f"{count(each.n_open, 'depends', 'depend')} on the ties"
    return f"{names[0]} {each.n_wins_a}, {names[1]} {each.n_wins_b}; {each.n_equal} equal, {by_ties}"
