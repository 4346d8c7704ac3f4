"""Output files of commands: no file is overwritten without --force."""

from __future__ import annotations

import json
from pathlib import Path

import click
import numpy as np
import pytest
from cli.calling import commands, passed, refused

import deadheat as dh
from deadheat.cli.files import Command, Output
from deadheat.cli.main import main

LABELS = np.arange(24) % 4
QUICK = ("-m", "mAP", "--n-resamples", "50")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    monkeypatch.chdir(tmp_path)
    for name in "abc":
        np.savez(f"{name}.npz", embeddings=rng.normal(size=(24, 3)), labels=LABELS)
    np.save("labels.npy", LABELS)
    np.save("emb-1.npy", rng.normal(size=(24, 3)))
    Path("qrels").write_text("q 0 d1 1\nq 0 d2 0\n")
    Path("bm25").write_text("q Q0 d1 1 0.5 x\nq Q0 d2 2 0.5 x\n")
    Path("dense").write_text("q Q0 d1 1 0.7 x\nq Q0 d2 2 0.5 x\n")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("option", ["--json", "--markdown", "--latex"])
def test_a_text_is_printed_in_place_of_the_table_or_goes_to_a_file_of_any_name(folder: Path, option: str) -> None:
    printed = passed("leaderboard", option, "-", "a.npz", "b.npz", "c.npz", *QUICK)
    board = passed("leaderboard", "a.npz", "b.npz", "c.npz", *QUICK)
    assert passed("leaderboard", "a.npz", option, "new.npz", "b.npz", "c.npz", *QUICK) == board
    assert Path("new.npz").read_text() == printed != board


@pytest.mark.parametrize("option", ["--json", "--markdown", "--latex", "--halves"])
def test_an_option_without_its_value_is_one_line_and_takes_no_input(folder: Path, option: str) -> None:
    before = contents(folder)
    assert refused("grouped", "a.npz", option).startswith(f"Option '{option}' requires an argument")
    said = refused("grouped", option, "a.npz", "b.npz")
    assert said.startswith(("cannot write a.npz: it is there already", "--halves must be an integer, but is 'a."))
    assert contents(folder) == before


# What must not be overwritten ----------------------------------------------------------------------------------------


def test_every_file_that_a_command_writes_is_checked() -> None:
    """An option or argument that is a file is read, or is an `Output` of a command that looks after it."""
    writing = {}
    for name, command in commands():
        outputs = [param.opts[0] for param in command.params if isinstance(param.type, Output)]
        if outputs:
            assert isinstance(command, Command), name
            writing[name] = outputs
        kinds = {param.opts[0] for param in command.params if (param.metavar or "").strip("[]") == "OUT"}
        assert kinds <= set(outputs), name
    texts = ["--json", "--markdown", "--latex"]
    assert writing == {
        "audit": texts,
        "audit-collection": texts,
        "audit-run": texts,
        "classify": ["--plot", *texts],
        "collisions": ["--plot", *texts],
        "compare": [*texts, "--html"],
        "confidence": ["--plot", *texts],
        "evaluate": ["--per-query", *texts, "--html", "--receipt", "--save-profile"],
        "exploit": ["--plot", *texts],
        "grouped": ["--plot", *texts],
        "index-recall": texts,
        "leaderboard": texts,
        "quantization": ["--plot", *texts],
        "run": ["--per-query", *texts, "--html"],
        "verify": ["--json"],
    }
    assert {name for name, _ in commands()} == set(main.sentences)


ALL_OUTPUTS = ("--json", "--markdown", "--latex", "--html", "--receipt", "--save-profile")


@pytest.mark.parametrize("option", [*ALL_OUTPUTS, "--per-query"])
def test_no_file_is_overwritten_whatever_it_holds(folder: Path, option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an input, nor another file, nor an earlier result, nor an empty file."""
    passed("evaluate", "a.npz", "--json=earlier.csv")
    Path("settings.csv").write_text('{"port": 8080}\n')
    Path("empty.csv").touch()
    Path("link.csv").symlink_to("settings.csv")
    before = contents(folder)
    monkeypatch.setattr("deadheat.engine.task.count", lambda *_, **__: pytest.fail("the work has begun"))
    names = () if option == "--per-query" else ("a.npz",)  # which has an ending of its own
    for name in (*names, "settings.csv", "earlier.csv", "empty.csv", "link.csv"):
        said = f"cannot write {name}: it is there already (--force overwrites it)"
        assert refused("evaluate", "a.npz", f"{option}={name}") == said
    assert contents(folder) == before


def test_nothing_is_written_into_a_folder_that_is_read(folder: Path) -> None:
    passed("evaluate", "a.npz", "--checkpoint", "run")
    before = contents(folder)
    said = refused("evaluate", "a.npz", "--checkpoint", "run", "--json", "run/new.json")
    assert said == "cannot write run/new.json: it is in run, which is read (--force writes it)"
    assert contents(folder) == before


def test_force_overwrites(folder: Path) -> None:
    report = dh.evaluate(*(np.load("a.npz")[name] for name in ("embeddings", "labels")))
    Path("notes.txt").write_text("do not lose this")
    passed("evaluate", "a.npz", "--json=notes.txt", "--force")
    assert json.loads(Path("notes.txt").read_text()) == json.loads(report.to_json())
    passed("evaluate", "a.npz", "--json=a.npz", "--force")
    assert json.loads(Path("a.npz").read_text()) == json.loads(report.to_json())


def test_two_results_in_one_place_by_two_names(folder: Path) -> None:
    Path("link").symlink_to("out")
    for other in ("./out", "link", f"{folder}/out"):
        message = refused("evaluate", "a.npz", "--json", other, "--html", "out")
        assert message.startswith("two results cannot both be written to ")
    assert not Path("out").exists()


@pytest.mark.parametrize("option", ["--html", "--receipt", "--per-query", "--save-profile"])
def test_only_text_goes_to_standard_output(folder: Path, option: str) -> None:
    assert refused("evaluate", "points.npz", option, "-").startswith(
        f"{option} must name a file, as only text is printed, but is '-'"
    )
    assert not Path("-").exists()


# Values that no option can have --------------------------------------------------------------------------------------


PARAMS = [(name, param) for name, command in commands() for param in command.params]
TYPES = {kind: [pair for pair in PARAMS if pair[1].type.name == kind] for kind in ("integer", "float", "path")}
COUNTS = {"integer": 30, "float": 3, "path": 60}
ODD = {
    "integer": (["x", "", "1_0", "\N{ARABIC-INDIC DIGIT THREE}", "1.0", "1e3", "9" * 5000], "must be an integer"),
    "float": (["x", "", "nan", "inf", "1e999", "1_0", "\N{ARABIC-INDIC DIGIT THREE}"], "must be a finite number"),
    "path": (["a\0b"], "must be a path without a NUL character"),
}


BIG = "9" * 23


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_value_is_refused_with_the_rule_for_it(kind: str) -> None:
    values, rule = ODD[kind]
    assert len(TYPES[kind]) >= COUNTS[kind]
    for command, param in TYPES[kind]:
        context = click.Context(click.Command(command))
        name = param.opts[0] if isinstance(param, click.Option) else param.make_metavar(context)
        for value in values:
            with pytest.raises(click.UsageError) as caught:
                param.type.convert(value, param, context)
            assert str(caught.value).startswith(f"{name} {rule}")
            assert str(caught.value).endswith(f", but is {value!r}" if len(value) < 50 else "99...")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("audit none --seed -1", "--seed must be an integer of at least 0, but is -1"),
        *((f"{command} --threads {value}", f"--threads must be an integer from 1 to 65536, but is {value} (see deadh")
          for command in ("evaluate a.npz", "run qrels bm25", "verify r a.npz")
          for value in ("-1", "0", "65537", BIG)),
    ],
)  # fmt: skip
def test_numbers_out_of_range(folder: Path, line: str, message: str) -> None:
    assert refused(*line.split()).startswith(message)
