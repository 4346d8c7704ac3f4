"""Reports as trec_eval prints them, with the bounds: its names of measures, its own measures, and its lines.

measure (22 wide) ── query or all ── expected ── lower ── upper        measures, with 4 decimals
measure (22 wide) ── query or all ── number                            counts

Order, nicknames and default cutoffs are those of trec_eval 10.0. Its measures that are not in the catalogue are
computed here from others: geometric means, precision over the best possible one, and measures whose cutoffs are
multiples of R or the ranks at which the best order changes grade.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

from deadheat.engine.profiles.parts import at_level
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import InvalidValueError
from deadheat.measures import names as measure_names
from deadheat.measures import values as measure_values
from deadheat.measures.family import Measure
from deadheat.measures.interpolated import RECALLS
from deadheat.reports.report import Report
from deadheat.support.arrays import Float64, Int64
from deadheat.support.means import exact_mean, exact_means
from deadheat.support.triple import Triple

_OF_FAMILY = {  # without and with a cutoff
    "mAP": ("map", "map_cut"),
    "R-Precision": ("Rprec", None),
    "P": (None, "P"),
    "Recall": (None, "recall"),
    "Hit": (None, "success"),
    "MRR": ("recip_rank", None),
    "nDCG": ("ndcg", "ndcg_cut"),
    "bpref": ("bpref", None),
    "iprec_at_recall": (None, "iprec_at_recall"),
    "11pt_avg": ("11pt_avg", None),
    "SetP": ("set_P", None),
    "SetR": ("set_recall", None),
    "SetRelP": ("set_relative_P", None),
    "SetAP": ("set_map", None),
    "SetF": ("set_F", None),
}
_COUNTED = ("num_q", "num_ret", "num_rel", "num_rel_ret")
_OFFICIAL = ("runid", *_COUNTED, "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P")
_OF_SETS = ("set_P", "set_relative_P", "set_recall", "set_map", "set_F")
ORDER = (
    *_OFFICIAL, "relstring", "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg", "binG", "G", "ndcg",
    "ndcg_rel", "Rndcg", "ndcg_cut", "map_cut", "relative_P", "success", *_OF_SETS, "num_nonrel_judged_ret", "rbp",
    "rbp_resid", "unj",
)  # fmt: skip
NICKNAMES = {"official": _OFFICIAL, "set": ("runid", *_COUNTED, "utility", *_OF_SETS), "all_trec": ORDER}
LEFT_OUT = ("relstring", "infAP", "binG", "G", "ndcg_rel", "num_nonrel_judged_ret", "rbp", "rbp_resid", "unj")

_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)  # where trec_eval is given none
_DEFAULTS: dict[str, Sequence[float]] = {
    **dict.fromkeys(("P", "recall", "map_cut", "ndcg_cut", "relative_P"), _CUTOFFS),
    "success": (1, 5, 10),
    "iprec_at_recall": RECALLS,
    "Rprec_mult": tuple(i / 5 for i in range(1, 11)),
}
_NUMBER = r"(?:[0-9]*\.)?[0-9]+"
_PARAMETERS = {  # behind the point, and printed as they are
    "utility": rf"[-+]?{_NUMBER}(,[-+]?{_NUMBER}){{3}}",
    "11pt_avg": rf"{_NUMBER}(,{_NUMBER})*",
    "ndcg": rf"[0-9]+={_NUMBER}(,[0-9]+={_NUMBER})*",
    "set_F": _NUMBER,
}
_WITH_DECIMALS = ("iprec_at_recall", "Rprec_mult")


def trec_name(measure: Measure, rel: float | None = None) -> str:
    """Return trec_eval's name of a measure when its level of relevance (-l) is `rel`, or ours if it has none.

    Examples
    --------
    >>> from deadheat.measures.names import parse
    >>> [trec_name(parse(name)) for name in ("AP", "nDCG@10", "iprec_at_recall@.1", "AP(rel=2)", "MRR@10")]
    ['map', 'ndcg_cut_10', 'iprec_at_recall_0.10', 'mAP(rel=2)', 'MRR@10']
    """
    whole, cut = _OF_FAMILY.get(measure.family, (None, None))
    name = whole if measure.cutoff is None else cut and _with(cut, measure.cutoff)
    its_own = measure.row.measure(measure.cutoff, rel=None if measure.row.forms.graded else rel)
    return name if name is not None and measure == its_own else measure.name


def expanded(name: str) -> list[str]:
    """Expand a name as trec_eval does: ``P.5,10`` is P_5 and P_10, and ``success`` has cutoffs 1, 5 and 10.

    Examples
    --------
    >>> expanded("ndcg_cut.10,20"), expanded("success"), expanded("AP")
    (['ndcg_cut_10', 'ndcg_cut_20'], ['success_1', 'success_5', 'success_10'], ['AP'])
    >>> expanded("iprec_at_recall.0,.5")
    ['iprec_at_recall_0.00', 'iprec_at_recall_0.50']
    >>> [name for text in ("11pt_avg.0.25,.5,.75", "ndcg.1=3,2=9", "set_F.0.5") for name in expanded(text)]
    ['11pt_avg_0.25,.5,.75', 'ndcg_1=3,2=9', 'set_F_0.5']
    >>> expanded("set")[:6]
    ['runid', 'num_q', 'num_ret', 'num_rel', 'num_rel_ret', 'utility']
    """
    if name in NICKNAMES:
        return [each for part in NICKNAMES[name] for each in expanded(part)]
    base, _, given = name.partition(".")
    if base in _PARAMETERS and re.fullmatch(_PARAMETERS[base], given):
        return [f"{base}_{given}"]
    if base in _DEFAULTS and re.fullmatch(rf"{_NUMBER}(,{_NUMBER})*", given):
        parse = float if base in _WITH_DECIMALS else str
        return [_with(base, parse(text)) for text in given.split(",")]
    return [_with(name, cutoff) for cutoff in _DEFAULTS[name]] if name in _DEFAULTS else [name]


def place(name: str) -> tuple[int, float]:
    """Return a name's place in the output of trec_eval, as a sort key; names that it does not have come last.

    Examples
    --------
    >>> sorted(["P_10", "MRR@5", "P_5", "map", "num_q"], key=place)
    ['num_q', 'map', 'P_5', 'P_10', 'MRR@5']
    """
    base, cutoff = parted(name)
    return (ORDER.index(base) if base in ORDER else len(ORDER)), cutoff


def parted(name: str) -> tuple[str, float]:
    """Split a printed name of trec_eval into the name without its cutoff and the cutoff, 0 where there is none."""
    for base, pattern in _PARAMETERS.items():
        if re.fullmatch(f"{base}_{pattern}", name):
            return base, 0.0
    match = re.fullmatch(r"(\w+?)_([0-9]+(?:\.[0-9]+)?)", name)
    return (match[1], float(match[2])) if match is not None and match[1] in _DEFAULTS else (name, 0.0)


def _with(base: str, cutoff: float | str) -> str:
    return f"{base}_{cutoff:.2f}" if base in _WITH_DECIMALS else f"{base}_{cutoff}"


# Values

_UTILITY = (1.0, -1.0, 0.0, 0.0)  # of a relevant and an irrelevant document, retrieved or not


def _at(name: str, rel: float | None) -> str:
    return measure_names.parse(name).at_level(rel).name


def _counts(profile: TieProfile) -> dict[str, Int64]:
    """Return the values of `COUNTS` for each query."""
    returned = np.bincount(profile.query_of_group, profile.tied_relevant, profile.n_query).astype(np.int64)
    values = (np.ones(profile.n_query, dtype=np.int64), profile.n_ranked, profile.n_relevant, returned)
    return dict(zip(COUNTS, values, strict=True))


def _utility(report: Report, name: str, rel: float | None, n_docs: int) -> Triple[Float64]:
    """Sum the numbers of (ir)relevant documents, retrieved or not, times their coefficients; no order changes it."""
    coefficients = [float(text) for text in name.split("_")[1].split(",")] if "_" in name else _UTILITY
    _, ranked, relevant, returned = _counts(at_level(report.profile, rel)).values()
    parts = (returned, ranked - returned, relevant - returned, n_docs + returned - ranked - relevant)
    total: Float64 = np.zeros(report.n_query)
    for coefficient, part in zip(coefficients, parts, strict=True):
        total += coefficient * part
    return Triple(total, total, total)


def _relative_precision(report: Report, cutoff: float, rel: float | None) -> Triple[Float64]:
    """Return precision over the best possible one: recall where no more than k documents are relevant."""
    few = at_level(report.profile, rel).n_relevant <= cutoff
    recall, precision = (report[_at(f"{name}@{int(cutoff)}", rel)].per_query for name in ("Recall", "P"))
    return Triple(*(np.where(few, *both) for both in zip(recall, precision, strict=True)))


def _multiple(report: Report, factor: float, rel: float | None) -> Triple[Float64]:
    """Return precision at a multiple of R, rounded as trec_eval does."""
    cutoffs = (factor * at_level(report.profile, rel).n_relevant + 0.9).astype(np.int64)
    return _at_cutoffs(report, _at("P@1", rel), cutoffs)


def _at_levels(report: Report, cutoff: float, rel: float | None) -> Triple[Float64]:
    """Return the mean of nDCG@k over every k where the best order changes its grade, and the end if it is beyond."""
    profile = report.profile
    by_grade = profile.counts_by_grade[1]
    total = [np.zeros(profile.n_query) for _ in range(3)]
    points = np.zeros(profile.n_query)
    ends = [by_grade[:, grade:].sum(axis=1) for grade in reversed(range(by_grade.shape[1]))]
    counts = [by_grade[:, grade] > 0 for grade in reversed(range(by_grade.shape[1]))]
    beyond = profile.n_ranked > profile.n_relevant + 1
    for end, counted in zip([*ends, profile.n_ranked], [*counts, beyond], strict=True):
        for sums, values in zip(total, _at_cutoffs(report, "nDCG@1", end), strict=True):
            sums += np.where(counted, values, 0.0)
        points += counted
    unknown, *_ = report[_at("R-Precision", rel)].per_query
    none = at_level(profile, rel).n_relevant == 0
    return Triple(*(np.where(none, unknown, values / np.maximum(points, 1)) for values in total))


def _at_cutoffs(report: Report, name: str, cutoffs: Int64) -> Triple[Float64]:
    """Return a measure of each query at a cutoff of its own; the value of R-precision where nothing is relevant."""
    measure = measure_names.parse(name)
    values = [each.copy() for each in report[_at("R-Precision", measure.rel)].per_query]
    defined = at_level(report.profile, measure.rel).n_relevant > 0
    for cutoff in np.unique(cutoffs[defined]).tolist():
        some = np.flatnonzero(defined & (cutoffs == cutoff))
        if cutoff == 0:  # a share of R that is no document
            for bound in values:
                bound[some] = 0.0
            continue
        of_some = measure_values.per_query(report.profile[some], measure.row.measure(cutoff, rel=measure.rel))
        for bound, bound_of_some in zip(values, of_some, strict=True):
            bound[some] = bound_of_some
    return Triple(*values)


def _average_precision_at(report: Report, recalls: str, rel: float | None) -> Triple[Float64]:
    """Return the mean of the interpolated precision at some recalls, summed from the last as trec_eval does."""
    listed = recalls.split(",")
    for recall in listed:
        if float(recall) > 1:
            rule = f"takes recalls from 0 to 1, but got {recall}"
            raise InvalidValueError(
                "11pt_avg", f"{rule}: its name ends at the first point, as in 11pt_avg.0.25,0.5,0.75"
            )
    values = [report[_at(f"iprec_at_recall@{recall}", rel)].per_query for recall in reversed(listed)]
    return Triple(*(functools.reduce(np.add, ends) / len(listed) for ends in zip(*values, strict=True)))


def _weighted_f(report: Report, weight: str, rel: float | None) -> Triple[Float64]:
    """Return the harmonic mean of precision and recall of the set, with recall weighted by x; no order changes it."""
    x, (p, r) = float(weight), (report[_at(name, rel)].per_query.lower for name in ("SetP", "SetR"))
    nothing = (p == 0) | (r == 0)
    values = np.where(nothing, p * r, (x + 1.0) * p * r / np.where(nothing, 1.0, x * p + r))
    return Triple(values, values, values)


def _ndcg_of_gains(report: Report, gains: str, rel: float | None) -> Triple[Float64]:
    """Return nDCG with other gains, above 0, of some grades; only ratios count, so gains are scaled to integers."""
    gain_of = {int(grade): Fraction(gain) for grade, gain in (pair.split("=") for pair in gains.split(","))}
    scale = math.lcm(*(gain.denominator for gain in gain_of.values()))
    profile = report.profile
    new = [int(gain_of.get(grade, Fraction(grade)) * scale) for grade in profile.grades.tolist()]
    if min(gain_of) < 1 or min(gain_of.values()) <= 0 or max(new) > _LARGEST_GAIN:
        rule = "takes gains above 0 of grades from 1 on, of moderate size, as in ndcg.1=3,2=9"
        raise InvalidValueError("ndcg", f"{rule}, but got {gains}")
    if profile.gains is not None:
        raise InvalidValueError("ndcg", f"takes gains of whole grades, but got {gains} where some are not whole")
    if profile.tied_by_grade is None or profile.relevant_by_grade is None:
        return report["nDCG"].per_query  # of one grade, whose gain cancels out
    grades, number = np.unique(new, return_inverse=True)
    joined = np.equal.outer(number, np.arange(len(grades))).astype(np.int64)
    regraded = replace(
        profile, grades=grades.astype(np.int64), tied_by_grade=profile.tied_by_grade @ joined,
        relevant_by_grade=profile.relevant_by_grade @ joined,
    )  # fmt: skip
    return replace(report, profile=regraded)["nDCG"].per_query


_LARGEST_GAIN = 2**53
_MADE: dict[str, Callable[[Report, Any, float | None], Triple[Float64]]] = {  # of a cutoff
    "relative_P": _relative_precision,
    "Rprec_mult": _multiple,
    "Rndcg": _at_levels,
}
_WITH_PARAMETERS: dict[str, Callable[[Report, Any, float | None], Triple[Float64]]] = {  # of the text of these
    "11pt_avg": _average_precision_at,
    "set_F": _weighted_f,
    "ndcg": _ndcg_of_gains,
}


# Lines

Shown = Literal["expected", "lower", "upper"]

COUNTS = {
    "num_q": "queries that count",
    "num_ret": "documents retrieved",
    "num_rel": "relevant documents",
    "num_rel_ret": "relevant documents retrieved",
}
_GEOMETRIC = {"gm_map": "mAP", "gm_bpref": "bpref"}
_LEAST = 1e-5  # what a value counts as in a geometric mean, at least


class Row(NamedTuple):
    """The values of one name: of each query, of all, and whether trec_eval prints each query."""

    of_queries: Triple[Float64] | Int64
    of_all: Triple[float] | int
    by_query: bool = True


def trec_lines(
    report: Report,
    names: Iterable[str] | None = None,
    *,
    by_query: bool = False,
    summary: bool = True,
    only: Shown | None = None,
    run_id: str | None = None,
    n_docs: int = 0,
) -> list[str]:
    """Return the lines of names, as `expanded` gives them: of each query, then of all.

    Parameters
    ----------
    report : Report
        A measure has the name that trec_eval has for it at the report's level of relevance.
    names : iterable of str, optional
        trec_eval's and ours; by default those of the report's measures. Those that trec_eval has come first, in its
        order.
    by_query, summary : bool
        Whether there are lines of each query, in order of id, and lines of all. A query without a value has none.
    only : {"expected", "lower", "upper"}, optional
        The only value to print, so that the lines are trec_eval's own; by default all three.
    run_id : str, optional
        The tag of the run.
    n_docs : int
        Documents in the collection, for utility with a fourth coefficient.

    Examples
    --------
    >>> from deadheat import evaluate, from_run
    >>> run, qrels = {"q1": {"a": 0.5, "b": 0.5}}, {"q1": {"a": 1}}
    >>> report = evaluate(from_run(run, qrels), "AP")
    >>> for line in trec_lines(report, ["map", "num_q", "num_ret"]):
    ...     print(line.expandtabs(4))
    num_q                   all 1
    num_ret                 all 2
    map                     all 0.7500  0.5000  1.0000
    >>> print(trec_lines(report, only="upper")[0].expandtabs(4))
    map                     all 1.0000
    """
    named = _named(report if names is None else names, report.rel)
    rows = {name: _row(report, name, n_docs) for name in sorted(named, key=place) if name != "runid"}
    lines = []
    if by_query:
        ids = report.profile.query_ids or tuple(map(str, range(report.n_query)))
        for i in sorted(range(report.n_query), key=lambda i: ids[i].encode("utf-8", "surrogateescape")):
            for name, row in rows.items():
                values = row.of_queries
                value = Triple(*(float(end[i]) for end in values)) if isinstance(values, tuple) else int(values[i])
                lines += [_line(name, ids[i], value, only)] if row.by_query else []
    if summary:
        lines += [f"{'runid':<22}\tall\t{run_id}"] if "runid" in named and run_id is not None else []
        lines += [_line(name, "all", row.of_all, only) for name, row in rows.items()]
    return [line for line in lines if line]


def measures_of(names: Iterable[str]) -> list[str]:
    """Return the measures of the catalogue among names, under their canonical names."""
    return [measure_names.parse(name).name for name in names if not is_of_lines(name)]


def is_of_lines(name: str) -> bool:
    """Return whether a name stands only for one of these lines, and for no measure of the catalogue."""
    base = parted(name)[0]
    return base in (*COUNTS, *_GEOMETRIC, *_MADE, "runid", "utility") or (base in _PARAMETERS and name != base)


def _named(names: Iterable[str], rel: float | None) -> list[str]:
    """Return the names, each once, as those of trec_eval where it has them."""
    called = (name if is_of_lines(name) else trec_name(measure_names.parse(name).at_level(rel), rel) for name in names)
    return list(dict.fromkeys(called))


def _row(report: Report, name: str, n_docs: int) -> Row:
    (base, cutoff), rel = parted(name), report.rel
    if name in COUNTS:
        counted = _counts(at_level(report.profile, rel))[name]
        return Row(counted, int(counted.sum()), name != "num_q")
    if name in _GEOMETRIC:  # of the expected one only where no tie matters: it is no function of expected values
        values = report[_at(_GEOMETRIC[name], rel)].per_query
        lower, _, upper = (math.exp(exact_mean(np.log(np.maximum(each, _LEAST)))) for each in values)
        return Row(values, Triple(lower, lower if lower == upper else math.nan, upper), False)
    if is_of_lines(name):
        if base == "utility":
            values = _utility(report, name, rel, n_docs)
        elif base in _MADE:
            values = _MADE[base](report, cutoff, rel)
        else:
            values = _WITH_PARAMETERS[base](report, name.removeprefix(f"{base}_"), rel)
        return Row(values, exact_means(values))
    result = report[_at(name, rel)]
    return Row(result.per_query, Triple(result.lower, result.expected, result.upper))


def _line(name: str, query: str, value: Triple[float] | int, only: Shown | None) -> str:
    """Format one line, whose first three fields are those of trec_eval; empty for a value that is undefined."""
    if isinstance(value, int):
        return f"{name:<22}\t{query}\t{value}"
    if math.isnan(value.lower):
        return ""
    texts = {side: f"{each:6.4f}" for side, each in value._asdict().items()}
    if texts["lower"] == texts["upper"]:  # and so is what is between, also where it is not known exactly
        texts["expected"] = texts["lower"]
    shown = ("expected", "lower", "upper") if only is None else (only,)
    return "\t".join([f"{name:<22}", query, *(texts[side] for side in shown)])
