"""`deadheat verify`: a receipt and files, and whether the one follows from the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deadheat.cli.embeddings import EXCLUDE, FILES, LAYOUT, files_named, opened, own_rows, with_options
from deadheat.cli.files import Command
from deadheat.cli.outputs import JSON
from deadheat.cli.shell import STDOUT, bar, output, say
from deadheat.cli.types import PATH, THREADS
from deadheat.counting import CountingOptions
from deadheat.receipts import Receipt, signing
from deadheat.receipts.verifying import Verification, options_of, verify_pair
from deadheat.support.lazy import json

DIFFERS = 1  # exit status


@click.command(cls=Command)
@click.argument("receipt", type=PATH)
@click.argument("file", type=PATH)
@with_options(FILES, EXCLUDE, LAYOUT)
@click.option("--key", type=PATH, help="The public key (PEM) of the one who must have signed it.")
@click.option("--threads", type=THREADS, metavar="N", help="Default: all cores.")
@click.option("--device", metavar="NAME", help="Multiply and count with PyTorch: cuda, cuda:1, cpu; default: NumPy.")
@with_options([JSON])
def verify(receipt: Path, file: Path, **options: Any) -> int:
    """Compute RECEIPT anew from FILE, and say "match", or what differs.

    FILE and the options that name files are those of deadheat evaluate; distance, ties and measures are in the receipt.
    Exit status 0 for a match, 1 if anything differs, 2 if that cannot be told.
    """
    loaded = Receipt.load(receipt)
    signer = None if options["key"] is None else signing.fingerprint_of_file(options["key"])
    stated, summary = options_of(loaded)
    with files_named(file, options):
        pair = opened(file, options)
        with bar("ranking") as progress:
            more = {"threads": options["threads"], "device": options["device"], "progress": progress}
            counting = CountingOptions.checked(**stated, **more, exclude=own_rows(options))
            verification = verify_pair(loaded, pair, counting, summary, signer)
    _deliver(verification, options["json_out"])
    return 0 if verification.matches else DIFFERS


def _deliver(verification: Verification, json_out: Path | None) -> None:
    """Print the verdict, and write it as JSON if that is asked for."""
    text = json.dumps(verification.to_dict(), indent=2)
    if json_out not in (None, STDOUT):
        with output(json_out) as file:
            file.write(f"{text}\n".encode())
    say(text if json_out == STDOUT else str(verification))
