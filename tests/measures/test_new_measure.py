"""A measure of the tests' own: one row is all it takes to be known, and whatever a row lacks raises, by name."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import oracles
import pytest
from click.testing import CliRunner

import deadheat as dh
from deadheat.cli.main import main
from deadheat.errors import InputError
from deadheat.measures import (
    FAMILIES,
    ClosedForms,
    Counted,
    Family,
    Measure,
    RankSum,
    all_bounds,
    listing,
    parse,
    parse_all,
    per_query,
    std,
)  # fmt: skip
from deadheat.measures.family import Fill, Float64, Int64
from deadheat.profiles import TieProfile


class OddStart(ClosedForms):
    """1 if the first relevant item has an odd rank, else 0."""

    def loop(self, profile: TieProfile, measure: Measure, out: Float64) -> Fill:
        chances = self._chances(profile)

        def fill(first: int, last: int) -> None:
            for query in range(first, last):
                out[:, query] = [
                    f(chances[query]) if profile.n_relevant[query] else np.nan for f in (int, float, math.ceil)
                ]

        return fill

    def deviation(self, profile: TieProfile, measure: Measure) -> Float64:
        chances = np.array([float(p * (1 - p)) for p in self._chances(profile)])
        return np.where(profile.n_relevant > 0, np.sqrt(chances), np.nan)

    def rank_sum(self, measure: Measure, relevant: Int64, ranked: Int64, n: int) -> RankSum:
        return RankSum(Counted.FIRST, np.arange(n + 1) % 2.0, np.ones(len(relevant)))

    def _chances(self, profile: TieProfile) -> list[Fraction]:
        """Of an odd rank, per query: the first relevant item of the first group is in slot i."""
        chances = [Fraction(0)] * profile.n_query
        for query in np.flatnonzero(np.diff(profile.offsets)):
            group = profile.offsets[query]
            k, tied, m = (int(array[group]) for array in (profile.closer, profile.tied, profile.tied_relevant))
            odd = [i for i in range(1, tied - m + 2) if (k + i) % 2]
            chances[query] = Fraction(sum(math.comb(tied - i, m - 1) for i in odd), math.comb(tied, m))
        return chances


ROW: dict[str, Any] = {
    "name": "Odd",
    "cutoff": "never",
    "kind": "precision",
    "forms": OddStart(),
    "sentence": "1 if the first relevant item has an odd rank",
    "aliases": ("odd start",),
}


@pytest.fixture
def odd() -> Iterator[Family]:
    row = Family(**ROW)
    FAMILIES.add(row)
    yield row
    FAMILIES.remove(row)


def odd_start(ranking: tuple[int, ...]) -> int:
    return (ranking.index(1) + 1) % 2 if any(ranking) else 0


@pytest.mark.usefixtures("odd")
def test_its_names_are_parsed() -> None:
    assert [parse(name).name for name in ("Odd", "odd-start", "ODD_START")] == ["Odd"] * 3
    assert [measure.name for measure in parse_all("mAP,odd")] == ["mAP", "Odd"]
    with pytest.raises(ValueError, match=r"unknown measure 'odd stat'; did you mean 'Odd'\?"):
        parse("odd stat")
    with pytest.raises(ValueError, match="Odd takes no cutoff, but got 'Odd@3'"):
        parse("Odd@3")
    with pytest.raises(ValueError, match=r"SetF, Odd\Z"):
        parse("xyzzy")


def test_it_is_forgotten_when_its_row_is_taken_back(odd: Family) -> None:
    measure = parse("odd")
    FAMILIES.remove(odd)
    with pytest.raises(ValueError, match="unknown measure 'odd'"):
        parse("odd")
    FAMILIES.add(odd)
    assert parse("odd") == measure


@pytest.mark.usefixtures("odd")
@pytest.mark.parametrize("groups", [[(0, 0, 3, 1)], [(1, 0, 4, 2), (6, 2, 2, 1)], [(2, 0, 1, 1)], [(0, 0, 2, 2)]])
def test_its_values_are_those_of_every_arrangement(groups: list[oracles.Group]) -> None:
    n_relevant = sum(m for *_, m in groups)
    profile = TieProfile.from_groups([groups, []], [9, 9])
    low, mean, high, variance = oracles.arrangement_values(groups, 9, n_relevant, odd_start)
    assert [values[0] for values in per_query(profile, "Odd")] == [low, float(mean), high]
    assert std(profile, "Odd")[0] == pytest.approx(math.sqrt(variance), abs=1e-15)
    assert np.isnan([values[1] for values in (*per_query(profile, "Odd"), std(profile, "Odd"))]).all()
    for together, alone in zip(all_bounds(profile, parse_all("MRR,Odd"), 2)[1], per_query(profile, "Odd"), strict=True):
        np.testing.assert_array_equal(together, alone)


@pytest.mark.usefixtures("odd")
def test_reports_and_the_command_show_it() -> None:
    report = dh.evaluate(np.zeros((3, 1)), [0, 0, 1], measures=["mAP", "odd start"])
    assert list(report) == ["mAP", "Odd"]
    assert (report["Odd"].lower, report["Odd"].expected, report["Odd"].upper) == (0.0, 0.5, 1.0)
    assert "\nOdd " in str(report)
    row = next(line for line in listing().splitlines() if line.startswith("Odd "))
    assert re.split(" {2,}", row) == ["Odd", "odd start", "1 if the first relevant item has an odd rank"]
    assert row in CliRunner().invoke(main, ["measures"]).output.splitlines()


@pytest.mark.usefixtures("odd")
def test_orders_of_the_samples_are_searched_for_it() -> None:
    labels = np.array([0, 0, 0, 1, 1, 2])
    values = []
    for order in itertools.permutations(labels.tolist()):
        rankings = [[int(b == a) for j, b in enumerate(order) if j != i] for i, a in enumerate(order)]
        values.append(math.fsum(odd_start(tuple(ranking)) for ranking in rankings if any(ranking)) / 5)
    extremes = dh.exploit(np.zeros((6, 1)), labels, measure="Odd", tries=20, threads=1)
    assert (extremes.lowest.value, extremes.highest.value) == (min(values), max(values))
    assert extremes.bounds.expected == pytest.approx(math.fsum(values) / len(values), abs=1e-15)
    assert (extremes.bounds.lower, extremes.bounds.upper) == (0.0, 1.0)


@pytest.mark.parametrize("part", ROW)
def test_a_part_that_a_row_lacks_is_named(part: str) -> None:
    with pytest.raises(TypeError, match=f"missing 1 required positional argument: '{part}'"):
        Family(**{key: value for key, value in ROW.items() if key != part})
    with pytest.raises(InputError, match=rf"\A{part} must .*None.*\Z"):
        Family(**ROW | {part: None})


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("name", " ", "name must be given in a row of measures, but is ' '"),
        ("cutoff", "sometimes", "cutoff must be one of never, may, must, R, recall, but is 'sometimes' for Odd"),
        ("kind", "F1", "kind must be one of precision, recall, but is 'F1' for Odd"),
        ("sentence", "", "sentence must be given in a row of measures, but is ''"),
        ("aliases", "odd start", "aliases must be a tuple of names, but is 'odd start' for Odd"),
        ("aliases", ("-",), r"aliases must be a tuple of names, but is \('-',\) for Odd"),
        ("forms", OddStart, "forms must be closed forms, but is <class .*OddStart'> for Odd"),
    ],
)
def test_a_part_that_cannot_be_is_refused(part: str, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=rf"\A{message}\Z"):
        Family(**ROW | {part: value})


@pytest.mark.parametrize("method", ["loop", "deviation", "rank_sum"])
def test_a_closed_form_that_is_missing_is_named(method: str) -> None:
    class Lacking(OddStart):
        locals()[method] = getattr(ClosedForms, method)

    with pytest.raises(TypeError, match=f"abstract method '?{method}'?"):
        Lacking()


@pytest.mark.parametrize(("names", "shared"), [({"name": "map"}, "map"), ({"aliases": ("R-R",)}, "rr")])
def test_a_name_that_another_measure_has_is_refused(names: dict[str, Any], shared: str) -> None:
    before = listing()
    with pytest.raises(InputError, match=f"aliases must be a measure's own, but .* share '{shared}'"):
        FAMILIES.add(Family(**ROW | names))
    assert listing() == before
