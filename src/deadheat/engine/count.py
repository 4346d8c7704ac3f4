"""The table of all loops that count tie profiles, of which the first that fits is taken.

In come queries and a gallery with their labels, and settings; out comes a `TieProfile`. All loops count the same
integers, so the choice changes no result, only time and memory. No other module asks which distance, labels, rule for
ties or device there is in order to choose a loop.

The table has two parts. The rows for `Work` (a whole task, or a part of it) each return a profile. Some of them split
their work, and each part goes through the table again. The last of them, the counting pass, cuts its queries into
blocks, and the rows for `Blocks` share these among them:

    a task ──> portions │ parts by rules │ small groups │ histograms │ chunks │ a counting pass
                                                                                      │ blocks of queries
                                                           card │ sorted rows │ stream │ tiles
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deadheat.engine.counting import chunks, histograms, within
from deadheat.engine.counting.candidates import Judged, Relevance, Sharing
from deadheat.engine.counting.label_relevance import LabelRelevance
from deadheat.engine.counting.options import CountingOptions, Work
from deadheat.engine.counting.passes import Blocks, CountingPass
from deadheat.engine.counting.within import Gallery
from deadheat.engine.distances.distance import Distance
from deadheat.engine.distances.hamming import Hamming
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Exact, Ties
from deadheat.inputs.label_sets import LabelSets
from deadheat.inputs.labels import label_codes
from deadheat.inputs.pair_rules import RuledMask
from deadheat.inputs.samples import EmbeddingsLike, Pair
from deadheat.support.arrays import Int64
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import lazy

if TYPE_CHECKING:
    from deadheat.engine.counting import portions
    from deadheat.engine.counting.card import card_pass as cards
    from deadheat.engine.counting.portions import Portions
else:
    cards = lazy("deadheat.engine.counting.card.card_pass")
    portions = lazy("deadheat.engine.counting.portions")

SMALL_GROUP = 512  # items in a group
SHORT_CODE = 1024  # bits, from which on a pass takes less time,
SHORT_GRADED_CODE = 4096  # and where relevance is graded
SORTED_SHARE = 0.15  # of the gallery, relevant to a query
STREAMED_SHARDS = 3  # turns in which blocks would fit in memory
STREAMED_BYTES = 96 << 20  # of all columns, ready to be multiplied


# When a loop is taken -------------------------------------------------------------------------------------------------


def _exact(work: Work) -> bool:
    return isinstance(work.settings.rule, Exact)


def _in_portions(work: Work) -> bool:
    return work.settings.executor is not None or work.settings.checkpoint is not None


def _label_sets(work: Work) -> bool:
    return isinstance(work.labels, LabelSets)


def _given_pairs(work: Work) -> bool:
    return work.settings.relevant is not None


def _by_rules(work: Work) -> bool:
    is_ruled = isinstance(work.settings.junk, RuledMask) and work.settings.device is None
    return is_ruled and within.is_wide(work.settings)


def _small_groups(work: Work) -> bool:
    small = len(work.groups) > 0 and max(map(len, work.groups)) <= SMALL_GROUP
    return small and _exact(work) and work.settings.junk is None


def _short_codes(work: Work) -> bool:
    most = SHORT_GRADED_CODE if _label_sets(work) and work.settings.relevance == "count" else SHORT_CODE
    return _exact(work) and isinstance(work.distance, Hamming) and work.distance.dim < most


def _listed_sets(work: Work) -> bool:
    graded, on_card = work.settings.relevance == "count", work.settings.device is not None
    return _label_sets(work) and (graded or on_card or not _exact(work))


def _mostly_relevant(left: Blocks) -> Any:
    problem = left.counting.problem
    if not isinstance(problem.rule, Exact):
        return False
    return problem.relevance.sharing is not None or left.relevant_share >= SORTED_SHARE


def _rarely_together(left: Blocks) -> bool:
    return left.n_shard >= STREAMED_SHARDS and left.bytes_of_columns <= STREAMED_BYTES


# Loops that depend on the kind of labels or the device ----------------------------------------------------------------


def _portions(work: Work) -> TieProfile:
    return portions.profile_in_portions(work.pair, relevance_of(work), work.settings, portions_over)


def portions_over(distance: Distance, relevance: Relevance, settings: CountingOptions) -> Callable[[int], Portions]:
    """Return a function of n that returns the n portions of the counting pass over a distance."""
    return partial(portions.Portions, pass_over(distance, relevance, settings), _divide)


def _chunks(work: Work) -> TieProfile:
    return chunks.of_pairs(work, count_judged)


def _by_blocks(work: Work) -> TieProfile:
    counting = pass_over(work.distance, relevance_of(work), work.settings)
    return counting.run(_divide, work.settings.threads, work.settings.progress)


def pass_over(distance: Distance, relevance: Relevance, settings: CountingOptions) -> CountingPass:
    """Return the counting pass over a distance: on a card if the settings name one."""
    task = distance, settings.rule, relevance
    return CountingPass(*task) if settings.device is None else cards.CardPass(settings.device, *task)


def relevance_of(work: Work) -> Relevance:
    """Return the relevance that the labels give."""
    labels, gallery_labels, candidates = work.labels, work.gallery_labels, work.candidates
    if not isinstance(labels, LabelSets):
        return Relevance(*label_codes(labels, gallery_labels), candidates)
    others = labels if gallery_labels is None else gallery_labels
    n_sharing = LabelRelevance(labels, others).n_relevant()
    return Sharing.of(labels.words, others.words, n_sharing, candidates._replace(symmetric=False))


# The table ------------------------------------------------------------------------------------------------------------


class Loop(NamedTuple):
    """A row of the table: a loop, the work that it is taken for, and the measurement that justifies it.

    For work, `when` gives True or False, and `loop` a profile, or None for work that it cannot decide, which the next
    rows then try. For the blocks of a pass that no row above took, `when` gives True or False for each or for all.
    Measurements name their module, as in ``python -m benchmarks.loops``; they are of one thread.
    """

    kind: type[Work] | type[Blocks]
    name: str
    when: Callable[[Any], Any]
    loop: Callable[..., Any]
    why: str
    measured: str


LOOPS = (
    Loop(
        Work, "portions", _in_portions, _portions,
        why="The workers of an executor count portions of a pass, or a checkpoint keeps them; their integers add up.",
        measured="two processes take at most 1.15 times as long as two threads (benchmarks.cluster)",
    ),
    Loop(
        Work, "parts by rules", _by_rules, lambda work: within.by_rules(work, _count),
        why="A mask of junk between all rows takes n² bytes. Each part of the queries has its own rows of it, in turn.",
        measured="64 MiB a thread (`within.CELLS`), where the mask of 20,000 rows has 400 MB",
    ),
    Loop(
        Work, "given pairs", _given_pairs, _chunks,
        why="Relevant pairs of a matrix, lists or a radius are listed for some queries at a time. So is what a rule "
        "leaves out: it is placed among them and taken from the counts, and no mask is written.",
        measured="20,000 rows of 32 numbers with a radius and a window left out: 131 MB above the rows",
    ),
    Loop(
        Work, "small groups", _small_groups, lambda work: within.ranked_whole(work, _count),
        why="A pass has a fixed cost. The scores of few items, in float64, mostly decide all comparisons at once.",
        measured="20,000 rows in groups of 40: 0.11 s, by passes 0.46 s (benchmarks.loops)",
    ),
    Loop(
        Work, "histograms", _short_codes, histograms.profile_of,
        why="A distance of short codes is one of few integers: counting the items at each of them needs no sort.",
        measured="20,000 codes 0.11 s, by a pass 0.70 s; with label sets 0.05 s and 0.91 s (benchmarks.loops); 4,000 "
        "of 2,048 bits in classes of 5 and 100: 0.34 s, by a pass 0.04 and 0.12 s",
    ),
    Loop(
        Work, "chunks", _listed_sets, _chunks,
        why="Grades, rules that round and a card need relevant pairs as a list, which fits in memory for some queries.",
        measured="50 MB for the 524,288 pairs of a chunk (`chunks.PAIRS`), whatever the number of queries",
    ),
    Loop(
        Work, "a counting pass", lambda work: True, _by_blocks,
        why="Only relevant items are sorted; all others are counted between them, and no matrix of distances is kept.",
        measured="10,000 rows in 500 classes: 0.28 s, if all rows are sorted 0.83 s (benchmarks.loops)",
    ),
    Loop(
        Blocks, "card", lambda left: left.counting.card is not None, CountingPass.tiles,
        why="A card multiplies much faster. Scores that its bounds leave undecided go to the later steps of the core.",
        measured="20,000 × 512 on an H200: 0.01 to 0.016 s, an argsort there 0.055 s (benchmarks.card)",
    ),
    Loop(
        Blocks, "sorted rows", _mostly_relevant, CountingPass.sort,
        why="If much of the gallery is relevant, there are nearly as many groups as items to count between them.",
        measured="10,000 rows in 2 classes: 0.95 s, by tiles 2.8 s; in 6: 0.92 s and 1.23 s (benchmarks.loops)",
    ),
    Loop(
        Blocks, "stream", _rarely_together, CountingPass.stream,
        why="If few blocks fit in memory together, a tile seldom serves two of them: each is counted alone, and freed.",
        measured="20,000 rows in 10 classes: 4.1 s, by tiles 5.7 s; in 50: 2.0 s and 2.4 s (benchmarks.loops)",
    ),
    Loop(
        Blocks, "tiles", lambda left: True, CountingPass.tiles,
        why="Scores are counted while they are in cache, and without a gallery a tile of two blocks counts for both.",
        measured="10,000 × 512 in 500 classes: 0.83 s, if each tile counts for one block 1.29 s (benchmarks.loops)",
    ),
)  # fmt: skip


def count_each(pair: Pair, settings: CountingOptions, rules: Sequence[Ties]) -> list[TieProfile]:
    """Return the profile by each of some rules, none of them exact, from one counting pass if that is their loop."""
    works = [Work(pair, replace(settings, rule=rule)) for rule in rules]
    loops = {next(row.name for row in LOOPS if row.kind is Work and row.when(work)) for work in works}
    if loops != {"a counting pass"} or settings.device is not None:
        return [_count(work) for work in works]
    counting = CountingPass(works[0].distance, rules[0], relevance_of(works[0]), *rules[1:])
    return counting.run_all(_divide, settings.threads, settings.progress)


def _count(work: Work) -> TieProfile:
    """Count work by the first loop that takes it."""
    for row in LOOPS:
        if row.kind is Work and row.when(work):
            profile: TieProfile | None = row.loop(work)
            if profile is not None:
                return profile
    raise AssertionError("the counting pass takes all work")


def _divide(blocks: Blocks) -> Iterator[tuple[Callable[..., None], Int64]]:
    """Yield the loops for blocks of a pass, and the numbers of the blocks that each takes."""
    for row in LOOPS:
        if row.kind is Blocks and len(blocks.numbers):
            taken = np.broadcast_to(row.when(blocks), blocks.numbers.shape)
            if taken.any():
                yield row.loop, blocks.numbers[taken]
            blocks = Blocks(blocks.counting, blocks.numbers[~taken])


# What is counted ------------------------------------------------------------------------------------------------------


@plain_floats
def count(pair: Pair, settings: CountingOptions, opened: Distance | None = None) -> TieProfile:
    """Return the profile of open queries and gallery, or of leave one out, with settings fitted to them.

    `opened` is the distance, if the caller has it.

    Examples
    --------
    >>> from deadheat.inputs import samples
    >>> settings = CountingOptions.checked(distance="euclidean")
    >>> count(samples.open_pair([[0], [1], [-1]], [1, 1, 2], None, None), settings)[0].tied
    array([2])
    """
    return _count(Work(pair, settings, opened))


@plain_floats
def count_judged(distance: Distance, judged: Judged, settings: CountingOptions) -> TieProfile:
    """Return the binary profile of an open distance whose relevant pairs are listed."""
    return pass_over(distance, judged, settings).run(_divide, settings.threads, settings.progress)


@plain_floats
def count_judged_in_portions(pair: Pair, judged: Judged, settings: CountingOptions) -> TieProfile:
    """Return the same of queries and a gallery that the workers of an executor open."""
    return portions.profile_in_portions(pair, judged, settings, portions_over)


@plain_floats
def opened_portions(pair: Pair, settings: CountingOptions) -> Callable[[int], Portions]:
    """Return a function of n that returns the n portions of a profile, of one label a row."""
    work = Work(pair, settings)
    return portions_over(work.distance, relevance_of(work), settings)


@plain_floats
def count_within(
    embeddings: EmbeddingsLike,
    classes: Int64,
    groups: Sequence[Int64],
    gallery: Gallery | None = None,
    *,
    settings: CountingOptions,
    report: Callable[[int], None] = lambda pairs: None,
) -> TieProfile:
    """Rank every item of every group against the others of its group, or against those of a gallery in the group.

    Embeddings are those of `deadheat.Task`, `classes` equal where labels are. Of the settings, junk is a mask, or
    None. An item can be in several groups. The profile has one query for each item of each group, in the order of
    `groups`. `report` is called with the number of pairs that have been done, from any thread.

    Examples
    --------
    >>> settings = CountingOptions.checked(distance="euclidean")
    >>> groups = [np.array([0, 1]), np.array([1, 2, 3])]
    >>> profile = count_within([[0], [1], [9], [10]], np.array([0, 1, 0, 0]), groups, settings=settings)
    >>> profile.n_ranked, profile.n_relevant
    (array([1, 1, 2, 2, 2]), array([0, 0, 0, 1, 1]))
    """
    small = gallery is None and all(len(group) <= SMALL_GROUP for group in groups)
    together = small and isinstance(settings.rule, Exact) and settings.junk is None
    return within.profile_groups(embeddings, classes, groups, gallery, settings, report, _count, together)
