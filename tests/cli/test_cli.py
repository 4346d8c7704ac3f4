"""The command: what it prints, what it writes, and one line with exit status 2 for all that can go wrong."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from cli.calling import commands, passed, refused, run

from deadheat.cli import shell
from deadheat.cli.files import GROUPS, Command, Option
from deadheat.cli.main import SECTIONS, main
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import DEFAULT_MEASURES
from deadheat.measures.names import parse
from deadheat.reports.evaluating import evaluate

# Seen from 0 both 1 (relevant) and -1 (irrelevant) are at distance 1; the last point is a singleton.
POINTS = np.array([[0.0], [1.0], [-1.0]])
LABELS = np.array(["a", "a", "b"])
EUCLIDEAN = ("--distance", "euclidean")
TASK = ("evaluate", "points.npz", *EUCLIDEAN)
WITHIN = (*TASK, "--gallery", "points.npz")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a good file, and the guarantee that no temporary file stays in it."""
    monkeypatch.chdir(tmp_path)
    np.savez("points.npz", embeddings=POINTS, labels=LABELS)
    yield tmp_path
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def real(*args: object, before: str = "", **options: Any) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, `before` which this Python is run."""
    command = [sys.executable, "-c", f"{before}\nfrom deadheat.cli.main import main; main()", *map(str, args)]
    return subprocess.run(command, text=True, **{"capture_output": True, "timeout": 60, **options})


def found(**options: Any) -> Any:
    return evaluate(POINTS, LABELS, distance="euclidean", **options)


def content(*args: object) -> Any:
    return json.loads(passed(*args, "--json", "-"))


# results -------------------------------------------------------------------------------------------------------------


def test_table_and_digits() -> None:
    assert passed(*TASK, "-m", "AP,hit@1", "--std").splitlines() == [
        "measure (%)  lower  expected   upper    std",
        "mAP          75.00     87.50  100.00  12.50",
        "Hit@1        50.00     75.00  100.00  25.00",
        "",
        "3 queries, 1 of them without a relevant item (a singleton) and left out of the means.",
        "Ties between relevant and irrelevant items (euclidean, exact): 1 group in 1 query, of 2 items.",
    ]
    assert passed(*TASK, "-m", "AP", "--digits", 0).splitlines()[1].split() == ["mAP", "75", "88", "100"]
    assert "75.0000" in passed(*TASK, "-m", "AP", "--digits", 4, "--markdown", "-")


def test_a_letter_that_standard_output_has_no_character_for() -> None:
    shutil.copy("points.npz", "\u00fc.npz")
    task = ("leaderboard", "points.npz", "\u00fc.npz", *EUCLIDEAN, "-m", "mAP")
    shown = passed(*task)
    assert "\u00fc" in shown
    done = real(*task, env={**os.environ, "PYTHONIOENCODING": "ascii"}, encoding="ascii")
    assert done.stdout == shown.replace("\u00fc", "?")


@pytest.mark.filterwarnings("always::deadheat.errors.QueryInGalleryWarning")
def test_queries_in_the_gallery_are_excluded_by_row_or_id_or_else_reported() -> None:
    done = run(*WITHIN)
    assert (done.exit_code, done.stderr.count("\n")) == (0, 1)
    assert done.stderr.startswith("deadheat: warning: 3 of 3 queries are in the gallery themselves, as an equal row")
    assert "3 of 3 queries are in the gallery themselves" in done.stdout
    assert passed(*WITHIN, "-q") == done.stdout
    Path("rows.txt").write_text("0\n1\n2\n")
    Path("ids.txt").write_text("7\n8\nx\n")
    np.savez("ids.npz", ids=["7", "8", "x"], labels=LABELS)
    np.save("ids.npy", np.array(["7", "8", "x"]))
    note = "3 of 3 queries are in the gallery themselves, and not ranked against their own row."
    expected = {**json.loads(found().to_json()), "n_excluded": 3}
    expected["notes"].insert(1, note)
    for names in (["rows.txt"], ["ids.txt", "ids.txt"], ["ids.npz", "ids.txt"], ["ids.npy", "ids.npz"]):
        assert content(*WITHIN, *(part for name in names for part in ("--exclude", name))) == expected


def test_every_output_at_once() -> None:
    outputs = "--json report.json --markdown report.md --per-query queries.csv --save-profile profile.npz"
    report = found()
    assert passed(*TASK, *outputs.split()) == f"{report}\n"
    assert Path("report.json").read_text() == report.to_json() + "\n"
    assert Path("report.md").read_text() == report.to_markdown()
    assert TieProfile.load("profile.npz") == report.profile
    assert len(Path("queries.csv").read_text().splitlines()) == 4


def test_options_set_the_evaluation() -> None:
    options = "-m mAP --singletons one --average class --threads 1 --ties float16 --ties-of distance"
    printed = content(*TASK, *options.split())
    assert printed["ties"]["rule"] == "float16 distance"
    assert (printed["singletons"], printed["average"], printed["n_class"]) == ("one", "class", 2)
    assert printed["measures"]["mAP"]["lower"] == (0.75 + 1) / 2
    assert list(content("evaluate", "points.npz", "-m", "mAP, Hit@1", "--measure", "MRR")["measures"]) == [
        "mAP",
        "Hit@1",
        "MRR",
    ]
    printed = content(*TASK, "--ties", "tolerance=1e-3")
    assert (printed["ties"]["rule"], printed["measures"]["mAP"]["expected"]) == ("tolerance 0.001", None)


def test_measures_lists_every_measure() -> None:
    listed = [line.split()[0].rstrip(",") for line in passed("--measures").splitlines()[3:-2]]
    for shown in listed:
        name = shown.replace("@k", "@3").replace("@r", "@0.3")
        assert parse(name).name == name
    assert {parse(name).family for name in DEFAULT_MEASURES} <= {name.replace("@k", "") for name in listed}


def test_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    out = passed("demo")
    assert out.startswith("1797 handwritten digits")
    rows = [line.split()[-5:] for line in out.splitlines() if line.startswith(("as stored", "sorted by", "shuffled"))]
    assert len({tuple(row[:2]) for row in rows}) == 3  # a sort gives each order its own mAP
    assert {tuple(row[2:]) for row in rows} == {("5.18", "10.31", "100.00")}
    assert max(map(len, out.splitlines())) <= 120
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    assert refused("demo") == "the demo's images come with scikit-learn: pip install 'deadheat[demo]'"


# help ----------------------------------------------------------------------------------------------------------------


def test_help_and_version() -> None:
    assert passed("--help") == passed("-h") == passed()
    lines = passed("--help").splitlines()
    assert len(lines) <= 38
    assert max(map(len, lines)) < 80
    assert [line for line in lines if line.endswith(":")] == [
        "Options:",
        *(f"{title}:" for title in SECTIONS),
    ]
    assert passed("--version").startswith("deadheat ")


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=str)
def test_help_has_groups_of_whole_sentences(name: str, command: click.Command) -> None:
    assert isinstance(command, Command)
    options = [param for param in command.params if isinstance(param, click.Option)]
    for option in options:
        assert isinstance(option, Option)
        assert option.group in GROUPS
        assert option.help
        assert option.help[0].isupper()
        assert option.help.endswith((".", ".tsv", ".svg"))
    shown = [line.split()[:-1] for line in passed(name, "--help").splitlines() if line.endswith(" options:")]
    used = {option.group for option in options if isinstance(option, Option)}
    first, *_ = lines = passed(name, "--help").splitlines()
    assert max(map(len, lines)) <= 80
    assert first == f"  $ deadheat {command.example}"
    asked, *words = shlex.split(command.example)
    assert asked == name
    command.make_context(name, words)
    assert [" ".join(words) for words in shown] == [group for group in GROUPS if group in used]
    assert {"--quiet", "--verbose"} <= {name for option in options for name in option.opts}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ver", "verify"),
        ("evaluate --dist", "--distance"),
        ("evaluate --distance c", "cosine cityblock correlation"),
        ("evaluate -m mAP,MR", "mAP,MRR mAP,MRR@10"),
    ],
)
def test_the_shell_completes_commands_options_and_values(words: str, offered: str) -> None:
    asked = {"COMP_WORDS": f"deadheat {words}", "COMP_CWORD": str(len(words.split()))}
    lines = run(env={"_DEADHEAT_COMPLETE": "bash_complete", **asked}).stdout.splitlines()
    assert [line.partition(",")[2] for line in lines] == offered.split()
    assert "bash_source" in passed("--help")


def test_quiet_and_verbose() -> None:
    said = run(*TASK, "-v")
    assert (said.exit_code, said.stdout) == (0, passed(*TASK))
    assert said.stderr.splitlines()[0] == "deadheat: points.npz: 3 x 1, float64"
    assert refused("evaluate", "none.npz", "-q") == "none.npz: No such file or directory"


# bad input -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("evaluate", ["FILE"]),
        ("evaluat", ["no command 'evaluat'; did you mean 'evaluate'? (see deadheat --help)"]),
        ("evaluate short.npz",
         ["short.npz: labels must have one entry per row of embeddings, but got 2 labels for 3 rows"]),
        ("evaluate missing.npz", ["missing.npz: No such file or directory"]),
        ("evaluate .", ["must be a file of embeddings"]),
        ("POINTS --gallery short.npz",
         ["short.npz: gallery labels must have one entry per row of gallery, but got 2 labels for 3 rows"]),
        ("POINTS --embeddings-key emb", ["points.npz has no array 'emb', only 'embeddings', 'labels'"]),
        ("POINTS -m mop", ["'mop'"]),
        ("POINTS -m mAP,,MRR", ["''"]),
        ("POINTS --distance cosin", ["--distance must be one of", "'cosin'", "did you mean 'cosine'?"]),
        ("POINTS --ties tolerance=much", ["--ties tolerance=... must be a number that is not negative", "'much'"]),
        ("POINTS --ties tolerance=-1", ["'-1'"]),
        ("POINTS --ties tolerance=1_0", ["'1_0'"]),
        ("POINTS --ties-of distance", ["--ties-of goes with --ties float16, bfloat16, float32", "exact"]),
        ("POINTS --gallery-labels x.npy", ["--gallery-labels goes with --gallery"]),
        ("POINTS --json - --markdown -", ["two results cannot both be written to standard output"]),
        ("POINTS --frobnicate", ["--frobnicate", "see deadheat evaluate --help"]),
        ("POINTS --digits 99", ["digits must be at most 15, but is 99"]),
        ("POINTS --per-query out.xls", ["--per-query out.xls must end in one of .csv, .tsv, .npz, .parquet, but"]),
        ("POINTS --exclude rows.txt", ["exclude must be left"]),
        ("GALLERY --exclude rows.txt",
         ["exclude must hold rows of the gallery, 0 to 2, or -1 for none, but holds 3 for query 2"]),
        ("GALLERY --exclude labels.npz", ["labels.npz has no array 'ids', only 'labels'"]),
        ("GALLERY --exclude a --exclude a --exclude a",
         ["--exclude goes once with a file of rows, or twice with files of ids"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(line: str, parts: list[str]) -> None:
    np.savez("short.npz", embeddings=POINTS, labels=[1, 1])
    np.savez("labels.npz", labels=LABELS)
    Path("rows.txt").write_text("0\n1\n3\n")
    line = line.replace("POINTS", "evaluate points.npz").replace("GALLERY", " ".join(WITHIN))
    message = refused(*line.split())
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("module", "args", "message"),
    [
        ("torch", "--device cuda", "device 'cuda' needs PyTorch: pip install 'deadheat[torch]'"),
        ("pyarrow", "--per-query out.parquet",
         "out.parquet: writing Parquet needs pyarrow: pip install 'deadheat[files]'"),
        ("jinja2", "--html out.html", "--html needs jinja2: pip install 'deadheat[plots]'"),
    ],
)  # fmt: skip
def test_what_is_not_installed(module: str, args: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert refused(*TASK, *args.split()) == message


@pytest.mark.parametrize("flag", ["--json", "--markdown", "--per-query", "--save-profile"])
def test_outputs_are_checked_before_the_work(flag: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.engine.task.count", lambda *_, **__: pytest.fail("the work has begun"))
    Path("folder.npz").mkdir()
    before = sorted(folder.iterdir())
    for out, why in {
        "nowhere/out.npz": "No such file or directory",
        "points.npz/out.npz": "Not a directory",
        "folder.npz": "it is a folder",
    }.items():
        assert refused(*TASK, flag, out) == f"cannot write {out}: {why}"
    assert sorted(folder.iterdir()) == before


def test_a_link_is_followed_and_stays_a_link() -> None:
    Path("link.json").symlink_to("target.json")
    passed(*TASK, "--json", "link.json")
    assert Path("link.json").is_symlink()
    assert json.loads(Path("target.json").read_text())


def test_what_nobody_thought_of_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr("deadheat.engine.task.count", fail)
    raised: Exception = MemoryError()
    assert refused(*TASK) == "not enough memory"
    raised = ValueError("long " * 2000)
    assert len(refused(*TASK)) == 3000
    raised = ZeroDivisionError("two\nlines")
    assert refused(*TASK).startswith("unexpected ZeroDivisionError: two lines (")
    monkeypatch.setenv("DEADHEAT_DEBUG", "1")
    assert isinstance(run(*TASK).exception, ZeroDivisionError)


# as a process --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("terminal", "patience", "drawn"), [(True, 0.0, True), (True, 60.0, False), (False, 0, False)])
def test_progress_is_for_people_who_wait(
    terminal: bool, patience: float, drawn: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shell, "_PATIENCE", patience)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with pytest.raises(SystemExit, match="0"):
        main([*TASK])
    out, err = capsys.readouterr()
    assert out == f"{found()}\n"
    assert ("ranking" in err) == drawn
    assert drawn or err == ""


def test_a_process_succeeds() -> None:
    done = real(*TASK)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", f"{found()}\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk() -> None:
    for args in (TASK, ["--help"]):
        with open("/dev/full", "w") as full:
            done = real(*args, stdout=full, stderr=subprocess.PIPE, capture_output=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert done.stderr.startswith("deadheat: ")
        assert done.stderr.endswith("No space left on device\n")
    assert refused(*TASK, "--json", "/dev/full") == "cannot write /dev/full: No space left on device"
    assert not Path("/dev/full").is_file()
    message = refused(*TASK, "--save-profile", "/dev/full")
    assert message == "cannot write /dev/full: a profile must be a regular file"


def test_closed_pipe_is_no_news() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = real("--measures", stdout=write_end, stderr=subprocess.PIPE, capture_output=False)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (141, "")


def test_interrupt() -> None:
    killed = f"""
import os, signal, deadheat.engine.task as tasks
tasks.count = lambda *_, **__: os.kill(os.getpid(), {int(signal.SIGINT)})
"""
    done = real("evaluate", "points.npz", before=killed)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "deadheat: interrupted\n")


def test_a_run_that_resumes_says_so(tmp_path: Path) -> None:
    points = np.random.default_rng(3).normal(size=(1200, 4))
    np.savez(tmp_path / "many.npz", embeddings=points, labels=np.arange(1200) % 40)
    command = ("evaluate", tmp_path / "many.npz", "--checkpoint", tmp_path / "kept", "-m", "mAP")
    first, again, quiet = run(*command), run(*command), run(*command, "--quiet")
    n = len([*(tmp_path / "kept").glob("portion-*.npz")])
    said = f"deadheat: resuming: {n} of {n} portions found in checkpoint '{tmp_path}/kept'\n"
    assert (first.stderr, again.stderr, quiet.stderr) == ("", said, "")
    assert first.stdout == again.stdout == quiet.stdout
