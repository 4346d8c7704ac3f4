"""The compiled loops of deadheat; what calls them documents them."""

from collections.abc import Callable, Sequence
from typing import overload

import numpy
from numpy.typing import NDArray

def instruction_set() -> str: ...
def set_float_mode(mode: int | None = None) -> int: ...
def digits(values: NDArray[numpy.float64]) -> tuple[int, bool, int, int, int]: ...

LEVELS: int

@overload
def level_masks(raw: NDArray[numpy.float32], masks: NDArray[numpy.uint64], values: NDArray[numpy.float64]) -> None: ...
@overload
def level_masks(raw: NDArray[numpy.float64], masks: NDArray[numpy.uint64], values: NDArray[numpy.float64]) -> None: ...
@overload
def tangents(
    raw: NDArray[numpy.float32],
    centre: NDArray[numpy.float64],
    out: NDArray[numpy.float64],
    spread: NDArray[numpy.float64],
) -> None: ...
@overload
def tangents(
    raw: NDArray[numpy.float64],
    centre: NDArray[numpy.float64],
    out: NDArray[numpy.float64],
    spread: NDArray[numpy.float64],
) -> None: ...
@overload
def hash_rows(raw: NDArray[numpy.float32], directions: bool, threads: int = 1) -> NDArray[numpy.uint64]: ...
@overload
def hash_rows(raw: NDArray[numpy.float64], directions: bool, threads: int = 1) -> NDArray[numpy.uint64]: ...
@overload
def same_rows(raw: NDArray[numpy.float32], other: NDArray[numpy.float32], directions: bool) -> NDArray[numpy.bool_]: ...
@overload
def same_rows(raw: NDArray[numpy.float64], other: NDArray[numpy.float64], directions: bool) -> NDArray[numpy.bool_]: ...
@overload
def row_sums(raw: NDArray[numpy.float32], scale: float, threads: int = 1) -> NDArray[numpy.float64]: ...
@overload
def row_sums(raw: NDArray[numpy.float64], scale: float, threads: int = 1) -> NDArray[numpy.float64]: ...
@overload
def row_extremes(raw: NDArray[numpy.float32], out: NDArray[numpy.float32], threads: int = 1) -> None: ...
@overload
def row_extremes(raw: NDArray[numpy.float64], out: NDArray[numpy.float64], threads: int = 1) -> None: ...
@overload
def integer_units(raw: NDArray[numpy.float32], units: NDArray[numpy.float64], limit: float) -> float: ...
@overload
def integer_units(raw: NDArray[numpy.float64], units: NDArray[numpy.float64], limit: float) -> float: ...
@overload
def take_rows(
    raw: NDArray[numpy.float32],
    index: NDArray[numpy.int64],
    factor: NDArray[numpy.float64],
    divide: bool,
    out: NDArray[numpy.float32],
) -> None: ...
@overload
def take_rows(
    raw: NDArray[numpy.float32],
    index: NDArray[numpy.int64],
    factor: NDArray[numpy.float64],
    divide: bool,
    out: NDArray[numpy.float64],
) -> None: ...
@overload
def take_rows(
    raw: NDArray[numpy.float64],
    index: NDArray[numpy.int64],
    factor: NDArray[numpy.float64],
    divide: bool,
    out: NDArray[numpy.float32],
) -> None: ...
@overload
def take_rows(
    raw: NDArray[numpy.float64],
    index: NDArray[numpy.int64],
    factor: NDArray[numpy.float64],
    divide: bool,
    out: NDArray[numpy.float64],
) -> None: ...
def compensated_dots(left: NDArray[numpy.float64], right: NDArray[numpy.float64]) -> NDArray[numpy.float64]: ...
def product_roundings(dim: int, chunk: int) -> int: ...
def read_rows(
    file: int, begin: int, rows: NDArray[numpy.int64], places: NDArray[numpy.int64], out: NDArray[numpy.uint8]
) -> int: ...
def find_fields(
    text: NDArray[numpy.uint8],
    form: tuple[int, int, bool, bool],
    places: NDArray[numpy.int64],
    numbers: NDArray[numpy.float64],
    firsts: NDArray[numpy.int64],
) -> tuple[int, int]: ...
def average_precisions(
    queries: tuple[int, int], groups: tuple[NDArray[numpy.int64], ...], cutoff: int, out: NDArray[numpy.float64]
) -> None: ...
def precision_variances(
    closer: NDArray[numpy.int64],
    closer_relevant: NDArray[numpy.int64],
    tied: NDArray[numpy.int64],
    tied_relevant: NDArray[numpy.int64],
    slots: NDArray[numpy.int64],
    out: NDArray[numpy.float64],
) -> None: ...
def hits(
    queries: tuple[int, int],
    groups: tuple[NDArray[numpy.int64], ...],
    cutoff: int,
    ratio: tuple[float, float, float],
    out: NDArray[numpy.float64],
) -> None: ...
def first_hits(
    queries: tuple[int, int],
    groups: tuple[NDArray[numpy.int64], ...],
    cutoff: int,
    reciprocal: bool,
    out: NDArray[numpy.float64],
) -> None: ...
def inverse_penalties(
    queries: tuple[int, int], groups: tuple[NDArray[numpy.int64], ...], out: NDArray[numpy.float64]
) -> None: ...
def slot_expectations(
    groups: tuple[NDArray[numpy.int64], ...],
    function: tuple[int, bool, bool],
    shift: NDArray[numpy.float64],
    out: NDArray[numpy.float64],
) -> None: ...
def reciprocal_moments(
    closer: NDArray[numpy.int64],
    size: NDArray[numpy.int64],
    slots: NDArray[numpy.int64],
    mean: NDArray[numpy.float64],
    variance: NDArray[numpy.float64],
) -> None: ...
def fill_discounts(first: int, last: int, table: tuple[NDArray[numpy.float64], ...]) -> None: ...
def discounted_gains(
    queries: tuple[int, int],
    groups: tuple[NDArray[numpy.int64], ...],
    cutoff: int,
    grades: tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64]],
    table: tuple[NDArray[numpy.float64], ...],
    out: NDArray[numpy.float64],
) -> None: ...
def ideal_gains(
    relevant: NDArray[numpy.int64],
    gains: NDArray[numpy.float64],
    cutoff: NDArray[numpy.int64],
    table: tuple[NDArray[numpy.float64], ...],
    out: NDArray[numpy.float64],
) -> None: ...
def discount_spreads(
    closer: NDArray[numpy.int64],
    tied: NDArray[numpy.int64],
    slots: NDArray[numpy.int64],
    discount: NDArray[numpy.float64],
    out: NDArray[numpy.float64],
) -> None: ...
def areas(queries: tuple[int, int], groups: tuple[NDArray[numpy.int64], ...], out: NDArray[numpy.float64]) -> None: ...
def arrange(
    samples: NDArray[numpy.int64],
    links: tuple[NDArray[numpy.int64], NDArray[numpy.int32]],
    place: NDArray[numpy.int64],
    items: NDArray[numpy.int32],
) -> None: ...
def improve(
    state: tuple[
        NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int64]
    ],
    mixed: tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int32]],
    links: tuple[NDArray[numpy.int64], NDArray[numpy.int32]],
    sum: tuple[
        int,
        NDArray[numpy.float64],
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        NDArray[numpy.float64],
    ],
    turns: NDArray[numpy.int64],
    runs: bool,
) -> int: ...
def expand(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.int64],
    arg2: tuple[NDArray[numpy.int64], ...],
    arg3: tuple[NDArray[numpy.int64], ...],
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.int64],
    /,
) -> None: ...
def pack_groups(
    arg0: tuple[object, ...],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.int64],
    /,
) -> None: ...
def unpack_groups(
    arg0: tuple[object, ...], arg1: NDArray[numpy.int64], arg2: Sequence[NDArray[numpy.int64]], /
) -> None: ...
def rank_group(
    arg0: NDArray[numpy.float64],
    arg1: NDArray[numpy.float64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.int64],
    /,
) -> int: ...

class LabelledItems:
    def __init__(self, codes: NDArray[numpy.uint64], labels: NDArray[numpy.uint64], one: bool) -> None: ...
    def histograms(
        self, codes: NDArray[numpy.uint64], labels: NDArray[numpy.uint64], n_level: int, out: NDArray[numpy.int32]
    ) -> None: ...

def count_groups(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int64],
    arg3: tuple[NDArray[numpy.int64], ...],
    /,
) -> int: ...

class Roots:
    def __init__(self, values: NDArray[numpy.float64]) -> None: ...
    def __len__(self) -> int: ...
    def add(self, others: Roots) -> None: ...
    def compare(
        self, mine: NDArray[numpy.int64], others: Roots, yours: NDArray[numpy.int64], out: NDArray[numpy.int8]
    ) -> None: ...
    def compare_shifted(
        self,
        mine: NDArray[numpy.int64],
        others: Roots,
        yours: NDArray[numpy.int64],
        shift: float,
        out: NDArray[numpy.int8],
    ) -> None: ...
    def compare_values(
        self,
        mine: NDArray[numpy.int64],
        values: NDArray[numpy.float64],
        sign: float,
        shift: float,
        out: NDArray[numpy.int8],
    ) -> None: ...
    def square(self, arg: int, /) -> tuple[object, ...]: ...

class Scores:
    def __init__(self, description: object) -> None: ...
    def pair_scores(self, queries: NDArray[numpy.int64], columns: NDArray[numpy.int64]) -> NDArray[numpy.float64]: ...
    def pair_bounds(
        self, queries: NDArray[numpy.int64], columns: NDArray[numpy.int64], scores: NDArray[numpy.float64]
    ) -> NDArray[numpy.float64]: ...
    def tile(self, level: int, queries: NDArray[numpy.int64], columns: NDArray[numpy.int64]) -> object: ...
    def errors(self, level: int, queries: NDArray[numpy.int64], band: int) -> NDArray[numpy.float64]: ...

class ExactPairs:
    def __init__(self, kind: str, query: object, item: object, without: str = "") -> None: ...
    def closeness(self, queries: NDArray[numpy.int64], items: NDArray[numpy.int64]) -> Roots: ...

def group_exactly(
    scores: Scores,
    exact: object | None,
    queries: NDArray[numpy.int64],
    entries: tuple[
        NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64]
    ],
) -> object: ...

class Blocks:
    def __getitem__(self, place: int) -> Block: ...
    def collect(self, all: bool, groups: tuple[object, ...]) -> None: ...

class Block:
    @property
    def queries(self) -> object: ...
    @property
    def n_counter(self) -> int: ...
    @property
    def excluded(self) -> NDArray[numpy.int32]: ...
    def edges(self, counter: int, level: int, band: int) -> tuple[object, ...]: ...
    def add(self, counter: int, counts: NDArray[numpy.int32]) -> None: ...
    def place(
        self,
        counter: int,
        rows: NDArray[numpy.int64],
        columns: NDArray[numpy.int64],
        scores: NDArray[numpy.float64],
        guess: NDArray[numpy.int64],
    ) -> None: ...

def start_record(threads: int) -> None: ...
def stop_record() -> NDArray[numpy.float64]: ...

class Pass:
    def __init__(self, description: object) -> None: ...
    @property
    def done(self) -> int: ...
    @done.setter
    def done(self, arg: int, /) -> None: ...
    def count(
        self, shards: list[object], all: bool, groups: tuple[object, ...], threads: int, poll: Callable[[int], None]
    ) -> None: ...
    def stream(
        self,
        queries: dict[int, object],
        ranges: object,
        groups: tuple[object, ...],
        threads: int,
        poll: Callable[[int], None],
    ) -> None: ...
    def sort(
        self,
        queries: dict[int, object],
        ranges: object,
        groups: tuple[object, ...],
        threads: int,
        poll: Callable[[int], None],
    ) -> None: ...
    def relevant_items(self, queries: NDArray[numpy.int64]) -> tuple[object, ...]: ...
    def make(self, queries: dict[int, object], threads: int, poll: Callable[[int], None]) -> Blocks: ...
