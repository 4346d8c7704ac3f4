"""The table of docs/how-to/pooled-scores.md is what the example computes, and other libraries are where it says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import deadheat as dh

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def example() -> ModuleType:
    for name in ("sklearn", "torchmetrics", "sentence_transformers", "mteb"):
        pytest.importorskip(name)
    spec = importlib.util.spec_from_file_location("pooled_scores", ROOT / "examples" / "pooled_scores.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_the_page_is_computed(example: ModuleType) -> None:
    assert example.table() in (ROOT / "docs" / "how-to" / "pooled-scores.md").read_text(encoding="utf-8")


def test_others_are_within_the_bounds(example: ModuleType) -> None:
    scores, labels = example.data()
    result = dh.classification(scores, labels)
    for library, row in example.values(scores, labels).items():
        for name, value in row.items():
            assert result[name].lower - 1e-6 <= value <= result[name].upper + 1e-6, (library, name)
            if name == "AUC":
                assert value == pytest.approx(result["AUC"].expected, abs=1e-6)
            elif name == "AP" and library != "a stable sort":
                assert value == pytest.approx(result["AP (scikit-learn)"].expected, abs=1e-6)
            elif library in ("sentence-transformers", "MTEB"):
                assert value == pytest.approx(result[name].lower)
