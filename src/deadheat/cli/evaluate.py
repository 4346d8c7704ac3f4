"""`deadheat evaluate`: check the options, read the files, evaluate, write the files, print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadheat.cli import options as shared
from deadheat.cli.files import HTML, INTEGER, JSON, PATH, PROFILE, QUERIES, Command, Output
from deadheat.cli.options import about_page, deliver, with_options, write_page
from deadheat.cli.shell import output
from deadheat.engine.counting.options import CountingOptions
from deadheat.inputs.samples import Pair
from deadheat.reports import export
from deadheat.reports.evaluating import evaluate_pair
from deadheat.support import checks
from deadheat.support.lazy import lazy, require

if TYPE_CHECKING:
    from deadheat.analyses import collisions as searches
    from deadheat.plots.pages import report_page
    from deadheat.trust.receipts import receipt as receipts
else:
    report_page, receipts, searches = map(
        lazy, ("deadheat.plots.pages.report_page", "deadheat.trust.receipts.receipt", "deadheat.analyses.collisions")
    )


@click.command(cls=Command)
@click.argument("file", type=PATH)
@with_options(shared.SOURCES, shared.RANKING)
@click.option("--std", is_flag=True, help="Also the standard deviation of the mean over random tie-breaking.")
@click.option("--checkpoint", type=PATH, metavar="DIR", help="Keep what is finished in DIR, and go on from there.")
@click.option(
    "--per-query", type=Output(*QUERIES), metavar="OUT", help="Write each query's values: .csv, .tsv, .npz, .parquet."
)
@with_options(shared.TEXTS)
@click.option("--html", type=Output(HTML), metavar="OUT", help="Write a shareable report (HTML).")
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
    gallery themselves are found and named, unless --exclude says which rows they are: in .txt (one a line) or .npy
    files, or under the name ids in files that have names. With ids, equal ones are the same item.

    --json, --markdown and --latex without OUT, or with -, print that instead of the table.
    """
    per_query, profile, html, confidence = (
        options[name] for name in ("per_query", "save_profile", "html", "confidence")
    )
    if html is not None:
        require("jinja2", "html", "--html")
        confidence = None if confidence is None else shared.read_numbers(confidence, "confidence")
        if options["collisions"] is not None:
            checks.positive_integer(options["collisions"], "collisions")
    elif (confidence, options["collisions"]) != (None, None):
        raise click.UsageError("--confidence and --collisions go with --html")
    if per_query is not None:
        export.check(per_query)
    if profile is not None and profile.exists() and not profile.is_file():
        raise click.ClickException(f"cannot write {profile}: a profile must be a regular file")
    counting = shared.counting_options(options, checkpoint=options["checkpoint"])
    summary = shared.summary_options(options)
    with shared.opened(file, options, counting) as (pair, counting):
        report = evaluate_pair(pair, counting, summary)
    if per_query is not None:  # first, so that nothing is printed if that fails
        with output(per_query) as out:
            export.write(report, out, per_query)
    if profile is not None:
        report.profile.save(profile.resolve())
    if html is not None:
        found = None if options["collisions"] is None else _collisions(pair, counting, options["collisions"])
        page: dict[str, Any] = {"confidence": confidence, "collisions": found}
        page |= {"title": file.name, "about": about_page(file, *filter(None, [options["gallery"]]))}
        write_page(html, report_page.html_report(report, **page))
    if options["receipt"] is not None:
        receipts.receipt_of(report, pair, counting).save(options["receipt"])
    deliver(report, options, std=options["std"])


def _collisions(pair: Pair, counting: CountingOptions, depth: int) -> Any:
    gallery = (None, None) if pair.gallery is None else (pair.gallery.embeddings, pair.gallery.labels)
    return searches.collisions(
        pair.query.embeddings, pair.query.labels, *gallery, distance=counting.distance, ties=counting.rule,
        depth=depth, threads=counting.threads,
    )  # fmt: skip
