"""What commands write: no input is overwritten, no file of another kind, and no option takes an input for its value."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
import numpy as np
import pytest
from cli.calling import commands, passed, refused, run, shell

import deadheat as dh
from deadheat.cli.files import Command, Output
from deadheat.cli.main import COMMANDS

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


# An option that can do without a value -------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--json", "--markdown", "--latex"])
def test_an_option_without_a_value_takes_no_file_that_follows(folder: Path, option: str) -> None:
    before = contents(folder)
    board = passed("leaderboard", "a.npz", "b.npz", "c.npz", *QUICK, option)
    assert passed("leaderboard", option, "a.npz", "b.npz", "c.npz", *QUICK) == board
    assert passed("leaderboard", "a.npz", option, "b.npz", "c.npz", *QUICK) == board
    assert passed("evaluate", option, "a.npz") == passed("evaluate", "a.npz", option)
    assert passed("evaluate", option, "emb-*.npy", "--labels", "labels.npy")
    assert passed("run", option, "qrels", "bm25") == passed("run", "qrels", "bm25", option)
    several = passed("run", "qrels", "bm25", "dense", "--n-resamples", "50", option)
    assert passed("run", option, "qrels", "bm25", "dense", "--n-resamples", "50") == several
    assert run("audit", option, "a.npz", "-m", "mAP").stdout == run("audit", "a.npz", "-m", "mAP", option).stdout
    asked = ("a.npz", "-f", "int8")
    assert passed("quantization", option, *asked) == passed("quantization", *asked, option)
    assert refused("leaderboard", option, "missing.npz", "b.npz", "c.npz") == "missing.npz: No such file or directory"
    assert contents(folder) == before


def test_it_takes_what_looks_like_its_value(folder: Path) -> None:
    board = passed("leaderboard", "a.npz", "b.npz", *QUICK)
    for out in ("board.json", "board", "board.txt", "./board"):
        for _ in range(2):  # once more over what was written
            assert passed("leaderboard", "--json", out, "a.npz", "b.npz", *QUICK) == board
        assert json.loads(Path(out).read_text())["systems"]
    Path("empty").touch()
    assert passed("leaderboard", "--json", "empty", "a.npz", "b.npz", *QUICK) == board
    assert passed("leaderboard", "--json=other.npz", "a.npz", "b.npz", *QUICK) == board  # what is told is done
    assert json.loads(Path("other.npz").read_text())["systems"]


def test_where_a_value_is_the_only_sense_it_is_one(folder: Path) -> None:
    passed("evaluate", "a.npz", "--json", "new.npz")  # evaluate has one FILE
    assert json.loads(Path("new.npz").read_text())["n_query"] == 24
    passed("evaluate", "a.npz", "--receipt", "r.json")
    assert json.loads(passed("verify", "--json", "r.json", "a.npz"))["matches"] is True  # verify has two
    done = run("audit-evaluator", "--json", "numpy:argsort", "--classes", 2, "--class-size", 3)
    assert json.loads(done.stdout)["evaluator"] == "numpy:argsort"


@pytest.mark.skipif(os.name == "nt", reason="the shell here is that of Unix")
@pytest.mark.parametrize("line", ["evaluate --json <(cat a.npz)", "evaluate --json /dev/stdin < <(cat a.npz)"])
def test_a_pipe_to_read_is_no_value(folder: Path, line: str) -> None:
    status, printed, said = shell(folder, f"deadheat {line}")
    assert (status, said) == (0, "")
    assert json.loads(printed)["n_query"] == 24


# What must not be overwritten ----------------------------------------------------------------------------------------


def test_every_file_that_a_command_writes_is_checked() -> None:
    """An option or argument that is a file is read, or is an `Output` of a command that looks after it."""
    writing = {}
    for names, command in commands():
        outputs = [param.opts[0] for param in command.params if isinstance(param.type, Output)]
        if outputs:
            assert isinstance(command, Command), names
            writing[" ".join(names)] = outputs
        kinds = {param.opts[0] for param in command.params if (param.metavar or "").strip("[]") == "OUT"}
        assert kinds <= set(outputs), names
    texts = ["--json", "--markdown", "--latex"]
    assert writing == {
        "audit": texts,
        "audit-evaluator": texts,
        "audit-run": texts,
        "challenge leaderboard": texts,
        "challenge receipt": ["out"],
        "classify": ["--plot", *texts],
        "collisions": ["--plot", *texts],
        "compare": [*texts, "--html"],
        "confidence": ["--plot", *texts],
        "evaluate": ["--per-query", *texts, "--html", "--receipt", "--save-profile"],
        "exploit": ["--plot", *texts],
        "grouped": ["--plot", *texts],
        "index-recall": texts,
        "leaderboard": ["--plot", *texts],
        "quantization": ["--plot", *texts],
        "run": ["--per-query", *texts, "--html"],
        "sign": ["--output"],
        "verify": ["--json"],
    }
    assert {names[0] for names, _ in commands()} == set(COMMANDS)


ALL_OUTPUTS = ("--json", "--markdown", "--latex", "--html", "--receipt", "--save-profile")


@pytest.mark.parametrize("option", ALL_OUTPUTS)
def test_no_input_is_overwritten(folder: Path, option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.reports.evaluating.profile_pair", lambda *_, **__: pytest.fail("the work has begun"))
    Path("link.npz").symlink_to("a.npz")
    os.link("a.npz", "hard.npz")
    np.savetxt("confidence.txt", np.arange(24))
    np.savetxt("rows.txt", np.arange(24), fmt="%d")
    task = ("evaluate", "a.npz", "--gallery", "b.npz", "--gallery-labels", "labels.npy", "--exclude", "rows.txt")
    task += ("--html", "page.html", "--confidence", "confidence.txt") if option != "--html" else ()
    inputs = ["a.npz", "link.npz", "hard.npz", f"{folder}/../{folder.name}/a.npz", "b.npz", "labels.npy", "rows.txt"]
    before = contents(folder)
    for path in inputs + ["confidence.txt"] * (option != "--html"):
        assert refused(*task, f"{option}={path}").startswith(
            f"cannot write {path}: it is one of the input files (--force"
        )
    assert contents(folder) == before


def test_inputs_of_patterns_and_folders_are_inputs(folder: Path) -> None:
    zarr = pytest.importorskip("zarr")
    zarr.save_group("a.zarr", embeddings=np.eye(24), labels=LABELS)
    before = contents(folder)
    task = ("evaluate", "emb-*.npy", "--labels", "labels.npy", "--save-profile")
    assert "emb-1.npy: it is one of the input files" in refused(*task, "emb-1.npy")
    for path in ("a.zarr/zarr.json", "a.zarr/new.json"):
        assert f"cannot write {path}: it is in a.zarr, which is read" in refused("evaluate", "a.zarr", "--json", path)
    assert contents(folder) == before


OLD = {
    "data.npz": None,
    "notes.txt": b"do not lose this\n",
    "README.md": b"# Notes\n",
    "samples.csv": b"label,x\na,1\n",
    "table.json": b"[1, 2]\n",
    "paper.tex": b"\\documentclass{article}\n",
    "picture.png": b"\x89PNG\r\n\x1a\n",
    "page.xml": b"<?xml version='1.0'?>\n",
}


@pytest.mark.parametrize("option", [*ALL_OUTPUTS, "--per-query"])
def test_no_file_of_another_kind_is_overwritten(folder: Path, option: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.reports.evaluating.profile_pair", lambda *_, **__: pytest.fail("the work has begun"))
    np.savez("data.npz", x=np.arange(3))
    for name, content in OLD.items():
        if content is not None:
            Path(name).write_bytes(content)
    before = contents(folder)
    for name in OLD if option != "--per-query" else ("data.npz", "samples.csv"):
        message = refused("evaluate", "a.npz", f"{option}={name}")
        assert message.startswith(f"cannot write {name}: it is there and is not ")
        assert message.endswith(" (--force overwrites it)")
    assert contents(folder) == before


@pytest.mark.slow
def test_what_was_written_is_written_again(folder: Path) -> None:
    pytest.importorskip("pyarrow")
    texts, quick = "--json r.out --markdown r.md --latex r.tex", " ".join(QUICK)
    outputs = f"{texts} --html r --receipt receipt.txt --save-profile p.dat"
    for line in (
        *(f"evaluate a.npz {outputs} --per-query values.{ending}" for ending in ("csv", "tsv", "npz", "parquet")),
        f"audit a.npz -m mAP {texts}",  # over what evaluate wrote too, which is of the same kinds
        f"compare a.npz b.npz {quick} {texts} --html c.html",
        *(f"quantization a.npz -f int8 --plot p.{ending}" for ending in ("png", "pdf", "svg")),
        "audit-evaluator numpy:argsort --classes 2 --class-size 3 --markdown e.md",
        "run qrels bm25 --per-query v.csv --json run.json",
        "verify receipt.txt a.npz --json verified.json",
    ):
        for _ in range(2):
            done = run(*line.split())
            assert done.stderr == ""
            assert done.exit_code <= line.startswith("audit")


def test_force_overwrites_what_it_is_told_to(folder: Path) -> None:
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


def test_other_commands_that_write_lose_nothing(folder: Path) -> None:
    pytest.importorskip("cryptography")
    passed("evaluate", "a.npz", "--receipt", "r.json")
    passed("keys", "key.pem")
    passed("challenge", "init", "words", "--labels", "labels.npy")
    assert passed("challenge", "score", "words") == "nothing in the queue\n"
    Path("reproduced").mkdir()
    Path("reproduced/index.html").write_text("<p>mine</p>")
    before = contents(folder)
    assert "key.pem is there already" in refused("keys", "key.pem").replace(":", "")
    for out in ("key.pem", "r.json"):
        assert refused("sign", "r.json", "--key", "key.pem", "-o", out).startswith(
            f"cannot write {out}: it is one of the input files"
        )
    assert "it is there and is not JSON" in refused("sign", "r.json", "--key", "key.pem", "-o", "b.npz")
    for out in ("words/challenge.json", "words/submissions/x.json"):
        assert f"cannot write {out}: it is " in refused("challenge", "receipt", "words", 1, out)
        assert f"cannot write {out}: it is " in refused("challenge", "leaderboard", "words", f"--json={out}")
    assert "is not JSON" in refused("challenge", "receipt", "words", 1, "words/labels.npy")
    assert "index.html: it is there and is not a page of deadheat reproduce" in refused("reproduce", "null")
    assert refused("verify", "r.json", "a.npz", "--json=r.json").startswith("cannot write r.json: it is one of the")
    assert contents(folder) == before
    passed("sign", "r.json", "--key", "key.pem")  # in place, as its help says
    passed("sign", "r.json", "--key", "key.pem", "-o", "signed.json")
    passed("sign", "r.json", "--key", "key.pem", "-o", "signed.json")


# Values that no option can have --------------------------------------------------------------------------------------


PARAMS = [(names, param) for names, command in commands() for param in command.params]
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
    for names, param in TYPES[kind]:
        context = click.Context(click.Command(names[-1]))
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
        (f"challenge receipt d {BIG} o", "NUMBER must be an integer from 1 to 9223372036854775807, but is 9"),
        ("challenge serve d --port 65536", "--port must be an integer from 0 to 65535, but is 65536"),
        (f"challenge init d --labels labels.npy --dim {BIG}", "dim must be at most 1000000000"),
        (f"audit-evaluator numpy:argsort --classes {BIG}", "n_classes must be at most 1000000, but is"),
        (f"audit-evaluator numpy:argsort --class-size {BIG}", "class_size must be at most 1000000, but is"),
        (f"audit-evaluator numpy:argsort --draws {BIG}", "draws must be at most 1000000, but is 9"),
        *((f"{command} --threads {value}", f"--threads must be an integer from 1 to 65536, but is {value} (see deadh")
          for command in ("evaluate a.npz", "run qrels bm25", "reproduce --list", "verify r a.npz")
          for value in ("-1", "0", "65537", BIG)),
    ],
)  # fmt: skip
def test_numbers_out_of_range(folder: Path, line: str, message: str) -> None:
    assert refused(*line.split()).startswith(message)
