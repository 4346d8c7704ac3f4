"""Link prediction next to PyKEEN, OGB and TGB: their values within the bounds, on random data full of ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from integrations.needs import needs

import deadheat as dh
from examples.graph_benchmarks import evaluate

ROUNDED = 1e-6  # of values that others compute in float32


def tied_scores(seed: int, n: int = 400, width: int = 30) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 6, n).astype(np.float32), rng.integers(0, 6, (n, width)).astype(np.float32)


def assert_within(bounds: Any, value: float) -> None:
    assert bounds.lower - ROUNDED <= value <= bounds.upper + ROUNDED


@needs("ogb")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore")
def test_ogb_is_within_the_bounds(seed: int) -> None:
    import torch
    from ogb.linkproppred import Evaluator

    positives, negatives = tied_scores(seed)
    theirs = Evaluator("ogbl-wikikg2").eval(
        {"y_pred_pos": torch.from_numpy(positives), "y_pred_neg": torch.from_numpy(negatives)}
    )
    ours = evaluate({"y_pred_pos": positives, "y_pred_neg": negatives}, ["mrr", "hits@1", "hits@3", "hits@10"])
    for name, metric in {"MRR": "mrr_list", "Hits@1": "hits@1_list", "Hits@10": "hits@10_list"}.items():
        lower, _, upper = ours.per_query[name]
        values = theirs[metric].numpy()
        assert (lower - ROUNDED <= values).all()
        assert (values <= upper + ROUNDED).all()
    shared = {"y_pred_pos": positives, "y_pred_neg": negatives.ravel()}
    theirs = Evaluator("ogbl-ddi").eval(shared)  # Hits@20 among shared negatives, pessimistic
    assert theirs["hits@20"] == evaluate(shared, "hits@20")["Hits@20"].lower


@needs("tgb")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore")
def test_tgb_is_within_the_bounds(seed: int) -> None:
    from tgb.linkproppred.evaluate import Evaluator

    positives, negatives = tied_scores(seed)
    batch = {"y_pred_pos": positives, "y_pred_neg": negatives, "eval_metric": ["mrr"]}
    theirs = Evaluator("tgbl-wiki").eval(batch)
    assert_within(evaluate(batch)["MRR"], float(theirs["mrr"]))
    assert float(theirs["mrr"]) < evaluate(batch)["MRR"].expected - 0.01  # 1/rank of the mean rank is too low


@needs("pykeen")
@pytest.mark.filterwarnings("ignore")
def test_pykeen_gets_bounds_next_to_its_own() -> None:
    import torch

    from examples.pykeen_evaluator import TieAwareRankBasedEvaluator

    evaluator = TieAwareRankBasedEvaluator()
    profiles = {}
    for seed, side in enumerate(("head", "tail")):
        positives, others = tied_scores(seed)
        others[:, 3] = np.nan  # what PyKEEN filters
        scores = np.column_stack([positives, others])
        evaluator.process_scores_(None, side, torch.from_numpy(scores), torch.from_numpy(positives[:, None]))
        profiles[side] = dh.from_candidates(
            scores, positive_columns=np.zeros(len(scores), dtype=int), junk=np.isnan(scores)
        ).profile
    results = evaluator.finalize()
    names = {"mrr": "MRR", "mr": "MR", "hits@10": "Hits@10", "amri": "AMRI", "amr": "AMR"}
    profiles["both"] = dh.TieProfile.joined([profiles["head"], profiles["tail"]])
    for side, profile in profiles.items():
        ours = dh.link_prediction(profile, [*names.values(), "adjusted MRR", "adjusted Hits@10"])
        for metric, name in names.items():
            given = [results.get_metric(f"{side}.{end}.{metric}") for end in ("lower", "expected", "upper")]
            assert given == list(ours[name])
            assert_within(ours[name], results.get_metric(f"{side}.realistic.{metric}"))
        for end, theirs_end in {"lower": "pessimistic", "upper": "optimistic"}.items():
            assert getattr(ours["MRR"], end) == pytest.approx(results.get_metric(f"{side}.{theirs_end}.mrr"), rel=1e-12)
        for linear in ("amri", "amr", "mr"):  # where the mean rank says it all
            theirs = results.get_metric(f"{side}.realistic.{linear}")
            assert ours[names[linear]].expected == pytest.approx(theirs, rel=1e-6)
        for key, name in {
            "adjusted_inverse_harmonic_mean_rank": "adjusted MRR",
            "adjusted_hits_at_k": "adjusted Hits@10",
        }.items():
            assert results.data[side, "expected", key] == ours[name].expected
            assert_within(ours[name], results.data[side, "realistic", key])
    assert {"lower", "expected", "upper"} < set(results.to_dict()["both"])
    assert not evaluator.num_candidates


@needs("pykeen")
@pytest.mark.filterwarnings("ignore")
def test_pykeen_finds_the_evaluator_by_its_name() -> None:
    from pykeen.evaluation import evaluator_resolver
    from pykeen.pipeline import pipeline_from_config
    from pykeen.triples import TriplesFactory

    from examples.pykeen_evaluator import TieAwareRankBasedEvaluator

    assert evaluator_resolver.lookup("tieawarerankbased") is TieAwareRankBasedEvaluator
    data = np.array([["a", "r", "b"], ["b", "r", "c"], ["c", "s", "a"], ["a", "s", "c"]])
    triples = TriplesFactory.from_labeled_triples(data)
    options = {
        "training": triples, "testing": triples, "model": "transe", "model_kwargs": {"embedding_dim": 2},
        "training_kwargs": {"num_epochs": 1, "use_tqdm": False}, "evaluator": "tieawarerankbased", "random_seed": 0,
        "evaluation_kwargs": {"use_tqdm": False},
    }  # fmt: skip
    results = pipeline_from_config({"pipeline": options, "metadata": {}}).metric_results
    assert 0 < results.get_metric("both.lower.mrr") <= results.get_metric("both.upper.mrr") <= 1
