"""Runs studies, one after another, and leaves what they find."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.studies import page
from deadheat.studies.registry import STUDIES
from deadheat.studies.study import Outcome, Setting
from deadheat.support import checks


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
    """Run studies and write what they find: figures (PNG), tables (CSV), and ``index.html`` that shows them together.

    Parameters
    ----------
    names : iterable of str
        Names from `STUDIES`; none for all of them.
    out : path
        A folder, made if need be. What it holds of other studies stays on the page.
    data : path, optional
        A folder with data that is no part of deadheat: ``phocnet_gw.npz``, ``words.txt``, embeddings of CARS196 and the
        like. What is not there is marked so.
    cache : path, optional
        Where trained networks are kept; by default ``cache`` in `out`.
    quick : bool
        Smaller sizes, for a first look.
    threads : int, optional
    say : callable
        Takes lines that tell what is going on.

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
    studies = [STUDIES[name].load() for name in chosen]
    for study in studies:
        study.require_packages()
    folder = _folder(Path(out), "out")
    store = _folder(folder / "cache" if cache is None else Path(cache), "cache")
    setting = Setting(None if data is None else Path(data), store, quick, threads, say)
    outcomes = {}
    for study in studies:
        say(f"{study.name}: {study.question}")
        outcomes[study.name] = outcome = study.run(setting)
        if not isinstance(outcome, Outcome):
            raise InvalidTypeError(f"study {study.name}", f"must find an Outcome, but found {outcome!r}")
        page.write_study(folder, study, outcome, quick)
        page.write_index(folder, STUDIES)
    return outcomes


def _folder(place: Path, argument: str) -> Path:
    """A folder that is there, or made."""
    if place.exists() and not place.is_dir():
        raise InvalidValueError(argument, f"must be a folder, but {place} is a file")
    place.mkdir(parents=True, exist_ok=True)
    return place
