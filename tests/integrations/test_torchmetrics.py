"""torchmetrics, one process: embeddings and labels in batches are evaluated as by `deadheat.evaluate`, bit for bit."""

from __future__ import annotations

import copy
import pickle
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path
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

ROOT = Path(__file__).parents[2]
MEASURES = "mAP, MAP@R, Hit@1, nDCG@5"


def samples(seed: int = 0, n: int = 40, values: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    """Points on a small grid, with many ties."""
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.integers(0, values, (n, 4)).astype(np.float32)), torch.from_numpy(rng.integers(0, 6, n))


def filled(metric: Any, embeddings: Any, labels: Any, *more: Any, size: int = 7, **options: Any) -> Any:
    for start in range(0, len(embeddings), size):
        rows = slice(start, start + size)
        metric.update(embeddings[rows], labels[rows], *(column[rows] for column in more), **options)
    return metric


def expected(report: dh.Report) -> dict[str, float]:
    found = {}
    for name in report:
        result = report[name]
        found |= {name: result.expected, f"{name}_lower": result.lower, f"{name}_upper": result.upper}
    return found


@pytest.mark.parametrize(
    "options",
    [
        {"distance": "euclidean", "average": "class"},
        {"distance": "cityblock", "singletons": "zero"},
        {"ties": "float16", "threads": 1},
    ],
)
def test_batches_are_evaluated_as_a_whole(options: dict[str, Any]) -> None:
    embeddings, labels = samples()
    metric = filled(EmbeddingRetrieval(MEASURES, **options), embeddings, labels)
    report = dh.evaluate(embeddings.numpy(), labels.numpy(), measures=MEASURES, **options)
    assert numbers(metric.compute()) == expected(report)
    assert [*metric.compute()][:3] == ["mAP", "mAP_lower", "mAP_upper"]
    assert str(metric.report()) == str(report)
    assert metric.compute()["mAP"].dtype == torch.float64


def test_a_tolerance_has_bounds_and_no_expected_value() -> None:
    metric = filled(EmbeddingRetrieval("mAP", ties=dh.Tolerance(0.01)), *samples())
    values = numbers(metric.compute())
    report = dh.evaluate(*samples(), measures="mAP", ties=dh.Tolerance(0.01))
    assert np.isnan(values["mAP"])
    assert (values["mAP_lower"], values["mAP_upper"]) == (report["mAP"].lower, report["mAP"].upper)


KINDS: dict[str, Any] = {
    "above 2^53": lambda rows, labels: (rows, labels + 2**60),
    "int16": lambda rows, labels: (rows, labels.to(torch.int16)),
    "list": lambda rows, labels: (rows, labels.tolist()),
    "uint8 array": lambda rows, labels: (rows, labels.numpy().astype(np.uint8)),
    "strings": lambda rows, labels: (rows, [f"Ä{'ö' * label}" for label in labels.tolist()]),
    "string array": lambda rows, labels: (rows, np.array([f"word {label}" for label in labels.tolist()])),
    "bytes": lambda rows, labels: (rows, np.array([b"%d" % label for label in labels.tolist()])),
} | {
    f"rows of {kind}": lambda rows, labels, kind=kind: (rows.to(getattr(torch, kind)), labels)
    for kind in ("bfloat16", "float16", "float64", "int16", "uint8", "bool")
}


@pytest.mark.parametrize("kind", KINDS)
def test_embeddings_and_labels_of_any_type(kind: str) -> None:
    embeddings, labels = samples(values=2)
    metric = filled(EmbeddingRetrieval(MEASURES), *KINDS[kind](embeddings, labels))
    assert numbers(metric.compute()) == expected(dh.evaluate(embeddings, labels, measures=MEASURES))


def test_what_is_kept_has_no_graph_and_is_alone_in_its_memory() -> None:
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
    assert numbers(metric.compute()) == expected(dh.evaluate(*samples(), measures=MEASURES))
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
    assert numbers(metric.compute()) == expected(dh.evaluate(embeddings, labels, measures=MEASURES))


def test_copies_pickles_and_states() -> None:
    metric = filled(EmbeddingRetrieval(MEASURES, ties=dh.Tolerance(0.001)), *samples())
    values = numbers(metric.compute())
    for other in (metric.clone(), copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert str(numbers(other.compute())) == str(values)
        other.reset()
        assert metric.embeddings
        assert not other.embeddings
    assert metric.state_dict() == {}
    metric.persistent(True)
    fresh = EmbeddingRetrieval(MEASURES, ties=dh.Tolerance(0.001))
    fresh.persistent(True)
    fresh.load_state_dict(metric.state_dict())
    with warnings.catch_warnings(action="ignore"):  # torchmetrics does not count what was loaded as an update
        assert str(numbers(fresh.compute())) == str(values)
    left, right = (EmbeddingRetrieval(MEASURES) for _ in range(2))
    embeddings, labels = samples()
    left.update(embeddings[:9], labels[:9])
    right.update(embeddings[9:], labels[9:])
    left.merge_state(right)
    assert numbers(left.compute()) == expected(dh.evaluate(embeddings, labels, measures=MEASURES))


def test_a_collection_shares_what_its_metrics_keep() -> None:
    embeddings, labels = samples()
    metrics = {"cos": EmbeddingRetrieval("mAP"), "l2": EmbeddingRetrieval("mAP", distance="euclidean")}
    collection = filled(torchmetrics.MetricCollection(metrics, prefix="val/", postfix="/x"), embeddings, labels)
    assert len(collection.compute_groups) == 1
    values = numbers(collection.compute())
    for name, distance in (("cos", "cosine"), ("l2", "euclidean")):
        report = dh.evaluate(embeddings, labels, measures="mAP", distance=distance)
        assert values[f"val/{name}_mAP_lower/x"] == report["mAP"].lower
    single = filled(torchmetrics.MetricCollection([EmbeddingRetrieval("mAP")], prefix="val/"), embeddings, labels)
    assert [*single.compute()] == ["val/mAP", "val/mAP_lower", "val/mAP_upper"]
    assert set(numbers(collection(embeddings, labels=labels))) == set(values)


def test_rows_with_one_id_count_once() -> None:
    embeddings, labels = samples()
    rows = torch.cat([torch.arange(39, -1, -1), torch.tensor([5, 5, 31])])
    nearly = embeddings[rows] * torch.where(torch.arange(43) < 40, 1.0, 1.001)[:, None]
    metric = filled(EmbeddingRetrieval(MEASURES, average="class"), nearly, labels[rows], rows)
    report = dh.evaluate(embeddings, labels, measures=MEASURES, average="class")
    assert numbers(metric.compute()) == expected(report)
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


def test_queries_and_gallery() -> None:
    embeddings, labels = samples()
    metric = EmbeddingRetrieval(MEASURES)
    filled(metric, embeddings[:12], labels[:12], torch.arange(12), role="query")
    filled(metric, embeddings[12:], labels[12:], torch.arange(28), role="gallery")  # ids of another dataset
    report = dh.evaluate(embeddings[:12], labels[:12], embeddings[12:], labels[12:], measures=MEASURES)
    assert numbers(metric.compute()) == expected(report)
    assert metric.report().separate_gallery == report.separate_gallery


@pytest.mark.parametrize(
    ("updates", "why"),
    [
        ([], "there are no rows"),
        ([{"labels": [1, 2, 3]}], "no query has a relevant item"),
        ([{"labels": [1, 1, 1], "role": "query"}], "there are no rows of role 'gallery'"),
    ],
)
def test_what_is_undefined_is_nan_and_said(updates: list[dict[str, Any]], why: str) -> None:
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


def test_queries_that_are_all_singletons_count_as_asked_for() -> None:
    metric = EmbeddingRetrieval("mAP", singletons="zero")
    metric.update(torch.eye(3), labels=[1, 2, 3])
    assert numbers(metric.compute()) == {"mAP": 0.0, "mAP_lower": 0.0, "mAP_upper": 0.0}


PAIR = torch.eye(2), [1, 2]


@pytest.mark.parametrize(
    ("batch", "line"),
    [
        (([[0.0]], [1]), "embeddings must be a tensor, but is list"),
        ((torch.zeros(3), [1]), r"embeddings must be two-dimensional \(n, dim\), but has shape \(3,\)"),
        ((torch.zeros(2, 2, dtype=torch.complex64), [1, 1]), "embeddings must be a dense tensor of real numbers"),
        ((torch.eye(2).to_sparse(), [1, 1]), "embeddings must be a dense tensor of real numbers"),
        ((torch.eye(2), torch.tensor([0.0, 1.0])), "labels must be integers or strings, but has dtype torch.float32"),
        ((torch.eye(2), [1, "a"]), "labels must be all integers or all strings, but holds a mixture of both"),
        ((torch.eye(2), [1, 2**70]), "labels must be integers from"),
        ((torch.eye(2), [1, 2, 3]), "labels must have one entry per row of embeddings, but got 3 labels for 2 rows"),
        ((torch.eye(2), torch.ones(2, 1, dtype=torch.long)), r"labels must have one entry per row .* shape \(2, 1\)"),
        ((*PAIR, torch.ones(1, dtype=torch.long)), r"ids must have one entry per row .* shape \(1,\)"),
        ((*PAIR, [0.5, 1.0]), "ids must be integers of at most 63 bits, but has dtype torch.float64"),
        ((*PAIR, None, "queries"), "role must be one of query, gallery, but is 'queries'"),
    ],
)
def test_what_is_wrong_with_a_batch_is_one_line(batch: tuple[Any, ...], line: str) -> None:
    metric = EmbeddingRetrieval()
    with pytest.raises(dh.errors.InputError, match=line):
        metric.update(*batch)
    assert not metric.embeddings
    assert not metric.labels


@pytest.mark.parametrize(
    ("first", "second", "line"),
    [
        (PAIR, (torch.eye(3), [1, 2, 3]), "embeddings must have the same dim throughout, but have 2"),
        (PAIR, (torch.eye(2).int(), [1, 2]), "embeddings must be of one kind throughout"),
        (PAIR, (torch.eye(2), ["a", "b"]), "labels must be all integers or all strings"),
        ((*PAIR, [0, 1]), PAIR, "ids must be given in every update or in none"),
        ((*PAIR, None, "query"), PAIR, "role must be given in every update or in"),
        (PAIR, (torch.full((1, 2), torch.nan), [1]), "embeddings must be finite, but holds nan in"),
    ],
)
def test_what_does_not_fit_together_is_one_line(first: tuple[Any, ...], second: tuple[Any, ...], line: str) -> None:
    metric = EmbeddingRetrieval()
    metric.update(*first)
    with pytest.raises((ValueError, TypeError), match=line):  # noqa: PT012
        metric.update(*second)
        metric.compute()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"measures": "mPA"}, "unknown measure 'mPA'"),
        ({"distance": "cosin"}, "distance must be one of"),
        ({"ties": "float8"}, "ties must be"),
        ({"singletons": "skipped"}, "singletons must be one of"),
        ({"threads": 0}, "threads must be at least 1"),
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
    assert [label.get_text() for label in ax.get_yticklabels()] == list(dh.measures.DEFAULT_MEASURES)
    mine = pyplot.subplots()[1]
    values = metric.compute()
    assert metric.plot([values, values], mine) == (mine.figure, mine)
    assert len({(line.get_color(), line.get_marker()) for line in mine.get_lines()}) == 7
    for name, line in zip(dh.measures.DEFAULT_MEASURES, mine.get_lines(), strict=True):
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
        assert n_padded(seen.take(slice(1, None))) == 0  # not equally many


def test_without_torchmetrics_one_line_says_what_to_install() -> None:
    program = "import sys; sys.modules['torchmetrics'] = None; import deadheat.integrations.torchmetrics"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith(
        "deadheat.integrations.torchmetrics needs torchmetrics: pip install 'deadheat[torchmetrics]'"
    )


def test_example(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    runpy.run_path(str(ROOT / "examples" / "torchmetrics_digits.py"), run_name="__main__")
    printed = capsys.readouterr().out
    values = [float(value) for value in re.findall(r"epoch \d: (\S+)% MAP@R", printed)]
    assert values == sorted(values)
    assert len(values) == 3
    lower, upper = re.search(r"^Hit@1 +(\S+) +\S+ +(\S+)$", printed, flags=re.MULTILINE).groups()
    assert float(lower) + 10 < float(upper) <= 100


def test_rows_on_a_card_are_counted_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which card is asked for; that there is none here leaves it to the core."""
    opened: list[Any] = []
    monkeypatch.setattr("deadheat.inputs.conversion.card_of", lambda rows: "cuda:3")
    monkeypatch.setattr("deadheat.engine.counting.card.device.open_card", opened.append)
    for device in (None, "cpu"):
        metric = EmbeddingRetrieval("mAP", device=device)
        metric.update(torch.eye(3), torch.tensor([1, 1, 2]))
        assert metric.compute()["mAP"] == 0.75
        assert opened[-1] == (device or "cuda:3")
