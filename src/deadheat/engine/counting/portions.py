"""Portions of a counting pass: each is counted alone, in any process and any order, and they add up to the profile.

Queries and columns are cut into equal shares. If queries are few, a portion is one share of them against one share of
the columns. Leave one out is symmetric: a tile serves its rows and its columns, and two shares of the diagonal make a
portion, which is as much work as any other. If a query has many relevant items, which each portion of it finds again,
a portion is a share of the queries against all columns.

             columns, in shares              leave one out
    queries  [ 0 | 1 | 2 ]                   [ 0 | 1 | 2 | 3 ]
    in       [ 3 | 4 | 5 ]                   [   | 0 | 4 | 5 ]
    shares                                   [   |   | 6 | 7 ]
                                             [   |   |   | 6 ]

The cut follows from the data and the number of portions alone: not from threads, memory, a card or an executor.

    pair, relevance ──> Portions.count here, or CountingJob ──executor──> Portions.count there ──> Sums ──> TieProfile
                                     └──────> checkpoint <──────┘
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deadheat.engine.counting import executors
from deadheat.engine.counting.candidates import Relevance
from deadheat.engine.counting.checkpoint import Checkpoint, report_found
from deadheat.engine.counting.layout import Share
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.passes import NOTHING_KEPT, Assembly, CountingPass, Divide, Section
from deadheat.engine.distances.distance import Distance
from deadheat.engine.profiles.portions import Portion, Sums
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import ExecutorError
from deadheat.inputs.samples import Pair
from deadheat.inputs.source import Source, digest_of_rows
from deadheat.support.arrays import Array, Int64
from deadheat.support.checks import cause
from deadheat.support.lazy import hashlib, lazy
from deadheat.support.progress import Reporting

if TYPE_CHECKING:
    from deadheat.engine.counting.card import device as devices
else:
    devices = lazy("deadheat.engine.counting.card.device")

DEFAULT = 72  # portions: half the square of 12 shares, and divisible by 2, 3, 4, 6, 8 and 9
PAIRS, MOST_PAIRS = 1 << 20, 1 << 38  # in a portion: some hundredths of a second; some minutes, else there are more
QUERIES = 1024  # in a share at least, because each share prepares the columns for products again;
FEW_QUERIES, FEW_SHARES = 128, 8  # if they are few, this number, for this number of shares
COLUMNS, TIMES_RELEVANT = 1 << 10, 1000  # in a share of columns at least; and times the relevant items of a query
UNEVEN = 1.25  # work of the largest portion at most, relative to the mean


def default_number(relevance: Relevance) -> int:
    """Return the number of portions of a run; it follows from the data alone, so that a run can resume elsewhere."""
    n_query, n_item = len(relevance.with_relevant()), len(relevance.gallery_class)
    n_pair, most = n_query * n_item, _most_columns(relevance)
    n = max(1, min(DEFAULT, -(-n_pair // PAIRS)), n_pair // MOST_PAIRS)
    if relevance.candidates.symmetric and most > 1:
        return max(1, (min(math.isqrt(2 * n), most) // 2 * 2) ** 2 // 2)
    shares = min(n, _most_queries(n_query))
    return shares * max(1, min(n // shares, most))


def _most_columns(relevance: Relevance) -> int:
    """Return the number of shares that columns are worth cutting into."""
    return len(relevance.gallery_class) // max(COLUMNS, int(TIMES_RELEVANT * relevance.mean_relevant()))


def _most_queries(n_query: int) -> int:
    return max(1, n_query // min(QUERIES, max(FEW_QUERIES, n_query // FEW_SHARES)))


Cell = list[tuple[int, int]]  # shares of queries and of columns, counted together


class Portions:
    """The `n` portions of a counting pass."""

    def __init__(self, counting: CountingPass, divide: Divide, n: int) -> None:
        self.counting, self.divide, self.n = counting, divide, n
        layout, relevance = counting.layout, counting.problem.relevance
        self._shares, self._columns, self._symmetric = n, 1, False
        if n == 1 or _most_columns(relevance) < 2:
            return
        if layout.symmetric:
            self._shares, self._symmetric = _even_shares(n), True
        else:
            most = _most_queries(len(relevance.with_relevant()))
            self._shares = max(k for k in range(1, 1 + min(n, most)) if n % k == 0)
            self._columns = n // self._shares

    def cells(self, number: int) -> list[Cell]:
        if not self._symmetric:
            return [[divmod(number, self._columns)]]
        every: list[Cell] = []
        for k in range(self._shares):
            every += [[(k, k), (k + 1, k + 1)]] if k % 2 == 0 else []
            every += [[(k, columns)] for columns in range(k + 1, self._shares)]
        return every[Share(number, self.n).of(0, len(every))]

    def count(self, number: int, threads: int) -> Portion:
        """Count a portion."""
        problem = self.counting.problem
        candidates, n_ranked = problem.relevance.candidates, np.empty(0, dtype=np.int64)
        counted = [self._counted(cell, threads) for cell in self.cells(number)]
        most = np.zeros_like(problem.most_groups)
        for queries, _ in counted:
            most[queries] = problem.most_groups[queries]
        sums = Sums(most, len(candidates.ranked), problem.rule.bounds_only)
        for queries, assembly in counted:
            sums.add_groups(queries, assembly.groups.chosen(queries))
        return sums.portion(number, self.n, n_ranked if number else candidates.n_ranked())

    def _counted(self, cell: Cell, threads: int) -> tuple[Int64, Assembly]:
        """Return the queries of a cell and their groups."""
        if not self._symmetric and self._columns == 1:
            part = self.counting.of_share(Share(cell[0][0], self._shares))
            queries, assembly = self._assembly(part.cut_up[0])
            part.count(self.divide, assembly, threads, _ignored)
            return queries, assembly
        blocks, sections, first = self._symmetric_cell(cell) if self._symmetric else self._plain_cell(cell)
        queries, assembly = self._assembly(blocks)
        shards = [({b: blocks[b] for b in shard}, sections) for shard in self.counting.layout.shards(blocks)]
        self.counting.count_shards(shards, assembly, threads, _ignored, outside_tiles=first)
        return queries, assembly

    def _assembly(self, blocks: list[Int64]) -> tuple[Int64, Assembly]:
        queries = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *blocks]))
        return queries, Assembly(self.counting.problem, queries)

    def _plain_cell(self, cell: Cell) -> tuple[list[Int64], list[Section], bool]:
        ((shares, columns),) = cell
        blocks, ranges = self.counting.layout.cut(Share(shares, self._shares), Share(columns, self._columns))
        return blocks, [Section(ranges, range(len(blocks)))], columns == 0

    def _symmetric_cell(self, cell: Cell) -> tuple[list[Int64], list[Section], bool]:
        """Return blocks, their tiles, and whether to count the items in no tile: for each block, once."""
        first = len(cell) == 2  # two shares, each against itself; else one against the other
        blocks: list[Int64] = []
        halves = []
        for share in [k for k, _ in cell] if first else cell[0]:
            own, ranges = self.counting.layout.cut_symmetric(Share(share, self._shares), own=True, first=len(blocks))
            halves.append((ranges, range(len(blocks), len(blocks) + len(own))))
            blocks += own
        (ranges, rows), (others, columns) = halves
        return blocks, [Section(ranges, rows if first else columns), Section(others, columns if first else rows)], first


def _even_shares(n: int) -> int:
    """Return an even number of shares, whose cells, half their square, `n` portions share about equally."""
    return next(k for k in range(2, 4 * n + 4, 2) if -(-(k * k // 2) // n) * n <= UNEVEN * (k * k // 2))


def _ignored(_: int) -> None:
    """Ignore the progress within a portion."""


Make = Callable[[Distance, Relevance, CountingOptions], Callable[[int], Portions]]


@dataclass(frozen=True)
class CountingJob:
    """The portions of a counting pass, as they are sent to the workers of an executor."""

    query: Source
    gallery: Source | None
    relevance: Relevance
    settings: CountingOptions
    make: Make
    n: int

    def open(self) -> Callable[[int], Portion]:
        """Return the function that counts a portion by its number."""
        device = self.settings.worker_device
        settings = replace(self.settings, device=None if device is None else devices.open_card(device))
        portions = self.make(settings.open(self.query, self.gallery), self.relevance, settings)(self.n)
        return lambda number: portions.count(number, settings.threads)


def profile_in_portions(pair: Pair, relevance: Relevance, options: CountingOptions, make: Make) -> TieProfile:
    """Return the profile of one label a row or of judgements, by the executor and checkpoint of the options."""
    n, candidates = default_number(relevance), relevance.candidates
    n_pair = len(relevance.with_relevant()) * len(relevance.gallery_class)
    sums = Sums(relevance.most_relevant(), len(candidates.ranked), options.rule.bounds_only)
    with ExitStack() as stack:
        kept, left = None, [*range(n)]
        if options.checkpoint is not None:
            kept = stack.enter_context(Checkpoint(options.checkpoint, _identity(pair, relevance, options, n)))
            loaded = {number: arrays for number in left if (arrays := kept.load(number)) is not None}
            for arrays in loaded.values():
                sums.add(Portion.of_arrays(arrays))
            left = [number for number in left if number not in loaded]
            report_found(kept, len(loaded), n, options.progress)
        done = n - len(left)
        try:
            with Reporting(options.progress, n_pair, done=n_pair * done // n) as report:
                for number, portion in stack.enter_context(closing(_counted(pair, relevance, options, make, n, left))):
                    _settle(sums, number, n, portion)
                    if kept is not None:
                        kept.save(number, portion.arrays())
                    done += 1
                    report(n_pair * done // n - n_pair * (done - 1) // n)
        except (KeyboardInterrupt, ExecutorError) as stopped:
            of_all = NOTHING_KEPT if kept is None else f"{done} of {n} portions are kept in {kept}"
            stopped.args = ("; ".join([*map(str, stopped.args), of_all]),)
            raise
    return TieProfile.of_packed(*sums.total())


def _identity(pair: Pair, relevance: Relevance, options: CountingOptions, n: int) -> dict[str, str]:
    """Return all that determines a profile and its portions, by name."""
    candidates, rule = relevance.candidates, options.rule.describe(options.distance)
    known = {"query embeddings": digest_of_rows(pair.query.embeddings), "distance": options.distance, "ties": rule}
    if pair.gallery is not None:
        known["gallery embeddings"] = digest_of_rows(pair.gallery.embeddings)
        if candidates.itself is not None:
            known["items left out"] = _digest(candidates.itself)
    known["labels"] = _digest(relevance.query_class, relevance.gallery_class)
    if candidates.junk is not None or not candidates.ranked.all():
        known["junk"] = _digest(candidates.ranked, *([] if candidates.junk is None else [candidates.junk]))
    return known | {"portions": str(n)}


def _digest(*arrays: Array) -> str:
    digest = hashlib.blake2b(digest_size=32)
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype.str} ".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _counted(
    pair: Pair, relevance: Relevance, options: CountingOptions, make: Make, n: int, left: list[int]
) -> Generator[tuple[int, Portion]]:
    """Yield the portions that are left, each with its number."""
    query, gallery = pair.query.embeddings, pair.gallery and pair.gallery.embeddings
    if options.executor is None:
        if left:
            portions = make(options.open(query, gallery), relevance, options)(n)
            yield from ((number, portions.count(number, options.threads)) for number in left)
        return
    options.open(executors.first_row(query), gallery and executors.first_row(gallery))  # what does not fit is known now
    plain = replace(
        options, threads=options.worker_threads, junk=None, exclude=None, progress=False, checkpoint=None, executor=None
    )
    yield from executors.answers(options.executor, CountingJob(query, gallery, relevance, plain, make, n), left)


def _settle(sums: Sums, number: int, n: int, portion: Any) -> None:
    """Add an answer, which is wrong if an executor has not returned what its task did."""
    if not isinstance(portion, Portion) or (portion.number, portion.n) != (number, n):
        raise executors.not_an_answer(portion)
    try:
        sums.add(portion)
    except (LookupError, TypeError, ValueError) as error:
        raise ExecutorError(f"a portion does not fit the others: {cause(error)}") from error
