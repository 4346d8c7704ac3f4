"""The benchmarks: that what they compare with is what they say, and that a small run ends in a table and two files."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

import deadheat as dh
from benchmarks import (
    candidates,
    card,
    cliffs,
    cluster,
    data,
    fresh,
    growth,
    interpreter,
    interrupt,
    limited,
    memory,
    out_of_core,
    questions,
    report,
    running,
    several,
    size,
    threads,
    yardsticks,
)
from benchmarks.__main__ import main
from benchmarks.cases import CASES, SECTIONS, Case, select
from benchmarks.data import Arrays
from benchmarks.results import ROOT, Row, timed
from benchmarks.targets import ENGINE, TARGETS, Target
from benchmarks.timing import Clock

CASE = Case("leave one out", "random", 240, 16, 5, "cosine", "product", Target("the product", 1.0))
CLIFF = dataclasses.replace(
    CASE, section="cliffs", data="tf-idf", yardstick="random data of its type", target=Target("a cliff", 3.0)
)
SCALING = dataclasses.replace(CASE, section="threads", target=TARGETS["threads"])
MEMORY = dataclasses.replace(CASE, section="memory", target=TARGETS["memory"])
TIGHT = dataclasses.replace(CASE, section="growth", target=Target("growth", 2.0, "about", 0.05))


def test_a_small_run_prints_a_table_and_writes_json_and_a_picture(tmp_path: Path) -> None:
    out, plot = tmp_path / "out.json", tmp_path / "out.png"
    only = "*out 10000x128 cosine random, classes of 5"
    options = ["--only", only, "--scale", "0.03", "--repeats", "2", "--threads", "1"]
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
    assert row["met"] is (row["figure"] <= row["target"]["limit"])
    assert plot.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


def test_a_picture_of_growth_of_threads_of_counts_and_of_rows_that_failed(tmp_path: Path) -> None:
    only = ["growth with n", "faiss", "threads 10000x64", "size"]
    options = [*(part for text in only for part in ("--only", text)), "--scale", "0.001", "--repeats", "1"]
    plot = tmp_path / "out.png"
    done = CliRunner().invoke(main, [*options, "--threads", "2", "--plot", str(plot)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "64 cores: at most" in done.output
    assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "growth", "--only", "no such"], "no case has a name that matches 'no such'"),
        (["--json", "nowhere/out.json"], "does not exist"),
        (["--breakdown", "--only", "memory"], "--breakdown is for cases that are timed"),
        (["--scale", "0"], "0"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_measured(options: list[str], message: str) -> None:
    done = CliRunner().invoke(main, options)
    assert done.exit_code == 2
    assert message in done.output


def test_every_case_can_be_chosen_by_its_name_and_names_data_and_a_yardstick_that_exist() -> None:
    assert {case.section for case in CASES} == set(SECTIONS)
    for case in CASES:
        assert select([f"*{case.name}"]) == [case]
        assert case.ties in yardsticks.TIES, case
        if case.section == "candidates":
            assert (case.yardstick in candidates.WORKS, case.data in candidates.KINDS) == (True, True), case
            continue
        if case.section == "several labels":
            assert case.yardstick in several.YARDSTICKS, case
            continue
        if case.section == "questions":
            assert (case.data in questions.WORKS, case.yardstick in questions.YARDSTICKS) == (True, True), case
            continue
        assert not case.yardstick or case.yardstick in yardsticks.YARDSTICKS, case
        if case.n and case.section != "out of core":
            assert case.data in data.KINDS or case.data == "George Washington", case


def test_every_public_name_is_a_question_or_said_to_be_none() -> None:
    asked = {name for names, _ in questions.WORKS.values() for name in names}
    assert asked | questions.NO_QUESTIONS == set(dh.__all__)
    assert not asked & questions.NO_QUESTIONS
    assert {*questions.WORKS} == {case.data for case in CASES if case.section == "questions"}


@pytest.mark.parametrize("name", questions.WORKS)
def test_a_question_is_measured_next_to_the_pass_and_its_yardstick(name: str) -> None:
    (case,) = (case for case in CASES if (case.section, case.data) == ("questions", name))
    row = questions.measure(case.scaled(1e-6), Clock(1, 1))
    assert row.figure is not None
    assert row.is_ratio is bool(case.yardstick)
    assert row.details["note"].endswith(f"of a pass over {row.case.n} × 64")


def test_every_target_has_cases_and_targets_chooses_those_of_the_engine() -> None:
    assert {case.target for case in CASES} == {*TARGETS.values(), None}
    chosen = select(["targets"])
    assert {case.target for case in chosen} == set(ENGINE.values())
    assert [case for case in CASES if case.target in ENGINE.values()] == chosen


@pytest.mark.parametrize("n_thread", [1, 3])
def test_the_product_is_the_whole_product(n_thread: int, monkeypatch: pytest.MonkeyPatch) -> None:
    query = data.make(dataclasses.replace(CASE, n=1100)).query
    whole, matmul = np.zeros((1100, 1100), dtype=np.float32), np.matmul

    def watched(left: data.Array, right: data.Array, out: data.Array) -> None:
        start = (left.__array_interface__["data"][0] - query.__array_interface__["data"][0]) // query.strides[0]
        whole[start : start + len(left)] += matmul(left, right, out=out)

    monkeypatch.setattr(yardsticks.np, "matmul", watched)
    yardsticks.product(query, query, n_thread)
    np.testing.assert_allclose(whole, query @ query.T, rtol=1e-5, atol=1e-5)


def test_differing_bits_are_hamming_distances() -> None:
    codes = np.random.default_rng(0).integers(0, 256, (150, 16), dtype=np.uint8)
    words, differing = codes.view(np.uint64), np.empty((150, 150), dtype=np.uint16)
    yardsticks.differing_bits(words, words, threads=2, out=differing)
    bits = np.unpackbits(codes, axis=1)
    np.testing.assert_array_equal(differing, (bits[:, None] != bits[None]).sum(axis=2))


@pytest.mark.parametrize("kind", ["NumPy product and argsort", "scikit-learn average_precision_score"])
def test_rivals_compute_the_same_map_where_nothing_ties(kind: str) -> None:
    arrays = data.make(CASE)
    rival = yardsticks.YARDSTICKS[kind](CASE, arrays, 1)()
    assert rival == pytest.approx(yardsticks.evaluate(arrays, "cosine", 1)["mAP"].expected, abs=1e-12)


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
        (Row(dataclasses.replace(CASE, target=None), 1.0, 1.0), "no target", None),
        (Row(CLIFF, 1.0, 30.0, stopped=True), "missed by 900 %", False),
        (Row(CLIFF, 30.0, 60.0, stopped=True), "stopped", None),
        (Row(TIGHT, 2.1, 1.96, "exponent"), "met", True),
        (Row(TIGHT, 2.0, 1.85, "exponent"), "missed by 0.1", False),
        (Row(SCALING, 1.95, 1.86, "times"), "met", True),
        (Row(SCALING, 1.95, 1.48, "times"), "missed by 20 %", False),
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


def test_the_product_on_the_device_is_skipped_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then its code runs on the CPU here."""
    torch = pytest.importorskip("torch")
    case = dataclasses.replace(CASE, section="device", yardstick="product on the device")
    if not torch.cuda.is_available():
        assert running.measure(case, Clock(threads=1, repeats=1)).outcome == "skipped: no CUDA device"
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
        monkeypatch.setattr(yardsticks, "DEVICE", "cpu")
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
    row = memory.measure(MEMORY, Clock(1, 1))
    assert (row.figure, row.met) == (100, True)


def test_processors_are_counted_in_powers_of_two_and_all() -> None:
    assert [threads.counts(number) for number in (2, 6, 8)] == [[1, 2], [1, 2, 4, 6], [1, 2, 4, 8]]


def test_a_serial_share_is_found_from_times_that_follow_amdahls_law() -> None:
    numbers = [1, 2, 4]
    times = {f"evaluate {n}": [speed * (0.2 + 0.8 / n) for speed in (1.0, 3.0, 2.0)] for n in numbers}
    faster = threads.speedups(times, "evaluate", numbers)
    assert faster == pytest.approx([1, 1 / 0.6, 2.5])
    assert threads.serial_share(numbers, faster) == pytest.approx(0.2)
    assert threads.amdahl(0.2, 64) == pytest.approx(1 / (0.2 + 0.8 / 64))


@pytest.mark.parametrize(("product", "state", "met"), [(1.9, "measured", False), (1.6, "not decided", None)])
def test_threads_are_judged_only_where_the_product_scales(product: float, state: str, met: bool | None) -> None:
    times = {"evaluate 1": [1.5], "evaluate 2": [1.0], "yardstick 1": [product], "yardstick 2": [1.0]}
    row = threads.judged(SCALING, [1, 2], times)
    assert (row.figure, row.state, row.met) == (1.5, state, met)
    assert "64 cores: at most 2.9 times" in row.details["note"]


def test_the_interpreter_is_seen_to_be_held_by_python_and_not_by_sleep() -> None:
    pytest.importorskip("resource")
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux counts the waits of a thread")
    python = interpreter._share_of_waits(lambda: [sum(range(2000)) for _ in range(5000)], 1)
    asleep = interpreter._share_of_waits(lambda: time.sleep(0.5), 1)
    assert python > 0.5
    assert asleep < 0.1
    assert interpreter.held("main (a.py:3);f (b 1.py:2) 12\nmain 5\n") == 17


@pytest.mark.skipif(os.name != "posix", reason="interrupts by a POSIX signal")
def test_the_longest_wait_after_an_interrupt_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupt, "_LATEST", 0.1)
    row = interrupt.measure(dataclasses.replace(CASE, section="interrupt"), Clock(1, 1))
    assert len(row.details["waits"]) == interrupt._EACH
    assert row.figure == max(row.details["waits"])
    assert min(row.details["waits"]) > 0


def test_sizes_are_those_that_the_shell_counts() -> None:
    counted = {row.case.data: row for row in (size.measure(case, Clock(1, 1)) for case in select(["size"]))}
    python = "cat $(find src/deadheat -name '*.py') | wc -l"
    core = "cat $(find src/core -name '*.cpp' -o -name '*.h') | wc -l"
    for key, command in (("python", python), ("core", core)):
        shell = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
        assert counted[TARGETS[key].what].value == int(shell.stdout)
    assert all(row.value for row in counted.values())


def test_targets_say_what_was_reached_from_best_to_worst() -> None:
    rows = [Row(CASE, 1.0, value) for value in (0.9, 0.5, 2.0)]
    rows = [dataclasses.replace(row, case=dataclasses.replace(CASE, target=TARGETS["degenerate"])) for row in rows]
    console = Console(width=140, record=True, file=io.StringIO())
    scaling = [Row(SCALING, 1.95, value, "times") for value in (1.4, 1.9)]
    skipped = Row(MEMORY, state="skipped", reason="not here")
    console.print(report.targets([*rows, *scaling, skipped]))
    lines = [line.replace("│", " ").split("  ") for line in console.export_text().splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert ["degenerate data, to random data", "0.50 to 2.00", "≤ 1.5", "missed by 1 of 3"] in cells
    assert [TARGETS["threads"].what, "1.90 to 1.40", "≥ 1.85", "missed by 1 of 2"] in cells
    assert [TARGETS["memory"].what, "–", "≤ 200", "1 of 1 not known"] in cells


@pytest.mark.parametrize("name", [*cliffs.NAMED, *cliffs.ADVERSARIAL])
def test_kinds_of_cliffs_are_finite_numbers_of_the_shape_asked_for(name: str) -> None:
    case = dataclasses.replace(CLIFF, data=name)
    made, again = data.make(case), data.make(case)
    assert made.query.shape == (240, 16)
    assert made.query.dtype in (np.float32, np.float64)
    assert np.isfinite(made.query).all()
    assert len(np.unique(made.query, axis=0)) > 12
    np.testing.assert_array_equal(made.query, again.query)


def test_classes_are_as_large_as_their_name_says_and_half_of_the_pairs_are_junk() -> None:
    sizes = {cliffs.GIANT: [5, 235], cliffs.HALVES: [120, 120], cliffs.NINE_TENTHS: [5, 5, 5, 5, 220]}
    for kind, expected in sizes.items():
        assert np.bincount(data.make(dataclasses.replace(CLIFF, data=kind)).query_labels).tolist() == expected
    junk = data.make(dataclasses.replace(CLIFF, data=cliffs.JUNK)).junk
    assert junk is not None
    assert junk.shape == (240, 240)
    assert 0.4 < junk.mean() < 0.6


@pytest.mark.parametrize(
    ("distance", "given", "ties", "dtype", "other_ties"),
    [
        ("cosine", "tf-idf", "float16", np.float64, "float16"),
        ("cosine", "sparse", "exact", np.float32, "exact"),
        ("euclidean", "int8", "Tolerance(0.001)", np.float32, "Tolerance(0.001)"),
        ("hamming", "packed bits", "Tolerance(0.001)", np.uint8, "exact"),
    ],
)
def test_a_cliff_is_compared_with_random_data_of_its_type(
    distance: str, given: str, ties: str, dtype: type, other_ties: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = dataclasses.replace(CLIFF, distance=distance, data=given, ties=ties)
    arrays, seen = data.make(case), []
    monkeypatch.setattr(yardsticks, "evaluate", lambda other, *_, ties: seen.append((other, ties)))
    yardsticks.YARDSTICKS[case.yardstick](case, arrays, 1)()
    ((other, ties),) = seen
    assert (other.query.shape, other.query.dtype, ties) == (arrays.query.shape, dtype, other_ties)
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
    times = record["overhead"][0]["times"]
    assert {what: len(each) for what, each in times.items()} == {"threads": 1, "processes": 1}
    assert [row["evaluation"] for row in record["plans"][::2]] == [str(wish) for wish in cluster.WISHES]


def test_a_plan_follows_from_its_rates() -> None:
    rates = cluster.Rates(pairs=1e9, pairs_of_two=2e9, items=1e6)
    wish = cluster.Wish(10**6, 10**6)
    one, ten = (cluster.plan(wish, rates, workers) for workers in (1, 10))
    assert one["hours"] == pytest.approx((1e12 / 1e9 + 1) / 3600, abs=0.005)
    assert ten["hours"] == pytest.approx((1e12 / 1e9 + 10) / 36000, abs=0.005)
    assert (one["GB of a worker"], one["GB read"], ten["GB read"]) == (0.1, 1, 5)


def test_the_benchmark_of_a_card(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Small, on PyTorch's CPU device; where there is no card it says so in one line."""
    torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    monkeypatch.setattr(card, "_KINDS", ("random", "int8"))
    card.main(["--cpu"])
    first, digests, _, *table, _, seconds = capsys.readouterr().out.splitlines()
    assert first.startswith("PyTorch's CPU device, small: no measurement; PyTorch ")
    assert digests == "digests: 81 of 81 are those of the core"
    assert len(table) == 2 + len(card.WORKS) + 1
    assert {row.count("|") for row in table} == {len(card.COLUMNS) + 1}
    assert "NOT" not in "".join(table)
    assert seconds.endswith(" s in all")
    if not torch.cuda.is_available():
        card.main([])
        assert capsys.readouterr().out.count("\n") == 1


def test_the_argsort_of_the_benchmark_of_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without ties it gives mean average precision; and digests that differ are named."""
    torch = pytest.importorskip("torch", reason="the extra 'torch' is not installed")
    monkeypatch.setattr(card, "_BLOCK", 40)
    monkeypatch.setattr(card, "_KINDS", ("random",))
    device = card.Card(torch, torch.device("cpu"))
    rows, labels = np.random.default_rng(0).standard_normal((130, 8)), np.arange(130) % 13
    unit = torch.tensor(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    mean = card.Bench(device, 1).argsort(unit, torch.tensor(labels))
    assert mean == pytest.approx(dh.evaluate(rows, labels)["mAP"].expected, abs=1e-6)
    monkeypatch.setattr(dh.Task, "replace", lambda task, device: dh.Task(rows, labels))
    assert card.digests(device).startswith(
        "digests: 0 of 45 are those of the core; NOT: random, cosine, exact, kernel,"
    )
