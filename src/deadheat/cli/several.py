"""Several files of embeddings, a system each, tested against each other: for `deadheat compare` and `leaderboard`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from deadheat.analyses.comparison import Comparison
from deadheat.analyses.difference import PairedTest
from deadheat.analyses.leaderboard import Leaderboard
from deadheat.cli import options as shared
from deadheat.cli.files import INTEGER, PATH, REAL
from deadheat.cli.options import deliver
from deadheat.cli.shell import STDOUT, say
from deadheat.inputs.files import matching
from deadheat.reports.evaluating import evaluate_pair
from deadheat.reports.report import Report
from deadheat.support import remote

FILES = (
    click.option("--name", "names", multiple=True, help="Of a system, once for each FILE; default: the file's name."),
    click.option("--labels", multiple=True, type=PATH, help="File of labels, if not in FILE: once for all, or each."),
    click.option("--gallery", multiple=True, type=PATH, help="File of the items to rank, once for each FILE."),
    click.option("--gallery-labels", multiple=True, type=PATH, help="File of its labels: once for all, or each."),
)
TESTING = (
    click.option("--resample", metavar="UNIT", help="Independent units: class or query; class, if leave one out."),
    click.option("--confidence-level", type=REAL, default=0.95, show_default=True, metavar="P", help="Of intervals."),
    click.option("--method", default="percentile", show_default=True, help="Of intervals: or basic, BCa."),
    click.option("--n-resamples", type=INTEGER, default=9999, show_default=True, metavar="N", help="Draws and swaps."),
    click.option("--seed", type=INTEGER, default=0, show_default=True, metavar="N", help="Of the draws."),
)
EXPLAIN = (click.option("--explain", is_flag=True, help="Say below the table what each part of it means."),)

_SETTINGS = ("resample", "alternative", "confidence_level", "method", "n_resamples", "seed")


def settings(options: dict[str, Any]) -> dict[str, Any]:
    """How to test, as arguments of the same names."""
    return {name: options[name] for name in _SETTINGS if name in options}


def reports_of(files: tuple[Path, ...], options: dict[str, Any]) -> dict[str, Report]:
    """The report on each file, by the name of its system; before that, options are checked."""
    if options["explain"] and STDOUT in shared.asked(options):
        raise click.UsageError("--explain goes with the table, but another text is to be printed")
    PairedTest.checked(**settings(options))
    names, parts = names_of(files, options["names"]), [_for_each(options, part, files) for part in shared.PARTS]
    counting, summary = shared.counting_options(options), shared.summary_options(options)
    systems = {
        name: (file, {**options, **dict(zip(shared.PARTS, paths, strict=True))})
        for name, file, *paths in zip(names, files, *parts, strict=True)
    }
    for file, own in systems.values():
        _require_there(file, own)
    reports = {}
    for name, (file, own) in systems.items():
        with shared.opened(file, own, counting, f"ranking {name}") as (pair, counted):
            reports[name] = evaluate_pair(pair, counted, summary)
    return reports


def _require_there(file: Path, options: dict[str, Any]) -> None:
    """Refuse, before the first file is ranked, a file that is not there."""
    named = {"embeddings": [file], "exclude": options["exclude"]} | {part: [options[part]] for part in shared.PARTS}
    with shared.files_named(file, options):
        for argument, paths in named.items():
            for path in (each for given in paths if given is not None for each in matching(given, argument)):
                if not remote.is_url(path):
                    os.stat(path)


def deliver_with_words(result: Comparison | Leaderboard, options: dict[str, Any]) -> None:
    """Write and print the result, and below its table what it means if that was asked for."""
    deliver(result, options)
    if options["explain"]:
        say(f"\n{result.explain()}")


def names_of(files: tuple[Path, ...], given: tuple[str, ...]) -> list[str]:
    """The names of the systems: as asked for, or of their files, without folder and ending if these then differ."""
    if given and len(given) != len(files):
        raise click.UsageError(f"--name must be given once for each FILE, but got {len(given)} for {len(files)} files")
    short = [path.stem for path in files]
    names = list(given) or (short if len(set(short)) == len(files) else list(map(str, files)))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise click.UsageError(f"each system must have a name of its own (--name), but two are called {twice!r}")
    return names


def _for_each(options: dict[str, Any], part: str, files: tuple[Path, ...]) -> list[Path | None]:
    """The file of one option that belongs to each FILE; labels may be one for all, as systems share their queries."""
    given = options[part]
    if not given or (len(given) == 1 and part != "gallery"):
        return [given[0] if given else None] * len(files)
    if len(given) != len(files):
        rule = "once for each FILE" if part == "gallery" else "once, or once for each FILE"
        option = f"--{part.replace('_', '-')}"
        raise click.UsageError(f"{option} must be given {rule}, but got {len(given)} for {len(files)} files")
    return list(given)
