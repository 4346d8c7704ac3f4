"""The evaluators of reranking against the ones that they take after: equal without ties, around them with ties."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from integrations.needs import needs, widest

from deadheat import Tolerance

pytestmark = [
    needs("sentence_transformers"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # theirs, of Transformers and SWIG
]

Sample = dict[str, Any]


class Pairs:
    """A cross-encoder that looks the score of a pair up; it keeps what it was asked with."""

    def __init__(self, scores: dict[tuple[str, str], float], dtype: Any = np.float32) -> None:
        self.scores, self.dtype, self.model_card_data = scores, dtype, Mock()
        self.options: dict[str, Any] = {}

    def predict(self, pairs: list[list[str]], **options: Any) -> Any:
        self.options = options
        return np.array([self.scores[query, document] for query, document in pairs], dtype=self.dtype)


class Texts:
    """An encoder that looks embeddings up."""

    def __init__(self, embeddings: dict[str, Any]) -> None:
        self.embeddings, self.model_card_data = embeddings, Mock()
        self.calls = 0

    def encode_query(self, texts: list[str], **options: Any) -> Any:
        import torch

        self.calls += 1
        return torch.stack([self.embeddings[text] for text in texts])[:, : options["truncate_dim"]]

    encode_document = encode_query


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


def cross_encoders(samples: list[Sample], **options: Any) -> tuple[Any, Any]:
    from sentence_transformers.cross_encoder.evaluation import CrossEncoderRerankingEvaluator

    from deadheat.integrations.sentence_transformers_reranking import TieAwareCrossEncoderRerankingEvaluator

    return tuple(
        each(samples, **options) for each in (CrossEncoderRerankingEvaluator, TieAwareCrossEncoderRerankingEvaluator)
    )


def encoders(samples: list[Sample], **options: Any) -> tuple[Any, Any]:
    from sentence_transformers.sentence_transformer.evaluation import RerankingEvaluator

    from deadheat.integrations.sentence_transformers_reranking import TieAwareRerankingEvaluator

    return tuple(each(samples, **options) for each in (RerankingEvaluator, TieAwareRerankingEvaluator))


def embeddings_of(seed: int, samples: list[Sample], ties: bool) -> Texts:
    import torch

    rng, texts = np.random.default_rng(seed), list(dict.fromkeys(text for pair in texts_of(samples) for text in pair))
    shape = len(texts), 3 if ties else 16
    values = rng.integers(-1, 2, shape) if ties else rng.normal(size=shape)
    return Texts(dict(zip(texts, torch.tensor(values, dtype=torch.float32), strict=True)))


@pytest.mark.parametrize("options", [{}, {"always_rerank_positives": False}, {"at_k": 2, "name": "x"}], ids=str)
@pytest.mark.parametrize("documents", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_cross_encoder_without_ties(seed: int, documents: bool, options: dict[str, Any]) -> None:
    """Every key of theirs has their value, and the bounds are equal to it, where no positive is missing for good."""
    samples = samples_of(seed, documents)
    if documents and "always_rerank_positives" in options:
        samples = [each | {"positive": [d for d in each["positive"] if d in each["documents"]]} for each in samples]
    theirs, ours = cross_encoders(samples, **options)
    expected, found = theirs(pairs_of(seed, samples, None)), ours(pairs_of(seed, samples, None))
    bounded = [key for key in expected if "base_" not in key]
    assert set(found) == {*expected, *(key + end for key in bounded for end in ("_lower", "_upper"))}
    assert (len(bounded), len(expected)) == (3, 6 if documents else 3)
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-12)
    assert widest(found, {key: expected[key] for key in bounded}) == 0
    assert ours.primary_metric == theirs.primary_metric + "_lower"


@pytest.mark.parametrize("documents", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_cross_encoder_around_theirs_with_ties(seed: int, documents: bool) -> None:
    """Their MRR is inside the bounds, their nDCG is the expectation; their AP is no mean over orders."""
    samples = samples_of(seed, documents)
    theirs, ours = cross_encoders(samples, at_k=3)
    expected, found = theirs(pairs_of(seed, samples, 3)), ours(pairs_of(seed, samples, 3))
    assert widest(found, {"mrr@3": expected["mrr@3"], "ndcg@3": expected["ndcg@3"], "map": found["map"]}) > 0
    assert found["ndcg@3"] == pytest.approx(expected["ndcg@3"], abs=1e-12)
    assert found["ndcg@3_lower"] < found["ndcg@3_upper"]


def test_their_average_precision_outside_the_bounds() -> None:
    samples = [{"query": "q", "positive": ["a", "b"], "negative": ["c"]}]
    model = Pairs({("q", "a"): 1, ("q", "b"): 1, ("q", "c"): 2})
    theirs, ours = (each(model) for each in cross_encoders(samples))
    assert theirs["map"] == pytest.approx(2 / 3)
    assert ours["map_lower"] == ours["map_upper"] == pytest.approx(7 / 12)


def test_a_sigmoid_that_saturates() -> None:
    """A real cross-encoder's `predict`: logits of 20 and 21 tie once a sigmoid in float32 has made both 1."""
    samples = [{"query": "q", "positive": ["a"], "negative": ["b"]}]

    class Saturated(Pairs):
        def predict(self, pairs: list[list[str]], **options: Any) -> Any:
            import torch

            logits = torch.tensor(super().predict(pairs, **options))
            return options.get("activation_fn", torch.nn.Sigmoid())(logits).numpy()

    model = Saturated({("q", "a"): 21.0, ("q", "b"): 20.0})
    assert cross_encoders(samples)[1](model)["mrr@10_lower"] == 0.5
    assert model.options.keys() == {"prompt_name", "batch_size", "convert_to_numpy", "show_progress_bar"}
    assert type(cross_encoders(samples)[1])(samples, scores="logits")(model)["mrr@10_lower"] == 1.0


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean", "manhattan"])
@pytest.mark.parametrize("seed", range(4))
def test_encoder_without_ties(seed: int, similarity: str, batched: bool) -> None:
    from sentence_transformers.util.similarity import SimilarityFunction

    samples = samples_of(seed, documents=False)
    options = {"similarity_fct": SimilarityFunction.to_similarity_fn(similarity), "use_batched_encoding": batched}
    theirs, ours = encoders(samples, name="x", at_k=3, **options)
    model = embeddings_of(seed, samples, ties=False)
    expected, found = theirs(model), ours(model)
    assert widest(found, expected, 1e-9) == 0
    assert ours.primary_metric == "x_ndcg@3_lower" in found
    assert model.calls == 2 * 2 * (1 if batched else len(samples))  # theirs and ours: queries, documents


@pytest.mark.parametrize("seed", range(8))
def test_encoder_around_theirs_with_ties(seed: int) -> None:
    """On a grid, where dot products are exact in float32; a function of one's own gives the same."""
    from sentence_transformers.util import dot_score

    samples = samples_of(seed, documents=False)
    model = embeddings_of(seed, samples, ties=True)
    theirs, ours = encoders(samples, at_k=3, similarity_fct=dot_score)
    expected, found = theirs(model), ours(model)
    assert widest(found, {"mrr@3": expected["mrr@3"]}) >= 0
    assert found["ndcg@3"] == pytest.approx(expected["ndcg@3"], abs=1e-12)
    assert found == encoders(samples, at_k=3, similarity_fct=lambda a, b: b @ a)[1](model)
    assert found == encoders(samples, at_k=3, similarity_fct=lambda a, b: (b @ a)[None])[1](model)
    if seed == 0:
        assert found["ndcg@3_lower"] < found["ndcg@3_upper"]


def test_files_and_what_is_kept(tmp_path: Path) -> None:
    samples = samples_of(3, documents=True)
    ours = cross_encoders(samples, at_k=3, name="x")[1]
    found = ours(pairs_of(3, samples, 2), output_path=str(tmp_path / "out"), epoch=2, steps=7)
    with (tmp_path / "out" / ours.csv_file).open(newline="") as file:
        (row,) = csv.DictReader(file)
    names = ["MAP", "MRR@3", "NDCG@3"]
    assert list(row) == ["epoch", "steps", *names, *(f"{n}{end}" for end in ("_lower", "_upper") for n in names)]
    assert (row["epoch"], row["steps"]) == ("2", "7")
    for name in names:
        for end in ("", "_lower", "_upper"):
            assert float(row[name + end]) == found[f"x_{name.lower()}{end}"]
    result = ours.results["x_mrr@3"]
    assert result.upper == found["x_mrr@3_upper"]
    assert result.per_query.lower.shape == (len(samples),)
    assert ours.report["MRR@3"].upper == result.upper


def test_model_card() -> None:
    """With a ranking before, each value has its difference, as theirs; the lower bound is there to select by."""
    samples = samples_of(3, documents=True)
    model = pairs_of(3, samples, None)
    theirs, ours = cross_encoders(samples)
    shown = {}
    for each in (theirs, ours):
        each(model)
        shown[each] = model.model_card_data.set_evaluation_metrics.call_args.args[1]
    assert shown[theirs].items() <= shown[ours].items()
    assert ours.primary_metric in shown[ours]


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
def test_what_is_refused(samples: list[Sample], options: dict[str, Any], scores: Any, text: str) -> None:
    kind = type(cross_encoders([GOOD])[1])
    with pytest.raises((ValueError, TypeError), match=text):
        kind(samples, **options)(Pairs(dict(zip([("q", "a"), ("q", "b")], scores, strict=False))))


@pytest.mark.parametrize("ties", ["exact", "bfloat16", "float64", Tolerance(2.0**-10)], ids=str)
def test_near_ties(ties: Any) -> None:
    """Scores of a cross-encoder, and of a function of one's own: 2^-11 above the other, too little for bfloat16."""
    cross = type(cross_encoders([GOOD])[1])([GOOD], ties=ties)(Pairs({("q", "a"): 0.5 + 2.0**-11, ("q", "b"): 0.5}))
    assert cross["mrr@10_lower"] == (1 if ties in ("exact", "float64") else 0.5)
    assert cross["mrr@10_upper"] == 1
    if ties != "float64":  # no type for similarities, which are real numbers
        scores = np.array([0.5 + 2.0**-11, 0.5])
        ours = type(encoders([GOOD])[1])([GOOD], similarity_fct=lambda a, b: scores, ties=ties)
        assert ours(embeddings_of(0, [GOOD], ties=True)) == {
            key: cross[key] if cross[key] == cross[key] else pytest.approx(cross[key], nan_ok=True) for key in cross
        }


@pytest.mark.parametrize("missing", [1, 2])
def test_positives_that_were_never_retrieved_count(missing: int) -> None:
    """One of two (or three) positives is among the candidates, and first: every order leaves the others unfound."""
    positive = ["good one", "good two", "good three"][: 1 + missing]
    samples = [{"query": "q", "positive": positive, "documents": ["bad a", "good one", "bad b"]}]
    model = Pairs({("q", "bad a"): 0, ("q", "good one"): 1, ("q", "bad b"): 0})
    ours = cross_encoders(samples, always_rerank_positives=False)[1]
    found = ours(model)
    ideal = sum(1 / np.log2(rank + 1) for rank in range(1, 2 + missing))
    for end in ("", "_lower", "_upper"):
        assert found[f"map{end}"] == 1 / (1 + missing)
        assert found[f"ndcg@10{end}"] == pytest.approx(1 / ideal, abs=1e-15)
        assert found[f"mrr@10{end}"] == 1
    assert (found["base_map"], found["base_mrr@10"]) == (1 / 2 / (1 + missing), 1 / 2)
    assert ours.report.profile.n_relevant.tolist() == [1 + missing]


@pytest.mark.parametrize("positive", [["x"], []])
def test_no_query_at_all_has_a_relevant_candidate(positive: list[str]) -> None:
    """All is 0, as in theirs; with the positives reranked, valid numbers remain next to a ranking before of 0."""
    samples = [{"query": "q", "positive": positive, "documents": ["a", "b"]}]
    theirs, ours = cross_encoders(samples, always_rerank_positives=False)
    model = Pairs({("q", "x"): 2, ("q", "a"): 1, ("q", "b"): 0})
    expected, found = theirs(model), ours(model)
    assert {*found.values()} == {*expected.values()} == {0.0}
    theirs, ours = cross_encoders(samples)
    expected, found = theirs(model), ours(model)
    assert {key: found[key] for key in expected} == expected
    assert found["map_lower"] == len(positive)


def test_nothing_to_find() -> None:
    """A query without a relevant candidate is not scored and counts 0, as in theirs."""
    samples = [
        {"query": "q", "positive": ["a"], "documents": ["b", "c"]},
        {"query": "r", "positive": ["a"], "documents": ["b", "a"]},
    ]
    model = Pairs({("r", "b"): 0, ("r", "a"): 1})
    theirs, ours = cross_encoders(samples, always_rerank_positives=False)
    expected, found = theirs(model), ours(model)
    assert found["mrr@10_lower"] == expected["mrr@10"] == 0.5
    assert {key: found[key] for key in expected} == pytest.approx(expected)
    assert ours(Pairs({("r", "b"): 1, ("r", "a"): 1}))["mrr@10_lower"] == 0.25
