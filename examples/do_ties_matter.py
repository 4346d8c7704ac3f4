"""Do ties matter to me? Five kinds of scores, as a plain sort prints them and with their bounds: the README's table.

    python examples/do_ties_matter.py

Everything is scikit-learn's digits or drawn here, so nothing is downloaded. A plain sort is NumPy's stable one, which
leaves items with equal scores in the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

import deadheat as dh


class Case(NamedTuple):
    """A row of the table: what is scored, the value that a plain sort gives, and what all orders of the ties give."""

    title: str
    plain: float
    result: dh.Result

    def cells(self) -> tuple[str, str, str, str, str]:
        name, _, values = self.result.summary().removesuffix(" %").partition(" ")
        points = 100 * (self.result.upper - self.result.lower)
        if points >= 0.1:
            return self.title, f"yes, {points:.1f} points", name, f"{100 * self.plain:.2f}", values
        low, high = (f"{100 * end:.2f}" for end in self.result.interval().lower)
        verdict = f"no: the same bits everywhere; 95 % interval over the queries [{low}, {high}]"
        return self.title, verdict, name, f"{100 * self.plain:.2f}", values


def cases() -> Iterator[Case]:
    """Digits are 32 random projections of each image, in integers that are exact on any machine, or its pixels."""
    images, labels = load_digits(return_X_y=True)
    order = np.argsort(labels, kind="stable")  # class by class, as many files are
    pixels, labels = images[order].astype(np.int64), labels[order]
    directions = np.random.default_rng(0).integers(-8, 9, (pixels.shape[1], 32))
    projected = (len(pixels) * pixels - pixels.sum(axis=0)) @ directions
    yield of_bits("32-bit hash codes", projected > 0, labels)
    yield of_bits("binary embeddings, 64 bits", pixels > 8, labels)
    yield reranker()
    yield bm25()
    rows = (projected / np.sqrt((projected**2).sum(axis=1, keepdims=True))).astype(np.float32)
    parts = rows[::2], labels[::2], rows[1::2], labels[1::2]
    plain = plain_map(parts[0] @ parts[2].T, *parts[1::2])
    yield Case("an ordinary float32 embedding, 899 queries", plain, dh.evaluate(*parts, measures="mAP")["mAP"])


def of_bits(title: str, bits: NDArray[np.bool_], labels: NDArray[np.int64]) -> Case:
    equal = np.count_nonzero(bits[:, None] == bits, axis=2)
    np.fill_diagonal(equal, -1)
    return Case(
        title,
        plain_map(equal, labels, labels, own=1),
        dh.evaluate(bits, labels, distance="hamming", measures="mAP")["mAP"],
    )


def reranker_scores(n_query: int = 1000, n_candidate: int = 100) -> NDArray[np.float32]:
    """Probabilities near 1 in bfloat16; the first candidate of each list is the positive one."""
    logits = np.random.default_rng(0).normal(3, 1.2, (n_query, n_candidate))
    logits[:, 0] += 2.5
    return bfloat16(1 / (1 + np.exp(-logits)))


def reranker() -> Case:
    scores = reranker_scores()
    relevant = np.zeros(scores.shape, bool)
    relevant[:, 0] = True
    ranks = [1 + row.tolist().index(0) for row in by_stable_sort(scores)]
    plain = float(np.mean([1 / rank if rank <= 10 else 0 for rank in ranks]))
    result = dh.evaluate(dh.from_scores(scores, relevant), "MRR@10")["MRR@10"]
    return Case("a reranker in bfloat16, positives listed first", plain, result)


def bm25(n_document: int = 2000, n_topic: int = 100, n_word: int = 3000, k: float = 0.9, b: float = 0.4) -> Case:
    """Documents of common words and some of their topic's; a query is two words of a topic. One decimal."""
    rng = np.random.default_rng(0)
    common = 1 / np.arange(1, n_word + 1)
    topic_of = rng.integers(0, n_topic, n_document)
    words_of = [rng.choice(np.arange(50, n_word), 12, replace=False) for _ in range(n_topic)]
    counts = np.zeros((n_document, n_word), np.int64)
    for document, topic in enumerate(topic_of):
        n = rng.integers(20, 60)
        own = rng.random(n) < 0.12
        drawn = np.where(own, rng.choice(words_of[topic], n), rng.choice(n_word, n, p=common / common.sum()))
        np.add.at(counts[document], drawn, 1)
    length, found_in = counts.sum(axis=1), np.count_nonzero(counts, axis=0)
    rarity = np.log1p((n_document - found_in + 0.5) / (found_in + 0.5))
    weights = rarity * counts / (counts + k * (1 - b + b * length / length.mean())[:, None])
    queries = [rng.choice(words, 2, replace=False) for words in words_of]
    scores = np.stack([weights[:, query].sum(axis=1) for query in queries]).round(1)
    relevant = np.equal.outer(np.arange(n_topic), topic_of)
    result = dh.evaluate(dh.from_scores(scores, relevant), "nDCG@10")["nDCG@10"]
    return Case("BM25 with one decimal", plain_ndcg(scores, relevant, 10), result)


def bfloat16(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Round to eight bits of significand, ties to even."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)


# What a program without bounds computes


def by_stable_sort(scores: NDArray[np.generic]) -> NDArray[np.int64]:
    """Rankings, the highest score first."""
    return np.argsort(-scores, axis=1, kind="stable")


def plain_map(
    scores: NDArray[np.generic], labels: NDArray[np.int64], gallery: NDArray[np.int64], own: int = 0
) -> float:
    """mAP: rank, look up, average. The last `own` of each ranking is the query itself."""
    values = []
    for label, ranking in zip(labels, by_stable_sort(scores), strict=True):
        ranks = 1 + np.flatnonzero(gallery[ranking[: len(ranking) - own]] == label)
        values.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
    return float(np.mean(values))


def plain_ndcg(scores: NDArray[np.float64], relevant: NDArray[np.bool_], k: int) -> float:
    gains = np.take_along_axis(relevant, by_stable_sort(scores), axis=1)[:, :k]
    discounts = 1 / np.log2(np.arange(2, k + 2))
    best = np.array([discounts[:n].sum() for n in relevant.sum(axis=1)])
    return float(np.mean(gains @ discounts / best))


def main() -> None:
    print("| your scores | do ties matter? | measure | a plain sort prints | expected [lower, upper] |")
    print("|---|---|---|--:|--:|")
    for case in cases():
        print(f"| {' | '.join(case.cells())} |")


if __name__ == "__main__":
    main()
