"""Bitwise the same result, however the work is cut up and the same numbers are stored; and the facts that follow.

Compared are digests of profiles and the bits of every mean, never within a tolerance.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from data import data_file

import deadheat as dh
from deadheat.engine import count
from deadheat.engine.counting import layout, passes
from deadheat.engine.distances import registry as distance_registry
from deadheat.reports.evaluating import evaluate

PRODUCTS = ["cosine", "euclidean", "inner_product", "cityblock"]
MEASURES = ["mAP", "mAP@5", "MAP@R", "R-Precision", "P@10", "Recall@10", "Hit@1", "Hit@5", "MRR", "nDCG", "nDCG@10",
            "F1@10", "AUC", "mINP"]  # fmt: skip


def gaussian_with_duplicates(rng, n):
    """The data on which float32 products of equal rows differ by a last bit: a fifth of the rows are doubles."""
    rows = rng.standard_normal((n, 48)).astype(np.float32)
    rows[: n // 5] = rows[rng.integers(n // 5, n, n // 5)]
    return rows


def normalised_with_duplicates(rng, n):
    rows = gaussian_with_duplicates(rng, n)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def small_integers(rng, n):
    return rng.integers(-2, 3, (n, 5)).astype(np.float32)


def near_saturated(rng, n):
    return (1 + 1e-6 * rng.standard_normal((n, 6))).astype(np.float32)


def mixed_magnitudes(rng, n):
    return (rng.standard_normal((n, 7)) * 10.0 ** rng.integers(-6, 6, (n, 1))).astype(np.float32)


def all_zero(rng, n):
    return np.zeros((n, 3), dtype=np.float32)


KINDS = [
    gaussian_with_duplicates, normalised_with_duplicates, small_integers, near_saturated, mixed_magnitudes, all_zero,
]  # fmt: skip


def example(kind, n=170):
    rng = np.random.default_rng(KINDS.index(kind))
    return kind(rng, n), rng.integers(0, 9, n)


def bits(profile):
    """The digest, and every mean to its last bit."""
    report = evaluate(profile, MEASURES)
    means = [[getattr(report[name], side).hex() for side in ("lower", "expected", "upper")] for name in MEASURES]
    return profile.digest(), means


every_kind_and_distance = pytest.mark.parametrize(
    ("kind", "distance"), [(kind, distance) for kind in KINDS for distance in PRODUCTS]
)


# How the work is cut up -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ties", ["exact", "float16", "bfloat16", "float32", dh.Tolerance(0.01)], ids=str)
@every_kind_and_distance
def test_any_partition_for_any_number_of_threads(kind, distance, ties, monkeypatch):
    """Blocks, tiles, shards and pieces as they fall; all products or half of them; kept, or streamed one by one."""
    rows, labels = example(kind)
    rng = np.random.default_rng([KINDS.index(kind), PRODUCTS.index(distance), len(str(ties))])
    wanted = bits(dh.Task(rows, labels, distance=distance, ties=ties, threads=1).profile)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    for threads in (1, 2, 3, 9, 16, 64) if ties == "exact" else (2, 7):
        monkeypatch.setattr(layout, "BLOCK_ROWS", int(rng.choice([4, 16, 24, 33, 50, 100])))
        monkeypatch.setattr(layout, "TILE_COLUMNS", int(rng.choice([1, 17, 64, 200])))
        monkeypatch.setattr(layout, "STREAMED_COLUMNS", int(rng.integers(20, 300)))
        monkeypatch.setattr(layout, "SHARD_BYTES", int(rng.choice([1, 1 << 12, 1 << 17, 1 << 30])))
        monkeypatch.setattr(layout, "SYMMETRIC_SHARE", float(rng.choice([0.0, 2.0])))
        monkeypatch.setattr(count, "STREAMED_BYTES", int(rng.choice([0, 1 << 20])))
        monkeypatch.setattr(passes, "LISTED", int(rng.choice([1, 1 << 14])))
        assert bits(dh.Task(rows, labels, distance=distance, ties=ties, threads=threads).profile) == wanted


@pytest.mark.parametrize("distance", PRODUCTS)
def test_long_rows_count_as_short_ones_with_zeros_between(distance, tmp_path, monkeypatch):
    """Rows of more numbers than are multiplied at a time, in memory and read; the zeros change no distance."""
    short = np.random.default_rng(0).standard_normal((90, 6)).astype(np.float32)
    short[::5], labels = np.round(short[::5]), np.arange(90) % 20
    long = np.zeros((90, 3 * layout.LONG_ROW + 5), dtype=np.float32)
    long[:, [0, layout.LONG_ROW - 1, layout.LONG_ROW, 9000, 3 * layout.LONG_ROW, -1]] = short
    np.save(tmp_path / "long.npy", long)
    wanted = bits(dh.Task(short, labels, distance=distance).profile)
    monkeypatch.setattr(layout, "ROWS_BYTES", 40 * 4 * layout.LONG_ROW)
    made, cut = layout.Partition.cut, []
    monkeypatch.setattr(layout.Partition, "cut", lambda self: cut.append(made(self)) or cut[-1])
    for rows, share in ((long, 0.0), (long, 2.0), (tmp_path / "long.npy", 0.0), (tmp_path / "long.npy", 2.0)):
        monkeypatch.setattr(layout, "SYMMETRIC_SHARE", share)
        assert bits(dh.Task(rows, labels, distance=distance).profile) == wanted
    blocks = [max(map(len, queries)) for queries, _ in cut]
    ranges = [max(len(each.columns) for each in found) for _, found in cut]
    assert max(blocks[:2]) <= 40
    assert max(ranges[:2]) <= 40
    assert max(blocks[2:]) <= layout.FEWEST_ROWS
    assert max(ranges[2:]) <= layout.FEWEST_ROWS


@pytest.mark.parametrize(
    ("distance", "ties"),
    [*((name, ties) for name in PRODUCTS for ties in ("exact", "float16", dh.Tolerance(0.05))), ("hamming", "exact")],
)
def test_shards_of_the_gallery_add_up(distance, ties):
    """Three shards: each with all relevant items, and with its own third of the irrelevant ones."""
    rows, labels = example(gaussian_with_duplicates)
    rows = rows[:, :20] > 0.5 if distance == "hamming" else rows
    rng = np.random.default_rng(8)
    relevant = labels[:60, None] == labels[60:]
    shard, junk = rng.integers(0, 3, 110), rng.random((60, 110)) < 0.1

    def part(junk):
        return dh.Task(rows[:60], labels[:60], rows[60:], labels[60:], distance=distance, ties=ties, junk=junk).profile

    whole, parts = part(junk), [part(junk | (~relevant & (shard != number))) for number in range(3)]
    assert parts[0] + parts[1] + parts[2] == whole
    assert bits(parts[2] + (parts[0] + parts[1])) == bits(whole)
    assert parts[0] != whole


@pytest.mark.parametrize("distance", PRODUCTS)
def test_items_that_float32_cannot_distinguish_in_a_later_tile(distance):
    """Most of a tile behind the first is undecided, and is placed by the scores of the last level of that tile."""
    rng = np.random.default_rng(3)
    near, n_far = rng.standard_normal(32), 2 * layout.TILE_COLUMNS
    close = near + 1e-9 * rng.standard_normal((800, 32))
    gallery = np.concatenate([rng.standard_normal((n_far, 32)), close])
    labels = np.concatenate([np.full(n_far, 3), rng.integers(0, 3, len(close))])

    def profile(order):
        return dh.Task(close[:6] + 1e-9, [0, 1, 2, 0, 1, 2], gallery[order], labels[order], distance=distance).profile

    first, later = np.roll(np.arange(len(gallery)), len(close)), np.arange(len(gallery))
    assert bits(profile(first)) == bits(profile(later))


# How the same numbers are stored --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.uint16, np.uint32, np.uint64])
def test_bits_in_every_type(dtype):
    rows, labels = np.random.default_rng(1).random((90, 17)) < 0.4, np.arange(90) % 7
    for distance in PRODUCTS:
        wanted = dh.Task(rows.astype(float), labels, distance=distance).profile
        assert dh.Task(rows.astype(dtype), labels, distance=distance).profile == wanted
    city = dh.Task(rows, labels, distance="cityblock").profile
    assert city == dh.Task(rows, labels, distance="hamming").profile
    assert city == dh.Task(np.packbits(rows, axis=1), labels, distance="hamming").profile


# What does not change a distance, or changes all in the same way ------------------------------------------------------


@every_kind_and_distance
def test_permuting_samples_permutes_the_queries_and_changes_no_mean(kind, distance):
    rows, labels = example(kind)
    profile = dh.Task(rows, labels, distance=distance).profile
    report = evaluate(profile, MEASURES)
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(len(rows))
        permuted = dh.Task(rows[order], labels[order], distance=distance).profile
        assert permuted.digest() == profile[order].digest()
        assert bits(permuted)[1] == bits(profile)[1]
        again = evaluate(permuted, MEASURES)
        for name in MEASURES:
            for result, wanted in zip(again[name].per_query, report[name].per_query, strict=True):
                np.testing.assert_array_equal(result, wanted[order])


@every_kind_and_distance
def test_scaling_by_a_power_of_two(kind, distance):
    rows, labels = example(kind, 90)
    wanted = dh.Task(rows, labels, distance=distance).profile
    for exponent in (1, 40, -60):
        assert dh.Task(np.ldexp(rows, exponent), labels, distance=distance).profile == wanted
        assert dh.Task(np.ldexp(rows.astype(float), 8 * exponent), labels, distance=distance).profile == wanted


def test_under_cosine_every_row_may_have_a_scale_of_its_own():
    for kind in KINDS:
        rows, labels = example(kind)
        scale = np.random.default_rng(1).integers(-30, 30, (len(rows), 1))
        assert dh.Task(np.ldexp(rows, scale), labels).profile == dh.Task(rows, labels).profile


@every_kind_and_distance
def test_permuting_and_reflecting_the_axes(kind, distance):
    rows, labels = example(kind, 90)
    rng = np.random.default_rng(2)
    signs = rng.choice(np.array([-1, 1], dtype=np.float32), rows.shape[1])
    padded = np.concatenate([rows, np.zeros((len(rows), 5), dtype=np.float32)], axis=1)
    wanted = dh.Task(rows, labels, distance=distance).profile
    for other in ((rows * signs)[:, rng.permuted(np.arange(rows.shape[1]))], padded):
        assert dh.Task(other, labels, distance=distance).profile == wanted


@pytest.mark.parametrize("distance", ["euclidean", "cityblock"])
def test_moving_integers(distance):
    rows, labels = example(small_integers)
    wanted = dh.Task(rows, labels, distance=distance).profile
    for shift in (1, 1000, 2**22, 2**40):
        assert dh.Task(rows.astype(float) + shift, labels, distance=distance).profile == wanted


# The processor's instructions -----------------------------------------------------------------------------------------

SCRIPT = """
import hashlib, json, sys
import numpy as np
sys.path[:0] = [sys.argv[1], sys.argv[1] + '/engine/counting']
import test_invariance as t
from deadheat import _core
rows, labels = t.example(t.gaussian_with_duplicates)
every = np.arange(len(rows))
products = t.distance_registry.make("inner_product", rows, None, True).scores.tile(0, every, every[:5])
found = {}
for kind in t.KINDS:
    rows, labels = t.example(kind)
    for distance in t.PRODUCTS:
        found[kind.__name__ + " " + distance] = t.bits(t.dh.Task(rows, labels, distance=distance).profile)
    found[kind.__name__ + " float16"] = t.dh.Task(rows, labels, ties="float16").profile.digest()
digest = hashlib.sha256(np.ascontiguousarray(products)).hexdigest()
print(json.dumps({"set": _core.instruction_set(), "products": digest, "found": found}))
"""
SETS = ["baseline", "avx2", "avx512"]


def in_a_process(**environment):
    """The results of a fresh interpreter with these environment variables."""
    finished = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(Path(__file__).parents[2])],
        env=os.environ | environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    if "DEADHEAT_INSTRUCTION_SET must be" in finished.stderr:
        pytest.skip("this processor lacks these instructions")
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


@pytest.fixture(scope="module")
def here():
    return in_a_process()


@pytest.fixture(scope="module", params=SETS)
def forced(request):
    result = in_a_process(DEADHEAT_INSTRUCTION_SET=request.param)
    assert result["set"] == request.param
    return result


@pytest.mark.slow
def test_instruction_sets(forced, here):
    assert forced["found"] == here["found"]


@pytest.mark.slow
def test_the_products_do_differ(forced):
    """Otherwise the test above shows little: float32 products themselves are not the same bits with fused additions."""
    plain = in_a_process(DEADHEAT_INSTRUCTION_SET="baseline")
    assert (forced["products"] == plain["products"]) == (forced["set"] == "baseline")


@pytest.mark.slow
def test_without_the_wider_instructions_of_numpy(here):
    umath = np._core._multiarray_umath
    names = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]
    if not names:
        pytest.skip("this NumPy has no instructions to do without")
    assert in_a_process(NPY_DISABLE_CPU_FEATURES=" ".join(names))["found"] == here["found"]


# Facts ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", distance_registry.names())
def test_embeddings_that_are_all_zero(distance):
    """1000 samples, 10 classes of 100, in three orders: 5.1773 %, 10.4953 % and 100 %."""
    rows = np.zeros((1000, 16), dtype=bool if distance == "hamming" else np.float32)
    labels = np.arange(1000) // 100
    for order in (labels, labels[::-1], np.arange(1000) % 10, np.random.default_rng(0).permutation(labels)):
        result = evaluate(dh.Task(rows, order, distance=distance).profile, "mAP")["mAP"]
        assert [round(100 * x, 4) for x in (result.lower, result.expected, result.upper)] == [5.1773, 10.4953, 100.0]


@pytest.fixture(scope="module")
def washington():
    with np.load(data_file("phocnet_gw.npz"), allow_pickle=False) as data:
        return data["phocnet_features"], data["phocnet_labels"].ravel()


def percent(profile, digits):
    result = evaluate(profile, "mAP")["mAP"]
    return [round(100 * x, digits) for x in (result.lower, result.upper)]


@pytest.mark.parametrize(("distance", "value"), [("cosine", 95.5491), ("euclidean", 95.7809), ("cityblock", 95.6911)])
def test_george_washington_has_no_mixed_tie(washington, distance, value):
    profile = dh.Task(*washington, distance=distance).profile
    assert profile.ties.mixed_groups == 0
    assert percent(profile, 4) == [value, value]
    assert int((profile.n_relevant > 0).sum()) == 899
    assert profile == dh.Task(washington[0].astype(np.float64), washington[1], distance=distance).profile


@pytest.mark.parametrize(
    ("dtype", "rounded", "mixed_groups", "digits", "interval"),
    [
        # DESIGN.md has these two from SciPy's float64 distances, cast: correct rounding gives the same
        ("float32", "distance", 33, 5, [95.54905, 95.54910]),
        ("float16", "distance", 173, 4, [95.5351, 95.5620]),
        ("float32", "similarity", 22, 5, [95.54906, 95.55455]),
        ("float16", "similarity", 165, 4, [95.3592, 95.6620]),
    ],
)
def test_george_washington_served_in_a_shorter_type(washington, dtype, rounded, mixed_groups, digits, interval):
    profile = dh.Task(*washington, ties=dh.Rounded(dtype, of=rounded)).profile
    assert profile.ties.mixed_groups == mixed_groups
    assert percent(profile, digits) == interval
