"""An evaluator for PyKEEN's pipelines: its own metrics, and lower, expected and upper next to its three types of rank.

Copy this file next to your program, and give `TieAwareRankBasedEvaluator` as `evaluator` to PyKEEN's ``pipeline``.
Importing it also registers the evaluator as ``"tieawarerankbased"``, for ``pipeline_from_config`` and
``replicate_best_pipeline``. PyKEEN's "realistic" MRR and hits are those of the mean rank, not the means over all ways
to break ties. As a program it evaluates RotatE on the data set Nations, which PyKEEN brings:

pip install pykeen
python examples/pykeen_evaluator.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
from pykeen.evaluation import RankBasedEvaluator, RankBasedMetricResults, evaluator_resolver
from pykeen.pipeline import pipeline

import deadheat as dh

ENDS = ("lower", "expected", "upper")
NAMES = {
    "arithmetic_mean_rank": "MR",
    "inverse_harmonic_mean_rank": "MRR",
    "adjusted_arithmetic_mean_rank": "AMR",
    "adjusted_arithmetic_mean_rank_index": "AMRI",
    "adjusted_inverse_harmonic_mean_rank": "adjusted MRR",
}


class TieAwareRankBasedMetricResults(RankBasedMetricResults):
    """PyKEEN's results, with ``both.lower.mrr``, ``head.expected.hits@10``, ``tail.upper.amri`` and so on."""

    @classmethod
    def key_from_string(cls, s: str | None) -> Any:
        """Return the key of a metric; `lower`, `expected` and `upper` stand in the place of PyKEEN's types of rank."""
        parts = [] if s is None else s.split(".")
        ends = [part for part in parts if part in ENDS]
        key = super().key_from_string(".".join(part for part in parts if part not in ends) or None)
        return key._replace(rank_type=ends[0]) if ends else key


class TieAwareRankBasedEvaluator(RankBasedEvaluator):
    """PyKEEN's `RankBasedEvaluator`, which also gives bounds and expectation of MR, MRR, hits, AMR, AMRI and others.

    Parameters are PyKEEN's. For early stopping, or to optimise hyperparameters, name a metric such as
    ``both.lower.inverse_harmonic_mean_rank``.
    """

    metric_result_cls = TieAwareRankBasedMetricResults

    def finalize(self) -> Any:
        """Return PyKEEN's results with those of `deadheat.link_prediction`, of each side and of both."""
        sides, known = sorted(self.num_candidates), {metric.key: name_of(metric) for metric in self.metrics}
        names = {key: name for key, name in known.items() if name}
        profiles = {}
        for side in sides:
            ends = (self.ranks[side, "optimistic"], self.ranks[side, "pessimistic"], self.num_candidates[side])
            profiles[side] = dh.from_ranks(*map(np.concatenate, ends)).profile
        data = dict(super().finalize().data)
        for side, profile in {**profiles, "both": dh.TieProfile.joined([*profiles.values()])}.items():
            result = dh.link_prediction(profile, names.values())
            data |= {(side, end, key): getattr(result[name], end) for key, name in names.items() for end in ENDS}
        return self.metric_result_cls(data)


evaluator_resolver.register(TieAwareRankBasedEvaluator, raise_on_conflict=False)


def name_of(metric: Any) -> str | None:
    """Return the name of a PyKEEN metric in deadheat; None for one that it does not have."""
    if metric.key == "adjusted_hits_at_k":  # whatever k is
        return f"adjusted Hits@{metric.base.k}"
    return f"Hits@{metric.k}" if metric.key.startswith("hits_at_") else NAMES.get(metric.key)


def main() -> None:
    options = {"training_kwargs": {"num_epochs": 5, "use_tqdm": False}, "evaluation_kwargs": {"use_tqdm": False}}
    result = pipeline(
        dataset="nations", model="rotate", random_seed=0, evaluator=TieAwareRankBasedEvaluator, **options
    ).metric_results
    for end in ("lower", "expected", "realistic", "upper"):
        print(f"MRR, {end}: {result.get_metric(f'both.{end}.inverse_harmonic_mean_rank'):.4f}")


if __name__ == "__main__":
    main()
