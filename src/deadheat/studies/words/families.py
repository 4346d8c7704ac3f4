"""Families of word forms from a plain word list: "walk", "walks", "walked", "walking", "walk's".

In comes a list of words, one a line; out go families of those that the endings of inflection join. The rule looks at
nothing but the list, so it also joins a few that only look alike ("evening" and "even").
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deadheat.errors import FileError, MissingPackageError
from deadheat.studies.study import Setting
from deadheat.support.extras import require

SYSTEM_LISTS = (Path("/usr/share/dict/american-english"), Path("/usr/share/dict/words"))
_LEFT = 3  # letters that must be left of a word without its ending
_VOWELS = frozenset("aeiouy")


@dataclass(frozen=True)
class WordList:
    """The distinct words of a list that are in lower case throughout, in code point order, and where they came from.

    Names and abbreviations have a capital, and are left out.
    """

    words: tuple[str, ...]
    source: str

    @property
    def digest(self) -> str:
        """SHA-256 of the words, each ended by a newline, in UTF-8: the first 16 hexadecimal digits."""
        return hashlib.sha256("".join(f"{word}\n" for word in self.words).encode()).hexdigest()[:16]


def find(setting: Setting) -> WordList | None:
    """The first list that is there: ``words.txt`` of the data folder, the system's, the one of english-words."""
    own = setting.file("words.txt")
    if own is not None:
        return WordList(lower_case(_lines(own)), own.name)
    for path in SYSTEM_LISTS:
        if path.is_file():
            return WordList(lower_case(_lines(path)), str(path))
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


def families(words: Collection[str]) -> dict[str, list[str]]:
    """Words by the root that they lead to, ending after ending; each root and each family in code point order.

    Examples
    --------
    >>> families(["build", "building", "buildings", "thing", "string"])
    {'build': ['build', 'building', 'buildings'], 'string': ['string'], 'thing': ['thing']}
    """
    known = frozenset(words)
    joined = defaultdict(list)
    for word in sorted(known):
        joined[_root(word, known)].append(word)
    return {root: joined[root] for root in sorted(joined)}


def parent(word: str, known: Collection[str]) -> str | None:
    """The word that this one is a form of: the first in the list of those that its ending may have been added to.

    A possessive loses "'s". "-s", "-es", "-ed" and "-ing" are taken away where three letters are left, one of them a
    vowel. With "-ed" and "-ing" a final e may have gone, or a consonant have been doubled; before "-es" and "-ed" a y
    may have become i.

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
    """The stem with another end, if what is left of it is long enough to be one."""
    if len(stem) >= _LEFT and not _VOWELS.isdisjoint(stem):
        yield stem + end


def _root(word: str, known: Collection[str]) -> str:
    above = parent(word, known)
    return word if above is None else _root(above, known)  # every candidate is shorter than its word


def sample(joined: dict[str, list[str]], size: int, seed: int) -> dict[str, list[str]]:
    """So many of the families that have at least two words, or all; the same ones on every machine, in their order."""
    roots = [root for root, members in joined.items() if len(members) > 1]
    keys = np.random.PCG64(np.random.SeedSequence([seed])).random_raw(len(roots))
    chosen = np.sort(np.argsort(keys, kind="stable")[:size])
    return {roots[place]: joined[roots[place]] for place in chosen.tolist()}


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except UnicodeDecodeError:
        raise FileError(path, " must be text in UTF-8, one word a line, but is not") from None
