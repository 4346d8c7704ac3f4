"""`deadheat audit`: a file of embeddings, what a referee would ask about it, and an exit status for a gate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from deadheat.audits.submission.auditing import MEASURES, audit_pair
from deadheat.cli.embeddings import (
    MEANS,
    SCORES,
    SOURCES,
    counting_options,
    files_named,
    opened,
    own_rows,
    summary_options,
    with_options,
)
from deadheat.cli.files import Command
from deadheat.cli.outputs import TEXTS, deliver
from deadheat.cli.shell import bar
from deadheat.cli.types import PATH, SEED

REFUSED = 1  # exit status
_EXACT = {"ties": "exact", "ties_of": None}  # the other meanings are part of every audit


@click.command(cls=Command)
@click.argument("file", type=PATH)
@with_options(SOURCES, SCORES, MEANS)
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of what is drawn.")
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@with_options(TEXTS)
def audit(file: Path, **options: Any) -> int:
    """Find what a careful referee would ask about the embeddings and labels in FILE.

    FILE and the options that name files are those of deadheat evaluate. The first measure is compared with chance.
    Exit status 0 if nothing serious is found, 1 if something is (with --strict, a warning too), 2 if that cannot be
    told.

    --json, --markdown and --latex without OUT, or with -, print that instead of the text.
    """
    counting = counting_options({**options, **_EXACT})
    summary = summary_options(options, measures=MEASURES)
    with files_named(file, options):
        pair = opened(file, options)
        counting = replace(counting, exclude=own_rows(options))
        with bar("auditing") as progress:
            found = audit_pair(pair, replace(counting, progress=progress), summary, options["seed"])
    deliver(found, options)
    return 0 if found.passes(strict=options["strict"]) else REFUSED
