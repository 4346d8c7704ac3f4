"""Scores of models on tasks, as others publish them: in comes a path, out goes a score for each model and task.

- A table (.csv, .tsv): a row a model, its name first, and a column a task; or columns `model`, `task` and `score`. An
  empty cell is a missing score.
- A folder of MTEB's results: a JSON a task with `task_name` and `scores`; the mean of its splits and subsets, as
  `mteb.TaskResult.get_score` takes it.
- A folder of SWE-bench/experiments: `results.json` with the ids of the items that are `resolved`; an item is a task.
- A folder of HELM's runs: `per_instance_stats.json`, in folders called after the run; an item is a task.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from deadheat.errors import FileError, InvalidValueError, reason

Scores = dict[str, dict[str, float]]
Row = tuple[str, str, float]  # model, task, score

_LONG = ("model", "task", "score")


def read_scores(path: Path, score_name: str | None = None) -> Scores:
    """The scores in a table or a folder.

    Parameters
    ----------
    path : Path
    score_name : str, optional
        Which score to take, where files have several: of MTEB's by default `main_score`, of HELM's there is no default.

    Raises
    ------
    FileError
        If the file or a file in the folder is not as described.
    """
    if path.is_dir():
        try:
            return _collected(path, _of_folder(path, score_name))
        except (AttributeError, KeyError, TypeError) as error:
            raise FileError(path, f" holds results that are not as described: {reason(error)}") from None
    if score_name is not None:
        raise InvalidValueError("score_name", f"goes with a folder of results, but {path} is a table")
    delimiter = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    if delimiter is None:
        raise InvalidValueError("scores", f"must be a folder or end in .csv or .tsv, but is {path}")
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return _collected(path, _of_table(path, csv.reader(file, delimiter=delimiter, strict=True)))
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(path, f" cannot be read as a table in UTF-8: {error}") from None


def _collected(path: Path, rows: Iterator[Row]) -> Scores:
    """Rows by model and task, each of which may come once."""
    scores: Scores = {}
    for model, task, score in rows:
        if task in scores.setdefault(model, {}):
            raise FileError(path, f" has more than one score of {model!r} for {task!r}")
        scores[model][task] = score
    if not scores:
        raise FileError(path, " has no scores")
    return scores


def _of_table(path: Path, lines: Any) -> Iterator[Row]:
    names = [name.strip() for name in next(lines, [])]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise FileError(path, f" has more than one column called {twice!r}")
    places = [names.index(name) for name in _LONG] if {*_LONG} <= {*names} else None
    for cells in lines:
        if not cells:
            continue
        if len(cells) != len(names):
            raise FileError(path, f", line {lines.line_num}: must have {len(names)} cells, but has {len(cells)}")
        scores = zip(names[1:], cells[1:], strict=True)
        found = [[cells[i] for i in places]] if places else [[cells[0], *each] for each in scores]
        for model, task, text in found:
            yield model.strip(), task.strip(), _number(path, lines.line_num, text.strip())


def _number(path: Path, line: int, text: str) -> float:
    try:
        score = float(text or "nan") if "_" not in text else math.inf
    except ValueError:
        score = math.inf
    if math.isinf(score):
        raise FileError(path, f", line {line}: must have scores that are finite numbers, but has {text!r}")
    return score


def _of_folder(path: Path, score_name: str | None) -> Iterator[Row]:
    """What the files of the first kind that is there say."""
    kinds: dict[str, Callable[[Path, list[Path], str | None], Iterator[Row]]] = {
        "per_instance_stats.json": _helm, "results.json": _swe_bench, "*.json": _mteb
    }  # fmt: skip
    for pattern, read in kinds.items():
        files = sorted(path.rglob(pattern))
        if files:
            return read(path, files, score_name)
    raise FileError(path, " must hold results of MTEB, SWE-bench or HELM in JSON, but holds no such file")


def _content(file: Path) -> Any:
    try:
        return json.loads(file.read_bytes())
    except ValueError as error:
        raise FileError(file, f" cannot be read as JSON: {error}") from None


def _mteb(root: Path, files: list[Path], score_name: str | None) -> Iterator[Row]:
    for file in files:
        content = _content(file)
        if not isinstance(content, dict) or not {"task_name", "scores"} <= content.keys():
            continue
        meta = file.with_name("model_meta.json")
        name = _content(meta).get("name") if meta.exists() else None
        wanted = score_name or "main_score"
        values = [each.get(wanted) for split in content["scores"].values() for each in split]
        if not values or not all(isinstance(value, (int, float)) for value in values):
            raise FileError(file, f" must have a number {wanted!r} in each subset of each split")
        yield name or file.relative_to(root).parts[0], content["task_name"], math.fsum(values) / len(values)


def _swe_bench(root: Path, files: list[Path], score_name: str | None) -> Iterator[Row]:
    """1 for an item that is resolved and 0 for any other that a file names; no model resolved the rest."""
    found = {file: _content(file) for file in files}
    for file, content in found.items():
        if not isinstance(content, dict) or not isinstance(content.get("resolved"), list):
            raise FileError(file, " must have a list 'resolved' of the items that are resolved")
    lists = [each for content in found.values() for each in content.values() if isinstance(each, list)]
    items = sorted({item for each in lists for item in each})
    for file, content in found.items():
        resolved, folder = {*content["resolved"]}, file.parent.parent if file.parent.name == "results" else file.parent
        for item in items:
            yield folder.relative_to(root).as_posix(), item, float(item in resolved)


def _helm(root: Path, files: list[Path], score_name: str | None) -> Iterator[Row]:
    """The mean over trials of what each item scores as it is, without perturbations."""
    for file in files:
        named, trials = re.search(r"(?:^|[:,])model=([^,]+)", file.parent.name), dict[str, list[float]]()
        if named is None:
            raise FileError(file, " must be in a folder called after its run, such as 'mmlu:subject=law,model=NAME'")
        for each in _content(file):
            stats = {} if each.get("perturbation") else {stat["name"]["name"]: stat for stat in each["stats"]}
            if score_name in stats and stats[score_name].get("mean") is not None:
                trials.setdefault(each["instance_id"], []).append(stats[score_name]["mean"])
            elif stats and score_name not in stats:
                named_scores = ", ".join(sorted(stats))
                raise FileError(file, f" must have the score that score_name names, one of {named_scores}")
        run = file.parent.name.replace(named[0], "").strip(":,")
        yield from ((named[1], f"{run} {item}", math.fsum(values) / len(values)) for item, values in trials.items())
