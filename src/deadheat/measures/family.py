"""The row of a family in the catalogue, the closed forms behind it, and the measure that a name makes of it.

A row says what people read and how names are parsed; its `ClosedForms` compute.
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
Cutoff = Literal["never", "may", "must", "R", "recall"]
Kind = Literal["precision", "recall"]

_NO_CUTOFF = 2**62  # beyond every rank


class Counted(IntEnum):
    """How often a relevant item counts in a `RankSum`."""

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
    """What a family computes from a tie profile; a parameter of the instance distinguishes related families.

    `graded` says whether grades are gains; otherwise an item is relevant or not, from a level on that a name can give.
    `judged` says that only items with a judgement count, where there are others.
    """

    graded = False
    judged = False

    @abstractmethod
    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        """What fills in lower, expected and upper, ``out[:, first:last]``, for some of the queries.

        Lower has the relevant items last in each tie group, upper has them first, expected is the mean over all orders
        of each group. Where no group is mixed the three are equal, bit by bit. NaN for a query without relevant items.
        """

    def complete(self, profile: TieProfile, measure: Measure, values: Triple[Float64], threads: int) -> None:  # noqa: B027
        """Fill in expected values that need several queries at once, if the loop leaves any open."""

    @abstractmethod
    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        """The standard deviation over random tie-breaking, (n_query,); NaN where the values are."""

    @abstractmethod
    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        """The measure as a sum, for queries with so many relevant and ranked items; n is the last rank of all."""


class NoRankSum(ClosedForms):
    """A measure that is no `RankSum`: what searches orders of the samples, or knows a measure by them, refuses it."""

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        raise InvalidValueError(
            "measure", f"must be a sum over the relevant items, each by its rank, such as mAP, but is {measure.name}"
        )


@dataclass(frozen=True, eq=False)
class Family:
    """A row of the catalogue: all that makes a measure known.

    Parameters
    ----------
    name : str
        Without cutoff, such as ``"P"``.
    cutoff : {"never", "may", "must", "R", "recall"}
        Whether the name ends in @k; "R" if not, because it is the number of relevant items; "recall" if it ends in a
        share of them, such as @0.1.
    kind : {"precision", "recall"}
        How the measure sees an empty answer: a recall is 1 where there is nothing to find, a precision is 0.
    forms : ClosedForms
    sentence : str
        The value for a query, in terms of R, k and hits.
    aliases : tuple of str
        Other spellings, of which the first is shown; case, blanks, hyphens and underscores do not matter.
    choices : mapping of str to tuple of str
        Where the name takes a parameter: what may be in its parentheses, first the default, and for each the
        aliases that mean it.
    """

    name: str
    cutoff: Cutoff
    kind: Kind
    forms: ClosedForms
    sentence: str
    aliases: tuple[str, ...]
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def spellings(self) -> dict[str, str | None]:
        """The keys of all names of the family, and the choice that each of them means."""
        default = next(iter(self.choices), None)
        spellings = {key(alias): default for alias in (self.name, *self.aliases)}
        return spellings | {key(alias): choice for choice, aliases in self.choices.items() for alias in aliases}

    def measure(self, cutoff: float | None = None, choice: str | None = None, rel: int = 1) -> Measure:
        """The measure of this family with a cutoff, one of the choices, and the least grade that is relevant."""
        default = next(iter(self.choices), None)
        given = [*([] if choice in (None, default) else [choice]), *([f"rel={rel}"] if rel > 1 else [])]
        parameters = f"({','.join(map(str, given))})" if given else ""
        name = f"{self.name}{parameters}" + ("" if cutoff is None else f"@{cutoff}")
        return Measure(name, self, cutoff, choice or default, rel)


@dataclass(frozen=True)
class Measure:
    """A measure: what `parse` makes of its name.

    Attributes
    ----------
    name : str
        The canonical name, such as ``"mAP"``, ``"P@10"`` or ``"nDCG(dcg='exp-log2')@10"``; it parses to itself.
    row : Family
        The row of its family.
    cutoff : int or float or None
        Only the first so many ranks count; None where all do, or where it is the number of relevant items. For IPrec
        it is the recall, from 0 to 1.
    choice : str or None
        The parameter, such as ``"dcg='exp-log2'"``; None for a family that takes none.
    rel : int
        The least grade that is relevant: 2 for ``"P(rel=2)@5"``. Always 1 where grades are gains.
    """

    name: str
    row: Family = field(repr=False)
    cutoff: float | None = None
    choice: str | None = None
    rel: int = 1

    def __str__(self) -> str:
        return self.name

    @property
    def family(self) -> str:
        """The name without cutoff and parameters, such as ``"P"``."""
        return self.row.name

    @property
    def kind(self) -> Kind:
        """How the measure sees an empty answer: a recall is 1 where there is nothing to find, a precision is 0."""
        return self.row.kind

    def at_level(self, rel: int) -> Measure:
        """The same with another least grade that is relevant, unless it has one in its name or grades are gains."""
        return self if self.rel > 1 or self.row.forms.graded else self.row.measure(self.cutoff, self.choice, rel)

    @property
    def limit(self) -> int:
        """The cutoff as the loops know it: 0 stands for the number of relevant items."""
        if self.row.cutoff == "R":
            return 0
        return _NO_CUTOFF if self.cutoff is None or self.row.cutoff == "recall" else int(self.cutoff)


def key(name: str) -> str:
    """A name without what does not matter in it; torchmetrics puts "Retrieval" in front."""
    return re.sub(r"[\s_-]", "", name.lower()).removeprefix("retrieval")
