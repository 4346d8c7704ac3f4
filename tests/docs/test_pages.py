"""Every code block of the pages runs: doctests by pytest itself, commands here, in a folder with their files.

`NOT_RUN` lists the others, with the reason.
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
_TABLE = """
AGENTS.md | python3 -m venv | for developers; .ci/run does most of it
README.md | python3 -m venv | needs a network; .ci/run installs
CONTRIBUTING.md | python3 -m venv | for developers; .ci/run does most of it
CONTRIBUTING.md | pip install | for developers; .ci/run does most of it
docs/citing.md | @software | no code; test_release.py compares it
docs/command-line.md | eval | for a shell; tests/cli/test_cli.py completes words
docs/command-line.md | zcat | for a shell; tests/cli/test_streams.py
docs/coming-from.md | AccuracyCalculator | another library's call: test_calls_of_other_libraries
docs/coming-from.md | evaluate( | another library's call: test_calls_of_other_libraries
docs/coming-from.md | ir_measures. | another library's call: test_calls_of_other_libraries
docs/coming-from.md | RetrievalMAP | another library's call: test_calls_of_other_libraries
docs/coming-from.md | CalcTopMap | another library's call, which the package index does not have
docs/how-to/audit.md | - name: Audit | for GitHub; test_the_gate_of_the_page_on_audits runs its command
docs/how-to/ci.md | name: quality | for GitHub; tests/test_action.py runs what it says
docs/how-to/cluster.md | from dask.distributed | tests/integrations/test_executors.py runs it, on its own workers
docs/how-to/cluster.md | import ray | needs Ray: tests/integrations/test_executors.py runs it
docs/how-to/cluster.md | from mpi4py | needs MPI: tests/integrations/test_executors.py runs it
docs/how-to/competition.md | rank  | no code; test_the_board_of_a_competition compares it
docs/how-to/competition.md | $ python examples | tests/test_competition.py runs it
docs/how-to/ground-truth.md | deadheat index-recall | tests/analyses/test_index_recall.py runs it on such files
docs/how-to/index-recall.md | index  | no code: the table of an example, without its times
docs/how-to/ir-measures.md | $ python -m | tests/integrations/test_ir_measures.py runs it, and compares
docs/how-to/link-prediction.md | from pykeen_evaluator | tests/integrations/test_link_prediction_libraries
docs/how-to/mteb-folder.md | task  | no code: what tests/integrations/test_mteb.py makes, with other numbers
docs/how-to/receipts.md | ssh-keygen | tests/trust/receipts/test_receipts.py runs it where the program is installed
docs/how-to/receipts.md | minisign | tests/trust/receipts/test_receipts.py runs it where the program is installed
docs/how-to/trec-eval.md | map  | no code; test_lines_as_trec_eval_prints_them compares it
docs/installation.md | python3 -m venv | needs a network; .ci/run installs
docs/performance.md | python -m benchmarks | minutes to hours; tests/test_benchmarks.py runs a small version
docs/index.md | python3 -m venv | the README's; installing is what continuous integration does
docs/studies/index.md | pip install | minutes; reproduce/tests run the parts
docs/who-can-be-hacked.md | pip install | a minute, and ten libraries: benchmarks/evaluators/tests
"""  # the page, the beginning of a block that is no session and not only commands that run in `folder`, and the reason
NOT_RUN: dict[str, list[str]] = {}
for _page, _start, _ in (line.split(" | ") for line in _TABLE.strip().splitlines()):
    NOT_RUN.setdefault(_page, []).append(_start)
for _page in PAGES:
    if re.match(r"docs/studies/(?!index)", _page):  # minutes; reproduce/tests run the parts
        NOT_RUN[_page] = [f"python -m reproduce {Path(_page).stem}"]
FORMULAS = {"docs/studies/exploit.md": 12, "docs/ties-proofs.md": 15, "docs/ties.md": 2}  # blocks of them, by page
assert {*NOT_RUN, *FORMULAS} <= {*PAGES}


def blocks(page: str, *languages: str) -> list[str]:
    return [code for language, code in _BLOCK.findall(PAGES[page]) if language in languages]


def block(page: str, start: str) -> str:
    return next(code for code in blocks(page, "", "text") if code.startswith(start))


def idle(page: str) -> list[str]:
    """Return the blocks that are neither sessions nor only `deadheat` commands, and those listed as not run."""
    code = [(language, text) for language, text in _BLOCK.findall(PAGES[page]) if language != "python"]
    prompt = {"console": "$ "}
    typed = [
        (text, [line for line in text.splitlines() if line.startswith(prompt.get(language, ""))])
        for language, text in code
    ]
    ours = re.compile(r"(\$ )?deadheat ")
    starts = tuple(NOT_RUN.get(page, ()))
    return [text for text, lines in typed if text.startswith(starts) or not all(map(ours.match, lines))]


def commands(*codes: str) -> list[list[str]]:
    """Return the `deadheat` commands in code, also behind an &&."""
    parts = (part.strip().removeprefix("$ ") for code in codes for part in re.split(r"\n|&&", code))
    return [shlex.split(part, comments=True)[1:] for part in parts if re.match(r"deadheat(\s|$)", part)]


def runnable(page: str) -> list[list[str]]:
    not_run = idle(page)
    return commands(*(code for code in blocks(page, "console", "", "text") if code not in not_run))


def expanded(words: list[str]) -> list[str]:
    """Expand a pattern as a shell does; the pages have patterns without quotes only in this folder."""
    return [path for word in words for path in (sorted(glob.glob(word)) if word.startswith("submissions/") else [word])]


def run(*words: str) -> Any:
    return CliRunner().invoke(main, expanded(list(words)))


@pytest.mark.parametrize("page", PAGES)
def test_code_is_of_a_kind_that_runs_or_listed_with_the_reason(page: str) -> None:
    assert {language for language, _ in _BLOCK.findall(PAGES[page])} <= _LANGUAGES
    for code in blocks(page, "python"):
        assert code.startswith(">>> "), f"no doctest: {code[:60]}"
        assert code.endswith("\n\n"), f"doctest takes the closing fence for output: {code[-60:]}"
    starts = NOT_RUN.get(page, [])
    unlisted = [code for code in idle(page) if not code.startswith(tuple(starts))]
    assert len(unlisted) == FORMULAS.get(page, 0), unlisted
    assert [start for start in starts if not any(code.startswith(start) for code in idle(page))] == []
    fences = re.findall(r"^[ \t>]*(?:```|~~~)", PAGES[page], re.MULTILINE)
    assert len(fences) == 2 * len(blocks(page, *_LANGUAGES)), "a fence that is indented, or of another kind"
    for name, *words in commands(*blocks(page, "")):  # parsed, not run: their files are the reader's
        if not name.startswith("-"):
            command = main.get_command(click.Context(main), name)
            assert command is not None, f"no command {name}"
            command.make_context(name, words)


def test_layers_and_extras_on_pages_are_those_of_the_settings() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    (line,) = re.findall(r"^`cli` →.*$", PAGES["AGENTS.md"], re.MULTILINE)
    written = [set(re.findall(r"`(\w+)`", part)) for part in line.split("→")]
    assert written == [set(re.findall(r"\w+", layer)) for layer in layers]
    rows = re.findall(r"^\| (`.*?) \|", PAGES["docs/installation.md"], re.MULTILINE)
    unlisted = {"all", "docs", "lint", "test"}  # the sum of the others, and the extras for developers
    extras = {*settings["project"]["optional-dependencies"]} - unlisted
    assert {*re.findall(r"`([\w-]+)`", " ".join(rows))} == extras


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that sessions on the pages name."""
    rng = np.random.default_rng(0)
    labels = np.arange(24) % 4
    embeddings = rng.integers(0, 5, (24, 6)).astype(np.float32) + 4 * np.eye(6, dtype=np.float32)[labels]
    several = ((labels[:, None] + np.arange(3)) % 4 == 0).astype(np.int8)
    monkeypatch.chdir(tmp_path)
    parts = {"query": slice(8), "queries": slice(8), "gallery": slice(8, None), "gallery-1": slice(8, 12),
             "gallery-2": slice(12, None), "part-1": slice(12), "part-2": slice(12, None)}  # fmt: skip
    for name, rows in parts.items():
        np.save(f"{name}.npy", embeddings[rows])
        Path(f"{name}.txt").write_text("".join(f"{label}\n" for label in labels[rows]))
    for name, rows in (("labels", slice(24)), ("query-labels", slice(8)), ("labels-1", slice(8, 12)),
                       ("labels-2", slice(12, 24))):  # fmt: skip
        np.save(f"{name}.npy", labels[rows])
    for columns, names in {6: "embeddings gallery a ours", 4: "b theirs", 3: "c baseline"}.items():
        for name in names.split():
            np.savez(f"{name}.npz", embeddings=embeddings[:, :columns], labels=labels)
    for name in ("images", "texts"):  # codes with several labels
        np.savez(f"{name}.npz", embeddings=np.where(embeddings > 0, 1, -1), labels=several)
    for name in ("train", "test", "old", "new"):  # with enough classes for groups of them, and for a gate
        np.savez(f"{name}.npz", embeddings=rng.normal(size=(80, 6)), labels=np.arange(80) % 20)
    np.savez("frames.npz", embeddings=embeddings)
    np.save("positions.npy", np.arange(24) * 10)
    np.save("ranges.npy", np.arange(24)[:, None] + [-1, 2])
    np.savez("query.npz", embeddings=embeddings[:8] + 1, labels=labels[:8])
    np.savez("corpus.npz", embeddings=embeddings, ids=[f"d{i}" for i in range(24)])
    np.savez("samples.npz", embeddings=embeddings, labels=labels, sigma=embeddings[:, 1], blur=labels % 3)
    np.savetxt("confidence.txt", embeddings[:, 0])
    np.savetxt("samples.csv", np.column_stack([labels, embeddings]), "%g", ",", header="label,a,b,c,d,e,f", comments="")
    np.savez("faces.npz", embeddings=[[1, 0], [1, 1], [0, 1]], ids=["ann_0001", "ann_0002", "bob_0001"])
    lines = ("d1 1 0.9", "d2 2 0.7", "d3 3 0.7")
    run = "".join(f"q{i} Q0 {line} x\n" for i in range(1, 13) for line in lines)
    hits = ", ".join(f'{{"corpus_id": "{chunk}", "score": 0.5}}' for chunk in ("s1_0", "s1_1", "s2_0"))
    memory = "".join(
        f'{{"question_id": "q{i}", "ranked_items": [{hits}], "answer_session_ids": ["s2"]}}\n' for i in range(1, 13)
    )
    texts = dict.fromkeys(("run.txt", "bm25.run", "dense.run", "rerank.run"), run) | {
        "pooled.csv": "score,label\n0.9,1\n0.5,1\n0.5,0\n0.1,0\n",
        "trials.txt": "1 a/1.wav a/2.wav 0.9\n1 a/1.wav a/3.wav 0.5\n0 a/1.wav b/1.wav 0.5\n",
        "pairs.txt": "1\nann\t1\t2\nann\t1\tbob\t1\n",
        "predictions.json": '{"q1": {"d1": 0.9, "d2": 0.7, "d3": 0.6}}',
        "hits.tsv": "".join(f"q1\td{i}\t99.1\t80\t0\t0\t1\t80\t5\t84\t1e-9\t{90 - i}.5\n" for i in (1, 2, 3)),
        "qrels.txt": "".join(f"q{i} 0 d3 1\nq{i} 0 d1 0\n" for i in range(1, 13)),
        **dict.fromkeys(("log.jsonl", "old.jsonl", "new.jsonl"), memory),
        "mine.jsonl": '{"id": "q1", "retrieved": [{"id": "d2", "score": 0.5}], "expected": ["d2"]}\n',
        "sessions.tsv": "s1_0\ts1\ns1_1\ts1\ns2_0\ts2\n",
        "types.txt": "".join(f"q{i} multi-session\n" for i in range(1, 13)),
    }
    for name, text in texts.items():
        Path(name).write_text(text)
    Path("submissions").mkdir()
    np.savez("submissions/alder.npz", embeddings=embeddings)
    dh.Task(embeddings, labels).profile.save("a-profile.npz")
    np.savez("matryoshka.npz", embeddings=rng.normal(size=(80, 512)), labels=np.arange(80) % 20)
    for system, columns in {"new": 6, "old": 4, "small": 3}.items():  # with a file for each task
        Path(system).mkdir()
        for task in ("birds", "cars"):
            np.savez(f"{system}/{task}.npz", embeddings=embeddings[:, :columns], labels=labels)
    for name, text in {"bm25": run, "dense": run, "qrels": texts["qrels.txt"]}.items():
        Path(name).mkdir()
        for task in ("law", "news"):
            Path(name, f"{task}.txt").write_text(text)
    Path("groups.csv").write_text("birds,animals\ncars,things\n")
    return tmp_path


SESSIONS = [page for page in PAGES if runnable(page)]
assert {*SESSIONS} >= {"docs/command-line.md", "docs/tutorial.md"}


@pytest.mark.parametrize("page", SESSIONS)
def test_sessions_run(page: str, folder: Path) -> None:
    for words in runnable(page):
        done = run(*words)
        assert done.exit_code == 0, f"deadheat {shlex.join(words)}: {done.output}"
        assert done.output.strip()


_LABELS, _RANDOM = np.arange(200) % 16, np.random.default_rng(0).normal(size=(200, 16))


def test_the_gate_of_the_page_on_audits(folder: Path) -> None:
    workflow = block("docs/how-to/audit.md", "- name: Audit")
    (words,) = commands(workflow)
    for rows, status in ((_RANDOM + 9 * np.eye(16)[_LABELS], 0), (np.zeros((200, 16)), 1)):
        np.savez("embeddings.npz", embeddings=rows.astype(np.float32), labels=_LABELS)
        assert run(*words, "--force").exit_code == status
    outputs = [words[at + 1] for at, word in enumerate(words) if word in ("--json", "--markdown")]
    assert all(Path(output).stat().st_size > 0 for output in outputs)
    assert f"run: cat {outputs[-1]} >>" in workflow


def test_no_workflow_installs_what_is_not_released() -> None:
    """The package index has no release, as the page on installation says; what to copy installs from the repository."""
    assert "The package index has no release yet" in " ".join(PAGES["docs/installation.md"].split())
    assert [name for name, text in PAGES.items() if re.search(r"pip install deadheat\b", text)] == []


def test_lines_as_trec_eval_prints_them(tmp_path: Path) -> None:
    """Those on the page are of the run and the qrels of the page on runs."""
    texts = dict(re.findall(r'^>>> _ = (\w+)\.write_text\("(.*)"\)$', PAGES["docs/how-to/trec-runs.md"], re.MULTILINE))
    paths = [tmp_path / name for name in ("qrels", "run")]
    for path in paths:
        path.write_text(texts[path.name].replace("\\n", "\n"))
    printed = run("run", *map(str, paths), "-m", "map ndcg_cut_10", "--trec-eval").output
    assert printed == block("docs/how-to/trec-eval.md", "map  ")


def test_the_board_of_a_competition(folder: Path) -> None:
    rng = np.random.default_rng(0)
    labels = rng.permutation(np.repeat(np.arange(40), 5))
    rows = rng.normal(size=(40, 16))[labels] + rng.normal(size=(200, 16))
    teams = {"alder": rows, "birch": rows[:, :12], "cedar": rows > 0, "zeros": np.zeros((200, 4)), "short": rows[:150]}
    np.save("labels.npy", labels)
    for name, embeddings in teams.items():
        np.savez(f"submissions/{name}.npz", embeddings=embeddings)
    (words,) = commands(*blocks("docs/how-to/competition.md", "console"))
    board = block("docs/how-to/competition.md", "rank  ")
    assert [line.rstrip() for line in run(*words).stdout.splitlines()] == board.splitlines()


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
    pytest.importorskip(module, reason=f"pip install -r tests/integrations/requirements-all.txt brings {module}")
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(PAGES["docs/coming-from.md"]):
        if re.match(r"from|import|def|\w+ = ", example.source) and ".register(" not in example.source:
            exec(example.source, names)
    profile = dh.from_run(names["run"], names["qrels"]).profile
    if module == "torchmetrics":  # takes tensors
        import torch

        profile = dh.from_scores(names["scores"], names["relevant"]).profile
        names |= {name: torch.as_tensor(names[name]).flatten() for name in ("scores", "relevant")}
        names["query_of_each_pair"] = torch.arange(2).repeat_interleave(3)
    elif module == "pytorch_metric_learning":
        profile = dh.Task(names["embeddings"], names["labels"], distance="euclidean").profile
    exec(imports, names)
    value = eval(block("docs/coming-from.md", start), names)
    theirs = {str(name): number for name, number in value.items()} if isinstance(value, dict) else {"": value}
    assert theirs.keys() >= ours.keys()
    for name, measure in ours.items():
        bounds = dh.evaluate(profile, [measure])[measure]
        assert bounds.lower - 1e-6 <= float(theirs[name]) <= bounds.upper + 1e-6, (name, theirs[name], bounds)


def test_pictures_of_the_gallery_are_those_that_the_page_draws() -> None:
    """Each file is there, and its code draws something; the bytes depend on Matplotlib and its fonts."""
    pytest.importorskip("matplotlib", reason="the gallery needs matplotlib")
    gallery = pytest.importorskip("tests.gallery", reason="the gallery needs matplotlib")
    drawn = {path: figure for page in gallery.PAGES for path, figure in gallery.drawn("light", page)}
    assert len(drawn) > 20
    assert all(any(ax.has_data() for ax in figure.axes) for figure in drawn.values())
    texts = [page.read_text(encoding="utf-8") for page in gallery.PAGES]
    shown = {paper: {gallery.DOCS / path for text in texts for path in re.findall(rf"\]\(([^)#]+)#only-{paper}", text)}
             for paper in gallery.STYLES}  # fmt: skip
    assert shown["light"] == {*drawn}
    assert len(shown["dark"]) == len(drawn)
    assert {*(gallery.DOCS / "assets" / "plots").iterdir()} == shown["light"] | shown["dark"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for paths in shown.values() for path in paths)
