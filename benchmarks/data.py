"""The embeddings and labels of each case: generated and seeded, but for one set of real ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import cliffs
from benchmarks.cases import Case

Array = NDArray[Any]

_NOISE = np.float32(1e-6)  # of near-saturated data, as a share of the features' standard deviation


class Unavailable(Exception):
    """A case cannot be measured here; the message says what is missing."""


@dataclass(frozen=True)
class Arrays:
    """Arguments of `evaluate`; without a gallery it is leave one out. `junk` is a mask (n_query, n_gallery)."""

    query: Array
    query_labels: Array
    gallery: Array | None = None
    gallery_labels: Array | None = None
    junk: Array | None = None

    @property
    def columns(self) -> Array:
        """The ranked items: the gallery, or the queries themselves."""
        return self.query if self.gallery is None else self.gallery


def make(case: Case) -> Arrays:
    """The arrays of a case; the same ones whenever it is called."""
    rng = np.random.default_rng([case.n, case.dim, case.class_size])
    if case.data == "George Washington":
        return _near_saturated(case, rng)
    labels = rng.permutation(np.arange(case.n) // case.class_size)
    if case.n_query is None:
        rows = KINDS[case.data](labels, case.dim, rng)
        classes = cliffs.CLASSES.get(case.data, np.asarray)(labels)
        junk = cliffs.dense_junk(case.n, rng) if case.data == cliffs.JUNK else None
        return Arrays(rows, classes, junk=junk)
    both = np.concatenate([rng.choice(labels, case.n_query), labels])
    rows = KINDS[case.data](both, case.dim, rng)
    return Arrays(rows[: case.n_query], both[: case.n_query], rows[case.n_query :], labels)


def random_like(arrays: Arrays) -> Arrays:
    """Random embeddings of the same shapes, with the same labels."""
    rng = np.random.default_rng(7)
    query = _normal(arrays.query.shape, rng)
    gallery = None if arrays.gallery is None else _normal(arrays.gallery.shape, rng)
    return Arrays(query, arrays.query_labels, gallery, arrays.gallery_labels)


def _normal(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float32]:
    return rng.standard_normal(shape, dtype=np.float32)


def _random(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    return _normal((len(labels), dim), rng)


def _clustered(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Each class around a point of its own, so that most of what is not relevant is far away."""
    centres = _normal((int(labels.max()) + 1, dim), rng)[labels]
    return np.asarray(centres + np.float32(0.7) * _normal((len(labels), dim), rng))


def _zero(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    return np.zeros((len(labels), dim), dtype=np.float32)


def _duplicates(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    return np.repeat(_normal((1, dim), rng), len(labels), axis=0)


def _few_distinct(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    distinct = _normal((max(1, len(labels) // 100), dim), rng)
    return np.asarray(distinct[rng.integers(0, len(distinct), len(labels))])


def _signs(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    return np.where(rng.random((len(labels), dim)) < 0.5, np.float32(-1), np.float32(1))


def _small_integers(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    return rng.integers(-2, 3, (len(labels), dim)).astype(np.float32)


def _int8(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    return np.clip(np.rint(40 * _normal((len(labels), dim), rng)), -127, 127).astype(np.int8)


def _packed(labels: Array, dim: int, rng: np.random.Generator) -> Array:
    """Codes of `dim` bits, eight in a byte, in which one bit in four differs from the code of the class."""
    codes = rng.integers(0, 256, (int(labels.max()) + 1, dim // 8), dtype=np.uint8)[labels]
    flipped = rng.integers(0, 256, (2, len(labels), dim // 8), dtype=np.uint8)
    differing: Array = codes ^ (flipped[0] & flipped[1])
    return differing


KINDS: dict[str, Callable[[Array, int, np.random.Generator], Array]] = {
    "random": _random,
    "clustered": _clustered,
    "all zero": _zero,
    "all duplicates": _duplicates,
    "1 % distinct": _few_distinct,
    "±1 codes": _signs,
    "int8": _int8,
    "packed bits": _packed,
    "random float64": cliffs.random_float64,
    "random bits": cliffs.random_bits,
    **cliffs.NAMED,
    **cliffs.ADVERSARIAL,
    cliffs.HALVES: _random,
    cliffs.TIED_HALVES: _small_integers,
    cliffs.NINE_TENTHS: _random,
}


def _near_saturated(case: Case, rng: np.random.Generator) -> Arrays:
    """George Washington again and again with tiny noise: copies whose similarities differ behind float32's digits."""
    with np.load(data_file("phocnet_gw.npz"), allow_pickle=False) as data:
        features, labels = data["phocnet_features"], data["phocnet_labels"].ravel()
    copies = np.arange(case.n) % len(features)
    noise = _NOISE * features.std() * _normal((case.n, features.shape[1]), rng)
    return Arrays(features[copies] + noise, labels[copies])


def data_file(name: str) -> Path:
    """The path of a shared data file, in DEADHEAT_DATA or next to the repository."""
    places = [Path(__file__).resolve().parents[2] / "shared" / "data"]
    if os.environ.get("DEADHEAT_DATA"):
        places.insert(0, Path(os.environ["DEADHEAT_DATA"]))
    for at in places:
        if (at / name).is_file():
            return at / name
    raise Unavailable(f"{name} is in neither DEADHEAT_DATA nor ../shared/data")
