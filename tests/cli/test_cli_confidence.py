"""`deadheat confidence`: what Python says of the same numbers, wherever they are, and one line for what is wrong."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from cli.calling import passed, reason

import deadheat as dh

RANDOM = np.random.default_rng(0)
POINTS, LABELS = RANDOM.integers(0, 4, (30, 3)).astype(float), np.arange(30) % 3
SURE, TARGET = RANDOM.integers(0, 9, 30) / 8, RANDOM.integers(0, 3, 30)
EUCLIDEAN = ("--distance", "euclidean")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.savez(tmp_path / "all.npz", embeddings=POINTS, labels=LABELS, sigma=SURE, blur=TARGET)
    np.savez(tmp_path / "points.npz", embeddings=POINTS, labels=LABELS)
    np.save(tmp_path / "sigma.npy", SURE)
    np.savetxt(tmp_path / "sigma.txt", SURE)
    np.savetxt(tmp_path / "blur.txt", TARGET, fmt="%d")
    with (tmp_path / "all.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["blur", "label", "a", "b", "sigma", "c"])
        rows.writerows([t, f"class {y}", a, b, s, c] for (a, b, c), y, s, t
                       in zip(POINTS.tolist(), LABELS, SURE.tolist(), TARGET, strict=True))  # fmt: skip
    return tmp_path


def expected() -> dh.confidence.ConfidenceReport:
    report = dh.evaluate(POINTS, LABELS, distance="euclidean", measures=["Hit@1", "MAP@R"])
    return dh.confidence.confidence_report(report, SURE, TARGET)


@pytest.mark.parametrize(
    ("file", "where"),
    [
        ("all.npz", ["--confidence-key", "sigma", "--target-key", "blur"]),
        ("all.csv", ["--confidence-key", "sigma", "--target-key", "blur"]),  # and no part of the embedding
        ("all.csv", ["--confidence-key", "4", "--target-key", "0"]),
        ("points.npz", ["--confidence", "sigma.npy", "--target", "blur.txt"]),
        ("points.npz", ["--confidence", "sigma.txt", "--target", "all.npz", "--target-key", "blur"]),
        ("points.npz", ["--confidence", "all.csv", "--confidence-key", "sigma", "--target", "blur.txt"]),
    ],
)
def test_it_says_what_python_says_wherever_the_numbers_are(
    file: str, where: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert json.loads(passed("confidence", file, *where, *EUCLIDEAN, "--json")) == json.loads(expected().to_json())


def test_tables(folder: Path) -> None:
    task = ("confidence", folder / "all.npz", "--confidence-key", "sigma")
    assert passed(*task, "--target-key", "blur", *EUCLIDEAN) == f"{expected()}\n"
    printed = passed(*task, *EUCLIDEAN, "-m", "P@3", "--digits", 1)
    assert printed.startswith("error by P@3 (%)")
    assert "confidence against Hit@1 (%)" in printed
    assert "Spearman" not in printed
    content = json.loads(passed(*task, "-m", "P@3", "--json"))
    assert list(content["curves"]) == ["P@3"]
    assert content["correlation"] is None


def test_a_picture_of_each_measure(folder: Path) -> None:
    task = ("confidence", folder / "all.npz", "--confidence-key", "sigma")
    passed(*task, "--plot", folder / "curve.svg")
    drawn = (folder / "curve.svg").read_text()
    passed(*task, "--plot", folder / "one.svg", "-m", "Hit@1")
    assert len((folder / "one.svg").read_text()) < len(drawn)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "--confidence FILE or --confidence-key NAME must say where the confidences are"),
        (["--target-key", "blur"], "--confidence FILE or --confidence-key NAME must say where the confidences are"),
        (["--confidence-key", "tau"], "all.npz has no array 'tau', only 'embeddings', 'labels', 'sigma', 'blur'"),
        (["--confidence", "none.txt"], "none.txt: No such file or directory"),
        (["--confidence", "words.txt"], "words.txt must hold a number for each query: could not convert string to "
                                        "float: 'sure'"),
        (["--confidence", "short.txt"], "confidence must have one entry per query, but short.txt has 1 for 30 queries"),
        (["--confidence-key", "sigma", "--target", "short.txt"],
         "target must have one entry per query, but short.txt has 1 for 30 queries"),
        (["--confidence", "sigma.npy", "--plot", "sigma.npy"], "--plot sigma.npy must end in one of .png, .pdf, .svg"),
        (["--confidence", "sigma.npy", "--json", "sigma.npy"], "cannot write sigma.npy: it is one of the input files"),
    ],
)  # fmt: skip
def test_bad_calls(args: list[str], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "words.txt").write_text("sure\n" * 30)
    (folder / "short.txt").write_text("1\n")
    before = sorted(folder.iterdir())
    assert reason("confidence", "all.npz", *args).removesuffix(" (--force overwrites it)") == message
    assert sorted(folder.iterdir()) == before


def test_the_report_in_python() -> None:
    found = expected()
    columns = found.columns()
    assert set(columns["of"]) == {"error by Hit@1", "error by MAP@R", "confidence against Hit@1", "rank correlation"}
    at = columns["value"].index("rejecting 50 %")
    assert columns["expected"][at] == found.curves["Hit@1"].expected[14]  # the 15 most confident of 30
    assert found.to_dict()["curves"]["Hit@1"]["error_at_rejected"]["0"]["upper"] == found.curves["Hit@1"].upper[-1]
    with pytest.raises(TypeError, match="report must be a Report, as evaluate returns, but is ndarray"):
        dh.confidence.confidence_report(np.ones(2), [1, 2])  # type: ignore[arg-type]
