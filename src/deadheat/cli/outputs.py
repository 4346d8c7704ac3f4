"""Where results go: the options that any command with a table has, pictures, and files before standard output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deadheat.cli import files
from deadheat.cli.files import Output
from deadheat.cli.shell import STDOUT, output, say
from deadheat.cli.types import INTEGER
from deadheat.reports.tables import DIGITS, TabularResult, decimals
from deadheat.support.extras import require


def _text(*names: str, kind: files.Kind, about: str) -> Any:
    """An option that writes a text to OUT, or prints it."""
    return click.option(
        *names, type=Output(kind, is_text=True), is_flag=False, flag_value="-", metavar="[OUT]", help=about
    )


def _checked(ctx: click.Context, param: click.Parameter, digits: int) -> int:
    decimals(digits)
    return digits


JSON = _text("--json", "json_out", kind=files.JSON, about="Write JSON.")
WHOLE = (  # of tables without a measure
    JSON,
    _text("--markdown", kind=files.MARKDOWN, about="Write the table in Markdown."),
    _text("--latex", kind=files.LATEX, about="Write the table for LaTeX."),
)
TEXTS = (
    click.option(
        "--digits", type=INTEGER, callback=_checked, default=DIGITS, show_default=True,
        help="Decimals of per cent in the table.",
    ),
    *WHOLE,
)  # fmt: skip


def plot(about: str) -> Any:
    """The option that draws a picture: see `plots_for`."""
    return click.option("--plot", type=Output(*files.PICTURES), metavar="OUT", help=f"Draw {about}: .png, .pdf, .svg.")


def plots_for(path: Path | None) -> Any:
    """The module of plots, or an error before long work; None where no picture is asked for."""
    if path is None:
        return None
    endings = [ending for kind in files.PICTURES for ending in kind.endings]
    if path.suffix.lower() not in endings:
        raise click.UsageError(f"--plot {path} must end in one of {', '.join(endings)}")
    return require("deadheat.plots", "plots", "--plot")


def save_picture(figure: Any, path: Path) -> None:
    """Write a figure in the format that the path ends in."""
    with output(path) as file:
        figure.savefig(file, format=path.suffix.lower().removeprefix("."), dpi=200)


def asked(options: dict[str, Any]) -> list[Path | None]:
    """Where the texts of `TEXTS` or `WHOLE` go; None for what was not asked for."""
    return [options["json_out"], options["markdown"], options["latex"]]


def deliver(result: TabularResult, options: dict[str, Any], **content: Any) -> None:
    """Write the texts that are asked for, and then print one of them or the table; `content` says what is in them."""
    shown = {key: options[key] for key in ("digits",) if key in options} | content
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
