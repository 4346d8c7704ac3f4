"""Time and memory of `deadheat.evaluate` against the project's targets, each next to a yardstick of the same run.

python -m benchmarks                              everything: a table
python -m benchmarks --json OUT --plot OUT.png    also as JSON, and as a picture
python -m benchmarks --only targets               what the engine has to reach, and whether it does
python -m benchmarks --only "leave one out 20000" one part of it
python -m benchmarks --only cliffs                data full of ties, each kind next to random data
python -m benchmarks --only threads               1, 2, 4, ... threads, and what that means for 64 cores
python -m benchmarks --only interpreter           how long two threads hold the interpreter
python -m benchmarks --only size                  lines of Python and C++, counted
python -m benchmarks --scale 0.05                 a smoke run on fewer items
python -m benchmarks --breakdown                  where one evaluation spends its time, on one thread
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import report, results, running
from benchmarks.cases import Case, select
from benchmarks.results import Row
from benchmarks.timing import Clock

_FILE_WIDTH = 124  # columns where the output is no terminal
_BREAKDOWN = "leave one out 10000x128 cosine random, classes of 100"


def _in_a_folder(context: click.Context, option: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a file that cannot be written before an hour of work rather than after it."""
    if path is not None and not path.absolute().parent.is_dir():
        raise click.BadParameter(f"the folder {path.absolute().parent} does not exist")
    if path is not None and option.name == "plot" and find_spec("matplotlib") is None:
        raise click.BadParameter("needs matplotlib, which is in the extra 'plots'")
    return path


_OUTPUT = click.Path(path_type=Path, dir_okay=False, writable=True)


@click.command()
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Cases whose name has this part, or all of it with * or ? in it, or `targets`; may be repeated.",
)
@click.option("--list", "only_list", is_flag=True, help="Print the names of the cases and end.")
@click.option(
    "--scale", type=click.FloatRange(0, 1, min_open=True), default=1.0, help="Share of the items, for a smoke run."
)
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, help="Times that each is timed.")
@click.option("--threads", type=click.IntRange(1), default=results.processors, help="Default: all processors.")
@click.option("--json", "out", type=_OUTPUT, callback=_in_a_folder, help="Also write everything as JSON.")
@click.option("--plot", type=_OUTPUT, callback=_in_a_folder, help="Also draw a picture (.png, .pdf or .svg).")
@click.option("--breakdown", is_flag=True, help="Only where one evaluation spends its time, on one thread.")
def main(
    only: tuple[str, ...],
    only_list: bool,
    scale: float,
    repeats: int,
    threads: int,
    out: Path | None,
    plot: Path | None,
    breakdown: bool,
) -> None:
    """Measure deadheat against its targets."""
    for pattern in only:
        if not select([pattern]):
            raise click.UsageError(f"no case has a name that matches {pattern!r}; --list prints the names")
    chosen = select(only or ((f"*{_BREAKDOWN}",) if breakdown else ()))
    if only_list:
        click.echo("\n".join(case.name for case in chosen))
        return
    cases = [case.scaled(scale) for case in chosen]
    console = Console()
    if not console.is_terminal:
        console = Console(width=_FILE_WIDTH)
    if breakdown:
        _break_down(console, cases)
        return
    rows: list[Row] = []
    try:
        _measure(console, cases, Clock(threads, repeats), rows)
    finally:  # an interrupt keeps what there is
        record = results.run_record(rows, threads, repeats, scale)
        if out is not None:
            out.write_text(json.dumps(record, indent=1) + "\n")
        if plot is not None and rows:
            from benchmarks.picture import draw

            draw(record, plot)
    console.print()
    console.print(report.targets(rows))
    console.print("\n".join(report.summary(rows)), markup=False, highlight=False, soft_wrap=True)


def _measure(console: Console, cases: list[Case], clock: Clock, rows: list[Row]) -> None:
    """Measure the cases one by one and print each row when it is there."""
    machine = results.machine()
    console.print(
        f"{machine['processor']}, {clock.threads} of {machine['processors']} processors; median of {clock.repeats}, "
        "taken by turns",
        highlight=False,
    )
    printer = report.Printer(console)
    columns = (MofNCompleteColumn(), BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}"))
    # Redrawn between two timings only: a bar that moves by itself would take time from what is timed.
    bar = Progress(*columns, console=console, auto_refresh=False, transient=True, disable=not console.is_terminal)
    with bar:
        task = bar.add_task("", total=len(cases))
        for case in cases:
            clock.tick = lambda what, case=case: bar.update(  # type: ignore[misc]
                task, description=f"{case.name}: {what}", refresh=True
            )
            rows.append(running.measure(case, clock))
            printer.row(rows[-1])
            bar.advance(task)


def _break_down(console: Console, cases: list[Case]) -> None:
    """Return where the first of the cases that are timed spends its time."""
    timed = [case for case in cases if case.yardstick and case.section != "growth"]
    if not timed:
        raise click.UsageError("--breakdown is for cases that are timed against a yardstick")
    console.print(report.breakdown(f"evaluate, {timed[0].name}, one thread", running.breakdown(timed[0])))


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
