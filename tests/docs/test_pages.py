"""Every code block of the pages runs: doctests by pytest itself, commands here, in a folder with their files.

What does not is in `NOT_RUN`, with the reason.
"""

from __future__ import annotations

import doctest
import glob
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

import deadheat as dh
from deadheat.cli.main import main

ROOT = Path(__file__).parents[2]
_PATHS = [*(ROOT / name for name in ("README.md", "AGENTS.md", "CONTRIBUTING.md")), *(ROOT / "docs").rglob("*.md")]
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in sorted(_PATHS)}
_BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LANGUAGES = {"", "python", "console", "text", "bibtex"}  # others would be code that nothing runs

INSTALLS, OFFICE = "needs a network; .ci/run installs", "for who works on deadheat; .ci/run does most of it"
STUDIES = (
    "collisions",
    "confidence",
    "dropout",
    "exploit",
    "grouped",
    "hashing",
    "precision",
    "rerankers",
    "toy",
    "words",
)
STUDY = "minutes; reproduce/tests run the parts"
THEIRS = "what another library is called with: the block below it is ours"
SIGNING = "tests/trust/receipts/test_receipts.py runs it where the program is installed"
NOT_RUN = {  # by page, how a block begins that is no session and not only commands that run in `folder`, and why
    "AGENTS.md": {"python3 -m venv": OFFICE},
    "README.md": {"python3 -m venv": INSTALLS},
    "CONTRIBUTING.md": {"python3 -m venv": OFFICE, "pip install": OFFICE},
    "docs/citing.md": {"@software": "no code; test_release.py compares it"},
    "docs/command-line.md": {
        "eval ": "for a shell; tests/cli/test_cli.py completes words",
        "zcat": "for a shell; tests/cli/test_streams.py",
    },
    "docs/coming-from.md": dict.fromkeys(
        ["AccuracyCalculator", "evaluate(", "ir_measures.", "RetrievalMAP", "CalcTopMap"], THEIRS
    ),
    "docs/how-to/audit.md": {
        "- name: Audit": "for GitHub; its command runs in test_the_gate_of_continuous_integration"
    },
    "docs/how-to/ci.md": {"name: quality": "for GitHub; its command runs in test_the_gate_of_a_release"},
    "docs/how-to/cluster.md": {
        "from dask.distributed": "tests/integrations/test_executors.py runs it, on workers of its own",
        "import concurrent.futures": "needs Ray: tests/integrations/test_executors.py runs it",
        "python -m benchmarks.cluster": "tests/test_benchmarks.py runs it in small",
    },
    "docs/how-to/link-prediction.md": {"from pykeen_evaluator": "tests/integrations/test_link_prediction_libraries.py"},
    "docs/how-to/receipts.md": {"ssh-keygen": SIGNING, "minisign": SIGNING},
    "docs/how-to/competition.md": {
        "rank  ": "no code; test_the_board_of_a_competition compares it",
        "$ python examples": "tests/test_competition.py runs it",
    },
    "docs/how-to/ir-measures.md": {"$ python -m": "tests/integrations/test_ir_measures.py runs it, and compares"},
    "docs/how-to/trec-eval.md": {"map  ": "no code; test_lines_as_trec_eval_prints_them compares it"},
    "docs/how-to/index-recall.md": {
        "deadheat index-recall": "tests/analyses/test_index_recall.py runs it on such files",
        "index  ": "no code: the table of an example, without its times",
    },
    "docs/performance.md": {"python -m benchmarks": "minutes to hours; tests/test_benchmarks.py runs it in small"},
    "docs/installation.md": {"python3 -m venv": INSTALLS},
    "docs/studies/index.md": {"pip install": STUDY},
    "docs/who-can-be-hacked.md": {"pip install": "a minute, and ten libraries: benchmarks/evaluators/tests"},
    **{f"docs/studies/{name}.md": {f"python -m reproduce {name}": STUDY} for name in STUDIES},
}
FORMULAS = {"docs/studies/exploit.md": 12, "docs/ties-proofs.md": 15, "docs/ties.md": 2}  # blocks of them, by page
assert {*NOT_RUN, *FORMULAS} <= {*PAGES}


def blocks(page: str, *languages: str) -> list[str]:
    return [code for language, code in _BLOCK.findall(PAGES[page]) if language in languages]


def _typed(language: str, code: str) -> list[str]:
    """The lines that somebody types: in a console those with a prompt."""
    lines = code.splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")] if language == "console" else lines


def idle(page: str) -> list[str]:
    """The blocks that are neither sessions nor `deadheat` commands alone, and those that are said not to be run."""
    starts = tuple(NOT_RUN.get(page, ()))
    return [
        code
        for language, code in _BLOCK.findall(PAGES[page])
        if language != "python"
        and (code.startswith(starts) or not all(line.startswith("deadheat ") for line in _typed(language, code)))
    ]


def commands(*codes: str) -> list[list[str]]:
    """The `deadheat` commands in code, also behind an &&."""
    parts = (part.strip() for code in codes for line in code.splitlines() for part in line.split("&&"))
    found = (shlex.split(part.removeprefix("$ "), comments=True) for part in parts if "deadheat" in part)
    return [words[1:] for words in found if words and words[0] == "deadheat"]


@pytest.mark.parametrize("page", PAGES)
def test_code_is_of_a_kind_that_runs_or_listed_with_the_reason(page: str) -> None:
    assert {language for language, _ in _BLOCK.findall(PAGES[page])} <= _LANGUAGES
    for code in blocks(page, "python"):
        assert code.startswith(">>> "), f"no doctest: {code[:60]}"
        assert code.endswith("\n\n"), f"doctest takes the closing fence for output: {code[-60:]}"
    starts = NOT_RUN.get(page, {})
    unlisted = [code for code in idle(page) if not code.startswith(tuple(starts))]
    assert len(unlisted) == FORMULAS.get(page, 0), unlisted
    assert [start for start in starts if not any(code.startswith(start) for code in idle(page))] == []
    fences = re.findall(r"^[ \t>]*(?:```|~~~)", PAGES[page], re.MULTILINE)
    assert len(fences) == 2 * len(blocks(page, *_LANGUAGES)), "a fence that is indented, or of another kind"


def test_agents_are_told_the_layers_that_imports_follow() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [set(re.findall(r"\w+", layer)) for layer in settings["contracts"][0]["layers"]]
    (line,) = re.findall(r"^`cli` →.*$", PAGES["AGENTS.md"], re.MULTILINE)
    assert [set(re.findall(r"`(\w+)`", part)) for part in line.split("→")] == layers


def test_the_extras_of_the_installation_page_are_those_there_are() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    rows = re.findall(r"^\| (`.*?) \|", PAGES["docs/installation.md"], re.MULTILINE)
    listed = re.findall(r"`([\w-]+)`", " ".join(rows))
    apart = {"all", "test"}  # of everything, and for who works on deadheat
    assert {*listed} == {*project["optional-dependencies"]} - apart


@pytest.mark.parametrize("page", PAGES)
def test_commands_have_the_options_that_they_are_given(page: str) -> None:
    """Parsed, not run: their files are the reader's."""
    for name, *words in commands(*blocks(page, "")):
        if not name.startswith("-"):
            command = main.get_command(click.Context(main), name)
            assert command is not None, f"no command {name}"
            command.make_context(name, words)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that sessions on the pages name."""
    rng = np.random.default_rng(0)
    labels = np.arange(24) % 4
    embeddings = rng.integers(0, 5, (24, 6)).astype(np.float32) + 4 * np.eye(6, dtype=np.float32)[labels]
    monkeypatch.chdir(tmp_path)
    Path("pooled.csv").write_text("score,label\n0.9,1\n0.5,1\n0.5,0\n0.1,0\n")
    Path("trials.txt").write_text("1 a/1.wav a/2.wav 0.9\n1 a/1.wav a/3.wav 0.5\n0 a/1.wav b/1.wav 0.5\n")
    np.savez("embeddings.npz", embeddings=embeddings, labels=labels)
    np.savez("gallery.npz", embeddings=embeddings, labels=labels)
    parts = {"query": slice(8), "queries": slice(8), "gallery": slice(8, None), "gallery-1": slice(8, 12),
             "gallery-2": slice(12, None), "part-1": slice(12), "part-2": slice(12, None)}  # fmt: skip
    for name, rows in parts.items():
        np.save(f"{name}.npy", embeddings[rows])
        Path(f"{name}.txt").write_text("".join(f"{label}\n" for label in labels[rows]))
    np.save("labels.npy", labels)
    np.savetxt("confidence.txt", embeddings[:, 0])
    np.savez("samples.npz", embeddings=embeddings, labels=labels, sigma=embeddings[:, 1], blur=labels % 3)
    rows = [f"{label},{','.join(map(str, row))}" for label, row in zip(labels, embeddings.tolist(), strict=True)]
    Path("samples.csv").write_text("\n".join(["label,a,b,c,d,e,f", *rows]) + "\n")
    for name in ("run.txt", "bm25.run", "dense.run", "rerank.run"):
        Path(name).write_text("q1 Q0 d1 1 0.9 x\nq1 Q0 d2 2 0.7 x\nq1 Q0 d3 3 0.7 x\n")
    Path("predictions.json").write_text('{"q1": {"d1": 0.9, "d2": 0.7, "d3": 0.6}}')
    Path("qrels.txt").write_text("q1 0 d3 1\nq1 0 d1 0\n")
    np.savez("corpus.npz", embeddings=embeddings, ids=[f"d{i}" for i in range(24)])
    for name in ("images.npz", "texts.npz"):  # codes with several labels
        several = (labels[:, None] + np.arange(3)) % 4 == 0
        np.savez(name, embeddings=np.where(embeddings > 0, 1, -1), labels=several.astype(np.int8))
    np.savez("query.npz", embeddings=embeddings[:8] + 1, labels=labels[:8])
    for name, part in (("query-labels", slice(8)), ("labels-1", slice(8, 12)), ("labels-2", slice(12, None))):
        np.save(f"{name}.npy", labels[part])
    for name, columns in {"a": 6, "b": 4, "c": 3, "ours": 6, "theirs": 4, "baseline": 3, "old": 3, "new": 6}.items():
        np.savez(f"{name}.npz", embeddings=embeddings[:, :columns], labels=labels)
    for name in ("train", "test"):  # of enough classes for groups of them
        np.savez(f"{name}.npz", embeddings=rng.normal(size=(80, 6)), labels=np.arange(80) % 20)
    Path("submissions").mkdir()
    np.savez("submissions/alder.npz", embeddings=embeddings)
    dh.Task(embeddings, labels).profile.save("a-profile.npz")
    return tmp_path


def expanded(words: list[str]) -> list[str]:
    """The words as a shell passes them on: without quotes it expands a pattern, which the pages have in this folder."""
    return [path for word in words for path in (sorted(glob.glob(word)) if word.startswith("submissions/") else [word])]


def runnable(page: str) -> list[list[str]]:
    idle_ones = idle(page)
    return commands(*(code for code in blocks(page, "console", "", "text") if code not in idle_ones))


SESSIONS = [page for page in PAGES if runnable(page)]
assert {*SESSIONS} >= {"docs/command-line.md", "docs/tutorial.md"}


@pytest.mark.parametrize("page", SESSIONS)
def test_sessions_run(page: str, folder: Path) -> None:
    for words in runnable(page):
        done = CliRunner().invoke(main, expanded(words))
        assert done.exit_code == 0, f"deadheat {shlex.join(words)}: {done.output}"
        assert done.output.strip()


def block(page: str, start: str) -> str:
    return next(code for code in blocks(page, "", "text") if code.startswith(start))


def test_the_gate_of_continuous_integration(folder: Path) -> None:
    rng = np.random.default_rng(0)
    embeddings = rng.normal(size=(4, 16))[np.arange(200) % 4] + rng.normal(size=(200, 16))
    np.savez("embeddings.npz", embeddings=embeddings.astype(np.float32), labels=np.arange(200) % 4)
    step = block("docs/how-to/audit.md", "- name: Audit")
    (words,) = commands(step)
    assert CliRunner().invoke(main, [*words, "--force"]).exit_code == 0
    for option, path in (("--json", "audit.json"), ("--markdown", "audit.md")):
        assert words[words.index(option) + 1] == path
        assert Path(path).stat().st_size > 0
    assert "run: cat audit.md >>" in step
    np.savez("embeddings.npz", embeddings=np.zeros((200, 16)), labels=np.arange(200) % 4)
    assert CliRunner().invoke(main, [*words, "--force"]).exit_code == 1


def test_the_gate_of_a_release(folder: Path) -> None:
    workflow = block("docs/how-to/ci.md", "name: quality")
    (words,) = commands(workflow)
    labels = np.arange(200) % 4
    np.savez("old.npz", embeddings=np.eye(4)[labels], labels=labels)
    np.savez("new.npz", embeddings=np.zeros((200, 4)), labels=labels)
    assert CliRunner().invoke(main, [*words, "--force"]).exit_code == 1  # all ties
    np.savez("new.npz", embeddings=np.eye(4)[labels], labels=labels)
    assert CliRunner().invoke(main, [*words, "--force"]).exit_code == 0
    assert f"cat {words[words.index('--markdown') + 1]} >>" in workflow
    np.savez("new.npz", embeddings=np.random.default_rng(0).normal(size=(200, 4)), labels=labels)
    assert CliRunner().invoke(main, [*words, "--force"]).exit_code == 1


def test_no_workflow_installs_what_is_not_released() -> None:
    """The package index has no release, as the page on installation says; what to copy installs from the repository."""
    assert "The package index has no release yet" in " ".join(PAGES["docs/installation.md"].split())
    assert [name for name, text in PAGES.items() if re.search(r"pip install deadheat\b", text)] == []


def test_lines_as_trec_eval_prints_them(tmp_path: Path) -> None:
    """Those on the page are of the run and the qrels of the page on runs."""
    page, runs = "docs/how-to/trec-eval.md", PAGES["docs/how-to/trec-runs.md"]
    files = dict(re.findall(r'^>>> _ = (\w+)\.write_text\("(.*)"\)$', runs, re.MULTILINE))
    paths = [tmp_path / name for name in ("qrels", "run")]
    for path in paths:
        path.write_text(files[path.name].replace("\\n", "\n"))
    command = ["run", *map(str, paths), "-m", "map ndcg_cut_10", "--trec-eval"]
    assert CliRunner().invoke(main, command).output == block(page, "map  ")


def test_the_board_of_a_competition(folder: Path) -> None:
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(40), 5))
    rows = rng.normal(size=(40, 16))[labels] + rng.normal(size=(200, 16))
    teams = {"alder": rows, "birch": rows[:, :12], "cedar": rows > 0, "zeros": np.zeros((200, 4)), "short": rows[:150]}
    np.save("labels.npy", labels)
    for name, embeddings in teams.items():
        np.savez(f"submissions/{name}.npz", embeddings=embeddings)
    page = "docs/how-to/competition.md"
    (words,) = commands(*blocks(page, "console"))
    board, printed = block(page, "rank  "), CliRunner().invoke(main, expanded(words)).stdout
    assert [line.rstrip() for line in printed.splitlines()] == board.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "module", "imports", "ours"),
    [
        ("AccuracyCalculator", "pytorch_metric_learning",
         "from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator",
         {"precision_at_1": "Hit@1", "r_precision": "R-Precision", "mean_average_precision_at_r": "MAP@R"}),
        ("evaluate(", "ranx", "from ranx import Qrels, Run, evaluate",
         {"map": "mAP", "mrr": "MRR", "ndcg@10": "nDCG@10"}),
        ("ir_measures.", "ir_measures", "import ir_measures; from ir_measures import AP, nDCG, RR, Rprec",
         {"AP": "mAP", "nDCG@10": "nDCG@10", "RR": "MRR", "Rprec": "R-Precision"}),
        ("RetrievalMAP", "torchmetrics", "from torchmetrics.retrieval import RetrievalMAP", {"": "mAP"}),
    ],
)  # fmt: skip
def test_calls_of_other_libraries(start: str, module: str, imports: str, ours: dict[str, str]) -> None:
    """Each call gives values between the bounds of the measures that the page names for it."""
    pytest.importorskip(
        module, reason=f"the page needs {module}: pip install -r tests/integrations/requirements-all.txt"
    )
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(PAGES["docs/coming-from.md"]):
        if re.match(r"import|\w+ = ", example.source) and ".register(" not in example.source:
            exec(example.source, names)
    if module == "torchmetrics":  # takes tensors
        import torch

        profile = dh.Task.from_scores(names["scores"], names["relevant"]).profile
        names |= {name: torch.as_tensor(names[name]).flatten() for name in ("scores", "relevant")}
        names["query_of_each_pair"] = torch.arange(2).repeat_interleave(3)
    elif module == "pytorch_metric_learning":
        profile = dh.Task(names["embeddings"], names["labels"], distance="euclidean").profile
    else:
        profile = dh.Task.from_run(names["run"], names["qrels"]).profile
    exec(imports, names)
    found = eval(block("docs/coming-from.md", start), names)
    found = {str(name): value for name, value in found.items()} if isinstance(found, dict) else {"": found}
    assert found.keys() >= ours.keys()
    for name, measure in ours.items():
        bounds = dh.evaluate(profile, [measure])[measure]
        assert bounds.lower - 1e-6 <= float(found[name]) <= bounds.upper + 1e-6, (name, found[name], bounds)


def test_pictures_of_the_gallery_are_those_that_the_page_draws(tmp_path: Path) -> None:
    """Each file is there, and its code draws something; the bytes depend on Matplotlib and its fonts."""
    gallery = pytest.importorskip("tests.gallery", reason="the gallery needs matplotlib")
    pytest.importorskip("matplotlib", reason="the gallery needs matplotlib")
    drawn = {
        paper: {path: figure for page in gallery.PAGES for path, figure in gallery.drawn(paper, page)}
        for paper in gallery.STYLES
    }
    assert len(drawn["light"]) == len(drawn["dark"]) > 20
    for figures in drawn.values():
        for path, figure in figures.items():
            assert path.read_bytes().startswith(b"\x89PNG")
            assert any(ax.has_data() for ax in figure.axes)
    texts = [page.read_text(encoding="utf-8") for page in gallery.PAGES]
    shown = {path for text in texts for path in re.findall(r"\((assets/plots/[^)#]+)#only-", text)}
    assert {str(path.relative_to(gallery.DOCS)) for path in (gallery.DOCS / "assets" / "plots").iterdir()} == shown
