"""`deadheat confidence`: what a model's confidence is worth, on files of one's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from deadheat.analyses.confidence import ConfidenceReport, confidence_report
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
from deadheat.cli.pages import read_numbers
from deadheat.cli.shell import bar
from deadheat.cli.types import PATH
from deadheat.errors import InvalidValueError
from deadheat.reports.evaluating import evaluate_pair

_MEASURES = ("Hit@1", "MAP@R")
_NUMBERS = ("confidence", "target")


@click.command(cls=Command)
@click.argument("file", type=PATH)
@click.option(
    "--confidence", type=PATH, metavar="FILE", help="A number for each query, larger is surer: any file of labels."
)
@click.option("--confidence-key", metavar="NAME", help="Its array or column: in that file, or else in FILE.")
@click.option("--target", type=PATH, metavar="FILE", help="What the confidence should be in the order of, likewise.")
@click.option("--target-key", metavar="NAME", help="Its array or column: in that file, or else in FILE.")
@with_options(SOURCES, RANKING, [plot("error against reject")], TEXTS)
def confidence(file: Path, **options: Any) -> None:
    """Judge the confidences of a model in its embeddings in FILE by the measures of its queries.

    Prints the error of the queries that are kept when the least confident are rejected, by Hit@1 and MAP@R or by the
    measures asked for; how often the confidence is right as a guess at Hit@1 (confidence against Recall@1); and the
    rank correlation with a target, such as label entropies or levels of blur, which are uncertainties and correlate
    negatively with a good confidence. FILE and its labels are given as to `deadheat evaluate`. A larger confidence is
    surer; only the order counts.

    --json, --markdown and --latex without OUT, or with -, print that instead of the tables.
    """
    plots = plots_for(options["plot"])
    counting, summary = counting_options(options), summary_options(options, measures=_MEASURES)
    if options["confidence"] is None and options["confidence_key"] is None:
        raise click.UsageError("--confidence FILE or --confidence-key NAME must say where the confidences are")
    left_out = [options[f"{name}_key"] for name in _NUMBERS if options[name] is None and options[f"{name}_key"]]
    with files_named(file, options):
        pair = opened(file, {**options, "left_out": left_out})
        sure, target = (_numbers(file, options, name, len(pair.query.labels)) for name in _NUMBERS)
        counting = replace(counting, exclude=own_rows(options))
        with bar("ranking") as progress:
            report = evaluate_pair(pair, replace(counting, progress=progress), summary)
    found = confidence_report(report, sure, target)
    if plots is not None:
        save_picture(_draw(plots, found), options["plot"])
    deliver(found, options)


def _numbers(file: Path, options: dict[str, Any], name: str, n_query: int) -> Any:
    """The confidences, or the targets, of their own file or of FILE; None if neither is said."""
    path, key = options[name], options[f"{name}_key"]
    if path is None and key is None:
        return None
    values = read_numbers(path or file, name, key)
    if len(values) != n_query:
        came = f"{path or file} has {len(values)} for {n_query} queries"
        raise InvalidValueError(name, f"must have one entry per query, but {came}")
    return values


def _draw(plots: Any, found: ConfidenceReport) -> Any:
    """A figure with axes for each measure, one below the other."""
    figure = plots.style.figure(6.4, 4.2 * len(found.curves))
    axes = figure.subplots(len(found.curves), squeeze=False)[:, 0]
    for ax, (measure, curve) in zip(axes, found.curves.items(), strict=True):
        plots.error_reject(curve, ax=ax).set_ylabel(f"error of the kept by {measure} (%)")
    return figure
