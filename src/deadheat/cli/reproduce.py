"""`deadheat reproduce`: studies by name, and how their findings stand beside what was published."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from deadheat.cli.shell import say
from deadheat.cli.types import PATH, THREADS
from deadheat.studies import registry, runner
from deadheat.studies.study import Outcome


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--out", type=PATH, default=Path("reproduced"), show_default=True, metavar="DIR", help="Written to.")
@click.option("--data", type=PATH, metavar="DIR", help="Data that is no part of deadheat, such as phocnet_gw.npz.")
@click.option("--cache", type=PATH, metavar="DIR", help="Where trained networks are kept; default: cache in --out.")
@click.option("--quick", is_flag=True, help="Smaller sizes: seconds, for a first look.")
@click.option("--threads", type=THREADS, metavar="N", help="Default: all cores.")
@click.option("--list", "only_list", is_flag=True, help="Print the names of the studies and end.")
def reproduce(names: tuple[str, ...], only_list: bool, **options: Any) -> None:
    """Compute the tables and figures of the studies that deadheat stands on, and put them beside what was published.

    NAMEs are studies (--list); without any, all of them, which takes some minutes. Each study gets a folder in --out
    with PNG and CSV files, and index.html shows all that is there, with a mark for what agrees, what differs and why,
    and what needs data that was not found.
    """
    if only_list and names:
        raise click.UsageError(f"--list goes without NAMEs, but got {' '.join(names)}")
    if only_list:
        width = max(map(len, registry.STUDIES))
        say("\n".join(f"{name:{width}}  {study.question}" for name, study in registry.STUDIES.items()))
        return
    outcomes = runner.reproduce(names, **options, say=lambda line: click.echo(line, err=True))
    say(_marks(outcomes))
    say(f"{options['out'] / 'index.html'}")


def _marks(outcomes: dict[str, Outcome]) -> str:
    """How many findings of each study agree, differ and so on."""
    width = max(map(len, outcomes))
    lines = []
    for name, outcome in outcomes.items():
        counts = Counter(str(finding.mark) for finding in outcome.findings)
        lines.append(f"{name:{width}}  {', '.join(f'{count} {mark}' for mark, count in counts.items())}")
    return "\n".join(lines)
