"""A new distance is one class and one row: a toy is all that profiles, ties, rankings, analyses and devices ask for."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat._core import ScoreErrors
from deadheat.engine.counting.card.device import Card
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.ranking import Rankings
from deadheat.engine.distances import registry
from deadheat.engine.distances.columns import Columns
from deadheat.engine.distances.distance import Distance, Level, Target
from deadheat.engine.distances.scaling import ScaledRows
from deadheat.engine.exact import Roots
from deadheat.inputs.source import digest_of_rows


class Intersection(Distance):
    """Σ min(q, x), for small whole numbers that are not negative."""

    name = "intersection"
    takes = "numbers"
    form = "overlap"
    targets = {"similarity": Target(1, 0)}  # noqa: RUF012
    levels = (Level(np.float32, exact=True),)

    def __init__(self, query: Any, gallery: Any) -> None:
        self._given = query, gallery
        self.n_query, self.dim = query.shape
        self.columns = Columns.of(gallery)
        self.queries, self.items = (ScaledRows.over(rows, np.ones(1)) for rows in (query, gallery))

    def fingerprint(self, of_query):
        return digest_of_rows(self._given[0 if of_query else 1])

    def errors(self, level):
        return ScoreErrors()

    def exact_closeness(self, queries, columns):
        return Roots.of_values(self.scores.pair_scores(queries, columns))


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy, among the distances that there are."""
    monkeypatch.setitem(registry.DISTANCES, "intersection", Intersection)


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points on a small grid, their labels, and their similarities."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 5, (40, 3))
    return rows, rng.integers(0, 6, 40), np.minimum(rows[:, None], rows).sum(axis=2)


# What asks the row ----------------------------------------------------------------------------------------------------


def off_diagonal(matrix: np.ndarray) -> np.ndarray:
    """A square matrix without the query itself, row by row."""
    return matrix[~np.eye(len(matrix), dtype=bool)].reshape(len(matrix), -1)


@pytest.mark.parametrize(
    "on_card", [False, pytest.param(True, marks=pytest.mark.skipif(not find_spec("torch"), reason="no PyTorch"))]
)
def test_profiles_and_measures(row, data, on_card):
    torch: Any = import_module("torch") if on_card else None
    device = Card(torch, torch.device("cpu")) if on_card else None
    rows, labels, similar = data
    relevant = off_diagonal(labels[:, None] == labels)
    profile = dh.Task(rows, labels, distance="intersection", device=device).profile
    assert profile == dh.from_scores(off_diagonal(similar), relevant).profile
    report = dh.evaluate(rows[:15], labels[:15], rows, labels, distance="intersection", measures=["mAP"], device=device)
    given = dh.evaluate(dh.from_scores(similar[:15], labels[:15, None] == labels).profile, ["mAP"])
    assert report["mAP"].lower == given["mAP"].lower < report["mAP"].upper == given["mAP"].upper


def test_meanings_of_tied(row, data):
    rows, labels, _ = data
    exact, float16 = (
        dh.Task(rows, labels, distance="intersection", ties=ties).profile for ties in ("exact", "float16")
    )
    assert exact == float16  # small integers stay what they are
    wide = rows + 4096 * (rows > 2)  # 4095, 4096 and 4097 are one number in bfloat16
    exact, short = (dh.Task(wide, labels, distance="intersection", ties=ties).profile for ties in ("exact", "bfloat16"))
    assert exact != short
    report = dh.evaluate(rows, labels, distance="intersection", ties="float16", measures=["mAP"])
    assert report.to_dict()["ties"]["rule"] == "float16 similarity"
    exactly = dh.evaluate(rows, labels, distance="intersection", measures=["mAP"])["mAP"]
    for eps, wider in ((0.5, False), (1.0, True)):
        loosely = dh.evaluate(rows, labels, distance="intersection", ties=dh.Tolerance(eps), measures=["mAP"])["mAP"]
        assert (loosely.lower < exactly.lower) == (exactly.upper < loosely.upper) == wider
    with pytest.raises(ValueError, match=r"^of must be 'similarity' for distance 'intersection', but is 'distance'$"):
        dh.Task(rows, labels, distance="intersection", ties=dh.Rounded("float16", of="distance"))


def test_rankings_and_analyses(row, data):
    rows, labels, similar = data
    rankings = Rankings(rows, rows, CountingOptions.checked(distance="intersection"))
    for block in rankings:
        ranked = np.take_along_axis(similar[block.queries], block.items, axis=1)
        assert_array_equal(np.diff(ranked) < 0, np.diff(block.group) > 0)
        assert_array_equal(rankings.closeness(block), [ranked, ranked])
    task = dh.Task(rows, labels, distance="intersection")
    assert dh.collisions(task).size.max() > 1
    result = dh.compare_formats(task, formats=["float32"], measures="mAP")
    assert result["float32"]


def test_names_by_what_they_take(row):
    numbers = ("cosine", "euclidean", "inner_product", "cityblock", "correlation", "intersection")
    assert registry.names(takes="numbers") == numbers
    assert registry.names(takes="bits") == ("hamming", "jaccard", "dice")
    assert registry.find("intersection") is Intersection


# What is missing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["errors", "__init__"])
def test_a_method_that_is_missing_is_named(part, data, monkeypatch):
    kept = {name: value for name, value in vars(Intersection).items() if name != part}
    monkeypatch.setitem(registry.DISTANCES, "intersection", type("Intersection", (Distance,), kept))
    with pytest.raises(TypeError, match=part):
        dh.evaluate(*data[:2], distance="intersection")


@pytest.mark.parametrize("name", ["intersection", "l3"])
def test_an_unknown_distance(name):
    with pytest.raises(ValueError, match=rf"^distance must be one of cosine, euclidean, .*, but is '{name}'"):
        dh.Task([[0], [1]], [0, 0], distance=name)


@pytest.mark.parametrize(
    ("alias", "name"),
    [("l2", "euclidean"), ("L1", "cityblock"), ("manhattan", "cityblock"), ("dot", "inner_product"),
     ("IP", "inner_product")],
)  # fmt: skip
def test_distances_have_other_names(alias: str, name: str) -> None:
    rows, labels = [[0, 1], [1, 2], [3, 1], [2, 5]], [0, 0, 1, 1]
    report = dh.evaluate(rows, labels, distance=alias)
    assert (report.distance, report.profile) == (name, dh.evaluate(rows, labels, distance=name).profile)
    assert dh.exploit(dh.Task(rows, labels, distance=alias)).distance == name
    assert dh.collisions(dh.Task(rows, labels), distances=[alias, name])[alias.lower()].n_query == 4
    assert dh.random_baseline([0, 0, 1, 1], dim=2, distance=alias, draws=1)
