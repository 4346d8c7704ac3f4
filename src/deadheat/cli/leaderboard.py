"""`deadheat leaderboard`: several files of embeddings, ranked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deadheat.analyses import comparison
from deadheat.cli.embeddings import EXCLUDE, LAYOUT, RANKING, with_options
from deadheat.cli.files import Command
from deadheat.cli.outputs import TEXTS
from deadheat.cli.several import EXPLAIN, FILES, TESTING, deliver_with_words, reports_of, settings
from deadheat.cli.types import PATH
from deadheat.support.triple import Triple


@click.command(cls=Command)
@click.argument("files", nargs=-1, type=PATH, metavar="FILE...")
@with_options(FILES, EXCLUDE, LAYOUT, RANKING)
@click.option("--rank-by", type=click.Choice(Triple._fields), default="lower", help="Of the first measure.")
@with_options(TESTING, TEXTS, EXPLAIN)
def leaderboard(files: tuple[Path, ...], **options: Any) -> None:
    """Rank systems on the same samples, and say which are significantly ahead of which, whatever the ties do.

    FILEs are as `deadheat evaluate` takes them, one for each system, of the same samples in the same order. Without
    --gallery it is leave one out.

    --json, --markdown and --latex without OUT, or with -, print that instead of the table.
    """
    if len(files) < 2:
        raise click.UsageError(f"leaderboard takes at least two files, but got {len(files)}")
    board = comparison.leaderboard(reports_of(files, options), rank_by=options["rank_by"], **settings(options))
    deliver_with_words(board, options)
