"""Files of Arrow, safetensors, HDF5 and Zarr: the same samples as from arrays, in pieces; or one line."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import ml_dtypes
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import zarr
from click.testing import CliRunner
from inputs import written
from inputs.written import IN_PIECES, SAVE
from numpy.testing import assert_array_equal
from safetensors.numpy import save_file

import deadheat as dh
from deadheat.cli.main import main
from deadheat.errors import FileError, InputError, MissingPackageError
from deadheat.inputs import disk
from deadheat.inputs.files import Layout
from deadheat.inputs.formats import columns, keyed
from deadheat.inputs.formats.keyed import strips
from deadheat.inputs.samples import open_rows, open_samples, read
from deadheat.support import scratch

RNG = np.random.default_rng(0)
ROWS = RNG.integers(-9, 10, (57, 6)).astype(np.float32) / 8
NUMBERS = np.arange(57) % 5
WORDS = np.array(["a", "é", "cc", "d", "b"])[NUMBERS]


@pytest.fixture(autouse=True)
def _small_pieces_in_a_folder_of_their_own(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("spool")))
    for module in (columns, keyed):
        monkeypatch.setattr(module, "PIECE", 6 * 4 * 10)


def temporary() -> list[str]:
    return os.listdir(tempfile.gettempdir())


KEYED = ["npz", *(kind for kind in IN_PIECES if kind.startswith(("safetensors", "hdf5", "zarr")))]


refusal = partial(written.refusal, (FileError, InputError))


def saved(kind: str, folder: Path, rows: Any = ROWS, labels: Any = NUMBERS, name: str = "a") -> Path:
    return written.saved(kind, folder / name, rows, labels)


# The same from each ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
@pytest.mark.parametrize("kind", IN_PIECES)
def test_every_type(kind: str, dtype: str, tmp_path: Path) -> None:
    rows = (ROWS > 0) if dtype == "?" else np.abs(ROWS * 8).astype(dtype)
    path = saved(kind, tmp_path, rows)
    found = read(path).embeddings
    assert_array_equal(found, rows)
    assert found.dtype == rows.dtype
    if dtype in ("?", "u1"):
        assert dh.profile(path, distance="hamming") == dh.profile(rows, NUMBERS, distance="hamming")


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i2", ">u8"])
@pytest.mark.parametrize("kind", ["hdf5", "hdf5, chunks", "zarr", "zarr 2"])
def test_the_other_byte_order(kind: str, dtype: str, tmp_path: Path) -> None:
    rows = np.abs(ROWS * 8).astype(dtype)
    assert dh.profile(saved(kind, tmp_path, rows)) == dh.profile(rows, NUMBERS)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"])
def test_short_types_of_safetensors(name: str, tmp_path: Path) -> None:
    whole = np.abs(ROWS * 8).astype(int)
    rows = (np.ldexp(1.0, whole) if name == "float8_e8m0fnu" else whole).astype(getattr(ml_dtypes, name))
    path = saved("safetensors", tmp_path, rows)
    assert read(path).embeddings.dtype == np.float32
    assert_array_equal(read(path).embeddings, rows.astype(np.float32))
    assert dh.profile(path) == dh.profile(rows, NUMBERS)


@pytest.mark.parametrize("kind", IN_PIECES)
def test_rows_stay_on_disk_and_a_copy_goes_with_the_source(kind: str, tmp_path: Path) -> None:
    source = open_rows(saved(kind, tmp_path), "gallery")
    assert not source.in_memory
    assert_array_equal(source.take(np.array([56, 0, 31])), ROWS[[56, 0, 31]])
    if kind in ("safetensors", "hdf5"):  # what is stored in one piece is not copied
        assert_array_equal(source.read(5, 30), ROWS[5:30])
        assert not temporary()
    del source
    gc.collect()
    assert not temporary()


def test_strips_are_whole_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cuts = []
    monkeypatch.setattr(keyed, "strips", lambda *of: (cuts.append(rows.start) or rows for rows in strips(*of)))
    open_rows(saved("zarr, shards", tmp_path), "gallery")
    assert cuts == [*range(0, 57, 6)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "save", "options"),
    [
        ("arrow", written.arrow, {"batch": 1000, "options": pa.ipc.IpcWriteOptions(compression="zstd")}),
        ("safetensors", written.safetensors, {}),
        ("hdf5", written.hdf5, {"chunks": (500, 32), "compression": "gzip"}),
        ("zarr", written.zarred, {"chunks": (500, 32), "zarr_format": 2}),
        ("zarr", written.zarred, {"chunks": (500, 32), "shards": (1000, 32)}),
    ],
)
def test_memory_does_not_hold_the_whole(
    kind: str, save: written.Save, options: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (columns, keyed):
        monkeypatch.setattr(module, "PIECE", 1 << 18)
    monkeypatch.setattr(disk, "RESIDENT", 1 << 18)
    rows = RNG.standard_normal((40000, 32)).astype(np.float32)  # 5 MB
    path = tmp_path / f"a{IN_PIECES[kind][0]}"
    save(path, rows, np.arange(40000), **options)
    open_rows(path, "gallery")  # imports and caches are not counted
    tracemalloc.start()
    source = open_rows(path, "gallery")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert source.shape == rows.shape
    assert most < rows.nbytes // 2


def test_large_archives_are_unpacked_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", embeddings=ROWS, labels=WORDS)
        assert open_rows(tmp_path / "a.npz", "gallery").in_memory
        with monkeypatch.context() as patch:
            patch.setattr(scratch, "available_memory", lambda: 4 * ROWS.nbytes - 1)
            samples = open_samples(tmp_path / "a.npz")
            assert not samples.embeddings.in_memory
            assert_array_equal(samples.embeddings.whole(), ROWS)
            assert_array_equal(samples.labels, WORDS)
            save(tmp_path / "f.npz", embeddings=np.asfortranarray(ROWS))
            assert_array_equal(open_rows(tmp_path / "f.npz", "gallery").whole(), ROWS)


def test_a_damaged_archive_is_found_out_in_pieces_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "a.npz", embeddings=ROWS, labels=NUMBERS)
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[content.index(ROWS.tobytes()) + 1000] ^= 1
    (tmp_path / "a.npz").write_bytes(content)
    monkeypatch.setattr(scratch, "available_memory", lambda: 1000)
    said = refusal(open_rows, tmp_path / "a.npz", "gallery")
    assert "array 'embeddings' cannot be read; truncated or damaged? Bad CRC-32" in said
    assert not temporary()


# Keys and columns -----------------------------------------------------------------------------------------------------


def with_names(kind: str, folder: Path, **arrays: np.ndarray) -> Path:
    """A file with arrays of these names."""
    path = folder / f"k{SAVE[kind][0]}"
    if path.suffix == ".safetensors":
        save_file(arrays, path)
    elif path.suffix == ".npz":
        np.savez(path, **arrays)
    elif path.suffix in (".h5", ".hdf5"):
        with h5py.File(path, "w") as file:
            file.update(arrays)
    else:
        group = zarr.open_group(path, mode="w", zarr_format=2 if kind == "zarr 2" else 3)
        for name, array in arrays.items():
            group.create_array(name, data=array)
    return path


@pytest.mark.parametrize("kind", KEYED)
def test_arrays_are_found_by_name_and_shape(kind: str, tmp_path: Path) -> None:
    for arrays in (
        {"Features": ROWS, "other": -ROWS, "Y": NUMBERS, "ids": NUMBERS + 1},
        {"vectors": ROWS, "classes": NUMBERS[:, None]},
        {"test/vectors": ROWS, "test/classes": NUMBERS},
    ):
        found = read(with_names(kind, tmp_path, **arrays))
        assert_array_equal(found.embeddings, ROWS)
        assert_array_equal(found.labels, NUMBERS)
    path = with_names(kind, tmp_path, one=ROWS, two=-ROWS, fine=NUMBERS, coarse=NUMBERS % 2)
    found = read(path, embeddings_key="two", labels_key="coarse")
    assert_array_equal(found.embeddings, -ROWS)
    assert_array_equal(found.labels, NUMBERS % 2)
    said = "none of its arrays is called embeddings, embedding, features or x; name the embeddings (--embeddings-key)"
    assert f"{said}, one of " in refusal(read, path, labels_key="fine")
    assert "name the labels (--labels-key), one of " in refusal(read, path, embeddings_key="one")
    assert "has no array 'three', only " in refusal(read, path, embeddings_key="three")
    assert "label_column must be left out" in refusal(read, path, label_column="fine")


@pytest.mark.parametrize("kind", KEYED)
def test_shapes_that_are_no_matrix(kind: str, tmp_path: Path) -> None:
    for shape in ((57,), (57, 2, 3), (0, 6)):
        path = with_names(kind, tmp_path, embeddings=np.zeros(shape, np.float32), labels=NUMBERS)
        assert str(shape) in refusal(read, path)
    path = with_names(kind, tmp_path, embeddings=ROWS, labels=np.zeros((57, 2), np.int64))
    assert "must be one-dimensional, but has shape (57, 2)" in refusal(read, path)
    path = with_names(kind, tmp_path, embeddings=ROWS, labels=ROWS[:, 0] + 0.25)
    assert "must be integers or strings" in refusal(read, path)


@pytest.fixture(params=[".parquet", ".arrow"])
def save(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Path]:
    """Write a file of columns."""
    write = pyarrow.parquet.write_table if request.param == ".parquet" else pyarrow.feather.write_feather

    def to(**columns: Any) -> Path:
        write(pa.table(columns), str(tmp_path / f"c{request.param}"))
        return tmp_path / f"c{request.param}"

    return to


def test_columns_are_chosen_by_name_and_kind(save: Callable[..., Path]) -> None:
    path = save(v=list(ROWS), w=list(-ROWS), label=WORDS)
    assert_array_equal(read(path, embeddings_key="w").embeddings, -ROWS)
    said = "more than one column of lists: name the embedding (--embeddings-key), one of 'v', 'w'"
    assert said in refusal(read, path)
    assert "has no column 'x', only 'v', 'w', 'label'" in refusal(read, path, embeddings_key="x")
    path = save(x=NUMBERS, y=ROWS[:, 1], who=WORDS)
    found = read(path, label_column="who")
    assert_array_equal(found.embeddings, np.stack([NUMBERS, ROWS[:, 1]], axis=1))
    assert_array_equal(found.labels, WORDS)
    assert "column 'who' must hold numbers" in refusal(open_rows, path, "gallery")
    assert open_rows(path, "gallery", Layout(label_column="who")).shape == (57, 2)
    assert_array_equal(read(save(v=list(ROWS), label=pa.array(WORDS).dictionary_encode())).labels, WORDS)
    path = save(v=list(ROWS), label=[*WORDS[:56].tolist(), None])
    assert refusal(read, path) == f"{path}, column 'label' must have no missing values, but row 56 has one"
    large = [2**60 + 1, *NUMBERS[1:].tolist()]
    assert read(save(v=list(ROWS), label=large)).labels.tolist() == large


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([*ROWS[:40].tolist(), [1.0]], ", column 'v' must hold lists of one length, but row 40 has 1 numbers and row "),
        ([*ROWS[:40].tolist(), None], ", column 'v' must have no missing values, but row 40 has one"),
        ([[1.0, None], [3.0, 4.0]], ", column 'v' must have no missing values, but row 0 has one"),
        ([1.0, None], ", column 'v' must have no missing values, but row 1 has one"),
        ([1, 2**53 + 1], ": column 'v' holds integers too large to be exact in float64"),
        (["a", "b"], ": column 'v' must hold numbers, but holds <U1"),
        ([[[1.0, 2.0]], [[3.0, 4.0]]], ", column 'v' must hold lists of numbers, but holds list<"),
        ([["a", "b"], ["c", "d"]], ", column 'v' must hold lists of numbers, but holds list<"),
        ([[{"a": 1}], [{"a": 2}]], ", column 'v' must hold lists of numbers, but holds list<"),
        ([[]] * 5, " must have at least one row and one column, but has shape (5, 0)"),
        (pa.array([], pa.list_(pa.float32())), " must have at least one row and one column, but has shape (0, 0)"),
    ],
)
def test_columns_that_are_no_embedding(column: Any, said: str, save: Callable[..., Path]) -> None:
    path = save(v=column)
    assert refusal(open_rows, path, "gallery").removeprefix("gallery: ").startswith(f"{path}{said}")
    if len(column) == 0:
        assert_array_equal(open_rows([ROWS, path], "gallery").whole(), ROWS)
    assert not temporary()


def test_one_array_alone_may_be_a_folder_of_zarr(tmp_path: Path) -> None:
    zarr.save_array(tmp_path / "e.zarr", ROWS)
    zarr.save_array(tmp_path / "l.zarr", NUMBERS)
    assert dh.profile(tmp_path / "e.zarr", tmp_path / "l.zarr") == dh.profile(ROWS, NUMBERS)
    assert refusal(read, tmp_path / "e.zarr").endswith("holds embeddings only: give a file of labels too")
    said = "is one array without a name, but embeddings_key is 'x'"
    assert refusal(open_rows, tmp_path / "e.zarr", "gallery", Layout(embeddings_key="x")).endswith(said)


def test_kinds_of_text_in_hdf5(tmp_path: Path) -> None:
    words = np.char.encode(WORDS, "utf-8")
    for labels in (words, words.astype(h5py.string_dtype("utf-8", 4)), WORDS.astype(h5py.string_dtype())):
        with h5py.File(tmp_path / "a.h5", "w") as file:
            file["x"], file["y"] = ROWS, labels
        assert dh.profile(tmp_path / "a.h5") == dh.profile(ROWS, WORDS)
        against = dh.profile(ROWS, WORDS, ROWS, WORDS)
        np.savez(tmp_path / "b.npz", x=ROWS, y=WORDS)
        assert dh.profile(tmp_path / "b.npz", gallery=tmp_path / "a.h5") == against
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"], file["y"] = ROWS[:2], np.array([b"\xe9", b"b"], dtype=h5py.string_dtype())
    assert refusal(read, tmp_path / "a.h5").endswith("array 'y' must hold text in UTF-8")


def test_zarr_has_text_of_a_fixed_width_too(tmp_path: Path) -> None:
    assert dh.profile(with_names("zarr 2", tmp_path, x=ROWS, y=WORDS)) == dh.profile(ROWS, WORDS)


# What is wrong --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", IN_PIECES)
def test_truncated_files(kind: str, tmp_path: Path) -> None:
    path = saved(kind, tmp_path)
    if path.is_dir():
        for file in [*path.rglob("*.json"), *path.rglob(".z*"), *path.glob("embeddings/**/[0-9]*")]:
            if file.is_file() and file.stat().st_size and file.name not in (".zattrs", ".zgroup"):
                content = file.read_bytes()
                # what unpacks chunks of Zarr 2 takes half of one for a whole, so that only nonsense is found out
                file.write_bytes(content[: len(content) // 2] if kind != "zarr 2" else b"nonsense")
                assert "cannot be read as Zarr; truncated or damaged? " in refusal(read, path)
                file.write_bytes(content)
        return
    content = path.read_bytes()
    for length in (0, 1, 5, 7, 8, 9, 100, len(content) // 2):
        path.write_bytes(content[:length])
        assert " cannot be read as " in refusal(read, path)
    path.write_bytes(b"\0" * 1000)
    assert " cannot be read as " in refusal(read, path)
    assert not temporary()


def test_lists_that_end_beyond_their_numbers(tmp_path: Path) -> None:
    """As a file may say that somebody made by hand: nothing beyond it is read."""
    path = saved("arrow", tmp_path)
    content = path.read_bytes()
    offsets = np.arange(0, 20 * 6 + 1, 6, dtype=np.int32)
    place = content.index(offsets.tobytes())
    offsets[5:] += 1 << 28
    path.write_bytes(content[:place] + offsets.tobytes() + content[place + offsets.nbytes :])
    assert "cannot be read as Arrow; truncated or damaged? " in refusal(read, path)


def test_a_header_of_safetensors_that_lies(tmp_path: Path) -> None:
    for shape, end in (((57, 6), 10**9), ((2**40, 6), 57 * 24), ((-1, 6), 57 * 24)):
        header = json.dumps({"x": {"dtype": "F32", "shape": shape, "data_offsets": [0, end]}}).encode()
        path = tmp_path / "a.safetensors"
        path.write_bytes(len(header).to_bytes(8, "little") + header + ROWS.tobytes())
        assert "cannot be read as safetensors; truncated or damaged? " in refusal(open_rows, path, "gallery")


def test_a_folder_that_is_no_zarr(tmp_path: Path) -> None:
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "b.zarr").write_bytes(b"x")
    for path in tmp_path.iterdir():
        assert "cannot be read as Zarr; truncated or damaged? " in refusal(read, path)


PACKAGES = {"parquet": "pyarrow", "arrow": "pyarrow", "safetensors": "safetensors", "hdf5": "h5py", "zarr": "zarr"}


@pytest.mark.parametrize(("kind", "module"), PACKAGES.items())
def test_a_package_that_is_missing(kind: str, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved(kind, tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    said = written.refusal(MissingPackageError, read, path)
    assert re.fullmatch(rf".*a\..*: reading \w+ needs {module}: pip install 'deadheat\[files\]'", said)
    result = CliRunner().invoke(main, ["evaluate", str(path)])
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)


def test_bfloat16_needs_ml_dtypes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved("safetensors", tmp_path, ROWS.astype(ml_dtypes.bfloat16))
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    said = written.refusal(MissingPackageError, read, path)
    assert said.endswith("reading BF16 needs ml_dtypes: pip install 'deadheat[files]'")


def test_hdf5_that_points_elsewhere(tmp_path: Path) -> None:
    path = saved("hdf5", tmp_path)
    with h5py.File(path, "a") as file:
        del file["embeddings"]
        file["embeddings"] = h5py.ExternalLink("none.h5", "/x")
    assert "none of its arrays is called embeddings" in refusal(open_rows, path, "gallery")
    with h5py.File(path, "a") as file:
        file["nothing"] = h5py.Empty("f4")
    assert "array 'nothing' is empty" in refusal(open_rows, path, "gallery", Layout(embeddings_key="nothing"))


@pytest.mark.skipif(os.name == "nt", reason="pipes are those of Unix")
@pytest.mark.parametrize("kind", [kind for kind in IN_PIECES if not kind.startswith("zarr") and "block" not in kind])
def test_the_first_bytes_of_a_pipe_decide_its_format(kind: str, tmp_path: Path) -> None:
    path, pipe = saved(kind, tmp_path), tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = subprocess.Popen(["sh", "-c", f"cat '{path}' > '{pipe}'"])
    found = read(pipe)
    assert writer.wait() == 0
    assert_array_equal(found.embeddings, ROWS)
    assert_array_equal(found.labels, NUMBERS)
