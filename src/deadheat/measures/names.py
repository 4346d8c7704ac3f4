"""The catalogue of measures, one row for each family, and its names: in come names as written, out go measures.

A new measure is a row here, and closed forms in the file of its family: all code that looks measures up by name reads
this catalogue. A user adds one by `register` (`registering`). The other spellings are those of trec_eval,
ir_measures, ranx, torchmetrics, pytorch-metric-learning, sentence-transformers and the papers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from deadheat.errors import MOST, InvalidTypeError, InvalidValueError, printable
from deadheat.inputs.arrays import least_gain
from deadheat.measures.average_precision import HITS, OVER, AveragePrecision, ChanceNormalized
from deadheat.measures.counts import OVER as RECALL_OVER
from deadheat.measures.counts import Area, Hits, JudgedShare, Preferences, SetCounts
from deadheat.measures.discounted_gain import GAINS, UNDIVIDED_GAINS, DiscountedGain
from deadheat.measures.early import ALPHAS, Bedroc, BeforeFirstMiss, Enrichment
from deadheat.measures.expected_reciprocal_rank import ExpectedReciprocalRank
from deadheat.measures.family import Family, Measure, key
from deadheat.measures.first_last_hit import AllHits, FirstRank, HitPosition
from deadheat.measures.interpolated import RECALLS, Interpolated, nearest, reached
from deadheat.measures.rank_discount import PERSISTENCE, GainSum, RankBiasedPrecision
from deadheat.support import checks
from deadheat.support.lazy import difflib

DEFAULT_MEASURES: tuple[str, ...] = ("mAP", "MAP@R", "R-Precision", "Hit@1", "Hit@10", "MRR", "nDCG@10")

FAMILIES = [
    Family("mAP", "may", "precision", AveragePrecision(),
           "precision at the rank of each relevant item (up to k only), summed, over R",
           ("AP", "average precision", "mean average precision", "map cut"), choices=OVER),
    Family("MAP@R", "R", "precision", AveragePrecision(),
           "the same with k = R",
           ("AP@R", "MAPR", "MAP at R", "average precision at R", "mean average precision at R")),
    Family("R-Precision", "R", "precision", Hits(factor=1.0, size=0.0, share=1.0),
           "hits / R with k = R", ("Rprec", "precision at R", "precision@R", "P@R")),
    Family("P", "must", "precision", Hits(factor=1.0, size=1.0, share=0.0),
           "hits / k, also where fewer than k items are ranked", ("precision", "prec")),
    Family("Recall", "must", "recall", Hits(factor=1.0, size=0.0, share=1.0),
           "hits / R, as in information retrieval", ("R",), choices=RECALL_OVER),
    Family("Hit", "must", "recall", HitPosition(0),
           "1 if there is a hit, else 0; metric learning calls it Recall@k. Also CMC@k",
           ("Success", "CMC", "hits", "hit rate", "hit ratio", "HR", "rank", "accuracy", "recall any")),
    Family("All", "must", "recall", AllHits(),
           "1 if all relevant items are among the first k, else 0",
           ("all recall", "recall all", "full recall", "full support", "all evidence", "complete recall")),
    Family("MRR", "may", "precision", HitPosition(1),
           "1 over the rank of the first relevant item, 0 if that is beyond k",
           ("RR", "recip rank", "reciprocal rank", "mean reciprocal rank")),
    Family("MnR", "never", "precision", FirstRank(),
           "rank of the first relevant item; less is better", ("mean rank", "MR", "MR1", "rank of the first hit"),
           unit="ranks", less_is_better=True, within=(1.0, math.inf), median=("MdR", "median rank", "MedR", "MedianR")),
    Family("nDCG", "may", "precision", DiscountedGain(),
           "gains over log2(rank + 1), summed, over the same for the best order",
           ("normalized DCG", "normalised DCG", "normalized discounted cumulative gain", "ndcg cut"), choices=GAINS),
    Family("DCG", "may", "precision", GainSum(mean=False),
           "gains over log2(rank + 1), summed, and divided by nothing", ("discounted cumulative gain",),
           choices=UNDIVIDED_GAINS, unit="gain", within=(0.0, math.inf)),
    Family("ACG", "must", "precision", GainSum(mean=True),
           "mean grade of the first k, 0 for an irrelevant item", ("mean grade", "average cumulative gain"),
           unit="gain", within=(0.0, math.inf)),
    Family("ERR", "must", "precision", ExpectedReciprocalRank(),
           "chance to stop at a rank, (2^grade - 1) / 16 for a reader who comes there, over the rank, summed",
           ("expected reciprocal rank",)),
    Family("F1", "must", "precision", Hits(factor=2.0, size=1.0, share=1.0),
           "2 hits / (k + R), the harmonic mean of P@k and Recall@k", ("F1-score",)),
    Family("RBP", "may", "precision", RankBiasedPrecision(),
           "(1 - p) p^(rank - 1) over the relevant items, summed; p = 0.8", ("rank-biased precision",),
           choices=PERSISTENCE),
    Family("AUC", "never", "precision", Area(),
           "share of (relevant, irrelevant) pairs with the relevant item in front",
           ("ROC AUC", "AUC ROC", "AUROC", "ROC AUC score")),
    Family("mINP", "never", "precision", HitPosition(-1),
           "R over the rank of the last relevant item, 0 if one was not retrieved", ("INP",)),
    Family("bpref", "never", "precision", Preferences(),
           "mean over relevant items of 1 - min(x, R) / min(N, R): x of the N judged irrelevant items in front",
           ("binary preference",)),
    Family("NAP", "never", "precision", ChanceNormalized(),
           "(AP - c) / (1 - c) for the AP c of a random order, 0 by chance",
           ("normalized average precision", "chance-normalized AP"),
           within=(-math.inf, 1.0)),
    Family("EF", "recall", "precision", Enrichment(),
           "precision in the first share r of the ranked items, rounded up, over that of all",
           ("enrichment factor", "enrichment"), unit="times", within=(0.0, math.inf)),
    Family("BEDROC", "never", "precision", Bedroc(),
           "e^(-alpha rank / n) over the relevant items, scaled to [0, 1]; alpha = 20", (), choices=ALPHAS),
    Family("Sens1FP", "never", "recall", BeforeFirstMiss(),
           "share of the relevant items in front of the first irrelevant one",
           ("sensitivity up to the first FP", "sens up to 1st FP", "sensitivity at first false positive")),
    Family("IPrec", "recall", "precision", Interpolated(reached),
           "best precision at a relevant item from recall r on: from the r R-th, rounded up",
           ("interpolated precision",)),
    Family("iprec_at_recall", "recall", "precision", Interpolated(nearest),
           "the same as trec_eval 10 has it: from the r R-th, rounded to the nearest", ()),
    Family("11pt_avg", "never", "precision", Interpolated(nearest, RECALLS),
           "mean of iprec_at_recall@0, @0.1, ..., @1", ("11pt",)),
    Family("SetP", "never", "precision", SetCounts(lambda h: h, lambda n, r: n),
           "share of the ranked items that is relevant; no order changes it, nor the next four", ("set precision",)),
    Family("SetR", "never", "recall", SetCounts(lambda h: h, lambda n, r: r),
           "share of the relevant items that is ranked", ("set recall",)),
    Family("SetRelP", "never", "precision", SetCounts(lambda h: h, np.minimum),
           "relevant items that are ranked, over the lesser of ranked and R",
           ("set relative P", "set relative precision")),
    Family("SetAP", "never", "precision", SetCounts(lambda h: h * h, lambda n, r: n * r),
           "SetP times SetR", ("set map", "set average precision")),
    Family("SetF", "never", "precision", SetCounts(lambda h: 2.0 * h, lambda n, r: n + r),
           "harmonic mean of SetP and SetR", ("set F1",)),
    Family("Judged", "must", "precision", JudgedShare(factor=1.0, size=1.0, share=0.0),
           "share of the first k documents of a run, or of all if there are fewer, that the qrels judge", ()),
]  # fmt: skip

SPELLINGS = {spelling: (row, choice) for row in FAMILIES for spelling, choice in row.spellings.items()}
_MEDIANS = {key(alias): row for row in FAMILIES for alias in row.median}
_MEDIAN = re.compile(r"\s*median\s*\((.*)\)\s*", re.IGNORECASE)

_A_LINE = "is a line of trec_eval's output and no measure of a report: deadheat run --trec-eval prints it"
_PARAMETERS = "deadheat run --trec-eval takes it; elsewhere P@5, nDCG@10 or IPrec@0.5 name what is asked for"
_GIVEN = re.compile(r"(\d+=)?-?\d*\.?\d+(,(\d+=)?-?\d*\.?\d+)*")
_OPEN = "is not computed, since it has no closed form over the orders of ties; ask for"
NOT_HERE = {  # measures of other programs, and what to do instead
    **dict.fromkeys(("rndcg", "relativep", "rprecmult", "gmmap", "gmbpref", "utility", "numq", "numret", "numrel",
                     "numrelret"), _A_LINE),
    "infap": f"{_OPEN} AP, or for bpref, which leaves out documents without a judgement, too",
    **dict.fromkeys(("g", "ndcgrel"), f"{_OPEN} nDCG"),
    **dict.fromkeys(("bing", "rbpresid"), "is not computed; ask for nDCG, or AP for two grades"),
    "ndcgany": "is LongMemEval's nDCG, which discounts rank 2 as little as rank 1; for it, dh.measures.register("
               "'ndcg-any', lambda rank: 1 / np.log2(np.maximum(rank, 2)), over='best')",
    **dict.fromkeys(("fallout", "precisionrecallcurve", "recallatfixedprecision"),
                    "is not computed; ask for P and Recall at the same cutoff"),
    "relstring": "is the order of the documents itself, which ties leave open",
    **dict.fromkeys(("amr", "amri"), "is adjusted for chance: dh.link_prediction has it; or ask for MnR"),
    "unj": "counts documents without a judgement and is not computed; Judged@k is the share of those that have one",
    "numnonreljudgedret": "counts documents by their judgement and is not computed",
}  # fmt: skip


def find(name: str) -> tuple[Family, str | None] | None:
    """Return the row and the choice that a name without cutoff stands for; None if there is no such row.

    Examples
    --------
    >>> find("Success")[0].name
    'Hit'
    """
    return SPELLINGS.get(key(checks.text(name, "name")))


def listing() -> str:
    """Return the catalogue as a table to read, as `deadheat --measures` prints it.

    Examples
    --------
    >>> print("\\n".join(listing().splitlines()[7:9]))
    MAP@R                             AP@R                      the same with k = R
    R-Precision                       Rprec                     hits / R with k = R
    """
    cells = [("name", "also", "value for a query")]
    for row in FAMILIES:
        end = {"must": "@k", "recall": "@r"}.get(row.cutoff, "")
        name = f"{row.name}, {row.name}@k" if row.cutoff == "may" else row.name + end
        cells.append((name, row.aliases[0] + end if row.aliases else "", row.sentence))
        at = {"may": "@k"}.get(row.cutoff, end)
        for choice, (sentence, aliases) in list(row.choices.items())[1:]:
            cells.append((f"{row.name}({choice}){at}", aliases[0] + at if aliases else "", sentence))
        if row.median:
            cells.append((row.median[0], row.median[1], "the median of these over queries"))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)][:2]
    table = [f"{name:{widths[0]}}  {also:{widths[1]}}  {sentence}" for name, also, sentence in cells]
    return "\n".join([
        "R is the number of relevant items of a query; hits are those among its first k ranks. Means are over queries; "
        "median(MRR) is a median.",
        "",
        *table,
        "",
        f"Case does not matter. Shown by default: {', '.join(DEFAULT_MEASURES)}.",
    ])  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# names

_LARGEST_CUTOFF = 2**53
_LONGEST = 200  # characters of a name
_OVER_HITS = re.compile(r"retrieval_?(map|average_precision)", re.IGNORECASE)  # torchmetrics' mAP, if it has a cutoff


class MeasureNameError(InvalidValueError):
    """An error for a name that stands for no measure; only its rule is shown, which is a full sentence."""

    def __str__(self) -> str:
        return printable(self.args[1], MOST)


def parse(name: str) -> Measure:
    """Return the measure that a name stands for.

    Parameters
    ----------
    name : str
        One of those that `listing` shows, with k a positive integer. Case, blanks, hyphens and underscores do not
        matter, and the usual other names are known: AP, RR, Rprec, Success@k, CMC@k, ``precision_at_1``,
        ``map_cut_10``, ``P_10``, ... Parameters are written as in ir_measures: ``nDCG(dcg='exp-log2')@10``,
        ``mAP(over='hits')@1000``, and ``AP(rel=2)`` or ``AP(rel=0.5)`` to count only gains from that on as relevant, in
        any measure but nDCG and ERR, for which gains count; ``mAP(over='hits',rel=2)@10`` has both.
        ``median(MRR)`` is the median over queries in place of the mean, of any measure.
        ``Recall@k`` is the share of the relevant items among the first k; what metric learning calls Recall@K is
        ``Hit@k``.

    Examples
    --------
    >>> parse("success@5").name
    'Hit@5'
    >>> parse("mean_average_precision_at_r").name
    'MAP@R'
    >>> parse("nDGC@10")
    Traceback (most recent call last):
    deadheat.measures.names.MeasureNameError: unknown measure 'nDGC@10'; did you mean 'nDCG@10'?
    """
    if not isinstance(name, str):
        rule = f"must be given by its name, such as 'mAP' or 'P@10', but got {checks.shown(name)}"
        raise InvalidTypeError("a measure", rule)
    if len(name) > _LONGEST:
        rule = f"a measure's name must have at most {_LONGEST} characters, but {checks.shown(name)} has {len(name)}"
        raise MeasureNameError("measures", rule)
    if key(name) in _MEDIANS:
        return _MEDIANS[key(name)].measure(median=True)
    if (inner := _MEDIAN.fullmatch(name)) is not None:
        mean = parse(inner[1])
        if mean.median:
            raise MeasureNameError("measures", f"{name!r} must be the median of a measure, but {inner[1]!r} is one")
        return mean.row.measure(mean.cutoff, mean.choice, mean.rel, median=True)
    written = _Written.of(name)
    _refuse_bounds(written)
    row, choice = find(written.base) or (None, None)
    if written.cutoff is not None and _OVER_HITS.fullmatch(written.base.strip()):
        choice = HITS
    if row is None:
        raise MeasureNameError("measures", _unknown(written))
    choice, rel = (choice, None) if written.parameter is None else _parameters(row, written, choice)
    return row.measure(_cutoff(row, written), choice, rel)


def parse_all(
    names: str | Iterable[str] | None, top_k: int | None = None, rel: float | None = None
) -> tuple[Measure, ...]:
    """Return the measures that a caller asks for, each once, in the order of the first mention.

    Parameters
    ----------
    names : str or iterable of str or None
        A string can hold several names, with commas or blanks between them. None stands for `DEFAULT_MEASURES`.
    top_k : int, optional
        The cutoff of all of them, whose names then have none.
    rel : int or float, optional
        The least gain that is relevant, for names that give none.

    Examples
    --------
    >>> [measure.name for measure in parse_all("mAP, success@1, AP")]
    ['mAP', 'Hit@1']
    >>> [measure.name for measure in parse_all("AP nDCG@10 P@5")]
    ['mAP', 'nDCG@10', 'P@5']
    >>> [measure.name for measure in parse_all("AP, hit rate", top_k=5)]
    ['mAP@5', 'Hit@5']
    """
    given = DEFAULT_MEASURES if names is None else _listed(names) if isinstance(names, str) else names
    listed = checks.listed(given, "measures", "names, such as 'mAP,Hit@1' or a list of them")
    if top_k is not None:
        listed = [_at(name, checks.positive_integer(top_k, "top_k", 2**53)) for name in listed]
    least = None if rel is None else least_gain(rel, "rel")
    measures = dict.fromkeys(parse(name).at_level(least) for name in listed)
    if not measures:
        raise InvalidValueError("measures", "must name at least one measure, but got none")
    return tuple(measures)


def _listed(text: str) -> list[str]:
    """Split a text into names, at commas and, where a part is not a name, at blanks; never within parentheses."""
    names = []
    for part in re.split(r",(?![^()]*\))", text):
        words = re.split(r"\s+(?![^()]*\))", part.strip())
        whole = len(words) < 2 or _is_name(part) or _is_name(f"{part}@1")  # "hit rate" for top_k
        whole |= not any("@" in word or _is_name(word) for word in words)  # "normalized recall" is one unknown name
        names += [part.strip()] if whole else words
    return names


def _at(name: str, top_k: int) -> str:
    """Append a cutoff to a name, which must not have one yet; anything but a string is left to `parse`."""
    if not isinstance(name, str):
        return name
    if _Written.of(name).cutoff is not None:
        rule = f"must be left out where a name has a cutoff, but is {top_k} with {name.strip()!r}"
        raise InvalidValueError("top_k", rule)
    return f"{name.strip()}@{top_k}"


def _is_name(text: str) -> bool:
    try:
        parse(text)
    except MeasureNameError:
        return False
    return True


class _Written(NamedTuple):
    """A name as it is written, such as ``nDCG(dcg='exp-log2')@10``, ``precision_at_10`` or ``P_10``, and its parts."""

    name: str
    base: str
    cutoff: str | None
    parameter: str | None

    @classmethod
    def of(cls, name: str) -> _Written:
        """Split a name at its parameter and its cutoff; one that is an alias as a whole has no cutoff."""
        match = re.fullmatch(r"([^()]*)\(([^()]*)\)([^()]*)", name)
        text, parameter = (name, None) if match is None else (match[1] + match[3], match[2])
        if "@" in text:
            match = re.fullmatch(r"(.*)@\s*(.*?)\s*", text, flags=re.DOTALL)
        else:
            match = re.fullmatch(r"\s*(.+?)(?:_at_|_cut_|[\s_-]?)([0-9][0-9.]*)\s*", text, flags=re.IGNORECASE)
        base, cutoff = (text, None) if find(text) or match is None else match.groups()
        return cls(name, base, cutoff, parameter)

    def error(self, rule: str) -> MeasureNameError:
        """Return the error of a rule that the name breaks."""
        return MeasureNameError("measures", f"{rule}, but got {self.name!r}")


_SIDES = {**dict.fromkeys("-\u2010\u2011\u2012\u2013\u2014\u2212\u207b\u208b\uff0d", "lower"),
          **dict.fromkeys("+\u207a\u208a\uff0b", "upper")}  # fmt: skip
_END = re.compile(rf"(.+?)(?:\s*([{re.escape(''.join(_SIDES))}])|[\s_-]+(lower|expected|upper))\s*", re.IGNORECASE)


def _refuse_bounds(written: _Written) -> None:
    """Refuse names of one of the three values, such as ``mAP-@5`` or ``mAP_lower``, and say where to read it."""
    name, base, cutoff, parameter = written
    for part in (base, cutoff or ""):
        match = _END.fullmatch(part)
        if match is None:
            continue
        whole, at = (match[1], cutoff) if part is base else (base, match[1])
        if find(whole):
            meant = whole + ("" if parameter is None else f"({parameter})") + ("" if at is None else f"@{at}")
            side = match[3].lower() if match[3] else _SIDES[match[2]]
            what = "the expected value" if side == "expected" else f"the {side} bound"
            rule = f"{name!r} is {what} of {meant!r}: ask for {meant!r}, which has all three values, and read .{side}"
            raise MeasureNameError("measures", f"{rule} (in tables the column {side})")


def _parameters(row: Family, written: _Written, of_alias: str | None) -> tuple[str | None, float | None]:
    """Return the choice and the level of relevance that the text in parentheses names.

    An alias that stands for another choice than the default takes none but its own.
    """
    choices: list[str] = []
    levels: list[float] = []
    for part in (written.parameter or "").split(","):
        match = re.fullmatch(r"""\s*(\w+)\s*=\s*(['"]?)([\w.+-]*)\2\s*""", part)
        word, quote, given = match.groups() if match else ("", "", "")
        known = {f"{word}='{given}'", f"{word}={level(given)}"} & row.choices.keys()  # of words, and of numbers
        if known and of_alias in (*known, next(iter(row.choices))):
            choices += known
        elif word == "rel" and not (quote or row.forms.graded) and (least := level(given)) is not None:
            levels.append(least)
        else:
            raise written.error(_parameters_of(row))
    if len(choices) > 1 or len(levels) > 1:
        raise written.error(_parameters_of(row))
    return choices[0] if choices else of_alias, levels[0] if levels else None


_LEVEL = re.compile(r"([0-9]{1,400}|(?=\.?[0-9])[0-9]*\.?[0-9]*(e[+-]?[0-9]{1,3})?)", re.IGNORECASE)


def level(text: str) -> float | None:
    """Return a least relevant gain, whole numbers as integers, so that ``rel=2.0`` is ``rel=2``; None for any other."""
    if not _LEVEL.fullmatch(text):
        return None
    with suppress(InvalidValueError):
        return least_gain(int(text) if text.isdecimal() else float(text), "rel")
    return None


def _parameters_of(row: Family) -> str:
    """Return the rule of the parameters that a family takes."""
    *options, last = row.choices or ("",)
    choices, least = f"{', '.join(options)} or {last}", "the least gain that is relevant"
    if row.forms.graded:
        return f"the parameter of {row.name} must be {choices}" if last else f"{row.name} takes no parameter"
    if last:
        return f"{row.name} takes {choices}, and rel=2, rel=0.5, ..., {least}, as its parameters"
    return f"{row.name} takes rel=2, rel=0.5, ... as its parameter, {least}"


def _cutoff(row: Family, written: _Written) -> float | None:
    text = written.cutoff
    if row.cutoff == "recall":
        if text is None or not re.fullmatch(r"[0-9]?\.?[0-9]{1,6}", text) or float(text) > 1:
            rule = f"needs a recall from 0 to 1, as in '{row.name}@0.1', with 6 decimals at most"
            raise written.error(f"{row.name} {rule}")
        recall = float(text)
        return int(recall) if recall.is_integer() else recall
    if text is None:
        if row.cutoff == "must":
            raise written.error(f"{row.name} needs a cutoff, as in '{row.name}@10'")
        return None
    if row.cutoff in ("never", "R"):
        raise written.error(f"{row.name} takes no cutoff")
    cutoff = int(text) if re.fullmatch(r"[0-9]{1,20}", text) else 0
    if not 1 <= cutoff <= _LARGEST_CUTOFF:
        rule = f"the cutoff of {row.name}@k must be an integer from 1 to 2**53, but got {text!r} in {written.name!r}"
        raise MeasureNameError("measures", rule)
    return cutoff


def _unknown(written: _Written) -> str:
    """Return what to write in place of an unknown name: the nearest one of about its length, or a list of all."""
    name, base, cutoff, parameter = written
    if key(base) in NOT_HERE:
        return f"{name!r} {NOT_HERE[key(base)]}"
    word, _, given = name.replace(f"({parameter})", "").partition(".")
    if _GIVEN.fullmatch(given) and find(word):
        return f"{name!r} has a parameter as trec_eval writes it: {_PARAMETERS}"
    as_long = [spelling for spelling in SPELLINGS if abs(len(spelling) - len(key(base))) <= 2]
    close = difflib.get_close_matches(key(base), as_long, n=1, cutoff=0.7)
    if not close:
        ends = {"may": "[@k]", "must": "@k", "recall": "@r"}
        known = ", ".join(row.name + ends.get(row.cutoff, "") for row in FAMILIES)
        return f"unknown measure {name!r}; the measures are {known}"
    row, choice = SPELLINGS[close[0]]
    suggested = row.measure(None, choice).name
    if row.cutoff == "recall":
        suggested += "@0.1"
    if row.cutoff == "must" or (row.cutoff == "may" and cutoff is not None):
        suggested += "@" + (cutoff if cutoff is not None and re.fullmatch("[1-9][0-9]{0,9}", cutoff) else "10")
    return f"unknown measure {name!r}; did you mean {suggested!r}?"
