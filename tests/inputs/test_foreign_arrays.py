"""Arrays, columns and frames of other libraries: the same numbers, bit for bit, or one line that names the row."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from inputs import written
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat.errors import InputError, MissingPackageError
from deadheat.inputs.arrays import embeddings
from deadheat.inputs.conversion import plain
from deadheat.inputs.samples import open_labels, open_rows

pd: Any = pytest.importorskip("pandas")
pl: Any = pytest.importorskip("polars")
pa: Any = pytest.importorskip("pyarrow")

ROWS = np.random.default_rng(0).integers(-3, 4, (8, 3)).astype(np.float32) / 4
LABELS = np.array(["a", "b", "a", "c", "b", "a", "c", "b"])
PROFILE = dh.Task(ROWS, LABELS).profile
refusal = partial(written.refusal, InputError)


# Types of ml_dtypes, as JAX has them --------------------------------------------------------------------------------

SHORT = ["bfloat16", "float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn"]


@pytest.mark.parametrize("name", SHORT)
def test_every_number_of_a_short_type_stays_what_it_is(name: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, name))
    patterns = np.arange(2 ** (8 * kind.itemsize), dtype=f"u{kind.itemsize}")
    if name.startswith("float4"):
        patterns = patterns[:16]
    short = patterns.view(kind)
    with np.errstate(invalid="ignore"):
        short = short[np.isfinite(short)]
    wide = plain(short[:, None], "embeddings")
    assert wide.dtype == np.float32
    assert [Fraction(float(x)) for x in wide[:, 0]] == [Fraction(float(x)) for x in short]
    assert_array_equal(wide[:, 0].astype(kind).view(patterns.dtype), short.view(patterns.dtype))


def test_integers_of_four_bits_are_integers() -> None:
    codes = np.array([[-8, 7], [0, 1]]).astype(ml_dtypes.int4)
    assert plain(codes, "embeddings").dtype == np.int8
    assert plain(codes.astype(np.int8).astype(ml_dtypes.uint4), "embeddings").dtype == np.uint8
    assert (
        dh.Task(ROWS[:4], np.array([1, 2, 1, 2]).astype(ml_dtypes.int4)).profile
        == dh.Task(ROWS[:4], [1, 2, 1, 2]).profile
    )


def test_a_file_of_numpys_has_forgotten_bfloat16(tmp_path: Any) -> None:
    np.save(tmp_path / "a.npy", ROWS.astype(ml_dtypes.bfloat16))
    said = "but has dtype |V2, as bfloat16 and float8 have in NumPy's files: save them as float32"
    assert refusal(dh.Task, tmp_path / "a.npy", LABELS).endswith(said)


# Arrays by protocol ---------------------------------------------------------------------------------------------------


class OnDevice:
    """An array as CuPy has them: on a device, with no way to NumPy but its own."""

    def __init__(self, array: np.ndarray) -> None:
        self.__cuda_array_interface__ = {"version": 3}
        self._array, self.shape, self.ndim, self.dtype = array, array.shape, array.ndim, array.dtype

    def get(self) -> np.ndarray:
        return self._array

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __len__(self) -> int:
        return len(self._array)


class Exported:
    """Nothing but DLPack, in its present or its first form."""

    def __init__(self, array: np.ndarray) -> None:
        self._array, self.ndim, self.shape = array, array.ndim, array.shape

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class ExportedAsOfOld(Exported):
    def __dlpack__(self, stream: Any = None) -> Any:
        return self._array.__dlpack__()


class Stuck(Exported):
    """An array that does not come here."""

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("cannot be\nexported")


@pytest.mark.parametrize("kind", [OnDevice, Exported, ExportedAsOfOld])
def test_arrays_are_taken_by_protocol(kind: Any) -> None:
    numbers = np.unique(LABELS, return_inverse=True)[1]
    assert dh.Task(kind(ROWS), kind(numbers)).profile == dh.Task(ROWS, numbers).profile
    assert dh.Task([kind(ROWS[:5]), kind(ROWS[5:])], LABELS).profile == PROFILE
    assert dh.Task([kind(row) for row in ROWS], LABELS).profile == PROFILE
    assert dh.Task(ROWS, LABELS, kind(ROWS), LABELS).profile == dh.Task(ROWS, LABELS, ROWS, LABELS).profile
    assert dh.from_scores(kind(ROWS), kind(ROWS > 0)).profile == dh.from_scores(ROWS, ROWS > 0).profile


def test_an_array_that_cannot_come_here() -> None:
    said = "embeddings must be an array that NumPy can take, but DLPack says of this Stuck: cannot be exported"
    assert refusal(dh.Task, Stuck(ROWS), LABELS) == said
    bare = type("Bare", (), {"__cuda_array_interface__": {}})()
    said = "embeddings must have a way to NumPy, but is a Bare on a device without one"
    assert refusal(dh.Task, bare, LABELS) == said


# Strides, orders, shapes ----------------------------------------------------------------------------------------------


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {  # the same numbers, elsewhere in memory
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "reversed": lambda array: array[::-1, ::-1].copy()[::-1, ::-1],
    "every second": lambda array: np.repeat(np.repeat(array, 2, axis=0), 3, axis=1)[::2, ::3],
    "unaligned": lambda array: (
        np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape)
    ),
    "read-only": lambda array: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
    "0 stride": lambda array: np.broadcast_to(array[0], array.shape),
}


@given(
    rows=hnp.arrays(np.int8, st.tuples(st.integers(2, 6), st.integers(1, 6)), elements=st.integers(0, 3)),
    dtype=st.sampled_from(["f2", "f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]),
    order=st.sampled_from("<>"),
    layout=st.sampled_from([*LAYOUTS]),
)  # fmt: skip
def test_types_byte_orders_and_strides_change_nothing(rows: np.ndarray, dtype: str, order: str, layout: str) -> None:
    labels = np.arange(len(rows)) % 2
    if layout == "0 stride":
        rows = np.repeat(rows[:1], len(rows), axis=0)
    expected = dh.Task(rows.astype(np.float64), labels).profile
    assert dh.Task(LAYOUTS[layout](rows.astype(order + dtype)), labels).profile == expected


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (3, 0), (2, 2, 2)])
def test_shapes_that_are_no_matrix_are_refused_by_one_rule(shape: tuple[int, ...]) -> None:
    array = np.zeros(shape, dtype=np.float32)
    said = refusal(embeddings, array, "embeddings")
    assert str(shape) in said
    for kind in (OnDevice, Exported):
        assert refusal(embeddings, kind(array), "embeddings") == said


# Columns of lists -----------------------------------------------------------------------------------------------------

FLAT = pa.array(ROWS.ravel())
LISTS = pa.ListArray.from_arrays(np.arange(0, ROWS.size + 1, 3).astype(np.int32), FLAT)
FIXED = pa.FixedSizeListArray.from_arrays(FLAT, 3)
ROW_LISTS = ROWS.tolist()

COLUMNS: dict[str, Callable[[], Any]] = {
    "pyarrow lists": lambda: LISTS,
    "pyarrow large lists": lambda: LISTS.cast(pa.large_list(pa.float32())),
    "pyarrow fixed": lambda: FIXED,
    "pyarrow halves": lambda: pa.array(ROWS.astype(np.float16).tolist(), pa.list_(pa.float16())),
    "pyarrow sliced": lambda: pa.concat_arrays([LISTS, LISTS]).slice(8),
    "pyarrow fixed, sliced": lambda: pa.concat_arrays([FIXED, FIXED]).slice(8),
    "pyarrow chunks": lambda: pa.chunked_array([FIXED[:3], FIXED[3:3], FIXED[3:]]),
    "pyarrow tensors": lambda: pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.float32(), (3,)), FIXED),
    "pyarrow table": lambda: pa.table({"e": LISTS}),
    "pyarrow table of columns": lambda: pa.table({name: ROWS[:, i] for i, name in enumerate("xyz")}),
    "pyarrow batch": lambda: pa.RecordBatch.from_pydict({"e": FIXED}),
    "pyarrow stream": lambda: pa.RecordBatchReader.from_batches(
        pa.schema({"e": FIXED.type}), [pa.RecordBatch.from_pydict({"e": part}) for part in (FIXED[:3], FIXED[3:])]
    ),
    "polars lists": lambda: pl.Series(ROW_LISTS),
    "polars arrays": lambda: pl.Series(ROW_LISTS, dtype=pl.Array(pl.Float32, 3)),
    "polars chunks": lambda: pl.concat([pl.Series(ROW_LISTS[:5]), pl.Series(ROW_LISTS[5:])], rechunk=False),
    "polars frame": lambda: pl.DataFrame({"e": ROW_LISTS}),
    "polars frame of arrays": lambda: pl.DataFrame({"e": ROW_LISTS}, schema={"e": pl.Array(pl.Float32, 3)}),
    "polars frame of columns": lambda: pl.DataFrame(ROWS),
    "pandas arrays": lambda: pd.Series(list(ROWS)),
    "pandas lists": lambda: pd.Series(ROW_LISTS, index=list("hgfedcba")),
    "pandas tuples": lambda: pd.Series([tuple(row) for row in ROW_LISTS]),
    "pandas bfloat16": lambda: pd.Series(list(ROWS.astype(ml_dtypes.bfloat16))),
    "pandas arrow": lambda: pd.Series(LISTS, dtype=pd.ArrowDtype(LISTS.type)),
    "pandas frame": lambda: pd.DataFrame({"e": list(ROWS)}),
    "pandas frame of columns": lambda: pd.DataFrame(ROWS),
    "object array": lambda: np.array([*ROWS, None], dtype=object)[:-1],
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_of_lists_are_embeddings_alone_and_one_after_another(kind: str) -> None:
    assert_array_equal(plain(COLUMNS[kind](), "embeddings"), ROWS)
    assert dh.Task(COLUMNS[kind](), LABELS).profile.digest() == PROFILE.digest()
    if not kind.startswith(("pandas", "object")):
        twice = dh.Task([COLUMNS[kind](), ROWS], [LABELS, pa.array(LABELS)]).profile
        assert twice == dh.Task(np.tile(ROWS, (2, 1)), np.tile(LABELS, 2)).profile


@pytest.mark.parametrize("kind", [bool, np.uint8])
def test_binary_codes_in_lists_stay_codes(kind: Any) -> None:
    codes = (ROWS > 0) if kind is bool else np.packbits(ROWS > 0, axis=1)
    expected = dh.Task(codes, LABELS, distance="hamming").profile
    arrow = pa.array(codes.tolist(), pa.list_(pa.bool_() if kind is bool else pa.uint8()))
    for given_as in (arrow, pl.Series(arrow), pd.Series(list(codes))):
        assert dh.Task(given_as, LABELS, distance="hamming").profile == expected


@pytest.mark.parametrize("kind", [pa.array, pl.Series, pd.Series])
def test_lists_of_two_lengths_name_the_row(kind: Any) -> None:
    said = refusal(dh.Task, kind([[1.0, 2.0], [3.0, 4.0], [5.0], [6.0, 7.0]]), [0, 1, 0, 1])
    assert "row 2 has 1 " in said
    assert "row 0 has 2" in said


@pytest.mark.parametrize(
    ("end", "said"),
    [([3.0], "must hold lists of one length, but row 4 has 1 numbers and row 0 has 2"),
     (None, "must have no missing values, but row 4 has one")],
)  # fmt: skip
def test_rows_are_counted_over_all_chunks(end: Any, said: str) -> None:
    column = pa.chunked_array([pa.array([[1.0, 2.0]] * 3), pa.array([[1.0, 2.0], end])])
    assert refusal(dh.Task, column, [0] * 5) == f"embeddings {said}"


@pytest.mark.parametrize("kind", [pa.array, pl.Series, pd.Series, lambda column: pa.table({"e": column})])
@pytest.mark.parametrize("missing", ["a list", "a number"])
def test_what_is_missing_names_the_row(kind: Any, missing: str) -> None:
    column: list[Any] = [[1.0, 2.0], [3.0, 4.0], [6.0, 7.0]]
    column[1] = None if missing == "a list" else [3.0, None]
    said = refusal(dh.Task, kind(column), [0, 1, 0])
    assert said.startswith("embeddings must ")
    assert "row 1" in said


@pytest.mark.parametrize(
    "column",
    [
        pa.array([["a"], ["b"]]),
        pa.array([[[1.0]], [[2.0]]]),
        pa.array([{"a": [1.0]}, {"a": [2.0]}]).cast(pa.struct({"a": pa.list_(pa.string())})),
        pa.array([[("a", 1.0)], [("b", 2.0)]], pa.map_(pa.string(), pa.float32())),
        pl.Series([["a"], ["b"]]),
        pl.Series([[[1.0]], [[2.0]]]),
        pd.Series([["a"], ["b"]]),
        pd.Series([[[1.0]], [[2.0]]]),
    ],
)
def test_lists_of_something_else(column: Any) -> None:
    assert refusal(dh.Task, column, [0, 0]).startswith("embeddings must ")


@pytest.mark.parametrize("kind", [pa.table, pl.DataFrame, pd.DataFrame])
def test_lists_with_another_column_have_to_be_given_alone(kind: Any) -> None:
    frame = kind({"label": [0, 1, 0], "e": [[1.0, 2.0], [3.0, 4.0], [6.0, 7.0]]})
    assert refusal(dh.Task, frame, [0, 1, 0]).endswith("but column 'e' holds lists: give it alone")
    assert (
        dh.Task(frame["e"], frame["label"]).profile == dh.Task([[1.0, 2.0], [3.0, 4.0], [6.0, 7.0]], [0, 1, 0]).profile
    )


# Labels ---------------------------------------------------------------------------------------------------------------


TEXTS = [
    *(pa.array(LABELS.tolist(), kind) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    *(pa.chunked_array([LABELS[:5], LABELS[5:]], kind) for kind in (pa.string(), pa.large_string())),
    *(pa.array(LABELS.tolist(), kind).dictionary_encode() for kind in (pa.string(), pa.large_string())),
    pa.chunked_array([pa.array(part).dictionary_encode() for part in (LABELS[:5], LABELS[5:])]),
    *(pl.Series(LABELS, dtype=kind) for kind in (pl.String, pl.Categorical, pl.Enum(["a", "b", "c"]))),
    *(pd.Series(LABELS, dtype=kind) for kind in (None, "string", "category", object)),
]


@pytest.mark.parametrize("labels", TEXTS)
def test_labels_of_text_in_columns(labels: Any) -> None:
    assert dh.Task(ROWS, labels).profile == PROFILE
    assert dh.Task(ROWS, labels, ROWS, list(LABELS)).profile == dh.Task(ROWS, LABELS, ROWS, LABELS).profile


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64", "bool"])
def test_labels_of_numbers_in_columns(kind: str) -> None:
    labels = (np.arange(8) % 2).astype(kind)
    large = np.array([2**62, 2**62 + 1] * 4)  # which stay distinct
    for numbers in (labels, large) if kind == "int64" else (labels,):
        alone, against = dh.Task(ROWS, numbers).profile, dh.Task(ROWS, numbers, ROWS, numbers).profile
        series = pd.Series(numbers)
        for column in (pa.array(numbers), pl.Series(numbers), series, series.convert_dtypes()):
            assert dh.Task(ROWS, column).profile == alone
            assert dh.Task(ROWS, column, ROWS, numbers).profile == against


@pytest.mark.parametrize("values", [[1, 2, None, 1], ["a", None, None, "a"], [True, None, False, True]])
@pytest.mark.parametrize("kind", [pa.array, pl.Series, lambda column: pa.array(column).dictionary_encode()])
def test_a_missing_label_names_its_row(values: list[Any], kind: Any) -> None:
    said = f"labels must have no missing values, but row {values.index(None)} has one"
    assert refusal(dh.Task, ROWS[:4], kind(values)) == said


def test_columns_that_are_no_labels() -> None:
    for column in (pa.array([0.5] * 8), pl.Series([0.5] * 8), pa.array(ROW_LISTS), pd.Series(ROW_LISTS)):
        assert refusal(dh.Task, ROWS, column).startswith("labels must ")
    lacking = pa.DictionaryArray.from_arrays([0, 0, 1, 0], ["a", None])
    assert refusal(dh.Task, ROWS[:4], lacking) == "labels must have no missing values, but row 2 has one"
    unused = pa.DictionaryArray.from_arrays([0, 0, 2, 2], ["a", None, "b"])
    assert dh.Task(ROWS[:4], unused).profile == dh.Task(ROWS[:4], ["a", "a", "b", "b"]).profile


# Without pyarrow ------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)


@pytest.mark.usefixtures("no_pyarrow")
def test_polars_needs_no_pyarrow() -> None:
    for rows in (pl.DataFrame(ROWS), pl.Series(ROW_LISTS, dtype=pl.Array(pl.Float32, 3)), pl.Series(ROW_LISTS)):
        assert dh.Task(rows, pl.Series(LABELS)).profile == PROFILE
    assert refusal(dh.Task, ROWS, pl.Series([*LABELS[:7], None])).endswith("of type NoneType in row 7")


@pytest.mark.usefixtures("no_pyarrow")
def test_what_speaks_arrow_alone_needs_pyarrow() -> None:
    stream = type("Stream", (), {"__arrow_c_stream__": lambda self, requested_schema=None: None})()
    said = written.refusal(MissingPackageError, dh.Task, stream, LABELS)
    assert said.startswith("embeddings: reading Arrow needs pyarrow: pip install 'deadheat[fi")


def test_what_speaks_arrow_alone() -> None:
    class Stream:
        def __init__(self, column: Any) -> None:
            self._column = column

        def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
            return pa.chunked_array(self._column).__arrow_c_stream__(requested_schema)

    class Single:
        def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
            return FIXED.__arrow_c_array__(requested_schema)

    assert dh.Task(Stream([FIXED]), Stream([pa.array(LABELS)])).profile == dh.Task(Single(), LABELS).profile == PROFILE
    assert open_rows([Stream([FIXED[:3]]), Stream([FIXED[3:]])], "embeddings").shape == (8, 3)
    assert open_labels([Stream([pa.array(LABELS)])], "labels").tolist() == LABELS.tolist()
