"""The size and the power of the tests behind boards and gates, on drawn values of queries whose truth is known.

Input: a `Setting`. Output: shares of simulations. A board errs if it calls any wrong direction; a gate errs if it fails
a system whose drop is the margin ("worse"), or passes one whose drop is the margin ("as good").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.reports.statistics.joint import adjusted_pvalues
from deadheat.reports.statistics.margins import (
    Drops,
    detectable_drop,
    larger_pvalue,
    passing_margin,
    smaller_pvalue,
)
from reproduce.sampling import percent_of
from reproduce.study import Finding, Outcome, Setting, Table

TITLE = "The size and the power of tests behind decisions"
SOURCE = "No publication: a check of boards and gates on values whose truth is known by construction."
ABOUT = (
    "Boards: systems share the difficulty of each query; none differs, or one half is better. The share of boards with "
    "any wrong letter should be at most 5 %. Gates: the drops of queries are drawn with a mean equal to the margin, "
    "where each gate should err in at most 5 %; without any drop, where the gate for 'as good' should pass in about "
    "80 % at the margin that it prints; and with a planted drop of the size that it says is found in 80 %."
)

ALPHA, N_RESAMPLES = 0.05, 499
Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, float], Values]  # of the drops of n queries, whose mean is given


def _hits(rng: np.random.Generator, n: int, drop: float) -> Values:
    """Hits that differ in 6 % of the queries at random, and in those lost by the drop."""
    u = rng.random(n)
    return np.where(u < 0.03 + drop, 1.0, np.where(u > 0.97, -1.0, 0.0))


def _lost_hits(rng: np.random.Generator, n: int, drop: float) -> Values:
    """Hits that are never won: without a drop, no query differs."""
    return (rng.random(n) < drop).astype(np.float64)


def _noisy(rng: np.random.Generator, n: int, drop: float) -> Values:
    """Differences of average precision in half of the queries; each falls by the drop."""
    return drop + 0.2 * rng.normal(size=n) * (rng.random(n) < 0.5)


def _few_large(rng: np.random.Generator, n: int, drop: float) -> Values:
    """Losses in few queries, each between 0 and 1: of the size that Student's t never sees."""
    return (rng.random(n) < 2 * drop) * rng.random(n)


def _few_won(rng: np.random.Generator, n: int, drop: float) -> Values:
    """Large gains in 2 % of the queries, and small losses in the others."""
    return np.where(rng.random(n) < 0.02, -0.9, (drop + 0.018) / 0.98)


DRAWS: dict[str, Draw] = {
    "hits, won and lost": _hits, "hits, lost only": _lost_hits, "AP, half of the queries differ": _noisy,
    "AP, few large losses": _few_large, "AP, few large gains": _few_won,
}  # fmt: skip


class Board(NamedTuple):
    """A kind of board: its numbers of systems and queries, and by how much one half of them is better."""

    n_system: int
    n_query: int
    shift: float


BOARDS = [Board(10, 30, 0), Board(10, 30, 1), Board(10, 200, 0), Board(10, 200, 0.3), Board(50, 200, 0)]


def run(setting: Setting) -> Outcome:
    n_board, n_gate = (20, 40) if setting.quick else (1000, 4000)
    boards = [(*board, kind, *_board(board, kind, n_board)) for board in BOARDS for kind in ("hits", "AP")]
    checked = [
        (name, n, margin, _gate(draw, n, margin, n_gate))
        for name, draw in DRAWS.items() for n in (100, 500) for margin in (0.01, 0.03)
    ]  # fmt: skip
    gates = [(*of_values, *shares) for *of_values, shares in checked]
    findings = [
        Finding(f"board of {m}, {n} queries, {kind}, shift {shift:g}: wrong letters", percent_of(wrong, n_board))
        for m, n, shift, kind, wrong, _ in boards
    ]
    tables = [
        Table(
            "boards", f"Share of {n_board} boards with any wrong letter, and of true differences that get one.",
            ["systems", "queries", "shift of one half", "values", "wrong", "found"], boards, percent=["wrong", "found"],
        ),
        Table(
            "gates", f"Shares of {n_gate} simulations, level {ALPHA:g}.", list(_GATES), gates, percent=list(_GATES)[3:]
        ),
    ]  # fmt: skip
    wrong, worse, passed = (
        percent_of(max(shares), number)
        for shares, number in (
            ([row[4] for row in boards], n_board), ([gate[0] for *_, gate in checked], n_gate),
            ([gate[2] for *_, gate in checked], n_gate),
        )
    )  # fmt: skip
    conclusion = (
        f"At most {wrong} of any kind of boards have a wrong letter. A drop equal to the margin fails as worse in at "
        f"most {worse} and passes as good in at most {passed}. With margin 0 the sign-flip test asks whether both "
        "systems could be exchanged, and so it also finds large gains in few queries that outweigh small losses in all."
    )
    return Outcome(findings, [], tables, conclusion=conclusion)


def _board(board: Board, kind: str, n_board: int) -> tuple[float, float]:
    """Return the share of boards with a wrong letter, and of true differences with one."""
    rng = np.random.default_rng([board.n_system, board.n_query, len(kind)])
    shift = np.where(np.arange(board.n_system) < board.n_system // 2, board.shift, 0.0)
    better = shift[:, None] > shift
    wrong, letters = 0, 0.0
    for seed in range(n_board):
        drawn = rng.normal(size=board.n_query) + 0.5 * rng.normal(size=(board.n_system, board.n_query))
        drawn += shift[:, None]
        values = (drawn > 1).astype(np.float64) if kind == "hits" else 1 / np.ceil(1 + 9 / (1 + np.exp(2 * drawn)))
        significant = adjusted_pvalues(values, N_RESAMPLES, seed) < ALPHA
        wrong += bool((significant & ~better).any())
        letters += (significant & better).sum() / max(1, better.sum())
    return wrong / n_board, letters / n_board


_GATES = (
    "values", "queries", "margin", "worse: drop = margin", "worse: no drop, margin 0", "as good: drop = margin",
    "as good: no drop, printed margin", "worse: printed drop",
)  # fmt: skip


def _gate(draw: Draw, n: int, margin: float, n_gate: int) -> tuple[float, ...]:
    rng = np.random.default_rng([n, round(1000 * margin)])

    def share(drop: float, is_called: Callable[[Drops, int], bool]) -> float:
        called = (is_called(Drops(draw(rng, n, drop), np.ones(n)), seed) for seed in range(n_gate))
        return sum(called) / n_gate

    def is_worse(allowed: float) -> Callable[[Drops, int], bool]:
        return lambda drops, seed: larger_pvalue(drops, allowed, n_resamples=N_RESAMPLES, seed=seed) < ALPHA

    def is_as_good(allowed: float) -> Callable[[Drops, int], bool]:
        return lambda drops, seed: smaller_pvalue(drops, allowed) < ALPHA

    noise = [Drops(draw(rng, n, 0.0), np.ones(n)) for _ in range(100)]
    printed = float(np.mean([passing_margin(drops, ALPHA) for drops in noise]))
    planted = float(np.mean([detectable_drop(drops, ALPHA) for drops in noise]))
    return (
        share(margin, is_worse(margin)), share(0.0, is_worse(0.0)), share(margin, is_as_good(margin)),
        share(0.0, is_as_good(printed)), share(planted, is_worse(0.0)),
    )  # fmt: skip
