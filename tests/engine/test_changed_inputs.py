"""A task does not change under its user: small arguments are copied, and rows that were changed are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import from_scores

_RNG = np.random.default_rng(0)
ROWS = _RNG.standard_normal((30, 5))
ITEMS = _RNG.standard_normal((21, 5))
LABELS = _RNG.integers(0, 4, 30)
ITEM_LABELS = _RNG.integers(0, 4, 21)
CHANGED = "were changed after the task was made"

Task = dh.Task


def refused(task: Task, name: str = "embeddings were") -> None:
    """Check that whatever reads rows says so; nothing was counted before."""
    for read in (
        lambda: dh.evaluate(task, "mAP"),
        lambda: task.replace(distance="euclidean"),
        lambda: dh.receipt(task),
    ):
        with pytest.raises(ValueError, match=f"^{name} changed after the task was made: ") as error:
            read()
        assert error.value.argument == name.split()[0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8, ">f8"])
def test_changed_rows_are_refused(dtype: Any) -> None:
    rows = (8 * ROWS).astype(dtype)
    task = Task(rows, LABELS)
    rows[7, 3] += 1
    refused(task)
    rows[7, 3] -= 1
    assert str(dh.evaluate(task)) == str(dh.evaluate(rows, LABELS))  # they are the same again


def swap(rows: Any) -> None:
    rows[[0, 1]] = rows[[1, 0]]


def to_nan(rows: Any) -> None:  # which the core must not see
    rows[0, 0] = np.nan


def add_one(rows: Any) -> None:
    rows[4, 4] += 1


@pytest.mark.parametrize(
    ("view", "change"),
    [
        (np.copy, swap), (np.copy, to_nan), (lambda a: a[::2], add_one), (lambda a: a[:, ::-1], add_one),
        (np.asfortranarray, add_one),
    ],
)  # fmt: skip
def test_changed_rows_behind_a_view_are_refused(view: Callable[[Any], Any], change: Callable[[Any], None]) -> None:
    rows = view(np.concatenate([ROWS, ROWS]).copy())
    task = Task(rows, np.resize(LABELS, len(rows)))
    change(rows)
    refused(task)


def test_a_changed_part_a_changed_gallery_and_changed_junk_of_pairs_are_refused() -> None:
    rows = [ROWS[:10].copy(), ROWS[10:].copy()]
    task = Task(rows, LABELS)
    add_one(rows[1])
    refused(task)
    items = ITEMS.copy()
    task = Task(ROWS, LABELS, items, ITEM_LABELS)
    add_one(items)
    refused(task, "gallery was")
    for changed in ((29, 20), (0, 0)):  # the first is behind the last whole word
        junk = np.zeros((30, 21), dtype=np.bool_)
        task = Task(ROWS, LABELS, ITEMS, ITEM_LABELS, junk=junk)
        junk[changed] = True
        refused(task, "junk was")


def test_sparse_rows_are_copied() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    rows = sparse.csr_matrix(np.where(ROWS > 0, ROWS, 0))
    before, task = Task(rows, LABELS).profile, Task(rows, LABELS)
    rows.data[:] = rows.data[::-1].copy()
    assert task.profile == before != Task(rows, LABELS).profile


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_tensor_that_is_used_again_is_refused_or_was_copied(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    rows = torch.tensor(ROWS, dtype=getattr(torch, dtype))
    before = str(dh.evaluate(rows, LABELS))
    task = Task(rows, LABELS)
    rows.mul_(torch.linspace(-1, 2, 5))
    if dtype == "float32":
        refused(task)
    else:
        assert str(dh.evaluate(task)) == before


def test_a_memory_map_that_was_written_to_and_a_file_that_was_written_anew_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", ROWS)
    rows = np.load(tmp_path / "a.npy", mmap_mode="r+")
    task = Task(rows, LABELS)
    add_one(rows)
    refused(task)
    task = Task(tmp_path / "a.npy", LABELS)
    np.save(tmp_path / "b.npy", ROWS[::-1])
    (tmp_path / "b.npy").replace(tmp_path / "a.npy")
    refused(task)


@pytest.mark.parametrize("kind", [np.int64, np.str_, object, list])
def test_changed_labels_leave_a_task_as_it_was(kind: Any) -> None:
    of_rows, of_items = LABELS.astype(kind) if kind is not list else LABELS.tolist(), ITEM_LABELS.copy()
    before = str(dh.evaluate(ROWS, of_rows))
    alone = Task(ROWS, of_rows)
    task = Task(ROWS, LABELS, ITEMS, of_items)
    with_gallery = str(dh.evaluate(ROWS, LABELS, ITEMS, of_items))
    of_rows[:20] = [of_rows[0]] * 20
    of_items[:20] = 0
    assert str(dh.evaluate(alone)) == before
    assert str(dh.evaluate(task)) == with_gallery


def test_changed_sets_of_labels_leave_a_task_as_it_was() -> None:
    bits = _RNG.integers(0, 2, (30, 3))
    before = str(dh.evaluate(ROWS, bits))
    task = Task(ROWS, bits)
    bits[:] = 1
    assert str(dh.evaluate(task)) == before


def test_changed_junk_and_excluded_rows_leave_a_task_as_it_was() -> None:
    junk, own = ITEM_LABELS == 0, np.arange(30) % 21
    given = {"gallery": ITEMS, "gallery_labels": ITEM_LABELS}
    before = str(dh.evaluate(ROWS, LABELS, **given, junk=junk, exclude=own))
    other = str(dh.evaluate(ROWS, LABELS, **given, junk=junk, exclude=own, distance="euclidean"))
    task = Task(ROWS, LABELS, **given, junk=junk, exclude=own)
    junk[:], own[:] = False, -1
    assert str(dh.evaluate(task.replace(distance="euclidean"))) == other
    assert str(dh.evaluate(task)) == before


def test_a_task_that_was_counted_keeps_its_values_and_gets_no_receipt_of_other_rows() -> None:
    rows = ROWS.copy()
    task = Task(rows, LABELS)
    before = str(dh.evaluate(task, "mAP"))
    rows += 1
    assert str(dh.evaluate(task, "mAP")) == before
    with pytest.raises(ValueError, match=CHANGED):
        dh.receipt(task)


def test_scores_are_counted_at_once() -> None:
    scores, relevant = ROWS.copy(), ROWS > 0.5
    task = from_scores(scores, relevant)
    before = str(dh.evaluate(from_scores(scores.copy(), relevant.copy())))
    scores[:], relevant[:] = 0, True
    assert str(dh.evaluate(task)) == before
