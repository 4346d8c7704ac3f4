"""Records of agent memory: what a lead of a few questions in 500 can show, and what ties of fused ranks leave open.

Input: a `Setting`. Output: exact bounds on the p-value of published counts, which hold for every pairing of the
questions; and measures of drawn rankings that are fused by reciprocal rank, with the bounds that ties leave.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from deadheat.engine.sources.scores import from_scores
from deadheat.plots import style
from deadheat.reports.evaluating import evaluate
from deadheat.reports.report import Report
from deadheat.support.arrays import Float64
from reproduce.study import Finding, Outcome, Picture, Setting, Table

TITLE = "Records of agent memory, and the ties of fused ranks"
SOURCE = "Counts of LongMemEval-S (500 questions, arXiv:2410.10813) that projects published in 2026; each is named."
ABOUT = (
    "Two systems that answer b and a of n questions differ in at least b − a questions, and in more if each is right "
    "where the other is wrong. A published count does not say in how many, so the p-value of McNemar's exact test is "
    "computed for every possible number, and its least and its greatest value are reported. Then two rankings of 48 "
    "sessions for each of 500 questions are drawn and fused by reciprocal rank, with k = 60, as search engines and "
    "memory tools do."
)
NEEDS = ("scipy",)

N_QUESTION, N_SESSION, K, LEVEL = 500, 48, 60, 0.05
MEASURES = ["Hit@5", "All@5", "MRR"]


class Claim(NamedTuple):
    """A published count: the system, what is counted, how many of `n` questions, and where it was published."""

    system: str
    counted: str
    right: int
    n: int
    source: str


ANSWERS, SESSIONS = "answers judged right", "recall_any@5"
CLAIMS = [
    Claim("remlabs", ANSWERS, 486, 500, "remlabs.ai/blog/how-we-scored-93-on-longmemeval"),
    Claim("agentmemory (McCann)", ANSWERS, 481, 500, "xiaowu0162/LongMemEval 29"),
    Claim("Neutrally", ANSWERS, 447, 500, "xiaowu0162/LongMemEval 30"),
    Claim("MemPalace, raw", SESSIONS, 483, 500, "MemPalace/mempalace 29: 96.6 %"),
    Claim("agentmemory, BM25 and vectors", SESSIONS, 476, 500, "rohitg00/agentmemory, LONGMEMEVAL.md: 95.2 %"),
    Claim("agentmemory, BM25", SESSIONS, 431, 500, "rohitg00/agentmemory, LONGMEMEVAL.md: 86.2 %"),
]


def pvalues(better: int, worse: int, n: int) -> tuple[float, float]:
    """The least and the greatest p-value of McNemar's exact test, over all pairings of two counts of n questions.

    They are at the ends: p grows with the number of questions that the better system lost.

    Examples
    --------
    >>> pvalues(483, 480, 500)  # three questions apart: never below a quarter
    (0.25, 0.7428293587290682)
    """
    drop = better - worse
    ends = (0, min(worse, n - better))
    least, most = (float(binomtest(lost, 2 * lost + drop).pvalue) if lost or drop else 1.0 for lost in ends)
    return least, most


def least_difference(better: int, n: int, whatever: bool = False) -> int:
    """The smallest number of questions by which a count leads with p < 0.05: for some pairing, or for every one.

    Examples
    --------
    >>> least_difference(480, 500), least_difference(480, 500, whatever=True)
    (6, 16)
    """
    return next(drop for drop in range(1, better + 1) if pvalues(better, better - drop, n)[whatever] < LEVEL)


def fused(ranks: NDArray[np.int64], depth: int) -> Float64:
    """Scores by reciprocal rank fusion of rankings (…, 2), as dense ranks: equal if and only if the sums are.

    An item behind `depth` in a ranking gets nothing from it.
    """
    terms = [Fraction(1, K + rank) if rank <= depth else Fraction(0) for rank in range(1, N_SESSION + 1)]
    table = [[one + two for two in terms] for one in terms]
    order = {value: place for place, value in enumerate(sorted({value for row in table for value in row}))}
    dense = np.array([[order[value] for value in row] for row in table], dtype=np.float64)
    return dense[ranks[..., 0] - 1, ranks[..., 1] - 1]


def rankings(n_question: int, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Ranks (n, sessions, 2) by two scorers that both know the relevant sessions, one to three of each question."""
    rng = np.random.default_rng(seed)
    relevant = np.arange(N_SESSION) < rng.integers(1, 4, (n_question, 1))
    closeness = rng.normal(size=(n_question, N_SESSION, 2)) + np.array([1.8, 2.2]) * relevant[..., None]
    return 1 + (-closeness).argsort(axis=1).argsort(axis=1), relevant


def run(setting: Setting) -> Outcome:
    rows = [(*claim[:4], *binomtest(claim.right, claim.n).proportion_ci(), claim.source) for claim in CLAIMS]
    pairs = [
        (a.counted, a.system, b.system, a.right - b.right, *pvalues(a.right, b.right, a.n))
        for a, b in pairwise(CLAIMS) if a.counted == b.counted
    ]  # fmt: skip
    least = [
        (right, right / N_QUESTION, *(least_difference(right, N_QUESTION, whatever) for whatever in (False, True)))
        for right in (400, 450, 475, 490, 497)
    ]  # fmt: skip
    opened = _fusions(100 if setting.quick else N_QUESTION)
    ties = [
        (name, measure, value.lower, value.expected, value.upper, float(np.mean(each.lower < each.upper)))
        for name, report in opened.items() for measure, value in report.items() for each in [value.per_query]
    ]  # fmt: skip
    three = pvalues(483, 480, N_QUESTION)[0]
    widest = max(100 * (upper - lower) for _, _, lower, _, upper, _ in ties)
    findings = [
        Finding("3 of 500 questions apart: p of an exact paired test, at least", f"{three:.2f}"),
        *(
            Finding(f"{a} and {b}: {drop} apart ({counted}), p", f"{low:.2g} to {high:.2g}")
            for counted, a, b, drop, low, high in pairs
        ),
        Finding("fused ranks: the most that ties leave open", f"{widest:.1f} points"),
    ]
    tables = [
        Table("claims", "Published counts, with 95 % intervals of Clopper and Pearson.",
              ["system", "counted", "right", "of", "low", "high", "source"], rows, percent=["low", "high"]),
        Table("pairs", "McNemar's exact p-value over all pairings of the questions.",
              ["counted", "A", "B", "questions apart", "least p", "greatest p"], pairs),
        Table("least", "Questions of 500 by which a system must lead for p < 0.05: at best, and for every pairing.",
              ["right", "share", "at best", "for every pairing"], least, percent=["share"]),
        Table("ties", f"{N_QUESTION} questions, two rankings of {N_SESSION} sessions, fused with k = {K}.",
              ["scores", "measure", "lower", "expected", "upper", "questions that ties decide"], ties,
              percent=["lower", "expected", "upper", "questions that ties decide"]),
    ]  # fmt: skip
    conclusion = (
        f"A lead of three questions in 500 is within chance for every pairing: p is at least {three:.2f}. For p < 0.05 "
        "a system must lead by six at least, and then lose none. Scores of fused ranks tie, since an item at ranks 1 "
        f"and 3 has the score of one at 3 and 1: ties leave up to {widest:.1f} points open. So publish the result of "
        "each question, and rank by the lower bound."
    )
    return Outcome(findings, [_drawn(opened)], tables, conclusion=conclusion)


def _fusions(n_question: int) -> dict[str, Report]:
    ranks, relevant = rankings(n_question)
    exact, top = fused(ranks, N_SESSION), fused(ranks, 10)
    printed = np.round((1 / (K + ranks)).sum(axis=2), 3)
    scores = {
        "one ranking": -ranks[..., 1].astype(np.float64), "fused": exact, "the first 10 of each, fused": top,
        "fused, printed with 3 decimals": printed,
    }  # fmt: skip
    return {name: evaluate(from_scores(each, relevant), MEASURES) for name, each in scores.items()}


def _drawn(opened: dict[str, Report]) -> Picture:
    figure = style.figure(6.4, 2.8)
    ax = figure.subplots()
    for shift, measure, name, colour in ((-0.14, "Hit@5", "recall_any@5", style.BLUE),
                                         (0.14, "All@5", "recall_all@5", style.VERMILION)):  # fmt: skip
        for row, report in enumerate(opened.values()):
            value, y = report[measure], row + shift
            ends = [100 * value.lower, 100 * value.upper]
            ax.plot(ends, [y, y], color=colour, lw=6, solid_capstyle="butt", label=None if row else name)
            ax.plot(100 * value.expected, y, "|", color=style.INK, ms=11, mew=2)
    ax.set_yticks(range(len(opened)), [*opened])
    ax.invert_yaxis()
    ax.set_xlabel("lower to upper, and the expected value, in per cent")
    ax.legend(frameon=False)
    return Picture("ties", "What ties of fused ranks leave open.", figure)
