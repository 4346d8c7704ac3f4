"""Rows in pieces: the same numbers from every kind of storage, in bounded memory, and one line for what is wrong."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from inputs import written
from numpy.testing import assert_array_equal

from deadheat.inputs import arrays, disk
from deadheat.inputs.disk import File
from deadheat.inputs.files import FileLayout
from deadheat.inputs.samples import open_labels, open_rows, open_samples
from deadheat.inputs.source import Array, Shards, Source, digest_of_rows

RNG = np.random.default_rng(5)
ROWS = RNG.integers(-500, 500, size=(57, 6)) / 8  # exact in every floating-point type
TYPES = ["float16", "float32", "float64", ">f4", ">f8", "bool", "int8", "uint8", "int16", ">u2", "int32", "uint64"]


def rows_as(dtype: str) -> np.ndarray:
    """Some rows that a type holds exactly."""
    kind = np.dtype(dtype).kind
    return (ROWS if kind == "f" else ROWS > 0 if kind == "b" else np.abs(np.round(ROWS))).astype(dtype)


def save(path: Path, rows: np.ndarray) -> Path:
    np.save(path, rows)
    return path


def check(source: Source, rows: np.ndarray, name: str = "gallery") -> None:
    """A source holds what `arrays.embeddings` makes of the rows, whichever way it is read."""
    expected = arrays.embeddings(rows, name)
    assert (source.shape, len(source), source.dtype) == (expected.shape, len(expected), expected.dtype)
    assert source.dtype.isnative
    index = np.random.default_rng(1).integers(0, len(expected), size=3 * len(expected))
    handed = [
        *((source.read(start, stop), expected[start:stop]) for start, stop in ((0, len(rows)), (3, 11), (4, 4))),
        (source.read(len(expected) - 2, len(expected) + 5), expected[-2:]),
        *((source.take(some), expected[some]) for some in (index, index[:0])),
    ]
    for step in (None, 1, 7, 1000):
        pieces = list(source.pieces(step))
        starts = [start for start, _ in pieces]
        assert starts == list(range(0, len(expected), step or max(1, len(pieces[0][1]))))
        handed.append((np.concatenate([piece for _, piece in pieces]), expected))
    for got, wanted in handed:
        assert got.dtype == expected.dtype
        assert got.flags.c_contiguous
        assert_array_equal(got, wanted)
    for index, said in (([0, len(expected)], "index must be within 0 and"), ([0, -1], "but is -1 to 0")):
        with pytest.raises(IndexError, match=said):
            source.take(np.array(index))


def refusal(value: object, kind: type[Exception] = ValueError, name: str = "gallery") -> str:
    return written.refusal(kind, open_rows, value, name)


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces and windows of a few rows, so that small files have many."""
    monkeypatch.setattr(disk, "RESIDENT", 200)


# one source of each kind


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.usefixtures("small_windows")
def test_every_storage_hands_out_what_the_array_is(order: str, dtype: str, tmp_path: Path) -> None:
    rows = np.asarray(rows_as(dtype), order=order)  # type: ignore[call-overload]
    path = save(tmp_path / "a.npy", rows)
    result: dict[type, object] = {Array: rows, File: path, Shards: [rows[:20], path]}
    for kind, value in result.items():
        source = open_rows(value, "gallery")
        assert type(source) is kind
        check(source, np.concatenate([rows[:20], rows]) if kind is Shards else rows)
        assert source.stored.newbyteorder("=") == rows.dtype.newbyteorder("=")


def test_an_array_that_is_ready_is_not_copied_and_any_other_stays_as_it_is() -> None:
    for value in (ROWS, ROWS.astype(np.float32)):
        source = open_rows(value, "query")
        assert source.in_memory
        assert source.array is value
        assert np.shares_memory(source.read(2, 9), value)
        assert open_rows(source, "query") is source
    for value in (np.asfortranarray(ROWS), ROWS[:, ::2], ROWS.astype(np.float16), ROWS.astype(">f8")):
        source = open_rows(value, "query")
        assert not source.in_memory
        assert not hasattr(source, "array")
        assert source.stored == value.dtype
        check(source, value)


def test_maps_and_their_views_are_arrays(tmp_path: Path) -> None:
    whole = np.load(save(tmp_path / "a.npy", ROWS), mmap_mode="r")
    for view in (whole, whole[5:40], whole[::3], whole[::-1], whole[:, 1:4], whole[:, ::2], whole[:1], whole[:, :1]):
        source = open_rows(view, "query")
        assert type(source) is Array
        if len(view) > 11:
            check(source, np.array(view))
        assert_array_equal(source.read(0, len(view)), view)
    assert np.shares_memory(open_rows(whole, "query").array, whole)
    assert_array_equal(open_rows(whole.T, "query").read(0, 6), ROWS.T)
    columns = np.load(save(tmp_path / "f.npy", np.asfortranarray(ROWS)), mmap_mode="r")
    check(open_rows(columns, "query"), ROWS)
    assert type(open_rows(columns, "query")) is File  # copied, row after row


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_reading_a_map_loses_nothing_that_was_written_to_it(mode: str, tmp_path: Path) -> None:
    """Pages of a map that copies on write hold what is nowhere else."""
    mapped = np.load(save(tmp_path / "a.npy", ROWS), mmap_mode=mode)  # type: ignore[arg-type]
    expected = ROWS.copy()
    if mode != "r":
        mapped[3] = expected[3] = 1
    source = open_rows(mapped, "query")
    for _ in range(2):
        check(source, expected)


def test_a_path_outlives_a_change_of_folder_and_a_file_that_changes_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "a.npy", ROWS)
    monkeypatch.chdir(tmp_path)
    source = open_rows("a.npy", "query")
    monkeypatch.chdir(tmp_path.parent)
    check(source, ROWS)
    save(tmp_path / "a.npy", ROWS[:5])
    said = written.refusal(ValueError, source.read, 0, 10)
    assert said == "query: a.npy must stay as it is while it is read, but has changed"


# sets of files


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    """The rows in eleven files in the order of their numbers, of which one is empty."""
    cuts = [0, 5, 5, 20, 21, 30, 31, 32, 33, 40, 50, 57]
    names = [f"emb-{part}.npy" for part in range(11)]  # as text emb-10 would come after emb-1
    return [save(tmp_path / name, ROWS[a:b]) for name, a, b in zip(names, cuts[:-1], cuts[1:], strict=True)]


@pytest.mark.usefixtures("small_windows")
def test_shards_are_one_after_another(shards: list[Path], tmp_path: Path) -> None:
    maps = [np.load(path, mmap_mode="r") for path in shards]
    mixed = [shards[0], *maps[1:4], str(shards[4]), *(ROWS[a:b] for a, b in [(30, 40), (40, 57)])]
    whole = str(tmp_path / "emb-*.npy")
    for value in (whole, Path(whole), shards, tuple(map(str, shards)), maps, mixed, [whole]):
        source = open_rows(value, "gallery")
        assert type(source) is Shards
        check(source, ROWS)
        assert not source.in_memory
    check(open_rows(shards[::-1], "gallery"), np.concatenate([np.load(path) for path in shards[::-1]]))


def test_shards_have_the_type_that_holds_them_all() -> None:
    parts = [rows_as(dtype) for dtype in ("float16", "uint8", "int64", "float32")]
    check(open_rows(parts, "gallery"), np.concatenate([part.astype(float) for part in parts]))
    narrow = open_rows([parts[0], parts[1], parts[2][:0]], "gallery")
    assert narrow.dtype == np.float32
    assert narrow.stored == np.float32
    assert open_rows([parts[1], parts[1]], "gallery").stored == np.uint8


def test_more_files_than_may_be_open(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    paths = [save(tmp_path / f"{part:03d}.npy", ROWS[part % 57 :][:1]) for part in range(200)]
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, limits[1]))
    try:
        source = open_rows(paths, "gallery")
        assert_array_equal(source.read(0, 57), ROWS)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_shards_that_are_refused(tmp_path: Path) -> None:
    one, other = save(tmp_path / "1.npy", ROWS), save(tmp_path / "2.npy", ROWS[:, :4])
    message = f"gallery: {other} must have the dim of gallery: {one}, 6, but has 4 columns"
    assert refusal([one, other]) == refusal(str(tmp_path / "*.npy")) == message
    assert refusal([ROWS[:, :2], ROWS]) == "gallery[1] must have the dim of gallery[0], 2, but has 6 columns"
    empty = save(tmp_path / "3.npy", ROWS[:0])
    message = "must have at least one row and one column, but has shape (0, 6)"
    assert refusal(empty) == f"gallery: {empty} {message}"
    assert refusal([empty, ROWS[:0]]) == refusal(np.load(empty, mmap_mode="r")) == f"gallery {message}"
    assert refusal([ROWS, ROWS[:, :0]]) == "gallery[1] must have at least one row and one column, but has shape (57, 0)"
    assert refusal([ROWS, ROWS[0]]) == "gallery[1] must be two-dimensional (n, dim), but has shape (6,)"
    assert refusal([ROWS, 3]) == "gallery[1] must be two-dimensional (n, dim), but has shape ()"
    assert refusal(["1.0", "2.0"]).startswith("gallery: 1.0 must be a file of embeddings that ends in one of .npz, ")
    assert "plain array" in refusal([ROWS, np.ma.masked_array(ROWS)], TypeError)


# what is refused


@pytest.mark.usefixtures("small_windows")
@pytest.mark.parametrize("storage", ["array", "file", "fortran", "map", "shards"])
@pytest.mark.parametrize(
    ("dtype", "value", "said"),
    [
        ("float32", np.nan, "be finite, but holds nan in row 51, column 4"),
        ("float16", -np.inf, "be finite, but holds -inf in row 51, column 4"),
        (">f8", np.inf, "be finite, but holds inf in row 51, column 4"),
        ("int64", 2**53 + 1, "hold integers up to 2^53 in size, but holds a larger one in row 51"),
        (">i8", -(2**53) - 1, "hold integers up to 2^53 in size, but holds a larger one in row 51"),
    ],
)
def test_bad_numbers_are_found_wherever_they_are(
    dtype: str, value: float, said: str, storage: str, tmp_path: Path
) -> None:
    rows = np.round(ROWS).astype(dtype)
    rows[51, 4] = value
    path = save(tmp_path / "a.npy", np.asfortranarray(rows) if storage == "fortran" else rows)
    given = {"array": rows, "map": np.load(path, mmap_mode="r"), "shards": [ROWS, path]}.get(storage, path)
    title = "gallery" if storage in ("array", "map") else f"gallery: {path}"
    assert refusal(given) == f"{title} must {said}"
    with pytest.raises(ValueError, match=r"^gallery must ") as caught:
        arrays.embeddings(rows, "gallery")
    assert str(caught.value).endswith(said)


@pytest.mark.parametrize("read", [lambda rows: rows.whole(), lambda rows: rows.take(np.array([56, 0, 30]))])
@pytest.mark.parametrize("ending", ["npy", "h5", "safetensors"])
def test_a_file_that_is_cut_off_while_it_is_read_is_an_error(
    read: Callable[[Any], Any], ending: str, tmp_path: Path
) -> None:
    """A map of it would end the process. The file is cut off after its size was seen, and before its rows are read."""
    if ending == "npy":
        path = save(tmp_path / "a.npy", ROWS)
    elif ending == "h5":
        path = tmp_path / "a.h5"
        with pytest.importorskip("h5py").File(path, "w") as file:
            file["embeddings"] = ROWS
    else:
        path = tmp_path / "a.safetensors"
        pytest.importorskip("safetensors.numpy").save_file({"embeddings": ROWS}, path)
    source = open_rows(path, "gallery")
    assert type(source) is File
    assert_array_equal(read(source), read(open_rows(ROWS, "gallery")))
    os.truncate(path, 0 if ending == "npy" else os.path.getsize(path) - 100)
    with pytest.raises(ValueError, match=r"^gallery: .* must stay as it is while it is read, but has changed$"):
        read(source)
    source._state = source.state()
    with pytest.raises(ValueError, match=r"^gallery: .* must stay as it is while it is read, but has changed$"):
        read(source)


# temporary files


def temporary() -> list[str]:
    """The temporary files that there are, with a name or without."""
    folder = tempfile.gettempdir()
    listed = [name for name in os.listdir(folder) if name.startswith("deadheat-")]
    if not os.path.exists("/proc/self/fd"):
        return listed
    opened = [os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
    return listed + [path for path in opened if path.startswith(f"{folder}/")]


@pytest.fixture(autouse=True)
def _own_folder_for_temporary_files(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("spool")))


@pytest.mark.parametrize("files", [1024, 16])
def test_what_is_spooled_is_gone_at_exit(files: int, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = save(tmp_path / "a.npy", np.asfortranarray(ROWS))
    code = f"from deadheat.inputs.samples import open_rows; k = [open_rows({str(path)!r}, 'q') for _ in range(12)]; "
    code += "print(sum(len(row) for source in k for row in source.whole()), len({source._path for source in k}))"
    (tmp_path / "spool").mkdir()
    environment = os.environ | {"TMPDIR": str(tmp_path / "spool")}
    limits = (files, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limits),
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (f"{12 * ROWS.size} 12\n", "")
    assert not os.listdir(tmp_path / "spool")


def test_a_full_disk_leaves_nothing_and_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(pieces: object, file: object, path: str) -> None:
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(disk, "copied", full)
    with pytest.raises(OSError, match=r"No space left on device: .*spool"):
        open_rows(save(tmp_path / "a.npy", np.asfortranarray(ROWS)), "query")
    assert not temporary()


# places, labels and digests


def test_places_on_disk_open_as_the_same_rows(tmp_path: Path) -> None:
    path, beyond = save(tmp_path / "a.npy", ROWS), 2 * mmap.ALLOCATIONGRANULARITY + 64
    (tmp_path / "raw").write_bytes(bytes(beyond) + ROWS.tobytes())
    whole, raw = np.load(path, mmap_mode="r"), np.memmap(tmp_path / "raw", ROWS.dtype, "r", beyond, ROWS.shape)
    for value in (path, whole, whole[5:40], [path, raw[7:]], raw, np.load(path, mmap_mode="r+")):
        source = open_rows(value, "query")
        places = disk.places_of(source)
        assert all(isinstance(place, disk.Place) for place in places)
        opened = [disk.open_place(place) for place in places]
        check(opened[0] if len(opened) == 1 else Shards(opened), source.whole())
    for value in (ROWS, whole[::2], np.load(path, mmap_mode="c")):
        source = open_rows(value, "query")
        assert disk.places_of(source) == [source]


def test_labels_in_the_files_of_embeddings(tmp_path: Path) -> None:
    labels = np.array(["cat", "dog", "cow"])[np.arange(57) % 3]
    for part in (slice(0, 20), slice(20, 20), slice(20, 57)):
        table = pa.table({"e": pa.array(list(ROWS[part]), pa.list_(pa.float64())), "who": labels[part]})
        pyarrow.parquet.write_table(table, tmp_path / f"{part.start}-{part.stop}.parquet")
    for given, expected in ((None, labels), (save(tmp_path / "l-1.npy", np.arange(57)), np.arange(57))):
        samples = open_samples(tmp_path / "*.parquet", given, layout=FileLayout(label_column="who"))
        check(samples.embeddings, ROWS)
        assert_array_equal(samples.labels, expected)


@pytest.mark.parametrize("labels", [["cat", "dog"], [1, 2], np.array([3, 4]), ("a.txt", "b.npy"), [], range(3), None])
def test_labels_that_are_labels_stay_as_they_are(labels: object) -> None:
    assert open_labels(labels, "labels") is labels


def test_labels_are_never_rounded() -> None:
    parts = [np.array([2**63 + 1], dtype=np.uint64), np.array([-1]), np.array([True]), np.zeros(0)]
    assert open_labels(parts, "labels").tolist() == [2**63 + 1, -1, 1]


def test_bad_labels(tmp_path: Path) -> None:
    one = save(tmp_path / "1.npy", np.arange(3))
    said = f"labels must be of one kind throughout, but the dtypes are int64 in labels: {one} and <U1 in labels[1]"
    assert written.refusal(TypeError, open_labels, [one, np.array(["a", "b"])], "labels") == said
    save(one, np.zeros((3, 2, 2)))
    save(tmp_path / "2.npy", np.array([{}]))
    for given, said in (
        (one, "1.npy must be one-dimensional, but has shape (3, 2, 2)"),
        (tmp_path / "2.npy", "pickled and never loaded"),
        ("cat", "labels: cat must be a file of labels that ends in "),
        (tmp_path / "x*.npy", "labels must be files that are there, but none fits"),
    ):
        assert said in written.refusal(ValueError, open_labels, given, "labels")


def test_the_digest_is_of_the_numbers(tmp_path: Path) -> None:
    rows = ROWS.astype(np.float32)
    rows[3] = 0
    path = save(tmp_path / "a.npy", rows.astype(np.float16))
    transposed, doubles = save(tmp_path / "b.npy", np.asfortranarray(rows.astype(">f4"))), rows.astype(float)
    same = [rows, path, transposed, [path], [rows[:9], rows[9:]], np.load(path, mmap_mode="r")]
    same += [np.where(rows, rows, -0.0), doubles, [doubles[:9], rows[9:]]]
    digests = {digest_of_rows(open_rows(value, "query")) for value in same}
    assert len(digests) == 1
    one_off, longer = rows.copy(), doubles.copy()
    one_off[56, 5] = np.nextafter(one_off[56, 5], np.float32(np.inf))
    longer[56, 5] = np.nextafter(longer[56, 5], np.inf)
    huge = np.where(longer == longer.max(), 1e300, longer)
    for other in (longer, huge, one_off, rows[:-1], rows[::-1], rows.reshape(-1, 3)):
        assert digest_of_rows(open_rows(other, "query")) not in digests


# memory

_MEASURE = """
import sys
import numpy as np
from deadheat.inputs.samples import open_rows

def kilobytes(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key + ":"))

path, how = sys.argv[1:]
values = [path, path] if how == "shards" else path
before = kilobytes("VmRSS")
source = open_rows(values, "gallery")
total = sum(float(rows[:, 0].sum(dtype=float)) for _, rows in source.pieces())
some = np.random.default_rng(0).integers(0, len(source), size=4000)
assert (source.take(some)[:, 0] == some % 100_000).all()
after = kilobytes("VmHWM")
print(total, (after - before) / 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of resident memory from /proc")
@pytest.mark.parametrize("how", ["file", "shards", "fortran"])
def test_little_of_a_large_file_is_resident(how: str, tmp_path: Path) -> None:
    rows, dim = 100_000, 500  # 200 MB
    path = tmp_path / "large.npy"
    large = np.lib.format.open_memmap(path, "w+", np.float32, (rows, dim), fortran_order=how == "fortran")
    large[:] = np.arange(rows, dtype=np.float32)[:, None]
    large.flush()
    del large
    command, environment = [sys.executable, "-c", _MEASURE, str(path), how], os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    total, megabytes = map(float, done.stdout.split())
    assert total == (2 if how == "shards" else 1) * rows * (rows - 1) / 2
    assert megabytes < 110  # 75 to 93, as the system maps pages
    path.unlink()
