"""Against the installed pytorch-metric-learning: equal where there are no ties, around its value where there are."""

from __future__ import annotations

import math
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from integrations.needs import require, widest

from deadheat.errors import MissingPackageError, QueryInGalleryWarning

require("pytorch_metric_learning", "faiss")

import faiss
import torch
from pytorch_metric_learning import distances, testers
from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator as Theirs
from pytorch_metric_learning.utils.inference import CustomKNN, FaissKNN
from pytorch_metric_learning.utils.logging_presets import HookContainer

from deadheat.integrations.pytorch_metric_learning import AccuracyCalculator, Ranking
from deadheat.reports.result import ENDS

METRICS = (
    "precision_at_1", "r_precision", "mean_average_precision", "mean_average_precision_at_r", "mean_reciprocal_rank"
)  # fmt: skip
CALLS = ("alone", "gallery", "prefix")


def both(**options: Any) -> tuple[Any, Any]:
    """Their calculator and ours."""
    options = {"exclude": ("NMI", "AMI"), "device": torch.device("cpu")} | options
    return Theirs(**options), AccuracyCalculator(**options)


def ours(**options: Any) -> Any:
    return both(**options)[1]


def knn(distance: str, batch_size: int | None = None, **options: Any) -> Any:
    if distance == "FaissKNN":
        return FaissKNN(**options)
    return CustomKNN(getattr(distances, distance)(**options), batch_size=batch_size)


def random_call(how: str, seed: int, grid: bool, dim: int = 4, n_class: int = 5) -> tuple[Any, ...]:
    """Arguments of `get_accuracy`; on a grid most distances tie, and float32 is exact."""
    rng = np.random.default_rng(seed)

    def rows(n: int) -> Any:
        result = rng.integers(-1, 2, (n, dim)) if grid else rng.normal(size=(n, dim))
        return result.astype(np.float32)

    query, labels = rows(30), rng.integers(0, n_class, 30)
    if how == "alone":
        return query, labels
    others, other_labels = rows(25), rng.integers(0, n_class + 1, 25)
    if how == "gallery":
        return query, labels, others, other_labels
    return query, labels, np.concatenate([query, others]), np.concatenate([labels, other_labels]), True


def flat(value: Any) -> Any:
    return np.atleast_1d(np.array(value, dtype=float))


OPTIONS: list[dict[str, Any]] = [
    {}, {"k": 1}, {"k": 3}, {"k": "max_bin_count"}, {"avg_of_avgs": True}, {"k": 4, "return_per_class": True}
]  # fmt: skip


@pytest.mark.parametrize("grid", [False, True])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("how", CALLS)
def test_values_are_theirs_or_around_theirs_with_ties(how: str, options: dict[str, Any], grid: bool) -> None:
    theirs, calculator = both(**options)
    wide = False
    for seed in range(2):
        call = random_call(how, seed, grid)
        expected, result = theirs.get_accuracy(*call), calculator.get_accuracy(*call)
        if how == "alone":  # the queries found by their place in a copy of them, in another loop
            assert result == calculator.get_accuracy(*call, call[0].copy(), call[1], True)
        for metric in METRICS:
            lower, value, upper = (flat(result[f"{metric}{end}"]) for end in ("_lower", "", "_upper"))
            assert type(result[metric]) is type(expected[metric])
            assert ((lower <= value) & (value <= upper)).all()
            assert ((lower - 1e-6 <= flat(expected[metric])) & (flat(expected[metric]) <= upper + 1e-6)).all()
            wide |= bool((lower < upper).any())
    assert wide == grid


DISTANCES: list[tuple[str, dict[str, Any]]] = [
    ("CosineSimilarity", {}),
    ("DotProductSimilarity", {}),
    ("DotProductSimilarity", {"normalize_embeddings": False}),
    ("LpDistance", {}),
    ("LpDistance", {"normalize_embeddings": False, "power": 2}),
    ("LpDistance", {"normalize_embeddings": False, "p": 1, "power": 0.5}),
    ("FaissKNN", {"index_init_fn": faiss.IndexFlatIP}),
]


@pytest.mark.parametrize(("name", "options"), DISTANCES, ids=str)
@pytest.mark.parametrize("how", CALLS)
def test_distances_rank_as_theirs(name: str, options: dict[str, Any], how: str) -> None:
    theirs, calculator = both(knn_func=knn(name, **options))
    batched = ours(knn_func=knn(name, batch_size=7, **options))
    for seed in range(3):
        call = random_call(how, seed, grid=False)
        for few in ((), (0, 1)):  # rows of zeros, which normalising leaves as they are
            if few and (name, options) == ("LpDistance", {}):  # they are nearer to the others than any right angle
                continue
            for row in few:
                call[0][row] = 0
                if how == "prefix":
                    call[2][row] = 0
            expected, result = theirs.get_accuracy(*call), calculator.get_accuracy(*call)
            assert result == batched.get_accuracy(*call)
            assert few or widest(result, expected, 1e-6) == 0
            assert widest(result, expected, 1e-6) >= 0


def test_rows_of_zeros_without_a_direction() -> None:
    """Normalised they stay zeros, at distance 1 from all others, which is no distance of ours; unless all rows are."""
    theirs, calculator = both(knn_func=knn("LpDistance"))
    query, labels = random_call("alone", 0, grid=False)
    query[:2] = 0
    with pytest.warns(UserWarning, match="because there are rows of zeros, which have no direction"):
        assert calculator.get_accuracy(query, labels) == theirs.get_accuracy(query, labels)
    assert calculator.get_curr_metrics() == theirs.get_curr_metrics()
    result = calculator.get_accuracy(np.zeros_like(query), labels)
    assert list(result) == calculator.get_curr_metrics()
    assert (result["precision_at_1_lower"], result["precision_at_1_upper"]) == (0.0, 1.0)
    query[:2] = 1e-20
    for name in ("LpDistance", "CosineSimilarity"):
        calculator = ours(knn_func=knn(name))
        with pytest.warns(UserWarning, match="because there are rows of zeros"):
            assert "r_precision_lower" not in calculator.get_accuracy(query, labels)


@pytest.mark.parametrize("length", [2e-12, 1e-12, 9e-13])
def test_rows_have_a_direction_from_the_length_on_that_torch_normalises(length: float) -> None:
    rows = np.array([[length, 0.0], [0.0, 1.0]])
    lengths = torch.linalg.norm(torch.nn.functional.normalize(torch.from_numpy(rows)), dim=1)
    assert Ranking("cosine").holds([rows]) is bool((lengths == 1).all()) is (length >= 1e-12)


class Subclass(FaissKNN):  # type: ignore[misc]
    pass


def ranked(query: Any, k: int, reference: Any, ref_includes_query: bool) -> Any:
    return FaissKNN()(query, k, reference, ref_includes_query)


THEIR_WAY: dict[str, Any] = {  # what leaves everything to pytorch-metric-learning
    "label_comparison_fn": lambda x, y: torch.abs(x - y) < 2,
    "function": lambda: ranked,
    "subclass": Subclass,
    "kept index": lambda: FaissKNN(reset_after=False),
    "another index": lambda: FaissKNN(index_init_fn=lambda dim: faiss.IndexFlat(dim, faiss.METRIC_L1)),
    "signal to noise": lambda: knn("SNRDistance"),
    "p of 1, normalised": lambda: knn("LpDistance", p=1),
    "p of 3": lambda: knn("LpDistance", p=3),
    "squared dot product": lambda: knn("DotProductSimilarity", power=2),
    "falling power": lambda: knn("LpDistance", power=-1),
}


@pytest.mark.parametrize("way", THEIR_WAY)
def test_the_rest_is_their_own_path_announced_once(way: str) -> None:
    by_label = way == "label_comparison_fn"
    theirs, calculator = both(**({way: THEIR_WAY[way]} if by_label else {"knn_func": THEIR_WAY[way]()}))
    call = random_call("gallery", 0, grid=False)
    reason = "label_comparison_fn decides" if by_label else "knn_func ranks differently"
    with pytest.warns(UserWarning, match=f"by its own code, as one value without bounds, because {reason}") as caught:
        result = calculator.get_accuracy(*call)
    assert len(caught) == 1
    assert all(metric in str(caught[0].message) for metric in METRICS)
    assert str(caught[0].filename) == __file__
    assert result == theirs.get_accuracy(*call)
    assert list(result) == calculator.get_curr_metrics() == theirs.get_curr_metrics()
    with warnings.catch_warnings(action="error"):
        assert calculator.get_accuracy(*call) == result
    if way == "kept index":
        assert calculator.knn_func.index.ntotal == len(call[2])


def with_own_metrics(**options: Any) -> Any:
    """A calculator as somebody would extend theirs."""

    class Extended(AccuracyCalculator):
        def calculate_share_of_neighbors(self, knn_labels: Any, query_labels: Any, **kwargs: Any) -> float:
            self.seen = kwargs | {"knn_labels": knn_labels}
            return float((knn_labels == query_labels[:, None]).float().mean())

        def calculate_precision_at_1(self, **kwargs: Any) -> float:
            return -1.0

        def calculate_constant(self, **kwargs: Any) -> float:
            return 0.25

        def requires_knn(self) -> list[str]:
            return [*super().requires_knn(), "share_of_neighbors"]

    return Extended(**{"exclude": ("NMI", "AMI"), "device": torch.device("cpu")} | options)


def test_metrics_that_somebody_adds_or_overrides_survive() -> None:
    calculator = with_own_metrics(k=3)
    call = random_call("prefix", 0, grid=False)
    result = calculator.get_accuracy(*call)
    assert list(result)[:1] == ["constant"]
    assert (result["constant"], result["precision_at_1"]) == (0.25, -1.0)
    assert "precision_at_1_lower" not in result
    assert result["mean_average_precision_lower"] == ours(k=3).get_accuracy(*call)["mean_average_precision"]
    assert {
        "query", "reference", "reference_labels", "ref_includes_query", "label_comparison_fn", "label_counts",
        "knn_labels", "knn_distances", "lone_query_labels", "not_lone_query_mask",
    } <= set(calculator.seen)  # fmt: skip
    assert tuple(calculator.seen["knn_labels"].shape) == (30, 3)
    assert calculator.get_accuracy(*call, include=("share_of_neighbors",)) == {
        "share_of_neighbors": result["share_of_neighbors"]
    }


def test_names_of_metrics() -> None:
    theirs, calculator = both(exclude=())
    assert calculator.get_function_dict().keys() == theirs.get_function_dict().keys()
    assert (calculator.description(), both(avg_of_avgs=True)[1].description()) == ("", "avg_of_avgs")
    assert set(theirs.requires_knn()) < set(calculator.requires_knn())
    bounds = [f"{metric}{end}" for metric in METRICS for end in ENDS]
    assert sorted(calculator.get_curr_metrics()) == sorted([*bounds, "NMI", "AMI"])
    few, call = (
        ours(include=("r_precision", "precision_at_1"), exclude=("precision_at_1",)),
        random_call("alone", 0, True),
    )
    names = ["r_precision", "r_precision_lower", "r_precision_upper"]
    assert few.get_curr_metrics() == list(few.get_accuracy(*call)) == names
    calculator = ours()
    assert list(calculator.get_accuracy(*call, include=("r_precision",))) == names
    assert calculator.get_accuracy(*call, include=("r_precision",), exclude=("r_precision",)) == {}
    assert len(calculator.get_accuracy(*call)) == 15


@pytest.mark.filterwarnings("ignore:.*")
def test_clusters_are_theirs_and_so_is_the_metric_that_they_forget_to_find_neighbours_for() -> None:
    theirs, calculator = both(exclude=())
    call = random_call("alone", 0, grid=False)
    expected, result = theirs.get_accuracy(*call), calculator.get_accuracy(*call)
    assert (result["NMI"], result["AMI"]) == (expected["NMI"], expected["AMI"])
    alone = ours(include=("mean_reciprocal_rank",), exclude=()).get_accuracy(*call)
    assert alone["mean_reciprocal_rank"] == pytest.approx(expected["mean_reciprocal_rank"], abs=1e-6)


LARGE = 2**24


@pytest.mark.parametrize("distance", ["FaissKNN", "their own path"])
def test_labels_beyond_float32_stay_distinct(distance: str) -> None:
    """Metrics that ask for them get numbers of classes where float32 would merge the labels."""
    rows, labels = np.float32([[0], [1], [3], [7]]), np.array([LARGE, LARGE + 1, LARGE + 1, LARGE])
    calculator = with_own_metrics(knn_func=None if distance == "FaissKNN" else ranked)
    with warnings.catch_warnings(action="ignore"):
        result = calculator.get_accuracy(rows, labels)
    assert both()[0].get_accuracy(rows, labels)["mean_average_precision_at_r"] == 1.0  # one class of four
    assert result["mean_average_precision_at_r"] == 0.25
    assert result["share_of_neighbors"] == pytest.approx(4 / 12)
    assert calculator.seen["reference_labels"].tolist() == [0, 1, 1, 0]


def test_tensors_and_arrays_of_any_type() -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(-3, 4, (20, 3)), rng.integers(0, 4, 20)
    expected, tensor = ours().get_accuracy(rows, labels), torch.tensor(rows).float().requires_grad_()
    for call in (
        (rows, labels.astype(np.uint64), rows, labels, True), (rows, torch.tensor(labels), rows, labels * 1.0, True),
        (rows, labels[:, None]), (rows, np.stack([labels // 2, labels % 2], axis=1)),
        (tensor.bfloat16(), torch.tensor(labels)), (tensor, torch.tensor(labels), tensor, torch.tensor(labels), True),
    ):  # fmt: skip
        assert ours().get_accuracy(*call) == expected
    seen = with_own_metrics()
    seen.get_accuracy(1.0 * rows, labels + 0.5)
    assert set(seen.seen["reference_labels"].tolist()) == {0.5, 1.5, 2.5, 3.5}


@pytest.mark.parametrize(
    ("labels", "others", "sentence"),
    [
        ([0.0, math.nan], [0, 0], "query_labels must not hold NaN"),
        ([0, 0], ["a", "b"], "reference_labels must be numbers, but has dtype <U1"),
        ([[0, 1], [0, 1]], [0, 1], r"must have as many levels, but have shapes \(2, 2\) and \(2,\)"),
        ([0, 2**60], [0.5, 1.0], "must be of one type where they exceed 2"),
        ([[[0]], [[1]]], [0, 1], r"query_labels must be one label.*, but has shape \(2, 1, 1\)"),
        ([0, 1], None, "reference_labels must be numbers"),
    ],
)
def test_labels_that_are_refused(labels: Any, others: Any, sentence: str) -> None:
    rows = np.eye(2, dtype=np.float32)
    with pytest.raises((ValueError, TypeError), match=sentence):
        ours().get_accuracy(rows, np.array(labels), rows, others if others is None else np.array(others))


@pytest.mark.parametrize("k", [None, 2, "max_bin_count"])
@pytest.mark.parametrize("per_class", [False, True])
def test_nan_where_every_query_is_alone(k: Any, per_class: bool) -> None:
    rows, labels = np.float32([[0], [1], [3]]), np.array([5, 3, 4])
    for call in ((rows, labels), (rows, labels, rows, np.array([0, 1, 2]))):
        result = ours(return_per_class=per_class, k=k).get_accuracy(*call)
        for name in METRICS:
            for end in ("", "_lower", "_upper"):
                assert np.isnan(flat(result[f"{name}{end}"])).all()
                assert np.shape(result[f"{name}{end}"]) == ((3,) if per_class else ())


def test_k_beyond_the_reference_counts_nobody_twice() -> None:
    """faiss fills its rows with -1, which theirs takes for the last item."""
    call = np.float32([[0]]), np.array([1]), np.float32([[1], [2], [3]]), np.array([1, 0, 1])
    result = ours(k=10).get_accuracy(*call)
    assert both(k=10)[0].get_accuracy(*call)["mean_average_precision"] > 1.0
    assert result["mean_average_precision"] == pytest.approx((1 + 2 / 3) / 2)


def test_errors_are_theirs() -> None:
    wrong: list[tuple[dict[str, Any], type[Exception]]] = [
        ({"k": 0}, ValueError), ({"include": ("precision_at_1_lower",)}, ValueError), ({"exclude": {"NMI"}}, TypeError),
        ({"avg_of_avgs": True, "return_per_class": True}, ValueError),
        ({"label_comparison_fn": lambda x, y: x == y, "exclude": ()}, NotImplementedError),
    ]  # fmt: skip
    for options, kind in wrong:
        for calculator in (Theirs, AccuracyCalculator):
            with pytest.raises(kind):
                calculator(**{"exclude": ("NMI", "AMI"), "device": torch.device("cpu")} | options)


ROWS, ALONE = np.float32([[0], [1], [3]]), np.array([0, 0, 1])


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ((ROWS, ALONE, ROWS, ALONE[:2]), "embeddings and labels must have the same length"),
        ((ROWS, ALONE, ROWS[::-1].copy(), ALONE, True), "When ref_includes_query is True"),
        ((ROWS * np.float32(math.nan), ALONE), "query must be finite, but holds nan in row 0, column 0"),
        ((ROWS, ALONE, np.zeros((3, 2), np.float32), ALONE),
         "query and reference must have the same dim, but have 1 and 2 columns"),
    ],
)  # fmt: skip
def test_calls_that_are_refused(call: Any, line: str) -> None:
    with pytest.raises(ValueError, match=line):
        ours().get_accuracy(*call)


def test_queries_among_the_reference_get_a_warning() -> None:
    rows, labels = ROWS, ALONE
    sentence = "3 of 3 queries are in the gallery.*leave out reference, or give ref_includes_query=True"
    with pytest.warns(QueryInGalleryWarning, match=sentence):
        assert ours().get_accuracy(rows, labels, rows, labels)["precision_at_1"] == 1.0


def test_what_is_logged_is_what_they_log(caplog: pytest.LogCaptureFixture) -> None:
    query, labels, *_ = random_call("alone", 0, grid=False)
    with caplog.at_level("INFO", "PML"):
        ours(k=2).get_accuracy(query, labels)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert "k='max_bin_count'" in caplog.text
    caplog.clear()
    with caplog.at_level("INFO", "PML"):
        ours().get_accuracy(query, np.arange(30))
    assert "None of the query labels are in the reference set." in caplog.text


def tiny_data() -> dict[str, Any]:
    """Two splits of points with two levels of labels; those of `val` are whole numbers, so that distances tie."""
    rng = torch.Generator().manual_seed(0)
    fine = torch.arange(24) % 6
    train = torch.randn(24, 5, generator=rng) + fine[:, None]
    rows = {"train": train, "val": (train / 2).round()}
    return {key: torch.utils.data.TensorDataset(part, torch.stack([fine, fine // 2], 1)) for key, part in rows.items()}


@pytest.mark.parametrize(
    ("name", "levels"),
    [("GlobalEmbeddingSpaceTester", ["level0", "level1"]), ("WithSameParentLabelTester", ["level0"])],
)
def test_testers_take_it(name: str, levels: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    trunk = torch.nn.Linear(5, 3)
    with torch.no_grad():
        trunk.weight.copy_(torch.eye(3, 5))
        trunk.bias.zero_()
    accuracies = []
    for calculator in both(k="max_bin_count"):
        tester = getattr(testers, name)(
            normalize_embeddings=False, dataloader_num_workers=0, accuracy_calculator=calculator,
            label_hierarchy_level="all", data_device=torch.device("cpu"),
        )  # fmt: skip
        splits = [("train", ["train"]), ("val", ["train", "val"])]
        accuracies.append(tester.test(tiny_data(), 0, trunk, splits_to_eval=splits))
    hooks = HookContainer(None, primary_metric="mean_average_precision_at_r_lower")  # to select checkpoints by
    assert callable(hooks.end_of_epoch_hook(tester, {}, str(Path(__file__).parent)))
    capsys.readouterr()  # bars of progress
    expected, values = accuracies
    for metric in METRICS:
        for level in levels:
            lower, value, upper = (values["val"][f"{metric}{end}_{level}"] for end in ("_lower", "", "_upper"))
            assert lower - 1e-6 <= expected["val"][f"{metric}_{level}"] <= upper + 1e-6
            assert lower <= value <= upper
            same = values["train"][f"{metric}_{level}"]
            assert same == pytest.approx(expected["train"][f"{metric}_{level}"], abs=1e-6)
    if len(levels) > 1:
        of_levels = [values["val"][f"mean_average_precision_lower_{level}"] for level in levels]
        assert values["val"]["AVERAGE_mean_average_precision_lower"] == pytest.approx(np.mean(of_levels))
    assert values["val"]["precision_at_1_lower_level0"] < values["val"]["precision_at_1_upper_level0"]


def test_what_is_missing_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    remedy = re.escape("needs faiss: pip install 'deadheat[pytorch-metric-learning]'")
    with pytest.raises(MissingPackageError, match=f"^AccuracyCalculator without knn_func and kmeans_func {remedy}$"):
        AccuracyCalculator(kmeans_func=print)
    assert AccuracyCalculator(knn_func=print, kmeans_func=print).k is None
