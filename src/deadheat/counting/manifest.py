"""What a checkpoint is of: names and texts, in a JSON file, and what differs between two of them, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from deadheat.support.atomic import replacing

_DIGEST = re.compile(r"[0-9a-f]{32,}")


def read(path: Path) -> dict[str, str] | None:
    """The content of a manifest; None if it is not there, or damaged.

    Raises
    ------
    OSError
        If it is there and cannot be read.
    """
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    whole = isinstance(content, dict) and all(isinstance(value, str) for value in content.values())
    return content if whole else None


def write(path: Path, identity: Mapping[str, str]) -> None:
    """Write a manifest whole or not at all.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    with replacing(path) as file:
        file.write(f"{json.dumps(identity, indent=1)}\n".encode())


def differences(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """What differs, in words. A digest would say nothing to a reader, so it is not shown.

    Examples
    --------
    >>> here = {"query embeddings": "5d41402abc4b2a76b9719d911017c592", "distance": "cosine"}
    >>> differences({"query embeddings": "7d793037a0760186574b0282f2f435e7", "distance": "hamming"}, here)
    "other query embeddings, distance is 'hamming' there and 'cosine' here"
    """
    return ", ".join(
        _difference(key, there.get(key, "none"), here.get(key, "none"))
        for key in {**here, **there}
        if there.get(key) != here.get(key)
    )


def _difference(key: str, there: str, here: str) -> str:
    match bool(_DIGEST.fullmatch(there)), bool(_DIGEST.fullmatch(here)):
        case True, True:
            return f"other {key}"
        case True, False:
            return f"{key} there and none here"
        case False, True:
            return f"{key} here and none there"
    return f"{key} is {there!r} there and {here!r} here"
