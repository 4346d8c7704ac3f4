"""How far lower and upper differ for edit distances, PHOC codes and counts of bigrams.

In comes a word list; out go bounds, ties, and what a plain sort makes of the same distances in several orders of the
samples.
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
    "arXiv:1806.07171, whose slides leave edit distances as an open case; PHOC: J. Almazán et al., Word Spotting and "
    "Recognition with Embedded Attributes, IEEE TPAMI 36(12), 2014"
)
_ABOUT = (
    "The words are a system's list, because the word-spotting file (George Washington) has no transcriptions to take "
    "edit distances of. Forms of the same English word look for each other: walk, walks, walked, walking. Each word is "
    "a query against all others, ranked by an edit distance or by the distance of two codes. Such distances are small "
    "integers, or made of a few of them, so that many are equal."
)

_FAMILIES, _QUICK_FAMILIES, _SEED = 1500, 150, 4


def run(setting: Setting) -> Outcome:
    """Take a sample of families, rank it by every distance, and put the bounds side by side."""
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
        f"{wide}, and by {least:.2g} by {narrow}. The order of the samples alone moves a plain sort by up to "
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
            why="between bits, the three are one number, its root, and the number again",
        ),
        Finding(
            "PHOC, cosine: mixed tie groups in float64, of those there are",
            f"{cosine.floats.ties.mixed_groups} of {cosine.report.ties.mixed_groups}",
            Mark.NEW,
            why="rounded roots: some equal cosines differ in their last bit, and a sort takes that for an order",
        ),
        *(_best_first(edits, column) for column in ("lower", "upper")),
    ]


def _width(ranking: Ranking) -> Finding:
    result, sorts = ranking.report["mAP"], ranking.sorts.values()
    here = f"{100 * result.lower:.2f} to {100 * result.upper:.2f} %"
    sorted_to = f"plain sorts give {100 * min(sorts):.2f} to {100 * max(sorts):.2f} %"
    return Finding(f"mAP, {ranking.name}: lower to upper", here, Mark.NEW, why=sorted_to)


def _best_first(rankings: Sequence[Ranking], column: str) -> Finding:
    """The distances in the order that one end of their range puts them in."""
    ordered = sorted(rankings, key=lambda ranking: getattr(ranking.report["mAP"], column), reverse=True)
    here = " > ".join(ranking.name for ranking in ordered)
    return Finding(f"edit distances by their {column} mAP", here, Mark.NEW, why="which is best depends on luck in ties")


def _rounded_phoc(words: Sequence[str]) -> Finding:
    """How many words get another PHOC when halves are decided in floating point."""
    differs = sum(differs_in_floats(length) * count for length, count in Counter(map(len, words)).items())
    return Finding(
        "words of the list whose regions are others if the overlap is computed in float64",
        f"{differs} of {len(words)}",
        Mark.NEW,
        why="an overlap of exactly one half comes out as a little less; the default levels, whatever the letters",
    )


def differs_in_floats(length: int) -> bool:
    """Whether a word of this length gets other regions when overlap over width is compared with 0.5 in float64."""
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
        "distances a query sees": lambda ranking: ranking.distinct,
        "items that share theirs": lambda ranking: ranking.shared,
        "mixed tie groups": lambda ranking: ranking.report.ties.mixed_groups,
        "queries with one": lambda ranking: ranking.report.ties.queries,
        "share of queries": lambda ranking: ranking.report.ties.queries / ranking.report.n_query,
        "largest": lambda ranking: ranking.report.ties.largest,
        "mixed in float64": lambda ranking: ranking.floats.ties.mixed_groups,
        "digest of the profile": lambda ranking: ranking.report.profile.digest()[:16],
    }
    rows = [[value(ranking) for value in columns.values()] for ranking in rankings]
    caption = (
        "Ties, counted exactly; the first two columns of numbers are of float64 distances, the median and the share"
    )
    in_percent = ("items that share theirs", "share of queries")
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
            "mAP by distance: lower bound, expectation, upper bound; the ticks below each bar are what a plain stable "
            "sort gives for five orders of the samples.",
            first,
        ),
        Picture(
            "words-tie-sizes",
            "How many items are exactly at the distance of a relevant item, over all pairs of a query and a relevant "
            "item: median, the middle half, 90 %, and the largest.",
            second,
        ),
    ]


def _text(word_list: WordList, joined: dict[str, list[str]], chosen: dict[str, list[str]], words: Words) -> list[str]:
    several = sum(len(members) > 1 for members in joined.values())
    return [
        f"The list is {word_list.source}: {len(word_list.words)} words in lower case (digest {word_list.digest}). They "
        f"make {len(joined)} families, {several} of them of two words or more; {len(chosen)} of these were drawn, with "
        f"{len(words.words)} words.",
        "A family is what the endings of inflection join: 's, s, es, ed and ing are taken away as long as what is "
        "left, perhaps with an e added, a doubled consonant made single or an i turned back into y, is in the list. "
        "The rule knows nothing of meaning, and so errs at times.",
        f"PHOC has levels {', '.join(map(str, LEVELS))} and {len(ALPHABET)} characters; bigrams are counted with both "
        "ends of a word marked; the floats are the PHOC codes times a random matrix, in float32, for contrast.",
        "Word spotting by PHOC reports one mAP for a data set, out of a sort. Where both sides of a comparison are "
        "codes or strings, as in a lexicon, that number is one of the many between lower and upper.",
    ]


STUDY = Study(
    title="Edit distances and PHOC codes, where nearly everything ties",
    source=_SOURCE,
    about=_ABOUT,
    run=run,
    needs=("rapidfuzz",),
)
