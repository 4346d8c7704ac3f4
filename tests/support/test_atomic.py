"""Files that are written whole or not at all, with a name from the beginning or only in the end."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from deadheat.support import atomic

WAYS = ["no name", "no /proc", "a name"]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How the file is written: as it can be here, or as on systems that lack one thing or the other."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(2, "No such file or directory")

    if request.param == "no /proc":
        monkeypatch.setattr(os, "link", refuse)
    if request.param == "a name":
        monkeypatch.setattr(atomic, "_without_a_name", lambda folder: None)
    return str(request.param)


def test_a_file_takes_the_place_of_another_with_its_permissions(way: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with atomic.replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
        written = [each for each in tmp_path.iterdir() if each != path]
        assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in written)
        if way != "a name" and hasattr(os, "O_TMPFILE"):
            assert written == []
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_what_was_there(way: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), atomic.replacing(path) as file:
        file.writelines([b"half", "of it"])  # type: ignore[list-item]
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_many_pieces_and_places_are_written(way: str, tmp_path: Path) -> None:
    with atomic.replacing(tmp_path / "out") as file:
        file.write(bytes(1 << 20))
        file.seek(3)
        file.write(b"x")
    assert (tmp_path / "out").read_bytes() == bytes(3) + b"x" + bytes((1 << 20) - 4)
