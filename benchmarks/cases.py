"""The cases that are measured, as data: each with its shape, its yardstick and its target (a row of `targets`).

A case is timed against its yardstick by turns, and the ratio of the medians is compared with the target, unless its
section measures something else (`running`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from benchmarks import cliffs
from benchmarks.targets import ENGINE, QUESTIONS, TARGETS, Target

SECTIONS = {
    "size": "counted in the checkout: how much there is to read",
    "threads": "one thread / two threads: of the float32 product, and of evaluate",
    "interpreter": "share of wall time in which two threads hold the interpreter",
    "leave one out": "yardstick: the whole N × N float32 product, each thread by itself in row blocks of 512",
    "query and gallery": "yardstick: the query × gallery float32 product, in the same way",
    "degenerate": "yardstick: evaluate on random data of the same shape, with the same labels",
    "cliffs": "yardstick: evaluate on random data of the same shape, type and labels; ended after 60 s",
    "cityblock": "yardstick: scipy.spatial.distance.cdist alone on the same data (it has one thread)",
    "hamming": "yardstick: NumPy XOR and bitwise_count in cache-sized blocks, in the same number of threads",
    "candidates": "yardstick: a neighbour's own arithmetic on the scores of n queries x d candidates",
    "several labels": "yardstick: all Hamming distances and the product of the labels by NumPy; an argsort a query",
    "questions": "every public question of a task that is counted, unless said; yardstick: what each names, or none",
    "device": "yardstick: the float32 product by PyTorch on a GPU, of rows that are there already, 4096 at a time",
    "memory": "growth of the resident set over the inputs, however many relevant pairs",
    "interrupt": "seconds from a Ctrl-C to the end of the evaluation, the worst of several moments",
    "out of core": "all that the process has resident",
    "growth": "exponents of power laws fitted to the times of the product, and of evaluate",
    "starting": "seconds in a fresh process",
    "rivals": "what other programs take for less: no bounds, no expectation",
}
"""The sections in the order in which they run, and what a row of each compares."""

FORMS = ("sharded .npy", "one .npy", "memmap", "parquet")
"""Forms of a gallery that is out of core on the disk."""


@dataclass(frozen=True)
class Case:
    """One measurement.

    Attributes
    ----------
    section : str
        One of `SECTIONS`.
    data : str
        The kind of embeddings, one of `data.KINDS`; out of core, one of `FORMS`; size and starting, what is measured.
    n, dim : int
        Gallery items (under leave one out also the queries) and their dimension; for ``hamming``, the bits.
    class_size : int
        Items of each class in the gallery; real data have classes of their own.
    distance : str
    yardstick : str
        What `evaluate` is compared with, a name in `yardsticks.YARDSTICKS`; empty where it is compared with nothing.
    target : Target or None
    n_query : int or None
        Queries; None for leave one out.
    along : tuple of int
        Under ``growth``, the values that `axis` takes.
    axis : str
        ``"n"`` or ``"dim"``.
    ties : str
        One of `yardsticks.TIES`.
    """

    section: str
    data: str
    n: int = 0
    dim: int = 0
    class_size: int = 0
    distance: str = "cosine"
    yardstick: str = ""
    target: Target | None = None
    n_query: int | None = None
    along: tuple[int, ...] = ()
    axis: str = ""
    ties: str = "exact"

    @property
    def name(self) -> str:
        """The name of the case in tables, and for ``--only``."""
        return f"{self.section} {self.short_name}"

    @property
    def short_name(self) -> str:
        """The name within its section."""
        queries = "" if self.n_query is None else f"{self.n_query} to "
        match self.section:
            case "growth":
                shape = f"N {self.n}" if self.axis == "dim" else f"d {self.dim}"
                return f"with {'d' if self.axis == 'dim' else 'N'} {self.along[0]}..{self.along[-1]}, {shape}"
            case "starting" | "size":
                return self.data
            case "questions":
                return f"{self.data}, {self.n}"
            case "rivals":
                return f"{self.yardstick} {self.n}x{self.dim}"
            case "candidates":
                return f"{self.yardstick} {self.n}x{self.dim} {self.data}"
        own_classes = self.data == "George Washington" or self.data in cliffs.CLASSES
        classes = "" if own_classes else f", classes of {self.class_size}"
        ties = "" if self.ties == "exact" else f", {self.ties} ties"
        return f"{queries}{self.n}x{self.dim} {self.distance} {self.data}{classes}{ties}"

    def scaled(self, factor: float) -> Case:
        """The same case with fewer items, for a smoke run; the dimension stays."""
        if factor == 1:
            return self
        n = _shrunk(self.n, factor, 240)
        return dataclasses.replace(
            self,
            n=n,
            class_size=min(self.class_size, n // 4),
            n_query=None if self.n_query is None else _shrunk(self.n_query, factor, 60),
            along=tuple(_shrunk(size, factor, 240) for size in self.along) if self.axis == "n" else self.along,
        )

    def of_at_most(self, n: int) -> Case:
        """The same kind of data with no more than so many items."""
        return self.scaled(min(1.0, n / self.n))


def _shrunk(count: int, factor: float, least: int) -> int:
    return min(count, max(least, round(count * factor)))


_PRODUCTS = ("cosine", "euclidean", "inner_product")
_BOTH = ("cosine", "euclidean")
_FOUR = ((10_000, 128, 5, "random"), (10_000, 128, 1000, "random"), (20_000, 512, 100, "random"),
         (10_000, 64, 20, cliffs.GIANT))  # fmt: skip
"""Items, dimension, class size and kind of the cases with one thread and with more."""


def _size() -> Iterator[Case]:
    for data in ("python", "core"):
        yield Case("size", TARGETS[data].what, target=TARGETS[data])


def _four(section: str, yardstick: str = "") -> Iterator[Case]:
    for n, dim, size, data in _FOUR:
        yield Case(section, data, n, dim, size, "cosine", yardstick, TARGETS[section])


def _leave_one_out() -> Iterator[Case]:
    for distance in _PRODUCTS:
        for n, dim in ((20_000, 512), (10_000, 128)):
            for data in ("random", "clustered"):
                for size in (5, 100, 1000):
                    target = TARGETS[f"{n}x{dim} {data}, {size}"]
                    yield Case("leave one out", data, n, dim, size, distance, "product", target)


def _query_and_gallery() -> Iterator[Case]:
    for distance in _PRODUCTS:
        for data in ("random", "clustered"):
            target = TARGETS[f"gallery {data}"]
            yield Case("query and gallery", data, 100_000, 256, 100, distance, "product", target, n_query=5_000)


def _degenerate() -> Iterator[Case]:
    kinds = ("all zero", "all duplicates", "1 % distinct", "±1 codes", "int8")
    target = TARGETS["degenerate"]
    for n, dim in ((10_000, 128), (20_000, 512)):
        for data in kinds:
            yield Case("degenerate", data, n, dim, 100, "cosine", "random data", target)
    for distance in _BOTH:
        yield Case("degenerate", "George Washington", 10_000, 504, 23, distance, "random data", target)


_LONG_SUMS = {"both ends of the range": 16, "last bits": 13}  # kind, numbers in a row
_FEW_KINDS = ("float64 softmax", "collapsed", "tf-idf", "two-valued", "one decimal", "time stamps")


def _cliffs() -> Iterator[Case]:
    for n in (2_000, 20_000):
        for distance in _BOTH:
            yield _cliff("random", n, distance, None)
            for data in cliffs.NAMED:
                yield _cliff(data, n, distance, f"cliffs {n}")
            for data in cliffs.ADVERSARIAL:
                yield _cliff(data, n, distance, f"hurt {n}")
    for data in cliffs.HALVES, cliffs.NINE_TENTHS:
        for distance in _BOTH:
            yield _cliff(data, 20_000, distance, "giant")
    for data, dim in _LONG_SUMS.items():
        for n in (1_000, 8_000):
            for distance in _BOTH:
                yield _cliff(data, n, distance, data, dim=dim)
    for data in _FEW_KINDS:
        for distance in ("inner_product", "cityblock"):
            yield _cliff(data, 2_000, distance, "cliffs 2000")
        yield _cliff(data, 2_000, "cosine", "cliffs 2000", ties="float16")
        yield _cliff(data, 2_000, "euclidean", "cliffs 2000", ties="Tolerance(0.001)")
    yield _cliff("int8", 2_000, "euclidean", "cliffs 2000", ties="Tolerance(0.001)")
    yield _cliff("packed bits", 2_000, "hamming", "cliffs 2000", ties="Tolerance(0.001)")


def _cliff(data: str, n: int, distance: str, target: str | None, *, dim: int = 64, ties: str = "exact") -> Case:
    wanted = None if target is None else TARGETS[target]
    return Case("cliffs", data, n, dim, 20, distance, "random data of its type", wanted, ties=ties)


def _device() -> Iterator[Case]:
    for n, dim in ((20_000, 512), (100_000, 512)):
        for data in ("random", "clustered"):
            yield Case("device", data, n, dim, 100, "cosine", "product on the device")
    yield Case("device", "random", 100_000, 256, 100, "euclidean", "product on the device", n_query=5_000)


def _memory() -> Iterator[Case]:
    for data, n, dim, size, n_query, *ties in (
        ("random", 10_000, 128, 100, None), ("random", 20_000, 128, 100, None), ("random", 40_000, 128, 100, None),
        ("random", 80_000, 128, 100, None), ("random", 20_000, 512, 5, None), ("random", 20_000, 512, 100, None),
        ("random", 20_000, 512, 1000, None), ("random", 20_000, 64, 5000, None), ("random", 100_000, 256, 100, 5_000),
        (cliffs.HALVES, 20_000, 64, 20, None), ("counts over norms", 20_000, 64, 20, None),
        ("both ends of the range", 8_000, 16, 20, None), (cliffs.TIED_HALVES, 20_000, 64, 20, None),
        (cliffs.TIED_HALVES, 10_000, 64, 20, None, "float16"), ("random", 200, 200_000, 20, None),
    ):  # fmt: skip
        yield Case("memory", data, n, dim, size, target=TARGETS["memory"], n_query=n_query, ties=(*ties, "exact")[0])


def _interrupt() -> Iterator[Case]:
    for data, n, dim, size, distance, ties, n_query in (
        ("random", 20_000, 512, 100, "cosine", "exact", None),
        ("random", 20_000, 512, 1000, "euclidean", "Tolerance(0.001)", None),
        ("random", 100_000, 256, 100, "cosine", "float16", 5_000),
        ("int8", 5_000, 128, 100, "cityblock", "exact", None),
        ("packed bits", 50_000, 256, 100, "hamming", "exact", None),
        (cliffs.HALVES, 20_000, 64, 20, "cosine", "exact", None),
        ("counts over norms", 20_000, 64, 20, "euclidean", "exact", None),
        ("saturated sigmoid", 20_000, 64, 20, "cosine", "exact", None),
        ("both ends of the range", 8_000, 16, 20, "cosine", "exact", None),
        ("last bits", 8_000, 13, 20, "euclidean", "exact", None),
    ):
        yield Case(
            "interrupt", data, n, dim, size, distance, target=TARGETS["interrupt"], n_query=n_query, ties=ties
        )  # fmt: skip


def _growth() -> Iterator[Case]:
    in_n, in_dim = (10_000, 20_000, 40_000, 80_000), (64, 128, 256, 512, 1024)
    yield Case("growth", "random", 80_000, 128, 100, "cosine", "product", TARGETS["growth"], along=in_n, axis="n")
    yield Case("growth", "random", 10_000, 1024, 100, "cosine", "product", along=in_dim, axis="dim")


def _starting() -> Iterator[Case]:
    targets = {"import and first call": TARGETS["import"], "command": TARGETS["command"]}
    for what in ("import", "first call", "NumPy's import in it", *targets):
        yield Case("starting", what, target=targets.get(what))


def _rivals() -> Iterator[Case]:
    of_size = {
        10_000: (
            "NumPy product and argsort",
            "faiss exact search, top R",
            "pytorch-metric-learning AccuracyCalculator",
        ),
        2_000: ("scikit-learn average_precision_score", "torchmetrics RetrievalMAP", "ranx evaluate"),
    }
    for n, names in of_size.items():
        for name in names:
            yield Case("rivals", "random", n, 128, 100, "cosine", name)


def _candidates() -> Iterator[Case]:
    for yardstick, n in (("OGB's arithmetic", 100_000), ("sentence-transformers' arithmetic", 2_000)):
        for data in ("continuous", "8 levels"):
            yield Case("candidates", data, n, 1_000, yardstick=yardstick, target=TARGETS["candidates"])


def _several_labels(yardstick: str, target: Target | None = None) -> Case:
    """Return the case of a set with 81 labels, as large as NUS-WIDE."""
    data = f"81 labels, {yardstick}"
    return Case("several labels", data, 193_734, 64, 0, "hamming", yardstick, target, n_query=2_100)


CASES: tuple[Case, ...] = (
    *_size(),
    *_four("threads", "product"),
    *_four("interpreter"),
    *_leave_one_out(),
    *_query_and_gallery(),
    *_degenerate(),
    *_cliffs(),
    *(
        Case("cityblock", data, 5_000, 128, 100, "cityblock", "cdist", TARGETS["cityblock"])
        for data in ("random", "clustered", "int8")
    ),
    Case("hamming", "packed bits", 50_000, 256, 100, "hamming", "XOR", TARGETS["hamming"]),
    Case("hamming", "packed bits", 200_000, 2_048, 100, "jaccard", "XOR", TARGETS["jaccard"], n_query=2_000),
    *_candidates(),
    _several_labels("XOR and the labels' product", TARGETS["several labels"]),
    _several_labels("argsort of each query"),
    *(
        Case("questions", name, n, 64, 20, "", yardstick, TARGETS[name])
        for name, (n, yardstick, _) in QUESTIONS.items()
    ),
    *_device(),
    *_memory(),
    *_interrupt(),
    *(Case("out of core", form, 2_000_000, 128, 100, target=TARGETS["out of core"], n_query=2_000) for form in FORMS),
    *_growth(),
    *_starting(),
    *_rivals(),
)


def select(patterns: Iterable[str]) -> list[Case]:
    """The cases whose name matches one of the patterns; all of them without a pattern.

    A pattern is a part of the name, whatever the case of its letters; with ``*`` or ``?`` in it, it stands for the
    whole name, so that ``*classes of 100`` leaves out classes of 1000. ``targets`` is every case of the targets of the
    engine.
    """
    wanted = [text.lower() if set(text) & set("*?") else f"*{text.lower()}*" for text in patterns]
    return [
        case
        for case in CASES
        if not wanted
        or any(fnmatchcase(case.name.lower(), text) for text in wanted)
        or ("*targets*" in wanted and case.target in ENGINE.values())
    ]
