"""`deadheat evaluate`: check the options, read the files, evaluate, write the files, print."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadheat.cli import options as shared
from deadheat.cli.files import FILE, INTEGER, LINES, PATH, Output, command, option
from deadheat.cli.options import about_page, deliver, write_page
from deadheat.cli.shell import log_in_one_line
from deadheat.reports.evaluating import report_of
from deadheat.support import checks
from deadheat.support.lazy import lazy

if TYPE_CHECKING:
    from deadheat.analyses import collisions as collision_groups
    from deadheat.plots import pages
    from deadheat.trust.receipts import receipt as receipts
else:
    pages, receipts, collision_groups = map(
        lazy, ("deadheat.plots.pages", "deadheat.trust.receipts.receipt", "deadheat.analyses.collisions")
    )


@command(
    "evaluate embeddings.npz -m mAP,Hit@1",
    click.argument("file", type=PATH),
    shared.SOURCES,
    shared.RELEVANT,
    shared.RANKING,
    shared.WEIGHTS,
    option("Measure", "--std", is_flag=True, help="Show the standard deviation over random tie-breaking too."),
    shared.INTERVAL,
    option("Run", "--checkpoint", type=FILE, metavar="DIR", help="Keep finished parts in DIR, and resume there."),
    shared.QUERIES,
    shared.BY_SLICE,
    shared.SLICE_COLUMN,
    shared.TEXTS,
    shared.html("Write a shareable report (HTML) to OUT."),
    option("Output", "--confidence", type=LINES, needs="html", metavar="FILE",
        help="Show in --html what the model's confidences in this file are worth: .npy, or one a line."),
    option("Output", "--confidence-key", metavar="NAME",
        help="Take the confidences from this array or column of that file. Default: confidence, or the only one."),
    option("Output", "--collisions", type=INTEGER, needs="html", metavar="N",
        help="Show in --html the collisions among each query's N nearest; slow."),
    option("Output", "--receipt", type=Output(), metavar="OUT",
        help="Write a receipt (JSON) to OUT, which `deadheat verify` checks."),
    option("Output", "--save-profile", type=Output(), metavar="OUT",
        help="Write the tie profile (.npz) to OUT, to compute more measures from later."),
)  # fmt: skip
def evaluate(file: Path, **options: Any) -> None:
    """Evaluate the embeddings and labels in FILE and print a table, in per cent.

    FILE is a .npz, .safetensors or .h5 (arrays such as embeddings and labels), .npy (with --labels), .csv, .tsv or
    .parquet file, and a pattern in quotes, such as "emb-*.npy", stands for several. All but those of text can be larger
    than memory; - is standard input, for text.

    Without --gallery each sample is a query in turn, ranked against all others (leave one out). Queries that are in the
    gallery themselves are detected and reported, unless --exclude says which rows they are: in .txt (one a line) or
    .npy files, or under the name ids in files that have names. With ids, equal ones are the same item.
    """
    profile, html, path = (options[name] for name in ("save_profile", "html", "confidence"))
    confidence = None if path is None else shared.read_numbers(path, "confidence", options["confidence_key"])
    if options["collisions"] is not None:
        checks.positive_integer(options["collisions"], "collisions")
    if options["std"] and (options["by_slice"] or options["slice_column"]) is not None:
        raise click.UsageError("--std goes with the table, which slices replace")
    if profile is not None and profile.exists() and not profile.is_file():
        raise click.ClickException(f"cannot write {profile}: a profile must be a regular file")
    settings = shared.task_settings(options, checkpoint=options["checkpoint"])
    summary = shared.summary_options(options)
    left_out = [] if path is None else shared.columns_of_numbers(file, options, ["confidence"])
    left_out += filter(None, [options["slice_column"]])
    said = nullcontext() if options["checkpoint"] is None else log_in_one_line()
    with said, shared.opened(file, {**options, "left_out": left_out}, settings) as task:
        report = shared.weighted({"": report_of(task, summary)}, options["weights"])[""]
    sliced = shared.slices(report.by_slice, options, file, report)
    shared.write_queries(options["per_query"], report)
    if profile is not None:
        report.profile.save(profile.resolve())
    if html is not None:
        depth = options["collisions"]
        result = None if depth is None else collision_groups.collisions(task, depth=depth)
        about = about_page(file, *filter(None, [options["gallery"]]))
        parts: dict[str, Any] = {"confidence": confidence, "collisions": result, "slices": sliced}
        page = pages.html_report(report, title=file.name, about=about, **parts)
        write_page(html, page)
    if options["receipt"] is not None:
        receipts.receipt_of(report, task).save(options["receipt"])
    if sliced is None:
        deliver(report, options, std=options["std"], interval=options["interval"])
    else:
        deliver(sliced, options)
