"""Models ranked by scores that are already there: which ranks the tasks decide, and who is tied for first place.

In comes a score for each model and task; the tasks are the independent units. Out go an interval of ranks for each
model and the chance that it wins. Nothing is known here of how a score came about, or of ties within it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.reports.statistics.intervals import MOST_RESAMPLES, level_between
from deadheat.reports.statistics.permutation import step_down
from deadheat.reports.tables import DIGITS, Table, TabularResult, count, decimals, number, plain, program
from deadheat.support import checks
from deadheat.support.arrays import Float64
from deadheat.support.floats import plain_floats
from deadheat.support.means import exact_mean

_LISTED = 8  # models tied for first place, named below the table


@dataclass(frozen=True, eq=False)
class ScoreLeaderboard(TabularResult):
    """Models in the order of their mean scores, with what the tasks say about their ranks.

    Attributes
    ----------
    models : tuple of str
        The best first.
    tasks : tuple of str
    scores : (n_model, n_task)
        As they were given; higher is better.
    left_out : tuple of str
        Tasks or models without all scores, where `missing` asked to leave them out.
    confidence_level : float
        Of all intervals of ranks together.
    n_resamples, seed : int
    """

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    scores: Float64
    left_out: tuple[str, ...]
    confidence_level: float
    n_resamples: int
    seed: int

    def __iter__(self) -> Iterator[str]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    @cached_property
    def means(self) -> dict[str, float]:
        """The mean score of each model."""
        return dict(zip(self.models, map(exact_mean, self.scores), strict=True))

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The rank of each model, from 1; models with one and the same mean share one."""
        means = list(self.means.values())
        return {name: 1 + means.index(self.means[name]) for name in self.models}

    @cached_property
    def rank_intervals(self) -> dict[str, tuple[int, int]]:
        """For each model the best and the worst rank that it may have, given the tasks.

        The best is 1 and the models that are significantly ahead of it, the worst leaves out those that it is ahead of.
        The chance that any of the intervals misses the rank of its model in the population of tasks is at most
        1 − `confidence_level` (Mogstad, Romano, Shaikh and Wilhelm, Review of Economic Studies 91(1), 2024).
        """
        ahead = self._pvalues < round(1 - self.confidence_level, 12)
        better = np.triu(ahead)  # the row has the larger mean
        return {
            name: (1 + int(better[:, i].sum()), len(self) - int(better[i].sum())) for i, name in enumerate(self.models)
        }

    @property
    def tied_for_first(self) -> tuple[str, ...]:
        """The models that no other is significantly ahead of."""
        return tuple(name for name, (best, _) in self.rank_intervals.items() if best == 1)

    def pvalue(self, a: str, b: str) -> float:
        """The p-value of a pair, adjusted for all pairs: see `deadheat.reports.statistics.permutation.step_down`."""
        return float(self._pvalues[self._place(a), self._place(b)])

    def win_probability(self, a: str, b: str) -> float:
        """How often the mean of `a` is above that of `b` when tasks are drawn again; equal means count half."""
        drawn, i, j = self._drawn, self._place(a), self._place(b)
        return float(np.mean(np.where(self._is_equal(drawn[:, i], drawn[:, j]), 0.5, drawn[:, i] > drawn[:, j])))

    @cached_property
    def first(self) -> dict[str, float]:
        """How often each model comes first when tasks are drawn again; models with equal means share it."""
        best = self._is_equal(self._drawn, self._drawn.max(axis=1, keepdims=True))
        shares = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
        return dict(zip(self.models, map(float, shares), strict=True))

    def _place(self, name: str) -> int:
        if name not in self.models:
            raise InvalidValueError("name", f"must be one of the models, but is {checks.shown(name)}")
        return self.models.index(name)

    def _is_equal(self, a: Float64, b: Float64) -> Any:
        return np.abs(a - b) <= 2.0**-40 * np.abs(self.scores).max()

    @cached_property
    def _pvalues(self) -> Float64:
        """Of each pair, (n_model, n_model); 1 on the diagonal."""
        upper = np.triu_indices(len(self), 1)
        pvalues = np.ones((len(self), len(self)))
        pvalues[upper] = step_down(self.scores[upper[0]] - self.scores[upper[1]], self.n_resamples, self.seed)
        return np.minimum(pvalues, pvalues.T)

    @cached_property
    def _drawn(self) -> Float64:
        """The mean of each model in each draw of the tasks, (n_resamples, n_model)."""
        n, rng = len(self.tasks), np.random.default_rng(self.seed)
        means: Float64 = rng.multinomial(n, np.full(n, 1 / n), size=self.n_resamples) @ self.scores.T / n
        return means

    def columns(self) -> dict[str, list[Any]]:
        """A row for each model; the last one has no next."""
        pairs = list(itertools.pairwise(self.models))
        low, high = zip(*self.rank_intervals.values(), strict=True)
        return {
            "model": list(self.models),
            "rank": list(self.ranks.values()),
            "mean": list(self.means.values()),
            "rank_low": list(low),
            "rank_high": list(high),
            "first": list(self.first.values()),
            "beats_next": [*(self.win_probability(*pair) for pair in pairs), math.nan],
            "pvalue_next": [*(self.pvalue(*pair) for pair in pairs), math.nan],
        }

    def tables(self, *, digits: int = DIGITS) -> list[Table]:
        """One table: a row for each model; scores as they are, chances in per cent."""
        small, level = np.abs(self.scores).max() <= 1, f"{100 * self.confidence_level:g} % ranks"
        form = decimals(digits + 2 if small else digits)
        rows = [
            [model, str(rank), number(mean, form), f"{low} to {high}", number(100 * first, ".1f"),
             number(100 * beats_next, ".1f"), number(pvalue, ".4f")]
            for model, rank, mean, low, high, first, beats_next, pvalue in zip(*self.columns().values(), strict=True)
        ]  # fmt: skip
        return [Table(["model", "rank", "mean", level, "first (%)", "beats next (%)", "p next"], rows)]

    def notes(self) -> list[str]:
        """What the units are, who is tied for first place, and how many neighbours can be distinguished."""
        alpha, tied = round(1 - self.confidence_level, 12), self.tied_for_first
        decided = sum(self.pvalue(*pair) < alpha for pair in itertools.pairwise(self.models))
        more = f" and {len(tied) - _LISTED} more" if len(tied) > _LISTED else ""
        pairs = count(len(self) * (len(self) - 1) // 2, "pair", "pairs")
        first = f"Statistically tied for first place: {', '.join(tied[:_LISTED])}{more}"
        reach = max(2.0 ** (1 - len(self.tasks)), 1 / (self.n_resamples + 1))
        notes = [
            f"{len(self)} models, {count(len(self.tasks), 'task', 'tasks')} as units; p adjusted for {pairs}.",
            f"{first}." if len(tied) > 1 else f"{tied[0]} is first (p < {alpha:g}).",
            f"Neighbours in rank that can be distinguished: {decided} of {len(self) - 1} (p < {alpha:g}).",
        ]
        if self.left_out:
            notes.append(f"Left out, for lack of scores: {', '.join(self.left_out)}.")
        if reach >= alpha:
            lacks = "raise n_resamples" if reach * self.n_resamples < 1 else "there are too few tasks"
            notes.append(f"No difference can be significant, for the smallest p is {reach:.2g}: {lacks}.")
        return notes

    def to_dict(self) -> dict[str, Any]:
        """The leaderboard as plain Python values that JSON can hold; None where a value is undefined."""
        found = self.columns()
        rows = [dict(zip(found, values, strict=True)) for values in zip(*found.values(), strict=True)]
        about = {name: getattr(self, name) for name in ("confidence_level", "n_resamples", "seed", "tasks", "left_out")}
        return plain({"deadheat": program(), **about, "tied_for_first": self.tied_for_first, "models": rows})  # type: ignore[no-any-return]


@plain_floats
def score_leaderboard(
    scores: Mapping[str, Mapping[str, float]],
    *,
    missing: Literal["refuse", "tasks", "models"] = "refuse",
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    seed: int = 0,
) -> ScoreLeaderboard:
    """Rank models by their mean score, and say which ranks the tasks decide.

    Parameters
    ----------
    scores : mapping of model to mapping of task to number
        Higher is better, all on one scale. NaN is a missing score.
    missing : {"refuse", "tasks", "models"}
        What to do if a model has no score for a task: refuse, leave the task out, or leave the model out.
    confidence_level : float
        Of all intervals of ranks together.
    n_resamples : int
        How many random swaps the tests make, or every one where there are no more, and how often tasks are drawn.
    seed : int

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two models or tasks, a score is missing, or an argument is not as described.

    Notes
    -----
    The tasks count as drawn from a population of such tasks, independently; tasks that share their data do not come so,
    and intervals are then too narrow.

    Examples
    --------
    >>> leads = {"a": 2, "b": 1.9, "c": 0}
    >>> scores = {name: {f"task {i}": 50 + i + lead for i in range(8)} for name, lead in leads.items()}
    >>> scores["b"]["task 0"] += 1
    >>> print(score_leaderboard(scores))
    model  rank   mean  95 % ranks  first (%)  beats next (%)  p next
    b         1  55.52      1 to 2       65.5            65.5  1.0000
    a         2  55.50      1 to 2       34.5           100.0  0.0078
    c         3  53.50      3 to 3        0.0               -       -
    <BLANKLINE>
    3 models, 8 tasks as units; p adjusted for 3 pairs.
    Statistically tied for first place: b, a.
    Neighbours in rank that can be distinguished: 1 of 2 (p < 0.05).
    """
    named = _checked(scores)
    checks.choice(missing, ("refuse", "tasks", "models"), "missing")
    tasks = sorted({task for each in named.values() for task in each})
    table = np.array([[each.get(task, math.nan) for task in tasks] for each in named.values()])
    lacks = np.isnan(table)
    if lacks.any() and missing == "refuse":
        model, task = np.argwhere(lacks)[0]
        rule = f"must have every task for every model, but {list(named)[model]!r} has no {tasks[task]!r}"
        remedy = f"({lacks.sum()} missing; missing='tasks' or 'models' leaves them out)"
        raise InvalidValueError("scores", f"{rule} {remedy}")
    rows, columns = ~lacks.any(axis=1) | (missing == "tasks"), ~lacks.any(axis=0) | (missing != "tasks")
    left_out = [*itertools.compress(named, ~rows), *itertools.compress(tasks, ~columns)]
    models, tasks = list(itertools.compress(named, rows)), list(itertools.compress(tasks, columns))
    table = table[rows][:, columns]
    if min(table.shape) < 2:
        came = f"{count(len(models), 'model', 'models')} and {count(len(tasks), 'task', 'tasks')}"
        raise InvalidValueError("scores", f"must be of at least two models and two tasks, but are of {came}")
    order = sorted(range(len(models)), key=lambda i: (-exact_mean(table[i]), models[i]))
    return ScoreLeaderboard(
        tuple(models[i] for i in order), tuple(tasks), table[order], tuple(left_out), level_between(confidence_level),
        checks.positive_integer(n_resamples, "n_resamples", MOST_RESAMPLES), checks.whole_number(seed, "seed"),
    )  # fmt: skip


def _checked(scores: Any) -> dict[str, dict[str, float]]:
    if not isinstance(scores, Mapping):
        raise InvalidTypeError("scores", f"must be a mapping of models to their scores, but is {type(scores).__name__}")
    found: dict[str, dict[str, float]] = {}
    for model, each in scores.items():
        if not isinstance(each, Mapping):
            raise InvalidTypeError(f"scores[{model!r}]", f"must be a mapping of tasks, but is {type(each).__name__}")
        for name in (model, *each):
            if not isinstance(name, str) or not name.strip():
                raise InvalidTypeError("scores", f"must have names that are not empty, but has {name!r}")
        found[model] = {
            task: math.nan if score != score else checks.real_number(score, f"scores[{model!r}][{task!r}]")
            for task, score in each.items()
        }
    return found
