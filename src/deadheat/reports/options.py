"""What a report is asked for, checked once at the door: measures, what singletons count as, what the mean is over."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from deadheat import measures as rank_measures
from deadheat.support import checks

Singletons = Literal["skip", "zero", "one", "balanced"]
Average = Literal["query", "class"]


class SummaryOptions(NamedTuple):
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
    return tuple(measure.name for measure in rank_measures.parse_all(measures))
