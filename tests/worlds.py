"""Small worlds, whole: every ranking of a few items in every partition into tie groups, against all orders of its ties.

    python -m tests.worlds                                    all rankings of up to 7 items, with every measure: minutes
    python -m tests.worlds --items 5 --only mAP               smaller, and some measures
    python -m tests.worlds --parts rows sets differences      the worlds of world_rows, world_sets and world_differences
    python -m tests.worlds --parts pairs --state done.txt     all rows of two float8 numbers: half an hour

With `--state`, a run goes on after what is finished.

An item has grade 0, 1 or 2, and up to two relevant items are missing. Items of one group and grade are interchangeable:
a ranking stands for all that differ in which of them is which: a group is a multiset of grades. Its orders are the
distinct sequences of these grades, each of the same number of permutations, and so equally likely. A cut leaves the
rest as one group of items that were not returned.

Values are those of `graded_queries.value`, in fractions, as integers in units of 10^-40: sums over orders are exact.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import accumulate, combinations, pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # for `python -m tests.worlds`
import world_differences
import world_rows
import world_sets
from graded_queries import profile_of, value

from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import per_query, std
from deadheat.measures.names import FAMILIES

GRADES = (1, 2)
MISSING: list[list[int]] = [[], [1], [2, 1]]
UNIT = 10**40
RECALLS = ("0", "0.3", "0.5", "1")
CHOICES = ["nDCG(dcg='exp-log2')@3", "mAP(over='hits')@3", "mAP(over='possible')@3", "Recall(over='possible')@3"]

Sequence_ = tuple[int, ...]  # grades by rank
Groups = tuple[Sequence_, ...]  # the grades of each tie group, ascending


def names(n: int) -> list[str]:
    """Every measure of the catalogue, with each cutoff up to n where it takes one."""
    listed = []
    for row in FAMILIES:
        if row.name in ("MnR", "Judged"):  # in test_arrangements, and test_unjudged_reports
            continue
        cutoffs = RECALLS if row.cutoff == "recall" else [str(k) for k in range(1, n + 1)]
        listed += [row.name] if row.cutoff in ("may", "never", "R") else []
        listed += [f"{row.name}@{k}" for k in cutoffs] if row.cutoff in ("may", "must", "recall") else []
    return listed + CHOICES


@cache
def sequences(n: int) -> list[Sequence_]:
    return list(product((0, *GRADES), repeat=n))


class Partition(NamedTuple):
    """The rankings whose tie groups have given sizes: each with the places of its orders in `sequences`."""

    last: int  # the size of the last group
    rankings: list[Groups]
    orders: np.ndarray[Any, np.dtype[np.int64]]  # of one ranking after another
    starts: list[int]  # of each ranking in `orders`


@cache
def partitions(n: int) -> list[Partition]:
    """All 2^(n-1) ways to cut n ranks into groups."""
    result = []
    for cuts in (cuts for m in range(n) for cuts in combinations(range(1, n), m)):
        ends = list(pairwise((0, *cuts, n)))
        of_ranking: dict[Groups, list[int]] = defaultdict(list)
        for number, sequence in enumerate(sequences(n)):
            of_ranking[tuple(tuple(sorted(sequence[a:b])) for a, b in ends)].append(number)
        sizes = [len(places) for places in of_ranking.values()]
        orders = np.array([place for places in of_ranking.values() for place in places])
        result.append(Partition(n - ends[-1][0], list(of_ranking), orders, [0, *accumulate(sizes)][:-1]))
    return result


def query_of(groups: Groups, missing: list[int]) -> Any:
    """A ranking in the form that `graded_queries.profile_of` takes."""
    listed, closer = [], 0
    for group in groups:
        counts = {grade: group.count(grade) for grade in GRADES if grade in group}
        if counts:
            listed.append((closer, len(group), counts))
        closer += len(group)
    return listed, closer, missing


def cut(n: int, n_returned: int | None) -> list[Partition]:
    """The partitions whose last group is what was not returned; all of them where nothing was cut."""
    return [part for part in partitions(n) if n_returned is None or part.last == n - n_returned]


@cache
def profile(n: int, missing: int, n_returned: int | None) -> TieProfile:
    """All rankings of n items, in the order of `cut`."""
    rankings = [groups for part in cut(n, n_returned) for groups in part.rankings]
    whole = profile_of([query_of(groups, MISSING[missing]) for groups in rankings], GRADES)
    if n_returned is None:
        return whole
    heads = [sum(groups[:-1], ()) for groups in rankings]
    return replace(whole, returned=np.array([[len(head), *map(head.count, GRADES)] for head in heads]))


def value_of(name: str, order: Sequence_, missing: list[int], n_returned: int | None) -> Any:
    """The measure of one order; those of a set see what was returned alone."""
    if not any(order) and not missing:
        return math.nan
    if n_returned is None or not name.startswith("Set"):
        return value(name, order, missing)
    return value(name, order[:n_returned], [*missing, *filter(None, order[n_returned:])])


def expected_values(name: str, n: int, missing: int, n_returned: int | None) -> Iterator[np.ndarray[Any, Any]]:
    """The least, mean, greatest value and the variance of each ranking, for one partition after another."""
    exact = [value_of(name, order, MISSING[missing], n_returned) for order in sequences(n)]
    undefined = np.array([each != each for each in exact])  # which no order of the same items changes
    values = np.array([0 if each != each else round(Fraction(each) * UNIT) for each in exact], dtype=object)
    for part in cut(n, n_returned):
        drawn, counts = values[part.orders], np.diff([*part.starts, len(part.orders)]).astype(object)
        sums, squares = (np.add.reduceat(each, part.starts) for each in (drawn, drawn * drawn))
        ends = (function.reduceat(drawn, part.starts) / UNIT for function in (np.minimum, np.maximum))
        lower, upper = (end.astype(np.float64) for end in ends)
        mean = (sums / (counts * UNIT)).astype(np.float64)
        variance = ((counts * squares - sums * sums) / (counts * counts * UNIT * UNIT)).astype(np.float64)
        rows = np.array([lower, mean, upper, variance])
        rows[:, undefined[part.orders[part.starts]]] = np.nan
        yield rows


def check(name: str, n: int, tolerance: float = 1e-15) -> int:
    """Compare a measure of all rankings of n items, whole and cut, and return the number of rankings."""
    total = 0
    cuts = [None, *range(1, n)] if name.startswith(("Set", "mAP")) and "@" not in name else [None]
    for missing, n_returned in product(range(len(MISSING)), cuts):
        rows = np.concatenate(list(expected_values(name, n, missing, n_returned)), axis=1)
        of_all = profile(n, missing, n_returned)
        got = np.array([*per_query(of_all, name), std(of_all, name) ** 2])
        absolute = 1e-14 if name in ("NAP", "BEDROC") or name.startswith("DCG") else 0.0
        close = np.abs(got - rows) <= np.array([[tolerance]] * 3 + [[1e-12]]) * np.abs(rows) + absolute
        if name == "11pt_avg":  # a mean of maxima: no deviation of it is known
            close[3] |= np.isnan(got[3])
        wrong = np.flatnonzero(~(close | (np.isnan(got) & np.isnan(rows))).all(axis=0))
        if wrong.size:
            at, rankings = wrong[0], [groups for part in cut(n, n_returned) for groups in part.rankings]
            raise AssertionError(
                f"{name}, {wrong.size} rankings; {rankings[at]} without {MISSING[missing]}, {n_returned} returned: "
                f"{got[:, at].tolist()} for {rows[:, at].tolist()}"
            )
        total += rows.shape[1]
    return total


class Step(NamedTuple):
    """A piece of a world that is finished or not."""

    name: str
    check: Callable[[], int]  # the number of cases


def of_rankings(items: int, only: list[str]) -> Iterator[Step]:
    for n in range(1, items + 1):
        for name in names(n):
            if not only or name in only:
                yield Step(f"rankings of {n}, {name}", partial(check, name, n))


def of_rows() -> Iterator[Step]:
    for case in world_rows.cases(("float8_e4m3fn", "float8_e5m2", "float4", "bits")):
        yield Step("triples of {}, {}, {}".format(*case), partial(world_rows.check, *case))


def of_pairs() -> Iterator[Step]:
    for chunk in range(world_rows.n_chunk()):
        for case in product(world_rows.NUMBERS, ("exact", *world_rows.SHORT)):
            yield Step(
                f"pairs of two float8 numbers, {' '.join(case)}, {chunk}", partial(world_rows.check_pairs, *case, chunk)
            )


def of_sets() -> Iterator[Step]:
    for first, rule, form in product(range(2**world_sets.LABELS), world_sets.RULES, world_sets.FORMS):
        some = [sets for sets in world_sets.labellings(4, up_to_names=False) if sets[0] == first]
        yield Step(f"label sets from {first}, {rule}, {form}", partial(summed, world_sets.check, some, rule, form))


def of_differences() -> Iterator[Step]:
    kinds = world_differences.GRID + world_differences.TIED
    for n in range(1, 7):
        for first in kinds:
            some = [each for each in world_differences.worlds(n, kinds) if each[0] == first]
            yield Step(f"differences of {n} from {first}", partial(summed, world_differences.check, some))


def summed(function: Callable[..., int], cases: list[Any], *more: Any) -> int:
    return sum(function(case, *more) for case in cases)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=["rankings"])
    parser.add_argument("--items", type=int, default=7)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--state", type=Path, help="a file of what is finished, to go on after it")
    given = parser.parse_args()
    if given.state:
        given.state.touch()  # refuses a folder that is not there before hours of work
    done = set(given.state.read_text().splitlines()) if given.state else set()
    for part in given.parts:
        total, n_step, started = 0, 0, time.process_time()
        for step in PARTS[part](given.items, given.only) if part == "rankings" else PARTS[part]():
            if step.name in done:
                continue
            total, n_step = total + step.check(), n_step + 1
            if given.state:
                with given.state.open("a") as file:
                    print(step.name, file=file)
        print(
            f"{part}: {total:,} cases in {n_step} steps, {time.process_time() - started:.0f} s of processor", flush=True
        )


PARTS: dict[str, Callable[..., Iterator[Step]]] = {
    "rankings": of_rankings, "rows": of_rows, "pairs": of_pairs, "sets": of_sets, "differences": of_differences
}  # fmt: skip

if __name__ == "__main__":
    main()
