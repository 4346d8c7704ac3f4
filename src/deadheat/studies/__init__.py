"""The studies behind `deadheat reproduce`: published tables and figures, computed anew and put beside what was printed.

In come the names of studies and folders; out go a folder a study, with PNG and CSV files, and one page that shows all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

from deadheat.studies.study import Outcome, Setting
from deadheat.support import checks
from deadheat.support.extras import require

STUDIES = {
    "toy": "three toy embeddings that Hit@1 cannot tell apart",
    "confidence": "ranking measures with a model's confidence",
    "collisions": "which neighbours are equally far",
    "exploit": "what the order of the samples is worth",
    "words": "edit distances and PHOC codes, where nearly everything ties",
    "precision": "the same embeddings in fewer bits",
    "grouped": "Grouped Recall@K: cost, intervals, and the number of classes",
    "sampling": "what intervals hold when queries are drawn, or whole classes",
    "dropout": "a network on rendered words: train, test, and the gap between",
}


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
        raise ValueError(f"data must be a folder, but {data} is not one")
    for package in ("jinja2", "matplotlib", "scipy", "sklearn"):
        require(package, "reproduce", "reproduce")
    from deadheat.studies import page

    modules = {name: import_module(f"deadheat.studies.{name}") for name in chosen}
    folder, store = Path(out), Path(out) / "cache" if cache is None else Path(cache)
    for place, name in ((folder, "out"), (store, "cache")):
        if place.exists() and not place.is_dir():
            raise ValueError(f"{name} must be a folder, but {place} is a file")
        place.mkdir(parents=True, exist_ok=True)
    setting = Setting(None if data is None else Path(data), store, quick, threads, say)
    outcomes = {}
    for name, module in modules.items():
        say(f"{name}: {STUDIES[name]}")
        outcomes[name] = module.run(setting)
        page.write_study(folder, name, module, outcomes[name], quick)
        page.write_index(folder)
    return outcomes
