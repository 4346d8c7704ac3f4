"""Other libraries' measures, as `docs/coming-from.md` translates them, by the formulas of their sources."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

import deadheat as dh

Hits = Sequence[int]  # 1 for a relevant item, by rank; K of them were returned
K = 6
PAGE = (Path(__file__).parents[2] / "docs" / "coming-from.md").read_text(encoding="utf-8")


def precisions(hits: Hits) -> list[float]:
    return [sum(hits[:rank]) / rank for rank, hit in enumerate(hits, 1) if hit]


def long_memory(hits: Hits) -> float:
    """LongMemEval's DCG: the first gain, and others over the logarithm of their rank."""
    return hits[0] + sum(hit / math.log2(rank) for rank, hit in enumerate(hits[1:], 2))


THEIRS: dict[str, tuple[str, Callable[[Hits, int], float]]] = {  # by library and name: ours, and theirs of hits and R
    "OML, precision": (f"Recall(over='possible')@{K}", lambda hits, r: sum(hits) / min(K, r)),
    "OML, map": (f"mAP(over='possible')@{K}", lambda hits, r: sum(precisions(hits)) / min(K, r)),
    "recommenders, map": (f"mAP@{K}", lambda hits, r: sum(precisions(hits)) / r),
    "recommenders, map_at_k": (f"mAP(over='possible')@{K}", lambda hits, r: sum(precisions(hits)) / min(r, K)),
    "RecBole, MAP": (f"mAP(over='possible')@{K}", lambda hits, r: sum(precisions(hits)) / min(r, K)),
    "LlamaIndex, ap": (f"mAP@{K}", lambda hits, r: sum(precisions(hits)) / r),
    "LlamaIndex, precision": ("SetP", lambda hits, r: sum(hits) / len(hits)),
    "LlamaIndex, recall": ("SetR", lambda hits, r: sum(hits) / r),
    "ragas, context_precision": ("mAP(over='hits')", lambda hits, r: sum(precisions(hits)) / max(sum(hits), 1)),
    "LongMemEval, ndcg_any": (
        f"ndcg_any@{K}", lambda hits, r: long_memory(hits) / long_memory([1] * min(r, K) + [0] * (K - min(r, K)))
    ),
}  # fmt: skip


@pytest.fixture
def long_mem_eval() -> Iterator[None]:
    row = dh.measures.register("ndcg-any", lambda rank: 1 / np.log2(np.maximum(rank, 2)), over="best")
    yield
    dh.measures.unregister(row.name)


@pytest.mark.parametrize("theirs", THEIRS)
def test_the_name_of_the_page_has_their_value(theirs: str, long_mem_eval: None) -> None:
    """For a run of K documents without ties, of which some are relevant, and for relevant ones that it lacks."""
    (ours, formula), rng = THEIRS[theirs], random.Random(0)
    for _ in range(40):
        hits, missing = [rng.randint(0, 1) for _ in range(K)], rng.choice((0, 1, 3, 9))
        if not (any(hits) or missing):
            continue
        run = {"q": {f"d{rank}": float(-rank) for rank in range(K)}}
        qrels = {"q": {f"d{rank}": hit for rank, hit in enumerate(hits)} | {f"m{i}": 1 for i in range(missing)}}
        value = dh.evaluate(dh.from_run(run, qrels), ours)[ours].expected
        assert value == pytest.approx(formula(hits, sum(hits) + missing), rel=1e-14)


def test_the_page_names_each_of_them() -> None:
    for theirs, (ours, _) in THEIRS.items():
        library, name = theirs.split(", ")
        (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| {library}, "))
        assert f"`{name}" in row
        assert ours.replace(f"@{K}", "") in row


def test_an_unknown_measure_of_theirs_says_what_to_write() -> None:
    with pytest.raises(
        ValueError, match=r"'ndcg_any@3' is LongMemEval's nDCG, .*dh\.measures\.register\('ndcg-any'"
    ) as it:
        dh.evaluate(dh.from_run({"q": {"a": 1.0}}, {"q": {"a": 1}}), "ndcg_any@3")
    exec(f"row = {str(it.value).partition('for it, ')[2]}", {"dh": dh, "np": np})
    dh.measures.unregister("ndcg-any")
