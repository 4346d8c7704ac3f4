"""`deadheat collisions`: which neighbours of a query are equally far, or nearly so, on files of one's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from deadheat.analyses.collisions import Collisions, CollisionTable
from deadheat.analyses.collisions.finding import checked_reach, collisions_of_pair, counts_of_pair
from deadheat.cli.embeddings import ORDERS, SOURCES, counting_options, files_named, opened, own_rows, with_options
from deadheat.cli.files import Command
from deadheat.cli.outputs import WHOLE, deliver, plot, plots_for, save_picture
from deadheat.cli.shell import bar
from deadheat.cli.types import INTEGER, PATH, REAL
from deadheat.counting import CountingOptions, queries_in_gallery


@click.command(cls=Command)
@click.argument("file", type=PATH)
@with_options(SOURCES)
@click.option(
    "--distance", "distances", multiple=True, default=("cosine",), show_default=True, metavar="NAMES",
    help="Or euclidean, inner_product, cityblock, hamming; can be repeated.",
)  # fmt: skip
@with_options(ORDERS)
@click.option("--within", type=REAL, metavar="EPS", help="Also join neighbours in rank at most so far apart.")
@click.option("--depth", type=INTEGER, metavar="N", help="Look at the N nearest alone; default: at all ranks.")
@with_options([plot("what is at each query and rank")], WHOLE)
def collisions(file: Path, **options: Any) -> None:
    """Count the neighbours of queries in FILE that are equally far, so that nothing says which comes first.

    A group of them is relevant, irrelevant, or mixed; only a mixed one can change a measure. FILE, its labels and a
    gallery are given as to `deadheat evaluate`. With several distances there is a table of each, and no picture. Counts
    take memory that does not grow with the queries, a picture 6 bytes a query and rank.

    --json, --markdown and --latex without OUT, or with -, print that instead of the tables.
    """
    plots, passes = plots_for(options["plot"]), _passes(options)
    if plots is not None and len(passes) > 1:
        raise click.UsageError(f"--plot draws one distance, but --distance names {len(passes)}")
    reach = checked_reach(options["within"], options["depth"], passes[0].rule)
    with files_named(file, options):
        pair, exclude = opened(file, options), own_rows(options)
        passes = [replace(each, exclude=exclude).fitted(pair) for each in passes]
        queries_in_gallery(pair, passes[0])
        with bar("ranking") as progress:
            passes = [replace(each, progress=progress) for each in passes]
            if plots is None:
                found = counts_of_pair(pair, passes, *reach)
            else:
                drawn = collisions_of_pair(pair, passes[0], *reach)
                found = CollisionTable({drawn.distance: drawn.counts}, {drawn.distance: drawn.rule})
    if plots is not None:
        save_picture(_draw(plots, drawn), options["plot"])
    deliver(found, options)


def _passes(options: dict[str, Any]) -> list[CountingOptions]:
    """How each of the distances is counted, in the order in which they are named."""
    names = ",".join(options["distances"]).split(",")
    passes = [counting_options(options | {"distance": name.strip()}) for name in names]
    return list({each.distance: each for each in passes}.values())


def _draw(plots: Any, found: Collisions) -> Any:
    figure = plots.style.figure(6.4, 5.4)
    plots.collision_image(found, ax=figure.subplots()).set_title(f"{found.distance}, {found.rule}")
    return figure
