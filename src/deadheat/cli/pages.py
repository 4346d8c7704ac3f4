"""Pages that commands write: what belongs on them is checked and read before the work begins."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.cli.shell import output
from deadheat.counting import CountingOptions
from deadheat.errors import FileError
from deadheat.inputs import Pair
from deadheat.inputs.layout import Layout
from deadheat.inputs.sources import open_labels
from deadheat.printable import reason
from deadheat.reports import Report
from deadheat.support import checks
from deadheat.support.extras import require
from deadheat.support.lazy import lazy

if TYPE_CHECKING:
    from deadheat import pages
    from deadheat.analyses import collisions as searches
else:
    pages, searches = lazy("deadheat.pages"), lazy("deadheat.analyses.collisions")


class Page(NamedTuple):
    """What a page has beside its report: confidences of the queries, and how far to look for collisions."""

    confidence: NDArray[Any] | None = None
    depth: int | None = None

    @classmethod
    def checked(cls, options: dict[str, Any]) -> Page:
        """What the options ask for; files are read."""
        require("jinja2", "html", "--html")
        path, depth = options.get("confidence"), options.get("collisions")
        return cls(
            None if path is None else read_numbers(path, "confidence"),
            None if depth is None else checks.positive_integer(depth, "collisions"),
        )

    def write(self, path: Path, report: Report, pair: Pair, options: CountingOptions, *, title: str) -> None:
        """Write the page about a report on these inputs."""
        found = None if self.depth is None else self._collisions(pair, options)
        text = pages.html_report(report, title=title, confidence=self.confidence, collisions=found)
        write(path, text)

    def _collisions(self, pair: Pair, options: CountingOptions) -> Any:
        gallery = (None, None) if pair.gallery is None else (pair.gallery.embeddings, pair.gallery.labels)
        return searches.collisions(
            pair.query.embeddings, pair.query.labels, *gallery, distance=options.distance, ties=options.rule,
            depth=self.depth, threads=options.threads,
        )  # fmt: skip


def write(path: Path, page: str) -> None:
    """Write a page, whole or not at all."""
    with output(path) as file:
        file.write(page.encode())


def read_numbers(path: Path, name: str, key: str | None = None) -> NDArray[Any]:
    """A number for each query, from a file as labels are read from it: one a line, or the array or column of a name."""
    values = open_labels(path, name, Layout(labels_key=key, label_column=key))
    try:
        return np.asarray(values if values.dtype.kind in "biuf" else [float(value) for value in values.tolist()])
    except (ValueError, TypeError) as error:
        raise FileError(path, f" must hold a number for each query: {reason(error)}") from None
