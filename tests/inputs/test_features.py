"""Columns that are no features are remarked, and patterns choose the columns of a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import deadheat as dh

RNG = np.random.default_rng(7)
LABELS = np.arange(24) % 4
ROWS = RNG.normal(size=(24, 3)) + LABELS[:, None]
NUMBERS = RNG.permutation(24)  # of rows: distinct integers


def table(path: Path, odd: dict[str, np.ndarray], rows: np.ndarray = ROWS) -> Path:
    """A table of the rows, the odd columns before them, and labels."""
    columns = [*odd.values(), *rows.T, LABELS]
    names = [*odd, *(f"dim_{i}" for i in range(rows.shape[1])), "label"]
    if path.suffix == ".parquet":
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.table(dict(zip(names, columns, strict=True))), path)
    else:
        lines = [names, *(list(map(repr, (each.item() for each in row))) for row in zip(*columns, strict=True))]
        path.write_text("\n".join(map(",".join, lines)))
    return path


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("name", ["image_id", "fold", "Unnamed: 0", "serial"])
def test_a_column_that_is_no_feature_is_remarked_and_dropped(name: str, ending: str, tmp_path: Path) -> None:
    path = table(tmp_path / f"a{ending}", {name: NUMBERS})
    (remark,) = dh.evaluate(path, measures="Hit@1").remarks
    assert f"Dimensions include what looks like no feature: column '{name}'; --drop leaves" in remark
    for options in ({"drop": name}, {"columns": ["dim_*"]}):
        np.testing.assert_array_equal(dh.read(path, **options).embeddings, ROWS)


def test_frames_and_tables_without_names_too(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": NUMBERS, "a": ROWS[:, 0], "b": ROWS[:, 1]})
    (remark,) = dh.evaluate(frame, LABELS, measures="Hit@1").remarks
    assert "column 'id'; drop them from the frame" in remark
    assert dh.evaluate(frame[["a", "b"]], LABELS, measures="Hit@1").remarks == ()
    np.savetxt(tmp_path / "a.csv", np.column_stack([NUMBERS, ROWS]), delimiter=",")
    np.savetxt(tmp_path / "y.txt", LABELS, fmt="%d")
    (remark,) = dh.evaluate(tmp_path / "a.csv", tmp_path / "y.txt", measures="Hit@1").remarks
    assert "no feature: column 0; " in remark


def test_features_are_not_remarked(tmp_path: Path) -> None:
    """Integers among integers, integers that repeat, and a table that is ids throughout."""
    whole = RNG.integers(-5, 6, (24, 3))
    for odd, rows in (({}, whole), ({"pixel": NUMBERS % 7}, ROWS), ({}, ROWS), ({"wide": ROWS[:, 0]}, ROWS)):
        assert dh.evaluate(table(tmp_path / "a.csv", odd, rows), measures="Hit@1").remarks == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drop": "z*"}, r"a.csv has no column that fits 'z\*': it has 5 \('name', 'dim_0', 'dim_1', …\)"),
        ({"columns": ["a", "dim_*"]}, r"a.csv has no column that fits 'a'"),
        ({"drop": 3}, "drop must be patterns of names of columns, but is 3"),
        ({}, r"a.csv, line 2, column 'name': the cell is not a number; leave the column out \(drop=\)"),
    ],
)
def test_what_is_refused(options: dict[str, object], message: str, tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", {"name": np.array([f"n{i}" for i in range(24)])})
    with pytest.raises((ValueError, TypeError), match=message):
        dh.read(path, **options)
