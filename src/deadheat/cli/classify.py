"""`deadheat classify`: a table of scores and labels, as one ranking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from deadheat.analyses.pooled import NAMES, Classification, classification
from deadheat.analyses.precision_recall import precision_recall
from deadheat.cli.files import PATH, Command
from deadheat.cli.options import TEXTS, deliver, plot, plots_for, read_numbers, save_picture, with_options
from deadheat.inputs.files import Layout
from deadheat.inputs.samples import open_labels


@click.command(cls=Command)
@click.argument("file", type=PATH)
@click.option("--scores", default="score", show_default=True, metavar="COLUMN", help="Column of scores.")
@click.option("--labels", default="label", show_default=True, metavar="COLUMN", help="Column of labels.")
@click.option("--positive", default="1", show_default=True, help="The label of positives; all others are negatives.")
@click.option("--ascending", is_flag=True, help="The lowest score is the best, as of distances.")
@click.option(
    "-m", "--measures", default=",".join(NAMES), metavar="NAMES", help="Such as AP,TPR@FPR=0.001; default: all."
)
@with_options([plot("precision against recall, and the ROC curve")], TEXTS)
def classify(file: Path, **options: Any) -> None:
    """Measure the scores of positives and negatives in FILE as one ranking, with what ties leave open.

    FILE is a table (.csv, .tsv, .parquet, ...) or holds named arrays (.npz, ...). A threshold accepts all items of one
    score or none: best F1, accuracy and the equal error rate are those of thresholds that exist.

    --json, --markdown and --latex without OUT, or with -, print that instead of the table.
    """
    plots, key = plots_for(options["plot"]), options["labels"]
    labels = open_labels(file, "labels", Layout(labels_key=key, label_column=key))
    found = classification(
        read_numbers(file, "scores", options["scores"], "item"),
        np.asarray(labels).astype(np.str_) == options["positive"],
        order="ascending" if options["ascending"] else "descending",
        measures=options["measures"].split(","),
    )
    if plots is not None:
        save_picture(_draw(plots, found), options["plot"])
    deliver(found, options)


def _draw(plots: Any, found: Classification) -> Any:
    figure = plots.style.figure(9.6, 4.2)
    left, right = figure.subplots(1, 2)
    plots.precision_recall(precision_recall(found.profile, 0), ax=left)
    plots.roc(found, ax=right)
    return figure
