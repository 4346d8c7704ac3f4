"""A path with a NUL character, which no system takes: one line with the argument, wherever a path is taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh

BAD = "a\0.npz"
ROWS, LABELS = np.eye(4), [0, 0, 1, 1]
QRELS, RUN = {"q": {"d": 1}}, {"q": {"d": 1.0}}
CALLS: dict[str, list[Callable[[], Any]]] = {
    "embeddings": [
        lambda: dh.read(BAD),
        lambda: dh.read(Path(BAD)),
        lambda: dh.evaluate(BAD),
        lambda: dh.evaluate([BAD, BAD], LABELS),
        lambda: dh.evaluate("a\0*.npy", LABELS),
        lambda: dh.profile(BAD),
    ],
    "labels": [lambda: dh.read(BAD, labels="l\0.npy"), lambda: dh.evaluate(ROWS, BAD)],
    "gallery": [lambda: dh.evaluate(ROWS, LABELS, BAD)],
    "gallery_labels": [lambda: dh.evaluate(ROWS, LABELS, ROWS, BAD)],
    "checkpoint": [lambda: dh.evaluate(ROWS, LABELS, checkpoint=BAD)],
    "run": [lambda: dh.evaluate_run(BAD, QRELS)],
    "qrels": [lambda: dh.evaluate_run(RUN, BAD)],
    "receipt": [lambda: dh.Receipt.load(BAD)],
    "path": [
        lambda: dh.TieProfile.load(BAD),
        lambda: dh.profile(ROWS, LABELS).save(BAD),
        lambda: dh.Receipt({}).save(BAD),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_path_with_a_nul_character_is_refused_by_name(name: str) -> None:
    for call in CALLS[name]:
        with pytest.raises(dh.errors.InvalidValueError) as caught:
            call()
        assert str(caught.value).startswith(f"{name} must be a path without a NUL character, but is '")
        assert "\0" not in str(caught.value)
