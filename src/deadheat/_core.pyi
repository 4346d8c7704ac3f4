"""The compiled loops of deadheat; what calls them documents them."""

import enum
from collections.abc import Sequence
from typing import overload

import numpy
from numpy.typing import NDArray

def instruction_set() -> str: ...

PLAIN_FLOAT_MODE: int

def set_float_mode(mode: int) -> int: ...
def digits(values: NDArray[numpy.float64]) -> tuple[int, bool, int, int, int]: ...

LEVELS: int

def pair_errors(
    errors: tuple[
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        float,
        float,
        float,
        float,
    ],
    queries: NDArray[numpy.int64],
    items: NDArray[numpy.int64],
    scores: NDArray[numpy.float64],
    out: NDArray[numpy.float64],
) -> None: ...
@overload
def level_masks(raw: NDArray[numpy.float32], masks: NDArray[numpy.uint64], values: NDArray[numpy.float64]) -> None: ...
@overload
def level_masks(raw: NDArray[numpy.float64], masks: NDArray[numpy.uint64], values: NDArray[numpy.float64]) -> None: ...
@overload
def smallest_sizes(raw: NDArray[numpy.float32], out: NDArray[numpy.float64]) -> None: ...
@overload
def smallest_sizes(raw: NDArray[numpy.float64], out: NDArray[numpy.float64]) -> None: ...
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
def hash_rows(raw: NDArray[numpy.float32], directions: bool) -> NDArray[numpy.uint64]: ...
@overload
def hash_rows(raw: NDArray[numpy.float64], directions: bool) -> NDArray[numpy.uint64]: ...
@overload
def same_rows(raw: NDArray[numpy.float32], other: NDArray[numpy.float32], directions: bool) -> NDArray[numpy.bool_]: ...
@overload
def same_rows(raw: NDArray[numpy.float64], other: NDArray[numpy.float64], directions: bool) -> NDArray[numpy.bool_]: ...
@overload
def row_sums(raw: NDArray[numpy.float32], scale: float) -> NDArray[numpy.float64]: ...
@overload
def row_sums(raw: NDArray[numpy.float64], scale: float) -> NDArray[numpy.float64]: ...
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
@overload
def pair_dots(
    left: NDArray[numpy.float32],
    left_factor: NDArray[numpy.float64],
    left_divides: bool,
    rows: NDArray[numpy.int64],
    right: NDArray[numpy.float32],
    right_factor: NDArray[numpy.float64],
    right_divides: bool,
    columns: NDArray[numpy.int64],
) -> NDArray[numpy.float64]: ...
@overload
def pair_dots(
    left: NDArray[numpy.float32],
    left_factor: NDArray[numpy.float64],
    left_divides: bool,
    rows: NDArray[numpy.int64],
    right: NDArray[numpy.float64],
    right_factor: NDArray[numpy.float64],
    right_divides: bool,
    columns: NDArray[numpy.int64],
) -> NDArray[numpy.float64]: ...
@overload
def pair_dots(
    left: NDArray[numpy.float64],
    left_factor: NDArray[numpy.float64],
    left_divides: bool,
    rows: NDArray[numpy.int64],
    right: NDArray[numpy.float32],
    right_factor: NDArray[numpy.float64],
    right_divides: bool,
    columns: NDArray[numpy.int64],
) -> NDArray[numpy.float64]: ...
@overload
def pair_dots(
    left: NDArray[numpy.float64],
    left_factor: NDArray[numpy.float64],
    left_divides: bool,
    rows: NDArray[numpy.int64],
    right: NDArray[numpy.float64],
    right_factor: NDArray[numpy.float64],
    right_divides: bool,
    columns: NDArray[numpy.int64],
) -> NDArray[numpy.float64]: ...
@overload
def compensated_dots(
    left: NDArray[numpy.float32],
    rows: NDArray[numpy.int64],
    right: NDArray[numpy.float32],
    columns: NDArray[numpy.int64],
) -> NDArray[numpy.float64]: ...
@overload
def compensated_dots(
    left: NDArray[numpy.float32],
    rows: NDArray[numpy.int64],
    right: NDArray[numpy.float64],
    columns: NDArray[numpy.int64],
) -> NDArray[numpy.float64]: ...
@overload
def compensated_dots(
    left: NDArray[numpy.float64],
    rows: NDArray[numpy.int64],
    right: NDArray[numpy.float32],
    columns: NDArray[numpy.int64],
) -> NDArray[numpy.float64]: ...
@overload
def compensated_dots(
    left: NDArray[numpy.float64],
    rows: NDArray[numpy.int64],
    right: NDArray[numpy.float64],
    columns: NDArray[numpy.int64],
) -> NDArray[numpy.float64]: ...
@overload
def signed_squares(
    products: NDArray[numpy.float32], squares: NDArray[numpy.float64], out: NDArray[numpy.float64]
) -> None: ...
@overload
def signed_squares(
    products: NDArray[numpy.float64], squares: NDArray[numpy.float64], out: NDArray[numpy.float64]
) -> None: ...
def product_roundings(dim: int, chunk: int) -> int: ...

class Panels32:
    def __init__(self, rows: NDArray[numpy.float32]) -> None: ...

@overload
def product(left: Panels32, right: Panels32, chunk: int, out: NDArray[numpy.float32]) -> None: ...
@overload
def product(
    left: NDArray[numpy.float32], right: NDArray[numpy.float32], chunk: int, out: NDArray[numpy.float32]
) -> None: ...
@overload
def product(left: Panels64, right: Panels64, chunk: int, out: NDArray[numpy.float64]) -> None: ...
@overload
def product(
    left: NDArray[numpy.float64], right: NDArray[numpy.float64], chunk: int, out: NDArray[numpy.float64]
) -> None: ...

class Panels64:
    def __init__(self, rows: NDArray[numpy.float64]) -> None: ...

@overload
def minus_absolute_differences(
    left: NDArray[numpy.float32], right: NDArray[numpy.float32], out: NDArray[numpy.float32]
) -> None: ...
@overload
def minus_absolute_differences(
    left: NDArray[numpy.float64], right: NDArray[numpy.float64], out: NDArray[numpy.float64]
) -> None: ...
@overload
def overlaps(left: NDArray[numpy.float32], right: NDArray[numpy.float32], out: NDArray[numpy.float32]) -> None: ...
@overload
def overlaps(left: NDArray[numpy.float64], right: NDArray[numpy.float64], out: NDArray[numpy.float64]) -> None: ...
def minus_differing_bits(
    left: NDArray[numpy.uint64], right: NDArray[numpy.uint64], out: NDArray[numpy.float32]
) -> None: ...
def count_mixed(
    offsets: NDArray[numpy.int64], tied: NDArray[numpy.int64], by_grade: NDArray[numpy.int64]
) -> tuple[int, int, int]: ...
def find_fields(
    text: NDArray[numpy.uint8],
    form: tuple[int, int, bool, bool],
    places: NDArray[numpy.int64],
    numbers: NDArray[numpy.float64],
    firsts: NDArray[numpy.int64],
) -> tuple[int, int]: ...
def average_precisions(
    first: int, last: int, groups: tuple[NDArray[numpy.int64], ...], cutoff: int, out: NDArray[numpy.float64]
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
    first: int,
    last: int,
    groups: tuple[NDArray[numpy.int64], ...],
    cutoff: int,
    factor: float,
    size: float,
    share: float,
    out: NDArray[numpy.float64],
) -> None: ...
def first_hits(
    first: int,
    last: int,
    groups: tuple[NDArray[numpy.int64], ...],
    cutoff: int,
    reciprocal: bool,
    out: NDArray[numpy.float64],
) -> None: ...
def inverse_penalties(
    first: int, last: int, groups: tuple[NDArray[numpy.int64], ...], out: NDArray[numpy.float64]
) -> None: ...
def extremes(
    closer: NDArray[numpy.int64],
    tied: NDArray[numpy.int64],
    tied_relevant: NDArray[numpy.int64],
    slots: NDArray[numpy.int64],
    kind: int,
    centred: bool,
    shift: NDArray[numpy.float64],
    squared: bool,
    out: NDArray[numpy.float64],
) -> None: ...
def fill_discounts(first: int, last: int, table: tuple[NDArray[numpy.float64], ...]) -> None: ...
def discounted_gains(
    first: int,
    last: int,
    groups: tuple[NDArray[numpy.int64], ...],
    cutoff: int,
    grades: tuple[NDArray[numpy.int64], ...],
    gains: NDArray[numpy.float64],
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
def areas(first: int, last: int, groups: tuple[NDArray[numpy.int64], ...], out: NDArray[numpy.float64]) -> None: ...
def groups_of_samples(
    begin: int,
    end: int,
    items: NDArray[numpy.int32],
    starts: NDArray[numpy.int64],
    place: NDArray[numpy.int64],
    groups: NDArray[numpy.int32],
) -> None: ...
def arrange(
    samples: NDArray[numpy.int64],
    links: tuple[NDArray[numpy.int64], NDArray[numpy.int32]],
    place: NDArray[numpy.int64],
    items: NDArray[numpy.int32],
) -> None: ...
def count_runs(
    begin: int,
    end: int,
    items: NDArray[numpy.int32],
    mixed: tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int32]],
    out: NDArray[numpy.int64],
) -> None: ...
def write_runs(
    begin: int,
    end: int,
    items: NDArray[numpy.int32],
    mixed: tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int32]],
    profile: tuple[NDArray[numpy.int64], ...],
    number: NDArray[numpy.int64],
    rows: NDArray[numpy.int64],
    out: NDArray[numpy.int64],
) -> None: ...
def preferences(
    begin: int,
    end: int,
    items: NDArray[numpy.int32],
    mixed: tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int32]],
    sum: tuple[
        int,
        NDArray[numpy.float64],
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        NDArray[numpy.int64],
        NDArray[numpy.float64],
    ],
    out: NDArray[numpy.float64],
) -> None: ...
def find_hits(
    begin: int,
    end: int,
    items: NDArray[numpy.int32],
    mixed: tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int32]],
    hits: NDArray[numpy.int32],
    bases: NDArray[numpy.int64],
) -> None: ...
def improve(
    books: tuple[
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
    least: float,
) -> int: ...
def sort_rows(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.float64],
    arg5: NDArray[numpy.float64],
    arg6: NDArray[numpy.bool_],
    /,
) -> None: ...
def unsure_runs(
    arg0: NDArray[numpy.bool_], arg1: NDArray[numpy.int64], arg2: NDArray[numpy.float64], arg3: NDArray[numpy.int64], /
) -> int: ...
def sort_runs(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.float64],
    arg2: NDArray[numpy.float64],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.int64],
    arg6: NDArray[numpy.float64],
    arg7: NDArray[numpy.float64],
    arg8: NDArray[numpy.bool_],
    /,
) -> None: ...
def number_groups(
    arg0: NDArray[numpy.bool_],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.int32],
    /,
) -> None: ...
def single_items(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.float64],
    arg4: NDArray[numpy.float64],
    arg5: NDArray[numpy.int64],
    arg6: NDArray[numpy.float64],
    arg7: NDArray[numpy.bool_],
    /,
) -> bool: ...
def all_apart(arg0: NDArray[numpy.float64], arg1: NDArray[numpy.float64], arg2: NDArray[numpy.int64], /) -> bool: ...
def exact_cuts(
    arg0: NDArray[numpy.float64],
    arg1: NDArray[numpy.float64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.float64],
    arg4: NDArray[numpy.float64],
    /,
) -> None: ...
def make_ascending(arg0: NDArray[numpy.float64], arg1: NDArray[numpy.float64], /) -> None: ...
def relevant_columns(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.int32],
    arg5: NDArray[numpy.int64],
    arg6: NDArray[numpy.int64],
    arg7: NDArray[numpy.int64],
    /,
) -> None: ...

MEETINGS: int

APART: int = -2147483648

def count_meetings(
    placed: tuple[
        NDArray[numpy.uint64],
        NDArray[numpy.uint64],
        NDArray[numpy.int32],
        NDArray[numpy.int32],
        NDArray[numpy.int32],
        bool,
        bool,
        int,
    ],
    rows: NDArray[numpy.int64],
    columns: NDArray[numpy.int64],
    out: NDArray[numpy.uint16],
    kind: NDArray[numpy.int32],
) -> None: ...
def settle_alike(
    opened: NDArray[numpy.int32],
    scores: NDArray[numpy.float64],
    placed: tuple[
        NDArray[numpy.uint64],
        NDArray[numpy.uint64],
        NDArray[numpy.int32],
        NDArray[numpy.int32],
        NDArray[numpy.int32],
        bool,
        bool,
        int,
    ],
    groups: tuple[NDArray[numpy.uint16], NDArray[numpy.int32]],
    weight: NDArray[numpy.int32],
    counts: NDArray[numpy.int32],
) -> int: ...
def take_out(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.bool_],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.int64],
    arg6: NDArray[numpy.bool_],
    /,
) -> None: ...
def take_out_junk(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.bool_],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.int64],
    arg6: NDArray[numpy.int64],
    arg7: NDArray[numpy.int64],
    arg8: NDArray[numpy.int64],
    arg9: NDArray[numpy.int64],
    /,
) -> None: ...
@overload
def leave_out_junk(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.bool_],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.float32],
    /,
) -> None: ...
@overload
def leave_out_junk(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.bool_],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.float64],
    /,
) -> None: ...
def expand(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.int64],
    arg6: NDArray[numpy.int64],
    arg7: NDArray[numpy.int64],
    /,
) -> None: ...
@overload
def build_edges(
    arg0: NDArray[numpy.float64],
    arg1: NDArray[numpy.float64],
    arg2: NDArray[numpy.float64],
    arg3: NDArray[numpy.float64],
    arg4: NDArray[numpy.float64],
    arg5: bool,
    arg6: NDArray[numpy.float32],
    /,
) -> int: ...
@overload
def build_edges(
    arg0: NDArray[numpy.float64],
    arg1: NDArray[numpy.float64],
    arg2: NDArray[numpy.float64],
    arg3: NDArray[numpy.float64],
    arg4: NDArray[numpy.float64],
    arg5: bool,
    arg6: NDArray[numpy.float64],
    /,
) -> int: ...
@overload
def build_bins(
    arg0: NDArray[numpy.float32],
    arg1: bool,
    arg2: NDArray[numpy.float32],
    arg3: NDArray[numpy.float32],
    arg4: NDArray[numpy.uint16],
    /,
) -> None: ...
@overload
def build_bins(
    arg0: NDArray[numpy.float32],
    arg1: bool,
    arg2: NDArray[numpy.float32],
    arg3: NDArray[numpy.float32],
    arg4: NDArray[numpy.uint32],
    /,
) -> None: ...
@overload
def build_bins(
    arg0: NDArray[numpy.float64],
    arg1: bool,
    arg2: NDArray[numpy.float64],
    arg3: NDArray[numpy.float64],
    arg4: NDArray[numpy.uint16],
    /,
) -> None: ...
@overload
def build_bins(
    arg0: NDArray[numpy.float64],
    arg1: bool,
    arg2: NDArray[numpy.float64],
    arg3: NDArray[numpy.float64],
    arg4: NDArray[numpy.uint32],
    /,
) -> None: ...
def slots_of_zero(
    arg0: NDArray[numpy.float64], arg1: NDArray[numpy.float64], arg2: NDArray[numpy.int32], /
) -> None: ...

FEW_EDGES: int

@overload
def count_tile(
    arg0: NDArray[numpy.float32],
    arg1: int,
    arg2: NDArray[numpy.int32],
    arg3: bool,
    arg4: NDArray[numpy.int32],
    arg5: NDArray[numpy.float32],
    arg6: int,
    arg7: bool,
    arg8: NDArray[numpy.float32],
    arg9: NDArray[numpy.float32],
    arg10: NDArray[numpy.uint16],
    arg11: NDArray[numpy.int32],
    arg12: tuple[NDArray[numpy.uint32], ...],
    arg13: NDArray[numpy.int32],
    arg14: NDArray[numpy.int32],
    /,
) -> int: ...
@overload
def count_tile(
    arg0: NDArray[numpy.float32],
    arg1: int,
    arg2: NDArray[numpy.int32],
    arg3: bool,
    arg4: NDArray[numpy.int32],
    arg5: NDArray[numpy.float32],
    arg6: int,
    arg7: bool,
    arg8: NDArray[numpy.float32],
    arg9: NDArray[numpy.float32],
    arg10: NDArray[numpy.uint32],
    arg11: NDArray[numpy.int32],
    arg12: tuple[NDArray[numpy.uint32], ...],
    arg13: NDArray[numpy.int32],
    arg14: NDArray[numpy.int32],
    /,
) -> int: ...
@overload
def count_tile(
    arg0: NDArray[numpy.float64],
    arg1: int,
    arg2: NDArray[numpy.int32],
    arg3: bool,
    arg4: NDArray[numpy.int32],
    arg5: NDArray[numpy.float64],
    arg6: int,
    arg7: bool,
    arg8: NDArray[numpy.float64],
    arg9: NDArray[numpy.float64],
    arg10: NDArray[numpy.uint16],
    arg11: NDArray[numpy.int32],
    arg12: tuple[NDArray[numpy.uint32], ...],
    arg13: NDArray[numpy.int32],
    arg14: NDArray[numpy.int32],
    /,
) -> int: ...
@overload
def count_tile(
    arg0: NDArray[numpy.float64],
    arg1: int,
    arg2: NDArray[numpy.int32],
    arg3: bool,
    arg4: NDArray[numpy.int32],
    arg5: NDArray[numpy.float64],
    arg6: int,
    arg7: bool,
    arg8: NDArray[numpy.float64],
    arg9: NDArray[numpy.float64],
    arg10: NDArray[numpy.uint32],
    arg11: NDArray[numpy.int32],
    arg12: tuple[NDArray[numpy.uint32], ...],
    arg13: NDArray[numpy.int32],
    arg14: NDArray[numpy.int32],
    /,
) -> int: ...
@overload
def count_products(
    left: Panels32,
    right: Panels32,
    chunk: int,
    sides: Sequence[
        tuple[
            tuple[int, NDArray[numpy.int32], bool, NDArray[numpy.int32]],
            NDArray[numpy.float32],
            Sequence[
                tuple[
                    tuple[
                        NDArray[numpy.float32],
                        int,
                        bool,
                        NDArray[numpy.float32],
                        NDArray[numpy.float32],
                        NDArray[numpy.uint16],
                        NDArray[numpy.int32],
                        tuple[NDArray[numpy.uint32], ...],
                    ],
                    NDArray[numpy.int32],
                    NDArray[numpy.int32],
                    NDArray[numpy.float64],
                ]
            ],
        ]
    ],
) -> list[list[int]]: ...
@overload
def count_products(
    left: Panels64,
    right: Panels64,
    chunk: int,
    sides: Sequence[
        tuple[
            tuple[int, NDArray[numpy.int32], bool, NDArray[numpy.int32]],
            NDArray[numpy.float64],
            Sequence[
                tuple[
                    tuple[
                        NDArray[numpy.float64],
                        int,
                        bool,
                        NDArray[numpy.float64],
                        NDArray[numpy.float64],
                        NDArray[numpy.uint16],
                        NDArray[numpy.int32],
                        tuple[NDArray[numpy.uint32], ...],
                    ],
                    NDArray[numpy.int32],
                    NDArray[numpy.int32],
                    NDArray[numpy.float64],
                ]
            ],
        ]
    ],
) -> list[list[int]]: ...
@overload
def transpose(arg0: NDArray[numpy.float32], arg1: NDArray[numpy.float32], /) -> None: ...
@overload
def transpose(arg0: NDArray[numpy.float64], arg1: NDArray[numpy.float64], /) -> None: ...
@overload
def intervals_of_open(
    opened: NDArray[numpy.int32],
    edges: NDArray[numpy.float32],
    low: NDArray[numpy.float64],
    found: NDArray[numpy.int64],
) -> None: ...
@overload
def intervals_of_open(
    opened: NDArray[numpy.int32],
    edges: NDArray[numpy.float64],
    low: NDArray[numpy.float64],
    found: NDArray[numpy.int64],
) -> None: ...
@overload
def settle_open(
    arg0: NDArray[numpy.int32],
    arg1: NDArray[numpy.float32],
    arg2: NDArray[numpy.float32],
    arg3: NDArray[numpy.float64],
    arg4: NDArray[numpy.int32],
    arg5: NDArray[numpy.float64],
    arg6: NDArray[numpy.float32],
    arg7: NDArray[numpy.float64],
    arg8: NDArray[numpy.float64],
    arg9: NDArray[numpy.int32],
    /,
) -> int: ...
@overload
def settle_open(
    arg0: NDArray[numpy.int32],
    arg1: NDArray[numpy.float64],
    arg2: NDArray[numpy.float64],
    arg3: NDArray[numpy.float64],
    arg4: NDArray[numpy.int32],
    arg5: NDArray[numpy.float64],
    arg6: NDArray[numpy.float64],
    arg7: NDArray[numpy.float64],
    arg8: NDArray[numpy.float64],
    arg9: NDArray[numpy.int32],
    /,
) -> int: ...
def place_pairs(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.float64],
    arg3: NDArray[numpy.float64],
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.float64],
    arg6: NDArray[numpy.float64],
    arg7: int,
    arg8: NDArray[numpy.int32],
    arg9: NDArray[numpy.int64],
    /,
) -> int: ...
def collect_groups(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int32],
    arg3: NDArray[numpy.int32],
    arg4: NDArray[numpy.int32],
    arg5: int,
    arg6: int,
    arg7: NDArray[numpy.int64],
    arg8: NDArray[numpy.int32],
    arg9: NDArray[numpy.int64],
    /,
) -> int: ...
def expand_groups(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int32],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.int64],
    arg6: NDArray[numpy.int64],
    arg7: NDArray[numpy.int64],
    /,
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
def count_groups(
    arg0: NDArray[numpy.int64],
    arg1: NDArray[numpy.int64],
    arg2: NDArray[numpy.int64],
    arg3: NDArray[numpy.int64],
    arg4: NDArray[numpy.int64],
    arg5: NDArray[numpy.int64],
    arg6: NDArray[numpy.int64],
    /,
) -> int: ...

class KeyKind(enum.Enum):
    product = 0

    distance = 1

    difference = 2

    cosine = 3

def slice_bits(dim: int, differences: bool) -> int: ...

class RootRows:
    @overload
    def __init__(self, kind: KeyKind, left: NDArray[numpy.float64], right: NDArray[numpy.float64]) -> None: ...
    @overload
    def __init__(self, kind: KeyKind, left: NDArray[numpy.float32], right: NDArray[numpy.float32]) -> None: ...

@overload
def bit_ranges(rows: NDArray[numpy.float64]) -> NDArray[numpy.int32]: ...
@overload
def bit_ranges(rows: NDArray[numpy.float32]) -> NDArray[numpy.int32]: ...

class RootThresholds:
    def __init__(self, kind: KeyKind, n_row: int, n_group: int) -> None: ...
    def unknown(
        self, rows: NDArray[numpy.int64], low: NDArray[numpy.int64], high: NDArray[numpy.int64]
    ) -> NDArray[numpy.int64]: ...
    def add(
        self,
        pairs: RootRows,
        left: NDArray[numpy.int64],
        right: NDArray[numpy.int64],
        rows: NDArray[numpy.int64],
        groups: NDArray[numpy.int64],
    ) -> None: ...
    def count(
        self,
        pairs: RootRows,
        left: NDArray[numpy.int64],
        right: NDArray[numpy.int64],
        rows: NDArray[numpy.int64],
        low: NDArray[numpy.int64],
        high: NDArray[numpy.int64],
        weights: NDArray[numpy.int32],
        counts: NDArray[numpy.int32],
    ) -> None: ...

class Roots:
    def __init__(self, kind: KeyKind, n: int) -> None: ...
    def __len__(self) -> int: ...
    def put(
        self, pairs: RootRows, rows: NDArray[numpy.int64], others: NDArray[numpy.int64], places: NDArray[numpy.int64]
    ) -> None: ...
    def add_values(self, values: NDArray[numpy.float64]) -> None: ...
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
    def sort(
        self,
        begins: NDArray[numpy.int64],
        ends: NDArray[numpy.int64],
        order: NDArray[numpy.int64],
        greater: NDArray[numpy.bool_],
    ) -> None: ...
    def square(self, arg: int, /) -> tuple[object, ...]: ...

class TwofoldRows:
    @overload
    def __init__(
        self, kind: KeyKind, left: NDArray[numpy.float64], right: NDArray[numpy.float64], exponent: int
    ) -> None: ...
    @overload
    def __init__(
        self, kind: KeyKind, left: NDArray[numpy.float32], right: NDArray[numpy.float32], exponent: int
    ) -> None: ...
    def closeness(self, left: NDArray[numpy.int64], right: NDArray[numpy.int64]) -> NDArray[numpy.float64]: ...

class TwofoldThresholds:
    def __init__(self, n_row: int, n_group: int) -> None: ...
    def unknown(
        self, rows: NDArray[numpy.int64], low: NDArray[numpy.int64], high: NDArray[numpy.int64]
    ) -> NDArray[numpy.int64]: ...
    def add(
        self,
        pairs: TwofoldRows,
        left: NDArray[numpy.int64],
        right: NDArray[numpy.int64],
        rows: NDArray[numpy.int64],
        groups: NDArray[numpy.int64],
    ) -> None: ...
    def count(
        self,
        pairs: TwofoldRows,
        left: NDArray[numpy.int64],
        right: NDArray[numpy.int64],
        rows: NDArray[numpy.int64],
        low: NDArray[numpy.int64],
        high: NDArray[numpy.int64],
        weights: NDArray[numpy.int32],
        counts: NDArray[numpy.int32],
        told: NDArray[numpy.bool_],
    ) -> None: ...
