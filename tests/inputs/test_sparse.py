"""Sparse embeddings against the same rows made dense: one profile, whatever container the numbers come in."""

from __future__ import annotations

import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.engine.distances import registry as distance_registry
from deadheat.inputs.samples import open_rows
from deadheat.inputs.source import digest_of_rows
from deadheat.inputs.sparse import SparseRows, shared_columns

sparse = pytest.importorskip("scipy.sparse")

FORMS = ["csr_array", "csr_matrix", "csc_array", "coo_array", "coo_matrix", "lil_array", "bsr_array"]
DISTANCES = ["cosine", "euclidean", "inner_product", "cityblock"]


def example(seed: int = 0, n: int = 60, dim: int = 14) -> tuple[np.ndarray, np.ndarray]:
    """Rows on a small grid, where ties are common, one of them without any entry; and their labels."""
    rng = np.random.default_rng(seed)
    rows = (rng.integers(-2, 3, (n, dim)) * (rng.random((n, dim)) < 0.3)).astype(np.float32) / 4
    rows[3] = 0
    return rows, rng.integers(0, 6, n)


def digest(*args: Any, **options: Any) -> str:
    return dh.Task(*args, **options).profile.digest()


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_scipy(form: str) -> None:
    rows, labels = example()
    assert digest(getattr(sparse, form)(rows), labels) == digest(rows, labels)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("distance", DISTANCES)
def test_every_distance_and_type(distance: str, dtype: Any) -> None:
    rows, labels = example(1)
    rows = (rows * 4).astype(dtype)
    given = sparse.csr_array(rows)
    assert digest(given, labels, distance=distance) == digest(rows, labels, distance=distance)
    both = digest(rows[:20], labels[:20], rows[20:], labels[20:], distance=distance)
    assert digest(given[:20], labels[:20], given[20:], labels[20:], distance=distance) == both
    assert digest(rows[:20], labels[:20], given[20:], labels[20:], distance=distance) == both
    assert open_rows(given, "embeddings").dtype == open_rows(rows, "embeddings").dtype


def test_random_numbers_and_codes() -> None:
    rng = np.random.default_rng(2)
    rows, labels = rng.standard_normal((80, 30)) * (rng.random((80, 30)) < 0.2), rng.integers(0, 5, 80)
    for distance in DISTANCES:
        assert digest(sparse.csr_array(rows), labels, distance=distance) == digest(rows, labels, distance=distance)
    for codes in (rows != 0, (rows > 0).astype(np.int64)):
        assert digest(sparse.csr_array(codes), labels, distance="hamming") == digest(codes, labels, distance="hamming")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product"])
def test_products_of_sparse_rows(distance: str, dtype: Any) -> None:
    """Most pairs have disjoint support, and tie; junk, equal rows, ranges of 300 dims, and each rule for ties."""
    rng = np.random.default_rng(8)
    rows = (rng.standard_normal((460, 300)) * (rng.random((460, 300)) < 0.03)).astype(dtype)
    rows[40:60], rows[3], rows[-4:] = rows[:20], 0, 2 * rows[10:14]
    labels, several = rng.integers(0, 40, 460), rng.random((460, 9)) < 0.15
    junk = rng.random((60, 400)) < 0.3
    given = sparse.csr_array(rows)
    task: dict[str, Any] = {"distance": distance}
    assert digest(given, labels, **task) == digest(rows, labels, **task)
    assert digest(given, several, **task) == digest(rows, several, **task)
    assert digest(given, labels // 20, **task) == digest(rows, labels // 20, **task)
    for options in (
        {}, {"junk": junk}, {"junk": junk[0]}, {"exclude": np.arange(60) % 50 - 1}, {"ties": "float16"},
        {"ties": dh.Tolerance(1e-3)}, {"junk": junk, "threads": 2, "ties": dh.Rounded("float16")},
    ):  # fmt: skip
        both = [
            digest(some[:60], labels[:60], some[60:], labels[60:], **task, **options) for some in (given, rows, -rows)
        ]
        assert both[0] == both[1] == both[2]


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product"])
def test_bounds_of_sparse_products(distance: str) -> None:
    """Scores of both levels are within their bounds, which depend on the numbers of a row and not on its dims."""
    rng = np.random.default_rng(9)
    rows = (rng.choice([-1, 1], (24, 4000)) * rng.random((24, 4000)) ** 9 * (rng.random((24, 4000)) < 0.1)).astype("f4")
    sources = [open_rows(given, "embeddings") for given in (sparse.csr_array(rows), rows)]
    distances = [distance_registry.make(distance, source, None, True) for source in sources]
    every = np.arange(24)
    for level in range(2):
        few, many = (each.scores.errors(level, every, 0)[:, 0] for each in distances)
        exact = distances[1].scores.tile(1, every, every)
        assert (few < many).all()
        error = np.abs(distances[0].scores.tile(level, every, every) - exact)
        assert (error <= few[:, None] + many[:, None] * 2.0**-20).all()


def test_every_layout_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    rows, labels = example(3)
    wanted, tensor = digest(rows, labels), torch.tensor(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that these layouts are young
        given = [
            tensor.to_sparse(), tensor.to_sparse_csr(), tensor.to_sparse_csc(), tensor.to_sparse_bsr((2, 2)),
            tensor.to_sparse().to(torch.bfloat16), tensor.to_sparse().requires_grad_(),
            (tensor * 4).to(torch.int8).to_sparse(),
        ]  # fmt: skip
    assert [digest(each, labels) for each in given] == [wanted] * len(given)
    twice = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], [1.0, 2.0, 4.0], (2, 3), check_invariants=True)
    assert_array_equal(open_rows(twice, "embeddings").whole(), [[0, 3, 0], [4, 0, 0]])


def test_zeros_and_repeats_that_are_given() -> None:
    given = sparse.csr_array((np.array([1.0, 2, 0, 3]), np.array([2, 2, 0, 1]), np.array([0, 2, 3, 4])), shape=(3, 3))
    before = given.data.copy()
    assert_array_equal(open_rows(given, "embeddings").whole(), [[0, 0, 3], [0, 0, 0], [0, 3, 0]])
    assert_array_equal(given.data, before)  # of the caller
    assert digest(given, [0, 0, 1]) == digest(given.toarray(), [0, 0, 1])
    cancelled = sparse.coo_array(([2.0, -2.0, 1.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert digest(cancelled, [0, 0]) == digest(cancelled.toarray(), [0, 0])


def test_rows_as_a_source_returns_them() -> None:
    rows, _ = example(4)
    source = open_rows(sparse.coo_array(rows), "embeddings")
    assert isinstance(source, SparseRows)
    assert_array_equal(source.read(5, 17), rows[5:17])
    index = np.array([9, 3, 3, 59, 0])
    assert_array_equal(source.take(index), rows[index])
    assert_array_equal(source.take(index[:0]), rows[:0])
    assert_array_equal(source.of_columns(rows.any(axis=0)).whole(), rows[:, rows.any(axis=0)])
    assert digest_of_rows(source) == digest_of_rows(open_rows(rows, "embeddings"))
    parts = [sparse.csr_array(rows[:7]), rows[7:20], sparse.csr_array((0, 14)), sparse.csc_array(rows[20:])]
    assert_array_equal(open_rows(parts, "embeddings").whole(), rows)


def test_products_need_shared_columns_alone() -> None:
    """Columns that are 0 in all queries or in all items change no product, and are left out."""
    rng = np.random.default_rng(5)
    query, gallery = rng.integers(-3, 4, (2, 30, 40)) * (rng.random((2, 30, 40)) < 0.1)
    query[:, 20:30], gallery[:, 25:] = 0, 0
    labels = rng.integers(0, 4, 30)
    given = sparse.csr_array(query), sparse.csr_array(gallery)
    of_query, of_gallery = shared_columns(*(open_rows(each, "embeddings") for each in given))
    assert of_query.shape[1] == of_gallery.shape[1] == (query.any(axis=0) & gallery.any(axis=0)).sum()
    assert_array_equal(of_query.whole() @ of_gallery.whole().T, query @ gallery.T)
    options = {"distance": "inner_product"}
    assert digest(given[0], labels, given[1], labels, **options) == digest(query, labels, gallery, labels, **options)
    nothing = sparse.csr_array((30, 40))
    assert digest(nothing, labels, given[1], labels, **options) == digest(0 * query, labels, gallery, labels, **options)


def test_rows_are_made_dense_some_at_a_time() -> None:
    """All of them would take 480 MB."""
    given = sparse.random_array((4000, 30_000), density=0.002, dtype=np.float32, rng=np.random.default_rng(6)).tocsr()
    labels = np.arange(4000) % 40
    tracemalloc.start()
    assert len(dh.Task(given[:4], labels[:4], given[4:], labels[4:], threads=1).profile.n_relevant) == 4
    assert tracemalloc.get_traced_memory()[1] < 320e6
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (sparse.csr_array([[1.0, 0], [0, np.nan]]), "embeddings must be finite, but holds nan in row 1, column 1"),
        (sparse.coo_array([[np.inf, 0], [0, 1]]), "embeddings must be finite, but holds inf in row 0, column 0"),
        (
            sparse.csr_array([[2**54, 0]]),
            "embeddings must hold integers up to 2^53 in size, but holds a larger one in row 0",
        ),
        (sparse.csr_array([[1j, 0]]), "embeddings must hold real numbers of at most 64 bits, but has dtype complex128"),
        (sparse.coo_array([1.0, 2.0]), "embeddings must be two-dimensional (n, dim), but has shape (2,)"),
        (sparse.csr_array((2, 0)), "embeddings must have at least one row and one column, but has shape (2, 0)"),
        (sparse.csr_array((0, 2)), "embeddings must have at least one row and one column, but has shape (0, 2)"),
    ],
)
def test_rows_that_are_refused(given: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        dh.Task(given, [0, 1])
    assert str(caught.value) == message


def test_labels_are_0_and_1_alone() -> None:
    rows, labels = np.eye(3), sparse.csr_array([[1, 0], [0, 1], [1, 1]])
    assert dh.Task(rows, labels).profile == dh.Task(rows, labels.toarray()).profile
    labels.data[0] = 2
    with pytest.raises(ValueError, match="labels must hold 0 and 1 alone where a row has several, but holds another"):
        dh.Task(rows, labels)


def test_tensors_that_are_refused() -> None:
    torch = pytest.importorskip("torch")
    for given, message in (
        (torch.eye(2).to_sparse(1), "embeddings must hold numbers, but is a sparse tensor of dense rows: give "),
        (torch.zeros(2, 2, 2).to_sparse(), r"embeddings must be two-dimensional \(n, dim\), but has shape \(2, 2, 2\)"),
        (
            torch.sparse_coo_tensor([[0, 1], [0, 99]], [1.0, 2.0], (2, 5), check_invariants=False),
            "embeddings must have columns from 0 to 4, but row 1 has column 99",
        ),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            dh.Task(given, [0, 1])
    with pytest.raises(ValueError, match="embeddings and gallery must have the same dim, but have 2 and 3 columns"):
        dh.Task(torch.eye(2).to_sparse(), [0, 1], torch.eye(3).to_sparse(), [0, 1, 1])


@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array", "bsr_array"])
def test_file_of_scipy(form: str, tmp_path: Path) -> None:
    rows, labels = example(7)
    sparse.save_npz(tmp_path / "rows.npz", getattr(sparse, form)(rows))
    assert digest(tmp_path / "rows.npz", labels) == digest(rows, labels)
    assert_array_equal(dh.read(tmp_path / "rows.npz", _labels(tmp_path, labels)).embeddings, rows)
    with pytest.raises(dh.errors.FileError, match="none of its arrays is called labels, label, class or y"):
        dh.Task(tmp_path / "rows.npz")


def _labels(folder: Path, labels: np.ndarray) -> Path:
    (folder / "labels.txt").write_text("\n".join(map(str, labels)))
    return folder / "labels.txt"


def test_damaged_file_of_scipy(tmp_path: Path) -> None:
    path, numbers = tmp_path / "rows.npz", {"data": np.ones(1), "shape": np.array([2, 3])}
    for damaged in (
        {"format": b"csc", "indices": np.array([9]), "indptr": np.array([0, 1, 1, 1])},
        {"format": b"coo", "row": np.array([9]), "col": np.array([0])},
        {"format": b"abc"},
    ):
        np.savez(path, **numbers, **damaged)
        with pytest.raises(dh.errors.FileError, match=r"rows.npz cannot be read; truncated or damaged\?"):
            dh.Task(path, [0, 1])
