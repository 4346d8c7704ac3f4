"""Five questions that a table of scores does not answer: the answers of plain numbers, and those of the tests.

Input: a `Setting`. Output: a table with a row for each question.
"""

from __future__ import annotations

import numpy as np

from deadheat.analyses.comparison import compare
from deadheat.analyses.index_recall import index_recall_of_truth
from deadheat.analyses.leaderboard import leaderboard
from deadheat.engine.profiles.profile import TieProfile
from deadheat.reports.evaluating import evaluate
from deadheat.reports.report import Report
from deadheat.reports.statistics.permutation import holm
from reproduce.study import Finding, Outcome, Setting, Table

TITLE = "From bounds to decisions: before and after"
SOURCE = "No publication: what users of bounds and p-values asked, and what the present rules answer."
ABOUT = (
    "Before: pairs of systems are tested by the worst case over the ties of both, after Holm; a gate compares two "
    "numbers; a slice is evaluated by itself, which changes the units of its test; two nightly runs of an index are "
    "two numbers. After: what ranks is what is tested, all pairs together; a gate asks for evidence; slices keep the "
    "units; whatever has a value for each query is compared."
)
N_RESAMPLES = 9999


def run(setting: Setting) -> Outcome:
    rows = [*_board(6 if setting.quick else 24), _gate(), _slices(), _index()]
    findings = [Finding(question, f"before: {before}; after: {after}") for question, before, after in rows]
    table = Table("complaints", "The same data, before and after.", ["question", "before", "after"], rows)
    return Outcome(findings, [], [table], conclusion="Each question has an answer that names its evidence.")


def _of_ranks(ranks: np.ndarray) -> Report:
    """Return the report of queries with one relevant item of ten: its rank, or 0 if all ten tie."""
    groups = [[(0, 0, 10, 1)] if rank == 0 else [(int(rank) - 1, 0, 1, 1)] for rank in ranks]
    return evaluate(TieProfile.from_groups(groups, n_ranked=[10] * len(ranks)), "MRR")


def _board(n_system: int) -> list[tuple[str, str, str]]:
    """A board on which one submission is all zeros; half of the others are better than the rest."""
    rng, n_query = np.random.default_rng(0), 300
    ease = rng.normal(size=n_query)
    reports = {"zero": _of_ranks(np.zeros(n_query))}
    for number in range(n_system - 1):
        drawn = ease + 0.7 * rng.normal(size=n_query) + (0.8 if number < n_system // 2 else 0.0)
        reports[f"system {number}"] = _of_ranks(np.clip(np.ceil(4 - 2 * drawn), 1, 10))
    board = leaderboard(reports, n_resamples=N_RESAMPLES)
    best, n_pair = next(iter(board)), n_system * (n_system - 1) // 2
    worst_case = board.comparison(best, "zero")["MRR"].pvalue_worst_case
    over_zero = sum("zero" in board.ahead_of(name) for name in board)
    letters = sum(len(board.ahead_of(name)) for name in board)
    least = holm(dict.fromkeys(range(n_pair), 2 / (N_RESAMPLES + 1)))
    marked = len({name for pair in board.could_swap if "zero" in pair for name in pair})
    return [
        (
            f"Who is ahead of an all-zero submission, of {n_system} systems?",
            f"nobody: p = {worst_case:.1f} for the first, and {marked} ranks could swap by ties",
            f"{over_zero} systems; it is {len(board.left_open)} system named for its own ties, "
            f"{len(board._swaps_of_both)} pairs are marked",
        ),
        (
            f"Can any of {n_pair} pairs be separated?",
            f"the smallest p is {least[0]:.4f} after Holm",
            f"{letters} pairs are, by step-down max-T",
        ),
    ]


def _gate() -> tuple[str, str, str]:
    """Four of 500 queries are lost and none is won."""
    old, new = _of_ranks(np.ones(500)), _of_ranks(np.where(np.arange(500) < 4, 10, 1))
    comparison = compare(old, new, measures="Hit@5")
    drop, worse = comparison.gate(0.005, "drop"), comparison.gate(0.0, "worse")
    points = f"{-100 * drop.differences['Hit@5'].tested:.1f} points, p = {comparison['Hit@5'].pvalue:.3f}"
    shown = f"p = {worse.pvalues['Hit@5']:.4f}, and {100 * worse.detectable['Hit@5']:.1f} points would be found in 80 %"
    return (
        f"Does Hit@5 {points} fail a gate?",
        "passes" if drop.passed else "fails, whatever chance explains",
        f"{'passes' if worse.passed else 'fails'}: {shown}",
    )


def _slices() -> tuple[str, str, str]:
    """Twelve classes of ten queries each, whose differences are shared; a slice has six of the classes."""
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(12), 10)
    shared = rng.normal(size=12)[labels]
    a, b = (np.clip(np.ceil(3 + 2 * rng.normal(size=120) + sign * (shared + 0.6)), 1, 10) for sign in (-0.7, 0.7))
    part = labels < 6
    alone = compare(_of_ranks(a[part]), _of_ranks(b[part]))["MRR"]
    whole = compare(_of_ranks(a), _of_ranks(b), resample="class", labels=labels)
    row = whole.by_slice(np.where(part, "first", "second"))["first"]["MRR"]
    low, high = (100 * end for end in row.tested_interval)
    return (
        "Do two systems differ in one question type?",
        f"p = {alone.pvalue:.4f}, over {alone.n_unit} queries as if they were independent",
        f"p = {row.pvalue:.4f} over {row.n_unit} classes, {100 * row.tested:.1f} points [{low:.1f}, {high:.1f}]",
    )


def _index() -> tuple[str, str, str]:
    """An index that misses one of five neighbours in nine of 200 queries, and returns tied ones in others."""
    truth = np.tile(np.arange(7), (200, 1))
    distances = np.tile([0.0, 1.0, 2.0, 3.0, 4.0, 4.0, 5.0], (200, 1))
    old, new = truth[:, :5].copy(), truth[:, :5].copy()
    new[:9, 4], new[100:, 4] = 6, 5
    recalls = index_recall_of_truth({"yesterday": old, "today": new}, truth, distances, 5)
    decision = compare(recalls["yesterday"], recalls["today"]).gate()
    by_hand = " and ".join(f"{100 * each.recall:.2f} %" for each in recalls.recalls.values())
    return "Is tonight's index worse?", f"two numbers, {by_hand}", decision.verdict()
