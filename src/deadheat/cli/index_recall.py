"""`deadheat index-recall`: what vector indexes returned against a ground truth, from the files of benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deadheat.analyses.index_recall import index_recall_of_truth
from deadheat.cli.files import INTEGER, PATH, REAL, Command
from deadheat.cli.options import TEXTS, deliver, with_options
from deadheat.cli.several import names_of
from deadheat.inputs.ground_truth import Neighbors, read_neighbors


@click.command("index-recall", cls=Command)
@click.argument("truth", type=PATH)
@click.argument("files", nargs=-1, type=PATH, metavar="RETURNED...")
@click.option("--distances", type=PATH, metavar="FILE", help="The distances of TRUTH, if they are in another file.")
@click.option("-k", type=INTEGER, default=10, show_default=True, metavar="N", help="Neighbours to be found.")
@click.option(
    "--tolerance", type=REAL, default=0.0, show_default=True, metavar="EPS",
    help="What differs by no more ties; ann-benchmarks takes 1e-3, big-ann-benchmarks 1e-6.",
)  # fmt: skip
@click.option("--similarity", is_flag=True, help="The larger the nearer, such as inner products.")
@click.option("--name", "names", multiple=True, help="Of an index, once for each RETURNED; default: the file's name.")
@with_options(TEXTS)
def index_recall(truth: Path, files: tuple[Path, ...], **options: Any) -> None:
    """Measure how many of the true neighbours vector indexes returned, whatever ties at the last place do.

    TRUTH has the ids and distances of the nearest items of each query, and RETURNED the ids that an index gave: .h5 or
    .hdf5 (ann-benchmarks' neighbors and distances), .ibin and .fbin (big-ann-benchmarks), its .bin, or .npy.

    --json, --markdown and --latex without OUT, or with -, print that instead of the table.
    """
    if not files:
        raise click.UsageError("index-recall takes TRUTH and at least one RETURNED")
    names, true = names_of(files, options["names"]), read_neighbors(truth)
    if options["distances"] is not None:
        true = Neighbors(true.ids, read_neighbors(options["distances"]).distances)
    if true.ids is None:
        raise click.UsageError(f"{truth} has no ids")
    if true.distances is None:
        more = "" if options["distances"] else "; --distances FILE names them"
        raise click.UsageError(f"{options['distances'] or truth} has no distances{more}")
    returned = {name: read_neighbors(path).ids for name, path in zip(names, files, strict=True)}
    lacking = next((path for path, ids in zip(files, returned.values(), strict=True) if ids is None), None)
    if lacking is not None:
        raise click.UsageError(f"{lacking} has no ids")
    far = -true.distances if options["similarity"] else true.distances
    deliver(index_recall_of_truth(returned, true.ids, far, options["k"], tolerance=options["tolerance"]), options)
