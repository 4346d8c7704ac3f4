"""How tie profiles are counted: one table of all loops, of which the first that fits is taken.

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
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deadheat.engine.counting import chunks, histograms, within
from deadheat.engine.counting.candidates import Judged, Relevance, Sharing
from deadheat.engine.counting.label_relevance import LabelRelevance
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.passes import Blocks, CountingPass
from deadheat.engine.counting.within import Gallery
from deadheat.engine.counting.work import Work
from deadheat.engine.distances.distance import Distance
from deadheat.engine.distances.hamming import Hamming
from deadheat.engine.profiles.profile import TieProfile
from deadheat.engine.ties.rule import Exact, Ties
from deadheat.inputs.label_sets import LabelSets
from deadheat.inputs.labels import label_codes
from deadheat.inputs.pair_rules import PairRules
from deadheat.inputs.samples import EmbeddingsLike, Pair
from deadheat.support.arrays import Int64
from deadheat.support.floats import plain_floats
from deadheat.support.lazy import lazy

if TYPE_CHECKING:
    from deadheat.engine.counting import portions
    from deadheat.engine.counting.card import card_pass as cards
    from deadheat.engine.counting.card.device import Card
else:
    cards = lazy("deadheat.engine.counting.card.card_pass")
    portions = lazy("deadheat.engine.counting.portions")

SMALL_GROUP = 512  # items in a group
SHORT_CODE = 4096  # bits
SORTED_SHARE = 0.15  # of the gallery, relevant to a query
STREAMED_SHARDS = 3  # turns in which blocks would fit in memory
STREAMED_BYTES = 96 << 20  # of all columns, ready to be multiplied


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
def count_judged(rows: Distance | Pair, judged: Judged, settings: CountingOptions) -> TieProfile:
    """Return the binary profile of an open distance whose relevant pairs are listed; of a pair, by an executor."""
    if isinstance(rows, Pair):
        return portions.profile_in_portions(rows, judged, settings, pass_over)
    return pass_over(rows, settings.rule, judged, settings.device).run(settings.threads, settings.progress)


def counting_pass(pair: Pair, settings: CountingOptions) -> CountingPass:
    """Return the pass over rows with one label each, of which a task gives portions."""
    work = Work(pair, settings)
    return pass_over(work.distance, settings.rule, relevance_of(work), settings.device)


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
    return within.profile_groups(embeddings, classes, groups, gallery, settings, report, _count)


# The table -----------------------------------------------------------------------------------------------------------


class Loop(NamedTuple):
    """A row of the table: a loop, for which work it is taken, and the measurement that justifies it.

    For work, `when` gives True or False, and `loop` a profile, or None for work that it cannot decide, which the next
    rows then try. For the blocks of a pass that no row above took, `when` gives True or False for each or for all.
    """

    of: type[Work] | type[Blocks]
    name: str
    when: Callable[[Any], Any]
    loop: Callable[..., Any]
    why: str
    measured: str


LOOPS = (
    Loop(
        Work, "portions", lambda work: _elsewhere(work), lambda work: _portions(work),
        why="An executor has the workers; each counts portions of a pass, whose integers add up.",
        measured="two processes 0.55 of the time of one (python -m benchmarks --only cluster)",
    ),
    Loop(
        Work, "parts by rules", lambda work: _by_rules(work), lambda work: within.by_rules(work, _count),
        why="A mask of junk between all rows takes n² bytes; part of the queries needs its own rows of it alone.",
        measured="",
    ),
    Loop(
        Work, "small groups", lambda work: _small_group(work), within.ranked_whole,
        why="A pass has a fixed cost. The scores of few items, in float64, mostly decide all comparisons at once.",
        measured="",
    ),
    Loop(
        Work, "histograms", lambda work: _short_codes(work), lambda work: _histograms(work),
        why="A distance of short codes is one of few integers: counting how many items are at each needs no sort.",
        measured="",
    ),
    Loop(
        Work, "chunks", lambda work: _listed_sets(work), lambda work: chunks.of_label_sets(work, count_judged),
        why="Grades, rules that round and a card need relevant pairs as a list, which fits in memory for some queries.",
        measured="",
    ),
    Loop(
        Work, "a counting pass", lambda work: True, lambda work: _by_blocks(work),
        why="Only relevant items are sorted; all others are counted between them, and nothing of n² is kept.",
        measured="",
    ),
    Loop(
        Blocks, "card", lambda left: left.counting.card is not None, CountingPass.tiles,
        why="A card multiplies much faster, and what its bounds leave undecided goes to the steps of the core.",
        measured="",
    ),
    Loop(
        Blocks, "sorted rows", lambda left: _mostly_relevant(left), CountingPass.sort,
        why="Where much of the gallery is relevant, the places between relevant items are nearly as many as items.",
        measured="",
    ),
    Loop(
        Blocks, "stream", lambda left: _rarely_together(left), CountingPass.stream,
        why="Where few blocks fit in memory together, a tile seldom serves two of them: each is counted and freed.",
        measured="",
    ),
    Loop(
        Blocks, "tiles", lambda left: True, CountingPass.tiles,
        why="A tile of scores is in cache when it is counted, and for leave one out serves both of its blocks.",
        measured="",
    ),
)  # fmt: skip


def _count(work: Work) -> TieProfile:
    """Count work by the first loop that takes it."""
    for row in LOOPS:
        if row.of is Work and row.when(work):
            profile: TieProfile | None = row.loop(work)
            if profile is not None:
                return profile
    raise AssertionError("the counting pass takes all work")


def _divide(blocks: Blocks) -> Iterator[tuple[Callable[..., None], Int64]]:
    """Yield the loops for blocks of a pass, and the numbers of the blocks that each takes."""
    for row in LOOPS:
        if row.of is Blocks and len(blocks.numbers):
            taken = np.broadcast_to(row.when(blocks), blocks.numbers.shape)
            if taken.any():
                yield row.loop, blocks.numbers[taken]
            blocks = Blocks(blocks.counting, blocks.numbers[~taken])


# When a row is taken -------------------------------------------------------------------------------------------------


def _exact(work: Work) -> bool:
    return isinstance(work.settings.rule, Exact)


def _label_sets(work: Work) -> bool:
    return isinstance(work.labels, LabelSets)


def _elsewhere(work: Work) -> bool:
    return work.settings.executor is not None or work.settings.checkpoint is not None


def _by_rules(work: Work) -> bool:
    return isinstance(work.settings.junk, PairRules) and work.settings.device is None


def _small_group(work: Work) -> bool:
    small = work.group is not None and len(work.group) <= SMALL_GROUP
    return small and _exact(work) and work.settings.junk is None


def _short_codes(work: Work) -> bool:
    return _exact(work) and isinstance(work.distance, Hamming) and work.distance.dim < SHORT_CODE


def _listed_sets(work: Work) -> bool:
    graded, on_card = work.settings.relevance == "count", work.settings.device is not None
    return _label_sets(work) and (graded or on_card or not _exact(work))


def _mostly_relevant(left: Blocks) -> Any:
    problem = left.counting.problem
    if not isinstance(problem.rule, Exact):
        return False
    return isinstance(problem.relevance, Sharing) or left.relevant_share >= SORTED_SHARE


def _rarely_together(left: Blocks) -> bool:
    return left.n_shard >= STREAMED_SHARDS and left.bytes_of_columns <= STREAMED_BYTES


# Loops of the table that depend on the kind of labels or device -------------------------------------------------------


def _portions(work: Work) -> TieProfile:
    return portions.profile_in_portions(work.pair, relevance_of(work), work.settings, pass_over)


def _histograms(work: Work) -> TieProfile:
    return histograms.of_label_sets(work) if _label_sets(work) else histograms.of_classes(work)


def _by_blocks(work: Work) -> TieProfile:
    settings = work.settings
    counting = pass_over(work.distance, settings.rule, relevance_of(work), settings.device)
    return counting.run(settings.threads, settings.progress)


def pass_over(distance: Distance, rule: Ties, relevance: Relevance, card: Card | None) -> CountingPass:
    """Return the counting pass over a distance, on a card or on the processor."""
    task = distance, rule, relevance, _divide
    return CountingPass(*task) if card is None else cards.CardPass(card, *task)


def relevance_of(work: Work) -> Relevance:
    """Return the relevance that the labels give."""
    labels, gallery_labels, candidates = work.labels, work.gallery_labels, work.candidates
    if not isinstance(labels, LabelSets):
        return Relevance(*label_codes(labels, gallery_labels), candidates)
    others = labels if gallery_labels is None else gallery_labels
    n_sharing = LabelRelevance(labels, others).n_relevant()
    return Sharing.of(labels.words, others.words, n_sharing, candidates._replace(symmetric=False))
