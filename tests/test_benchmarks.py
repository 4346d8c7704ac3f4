"""The benchmarks: that what they compare with is what they say, and that a small run ends in a table and two files."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import cliffs, cluster, data, fresh, growth, limited, memory, out_of_core, report, running, yardsticks
from benchmarks.__main__ import main
from benchmarks.cases import CASES, SECTIONS, Case, select
from benchmarks.data import Arrays
from benchmarks.results import Row, timed
from benchmarks.timing import Clock

CASE = Case("leave one out", "random", 240, 16, 5, "cosine", "product", 1.0)
CLIFF = dataclasses.replace(CASE, section="cliffs", data="tf-idf", yardstick="random data of its type", target=3.0)
TIGHT = dataclasses.replace(CASE, section="growth", target=2.0, tolerance=0.05, along=(1, 2), axis="n")


def test_a_small_run_prints_a_table_and_writes_json_and_a_picture(tmp_path: Path) -> None:
    out, plot = tmp_path / "out.json", tmp_path / "out.png"
    options = [
        "--only",
        "*10000x128 cosine random, classes of 5",
        "--scale",
        "0.03",
        "--repeats",
        "2",
        "--threads",
        "1",
    ]
    done = CliRunner().invoke(main, [*options, "--json", str(out), "--plot", str(plot)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "300x128 cosine random, classes of 5" in done.output
    assert " of 1 targets met" in done.output
    record = json.loads(out.read_text())
    assert {"date", "commit", "machine", "versions", "blas", "threads", "repeats", "scale", "rows"} == set(record)
    assert (record["threads"], record["repeats"], record["scale"]) == (1, 2, 0.03)
    (row,) = record["rows"]
    assert row["state"] == "measured"
    assert {what: len(times) for what, times in row["times"].items()} == {"yardstick": 2, "evaluate": 2}
    assert row["figure"] == pytest.approx(row["value"] / row["yardstick_value"])
    assert row["met"] is (row["figure"] <= row["target"])
    assert plot.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_picture_of_growth_and_of_rows_that_failed(tmp_path: Path) -> None:
    options = ["--only", "growth with n", "--only", "faiss", "--scale", "0.001", "--repeats", "1", "--threads", "1"]
    plot = tmp_path / "out.png"
    done = CliRunner().invoke(main, [*options, "--plot", str(plot)], catch_exceptions=False)
    assert done.exit_code == 0
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "growth", "--only", "no such"], "no case has a name that matches 'no such'"),
        (["--json", "nowhere/out.json"], "does not exist"),
        (["--breakdown", "--only", "memory"], "--breakdown is for the cases of"),
        (["--scale", "0"], "0"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_measured(options: list[str], message: str) -> None:
    done = CliRunner().invoke(main, options)
    assert done.exit_code == 2
    assert message in done.output


def test_names_are_unique_and_every_case_can_be_chosen_by_its_own() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert {case.section for case in CASES} == set(SECTIONS)
    for case in CASES:
        assert select([f"*{case.name}"]) == [case]


def test_every_case_names_data_and_a_yardstick_that_exist() -> None:
    for case in CASES:
        if case.section in running.TIMED or case.section == "growth":
            assert case.yardstick in yardsticks.YARDSTICKS, case
            assert case.ties in yardsticks.TIES, case
            assert case.data in data.KINDS or case.data == "George Washington", case


def test_the_product_is_the_whole_product(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    matmul = np.matmul

    def watched(left: data.Array, right: data.Array, out: data.Array) -> data.Array:
        seen.append(matmul(left, right, out=out).copy())
        return out

    monkeypatch.setattr(yardsticks.np, "matmul", watched)
    query = data.make(dataclasses.replace(CASE, n=1100)).query
    yardsticks.product(query, query)
    assert [len(block) for block in seen] == [512, 512, 76]
    np.testing.assert_allclose(np.concatenate(seen), query @ query.T, rtol=1e-5, atol=1e-5)


def test_differing_bits_are_hamming_distances() -> None:
    codes = np.random.default_rng(0).integers(0, 256, (150, 16), dtype=np.uint8)
    words, found = codes.view(np.uint64), np.empty((150, 150), dtype=np.uint16)
    yardsticks.differing_bits(words, words, threads=2, out=found)
    bits = np.unpackbits(codes, axis=1)
    np.testing.assert_array_equal(found, (bits[:, None] != bits[None]).sum(axis=2))


@pytest.mark.parametrize("kind", ["NumPy product and argsort", "scikit-learn average_precision_score"])
def test_rivals_compute_the_same_map_where_nothing_ties(kind: str) -> None:
    arrays = data.make(CASE)
    found = yardsticks.YARDSTICKS[kind](CASE, arrays, 1)()
    assert found == pytest.approx(yardsticks.evaluate(arrays, "cosine", 1)["mAP"].expected, abs=1e-12)


def test_exponents_of_a_power_law_are_found() -> None:
    exponent, error = growth.fit([10, 20, 40, 80], [3 * size**2.5 for size in (10, 20, 40, 80)])
    assert exponent == pytest.approx(2.5)
    assert error == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("row", "outcome", "met"),
    [
        (timed(CASE, {"yardstick": [2.0, 2.0, 9.0], "evaluate": [2.0, 1.0, 2.0]}), "met", True),
        (timed(CASE, {"yardstick": [1.0], "evaluate": [1.05]}), "missed by 5 %", False),
        (timed(CASE, {"yardstick": [1.0], "evaluate": [3.0]}), "missed by 200 %", False),
        (Row(dataclasses.replace(CASE, target=None), 1.0, 1.0, figure=1.0), "no target", None),
        (Row(CLIFF, 1.0, 30.0, figure=30.0, stopped=True), "missed by 900 %", False),
        (Row(CLIFF, 30.0, 60.0, figure=2.0, stopped=True), "stopped", None),
        (Row(TIGHT, figure=1.96), "met", True),
        (Row(TIGHT, figure=1.85), "missed by 0.1", False),
        (Row(CASE, state="skipped", reason="no data"), "skipped: no data", None),
    ],
)
def test_outcomes(row: Row, outcome: str, met: bool | None) -> None:
    assert row.outcome == outcome
    assert row.met is met


def test_a_case_that_cannot_be_measured_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(case: Case, arrays: Arrays, threads: int) -> yardsticks.Work:
        raise ValueError("out of order")

    monkeypatch.setitem(yardsticks.YARDSTICKS, "product", broken)
    row = running.measure(CASE, Clock(threads=1, repeats=1))
    assert row.outcome == "failed: ValueError: out of order"
    monkeypatch.setattr(data, "data_file", lambda name: (_ for _ in ()).throw(data.Unavailable(f"no {name}")))
    row = running.measure(dataclasses.replace(CASE, data="George Washington"), Clock(threads=1, repeats=1))
    assert row.outcome == "skipped: no phocnet_gw.npz"
    assert report.summary([row])[0] == "0 of 0 targets met, 1 skipped"


def test_the_product_on_the_device_is_skipped_without_one() -> None:
    """Then its code runs on the CPU here."""
    torch = pytest.importorskip("torch")
    case = dataclasses.replace(CASE, section="device", yardstick="product on the device")
    if torch.cuda.is_available():
        assert running.measure(case, Clock(threads=1, repeats=1)).state == "measured"
        return
    assert running.measure(case, Clock(threads=1, repeats=1)).outcome == "skipped: no CUDA device"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "is_available", lambda: True)
        patch.setattr(torch.cuda, "synchronize", lambda: None)
        patch.setattr(yardsticks, "DEVICE", "cpu")
        assert running.measure(case, Clock(threads=1, repeats=1)).state == "measured"


def test_shards_hold_the_gallery_whatever_the_form(tmp_path: Path) -> None:
    case = Case("out of core", "sharded .npy", 200, 4, 20, "cosine", "1 GB", 1.0, n_query=10)
    out_of_core.write(case, tmp_path)
    gallery = np.concatenate([np.load(path) for path in sorted(tmp_path.glob("gallery-*"))])
    assert gallery.shape == (200, 4)
    assert gallery.dtype == np.float32
    assert len(np.load(tmp_path / "gallery_labels.npy")) == 200
    assert len(np.load(tmp_path / "query.npy")) == 10


def test_memory_is_compared_with_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"growth": 100_000_000, "relevant_pairs": 1_000_000, "groups": 500_000}
    monkeypatch.setattr(memory.fresh, "run", lambda *_: said)
    row = memory.measure(dataclasses.replace(CASE, section="memory"), threads=1)
    assert (row.yardstick, row.value, row.met) == (200, 100, True)


@pytest.mark.parametrize("name", [*cliffs.NAMED, *cliffs.ADVERSARIAL])
def test_kinds_of_cliffs_are_finite_numbers_of_the_shape_asked_for(name: str) -> None:
    rows = data.make(dataclasses.replace(CLIFF, data=name)).query
    assert rows.shape == (240, 16)
    assert rows.dtype in (np.float32, np.float64)
    assert np.isfinite(rows).all()
    assert len(np.unique(rows, axis=0)) > 12
    np.testing.assert_array_equal(rows, data.make(dataclasses.replace(CLIFF, data=name)).query)


def test_one_class_is_giant_and_half_of_the_pairs_are_junk() -> None:
    sizes = np.bincount(data.make(dataclasses.replace(CLIFF, data=cliffs.GIANT)).query_labels)
    assert sizes.tolist() == [5, 235]
    junk = data.make(dataclasses.replace(CLIFF, data=cliffs.JUNK)).junk
    assert junk is not None
    assert junk.shape == (240, 240)
    assert 0.4 < junk.mean() < 0.6


@pytest.mark.parametrize(
    ("distance", "given", "ties", "beside", "beside_ties"),
    [
        ("cosine", "tf-idf", "float16", np.float64, "float16"),
        ("cosine", "sparse", "exact", np.float32, "exact"),
        ("euclidean", "int8", "Tolerance(0.001)", np.float32, "Tolerance(0.001)"),
        ("hamming", "packed bits", "Tolerance(0.001)", np.uint8, "exact"),
    ],
)
def test_a_cliff_is_compared_with_random_data_of_its_type(
    distance: str, given: str, ties: str, beside: type, beside_ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = dataclasses.replace(CLIFF, distance=distance, data=given, ties=ties)
    arrays, seen = data.make(case), []
    monkeypatch.setattr(yardsticks, "evaluate", lambda other, *_, ties: seen.append((other, ties)))
    yardsticks.YARDSTICKS[case.yardstick](case, arrays, 1)()
    (other, other_ties) = seen[0]
    assert (other.query.shape, other.query.dtype, other_ties) == (arrays.query.shape, beside, beside_ties)
    np.testing.assert_array_equal(other.query_labels, arrays.query_labels)


def test_a_cliff_is_timed_in_a_process_of_its_own() -> None:
    row = running.measure(CLIFF, Clock(threads=1, repeats=2))
    assert row.state == "measured", row.reason
    assert {what: len(times) for what, times in row.times.items()} == {"yardstick": 2, "evaluate": 2}


@pytest.mark.parametrize(
    ("said", "value", "state", "stopped"),
    [
        (["yardstick 0.5"], ("0.5 s", "> 60 s", "> 120", "≤ 3"), "measured", True),
        (["yardstick 0.5", "evaluate 50", "yardstick 1"], ("0.5 s", "50 s", "100", "≤ 3"), "measured", False),
        ([], ("–", "–", "–", "≤ 3"), "failed", False),
    ],
)
def test_a_cliff_that_takes_too_long_is_a_row(
    said: list[str], value: tuple[str, ...], state: str, stopped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = iter([{"what": "ready"}, *({"what": line.split()[0], "seconds": float(line.split()[1])} for line in said)])

    @contextlib.contextmanager
    def talking(*_: object) -> Iterator[Callable[[float], object]]:
        def says(within: float) -> object:
            line = next(lines, None)
            if line is None:
                raise fresh.Silent
            return line

        yield says

    monkeypatch.setattr(limited.fresh, "talking", talking)
    row = running.measure(CLIFF, Clock(threads=1, repeats=5))
    assert (row.state, row.stopped) == (state, stopped)
    assert report.numbers(row) == value


def test_a_program_is_ended_when_it_is_silent_and_says_why_it_failed() -> None:
    waits = "import time; print(1, flush=True); time.sleep(60)"
    with fresh.talking(["-c", waits], {}) as says:
        assert says(30) == 1
        with pytest.raises(fresh.Silent, match="said nothing for"):
            says(0.1)
    with fresh.talking(["-c", "raise SystemExit('no luck')"], {}) as says, pytest.raises(fresh.ChildFailed) as error:
        says(30)
    assert str(error.value) == "no luck"


def test_a_small_run_on_processes_and_its_plan(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = CliRunner().invoke(cluster.main, ["--scale", "0.01", "--repeats", "1", "--json", str(out)])
    assert done.exit_code == 0
    assert "of 2 met" in done.output
    record = json.loads(out.read_text())
    assert {what: len(times) for what, times in record["overhead"][0]["times"].items()} == {
        "threads": 1,
        "processes": 1,
    }
    assert [row["evaluation"] for row in record["plans"][::2]] == [str(wish) for wish in cluster.WISHES]


def test_a_plan_follows_from_its_rates() -> None:
    rates = cluster.Rates(pairs=1e9, pairs_of_two=2e9, items=1e6, answer=16)
    wish = cluster.Wish(10**6, 10**6, relevant=10)
    one, ten = (cluster.plan(wish, rates, workers) for workers in (1, 10))
    assert one["hours"] == pytest.approx((1e12 / 1e9 + 1) / 3600, abs=0.005)
    assert ten["hours"] == pytest.approx((1e12 / 1e9 + 10) / 36000, abs=0.005)
    assert one["GB sent back"] == pytest.approx(1e6 * 10 * 16 / 1e9, abs=0.05)
    assert cluster.plan(cluster.Wish(10**9, 10**4, relevant=10), rates, 16)["parts"] == 50
    assert cluster.plan(cluster.Wish(10**9, 10**6, relevant=10), rates, 16)["parts"] == 1
