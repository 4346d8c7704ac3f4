"""The bits of results on the data of the benchmarks and on random small data, to be compared with recorded ones.

In comes a folder of the shared data, or none; out comes a dictionary of texts: for each case the digest of its profile
and the hexadecimal bits of every mean. ``PYTHONPATH=tests python -m tests.bits`` writes them to ``tests/bits.json``.
They are facts about the data, so only a mended defect may change them, and the changelog then says which.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from graded_queries import (
    ALL_NAMES,
    EARLY_NAMES,
    GAIN_NAMES,
    INTERPOLATED_NAMES,
    NAMES,
    OVER_NAMES,
    SCALED_NAMES,
    SET_NAMES,
    SUM_NAMES,
)

import deadheat as dh
from benchmarks import cases, cliffs, data
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import DEFAULT_MEASURES, per_query, std

RECORDED = Path(__file__).with_name("bits.json")
MEASURES = (
    "mAP", "mAP@10", "MAP@R", "R-Precision", "P@5", "Recall@5", "Hit@1", "Hit@10", "F1@5", "MRR", "MRR@3", "nDCG",
    "nDCG@10", "nDCG(dcg='exp-log2')@10", "AUC", "mINP",
)  # fmt: skip
DISTANCES = ("cosine", "euclidean", "inner_product", "cityblock")
TIES = ("exact", "float16", "bfloat16", "float32", dh.Rounded("float16", of="distance"), dh.Tolerance(1e-3))
CLIFF_TIES = ("float16", "float32", dh.Rounded("float32", of="distance"), dh.Tolerance(1e-3))
SECTIONS = ("leave one out", "query and gallery", "degenerate", "cityblock", "hamming")


def of_report(report: dh.Report) -> list[str]:
    """The digest of a report's profile, and lower, expected, upper and deviation of each of its measures."""
    values = [getattr(report[name], what) for name in report for what in ("lower", "expected", "upper", "std")]
    return [report.profile.digest(), *(float(value).hex() for value in values)]


def of_arrays(*arrays) -> list[str]:
    """A digest of arrays."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype.str} ".encode() + np.ascontiguousarray(array).tobytes())
    return [digest.hexdigest()]


def of_values(results) -> list[str]:
    """The bits of lower, expected and upper of several results."""
    return [float(getattr(one, name)).hex() for one in results for name in ("lower", "expected", "upper")]


def everything(*, real: bool) -> dict[str, list[str]]:
    """All cases; `real` says whether George Washington is among them."""
    parts = (
        _measures(),
        _benchmarks(),
        _cliffs(),
        _small(),
        _scored(),
        _analyses(),
        *([george_washington()] if real else []),
    )
    return {name: bits for part in parts for name, bits in part}


def a_fixed_profile() -> TieProfile:
    """Groups from a linear congruential generator, so that they are the same for ever."""
    state = 12345
    queries, n_ranked = [], []
    for _ in range(40):
        groups, closer, seen = [], 0, 0
        for _ in range(12):
            draws = []
            for _ in range(4):
                state = (1103515245 * state + 12345) % 2**31
                draws.append(state >> 8)
            m = 1 + draws[1] % (100 if draws[3] % 3 == 0 else 3)
            tied = m + draws[2] % (200 if draws[3] % 5 == 0 else 2)
            closer += draws[0] % (5 * len(groups) + 1)
            groups.append((closer, seen, tied, m))
            closer, seen = closer + tied, seen + m
        queries.append(groups)
        n_ranked.append(closer + 7)
    return TieProfile.from_groups(queries, n_ranked)


def _measures() -> Iterator[tuple[str, list[str]]]:
    """Every measure of the tests on one profile, a digest for each name, so that a new one changes no other."""
    profile, names = a_fixed_profile(), [*NAMES, *GAIN_NAMES, *OVER_NAMES, *INTERPOLATED_NAMES, *ALL_NAMES, *SET_NAMES]
    names += [*EARLY_NAMES, *SUM_NAMES, *SCALED_NAMES, "MnR"]
    for name in dict.fromkeys([*names, *DEFAULT_MEASURES]):
        yield f"measure {name}", of_arrays(*(a.astype("<f8") for a in (*per_query(profile, name), std(profile, name))))


def _benchmarks() -> Iterator[tuple[str, list[str]]]:
    """The cases of the benchmarks that are generated, with about a thousand items."""
    chosen = [case for case in cases.CASES if case.section in SECTIONS and case.data != "George Washington"]
    yield from _evaluated(case.scaled(1000 / case.n) for case in chosen)


def _cliffs() -> Iterator[tuple[str, list[str]]]:
    """Kinds full of real ties, or of distances closer than float64 can tell: each with every distance.

    Other meanings of "tied", junk and a gallery come with one distance each, and with another one for the next kind.
    """
    kinds = {"random": data.KINDS["random"], **cliffs.NAMED, **cliffs.ADVERSARIAL}
    for number, (name, kind) in enumerate(kinds.items()):
        rng = np.random.default_rng([23, number])
        labels = rng.permutation(np.arange(132) // 6)
        rows, junk = kind(labels, 24, rng), cliffs.dense_junk(132, rng)
        labels = cliffs.CLASSES.get(name, np.asarray)(labels)
        given, split = (rows, labels), (rows[32:], labels[32:], rows[:32], labels[:32])
        ways = [(distance, "exact", given, None, "") for distance in DISTANCES]
        rolled = np.roll(DISTANCES, -number).tolist()
        ways += [(distance, ties, given, None, "") for distance, ties in zip(rolled, CLIFF_TIES, strict=True)]
        ways += [(rolled[0], "exact", given, junk, " junk"), (rolled[2], "exact", split, junk[32:, :32], " gallery")]
        for distance, ties, arrays, mask, what in ways:
            if distance == "inner_product" and getattr(ties, "of", None) == "distance":
                ties = "float32"
            report = dh.evaluate(*arrays, distance=distance, ties=ties, junk=mask, measures=MEASURES)
            yield f"cliffs {name} {distance} {ties}{what}", of_report(report)
    rng = np.random.default_rng(24)
    bits, labels = rng.random((132, 11)) < 0.5, rng.permutation(np.arange(132) // 6)
    for ties in TIES:
        if getattr(ties, "of", None) != "similarity":
            report = dh.evaluate(bits, labels, distance="hamming", ties=ties, measures=MEASURES)
            yield f"cliffs bits hamming {ties}", of_report(report)


def george_washington() -> Iterator[tuple[str, list[str]]]:
    """The cases of the benchmarks on real data with noise, and the real data as they are."""
    yield from _evaluated(case.scaled(1000 / case.n) for case in cases.CASES if case.data == "George Washington")
    with np.load(data.data_file("phocnet_gw.npz"), allow_pickle=False) as washington:
        features, labels = washington["phocnet_features"], washington["phocnet_labels"].ravel()
    for distance in DISTANCES:
        for ties in TIES if distance == "cosine" else TIES[:2]:
            report = dh.evaluate(features, labels, distance=distance, ties=ties, measures=MEASURES)
            yield f"George Washington {distance} {ties}", of_report(report)


def _evaluated(chosen: Iterable[cases.Case]) -> Iterator[tuple[str, list[str]]]:
    """Cases with classes and dimensions that are not too large, each once."""
    for case in {case.name: case for case in map(_smaller, chosen)}.values():
        arrays = data.make(case)
        given = (arrays.query, arrays.query_labels, arrays.gallery, arrays.gallery_labels)
        yield case.name, of_report(dh.evaluate(*given, distance=case.distance, measures=MEASURES))


def _smaller(case: cases.Case) -> cases.Case:
    dim = case.dim if case.data == "George Washington" else min(case.dim, 128)
    return dataclasses.replace(case, class_size=min(case.class_size, 100), dim=dim)


def _small() -> Iterator[tuple[str, list[str]]]:
    """Small grids, where ties are common, in several types, with a gallery, with junk, and with singletons."""
    for seed in range(12):
        rng = np.random.default_rng([20, seed])
        n, dim = int(rng.integers(20, 60)), int(rng.integers(1, 5))
        rows = rng.integers(-2, 3, (n, dim)) * rng.choice([1, 1, 0.1, 1 / 3])
        rows = rows.astype(rng.choice([np.float64, np.float32, np.float16]))
        labels = rng.integers(0, int(rng.integers(2, 9)), n)
        junk = rng.random(n) < 0.2
        pairs = rng.random((n - 7, 7)) < 0.1
        for distance in DISTANCES:
            for ties in TIES:
                if distance == "inner_product" and getattr(ties, "of", None) == "distance":
                    continue
                how = {"distance": distance, "ties": ties, "measures": MEASURES}
                name = f"small {seed} {distance} {ties}"
                yield name, of_report(dh.evaluate(rows, labels, **how))
                yield f"{name} junk", of_report(dh.evaluate(rows, labels, junk=junk, average="class", **how))
                split = dh.evaluate(
                    rows[7:], labels[7:], rows[:7], labels[:7], junk=pairs, singletons="balanced", **how
                )
                yield f"{name} gallery", of_report(split)
        bits = rng.random((n, 11)) < 0.5
        yield f"small {seed} hamming", of_report(dh.evaluate(bits, labels, distance="hamming", measures=MEASURES))


def _scored() -> Iterator[tuple[str, list[str]]]:
    """Score matrices and runs, with grades."""
    for seed in range(6):
        rng = np.random.default_rng([21, seed])
        scores, grades = rng.integers(0, 9, (20, 30)) / 7, rng.integers(0, 4, (20, 30))
        for order in ("descending", "ascending"):
            profile = dh.from_scores(scores, grades, order=order).profile
            yield f"scores {seed} {order}", of_report(dh.evaluate(profile, MEASURES))
        documents = [f"d{i}" for i in range(30)]
        run = {f"q{i}": dict(zip(documents[3:], row[3:].tolist(), strict=True)) for i, row in enumerate(scores)}
        qrels = {f"q{i}": dict(zip(documents[:25], row[:25].tolist(), strict=True)) for i, row in enumerate(grades)}
        yield f"run {seed}", of_report(dh.evaluate(dh.from_run(run, qrels).profile, MEASURES))


def _analyses() -> Iterator[tuple[str, list[str]]]:
    """Analyses of profiles: groups, gaps, orders of the samples, collisions, differences."""
    for seed in range(4):
        rng = np.random.default_rng([22, seed])
        labels = rng.permutation(np.repeat(np.arange(24), 5))
        rows = rng.integers(-3, 4, (24, 4))[labels] + rng.integers(-2, 3, (120, 4))
        grouped = dh.grouped(dh.Task(rows, labels), group_size=5, measures=["mAP", "Hit@1"], seed=seed, draws=2)
        yield f"grouped {seed}", [grouped.profile.digest(), *of_values([grouped["mAP"], grouped["Hit@1"]])]
        half = labels < 12
        gap = dh.generalization_gap(
            dh.Task(rows[half], labels[half]), dh.Task(rows[~half], labels[~half]), group_size=4
        )
        yield f"gap {seed}", of_values([gap.grouped, gap.plain])
        for measure in ("mAP", "P@3", "nDCG@5", "MRR", "AUC", "mINP", "F1@4", "MAP@R", "Hit@2"):
            extreme = dh.exploit(dh.Task(rows[:40], labels[:40] % 4), measure=measure, seed=seed, searches=2, draws=4)
            values = (extreme.lowest.value, extreme.highest.value, extreme.as_given, *extreme.random.tolist())
            orders = of_arrays(extreme.lowest.order, extreme.highest.order)
            yield f"exploit {seed} {measure}", [*(float(value).hex() for value in values), *orders]
        for eps in (None, 0.25):
            image = dh.collisions(dh.Task(rows, labels, distance="euclidean"), within=eps)
            yield f"collisions {seed} {eps}", of_arrays(image.kind, image.relevant, image.size)
        a, b = (dh.evaluate(part, labels, measures=["mAP", "Hit@1"]) for part in (rows, rows[:, :2]))
        difference = dh.compare(a, b)
        yield f"compare {seed}", of_values([difference["mAP"], difference["Hit@1"]])


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(everything(real=True), indent=0, sort_keys=True) + "\n", encoding="utf-8")
