"""Embeddings full of real ties, or of distances closer than float64 can tell: where an exact evaluator can be slow.

A kind is a function of (labels, dim, rng) that gives rows (n, dim). `NAMED` are kinds that people have, `ADVERSARIAL`
ones are made to hurt. Recorded bits hang on these rows, so they come from operations that round in one way everywhere:
no `np.exp`, whose last bit depends on the processor, and no `np.sum`, whose order may.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array = NDArray[Any]
Kind = Callable[[Array, int, np.random.Generator], Array]

_SINGLE, _DOUBLE = np.float32, np.float64
_TINY = 1e-6  # noise of a collapse, next to features of size 1
_SQUARINGS = 10  # e^x is (1 + x/1024)^1024 closely enough for data


def _normal(labels: Array, dim: int, rng: np.random.Generator, kind: DTypeLike = _SINGLE) -> Array:
    return np.asarray(rng.standard_normal((len(labels), dim), dtype=kind))


def _exp(values: Array) -> Array:
    power = 1 + values / 2**_SQUARINGS
    for _ in range(_SQUARINGS):
        power = power * power
    return power


def _log(values: Array) -> Array:
    root = values
    for _ in range(_SQUARINGS):
        root = np.sqrt(root)
    return (root - 1) * 2**_SQUARINGS


def _sums(rows: Array) -> Array:
    """The sum of each row, (n, 1), added from left to right."""
    return np.asarray(np.cumsum(rows, axis=1)[:, -1:])


def _over_norms(rows: Array) -> Array:
    """Rows over their norms; zero rows stay."""
    norms = np.sqrt(_sums(rows * rows))
    return np.asarray(rows / np.where(norms == 0, 1, norms))


def random_float64(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Return what float64 kinds are compared with."""
    return _normal(labels, dim, rng, _DOUBLE)


def random_bits(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Return what codes of `dim` bits are compared with, eight in a byte."""
    return rng.integers(0, 256, (len(labels), dim // 8), dtype=np.uint8)


def _powers(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    logits = 30 * _normal(labels, dim, rng, _DOUBLE)
    return _exp(logits - logits.max(axis=1, keepdims=True))


def _softmax(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Probabilities of a confident classifier in float64: nearly one-hot, and never quite."""
    powers = _powers(labels, dim, rng)
    return np.asarray(powers / _sums(powers))


def _softmax_single(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """The same in float32, as a network gives them."""
    powers = _powers(labels, dim, rng).astype(_SINGLE)
    return np.asarray(powers / _sums(powers))


def _collapsed(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """A training run gone wrong: every item at one point but for noise."""
    return np.asarray(_normal(labels[:1], dim, rng) + _SINGLE(_TINY) * _normal(labels, dim, rng))


def _clusters(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Neural collapse: every item at its class's point but for noise."""
    centres = rng.standard_normal((int(labels.max()) + 1, dim), dtype=_SINGLE)[labels]
    return np.asarray(centres + _SINGLE(_TINY) * _normal(labels, dim, rng))


def _near_duplicates(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """A set augmented by copies: few distinct rows, again and again with noise behind float32's digits."""
    distinct = rng.standard_normal((max(2, len(labels) * 1164 // 20_000), dim), dtype=_SINGLE)
    copies = distinct[rng.integers(0, len(distinct), len(labels))]
    return np.asarray(copies + _SINGLE(_TINY) * _normal(labels, dim, rng))


def _weighted_terms(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Bags of words: few terms a text, frequent ones first, weighted by how rare they are."""
    present = rng.random((len(labels), dim)) < np.minimum(0.3, 1 / np.arange(2, dim + 2))
    counts = present * rng.choice([1, 1, 1, 1, 2, 2, 3, 5], present.shape)
    rarity = _log((1 + len(labels)) / (1 + np.count_nonzero(present, axis=0))) + 1
    return np.asarray(counts * rarity)


def _tf_idf(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Return what scikit-learn's TfidfVectorizer gives: weighted terms over their norm."""
    return _over_norms(_weighted_terms(labels, dim, rng))


def _sparse(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Sparse codes and hashed features: one number in twenty-five is there, with either sign."""
    there = rng.random((len(labels), dim)) < max(0.04, 3 / dim)
    return np.where(there, _normal(labels, dim, rng), _SINGLE(0))


def _counts(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Small counts, few in a row and at least one."""
    counts = rng.integers(1, 4, (len(labels), dim)) * (rng.random((len(labels), dim)) < max(0.08, 3 / dim))
    counts[:, 0] += 1
    return counts


def _counts_over_sums(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Histograms: colours of an image, visual words, bases of a genome."""
    counts = _counts(labels, dim, rng)
    return np.asarray(counts / _sums(counts))


def _counts_over_norms(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Term counts over their norm, and histograms prepared for cosines."""
    return _over_norms(_counts(labels, dim, rng))


def _two_valued(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Binary codes after standardisation or batch normalisation: two floats, neither of them 0 or ±1."""
    return np.where(rng.random((len(labels), dim)) < 0.5, _SINGLE(-0.7310586), _SINGLE(1.3678794))


def _one_hot(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Categories, weighted: one number a row, of a few sizes."""
    rows = np.zeros((len(labels), dim), dtype=_SINGLE)
    scales = rng.choice(np.array([0.1, 1 / 3, 0.7, 1, 2.3], dtype=_SINGLE), len(labels))
    rows[np.arange(len(labels)), rng.integers(0, dim, len(labels))] = scales
    return rows


def _decimals(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Ratings, measurements, tables printed with one decimal and read again."""
    return np.asarray(np.rint(10 * _normal(labels, dim, rng, _DOUBLE)) / 10)


def _decimals_single(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """The same, kept in float32."""
    return _decimals(labels, dim, rng).astype(_SINGLE)


def _offset(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Coordinates in metres on a map, prices, sensor values: a million, and what matters behind it."""
    return np.asarray(1e6 + _normal(labels, dim, rng, _DOUBLE))


def _offset_single(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """The same in float32, where a step is 1/16."""
    return _offset(labels, dim, rng).astype(_SINGLE)


def _time_stamps(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """A column that should not be there: seconds since 1970, within one year, next to ordinary features."""
    rows = _normal(labels, dim, rng, _DOUBLE)
    rows[:, 0] = 1_700_000_000 + rng.integers(0, 365 * 86_400, len(labels))
    return rows


def _ulps(labels: Array, dim: int, rng: np.random.Generator, kind: DTypeLike) -> Array:
    point = _normal(labels[:1], dim, rng, kind)
    steps = rng.integers(-3, 4, (len(labels), dim)).astype(kind)
    return np.asarray(point + steps * np.spacing(point))


def _ulps_single(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """One item embedded again and again, in batches of other sizes: rows differ in the last bits alone."""
    return _ulps(labels, dim, rng, _SINGLE)


def _ulps_double(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """The same in float64, where no product in float64 distinguishes them."""
    return _ulps(labels, dim, rng, _DOUBLE)


def _decided(labels: Array, dim: int, rng: np.random.Generator, scale: float) -> Array:
    """The logistic function of large numbers: 1, nothing, or rarely something between."""
    return np.asarray(1 / (1 + _exp(np.clip(scale * _normal(labels, dim, rng, _DOUBLE), -200, 200))))


def _sigmoid(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Sigmoid units driven far too hard (PHOCNet's are): exactly 1 or 0 but for a few."""
    return _decided(labels, dim, rng, 1000).astype(_SINGLE)


def _tanh(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Units of a hashing network: exactly ±1 but for a few."""
    return (2 * _decided(labels, dim, rng, 600) - 1).astype(_SINGLE)


def _octaves(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Rows that nobody normalised, with norms between 2^-60 and 2^60."""
    return np.ldexp(_normal(labels, dim, rng), rng.integers(-60, 61, (len(labels), 1)).astype(np.int32))


def _exponents(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Numbers between 1e-300 and 1e300 in one row."""
    rows = _normal(labels, dim, rng, _DOUBLE)
    return np.ldexp(rows, rng.integers(-996, 997, rows.shape).astype(np.int32))


def _permuted(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Permutations of one row: the same norm everywhere, and scores of the same products in another order."""
    return rng.permuted(np.repeat(_normal(labels[:1], dim, rng), len(labels), axis=0), axis=1)


def _permuted_thirds(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Permutations of one row of three values: the same norm, and real ties between rows that differ."""
    row = np.resize(rng.standard_normal(3, dtype=_SINGLE), dim)
    return rng.permuted(np.repeat(row[None], len(labels), axis=0), axis=1)


def _subnormal(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Numbers below 2^-1022, which a process that flushes them takes for 0."""
    return np.asarray(1e-310 * _normal(labels, dim, rng, _DOUBLE))


def _subnormal_single(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Numbers below 2^-126 in float32."""
    return (1e-40 * _normal(labels, dim, rng, _DOUBLE)).astype(_SINGLE)


def _ends(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Ones next to numbers of both ends of float64's range: ties of sums whose terms lie a thousand bits apart."""
    return rng.choice(np.array([0, 1, -1, 1e-300, 1e300]), (len(labels), dim))


def _last_bits(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Numbers 1 or 2^-60, some of them one bit less: sums that differ behind double-double of float64."""
    return np.asarray(rng.choice([1, 1 - 2.0**-53], (len(labels), dim)) * rng.choice([1, 2.0**-60], (len(labels), dim)))


GIANT, HALVES, NINE_TENTHS, JUNK = "one giant class", "two classes", "90 % in one class", "dense junk"
"""Random rows with labels of `CLASSES`; and with a mask of `dense_junk`."""
TIED_HALVES = "integers from −2 to 2 in two classes"

NAMED: dict[str, Kind] = {
    "float64 softmax": _softmax,
    "float32 softmax": _softmax_single,
    "collapsed": _collapsed,
    "1e-6 clusters": _clusters,
    "near duplicates": _near_duplicates,
    "tf-idf": _tf_idf,
    "tf-idf without norms": _weighted_terms,
    "sparse": _sparse,
    "counts over sums": _counts_over_sums,
    "counts over norms": _counts_over_norms,
    "two-valued": _two_valued,
    "scaled one-hot": _one_hot,
    "one decimal": _decimals,
    "one decimal float32": _decimals_single,
    "offset": _offset,
    "offset float32": _offset_single,
    "time stamps": _time_stamps,
    "an ulp apart": _ulps_single,
    "an ulp apart float64": _ulps_double,
    "saturated sigmoid": _sigmoid,
    "saturated tanh": _tanh,
    "norms over octaves": _octaves,
    GIANT: _normal,
    JUNK: _normal,
}
ADVERSARIAL: dict[str, Kind] = {
    "exponents within rows": _exponents,
    "permuted rows": _permuted,
    "permuted three values": _permuted_thirds,
    "subnormal": _subnormal,
    "subnormal float32": _subnormal_single,
    "both ends of the range": _ends,
    "last bits": _last_bits,
}


CLASSES: dict[str, Callable[[Array], Array]] = {
    GIANT: lambda labels: np.minimum(labels, 1 + int(labels.max()) // 50),
    HALVES: lambda labels: labels % 2,
    TIED_HALVES: lambda labels: labels % 2,
    NINE_TENTHS: lambda labels: np.minimum(labels, (int(labels.max()) + 1) // 10),
}
"""Functions from labels of many classes to labels of few; the first leaves one class in fifty as it is."""


def dense_junk(n: int, rng: np.random.Generator) -> Array:
    """A mask of pairs, (n, n), of which half are junk."""
    return rng.integers(0, 2, (n, n), dtype=np.uint8).astype(bool)
