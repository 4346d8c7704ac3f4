"""The command among other programs: standard input as text, standard output by other names, streams that are closed."""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cli.calling import passed, refused, shell

import deadheat as dh
from deadheat.cli.shell import fitted
from deadheat.inputs.formats.registry import FORMATS
from deadheat.support.atomic import replacing

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the shell here is that of Unix")

RNG = np.random.default_rng(0)
ROWS, LABELS = RNG.standard_normal((12, 3)).astype(np.float32), np.array(["café", "b", "c"] * 4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The same samples in every kind of file."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    np.savez(tmp_path / "p.npz", embeddings=ROWS, labels=np.array([label.encode() for label in LABELS]))
    np.save(tmp_path / "p.npy", ROWS)
    (tmp_path / "labels.txt").write_text("\n".join(LABELS) + "\n")
    parquet.write_table(pyarrow.table({"e": list(ROWS), "label": LABELS}), tmp_path / "p.parquet")
    for ending, between in ((".csv", ","), (".tsv", "\t")):
        lines = [between.join(map(str, [label, *row])) for label, row in zip(LABELS, ROWS, strict=True)]
        (tmp_path / f"p{ending}").write_text("\n".join([between.join(["label", "x", "y", "z"]), *lines]))
    return tmp_path


def table() -> str:
    return str(dh.evaluate(ROWS, LABELS)) + "\n"


@pytest.mark.parametrize(
    "line",
    [
        "cat p.csv | deadheat evaluate -",
        "tail -n +2 p.tsv | cut -f2- | deadheat evaluate - --labels labels.txt",
        "cat labels.txt | deadheat evaluate p.npy --labels -",
    ],
)
def test_text_from_standard_input_is_read_as_from_a_file(folder: Path, line: str) -> None:
    assert shell(folder, line) == (0, table(), "")


NOT_TEXT = "standard input is read for runs and tables of text alone, but is '-'"


@pytest.mark.parametrize(
    ("words", "given", "said"),
    [
        ("evaluate -", "p.npz", "/dev/stdin.csv, line "),
        ("run qrels -", "p.npz", "/dev/stdin.csv, line 1: a NUL byte; damaged, or another kind of file?"),
        ("evaluate -", "short.csv", "/dev/stdin.csv, line 3: 1 columns, but line 1 has 2"),
        ("evaluate - --labels -", "labels.txt", "standard input (-) can be read only once (see"),
        ("verify - p.npz", "p.csv", f"RECEIPT must be a file, as {NOT_TEXT}"),
        ("index-recall - p.npy", "p.csv", f"TRUTH must be a file, as {NOT_TEXT}"),
        ("evaluate p.npz --checkpoint -", "p.csv", f"--checkpoint must be a file, as {NOT_TEXT}"),
        ("run qrels /dev/zero", "p.csv", "/dev/zero is a pipe or a device, and not a file: save it in one"),
    ],
)
def test_what_cannot_be_streamed_is_one_line(
    folder: Path, words: str, given: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    Path("qrels").write_text("q 0 a 1\nq 0 b 0\n")
    Path("short.csv").write_text("x,y\n1,a\n2")
    assert said in refused(*words.split(), input=Path(given).read_bytes())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("deadheat evaluate p.npz --labels <(cat labels.txt)", " is a pipe or a device, and not a file: save it in"),
        ("deadheat evaluate - <&-", "cannot read standard input: it is closed"),
    ],
)
def test_pipes_and_closed_input_are_one_line(folder: Path, line: str, said: str) -> None:
    status, out, result = shell(folder, line)
    assert (status, out, result.count("\n")) == (2, "", 1)
    assert said in result


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("run qrels - --trec-eval -m runid", "zipped"),
        ("audit-run run --qrels -", "qrels"),
        ("audit-run - qrels", "run.json"),
        ("compare - other --qrels qrels", "run"),
    ],
)
def test_a_dash_is_a_run_or_qrels_too(tmp_path: Path, words: str, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ranked = "# ranked\nq Q0 a 1 0.9 tag\nq Q0 b 2 0.5 tag\nr Q0 a 1 1 tag\n"
    texts = {"qrels": "# judged\nq 0 a 1\nq 0 b 0\nr 0 a 1\n", "run": ranked, "other": ranked}
    texts["run.json"] = json.dumps({"q": {"a": 0.9, "b": 0.5}, "r": {"a": 1.0}})
    for name, text in texts.items():
        Path(name).write_text(text)
    Path("zipped").write_bytes(gzip.compress(ranked.encode()))
    assert passed(*words.split(), input=Path(given).read_bytes())


@pytest.mark.parametrize(
    "line",
    [
        "deadheat evaluate p.npz --json /dev/stdout | cat",
        "deadheat evaluate p.npz --json /dev/stdout > out; cat out",
        "deadheat evaluate p.npz --json >(cat > out) > table; while ! grep -q '^}' out; do sleep .1; done; cat out",
    ],
)
def test_json_goes_to_standard_output_or_a_pipe_by_any_name(folder: Path, line: str) -> None:
    status, out, said = shell(folder, f": > out; {line}")
    assert (status, said) == (0, "")
    assert json.loads(out) == json.loads(dh.evaluate(ROWS, LABELS).to_json())


def test_labels_that_are_bytes_are_written_as_text(folder: Path) -> None:
    line = "deadheat evaluate p.npz -m mAP --per-query >(cat > out) > table; sleep .5; cat out"
    rows = list(csv.reader(shell(folder, line)[1].splitlines()))
    assert rows[0] == ["query", "label", "mAP_lower", "mAP_expected", "mAP_upper"]
    assert [row[1] for row in rows[1:]] == LABELS.tolist()  # through a pipe, and in files:
    for ending in (".csv", ".TSV", ".npz", ".parquet"):
        out = folder / f"values{ending}"
        passed("evaluate", folder / "p.npz", "--per-query", out)
    assert np.load(folder / "values.npz")["label"].tolist() == LABELS.tolist()
    assert "0,café,0" in (folder / "values.csv").read_text()
    assert pytest.importorskip("pyarrow.parquet").read_table(out)["label"].to_pylist() == LABELS.tolist()


CLOSED = "deadheat: cannot write to standard output: it is closed\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("deadheat evaluate p.npz >&-", (2, "", CLOSED)),
        ("deadheat >&-", (2, "", CLOSED)),
        ("deadheat evaluate none.npz >&- 2>&-", (2, "", "")),
        ("deadheat evaluate none.npz 2> /dev/full", (2, "", "")),
        ("deadheat evaluate none.npz >&-", (2, "", "deadheat: none.npz: No such file or directory\n")),
    ],
)
def test_closed_streams(folder: Path, line: str, expected: tuple[int, str, str]) -> None:
    assert shell(folder, line) == expected


def test_a_closed_stream_hinders_nothing_else(folder: Path) -> None:
    assert shell(folder, "deadheat evaluate p.npz 2>&-") == (0, table(), "")
    status, _, said = shell(folder, "deadheat evaluate p.npz --json out.json >&-")
    assert (status, said) == (2, CLOSED)
    assert json.loads((folder / "out.json").read_text())["n_query"] == 12  # all files were written before


@pytest.fixture
def little_room() -> Iterator[None]:
    """A disk on which a file has room for 100 bytes."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("option", ["--json", "--markdown", "--save-profile", "--per-query"])
def test_a_full_disk_names_the_file_and_leaves_the_old_one(folder: Path, option: str, little_room: None) -> None:
    out = folder / "out.csv"
    out.write_text("query,old")
    said = refused("evaluate", folder / "p.npz", option, out, "--force")
    assert said.endswith(f"{out}: File too large")
    assert out.read_text() == "query,old"
    assert not list(folder.glob(".out*"))


def test_an_error_of_writing_names_the_file_that_was_meant(tmp_path: Path) -> None:
    for path, kind in ((tmp_path / "none" / "a.txt", FileNotFoundError), (Path("/dev/full"), OSError)):
        with pytest.raises(kind) as caught, replacing(path) as file:
            file.write(bytes(1 << 20))
        assert caught.value.filename == str(path)


# Options ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "name", "field"),
    [
        (["p.npz", "--label-column", "label"], "--label-column", "label_column"),
        (["p.npz", "--header"], "--header/--no-header", "header"),
        (["p.csv", "--labels-key", "y"], "--labels-key", "labels_key"),
        (["p.npy", "--labels", "labels.txt", "--embeddings-key", "x"], "--embeddings-key", "embeddings_key"),
        (["p.parquet", "--no-header"], "--header/--no-header", "header"),
    ],
)
def test_an_option_of_no_file_is_not_ignored(folder: Path, args: list[str], name: str, field: str) -> None:
    args = [str(folder / arg) if arg.startswith(("p.", "labels.")) else arg for arg in args]
    users = [end for end, row in FORMATS.items() if field in (*row.embeddings_options, *row.labels_options)]
    said = f"{name} must be left out unless a file that it is for is read: {', '.join(users)}"
    assert said in refused("evaluate", *args)


def test_an_option_of_one_of_the_files_is_taken(folder: Path) -> None:
    files = [folder / "p.npy", "--labels", folder / "p.csv", "--label-column", "label"]
    assert passed("evaluate", *files) == table()


def test_a_terminal_gets_tables_in_its_width_and_a_pipe_whole_lines(tmp_path: Path) -> None:
    systems = {name: dh.evaluate(ROWS[:, :dim], LABELS) for name, dim in (("first", 3), ("second", 2), ("third", 1))}
    for result in (dh.leaderboard(systems), dh.compare(systems["first"], systems["third"])):
        whole = str(result)
        narrow = fitted(whole, 80)
        assert max(map(len, whole.splitlines())) > 100
        assert max(map(len, narrow.splitlines())) <= 80
        assert set(narrow.split()) == set(whole.split())
        assert fitted(whole, 400) == whole
    np.savez(tmp_path / "p.npz", embeddings=ROWS, labels=LABELS)
    answered, terminal = os.openpty()
    words = [sys.executable, "-m", "deadheat", "compare", "p.npz", "p.npz", "--name", "a", "--name", "b"]
    done = subprocess.run(words, cwd=tmp_path, stdout=terminal, env=os.environ | {"COLUMNS": "60"}, check=True)
    os.close(terminal)
    printed = os.read(answered, 1 << 16).decode()
    os.close(answered)
    assert done.returncode == 0
    assert max(map(len, printed.splitlines())) <= 60
