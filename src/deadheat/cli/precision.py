"""`deadheat precision`: the same embeddings in several formats, and what each loses at most."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from deadheat.analyses.precision import FORMATS, Precisions
from deadheat.analyses.precision.evaluating import MEASURES, precisions_of_pair
from deadheat.cli.embeddings import (
    RANKING,
    SOURCES,
    counting_options,
    files_named,
    opened,
    own_rows,
    summary_options,
    with_options,
)
from deadheat.cli.files import Command
from deadheat.cli.outputs import TEXTS, deliver, plot, plots_for, save_picture
from deadheat.cli.shell import bar
from deadheat.cli.types import PATH, REAL, SEED


@click.command(
    cls=Command, epilog=f"Formats: {', '.join(FORMATS)}. Other names: fp16, bf16, binary, int8-float-query ..."
)
@click.argument("file", type=PATH)
@with_options(SOURCES, RANKING)
@click.option("--formats", "-f", multiple=True, metavar="NAMES", help="Such as fp16,int8,binary; can be repeated.")
@click.option("--base", metavar="NAME", help="Compare with this format; default: the embeddings as they are.")
@click.option("--threshold", default="0", show_default=True, metavar="X", help="Where 1 bit is 1; or mean, median.")
@click.option("--resample", metavar="UNIT", help="What the intervals draw: query or class.")
@click.option("--confidence-level", type=REAL, default=0.95, show_default=True, metavar="P", help="Of the intervals.")
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of the draws.")
@with_options([plot("each measure against bytes")], TEXTS)
def precision(file: Path, **options: Any) -> None:
    """Evaluate the embeddings in FILE in fewer and fewer bits, and print what each format loses at most.

    FILE and its labels are given as to `deadheat evaluate`, and are taken into memory. The difference of each format to
    the embeddings as they are has a confidence interval, and is compared query by query.

    --json, --markdown and --latex without OUT, or with -, print that instead of the tables.
    """
    plots = plots_for(options["plot"])
    counting, summary = counting_options(options), summary_options(options, measures=MEASURES)
    told = {key: options[key] for key in ("base", "resample", "confidence_level", "seed")}
    told |= {"formats": ",".join(options["formats"]) or None, "threshold": _threshold(options["threshold"])}
    with files_named(file, options):
        pair = opened(file, options)
        counting = replace(counting, exclude=own_rows(options))
        with bar("ranking") as progress:
            found = precisions_of_pair(pair, replace(counting, progress=progress), summary, **told)
    if plots is not None:
        save_picture(_draw(plots, found), options["plot"])
    deliver(found, options)


def _threshold(text: str) -> float | str:
    """A number, or a name that the library knows or refuses."""
    try:
        return float(text) if "_" not in text else text
    except ValueError:
        return text


def _draw(plots: Any, found: Precisions) -> Any:
    """A figure with axes for each measure, one below the other."""
    figure = plots.style.figure(6.4, 3.4 * len(found.measures))
    for ax, measure in zip(figure.subplots(len(found.measures), squeeze=False)[:, 0], found.measures, strict=True):
        plots.measure_against_bytes(found, measure, ax=ax)
    return figure
