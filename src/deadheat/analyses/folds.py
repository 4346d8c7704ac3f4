"""Accuracy at a threshold that was chosen on other data: k-fold cross-validation, as LFW's protocol has it.

In come levels of equal scores, classes and folds; out go `Folds`. For each fold, the threshold is the best one of all
other folds; the accuracy is that of the fold. Several thresholds can be the best of the others: the strictest one is
taken, and the accuracies that the others would give are its bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deadheat.errors import InvalidValueError
from deadheat.inputs.labels import label_codes, labels
from deadheat.reports.answer import Answer, Column, Panel
from deadheat.support import checks
from deadheat.support.arrays import Bool, Float64, Int64
from deadheat.support.means import exact_mean, sample_deviation
from deadheat.support.triple import Triple


@dataclass(frozen=True, eq=False)
class Folds(Answer):
    """Accuracies of folds, each at the threshold that is the best for all other folds.

    **Ties:** of several thresholds that are equally good for the other folds, the strictest is taken, which accepts
    least; `lower` and `upper` are the least and the greatest accuracy that any of them has in the fold. A threshold
    accepts equal scores together.

    Attributes
    ----------
    names : tuple
        The folds.
    accuracy, lower, upper : (n_fold,)
        Fractions in [0, 1].
    thresholds : tuple of float
        The last score that is accepted; infinite if none is.
    """

    names: tuple[Any, ...]
    accuracy: Float64
    lower: Float64 = field(repr=False)
    upper: Float64 = field(repr=False)
    thresholds: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean accuracy of the folds."""
        return exact_mean(self.accuracy)

    @property
    def standard_error(self) -> float:
        """Standard error of the mean: s/√k, with the sample deviation s of k folds. They share training data."""
        return sample_deviation(self.accuracy) / math.sqrt(len(self.accuracy))

    @property
    def bounds(self) -> Triple[float]:
        """Mean accuracy over the thresholds that are equally good for the other folds; the mean is in the middle."""
        return Triple(exact_mean(self.lower), self.mean, exact_mean(self.upper))

    def panels(self) -> list[Panel]:
        """Return one table, a row for each fold."""
        only: Any = "" if (self.lower < self.upper).any() else "data"
        return [Panel([
            Column("fold", self.names),
            Column("accuracy", self.accuracy.tolist(), "fraction"),
            Column("lower", self.lower.tolist(), "fraction", only=only),
            Column("upper", self.upper.tolist(), "fraction", only=only),
            Column("threshold", self.thresholds, "distance"),
        ], key="folds")]  # fmt: skip

    def notes(self) -> list[str]:
        """Return the mean, its standard error, and the meaning of the bounds."""
        low, mean, high = (100 * each for each in self.bounds)
        value = f"{mean:.2f} ± {100 * self.standard_error:.2f} %"
        notes = [f"Accuracy {value}: mean and standard error of {len(self.names)} folds."]
        if low < high:
            notes.append(f"Other thresholds that are as good for the other folds have {low:.2f} to {high:.2f} %.")
        return notes

    def facts(self) -> dict[str, Any]:
        return self._facts_of("mean", "standard_error") | {"bounds": [self.bounds.lower, self.bounds.upper]}


def fold_numbers(folds: Any, n: int) -> tuple[tuple[Any, ...], Int64]:
    """Return the names of folds and the fold of each item; a number stands for so many runs of consecutive items."""
    if np.ndim(folds) == 0:
        n_fold = checks.whole_number(folds, "folds", 2, n)
        return tuple(range(1, n_fold + 1)), np.repeat(
            np.arange(n_fold), [len(part) for part in np.array_split(np.arange(n), n_fold)]
        )
    array = labels(folds, n, "folds", "scores")
    codes = label_codes(array)[0]
    if codes.max() < 1:
        raise InvalidValueError("folds", "must be at least 2, but all items are in one")
    return tuple(np.unique(array).tolist()), codes


def folds_of(level: Int64, positive: Bool, folds: Int64, names: tuple[Any, ...], limits: list[float]) -> Folds:
    """Return the accuracies of folds; `limits` are the threshold that accepts nothing, and that of each level."""
    n_level, n_fold = len(limits) - 1, len(names)
    gains = np.zeros((n_fold, n_level + 1), dtype=np.int64)  # right decisions that accepting one more level adds
    np.add.at(gains, (folds, level + 1), np.where(positive, 1, -1))
    gains[:, 0] = np.bincount(folds, ~positive, n_fold)
    right = np.cumsum(gains, axis=1)
    others = right.sum(axis=0) - right
    best = others == others.max(axis=1, keepdims=True)
    first, size = best.argmax(axis=1), np.bincount(folds)
    low, high = np.where(best, right, len(level)).min(axis=1), np.where(best, right, -1).max(axis=1)
    at = right[np.arange(n_fold), first]
    return Folds(names, at / size, low / size, high / size, tuple(limits[place] for place in first.tolist()))
