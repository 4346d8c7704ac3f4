"""An evaluator for PyKEEN's pipelines: its own metrics, and lower, expected and upper next to its three types of rank.

PyKEEN's "realistic" MRR and hits are those of the mean rank, not the means over all ways to break ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deadheat.analyses.link_prediction import link_prediction
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.sources.ranks import from_ranks
from deadheat.support.lazy import require
from deadheat.support.triple import Triple

_pykeen = require("pykeen.evaluation", "pykeen", "deadheat.integrations.pykeen")
_NAMES = {
    "arithmetic_mean_rank": "MR",
    "inverse_harmonic_mean_rank": "MRR",
    "adjusted_arithmetic_mean_rank": "AMR",
    "adjusted_arithmetic_mean_rank_index": "AMRI",
    "adjusted_inverse_harmonic_mean_rank": "adjusted MRR",
}


class TieAwareRankBasedMetricResults(_pykeen.RankBasedMetricResults):  # type: ignore[misc, name-defined]
    """PyKEEN's results, with ``both.lower.mrr``, ``head.expected.hits@10``, ``tail.upper.amri`` and so on."""

    @classmethod
    def key_from_string(cls, s: str | None) -> Any:
        """Return the key of a metric; `lower`, `expected` and `upper` stand in the place of PyKEEN's types of rank."""
        parts = [] if s is None else s.split(".")
        ends = [part for part in parts if part in Triple._fields]
        key = super().key_from_string(".".join(part for part in parts if part not in ends) or None)
        return key._replace(rank_type=ends[0]) if ends else key


class TieAwareRankBasedEvaluator(_pykeen.RankBasedEvaluator):  # type: ignore[misc, name-defined]
    """PyKEEN's `RankBasedEvaluator`, which also gives bounds and expectation of MR, MRR, hits, AMR, AMRI and others.

    Parameters are PyKEEN's; give the class as `evaluator` to its ``pipeline``. For early stopping, or to optimise
    hyperparameters, name a metric such as ``both.lower.inverse_harmonic_mean_rank``. Importing this module also
    registers it as ``"tieawarerankbased"``, for ``pipeline_from_config`` and ``replicate_best_pipeline``.
    """

    metric_result_cls = TieAwareRankBasedMetricResults

    def finalize(self) -> Any:
        """Return PyKEEN's results with those of `deadheat.link_prediction`, of each side and of both."""
        sides, known = sorted(self.num_candidates), {metric.key: _name(metric) for metric in self.metrics}
        names = {key: name for key, name in known.items() if name}
        ranks = [[self.ranks[side, end] for end in ("optimistic", "pessimistic")] for side in sides]
        of_sides = [
            from_ranks(*map(np.concatenate, [*ends, self.num_candidates[side]])).profile
            for side, ends in zip(sides, ranks, strict=True)
        ]
        data = dict(super().finalize().data)
        for side, profile in zip([*sides, "both"], [*of_sides, TieProfile.joined(of_sides)], strict=True):
            found = link_prediction(profile, names.values())
            data |= {
                (side, end, key): getattr(found[name], end) for key, name in names.items() for end in Triple._fields
            }
        return self.metric_result_cls(data)


_pykeen.evaluator_resolver.register(TieAwareRankBasedEvaluator, raise_on_conflict=False)


def _name(metric: Any) -> str | None:
    """Return the name of a PyKEEN metric in deadheat; None for one that it does not have."""
    if metric.key == "adjusted_hits_at_k":  # whatever k is
        return f"adjusted Hits@{metric.base.k}"
    of_hits = metric.key.startswith("hits_at_")
    return f"Hits@{metric.k}" if of_hits else _NAMES.get(metric.key)
