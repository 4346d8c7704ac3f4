"""Differences of lower and upper for edit distances, PHOC codes and counts of bigrams.

Input: a word list. Output: bounds, ties, and the values of a plain sort of the same distances for several orders of
the samples.

A word and its inflected forms are a family: "walk", "walks", "walked", "walking", "walk's". The rule uses only the
list, so it also joins a few words that only look similar ("evening" and "even").
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat import from_scores
from deadheat.engine.literals import DistanceName
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.task import Task
from deadheat.errors import FileError, MissingPackageError
from deadheat.plots import style
from deadheat.plots.reports import bounds
from deadheat.plots.ties import tie_sizes
from deadheat.reports.evaluating import evaluate
from deadheat.reports.report import Report
from deadheat.support.lazy import require
from reproduce import reference
from reproduce.edit_distances import ALPHABET, LEVELS, belongs, edit_distances, phoc
from reproduce.study import Finding, Outcome, Picture, Setting, Table, missing

TITLE = "Edit distances and PHOC codes, where nearly all distances tie"
SOURCE = (
    "A. Nicolaou et al., Non-deterministic Behavior of Ranking-based Metrics when Evaluating Embeddings, 2018, "
    "arXiv:1806.07171, whose slides leave edit distances open; PHOC: J. Almazán et al., Word Spotting and "
    "Recognition with Embedded Attributes, IEEE TPAMI 36(12), 2014"
)
ABOUT = (
    "The words are a system's list, because the word-spotting file (George Washington) has no transcriptions for edit "
    "distances. Forms of the same English word are relevant to each other: walk, walks, walked, walking. Each word is "
    "a query against all others, ranked by an edit distance or by the distance of two codes. Such distances are small "
    "integers, or computed from a few of them, so that many are equal."
)
NEEDS = ("rapidfuzz",)

_FAMILIES, _QUICK_FAMILIES, _SEED = 1500, 150, 4


def run(setting: Setting) -> Outcome:
    word_list = find_list(setting)
    if word_list is None:
        return Outcome([missing("lower and upper for words", "words.txt, one word a line,")])
    joined = families_of(word_list.words)
    chosen = sample(joined, _QUICK_FAMILIES if setting.quick else _FAMILIES, _SEED)
    if len(chosen) < 2:
        raise FileError(word_list.source, f" must hold two families of word forms or more, but holds {len(chosen)}")
    words = listed(chosen)
    setting.say(f"  {len(words.words)} words of {len(chosen)} families, from {word_list.source}")
    rankings = list(ranked(words, setting))
    widths = [(100 * (each.report["mAP"].upper - each.report["mAP"].lower), each.name) for each in rankings]
    (least, narrow), *_, (most, wide) = sorted(widths, key=lambda width: width[0])
    sorts = max(rankings, key=lambda each: np.ptp(list(each.sorts.values())))
    conclusion = (
        f"With distances that take few values, one mAP is not enough: lower and upper differ by {most:.1f} points by "
        f"{wide}, and by {least:.2g} by {narrow}. The order of the samples alone changes a plain sort by up to "
        f"{100 * np.ptp(list(sorts.sorts.values())):.1f} points ({sorts.name}). Report the interval, or a distance "
        "with fewer ties."
    )
    several = sum(len(members) > 1 for members in joined.values())
    text = [
        f"The list is {word_list.source}: {len(word_list.words)} words in lower case (digest {word_list.digest}). They "
        f"form {len(joined)} families, {several} of them of two words or more; {len(chosen)} of these were sampled, "
        f"with {len(words.words)} words.",
        "A family is a word with its inflected forms: the endings 's, s, es, ed and ing are removed as long as the "
        "rest, perhaps with an e added, a doubled consonant made single or a final i replaced by y, is in the list. "
        "The rule ignores meaning, and so is sometimes wrong.",
        f"PHOC has levels {', '.join(map(str, LEVELS))} and {len(ALPHABET)} characters; bigrams are counted with both "
        "ends of a word marked; the floats are the PHOC codes times a random matrix, in float32, for contrast.",
        "Word spotting by PHOC reports one mAP for a data set, from a sort. Where codes or strings are compared with "
        "each other, as in a lexicon, that number is one of many between lower and upper.",
    ]
    rows = [[root, len(members), " ".join(members)] for root, members in chosen.items()]
    families = Table("words-families", "The families of the sample", ["root", "words", "forms"], rows)
    findings = [*_findings(rankings), _rounded_phoc(word_list.words)]
    return Outcome(findings, _pictures(rankings), [*_tables(rankings), families], text, conclusion)


def _findings(rankings: Sequence[Ranking]) -> list[Finding]:
    named = {ranking.name: ranking for ranking in rankings}
    digests = {named[f"PHOC, {distance}"].report.profile.digest() for distance in ("hamming", "euclidean", "cityblock")}
    cosine = named["PHOC, cosine"]
    findings = []
    for name, ranking in named.items():
        result, sorts = ranking.report["mAP"], ranking.sorts.values()
        here = f"{100 * result.lower:.2f} to {100 * result.upper:.2f} %"
        why = f"plain sorts give {100 * min(sorts):.2f} to {100 * max(sorts):.2f} %"
        findings.append(Finding(f"mAP, {name}: lower to upper", here, why=why))
    findings += [
        Finding("tie profiles of PHOC under hamming, euclidean and city block distance",
                "the same" if len(digests) == 1 else f"{len(digests)} different ones",
                why="for bits, they are the number of differing bits, its root, and the same number"),
        Finding("PHOC, cosine: mixed tie groups in float64, of the exact ones",
                f"{cosine.floats.ties.mixed_groups} of {cosine.report.ties.mixed_groups}",
                why="some equal cosines, rounded, differ in their last bit, and a sort orders them by it"),
    ]  # fmt: skip
    edits = [name for name in named if name.startswith(("Levenshtein", "indel"))]
    for end in ("lower", "upper"):
        ordered = sorted(edits, key=lambda name: getattr(named[name].report["mAP"], end), reverse=True)
        why = "which is best depends on how ties are broken"
        findings.append(Finding(f"edit distances by their {end} mAP", " > ".join(ordered), why=why))
    return findings


def _rounded_phoc(words: Sequence[str]) -> Finding:
    """Return how many words get a different PHOC when overlaps of one half are decided in floating point."""
    differs = sum(differs_in_floats(length) * count for length, count in Counter(map(len, words)).items())
    what = "words of the list whose regions change if the overlap is computed in float64"
    why = "an overlap of exactly one half is rounded to slightly less; default levels, for any letters"
    return Finding(what, f"{differs} of {len(words)}", why=why)


def differs_in_floats(length: int) -> bool:
    """Return whether a word of this length gets other regions if overlap over width is compared with 0.5 in float64."""
    for level in LEVELS:
        for i, r in np.ndindex(length, level):
            begin, end = i / length, (i + 1) / length
            shared = min(end, (r + 1) / level) - max(begin, r / level)
            if (shared / (end - begin) >= 0.5) != bool(belongs(length, level)[i, r]):
                return True
    return False


def _tables(rankings: Sequence[Ranking]) -> list[Table]:
    values, ties, sorts = [], [], []
    for one in rankings:
        for name, result in one.report.items():
            bounds = result.lower, result.expected, result.upper
            values.append([one.name, name, *bounds, result.upper - result.lower])
        computed, share = one.report.ties, one.report.ties.queries / one.report.n_query
        ties.append([one.name, one.distinct, one.shared, computed.mixed_groups, computed.queries, share,
                     computed.largest, one.floats.ties.mixed_groups, one.report.profile.digest()[:16]])  # fmt: skip
        sorts.append([one.name, *one.sorts.values(), np.ptp(list(one.sorts.values()))])
    of_values = ["distance", "measure", "lower", "expected", "upper", "upper - lower"]
    of_ties = ["distance", "distinct distances per query", "items with a shared distance", "mixed tie groups",
               "queries with one", "share of queries", "largest", "mixed in float64",
               "digest of the profile"]  # fmt: skip
    of_sorts = ["distance", *rankings[0].sorts, "largest - smallest"]
    about_ties = (
        "Ties, counted exactly; the first two columns of numbers are for float64 distances, a median and a share"
    )
    about_sorts = "mAP by a plain stable sort of float64 distances, by the order of the samples"
    return [
        Table("words-bounds", "Bounds and expectation", of_values, values, percent=of_values[2:]),
        Table("words-ties", about_ties, of_ties, ties, percent=(of_ties[2], of_ties[5])),
        Table("words-sorts", about_sorts, of_sorts, sorts, percent=of_sorts[1:]),
    ]


def _pictures(rankings: Sequence[Ranking]) -> list[Picture]:
    first, second = (style.figure(7.2, height) for height in (5.2, 4.6))
    sorts = {ranking.name: list(ranking.sorts.values()) for ranking in rankings}
    bounds({ranking.name: ranking.report for ranking in rankings}, sorts=sorts, ax=first.subplots())
    tie_sizes({ranking.name: ranking.report.profile for ranking in rankings}, ax=second.subplots())
    return [
        Picture("words-bounds", "mAP by distance: lower bound, expectation, upper bound; the ticks below each bar are "
                "the values of a plain stable sort for five orders of the samples.", first),
        Picture("words-tie-sizes", "Number of items exactly at the distance of a relevant item, over all pairs of a "
                "query and a relevant item: median, middle half, middle 90 %, and largest.", second),
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------------
# families of word forms, and their rankings by edit distances, PHOC codes and bigrams


SYSTEM_LISTS = (Path("/usr/share/dict/american-english"), Path("/usr/share/dict/words"))
_LEFT = 3  # letters that must be left of a word without its ending
_VOWELS = frozenset("aeiouy")
MEASURES = ("mAP", "Hit@1", "nDCG@10")
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
    if word.endswith("'s"):
        return word[:-2] if word[:-2] in known else None
    stems: list[tuple[str, str]] = []  # what is left, and what is added to it
    if word.endswith("s") and not word.endswith("ss"):
        stems = [(word[:-1], ""), *[(word[:-2], "")] * word.endswith("es"), *[(word[:-3], "y")] * word.endswith("ies")]
    elif word.endswith(("ed", "ing")):
        stem = word[: -2 if word.endswith("ed") else -3]
        stems = [(stem, "e"), (stem, ""), *[(word[:-3], "y")] * word.endswith("ied")]
        stems += [(stem[:-1], "")] * (stem[-1:] == stem[-2:-1])
    long = (stem + end for stem, end in stems if len(stem) >= _LEFT and not _VOWELS.isdisjoint(stem))
    return next((candidate for candidate in long if candidate in known), None)


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
    words: list[str]  # of some families, in code point order
    family: Codes  # of each, by number


@dataclass(frozen=True)
class Ranking:
    name: str
    report: Report  # from exact distances
    floats: TieProfile  # from float64 distances, where equal distances may differ by rounding
    sorts: dict[str, float]  # mAP of a plain stable sort of these distances, by the order of the samples
    distinct: float  # median number of distinct distances per query
    shared: float  # the share of items at the distance of another


def listed(families: dict[str, list[str]]) -> Words:
    pairs = sorted((word, number) for number, members in enumerate(families.values()) for word in members)
    return Words([word for word, _ in pairs], np.array([number for _, number in pairs]))


def ranked(words: Words, setting: Setting) -> Iterator[Ranking]:
    """Rank the words by each distance."""
    for name, kind, normalized in (
        ("Levenshtein", "levenshtein", False),
        ("OSA", "osa", False),
        ("Damerau", "damerau", False),
        ("indel", "indel", False),
        ("Levenshtein, normalised", "levenshtein", True),
        ("indel, normalised", "indel", True),
    ):
        setting.say(f"  {name}")
        distances = edit_distances(words.words, kind=kind, normalized=normalized, threads=setting.threads)
        counts = _counted(distances, words)
        yield _ranking(name, counts, counts, distances, words)
    bits = phoc(words.words)
    by_code: dict[str, tuple[Matrix, DistanceName]] = {
        f"PHOC, {distance}": (bits, distance) for distance in ("hamming", "euclidean", "cityblock", "cosine")
    }
    by_code |= {"bigrams, cosine": (bigrams(words.words), "cosine"), "floats, cosine": (projected(bits), "cosine")}
    for name, (codes, distance) in by_code.items():
        setting.say(f"  {name}")
        exact = Task(codes, words.family, distance=distance, threads=setting.threads).profile
        distances = float_distances(codes, distance)
        yield _ranking(name, exact, _counted(distances, words), distances, words)


def bigrams(words: Sequence[str]) -> NDArray[np.uint8]:
    """Count the pairs of adjacent characters in each word, with its ends marked; one sorted column per pair."""
    pairs = [[marked[i : i + 2] for i in range(len(marked) - 1)] for marked in (f"^{word}$" for word in words)]
    at = {pair: number for number, pair in enumerate(sorted({pair for of_word in pairs for pair in of_word}))}
    counts = np.zeros((len(words), len(at)), dtype=np.uint8)
    for row, of_word in enumerate(pairs):
        np.add.at(counts[row], [at[pair] for pair in of_word], 1)
    return counts


def projected(codes: NDArray[np.bool_], dim: int = 64) -> NDArray[np.float32]:
    """The codes times a random matrix, as float32: the same information with only accidental ties.

    The entries of the matrix are multiples of 2^-30, so that sums in float64 are exact and the same everywhere.
    """
    entries = np.rint(np.random.default_rng(_SEED).normal(size=(codes.shape[1], dim)) * 2.0**30) * 2.0**-30
    return (codes.astype(np.float64) @ entries).astype(np.float32)


def _ranking(name: str, exact: TieProfile, floats: TieProfile, distances: Matrix, words: Words) -> Ranking:
    sorts = {order: plain_map(distances, words.family, rows) for order, rows in sample_orders(words).items()}
    return Ranking(name, evaluate(exact, MEASURES), floats, sorts, *_crowding(distances))


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
    return from_scores(distances, relevant, order="ascending", junk=np.eye(len(distances), dtype=np.bool_)).profile


def sample_orders(words: Words) -> dict[str, Codes]:
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
        own = np.arange(len(rows)), np.arange(start, start + len(rows))
        ordered, relevant = distances[rows][:, order].astype(np.float64), family[rows][:, None] == family[order]
        ordered[own], relevant[own] = np.inf, False  # last, where it changes nothing
        values += reference.average_precision(reference.sorted_relevance(ordered, relevant, kind="stable")).tolist()
    return math.fsum(values) / len(values)
