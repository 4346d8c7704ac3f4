"""Families of word forms from a plain word list, and their rankings by edit distances, PHOC codes and bigrams.

Input: a list of words, one per line. A word and its inflected forms are a family: "walk", "walks", "walked", "walking",
"walk's". The rule uses only the list, so it also joins a few words that only look similar ("evening" and "even").
Output: the words of a sample of families, and `Ranking`s of them, from exact distances and from sorted float64 ones.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.analyses.words import edit_distances, phoc
from deadheat.engine.counting.profiling import profile
from deadheat.engine.counting.scored import profile_scores
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import FileError, MissingPackageError
from deadheat.reports.evaluating import measure
from deadheat.reports.report import Report
from deadheat.studies.study import Setting
from deadheat.support.lazy import require

SYSTEM_LISTS = (Path("/usr/share/dict/american-english"), Path("/usr/share/dict/words"))
_LEFT = 3  # letters that must be left of a word without its ending
_VOWELS = frozenset("aeiouy")
MEASURES = ("mAP", "Hit@1", "nDCG@10")
_SEED = 4
_BLOCK = 512  # queries that are sorted at once

Matrix = NDArray[Any]
Codes = NDArray[np.int64]


@dataclass(frozen=True)
class WordList:
    """The distinct words of a list that are all in lower case, in code point order, and their source.

    Names and abbreviations have a capital, and are excluded.
    """

    words: tuple[str, ...]
    source: str

    @property
    def digest(self) -> str:
        """SHA-256 of the words, each ended by a newline, in UTF-8: the first 16 hexadecimal digits."""
        return hashlib.sha256("".join(f"{word}\n" for word in self.words).encode()).hexdigest()[:16]


def find_list(setting: Setting) -> WordList | None:
    """The first list found: ``words.txt`` of the data folder, the system's, that of the package english-words."""
    own = setting.file("words.txt")
    for path in [own] if own else filter(Path.is_file, SYSTEM_LISTS):
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            raise FileError(path, " must be text in UTF-8, one word a line, but is not") from None
        return WordList(lower_case(line.strip() for line in lines), path.name if own else str(path))
    try:
        package = require("english_words", "reproduce", "the study of words")
    except MissingPackageError:
        return None
    return WordList(lower_case(package.get_english_words_set(["web2"])), "web2 of the Python package english-words")


def lower_case(words: Iterable[str]) -> tuple[str, ...]:
    """The distinct words that begin with a letter and have no capital, in code point order.

    Examples
    --------
    >>> lower_case(["cats", "Cat", "cat's", "cats", "", "'tis"])
    ("cat's", 'cats')
    """
    return tuple(sorted({word for word in words if word[:1].isalpha() and word == word.casefold()}))


def families_of(words: Collection[str]) -> dict[str, list[str]]:
    """Group words by the root that is left without their endings; roots and families are in code point order.

    Examples
    --------
    >>> families_of(["build", "building", "buildings", "thing", "string"])
    {'build': ['build', 'building', 'buildings'], 'string': ['string'], 'thing': ['thing']}
    """
    known = frozenset(words)
    joined = defaultdict(list)
    for word in sorted(known):
        joined[_root(word, known)].append(word)
    return {root: joined[root] for root in sorted(joined)}


def parent(word: str, known: Collection[str]) -> str | None:
    """The word that this one is a form of: the first in the list that its ending may have been added to.

    A possessive loses "'s". "-s", "-es", "-ed" and "-ing" are removed where three letters are left, one of them a
    vowel. With "-ed" and "-ing" a final e may have been dropped or a consonant doubled; before "-es" and "-ed" a y may
    have become i.

    Examples
    --------
    >>> [parent(word, {"hope", "hop", "carry", "bus"}) for word in ("hoped", "hopping", "carries", "buses", "hop's")]
    ['hope', 'hop', 'carry', 'bus', 'hop']
    >>> parent("string", {"str", "stre"}) is None
    True
    """
    return next((candidate for candidate in _candidates(word) if candidate in known), None)


def _candidates(word: str) -> Iterator[str]:
    if word.endswith("'s"):
        yield word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        yield from _if_long(word[:-1])
        if word.endswith("es"):
            yield from _if_long(word[:-2])
        if word.endswith("ies"):
            yield from _if_long(word[:-3], "y")
    elif word.endswith(("ed", "ing")):
        stem = word[: -2 if word.endswith("ed") else -3]
        yield from _if_long(stem, "e")
        yield from _if_long(stem)
        if word.endswith("ied"):
            yield from _if_long(word[:-3], "y")
        if stem[-1:] == stem[-2:-1]:
            yield from _if_long(stem[:-1])


def _if_long(stem: str, end: str = "") -> Iterator[str]:
    if len(stem) >= _LEFT and not _VOWELS.isdisjoint(stem):
        yield stem + end


def _root(word: str, known: Collection[str]) -> str:
    above = parent(word, known)
    return word if above is None else _root(above, known)  # every candidate is shorter than its word


def sample(joined: dict[str, list[str]], size: int, seed: int) -> dict[str, list[str]]:
    """Sample families of at least two words, or all if there are fewer; the same on every machine, in their order."""
    roots = [root for root, members in joined.items() if len(members) > 1]
    keys = np.random.PCG64(np.random.SeedSequence([seed])).random_raw(len(roots))
    chosen = np.sort(np.argsort(keys, kind="stable")[:size])
    return {roots[place]: joined[roots[place]] for place in chosen.tolist()}


# ---------------------------------------------------------------------------------------------------------------------
# rankings


class Words(NamedTuple):
    """The words of some families, in code point order, and the number of the family of each."""

    words: list[str]
    family: Codes


@dataclass(frozen=True)
class Ranking:
    """The ranking of the words by one distance."""

    name: str
    report: Report  # from exact distances
    floats: TieProfile  # from float64 distances, where equal distances may differ by rounding
    sorts: dict[str, float]  # mAP of a plain stable sort of these distances, by the order of the samples
    distinct: float  # median number of distinct distances per query
    shared: float  # the share of items at the distance of another


def listed(families: dict[str, list[str]]) -> Words:
    """All the words, in code point order, and the families as numbers in the order of their roots."""
    pairs = sorted((word, number) for number, members in enumerate(families.values()) for word in members)
    return Words([word for word, _ in pairs], np.array([number for _, number in pairs]))


def ways(words: Words, threads: int | None) -> Iterator[tuple[str, Callable[[str], Ranking]]]:
    """The distances by name, and a function that ranks the words by each."""
    by_edits, by_code = partial(_by_edits, words, threads), partial(_by_code, words, threads)
    for name, kind, normalized in (
        ("Levenshtein", "levenshtein", False),
        ("OSA", "osa", False),
        ("Damerau", "damerau", False),
        ("indel", "indel", False),
        ("Levenshtein, normalised", "levenshtein", True),
        ("indel, normalised", "indel", True),
    ):
        yield name, partial(by_edits, kind, normalized)
    codes = phoc(words.words)
    for distance in ("hamming", "euclidean", "cityblock", "cosine"):
        yield f"PHOC, {distance}", partial(by_code, codes, distance)
    yield "bigrams, cosine", partial(by_code, bigrams(words.words), "cosine")
    yield "floats, cosine", partial(by_code, projected(codes), "cosine")


def bigrams(words: Sequence[str]) -> NDArray[np.uint8]:
    """Count the pairs of adjacent characters in each word, with its ends marked; one sorted column per pair."""
    pairs = [[marked[i : i + 2] for i in range(len(marked) - 1)] for marked in (f"^{word}$" for word in words)]
    place = {pair: number for number, pair in enumerate(sorted({pair for of_word in pairs for pair in of_word}))}
    counts = np.zeros((len(words), len(place)), dtype=np.uint8)
    for row, of_word in enumerate(pairs):
        np.add.at(counts[row], [place[pair] for pair in of_word], 1)
    return counts


def projected(codes: NDArray[np.bool_], dim: int = 64) -> NDArray[np.float32]:
    """The codes times a random matrix, as float32: the same information with only accidental ties.

    The entries of the matrix are multiples of 2^-30, so that sums in float64 are exact and the same everywhere.
    """
    entries = np.rint(np.random.default_rng(_SEED).normal(size=(codes.shape[1], dim)) * 2.0**30) * 2.0**-30
    return (codes.astype(np.float64) @ entries).astype(np.float32)


def _by_edits(words: Words, threads: int | None, kind: str, normalized: bool, name: str) -> Ranking:
    distances = edit_distances(words.words, kind=kind, normalized=normalized, threads=threads)
    counts = _counted(distances, words)
    return _ranking(name, counts, counts, distances, words)


def _by_code(words: Words, threads: int | None, codes: Matrix, distance: str, name: str) -> Ranking:
    exact = profile(codes, words.family, distance=distance, threads=threads)
    distances = float_distances(codes, distance)
    return _ranking(name, exact, _counted(distances, words), distances, words)


def _ranking(name: str, exact: TieProfile, floats: TieProfile, distances: Matrix, words: Words) -> Ranking:
    sorts = {order: plain_map(distances, words.family, rows) for order, rows in sample_orders(words).items()}
    return Ranking(name, measure(exact, MEASURES), floats, sorts, *_crowding(distances))


def _crowding(distances: Matrix, queries: int = 256) -> tuple[float, float]:
    """The median number of distinct distances per query, and the share of items at the distance of another.

    Over evenly spaced queries.
    """
    distinct, shared = [], 0
    rows = np.unique(np.linspace(0, len(distances) - 1, queries).astype(np.int64))
    for row in rows.tolist():
        count = np.unique(np.delete(distances[row], row), return_counts=True)[1]
        distinct.append(len(count))
        shared += int(count[count > 1].sum())
    return float(np.median(distinct)), shared / (len(rows) * (len(distances) - 1))


def float_distances(codes: Matrix, distance: str) -> Matrix:
    """Distances in float64 by the textbook formula, from one matrix product; Hamming and city block are for bits."""
    values = codes.astype(np.float64)
    product = values @ values.T
    squares = np.diag(product).copy()
    if distance == "cosine":
        lengths = np.where(squares > 0, np.sqrt(squares), 1.0)
        return np.asarray(1.0 - product / np.outer(lengths, lengths))
    differing = squares[:, None] + squares - 2 * product
    return np.asarray(np.sqrt(differing) if distance == "euclidean" else differing)


def _counted(distances: Matrix, words: Words) -> TieProfile:
    """The tie profile of a matrix of distances, leave one out."""
    relevant = words.family[:, None] == words.family
    return profile_scores(distances, relevant, order="ascending", junk=np.eye(len(distances), dtype=np.bool_))


def sample_orders(words: Words) -> dict[str, Codes]:
    """Five orders of the same words."""
    n = len(words.words)
    length = np.array([len(word) for word in words.words])
    keys = np.random.PCG64(np.random.SeedSequence([_SEED, n])).random_raw(n)
    return {
        "alphabetical": np.arange(n),
        "family by family": np.argsort(words.family, kind="stable"),
        "shuffled": np.argsort(keys, kind="stable"),
        "short words first": np.argsort(length, kind="stable"),
        "long words first": np.argsort(-length, kind="stable"),
    }


def plain_map(distances: Matrix, family: Codes, order: Codes) -> float:
    """Leave-one-out mAP as a stable sort gives it when the samples come in this order."""
    values: list[float] = []
    for start in range(0, len(order), _BLOCK):
        rows = order[start : start + _BLOCK]
        ranking = np.argsort(distances[rows][:, order], axis=1, kind="stable")
        relevant = family[order][ranking] == family[rows][:, None]
        own = ranking == np.arange(start, start + len(rows))[:, None]
        values += _average_precisions(relevant[~own].reshape(len(rows), -1))
    return math.fsum(values) / len(values)


def _average_precisions(relevant: NDArray[np.bool_]) -> list[float]:
    """Average precision of rankings, one per row, each with a relevant item."""
    row, rank = np.nonzero(relevant)
    precision = relevant.cumsum(axis=1)[row, rank] / (rank + 1)
    return list(np.bincount(row, precision) / np.bincount(row))
