"""What a study found, as files: PNG, CSV, and the page that shows all studies of a folder together.

Every study leaves ``outcome.json`` in its folder, and the page is made from all of these, so that a study can be run
again by itself.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from deadheat import __version__
from deadheat.studies.study import Mark, Outcome, Study
from deadheat.support.atomic import replacing
from deadheat.support.extras import require

_RECORD, _PAGE = "outcome.json", "index.html"
_SHOWN_ROWS = 40  # of a table on the page; its file has them all


def write_study(folder: Path, study: Study, outcome: Outcome, quick: bool) -> None:
    """Write a study's pictures, tables and record into its own folder."""
    own = folder / study.name
    own.mkdir(exist_ok=True)
    for picture in outcome.pictures:
        content = io.BytesIO()
        picture.figure.savefig(content, format="png", dpi=160)
        _write(own / f"{picture.name}.png", content.getvalue())
    for table in outcome.tables:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table.headings)
        writer.writerows([["" if cell is None else cell for cell in row] for row in table.cells()])
        _write(own / f"{table.name}.csv", text.getvalue().encode())
    _write(own / _RECORD, json.dumps(_record(study, outcome, quick), indent=1).encode())


def write_index(folder: Path, names: Iterable[str]) -> Path:
    """Write the page that shows the studies of a folder that have one of these names; returns where it is."""
    jinja2 = require("jinja2", "reproduce", "reproduce")
    records = {path.parent.name: json.loads(path.read_text()) for path in folder.glob(f"*/{_RECORD}")}
    studies = [records[name] for name in names if name in records]
    loader = jinja2.PackageLoader("deadheat.studies", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["cell"] = _cell
    page = environment.get_template("page.html").render(
        studies=studies, marks=list(Mark), version=__version__, shown=_SHOWN_ROWS
    )
    _write(folder / _PAGE, page.encode())
    return folder / _PAGE


def _record(study: Study, outcome: Outcome, quick: bool) -> dict[str, Any]:
    """All of an outcome but the pictures themselves, as JSON can hold it."""
    return {
        "name": study.name,
        "title": study.title,
        "source": study.source,
        "about": study.about,
        "quick": quick,
        "conclusion": outcome.conclusion,
        "text": list(outcome.text),
        "marks": dict(Counter(str(finding.mark) for finding in outcome.findings)),
        "findings": [vars(finding) for finding in outcome.findings],
        "pictures": [{"name": picture.name, "caption": picture.caption} for picture in outcome.pictures],
        "tables": [
            {"name": table.name, "caption": table.caption, "columns": table.headings, "rows": table.cells()}
            for table in outcome.tables
        ],
    }


def _cell(value: Any) -> str:
    """A cell of a table as a person reads it."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)
