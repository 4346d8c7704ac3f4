"""`deadheat evaluate`: check the options, read the files, evaluate, write the files, print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from numpy.typing import NDArray

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
from deadheat.cli.files import HTML, JSON, PROFILE, QUERIES, Command, Output
from deadheat.cli.outputs import TEXTS, deliver
from deadheat.cli.pages import Page
from deadheat.cli.shell import bar, output
from deadheat.cli.types import INTEGER, PATH
from deadheat.reports import Report, export
from deadheat.reports.evaluating import evaluate_pair
from deadheat.support.lazy import lazy

if TYPE_CHECKING:
    from deadheat import receipts
else:
    receipts = lazy("deadheat.receipts")


@click.command(cls=Command)
@click.argument("file", type=PATH)
@with_options(SOURCES, RANKING)
@click.option("--std", is_flag=True, help="Also the standard deviation of the mean over random tie-breaking.")
@click.option("--checkpoint", type=PATH, metavar="DIR", help="Keep what is finished in DIR, and go on from there.")
@click.option(
    "--per-query", type=Output(*QUERIES), metavar="OUT", help="Write each query's values: .csv, .tsv, .npz, .parquet."
)
@with_options(TEXTS)
@click.option("--html", type=Output(HTML), metavar="OUT", help="Write a page to read, print or hand on (HTML).")
@click.option("--confidence", type=PATH, metavar="FILE", help="For --html: the model's confidence, .npy or one a line.")
@click.option(
    "--collisions", type=INTEGER, metavar="N", help="For --html: collisions among each query's N nearest; slow."
)
@click.option(
    "--receipt", type=Output(JSON), metavar="OUT", help="Write a receipt (JSON), which deadheat verify checks."
)
@click.option(
    "--save-profile", type=Output(PROFILE), metavar="OUT", help="Write the tie profile (.npz), to measure again."
)
def evaluate(file: Path, **options: Any) -> None:
    """Evaluate the embeddings and labels in FILE and print a table, in per cent.

    FILE is a .npz, .safetensors, .h5 or .zarr (arrays such as embeddings and labels), .npy (with --labels), .csv, .tsv,
    .parquet, .arrow or .feather file, and a pattern in quotes, such as "emb-*.npy", stands for several. All but those
    of text can be larger than memory.
    Without --gallery it is leave one out: each sample is a query, ranked against all others. Queries that are in the
    gallery themselves are found out and said, unless --exclude tells which rows they are: in .txt (one a line) or .npy
    files, or under the name ids in files that have names. With ids, equal ones are the same item.

    --json, --markdown and --latex without OUT, or with -, print that instead of the table.
    """
    per_query, profile, receipt, html = (options[name] for name in ("per_query", "save_profile", "receipt", "html"))
    page = None if html is None else Page.checked(options)
    if page is None and (options["confidence"], options["collisions"]) != (None, None):
        raise click.UsageError("--confidence and --collisions go with --html")
    _check(per_query, profile)
    counting, summary = counting_options(options, checkpoint=options["checkpoint"]), summary_options(options)
    with files_named(file, options):
        pair = opened(file, options)
        counting = replace(counting, exclude=own_rows(options))
        with bar("ranking") as progress:
            report = evaluate_pair(pair, replace(counting, progress=progress), summary)
    _write(report, pair.query.labels, per_query, profile)  # first, so that nothing is printed if that fails
    if page is not None and html is not None:
        page.write(html, report, pair, counting, title=f"{file}")
    if receipt is not None:
        receipts.receipt_of(report, pair, counting).save(receipt)
    deliver(report, options, std=options["std"])


def _check(per_query: Path | None, profile: Path | None) -> None:
    """Refuse, before long work, a file that cannot hold what is to be written to it."""
    if per_query is not None:
        export.check(per_query)
    if profile is not None and profile.exists() and not profile.is_file():
        raise click.ClickException(f"cannot write {profile}: a profile must be a regular file")


def _write(report: Report, labels: NDArray[Any], per_query: Path | None, profile: Path | None) -> None:
    if per_query is not None:
        with output(per_query) as file:
            export.write(export.columns(report, labels), file, export.ending_of(per_query))
    if profile is not None:
        report.profile.save(profile.resolve())
