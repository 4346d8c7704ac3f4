"""torchmetrics' retrieval metrics: equal where scores have no ties, inside the bounds where they have."""

from __future__ import annotations

import doctest
import math
import pickle
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from integrations.needs import require, widest

require("torchmetrics")

import torch
import torchmetrics
from torchmetrics import retrieval

import deadheat as dh
from deadheat.integrations.torchmetrics import ScoredRetrieval
from deadheat.measures import interpolated
from deadheat.reports.result import ENDS

THEIRS = {
    "mAP": retrieval.RetrievalMAP,
    "MRR": retrieval.RetrievalMRR,
    "MRR@3": partial(retrieval.RetrievalMRR, top_k=3),
    "nDCG": retrieval.RetrievalNormalizedDCG,
    "nDCG@4": partial(retrieval.RetrievalNormalizedDCG, top_k=4),
    "P@3": partial(retrieval.RetrievalPrecision, top_k=3),
    "Recall@3": partial(retrieval.RetrievalRecall, top_k=3),
    "Hit@2": partial(retrieval.RetrievalHitRate, top_k=2),
    "R-Precision": retrieval.RetrievalRPrecision,
}
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "torchmetrics-scores.md"
EXPECTED = ("nDCG", "nDCG@4")  # where torchmetrics gives the mean over ties, as AUC does
Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def cases(seed: int, *, ties: bool, most_grade: int = 1) -> Batch:
    """Positive scores of some queries of different sizes, some without anything relevant."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 80))
    scores = rng.integers(1, 5, n) / 4 if ties else rng.permutation(n) + 1.0
    target = rng.integers(0, most_grade + 1, n) * (rng.random(n) < 0.7)
    indexes = rng.integers(0, 9, n) * 100
    return torch.tensor(scores, dtype=torch.float32), torch.tensor(target), torch.tensor(indexes)


def in_batches(metric: Any, batch: Batch, size: int = 17) -> Any:
    for start in range(0, len(batch[0]), size):
        metric.update(*(column[start : start + size] for column in batch))
    return metric


def values_of(metric: Any) -> dict[str, float]:
    return {name: value.item() for name, value in metric.compute().items()}


def theirs_of(batch: Batch, **options: Any) -> dict[str, float]:
    return {name: in_batches(make(**options), batch).compute().item() for name, make in THEIRS.items()}


@pytest.mark.parametrize("options", [
    {"empty_target_action": "neg"}, {"empty_target_action": "pos"}, {"empty_target_action": "skip"},
    {"aggregation": "median"}, {"aggregation": "max"}, {"aggregation": lambda values, dim: values.square().mean()},
    {"ignore_index": -100},
])  # fmt: skip
def test_without_ties_values_are_theirs(options: dict[str, Any]) -> None:
    for seed in range(3):
        preds, target, indexes = cases(seed, ties=False)
        target[::4] = options.get("ignore_index", 1)
        batch = preds, target, indexes
        values = values_of(in_batches(ScoredRetrieval([*THEIRS], **options), batch))
        assert widest(values, theirs_of(batch, **options), 1e-6) == 0
        tied = values_of(in_batches(ScoredRetrieval("mAP", **options), cases(seed, ties=True)))
        assert tied["mAP_lower"] <= tied["mAP"] <= tied["mAP_upper"]


@pytest.mark.parametrize("most_grade", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_with_ties_theirs_are_within_the_bounds(seed: int, most_grade: int) -> None:
    batch = cases(seed, ties=True, most_grade=most_grade)
    values = values_of(in_batches(ScoredRetrieval("nDCG, nDCG@4, mAP" if most_grade > 1 else [*THEIRS]), batch))
    for name in EXPECTED:
        assert values[name] == pytest.approx(in_batches(THEIRS[name](), batch).compute().item(), abs=1e-6)
    if most_grade == 1:
        assert widest(values, theirs_of(batch), 1e-6) > 0.1
    binary = values_of(in_batches(ScoredRetrieval("mAP"), (batch[0], batch[1] > 0, batch[2])))
    assert {name: values[name] for name in binary} == binary


def test_metrics_of_a_collection_share_their_rows_and_ignore_each_its_own() -> None:
    metrics = {"all": ScoredRetrieval("mAP"), "some": ScoredRetrieval("mAP", ignore_index=0)}
    both = torchmetrics.MetricCollection(metrics)
    both.update(*cases(0, ties=True))
    assert both.compute()["all_mAP"] != both.compute()["some_mAP"]


NO_COUNTERPART = {"RetrievalFallOut", "RetrievalPrecisionRecallCurve", "RetrievalRecallAtFixedPrecision"}


@pytest.mark.parametrize("name", sorted({*retrieval.__all__} - NO_COUNTERPART))
def test_their_own_examples_with_the_class_exchanged(name: str) -> None:
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(getattr(retrieval, name).__doc__):
        if example.want:
            value = eval(example.source, names).item()
            assert f"tensor({value:.4f})" == example.want.strip()
        else:
            exec(example.source, names)
            names[name] = partial(ScoredRetrieval, name, value="expected")


@pytest.mark.parametrize("top_k", [None, 1, 2, 4, 30])
@pytest.mark.parametrize("name", sorted({*retrieval.__all__} - NO_COUNTERPART))
def test_their_names_mean_their_values(name: str, top_k: int | None) -> None:
    """Scores without ties from 0 to 1, of queries that each have an irrelevant document; other names are refused."""
    preds, target, indexes = cases(2, ties=False)
    preds /= 100
    target[torch.tensor([(indexes == query).nonzero()[0] for query in indexes.unique()])] = 0
    options = {} if top_k is None else {"top_k": top_k}
    if top_k is not None and name in ("RetrievalAUROC", "RetrievalRPrecision"):
        with pytest.raises(ValueError, match=f"takes no cutoff, but got '{name}@{top_k}'"):
            ScoredRetrieval(name, **options)
        return
    batch = preds, target, indexes
    theirs = in_batches(getattr(retrieval, name)(**options), batch).compute().item()
    ours = in_batches(ScoredRetrieval(name, value="expected", **options), batch).compute().item()
    assert ours == pytest.approx(theirs, abs=1e-6)
    if top_k is not None:
        assert ScoredRetrieval(f"{name}@{top_k}").measures == ScoredRetrieval(name, top_k=top_k).measures


@pytest.mark.parametrize("kind", ["Precision", "Recall", "HitRate"])
@pytest.mark.parametrize("action", ["neg", "pos", "skip"])
def test_without_top_k_all_items_count_as_in_theirs(kind: str, action: str) -> None:
    batch = cases(7, ties=True)
    theirs = in_batches(getattr(retrieval, f"Retrieval{kind}")(empty_target_action=action), batch).compute().item()
    for names in (f"Retrieval{kind}", [f"retrieval_{'hit_rate' if kind == 'HitRate' else kind.lower()}"]):
        ours = values_of(in_batches(ScoredRetrieval(names, empty_target_action=action), batch))
        assert {*ours} == {f"Set{kind[0] if kind != 'HitRate' else 'R'}{end}" for end in ("", "_lower", "_upper")}
        assert [*ours.values()] == pytest.approx([theirs] * 3, abs=1e-6)
    assert ScoredRetrieval(f"AP, Retrieval{kind}@3, Retrieval{kind}").measures[1].endswith("@3")


def test_top_k_is_the_cutoff_of_every_measure() -> None:
    assert ScoredRetrieval("AP, hit rate, nDCG(dcg='exp-log2')", top_k=7).measures == (
        "mAP@7", "Hit@7", "nDCG(dcg='exp-log2')@7"
    )  # fmt: skip
    batch = cases(0, ties=True)
    assert values_of(in_batches(ScoredRetrieval("P, R", top_k=2), batch)) == values_of(
        in_batches(ScoredRetrieval("P@2, Recall@2"), batch)
    )
    with pytest.raises(ValueError, match="top_k must be left out where a name has a cutoff, but is 3 with 'P@5'"):
        ScoredRetrieval("P@5, R", top_k=3)  # and the other messages of `parse_all`


def table() -> dict[str, tuple[str, str]]:
    """The differences that the page lists: of each, what torchmetrics does, and what we do."""
    lines = PAGE.read_text(encoding="utf-8").partition("|---|---|---|\n")[2].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[: lines.index("")]]
    return {what: (theirs, ours) for what, theirs, ours in rows}


def both(name: str, measure: str, columns: tuple[Any, ...], **options: Any) -> tuple[float, float]:
    """The value of one of their metrics, and ours; they count rows of (preds, target), of one query."""
    preds, target = (torch.as_tensor(column) for column in columns)
    batch = preds, target, torch.zeros(len(preds), dtype=torch.long)
    with warnings.catch_warnings(action="ignore"):
        theirs = in_batches(getattr(retrieval, name)(**options), batch).compute().item()
        return theirs, in_batches(ScoredRetrieval(measure, value="expected", **options), batch).compute().item()


POOR = [3.0, 2.0, 1.0], [1, 0, 1]  # one of two relevant items is among the first two


def test_the_table_of_the_page_says_what_is_computed() -> None:
    said = table()
    kinds = {"MAP": "mAP", "MRR": "MRR", "Precision": "P", "Recall": "Recall", "NormalizedDCG": "nDCG"}
    kinds["HitRate"] = "Hit"
    zeroed = [
        kind for kind, measure in kinds.items()
        if both(f"Retrieval{kind}", measure, ([0.0, -1.0, -2.0], [1, 1, 0]), top_k=2)[0] == 0
    ]  # fmt: skip
    assert zeroed == ["MAP", "MRR", "Precision", "Recall"]
    words = "irrelevant to " + ", ".join(f"`{'Retrieval' * (kind == 'MAP')}{kind}`" for kind in zeroed)
    assert said.pop("relevant items with a score of 0 or less") == (words, "relevant")

    result = *both("RetrievalMAP", "RetrievalMAP", POOR, top_k=1), both("RetrievalMAP", "mAP", POOR, top_k=1)[1]
    assert result == (1, 1, 0.5)
    theirs, ours = (
        "divided by the relevant items found",
        "the same as `RetrievalMAP`; `mAP` is divided by all relevant items",
    )
    assert said.pop("mAP@k") == (theirs, ours)

    close = torch.tensor([0.5, 0.5 + 1e-9], dtype=torch.float64)
    theirs, ours = both("RetrievalNormalizedDCG", "nDCG", (close, [1, 0]))
    assert (theirs > 0.8, ours < 0.7) == (True, True)  # a tie; the second place
    assert said.pop("scores") == ("compared as float32", "compared unchanged")

    with pytest.raises(ValueError, match="`preds` must be finite"):
        both("RetrievalMAP", "mAP", ([-torch.inf, 1.0], [1, 0]))
    assert retrieval.RetrievalNormalizedDCG()(torch.tensor([-torch.inf, 1.0]), torch.tensor([1, 0]), LONG[:2]) < 0.7
    assert said.pop("scores of −∞, ∞ or NaN") == ("ranked", "an error, unless `ignore_index` leaves the item out")

    for action in ("neg", "pos"):
        theirs, ours = both("RetrievalMAP", "mAP", ([2.0, 1.0], [0, 0]), empty_target_action=action)
        assert theirs == ours
    assert said.pop("a query without a relevant item") == ("`empty_target_action`", "the same")

    theirs, ours = both("RetrievalMAP", "mAP", ([2.0, 1.0], [0, 0]), empty_target_action="skip")
    assert said.pop("all queries skipped") == (f"{theirs:g}", f"{str(ours).replace('nan', 'NaN')}, with a warning")

    result = both("RetrievalAUROC", "AUC", ([40.0, 50.0], [0, 1]))
    assert result == (0.5, 1)  # a tie; the first place
    saturated = "compared after a sigmoid in float32, which makes large scores tie"
    assert said.pop("scores outside [0, 1], AUC") == (saturated, "compared unchanged")

    theirs, ours = both("RetrievalAUROC", "AUC", ([2.0, 1.0], [1, 1]))
    assert said.pop("a query without an irrelevant item, AUC") == (f"{theirs:g}", "excluded")
    assert np.isnan(ours)

    odd = [3.0, 2.0], [-2.0, 1.0]
    assert in_batches(retrieval.RetrievalNormalizedDCG(), (*map(torch.tensor, odd), LONG[:2])).compute() > 1
    with pytest.raises(ValueError, match=r"`target` must contain `binary` values, or for nDCG gains of 0, or from"):
        both("RetrievalNormalizedDCG", "nDCG", odd)
    assert said.pop("gains of nDCG below 0") == ("accepted; values can be above 1", "an error")
    theirs, ours = both("RetrievalNormalizedDCG", "nDCG", ([3.0, 2.0, 1.0], [0.5, 0.0, 1.25]))
    assert ours == pytest.approx(theirs, rel=1e-6)
    assert list(said) == ["a process without items"]  # the rest is in `test_torchmetrics_ranks.py`


def test_real_gains_in_batches() -> None:
    """As those of a matrix; integers as floats, bool and integers are the same grades."""
    preds, target = torch.tensor([3.0, 1.0, 1.0, 2.0, 2.0, 1.0]), torch.tensor([0.0, 0.25, 1.5, 0.75, 0.0, 2.0])
    indexes = torch.tensor([0, 0, 0, 1, 1, 1])
    values = values_of(in_batches(ScoredRetrieval("nDCG, ERR@2, mAP"), (preds, target, indexes), size=2))
    report = dh.evaluate(dh.from_scores(preds.reshape(2, 3), target.reshape(2, 3)), "nDCG, ERR@2, mAP")
    assert values == {name + end: getattr(report[name], which) for name in report for end, which in ENDS.items()}
    grades = [in_batches(ScoredRetrieval("nDCG"), (preds, target.ceil().to(kind), indexes)) for kind in (float, int)]
    assert len({each.report().profile.digest() for each in grades}) == 1


def test_shapes_and_forward_are_theirs() -> None:
    rng = np.random.default_rng(0)
    preds = torch.tensor(rng.permutation(24) + 1.0).reshape(4, 6)
    target, indexes = torch.tensor(rng.random((4, 6)) < 0.4), torch.arange(4)[:, None].expand(4, 6)
    ours, theirs = ScoredRetrieval("mAP"), retrieval.RetrievalMAP()
    for rows in (slice(0, 3), slice(3, 4)):
        step = theirs(preds[rows], target[rows], indexes=indexes[rows])
        assert ours(preds[rows], target[rows], indexes=indexes[rows])["mAP"].item() == pytest.approx(step.item())
    assert ours.compute()["mAP"].item() == pytest.approx(theirs.compute().item())
    assert values_of(pickle.loads(pickle.dumps(ours))) == values_of(ours)
    assert ours.report().profile.query_ids == ("0", "1", "2", "3")


def test_nothing_relevant() -> None:
    batch = torch.tensor([1.0, 2.0]), torch.tensor([0, 0]), torch.tensor([0, 1])
    for action, value in (("neg", 0), ("pos", 1)):
        assert set(values_of(in_batches(ScoredRetrieval(empty_target_action=action), batch)).values()) == {value}
    with pytest.raises(ValueError, match="`compute` method was provided with a query with no positive target"):
        in_batches(ScoredRetrieval(empty_target_action="error"), batch).compute()
    skipping = in_batches(ScoredRetrieval("mAP", empty_target_action="skip"), batch)
    with pytest.warns(UserWarning, match="every measure is NaN: there is no query with a relevant item"):
        assert np.isnan(values_of(skipping)["mAP"])
    with warnings.catch_warnings(action="ignore"):
        assert np.isnan(values_of(ScoredRetrieval("mAP"))["mAP"])
    with pytest.raises(dh.errors.UndefinedError, match="there are no rows"):
        ScoredRetrieval("mAP").report()


ALL = "`indexes`, `preds` and `target`"
LONG, ONES = torch.zeros(3, dtype=torch.long), torch.ones(3)


@pytest.mark.parametrize(
    ("arguments", "theirs", "more"),
    [
        ((ONES, LONG[:2], LONG), f"{ALL} must be of the same shape", r", but have shapes \(3,\)"),
        ((ONES[:0], LONG[:0], LONG[:0]), f"{ALL} must be non-empty and non-scalar tensors", ""),
        ((ONES, LONG, LONG.int()), "`indexes` must be a tensor of long integers", ", but has dtype torch.int32"),
        ((LONG, LONG, LONG), "`preds` must be a tensor of floats", ", but has dtype torch.int64"),
        ((ONES, LONG + 2, LONG), "`target` must contain `binary` values", ".* but holds 2"),
        ((ONES, LONG - 1, LONG), "`target` must contain `binary` values", ".* but holds -1"),
        ((ONES, LONG.cfloat(), LONG), "`target` must be a tensor of booleans, integers or floats", ""),
    ],
)
def test_lines_begin_as_theirs(arguments: Batch, theirs: str, more: str) -> None:
    with pytest.raises(ValueError, match=theirs):
        retrieval.RetrievalMAP().update(*arguments)
    with pytest.raises(ValueError, match=theirs + more):
        ScoredRetrieval("mAP").update(*arguments)


@pytest.mark.parametrize("option", ["empty_target_action", "ignore_index", "aggregation"])
def test_lines_about_options_begin_as_theirs(option: str) -> None:
    for metric in (retrieval.RetrievalMAP, ScoredRetrieval):
        with pytest.raises(ValueError, match=f"Argument `{option}` (received a wrong value `casual`|must be )"):
            metric(**{option: "casual"})


def test_targets_and_scores_that_are_refused() -> None:
    with pytest.raises(ValueError, match=r"`target` must contain `binary` values, .*, but holds 0\.5"):
        ScoredRetrieval("mAP").update(ONES, ONES / 2, LONG)
    with pytest.raises(ValueError, match="`preds` must be finite, but holds nan; to leave an item out, use ignore_ind"):
        ScoredRetrieval("nDCG").update(ONES * torch.nan, ONES, LONG)
    with pytest.raises(ValueError, match=r'^value must be "lower" or "upper" under a tolerance, which has no expectat'):
        ScoredRetrieval("MRR", ties=dh.Tolerance(0.01), value="expected")


def test_an_aggregate_needs_the_values_of_all_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interpolated precision gives up on large ties; an aggregate of the other queries would be misread."""
    interpolated.moments.cache_clear()
    monkeypatch.setattr(interpolated, "_MOST_STEPS", 0)
    metric = ScoredRetrieval("11pt_avg", aggregation="max", value="expected")
    metric.update(torch.tensor([1.0, 1, 2, 1]), torch.tensor([1, 0, 1, 0]), torch.tensor([0, 0, 1, 1]))
    assert math.isnan(metric.compute())
    interpolated.moments.cache_clear()
