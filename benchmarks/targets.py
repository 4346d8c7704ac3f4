"""All targets in one table: what is asked for, and the figure that meets it.

`ENGINE` is what the engine has to reach, in the order in which ``--only targets`` prints it; `OTHERS` are the rest.
A case names its target by the key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Target:
    """A figure to reach: at most or at least `limit`, or within `tolerance` of it."""

    what: str
    limit: float
    kind: Literal["at most", "at least", "about"] = "at most"
    tolerance: float = 0.0

    def missed_by(self, figure: float) -> float:
        """Return the excess of a figure over its limit, at most 0 if met: a share of the limit, or a difference."""
        if self.kind == "about":
            return abs(figure - self.limit) - self.tolerance
        return 1 - figure / self.limit if self.kind == "at least" else figure / self.limit - 1

    def __str__(self) -> str:
        if self.kind == "about":
            return f"{self.limit:.2f} ± {self.tolerance:g}"
        return f"{'≥' if self.kind == 'at least' else '≤'} {self.limit:g}"


def _to_the_product() -> dict[str, Target]:
    limits = {  # for classes of 5, 100 and 1000
        "20000x512 clustered": (0.4, 0.45, 1.0),
        "20000x512 random": (0.45, 0.65, 1.5),
        "10000x128 clustered": (0.5, 0.8, 2.0),
        "10000x128 random": (0.5, 1.0, 3.0),
    }
    return {
        f"{data}, {size}": Target(f"{data}, classes of {size}, to the product", limit)
        for data, of_sizes in limits.items()
        for size, limit in zip((5, 100, 1000), of_sizes, strict=True)
    }


ENGINE: dict[str, Target] = {
    "python": Target("lines of Python in src/deadheat", 32_000),
    "core": Target("lines in src/core", 10_800),
    "interpreter": Target("share of wall time in which the interpreter is held, two threads", 0.02),
    "threads": Target("one thread / two threads, where the product reaches 1.9", 1.85, "at least"),
    **_to_the_product(),
    "gallery clustered": Target("5,000 to 100,000 × 256 clustered, to the product", 1.1),
    "gallery random": Target("5,000 to 100,000 × 256 random, to the product", 1.3),
    "giant": Target("one giant class, 20,000 × 64, to random data in classes of 20", 6),
    "cliffs 2000": Target("cliffs at 2,000 rows", 3),
    "cliffs 20000": Target("cliffs at 20,000 rows", 3),
    "hurt 2000": Target("made to hurt, at 2,000 rows", 10),
    "hurt 20000": Target("made to hurt, at 20,000 rows", 10),
    "both ends of the range": Target("both ends of the range × 16, at 1,000 and 8,000 rows", 30),
    "last bits": Target("last bits × 13, at 1,000 and 8,000 rows", 10),
    "memory": Target("more memory than the inputs, MB", 200),
    "interrupt": Target("seconds from Ctrl-C to its end, at worst", 0.5),
}
QUESTIONS: dict[str, tuple[int, str, float]] = {  # items, yardstick, and the limit: a ratio, or seconds without one
    "a second question": (20_000, "the first question", 0.2),
    "11pt_avg of codes": (20_000, "", 10),
    "ERR@20": (20_000, "", 0.05),
    "a random baseline's draw": (20_000, "evaluate of as many × 100", 1.2),
    "collisions": (20_000, "a sort of all rows", 2),
    "collisions of codes": (20_000, "", 1),
    "exploit of codes": (5_000, "", 5),
    "exploit of more codes": (20_000, "", 30),
    "precision_recall of codes": (20_000, "", 1),
    "leaderboard, 10 of 7 measures": (20_000, "", 1),
    "compare_formats": (20_000, "its eight passes", 1.5),
    "long curves": (20_000, "", 0.5),
    "sparse rows": (20_000, "SciPy's product", 20),
    "a run by lines of JSON": (20_000, "its TREC form", 1.5),
    "a run with a header": (20_000, "its TREC form", 1.5),
    **dict.fromkeys(
        ("interval", "compare", "p_values", "grouped", "split_half", "generalization_gap", "audit", "html_report",
         "hash_lookup", "confidence", "receipt", "read", "a run", "scores", "link prediction", "pairs",
         "classification", "index_recall", "index_recall_of_truth", "neighbours", "judged rows", "audit_collection"),
        (20_000, "", 1),
    ),
}  # fmt: skip
OTHERS: dict[str, Target] = {
    "degenerate": Target("degenerate data, to random data", 1.5),
    "cityblock": Target("city block, to cdist in one thread", 0.5),
    "hamming": Target("Hamming, to XOR by NumPy", 0.5),
    "jaccard": Target("Jaccard of 2,048 bits, to XOR by NumPy", 2.0),
    "candidates": Target("link prediction and reranking, to a neighbour's arithmetic", 1.0),
    "several labels": Target("codes with several labels, to XOR and the labels' product", 0.5),
    **{
        name: Target(f"{name}, {f'to {yardstick}' if yardstick else 'seconds'}", limit)
        for name, (_, yardstick, limit) in QUESTIONS.items()
    },
    "out of core": Target("all that is resident with a gallery on disk, MB", 1000),
    "growth": Target("exponent of the time in N", 2.0, "about", 0.05),
    "import": Target("seconds of import and first call", 0.3),
    "command": Target("seconds of the command on a tiny file", 0.5),
}
TARGETS = {**ENGINE, **OTHERS}
