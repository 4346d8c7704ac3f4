"""`deadheat measures`."""

from __future__ import annotations

import click

from deadheat.cli.shell import say
from deadheat.measures import listing


@click.command()
def measures() -> None:
    """List the measures, with their other names."""
    say(listing())
