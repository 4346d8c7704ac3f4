"""The stand-in: networks that learn pictures of words, with different dropout, and what they make of other words.

In come a setting and how much to compute; out comes a part of the study.
"""

from __future__ import annotations

import numpy as np

from deadheat import evaluate, grouped
from deadheat.plots import Band
from deadheat.studies.dropout import network
from deadheat.studies.dropout.compared import (
    CLAIM,
    GROUP_SIZE,
    GROUPED,
    MEASURE,
    NOT_AT_HAND,
    PLAIN,
    Case,
    Sample,
    compare,
    table_of,
)
from deadheat.studies.dropout.extent import Extent
from deadheat.studies.dropout.findings import of_cases, of_sizes, size_table
from deadheat.studies.dropout.network import Embedded, Recipe
from deadheat.studies.dropout.pictures import cases_figure, sizes_figure
from deadheat.studies.dropout.rendered import Pictures
from deadheat.studies.dropout.words import Words, about_words, contact_sheet, render
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting

_SEED = 5


def run(setting: Setting, extent: Extent) -> Outcome:
    """Networks that learn pictures of words, with different dropout, and what they make of other words."""
    words = render(setting, extent)
    about = "Words as the fonts draw them (left, a font a column), and distorted, as the networks see them (right)."
    sheet = Picture("words", about, contact_sheet(words))
    text = [about_words(extent, len(words.fonts))]
    if not network.is_installed():
        why = "PyTorch is not installed: pip install 'deadheat[torch]'"
        what = ("words: the table of dropouts", "words: the size figure")
        return Outcome([Finding(each, "", Mark.NO_DATA, NOT_AT_HAND, CLAIM, why) for each in what], [sheet], text=text)
    cases, by_size = _measure(setting, extent, words)
    table = Picture("dropout", _about_dropout(extent), cases_figure(cases))
    size = Picture("size", _about_size(extent), sizes_figure(by_size))
    findings = [*of_cases(cases), *of_sizes(by_size, extent)]
    return Outcome(findings, [sheet, table, size], [*map(table_of, cases), size_table(by_size)], text)


def _measure(setting: Setting, extent: Extent, words: Words) -> tuple[list[Case], dict[str, dict[str, Band]]]:
    """All networks, one after another: the three cases, and the bands of the size figure for two amounts of dropout."""
    many, few = extent.many, extent.few
    cases = [
        Case("many-learned", f"{many} learned words against {few} unseen ones.", []),
        Case("few-learned", f"{few} learned words against {many} unseen ones.", []),
        Case("unseen", f"{few} unseen words (as train) against {many} other unseen ones (as test).", []),
    ]
    by_size = {}
    for seed in range(extent.seeds):
        for dropout in extent.dropouts:
            larger = _network(setting, extent, words, many, dropout, seed)
            smaller = _network(setting, extent, words, few, dropout, seed)
            pairs = _pairs_of_sets(extent, larger, smaller)
            for case, pair in zip(cases, pairs, strict=True):
                case.rows.append(compare(*pair, dropout=dropout, seed=seed, threads=setting.threads))
            if seed == 0 and dropout in _shown(extent):
                setting.say(f"  subsets of the words, dropout {dropout:g}")
                by_size[f"dropout {dropout:g}"] = _by_size(setting, extent, larger)
    return cases, by_size


def _network(setting: Setting, extent: Extent, words: Words, n_word: int, dropout: float, seed: int) -> Embedded:
    """The embeddings of a network that learned the first so many words.

    By one thread unless told otherwise: the networks are small, so that more help little, wait for each other when
    the processors have other work, and round differently.
    """
    rows = slice(n_word * extent.per_word)
    learned = Pictures(words.learned.images[rows], words.learned.words[rows])
    recipe = Recipe(dropout=dropout, seed=seed, epochs=extent.epochs, batch=extent.batch)
    return network.embedded(
        learned,
        words.unseen,
        recipe,
        setting.cache,
        threads=1 if setting.threads is None else setting.threads,
        say=lambda line: setting.say(f"  {line}"),
    )


def _pairs_of_sets(extent: Extent, larger: Embedded, smaller: Embedded) -> list[tuple[Sample, Sample]]:
    """Train and test of the three cases: many learned, few learned, and two sets of which nothing was learned."""
    cut = extent.few * extent.per_word
    few, many = slice(cut), slice(cut, None)
    return [
        (Sample(larger.train, larger.train_labels), Sample(larger.test[few], larger.test_labels[few])),
        (Sample(smaller.train, smaller.train_labels), Sample(smaller.test[many], smaller.test_labels[many])),
        (Sample(larger.test[few], larger.test_labels[few]), Sample(larger.test[many], larger.test_labels[many])),
    ]


def _shown(extent: Extent) -> tuple[float, ...]:
    """The amounts of dropout of the size figure."""
    return (extent.dropouts[0], 0.5)


def _by_size(setting: Setting, extent: Extent, embedded: Embedded) -> dict[str, Band]:
    """Learned and unseen words, plain and in groups, against the number of words in a random subset."""
    bands = {}
    for name, sample in (
        ("learned", Sample(embedded.train, embedded.train_labels)),
        ("unseen", Sample(embedded.test, embedded.test_labels)),
    ):
        draws = [
            [subset_values(sample, size, draw, setting.threads) for draw in range(extent.draws)]
            for size in extent.sizes
        ]
        for at, kind in enumerate((PLAIN, GROUPED)):
            values = [[value[at] for value in drawn] for drawn in draws]
            low, high = np.quantile(values, [0.025, 0.975], axis=1)
            bands[f"{name}, {kind}"] = Band(extent.sizes, np.mean(values, axis=1), low, high)
    return bands


def subset_values(sample: Sample, size: int, draw: int, threads: int | None) -> tuple[float, float]:
    """Hit@1 of so many words drawn at random: plain, and in groups."""
    words = np.unique(sample.labels)
    chosen = np.random.default_rng([_SEED, size, draw]).choice(words, size, replace=False)
    rows = np.isin(sample.labels, chosen)
    part = Sample(sample.embeddings[rows], sample.labels[rows])
    plain = evaluate(*part, measures=MEASURE, threads=threads)
    inside = grouped(*part, group_size=GROUP_SIZE, measures=MEASURE, seed=draw, threads=threads)
    return plain[MEASURE].expected, inside[MEASURE].expected


def _about_dropout(extent: Extent) -> str:
    return (
        f"Left: {MEASURE} against dropout, filled marks for train and open ones for test, in the first of "
        f"{extent.seeds} trainings. Right: train less test, with 95 % intervals over the words; small open marks are "
        "other trainings. In the last row neither set was learned: a gap there is no overfitting."
    )


def _about_size(extent: Extent) -> str:
    return (
        f"{MEASURE} of random subsets of the words, plain and in groups of {GROUP_SIZE} words, by a network that "
        f"learned {extent.many} words. Lines: means of {extent.draws} draws; bands: the middle 95 % of the draws."
    )
