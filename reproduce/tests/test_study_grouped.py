"""The study of grouped measures: its pieces by hand, and its parts at a small size."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest

from deadheat.analyses.gaps import Gap, split_half
from deadheat.analyses.grouped import GroupedResult, grouped
from deadheat.engine.task import Task
from deadheat.reports.evaluating import evaluate
from deadheat.support.triple import Triple
from reproduce import by_z
from reproduce import grouped as study
from reproduce import grouped_populations as populations
from reproduce.grouped_populations import CLUSTERED, GROUP_SIZE, GROUPED, MEASURE, RANDOM, Coverage, Known
from reproduce.study import Mark, Outcome
from reproduce.tests import printed
from reproduce.tests.printed import SMALL


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return printed.run("grouped")


# ---------------------------------------------------------------------------------------------------------------------
# populations


def test_chance_is_the_share_of_the_right_ones() -> None:
    """All points tied: the exact expectation over all ways to break the ties is what chance gives."""
    labels = np.repeat(np.arange(GROUP_SIZE), RANDOM.samples)
    report = evaluate(np.zeros((len(labels), 2)), labels, measures=MEASURE)
    assert report[MEASURE].expected == pytest.approx(RANDOM.chance(GROUP_SIZE), rel=1e-14)
    assert RANDOM.chance(GROUP_SIZE) == 3 / 39


def test_coverage_counts_what_holds() -> None:
    """Each interval is that of a grouped result on the draw with that number, held against the value."""
    n_draw, n_group, known = 12, 5, Known(0.83, 0.001)
    every = populations.coverages_over_groups(CLUSTERED, n_group, n_draw, known, repeated=True)
    values = {one.method: one for one in every}
    assert set(values) == {*populations.OVER_GROUPS, populations.REPEATED}
    held, widths = 0, []
    for number in range(n_draw):
        data = CLUSTERED.draw(50, populations._DRAWS, n_group, number)
        result = grouped(Task(*data, distance="euclidean"), group_size=10, measures="Hit@1", seed=number)["Hit@1"]
        low, high = result.interval(confidence_level=0.95, method="t").expected
        held += low <= known.value <= high
        widths.append(high - low)
    one = values["Student's t"]
    assert (one.n_hold, one.n_draw, one.n_group, one.share) == (held, n_draw, n_group, held / n_draw)
    assert one.width == pytest.approx(np.mean(widths), rel=1e-12)
    far = populations.coverages_over_groups(CLUSTERED, n_group, 2, Known(2.0, 0.0), repeated=False)
    assert [one.n_hold for one in far] == [0, 0, 0]


def test_what_the_number_of_draws_leaves_open() -> None:
    """Clopper and Pearson: none of 20 leaves up to 1 − 0.025^(1/20)."""
    low, high = populations.binomial(0, 20, 0.95)
    assert (low, high) == pytest.approx((0.0, 1 - 0.025 ** (1 / 20)))


def test_slope_of_a_power() -> None:
    """Three points off the line by −1/6, 1/3 and −1/6: s² is 1/6, and the squares of x − 1 add up to 2."""
    n = np.array([10, 20, 50, 90])
    assert study.slope_of(n, 3.0 * n**1.7) == pytest.approx((1.7, 0.0), abs=1e-7)
    slope, error = study.slope_of([1, math.e, math.e**2], np.exp([0.0, 1.5, 2.0]))
    assert slope == pytest.approx(1.0)
    assert error == pytest.approx(math.sqrt(1 / 12))


# ---------------------------------------------------------------------------------------------------------------------
# findings


@pytest.mark.parametrize(
    ("n_draw", "held", "mark"),
    [
        (1000, (948, 955), Mark.AGREES), (1000, (948, 900), Mark.DIFFERS), (1000, (948, 985), Mark.DIFFERS),
        (20, (19,), Mark.TOO_FEW), (20, (10,), Mark.DIFFERS),  # 19 of 20 leave some 12 points open either way
    ],
)  # fmt: skip
def test_coverage_agrees_where_the_level_is_not_ruled_out(n_draw: int, held: tuple[int, ...], mark: Mark) -> None:
    by_size = dict(zip((5, 10), held, strict=False))
    rows = [Coverage("random", "z", size, n_draw, n, Known(0.5, 0.0), 0.5, 0.1) for size, n in by_size.items()]
    finding = study.finding_of(rows)
    assert finding.mark == mark
    assert finding.why == (study._WHY["z"] if mark is Mark.DIFFERS else "")
    shares = ", ".join(f"{size}: {100 * n / n_draw:.1f}" for size, n in by_size.items())
    assert finding.here == f"{shares} % of {n_draw} draws"


@pytest.mark.parametrize(
    ("off", "error", "mark"), [(0.002, 0.001, Mark.AGREES), (0.004, 0.001, Mark.DIFFERS), (0.004, 0.01, Mark.TOO_FEW)]
)
def test_chance_differs_where_it_does(off: float, error: float, mark: Mark) -> None:
    assert study.by_chance(Known(3 / 39 + off, error)).findings[0].mark is mark


def test_files_are_measured_as_they_are(outcome: Outcome) -> None:
    table = next(table for table in outcome.tables if table.name == "cifar100-classes")
    assert [row[:2] for row in table.rows] == [(what, n) for n in (50, 60) for what in ("plain", GROUPED)]
    embeddings, labels = CLUSTERED.draw(60, 99, 1)
    report = evaluate(embeddings, labels, measures=MEASURE)
    value, low, high = table.rows[2][2:]
    assert value == report[MEASURE].expected
    assert (low, high) == by_z.of_report(report, MEASURE, "class", 0.95).expected
    inside = grouped(Task(embeddings, [f"class {label}" for label in labels]), measures=MEASURE)[MEASURE]
    assert table.rows[3][2:] == (inside.expected, *inside.interval().expected)


@pytest.mark.parametrize("n", [29, 30, 31])
def test_z_is_taken_from_30_units_on(n: int) -> None:
    values = np.random.default_rng(n).random(n)
    side = GroupedResult("Hit@1", Triple(values / 2, values, np.minimum(1, values * 1.5)), n, 1)
    gap = Gap(side, side, side.errors, side.errors, (n, n + 5))
    z, error = NormalDist().inv_cdf(0.95), values.std(ddof=1) / math.sqrt(n)
    if n < 30:
        result = side.interval(confidence_level=0.9)
        assert by_z.interval(side, 0.9) == (result.lower, result.expected, result.upper)
        assert by_z.margin(gap, 0.9) == gap.margin(confidence_level=0.9)
        assert by_z.bound(gap, 0.9) == gap.bound(confidence_level=0.9)
    else:
        assert by_z.interval(side, 0.9).expected == pytest.approx(
            (side.expected - z * error, side.expected + z * error)
        )
        assert by_z.margin(gap, 0.9) == pytest.approx(z * max(gap.errors))
        assert by_z.bound(gap, 0.9) == pytest.approx(gap.upper + z * gap.errors.upper)
        assert by_z.bound(gap, 0.9) < gap.bound(confidence_level=0.9)


def test_a_clock_that_runs_counts_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    times = itertools.chain([0.0, 5.0, 10.0, 12.0, 20.0, 24.0])
    monkeypatch.setattr(study.time, "process_time", lambda: next(times))
    assert study._timed(lambda: "done", 3) == ("done", 2.0)


# ---------------------------------------------------------------------------------------------------------------------
# Table 1


def test_a_row_of_table_1_is_what_its_definitions_give() -> None:
    """By the standard library's z and the reports themselves."""
    embeddings, labels = CLUSTERED.draw(60, 1)
    row = populations.table_row(embeddings, labels, n_draw=3, threads=1)
    inside = grouped(Task(embeddings, labels, distance="euclidean"), measures=MEASURE, draws=3)[MEASURE]
    z = NormalDist().inv_cdf(0.975)
    assert row.grouped == inside.expected
    assert row.bound == pytest.approx(inside.expected + z * inside.errors.expected, rel=1e-12)
    assert row.plain == evaluate(embeddings, labels, measures=MEASURE, distance="euclidean")[MEASURE].expected
    values = inside.per_group.expected.reshape(3, 2, 3)
    differences = abs(np.diff(values.mean(axis=2)))
    assert row.difference == pytest.approx((differences.mean(), differences.std(ddof=1)), rel=1e-12)
    margins = z * np.sqrt((values.var(axis=2, ddof=1) / 3).sum(axis=1))
    assert row.bound_on_difference == pytest.approx((margins.mean(), margins.std(ddof=1)), rel=1e-12)


def test_the_bounds_of_table_1_stand_to_each_other_as_section_3_2_says() -> None:
    """9 groups, and 4 in each half of 49 classes: √(2/4) over √(1/9)."""
    assert populations.ratio_by_theory(98) == pytest.approx(3 / math.sqrt(2))
    assert populations.ratio_by_theory(100) == pytest.approx(2)
    low, high = populations.printed_ratio(populations.TEST_SETS["CARS196"])
    assert (low, high) == pytest.approx((2.75 / 1.4, 2.85 / 1.2))


# ---------------------------------------------------------------------------------------------------------------------
# models and claims


def test_a_learned_map_makes_the_scatter_within_classes_a_sphere() -> None:
    """Fisher's discriminant: identity within, diagonal between, the largest first; in whatever few directions."""
    samples = populations.draw(90, 3)
    whole = populations.learned(samples, populations.DIM, 0.2)
    means = samples.points.reshape(90, 4, -1).mean(axis=1)
    rest = samples.points - means[samples.labels]
    within = 0.8 * rest.T @ rest / (360 - 90)
    within += 0.2 * np.trace(rest.T @ rest / (360 - 90)) / populations.DIM * np.eye(populations.DIM)
    np.testing.assert_allclose(whole.T @ within @ whole, np.eye(populations.DIM), atol=1e-9)
    between = whole.T @ np.cov(means.T) @ whole
    assert abs(between - np.diag(np.diag(between))).max() < 1e-9
    assert (np.diff(np.diag(between)) <= 1e-9).all()
    np.testing.assert_array_equal(populations.learned(samples, 5, 0.2), whole[:, :5])


def test_the_sentence_about_table_2_is_judged(outcome: Outcome) -> None:
    """2.5, 2.8, 3.6, 4.7, -3.8: the least is the first. 2.8 and 6.0 points are of 4 and 5 groups in each half."""
    part = {finding.what: finding for finding in outcome.findings}
    claim = part["Table 2: the grouped gap as dropout grows"]
    assert (claim.mark, claim.here) == (Mark.DIFFERS, "2.5, 2.8, 3.6, 4.7, -3.8 points; nearest to 0 at dropout 0")
    assert populations._approaches_zero([4.0, 2.0, -1.0, 0.5, 0.1]).mark is Mark.AGREES
    assert populations.margin_by_table("CARS196") == pytest.approx(2.8 * math.sqrt(4 / 10))
    assert populations.margin_by_table("CUB200") == pytest.approx(6.0 * math.sqrt(5 / 10))
    margin = part["margin of error (95 %) of a gap between two sets of 100 classes"]
    assert margin.published.startswith("1.8 (CARS196), 4.2 (CUB200) points")
    assert margin.why.endswith("0.3, 0.8, 1.1, 8.5 points")
    made = CLUSTERED.draw(200, populations._CLAIMS_SEED)
    halves_of = split_half(Task(*made, distance="euclidean", threads=1), draws=SMALL.halves)
    assert margin.here == f"{100 * by_z.HalvesByZ.of(halves_of).margins().mean():.1f} points, synthetic classes"


@pytest.mark.parametrize(
    ("pairs", "seconds", "mark"), [(1, 1, Mark.AGREES), (1, 2, Mark.DIFFERS), (2, 1, Mark.DIFFERS)]
)
def test_cost_agrees_if_pairs_and_time_do(pairs: int, seconds: int, mark: Mark) -> None:
    rows = [(GROUPED, n, n**pairs, 1e-6 * n**seconds) for n in (100, 200, 400)]
    rows += [("plain", n, n**2, 1e-6 * n**2) for n in (100, 200, 400)]
    table = np.array(rows, dtype=[("what", "U32"), ("samples", int), ("pairs", int), ("seconds", float)])
    assert [finding.mark for finding in study._cost_findings(table)] == [mark, Mark.AGREES]
