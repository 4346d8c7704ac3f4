"""`deadheat demo`, `measures` and `reproduce`: what needs no file of one's own."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import click
import numpy as np

from deadheat.cli.files import PLACE, Command, Kind, option
from deadheat.cli.options import THREADS_OPTION, with_options
from deadheat.cli.shell import note, say
from deadheat.measures.names import listing
from deadheat.reports.evaluating import evaluate
from deadheat.reports.tables import DIGITS, Table
from deadheat.studies import study
from deadheat.studies.study import digits
from deadheat.support.arrays import Int64

_OWN_PAGE = Kind("a page of deadheat reproduce", (".html",), rb"<!doctype html>\s*<!-- deadheat reproduce -->")

_REAL = """\
{n} handwritten digits, 8 x 8 grey levels each (from scikit-learn). The embedding is the image itself. Each image is
a query in turn, all others are ranked by cosine distance, and those of the same digit are relevant.
"""

_EXPLOIT = """\

Now an embedding that knows nothing: it maps every image to zero. All distances are equal, so no image is closer than
another, and a sort can only put them in some order of its own. Here is the mAP that it then reports, in per cent, with
the same images in three orders:
"""

_MORAL = """\

Same embedding, same labels: what a sort reports is the order of the samples and the habits of the sort, which may
differ from one processor to the next. deadheat's three values depend on neither. The lower bound is what this embedding
can promise, the expectation is what guessing at random earns, and the upper bound is luck in every tie.
"""


@click.command(cls=Command)
def demo() -> None:
    """Evaluate 1797 handwritten digits, and then an embedding that cheats a sort."""
    images, labels = digits()
    say(f"{_REAL.format(n=len(images))}\n{evaluate(images, labels)}\n{_exploit(labels)}")


def _exploit(labels: Int64) -> str:
    """The second part: everything mapped to zero, scored by two sorts and by deadheat, in three orders."""
    orders = {
        "as stored": np.arange(len(labels)),
        "sorted by digit": np.argsort(labels, kind="stable"),
        "shuffled": np.random.default_rng(0).permutation(len(labels)),
    }
    rows = []
    for name, order in orders.items():
        ours = evaluate(np.zeros((len(labels), 64)), labels[order], measures="mAP")["mAP"]
        sorts = (_plain_map(labels[order], kind) for kind in (None, "stable"))
        rows.append([name, *(f"{100 * value:.{DIGITS}f}" for value in (*sorts, ours.lower, ours.expected, ours.upper))])
    header = ["order of the samples", "default sort", "stable sort", "lower", "expected", "upper"]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    parts = " numpy.argsort ".center(sum(widths[1:3]) + 2, "-"), " deadheat ".center(sum(widths[3:]) + 4, "-")
    title = "  ".join([" " * widths[0], *parts])
    return "\n".join([_EXPLOIT, title, Table(header, rows).to_text(), _MORAL.rstrip()])


def _plain_map(labels: Int64, kind: Any) -> float:
    """Leave-one-out mAP by argsort where every distance is 0: rank, look up, average."""
    ranking = np.argsort(np.zeros(len(labels) - 1), kind=kind)
    values = []
    for query, label in enumerate(labels):
        ranks = np.flatnonzero(np.delete(labels, query)[ranking] == label) + 1
        values.append(float((np.arange(1, len(ranks) + 1) / ranks).mean()))
    return math.fsum(values) / len(values)


@click.command(cls=Command)
def measures() -> None:
    """List the measures, with their other names."""
    say(listing())


@click.command(cls=Command)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@with_options(
    [
        option("Output", "--out", type=PLACE, default=Path("reproduced"), metavar="DIR",
            help="Write tables, figures and the page to this folder."),
        option("Input", "--data", type=PLACE, metavar="DIR",
            help="Look here for data that deadheat does not contain, such as phocnet_gw.npz."),
        option("Run", "--cache", type=PLACE, metavar="DIR",
            help="Keep trained networks here. Default: cache in --out."),
        option("Run", "--quick", is_flag=True, help="Run on smaller sizes, in seconds, for a first look."),
        THREADS_OPTION,
        option("Output", "--list", "only_list", is_flag=True, help="Print the names of the studies and exit."),
        option("Run", "--force", is_flag=True, help="Overwrite any index.html in --out."),
    ]
)  # fmt: skip
def reproduce(names: tuple[str, ...], only_list: bool, force: bool, **options: Any) -> None:
    """Recompute the tables and figures of the studies that deadheat rests on, and compare them with the published ones.

    NAMEs are studies (--list); without any, all of them, which takes some minutes. Each study gets a folder in --out
    with PNG and CSV files, and index.html shows all that is there, with a mark for what agrees, what differs and why,
    and what needs data that was not found.
    """
    if only_list and names:
        raise click.UsageError(f"--list goes without NAMEs, but got {' '.join(names)}")
    if only_list:
        width = max(map(len, study.STUDIES))
        say("\n".join(f"{name:{width}}  {question}" for name, question in study.STUDIES.items()))
        return
    page = options["out"] / study.PAGE
    if page.is_file() and not force and not _OWN_PAGE.fits(page):
        why = f"it is there and is not {_OWN_PAGE.name} (--force overwrites it)"
        raise click.ClickException(f"cannot write {page}: {why}")
    outcomes = study.reproduce(names, **options, say=note)
    width = max(map(len, outcomes))
    for name, outcome in outcomes.items():
        counts = Counter(str(finding.mark) for finding in outcome.findings)
        say(f"{name:{width}}  {', '.join(f'{count} {mark}' for mark, count in counts.items())}")
    say(f"{page}")
