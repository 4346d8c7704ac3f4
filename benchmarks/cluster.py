"""Costs of an executor, and the time of a run on many machines by the rates that are measured here.

python -m benchmarks.cluster                two threads against two processes of one thread each; then a plan
python -m benchmarks.cluster --scale 0.05   a smoke run on fewer items
python -m benchmarks.cluster --json OUT     also as JSON

The target is a median of two processes that is at most 1.15 times that of two threads, taken by turns. Processes are
started, and have imported deadheat, before the clock starts: a pool is made once for many calls.
"""

from __future__ import annotations

import json
import multiprocessing
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from tabulate import tabulate

import deadheat as dh
from benchmarks import results
from benchmarks.timing import Clock

TARGET = 1.15
DIM, CLASS = 128, 100


@dataclass(frozen=True)
class Rates:
    """The work of one thread in a second.

    Attributes
    ----------
    pairs, pairs_of_two : float
        Pairs of query and item that are counted in a second; of leave one out, where a product serves two pairs.
    items : float
        Gallery items that are opened in a second.
    """

    pairs: float
    pairs_of_two: float
    items: float


@dataclass(frozen=True)
class Wish:
    """An evaluation that one machine is too small for; without queries of its own, leave one out."""

    items: int
    queries: int | None

    def __str__(self) -> str:
        queries = "each other" if self.queries is None else f"{self.queries:.0e} queries"
        return f"{self.items:.0e} items, {queries}"


WISHES = (
    Wish(10**6, None),
    Wish(10**6, 10**6),
    Wish(10**9, 10**4),
    Wish(10**9, 10**6),
)


def plan(wish: Wish, rates: Rates, workers: int) -> dict[str, Any]:
    """Return what so many workers of one thread take for an evaluation of rows of 128 float32."""
    n_query = wish.queries or wish.items
    pairs = rates.pairs_of_two if wish.queries is None else rates.pairs
    opened = workers * wish.items
    seconds = (n_query * wish.items / pairs + opened / rates.items) / workers
    return {
        "evaluation": str(wish),
        "workers": workers,
        "hours": round(seconds / 3600, 2),
        "GB of a worker": round(60 * wish.items / 1e9, 1),
        "GB read": round(opened * 4 * DIM / 1e9),
    }


def measured_rates(n_item: int) -> Rates:
    """Rates of one thread in this process, on rows in a file: what more queries cost, and what is left without any."""
    few, many = max(1, n_item // 1000), max(10, n_item // 10)
    gallery, labels = _samples(n_item)
    queries, query_labels = _samples(many, 1)
    with tempfile.TemporaryDirectory(prefix="deadheat-") as folder:
        file = Path(folder, "gallery.npy")
        np.save(file, gallery)

        def seconds(n_query: int) -> float:
            begin = time.perf_counter()
            dh.Task(queries[:n_query], query_labels[:n_query], file, labels, threads=1).profile  # noqa: B018
            return time.perf_counter() - begin

        seconds(few)
        of_few, of_many = seconds(few), seconds(many)
    one = max(1e-9, of_many - of_few) / (many - few)
    opened = max(1e-9, of_few - few * one) / n_item
    half = n_item // 2
    begin = time.perf_counter()
    dh.Task(gallery[:half], labels[:half], threads=1).profile  # noqa: B018
    of_two = max(1e-9, time.perf_counter() - begin - half * opened)
    return Rates(n_item / one, half**2 / of_two, 1 / opened)


def _samples(n: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, DIM), dtype=np.float32), rng.permutation(np.arange(n) // CLASS)


def overhead(scale: float, repeats: int, tick: Any = lambda what: None) -> list[dict[str, Any]]:
    """Seconds of two threads and of two processes, by turns, for leave one out and for a gallery."""
    clock, result = Clock(2, repeats, tick), []
    n, n_gallery = max(400, int(40_000 * scale)), max(400, int(200_000 * scale))
    rows, labels = _samples(n)
    gallery, gallery_labels = _samples(n_gallery, 1)
    n_query = n // 4
    cases = {
        f"leave one out, {n} items": (rows, labels),
        f"{n_query} queries, {n_gallery} items": (rows[:n_query], labels[:n_query], gallery, gallery_labels),
    }
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        dh.Task(rows[:200], labels[:200], executor=executor).profile  # noqa: B018
        for name, given in cases.items():
            works = {
                "threads": lambda given=given: dh.Task(*given, threads=2).profile,
                "processes": lambda given=given: dh.Task(*given, executor=executor).profile,
            }
            times = clock.by_turns(works)
            two, single = (statistics.median(times[what]) for what in works)
            result.append({
                "evaluation": name, "two threads, s": round(two, 2), "two processes, s": round(single, 2),
                "ratio": round(single / two, 3), "met": single <= TARGET * two,
                "times": times,
            })  # fmt: skip
    return result


@click.command()
@click.option("--scale", type=click.FloatRange(0, 1, min_open=True), default=1.0, help="Share of the items.")
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, help="Times that each is timed.")
@click.option("--json", "out", type=click.Path(path_type=Path, dir_okay=False), help="Also write everything as JSON.")
def main(scale: float, repeats: int, out: Path | None) -> None:
    """Measure what an executor costs, and plan what many machines would take."""
    machine = results.machine()
    click.echo(
        f"{machine['processor']}, 2 of {machine['processors']} processors; median of {repeats}, taken by turns\n"
    )
    measured = overhead(scale, repeats)
    shown = [{key: value for key, value in row.items() if key != "times"} for row in measured]
    click.echo(tabulate(shown, headers="keys"))
    click.echo(f"\ntarget: at most {TARGET}; {sum(row['met'] for row in measured)} of {len(measured)} met\n")
    rates = measured_rates(max(2000, int(100_000 * scale)))
    click.echo(
        f"one thread: {rates.pairs:.2e} pairs a second, {rates.pairs_of_two:.2e} in leave one out, "
        f"{rates.items:.2e} items opened\n"
    )
    plans = [plan(wish, rates, workers) for wish in WISHES for workers in (16, 256)]
    click.echo(tabulate(plans, headers="keys"))
    if out is not None:
        record = {"machine": machine, "overhead": measured, "rates": asdict(rates), "plans": plans}
        out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main(prog_name="python -m benchmarks.cluster")
