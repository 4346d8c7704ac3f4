"""The catalogue row of a family of measures, its closed forms, and the measure that a name stands for.

A row holds the text that people read and the rules for names; its `ClosedForms` compute the values.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal, NamedTuple

from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.support.arrays import Float64, Int64
from deadheat.support.triple import Triple

Fill = Callable[[int, int], None]  # fills in the queries from the first number up to the second
# Whether a name ends in @k; "R" if the cutoff is always the number of relevant items; "recall" if the name ends in a
# share of them, such as @0.1.
Cutoff = Literal["never", "may", "must", "R", "recall"]
# The value for a query with nothing to find, where one is asked for: a recall is 1, a precision 0.
Kind = Literal["precision", "recall"]
Unit = Literal["fraction", "ranks", "gain", "times"]  # of a value; only fractions are printed in per cent

End = Literal["lower", "expected", "upper"]
_OTHER_END: dict[End, End] = {"lower": "upper", "expected": "expected", "upper": "lower"}

_NO_CUTOFF = 2**62  # beyond every rank


class Counted(IntEnum):
    """The number of times that a relevant item counts in a `RankSum`."""

    SO_FAR = 0  # as often as relevant items have been seen, itself included
    ONE = 1
    FIRST = 2  # once if it is the first, else not at all
    LAST = 3  # once if it is the last of all relevant items, else not at all


class RankSum(NamedTuple):
    """A measure of a ranking without ties, as a sum over its relevant items: scale * count * discount[rank].

    `discount` is (n + 1,), `scale` is (n_query,). Ranks beyond the cutoff do not count.
    """

    counted: Counted
    discount: Float64
    scale: Float64


class ClosedForms(ABC):
    """The computations of a family on a tie profile; a parameter of the instance distinguishes related families.

    `graded` is True if gains count; otherwise an item is relevant from a gain on that a name can give.
    `judged` is True if only items with a judgement count, where there are others. `coverage` is True if the items that
    count as relevant are those with a judgement, whatever that is.
    """

    graded = False
    judged = False
    coverage = False

    @abstractmethod
    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        """Return a function that fills in lower, expected and upper, ``out[:, first:last]``, for a range of queries.

        Lower and upper are the least and the greatest value over all orders of each tie group, which in all families
        but one have the relevant items last or first in each; expected is the mean over all orders. Where no group is
        mixed the three are equal, bit by bit. NaN for a query without relevant items.
        """

    def deciding(self, profile: TieProfile, measure: Measure) -> tuple[Int64, Int64]:
        """Return how many unjudged items of each query, (n_query,), are relevant at the lower and the upper bound.

        The last ones are at the lower bound, and the first ones at the upper: see `deadheat.measures.completions`.
        """
        rule = f"{measure.name} must be left out where unjudged documents are unknown"
        raise InvalidValueError("measures", f"{rule}, for its bounds over what they may be are not known")

    def complete(self, profile: TieProfile, measure: Measure, values: Triple[Float64], threads: int) -> None:  # noqa: B027
        """Fill in the expected values that the loop left out, as they need several queries at once."""

    @abstractmethod
    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """Return the standard deviation over random tie-breaking, (n_query,); NaN where the values are NaN."""

    @abstractmethod
    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        """Return the measure as a sum, for queries with these numbers of relevant and ranked items, up to rank n."""


class NoRankSum(ClosedForms):
    """A measure that is not a `RankSum`: functions that need one, such as searches of sample orders, refuse it."""

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        raise not_a_rank_sum(measure)


def not_a_rank_sum(measure: Measure) -> InvalidValueError:
    """Return the error of a function that needs a `RankSum`."""
    rule = "must be a sum over the relevant items, each by its rank, such as mAP"
    return InvalidValueError("measure", f"{rule}, but is {measure.name}")


class Variant(NamedTuple):
    """A value of the parameter in parentheses: the value for a query, and the aliases that stand for it."""

    sentence: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Family:
    """A row of the catalogue, which defines a family of measures.

    The first of the other spellings is shown. If a name takes a parameter besides `rel`, `choices` are its values, such
    as ``"dcg='log2'"``: the default first, which the name leaves out.
    """

    name: str  # without cutoff, such as "P"
    cutoff: Cutoff
    kind: Kind
    forms: ClosedForms
    sentence: str  # the value for a query, in terms of R, k and hits
    aliases: tuple[str, ...]  # case, blanks, hyphens and underscores do not matter
    choices: Mapping[str, Variant] = field(default_factory=dict)
    unit: Unit = "fraction"
    less_is_better: bool = False
    within: tuple[float, float] = (0.0, 1.0)  # the least and the greatest value that a query can have
    median: tuple[str, ...] = ()  # the name of the median over queries, such as "MdR", and its aliases

    @property
    def spellings(self) -> dict[str, str | None]:
        """The keys of all names of the family, each with the choice that it stands for."""
        default = next(iter(self.choices), None)
        spellings = {key(alias): default for alias in (self.name, *self.aliases)}
        return spellings | {key(alias): name for name, choice in self.choices.items() for alias in choice.aliases}

    def measure(
        self, cutoff: float | None = None, choice: str | None = None, rel: float | None = None, median: bool = False
    ) -> Measure:
        """Return the measure of this family with a cutoff, one of the choices, and the least gain that is relevant."""
        default = next(iter(self.choices), None)
        given = [*([] if choice in (None, default) else [choice]), *([] if rel is None else [f"rel={rel}"])]
        parameters = f"({','.join(map(str, given))})" if given else ""
        name = f"{self.name}{parameters}" + ("" if cutoff is None else f"@{cutoff}")
        if median:
            name = self.median[0] if self.median and name == self.name else f"median({name})"
        return Measure(name, self, cutoff, choice or default, rel, median)


@dataclass(frozen=True)
class Measure:
    """A measure, as `parse` returns it for a name.

    Attributes
    ----------
    name : str
        The canonical name, such as ``"mAP"``, ``"P@10"`` or ``"nDCG(dcg='exp-log2')@10"``; it parses to itself.
    row : Family
        The row of its family.
    cutoff : int or float or None
        The last rank that counts; None if all count, or if it is the number of relevant items. For IPrec it is the
        recall, from 0 to 1.
    choice : str or None
        The parameter, such as ``"dcg='exp-log2'"``; None for a family that takes none.
    rel : int or float or None
        The least gain that is relevant: 2 for ``"P(rel=2)@5"``. None for every gain above 0, and where gains count.
    median : bool
        True for the median over queries in place of the mean: ``"median(MRR)"``.
    """

    name: str
    row: Family = field(repr=False)
    cutoff: float | None = None
    choice: str | None = None
    rel: float | None = None
    median: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def family(self) -> str:
        """The name without cutoff and parameters, such as ``"P"``."""
        return self.row.name

    @property
    def kind(self) -> Kind:
        """The kind, which decides the value for a query with nothing to find: a recall is 1, a precision 0."""
        return self.row.kind

    def at_level(self, rel: float | None) -> Measure:
        """Return the measure with another least relevant gain, unless its name has one or gains count."""
        given = self.rel is not None or self.row.forms.graded
        return self if given else self.row.measure(self.cutoff, self.choice, rel, self.median)

    @property
    def unit(self) -> Unit:
        """The unit of its values: "fraction", "ranks", "gain" or "times"."""
        return self.row.unit

    @property
    def sign(self) -> int:
        """1 if a greater value is better, -1 if a smaller one is."""
        return -1 if self.row.less_is_better else 1

    def end(self, by: End) -> End:
        """Return the value that is meant by "lower", the guaranteed bound: the upper one where less is better."""
        return by if self.sign > 0 else _OTHER_END[by]

    @property
    def limit(self) -> int:
        """The cutoff as it is passed to the loops: 0 stands for the number of relevant items."""
        if self.row.cutoff == "R":
            return 0
        return _NO_CUTOFF if self.cutoff is None or self.row.cutoff == "recall" else int(self.cutoff)


def key(name: str) -> str:
    """Normalize a name: lower case, without blanks, hyphens, underscores, and the "Retrieval" of torchmetrics."""
    return re.sub(r"[\s_-]", "", name.lower()).removeprefix("retrieval")
