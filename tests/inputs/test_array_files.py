"""Files of Parquet, safetensors and HDF5: the same samples as from arrays, in pieces; or one line."""

from __future__ import annotations

import gc
import json
import os
import re
import sys
import tempfile
import tracemalloc
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import h5py
import ml_dtypes
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from inputs import written
from inputs.written import IN_PIECES, SAVE
from numpy.testing import assert_array_equal
from safetensors.numpy import save_file

import deadheat as dh
from deadheat.errors import FileError, InputError, MissingPackageError
from deadheat.inputs import disk
from deadheat.inputs.files import EMBEDDINGS, FileLayout
from deadheat.inputs.formats import columns, keyed
from deadheat.inputs.formats.registry import FORMATS
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


KEYED = ["npz", *(kind for kind in IN_PIECES if kind.startswith(("safetensors", "hdf5")))]


refusal = partial(written.refusal, (FileError, InputError))


def saved(kind: str, folder: Path, rows: Any = ROWS, labels: Any = NUMBERS, name: str = "a") -> Path:
    return written.saved(kind, folder / name, rows, labels)


# The same from each ---------------------------------------------------------------------------------------------------


TYPES = ["f2", "f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"]
SWAPPED = [(kind, dtype) for kind in ("hdf5", "hdf5, chunks") for dtype in (">f4", ">f8", ">i2", ">u8")]


@pytest.mark.parametrize(("kind", "dtype"), [*product(IN_PIECES, TYPES), *SWAPPED])
def test_every_type(kind: str, dtype: str, tmp_path: Path) -> None:
    rows = (ROWS > 0) if dtype == "?" else np.abs(ROWS * 8).astype(dtype)
    path = saved(kind, tmp_path, rows)
    result = read(path).embeddings
    assert_array_equal(result, rows)
    assert result.dtype == rows.dtype
    distance = "hamming" if dtype in ("?", "u1") else "cosine"
    assert dh.Task(path, distance=distance).profile == dh.Task(rows, NUMBERS, distance=distance).profile


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"])
def test_short_types_of_safetensors(name: str, tmp_path: Path) -> None:
    whole = np.abs(ROWS * 8).astype(int)
    rows = (np.ldexp(1.0, whole) if name == "float8_e8m0fnu" else whole).astype(getattr(ml_dtypes, name))
    path = saved("safetensors", tmp_path, rows)
    assert read(path).embeddings.dtype == np.float32
    assert_array_equal(read(path).embeddings, rows.astype(np.float32))
    assert dh.Task(path).profile == dh.Task(rows, NUMBERS).profile


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "save", "options"),
    [
        ("parquet", written.parquet, {"group": 1000}),
        ("safetensors", written.safetensors, {}),
        ("hdf5", written.hdf5, {"chunks": (500, 32), "compression": "gzip"}),
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
    else:
        with h5py.File(path, "w") as file:
            file.update(arrays)
    return path


@pytest.mark.parametrize("kind", KEYED)
def test_arrays_are_found_by_name_and_shape(kind: str, tmp_path: Path) -> None:
    for arrays in (
        {"Features": ROWS, "other": -ROWS, "Y": NUMBERS, "ids": NUMBERS + 1},
        {"vectors": ROWS, "classes": NUMBERS[:, None]},
        {"test/vectors": ROWS, "test/classes": NUMBERS},
    ):
        result = read(with_names(kind, tmp_path, **arrays))
        assert_array_equal(result.embeddings, ROWS)
        assert_array_equal(result.labels, NUMBERS)
    path = with_names(kind, tmp_path, one=ROWS, two=-ROWS, fine=NUMBERS, coarse=NUMBERS % 2)
    result = read(path, embeddings_key="two", labels_key="coarse")
    assert_array_equal(result.embeddings, -ROWS)
    assert_array_equal(result.labels, NUMBERS % 2)
    said = "none of its arrays is called embeddings, embedding, features or x; name the embeddings (embeddings_key=)"
    assert f"{said}, one of " in refusal(read, path, labels_key="fine")
    assert "name the labels (labels_key=), one of " in refusal(read, path, embeddings_key="one")
    assert "has no array 'three', only " in refusal(read, path, embeddings_key="three")
    assert "label_column must be left out" in refusal(read, path, label_column="fine")


@pytest.mark.parametrize("kind", KEYED)
def test_shapes_that_are_no_matrix(kind: str, tmp_path: Path) -> None:
    for shape in ((57,), (57, 2, 3), (0, 6)):
        path = with_names(kind, tmp_path, embeddings=np.zeros(shape, np.float32), labels=NUMBERS)
        assert str(shape) in refusal(read, path)
    path = with_names(kind, tmp_path, embeddings=ROWS, labels=np.full((57, 2), 3, np.int64))
    assert "must hold 0 and 1 alone where a row has several, but row 0 has another" in refusal(read, path)
    path = with_names(kind, tmp_path, embeddings=ROWS, labels=ROWS[:, 0] + 0.25)
    assert "must be integers or strings" in refusal(read, path)


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of columns."""

    def to(**columns: Any) -> Path:
        pyarrow.parquet.write_table(pa.table(columns), tmp_path / "c.parquet")
        return tmp_path / "c.parquet"

    return to


def test_columns_are_chosen_by_name_and_kind(save: Callable[..., Path]) -> None:
    path = save(v=list(ROWS), w=list(-ROWS), label=WORDS)
    assert_array_equal(read(path, embeddings_key="w").embeddings, -ROWS)
    said = "more than one column of lists: name the embedding (embeddings_key=), one of 'v', 'w'"
    assert said in refusal(read, path)
    assert "has no column 'x', only 'v', 'w', 'label'" in refusal(read, path, embeddings_key="x")
    path = save(x=NUMBERS, y=ROWS[:, 1], who=WORDS)
    result = read(path, label_column="who")
    assert_array_equal(result.embeddings, np.stack([NUMBERS, ROWS[:, 1]], axis=1))
    assert_array_equal(result.labels, WORDS)
    assert "column 'who' must hold numbers" in refusal(open_rows, path, "gallery")
    assert open_rows(path, "gallery", FileLayout(label_column="who")).shape == (57, 2)
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


def test_kinds_of_text_in_hdf5(tmp_path: Path) -> None:
    words = np.char.encode(WORDS, "utf-8")
    for labels in (words, words.astype(h5py.string_dtype("utf-8", 4)), WORDS.astype(h5py.string_dtype())):
        with h5py.File(tmp_path / "a.h5", "w") as file:
            file["x"], file["y"] = ROWS, labels
        assert dh.Task(tmp_path / "a.h5").profile == dh.Task(ROWS, WORDS).profile
        against = dh.Task(ROWS, WORDS, ROWS, WORDS).profile
        np.savez(tmp_path / "b.npz", x=ROWS, y=WORDS)
        assert dh.Task(tmp_path / "b.npz", gallery=tmp_path / "a.h5").profile == against
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"], file["y"] = ROWS[:2], np.array([b"\xe9", b"b"], dtype=h5py.string_dtype())
    assert refusal(read, tmp_path / "a.h5").endswith("array 'y' must hold text in UTF-8")


# What is wrong --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", IN_PIECES)
def test_truncated_files(kind: str, tmp_path: Path) -> None:
    path = saved(kind, tmp_path)
    content = path.read_bytes()
    for length in (0, 1, 5, 7, 8, 9, 100, len(content) // 2):
        path.write_bytes(content[:length])
        assert " cannot be read as " in refusal(read, path)
    path.write_bytes(b"\0" * 1000)
    assert " cannot be read as " in refusal(read, path)
    assert not temporary()


def test_a_header_of_safetensors_that_lies(tmp_path: Path) -> None:
    for shape, end in (((57, 6), 10**9), ((2**40, 6), 57 * 24), ((-1, 6), 57 * 24)):
        header = json.dumps({"x": {"dtype": "F32", "shape": shape, "data_offsets": [0, end]}}).encode()
        path = tmp_path / "a.safetensors"
        path.write_bytes(len(header).to_bytes(8, "little") + header + ROWS.tobytes())
        assert "cannot be read as safetensors; truncated or damaged? " in refusal(open_rows, path, "gallery")


MISSING = [("parquet", "pyarrow", r"\w+"), ("hdf5", "h5py", r"\w+"), ("safetensors", "safetensors", r"\w+"),
           ("safetensors", "ml_dtypes", "BF16")]  # fmt: skip


@pytest.mark.parametrize(("kind", "module", "content"), MISSING)
def test_a_package_that_is_missing(
    kind: str, module: str, content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(kind, tmp_path, ROWS.astype(ml_dtypes.bfloat16) if content == "BF16" else ROWS)
    monkeypatch.setitem(sys.modules, module, None)
    said = written.refusal(MissingPackageError, read, path)
    assert re.fullmatch(rf".*a\..*: reading {content} needs {module}: pip install 'deadheat\[files\]'", said)


def test_hdf5_that_points_elsewhere(tmp_path: Path) -> None:
    path = saved("hdf5", tmp_path)
    with h5py.File(path, "a") as file:
        del file["embeddings"]
        file["embeddings"] = h5py.ExternalLink("none.h5", "/x")
    assert "array 'embeddings' must be in this file itself, but is a link" in refusal(open_rows, path, "gallery")
    with h5py.File(path, "a") as file:
        file["nothing"] = h5py.Empty("f4")
    assert "array 'nothing' is empty" in refusal(open_rows, path, "gallery", FileLayout(embeddings_key="nothing"))


@pytest.mark.parametrize(
    ("ending", "got"),
    [
        ("", "has no ending"),
        *((ending, f"ends in '{ending}'") for ending in (".arrow", ".feather", ".zarr")),
        (".pt", "ends in '.pt', which is never loaded: torch.load it, and save it as .npy or .safetensors"),
        (".pkl", "ends in '.pkl', which is never loaded: load it yourself, and save it as .npy"),
    ],
)
def test_endings_that_are_not_read(ending: str, got: str, tmp_path: Path) -> None:
    readable = [each for each, row in FORMATS.items() if EMBEDDINGS in row.holds]
    said = f"{', '.join(readable)}, but {got}"
    assert refusal(read, tmp_path / f"a{ending}").endswith(said)
    assert refusal(dh.evaluate, tmp_path / f"a{ending}", NUMBERS).endswith(said)


@pytest.mark.skipif(os.name == "nt", reason="pipes are those of Unix")
@pytest.mark.parametrize("name", ["pipe", "pipe.npz", "pipe.csv", "pipe.h5"])
def test_a_pipe_is_no_file(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    said = f"{tmp_path / name} is a pipe or a device, and not a file: save it in one"
    for call in (read, dh.audit_run, partial(dh.from_run, {"q": {"a": 1.0}}), partial(dh.Task, ROWS)):
        assert refusal(call, tmp_path / name) == said
