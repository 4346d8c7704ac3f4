"""`deadheat compare`: two files of embeddings, and what lies between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deadheat.analyses import comparison
from deadheat.cli import pages
from deadheat.cli.embeddings import EXCLUDE, LAYOUT, RANKING, with_options
from deadheat.cli.files import HTML, Command, Output
from deadheat.cli.outputs import TEXTS
from deadheat.cli.several import EXPLAIN, FILES, TESTING, deliver_with_words, reports_of, settings
from deadheat.cli.types import PATH
from deadheat.pages import html_report


@click.command(cls=Command)
@click.argument("files", nargs=-1, type=PATH, metavar="A B")
@with_options(FILES, EXCLUDE, LAYOUT, RANKING, TESTING)
@click.option("--alternative", default="two-sided", show_default=True, help="Or greater (A is better), less.")
@with_options(TEXTS, EXPLAIN)
@click.option("--html", type=Output(HTML), metavar="OUT", help="Write a page about A, and B beside it (HTML).")
def compare(files: tuple[Path, ...], **options: Any) -> None:
    """Compare two systems on the same samples: how far apart they are, and whether chance or ties explain it.

    A and B are files as `deadheat evaluate` takes them, of the same samples in the same order. Without --gallery it is
    leave one out.

    --json, --markdown and --latex without OUT, or with -, print that instead of the table.
    """
    if len(files) != 2:
        more = "; deadheat leaderboard takes more" if len(files) > 2 else ""
        raise click.UsageError(f"compare takes two files, but got {len(files)}{more}")
    (a, of_a), (b, of_b) = reports_of(files, options).items()
    found = comparison.compare(of_a, of_b, names=(a, b), **settings(options))
    if options["html"] is not None:
        pages.write(options["html"], html_report(of_a, of_b, title=f"{a} and {b}", names=(a, b)))
    deliver_with_words(found, options)
