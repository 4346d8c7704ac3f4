"""torchmetrics over several processes: every one says what one alone says of all rows, bit for bit."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from integrations.needs import require

require("torchmetrics")

from integrations import ranks

import deadheat as dh
from deadheat.integrations.torchmetrics import EmbeddingRetrieval, ScoredRetrieval

Found = list[dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Found:
    every = ranks.run(tmp_path_factory.mktemp("ranks"))
    assert all(isinstance(result, dict) for result in every), every
    return every


def alone(metric: Any, *rows: Any, **options: Any) -> dict[str, float]:
    metric.update(*rows, **options)
    return ranks.numbers(metric.compute())


def test_uneven_batches(results: Found) -> None:
    embeddings, labels = ranks.samples()
    one = alone(EmbeddingRetrieval(ranks.MEASURES), embeddings, labels)
    assert one["mAP_lower"] < one["mAP"] < one["mAP_upper"]
    for result in results:
        assert result["uneven"]["first"] == result["uneven"]["second"] == one
        assert result["uneven"]["digest"] == dh.Task(embeddings, labels).profile.digest()


def test_each_process_counts_its_share_of_the_queries(results: Found) -> None:
    """Three times: two values and a report."""
    assert [result["uneven"]["counted"] for result in results] == [[15] * 3, [16] * 3, [16] * 3]


@pytest.mark.parametrize("rows", ["bfloat16", "words", "wide"])
def test_processes_without_rows_and_of_other_types(results: Found, rows: str) -> None:
    one = alone(EmbeddingRetrieval(ranks.MEASURES), *ranks.samples())
    assert [result["without_data"][rows] for result in results] == [one] * ranks.N_RANK


def test_scores_on_one_process(results: Found) -> None:
    one = alone(ScoredRetrieval(ranks.MEASURES), *ranks.scored())
    assert [result["without_data"]["scored"] for result in results] == [one] * ranks.N_RANK


def test_no_rows_anywhere(results: Found) -> None:
    for result in results:
        assert str(result["without_data"]["nothing"]) == "{'mAP': nan, 'mAP_lower': nan, 'mAP_upper': nan}"


def test_copies_of_a_distributed_sampler(results: Found) -> None:
    """19 samples on 2 processes are 20, and a copy is its own nearest neighbour."""
    one = alone(EmbeddingRetrieval("Hit@1"), *ranks.distinct_samples())
    for result in results[:2]:
        padded = result["padded"]
        assert padded["by_id"] == one
        assert (padded["n_query"], padded["quiet"]) == (19, [])
        assert padded["blind"]["Hit@1"] > one["Hit@1"]
        assert len(padded["warned"]) == 1
        assert "the last of 1 seems to be a copy that DistributedSampler added" in padded["warned"][0]


def test_steps_and_epochs(results: Found) -> None:
    embeddings, labels = ranks.samples()
    whole = alone(EmbeddingRetrieval("mAP"), embeddings[:45], labels[:45])
    for rank, result in enumerate(results):
        mine = slice(15 * rank, 15 * rank + 15)
        part = alone(EmbeddingRetrieval("mAP"), embeddings[mine], labels[mine])
        steps = result["each_step"]
        assert steps["together"] == steps["epoch"] == steps["epoch_alone"] == whole
        assert steps["alone"] == steps["separate"] == part != whole


def test_queries_on_one_process_and_the_gallery_on_others(results: Found) -> None:
    embeddings, labels = ranks.samples()
    with warnings.catch_warnings(action="ignore"):
        report = dh.evaluate(embeddings[:10], labels[:10], embeddings, labels, measures=ranks.MEASURES)
    for rank, result in enumerate(results):
        values = result["by_role"]["values"]
        assert [values[f"{name}_lower"] for name in report] == [report[name].lower for name in report]
        assert [values[name] for name in report] == [report[name].expected for name in report]
        assert result["by_role"]["warned"] == ["QueryInGalleryWarning"] * (rank == 0)


def test_rows_that_do_not_fit_are_refused_by_all(results: Found) -> None:
    line = "embeddings must have the same dim throughout, but have 3 in some batches and 4 in others"
    assert [result["disagreeing"] for result in results] == [{"error": line}] * ranks.N_RANK
