"""The command among other programs: pipes for files, standard output by other names, and streams that are closed."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cli.calling import passed, refused, shell

import deadheat as dh
from deadheat.inputs.formats import registry
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
        "deadheat evaluate <(cat p.npz)",
        "deadheat evaluate <(cat p.npy) --labels <(cat labels.txt)",
        "deadheat evaluate <(cat p.parquet)",
        "deadheat evaluate <(gzip -c p.csv | gunzip)",
        "deadheat evaluate <(cat p.tsv)",
        "cat p.npz | deadheat evaluate /dev/stdin",
        "deadheat evaluate /dev/stdin < p.npz",
        "deadheat evaluate - < p.npz",
        "cat p.tsv | deadheat evaluate -",
        "cat labels.txt | deadheat evaluate p.npy --labels -",
    ],
)
def test_pipes_are_read_as_files_are(folder: Path, line: str) -> None:
    assert shell(folder, line) == (0, table(), "")


ENDLESS = "<(while :; do echo 0.5,1; done)"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("deadheat evaluate <(head -c 300 p.npz)", "/dev/fd/"),
        ("deadheat evaluate <(cat p.npy)", "holds embeddings only: give a file of labels too"),
        ("cat p.npz | deadheat evaluate - --labels -", "standard input (-) can be read only once (see"),
        ("head -c 300 p.npz | deadheat evaluate -", "stdin.npz cannot be read; truncated or damaged?"),
        ("printf 'a\\0' | deadheat evaluate -", "standard input, line 1: a zero byte"),
        ("head -c 9 /dev/zero | DEADHEAT_STREAM_LIMIT=8 deadheat evaluate p.npy --labels -", "standard input, line"),
        ("DEADHEAT_STREAM_LIMIT=8 deadheat evaluate - < p.npz", "standard input is a stream of over 8 bytes"),
        ("DEADHEAT_STREAM_LIMIT=$(($(stat -c %s p.npz) - 1)) deadheat evaluate <(cat p.npz)", " is a stream of over "),
        ("DEADHEAT_STREAM_LIMIT=2k deadheat evaluate <(cat p.npz)",
         "DEADHEAT_STREAM_LIMIT must be a number of bytes, such as 500M or 32G, but is '2k'"),
        ("deadheat evaluate - <&-", "cannot read standard input: it is closed"),
        (r"deadheat evaluate p.npz --labels <(printf '{\n\0'; cat /dev/zero)",
         ", line 2: a zero byte; not a text file?"),
        pytest.param(
            f"DEADHEAT_STREAM_LIMIT=2M deadheat evaluate {ENDLESS} --labels labels.txt",
            " is a stream of over 2097152 bytes, the most that is taken in (DEADHEAT_STREAM_LIMIT=64G",
            marks=pytest.mark.slow,
        ),
        *(
            pytest.param(line.format(device), f"deadheat: {device}, line ", marks=pytest.mark.slow)
            for device in ("/dev/zero", "/dev/urandom")
            for line in ("deadheat evaluate {}", "deadheat evaluate p.npz --labels {}", "deadheat run {0} {0}")
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_stream_is_one_line(
    folder: Path, line: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(folder / "temporary"))
    status, out, found = shell(folder, line)
    assert (status, out, found.count("\n")) == (2, "", 1)
    assert said in found
    assert "stream" in said or "stream" not in found
    assert not list((folder / "temporary").iterdir())


@pytest.mark.parametrize(
    "line",
    [
        "deadheat keys - && ls ./-",
        "gzip -c run | deadheat run qrels - --trec-eval -m runid",
        "cat qrels | deadheat audit-run run --qrels -",
        "cat scores | deadheat leaderboard --scores -",
    ],
)
def test_a_dash_is_standard_input_or_a_file_to_write(folder: Path, line: str) -> None:
    (folder / "qrels").write_text("# judged\nq 0 a 1\nq 0 b 0\n")
    (folder / "run").write_text("# ranked\nq Q0 a 1 0.9 tag\nq Q0 b 2 0.5 tag\n")
    (folder / "scores").write_text("model,t1,t2\na,1,2\nb,2,3\n")
    status, out, said = shell(folder, line)
    assert (status, bool(out), said) == (0, True, "")


def test_the_library_reads_pipes_too(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    writer = subprocess.Popen(["sh", "-c", "cat p.parquet > pipe"], cwd=folder)
    read = dh.read(folder / "pipe")
    assert writer.wait() == 0
    np.testing.assert_array_equal(read.embeddings, ROWS)
    np.testing.assert_array_equal(read.labels, LABELS)


@pytest.mark.parametrize(
    "line",
    [
        "deadheat evaluate p.npz --json /dev/stdout",
        "deadheat evaluate p.npz --json /dev/stdout | cat",
        "deadheat evaluate p.npz --json /dev/stdout > out; cat out",
        "deadheat evaluate p.npz --json out > out; cat out",
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
    for ending in (".csv", ".tsv", ".npz", ".parquet"):
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
        ("deadheat measures >&-", (2, "", CLOSED)),
        ("deadheat >&-", (2, "", CLOSED)),
        ("deadheat evaluate p.npz >&- 2>&-", (2, "", "")),
        ("deadheat evaluate none.npz 2>&-", (2, "", "")),
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


LIMITED = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
from deadheat.cli.main import main
from deadheat.inputs.formats import registry
main()
"""


@pytest.mark.parametrize("option", ["--json", "--markdown", "--save-profile", "--per-query"])
def test_a_full_disk_names_the_file(folder: Path, option: str) -> None:
    out = folder / "out.csv"
    command = [sys.executable, "-c", LIMITED, "evaluate", "p.npz", option, str(out)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert str(out) in done.stderr
    assert "File too large" in done.stderr
    assert not out.exists()
    assert not list(folder.glob(".out*"))


def test_an_error_of_writing_names_the_file_that_was_meant(tmp_path: Path) -> None:
    for path, kind in ((tmp_path / "none" / "a.txt", FileNotFoundError), (Path("/dev/full"), OSError)):
        with pytest.raises(kind) as caught, replacing(path) as file:
            file.write(bytes(1 << 20))
        assert caught.value.filename == str(path)


# Options ------------------------------------------------------------------------------------------------------------


BY_KEY = ".npz, .parquet, .arrow, .feather, .safetensors, .h5, .hdf5, .zarr"


@pytest.mark.parametrize(
    ("args", "name", "endings"),
    [
        (["p.npz", "--label-column", "label"], "label_column", ".csv, .tsv, .parquet, .arrow, .feather"),
        (["p.npz", "--header"], "header", ".csv, .tsv"),
        (["p.csv", "--labels-key", "y"], "labels_key", ".npz, .safetensors, .h5, .hdf5, .zarr"),
        (["p.npy", "--labels", "labels.txt", "--embeddings-key", "x"], "embeddings_key", BY_KEY),
        (["p.parquet", "--no-header"], "header", ".csv, .tsv"),
    ],
)
def test_an_option_of_no_file_is_not_ignored(folder: Path, args: list[str], name: str, endings: str) -> None:
    args = [str(folder / arg) if arg.startswith(("p.", "labels.")) else arg for arg in args]
    assert f"{name} must be left out unless a file that it is for is read: {endings}" in refused("evaluate", *args)


def test_an_option_of_one_of_the_files_is_taken(folder: Path) -> None:
    files = [folder / "p.npy", "--labels", folder / "p.csv", "--label-column", "label"]
    assert passed("evaluate", *files) == table()


def test_the_limit_of_a_stream_is_of_its_bytes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = (folder / "p.npz").stat().st_size
    assert shell(folder, f"DEADHEAT_STREAM_LIMIT={size} deadheat evaluate <(cat p.npz)") == (0, table(), "")
    monkeypatch.delenv(registry.LIMIT, raising=False)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1 << 40, 0, 1 << 30))
    assert registry.limit() == 1 << 29
