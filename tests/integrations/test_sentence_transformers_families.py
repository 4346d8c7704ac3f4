"""Evaluators of sparse and multi-vector encoders against those that they take after, and against MaxSim by hand."""

from __future__ import annotations

import csv
from fractions import Fraction
from functools import partialmethod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from integrations.needs import needs, widest
from integrations.test_sentence_transformers import CUTOFFS, Stub, case

from deadheat import Tolerance

pytestmark = [
    needs("sentence_transformers"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # theirs, of Transformers and SWIG
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state", "ignore:Sparse invariant checks"),
]

ENDS = "", "_lower", "_upper"


class SparseStub(Stub):
    """A sparse encoder that looks embeddings up."""

    def __init__(self, embeddings: dict[str, Any], similarity: str = "dot") -> None:
        from sentence_transformers import SparseEncoder

        super().__init__(embeddings, similarity)
        self.sparsity = SparseEncoder.sparsity

    def encode(self, kind: str, texts: list[str], **options: Any) -> Any:
        import torch

        assert options["convert_to_sparse_tensor"]
        return torch.stack([self.embeddings[text] for text in texts]).to_sparse()

    encode_query, encode_document = partialmethod(encode, "query"), partialmethod(encode, "document")


class TokensStub(Stub):
    """A multi-vector encoder that looks the vectors of tokens up."""

    prompts: dict[str, str] = {}  # noqa: RUF012

    def encode(self, kind: str, texts: list[str], **options: Any) -> Any:
        return [self.embeddings[text] for text in texts]

    encode_query, encode_document = partialmethod(encode, "query"), partialmethod(encode, "document")


def sparse_evaluators(*asked: Any, **options: Any) -> tuple[Any, Any]:
    from sentence_transformers.sparse_encoder.evaluation import SparseInformationRetrievalEvaluator as Theirs

    from deadheat.integrations.sentence_transformers import TieAwareSparseInformationRetrievalEvaluator as Ours

    return Theirs(*asked, **CUTOFFS, **options), Ours(*asked, **CUTOFFS, **options)


def token_evaluators(*asked: Any, **options: Any) -> tuple[Any, Any]:
    from sentence_transformers.multi_vector_encoder.evaluation import MultiVectorInformationRetrievalEvaluator as Theirs

    from deadheat.integrations.sentence_transformers import TieAwareMultiVectorInformationRetrievalEvaluator as Ours

    return Theirs(*asked, **CUTOFFS, **options), Ours(*asked, **CUTOFFS, **options)


def tokens(seed: int, ties: bool) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Queries, corpus, relevant documents, and for each text the vectors of one to four tokens."""
    import torch

    queries, corpus, relevant, _ = case(seed, ties)
    rng = np.random.default_rng(seed)
    embeddings = {}
    for text in (*queries.values(), *corpus.values()):
        shape = int(rng.integers(1, 5)), 2 if ties else 16
        values = rng.integers(1, 3, shape) if ties else rng.normal(size=shape)
        embeddings[text] = torch.tensor(values, dtype=torch.float32)
    return queries, corpus, relevant, embeddings


@pytest.mark.parametrize("similarity", ["dot", "cosine", "euclidean", "manhattan"])
@pytest.mark.parametrize("seed", range(3))
def test_sparse_equal_without_ties(seed: int, similarity: str) -> None:
    import torch

    *asked, embeddings = case(seed, ties=False)
    embeddings = {text: torch.where(row > -0.5, row, 0) for text, row in embeddings.items()}
    theirs, ours = sparse_evaluators(*asked, name="x", corpus_chunk_size=7, max_active_dims=9)
    expected, found = theirs(SparseStub(embeddings, similarity)), ours(SparseStub(embeddings, similarity))
    plain = {f"x_{key}": value for key, value in theirs.sparsity_stats.items()}  # which no ranking has a part in
    assert len(plain) == 5
    ranked = {key: value for key, value in expected.items() if key not in plain}
    assert set(found) == {*plain, *(key + end for key in ranked for end in ENDS)}
    assert {key: found[key] for key in plain} == pytest.approx(plain)
    assert widest(found, ranked, 1e-6) == 0
    assert ours.primary_metric == f"x_{similarity}_ndcg@10_lower"


@pytest.mark.parametrize("similarity", ["dot", "cosine", "euclidean", "manhattan"])
def test_sparse_ties_are_those_of_dense_embeddings(similarity: str) -> None:
    from deadheat.integrations.sentence_transformers import TieAwareInformationRetrievalEvaluator

    for seed in range(4):
        *asked, embeddings = case(seed, ties=True)
        dense = TieAwareInformationRetrievalEvaluator(*asked, **CUTOFFS)(Stub(embeddings, similarity))
        found = sparse_evaluators(*asked, corpus_chunk_size=5)[1](SparseStub(embeddings, similarity))
        assert {key: found[key] for key in dense} == dense


def test_multiples_of_one_sparse_vector_tie() -> None:
    """They do as real numbers, under cosine, and not in float32; theirs and a function of one's own round."""
    import torch
    from sentence_transformers.util.similarity import cos_sim

    corpus = {f"d{i:02}": str(i) for i in range(20)}
    rows = {text: (int(text) + 1) * torch.tensor([1.0, 0.0, 2.0, 3.0, 0.0, 7.0]) for text in corpus.values()}
    model = SparseStub(rows | {"query": torch.tensor([1.0, 0.0, 3.0, 2.0, 1.0, 1.0])}, "cosine")
    for functions, both in ((None, True), ({"cosine": lambda a, b: cos_sim(a, b)}, False)):
        found = sparse_evaluators({"q": "query"}, corpus, {"q": {"d19"}}, score_functions=functions)[1](model)
        assert (found["cosine_ndcg@10_upper"] - found["cosine_ndcg@10_lower"] == 1) is both


def test_sparse_file_and_given_embeddings(tmp_path: Path) -> None:
    *asked, embeddings = case(6, ties=True)
    theirs, ours = sparse_evaluators(*asked, name="x")
    theirs(SparseStub(embeddings), str(tmp_path / "theirs"), 1, 20)
    found = ours(SparseStub(embeddings), str(tmp_path / "ours"), 1, 20)
    lines = [(tmp_path / who / theirs.csv_file).read_text().splitlines() for who in ("theirs", "ours")]
    expected, row = (next(csv.DictReader(each)) for each in lines)
    assert list(row)[: len(expected)] == list(expected)
    assert {key: row[key] for key in theirs.sparsity_stats} == {key: expected[key] for key in theirs.sparsity_stats}
    assert float(row["dot-NDCG@10_upper"]) == found["x_dot_ndcg@10_upper"]
    model = SparseStub(embeddings)
    given = model.encode_document([*asked[1].values()], convert_to_sparse_tensor=True)
    assert ours(model, corpus_embeddings=given) == found


@pytest.mark.parametrize("similarity", ["maxsim", "meanmaxsim"])
@pytest.mark.parametrize("seed", range(3))
def test_tokens_equal_without_ties(seed: int, similarity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from deadheat.integrations import sentence_transformers

    *asked, embeddings = tokens(seed, ties=False)
    monkeypatch.setattr(sentence_transformers, "_BLOCK_SCORES", 3 * len(asked[1]))  # three queries at a time
    theirs, ours = token_evaluators(*asked, name="x", corpus_chunk_size=7, chunk_elements=1000)
    expected, found = (each(TokensStub(embeddings, similarity)) for each in (theirs, ours))
    assert set(found) == {key + end for key in expected for end in ENDS}
    assert widest(found, expected, 1e-6) == 0
    assert ours.primary_metric == f"x_{similarity}_ndcg@10_lower"


@pytest.mark.parametrize("seed", range(4))
def test_tokens_with_ties(seed: int) -> None:
    """MaxSim of whole numbers by hand: the share of relevant documents among those with the highest score."""
    queries, corpus, relevant, embeddings = tokens(seed, ties=True)
    numbers = {text: rows.int().tolist() for text, rows in embeddings.items()}
    hits = []
    for query in (query for query in queries if relevant[query]):
        scores = {
            name: sum(
                max(sum(a * b for a, b in zip(one, other, strict=True)) for other in numbers[text])
                for one in numbers[queries[query]]
            )
            for name, text in corpus.items()
        }
        first = [name in relevant[query] for name in corpus if scores[name] == max(scores.values())]
        hits.append((Fraction(all(first)), Fraction(sum(first), len(first)), Fraction(any(first))))
    found = token_evaluators(queries, corpus, relevant, corpus_chunk_size=4)[1](TokensStub(embeddings, "maxsim"))
    for end, values in zip(("_lower", "", "_upper"), zip(*hits, strict=True), strict=True):
        assert found[f"maxsim_accuracy@1{end}"] == pytest.approx(float(sum(values) / len(hits)))
    assert any(lower < upper for lower, _, upper in hits)


def test_predictions_are_theirs(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", "6.2", "before 6.2 the original cannot slice sparse embeddings")
    for name, stub, both, (*asked, embeddings) in (
        ("dot", SparseStub, sparse_evaluators, case(7, ties=False)),
        ("maxsim", TokensStub, token_evaluators, tokens(7, ties=False)),
    ):
        written = []
        for who, each in zip(
            ("theirs", "ours"), both(*asked, write_predictions=True, corpus_chunk_size=9), strict=True
        ):
            each(stub(embeddings, name), str(tmp_path / who))
            written.append((tmp_path / who / each.predictions_file.replace(".jsonl", f"_{name}.jsonl")).read_text())
        assert written[0] == written[1]


def test_ties_of_maxsim_are_about_its_scores() -> None:
    """Whole numbers, which float16 holds, and a tolerance that joins them all."""
    *asked, embeddings = tokens(0, ties=True)
    ours = token_evaluators(*asked)[1]
    exact, rounded, joined = (
        type(ours)(*asked, ties=ties)(TokensStub(embeddings, "maxsim")) for ties in ("exact", "fp16", Tolerance(2000))
    )
    assert {key: exact[key] for key in exact if "@" in key} == {key: rounded[key] for key in exact if "@" in key}
    assert joined["maxsim_accuracy@1_lower"] == 0 < exact["maxsim_accuracy@1_upper"] < joined["maxsim_accuracy@1_upper"]


def test_refused() -> None:
    *asked, embeddings = tokens(0, ties=True)
    ours = token_evaluators(*asked)[1]
    with pytest.raises(ValueError, match="truncate_dim is not supported"):
        type(ours)(*asked, truncate_dim=2)
    nothing = {text: rows * float("nan") for text, rows in embeddings.items()}
    with pytest.raises(ValueError, match="scores must be finite, but holds nan in row 0, column 0"):
        ours(TokensStub(nothing, "maxsim"))


@pytest.mark.parametrize("name", ["Sparse", "MultiVector"])
def test_nano_beir_of_a_family(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The class of its evaluators is ours: it averages the bounds, too."""
    from sentence_transformers.multi_vector_encoder.evaluation import MultiVectorNanoBEIREvaluator
    from sentence_transformers.sparse_encoder.evaluation import SparseNanoBEIREvaluator

    theirs: Any
    if name == "Sparse":
        theirs, (queries, corpus, relevant, embeddings) = SparseNanoBEIREvaluator, case(3, ties=True)
        score, model, ours = "dot", SparseStub(embeddings), sparse_evaluators(queries, corpus, relevant)[1]
    else:
        theirs, (queries, corpus, relevant, embeddings) = MultiVectorNanoBEIREvaluator, tokens(3, ties=True)
        score, model = "maxsim", TokensStub(embeddings, "maxsim")
        ours = token_evaluators(queries, corpus, relevant)[1]
    data = {
        "queries": [{"_id": each, "text": text} for each, text in queries.items()],
        "corpus": [{"_id": each, "text": text} for each, text in corpus.items()],
        "qrels": [{"query-id": query, "corpus-id": each} for query in queries for each in relevant[query]],
    }
    monkeypatch.setattr(
        theirs, "_load_dataset_subset_split", lambda self, subset, split, required_columns: data[subset]
    )
    monkeypatch.setattr(theirs, "information_retrieval_class", type(ours))
    found, alone = theirs(["msmarco", "nq"])(model), ours(model)
    for end in ENDS:
        assert found[f"NanoBEIR_mean_{score}_ndcg@10{end}"] == pytest.approx(alone[f"{score}_ndcg@10{end}"])
    assert alone[f"{score}_ndcg@10_lower"] < alone[f"{score}_ndcg@10_upper"]
