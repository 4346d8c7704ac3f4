"""`deadheat compare`: two files of embeddings, and what lies between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deadheat.analyses import comparison
from deadheat.cli import options as shared
from deadheat.cli.files import HTML, PATH, REAL, Command, Output
from deadheat.cli.options import about_page, with_options, write_page
from deadheat.cli.several import EXPLAIN, FILES, TESTING, deliver_with_words, reports_of, settings
from deadheat.cli.shell import note
from deadheat.plots.pages.report_page import html_report

WORSE = 1  # exit status


@click.command(cls=Command)
@click.argument("files", nargs=-1, type=PATH, metavar="A B")
@with_options(FILES, shared.EXCLUDE, shared.LAYOUT, shared.RANKING, TESTING)
@click.option("--alternative", default="two-sided", show_default=True, help="Or greater (A is better), less.")
@with_options(shared.TEXTS, EXPLAIN)
@click.option("--html", type=Output(HTML), metavar="OUT", help="Write a page about A, compared with B (HTML).")
@click.option("--fail-if-worse", is_flag=True, help="Exit with 1 where B is worse than A however the ties fall.")
@click.option("--max-drop", type=REAL, metavar="POINTS", help="With it: per cent that may be lost; default: 0.")
def compare(files: tuple[Path, ...], **options: Any) -> int:
    """Compare two systems on the same samples: how far apart they are, and whether chance or ties explain it.

    A and B are files as `deadheat evaluate` takes them, of the same samples in the same order. Without --gallery it is
    leave one out. In continuous integration A is the old system and B the new one: with --fail-if-worse the exit status
    is 1 if a measure of B is lower by more than --max-drop points even with B's ties broken in the best way and A's in
    the worst, and 2 if that cannot be decided.

    --json, --markdown and --latex without OUT, or with -, print that instead of the table.
    """
    if len(files) != 2:
        more = "; deadheat leaderboard takes more" if len(files) > 2 else ""
        raise click.UsageError(f"compare takes two files, but got {len(files)}{more}")
    max_drop = _checked_drop(options)
    (a, of_a), (b, of_b) = reports_of(files, options).items()
    found = comparison.compare(of_a, of_b, names=(a, b), **settings(options))
    if options["html"] is not None:
        write_page(
            options["html"],
            html_report(of_a, of_b, title=f"{a} and {b}", names=(a, b), about=about_page(*files), **settings(options)),
        )
    dropped = found.dropped(max_drop / 100) if options["fail_if_worse"] else ()
    deliver_with_words(found, options)
    if options["fail_if_worse"]:
        note(_sentence(found, dropped, max_drop))
    return WORSE if dropped else 0


def _checked_drop(options: dict[str, Any]) -> float:
    """The points of per cent that may be lost."""
    if options["max_drop"] is not None and not options["fail_if_worse"]:
        raise click.UsageError("--max-drop goes with --fail-if-worse")
    max_drop = float(options["max_drop"] or 0)
    if not 0 <= max_drop <= 100:
        raise click.UsageError(f"--max-drop must be points of per cent from 0 to 100, but is {max_drop:g}")
    return max_drop


def _sentence(found: comparison.Comparison, dropped: tuple[str, ...], max_drop: float) -> str:
    """What the gate decided."""
    a, b = found.names
    if not dropped:
        points = f"by more than {max_drop:g} points " if max_drop else ""
        return f"{b} passes: no measure is below {a}'s {points}however the ties fall ({', '.join(found)})."
    lost = comparison.listed([f"{name} by at least {100 * found[name].lower:.4g} points" for name in dropped])
    return f"{b} is worse than {a} however the ties fall: {lost}, where {max_drop:g} are allowed."
