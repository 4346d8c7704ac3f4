"""Files of scores (JSON) as MTEB and BEIR write them, read into dictionaries of scores by query and document."""

from __future__ import annotations

import json
import os
from typing import Any

from deadheat.errors import FileError, InvalidValueError, reason
from deadheat.inputs import limits
from deadheat.inputs.files import Path, unzipped
from deadheat.support import checks

_ABOUT = "mteb_model_meta"  # the key next to the subsets


def read_predictions(path: Path, *, subset: str | None = None, split: str | None = None) -> dict[str, dict[str, float]]:
    """Read what MTEB saved with ``prediction_folder=``: the best documents of each query, with their scores.

    Parameters
    ----------
    path : path
        ``{task}_predictions.json``. Also the older form, which holds one subset and split and nothing else.
    subset, split : str, optional
        Such as ``"default"`` and ``"test"``; needed where the file holds several.

    Returns
    -------
    dict of query id to dict of document id to score

    Raises
    ------
    OSError
        If the file cannot be read.
    FileError
        If it holds something else.
    InvalidValueError
        If it has no such subset or split, or several and none was named.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "Toy_predictions.json"
    >>> saved = {"mteb_model_meta": {"model_name": "toy"}, "default": {"test": {"q": {"a": 0.5, "b": 0.5}}}}
    >>> _ = path.write_text(json.dumps(saved))
    >>> read_predictions(path)
    {'q': {'a': 0.5, 'b': 0.5}}
    """
    return scores_in(_content(checks.path(path)), path, subset, split)


def read_all_predictions(path: Path) -> dict[tuple[str, str], dict[str, dict[str, float]]]:
    """Read all that MTEB 2 saved in a file of predictions, by subset and split."""
    content = _content(path)
    if not _is_table(content) or _ABOUT not in content:
        raise FileError(path, " must hold subsets and splits, as MTEB 2 saves its predictions")
    pairs = [(subset, split) for subset, splits in content.items() if subset != _ABOUT for split in splits]
    return {(subset, split): scores_in(content, path, subset, split) for subset, split in pairs}


def _content(path: Path) -> Any:
    try:
        with unzipped(path) as file:
            return json.load(file, object_pairs_hook=distinct)
    except (ValueError, RecursionError) as error:  # of JSON or of UTF-8
        raise not_scores(path, error) from None


def not_scores(path: Path, error: Exception) -> Exception:
    """Return the error for a file that is no JSON of scores; the error of a file that is refused stays."""
    if isinstance(error, FileError):
        return error
    said = "nested too deeply" if isinstance(error, RecursionError) else reason(error)
    return FileError(path, f" is no JSON of scores: {said}")


def scores_in(content: Any, path: Path, subset: str | None = None, split: str | None = None) -> dict[str, Any]:
    """Return the scores in what the JSON of a file holds, as `read_predictions` does."""
    if not _is_table(content):
        raise FileError(path, " must hold a dictionary of dictionaries, as MTEB saves its predictions")
    if _ABOUT in content or not _holds_scores(content):
        subsets = {name: splits for name, splits in content.items() if name != _ABOUT}
        if not all(map(_is_table, subsets.values())):
            raise FileError(path, " must hold a dictionary of splits for each subset")
        content = _chosen(_chosen(subsets, subset, "subset"), split, "split")
    elif subset is not None or split is not None:
        raise InvalidValueError("subset and split", f"must be left out: {os.fspath(path)} has none")
    if not _holds_scores(content):
        raise FileError(path, " must hold scores by query and document, as MTEB saves them for retrieval")
    table: dict[str, dict[str, float]] = content
    return table


def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the keys and values of an object, and refuse a repeated key."""
    result = dict(pairs)
    if len(result) < len(pairs):
        twice = limits.repeated(name for name, _ in pairs)
        raise ValueError(f"{twice!r:.50} must be listed once, but is again")
    return result


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(row, dict) for row in value.values())


def _holds_scores(value: Any) -> bool:
    return _is_table(value) and all(type(each) in (int, float) for row in value.values() for each in row.values())


def _chosen(tables: dict[str, Any], name: str | None, argument: str) -> Any:
    """Return the table with this name, or the only one."""
    listed = ", ".join(tables) or "none"
    if name is None and len(tables) == 1:
        return next(iter(tables.values()))
    if name not in tables:
        got = "is not given" if name is None else f"is {name!r}"
        raise InvalidValueError(argument, f"must be one of those in the file, {listed}, but {got}")
    return tables[name]
