"""MTEB's files: read as it writes them, with bounds for every complete ranking that they can be the head of."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from integrations.needs import needs

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
        truth = dh.evaluate(dh.from_run(whole, qrels).profile, MEASURES)
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
    truth = dh.evaluate(dh.from_run(whole, qrels).profile, "nDCG@10")["nDCG@10"]
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
        mteb_files.evaluate_predictions({query: {"d": 1.0}}, {"q": {"d": 1}}, n_documents=n_documents)


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


def save(path: Path, **subsets: Any) -> None:
    """Write a file of predictions as MTEB 2 does."""
    path.write_text(json.dumps({"mteb_model_meta": {"model_name": "toy", "revision": None}, **subsets}))


class StandIn:
    """A task as MTEB has them: its names and its data."""

    def __init__(self, name: str, data: dict[str, Any], main_score: str = "ndcg_at_10", **more: Any) -> None:
        self.metadata = SimpleNamespace(name=name, main_score=main_score)
        self.data, self.data_loaded = data, False
        self.ignore_identical_ids = self.skip_first_result = False
        vars(self).update(more)

    def load_data(self) -> None:
        self.dataset, self.data_loaded = self.data, True

    def convert_v1_dataset_format_to_v2(self, num_proc: int | None) -> None:
        assert num_proc is None


def loaded(qrels: Any, n_documents: int, top_ranked: Any = None) -> dict[str, Any]:
    return {"relevant_docs": qrels, "corpus": range(n_documents), "top_ranked": top_ranked}


def test_a_folder(tmp_path: Path) -> None:
    """Each task, subset and split is evaluated as its file alone, and shown with bounds, interval, MTEB's score."""
    _, kept, qrels = ranked(0, 12)
    save(tmp_path / "A_predictions.json", default={"test": kept})
    save(tmp_path / "B_predictions.json", de={"test": kept}, en={"test": kept, "dev": kept})
    b = {"de": {"test": loaded(qrels, 30)}, "en": {"test": loaded(qrels, 30), "dev": loaded(qrels, 40, {"q0": []})}}
    tasks = [StandIn("A", {"default": {"test": loaded(qrels, 30)}}), StandIn("B", b, "hit_rate_at_3"), StandIn("C", {})]
    theirs = {"scores": {"test": [{"hf_subset": "default", "ndcg_at_10": 0.25}]}}
    (tmp_path / "A.json").write_text(json.dumps(theirs))
    (tmp_path / "B.json").write_text(json.dumps({"scores": {}}))

    reports = mteb_files.evaluate_folder(tmp_path, tasks, results=tmp_path)
    assert list(reports) == ["A", "B (de, test)", "B (en, test)", "B (en, dev)"]
    for name, n_documents in zip(reports, [30, 30, 30, None], strict=True):
        alone = mteb_files.evaluate_predictions(kept, qrels, n_documents=n_documents, measures=list(reports[name]))
        assert reports[name].profile == alone.profile
        assert reports[name].to_dict() == alone.to_dict()
    outer = reports["A"].interval("nDCG@10").outer
    columns = reports.columns()
    assert (columns["low"][0], columns["high"][0]) == outer
    assert columns["measure"] == ["nDCG@10", "Hit@3", "Hit@3", "Hit@3"]
    np.testing.assert_array_equal(columns["MTEB"], [0.25, np.nan, np.nan, np.nan])
    header, first = reports.to_text().splitlines()[:2]
    assert header.split("  ")[-1] == "MTEB (%)"
    assert first.endswith(f"{outer.shown()}     25.00")
    assert reports.notes()[0] == "2 tasks, 20 queries."
    assert "interval" not in reports.to_text(interval=False)
    assert "Intervals: over the queries" in reports.to_markdown()
    assert [row["task"] for row in reports.to_dict()["measures"]] == list(reports)
    assert "MTEB" not in mteb_files.evaluate_folder(tmp_path, tasks, measures="mAP").columns()


def test_names_of_mteb() -> None:
    names = ["nDCG@10", "mAP@100", "Recall@5", "P@1", "MRR@10", "Hit@3", "MAP@R"]
    theirs = ["ndcg_at_10", "map_at_100", "recall_at_5", "precision_at_1", "mrr_at_10", "hit_rate_at_3", "MAP_at_R"]
    assert list(map(mteb_files.mteb_name, names)) == theirs


@pytest.mark.parametrize(
    ("task", "content", "kind", "message"),
    [
        (StandIn("B", {}), {"q": {"d": 1.0}}, ValueError, "must have the task of each file of predictions, but T_pred"),
        (StandIn("T", {}), None, ValueError, r"has no \*_predictions.json"),
        (StandIn("T", {}), OLD, FileError, "must hold subsets and splits, as MTEB 2 saves"),
        (StandIn("T", {}, skip_first_result=True), SUBSETS | DE_EN, ValueError, "must not drop the first result"),
        (StandIn("T", {}), SUBSETS | DE_EN, FileError, "must hold a result as MTEB writes it"),
    ],
)  # fmt: skip
def test_folders_that_are_refused(tmp_path: Path, task: Any, content: Any, kind: Any, message: str) -> None:
    if content is not None:
        (tmp_path / "T_predictions.json").write_text(json.dumps(content))
    (tmp_path / "T.json").write_text("[]")
    with pytest.raises(kind, match=message):
        mteb_files.evaluate_folder(tmp_path, [task], results=tmp_path)


@needs("mteb", "datasets")
@pytest.mark.filterwarnings("ignore")  # of MTEB and those it brings
def test_mteb_loads_the_results_of_its_predictions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stub encoder that MTEB runs: its score lies within the bounds, and its cache has the results that we write."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    import datasets
    import mteb
    from mteb.abstasks.retrieval import AbsTaskRetrieval
    from mteb.abstasks.task_metadata import TaskMetadata
    from mteb.models.abs_encoder import AbsEncoder
    from mteb.models.model_meta import ModelMeta
    from mteb.results import TaskResult

    class Digits(AbsTaskRetrieval):  # type: ignore[misc]
        metadata = TaskMetadata(
            name="Digits", description="Ties", type="Retrieval", category="t2t", modalities=["text"],
            dataset={"path": "digits", "revision": "1"}, eval_splits=["test"],
            eval_langs={"de": ["deu-Latn"], "en": ["eng-Latn"]}, main_score="ndcg_at_10",
        )  # fmt: skip

        def load_data(self, **_: object) -> None:
            corpus = datasets.Dataset.from_list([{"id": f"d{i}", "title": "", "text": str(i % 4)} for i in range(20)])
            queries = datasets.Dataset.from_list([{"id": f"q{i}", "text": str(i % 3)} for i in range(12)])
            qrels = {f"q{i}": {f"d{7 * i % 20}": 1} for i in range(12)}
            split = {"queries": queries, "corpus": corpus, "relevant_docs": qrels, "top_ranked": None}
            self.dataset, self.data_loaded = {subset: {"test": dict(split)} for subset in ("de", "en")}, True

    class Stub(AbsEncoder):  # type: ignore[misc]
        mteb_model_meta = ModelMeta.create_empty({"name": "stub/digits", "revision": "1"})

        def __init__(self) -> None:
            pass

        def encode(self, inputs: Any, **_: object) -> Any:
            return np.eye(4, dtype=np.float32)[[int(text) for batch in inputs for text in batch["text"]]]

    task = Digits()
    made = mteb.evaluate(Stub(), task, prediction_folder=tmp_path, cache=None, show_progress_bar=False)
    made.task_results[0].to_disk(tmp_path / "Digits.json")
    measures = ["nDCG@10", "MRR@10", "Recall@5", "Hit@1"]
    reports = mteb_files.evaluate_folder(tmp_path, [task], measures=measures, results=tmp_path)
    columns = reports.columns()
    assert all(map(np.less_equal, columns["lower"], np.add(columns["MTEB"], 1e-5)))  # MTEB rounds to five decimals
    assert all(map(np.less_equal, np.subtract(columns["MTEB"], 1e-5), columns["upper"]))
    assert sum(columns["lower"]) < sum(columns["upper"])

    folder = tmp_path / "cache" / "results" / "stub__digits" / "1"
    reports.save(folder)
    result = TaskResult.from_disk(folder / "Digits.json")
    assert result.languages != []
    for scores in result.scores["test"]:
        report = reports[f"Digits ({scores['hf_subset']}, test)"]
        assert scores["main_score"] == scores["ndcg_at_10"] == round(report["nDCG@10"].expected, 6)
        for measure in measures:
            ours = report[measure]
            ends = [scores[f"{mteb_files.mteb_name(measure)}_{end}"] for end in ("lower", "upper", "low", "high")]
            np.testing.assert_allclose(ends, [ours.lower, ours.upper, *ours.interval().outer], rtol=0, atol=1e-6)
    cache = mteb.ResultCache(cache_path=tmp_path / "cache")
    (model,) = cache.load_results(models=["stub/digits"], require_model_meta=False, include_remote=False).model_results
    assert [each.task_name for each in model.task_results] == ["Digits"]
