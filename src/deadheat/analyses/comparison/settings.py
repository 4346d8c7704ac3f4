"""How differences are tested, checked once at the door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from deadheat.reports.options import Average
from deadheat.statistics import permutation
from deadheat.statistics.interval import BOOTSTRAP, MOST_RESAMPLES, level_between
from deadheat.support import checks


@dataclass(frozen=True)
class PairedTest:
    """How differences are tested: the arguments of `compare` of the same names."""

    resample: str
    alternative: str
    confidence_level: float
    method: str
    n_resamples: int
    seed: int

    @classmethod
    def checked(
        cls, *, resample: str | None = None, alternative: str = "two-sided", confidence_level: float = 0.95,
        method: str = "percentile", n_resamples: int = 1, seed: int = 0,
    ) -> PairedTest:  # fmt: skip
        """The settings, or an error that names the argument; without `resample`, queries."""
        return cls(
            resample=checks.choice("query" if resample is None else resample, get_args(Average), "resample"),
            alternative=checks.choice(alternative, permutation.ALTERNATIVES, "alternative"),
            confidence_level=level_between(confidence_level),
            method=checks.choice(method, BOOTSTRAP, "method"),
            n_resamples=checks.positive_integer(n_resamples, "n_resamples", MOST_RESAMPLES),
            seed=checks.whole_number(seed, "seed"),
        )

    @property
    def alpha(self) -> float:
        """Below which a p-value is called significant."""
        return round(1 - self.confidence_level, 12)
