"""`deadheat sign`: a receipt gets a signature."""

from __future__ import annotations

from pathlib import Path

import click

from deadheat.cli.files import JSON, Command, Output
from deadheat.cli.shell import check_output, say
from deadheat.cli.types import PATH
from deadheat.errors import FileError
from deadheat.receipts import Receipt


@click.command(cls=Command)
@click.argument("receipt", type=PATH)
@click.option("--key", type=PATH, required=True, help="The private key (PEM) to sign with: see deadheat keys.")
@click.option(
    "--output", "-o", type=Output(JSON), metavar="OUT", help="Where the signed receipt goes; default: RECEIPT itself."
)
def sign(receipt: Path, key: Path, output: Path | None) -> None:
    """Sign RECEIPT, as the one who vouches for it. It must be whole: one that was changed is refused."""
    target = receipt if output is None else output
    check_output(target)
    loaded = Receipt.load(receipt)
    if not loaded.is_whole:
        raise FileError(receipt, " was changed after it was made: its content does not have the digest it carries")
    signed = loaded.sign(key)
    signed.save(target)
    say(f"{target}: signed by {signed.signer}")
