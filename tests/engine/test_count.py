"""The table of `engine/count.py`: which loop counts which task, and that nothing else chooses a loop."""

from __future__ import annotations

import ast
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine.loops import taken

import deadheat as dh
from deadheat.engine import count
from deadheat.engine.counting.options import CountingOptions, Work

ENGINE = Path(count.__file__).parent
RNG = np.random.default_rng(0)
ROWS, CLASSES, HALVES = RNG.standard_normal((60, 5)), np.arange(60) % 20, np.arange(60) % 2
CODES, SETS = ROWS > 0, RNG.random((60, 4)) < 0.3
RULES: dict[str, Any] = {"positives": {"same": "class"}, "negatives": {"different": "class"}}
A_PASS = "a counting pass"
OPTIONS = CountingOptions.checked()


def in_threads(**settings: Any) -> dh.TieProfile:
    with ThreadPoolExecutor(1) as pool:
        return dh.Task(ROWS, CLASSES, executor=pool, **settings).profile


def by_rules(**settings: Any) -> dh.TieProfile:
    return dh.Task.from_metadata(ROWS, {"class": CLASSES}, **RULES, **settings).profile


def counted(*data: Any, **settings: Any) -> Callable[[], dh.TieProfile]:
    return lambda: dh.Task(*data, **settings).profile


TASKS: dict[str, tuple[Callable[[], object], list[str]]] = {
    "one label": (counted(ROWS, CLASSES), ["tiles", A_PASS]),
    "a gallery": (counted(ROWS[:9], CLASSES[:9], ROWS[9:], CLASSES[9:]), ["tiles", A_PASS]),
    "an executor": (in_threads, ["tiles", "portions"]),
    "junk by rules": (by_rules, ["tiles", A_PASS, "parts by rules"]),
    "two classes": (counted(ROWS, HALVES), ["sorted rows", A_PASS]),
    "two classes, rounded": (counted(ROWS, HALVES, ties="float16"), ["tiles", A_PASS]),
    "one large class": (counted(ROWS, np.maximum(CLASSES, 9)), ["sorted rows", "tiles", A_PASS]),
    "codes": (counted(CODES, CLASSES, distance="hamming"), ["histograms"]),
    "codes, rounded": (counted(CODES, CLASSES, distance="hamming", ties="float16"), ["tiles", A_PASS]),
    "codes, label sets": (counted(CODES, SETS, distance="hamming"), ["histograms"]),
    "codes, shared labels": (counted(CODES, SETS, distance="hamming", relevance="count"), ["histograms"]),
    "codes, equal label sets": (counted(CODES, SETS, distance="hamming", relevance="same"), ["histograms"]),
    "label sets": (counted(ROWS, SETS), ["sorted rows", A_PASS]),
    "few shared labels": (counted(ROWS, np.eye(60, dtype=bool) | np.eye(60, k=1, dtype=bool)), ["sorted rows", A_PASS]),
    "label sets, rounded": (counted(ROWS, SETS, ties="float16"), ["tiles", "chunks"]),
    "label sets, tolerance": (counted(ROWS, SETS, ties=dh.Tolerance(0.1)), ["tiles", "chunks"]),
    "shared labels": (counted(ROWS, SETS, relevance="count"), ["sorted rows", "chunks"]),
    "small groups": (lambda: dh.grouped(dh.Task(ROWS, CLASSES), group_size=10), ["small groups"]),
    "groups, rounded": (
        lambda: dh.grouped(dh.Task(ROWS, CLASSES, ties="float16"), group_size=20), ["tiles", A_PASS],
    ),
    "groups, junk": (
        lambda: dh.grouped(dh.Task(ROWS, CLASSES, junk=np.arange(60) == 3), group_size=20), ["tiles", A_PASS],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TASKS)
def test_each_kind_of_task_has_its_loop(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops are listed as they end: those of blocks and parts before the loop that they belong to."""
    ask, expected = TASKS[name]
    monkeypatch.setattr("deadheat.engine.counting.layout.BLOCK_ROWS", 30)
    seen = taken(monkeypatch)
    ask()
    assert list(dict.fromkeys(loop for loop, _ in seen)) == expected


def test_blocks_that_do_not_fit_together_are_streamed_while_columns_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.engine.counting.layout.BLOCK_ROWS", 20)
    monkeypatch.setattr("deadheat.engine.counting.layout.SHARD_BYTES", 1)
    for most, loop in ((count.STREAMED_BYTES, "stream"), (2 * 60 * 5 * 4 - 1, "tiles")):
        monkeypatch.setattr(count, "STREAMED_BYTES", most)
        with monkeypatch.context() as patched:
            seen = taken(patched)
            counted(ROWS, CLASSES)()
        assert [name for name, _ in seen] == [loop, A_PASS]


def test_a_large_group_has_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    profiles = []
    for most, loops in ((30, ["small groups"]), (29, ["tiles", A_PASS])):
        monkeypatch.setattr(count, "SMALL_GROUP", most)
        profiles.append(count.count_within(ROWS, CLASSES, np.split(np.arange(60), 2), settings=OPTIONS))
        with monkeypatch.context() as patched:
            seen = taken(patched)
            dh.grouped(dh.Task(ROWS, CLASSES), group_size=10)
        assert list(dict.fromkeys(name for name, _ in seen)) == loops
    assert profiles[0] == profiles[1]


def test_a_loop_takes_only_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that cannot decide hands its work on; blocks are counted once."""
    rows = tuple(row._replace(loop=lambda work: None) if row.name == "histograms" else row for row in count.LOOPS)
    monkeypatch.setattr(count, "LOOPS", rows)
    assert counted(CODES, CLASSES, distance="hamming")() == counted(CODES.astype(float), CLASSES, distance="l1")()


def test_every_row_says_why_and_what_was_measured() -> None:
    assert [row.kind for row in count.LOOPS] == sorted((row.kind for row in count.LOOPS), key=lambda k: k is not Work)
    assert len({row.name for row in count.LOOPS}) == len(count.LOOPS)
    for row in count.LOOPS:
        assert row.why.endswith(".")
        assert any(sign.isdigit() for sign in row.measured), row.name


# Nothing else chooses -------------------------------------------------------------------------------------------------

KINDS = {"Hamming", "LabelSets", "RuledMask", "Exact", "Rounded", "Tolerance", "Sharing", "Judged", "CardPass", "Card"}
ELSEWHERE = {  # what is asked for another reason than to choose a loop
    "counting/card/device.py": "the argument `device` may be a card that is open",
    "counting/histograms.py": "labels as bits, or as one class a row",
    "counting/label_relevance.py": "labels one by one, for analyses",
    "counting/within.py": "labels of the parts of a mask by rules",
    "counting/own_gallery.py": "a search for equal rows, before anything is counted",
    "counting/neighbors.py": "labels of what an index returned",
    "ties/scores.py": "the rules that given scores can have",
    "task.py": "what a report says, and what a setting is refused for",
}


def asked_in(path: Path) -> set[str]:
    """The kinds that a module compares with: by isinstance, by type, or by match."""
    result = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
                result |= {each.id for each in ast.walk(kinds) if isinstance(each, ast.Name)}
            case ast.Compare():
                result |= {each.id for each in node.comparators if isinstance(each, ast.Name)}
            case ast.MatchClass(cls=ast.Name(id=name)):
                result.add(name)
    return result & KINDS


def test_no_other_module_of_the_engine_asks_for_a_kind_to_choose_a_loop() -> None:
    modules = {path.relative_to(ENGINE).as_posix(): asked_in(path) for path in ENGINE.rglob("*.py")}
    others = {name for name, kinds in modules.items() if kinds and not name.startswith("sources/")}
    assert others - {"count.py"} <= ELSEWHERE.keys()
    assert modules["count.py"] == {"Hamming", "LabelSets", "RuledMask", "Exact"}


def test_no_other_module_makes_a_pass_or_knows_the_thresholds() -> None:
    for path in ENGINE.rglob("*.py"):
        names = {node.func.id for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                 if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}  # fmt: skip
        assert path.name == "count.py" or "CountingPass" not in names, path
    thresholds = {name for name in vars(count) if name.isupper() and isinstance(getattr(count, name), (int, float))}
    assert thresholds >= {"SMALL_GROUP", "SHORT_CODE", "SORTED_SHARE", "STREAMED_SHARDS", "STREAMED_BYTES"}
