"""Hash codes of digits: Hamming distance has few values, so nearly every item is tied.

Input: images of digits, with one label (the digit) and with several. Output: mAP by method and bits with its bounds,
what five sorts print for the same codes, three definitions of mAP@k, and which methods the bounds leave in order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from deadheat.analyses.exploit import exploit
from deadheat.cli import demo
from deadheat.engine.task import Task
from deadheat.plots import style
from deadheat.reports.evaluating import evaluate
from deadheat.reports.report import Report
from deadheat.support.arrays import Float64
from deadheat.support.triple import Triple
from reproduce.study import Finding, Outcome, Picture, Setting, Table

TITLE = "Hash codes: the same codes, many numbers"
SOURCE = (
    "Q.-Y. Jiang, M.-W. Li, W.-J. Li, On the Evaluation Metric for Hashing, 2019, arXiv:1905.10951 (the uncertainty "
    "problem of mAP); K. He, F. Cakir, S. A. Bargal, S. Sclaroff, Hashing as Tie-Aware Learning to Rank, 2018, "
    "arXiv:1705.08562; Y. Gong, S. Lazebnik, Iterative Quantization, 2011 (ITQ)"
)
ABOUT = (
    "A fifth of scikit-learn's digits, drawn once, are queries; the rest is the gallery, from which the codes are "
    "learned. Each method projects the centred images and keeps the signs: random hyperplanes, the first principal "
    "components (PCA signs), or these after the rotation that ITQ finds. Items are ranked by Hamming distance. "
    "Relevant are images of the same digit; or, with several labels an image (even, has a loop, greater than four), "
    "those that share at least one."
)
NEEDS = ("sklearn",)

Kind = Literal["stable", "quicksort"]
Interval = tuple[float, float]

MEASURES = "mAP", "mAP@100", "mAP(over='hits')@100", "mAP(over='possible')@100"
SORTS: tuple[tuple[str, Kind], ...] = (  # the order of the gallery, and the kind of NumPy's argsort
    ("file as it is", "stable"),
    ("sorted by class", "stable"),
    ("random order", "stable"),
    ("file as it is", "quicksort"),
    ("sorted by class", "quicksort"),
)
LABELS = {"digit": "one label: the digit", "several": "several labels: at least one shared"}
_BITS = 8, 16, 24, 32, 48, 64, 128
_ROUNDS = 50  # of ITQ, one SVD each
_LOOPS = 0, 6, 8, 9  # digits with a loop
_TEXT = (
    f"The gallery varies in 61 directions, so PCA and ITQ stop at 48 bits. ITQ has {_ROUNDS} rounds. A digit that is "
    "odd, has no loop and is not greater than four (1 and 3) has no label: such queries have nothing relevant and are "
    "left out of the means.",
    "The five sorts are computed without deadheat, as the field's code does: float32 distances (B − q · g) / 2 of ±1 "
    "codes, NumPy's argsort row by row, and the mean precision at the relevant items. What quicksort does with ties "
    "depends on the processor. Lowest and highest order: what a stable sort gives in orders of the gallery that "
    "`dh.exploit` found by a search, one order for all queries; it takes one label an image.",
)


class Coded(NamedTuple):
    """Codes of one method and length, evaluated."""

    labels: str  # "digit" or "several"
    bits: int
    method: str
    report: Report
    sorts: list[float]  # mAP by each of `SORTS`
    reached: Interval  # lowest and highest mAP found of an order of the gallery; NaN for several labels

    @property
    def title(self) -> str:
        return f"{self.labels}, {self.bits} bits, {self.method}"

    @property
    def width(self) -> float:
        return self.report["mAP"].upper - self.report["mAP"].lower


class Digits(NamedTuple):
    """Centred images and labels of digits; `query` and `gallery` are rows."""

    images: Float64
    labels: dict[str, NDArray[Any]]  # (n,) digits, and (n, 3) bool
    query: NDArray[np.int64]
    gallery: NDArray[np.int64]


def run(setting: Setting) -> Outcome:
    n, bits = (300, _BITS[:2]) if setting.quick else (None, _BITS)
    result = []
    for one in _evaluated(digits(n), bits, setting.threads):
        setting.say(f"  {one.title}: {one.report['mAP'].summary()}")
        result.append(one)
    caption = (
        "mAP by bits and method: a thin line is between the bounds, a mark at the expectation, a dash at what a stable "
        "sort gives of a gallery sorted by class. A thick line is what it gives in orders made on purpose, as far as "
        "a search found them."
    )
    pictures = [Picture("hashing-bounds", caption, _figure(result))]
    tables = [_bounds(result), _sorts(result), _cutoffs(result), _orders(result)]
    return Outcome(_findings(result), pictures, tables, _TEXT, _conclusion(result))


# ---------------------------------------------------------------------------------------------------------------------
# codes


def digits(n: int | None = None) -> Digits:
    """The first `n` digits, a fifth of them as queries; images are centred by the mean of the gallery."""
    images, labels = (array[:n] for array in demo.digits())
    drawn = np.random.default_rng(0).permutation(len(labels))
    query, gallery = np.sort(drawn[: len(labels) // 5]), np.sort(drawn[len(labels) // 5 :])
    several = np.stack([labels % 2 == 0, np.isin(labels, _LOOPS), labels > 4], axis=1)
    return Digits(images - images[gallery].mean(axis=0), {"digit": labels, "several": several}, query, gallery)


def hyperplanes(centred: Float64, bits: int) -> Float64:
    """Random directions, (dim, bits)."""
    return np.random.default_rng(bits).normal(size=(centred.shape[1], bits))


def principal(centred: Float64, bits: int) -> Float64:
    """The first principal directions, (dim, bits), each with a positive largest component."""
    directions: Float64 = np.linalg.svd(centred, full_matrices=False)[2][:bits].T
    largest = np.abs(directions).argmax(axis=0)
    directions *= np.sign(directions[largest, np.arange(bits)])
    return directions


def quantised(centred: Float64, bits: int, rounds: int = _ROUNDS) -> Float64:
    """Principal directions after the rotation R of ITQ, (dim, bits).

    Each round takes the nearest codes, B = sign(VR), and then the R that minimises ‖B − VR‖: orthogonal Procrustes.
    """
    directions = principal(centred, bits)
    projected = centred @ directions
    rotation: Float64 = np.linalg.qr(np.random.default_rng(bits).normal(size=(bits, bits)))[0]
    for _ in range(rounds):
        codes = np.where(projected @ rotation > 0, 1.0, -1.0)
        left, _, right = np.linalg.svd(projected.T @ codes)
        rotation = left @ right
    rotated: Float64 = directions @ rotation
    return rotated


METHODS: dict[str, Callable[[Float64, int], Float64]] = {
    "random hyperplanes": hyperplanes,
    "PCA signs": principal,
    "ITQ": quantised,
}


def coded(data: Digits, method: str, bits: int) -> NDArray[np.bool_]:
    """Codes of all images, learned from the gallery, (n, bits)."""
    return data.images @ METHODS[method](data.images[data.gallery], bits) > 0


def _evaluated(data: Digits, bits: Sequence[int], threads: int | None) -> Iterator[Coded]:
    rank = int(np.linalg.matrix_rank(data.images[data.gallery]))
    for number in bits:
        for method in METHODS if number <= rank else ["random hyperplanes"]:
            codes = coded(data, method, number)
            for labels, values in data.labels.items():
                task = Task(
                    codes[data.query], values[data.query], codes[data.gallery], values[data.gallery],
                    distance="hamming", relevance="any" if values.ndim == 2 else None, threads=threads,
                )  # fmt: skip
                reached = (math.nan, math.nan)
                if values.ndim == 1:
                    searched = exploit(task, searches=1, draws=1)
                    reached = searched.lowest.value, searched.highest.value
                yield Coded(labels, number, method, evaluate(task, MEASURES), by_sorts(data, codes, labels), reached)


# ---------------------------------------------------------------------------------------------------------------------
# what sorts print


def by_sorts(data: Digits, codes: NDArray[np.bool_], labels: str) -> list[float]:
    """mAP of one order for each of `SORTS`."""
    signs = np.where(codes, np.float32(1), np.float32(-1))
    distances = (codes.shape[1] - signs[data.query] @ signs[data.gallery].T) / 2
    of_query, of_gallery = (data.labels[labels][rows] for rows in (data.query, data.gallery))
    several = of_query.ndim == 2
    relevant = (of_query[:, None] & of_gallery).any(axis=2) if several else of_query[:, None] == of_gallery
    orders = {
        "file as it is": np.arange(len(data.gallery)),
        "sorted by class": np.argsort(data.labels["digit"][data.gallery], kind="stable"),
        "random order": np.random.default_rng(0).permutation(len(data.gallery)),
    }
    return [map_of_sort(distances[:, orders[order]], relevant[:, orders[order]], kind) for order, kind in SORTS]


def map_of_sort(distances: NDArray[Any], relevant: NDArray[np.bool_], kind: Kind) -> float:
    """mAP of NumPy's argsort of each row; rows with nothing relevant are left out.

    Examples
    --------
    >>> map_of_sort(np.array([[2, 1, 1]]), np.array([[True, False, True]]), "stable")
    0.5833333333333333
    """
    ranked = np.argsort(distances, axis=1, kind=kind)
    hits = np.take_along_axis(relevant, ranked, axis=1)
    hits = hits[hits.any(axis=1)]
    precision = hits.cumsum(axis=1) / np.arange(1, hits.shape[1] + 1)
    return float(((precision * hits).sum(axis=1) / hits.sum(axis=1)).mean())


# ---------------------------------------------------------------------------------------------------------------------
# tables, findings and the picture


def pairs(methods: Iterable[Coded]) -> list[tuple[Coded, Coded]]:
    """Pairs of methods with the same labels and bits."""
    return [
        (one, other)
        for one, other in combinations(methods, 2)
        if (one.labels, one.bits) == (other.labels, other.bits)
    ]  # fmt: skip


def is_open(one: Interval, other: Interval) -> bool:
    """Return whether either of two values can be the greater one, each anywhere in its interval."""
    return one[0] < other[1] and other[0] < one[1]


def n_open(methods: Iterable[Coded], interval: Callable[[Coded], Interval]) -> tuple[int, int]:
    """The number of pairs that intervals leave open, and of all pairs that have intervals."""
    both = [(interval(one), interval(other)) for one, other in pairs(methods)]
    states = [is_open(one, other) for one, other in both if not math.isnan(one[0])]
    return sum(states), len(states)


def _between_bounds(measure: str) -> Callable[[Coded], Interval]:
    return lambda one: (one.report[measure].lower, one.report[measure].upper)


def _of_stable_sorts(one: Coded) -> Interval:
    values = [value for value, (_, kind) in zip(one.sorts, SORTS, strict=True) if kind == "stable"]
    return min(values), max(values)


def _bounds(methods: Sequence[Coded]) -> Table:
    columns = ["labels", "bits", "method", "lower", "lowest order", "expected", "highest order", "upper", "width"]
    rows = []
    for one in methods:
        value, (lowest, highest) = one.report["mAP"], one.reached
        values = value.lower, lowest, value.expected, highest, value.upper, one.width
        rows.append([one.labels, one.bits, one.method, *values])
    return Table("hashing-bounds", "mAP by bits and method", columns, rows, percent=columns[3:])


def _sorts(methods: Sequence[Coded]) -> Table:
    columns = ["gallery", "sort", "labels", "bits", *METHODS]
    rows = []
    for labels, bits in dict.fromkeys((each.labels, each.bits) for each in methods):
        values = {each.method: each.sorts for each in methods if (each.labels, each.bits) == (labels, bits)}
        for number, (order, kind) in enumerate(SORTS):
            printed = [values[method][number] if method in values else math.nan for method in METHODS]
            rows.append([order, kind, labels, bits, *printed])
    caption = "mAP that five sorts of the same codes print; quicksort on this processor"
    return Table("hashing-sorts", caption, columns, rows, percent=columns[4:])


def _cutoffs(methods: Sequence[Coded]) -> Table:
    columns = ["labels", "bits", "method", *(f"{name}, {end}" for name in MEASURES[1:] for end in Triple._fields)]
    rows = [
        [each.labels, each.bits, each.method, *(v for name in MEASURES[1:] for v in _triple(each, name))]
        for each in methods
    ]  # fmt: skip
    return Table("hashing-cutoffs", "Three definitions of mAP@100", columns, rows, percent=columns[3:])


def _orders(methods: Sequence[Coded]) -> Table:
    columns = ["labels", "bits", "first", "second", "difference of mAP", *MEASURES]
    rows = []
    for one, other in pairs(methods):
        difference = one.report["mAP"].expected - other.report["mAP"].expected
        intervals = [(between(one), between(other)) for between in map(_between_bounds, MEASURES)]
        states = ["open" if is_open(*both) else "settled" for both in intervals]
        rows.append([one.labels, one.bits, one.method, other.method, difference, *states])
    caption = "Pairs of methods: the difference of the expectations, and whether the bounds of a measure overlap"
    return Table("hashing-orders", caption, columns, rows, percent=columns[4:5])


def _triple(one: Coded, measure: str) -> Triple[float]:
    result = one.report[measure]
    return Triple(result.lower, result.expected, result.upper)


def _findings(methods: Sequence[Coded]) -> list[Finding]:
    findings = []
    for one in methods:
        lower, expected, upper = (100 * value for value in _triple(one, "mAP"))
        here = f"{expected:.2f} [{lower:.2f}, {upper:.2f}] %"
        findings.append(Finding(f"{one.title}: mAP", here, why=f"width {100 * one.width:.2f} points"))
    bounds = [(one.report["mAP"].lower, one.report["mAP"].upper, one.sorts) for one in methods]
    inside = sum(lower <= value <= upper for lower, upper, values in bounds for value in values)
    findings.append(Finding("values of five sorts within the bounds", f"{inside} of {len(SORTS) * len(methods)}"))
    left_open = {f"the bounds of {measure}": _between_bounds(measure) for measure in MEASURES}
    left_open["stable sorts of three orders of the gallery"] = _of_stable_sorts
    left_open["orders of the gallery made on purpose"] = lambda each: each.reached
    for name, interval in left_open.items():
        n, n_pair = n_open(methods, interval)
        findings.append(Finding(f"pairs of methods in either order, by {name}", f"{n} of {n_pair}"))
    return findings


def _conclusion(methods: Sequence[Coded]) -> str:
    one, several = ([each for each in methods if (each.labels, each.method) == (labels, "ITQ")] for labels in LABELS)
    first, last = one[0], one[-1]
    narrowest = min(each.width for each in methods)
    of_bounds, of_sorts = (n_open(methods, interval) for interval in (_between_bounds("mAP"), _of_stable_sorts))
    three = [f"{100 * last.report[name].expected:.1f}" for name in MEASURES[1:]]
    moved = [_range(each.sorts[:2]) for each in (several[-1], several[0])]
    return (
        f"Ties leave the mAP of ITQ open by {100 * first.width:.1f} points with {first.bits} bits and by "
        f"{100 * last.width:.1f} with {last.bits}; the narrowest of {len(methods)} intervals is {100 * narrowest:.1f} "
        f"points wide. Stable sorts of the same {last.bits} bits print {_range(_of_stable_sorts(last))} % in three "
        f"orders of the gallery, and {_range(last.reached)} % in orders made on purpose. With several labels, sorting "
        f"the gallery by class moves them from {moved[0]} %, and {first.bits} bits from {moved[1]} %. Which of two "
        f"methods is better is open within the bounds in {of_bounds[0]} of {of_bounds[1]} pairs, and between the "
        f"stable sorts in {of_sorts[0]}. The three definitions of mAP@100 give ITQ's {last.bits} bits {three[0]}, "
        f"{three[1]} and {three[2]} %."
    )


def _range(interval: Sequence[float]) -> str:
    return " to ".join(f"{100 * value:.2f}" for value in interval)


def _figure(methods: Sequence[Coded]) -> Figure:
    figure = style.figure(8.6, 4.0)
    bits = list(dict.fromkeys(each.bits for each in methods))
    for ax, (labels, title) in zip(figure.subplots(1, 2), LABELS.items(), strict=True):
        style.quiet(ax).set_title(title, fontsize="medium")
        for number, method in enumerate(METHODS):
            rows = [each for each in methods if (each.labels, each.method) == (labels, method)]
            places = [bits.index(each.bits) + 0.24 * (number - 1) for each in rows]
            values = 100 * np.array([[*_triple(each, "mAP"), *each.reached] for each in rows]).T
            colour = style.CYCLE[number]
            ax.vlines(places, values[0], values[2], color=colour, linewidth=1.5)
            if labels == "digit":
                ax.vlines(places, values[3], values[4], color=colour, linewidth=5, alpha=0.5)
            sort = "gallery sorted by class, stable sort" if number == len(METHODS) - 1 else None
            sorted_by_class = [100 * each.sorts[1] for each in rows]
            ax.plot(places, values[1], style.MARKERS[number], color=colour, markersize=5, label=method)
            ax.plot(places, sorted_by_class, "_", color=style.INK, markersize=11, label=sort)
        ax.set_xticks(range(len(bits)), [str(number) for number in bits])
        ax.set(xlabel="bits", ylabel="mAP (%)")
    handles = figure.axes[0].get_legend_handles_labels()
    figure.legend(*handles, frameon=False, fontsize="small", loc="outside lower center", ncols=len(METHODS) + 1)
    return figure
