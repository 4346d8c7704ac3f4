"""Values of every kind that an argument should not have, and ways to damage one that it may have.

A value is made anew for each call, since some can be used once: `JUNK` has a function that makes it, by its name.
"""

from __future__ import annotations

import contextlib
import copy
import datetime
import importlib.util
import math
import random
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

Maker = Callable[[], Any]


class BrokenError(Exception):
    """Raised by objects of this file."""


def _raises(*_: Any, **__: Any) -> Any:
    raise BrokenError("this object is broken")


def broken(*names: str, **others: Any) -> Any:
    """Return an object whose special methods `names` raise."""
    return type("Broken", (), dict.fromkeys(names, _raises) | others)()


class Answers(Executor):
    """An executor whose `submit` returns `future`, or raises."""

    def __init__(self, future: Callable[..., Any]) -> None:
        self.future = future

    def submit(self, *given: Any, **named: Any) -> Any:
        return self.future(*given, **named)


def done(result: Any, error: Exception | None = None) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_exception(error) if error else future.set_result(result)
    return future


def other_counts(work: Callable[..., Any], *given: Any) -> Future[Any]:
    """Answer with the counts of another number."""
    return done(work(*given[:-1], given[-1] + 1))


def shut_down() -> Executor:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    return executor


EXECUTORS: dict[str, Maker] = {
    "answers None": lambda: Answers(lambda *_: None), "futures of None": lambda: Answers(lambda *_: done(None)),
    "futures of a number": lambda: Answers(lambda *_: done(3)), "futures of {}": lambda: Answers(lambda *_: done({})),
    "futures of text": lambda: Answers(lambda *_: done({"0.queries": "x", "0.closer": None})),
    "futures that fail": lambda: Answers(lambda *_: done(None, BrokenError("a task"))),
    "other counts": lambda: Answers(other_counts), "submit raises": lambda: Answers(_raises), "shut down": shut_down,
    "makes None": lambda: lambda: None, "makes one shut down": lambda: shut_down, "makes nothing": lambda: _raises,
}  # fmt: skip


def recursive() -> list[Any]:
    values: list[Any] = [1]
    values.append(values)
    return values


def recursive_dict() -> dict[str, Any]:
    values: dict[str, Any] = {}
    values["a"] = values
    return values


def deep(n: int = 5000) -> list[Any]:
    values: list[Any] = []
    for _ in range(n):
        values = [values]
    return values


def failing() -> Iterator[int]:
    yield 1
    raise BrokenError("this generator is broken")


SCALARS: dict[str, Maker] = {
    repr(value)[:40]: (lambda value=value: value)
    for value in (
        None, True, False, 0, 1, 2, 3, 7, -1, -3, 255, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 2**70, -(2**63),
        -(2**70), 10**400, 0.0, -0.0, 0.5, 1.0, 2.5, -1.0, 1e308, -1e308, 5e-324, 1e-300, math.nan, math.inf, -math.inf,
        1j, Fraction(1, 3), Fraction(10**400, 3), Decimal("0.1"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"),
        np.float16(0.5), np.float32(0.5), np.float64(math.nan), np.longdouble(0.5), np.int8(-1), np.uint64(2**64 - 1),
        np.complex64(1j), np.bool_(True), np.str_("x"), np.bytes_(b"x"), np.datetime64("2020-01-01"),
        np.datetime64("NaT"), np.timedelta64(1, "D"), np.void(b"abc"), datetime.date(2020, 1, 1),
        datetime.datetime(2020, 1, 1), datetime.timedelta(1), NotImplemented, ..., slice(None), slice("a", None, 0),
        range(3), range(10**12), object, int, dict, len, math, np, random, b"", b"x", b"\xff\xfe", bytearray(b"xyz"),
    )
}  # fmt: skip
STRINGS: dict[str, Maker] = {
    repr(value)[:40]: (lambda value=value: value)
    for value in (
        "", " ", "\0", "a\0b", "\n", "\r\n", "x", "a b", "0", "1", "-1", "no", "nan", "1e999", "\udcff", "a\ud800.npy",
        "\x1b[2J", "\u202eabc", "é", "e\u0301", "日本", "😀", "x" * 100_000, "mAP " * 3000, "a," * 300, "%s%n{0}", "..",
        "mAP", "mAP@0", "mAP@-1", "mAP@1e9", "mAP@99999999999999999999", "Hit@1", "Hit@1.5", "nDCG@10", "AP(rel=nan)",
        "mAP(rel=", "std", "cosine", "hamming", "exact", "float16", "float64", "descending", "lower", "query", "class",
        "skip", "zero", "percentile", "bca", "two-sided", "int8", "mAP-", "median", "cuda", "cpu", "cuda:99", "meta",
        "s3://bucket/x.npy", "http://", "file://x", "*.npy", "[", "nowhere/at-all.npy", "nowhere.npz", "nowhere.csv",
    )
}  # fmt: skip
CONTAINERS: dict[str, Maker] = {
    repr(value)[:60]: (lambda value=value: copy.deepcopy(value))
    for value in (
        [], (), {}, set(), frozenset({1}), {1, 2}, {None, "a", 1}, [None], ["x"], ["x", 1, None, 0.5], [True] * 8,
        [[1, 2], [3]], [[[1], 2], [3, [4, 5]]], [[]], [[[]]], [set()] * 8, [{1}, {"a"}, {None}, set()] * 2, [[1]] * 8,
        [{}] * 8, [2**70] * 8, [0.1] * 8, list(range(8)), [-1] * 8, [math.nan] * 8, [10**400] * 8, [Fraction(1, 3)] * 8,
        ["a"] * 8, [b"a"] * 8, ["\udcff"] * 8, {"a": {"b": {"c": 1}}}, {"a": 1}, {1: 2}, {None: None}, {"a": None},
        {"\udcff": 1}, {(1,): 1}, {1: {2: 3}}, {"q": 5}, {"q": {}}, {"q": []}, {"q": {"": 1}}, {"q": {1: 1}},
        {"q": {"\udcff": 1.0}}, *({"q": {"a": grade}} for grade in (True, 0.5, math.nan, 10**400, "x")), range(10**4),
        list(range(100_000)), ["x" * 10_000] * 100,
    )
} | {
    "recursive": recursive, "recursive dict": recursive_dict, "deep": deep, "thousands of digits": lambda: 10**5000,
    "iterator": lambda: iter([1, 2]), "generator": lambda: (i for i in range(3)), "map": lambda: map(str, [1]),
    "failing generator": failing, "zip": lambda: zip([1], [2], strict=True), "dict view": lambda: {"a": 1}.keys(),
}  # fmt: skip
OBJECTS: dict[str, Maker] = {
    "object": object, "repr raises": lambda: broken("__repr__"), "str raises": lambda: broken("__str__"),
    "repr and len raise": lambda: broken("__repr__", "__len__", "__getitem__", "__iter__"),
    "len raises": lambda: broken("__len__", __getitem__=lambda self, index: 1),
    "iter raises": lambda: broken("__iter__"), "array raises": lambda: broken("__array__"),
    "array is text": lambda: broken(__array__=lambda self, *given, **options: "no array"),
    "array is None": lambda: broken(__array__=lambda self, *given, **options: None),
    "array interface": lambda: broken(__array_interface__={"shape": (2**40,), "typestr": "<f8", "version": 3}),
    "dlpack raises": lambda: broken("__dlpack__", "__dlpack_device__"),
    "cuda": lambda: broken(__cuda_array_interface__={"shape": (2,), "typestr": "<f8", "data": (0, True), "version": 3}),
    "arrow raises": lambda: broken("__arrow_c_stream__"),
    "index raises": lambda: broken("__index__", "__float__", "__int__"),
    "float is nan": lambda: broken(__float__=lambda self: math.nan), "bool raises": lambda: broken("__bool__"),
    "hash raises": lambda: broken("__hash__"), "eq raises": lambda: broken("__eq__"),
    "fspath raises": lambda: broken("__fspath__"), "fspath is int": lambda: broken(__fspath__=lambda self: 3),
    "call raises": lambda: broken("__call__"),
    "negative len": lambda: broken(__len__=lambda self: -1, __getitem__=lambda self, index: [1, 2][index]),
    "huge len": lambda: broken(__len__=lambda self: 2**62, __getitem__=lambda self, index: [1, 2][index]),
    "frame without columns": lambda: broken(columns=None, __array__=lambda self, *_, **__: np.zeros((2, 2))),
    "str with repr": lambda: type("Str", (str,), {"__repr__": _raises})("mAP"),
    "int with repr": lambda: type("Int", (int,), {"__repr__": _raises})(3),
    "dict with repr": lambda: type("Dict", (dict,), {"__repr__": _raises})(a=1),
    "exception": lambda: BrokenError("x"), "exception class": lambda: BrokenError, "function": lambda: failing,
    "lambda": lambda: lambda *given: given, "memoryview": lambda: memoryview(b"abcd"),
    "memoryview 2-D": lambda: memoryview(np.arange(6.0).reshape(3, 2)),
    "memoryview cast": lambda: memoryview(bytes(48)).cast("d", (3, 2)),
    "released memoryview": lambda: (lambda view: (view.release(), view)[1])(memoryview(b"x")),
}  # fmt: skip
PATHS: dict[str, Maker] = {
    "directory": lambda: ".", "Path()": Path, "Path('nowhere')": lambda: Path("nowhere"),
    "Path(surrogate)": lambda: Path("\udcff.npy"), "long path": lambda: Path("x" * 5000),
    "deep path": lambda: "x/" * 3000, "text": lambda: written("junk.txt", b"not numbers\n"),
    "empty.npy": lambda: written("empty.npy", b""), "junk.npz": lambda: written("junk.npz", bytes(range(256))),
    "junk.csv": lambda: written("junk.csv", b"a,b\n1\n\xff"),
    "junk.json": lambda: written("junk.json", b'{"a": [1, {}]}'), "directory.npy": lambda: directory("folder.npy"),
    "file as directory": lambda: written("junk.txt", b"x") + "/inside.npy",
}  # fmt: skip


def written(name: str, content: bytes) -> str:
    Path(name).write_bytes(content)
    return name


def directory(name: str) -> str:
    Path(name).mkdir(exist_ok=True)
    return name


_DTYPES = [*"?gO", *(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)), "f2", "f4", "f8", "c8", "c16"]
_DTYPES += [">f8", ">i4", "S3", "U3", "M8[D]", "m8[s]", "V4"]
ARRAYS: dict[str, Maker] = {
    **{f"{dtype} {n}": (lambda dtype=dtype, n=n: np.zeros(n, dtype)) for dtype in _DTYPES for n in (0, 3, 8)},
    **{f"{dtype} (8, 2)": (lambda dtype=dtype: np.ones((8, 2), dtype)) for dtype in _DTYPES},
    **{
        f"f8 {shape}": (lambda shape=shape: np.zeros(shape))
        for shape in ((), (0, 2), (2, 0), (0, 0), (1, 1), (2, 3), (8, 1), (8, 8), (1, 1, 1), (2, 2, 2), (0, 2, 2))
    }, "structured": lambda: np.zeros(8, dtype=[("x", int), ("y", float)]),
    "record": lambda: np.rec.fromarrays([np.zeros(8), np.ones(8)], names="a,b"),
    "masked": lambda: np.ma.masked_array(np.arange(8.0), np.arange(8) % 2 == 0),
    "masked (8, 2)": lambda: np.ma.masked_array(np.ones((8, 2)), np.eye(8, 2, dtype=bool)),
    "np.ma.masked": lambda: np.ma.masked, "recarray": lambda: np.ones((8, 2)).view(np.recarray),
    "objects": lambda: np.array([None, 1, "a", [], {}, 2**70, 0.5, object()], dtype=object),
    "object 0-d": lambda: np.array(None, dtype=object),
    "lists": lambda: np.array([[1], [1, 2], [3]] * 2 + [None, 4], dtype=object),
    "object matrix": lambda: np.full((8, 2), None),
    "recursive array": lambda: (lambda array: (array.__setitem__(0, array), array)[1])(np.empty(8, dtype=object)),
    "nan": lambda: np.full(8, math.nan), "nan (8, 2)": lambda: np.full((8, 2), math.nan),
    "inf (8, 2)": lambda: np.full((8, 2), math.inf), "1e308 (8, 2)": lambda: np.full((8, 2), 1e308),
    "subnormal (8, 2)": lambda: np.full((8, 2), 5e-324), "f2 65504": lambda: np.full((8, 2), 65504, dtype=np.float16),
    "negative ints": lambda: -np.arange(8), "large ints": lambda: np.full((8, 2), 2**62),
    "u8 large": lambda: np.arange(8, dtype=np.uint64) + np.uint64(2**63),
    "negative strides": lambda: np.arange(16.0).reshape(8, 2)[::-1, ::-1],
    "read only": lambda: (lambda array: (array.setflags(write=False), array)[1])(np.arange(16.0).reshape(8, 2)),
    "strings with NUL": lambda: np.array(["a\0b", "\udcff"] * 4),
    "dates": lambda: np.array(["2020-01-01", "NaT"] * 4, dtype="M8[s]"),
    "string dtype": lambda: np.array(["a"] * 8, dtype=np.dtypes.StringDType()),
}  # fmt: skip


_FORMATS = ("csr", "csc", "coo", "dok", "lil", "bsr", "dia")


def _with_scipy() -> dict[str, Maker]:
    from scipy import sparse

    def damaged(**parts: Any) -> Any:
        matrix = sparse.csr_matrix(np.eye(8, 3))
        for name, value in parts.items():
            vars(matrix)[name] = value
        return matrix

    return {
        **{f"{kind} sparse": (lambda kind=kind: sparse.eye(8, 2, format=kind)) for kind in _FORMATS},
        "sparse array": lambda: sparse.csr_array(np.eye(8, 2)), "sparse 1-d": lambda: sparse.coo_array(np.ones(8)),
        "sparse of bool": lambda: sparse.csr_array(np.eye(8, 4, dtype=bool)),
        "sparse of complex": lambda: sparse.csr_array(np.eye(8, 2) * 1j),
        "sparse of objects": lambda: damaged(data=np.array([1, None, "a"], dtype=object)),
        "sparse of nan": lambda: sparse.csr_matrix(np.full((8, 2), math.nan)),
        "sparse empty": lambda: sparse.csr_matrix((0, 5)),
        "sparse without columns": lambda: sparse.csr_matrix((8, 0)),
        "sparse huge": lambda: sparse.coo_matrix((12, 2**62)),
        "sparse tall": lambda: sparse.coo_matrix(([1.0], ([0], [0])), shape=(2**62, 2)),
        "sparse negative column": lambda: damaged(indices=np.array([0, -1, 2], dtype=np.int32)),
        "sparse column outside": lambda: damaged(indices=np.array([0, 10**6, 2], dtype=np.int32)),
        "sparse indptr": lambda: damaged(indptr=np.array([0, 3, 1, 9, 9, 9, 9, 9, 9], dtype=np.int32)),
        "sparse indptr short": lambda: damaged(indptr=np.array([0, 1], dtype=np.int32)),
        "sparse indptr large": lambda: damaged(indptr=np.full(9, 2**40)),
        "sparse indptr negative": lambda: damaged(indptr=np.array([0, 1, 2, 3, 3, 3, 3, 3, -3], dtype=np.int32)),
        "sparse indptr floats": lambda: damaged(indptr=np.zeros(9)),
        "sparse data short": lambda: damaged(data=np.ones(1)), "sparse data None": lambda: damaged(data=None),
        "sparse data text": lambda: damaged(data=np.array(["a"] * 3)),
        "sparse data 2-D": lambda: damaged(data=np.ones((3, 1))), "sparse shape": lambda: damaged(_shape=(8, 2**50)),
    }  # fmt: skip


def _with_pandas() -> dict[str, Maker]:
    import pandas as pd

    return {
        "frame": lambda: pd.DataFrame({"a": range(8), "b": 0.5}),
        "frame of text": lambda: pd.DataFrame({"a": ["x"] * 8, "b": [None] * 8}),
        "frame of lists": lambda: pd.DataFrame({"a": [[1, 2]] * 7 + [[1]]}), "frame empty": pd.DataFrame,
        "frame twice": lambda: pd.DataFrame([[1, 2]] * 8, columns=["a", "a"]),
        "frame of NA": lambda: pd.DataFrame({"a": pd.array([1, None] * 4, dtype="Int64")}),
        "frame of dates": lambda: pd.DataFrame({"a": pd.date_range("2020", periods=8)}),
        "series": lambda: pd.Series(range(8)), "series of NA": lambda: pd.Series([1, None] * 4, dtype="Int64"),
        "series of categories": lambda: pd.Series(["a", "b"] * 4, dtype="category"),
        "series of objects": lambda: pd.Series([1, "a", None, []] * 2), "NaT": lambda: pd.NaT, "NA": lambda: pd.NA,
        "index": lambda: pd.Index(["a"] * 8),
    }  # fmt: skip


def _with_polars() -> dict[str, Maker]:
    import polars as pl

    return {
        "polars": lambda: pl.DataFrame({"a": range(8), "b": [0.5] * 8}),
        "polars of text": lambda: pl.DataFrame({"a": ["x"] * 8}),
        "polars of lists": lambda: pl.DataFrame({"a": [[1, 2]] * 7 + [[1]]}),
        "polars of nulls": lambda: pl.DataFrame({"a": [None] * 8}),
        "polars of objects": lambda: pl.DataFrame({"a": [object()] * 8}),
        "polars of structs": lambda: pl.DataFrame({"a": [{"b": 1}] * 8}), "polars empty": pl.DataFrame,
        "polars lazy": lambda: pl.LazyFrame({"a": range(8)}), "polars series": lambda: pl.Series([1, None] * 4),
        "polars dates": lambda: pl.Series([datetime.date(2020, 1, 1)] * 8),
        "polars objects": lambda: pl.Series([object()] * 8),
        "polars categories": lambda: pl.Series(["a", "b"] * 4, dtype=pl.Categorical),
        "polars expression": lambda: pl.col("a"),
    }  # fmt: skip


def _with_pyarrow() -> dict[str, Maker]:
    import pyarrow as pa

    return {
        "arrow": lambda: pa.array(range(8)), "arrow nulls": lambda: pa.nulls(8),
        "arrow lists": lambda: pa.array([[1.0, 2.0]] * 7 + [None]), "arrow structs": lambda: pa.array([{"a": 1}] * 8),
        "arrow dictionary": lambda: pa.array(["a", None] * 4).dictionary_encode(),
        "arrow table": lambda: pa.table({"a": range(8), "b": ["x"] * 8}),
        "arrow table without columns": lambda: pa.table({}),
        "arrow table twice": lambda: pa.table([pa.array(range(8))] * 2, names=["a", "a"]),
        "arrow scalar": lambda: pa.scalar(1),
        "arrow maps": lambda: pa.array([[("a", 1)]] * 8, type=pa.map_(pa.string(), pa.int64())),
        "arrow decimals": lambda: pa.array([Decimal("0.1")] * 8),
        "arrow reader": lambda: pa.table({"a": range(8)}).to_reader(),
    }  # fmt: skip


def _with_torch() -> dict[str, Maker]:
    import torch

    def quantized() -> Any:
        return torch.quantize_per_tensor(torch.ones(8, 2), 0.1, 0, torch.qint8)

    return {
        "tensor": lambda: torch.ones(8, 2), "tensor grad": lambda: torch.ones(8, 2, requires_grad=True),
        "tensor result": lambda: torch.ones(8, 2, requires_grad=True) * 2,
        "tensor scalar": lambda: torch.tensor(1.0, requires_grad=True),
        "tensor conj": lambda: torch.ones(8, 2, dtype=torch.complex64).conj(),
        "tensor conj imag": lambda: torch.ones(8, 2, dtype=torch.complex64).conj().imag,
        "tensor bfloat16": lambda: torch.ones(8, 2, dtype=torch.bfloat16),
        "tensor float8": lambda: torch.ones(8, 2).to(torch.float8_e4m3fn),
        "tensor bool": lambda: torch.ones(8, dtype=torch.bool),
        "tensor uint16": lambda: torch.ones(8, 2, dtype=torch.uint16),
        "tensor meta": lambda: torch.ones(8, 2, device="meta"), "tensor sparse": lambda: torch.eye(8, 2).to_sparse(),
        "tensor sparse csr": lambda: torch.eye(8, 2).to_sparse_csr(),
        "tensor sparse grad": lambda: torch.eye(8, 2, requires_grad=True).to_sparse(),
        "tensor sparse complex": lambda: torch.eye(8, 2, dtype=torch.complex64).to_sparse().conj(),
        "tensor sparse hybrid": lambda: torch.ones(8, 2).to_sparse(1), "tensor quantized": quantized,
        "tensor nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        "tensor empty": lambda: torch.empty(0, 2),
        "tensors with grad": lambda: [torch.ones(2, requires_grad=True)] * 8,
        "tensors conj": lambda: [torch.ones(2, dtype=torch.complex64).conj()] * 8,
        "torch.dtype": lambda: torch.float32, "torch.device": lambda: torch.device("meta"),
    }  # fmt: skip


def _with_matplotlib() -> dict[str, Maker]:
    from matplotlib.figure import Figure

    def axes(**options: Any) -> Any:
        return Figure().subplots(**options)

    def removed() -> Any:
        ax = axes()
        ax.remove()
        return ax

    def filled() -> Any:
        ax = axes()
        ax.plot([1, 2], [3, 4], label="a")
        ax.set(xlim=(5, 5.5), title="a")
        return ax

    return {
        "axes": axes, "axes of a grid": lambda: axes(nrows=2)[0], "array of axes": lambda: axes(nrows=2),
        "polar axes": lambda: axes(subplot_kw={"projection": "polar"}),
        "3-D axes": lambda: axes(subplot_kw={"projection": "3d"}),
        "placed axes": lambda: Figure().add_axes((0.1, 0.1, 0.01, 0.01)),
        "inset axes": lambda: axes().inset_axes((0.5, 0.5, 0.4, 0.4)), "axes of two scales": lambda: axes().twinx(),
        "axes of a subfigure": lambda: Figure().subfigures().subplots(), "axes removed": removed,
        "axes with a plot": filled, "figure": Figure, "subfigure": lambda: Figure().subfigures(),
        "small figure": lambda: Figure(figsize=(0.5, 0.5)).subplots(), "line": lambda: axes().plot([1, 2])[0],
    }  # fmt: skip


_LIBRARIES = {
    "matplotlib": _with_matplotlib, "scipy": _with_scipy, "pandas": _with_pandas, "polars": _with_polars,
    "pyarrow": _with_pyarrow, "torch": _with_torch,
}  # fmt: skip


def catalogue(libraries: set[str]) -> dict[str, dict[str, Maker]]:
    """Return the makers of junk by kind, with those of `libraries` that are installed."""
    kinds = {
        "scalars": SCALARS, "strings": STRINGS, "containers": CONTAINERS, "objects": OBJECTS, "paths": PATHS,
        "arrays": ARRAYS, "executors": EXECUTORS,
    }  # fmt: skip
    there = [name for name in _LIBRARIES if name in libraries and importlib.util.find_spec(name) is not None]
    return kinds | {name: _LIBRARIES[name]() for name in there}


def damaged(value: Any, draw: random.Random, junk: Callable[[], Any], depth: int = 0) -> Any:
    """Return a copy of a good value with one thing wrong: an entry less, an entry more, another entry, another form."""
    if depth > 3:
        return junk()
    if isinstance(value, np.ndarray):
        return draw.choice(_ways_to_damage(value, draw, junk))()
    if isinstance(value, (list, tuple)) and value:
        entries, i = list(value), draw.randrange(len(value))

        def put(*new: Any) -> list[Any]:
            return [*entries[:i], *new, *entries[i + 1 :]]

        changed = draw.choice([
            put, lambda: put(entries[i], entries[i]), lambda: put(junk()), lambda: entries[::-1], lambda: [entries],
            lambda: put(damaged(entries[i], draw, junk, depth + 1)),
        ])()  # fmt: skip
        return type(value)(changed) if type(value) in (list, tuple) else changed
    if isinstance(value, dict) and value:
        key, renamed = draw.choice(list(value)), dict(value)
        with contextlib.suppress(Exception):  # it cannot be hashed
            renamed[junk()] = renamed.pop(key)
        return draw.choice([
            lambda: {name: value[name] for name in value if name != key}, lambda: value | {key: junk()},
            lambda: renamed, lambda: [*value.items()],
            lambda: value | {key: damaged(value[key], draw, junk, depth + 1)},
        ])()  # fmt: skip
    if isinstance(value, str):
        return draw.choice([value + "x", value.upper(), value[:-1], f" {value}", value.encode(), [value], value + "\0"])
    if isinstance(value, bool):
        return draw.choice(["no", 1, 0, None, np.bool_(value), [value]])
    if isinstance(value, (int, float)):
        return draw.choice([-value, value + 1, value * 1000, float(value), str(value), [value], value + 0.5, 0])
    return copy.copy(value) if draw.random() < 0.1 else [value]


def _ways_to_damage(array: Any, draw: random.Random, junk: Callable[[], Any]) -> list[Callable[[], Any]]:
    def with_entry(dtype: Any, entries: list[Any]) -> Any:
        if not array.size:
            return array[None]
        changed = array.astype(dtype)
        changed.flat[draw.randrange(array.size)] = draw.choice(entries)
        return changed if draw.random() < 0.7 else changed.tolist()

    objects, numbers = [None, "x", math.nan, 2**70, [1], -1, 0.5, set()], [math.nan, math.inf, -1.0, 1e308, 2.0**60]
    is_number = array.dtype.kind in "fiu"
    return [
        lambda: array[:-1], lambda: array[:0], array.T.copy, lambda: array[None], array.tolist, lambda: list(array),
        lambda: array.astype(draw.choice(["f2", "f4", "i1", "u1", "?", "U8", "O", "c8", ">f8", "g"])),
        lambda: with_entry(object, objects), lambda: with_entry(float, numbers) if is_number else array.ravel(),
        lambda: np.concatenate([array, array]), lambda: {"a": array}, lambda: (array, junk()),
        lambda: memoryview(np.ascontiguousarray(array)) if is_number else array.ravel(),
    ]  # fmt: skip
