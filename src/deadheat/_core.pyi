"""The compiled loops of deadheat; what calls them documents them."""

from collections.abc import Callable, Mapping, Sequence
from typing import overload

import numpy
from numpy.typing import NDArray

def instruction_set() -> str: ...
def set_float_mode(mode: int | None = None) -> int: ...
def digits(values: NDArray[numpy.float64]) -> tuple[int, bool, int, int, int, int]: ...

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
    size: NDArray[numpy.float64],
) -> None: ...
@overload
def tangents(
    raw: NDArray[numpy.float64],
    centre: NDArray[numpy.float64],
    out: NDArray[numpy.float64],
    size: NDArray[numpy.float64],
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
def find_json(
    text: NDArray[numpy.uint8],
    form: tuple[Sequence[str], Sequence[int], bool],
    places: NDArray[numpy.int64],
    numbers: NDArray[numpy.float64],
    firsts: NDArray[numpy.int64],
) -> tuple[int, int]: ...
def find_cells(
    text: NDArray[numpy.uint8],
    form: tuple[int, Sequence[int], bool],
    places: NDArray[numpy.int64],
    numbers: NDArray[numpy.float64],
    firsts: NDArray[numpy.int64],
) -> tuple[int, int]: ...
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
def discount_deviations(
    closer: NDArray[numpy.int64],
    tied: NDArray[numpy.int64],
    slots: NDArray[numpy.int64],
    discount: NDArray[numpy.float64],
    out: NDArray[numpy.float64],
) -> None: ...
def expected_reciprocal_ranks(
    queries: tuple[int, int],
    groups: tuple[NDArray[numpy.int64], ...],
    cutoff: int,
    by_grade: NDArray[numpy.int64],
    chances: NDArray[numpy.float64],
    out: NDArray[numpy.float64],
) -> None: ...
def areas(queries: tuple[int, int], groups: tuple[NDArray[numpy.int64], ...], out: NDArray[numpy.float64]) -> None: ...
def mark_collisions(
    all: tuple[NDArray[numpy.int64], ...],
    relevant: tuple[NDArray[numpy.int64], ...],
    n_ranked: NDArray[numpy.int64],
    depth: int,
    marks: tuple[NDArray[numpy.int8], NDArray[numpy.bool_], NDArray[numpy.int32]],
    counts: NDArray[numpy.int64],
) -> None: ...
def expected_reciprocals(
    closer: NDArray[numpy.int64],
    tied: NDArray[numpy.int64],
    tied_relevant: NDArray[numpy.int64],
    number: NDArray[numpy.int64],
    out: NDArray[numpy.float64],
) -> None: ...

class MixedGroups:
    def __init__(
        self,
        numbers: NDArray[numpy.int32],
        first: NDArray[numpy.int64],
        items_of_column: tuple[NDArray[numpy.int64], ...],
        n_tile: int,
    ) -> None: ...
    def set(
        self,
        tile: int,
        queries: NDArray[numpy.int64],
        columns: NDArray[numpy.int64],
        groups: NDArray[numpy.int64],
        excluded: tuple[NDArray[numpy.int64], ...],
        relevant: NDArray[numpy.bool_],
    ) -> None: ...
    def slots(
        self, begin: int, end: int, order: NDArray[numpy.int32], base: NDArray[numpy.int64], slots: NDArray[numpy.int32]
    ) -> None: ...
    def sums(
        self, of_hits: NDArray[numpy.float64], of_others: NDArray[numpy.float64], sums: NDArray[numpy.float64]
    ) -> None: ...

class OrderSearch:
    def __init__(
        self,
        mixed: MixedGroups,
        order: NDArray[numpy.int32],
        blocks: tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int32]],
        sum: tuple[
            int,
            NDArray[numpy.float64],
            NDArray[numpy.int64],
            NDArray[numpy.int64],
            NDArray[numpy.int64],
            NDArray[numpy.int64],
            NDArray[numpy.float64],
        ],
    ) -> None: ...
    def value(self) -> float: ...
    def improve(self, blocks: NDArray[numpy.int64], per_turn: int, care: int) -> int: ...
    def improve_runs(self, blocks: NDArray[numpy.int64], care: int) -> int: ...

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
    @overload
    def __init__(self, values: NDArray[numpy.float64]) -> None: ...
    @overload
    def __init__(self, numerators: NDArray[numpy.float64], denominators: NDArray[numpy.float64]) -> None: ...
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

class ScoreErrors:
    def __init__(
        self,
        *,
        of_query: NDArray[numpy.float64] | None = None,
        of_item: NDArray[numpy.float64] | None = None,
        offset_error: NDArray[numpy.float64] | None = None,
        offset: NDArray[numpy.float64] | None = None,
        part: float = 0.0,
        tiny: float = 0.0,
        relative: float = float("inf"),
        relative_tiny: float = float("inf"),
        additive: bool = False,
        half_error: NDArray[numpy.float64] | None = None,
        roundoff: float = 0.0,
    ) -> None: ...
    @property
    def of_query(self) -> NDArray[numpy.float64]: ...
    @property
    def of_item(self) -> NDArray[numpy.float64]: ...
    @property
    def offset_error(self) -> NDArray[numpy.float64]: ...
    @property
    def offset(self) -> NDArray[numpy.float64]: ...
    @property
    def part(self) -> float: ...
    @property
    def tiny(self) -> float: ...
    @property
    def relative(self) -> float: ...
    @property
    def relative_tiny(self) -> float: ...
    @property
    def additive(self) -> bool: ...
    @property
    def half_error(self) -> NDArray[numpy.float64]: ...
    @property
    def roundoff(self) -> float: ...

class BandErrors:
    def __init__(
        self,
        *,
        size: float = 0.0,
        offset_error: float = 0.0,
        relative: float = float("inf"),
        relative_tiny: float = 0.0,
        square_relative: float = float("inf"),
        square_factor: float = 0.0,
        square_tiny: float = 0.0,
    ) -> None: ...

class ScoreLevel:
    def __init__(self, *, wide: bool, wide_rows: bool, exact: bool, chunk: int, errors: ScoreErrors) -> None: ...

class Band:
    def __init__(self, *, start: int, stop: int, of_level: Sequence[BandErrors]) -> None: ...

class Scores:
    def __init__(
        self,
        *,
        form: str,
        query: object,
        item: object,
        offset: NDArray[numpy.float64],
        squares: NDArray[numpy.float64],
        item_of_column: NDArray[numpy.int64],
        bound_by_terms: bool,
        levels: Sequence[ScoreLevel],
        bands: Sequence[Band],
    ) -> None: ...
    def pair_scores(self, queries: NDArray[numpy.int64], columns: NDArray[numpy.int64]) -> NDArray[numpy.float64]: ...
    def pair_bounds(
        self, queries: NDArray[numpy.int64], columns: NDArray[numpy.int64], scores: NDArray[numpy.float64]
    ) -> NDArray[numpy.float64]: ...
    def tile(self, level: int, queries: NDArray[numpy.int64], columns: NDArray[numpy.int64]) -> object: ...
    def errors(self, level: int, queries: NDArray[numpy.int64], band: int) -> NDArray[numpy.float64]: ...

def rank_groups(
    scores: Scores,
    items: NDArray[numpy.int64],
    columns: NDArray[numpy.int64],
    classes: NDArray[numpy.int64],
    starts: NDArray[numpy.int64],
    into: tuple[object, ...],
) -> NDArray[numpy.int64]: ...

class ExactPairs:
    def __init__(self, kind: str, query: object, item: object) -> None: ...
    def closeness(self, queries: NDArray[numpy.int64], items: NDArray[numpy.int64]) -> Roots: ...

class RelevantItems:
    def __init__(
        self,
        *,
        queries: NDArray[numpy.int64],
        columns: NDArray[numpy.int64],
        count: NDArray[numpy.int64],
        irrelevant: NDArray[numpy.int64],
        score: NDArray[numpy.float64],
        bound: NDArray[numpy.float64],
    ) -> None: ...
    @property
    def queries(self) -> NDArray[numpy.int64]: ...
    @property
    def columns(self) -> NDArray[numpy.int64]: ...
    @property
    def count(self) -> NDArray[numpy.int64]: ...
    @property
    def irrelevant(self) -> NDArray[numpy.int64]: ...
    @property
    def score(self) -> NDArray[numpy.float64]: ...
    @property
    def bound(self) -> NDArray[numpy.float64]: ...

class TieGroups:
    @property
    def queries(self) -> NDArray[numpy.int64]: ...
    @property
    def n_group(self) -> NDArray[numpy.int64]: ...
    @property
    def score(self) -> NDArray[numpy.float64]: ...
    @property
    def bound(self) -> NDArray[numpy.float64]: ...
    @property
    def total(self) -> NDArray[numpy.int32]: ...
    @property
    def columns(self) -> NDArray[numpy.int32]: ...
    @property
    def of_entry(self) -> NDArray[numpy.int64]: ...

def group_exactly(scores: Scores, exact: ExactPairs | None, relevant: RelevantItems) -> TieGroups: ...

class CutBounds:
    def __init__(
        self, *, low: NDArray[numpy.float64], high: NDArray[numpy.float64], per_interval: int, sharp: bool
    ) -> None: ...

class Rule:
    pass

class PythonRule(Rule):
    def __init__(self, group: object) -> None: ...

class Patterns:
    def __init__(
        self,
        *,
        query: NDArray[numpy.uint64],
        item: NDArray[numpy.uint64],
        query_table: NDArray[numpy.int32],
        item_table: NDArray[numpy.int32],
        item_kind: NDArray[numpy.int32],
        zeros: bool,
        differences: bool,
        levels: int,
    ) -> None: ...

class Problem:
    def __init__(
        self,
        *,
        scores: Scores,
        exact: ExactPairs | None,
        rule: Rule | None,
        patterns: Patterns | None,
        weight: NDArray[numpy.int32],
        plain: bool,
        class_columns: tuple[NDArray[numpy.int64], ...],
        query_class: NDArray[numpy.int64],
        gallery_class: NDArray[numpy.int64],
        column_of_item: NDArray[numpy.int64],
        itself: NDArray[numpy.int64] | None,
        ranked: NDArray[numpy.bool_],
        junk: NDArray[numpy.bool_] | None,
        items: tuple[NDArray[numpy.int64], ...],
        query_labels: NDArray[numpy.uint64] | None,
        item_labels: NDArray[numpy.uint64] | None,
        least_for_int8: int,
    ) -> None: ...

class Blocks:
    def __getitem__(self, number: int) -> Block: ...
    def collect(self, all: bool, groups: tuple[object, ...]) -> None: ...

class Block:
    @property
    def queries(self) -> NDArray[numpy.int64]: ...
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

class Pass:
    def __init__(self, problem: Problem) -> None: ...
    @property
    def done(self) -> int: ...
    @done.setter
    def done(self, arg: int, /) -> None: ...
    def count(
        self,
        shards: Sequence[tuple[Mapping[int, NDArray[numpy.int64]], Sequence[tuple[NDArray[numpy.int64], ...]]]],
        all: bool,
        groups: tuple[object, ...],
        threads: int,
        poll: Callable[[int], None],
    ) -> None: ...
    def stream(
        self,
        queries: Mapping[int, NDArray[numpy.int64]],
        ranges: NDArray[numpy.int64],
        groups: tuple[object, ...],
        threads: int,
        poll: Callable[[int], None],
    ) -> None: ...
    def sort(
        self,
        queries: Mapping[int, NDArray[numpy.int64]],
        ranges: NDArray[numpy.int64],
        groups: tuple[object, ...],
        threads: int,
        poll: Callable[[int], None],
    ) -> None: ...
    def relevant_items(self, queries: NDArray[numpy.int64]) -> RelevantItems: ...
    def make(
        self, queries: Mapping[int, NDArray[numpy.int64]], threads: int, poll: Callable[[int], None]
    ) -> Blocks: ...
