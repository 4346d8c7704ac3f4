"""Measures by trec_eval's names: in come names as its option -m takes them, out go ours, and back."""

from __future__ import annotations

import re

from deadheat.measures.family import Measure

_OF_FAMILY = {  # without and with a cutoff
    "mAP": ("map", "map_cut"),
    "R-Precision": ("Rprec", None),
    "P": (None, "P"),
    "Recall": (None, "recall"),
    "Hit": (None, "success"),
    "MRR": ("recip_rank", None),
    "nDCG": ("ndcg", "ndcg_cut"),
}
_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)  # where trec_eval is given none
_DEFAULTS = {"P": _CUTOFFS, "recall": _CUTOFFS, "map_cut": _CUTOFFS, "ndcg_cut": _CUTOFFS, "success": (1, 5, 10)}


def trec_name(measure: Measure, rel: int = 1) -> str:
    """What trec_eval calls a measure when its level of relevance (-l) is `rel`; our name for what it does not have.

    Examples
    --------
    >>> from deadheat.measures import parse
    >>> [trec_name(parse(name)) for name in ("AP", "nDCG@10", "AP(rel=2)", "MRR@10")]
    ['map', 'ndcg_cut_10', 'mAP(rel=2)', 'MRR@10']
    """
    whole, cut = _OF_FAMILY.get(measure.family, (None, None))
    name = whole if measure.cutoff is None else cut and f"{cut}_{measure.cutoff}"
    its_own = measure.row.measure(measure.cutoff, rel=1 if measure.row.forms.graded else rel)
    return name if name is not None and measure == its_own else measure.name


def expanded(name: str) -> list[str]:
    """A name, or what trec_eval takes it for: ``P.5,10`` is P_5 and P_10, and ``success`` has cutoffs 1, 5 and 10.

    Examples
    --------
    >>> expanded("ndcg_cut.10,20"), expanded("success"), expanded("AP")
    (['ndcg_cut_10', 'ndcg_cut_20'], ['success_1', 'success_5', 'success_10'], ['AP'])
    """
    match = re.fullmatch(r"(\w+)\.([0-9]+(?:,[0-9]+)*)", name)
    if match is not None:
        return [f"{match[1]}_{cutoff}" for cutoff in match[2].split(",")]
    return [f"{name}_{cutoff}" for cutoff in _DEFAULTS[name]] if name in _DEFAULTS else [name]
