"""MTEB's files: read as it writes them, with bounds for every complete ranking that they can be the head of."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import FileError
from deadheat.integrations import mteb as mteb_files

MEASURES = ["nDCG@10", "mAP@10", "mAP", "Recall@5", "P@10", "MRR", "Hit@3"]


def ranked(seed: int, n_kept: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Whole rankings with ties, the best of each as a top-k would keep them, and qrels with grades."""
    rng = np.random.default_rng(seed)
    whole, kept, qrels = {}, {}, {}
    for query in (f"q{i}" for i in range(5)):
        scores = dict(zip((f"d{i}" for i in range(30)), (rng.integers(0, 6, 30) / 8).tolist(), strict=True))
        order = sorted(rng.permutation(list(scores)).tolist(), key=lambda each: -scores[each])
        whole[query], kept[query] = scores, {each: scores[each] for each in rng.permutation(order[:n_kept]).tolist()}
        judged = rng.choice(list(scores), int(rng.integers(1, 8)), replace=False).tolist()
        qrels[query] = {each: int(rng.integers(0, 3)) for each in judged} | {judged[0]: 1}
    return whole, kept, qrels


@pytest.mark.parametrize("n_kept", [3, 12, 30])
def test_bounds_hold_for_the_whole_ranking(n_kept: int) -> None:
    for seed in range(10):
        whole, kept, qrels = ranked(seed, n_kept)
        truth = dh.evaluate(dh.Task.from_run(whole, qrels).profile, MEASURES)
        report = mteb_files.evaluate_predictions(kept, qrels, n_documents=30, measures=MEASURES)
        for name in MEASURES:
            for which, sign in (("lower", 1), ("upper", -1)):
                head, full = (getattr(each[name].per_query, which) for each in (report, truth))
                assert (sign * (full - head) >= -1e-12).all()
                if n_kept == 30:
                    np.testing.assert_array_equal(head, full)
        if n_kept == 12:  # of three measures at most, the ends of the mean can differ from those of the whole ranking
            assert report["mAP"].lower < truth["mAP"].lower


def test_all_ranks_before_the_last_score_are_known() -> None:
    whole = {"q": {f"d{i}": 1 - i // 2 / 64 for i in range(50)}}
    kept, qrels = {"q": dict(list(whole["q"].items())[:20])}, {"q": {"d3": 1, "d8": 2}}
    truth = dh.evaluate(dh.Task.from_run(whole, qrels).profile, "nDCG@10")["nDCG@10"]
    result = mteb_files.evaluate_predictions(kept, qrels, n_documents=50)["nDCG@10"]
    assert (result.lower, result.expected, result.upper) == (truth.lower, truth.expected, truth.upper)
    assert result.lower < result.upper


@pytest.mark.parametrize("n_documents", [None, 3])
def test_identical_ids_and_queries_in_both(n_documents: int | None) -> None:
    predictions = {"a": {"a": 1.0, "b": 0.5, "c": 0.25}, "else": {"x": 1.0}}
    for ignore, value in ((False, 0.5), (True, 1.0)):
        report = mteb_files.evaluate_predictions(
            predictions, {"a": {"b": 1}}, n_documents=n_documents, ignore_identical_ids=ignore, measures="MRR"
        )
        assert (report["MRR"].expected, report.profile.query_ids) == (value, ("a",))
    assert list(predictions["a"]) == ["a", "b", "c"]


DE_EN = {"de": {"test": {"q": {"d": 0.5}}}, "en": {"test": {"q": {"e": 1.0}}, "dev": {"q": {"d": 0.5}}}}
OLD = {"q": {"d": 0.5, "e": 1}}
SUBSETS = {"mteb_model_meta": {"model_name": "toy", "revision": None}}


def test_subsets_and_splits_and_the_older_form(tmp_path: Path) -> None:
    path = tmp_path / "T_predictions.json"
    path.write_text(json.dumps(SUBSETS | DE_EN))
    assert mteb_files.read_predictions(path, subset="de") == DE_EN["de"]["test"]
    assert mteb_files.read_predictions(path, subset="en", split="dev") == DE_EN["en"]["dev"]
    path.write_text(json.dumps(OLD))
    assert mteb_files.read_predictions(path) == OLD


@pytest.mark.parametrize(
    ("content", "options", "kind", "message"),
    [
        (SUBSETS | DE_EN, {}, ValueError, "subset must be one of those in the file, de, en, but is not given"),
        (SUBSETS | DE_EN, {"subset": "en"}, ValueError,
         "split must be one of those in the file, test, dev, but is not given"),
        (SUBSETS | DE_EN, {"subset": "fr"}, ValueError, "subset must be one of those in the file, de, en, but is 'fr'"),
        (OLD, {"split": "test"}, ValueError, "subset and split must be left out"),
        (None, {}, FileError, "is no JSON of scores"),
        ([1], {}, FileError, "must hold a dictionary of dictionaries"),
        (SUBSETS | {"default": {"test": ["a"]}}, {}, FileError, "must hold a dictionary of splits"),
        (SUBSETS | {"default": {"test": {"q": {"d": "high"}}}}, {}, FileError, "must hold scores by query"),
    ],
)  # fmt: skip
def test_predictions_that_are_refused(tmp_path: Path, content: Any, options: Any, kind: Any, message: str) -> None:
    path = tmp_path / "T_predictions.json"
    path.write_text("{" if content is None else json.dumps(content))
    with pytest.raises(kind, match=message):
        mteb_files.read_predictions(path, **options)


@pytest.mark.parametrize(("n_documents", "query", "message"), [
    (0, "q", "n_documents must be"), (1, "p", "predictions and qrels must have a query in common"),
])  # fmt: skip
def test_refused(n_documents: int, query: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mteb_files.profile_predictions({query: {"d": 1.0}}, {"q": {"d": 1}}, n_documents=n_documents)


def cache(folder: Path, texts: list[str], rows: Any) -> Path:
    """Write a cache as MTEB does: numbers without a head, longer than its content."""
    folder.mkdir(parents=True)
    index = {hashlib.sha256(text.encode()).hexdigest(): row for row, text in enumerate(texts)}
    (folder / "index.json").write_text(json.dumps(index))
    (folder / "dimension").write_text(str(rows.shape[1]))
    np.pad(rows, ((0, 3), (0, 0))).astype(np.float32).tofile(folder / "vectors.npy")
    return folder


def test_cached_embeddings(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    folder = cache(tmp_path / "T" / "query", ["a", "b", "ü", "d"], rows)
    np.testing.assert_array_equal(mteb_files.read_embeddings(folder, ["ü", "a", "a"]), rows[[2, 0, 0]])
    with pytest.raises(ValueError, match=r"texts must all be in .*, but 1 of 2 are not; the first is 'nobody'"):
        mteb_files.read_embeddings(folder, ["a", "nobody"])
    with pytest.raises(TypeError, match="texts must be strings, but one is 7"):
        mteb_files.read_embeddings(folder, [7])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("dimension", "x", "must hold the dim"), ("index.json", "[", "is not JSON"),
        ("index.json", '{"a": 0.5}', "must hold a dictionary of row numbers"),
        ("vectors.npy", "12345", "must hold rows of 3 float32, but has 5 bytes"),
        ("vectors.npy", "0" * 12, "must hold row 3, but ends after 1"),
    ],
)  # fmt: skip
def test_damaged_caches(tmp_path: Path, name: str, content: str, message: str) -> None:
    folder = cache(tmp_path / "query", ["a", "b", "c", "d"], np.zeros((4, 3)))
    (folder / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        mteb_files.read_embeddings(folder, ["d"])
