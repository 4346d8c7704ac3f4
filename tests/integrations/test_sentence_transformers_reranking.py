"""The evaluators of reranking against the ones that they take after: equal without ties, around them with ties."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from integrations.models import Encoder, Pairs
from integrations.needs import needs, widest

from deadheat.reports.result import ENDS

pytestmark = [
    needs("sentence_transformers"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # theirs, of Transformers and SWIG
]
Sample = dict[str, Any]


def samples_of(seed: int, documents: bool) -> list[Sample]:
    """Queries with candidates; with `documents`, some positives are not among these."""
    rng = np.random.default_rng(seed)
    samples: list[Sample] = []
    for number in range(int(rng.integers(2, 9))):
        names = [f"d{number}-{i}" for i in range(int(rng.integers(2, 7)))]
        n_positive = int(rng.integers(1, len(names)))
        sample: Sample = {"query": f"q{number}", "positive": names[:n_positive]}
        if documents:
            sample["documents"] = [names[i] for i in rng.permutation(len(names)) if i or rng.random() < 0.5]
        else:
            sample["negative"] = names[n_positive:]
        samples.append(sample)
    return samples


def texts_of(samples: list[Sample]) -> list[tuple[str, str]]:
    parts = ("positive", "negative", "documents")
    return [(s["query"], d) for s in samples for part in parts for d in s.get(part, ())]


def pairs_of(seed: int, samples: list[Sample], levels: int | None) -> Pairs:
    """Scores on a few levels, where ties are common, or all distinct."""
    rng, pairs = np.random.default_rng(seed), dict.fromkeys(texts_of(samples))
    numbers = rng.permutation(len(pairs)) if levels is None else rng.integers(0, levels, len(pairs))
    return Pairs(dict(zip(pairs, numbers.tolist(), strict=True)))


def embeddings_of(seed: int, samples: list[Sample], ties: bool) -> Encoder:
    import torch

    rng, texts = np.random.default_rng(seed), list(dict.fromkeys(text for pair in texts_of(samples) for text in pair))
    shape = len(texts), 3 if ties else 16
    values = rng.integers(-1, 2, shape) if ties else rng.normal(size=shape)
    return Encoder(dict(zip(texts, torch.tensor(values, dtype=torch.float32), strict=True)))


def cross_encoders(samples: list[Sample], **options: Any) -> tuple[Any, Any]:
    from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator as Theirs

    from deadheat.integrations.sentence_transformers_reranking import TieAwareCrossEncoderRerankingEvaluator as Ours

    return Theirs(samples, **options), Ours(samples, **options)


def encoders(samples: list[Sample], **options: Any) -> tuple[Any, Any]:
    from sentence_transformers.sentence_transformer.evaluation import RerankingEvaluator as Theirs

    from deadheat.integrations.sentence_transformers_reranking import TieAwareRerankingEvaluator as Ours

    return Theirs(samples, **options), Ours(samples, **options)


@pytest.mark.parametrize("options", [{}, {"always_rerank_positives": False}, {"at_k": 2, "name": "x"}], ids=str)
@pytest.mark.parametrize("documents", [False, True])
def test_cross_encoder_without_ties(documents: bool, options: dict[str, Any]) -> None:
    """Every key of theirs has their value, and the bounds are equal to it, where no positive is missing for good."""
    for seed in range(3):
        samples = samples_of(seed, documents)
        if documents and "always_rerank_positives" in options:
            samples = [each | {"positive": [d for d in each["positive"] if d in each["documents"]]} for each in samples]
        theirs, ours = cross_encoders(samples, **options)
        expected, values = theirs(pairs_of(seed, samples, None)), ours(pairs_of(seed, samples, None))
        bounded = [key for key in expected if "base_" not in key]
        assert set(values) == {*expected, *(key + end for key in bounded for end in ENDS)}
        assert (len(bounded), len(expected)) == (3, 6 if documents else 3)
        assert {key: values[key] for key in expected} == pytest.approx(expected, abs=1e-12)
        assert widest(values, {key: expected[key] for key in bounded}) == 0
        assert ours.primary_metric == theirs.primary_metric + "_lower"


@pytest.mark.parametrize("documents", [False, True])
def test_cross_encoder_around_theirs_with_ties(documents: bool) -> None:
    """Their MRR is inside the bounds, their nDCG is the expectation; their AP is no mean over orders."""
    for seed in range(12):
        samples = samples_of(seed, documents)
        theirs, ours = cross_encoders(samples, at_k=3)
        expected, values = theirs(pairs_of(seed, samples, 3)), ours(pairs_of(seed, samples, 3))
        assert widest(values, {"mrr@3": expected["mrr@3"], "ndcg@3": expected["ndcg@3"], "map": values["map"]}) > 0
        assert values["ndcg@3"] == pytest.approx(expected["ndcg@3"], abs=1e-12)


def test_their_average_precision_outside_the_bounds() -> None:
    samples = [{"query": "q", "positive": ["a", "b"], "negative": ["c"]}]
    model = Pairs({("q", "a"): 1, ("q", "b"): 1, ("q", "c"): 2})
    theirs, ours = (each(model) for each in cross_encoders(samples))
    assert theirs["map"] == pytest.approx(2 / 3)
    assert ours["map_lower"] == ours["map_upper"] == pytest.approx(7 / 12)


def test_a_sigmoid_that_saturates() -> None:
    """A real cross-encoder's `predict`: logits of 20 and 21 tie once a sigmoid in float32 has made both 1."""

    class Saturated(Pairs):
        def predict(self, pairs: list[list[str]], **options: Any) -> Any:
            import torch

            logits = torch.tensor(super().predict(pairs, **options))
            return options.get("activation_fn", torch.nn.Sigmoid())(logits).numpy()

    model = Saturated({("q", "a"): 21.0, ("q", "b"): 20.0})
    ours = cross_encoders([GOOD])[1]
    assert ours(model)["mrr@10_lower"] == 0.5
    assert model.options.keys() == {"prompt_name", "batch_size", "convert_to_numpy", "show_progress_bar"}
    assert type(ours)([GOOD], scores="logits")(model)["mrr@10_lower"] == 1.0


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean", "manhattan"])
def test_encoder_without_ties(similarity: str, batched: bool) -> None:
    from sentence_transformers.util.similarity import SimilarityFunction

    for seed in range(4):
        samples = samples_of(seed, documents=False)
        options = {"similarity_fct": SimilarityFunction.to_similarity_fn(similarity), "use_batched_encoding": batched}
        theirs, ours = encoders(samples, name="x", at_k=3, **options)
        model = embeddings_of(seed, samples, ties=False)
        expected, values = theirs(model), ours(model)
        assert widest(values, expected, 1e-9) == 0
        assert ours.primary_metric == "x_ndcg@3_lower" in values
        assert len(model.asked) == 2 * 2 * (1 if batched else len(samples))  # theirs and ours: queries, documents


def test_encoder_around_theirs_with_ties() -> None:
    """On a grid, where dot products are exact in float32; a function of one's own gives the same."""
    from sentence_transformers.util import dot_score

    widths = []
    for seed in range(8):
        samples = samples_of(seed, documents=False)
        model = embeddings_of(seed, samples, ties=True)
        theirs, ours = encoders(samples, at_k=3, similarity_fct=dot_score)
        expected, values = theirs(model), ours(model)
        widths.append(widest(values, {"mrr@3": expected["mrr@3"]}))
        assert values["ndcg@3"] == pytest.approx(expected["ndcg@3"], abs=1e-12)
        for own in (lambda a, b: b @ a, lambda a, b: (b @ a)[None]):
            assert values == encoders(samples, at_k=3, similarity_fct=own)[1](model)
    assert max(widths) > 0


def test_files_model_card_and_results(tmp_path: Path) -> None:
    """In the card of a ranking before, each value has its difference, as theirs; the lower bound is there, too."""
    samples = samples_of(3, documents=True)
    theirs, ours = cross_encoders(samples, at_k=3, name="x")
    model, shown = pairs_of(3, samples, 2), []
    theirs(model)
    values = ours(model, output_path=str(tmp_path / "out"), epoch=2, steps=7)
    shown = [call.args[1] for call in model.model_card_data.set_evaluation_metrics.call_args_list]
    assert shown[0].keys() < shown[1].keys()
    assert shown[0]["x_mrr@3"].count("(") == shown[1][ours.primary_metric].count("(") == 1
    with (tmp_path / "out" / ours.csv_file).open(newline="") as file:
        (row,) = csv.DictReader(file)
    names = ["MAP", "MRR@3", "NDCG@3"]
    assert list(row) == ["epoch", "steps", *(f"{name}{end}" for end in ENDS for name in names)]
    assert (row.pop("epoch"), row.pop("steps")) == ("2", "7")
    for name, value in row.items():
        metric, _, end = name.partition("_")
        assert float(value) == values[f"x_{metric.lower()}{f'_{end}' if end else ''}"]
    result = ours.results["x_mrr@3"]
    assert (result.upper, result.per_query.lower.shape) == (values["x_mrr@3_upper"], (len(samples),))
    assert ours.report["MRR@3"].upper == result.upper


GOOD: Sample = {"query": "q", "positive": ["a"], "negative": ["b"]}


@pytest.mark.parametrize(
    ("samples", "options", "scores", "text"),
    [
        ([{"query": "q", "negative": ["a"]}], {}, (), "samples must each have a 'query', a 'positive'"),
        ([{"query": "q", "positive": ["a"]}], {}, (),
         "either a 'negative' or 'documents', but sample 0 has 'query', 'positive'"),
        ([GOOD | {"documents": []}], {}, (), "either a 'negative' or 'documents'"),
        ([GOOD], {"scores": "probabilities"}, (), "scores must be one of activations, logits"),
        ([GOOD], {"at_k": 0}, (), "at_k must be at least 1, but is 0"),
        ([], {}, (), "samples must hold at least one query with candidates"),
        ([GOOD], {}, (float("nan"), 1), "scores of the model must be finite, but 1 of 2 are not"),
        ([GOOD], {}, ([0, 1], [1, 0]), r"one number for each of 2 pairs, but are float32 of shape \(2, 2\)"),
    ],
)  # fmt: skip
def test_refused(samples: list[Sample], options: dict[str, Any], scores: Any, text: str) -> None:
    kind = type(cross_encoders([GOOD])[1])
    with pytest.raises((ValueError, TypeError), match=text):
        kind(samples, **options)(Pairs(dict(zip([("q", "a"), ("q", "b")], scores, strict=False))))


@pytest.mark.parametrize("missing", [1, 2])
def test_positives_that_were_never_retrieved_count(missing: int) -> None:
    """One of two (or three) positives is among the candidates, and first: every order leaves the others unfound."""
    positive = ["good one", "good two", "good three"][: 1 + missing]
    samples = [{"query": "q", "positive": positive, "documents": ["bad a", "good one", "bad b"]}]
    model = Pairs({("q", "bad a"): 0, ("q", "good one"): 1, ("q", "bad b"): 0})
    ours = cross_encoders(samples, always_rerank_positives=False)[1]
    values = ours(model)
    ideal = sum(1 / np.log2(rank + 1) for rank in range(1, 2 + missing))
    for end in ENDS:
        assert (values[f"map{end}"], values[f"mrr@10{end}"]) == (1 / (1 + missing), 1)
        assert values[f"ndcg@10{end}"] == pytest.approx(1 / ideal, abs=1e-15)
    assert (values["base_map"], values["base_mrr@10"]) == (1 / 2 / (1 + missing), 1 / 2)
    assert ours.report.profile.n_relevant.tolist() == [1 + missing]


@pytest.mark.parametrize("positive", [["x"], []])
def test_no_query_at_all_has_a_relevant_candidate(positive: list[str]) -> None:
    """All is 0, as in theirs; with the positives reranked, valid numbers remain next to a ranking before of 0."""
    samples = [{"query": "q", "positive": positive, "documents": ["a", "b"]}]
    model = Pairs({("q", "x"): 2, ("q", "a"): 1, ("q", "b"): 0})
    expected, values = (each(model) for each in cross_encoders(samples, always_rerank_positives=False))
    assert {*values.values()} == {*expected.values()} == {0.0}
    expected, values = (each(model) for each in cross_encoders(samples))
    assert {key: values[key] for key in expected} == expected
    assert values["map_lower"] == len(positive)


def test_a_query_without_a_relevant_candidate_is_not_scored_and_counts_0_as_in_theirs() -> None:
    samples = [
        {"query": "q", "positive": ["a"], "documents": ["b", "c"]},
        {"query": "r", "positive": ["a"], "documents": ["b", "a"]},
    ]
    model = Pairs({("r", "b"): 0, ("r", "a"): 1})
    expected, values = (each(model) for each in cross_encoders(samples, always_rerank_positives=False))
    assert values["mrr@10_lower"] == expected["mrr@10"] == 0.5
    assert {key: values[key] for key in expected} == pytest.approx(expected)
