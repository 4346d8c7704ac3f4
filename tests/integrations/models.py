"""Models of sentence-transformers that look up what they return, and remember how they were called."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import numpy as np


class Encoder:
    """An encoder whose embeddings are given by text."""

    prompts: dict[str, str] = {}  # noqa: RUF012

    def __init__(self, embeddings: dict[str, Any], similarity: str = "cosine") -> None:
        from sentence_transformers import SparseEncoder
        from sentence_transformers.util.similarity import SimilarityFunction

        self.embeddings, self.similarity_fn_name = embeddings, similarity
        self.similarity = SimilarityFunction.to_similarity_fn(similarity)
        self.sparsity, self.model_card_data = SparseEncoder.sparsity, Mock()
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def encode(self, kind: str, texts: list[str], **options: Any) -> Any:
        import torch

        self.asked.append((kind, options))
        return torch.stack([self.embeddings[text] for text in texts])[:, : options.get("truncate_dim")]

    def encode_query(self, texts: list[str], **options: Any) -> Any:
        return self.encode("query", texts, **options)

    def encode_document(self, texts: list[str], **options: Any) -> Any:
        return self.encode("document", texts, **options)


class Sparse(Encoder):
    """A sparse encoder."""

    def encode(self, kind: str, texts: list[str], **options: Any) -> Any:
        return super().encode(kind, texts).to_sparse()


class Tokens(Encoder):
    """A multi-vector encoder, of the vectors of the tokens of each text."""

    def encode(self, kind: str, texts: list[str], **options: Any) -> Any:
        return [self.embeddings[text] for text in texts]


class Pairs:
    """A cross-encoder whose scores are given by pair."""

    def __init__(self, scores: dict[tuple[str, str], float]) -> None:
        self.scores, self.model_card_data = scores, Mock()
        self.options: dict[str, Any] = {}

    def predict(self, pairs: list[list[str]], **options: Any) -> Any:
        self.options = options
        return np.array([self.scores[query, document] for query, document in pairs], dtype=np.float32)
