"""The scores of an encoder that maps everything to one point: twenty documents, one of them relevant.

Libraries that break ties by document id say 1 or 0, by the name of the relevant document, and not the same.

    pip install "deadheat[sentence-transformers]" pytrec-eval-terrier
"""

from __future__ import annotations

import numpy as np
import pytrec_eval
import torch
from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
from sentence_transformers.util.similarity import cos_sim
from tabulate import tabulate

import deadheat as dh

QUERY, DOCUMENTS = "q", [f"d{i:02}" for i in range(20)]


class Constant:
    """A constant model, with all that the evaluator of sentence-transformers needs."""

    similarity_fn_name = "cosine"
    model_card_data = type("Card", (), {"set_evaluation_metrics": lambda *_: None})()

    def similarity(self, queries: torch.Tensor, documents: torch.Tensor) -> torch.Tensor:
        return cos_sim(queries, documents)

    def encode_query(self, texts: list[str], **_: object) -> torch.Tensor:
        return torch.ones(len(texts), 4)

    encode_document = encode_query


def row(title: str, relevant: str) -> list[str]:
    """nDCG@10 in three libraries if this document is the relevant one."""
    texts = {document: document for document in DOCUMENTS}
    theirs = InformationRetrievalEvaluator({QUERY: "?"}, texts, {QUERY: {relevant}})(Constant())["cosine_ndcg@10"]
    qrels = {QUERY: {relevant: 1}}
    run = {QUERY: dict.fromkeys(DOCUMENTS, 1.0)}
    trec = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(run)[QUERY]["ndcg_cut_10"]
    ones = np.ones((len(DOCUMENTS), 4))
    ours = dh.evaluate(dh.from_judged(ones[:1], ones, qrels, [QUERY], DOCUMENTS), "nDCG@10")["nDCG@10"]
    return [title, f"{theirs:.1f}", f"{trec:.1f}", f"{ours.expected:.3f} in [{ours.lower:.0f}, {ours.upper:.0f}]"]


def main() -> None:
    rows = [row("lowest id", DOCUMENTS[0]), row("highest id", DOCUMENTS[-1])]
    headers = ["relevant document", "sentence-transformers", "pytrec_eval, so MTEB and BEIR", "deadheat"]
    print(tabulate(rows, headers, tablefmt="github", disable_numparse=True))


if __name__ == "__main__":
    main()
