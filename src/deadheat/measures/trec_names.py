"""Measures by trec_eval's names: in come names as its option -m takes them, out go ours, and back.

Its order, its nicknames and its cutoffs are those of trec_eval 10.0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from deadheat.measures.family import Measure
from deadheat.measures.interpolated import RECALLS

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
_WITH_DECIMALS = ("iprec_at_recall", "Rprec_mult")


def trec_name(measure: Measure, rel: int = 1) -> str:
    """What trec_eval calls a measure when its level of relevance (-l) is `rel`; our name for what it does not have.

    Examples
    --------
    >>> from deadheat.measures import parse
    >>> [trec_name(parse(name)) for name in ("AP", "nDCG@10", "iprec_at_recall@.1", "AP(rel=2)", "MRR@10")]
    ['map', 'ndcg_cut_10', 'iprec_at_recall_0.10', 'mAP(rel=2)', 'MRR@10']
    """
    whole, cut = _OF_FAMILY.get(measure.family, (None, None))
    name = whole if measure.cutoff is None else cut and _with(cut, measure.cutoff)
    its_own = measure.row.measure(measure.cutoff, rel=1 if measure.row.forms.graded else rel)
    return name if name is not None and measure == its_own else measure.name


def expanded(name: str) -> list[str]:
    """A name, or what trec_eval takes it for: ``P.5,10`` is P_5 and P_10, and ``success`` has cutoffs 1, 5 and 10.

    Examples
    --------
    >>> expanded("ndcg_cut.10,20"), expanded("success"), expanded("AP")
    (['ndcg_cut_10', 'ndcg_cut_20'], ['success_1', 'success_5', 'success_10'], ['AP'])
    >>> expanded("iprec_at_recall.0,.5")
    ['iprec_at_recall_0.00', 'iprec_at_recall_0.50']
    >>> expanded("set")[:6]
    ['runid', 'num_q', 'num_ret', 'num_rel', 'num_rel_ret', 'utility']
    """
    if name in NICKNAMES:
        return [each for part in NICKNAMES[name] for each in expanded(part)]
    base, _, given = name.partition(".")
    if base == "utility" and re.fullmatch(rf"[-+]?{_NUMBER}(,[-+]?{_NUMBER}){{3}}", given):
        return [f"utility_{given}"]
    if base in _DEFAULTS and re.fullmatch(rf"{_NUMBER}(,{_NUMBER})*", given):
        parse = float if base in _WITH_DECIMALS else str
        return [_with(base, parse(text)) for text in given.split(",")]
    return [_with(name, cutoff) for cutoff in _DEFAULTS[name]] if name in _DEFAULTS else [name]


def place(name: str) -> tuple[int, float]:
    """Where trec_eval prints a name; behind all that it has, for one that it does not have.

    Examples
    --------
    >>> sorted(["P_10", "MRR@5", "P_5", "map", "num_q"], key=place)
    ['num_q', 'map', 'P_5', 'P_10', 'MRR@5']
    """
    base, cutoff = parted(name)
    return (ORDER.index(base) if base in ORDER else len(ORDER)), cutoff


def parted(name: str) -> tuple[str, float]:
    """A name of trec_eval as printed, without its cutoff, and that; 0 where there is none."""
    match = re.fullmatch(r"(\w+?)_([0-9]+(?:\.[0-9]+)?)", name)
    return (match[1], float(match[2])) if match is not None and match[1] in _DEFAULTS else (name, 0.0)


def _with(base: str, cutoff: float | str) -> str:
    """A name with its cutoff, as trec_eval writes it."""
    return f"{base}_{cutoff:.2f}" if base in _WITH_DECIMALS else f"{base}_{cutoff}"
