"""`deadheat collisions`: the counts that Python gives, the picture, and one line for what is wrong."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from calling import passed, reason, run

import deadheat as dh
from deadheat.analyses.collisions import collisions_of_pair
from deadheat.engine.counting.options import CountingOptions
from deadheat.inputs.samples import open_pair

RANDOM = np.random.default_rng(0)
POINTS, LABELS = RANDOM.integers(0, 4, (40, 3)).astype(np.float32), np.arange(40) % 4
SHELF, SHELF_LABELS = RANDOM.integers(0, 4, (30, 3)).astype(np.float32), np.arange(30) % 4


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    np.savez(tmp_path / "all.npz", embeddings=POINTS, labels=LABELS)
    np.savez(tmp_path / "shelf.npz", embeddings=SHELF, labels=SHELF_LABELS)
    np.save(tmp_path / "rows.npy", np.arange(40))
    np.save(tmp_path / "long.npy", np.arange(41))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def counts(*args: object) -> dict[str, object]:
    return json.loads(passed("collisions", "all.npz", *args, "--json"))["distances"]


def test_tables_of_each_distance_are_what_python_prints() -> None:
    names = ["euclidean", "cityblock"]
    found = dh.collisions(POINTS, LABELS, distance=names)
    assert found["euclidean"].mixed.groups != found["cityblock"].mixed.groups != 0
    for asked in (["euclidean,cityblock"], ["L2", "--distance", "euclidean, cityblock"]):
        assert passed("collisions", "all.npz", "--distance", *asked) == f"{found}\n"
    assert passed("collisions", "all.npz") == f"{dh.collisions(POINTS, LABELS)}\n"
    assert counts("--distance", "euclidean,cityblock") == found.to_dict()["distances"]


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (["--ties", "float16", "--ties-of", "distance"], {"ties": dh.Rounded("float16", of="distance")}),
        (["--within", "0.05"], {"within": 0.05}),
        (["--depth", "3", "--threads", "1"], {"depth": 3}),
        (["--gallery", "shelf.npz"], {"gallery": SHELF, "gallery_labels": SHELF_LABELS}),
    ],
)
def test_options(args: list[str], options: dict[str, object]) -> None:
    found = dh.collisions(POINTS, LABELS, **options)
    assert counts(*args) == {"cosine": {"rule": found.rule, "counts": asdict(found.counts)}} != counts()


@pytest.mark.filterwarnings("always::deadheat.errors.QueryInGalleryWarning")
def test_queries_that_are_in_the_gallery() -> None:
    alone = counts()
    assert counts("--gallery", "all.npz", "--exclude", "rows.npy") == alone
    again = run("collisions", "all.npz", "--gallery", "all.npz", "--json")
    assert again.exit_code == 0
    assert again.stderr.startswith("deadheat: warning: 40 of 40 queries are in the gallery")
    assert json.loads(again.stdout)["distances"] != alone


def test_a_picture_and_the_same_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    plots = pytest.importorskip("deadheat.plots", reason="pictures need matplotlib")
    assert passed("collisions", "all.npz", "--plot", "b.pdf") == passed("collisions", "all.npz")
    assert Path("b.pdf").read_bytes().startswith(b"%PDF")
    drawn, draw = [], plots.collision_image
    monkeypatch.setattr(plots, "collision_image", lambda found, **how: drawn.append(found) or draw(found, **how))
    passed("collisions", "all.npz", "--distance", "cityblock", "--depth", 7, "--plot", "a.png", "--markdown", "a.md")
    np.testing.assert_array_equal(drawn[0].kind, dh.collisions(POINTS, LABELS, distance="cityblock", depth=7).kind)
    assert Path("a.md").read_text().startswith("| cityblock, exact")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--distance", "cosine,L2", "--plot", "a.png"], "--plot draws one distance, but --distance names 2"),
        (["--distance", "nope"], "distance must be one of cosine, euclidean, inner_product, cityblock, hamming"),
        (["--ties", "tolerance=1e-3"], "ties must have tie groups, but Tolerance(0.001) has none"),
        (["--ties-of", "distance"], "--ties-of goes with --ties float16"),
        (["--within", "1", "--ties", "float16"], "within must be left out unless ties are exact"),
        (["--digits", "3"], "No such option"),
        (["--plot", "a.gif"], "--plot a.gif must end in one of .png, .pdf, .svg"),
        (["--json", "a.json", "--gallery-labels", "shelf.npz"], "--gallery-labels goes with --gallery"),
        (["--json", "a.json", "--exclude", "rows.npy"], "exclude must be left out without a gallery"),
        (["--labels", "long.npy", "--plot", "a.png"], "long.npy: labels must have one entry per row of embeddings"),
    ],
)  # fmt: skip
def test_bad_options_are_refused_in_one_line(args: list[str], message: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    assert message in reason("collisions", "all.npz", *args)
    assert sorted(folder.iterdir()) == before


def test_a_pair_that_has_been_opened_and_excluded_rows() -> None:
    pair, found = open_pair(POINTS, LABELS, POINTS, LABELS), dh.collisions(POINTS, LABELS)
    options = CountingOptions.checked(exclude=np.arange(40))
    np.testing.assert_array_equal(collisions_of_pair(pair, options).kind, found.kind)
    own = dh.collisions(POINTS, LABELS, POINTS, LABELS, exclude=(list(LABELS * 0 + np.arange(40)), np.arange(40)))
    np.testing.assert_array_equal(own.size, found.size)
    with pytest.warns(dh.errors.QueryInGalleryWarning, match="give exclude="):
        dh.collisions(POINTS, LABELS, POINTS, LABELS)
