"""The names that `distance` and `ties` take, as types, so that mypy finds a misspelt name.

At run time the names are checked by `checks.choice`, which takes them in any case.
"""

from __future__ import annotations

from typing import Literal

DistanceName = Literal[
    "cosine", "euclidean", "inner_product", "cityblock", "hamming", "correlation", "jaccard", "dice",
    "cos", "l2", "L2", "l1", "L1", "manhattan", "taxicab", "dot", "dot_product", "ip", "inner", "pearson",
    "tanimoto",
]  # fmt: skip

TiesName = Literal[
    "exact", "float16", "bfloat16", "float32",
    "fp16", "f16", "half", "bf16", "fp32", "f32", "single",
]  # fmt: skip

ScoreTiesName = Literal[TiesName, "float64"]  # of scores that are given
