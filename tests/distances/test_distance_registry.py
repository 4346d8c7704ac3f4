"""A new distance is one class and one row: a toy is all that profiles, ties, rankings, analyses and devices ask for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import deadheat as dh
from deadheat import distances
from deadheat.counting.ranking import Rankings
from deadheat.distances import Columns, Level, Target, registry
from deadheat.distances.dense import Dense
from deadheat.distances.inner_product import InnerProduct
from deadheat.distances.product import Product
from deadheat.distances.scaling import Rows
from deadheat.exact import Roots


class Chebyshev(Dense):
    """max |q − x|, for small integers."""

    name = "chebyshev"
    targets = {"distance": Target(-1, 0)}  # noqa: RUF012
    multiplies = False
    levels = (Level(np.float32, exact=True),)

    def __init__(self, query: Any, gallery: Any) -> None:
        super().__init__(query, gallery)
        self.columns = Columns.of(gallery)
        self.queries, self.items = (Rows.over(rows, np.ones(1)) for rows in (query, gallery))

    def product(self, level, queries, columns, space=None):
        return -np.abs(queries[:, None] - columns).max(axis=2)

    def device_product(self, device, queries, columns):
        return -device.torch.cdist(queries, columns, p=np.inf)

    def device_pairs(self, queries, columns):
        return -(queries - columns).abs().amax(dim=1)

    def bound(self, level, queries, band):
        return np.zeros(len(queries))

    def pair_bound(self, queries, columns, scores=None):
        return np.zeros(np.broadcast_shapes(np.shape(queries), np.shape(columns)))

    def pair_scores(self, queries, columns):
        rows, items = self.query_raw.take(queries), self.gallery_raw.take(self.columns.item_of_column[columns])
        return -np.abs(rows - items).max(axis=1).astype(np.float64)

    def exact_closeness(self, queries, columns):
        return Roots.of_values(self.pair_scores(queries, columns))


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "DISTANCES", dict(registry.DISTANCES))


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points on a small grid, their labels, and their distances."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 5, (40, 3))
    return rows, rng.integers(0, 6, 40), np.abs(rows[:, None] - rows).max(axis=2)


# ---------------------------------------------------------------------------------------------------------------------
# what asks the row


def off_diagonal(matrix: np.ndarray) -> np.ndarray:
    """A square matrix without the query itself, row by row."""
    return matrix[~np.eye(len(matrix), dtype=bool)].reshape(len(matrix), -1)


def test_profiles_and_measures(data):
    rows, labels, apart = data
    distances.register(Chebyshev)
    relevant = off_diagonal(labels[:, None] == labels)
    profile = dh.profile(rows, labels, distance="chebyshev")
    assert profile == dh.profile_scores(-off_diagonal(apart), relevant)
    report = dh.evaluate(rows[:15], labels[:15], rows, labels, distance="chebyshev", measures=["mAP"])
    given = dh.measure(dh.profile_scores(-apart[:15], labels[:15, None] == labels), ["mAP"])
    assert report["mAP"].lower == given["mAP"].lower < report["mAP"].upper == given["mAP"].upper


def test_meanings_of_tied(data):
    rows, labels, _ = data
    distances.register(Chebyshev)
    exact = dh.profile(rows, labels, distance="chebyshev")
    assert dh.profile(rows, labels, distance="chebyshev", ties="float16") == exact  # small integers stay what they are
    wide = rows + 4096 * (rows > 2)  # 4095, 4096 and 4097 are one number in bfloat16
    assert dh.profile(wide, labels, distance="chebyshev", ties="bfloat16") != dh.profile(
        wide, labels, distance="chebyshev"
    )
    report = dh.evaluate(rows, labels, distance="chebyshev", ties="float16", measures=["mAP"])
    assert report.to_dict()["ties"]["rule"] == "float16 distance"
    exactly = dh.evaluate(rows, labels, distance="chebyshev", measures=["mAP"])["mAP"]
    for eps, wider in ((0.5, False), (1.0, True)):
        loosely = dh.evaluate(rows, labels, distance="chebyshev", ties=dh.Tolerance(eps), measures=["mAP"])["mAP"]
        assert (loosely.lower < exactly.lower) == (exactly.upper < loosely.upper) == wider
    with pytest.raises(ValueError, match=r"^of must be 'distance' for distance 'chebyshev', but is 'similarity'$"):
        dh.profile(rows, labels, distance="chebyshev", ties=dh.Rounded("float16", of="similarity"))


def test_rankings_and_analyses(data):
    rows, labels, apart = data
    distances.register(Chebyshev)
    rankings = Rankings(rows, rows, distance="chebyshev")
    for block in rankings:
        ranked = np.take_along_axis(apart[block.queries], block.items, axis=1)
        assert_array_equal(np.diff(ranked) > 0, np.diff(block.group) > 0)
        assert_array_equal(rankings.closeness(block), [-ranked, -ranked])
    collisions = dh.collisions(rows, labels, distance="chebyshev")
    assert collisions.size.max() > 1
    assert dh.precision.precisions(rows, labels, distance="chebyshev", formats=["float32"], measures="mAP")["float32"]


def test_names_by_what_they_take_and_what_they_measure():
    distances.register(Chebyshev)
    assert distances.names(takes="numbers") == ("cosine", "euclidean", "inner_product", "cityblock", "chebyshev")
    assert distances.names(takes="bits") == ("hamming",)
    assert distances.names(target="similarity") == ("cosine", "inner_product")
    assert "chebyshev" in distances.names(target="distance")
    assert distances.find("chebyshev") is Chebyshev


class NumpyDevice:
    """A device as a distance sees it, with NumPy's arrays for tensors."""

    where = None
    torch = SimpleNamespace(
        cdist=lambda left, right, p: np.linalg.norm(left[:, None] - right, ord=p, axis=2).view(Array)
    )

    def upload(self, array):
        return array.view(Array)

    def dtype(self, dtype):
        return dtype

    def product(self, left, right):
        return left @ right.T


class Array(np.ndarray):
    """An array with the methods of tensors that distances use."""

    def abs(self):
        return np.abs(self)

    def neg_(self):
        return np.negative(self, out=self)

    def sub_(self, other):
        return np.subtract(self, other, out=self)

    def amax(self, dim):
        return self.max(axis=dim)

    def sum(self, dim):
        return np.asarray(self).sum(axis=dim).view(Array)

    def double(self):
        return self.astype(np.float64)

    def to(self, dtype):
        return self.astype(dtype)


@pytest.mark.parametrize("name", ["cosine", "euclidean", "inner_product", "cityblock", "chebyshev"])
def test_tiles_and_pairs_on_a_device_are_those_of_the_processor(name, data):
    """By methods of tensors that NumPy's arrays are lent: small integers, whose scores are exact on either."""
    distances.register(Chebyshev)
    distance, device, everything = distances.make(name, data[0], None, True), NumpyDevice(), np.arange(40)
    columns = np.arange(len(distance.columns))
    rows = distance.query_rows(0, everything)
    wanted = distance.tile(0, rows, columns)
    numbers = distance.device_numbers(columns)
    numbers = None if numbers is None else device.upload(numbers)
    left, right = distance.device_rows(device, rows), distance.device_rows(device, distance.column_rows(0, columns))
    assert_array_equal(distance.device_finish(distance.device_product(device, left, right), numbers), wanted)
    query, column = np.indices(wanted.shape).reshape(2, -1)
    of_pairs = distance.device_pairs(left[query], right[column])
    of_columns = None if numbers is None else numbers[column]
    assert_array_equal(distance.device_finish(of_pairs, of_columns), wanted.ravel())


# ---------------------------------------------------------------------------------------------------------------------
# what a row must have

PARTS = ["product", "device_product", "device_pairs", "bound", "pair_bound", "pair_scores"]


def without(part: str) -> type[Dense]:
    """The toy without one of its parts."""
    return type("Chebyshev", (Dense,), {name: value for name, value in vars(Chebyshev).items() if name != part})


@pytest.mark.parametrize("part", PARTS)
def test_a_method_that_is_missing_is_named(part):
    with pytest.raises(TypeError, match=rf"^distance: chebyshev must define {part}$"):
        distances.register(without(part))
    assert "chebyshev" not in distances.names()
    distances.register(without("nothing"))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (without("exact_closeness"), "distance: chebyshev must define key_kind, or exact_closeness"),
        (without("name"), "distance: Chebyshev must have a name, but has None"),
        (type("Named", (Chebyshev,), {"name": ""}), "distance: Named must have a name, but has ''"),
        (type("Named", (Chebyshev,), {"name": "cosine"}), "distance: cosine must have a name that is not taken"),
        (without("targets"), "distance: chebyshev must have targets: distance or similarity, with sign 1 or -1"),
        (
            type("Other", (Chebyshev,), {"targets": {"angle": Target(-1, 0)}}),
            "distance: chebyshev must have targets: distance or similarity, with sign 1 or -1",
        ),
        (type("Other", (Chebyshev,), {"takes": "words"}), "distance: chebyshev must say that it takes numbers or bits"),
        (dict, "distance must be a subclass of Distance, but is <class 'dict'>"),
        ("cosine", "distance must be a subclass of Distance, but is 'cosine'"),
    ],
)
def test_what_else_is_missing_is_named(kind, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        distances.register(kind)
    assert str(caught.value) == message
    assert caught.value.argument == "distance"
    assert "chebyshev" not in distances.names()


@pytest.mark.parametrize(("method", "twin"), [("product", "device_product"), ("finish", "device_finish")])
def test_scores_of_its_own_do_not_become_those_of_another_on_a_device(method, twin):
    """A distance made from a product whose scores are its own would otherwise be ranked by the product there."""
    own = {name: getattr(InnerProduct, name) for name in ("score_of_dots", "key_kind", "targets")}
    own |= {"name": "own", method: lambda self, *args: -getattr(Product, method)(self, *args)}
    with pytest.raises(TypeError, match=rf"^distance: own must define {twin}, as it has a {method} of its own$"):
        distances.register(type("Own", (Product,), own))
    distances.register(type("Own", (Product,), own | {twin: lambda self, *args: None}))


def test_an_unknown_distance():
    with pytest.raises(ValueError, match=r"^distance must be one of cosine, euclidean, .*, but is 'chebyshev'$"):
        dh.profile([[0], [1]], [0, 0], distance="chebyshev")


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("l2", "euclidean"),
        ("L1", "cityblock"),
        ("manhattan", "cityblock"),
        ("dot", "inner_product"),
        ("IP", "inner_product"),
    ],
)
def test_distances_have_other_names(alias: str, name: str) -> None:
    rows, labels = [[0, 1], [1, 2], [3, 1], [2, 5]], [0, 0, 1, 1]
    report = dh.evaluate(rows, labels, distance=alias)
    assert (report.distance, report.profile) == (name, dh.evaluate(rows, labels, distance=name).profile)
    assert dh.exploit(rows, labels, distance=alias).distance == name
    assert dh.collisions(rows, labels, distance=[alias, name])[alias.lower()].n_query == 4
    assert dh.random_baseline([0, 0, 1, 1], dim=2, distance=alias, draws=1)
    with pytest.raises(ValueError, match=r"^distance must be one of cosine, .*, but is 'l3'"):
        dh.evaluate(rows, labels, distance="l3")
