"""`deadheat demo`: an evaluation that needs no file of one's own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.cli.files import command
from deadheat.cli.shell import say_tables
from deadheat.errors import MissingPackageError
from deadheat.reports.evaluating import evaluate
from deadheat.reports.tables import DIGITS, Table
from deadheat.support.arrays import Int64
from deadheat.support.lazy import require

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


def digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Load scikit-learn's handwritten digits: rows (1797, 64) of grey levels from 0 to 16, and the digit of each."""
    try:
        datasets = require("sklearn.datasets", "demo", "the demo")
    except MissingPackageError as error:
        text = "the demo's images come with scikit-learn: pip install 'deadheat[demo]'"
        raise MissingPackageError(text, name=error.name) from None
    images, labels = datasets.load_digits(return_X_y=True)
    return images, labels


@command("demo")
def demo() -> None:
    """Evaluate 1797 handwritten digits, and then an embedding that cheats a sort."""
    images, labels = digits()
    say_tables(f"{_REAL.format(n=len(images))}\n{evaluate(images, labels)}\n{_exploit(labels)}")


def _exploit(labels: Int64) -> str:
    """Return the second part: everything mapped to zero, scored by two sorts and by deadheat, in three orders."""
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
    """Compute leave-one-out mAP by argsort where every distance is 0: rank, look up, average."""
    ranking = np.argsort(np.zeros(len(labels) - 1), kind=kind)
    values = []
    for query, label in enumerate(labels):
        ranks = np.flatnonzero(np.delete(labels, query)[ranking] == label) + 1
        values.append(float((np.arange(1, len(ranks) + 1) / ranks).mean()))
    return math.fsum(values) / len(values)
