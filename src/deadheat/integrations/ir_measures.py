"""A provider for ir_measures: its measures with the exact expectation over all orders of ties, and bounds.

Importing this module registers the provider, and two bounds of each measure, such as ``AP_lower`` and ``AP_upper``,
which `ir_measures.parse_measure` then knows. Under `ir_measures.calc_aggregate`, the providers of ir_measures still
compute their measures, and this one computes the bounds. `python -m` of this module is the command of ir_measures with
all of this registered.

    qrels, run ──ir_measures' converters──> dictionaries ──counting.runs──> TieProfile ──measures──> Metric
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from deadheat.engine.literals import ScoreTiesName
from deadheat.engine.profiles.parts import at_level, judged_at_level
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.run_tables import RunOptions, RunTables
from deadheat.engine.ties.rule import Ties
from deadheat.engine.ties.scores import ScoreTies
from deadheat.errors import InvalidValueError
from deadheat.inputs import trec
from deadheat.inputs.arrays import GAIN, gains_allowed
from deadheat.measures import names as measure_names
from deadheat.measures import values as measure_values
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import require

ir_measures = require("ir_measures", "ir-measures", "deadheat.integrations.ir_measures")

_MEASURES = ir_measures.measures
_BASE = require("ir_measures.providers.base", "ir-measures", "deadheat.integrations.ir_measures")
_NOT_PROVIDED = _BASE.NOT_PROVIDED
_NAMES = {
    "AP": "mAP", "P": "P", "R": "Recall", "RR": "MRR", "Rprec": "R-Precision", "Success": "Hit", "nDCG": "nDCG",
    "ERR": "ERR", "Bpref": "bpref", "IPrec": "IPrec", "SetP": "SetP", "SetR": "SetR", "SetF": "SetF", "SetAP": "SetAP",
}  # fmt: skip
_COUNTS = ("NumQ", "NumRel", "NumRet")
_SIDES = ("lower", "upper")


class _Rule(_BASE.ParamSpec):  # type: ignore[misc, name-defined]
    """A parameter that may be missing, or has to satisfy a rule."""

    def __init__(self, rule: Callable[[Any], bool], text: str, required: bool = False) -> None:
        self.rule, self.text, self.required = rule, text, required

    def validate(self, value: Any) -> bool:
        return not self.required if value is _NOT_PROVIDED else not isinstance(value, bool) and self.rule(value)

    def __repr__(self) -> str:
        return self.text


_LEVEL = _Rule(lambda value: isinstance(value, int) and value >= 1, "at least 1")  # a grade, or a cutoff
_RECALL = _Rule(lambda value: isinstance(value, (int, float)) and 0 <= value <= 1, "from 0 to 1", required=True)
_GAINS = _Rule(
    lambda gains: all(isinstance(g, int) and (isinstance(x, int) or gains_allowed(x)) for g, x in gains.items()),
    f"gains by integer grade, of {GAIN}",
)


def _bound(measure: Any, side: str) -> Any:
    """Return the lower or upper bound of a measure as a measure that `ir_measures.parse_measure` knows."""
    name = f"{measure.NAME}_{side}"
    about = {
        "__name__": name,
        "NAME": name,
        "PRETTY_NAME": f"{measure.PRETTY_NAME}, {side} bound",
        "SHORT_DESC": f"The {'least' if side == 'lower' else 'greatest'} value over all orders of tied documents.",
        "__doc__": f"The {side} bound of {measure.NAME} over all orders of tied documents.",
    }
    made = type(f"_{name}", (type(measure),), about)()
    _MEASURES.registry[name] = made
    return made


_BOUNDS: dict[str, dict[str, Any]] = {
    name: {side: _bound(getattr(ir_measures, name), side) for side in _SIDES} for name in _NAMES
}
(AP_lower, AP_upper), (P_lower, P_upper), (R_lower, R_upper), (RR_lower, RR_upper) = (
    _BOUNDS[name].values() for name in ("AP", "P", "R", "RR")
)
(Rprec_lower, Rprec_upper), (Success_lower, Success_upper), (nDCG_lower, nDCG_upper), (ERR_lower, ERR_upper) = (
    _BOUNDS[name].values() for name in ("Rprec", "Success", "nDCG", "ERR")
)
(Bpref_lower, Bpref_upper), (IPrec_lower, IPrec_upper), (SetP_lower, SetP_upper), (SetR_lower, SetR_upper) = (
    _BOUNDS[name].values() for name in ("Bpref", "IPrec", "SetP", "SetR")
)
(SetF_lower, SetF_upper), (SetAP_lower, SetAP_upper) = (_BOUNDS[name].values() for name in ("SetF", "SetAP"))


def lower(measure: Any) -> Any:
    """Return the lower bound of a measure with parameters: ``lower(AP(rel=2) @ 10)`` is ``AP_lower(rel=2) @ 10``."""
    return _side_of(measure, "lower")


def upper(measure: Any) -> Any:
    """Return the upper bound of a measure with parameters: ``upper(P @ 5)`` is ``P_upper @ 5``."""
    return _side_of(measure, "upper")


def _side_of(measure: Any, side: str) -> Any:
    """Return the bound of a measure, or raise an error that lists the measures that have one."""
    bounds = _BOUNDS.get(getattr(measure, "NAME", None) or "")
    if bounds is None:
        raise InvalidValueError("measure", f"must be one of {', '.join(_BOUNDS)}, but is {measure!r}")
    return bounds[side](**measure.params)


def _supported() -> list[Any]:
    """Return the supported measures as ir_measures writes them, with rules for parameters."""
    either = _BASE.Choices(False, True)
    plain = {"rel": _LEVEL, "judged_only": either}
    rules = {name: {"cutoff": _LEVEL, **plain} for name in _NAMES} | {
        "Rprec": plain,
        "nDCG": {
            "cutoff": _LEVEL, "dcg": _BASE.Choices("log2", "exp-log2"), "gains": _GAINS, "judged_only": either
        },
        "ERR": {"cutoff": _Rule(_LEVEL.rule, _LEVEL.text, required=True)},
        "Bpref": {"rel": _LEVEL},
        "IPrec": {"recall": _RECALL, **plain},
        "SetP": {"relative": either, **plain},
        "SetR": {"rel": _LEVEL},
        "SetF": {"beta": _BASE.Choices(1.0), **plain},
        "SetAP": plain,
    }  # fmt: skip
    ranked = [each(**rules[name]) for name in _NAMES for each in (getattr(ir_measures, name), *_BOUNDS[name].values())]
    return [*ranked, ir_measures.NumQ(), ir_measures.NumRel(rel=_LEVEL), ir_measures.NumRet(rel=_LEVEL)]


class DeadheatProvider(ir_measures.Provider):  # type: ignore[misc, name-defined]
    """Provider of measures whose value does not depend on how ties are broken.

    ``AP`` and the others are the exact expectation over all orders of tied documents, ``AP_lower`` and ``AP_upper``
    the least and the greatest value. Supported are AP, P, R, RR, Rprec, Success, nDCG, ERR, Bpref, IPrec, SetP, SetR,
    SetF (with ``beta`` 1) and SetAP, with ``cutoff``, ``rel`` from 1 on, ``judged_only``, ``dcg``, ``gains``,
    ``recall`` and ``relative`` where ir_measures has them, and NumQ, NumRel and NumRet. The four set measures do not
    depend on ties.

    Parameters
    ----------
    ties : {"exact", "float16", "bfloat16", "float32", "float64"} or Rounded
        As in `deadheat.from_run`; pytrec_eval, which computes most measures by default, reads float32.

    Notes
    -----
    Results are for the queries of the qrels only. As everywhere in ir_measures, a query without a relevant document, or
    without documents in the run, is 0. Negative grades do not count as judgements under ``judged_only``.

    Examples
    --------
    >>> from ir_measures import AP
    >>> qrels, run = {"q1": {"a": 1}}, {"q1": {"a": 0.5, "b": 0.5}}
    >>> values = provider.calc_aggregate([AP, AP_lower, AP_upper], qrels, run)
    >>> values[AP], values[AP_lower], values[AP_upper]
    (0.75, 0.5, 1.0)
    """

    NAME = "deadheat"
    SUPPORTED_MEASURES = _supported()

    def __init__(self, ties: ScoreTiesName | Ties = "exact") -> None:
        super().__init__()
        self.rule = ScoreTies.checked(ties)
        if self.rule.bounds_only:
            raise InvalidValueError("ties", "must have expected values, but a tolerance has none")

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> _Evaluator:
        asked = list(measures)
        unknown = [measure for measure in asked if not self.supports(measure)]
        if unknown:
            rule = f"must be supported by deadheat, but it does not support {', '.join(map(repr, unknown))}"
            raise InvalidValueError("measures", rule)
        judged = trec.open_qrels(ir_measures.util.QrelsConverter(qrels).as_dict_of_dict(), may_be_empty=True)
        return _Evaluator(asked, judged, self.rule)


class _Evaluator(ir_measures.Evaluator):  # type: ignore[misc, name-defined]
    def __init__(self, measures: list[Any], judged: trec.Checked, rule: ScoreTies) -> None:
        super().__init__(measures, list(judged))
        self.judged, self.rule = judged, rule

    @plain_floats
    def _iter_calc(self, run: Any) -> Iterator[Any]:
        """Compute the values of the queries in qrels and run; ir_measures adds those that the run lacks."""
        scores = trec.open_run(ir_measures.util.RunConverter(run).as_dict_of_dict(), may_be_empty=True)
        queries = [query for query in self.judged if query in scores]
        profiles: dict[str, TieProfile] = {}
        metrics = []
        for measure in self.measures if queries else ():
            gains, judged_only = _given(measure, "gains", None), bool(_given(measure, "judged_only", False))
            of_judged = measure.NAME.partition("_")[0] == "Bpref"
            key = f"{judged_only} {gains} {of_judged}"
            if key not in profiles:
                options = RunOptions(unjudged="junk" if judged_only else "irrelevant", rule=self.rule)
                tables = RunTables(scores, self._regraded(gains), queries, options)
                profiles[key] = tables.profile_of_judged_documents() if of_judged else tables.profile()
            values = _values(profiles[key], measure)
            metrics += [ir_measures.Metric(q, measure, value) for q, value in zip(queries, values, strict=True)]
        return iter(metrics)

    def _regraded(self, gains: Mapping[int, float] | None) -> trec.Checked:
        """Return the qrels with the gains of nDCG(gains=...) in place of the grades."""
        if gains is None:
            return self.judged
        return {query: {d: gains.get(grade, grade) for d, grade in row.items()} for query, row in self.judged.items()}


def _given(measure: Any, parameter: str, otherwise: Any) -> Any:
    value = measure[parameter] if parameter in measure.SUPPORTED_PARAMS else otherwise
    return otherwise if value is _NOT_PROVIDED else value


def _values(profile: TieProfile, measure: Any) -> list[float]:
    """Return the value of each query; 0 if none of its documents is relevant."""
    rel = _given(measure, "rel", None)
    name, _, side = measure.NAME.partition("_")
    level = judged_at_level(profile, rel) if name == "Bpref" else at_level(profile, rel)
    if measure.NAME in _COUNTS:
        every = measure.NAME == "NumRet" and _given(measure, "rel", None) is None
        retrieved = np.bincount(level.query_of_group, level.tied_relevant, level.n_query)
        counts = {"NumQ": np.ones(profile.n_query), "NumRel": level.n_relevant, "NumRet": retrieved}
        return [float(count) for count in (profile.n_ranked if every else counts[measure.NAME])]
    choice = f"dcg='{measure['dcg']}'" if name == "nDCG" else None
    called = "SetRelP" if _given(measure, "relative", False) else _NAMES[name]
    family, _ = measure_names.find(called)  # type: ignore[misc]
    asked = family.measure(_given(measure, "recall", _given(measure, "cutoff", None)), choice)
    values = getattr(measure_values.per_query(profile if family.forms.graded else level, asked), side or "expected")
    return [float(value) for value in np.where(level.n_relevant > 0, values, 0.0)]


provider = _BASE.register(DeadheatProvider())
_PIPELINE = ir_measures.DefaultPipeline.providers
_PIPELINE[:] = [*(each for each in _PIPELINE if each.NAME != provider.NAME), provider]  # last: for measures of no other

if __name__ == "__main__":
    runpy.run_module("ir_measures", run_name="__main__", alter_sys=True)
