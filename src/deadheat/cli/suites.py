"""Folders of `deadheat leaderboard`: one for each system, with a file for each task of the same name.

    folders ──files_of_tasks──> {task: file} of each ──task by task, as files are read──> {system: {task: Report}}

Options that name a file for all systems, or one for each, may name such folders too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from deadheat.cli.options import PARTS
from deadheat.reports.report import Report

_MORE = (*PARTS, "exclude", "qrels", "documents")  # options that may name a folder with a file for each task


def are_folders(files: Sequence[Path]) -> bool:
    """Return whether the systems are folders; refuse files and folders together."""
    folders = [path for path in files if path.is_dir()]
    if folders and len(folders) < len(files):
        file = next(path for path in files if not path.is_dir())
        raise click.UsageError(f"FILEs must all be files or all be folders, but {folders[0]} is one, {file} not")
    return bool(folders)


def files_of_tasks(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by task: their names without ending, and without .gz."""
    files: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or not path.is_file():
            continue
        task = Path(path.name.removesuffix(".gz")).stem
        if task in files:
            raise click.UsageError(
                f"{folder} must have one file for each task, but has {files[task].name} and {path.name}"
            )
        files[task] = path
    if not files:
        raise click.UsageError(f"{folder} must have a file for each task, but has none")
    return files


Read = Callable[[tuple[Path, ...], dict[str, Any]], dict[str, Report]]


def reports_of_folders(folders: dict[str, Path], options: dict[str, Any], read: Read) -> dict[str, dict[str, Report]]:
    """Return the reports by system and task, from folders by the name of the system; `read` has those of one task."""
    files = {name: files_of_tasks(folder) for name, folder in folders.items()}
    reports: dict[str, dict[str, Report]] = {name: {} for name in folders}
    for task in dict.fromkeys(task for of_system in files.values() for task in of_system):
        chosen = [name for name in files if task in files[name]]
        places = [place for place, name in enumerate(files) if name in chosen]
        own = {name: _of_task(options[name], task, places, len(files)) for name in _MORE}
        paths = tuple(files[name][task] for name in chosen)
        for name, report in read(paths, {**options, **own, "names": tuple(chosen)}).items():
            reports[name][task] = report
    return reports


def _of_task(given: Any, task: str, places: Sequence[int], n_system: int) -> Any:
    """Return the value of an option for one task: of folders the file of the task, of one for each system those."""
    if given is None or isinstance(given, Path):
        return _file_of(given, task)
    chosen = [given[place] for place in places] if len(given) == n_system > 1 else given
    return tuple(_file_of(path, task) for path in chosen)


def _file_of(path: Path | None, task: str) -> Path | None:
    """Return the file of a task in a folder; a file stands for itself."""
    if path is None or not path.is_dir():
        return path
    files = files_of_tasks(path)
    if task not in files:
        raise click.UsageError(f"{path} must have a file for each task, but has none for {task}")
    return files[task]
