"""The metric of given scores, called like the metrics of `torchmetrics.retrieval`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from deadheat.engine.literals import ScoreTiesName
from deadheat.engine.sources.keyed import profile_lists
from deadheat.engine.ties.rule import Ties
from deadheat.engine.ties.scores import ScoreTies
from deadheat.errors import InvalidValueError, UndefinedError
from deadheat.inputs import conversion
from deadheat.inputs.arrays import GAIN, gains_allowed
from deadheat.integrations.torchmetrics.gathering import RowMetric, kept
from deadheat.measures.names import parse, parse_all
from deadheat.reports.report import Report
from deadheat.support import checks
from deadheat.support.arrays import Float64
from deadheat.support.means import all_or_none
from deadheat.support.triple import Triple

STATES = ("indexes", "preds", "target")
SINGLETONS = {"neg": "zero", "pos": "one", "skip": "skip", "error": "skip"}
AGGREGATIONS = ("mean", "median", "min", "max")
_ALL = "`indexes`, `preds` and `target`"


_OVER_ALL = {"precision": "SetP", "recall": "SetR", "hitrate": "SetR"}  # all are ranked, so that each query has a hit


def _without_cutoff(measures: Any) -> Any:
    """Rename torchmetrics' measures that without a cutoff take every item to their names in deadheat."""
    if isinstance(measures, str):
        name = r"\bretrieval_?(precision|recall|hit_?rate)\b(?!\s*[@(])"
        return re.sub(name, lambda match: _OVER_ALL[match[1].lower().replace("_", "")], measures, flags=re.IGNORECASE)
    return [*map(_without_cutoff, measures)] if isinstance(measures, Iterable) else measures


class ScoredRetrieval(RowMetric):
    """Metric that ranks the items of each query by their scores, with bounds over the ties among them.

    Called as `RetrievalMAP` and its siblings are, for any number of measures at once.

    Parameters
    ----------
    measures : str or iterable of str, optional
        As in `deadheat.evaluate`: ``"mAP, MRR, nDCG@10, P@5, Recall@5, Hit@1, R-Precision, AUC"``.
    empty_target_action : {"neg", "pos", "skip", "error"}
        How a query without a relevant item counts: as 0, as 1, not at all, or as a ValueError.
    ignore_index : int, optional
        Items with this target are excluded, whatever their scores are.
    aggregation : {"mean", "median", "min", "max"} or callable
        How to aggregate the values of the queries, separately for lower, expected and upper. A callable takes a float64
        tensor (n_query,) and ``dim=None``; lower and upper remain bounds if it is monotone.
    top_k : int, optional
        The cutoff of every measure, as in torchmetrics: ``ScoredRetrieval("P, Recall", top_k=5)`` is the same as
        ``"P@5, Recall@5"``, with the same keys. Without, ``RetrievalPrecision`` is ``SetP``, and ``RetrievalRecall``
        and ``RetrievalHitRate`` are ``SetR``: over all items of a query, as in torchmetrics.
    value : {"lower", "expected", "upper"}, optional
        For one measure: a single number as the value, for wrappers and loggers that need a scalar. Select checkpoints
        by the lower bound; report the expected value with both bounds. By default, all three in a dictionary.
    ties : {"exact", "float16", "bfloat16", "float32", "float64"}, Rounded or Tolerance
        As in `deadheat.from_scores`.
    threads : int, optional
        As in `deadheat.evaluate`.
    **kwargs
        Those of every metric of torchmetrics.

    Notes
    -----
    The value is a dictionary of float64 tensors: ``"mAP"``, ``"mAP_lower"``, ``"mAP_upper"``. Under `value`, one
    of them.

    **Ties:** equal scores, in their own type, unless `ties` says otherwise; torchmetrics casts them to float32, and its
    sort decides the order of ties. **Undefined:** NaN, with a warning, where no query counts; torchmetrics gives 0.

    Differences from torchmetrics, other than ties: an item counts whatever the sign of its score (`RetrievalMAP`,
    `RetrievalMRR`, `RetrievalPrecision` and `RetrievalRecall` treat relevant items with a score of 0 or less as
    irrelevant); gains of nDCG are not negative; a query without an irrelevant item has no AUC and is excluded, where
    torchmetrics gives 0. mAP@k divides by all relevant items; ``RetrievalMAP`` with `top_k` divides by those found, as
    there, and is ``mAP(over='hits')@k``. `RetrievalAUROC` takes no `top_k`.

    Examples
    --------
    >>> metric = ScoredRetrieval("mAP, MRR")
    >>> metric.update(torch.tensor([0.5, 0.5, 0.1]), torch.tensor([1, 0, 0]), torch.tensor([3, 3, 3]))
    >>> {name: value.item() for name, value in metric.compute().items()}
    {'mAP': 0.75, 'mAP_lower': 0.5, 'mAP_upper': 1.0, 'MRR': 0.75, 'MRR_lower': 0.5, 'MRR_upper': 1.0}
    """

    def __init__(
        self,
        measures: str | Iterable[str] | None = None,
        *,
        empty_target_action: str = "neg",
        ignore_index: int | None = None,
        aggregation: str | Callable[..., Tensor] = "mean",
        top_k: int | None = None,
        value: Literal["lower", "expected", "upper"] | None = None,
        ties: ScoreTiesName | Ties = "exact",
        threads: int | None = None,
        **kwargs: Any,
    ) -> None:
        asked = measures if top_k is not None else _without_cutoff(measures)
        super().__init__(STATES, tuple(measure.name for measure in parse_all(asked, top_k)), value, **kwargs)
        self.threads, self.ties = threads, ScoreTies.checked(ties)
        checks.thread_count(threads)
        if self.ties.bounds_only and value == "expected":
            raise InvalidValueError("value", 'must be "lower" or "upper" under a tolerance, which has no expectation')
        if empty_target_action not in SINGLETONS:
            rule = f"received a wrong value `{empty_target_action}`, where it must be one of {', '.join(SINGLETONS)}"
            raise InvalidValueError("Argument `empty_target_action`", rule)
        if ignore_index is not None and not isinstance(ignore_index, int):
            raise InvalidValueError("Argument `ignore_index`", f"must be an integer or None, but is {ignore_index!r}")
        if not (aggregation in AGGREGATIONS or callable(aggregation)):
            rule = f"must be one of {', '.join(AGGREGATIONS)} or a callable, but is {aggregation!r}"
            raise InvalidValueError("Argument `aggregation`", rule)
        self.empty_target_action, self.ignore_index, self.aggregation = empty_target_action, ignore_index, aggregation

    def update(self, preds: Tensor, target: Tensor, indexes: Tensor) -> None:
        """Keep a batch of items.

        Parameters
        ----------
        preds : (n, ...) tensor of floats
            Scores, higher is better; finite, but for items that `ignore_index` excludes.
        target : (n, ...) tensor of bool, integers or floats
            1 is relevant and 0 is not; other gains above 0 are allowed if nDCG or ERR is among the measures, and count
            as 1 for the others.
        indexes : (n, ...) tensor of int64
            The query that each item belongs to.
        """
        self._check(preds, target, indexes)
        self.keep({
            "indexes": kept(indexes.flatten()),
            "preds": kept(preds.flatten()),
            "target": kept(target.flatten() if target.is_floating_point() else target.flatten().to(torch.int64)),
        })  # fmt: skip

    def compute(self) -> Any:
        """Compute the measures, each with its bounds, over the queries of all processes unless configured otherwise."""
        try:
            report = self._report()
        except UndefinedError as error:
            return self.undefined(error)
        if not any(report[name].n_query for name in report):
            return self.undefined("there is no query with a relevant item")
        if self.aggregation == "mean":
            return self.answer({name: report[name] for name in report})
        values = {name: all_or_none(report[name].per_query) for name in report}
        return self.answer({name: Triple(*map(self._aggregated, each)) for name, each in values.items()})

    def _check(self, preds: Tensor, target: Tensor, indexes: Tensor) -> None:
        if not all(isinstance(given, Tensor) for given in (preds, target, indexes)):
            raise InvalidValueError(_ALL, "must be tensors")
        shapes = [tuple(given.shape) for given in (indexes, preds, target)]
        if len({*shapes}) > 1:
            raise InvalidValueError(_ALL, f"must be of the same shape, but have shapes {', '.join(map(str, shapes))}")
        if indexes.dtype != torch.int64:
            raise InvalidValueError("`indexes`", f"must be a tensor of long integers, but has dtype {indexes.dtype}")
        if not indexes.numel() or not indexes.ndim:
            raise InvalidValueError(_ALL, f"must be non-empty and non-scalar tensors, but have shape {shapes[0]}")
        if target.is_complex():
            rule = f"must be a tensor of booleans, integers or floats, but has dtype {target.dtype}"
            raise InvalidValueError("`target`", rule)
        if not preds.is_floating_point():
            raise InvalidValueError("`preds`", f"must be a tensor of floats, but has dtype {preds.dtype}")
        counted: Any = slice(None) if self.ignore_index is None else target != self.ignore_index
        grades, scores = target[counted], preds[counted]
        for odd in scores[~scores.isfinite()][:1].tolist():
            rule = f"must be finite, but holds {odd}; to leave an item out, use ignore_index"
            raise InvalidValueError("`preds`", rule)
        if any(parse(name).row.forms.graded for name in self.measures):
            odd = grades[~gains_allowed(grades.cpu().double()).to(grades.device)]
        else:
            odd = grades[(grades != 0) & (grades != 1)]
        if len(odd):
            rule = f"must contain `binary` values, or for nDCG gains of {GAIN}"
            raise InvalidValueError("`target`", f"{rule}, but holds {odd[0].item()}")

    def _report(self) -> Report:
        states = {name: self.rows(name) for name in STATES}
        if any(rows is None for rows in states.values()):
            raise UndefinedError("there are no rows")
        indexes, preds, target = (conversion.plain(rows, name) for name, rows in states.items())
        order = np.argsort(indexes, kind="stable")
        if self.ignore_index is not None:
            order = order[target[order] != self.ignore_index]
        if not len(order):
            raise UndefinedError("there are no rows")
        queries, lengths = np.unique(indexes[order], return_counts=True)
        profile = profile_lists(preds[order], target[order], lengths, self.ties)
        if self.empty_target_action == "error" and not profile.n_relevant.all():
            raise InvalidValueError("`compute`", "method was provided with a query with no positive target.")
        named = replace(profile, query_ids=tuple(map(str, queries.tolist())))
        rule = self.ties.describe() or "exact"
        return Report(named, self.measures, SINGLETONS[self.empty_target_action], tie_rule=rule)

    def _aggregated(self, values: Float64) -> float:
        defined = torch.from_numpy(values[~np.isnan(values)])
        if callable(self.aggregation):
            return float(self.aggregation(defined, dim=None))
        return float(getattr(defined, self.aggregation)()) if len(defined) else float("nan")
