"""Words as things to retrieve: their PHOC codes, and the edit distances between them.

In come words; out go binary codes (n, dim) for `deadheat.evaluate`, or a matrix of distances for
`deadheat.from_scores`. Both hold small integers, or quotients of these, so that many distances are equal. What is
computed here is exact: equal numbers come out as equal floats, and different ones as different floats.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.support import checks

__all__ = ["ALPHABET", "LEVELS", "edit_distances", "phoc"]

ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
LEVELS = (2, 3, 4, 5)

T = TypeVar("T")

_SCORERS = {"levenshtein": "Levenshtein", "osa": "OSA", "damerau": "DamerauLevenshtein", "indel": "Indel"}


def phoc(
    words: Iterable[str], *, levels: Iterable[int] = LEVELS, alphabet: Iterable[str] = ALPHABET
) -> NDArray[np.bool_]:
    """Return the characters in each part of a word: the pyramidal histogram of characters (Almazán et al. 2014).

    At level L a word is cut into L regions of equal width. Character i of n covers [i/n, (i+1)/n], and belongs to every
    region that holds at least half of it; so one that lies half in each of two regions belongs to both. This is decided
    in integers, without a rounding.

    Parameters
    ----------
    words : iterable of str
        Case is folded (`str.casefold`). A character that is not in the alphabet sets no bit but takes up its place.
    levels : iterable of int
        The defaults of levels and alphabet together give 504 bits.
    alphabet : iterable of str
        Distinct characters, case folded.

    Returns
    -------
    (n, sum(levels) * len(alphabet)) bool
        Level by level, region by region from the left, and in each one bit a character of the alphabet. A word without
        any character of the alphabet has no bit set.

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; the message names the argument, the rule and what came.

    Notes
    -----
    Ties: codes are 0 and 1, so that Hamming, Euclidean and city block distance are the number of differing bits, its
    root, and that number again: they give the same ranking with the same ties.

    References
    ----------
    J. Almazán, A. Gordo, A. Fornés, E. Valveny, "Word Spotting and Recognition with Embedded Attributes", IEEE
    Transactions on Pattern Analysis and Machine Intelligence 36(12), 2014.

    Examples
    --------
    At level 2 the middle one of three characters lies half in either region:

    >>> phoc(["abc", "Ca!"], levels=[2], alphabet="abc").astype(int).tolist()
    [[1, 1, 0, 0, 1, 1], [1, 0, 1, 1, 0, 0]]
    >>> phoc(["beyond"]).shape
    (1, 504)
    """
    folded = [word.casefold() for word in _words(words, "words")]
    cuts = [checks.positive_integer(level, "each of levels") for level in _listed(levels, "levels", "level", "integer")]
    letters = _listed(alphabet, "alphabet", "character")
    for letter in letters:  # words are case folded, so that another character would never be found
        if not isinstance(letter, str) or len(letter) != 1:
            raise InvalidValueError("alphabet", f"must hold single characters, but holds {letter!r}")
        if letter.casefold() != letter:
            raise InvalidValueError("alphabet", f"must hold case-folded characters, but holds {letter!r}")
    for letter in [letter for letter in letters if letters.count(letter) > 1][:1]:
        raise InvalidValueError("alphabet", f"must hold each character once, but holds {letter!r} twice")
    at = {letter: number for number, letter in enumerate(letters)}
    codes = np.zeros((len(folded), sum(cuts), len(letters)), dtype=np.bool_)
    lengths = np.array([len(word) for word in folded])
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        characters = np.array([[at.get(c, -1) for c in folded[row]] for row in rows]).reshape(len(rows), length)
        for position, region in np.argwhere(np.hstack([belongs(length, level) for level in cuts])).tolist():
            in_alphabet = characters[:, position] >= 0
            codes[rows[in_alphabet], region, characters[in_alphabet, position]] = True
    return codes.reshape(len(folded), -1)


def edit_distances(
    queries: Iterable[str],
    gallery: Iterable[str] | None = None,
    *,
    kind: str = "levenshtein",
    normalized: bool = False,
    threads: int | None = None,
) -> NDArray[Any]:
    """The least number of edits that turn each query into each gallery word.

    Parameters
    ----------
    queries : iterable of str
        Compared as they are, character by character; fold their case first if it does not matter.
    gallery : iterable of str, optional
        The queries themselves when left out. Then each word is at distance 0 from itself, and `junk` of
        `deadheat.from_scores` takes it out: ``junk=np.eye(n, dtype=bool)``.
    kind : {"levenshtein", "osa", "damerau", "indel"}
        What an edit is. Levenshtein: to insert, delete or replace a character. OSA (optimal string alignment): also to
        swap two neighbours, where nothing is edited twice. Damerau: the same without that restriction. Indel: to
        insert or delete a character, and no more.
    normalized : bool
        Divide by the greatest distance that words of these lengths can have: the length of the longer word, or for
        indel the sum of both lengths. Two empty words are at distance 0.
    threads : int, optional
        Worker threads, for this call alone. By default as many as this process may use.

    Returns
    -------
    (n_query, n_gallery)
        Unsigned integers of the shortest type that holds the greatest possible distance. If normalized, float64 in
        [0, 1].

    Raises
    ------
    TypeError, ValueError
        If an argument breaks its rule; the message names the argument, the rule and what came.
    ModuleNotFoundError
        If rapidfuzz is not installed (``pip install rapidfuzz``).

    Notes
    -----
    Ties: a normalized distance ties with another exactly where their quotients are equal. A division is correctly
    rounded, so equal quotients (2/6 and 1/3) give the same float64; different ones are at least 1/(ab) apart, for
    denominators a and b, and below 2^26 that is more than the rounding of numbers up to 1 can bridge.

    Examples
    --------
    >>> edit_distances(["form"], ["from", "forms", "form"])
    array([[2, 1, 0]], dtype=uint8)
    >>> edit_distances(["form"], ["from", "forms", "form"], kind="osa")
    array([[1, 1, 0]], dtype=uint8)
    >>> edit_distances(["form"], ["from", "forms", "form"], normalized=True)
    array([[0.5, 0.2, 0. ]])
    """
    checks.choice(kind, _SCORERS, "kind")
    if not isinstance(normalized, (bool, np.bool_)):
        raise InvalidTypeError("normalized", f"must be True or False, but is {normalized!r}")
    words = _words(queries, "queries")
    items = words if gallery is None else _words(gallery, "gallery")
    lengths = [np.array([len(word) for word in side], dtype=np.int64) for side in (words, items)]
    greatest = (np.add if kind == "indel" else np.maximum).outer(*lengths)  # that words of these lengths can have
    scorer = getattr(import_module("rapidfuzz.distance"), _SCORERS[kind]).distance
    cdist = import_module("rapidfuzz.process").cdist
    dtype = np.min_scalar_type(int(greatest.max()))
    distances: NDArray[Any] = cdist(words, items, scorer=scorer, dtype=dtype, workers=checks.thread_count(threads))
    return distances / np.maximum(greatest, 1) if normalized else distances


def belongs(length: int, level: int) -> NDArray[np.bool_]:
    """Return which characters belong to which regions, (length, level).

    In units of 1 / (length * level) character i covers [i * level, (i + 1) * level], region r [r * length, (r + 1) *
    length].
    """
    character, region = np.arange(length)[:, None] * level, np.arange(level) * length
    shared = np.minimum(character + level, region + length) - np.maximum(character, region)
    return np.asarray(2 * shared >= level)


def _listed(values: Iterable[T], name: str, one: str, kind: str | None = None) -> list[T]:
    try:
        listed = list(values)
    except TypeError:
        raise InvalidTypeError(name, f"must be a sequence of {kind or one}s, but is {values!r:.50}") from None
    if not listed:
        raise InvalidValueError(name, f"must hold at least one {one}, but is empty")
    return listed


def _words(values: Iterable[str], name: str) -> list[str]:
    if isinstance(values, (str, bytes)):
        raise InvalidTypeError(name, f"must be a sequence of words, but is one: {values!r:.50}")
    listed = _listed(values, name, "word")
    for at, word in enumerate(listed):
        if not isinstance(word, str):
            raise InvalidTypeError(name, f"must hold strings alone, but entry {at} is {word!r:.50}")
    return [str(word) for word in listed]  # NumPy's strings as Python's
