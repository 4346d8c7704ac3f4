"""The settings of all statistics, checked in one place: intervals, paired tests and p-values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from deadheat.errors import InvalidValueError
from deadheat.support import checks

BOOTSTRAP = ("percentile", "BCa")  # as SciPy names them
METHODS = (*BOOTSTRAP, "t")
MOST_RESAMPLES = 10**7  # beyond which no digit that anybody quotes changes, and a call takes hours


@dataclass(frozen=True)
class StatisticsSettings:
    """The settings of an interval, and of a test that has the same ones; a subclass adds its own.

    Examples
    --------
    >>> StatisticsSettings(confidence_level=95)
    Traceback (most recent call last):
    deadheat.errors.InvalidValueError: confidence_level must lie strictly between 0 and 1, but is 95
    """

    methods: ClassVar[tuple[str, ...]] = METHODS

    confidence_level: float = 0.95
    method: str = "t"
    n_resamples: int = 9999
    seed: int = 0

    def __post_init__(self) -> None:
        self._set("confidence_level", level_between(self.confidence_level))
        checks.choice(self.method, self.methods, "method")
        self._set("n_resamples", checks.positive_integer(self.n_resamples, "n_resamples", MOST_RESAMPLES))
        self._set("seed", checks.seed(self.seed))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def changed(self, **settings: Any) -> Self:
        """Return the settings with those replaced that are not None."""
        asked = {name: value for name, value in settings.items() if value is not None}
        return replace(self, **asked) if asked else self

    @property
    def alpha(self) -> float:
        """The significance level: a p-value below it is called significant."""
        return round(1 - self.confidence_level, 12)


def level_between(confidence_level: Any) -> float:
    """Return a level as a float, checked to be strictly between 0 and 1."""
    level = checks.real_number(confidence_level, "confidence_level")
    if not 0 < level < 1:
        shown = checks.shown(confidence_level)
        raise InvalidValueError("confidence_level", f"must lie strictly between 0 and 1, but is {shown}")
    return level
