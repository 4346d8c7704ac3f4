"""A reranker with truncated inputs: pairs become equal, and the rule for ties decides its score.

Input: a `Setting`. Output: MRR@10 by five rules for ties and its bounds, by the length at which inputs are cut.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from deadheat import from_run
from deadheat.plots import style
from deadheat.reports.evaluating import evaluate
from deadheat.reports.runs import RULES, by_rule
from reproduce.study import Finding, Outcome, Picture, Setting, Table, compared

TITLE = "Rerankers: truncated inputs, equal scores, and five rules for ties"
SOURCE = "embeddings-benchmark/mteb issue 5092 and results pull request 706: WebLINXCandidatesReranking, 2026."
ABOUT = (
    "Constructed like that task: each query has one positive among many candidates, the positive is listed first, and "
    "ids are numbered in the order of the list. A pair is the query followed by the candidate, cut at a maximum "
    "length. Candidates begin with the same words, as elements of one page do. The reranker is a function of its "
    "input, so that equal inputs get equal scores: the sum of word weights, higher on average for the positive. "
    "Five rules break the ties: the order of the list (MTEB's MRR before 2.18.19), the reverse (an ascending "
    "sort read backwards, as in sentence-transformers' evaluator of cross-encoders), ids ascending (its evaluator of "
    "retrieval), ids descending (trec_eval, pytrec_eval, MTEB since), and the mean over all orders (scikit-learn's "
    "nDCG)."
)
MEASURE = "MRR@10"
MEAN = "mean over all orders"
_ISSUE = "mteb issue 5092, constant scorer"
_COMMON, _LENGTH, _WORDS = 16, 48, 1000  # words at the beginning of all candidates, of a candidate, in the vocabulary
_MARGIN = 0.35  # added to the weights of the positive's words, in standard deviations of a weight


class Truncated(NamedTuple):
    constant: float  # the share of queries whose candidates all tie
    rules: dict[str, float]  # MRR@10 by rule
    lower: float
    upper: float


def run(setting: Setting) -> Outcome:
    n_query, n_candidate = (50, 20) if setting.quick else (1000, 100)
    lengths = (0, 64, 96, 128, 160, 192, 256)
    result = {length: truncated(length, n_query, n_candidate) for length in lengths}
    rules, nothing = list(result[0].rules), result[0]
    findings = [
        compared("MRR@10 of a constant scorer, ties in the order of the list", nothing.rules[rules[0]], 1.0, unit="",
                 digits=1, source=_ISSUE),
        compared("nDCG@10 of a constant scorer, ties by id, descending", constant_ndcg(n_candidate), 0.0, unit="",
                 digits=1, source=_ISSUE),
    ]  # fmt: skip
    for length, row in result.items():
        values = "; ".join(f"{100 * value:.1f} {rule}" for rule, value in row.rules.items())
        setting.say(f"inputs of {length}: {values}")
        findings.append(Finding(f"MRR@10 (%), inputs cut at {length} words", values))
    columns = ["cut at", "queries with one score", *rules, "lower", "upper"]
    rows = [[length, row.constant, *row.rules.values(), row.lower, row.upper] for length, row in result.items()]
    caption = f"{MEASURE} by rule for ties, over {n_query} queries of {n_candidate} candidates."
    some = min(result, key=lambda length: abs(result[length].constant - 0.5))
    shown = [result[0], result[some], result[lengths[-1]]]
    listed = [f"{100 * each.rules[rules[0]]:.1f}" for each in shown]
    lower = [f"{100 * each.lower:.1f}" for each in shown]
    conclusion = (
        f"The less the reranker sees, the higher its {MEASURE} where ties keep the order of the list: {listed[2]} % "
        f"with inputs cut at {lengths[-1]} words, {listed[1]} % at {some}, where {100 * shown[1].constant:.0f} % of "
        f"the queries have one score, {listed[0]} % where it sees nothing. The lower bound falls instead: {lower[2]}, "
        f"{lower[1]} and {lower[0]} %."
    )
    picture = Picture("lengths", f"{caption} The band is between the bounds.", _figure(result))
    table = Table("lengths", caption, columns, rows, percent=columns[1:])
    return Outcome(findings, [picture], [table], conclusion=conclusion)


def truncated(length: int, n_query: int, n_candidate: int, seed: int = 0) -> Truncated:
    scores = scores_of(length, n_query, n_candidate, seed)
    judged = {query: {next(iter(row)): 1} for query, row in scores.items()}  # the first
    result = evaluate(from_run(scores, judged), MEASURE)[MEASURE]
    rules = {rule: by_rule(rule, scores, judged, [MEASURE], "skip")[MEASURE] for rule in RULES}
    constant = sum(len(set(row.values())) == 1 for row in scores.values()) / n_query
    return Truncated(constant, rules | {MEAN: result.expected}, result.lower, result.upper)


def scores_of(length: int, n_query: int, n_candidate: int, seed: int = 0) -> dict[str, dict[str, float]]:
    """Scores by query and id; the positive comes first."""
    rng = np.random.default_rng(seed)
    weights = np.sort(rng.normal(size=_WORDS))
    scores = {}
    for number in range(n_query):
        n_word = int(rng.lognormal(np.log(100), 0.4))  # of the query
        words = rng.integers(0, _WORDS, (n_candidate, _LENGTH))
        words[0] = np.searchsorted(weights, weights[words[0]] + _MARGIN).clip(0, _WORDS - 1)
        words[:, :_COMMON] = words[1, :_COMMON]
        seen = words[:, : max(0, length - n_word)]
        scores[f"q{number}"] = {f"{i:04}": float(weights[row].sum()) for i, row in enumerate(seen)}
    return scores


def constant_ndcg(n_candidate: int) -> float:
    """nDCG@10 of a constant scorer where ids are numbered in the order of the list and ties are broken descending."""
    scores = {"q": {f"{i:04}": 0.0 for i in range(n_candidate)}}
    return by_rule("by id, descending", scores, {"q": {"0000": 1}}, ["nDCG@10"], "skip")["nDCG@10"]


def _figure(outcomes: dict[int, Truncated]) -> Figure:
    figure = style.figure(5.6, 4.0)
    ax = style.quiet(figure.subplots())
    lengths = list(outcomes)
    lower, upper = ([100 * getattr(row, end) for row in outcomes.values()] for end in ("lower", "upper"))
    ax.fill_between(lengths, lower, upper, color=style.GREY, alpha=0.25, linewidth=0)
    for number, rule in enumerate(outcomes[lengths[0]].rules):
        values = [100 * row.rules[rule] for row in outcomes.values()]
        ax.plot(lengths, values, **style.marked_line(number), markersize=5, markerfacecolor="white", label=rule)
    ax.set(xlabel="words of query and candidate that the reranker sees", ylabel=f"{MEASURE} (%)")
    figure.legend(*ax.get_legend_handles_labels(), frameon=False, fontsize="small", loc="outside lower center", ncols=1)
    return figure
