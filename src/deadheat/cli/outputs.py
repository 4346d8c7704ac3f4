"""Where results go: the options that any command with a table has, and files before standard output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from deadheat.cli.shell import STDOUT, TEXT, check_output, output, say
from deadheat.reports.tables import DIGITS, TabularResult, decimals

JSON = click.option("--json", "json_out", type=TEXT, is_flag=False, flag_value="-", metavar="[OUT]", help="Write JSON.")
TEXTS = (
    click.option("--digits", type=int, default=DIGITS, show_default=True, help="Decimals of per cent in the table."),
    JSON,
    click.option(
        "--markdown", type=TEXT, is_flag=False, flag_value="-", metavar="[OUT]", help="Write the table in Markdown."
    ),
    click.option(
        "--latex", type=TEXT, is_flag=False, flag_value="-", metavar="[OUT]", help="Write the table for LaTeX."
    ),
)


def asked(options: dict[str, Any]) -> list[Path | None]:
    """Where the texts of `TEXTS` go; None for what was not asked for."""
    return [options["json_out"], options["markdown"], options["latex"]]


def check_outputs(options: dict[str, Any], inputs: Sequence[Path], *more: Path | None) -> None:
    """Refuse, before long work, what cannot be written, and two results in one place.

    These are the texts that `TEXTS` ask for, and what else a command writes; None was not asked for.
    """
    decimals(options["digits"])
    paths = [path for path in (*asked(options), *more) if path is not None]
    twice = next((path for path in paths if paths.count(path) > 1), None)
    if twice is not None:
        where = "standard output" if twice == STDOUT else str(twice)
        raise click.UsageError(f"two results cannot both be written to {where}")
    for path in paths:
        if path != STDOUT:
            check_output(path, inputs)


def deliver(result: TabularResult, options: dict[str, Any], **content: Any) -> None:
    """Write the texts that `TEXTS` ask for, and then print one of them or the table; `content` says what is in them."""
    shown = {"digits": options["digits"], **content}
    made = [(result.to_json, content), (result.to_markdown, shown), (result.to_latex, shown)]
    texts = {
        path: text(**settings).rstrip()
        for (text, settings), path in zip(made, asked(options), strict=True)
        if path is not None
    }
    printed = texts.pop(STDOUT, None)
    for path, text in texts.items():
        with output(path) as file:
            file.write(f"{text}\n".encode())
    say(result.to_text(**shown) if printed is None else printed)
