"""The command: what it prints, what it writes, and one line with exit status 2 for all that can go wrong."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import numpy as np
import pytest
from cli.calling import commands, passed, refused, run

from deadheat.analyses.quantization import compare_formats
from deadheat.cli import shell
from deadheat.cli.files import GROUPS, Command, Option
from deadheat.cli.main import main
from deadheat.engine.profiles.profile import TieProfile
from deadheat.measures import DEFAULT_MEASURES, parse
from deadheat.reports.evaluating import evaluate

# Seen from 0 both 1 (relevant) and -1 (irrelevant) are at distance 1; the last point is a singleton.
POINTS = np.array([[0.0], [1.0], [-1.0]])
LABELS = np.array(["a", "a", "b"])
EUCLIDEAN = ("--distance", "euclidean")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a good file, and the guarantee that no temporary file stays in it."""
    np.savez(tmp_path / "points.npz", embeddings=POINTS, labels=LABELS)
    yield tmp_path
    assert [path for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def real(*args: object, before: str = "", **options: object) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, `before` which this Python is run."""
    command = [sys.executable, "-c", f"{before}\nfrom deadheat.cli.main import main; main()", *map(str, args)]
    return subprocess.run(command, text=True, **{"capture_output": True, "timeout": 60, **options})  # type: ignore[call-overload,no-any-return]


# ---------------------------------------------------------------------------------------------------------------------
# results


def test_table(folder: Path) -> None:
    assert passed("evaluate", folder / "points.npz", *EUCLIDEAN, "-m", "AP,hit@1", "--std").splitlines() == [
        "measure (%)  lower  expected   upper    std",
        "mAP          75.00     87.50  100.00  12.50",
        "Hit@1        50.00     75.00  100.00  25.00",
        "",
        "3 queries, 1 of them without a relevant item (a singleton) and left out of the means.",
        "Ties between relevant and irrelevant items (euclidean, exact): 1 group in 1 query, of 2 items.",
    ]


def test_digits(folder: Path) -> None:
    line = passed("evaluate", folder / "points.npz", *EUCLIDEAN, "-m", "AP", "--digits", 0).splitlines()[1]
    assert line.split() == ["mAP", "75", "88", "100"]
    markdown = passed("evaluate", folder / "points.npz", *EUCLIDEAN, "-m", "AP", "--digits", 4, "--markdown")
    assert "75.0000" in markdown
    assert refused("evaluate", folder / "points.npz", "--digits", 99) == "digits must be at most 15, but is 99"


def test_a_letter_that_standard_output_has_no_character_for(folder: Path) -> None:
    (folder / "\u00fc.npz").write_bytes((folder / "points.npz").read_bytes())
    task = ("leaderboard", folder / "points.npz", folder / "\u00fc.npz", *EUCLIDEAN, "-m", "mAP")
    shown = {
        name: real(*task, env={**os.environ, "PYTHONIOENCODING": name}, encoding=name) for name in ("utf-8", "ascii")
    }
    assert "\u00fc" in shown["utf-8"].stdout
    assert shown["ascii"].stdout == shown["utf-8"].stdout.replace("\u00fc", "?")


def test_the_set_as_its_own_gallery_is_said_in_one_line(folder: Path) -> None:
    done = real("evaluate", folder / "points.npz", "--gallery", folder / "points.npz", *EUCLIDEAN)
    assert done.returncode == 0
    assert done.stderr.startswith("deadheat: warning: 3 of 3 queries are in the gallery themselves, as an equal row")
    assert done.stderr.count("\n") == 1
    assert "3 of 3 queries are in the gallery themselves" in done.stdout


def test_queries_in_the_gallery_are_excluded_by_row_or_id(folder: Path) -> None:
    (folder / "rows.txt").write_text("0\n1\n2\n")
    (folder / "ids.txt").write_text("7\n8\nx\n")
    np.savez(folder / "ids.npz", ids=["7", "8", "x"], labels=LABELS)
    np.save(folder / "ids.npy", np.array(["7", "8", "x"]))
    task = ("evaluate", folder / "points.npz", "--gallery", folder / "points.npz", *EUCLIDEAN, "--json")
    content = json.loads(evaluate(POINTS, LABELS, distance="euclidean").to_json())
    for names in (["rows.txt"], ["ids.txt", "ids.txt"], ["ids.npz", "ids.txt"], ["ids.npy", "ids.npz"]):
        asked = [part for name in names for part in ("--exclude", folder / name)]
        assert json.loads(passed(*task, *asked)) == {**content, "n_excluded": 3}


def test_what_cannot_be_excluded_is_refused(folder: Path) -> None:
    (folder / "rows.txt").write_text("0\n1\n3\n")
    np.savez(folder / "labels.npz", labels=LABELS)
    task = ("evaluate", folder / "points.npz", "--gallery", folder / "points.npz", "--exclude")
    rule = "must hold rows of the gallery, 0 to 2, or -1 for none, but holds 3 for query 2"
    assert refused(*task, folder / "rows.txt") == f"exclude {rule}"
    assert refused(*task, folder / "labels.npz") == f"{folder / 'labels.npz'} has no array 'ids', only 'labels'"
    assert refused("evaluate", folder / "points.npz", "--exclude", folder / "rows.txt").startswith(
        "exclude must be left"
    )
    several = ["--exclude", "a.txt"] * 2
    assert refused(*task, "a.txt", *several).startswith("--exclude goes once with a file of rows, or twice")


def test_measures_repeated_and_with_commas(folder: Path) -> None:
    out = passed("evaluate", folder / "points.npz", "-m", "mAP, Hit@1", "--measure", "MRR", "--json")
    assert list(json.loads(out)["measures"]) == ["mAP", "Hit@1", "MRR"]


@pytest.mark.parametrize("json_to", [["--json"], ["--json", "-"]])
def test_json_on_standard_output_is_nothing_but_json(json_to: list[str], folder: Path) -> None:
    content = json.loads(passed("evaluate", folder / "points.npz", *EUCLIDEAN, *json_to))
    assert content == json.loads(evaluate(POINTS, LABELS, distance="euclidean").to_json())


def test_every_output_at_once(folder: Path) -> None:
    outputs = {name: folder / name for name in ("report.json", "report.md", "queries.csv", "profile.npz")}
    flags = ("--json", "--markdown", "--per-query", "--save-profile")
    args = [part for pair in zip(flags, outputs.values(), strict=True) for part in pair]
    outputs["report.json"].write_text('{"here": "before"}')
    printed = passed("evaluate", folder / "points.npz", *EUCLIDEAN, *args)
    report = evaluate(POINTS, LABELS, distance="euclidean")
    assert printed == f"{report}\n"
    assert outputs["report.json"].read_text() == report.to_json() + "\n"
    assert outputs["report.md"].read_text() == report.to_markdown()
    assert TieProfile.load(outputs["profile.npz"]) == report.profile
    assert len(outputs["queries.csv"].read_text().splitlines()) == 4


def test_per_query_as_text(folder: Path) -> None:
    for ending, delimiter in ((".csv", ","), (".tsv", "\t")):
        out = folder / f"queries{ending}"
        passed("evaluate", folder / "points.npz", *EUCLIDEAN, "-m", "mAP", "--per-query", out)
        with open(out, newline="") as file:
            assert list(csv.reader(file, delimiter=delimiter)) == [
                ["query", "label", "mAP_lower", "mAP_expected", "mAP_upper"],
                ["0", "a", "0.5", "0.75", "1.0"],
                ["1", "a", "1.0", "1.0", "1.0"],
                ["2", "b", "", "", ""],
            ]


def test_per_query_as_arrays_and_as_parquet(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for out in (folder / "queries.npz", folder / "queries.parquet"):
        passed("evaluate", folder / "points.npz", *EUCLIDEAN, "-m", "mAP", "--per-query", out)
    table = parquet.read_table(out).to_pydict()
    ends = {"mAP_lower": [0.5, 1.0, None], "mAP_expected": [0.75, 1.0, None], "mAP_upper": [1.0, 1.0, None]}
    assert table == {"query": [0, 1, 2], "label": ["a", "a", "b"], **ends}
    with np.load(folder / "queries.npz") as archive:
        assert archive.files == list(table)
        np.testing.assert_array_equal(archive["mAP_expected"], [0.75, 1, np.nan])


def test_gallery_in_another_kind_of_file(folder: Path) -> None:
    np.save(folder / "query.npy", np.array([[0.0]]))
    (folder / "query.txt").write_text("7\n")
    (folder / "gallery.csv").write_text("class,position\n7,2\nx,1\n")
    args = (folder / "query.npy", "--labels", folder / "query.txt", "--gallery", folder / "gallery.csv", *EUCLIDEAN)
    assert json.loads(passed("evaluate", *args, "-m", "mAP", "--json"))["measures"]["mAP"]["lower"] == 0.5


def test_options_reach_the_evaluation(folder: Path) -> None:
    args = ("evaluate", folder / "points.npz", *EUCLIDEAN, "-m", "mAP", "--singletons", "one", "--average", "class")
    content = json.loads(passed(*args, "--threads", 1, "--ties", "float16", "--ties-of", "distance", "--json"))
    assert content["ties"]["rule"] == "float16 distance"
    assert (content["singletons"], content["average"], content["n_class"]) == ("one", "class", 1)
    assert content["measures"]["mAP"]["lower"] == (0.75 + 1) / 2
    content = json.loads(passed("evaluate", folder / "points.npz", *EUCLIDEAN, "--ties", "tolerance=1e-3", "--json"))
    assert (content["ties"]["rule"], content["measures"]["mAP"]["expected"]) == ("tolerance 0.001", None)


def test_precision_is_what_python_prints(folder: Path) -> None:
    points = np.random.default_rng(0).normal(size=(20, 3))
    np.savez(folder / "more.npz", embeddings=points, labels=np.arange(20) % 4)
    asked = ("-f", "fp16,int8", "-f", "binary", "--threshold", "mean", "-m", "MRR", "--distance", "l2", "--seed", 3)
    out = passed("quantization", folder / "more.npz", *asked)
    told = {"formats": ["float16", "int8", "1 bit"], "threshold": "mean", "measures": "MRR", "distance": "euclidean"}
    found = compare_formats(points, np.arange(20) % 4, **told, seed=3)  # type: ignore[arg-type]
    assert out == f"{found}\n"
    content = passed("quantization", folder / "more.npz", "--base", "int8", "--json", "-")
    assert json.loads(content) == json.loads(compare_formats(points, np.arange(20) % 4, base="int8").to_json())


def test_precision_draws_a_picture(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    passed("quantization", folder / "points.npz", "-f", "int8,binary", "--plot", folder / "bytes.png")
    assert (folder / "bytes.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (["-f", "int9"], "formats must be one of float64, float32"),
        (["--threshold", "1_0"], "threshold must be numbers, or one of mean, median, but is '1_0'"),
        (["--plot", "bytes.jpg"], "--plot bytes.jpg must end in one of .png, .pdf, .svg"),
        (["--json", "out.png", "--plot", "out.png"], "two results cannot both be written to out.png"),
    ],
)
def test_bad_options_of_precision(args: list[str], part: str, folder: Path) -> None:
    before = sorted(folder.iterdir())
    assert part in refused("quantization", folder / "points.npz", *args)
    assert sorted(folder.iterdir()) == before


def test_measures_lists_every_measure() -> None:
    out = passed("measures")
    listed = [line.split()[0].rstrip(",") for line in out.splitlines()[3:-2]]
    for shown in listed:
        name = shown.replace("@k", "@3").replace("@r", "@0.3")
        assert parse(name).name == name
    assert {parse(name).family for name in DEFAULT_MEASURES} <= {name.replace("@k", "") for name in listed}


def test_demo() -> None:
    pytest.importorskip("sklearn")
    out = passed("demo")
    assert out.startswith("1797 handwritten digits")
    rows = [line.split()[-5:] for line in out.splitlines() if line.startswith(("as stored", "sorted by", "shuffled"))]
    assert len({tuple(row[:2]) for row in rows}) == 3  # a sort gives each order its own mAP
    assert {tuple(row[2:]) for row in rows} == {("5.18", "10.31", "100.00")}
    assert max(map(len, out.splitlines())) <= 120


def test_demo_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    assert refused("demo") == "the demo's images come with scikit-learn: pip install 'deadheat[demo]'"


def test_help_and_version() -> None:
    assert passed("--help") == passed("-h") == passed()
    assert passed("--version").startswith("deadheat ")
    words = " ".join(passed("challenge", "--help").split())
    assert "Write the receipt of the submission NUMBER (deadheat challenge list) to OUT, for deadheat verify" in words


@pytest.mark.parametrize(("names", "command"), list(commands()), ids=str)
def test_help_has_groups_of_whole_sentences(names: tuple[str, ...], command: click.Command) -> None:
    assert isinstance(command, Command)
    options = [param for param in command.params if isinstance(param, click.Option)]
    for option in options:
        assert isinstance(option, Option)
        assert option.group in GROUPS
        assert option.help
        assert option.help[0].isupper()
        assert option.help.endswith((".", ".tsv", ".svg"))
    shown = [line.split()[:-1] for line in passed(*names, "--help").splitlines() if line.endswith(" options:")]
    used = {option.group for option in options if isinstance(option, Option)}
    assert [" ".join(words) for words in shown] == [group for group in GROUPS if group in used]
    assert {"--quiet", "--verbose"} <= {name for option in options for name in option.opts}


def completed(*words: str) -> list[str]:
    """What the shell offers for the last of these words."""
    environment = {
        **os.environ, "_DEADHEAT_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(("deadheat", *words)), "COMP_CWORD": str(len(words)),
    }  # fmt: skip
    return [line.partition(",")[2] for line in real(env=environment).stdout.splitlines()]


def test_the_shell_completes_commands_options_and_values() -> None:
    assert completed("ver") == ["verify"]
    assert completed("challenge", "s") == ["score", "serve", "submit"]
    assert completed("evaluate", "--dist") == ["--distance"]
    assert completed("evaluate", "--distance", "c") == ["cosine", "cityblock"]
    assert completed("evaluate", "-m", "mAP,MR") == ["mAP,MRR", "mAP,MRR@10"]
    assert "bash_source" in passed("--help")


def test_quiet_and_verbose(folder: Path) -> None:
    task = ("evaluate", folder / "points.npz", *EUCLIDEAN)
    printed = passed(*task)
    said = run(*task, "-v")
    assert (said.exit_code, said.stdout) == (0, printed)
    assert said.stderr.splitlines()[0] == f"deadheat: {folder / 'points.npz'}: 3 x 1, float64"
    within = (*task, "--gallery", folder / "points.npz")
    assert "warning" in real(*within).stderr
    done = real(*within, "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == real(*within).stdout
    assert refused("evaluate", folder / "none.npz", "-q").endswith("none.npz: No such file or directory")


# ---------------------------------------------------------------------------------------------------------------------
# bad input


def test_bad_files(folder: Path) -> None:
    np.savez(folder / "short.npz", embeddings=POINTS, labels=[1, 1])
    np.savez(folder / "keyless.npz", one=POINTS, two=np.zeros((3, 3, 3)))
    for name, part in {
        "short.npz": "labels must have one entry per row of embeddings, but got 2 labels for 3 rows",
        "keyless.npz": "name the embeddings (--embeddings-key), one of 'one', 'two'",
        "missing.npz": "No such file or directory",
        "": "must be a file of embeddings",
    }.items():
        message = refused("evaluate", folder / name)
        assert message.startswith(str(folder / name))
        assert part in message
    message = refused("evaluate", folder / "points.npz", "--gallery", folder / "short.npz")
    assert "short.npz: gallery_labels must have one entry per row of gallery, but got 2 labels for 3 rows" in message


def test_a_device_without_pytorch(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    message = refused("evaluate", folder / "points.npz", "--device", "cuda")
    assert message == "device 'cuda' needs PyTorch: pip install 'deadheat[torch]'"


@pytest.mark.parametrize(
    ("args", "parts"),
    [
        (["--embeddings-key", "emb"], ["points.npz has no array 'emb', only 'embeddings', 'labels'"]),
        (["-m", "mop"], ["'mop'"]),
        (["-m", "mAP,,MRR"], ["''"]),
        (["--distance", "cosin"], ["distance must be one of", "'cosin'", "did you mean 'cosine'?"]),
        (["--ties", "tolerance=much"], ["--ties tolerance=... must be a number that is not negative", "'much'"]),
        (["--ties", "tolerance=-1"], ["'-1'"]),
        (["--ties", "tolerance=1_0"], ["'1_0'"]),
        (["--ties-of", "distance"], ["--ties-of goes with --ties float16, bfloat16, float32", "exact"]),
        (["--gallery-labels", "x.npy"], ["--gallery-labels goes with --gallery"]),
        (["--json", "--markdown"], ["two results cannot both be written to standard output"]),
        (["--json", "out", "--markdown", "out"], ["two results cannot both be written to out"]),
        (["--frobnicate"], ["--frobnicate", "see deadheat evaluate --help"]),
    ],
    ids=lambda value: " ".join(value) if value and value[0].startswith("-") else "",
)
def test_bad_options(args: list[str], parts: list[str], folder: Path) -> None:
    message = refused("evaluate", folder / "points.npz", *args)
    for part in parts:
        assert part in message


def test_bad_commands() -> None:
    assert "FILE" in refused("evaluate")
    assert refused("evaluat") == "no command 'evaluat'; did you mean 'evaluate'? (see deadheat --help)"
    assert refused("challenge", "ini").startswith("no command 'ini'; did you mean 'init'?")


@pytest.mark.parametrize("flag", ["--json", "--markdown", "--per-query", "--save-profile"])
def test_outputs_are_checked_before_the_work(flag: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.reports.evaluating.profile_pair", lambda *_, **__: pytest.fail("the work has begun"))
    before = sorted(folder.iterdir())
    evaluate_points = ("evaluate", folder / "points.npz", flag)
    nowhere = folder / "nowhere" / "out.npz"
    assert refused(*evaluate_points, nowhere) == f"cannot write {nowhere}: No such file or directory"
    below_a_file = folder / "points.npz" / "out.npz"
    assert refused(*evaluate_points, below_a_file) == f"cannot write {below_a_file}: Not a directory"
    (folder / "folder.npz").mkdir()
    assert refused(*evaluate_points, folder / "folder.npz").endswith("it is a folder")
    (folder / "folder.npz").rmdir()
    assert refused(*evaluate_points, folder / "points.npz").endswith(
        "it is one of the input files (--force overwrites it)"
    )
    assert sorted(folder.iterdir()) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_what_must_not_be_written_is_not(folder: Path) -> None:
    out = folder / "out.json"
    out.touch(mode=0o400)
    assert refused("evaluate", folder / "points.npz", "--json", out) == f"cannot write {out}: Permission denied"


def test_per_query_with_another_ending_or_without_pyarrow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = refused("evaluate", folder / "points.npz", "--per-query", folder / "out.xls")
    assert message.endswith("must end in one of .csv, .tsv, .npz, .parquet, but ends in '.xls'")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = refused("evaluate", folder / "points.npz", "--per-query", folder / "out.parquet")
    assert message.endswith("writing Parquet needs pyarrow: pip install 'deadheat[files]'")


def test_a_link_is_followed_and_stays_a_link(folder: Path) -> None:
    (folder / "link.json").symlink_to(folder / "target.json")
    passed("evaluate", folder / "points.npz", "--json", folder / "link.json")
    assert (folder / "link.json").is_symlink()
    assert json.loads((folder / "target.json").read_text())


def test_a_failure_while_writing_leaves_the_old_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = folder / "out.csv"
    out.write_text("query,old")

    def fail(table: object, file: Callable[..., object], ending: str) -> None:
        file.write(b"half")  # type: ignore[attr-defined]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("deadheat.reports.export.write", fail)
    message = refused("evaluate", folder / "points.npz", "--per-query", out)
    assert message == f"cannot write {out}: No space left on device"
    assert out.read_text() == "query,old"


def test_what_nobody_thought_of_is_one_line_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr("deadheat.reports.evaluating.profile_pair", fail)
    raised: Exception = MemoryError()
    assert refused("evaluate", folder / "points.npz") == "not enough memory"
    raised = ZeroDivisionError("two\nlines")
    assert refused("evaluate", folder / "points.npz").startswith("unexpected ZeroDivisionError: two lines (")
    monkeypatch.setenv("DEADHEAT_DEBUG", "1")
    assert isinstance(run("evaluate", folder / "points.npz").exception, ZeroDivisionError)


# ---------------------------------------------------------------------------------------------------------------------
# the progress bar


@pytest.mark.parametrize(("terminal", "patience", "drawn"), [(True, 0.0, True), (True, 60.0, False), (False, 0, False)])
def test_progress_is_for_people_who_wait(
    terminal: bool,
    patience: float,
    drawn: bool,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(shell, "_PATIENCE", patience)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with pytest.raises(SystemExit, match="0"):
        main(["evaluate", str(folder / "points.npz")])
    out, err = capsys.readouterr()
    assert out == f"{evaluate(POINTS, LABELS)}\n"
    assert ("ranking" in err) == drawn
    assert drawn or err == ""


# ---------------------------------------------------------------------------------------------------------------------
# as a process


def test_a_process_succeeds_or_fails(folder: Path) -> None:
    done = real("evaluate", folder / "points.npz", *EUCLIDEAN)
    expected = f"{evaluate(POINTS, LABELS, distance='euclidean')}\n"
    assert (done.returncode, done.stderr, done.stdout) == (0, "", expected)
    done = real("--nonsense")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("deadheat: ")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk(folder: Path) -> None:
    for args in (["evaluate", folder / "points.npz"], ["measures"], ["--help"]):
        with open("/dev/full", "w") as full:
            done = real(*args, stdout=full, stderr=subprocess.PIPE, capture_output=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert done.stderr.startswith("deadheat: ")
        assert done.stderr.endswith("No space left on device\n")
    message = refused("evaluate", folder / "points.npz", "--json", "/dev/full")
    assert message == "cannot write /dev/full: No space left on device"
    assert not Path("/dev/full").is_file()
    message = refused("evaluate", folder / "points.npz", "--save-profile", "/dev/full")
    assert message == "cannot write /dev/full: a profile must be a regular file"


def test_closed_pipe_is_no_news(folder: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = real("measures", stdout=write_end, stderr=subprocess.PIPE, capture_output=False)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (141, "")


def test_interrupt(folder: Path) -> None:
    killed = f"""
import os, signal, deadheat.reports.evaluating as evaluating
evaluating.profile_pair = lambda *_, **__: os.kill(os.getpid(), {int(signal.SIGINT)})
"""
    done = real("evaluate", "points.npz", before=killed, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "deadheat: interrupted\n")
