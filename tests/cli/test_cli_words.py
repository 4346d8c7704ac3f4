"""Errors and warnings of the command name its options, and those of the library its arguments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cli.calling import refused, run

import deadheat as dh


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("a.npz", embeddings=np.arange(12.0).reshape(4, 3), labels=[0, 1, 0, 1])
    np.savez("two.npz", one=np.eye(4, 3), two=np.eye(4, 3), labels=[0, 1, 0, 1])
    Path("t.csv").write_text("a,b,x\nu,v,1\nw,y,2\n")
    Path("names.csv").write_text("0,1,who\n1,2,a\n")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("grouped a.npz --group-size 3", "--group-size must be "),
        ("evaluate a.npz --distance l7", "--distance must be one of "),
        ("collisions a.npz --distance l7", "--distance must be one of "),
        ("evaluate a.npz --labels-key y --gallery a.npz --label-column z", "--label-column must be left out unless "),
        (
            "evaluate a.npz --per-query seed",
            "--per-query seed must end in one of .csv, .tsv, .npz, .parquet, but has no",
        ),
        ("evaluate two.npz", "name the embeddings (--embeddings-key), one of "),
        ("evaluate a.npz --labels t.csv", "may hold the labels; name one (--label-column)"),
        ("evaluate names.csv", "may be names or data; say which (--header/--no-header)"),
        ("evaluate a.npz --labels seed", "seed: labels must be a file of labels that ends in one of "),
        ("audit a", "but has no ending"),
    ],
)
def test_options_stand_for_arguments(line: str, said: str) -> None:
    assert said in refused(*line.split())


def test_the_library_has_its_own_names() -> None:
    with pytest.raises(ValueError, match=r"^group_size must be "):
        dh.grouped(dh.Task("a.npz"), group_size=3)
    with pytest.raises(ValueError, match=r"name the embeddings \(embeddings_key=\), one of "):
        dh.read("two.npz")


@pytest.mark.filterwarnings("always::deadheat.errors.QueryInGalleryWarning")
def test_warnings_name_options_too() -> None:
    done = run("collisions", "a.npz", "--gallery", "a.npz")
    assert "leave out the gallery, or give --exclude, the row of the gallery" in done.stderr
    with pytest.warns(dh.errors.QueryInGalleryWarning, match="or give exclude=, the row"):
        dh.collisions(dh.Task("a.npz", gallery="a.npz"))
