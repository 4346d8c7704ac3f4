"""Constructed inputs: numbers and labels whose ties are known, because they were made so. Out go cases to call with.

`Embedded`, `Scored` and `OnePositive` make them, each for one form of arguments. Numbers without ties differ by so much
that rounding in float32 does not change their order: who evaluates them otherwise does not merely round.

    labels ──> rows: embeddings, or a square of scores ──> Case: the two arguments, in some order of the samples
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.analyses.orders import in_turns, random_orders, together
from deadheat.support.arrays import Array, Int64

_SIZES = (12, 9, 7, 6, 5, 5, 4, 3, 3, 2, 2, 2)  # of the classes of small inputs, uneven so that means differ


@dataclass(frozen=True, eq=False)
class Case:
    """One input, with its name as people read it."""

    name: str
    first: Array  # embeddings (n, dim), or scores (n_query, n_item)
    second: Array  # labels (n,), or relevance (n_query, n_item)
    common: bool = True  # every evaluator should take it: an error is serious


class Embedded:
    """Embeddings and labels."""

    empty_name = "all-zero embeddings"

    def case(self, name: str, rows: Array, labels: Array, order: Int64 | None = None) -> Case:
        """An input with the samples in an order."""
        order = np.arange(len(labels)) if order is None else order
        return Case(name, rows[order], labels[order])

    def distinct(self, labels: Int64, seed: int) -> Array:
        """Rows without ties, multiples of a power of two that float16 holds."""
        rng = np.random.default_rng([seed, 1])
        centres = rng.integers(-40, 41, (int(labels.max()) + 1, 8))
        return (centres[labels] + rng.integers(-60, 61, (len(labels), 8))).astype(np.float32)

    def far(self, labels: Int64, seed: int, gap: float = 5e-5) -> Array:
        """Rows of many samples without ties; neighbours in a ranking differ by no less than the gap.

        They are vectors of length one whose products are known: rows of a root of the matrix of products.
        """
        levels = _round_robin(len(labels), seed)
        products = gap * (levels - np.mean(levels)) + 0.0
        np.fill_diagonal(products, 1.0)
        values, vectors = np.linalg.eigh(products)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0)), dtype=np.float64 if gap < 1e-6 else np.float32)

    def all_distinct(self, rows: Array) -> Array:
        """The same without ties between rows either, where that can be."""
        return rows

    def coarse(self, labels: Int64, seed: int) -> Array:
        """Rows of few levels, so that many tie."""
        rng = np.random.default_rng([seed, 2])
        return rng.integers(-1, 2, (len(labels), 4)).astype(np.float32)

    def repeated(self, labels: Int64, seed: int) -> Array:
        """Rows of real numbers in float32 of which a fifth are copies of others."""
        rng = np.random.default_rng([seed, 3])
        return rng.normal(size=(len(labels), 64)).astype(np.float32)[_copies(len(labels), rng)]

    def empty(self, labels: Int64) -> Array:
        """Rows of a system that knows nothing: everything is tied."""
        return np.zeros((len(labels), 4), dtype=np.float32)


class Scored:
    """The same as scores and relevance; each sample asks for all others, in their order."""

    empty_name = "all scores equal"

    def case(self, name: str, rows: Array, labels: Array, order: Int64 | None = None) -> Case:
        order = np.arange(len(labels)) if order is None else order
        others = ~np.eye(len(labels), dtype=bool)
        shape = len(labels), len(labels) - 1
        square = np.ix_(order, order)
        return Case(name, rows[square][others].reshape(shape), self.relevant(labels)[square][others].reshape(shape))

    def relevant(self, labels: Array) -> Array:
        """Return what each sample asks for, as a square: its class."""
        return np.asarray(labels[:, None] == labels)

    def distinct(self, labels: Int64, seed: int) -> Array:
        rng = np.random.default_rng([seed, 4])
        liking = rng.normal(size=(len(labels), len(labels))) + 0.7 * (labels[:, None] == labels)
        ranks = np.argsort(np.argsort(liking, axis=1), axis=1)
        return (1 + 8 * ranks + rng.integers(0, 8, ranks.shape)) / 1024.0

    def far(self, labels: Int64, seed: int, gap: float = 5e-5) -> Array:
        return np.asarray(0.5 + gap * _round_robin(len(labels), seed))

    def all_distinct(self, rows: Array) -> Array:
        return np.asarray(rows + np.arange(len(rows))[:, None] * 2.0**-24)

    def coarse(self, labels: Int64, seed: int) -> Array:
        rng = np.random.default_rng([seed, 5])
        return rng.integers(0, 4, (len(labels), len(labels))) / 4.0

    def repeated(self, labels: Int64, seed: int) -> Array:
        rng = np.random.default_rng([seed, 6])
        scores = rng.uniform(size=(len(labels), len(labels))).astype(np.float32)
        return np.asarray(scores[:, _copies(len(labels), rng)])

    def empty(self, labels: Int64) -> Array:
        return np.full((len(labels), len(labels)), 0.5)  # not 0, which some take for "not retrieved"


class OnePositive(Scored):
    """The same with one relevant item a query, as rerankers and link prediction have it."""

    def relevant(self, labels: Array) -> Array:
        """Each sample asks for the first other sample of its class."""
        same = super().relevant(labels)
        np.fill_diagonal(same, False)
        return np.asarray(same & (np.cumsum(same, axis=1) == 1))


Maker = Embedded | Scored
MAKERS: dict[str, Maker] = {
    "embeddings": Embedded(), "scores": Scored(), "query": Scored(), "candidates": OnePositive(),
}  # fmt: skip


def small_labels() -> Int64:
    """Uneven classes in mixed order, none of a single sample."""
    labels = np.repeat(np.arange(len(_SIZES)), _SIZES)
    return labels[next(random_orders(len(labels), 1, seed=7))]


def orders(labels: Int64, draws: int, seed: int) -> dict[str, Int64]:
    """Orders of the samples, by what people call them; the first two are best and worst where everything ties."""
    codes = labels.astype(np.int32)
    by_class, interleaved = together(codes), in_turns(codes)
    first = interleaved[: len(labels) // 2]
    half = np.concatenate([first, by_class[~np.isin(by_class, first)]])
    shuffled = {f"shuffled {number + 1}": order for number, order in enumerate(random_orders(len(labels), draws, seed))}
    return {
        "sorted by class": by_class,
        "interleaved": interleaved,
        "half sorted": half,
        "half sorted, reversed": half[::-1],
        **shuffled,
    }


def same_relevant(n: int, n_relevant: int, *, first: bool) -> Case:
    """All scores zero, and the same few items relevant to every query: the first in the list, or the last."""
    relevant = np.zeros((8, n), dtype=bool)
    relevant[:, slice(None, n_relevant) if first else slice(n - n_relevant, None)] = True
    where = "first" if first else "last"
    return Case(f"all zero, relevant items {where}", np.zeros(relevant.shape), relevant)


def _round_robin(n: int, seed: int) -> Array:
    """A symmetric square of levels in which no row has one twice, but on the diagonal: the rounds of a tournament."""
    rounds = n - 1 + n % 2  # an odd number; with n even, the last player meets the one that would meet itself
    at = np.arange(n)
    table = (at[:, None] + at) % rounds
    if n % 2 == 0:
        table[-1] = table[:, -1] = 2 * at % rounds
    rng = np.random.default_rng([seed, 8])
    who, levels = rng.permutation(n), rng.permutation(rounds)
    return np.asarray(levels[table][np.ix_(who, who)], dtype=np.float64)


def _copies(n: int, rng: np.random.Generator) -> Int64:
    """The rows to take so that a fifth of them are copies of the others."""
    source = np.arange(n)
    copies = rng.choice(n, n // 5, replace=False)
    source[copies] = rng.choice(np.setdiff1d(source, copies), len(copies))
    return source
