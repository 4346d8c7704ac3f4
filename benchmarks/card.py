"""A card, compared with an argsort on it: digests first, then one table of seconds.

python -m benchmarks.card          on a machine with a card, in at most four minutes
python -m benchmarks.card --cpu    the same on PyTorch's CPU device, with few items, to see that it runs

Embeddings are on the card already. The argsort is what people use now: blocks of 1,024 queries, a float32 product, the
order of each row, mean average precision, all on the card. `evaluate` is the whole call, with all default measures and
their bounds; the pass begins with an open distance and ends with a profile. Best of three; of a million rows once, and
argsort and product of four blocks, extrapolated.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import product
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

import deadheat as dh
from benchmarks import data
from benchmarks.cases import Case
from benchmarks.yardsticks import TIES
from deadheat.engine.count import count
from deadheat.engine.counting.card import counting
from deadheat.engine.counting.card.device import Card, open_card
from deadheat.support.lazy import require

_BLOCK = 1024  # queries that are ranked at a time
_FEW_BLOCKS = 4  # which are ranked of a million
_KINDS = (
    "random", "clustered", "all zero", "1 % distinct", "±1 codes", "int8", "random float64", "float32 softmax",
    "near duplicates",
)  # fmt: skip
_DISTANCES = ("cosine", "euclidean", "inner_product", "cityblock")
_SMALL = (600, 40, 20)  # rows, numbers in each and rows in a class, of the data whose digests are compared


class Work(NamedTuple):
    """One row of the table; the target is `evaluate` as a multiple of the argsort, or in seconds."""

    name: str
    n: int
    dim: int
    class_size: int
    kind: str = "random"
    target: float = 0.0
    seconds: float = 0.0


COLUMNS = "seconds", "float32 product", "argsort", "pass", "÷ product", "evaluate", "÷ argsort", "target", "GiB"
_BOTH = ("random", "clustered")
WORKS = [
    *(Work(f"20,000 × 512, classes of {size:,}, {kind}", 20_000, 512, size, kind, target=1.0)
      for size in (5, 100, 1000) for kind in _BOTH),
    *(Work(f"100,000 × 256, classes of 50, {kind}", 100_000, 256, 50, kind, target=0.3) for kind in _BOTH),
    Work("20,000 × 64, two classes", 20_000, 64, 10_000, target=2.0),
    Work("1,000,000 × 256, classes of 50, clustered", 1_000_000, 256, 50, "clustered", seconds=20.0),
]  # fmt: skip
CODES = (2_100, 193_734, 64, 81)  # queries, items, bits and labels
CODES_SECONDS = 0.2


class Bench:
    """A card, and the clock on it."""

    def __init__(self, card: Card, shrink: int) -> None:
        self.card, self.torch, self.shrink = card, card.torch, shrink

    def wait(self) -> None:
        if self.card.where.type == "cuda":
            self.torch.cuda.synchronize(self.card.where)

    def best(self, work: Callable[[], object], repeats: int = 3) -> float:
        """Return the least wall time of some runs, after one that is not timed unless there is only one."""
        times = []
        for _ in range(repeats + (repeats > 1)):
            self.wait()
            start = time.perf_counter()
            work()
            self.wait()
            times.append(time.perf_counter() - start)
        return min(times[1:] or times)

    def blocks(self, n: int, most: int | None = None) -> list[slice]:
        return [slice(start, start + _BLOCK) for start in range(0, n, _BLOCK)][:most]

    def product(self, rows: Any, most: int | None = None) -> None:
        for some in self.blocks(len(rows), most):
            rows[some] @ rows.T

    def argsort(self, rows: Any, labels: Any, most: int | None = None) -> float:
        """Return mean average precision, leave one out, as an argsort has it."""
        total, torch = 0.0, self.torch
        places = torch.arange(1, len(rows), device=rows.device)
        for some in self.blocks(len(rows), most):
            scores = rows[some] @ rows.T
            own = torch.arange(len(scores), device=rows.device)
            scores[own, own + some.start] = -torch.inf
            order = scores.argsort(dim=1, descending=True)[:, :-1]
            total += float(_precisions(torch, labels[order] == labels[some, None], places))
        return total / len(rows)


def _precisions(torch: Any, relevant: Any, places: Any) -> Any:
    """Return the sum of the average precisions of some queries, whose relevant items are marked in order."""
    result = relevant.cumsum(dim=1, dtype=torch.float32) / places
    return ((result * relevant).sum(dim=1) / relevant.sum(dim=1).clamp(min=1)).sum()


@contextmanager
def sorting() -> Iterator[None]:
    """Count without the kernel."""
    with patch("deadheat.engine.counting.card.counting.kernel_of", lambda card: None):
        yield


def digests(card: Card) -> str:
    """Compare the core with both ways to count on each kind of data, distance and meaning of tied; say what differs."""
    (n, dim, size), n_same, wrong = _SMALL, 0, []
    settings = [(kind, distance) for kind in _KINDS for distance in _DISTANCES] + [("packed bits", "hamming")]
    before = card.torch.get_float32_matmul_precision()
    for (kind, distance), ties in product(settings, TIES.values()):
        arrays = data.make(Case("device", kind, n, 64 if distance == "hamming" else dim, size, distance))
        task = dh.Task(arrays.query, arrays.query_labels, distance=distance, ties=ties)
        for way, precision in (("kernel", "highest"), ("kernel", "high"), ("sorting", "highest")):
            card.torch.set_float32_matmul_precision(precision)
            with sorting() if way == "sorting" else nullcontext():
                same = task.replace(device=card).profile == task.profile
            n_same += same
            wrong += [] if same else [f"{kind}, {distance}, {ties}, {way}, {precision}"]
    card.torch.set_float32_matmul_precision(before)
    return "; NOT: ".join([f"digests: {n_same} of {n_same + len(wrong)} are those of the core", *wrong])


def measure(bench: Bench, work: Work) -> str:
    """Return a row of the table."""
    n, torch = work.n // bench.shrink, bench.torch
    arrays = data.make(Case("device", work.kind, n, work.dim, min(work.class_size, n // 2)))
    rows, labels = (torch.from_numpy(each).to(bench.card.where) for each in (arrays.query, arrays.query_labels))
    unit = rows / rows.norm(dim=1, keepdim=True)
    repeats, most = (1, _FEW_BLOCKS) if work.seconds else (3, None)
    whole = len(bench.blocks(n)) / len(bench.blocks(n, most))
    argsort = whole * bench.best(lambda: bench.argsort(unit, labels, most), repeats)
    multiplied = whole * bench.best(lambda: bench.product(unit, most), repeats)
    on_card = bench.card.where.type == "cuda"
    if on_card:
        torch.cuda.reset_peak_memory_stats(bench.card.where)
    reports: list[Any] = []
    evaluate = bench.best(lambda: reports.append(dh.evaluate(rows, arrays.query_labels, device=bench.card)), repeats)
    peak = torch.cuda.max_memory_allocated(bench.card.where) / 2**30 if on_card else 0.0
    alone = bench.best(counting_alone(bench, rows, arrays.query_labels), repeats)
    wrong = "" if work.seconds else _unless_as_the_core(reports[-1], arrays)
    target, limit = (f"{work.seconds} s", work.seconds) if work.seconds else (f"{work.target}", work.target * argsort)
    times = f"{multiplied:.4f} | {argsort:.4f} | {alone:.4f} | {alone / multiplied:.1f} | {evaluate:.4f}"
    met = f"≤ {target}: {'yes' if evaluate <= limit else 'no'}"
    return f"| {work.name} | {times} | {evaluate / argsort:.2f} | {met} | {peak:.1f}{wrong} |"


def counting_alone(bench: Bench, rows: Any, labels: Any) -> Callable[[], object]:
    """Return the pass of a task, from its open distance to the profile."""
    task = dh.Task(rows, labels, device=bench.card)
    opened = task.options.open(task.pair.query.embeddings)
    return lambda: count(task.pair, task.options, opened)


def _unless_as_the_core(report: Any, arrays: data.Arrays) -> str:
    same = report.to_json() == dh.evaluate(arrays.query, arrays.query_labels).to_json()
    return "" if same else ", NOT AS THE CORE"


def codes(bench: Bench) -> str:
    """Return the row of hash codes with several labels, which the core counts whatever the device is."""
    n_query, n_item, n_bit, n_label = CODES
    n_item, torch, rng = n_item // bench.shrink, bench.torch, np.random.default_rng(0)
    query, items = (rng.random((n, n_bit)) < 0.5 for n in (n_query, n_item))
    of_query, of_items = (rng.random((n, n_label)) < 0.03 for n in (n_query, n_item))
    on_card = [torch.from_numpy(each).to(bench.card.where).float() for each in (query, items, of_query, of_items)]

    def argsort() -> None:
        left, right, mine, theirs = on_card
        places = torch.arange(1, n_item + 1, device=left.device)
        for some in bench.blocks(n_query):
            agree = left[some] @ right.T + (1 - left[some]) @ (1 - right).T
            relevant = (mine[some] @ theirs.T > 0).gather(1, agree.argsort(dim=1, descending=True))
            float(_precisions(torch, relevant, places))

    baseline = bench.best(argsort)
    given = query, of_query, items, of_items
    evaluate = bench.best(lambda: dh.evaluate(*given, distance="hamming", device=bench.card))
    met = f"≤ {CODES_SECONDS} s: {'yes' if evaluate <= CODES_SECONDS else 'no'}"
    name = f"hash codes, {n_query:,} to {n_item:,}, {n_bit} bits, {n_label} labels"
    return f"| {name} |  | {baseline:.4f} |  |  | {evaluate:.4f} | {evaluate / baseline:.2f} | {met} |  |"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.card", description="A card and an argsort on it.")
    parser.add_argument("--cpu", action="store_true", help="PyTorch's CPU device, few items: only to see that it runs")
    parser.add_argument("--device", default="cuda", help="which card (default: cuda)")
    asked = parser.parse_args(arguments)
    torch: Any = require("torch", "torch", "this benchmark")
    if not asked.cpu and not torch.cuda.is_available():
        print("There is no card here: PyTorch finds no CUDA device. (--cpu shows that the script runs.)")
        return
    card = Card(torch, torch.device("cpu")) if asked.cpu else open_card(asked.device)
    assert card is not None
    start, bench = time.monotonic(), Bench(card, 400 if asked.cpu else 1)
    name = "PyTorch's CPU device, small: no measurement" if asked.cpu else torch.cuda.get_device_name(card.where)
    way = "sorting" if counting.kernel_of(card) is None else "the kernel"
    print(f"{name}; PyTorch {torch.__version__}, float64 {'fast' if card.wide else 'slow'}, counted by {way}")
    print(digests(card), flush=True)
    print(f"\n| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for work in WORKS:
        print(measure(bench, work), flush=True)
    print(codes(bench))
    print(f"\n{time.monotonic() - start:.0f} s in all")


if __name__ == "__main__":
    main()
