"""Every code block of the pages runs: doctests by pytest itself, commands here, in a folder with their files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import deadheat as dh
from deadheat.cli import main

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
_BLOCK = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_LANGUAGES = {"", "python", "console", "text", "bibtex"}  # others would be code that nothing runs


def blocks(page: Path, *languages: str) -> Iterator[str]:
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["language"] in languages:
            yield block["code"]


def commands(page: Path, *languages: str) -> list[list[str]]:
    """The `deadheat` commands of a page, also behind an &&."""
    lines = [part for code in blocks(page, *languages) for line in code.splitlines() for part in line.split("&&")]
    found = (
        shlex.split(line.removeprefix("$ "), comments=True) for line in map(str.strip, lines) if "deadheat" in line
    )
    return [words[1:] for words in found if words and words[0] == "deadheat"]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_code_is_of_a_kind_that_runs(page: Path) -> None:
    languages = {block["language"] for block in _BLOCK.finditer(page.read_text(encoding="utf-8"))}
    assert languages <= _LANGUAGES
    for code in blocks(page, "python"):
        assert code.startswith(">>> "), f"no doctest: {code[:60]}"
        assert code.endswith("\n\n"), f"doctest takes the closing fence for output: {code[-60:]}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_commands_have_the_options_that_they_are_given(page: Path) -> None:
    """Parsed, not run: their files are the reader's."""
    for name, *words in commands(page, ""):
        if not name.startswith("-"):
            command = main.get_command(click.Context(main), name)
            assert command is not None, f"no command {name}"
            command.make_context(name, words)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that sessions on the pages name."""
    rng = np.random.default_rng(0)
    labels = np.arange(24) % 4
    embeddings = rng.integers(0, 5, (24, 6)).astype(np.float32)
    monkeypatch.chdir(tmp_path)
    np.savez("embeddings.npz", embeddings=embeddings, labels=labels)
    np.savez("gallery.npz", embeddings=embeddings, labels=labels)
    for name, rows in (
        ("query", slice(8)),
        ("gallery", slice(8, None)),
        ("part-1", slice(12)),
        ("part-2", slice(12, None)),
    ):
        np.save(f"{name}.npy", embeddings[rows])
        Path(f"{name}.txt").write_text("".join(f"{label}\n" for label in labels[rows]))
    np.save("labels.npy", labels)
    np.savetxt("confidence.txt", embeddings[:, 0])
    np.savez("samples.npz", embeddings=embeddings, labels=labels, sigma=embeddings[:, 1], blur=labels % 3)
    rows = [f"{label},{','.join(map(str, row))}" for label, row in zip(labels, embeddings.tolist(), strict=True)]
    Path("samples.csv").write_text("\n".join(["label,a,b,c,d,e,f", *rows]) + "\n")
    Path("run.txt").write_text("q1 Q0 d1 1 0.9 x\nq1 Q0 d2 2 0.7 x\nq1 Q0 d3 3 0.7 x\n")
    Path("qrels.txt").write_text("q1 0 d3 1\nq1 0 d1 0\n")
    for name, columns in (("a", 6), ("b", 4), ("c", 3)):
        np.savez(f"{name}.npz", embeddings=embeddings[:, :columns], labels=labels)
    dh.profile(embeddings, labels).save("a-profile.npz")
    return tmp_path


SESSIONS = [page for page in PAGES if commands(page, "console")]


@pytest.mark.parametrize("page", SESSIONS, ids=[str(page.relative_to(ROOT)) for page in SESSIONS])
def test_sessions_run(page: Path, folder: Path) -> None:
    for words in commands(page, "console"):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, f"deadheat {shlex.join(words)}: {done.output}"
        assert done.output.strip()


def test_there_are_sessions() -> None:
    assert {page.name for page in SESSIONS} >= {"command-line.md", "quickstart.md"}


def test_pictures_of_the_gallery_are_those_that_the_page_draws(tmp_path: Path) -> None:
    """Each file is there, and its code draws something; the bytes depend on Matplotlib and its fonts."""
    gallery = pytest.importorskip("tests.gallery", reason="the gallery needs matplotlib")
    pytest.importorskip("matplotlib", reason="the gallery needs matplotlib")
    drawn = list(gallery.drawn())
    assert len(drawn) >= 6
    for path, figure in drawn:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert any(ax.has_data() for ax in figure.axes)
    shown = set(re.findall(r"\((assets/plots/[^)]+)\)", gallery.PAGE.read_text(encoding="utf-8")))
    assert {str(path.relative_to(gallery.DOCS)) for path in (gallery.DOCS / "assets" / "plots").iterdir()} == shown
