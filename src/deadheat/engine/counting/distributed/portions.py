"""A counting pass in portions, which any process can count, and their sums: the counts of the whole pass.

The columns of each portion are other ones, so that what is irrelevant and closer, or tied, is summed over portions:

                 columns, in groups                      leave one out, where a tile serves both of its sides:
    queries    [ 0,0* | 0,1 | 0,2 ]                      [ 0,0* | 0,1  | 0,2  ]
    in groups  [ 1,0* | 1,1 | 1,2 ]                      [      | 1,1* | 1,2  ]
                                                         [      |      | 2,2* ]
The first portion of a group of queries (*) also counts what is in no tile, and says what is relevant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deadheat.engine.counting.candidates import Candidates
from deadheat.engine.counting.layout import ColumnRange
from deadheat.engine.counting.passes import Assembly, CountingPass, Section
from deadheat.engine.profiles.profile import TieProfile
from deadheat.errors import ClusterError
from deadheat.support import scratch
from deadheat.support.arrays import Array, Int64, offsets_of, spread

_OF_FIRST = ("n_group", "n_relevant", "closer_relevant", "tied_relevant")


class Cut(NamedTuple):
    """Into how many groups queries and columns are cut; symmetric where both are the same items."""

    queries: int
    columns: int
    symmetric: bool

    def portions(self) -> list[tuple[int, int]]:
        """All groups of queries and of columns, large ones first, so that the last workers end at about one time."""
        first = [(group, group if self.symmetric else 0) for group in range(self.queries)]
        rest = [
            (group, columns)
            for group in range(self.queries)
            for columns in range(group + 1 if self.symmetric else 1, self.columns)
        ]
        return rest + first


class PortionedPass:
    """A counting pass whose portions are counted one by one, in whatever order and by whomever."""

    def __init__(self, counting_pass: CountingPass, cut: Cut) -> None:
        self._pass, self._cut = counting_pass, cut
        self._queries, ranges = counting_pass.cut_up
        self._blocks = _grouped([len(queries) for queries in self._queries], cut.queries)
        group_of = np.repeat(np.arange(cut.queries), [len(group) for group in self._blocks]).tolist()
        self._ranges: list[list[ColumnRange]] = [[] for _ in range(cut.columns)]
        loose = [columns for columns in ranges if columns.block < 0]
        for number, group in enumerate(_grouped([len(columns.columns) for columns in loose], cut.columns)):
            self._ranges[number] += [loose[place] for place in group]
        for columns in ranges:
            if columns.block >= 0:
                self._ranges[group_of[columns.block]].append(columns)

    def count(self, queries: int, columns: int, threads: int) -> dict[str, Array]:
        """The counts of a portion: arrays named ``group.what``, one entry a query or a tie group of the queries.

        ``closer`` and ``tied`` are irrelevant items.
        """
        both = self._cut.symmetric and queries != columns
        groups = [queries, columns] if both else [queries]
        sections = [Section(self._ranges[columns], self._blocks[queries])]
        if both:
            sections.append(Section(self._ranges[queries], self._blocks[columns]))
        numbers = sorted(number for group in groups for number in self._blocks[group])
        assembly = Assembly(self._pass.problem, self._queries_of(numbers))
        first = columns == (queries if self._cut.symmetric else 0)
        for shard in self._pass.layout.shards([self._queries[number] for number in numbers]):
            blocks = {numbers[place]: self._queries[numbers[place]] for place in shard}
            self._pass.count_shard(blocks, sections, assembly, threads, lambda _: None, outside_tiles=first)
        found: dict[str, Array] = {}
        for group in groups:
            known = assembly.of(np.sort(self._queries_of(self._blocks[group])))
            closer, closer_relevant, tied, tied_relevant = (known[f"groups_{k}"] for k in range(4))
            counts = {"queries": known["queries"], "closer": closer - closer_relevant, "tied": tied - tied_relevant}
            if first:
                counts |= {name: known[name] for name in ("n_group", "n_relevant")}
                counts |= {"closer_relevant": closer_relevant, "tied_relevant": tied_relevant}
            for name, array in counts.items():
                short = array.max(initial=0) < 2**31  # what travels is half as long
                found[f"{group}.{name}"] = array.astype(np.int32) if short else array
        return found

    def _queries_of(self, blocks: list[int]) -> Int64:
        return np.concatenate([np.empty(0, dtype=np.int64), *(self._queries[number] for number in blocks)])


def _grouped(sizes: list[int], n_group: int) -> list[list[int]]:
    """Neighbours in groups of about the same size together; some may be empty."""
    middle = np.cumsum(sizes) - np.array(sizes) / 2
    group = np.minimum(n_group - 1, middle * n_group // max(1, sum(sizes))).astype(np.int64)
    return [np.flatnonzero(group == number).tolist() for number in range(n_group)]


class Sums:
    """Sums of the counts of portions, whatever the order in which these come: they are integers."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, Int64]] = {}  # of each group of queries; `closer` and `tied` are irrelevant

    def add(self, counts: dict[str, Array], times: int) -> None:
        """Add the counts of a portion, so many times; `times` is below 0 for what other portions counted too often."""
        for name in {key.partition(".")[0] for key in counts}:
            queries, closer, tied = (counts[f"{name}.{what}"] for what in ("queries", "closer", "tied"))
            zeros = np.zeros((2, len(closer)), dtype=np.int64)
            group = self._groups.setdefault(name, {"queries": queries, "closer": zeros[0], "tied": zeros[1]})
            if not np.array_equal(group["queries"], queries) or len(group["closer"]) != len(closer):
                raise ClusterError("workers must agree on the tie groups of a query, but two do not: do all of them "
                                   "see the same files?")  # fmt: skip
            group["closer"] += times * closer.astype(np.int64)
            group["tied"] += times * tied.astype(np.int64)
            if f"{name}.n_group" in counts:
                group |= {what: counts[f"{name}.{what}"].astype(np.int64) for what in _OF_FIRST}

    def profile(self, candidates: Candidates, bounds_only: bool) -> TieProfile:
        n_group, n_relevant = np.zeros((2, candidates.n_query), dtype=np.int64)
        for group in self._groups.values():
            n_group[group["queries"]], n_relevant[group["queries"]] = group["n_group"], group["n_relevant"]
        offsets = offsets_of(n_group)
        arrays = scratch.arrays(4, int(offsets[-1]))
        for group in self._groups.values():
            places = spread(offsets[group["queries"]], group["n_group"])
            for k, what in enumerate(("closer", "tied")):
                arrays[2 * k][places] = group[what] + group[f"{what}_relevant"]
                arrays[2 * k + 1][places] = group[f"{what}_relevant"]
            scratch.let_go(*arrays)
        closer, closer_relevant, tied, tied_relevant = arrays
        return TieProfile(
            offsets, closer, closer_relevant, tied, tied_relevant, candidates.n_ranked(), n_relevant,
            bounds_only=bounds_only, check=False,
        )  # fmt: skip
