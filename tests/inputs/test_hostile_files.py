"""Files that name other files, or that claim far more than they hold: refused in one line, before memory is taken."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from inputs.written import refusal
from scipy import sparse

import deadheat as dh
from deadheat.engine.counting.checkpoint import Checkpoint
from deadheat.errors import FileError
from deadheat.inputs import ground_truth, limits, trec
from deadheat.inputs.samples import open_labels, open_rows

ROWS = np.random.default_rng(0).standard_normal((20, 3))
LABELS = np.arange(20) % 4
SECRET = 8680820740569200760
ELSEWHERE = "array 'embeddings' must be in this file itself, but is a link, or external or virtual storage: write its"


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Low limits for all files."""
    low = limits.Limits(unpacked=1 << 16, text=1 << 16, ratio=100, columns=64, lines=50, members=9, nesting=4)
    monkeypatch.setattr(limits, "ORDINARY", low)


# Other files ----------------------------------------------------------------------------------------------------------


def external(file: Any) -> None:
    file.create_dataset("embeddings", (20, 1), "i8", external=[("secret", 0, 160)])


def of_a_pipe(file: Any) -> None:
    file.create_dataset("embeddings", (20, 1), "i8", external=[("pipe", 0, 160)])


def virtual(file: Any, source: str = "secret.h5") -> None:
    layout = h5py.VirtualLayout((20, 3), "f8")
    layout[:] = h5py.VirtualSource(source, "embeddings", (20, 3))
    file.create_virtual_dataset("embeddings", layout)


def of_itself(file: Any) -> None:
    virtual(file, ".")


def external_link(file: Any) -> None:
    file["embeddings"] = h5py.ExternalLink("secret.h5", "/embeddings")


def link_to_a_link(file: Any) -> None:
    file["other"] = h5py.ExternalLink("secret.h5", "/")
    file["embeddings"] = h5py.SoftLink("/other/embeddings")


@pytest.mark.parametrize("make", [external, of_a_pipe, virtual, of_itself, external_link, link_to_a_link])
def test_hdf5_cannot_name_another_file(make: Callable[[Any], None], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    np.full(20, SECRET).tofile(tmp_path / "secret")
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["embeddings"] = ROWS
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver="latest") as file:
        make(file)
        file["neighbors"] = h5py.SoftLink("/embeddings")
        file["distances"] = ROWS
    program = (
        "import sys, deadheat, deadheat.errors, pathlib; from deadheat.inputs import ground_truth\n"
        "for call in (lambda: deadheat.evaluate(sys.argv[1], [0, 1] * 10),\n"
        "             lambda: ground_truth.read_neighbors(pathlib.Path(sys.argv[1]))):\n"
        "    try: call()\n"
        "    except deadheat.errors.FileError as error: print(error)\n"
    )  # in a process of its own, which one of these used to end and another to hang
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True, timeout=60
    )
    first, second = done.stdout.splitlines()
    assert first.startswith(f"{path} {ELSEWHERE}")
    assert second.startswith(f"{path} {ELSEWHERE.replace('embeddings', 'neighbors')}")
    assert str(SECRET) not in done.stdout


def test_a_column_of_another_parquet_file_is_not_followed(tmp_path: Path) -> None:
    """The footer can say that the pages of a column are in another file, as Spark's ``_metadata`` does."""
    result: list[Any] = []
    pq.write_table(pa.table({"x": LABELS / 7, "label": LABELS}), tmp_path / "secret.parquet", metadata_collector=result)
    result[0].set_file_path("secret.parquet")
    result[0].write_metadata_file(tmp_path / "a.parquet")
    assert "cannot be read as Parquet" in refusal(FileError, dh.read, tmp_path / "a.parquet")


def test_links_devices_and_hosts_are_refused_of_strangers(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", ROWS)
    (tmp_path / "link.npy").symlink_to("a.npy")
    (tmp_path / "zero.npy").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.npy")
    assert open_rows(tmp_path / "link.npy", "embeddings").shape == (20, 3)
    special = " is a pipe or a device, and not a file: save it in one"
    for name in ("zero", "pipe"):
        assert refusal(FileError, open_rows, tmp_path / f"{name}.npy", "embeddings").endswith(special)
    with limits.untrusted():
        assert open_rows(tmp_path / "a.npy", "embeddings").shape == (20, 3)
        for name in ("link", "zero"):
            said = refusal(FileError, open_rows, tmp_path / f"{name}.npy", "embeddings")
            assert said.endswith("is a symbolic link: give the file itself")
        assert refusal(FileError, open_rows, tmp_path / "pipe.npy", "embeddings").endswith(special)
        said = refusal(FileError, open_rows, "memory://somewhere/a.npy", "embeddings")
        assert said == "memory://somewhere/a.npy names another host: give a file of this one"
    assert limits.current() is limits.ORDINARY


def test_a_file_that_is_exchanged_after_the_first_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "require_file", lambda path: None)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    assert "is a pipe or a device" in refusal(FileError, limits.opened, tmp_path / "pipe")
    with limits.untrusted():
        assert "is a symbolic link" in refusal(FileError, limits.opened, tmp_path / "link")


def test_a_checkpoint_on_a_device_is_refused(tmp_path: Path) -> None:
    with Checkpoint(tmp_path / "run", {"distance": "cosine"}) as checkpoint:
        (tmp_path / "run" / "portion-00000000.npz").symlink_to("/dev/zero")
        assert "is a pipe or a device" in refusal(FileError, checkpoint.load, 0)


@pytest.mark.parametrize("load", [dh.Receipt.load, dh.TieProfile.load])
def test_receipts_and_profiles_on_a_pipe_are_refused(load: Callable[..., object], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    assert "is a pipe or a device" in refusal(FileError, load, tmp_path / "a")


# More than there is ---------------------------------------------------------------------------------------------------


def h5(**options: Any) -> Callable[[Path], None]:
    def save(path: Path) -> None:
        with h5py.File(path, "w") as file:
            file.create_dataset("embeddings", **options)

    return save


def groups(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["/".join("abcdef") + "/embeddings"] = ROWS


def members(path: Path) -> None:
    with h5py.File(path, "w") as file:
        for i in range(20):
            file[f"x{i}"] = i


def lists(*lengths: int) -> Callable[[Path], None]:
    def save(path: Path) -> None:
        pq.write_table(pa.table({"x": [[0.0] * length for length in lengths]}), path, compression="zstd")

    return save


def sparse_of(shape: tuple[int, int]) -> Callable[[Path], None]:
    def save(path: Path) -> None:
        sparse.save_npz(path, sparse.coo_array((np.ones(2), ([0, 1], [1, 0])), (2, 2)))
        with zipfile.ZipFile(path) as archive:
            content = {name: archive.read(name) for name in archive.namelist() if name != "shape.npy"}
        with zipfile.ZipFile(path, "w") as archive:
            for name, entry in content.items():
                archive.writestr(name, entry)
            with archive.open("shape.npy", "w") as file:
                np.save(file, np.array(shape))

    return save


def holes(path: Path) -> None:
    with open(path, "wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**6, 60)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + 480 * 10**6)


def text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


TOO_LARGE, COLUMNS = " GB, over 100 for each: save it uncompressed", " must have at most 64 columns, but has "
BOMBS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "chunks never written": (".h5", h5(shape=(10**6, 60), dtype="f8", chunks=(1, 60)), TOO_LARGE),
    "chunks beyond the array": (".h5", h5(shape=(20, 3), dtype="f8", chunks=(10**4, 9), maxshape=(None, 9)), TOO_LARGE),
    "wide HDF5": (".h5", h5(shape=(20, 2**40), dtype="f8", chunks=(1, 60)), COLUMNS),
    "lists of HDF5": (".h5", h5(shape=(20, 3), dtype=h5py.vlen_dtype("f8")), " must hold numbers, but holds lists"),
    "nested groups": (".h5", groups, " must have at most 4 groups in each other"),
    "many arrays": (".h5", members, " must have at most 9 arrays and groups, but has more"),
    "long lists": (".parquet", lists(*[60] * 2000), TOO_LARGE),
    "wide lists": (".parquet", lists(70, 70), COLUMNS + "70"),
    "growing lists": (".parquet", lists(1, *[10**6] * 3), TOO_LARGE),
    "an archive": (".npz", lambda path: np.savez_compressed(path, embeddings=np.zeros((2000, 60))), TOO_LARGE),
    "a wide archive": (".npz", lambda path: np.savez(path, embeddings=np.zeros((2, 65))), COLUMNS + "65"),
    "a wide sparse matrix": (".npz", sparse_of((2, 2**62)), COLUMNS + str(2**62)),
    "a tall sparse matrix": (".npz", sparse_of((2**40, 2)), TOO_LARGE),
    "a zipped sparse matrix": (
        ".npz", lambda path: sparse.save_npz(path, sparse.csr_array(np.ones((2000, 60)))), TOO_LARGE,
    ),
    "holes": (".npy", holes, TOO_LARGE),
    "wide text": (".csv", text("\n".join([",".join("0" * 65)] * 3)), ", line 1" + COLUMNS + "65"),
    "long text": (".csv", text("0,1\n" * 51), " must have at most 50 lines, but has 51"),
}  # fmt: skip


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("kind", BOMBS)
def test_a_file_that_claims_too_much_is_refused_before_it_takes_memory(kind: str, tmp_path: Path) -> None:
    ending, make, said = BOMBS[kind]
    path = tmp_path / f"a{ending}"
    make(path)
    tracemalloc.start()
    message = refusal(FileError, open_rows, path, "embeddings")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert message.startswith(str(path))
    assert said in message
    assert most < 50e6


@pytest.mark.usefixtures("few")
def test_labels_that_claim_too_much_are_refused(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", labels=np.zeros(2000 * 60))
    assert TOO_LARGE in refusal(FileError, open_labels, tmp_path / "a.npz", "labels")


@pytest.mark.usefixtures("few")
def test_neighbours_are_held_to_the_same_limits(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("neighbors", (10**6, 60), "i4", chunks=(1, 60))
    pq.write_table(pa.table({"ids": [[0] * 60] * 2000}), tmp_path / "a.parquet")
    for path in (tmp_path / "a.h5", tmp_path / "a.parquet"):
        assert refusal(FileError, ground_truth.read_neighbors, path).endswith(TOO_LARGE)


@pytest.mark.parametrize(
    "start", ["", "q 0 d 1 1 t\n", pytest.param("query-id,corpus-id,score\n", marks=pytest.mark.slow)]
)
def test_text_that_unpacks_to_far_more_is_refused(start: str, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(gzip.compress(start.encode() + b"\n" * (8 << 20)))
    assert refusal(FileError, trec.open_run, path).endswith(TOO_LARGE)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"a":' * 200_000, " is no JSON of scores: nested too deeply"),
        ('{"q": {"d1": true}}', " must hold a dictionary of splits for each subset"),
        ('{"query_id": "q", "doc_id": "d", "score": true}', ", line 1: score must be a number, but is of type bool"),
        ('{"q": {' + '"d": 1, ' * 30_000 + '"d": 1}}', " is no JSON of scores: 'd' must be listed once, but is again"),
    ],
)
def test_json_that_is_no_run(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text(content)
    assert refusal(FileError, trec.open_run, tmp_path / "a.run").removeprefix(str(tmp_path / "a.run")) == said


def test_a_score_of_true_is_refused() -> None:
    assert "score must be a number, but is of type bool" in refusal(TypeError, trec.open_run, {"q": {"d1": True}})


def test_names_are_compared_once() -> None:
    class Counted(str):
        compared = 0
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            Counted.compared += 1
            return str.__eq__(self, str(other))

    names = [Counted(i) for i in range(2000)]
    assert limits.repeated(names) is None
    assert limits.repeated([*names, Counted(7)]) == "7"
    assert Counted.compared < 100


@pytest.mark.parametrize("ending", [pytest.param(".npz", marks=pytest.mark.slow), ".h5"])
def test_rows_of_zeros_stay_ordinary(ending: str, tmp_path: Path) -> None:
    """The attack of the paper: 100,000 x 512 zeros in a small file are read in pieces, by strangers' limits too."""
    path, shape = tmp_path / f"a{ending}", (100_000, 512)
    if ending == ".npz":
        np.savez_compressed(path, embeddings=np.zeros(shape, np.float32))
    else:
        with h5py.File(path, "w") as file:
            file.create_dataset("embeddings", shape, "f4", chunks=(1000, 512))
    assert 500 * path.stat().st_size < 4 * np.prod(shape)
    with limits.untrusted():
        rows = open_rows(path, "embeddings")
    assert rows.shape == shape
    assert not rows.in_memory
    assert not rows.take(np.array([0, 99_999])).any()
