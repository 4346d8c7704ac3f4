"""torchmetrics, one process: embeddings and labels in batches are evaluated as by `deadheat.evaluate`, bit for bit."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from integrations.needs import require

import deadheat as dh

require("torchmetrics")

import torch
import torchmetrics
from integrations.ranks import numbers

from deadheat.integrations.torchmetrics import EmbeddingRetrieval
from deadheat.integrations.torchmetrics.embeddings import KeptRows, n_padded
from deadheat.reports.result import ENDS

MEASURES = "mAP, MAP@R, Hit@1, nDCG@5"


def samples(values: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    """Points on a small grid, with many ties."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, values, (40, 4)).astype(np.float32)
    return torch.from_numpy(rows), torch.from_numpy(rng.integers(0, 6, 40))


def filled(metric: Any, embeddings: Any, labels: Any, *more: Any, size: int = 7, **options: Any) -> Any:
    for start in range(0, len(embeddings), size):
        rows = slice(start, start + size)
        metric.update(embeddings[rows], labels[rows], *(column[rows] for column in more), **options)
    return metric


def expected(*rows: Any, **options: Any) -> dict[str, float]:
    report = dh.evaluate(*(rows or samples()), measures=MEASURES, **options)
    return {name + end: getattr(report[name], which) for name in report for end, which in ENDS.items()}


@pytest.mark.parametrize("options", [
    {"distance": "euclidean", "average": "class"}, {"distance": "cityblock", "singletons": "zero", "threads": 1}
])  # fmt: skip
def test_batches_are_evaluated_as_a_whole(options: dict[str, Any]) -> None:
    metric = filled(EmbeddingRetrieval(MEASURES, **options), *samples())
    assert numbers(metric.compute()) == expected(**options)
    assert [*metric.compute()][:3] == ["mAP", "mAP_lower", "mAP_upper"]
    assert str(metric.report()) == str(dh.evaluate(*samples(), measures=MEASURES, **options))
    assert metric.compute()["mAP"].dtype == torch.float64


KINDS: dict[str, Any] = {
    "above 2^53": lambda rows, labels: (rows, labels + 2**60),
    "list": lambda rows, labels: (rows, labels.tolist()),
    "uint8 array": lambda rows, labels: (rows, labels.numpy().astype(np.uint8)),
    "strings": lambda rows, labels: (rows, [f"Ä{'ö' * label}" for label in labels.tolist()]),
    "string array": lambda rows, labels: (rows, np.array([f"word {label}" for label in labels.tolist()])),
    "bytes": lambda rows, labels: (rows, np.array([b"%d" % label for label in labels.tolist()])),
} | {
    f"rows of {kind}": lambda rows, labels, kind=kind: (rows.to(getattr(torch, kind)), labels)
    for kind in ("bfloat16", "float64", "int16", "bool")
}


@pytest.mark.parametrize("kind", KINDS)
def test_embeddings_and_labels_of_any_type(kind: str) -> None:
    embeddings, labels = samples(values=2)
    metric = filled(EmbeddingRetrieval(MEASURES), *KINDS[kind](embeddings, labels))
    assert numbers(metric.compute()) == expected(embeddings, labels)


def test_kept_rows_have_no_graph_and_are_alone_in_their_memory() -> None:
    embeddings, labels = samples()
    hidden = embeddings.repeat(1, 3).requires_grad_()
    metric = EmbeddingRetrieval(MEASURES, compute_on_cpu=True)
    metric.update(hidden[:, :4], labels)
    (kept,) = metric.embeddings
    assert not kept.requires_grad
    assert kept.untyped_storage().nbytes() == kept.nbytes
    with torch.no_grad():
        hidden.zero_()
        labels.zero_()
    assert numbers(metric.compute()) == expected()
    with torch.inference_mode():
        metric.update(embeddings, labels)


def test_moves_and_types_change_nothing() -> None:
    embeddings, labels = samples()
    embeddings /= 3
    metric = filled(EmbeddingRetrieval(MEASURES), embeddings, labels)
    inside = torch.nn.ModuleDict({"metric": metric})
    metric.half().set_dtype(torch.float16).to(torch.float16).double()
    inside.half().to("cpu", torch.bfloat16)
    assert {part.dtype for part in metric.embeddings} == {torch.float32}
    assert numbers(metric.compute()) == expected(embeddings, labels)


def test_copies_pickles_and_states() -> None:
    metric = filled(EmbeddingRetrieval(MEASURES, ties=dh.Tolerance(0.001)), *samples())
    values = numbers(metric.compute())
    for other in (metric.clone(), copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert str(numbers(other.compute())) == str(values)
        other.reset()
        assert metric.embeddings
        assert not other.embeddings
    assert metric.state_dict() == {}
    fresh = EmbeddingRetrieval(MEASURES, ties=dh.Tolerance(0.001))
    for one in (metric, fresh):
        one.persistent(True)
    fresh.load_state_dict(metric.state_dict())
    with warnings.catch_warnings(action="ignore"):  # torchmetrics does not count what was loaded as an update
        assert str(numbers(fresh.compute())) == str(values)
    left, right = (EmbeddingRetrieval(MEASURES) for _ in range(2))
    embeddings, labels = samples()
    left.update(embeddings[:9], labels[:9])
    right.update(embeddings[9:], labels[9:])
    left.merge_state(right)
    assert numbers(left.compute()) == expected()


def test_a_collection_shares_what_its_metrics_keep() -> None:
    metrics = {"cos": EmbeddingRetrieval("mAP"), "l2": EmbeddingRetrieval("mAP", distance="euclidean")}
    collection = filled(torchmetrics.MetricCollection(metrics, prefix="val/", postfix="/x"), *samples())
    assert len(collection.compute_groups) == 1
    values = numbers(collection.compute())
    for name, distance in (("cos", "cosine"), ("l2", "euclidean")):
        assert values[f"val/{name}_mAP_lower/x"] == expected(distance=distance)["mAP_lower"]
    single = filled(torchmetrics.MetricCollection([EmbeddingRetrieval("mAP")], prefix="val/"), *samples())
    assert [*single.compute()] == ["val/mAP", "val/mAP_lower", "val/mAP_upper"]
    embeddings, labels = samples()
    assert set(numbers(collection(embeddings, labels=labels))) == set(values)


def test_rows_with_one_id_count_once() -> None:
    embeddings, labels = samples()
    rows = torch.cat([torch.arange(39, -1, -1), torch.tensor([5, 5, 31])])
    nearly = embeddings[rows] * torch.where(torch.arange(43) < 40, 1.0, 1.001)[:, None]
    metric = filled(EmbeddingRetrieval(MEASURES, average="class"), nearly, labels[rows], rows)
    assert numbers(metric.compute()) == expected(average="class")
    report = dh.evaluate(embeddings, labels, measures="mAP")
    np.testing.assert_array_equal(metric.report()["mAP"].per_query.lower, report["mAP"].per_query.lower)  # their order


@pytest.mark.parametrize("wrong", ["embedding", "label"])
def test_ids_that_do_not_name_one_sample_are_refused(wrong: str) -> None:
    embeddings, labels = samples()
    metric = EmbeddingRetrieval()
    for _ in range(2):  # the place in the batch, as an id
        metric.update(embeddings, labels, torch.arange(40))
        embeddings, labels = (embeddings.roll(1, 0), labels) if wrong == "embedding" else (embeddings, labels.roll(1))
    with pytest.raises(ValueError, match=r"ids must name one sample each.* is it the place in a batch, or was reset"):
        metric.compute()


def test_queries_and_gallery_have_ids_of_their_own() -> None:
    embeddings, labels = samples()
    metric = EmbeddingRetrieval(MEASURES)
    filled(metric, embeddings[:12], labels[:12], torch.arange(12), role="query")
    filled(metric, embeddings[12:], labels[12:], torch.arange(28), role="gallery")
    assert numbers(metric.compute()) == expected(embeddings[:12], labels[:12], embeddings[12:], labels[12:])
    assert metric.report().n_query == 12


@pytest.mark.parametrize(
    ("updates", "why"),
    [
        ([], "there are no rows"),
        ([{"labels": [1, 2, 3]}], "no query has a relevant item"),
        ([{"labels": [1, 1, 1], "role": "query"}], "there are no rows of role 'gallery'"),
    ],
)
def test_undefined_values_are_nan_with_a_warning(updates: list[dict[str, Any]], why: str) -> None:
    metric = EmbeddingRetrieval("mAP")
    for update in updates:
        metric.update(torch.eye(3), **update)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = numbers(metric.compute())
    assert str(values) == "{'mAP': nan, 'mAP_lower': nan, 'mAP_upper': nan}"
    assert f"every measure is NaN: {why}" in str(caught[-1].message)
    with pytest.raises(dh.errors.UndefinedError, match=why):
        metric.report()


PAIR = torch.eye(2), [1, 2]


@pytest.mark.parametrize(
    ("batches", "line"),
    [
        ([([[0.0]], [1])], "embeddings must be a tensor, but is list"),
        ([(torch.zeros(3), [1])], r"embeddings must be two-dimensional \(n, dim\), but has shape \(3,\)"),
        ([(torch.eye(2).to_sparse(), [1, 1])], "embeddings must be a dense tensor of real numbers"),
        ([(torch.eye(2), torch.tensor([0.0, 1.0]))], "labels must be integers or strings, but has dtype torch.float32"),
        ([(torch.eye(2), [1, 2**70])], "labels must be integers from"),
        ([(torch.eye(2), torch.ones(2, 1, dtype=torch.long))], r"labels must have one entry per row .* shape \(2, 1\)"),
        ([(*PAIR, [0.5, 1.0])], "ids must be integers of at most 63 bits, but has dtype torch.float64"),
        ([(*PAIR, None, "queries")], "role must be one of query, gallery, but is 'queries'"),
        ([PAIR, (torch.eye(3), [1, 2, 3])], "embeddings must have the same dim throughout, but have 2"),
        ([PAIR, (torch.eye(2).int(), [1, 2])], "embeddings must be of one kind throughout"),
        ([PAIR, (torch.eye(2), ["a", "b"])], "labels must be all integers or all strings"),
        ([(*PAIR, [0, 1]), PAIR], "ids must be given in every update or in none"),
        ([(*PAIR, None, "query"), PAIR], "role must be given in every update or in"),
        ([PAIR, (torch.full((1, 2), torch.nan), [1])], "embeddings must be finite, but holds nan in"),
    ],
)
def test_wrong_batches_are_one_line(batches: list[tuple[Any, ...]], line: str) -> None:
    metric = EmbeddingRetrieval()
    for batch in batches[:-1]:
        metric.update(*batch)
    with pytest.raises(dh.errors.InputError, match=line):  # noqa: PT012
        metric.update(*batches[-1])
        metric.compute()
    assert len(metric.embeddings) == len(metric.labels)  # a batch is kept as a whole or not at all


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"measures": "mPA"}, "unknown measure 'mPA'"),
        ({"distance": "cosin"}, "distance must be one of"),
        ({"avarage": "class"}, "Unexpected keyword arguments: `avarage`"),
        ({"value": "lower"}, "value must be left out for several measures"),
        ({"measures": "mAP", "value": "mean"}, "value must be one of lower, expected, upper, but is 'mean'"),
        ({"measures": "mAP", "ties": dh.Tolerance(0.1), "value": "expected"},
         "value must be lower or upper under a tolerance"),
    ],
)  # fmt: skip
def test_options_are_checked_when_the_metric_is_made(options: dict[str, Any], line: str) -> None:
    with pytest.raises(ValueError, match=line):
        EmbeddingRetrieval(**options)


def test_plots() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    metric = filled(EmbeddingRetrieval(), *samples())
    _, ax = metric.plot()
    names = list(metric.measures)
    assert [label.get_text() for label in ax.get_yticklabels()] == names
    mine, values = pyplot.subplots()[1], metric.compute()
    assert metric.plot([values, values], mine) == (mine.figure, mine)
    assert len({(line.get_color(), line.get_marker()) for line in mine.get_lines()}) == len(names) == 7
    for name, line in zip(names, mine.get_lines(), strict=True):
        np.testing.assert_allclose(line.get_ydata(), [100 * values[name].item()] * 2)
    collection = torchmetrics.MetricCollection([metric])
    assert collection.plot(collection.compute(), together=True)


def test_padding_shows_at_the_ends_of_the_processes_rows() -> None:
    rng = np.random.default_rng(0)
    for n_rank, n in ((2, 19), (3, 10), (4, 9), (4, 2), (3, 1), (2, 18), (4, 8)):
        total = -(-n // n_rank) * n_rank
        dealt = np.resize(np.arange(n), total)
        rows = np.concatenate([dealt[rank::n_rank] for rank in range(n_rank)])
        embeddings, labels = rng.normal(size=(n, 3)), rng.integers(0, 2, n)
        noisy = embeddings[rows] * (1 + 1e-3 * rng.normal(size=(total, 3)))
        seen = KeptRows(noisy, labels[rows], None, np.repeat(np.arange(n_rank), total // n_rank))
        assert n_padded(seen) == total - n
        assert (
            n_padded(seen._replace(embeddings=np.arange(len(noisy), dtype=noisy.dtype)[:, None])) == 0
        )  # equal labels alone
        assert n_padded(seen.take(slice(1, None))) == 0  # not equally many
