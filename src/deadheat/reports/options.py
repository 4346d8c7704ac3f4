"""What a report is asked for, checked once at the door: measures, what singletons count as, what the mean is over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from deadheat import measures as rank_measures
from deadheat.errors import InvalidValueError
from deadheat.support import checks

Singletons = Literal["skip", "zero", "one", "balanced"]
Average = Literal["query", "class"]


@dataclass(frozen=True)
class SummaryOptions:
    """The options of `deadheat.measure`, checked.

    Attributes
    ----------
    measures : tuple of str
        The measures' own names, each once, in the order in which they were asked for.
    singletons, average : str
    """

    measures: tuple[str, ...]
    singletons: str = "skip"
    average: str = "query"

    @classmethod
    def checked(
        cls, measures: str | Iterable[str] | None, singletons: str = "skip", average: str = "query"
    ) -> SummaryOptions:
        """The options, or an error that names the argument.

        Examples
        --------
        >>> SummaryOptions.checked("AP, success@1").measures
        ('mAP', 'Hit@1')
        """
        return cls(
            measure_names(measures),
            checks.choice(singletons, get_args(Singletons), "singletons"),
            checks.choice(average, get_args(Average), "average"),
        )


def measure_names(measures: str | Iterable[str] | None) -> tuple[str, ...]:
    """The measures' own names, each once; the default ones for None."""
    if measures is None:
        measures = rank_measures.DEFAULT_MEASURES
    asked = measures.split(",") if isinstance(measures, str) else tuple(measures)
    if not asked:
        raise InvalidValueError("measures", "must name at least one measure, but got none")
    return tuple(dict.fromkeys(rank_measures.parse(name).name for name in asked))
