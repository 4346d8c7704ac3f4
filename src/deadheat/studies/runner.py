"""Runs studies, one after another, and writes what they find: PNG, CSV, and one page that shows all of a folder.

Every study leaves ``outcome.json`` in its folder, and the page is made from all of these, so that a study can be run
again by itself.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from deadheat import __version__
from deadheat.errors import InvalidValueError
from deadheat.studies.study import Mark, Outcome, Setting
from deadheat.support import checks
from deadheat.support.atomic import replacing
from deadheat.support.lazy import require

STUDIES = {  # by module, in the order of the page: the question of each
    "toy": "three toy embeddings that Hit@1 cannot distinguish",
    "confidence": "ranking measures with a model's confidence",
    "collisions": "which neighbours are at equal distances",
    "exploit": "how far the order of the samples changes a score",
    "words": "edit distances and PHOC codes, where nearly all distances tie",
    "precision": "the same embeddings in fewer bits",
    "grouped": "Grouped Recall@K: cost, intervals, and the number of classes",
    "sampling": "coverage of intervals when queries, or whole classes, are sampled",
    "null": "how often a test gives p < 0.05 where nothing differs",
    "rerankers": "five rules for ties, and a reranker whose inputs are truncated",
    "dropout": "a network on rendered words: train, test, and the gap between them",
}
PAGE = "index.html"
_RECORD = "outcome.json"
_SHOWN_ROWS = 40  # of a table on the page; its file has them all


def load(name: str) -> Any:
    """Import a study. A `ModuleNotFoundError` says what to install if Matplotlib or what it needs is not there."""
    require("matplotlib", "reproduce", "reproduce")  # studies import it without saying who needs it
    study = import_module(f"deadheat.studies.{name}")
    for package in ("jinja2", *getattr(study, "NEEDS", ())):
        require(package, "reproduce", "reproduce")
    return study


def reproduce(
    names: Iterable[str] = (),
    out: str | os.PathLike[str] = "reproduced",
    *,
    data: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    quick: bool = False,
    threads: int | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Outcome]:
    """Run studies and write their figures (PNG), their tables (CSV), and ``index.html``, which shows them together.

    Parameters
    ----------
    names : iterable of str
        Names from `STUDIES`; none for all of them.
    out : path
        A folder, created if needed. Results of other studies in it stay on the page.
    data : path, optional
        A folder with data that is not part of deadheat: ``phocnet_gw.npz``, ``words.txt``, embeddings of CARS196 and
        so on. Findings without their data are marked "no data".
    cache : path, optional
        Where trained networks are kept; by default ``cache`` in `out`.
    quick : bool
        Smaller sizes, for a first look.
    threads : int, optional
    say : callable
        Takes lines about the progress.

    Returns
    -------
    dict of str to Outcome

    Raises
    ------
    ValueError
        If a name is unknown, or a folder is a file.
    ModuleNotFoundError
        If what a study needs is not installed; the message says how to install it. Nothing was run then.
    """
    chosen = list(dict.fromkeys(checks.choice(name, STUDIES, "study") for name in names)) or list(STUDIES)
    if data is not None and not Path(data).is_dir():
        raise InvalidValueError("data", f"must be a folder, but {data} is not one")
    studies = {name: load(name) for name in chosen}
    folder = _folder(Path(out), "out")
    store = _folder(folder / "cache" if cache is None else Path(cache), "cache")
    setting = Setting(None if data is None else Path(data), store, quick, threads, say)
    outcomes = {}
    for name, study in studies.items():
        say(f"{name}: {STUDIES[name]}")
        outcomes[name] = study.run(setting)
        _write_study(folder / name, study, outcomes[name], quick)
        _write_page(folder)
    return outcomes


def _folder(place: Path, argument: str) -> Path:
    if place.exists() and not place.is_dir():
        raise InvalidValueError(argument, f"must be a folder, but {place} is a file")
    place.mkdir(parents=True, exist_ok=True)
    return place


def _write_study(own: Path, study: Any, outcome: Outcome, quick: bool) -> None:
    own.mkdir(exist_ok=True)
    for picture in outcome.pictures:
        content = io.BytesIO()
        picture.figure.savefig(content, format="png", dpi=160)
        _write(own / f"{picture.name}.png", content.getvalue())
    for table in outcome.tables:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(table.headings)
        writer.writerows(table.cells())
        _write(own / f"{table.name}.csv", text.getvalue().encode())
    record = {
        "name": own.name,
        "title": study.TITLE,
        "source": study.SOURCE,
        "about": study.ABOUT,
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
    _write(own / _RECORD, json.dumps(record, indent=1).encode())


def _write_page(folder: Path) -> None:
    jinja2 = require("jinja2", "reproduce", "reproduce")
    paths = [folder / name / _RECORD for name in STUDIES]
    records = [json.loads(path.read_text()) for path in paths if path.is_file()]
    loader = jinja2.PackageLoader("deadheat.studies", "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page = environment.get_template("page.html")
    shown = page.render(studies=records, marks=list(Mark), version=__version__, shown=_SHOWN_ROWS)
    _write(folder / PAGE, shown.encode())


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)
