"""`deadheat grouped`: what the library finds, as tables, JSON and a picture, and options that do not fit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from calling import passed, reason, refused, run

import deadheat as dh

LABELS = {name: np.arange(n) % n_class for name, n, n_class in (("train", 90, 30), ("test", 60, 20), ("shelf", 70, 20))}
POINTS = {
    name: np.random.default_rng(number).integers(0, 5, (len(labels), 3)).astype(np.float32)
    for number, (name, labels) in enumerate(LABELS.items())
}
USUAL = ("--group-size", 4, "--distance", "euclidean")
OPTIONS = {"group_size": 4, "distance": "euclidean"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, rows in POINTS.items():
        np.savez(tmp_path / f"{name}.npz", embeddings=rows, labels=LABELS[name])
    np.save(tmp_path / "rows.npy", np.arange(60))
    np.save(tmp_path / "wide.npy", np.zeros((60, 5)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sets(*names: str) -> tuple[np.ndarray, ...]:
    return tuple(array for name in names for array in (POINTS[name], LABELS[name]))


def test_a_file_is_what_python_prints(folder: Path) -> None:
    found = dh.grouped(*sets("train"), **OPTIONS, measures="Hit@1", seed=3, repeats=2)
    asked = (*USUAL, "--seed", 3, "--repeats", 2, "--confidence-level", 0.9, "--digits", 3)
    assert passed("grouped", "train.npz", *asked) == f"{found.to_text(confidence_level=0.9, digits=3)}\n"
    content = json.loads(passed("grouped", "train.npz", *asked, "-m", "mAP,Hit@1", "--json"))
    several = dh.grouped(*sets("train"), **OPTIONS, measures=["mAP", "Hit@1"], seed=3, repeats=2)
    assert content == content | {"grouped": several.to_dict(confidence_level=0.9)}
    ends = several["mAP"].interval(confidence_level=0.9)
    assert content["grouped"]["measures"]["mAP"]["interval"] == [ends.lower.low, ends.upper.high]


@pytest.mark.filterwarnings("always::deadheat.errors.QueryInGalleryWarning")
def test_queries_and_a_gallery(folder: Path) -> None:
    found = dh.grouped(*sets("test", "shelf"), **OPTIONS, measures="Hit@1", ties="float16", singletons="zero")
    asked = ("--gallery", "shelf.npz", *USUAL, "--ties", "float16", "--singletons", "zero")
    assert json.loads(passed("grouped", "test.npz", *asked, "--json"))["grouped"] == found.to_dict(
        confidence_level=0.95
    )
    same = run("grouped", "test.npz", "--gallery", "test.npz", *USUAL)
    assert same.exit_code == 0
    assert same.stderr.count("warning") == same.stderr.count("\n") == 1
    alone = passed("grouped", "test.npz", *USUAL)
    own = passed("grouped", "test.npz", "--gallery", "test.npz", "--exclude", "rows.npy", *USUAL)
    assert own.splitlines()[:2] == alone.splitlines()[:2]


def test_the_gap_of_two_files(folder: Path) -> None:
    content = json.loads(
        passed("grouped", "train.npz", "--test", "test.npz", *USUAL, "-m", "Hit@1", "-m", "mAP", "--json")
    )
    for measure in ("Hit@1", "mAP"):
        found = dh.generalization_gap(*sets("train", "test"), **OPTIONS, measure=measure)
        assert content["gap"]["measures"][measure].items() >= found.to_dict().items()
    assert content.keys() == {"deadheat", "schema", "gap"}
    shown = passed("grouped", "train.npz", "--test", "test.npz", *USUAL).splitlines()
    gap = dh.generalization_gap(*sets("train", "test"), **OPTIONS)
    assert [line.split()[0] for line in shown[8:11]] == ["gap", "in", "plain"]
    assert shown[9].split()[-2:] == [f"{100 * gap.grouped.margin():.2f}", f"{100 * gap.grouped.bound():.2f}"]
    assert shown[10].endswith(f"{100 * gap.plain.bound():.2f}")


def test_the_test_set_has_a_gallery_of_its_own(folder: Path) -> None:
    options = {"test_gallery": POINTS["shelf"], "test_gallery_labels": LABELS["shelf"], **OPTIONS}
    asked = ("grouped", "train.npz", "--test", "test.npz", "--test-gallery", "shelf.npz", *USUAL, "--json")
    found = dh.generalization_gap(*sets("train", "test"), **options)
    assert json.loads(passed(*asked))["gap"]["measures"]["Hit@1"].items() >= found.to_dict().items()
    own = dh.generalization_gap(*sets("train", "test"), **options, test_exclude=np.arange(60))
    excluded = json.loads(passed(*asked, "--test-exclude", "rows.npy"))
    assert excluded["gap"]["measures"]["Hit@1"].items() >= own.to_dict().items()
    assert own.to_dict() != found.to_dict()


def test_halves_are_those_of_table_1(folder: Path) -> None:
    found = dh.split_half(*sets("train"), **OPTIONS, measure="mAP", splits=7, seed=1)
    asked = ("grouped", "train.npz", *USUAL, "-m", "Hit@1,mAP", "--halves", 7, "--seed", 1)
    content = json.loads(passed(*asked, "--json"))
    assert content.keys() == {"deadheat", "schema", "grouped", "halves"}
    assert content["halves"]["measures"]["mAP"].items() >= found.to_dict().items()
    assert found.tables()[0].to_text() in passed(*asked)
    usual = json.loads(
        passed("grouped", "train.npz", *USUAL, "--json", "out.json", "--halves") and Path("out.json").read_text()
    )
    assert usual["halves"]["measures"]["Hit@1"]["splits"] == 20
    both = json.loads(passed("grouped", "train.npz", "--test", "test.npz", *USUAL, "--halves", 3, "--json"))
    assert both.keys() == {"deadheat", "schema", "gap", "halves"}


def test_a_picture_of_the_groups(folder: Path) -> None:
    passed("grouped", "train.npz", "--test", "test.npz", *USUAL, "-m", "Hit@1,mAP", "--plot", "c.SVG")
    assert Path("c.SVG").read_bytes().startswith(b"<?xml")
    passed("grouped", "train.npz", *USUAL, "--plot", "d.png", "--markdown", "d.md", "--latex", "d.tex")
    assert Path("d.md").read_text().startswith("| measure")
    assert Path("d.tex").read_text().startswith(r"\begin{tabular}")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--test-labels", "test.npz"], "--test-labels goes with --test"),
        (["--test", "test.npz", "--test-gallery-labels", "test.npz"], "--test-gallery-labels goes with --test-gallery"),
        (["--test", "none.npz"], "none.npz: No such file or directory"),
        (["--test", "wide.npy"], "wide.npy holds embeddings only"),
        (["--test", "test.npz", "--test-gallery", "wide.npy", "--test-gallery-labels", "shelf.npz"],
         "shelf.npz: gallery_labels must have one entry per row"),
        (["--halves", "0"], "--halves must be at least 1, but is 0"),
        (["--halves", "2", "--group-size", "16"], "group_size must be at most half the number of classes, 30"),
        (["--test", "test.npz", "--json", "test.npz"], "cannot write test.npz: it is one of the input files (--force"),
    ],
)  # fmt: skip
def test_bad_options_are_refused_in_one_line(args: list[str], message: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    assert message in reason("grouped", "train.npz", *args)
    assert sorted(folder.iterdir()) == before


def test_a_file_that_cannot_be_grouped(folder: Path) -> None:
    np.savez("alone.npz", embeddings=np.eye(12), labels=np.arange(12))
    assert "no query has a relevant item" in refused("grouped", "alone.npz")
