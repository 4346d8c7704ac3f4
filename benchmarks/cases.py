"""What is measured, as data: each case with its shape, its yardstick and its target.

A case is timed against its yardstick by turns, and the ratio of the medians is compared with the target. Cases of the
sections `memory`, `growth`, `out of core` and `starting` measure something else, in the module of that name. Those of
`cliffs` are stopped where they take too long, by `limited`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from benchmarks import cliffs

SECTIONS = {
    "leave one out": "yardstick: the whole N × N float32 product in row blocks of 512 into one buffer",
    "query and gallery": "yardstick: the query × gallery float32 product in row blocks of 512 into one buffer",
    "degenerate": "yardstick: evaluate on random data of the same shape, with the same labels",
    "cliffs": "yardstick: evaluate on random data of the same shape, type and labels; ended after 60 s",
    "cityblock": "yardstick: scipy.spatial.distance.cdist alone on the same data (it has one thread)",
    "hamming": "yardstick: NumPy XOR and bitwise_count in cache-sized blocks, in the same number of threads",
    "device": "yardstick: the float32 product by PyTorch on a GPU, of rows that are there already, 4096 at a time",
    "memory": "growth of the resident set over the inputs; limit: 200 MB, however many relevant pairs",
    "out of core": "all that the process has resident, against 1 GB",
    "growth": "exponents of power laws fitted to the times of the product, and of evaluate",
    "starting": "seconds in a fresh process",
    "rivals": "what other programs take for less: no bounds, no expectation",
}
"""The sections in the order in which they run, and what a row of each compares."""

FORMS = ("sharded .npy", "one .npy", "memmap", "parquet")
"""How a gallery that is out of core can lie on the disk."""


@dataclass(frozen=True)
class Case:
    """One measurement.

    Attributes
    ----------
    section : str
        One of `SECTIONS`.
    data : str
        The kind of embeddings, one of `data.KINDS`; out of core, one of `FORMS`; starting, what is timed.
    n, dim : int
        Gallery items (under leave one out also the queries) and their dimension; for ``hamming``, the bits.
    class_size : int
        Items of each class in the gallery; real data have classes of their own.
    distance : str
    yardstick : str
        What `evaluate` is compared with: a name in `yardsticks.YARDSTICKS`, or for the other sections the limit.
    target : float or None
        The largest ratio that meets the target; with a `tolerance`, the value to be met.
    tolerance : float or None
        How far either way from the target still meets it.
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
    n: int
    dim: int
    class_size: int
    distance: str
    yardstick: str
    target: float | None
    tolerance: float | None = None
    n_query: int | None = None
    along: tuple[int, ...] = ()
    axis: str = ""
    ties: str = "exact"

    @property
    def name(self) -> str:
        """What the case is called in tables, and by ``--only``."""
        return f"{self.section} {self.short_name}"

    @property
    def short_name(self) -> str:
        """The name within its section."""
        queries = "" if self.n_query is None else f"{self.n_query} to "
        match self.section:
            case "growth":
                shape = f"N {self.n}" if self.axis == "dim" else f"d {self.dim}"
                return f"with {'d' if self.axis == 'dim' else 'N'} {self.along[0]}..{self.along[-1]}, {shape}"
            case "starting":
                return self.data
            case "rivals":
                return f"{self.yardstick} {self.n}x{self.dim}"
        classes = "" if self.data == "George Washington" else f", classes of {self.class_size}"
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


def _shrunk(count: int, factor: float, least: int) -> int:
    return min(count, max(least, round(count * factor)))


_PRODUCTS = ("cosine", "euclidean", "inner_product")


def _leave_one_out() -> Iterator[Case]:
    targets = {  # for classes of 5, 100 and 1000
        (20_000, 512, "random"): (0.65, 0.9, 1.5),
        (20_000, 512, "clustered"): (0.65, 0.75, 1.2),
        (10_000, 128, "random"): (0.9, 1.5, 4.0),
        (10_000, 128, "clustered"): (0.9, 1.2, 3.0),
    }
    for distance in _PRODUCTS:
        for (n, dim, data), of_sizes in targets.items():
            for size, target in zip((5, 100, 1000), of_sizes, strict=True):
                yield Case("leave one out", data, n, dim, size, distance, "product", target)


def _query_and_gallery() -> Iterator[Case]:
    for distance in _PRODUCTS:
        for data, target in (("random", 1.3), ("clustered", 1.1)):
            yield Case("query and gallery", data, 100_000, 256, 100, distance, "product", target, n_query=5_000)


def _degenerate() -> Iterator[Case]:
    kinds = ("all zero", "all duplicates", "1 % distinct", "±1 codes", "int8")
    for n, dim in ((10_000, 128), (20_000, 512)):
        for data in kinds:
            yield Case("degenerate", data, n, dim, 100, "cosine", "random data", 1.5)
    for distance in ("cosine", "euclidean"):
        yield Case("degenerate", "George Washington", 10_000, 504, 23, distance, "random data", 1.5)


_NAMED_TARGET, _ADVERSARIAL_TARGET = 3.0, 10.0
_LONG_SUMS = (("both ends of the range", 16, 30.0), ("last bits", 13, 10.0))  # kind, numbers in a row, target
_FEW_KINDS = ("float64 softmax", "collapsed", "tf-idf", "two-valued", "one decimal", "time stamps")


def _cliffs() -> Iterator[Case]:
    for n in (2_000, 20_000):
        for distance in ("cosine", "euclidean"):
            yield _cliff("random", n, distance, "exact", None)
            for data in cliffs.NAMED:
                yield _cliff(data, n, distance)
            for data in cliffs.ADVERSARIAL:
                yield _cliff(data, n, distance, target=_ADVERSARIAL_TARGET)
    for data, dim, target in _LONG_SUMS:
        for n in (1_000, 8_000):
            for distance in ("cosine", "euclidean"):
                yield dataclasses.replace(_cliff(data, n, distance, target=target), dim=dim)
    for data in _FEW_KINDS:
        for distance in ("inner_product", "cityblock"):
            yield _cliff(data, 2_000, distance)
        yield _cliff(data, 2_000, "cosine", "float16")
        yield _cliff(data, 2_000, "euclidean", "Tolerance(0.001)")
    yield _cliff("int8", 2_000, "euclidean", "Tolerance(0.001)")
    yield _cliff("packed bits", 2_000, "hamming", "Tolerance(0.001)")


def _cliff(data: str, n: int, distance: str, ties: str = "exact", target: float | None = _NAMED_TARGET) -> Case:
    return Case("cliffs", data, n, 64, 20, distance, "random data of its type", target, ties=ties)


def _device() -> Iterator[Case]:
    for n, dim in ((20_000, 512), (100_000, 512)):
        for data in ("random", "clustered"):
            yield Case("device", data, n, dim, 100, "cosine", "product on the device", None)
    yield Case("device", "random", 100_000, 256, 100, "euclidean", "product on the device", None, n_query=5_000)


def _memory() -> Iterator[Case]:
    for n, dim, size in (
        (10_000, 128, 100), (20_000, 128, 100), (40_000, 128, 100), (80_000, 128, 100),
        (20_000, 512, 5), (20_000, 512, 100), (20_000, 512, 1000), (20_000, 64, 5000),
    ):  # fmt: skip
        yield Case("memory", "random", n, dim, size, "cosine", "limit", 1.0)


def _growth() -> Iterator[Case]:
    in_n, in_dim = (10_000, 20_000, 40_000, 80_000), (64, 128, 256, 512, 1024)
    yield Case("growth", "random", in_n[-1], 128, 100, "cosine", "product", 2.0, 0.05, along=in_n, axis="n")
    yield Case("growth", "random", 10_000, in_dim[-1], 100, "cosine", "product", None, along=in_dim, axis="dim")


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
            yield Case("rivals", "random", n, 128, 100, "cosine", name, None)


CASES: tuple[Case, ...] = (
    *_leave_one_out(),
    *_query_and_gallery(),
    *_degenerate(),
    *_cliffs(),
    *(Case("cityblock", data, 5_000, 128, 100, "cityblock", "cdist", 0.5) for data in ("random", "clustered", "int8")),
    Case("hamming", "packed bits", 50_000, 256, 100, "hamming", "XOR", 0.5),
    *_device(),
    *_memory(),
    *(Case("out of core", form, 2_000_000, 128, 100, "cosine", "1 GB", 1.0, n_query=2_000) for form in FORMS),
    *_growth(),
    *(
        Case("starting", what, 100, 8, 20, "cosine", "nothing", target)
        for what, target in (
            ("import", None),
            ("first call", None),
            ("NumPy's import in it", None),
            ("import and first call", 0.3),
            ("command", 0.5),
        )
    ),
    *_rivals(),
)


def select(patterns: Iterable[str]) -> list[Case]:
    """The cases whose name matches one of the patterns; all of them without a pattern.

    A pattern is a part of the name, whatever the case of its letters; with ``*`` or ``?`` in it, it stands for the
    whole name, so that ``*classes of 100`` leaves out classes of 1000.
    """
    wanted = [text.lower() if set(text) & set("*?") else f"*{text.lower()}*" for text in patterns]
    return [case for case in CASES if not wanted or any(fnmatchcase(case.name.lower(), text) for text in wanted)]
