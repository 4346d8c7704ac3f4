"""Boards: systems in order of rank, their significant differences, and the pairs that ties alone could swap.

A `Board` knows the values of its columns and the independent units of each, and nothing of where they came from: a
`Leaderboard` has reports on the same queries, a `Suite` has several tasks for each system.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar, get_args

from deadheat.analyses.comparison import BY, bounds_tested, in_per_cent, listed, some
from deadheat.analyses.difference import ROUNDING, By, PairedTest
from deadheat.errors import InvalidValueError
from deadheat.measures.family import End, Measure
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.reports.statistics import joint, permutation
from deadheat.reports.statistics.joint import RankInterval
from deadheat.reports.tables import LETTERS, count, raised
from deadheat.support import checks
from deadheat.support.arrays import Float64
from deadheat.support.caching import cached_property

Pair = tuple[str, str]
Reports = TypeVar("Reports")  # what a board has of a system

_LISTED = 4  # pairs, systems or blocks of ranks that are named below the table
WIDE = 0.1  # of a value: a system whose own ties leave more undecided is named once


class Board(Answer, Generic[Reports]):
    """Systems in the order of their ranks, ranked by the first of several columns of values.

    A subclass has the fields `reports`, by the names of the systems, `measures`, the names of the columns, `by`, the
    value to rank and to test by, and `test`, the settings of the tests.
    """

    reports: dict[str, Reports]
    measures: tuple[str, ...]
    by: By
    test: PairedTest

    @property
    def _unknown(self) -> bool:
        """True if unjudged documents are unknown."""
        return False

    def __getitem__(self, name: str) -> Reports:
        return checks.part(self.reports, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    @abstractmethod
    def _result(self, name: str, measure: str) -> Any:
        """Return the lower, expected and upper value of a system."""

    @abstractmethod
    def _measure(self, measure: str) -> Measure:
        """Return the measure of a column, for its unit and its direction."""

    @property
    def _sign(self) -> int:
        """1 if a greater value ranks a system higher, -1 if a smaller one does."""
        return self._measure(self.measures[0]).sign

    def _end(self, measure: str | None = None) -> End:
        """Return the value of a column that is ranked and tested by: `by`, or the other bound where less is better."""
        return self._measure(self._name(measure)).end(self.by)

    @abstractmethod
    def _units(self, measure: str, by: By) -> Float64:
        """Return what each independent unit adds to the value of each system, (n_system, n_unit)."""

    @abstractmethod
    def _name(self, measure: str | None) -> str:
        """Return the name of a column, from any of its names; by default of the one that ranks."""

    @cached_property
    def _column(self) -> dict[str, Any]:
        """The values of the systems that rank them."""
        return {name: self._result(name, self.measures[0]) for name in self}

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The rank of each system, from 1; systems with values that are equal up to rounding share a rank."""
        values = [self._sign * getattr(value, self._end()) for value in self._column.values()]
        ranks = [1]
        for number in range(1, len(values)):
            equal = values[number] >= values[number - 1] - ROUNDING * abs(values[number - 1])
            ranks.append(ranks[-1] if equal else number + 1)
        return dict(zip(self, ranks, strict=True))

    @cached_property
    def rank_intervals(self) -> dict[str, RankInterval]:
        """The best and the worst rank of each system by the first measure that the tests leave open, together.

        The best is 1 + the number of systems that are significantly ahead of it, the worst is n − the number that it
        is significantly ahead of. All hold at once with probability `test.confidence_level`.
        """
        ranks = joint.rank_intervals(self._joint(self.measures[0], self.by), self.test.alpha)
        return dict(zip(self, ranks, strict=True))

    @cached_property
    def could_swap(self) -> tuple[Pair, ...]:
        """Pairs whose order ties alone could reverse: the second one at best is better than the first one at worst."""
        pairs, measure = itertools.combinations(self, 2), self._measure(self.measures[0])
        worst, best = (
            {name: measure.sign * getattr(value, measure.end(end)) for name, value in self._column.items()}
            for end in ("lower", "upper")
        )
        return tuple((a, b) for a, b in pairs if best[b] > worst[a])

    @cached_property
    def left_open(self) -> dict[str, float]:
        """Systems whose ties leave 10 points or more of the first measure undecided, and how much; a fraction."""
        if self._measure(self.measures[0]).unit != "fraction":
            return {}
        widths = {name: value.upper - value.lower for name, value in self._column.items()}
        return {name: width for name, width in widths.items() if width >= WIDE}

    def _ordered(self, a: str, b: str) -> Pair:
        """Return two different systems, the better ranked one first."""
        for name, argument in ((a, "a"), (b, "b")):
            checks.part(self._number, name, argument)
        if a == b:
            raise InvalidValueError("b", f"must be another system than a, but both are {checks.shown(a)}")
        return (a, b) if self._number[a] < self._number[b] else (b, a)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self)}

    def pvalue(self, a: str, b: str, measure: str | None = None, *, by: By | None = None) -> float:
        """Return the p-value of two systems by the value that ranks, or by another one, adjusted for all pairs.

        The measure is the one that ranks, or another one under any of its names. It is the smaller p-value of the two
        directions, from the step-down max-T of `deadheat.reports.statistics.joint`.
        """
        first, second = self._ordered(a, b)
        pvalues = self._joint(self._name(measure), self.by if by is None else by)
        i, j = self._number[first], self._number[second]
        return float(min(pvalues[i, j], pvalues[j, i]))

    def ahead_of(self, name: str, measure: str | None = None, *, by: By | None = None) -> tuple[str, ...]:
        """Return the systems that this one is significantly ahead of, by the value that ranks or another one."""
        checks.part(self._number, name)
        pvalues = self._joint(self._name(measure), self.by if by is None else by)[self._number[name]]
        return tuple(other for other, p in zip(self, pvalues, strict=True) if p < self.test.alpha)

    @cached_property
    def _pvalues(self) -> dict[tuple[str, By], Float64]:
        return {}

    def _joint(self, measure: str, by: By) -> Float64:
        """Return the adjusted p-value of each ordered pair, (n_system, n_system); small where the first is better."""
        if (measure, by) not in self._pvalues:
            test = self.test
            self._pvalues[measure, by] = joint.adjusted_pvalues(self._units(measure, by), test.n_resamples, test.seed)
        return self._pvalues[measure, by]

    def _letters_behind(self, name: str, measure: str) -> str:
        """Return the raised letters of the systems that this one is ahead of; of many, runs as first-last."""
        numbers = [self._number[other] for other in self.ahead_of(name, measure)]
        letters = list(self._letter.values())
        if len(self) <= len(LETTERS):
            return raised(letters[number] for number in numbers)
        gaps = [0, *(i for i in range(1, len(numbers)) if numbers[i] > numbers[i - 1] + 1), len(numbers)]
        runs = [numbers[i:j] for i, j in itertools.pairwise(gaps) if j > i]
        return raised(letters[run[0]] + (f"-{letters[run[-1]]}" if len(run) > 1 else "") for run in runs)

    @cached_property
    def _letter(self) -> dict[str, str]:
        return dict(zip(self, letters_for(len(self)), strict=True))

    @abstractmethod
    def explain(self) -> str:
        """Explain each part of the table, and how it is tested."""

    def _explain_ranks(self) -> list[str]:
        """Explain the columns of ranks, and the values."""
        return [
            f"rank: by the {self._end()} value of {self.measures[0]}; systems with one and the same value share one. "
            "~ where the bounds of two systems overlap, so that their ties alone could put them in the other order; a "
            f"system whose own ties leave {100 * WIDE:g} points or more undecided is named below instead.",
            "ranks: from 1 + the number of systems significantly ahead, to n less the number significantly behind. "
            f"With a confidence of {100 * self.test.confidence_level:g} %, the intervals of all systems hold at once.",
            "A number with [lower, upper] is the expected value over all tie-breakings, and what it is in the worst "
            "and in the best of them; a number alone does not depend on ties.",
        ]

    def _tested(self) -> str:
        """Name the values that are tested in all columns."""
        return bounds_tested(self.by, [self._measure(measure) for measure in self.measures])

    def _explain_letters(self, units: str = "") -> str:
        return (
            f"Raised letters: paired sign-flip test of each pair by {self._tested()}{units}. All pairs share the "
            "same flips and are adjusted by step-down max-T (Westfall and Young 1993) over both directions, each "
            f"column by itself. The chance that any letter of a column is false is at most {self.test.alpha:g}."
        )

    def _panel(self, intervals: Sequence[Column], more: Sequence[Column] = ()) -> Panel:
        """Return the table: ranks, the column that ranks with its intervals, and the other columns."""
        marked = set(itertools.chain(*self._swaps_of_both))
        ranks = [f"{rank}{'~' if name in marked else ' ' if marked else ''}" for name, rank in self.ranks.items()]
        open_ranks = [str(best) if best == worst else f"{best}-{worst}" for best, worst in self.rank_intervals.values()]
        first, *others = (
            Column(measure, [self._result(name, measure) for name in self], self._measure(measure).unit, shape="value",
                   marks=[self._letters_behind(name, measure) for name in self])
            for measure in self.measures
        )  # fmt: skip
        return Panel([
            Column("system", [f"{letter}  {name}" for name, letter in self._letter.items()]),
            Column("rank", ranks),
            Column("ranks", open_ranks, title=f"ranks ({100 * self.test.confidence_level:g} %)"),
            first, *intervals, *more, *others,
        ], "each", key="", drawn=True)  # fmt: skip

    def _about_values(self, tied: bool, interval: str) -> list[str]:
        """Return a sentence on the unit of the values and on the interval."""
        values = "no tie changes any value"
        if tied:
            values = f"expected [lower, upper] over all tie-breakings; {interval} of {BY[self._end()]}"
        return in_per_cent([self._measure(measure) for measure in self.measures], values)

    def _columns_of(self, rows: Sequence[tuple[str, str]]) -> list[Column]:
        """Return the first columns of the data, for rows of a system and a measure."""
        intervals = [self.rank_intervals[name] for name, _ in rows]
        return [
            Column("rank", [self.ranks[name] for name, _ in rows], "rank"),
            Column("system", [name for name, _ in rows]),
            Column("best_rank", [each.best for each in intervals], "rank"),
            Column("worst_rank", [each.worst for each in intervals], "rank"),
            Column("measure", [measure for _, measure in rows], "measure"),
            Column("", [self._result(*row) for row in rows], "fraction", shape="bounds"),
        ]

    def _about_tests(self) -> list[str]:
        """Return sentences on the letters, the ranks, and the ties."""
        return [
            f"Raised letters: significantly ahead of that system (p < {self.test.alpha:g}, adjusted for "
            f"{count(len(self) * (len(self) - 1) // 2, 'pair', 'pairs')} by step-down max-T).",
            *self._about_ranks(), *self._about_expected(), *self._about_open(), *self._about_swaps(),
        ]  # fmt: skip

    def _about_ranks(self) -> list[str]:
        """Return a sentence on the blocks of ranks in which no pair is separated."""
        blocks = joint.inseparable_blocks(self._joint(self.measures[0], self.by), self.test.alpha)
        if not blocks:
            return ["Every pair of systems is separated."]
        spans = listed([f"{first + 1} to {last + 1}" for first, last in blocks], _LISTED, "blocks")
        return [f"Ranks {spans} are not separable: no pair within them is significantly different."]

    def _about_expected(self) -> list[str]:
        """Return a sentence that names pairs whose expected values are significantly the other way."""
        if self.by == "expected":
            return []
        if any(math.isnan(value.expected) for value in self._column.values()):  # a tolerance
            return []
        column = self._column
        other_way = [(a, b) for a, b in self.could_swap if self._sign * (column[b].expected - column[a].expected) > 0]
        pairs = [f"{b} is ahead of {a}" for a, b in other_way if a in self.ahead_of(b, by="expected")]
        return [f"By the expected values, {_some(pairs)}."] if pairs else []

    @cached_property
    def _swaps_of_both(self) -> list[Pair]:
        """Pairs that ties could swap although neither system's own ties leave much open."""
        return [pair for pair in self.could_swap if not self.left_open.keys() & set(pair)]

    def _about_open(self) -> list[str]:
        points = [f"{100 * width:.0f} points of {name}" for name, width in self.left_open.items()]
        cause = "Ties and unjudged documents" if self._unknown else "Ties"
        return [f"{cause} leave undecided: {_some(points, 'systems')}."] if points else []

    def _about_swaps(self) -> list[str]:
        pairs = [f"{a} and {b}" for a, b in self._swaps_of_both]
        return [f"~ ties alone could swap {_some(pairs)}."] if pairs else []

    def _about_smallest_p(self, n_unit: int) -> list[str]:
        """Return a note if no difference, however large, could be significant."""
        n_resamples = self.test.n_resamples
        every = permutation.tries_every_swap(n_unit, n_resamples)
        smallest = 2.0 ** (1 - n_unit) if every else 1 / (n_resamples + 1)
        if smallest < self.test.alpha:
            return []
        remedy = "there are too few units" if every else "raise n_resamples"
        return [f"No difference can be significant here, for the smallest p is {smallest:.2g}: {remedy}."]


def place(value: Any, measure: Measure, by: By, name: str) -> tuple[float | str, ...]:
    """Return the sort key of a system: the value that ranks, then all three, then the name; undefined sorts last."""
    keys = [measure.sign * getattr(value, measure.end(end)) for end in (by, *get_args(By))]
    return (*(math.inf if math.isnan(key) else -key for key in keys), name)


def _some(names: list[str], noun: str = "pairs") -> str:
    """Join names or pairs that have commas or "and" themselves."""
    first = some(names, _LISTED, noun)
    return "; ".join([*first[:-1], f"and {first[-1]}" if len(names) > _LISTED else first[-1]])


def letters_for(n: int) -> list[str]:
    """Return a letter for each of n systems, or words of equal length where there are too few letters."""
    length = next(length for length in itertools.count(1) if len(LETTERS) ** length >= n)
    return ["".join(word) for word in itertools.islice(itertools.product(LETTERS, repeat=length), n)]
