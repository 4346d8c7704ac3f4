"""Errors and warnings of the command name its options, and those of the library its arguments."""

from __future__ import annotations

import re
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
        ("evaluate a.npz --labels-key y --gallery a.npz --label-column z", "--label-column must be left out unless "),
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


@pytest.mark.filterwarnings("ignore::deadheat.errors.QueryInGalleryWarning")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("evaluate a.npz --gallery a.npz", "exclude= (--exclude)"),
        ("audit sorted.npz", "(deadheat exploit)"),
        ("audit sorted.npz", 'average="class" (--average class)'),
        ("audit halves.npz", "ties='float16' (--ties float16)"),
        ("audit-run low.run --qrels q.qrels", "in Python, dh.compare of both runs"),
        ("compare low.run other.run --qrels q.qrels", "give their labels."),
        ("leaderboard low.run other.run --qrels q.qrels --explain", "(`deadheat compare A B`)"),
    ],
)
def test_what_is_printed_names_options_next_to_arguments(line: str, words: str) -> None:
    rng = np.random.default_rng(0)
    np.savez("sorted.npz", embeddings=rng.integers(0, 2, (60, 2)) + 0.5, labels=np.repeat([0, 1, 2, 3], [30, 20, 8, 2]))
    np.savez("halves.npz", embeddings=1 + rng.normal(size=(60, 3)) / 1000, labels=np.arange(60) % 4)
    for name in ("low", "other"):
        scores = rng.integers(1, 2000, (9, 20)) / 4096
        lines = (f"q{q} Q0 d{d} 1 {score} t\n" for q, row in enumerate(scores) for d, score in enumerate(row))
        Path(f"{name}.run").write_text("".join(lines))
    Path("q.qrels").write_text("".join(f"q{q} 0 d{q} 1\n" for q in range(9)))
    printed = " ".join(run(*line.split()).stdout.split())
    assert words in printed
    for argument in re.finditer(r"(?<!--ties )\b[a-z_]+=\S* |\bdeadheat\.[a-z_]+ ", printed):
        assert printed[argument.end() :].startswith("(--"), argument[0]
