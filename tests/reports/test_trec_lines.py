"""Everything that trec_eval's lines have, against all orders of the tied documents, one run without ties for each."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest

import deadheat as dh
from deadheat.measures.trec_names import LEFT_OUT, expanded
from deadheat.reports import trec_lines

NAMES = [name for name in expanded("all_trec") if name not in LEFT_OUT and name not in ("runid", "num_q")]
BOUNDS_ONLY = ("gm_map", "gm_bpref")


def of_all(run: dict[str, Any], qrels: dict[str, Any], rel: int) -> dict[str, Any]:
    report = dh.evaluate_run(run, qrels, rel=rel, singletons="zero", complete=False)
    return {name: trec_lines._row(report, name, rel, 20).of_all for name in NAMES}


@pytest.mark.parametrize("seed", range(12))
def test_every_order_of_the_ties(seed: int) -> None:
    rng = random.Random(seed)
    rel, documents = rng.choice([1, 1, 2]), "abcdefgh"
    qrels = {"q": {d: rng.choice([-1, 0, 0, 1, 2, 3]) for d in rng.sample(documents, 6)} | {"y": 1, "z": 3}}
    groups: list[list[str]] = [[], [], []]
    for document in documents[: rng.randint(4, 7)]:
        rng.choice(groups).append(document)
    tied = {document: float(-place) for place, group in enumerate(groups) for document in group}
    values: dict[str, list[Any]] = {name: [] for name in NAMES}
    for order in itertools.product(*map(itertools.permutations, groups)):
        ranked = [document for group in order for document in group]
        run = {"q": {document: float(-rank) for rank, document in enumerate(ranked)}}
        for name, value in of_all(run, qrels, rel).items():
            assert isinstance(value, int) or value.lower == value.upper
            values[name].append(value if isinstance(value, int) else value.lower)
    for name, value in of_all({"q": tied}, qrels, rel).items():
        if isinstance(value, int):
            assert set(values[name]) == {value}, name
            continue
        assert value.lower == pytest.approx(min(values[name]), abs=1e-12), name
        assert value.upper == pytest.approx(max(values[name]), abs=1e-12), name
        if name in BOUNDS_ONLY and value.lower < value.upper:
            assert math.isnan(value.expected)
        else:
            assert value.expected == pytest.approx(math.fsum(values[name]) / len(values[name]), abs=1e-12), name
