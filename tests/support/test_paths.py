"""A path is a string or a path object: an integer is no file that is open already, and nothing else is a path."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

import deadheat as dh
from deadheat.errors import InputError
from deadheat.inputs.predictions import read_predictions
from deadheat.integrations import mteb
from deadheat.support.atomic import replacing

ROWS, LABELS = [[0.0], [1.0], [-1.0]], [0, 0, 1]


class InBytes:
    def __fspath__(self) -> bytes:
        return b"a.npy"


def written(path: Any) -> None:
    with replacing(path):
        pass


TAKES_PATHS: dict[str, Callable[[Any], object]] = {
    "TieProfile.save": lambda path: dh.Task(ROWS, LABELS).profile.save(path),
    "TieProfile.load": dh.TieProfile.load,
    "Receipt.save": lambda path: dh.receipt(dh.Task(ROWS, LABELS)).save(path),
    "Receipt.load": dh.Receipt.load,
    "verify": lambda path: dh.verify(path, dh.Task(ROWS, LABELS)),
    "read": dh.read,
    "read labels": lambda path: dh.read("a.npy", path),
    "Task": lambda path: dh.Task(path, LABELS),
    "Task labels": lambda path: dh.Task(ROWS, path),
    "Task gallery": lambda path: dh.Task(ROWS, LABELS, path, LABELS),
    "checkpoint": lambda path: dh.Task(ROWS, LABELS, checkpoint=path).profile,
    "run": lambda path: dh.from_run(path, {"q": {"a": 1}}),
    "qrels": lambda path: dh.from_run({"q": {"a": 1.0}}, path),
    "documents": lambda path: dh.from_run({"q": {"a": 1.0}}, {"q": {"a": 1}}, documents=path),
    "audit_run": dh.audit_run,
    "predictions": lambda path: mteb.evaluate_predictions(path, {"q": {"a": 1}}, n_documents=1),
    "read_predictions": read_predictions,
    "read_embeddings": lambda path: mteb.read_embeddings(path, ["a"]),
    "replacing": written,
}


@pytest.mark.parametrize("name", TAKES_PATHS)
@pytest.mark.parametrize(
    "path", [1, True, b"a.npy", InBytes(), "a\0.npy", "a\ud800.npy"], ids=lambda path: ascii(path)[:12]
)
def test_what_is_no_path_is_refused_in_one_line(
    name: str, path: Any, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    with pytest.raises(InputError) as error:
        TAKES_PATHS[name](path)
    assert "\n" not in str(error.value)
    str(error.value).encode()
    assert capfdbinary.readouterr().out == b""
    assert all(os.fstat(number) for number in (0, 1, 2))


@pytest.mark.skipif(os.name == "nt", reason="names of files are text there")
def test_the_name_of_a_file_may_be_any_bytes(tmp_path: Any) -> None:
    path = tmp_path / os.fsdecode(b"\xff\xfe.npz")
    profile = dh.Task(ROWS, LABELS).profile
    try:
        profile.save(path)
    except OSError:  # of a file system that has text only
        pytest.skip("this file system takes no such name")
    assert dh.TieProfile.load(path).digest() == profile.digest()
