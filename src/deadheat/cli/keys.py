"""`deadheat keys`: a private key, and the public one beside it."""

from __future__ import annotations

from pathlib import Path

import click

from deadheat.cli.shell import say
from deadheat.cli.types import PATH
from deadheat.receipts.signing import fingerprint_of_file, make_keys


@click.command()
@click.argument("key", type=PATH)
def keys(key: Path) -> None:
    """Make a private key in KEY, which stays with you, and its public key beside it (key.pem, key.pub.pem).

    Whoever has the public key can tell which receipts were signed with the private one: deadheat verify --key.
    """
    private, public = make_keys(key)
    say(f"{private}: private, for deadheat sign --key\n{public}: public, {fingerprint_of_file(public)}")
