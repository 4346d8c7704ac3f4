"""How far lower and upper differ for edit distances, PHOC codes and counts of bigrams.

Input: a word list. Output: bounds, ties, and the values of a plain sort of the same distances for several orders of
the samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from deadheat.analyses.words import ALPHABET, LEVELS, belongs
from deadheat.errors import FileError
from deadheat.plots import style
from deadheat.plots.reports import bounds
from deadheat.plots.ties import tie_sizes
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Study, Table, missing
from deadheat.studies.words_rankings import (
    MEASURES,
    Ranking,
    WordList,
    Words,
    families_of,
    find_list,
    listed,
    sample,
    ways,
)

_SOURCE = (
    "A. Nicolaou et al., Non-deterministic Behavior of Ranking-based Metrics when Evaluating Embeddings, 2018, "
    "arXiv:1806.07171, whose slides leave edit distances open; PHOC: J. Almazán et al., Word Spotting and "
    "Recognition with Embedded Attributes, IEEE TPAMI 36(12), 2014"
)
_ABOUT = (
    "The words are a system's list, because the word-spotting file (George Washington) has no transcriptions for edit "
    "distances. Forms of the same English word are relevant to each other: walk, walks, walked, walking. Each word is "
    "a query against all others, ranked by an edit distance or by the distance of two codes. Such distances are small "
    "integers, or computed from a few of them, so that many are equal."
)

_FAMILIES, _QUICK_FAMILIES, _SEED = 1500, 150, 4


def run(setting: Setting) -> Outcome:
    """Rank a sample of families by every distance, and compare the bounds."""
    word_list = find_list(setting)
    if word_list is None:
        return Outcome([missing("lower and upper for words", "words.txt, one word a line,")])
    joined = families_of(word_list.words)
    chosen = sample(joined, _QUICK_FAMILIES if setting.quick else _FAMILIES, _SEED)
    if len(chosen) < 2:
        raise FileError(word_list.source, f" must hold two families of word forms or more, but holds {len(chosen)}")
    words = listed(chosen)
    setting.say(f"  {len(words.words)} words of {len(chosen)} families, from {word_list.source}")
    rankings = []
    for name, rank in ways(words, setting.threads):
        setting.say(f"  {name}")
        rankings.append(rank(name))
    return Outcome(
        findings=[*_findings(rankings), _rounded_phoc(word_list.words)],
        pictures=_pictures(rankings),
        tables=[_bounds_table(rankings), _ties_table(rankings), _sorts_table(rankings), _family_table(chosen)],
        text=_text(word_list, joined, chosen, words),
        conclusion=_conclusion(rankings),
    )


def _conclusion(rankings: Sequence[Ranking]) -> str:
    by_width = sorted(rankings, key=lambda ranking: ranking.report["mAP"].upper - ranking.report["mAP"].lower)
    widths = {ranking.name: 100 * (ranking.report["mAP"].upper - ranking.report["mAP"].lower) for ranking in by_width}
    (narrow, least), (wide, most) = next(iter(widths.items())), next(reversed(widths.items()))
    sorts = max(rankings, key=lambda ranking: max(ranking.sorts.values()) - min(ranking.sorts.values()))
    spread = 100 * (max(sorts.sorts.values()) - min(sorts.sorts.values()))
    return (
        f"With distances that take few values, one mAP is not enough: lower and upper differ by {most:.1f} points by "
        f"{wide}, and by {least:.2g} by {narrow}. The order of the samples alone changes a plain sort by up to "
        f"{spread:.1f} points ({sorts.name}). Report the interval, or a distance with fewer ties."
    )


def _findings(rankings: Sequence[Ranking]) -> list[Finding]:
    named = {ranking.name: ranking for ranking in rankings}
    digests = {named[f"PHOC, {distance}"].report.profile.digest() for distance in ("hamming", "euclidean", "cityblock")}
    cosine = named["PHOC, cosine"]
    edits = [ranking for ranking in rankings if ranking.name.startswith(("Levenshtein", "indel"))]
    return [
        *map(_width, rankings),
        Finding(
            "tie profiles of PHOC under hamming, euclidean and city block distance",
            "the same" if len(digests) == 1 else f"{len(digests)} different ones",
            Mark.NEW,
            why="for bits, they are the number of differing bits, its root, and the same number",
        ),
        Finding(
            "PHOC, cosine: mixed tie groups in float64, of the exact ones",
            f"{cosine.floats.ties.mixed_groups} of {cosine.report.ties.mixed_groups}",
            Mark.NEW,
            why="some equal cosines, rounded, differ in their last bit, and a sort orders them by it",
        ),
        *(_best_first(edits, column) for column in ("lower", "upper")),
    ]


def _width(ranking: Ranking) -> Finding:
    result, sorts = ranking.report["mAP"], ranking.sorts.values()
    here = f"{100 * result.lower:.2f} to {100 * result.upper:.2f} %"
    sorted_to = f"plain sorts give {100 * min(sorts):.2f} to {100 * max(sorts):.2f} %"
    return Finding(f"mAP, {ranking.name}: lower to upper", here, Mark.NEW, why=sorted_to)


def _best_first(rankings: Sequence[Ranking], column: str) -> Finding:
    """The distances, ordered by one end of their range."""
    ordered = sorted(rankings, key=lambda ranking: getattr(ranking.report["mAP"], column), reverse=True)
    here = " > ".join(ranking.name for ranking in ordered)
    return Finding(
        f"edit distances by their {column} mAP", here, Mark.NEW, why="which is best depends on how ties are broken"
    )


def _rounded_phoc(words: Sequence[str]) -> Finding:
    """How many words get a different PHOC when overlaps of one half are decided in floating point."""
    differs = sum(differs_in_floats(length) * count for length, count in Counter(map(len, words)).items())
    return Finding(
        "words of the list whose regions change if the overlap is computed in float64",
        f"{differs} of {len(words)}",
        Mark.NEW,
        why="an overlap of exactly one half is rounded to slightly less; default levels, for any letters",
    )


def differs_in_floats(length: int) -> bool:
    """Whether a word of this length gets different regions when overlap over width is compared with 0.5 in float64."""
    for level in LEVELS:
        for i, r in np.ndindex(length, level):
            begin, end = i / length, (i + 1) / length
            shared = min(end, (r + 1) / level) - max(begin, r / level)
            if (shared / (end - begin) >= 0.5) != bool(belongs(length, level)[i, r]):
                return True
    return False


def _bounds_table(rankings: Sequence[Ranking]) -> Table:
    rows = [
        [ranking.name, name, result.lower, result.expected, result.upper, result.upper - result.lower]
        for ranking in rankings
        for name in MEASURES
        for result in [ranking.report[name]]
    ]
    columns = ["distance", "measure", "lower", "expected", "upper", "upper - lower"]
    return Table("words-bounds", "Bounds and expectation", columns, rows, percent=columns[2:])


def _ties_table(rankings: Sequence[Ranking]) -> Table:
    columns: dict[str, Callable[[Ranking], Any]] = {
        "distance": lambda ranking: ranking.name,
        "distinct distances per query": lambda ranking: ranking.distinct,
        "items with a shared distance": lambda ranking: ranking.shared,
        "mixed tie groups": lambda ranking: ranking.report.ties.mixed_groups,
        "queries with one": lambda ranking: ranking.report.ties.queries,
        "share of queries": lambda ranking: ranking.report.ties.queries / ranking.report.n_query,
        "largest": lambda ranking: ranking.report.ties.largest,
        "mixed in float64": lambda ranking: ranking.floats.ties.mixed_groups,
        "digest of the profile": lambda ranking: ranking.report.profile.digest()[:16],
    }
    rows = [[value(ranking) for value in columns.values()] for ranking in rankings]
    caption = "Ties, counted exactly; the first two columns of numbers are for float64 distances, a median and a share"
    in_percent = ("items with a shared distance", "share of queries")
    return Table("words-ties", caption, list(columns), rows, percent=in_percent)


def _sorts_table(rankings: Sequence[Ranking]) -> Table:
    orders = list(rankings[0].sorts)
    rows = [
        [
            ranking.name,
            *(ranking.sorts[order] for order in orders),
            max(ranking.sorts.values()) - min(ranking.sorts.values()),
        ]
        for ranking in rankings
    ]
    caption = "mAP by a plain stable sort of float64 distances, by the order of the samples"
    columns = ["distance", *orders, "largest - smallest"]
    return Table("words-sorts", caption, columns, rows, percent=columns[1:])


def _family_table(chosen: dict[str, list[str]]) -> Table:
    rows = [[root, len(members), " ".join(members)] for root, members in chosen.items()]
    return Table("words-families", "The families of the sample", ["root", "words", "forms"], rows)


def _pictures(rankings: Sequence[Ranking]) -> list[Picture]:
    reports = {ranking.name: ranking.report for ranking in rankings}
    sorts = {ranking.name: list(ranking.sorts.values()) for ranking in rankings}
    first, second = (style.figure(7.2, height) for height in (5.2, 4.6))
    bounds(reports, sorts=sorts, ax=first.subplots())
    tie_sizes({name: report.profile for name, report in reports.items()}, ax=second.subplots())
    return [
        Picture(
            "words-bounds",
            "mAP by distance: lower bound, expectation, upper bound; the ticks below each bar are the values of a "
            "plain stable sort for five orders of the samples.",
            first,
        ),
        Picture(
            "words-tie-sizes",
            "Number of items exactly at the distance of a relevant item, over all pairs of a query and a relevant "
            "item: median, middle half, middle 90 %, and largest.",
            second,
        ),
    ]


def _text(word_list: WordList, joined: dict[str, list[str]], chosen: dict[str, list[str]], words: Words) -> list[str]:
    several = sum(len(members) > 1 for members in joined.values())
    return [
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


STUDY = Study(
    title="Edit distances and PHOC codes, where nearly all distances tie",
    source=_SOURCE,
    about=_ABOUT,
    run=run,
    needs=("rapidfuzz",),
)
