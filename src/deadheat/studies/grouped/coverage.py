"""Coverage: how many intervals hold the value that they are for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadheat import plots
from deadheat.plots import Band, style
from deadheat.studies.grouped import populations
from deadheat.studies.grouped.populations import (
    CLUSTERED,
    GROUP_SIZE,
    LEVEL,
    LEVEL_TEXT,
    MEASURE,
    RANDOM,
    Coverage,
    Extent,
    Known,
)
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Table

_GROUPS, _REPEATED_AT = (5, 10, 20, 50), 10
_WHY = {
    "z": "of few groups the standard deviation is itself uncertain, which z does not allow for",
    "Student's t": "the mean of a few skewed values is not normal",
    "bootstrap": "it has the fault of z for few groups, and takes N for N - 1",
    populations.REPEATED: "a mean over repeats scatters less than that of one draw, whose error it is given: too wide",
    "plain, z over queries": "queries of one class rise and fall together",
    "plain, z over classes": "classes are in each other's gallery, so that they are not quite independent",
}
_VALUES = ("population_value", "population_error", "mean_value", "mean_width")
_NAIVE = "plain, z over queries"
_WHY_RANDOM = f"about {RANDOM.samples - 1} hits are expected in all, however many classes there are: far from normal"


def by_coverage(setting: Setting, extent: Extent, known: Known) -> Outcome:
    """How many intervals hold the value, for each population, method and number of groups."""
    coverages: list[Coverage] = []
    for population in (RANDOM, CLUSTERED):
        exact = population is RANDOM
        for n_group in _GROUPS:
            setting.say(f"  coverage: {population.name}, {n_group} groups")
            value = Known(population.chance(GROUP_SIZE), 0.0) if exact else known
            repeated = n_group == _REPEATED_AT
            coverages += populations.coverages(population, n_group, extent.draws, value, repeated=repeated)
            n_class = n_group * GROUP_SIZE
            value = (
                Known(population.chance(n_class), 0.0)
                if exact
                else populations.value_of_plain(population, n_class, extent.plain_draws)
            )
            coverages += populations.plain_coverages(population, n_group, extent.plain_draws, value)
    return Outcome(_findings(coverages), [_picture(coverages)], [_table(coverages)], conclusion=_conclusion(coverages))


def _conclusion(coverages: Sequence[Coverage]) -> str:
    """How often the default interval for few groups holds, and the naive one of the plain measure."""
    over = {name: [each.share for each in coverages if each.method == name] for name in ("Student's t", _NAIVE)}
    told = [f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %" for shares in over.values()]
    return (
        f"Of {LEVEL_TEXT} intervals, those of Student over groups hold the value in {told[0]} of the draws; those over "
        f"the queries of the plain measure in {told[1]}."
    )


def _findings(coverages: Sequence[Coverage]) -> list[Finding]:
    """One for each population and method; it differs where a number of groups rules the level out."""
    kinds = dict.fromkeys((each.population, each.method) for each in coverages)
    return [finding_of([each for each in coverages if (each.population, each.method) == kind]) for kind in kinds]


def finding_of(coverages: Sequence[Coverage]) -> Finding:
    """What coverages of one population and method, at several numbers of groups, say together."""
    around = [each.interval(1 - (1 - LEVEL) / len(coverages)) for each in coverages]
    holds = all(end.low <= LEVEL <= end.high for end in around)
    mark = Mark.by_interval(holds, max((end.high - end.low) / 2 for end in around), 1.0)  # of a share
    why = (
        _WHY_RANDOM
        if coverages[0][:2] in [(RANDOM.name, method) for method in populations.OF_PLAIN]
        else _WHY[coverages[0].method]
    )
    shares = ", ".join(f"{each.n_group}: {100 * each.share:.1f}" for each in coverages)
    return Finding(
        f"{LEVEL_TEXT} intervals that hold, {coverages[0].population}, {coverages[0].method}; by number of groups",
        f"{shares} % of {coverages[0].n_draw} draws",
        mark,
        LEVEL_TEXT,
        "the intervals' own level",
        "" if holds else why,
    )


def _picture(coverages: Sequence[Coverage]) -> Picture:
    figure = style.figure(7.6, 3.6)
    methods = [*populations.OVER_GROUPS, next(iter(populations.OF_PLAIN))]
    both = figure.subplots(1, 2, sharey=True)
    for ax, population in zip(both, (RANDOM, CLUSTERED), strict=True):
        plots.interval_coverage({name: _band(coverages, population.name, name) for name in methods}, level=LEVEL, ax=ax)
        ax.set_xlabel(f"groups of {GROUP_SIZE} classes, {population.name}")
        ax.get_legend().remove()
    both[1].set_ylabel("")
    handles, names = both[0].get_legend_handles_labels()
    figure.legend(
        handles, names, loc="outside upper center", ncols=len(names), frameon=False, fontsize="small", handlelength=3.0
    )
    caption = (
        f"How many of the {LEVEL_TEXT} intervals for {MEASURE} hold the population's value. Bars: what the number of "
        "draws leaves open. The plain measure is of as many classes as the groups have, for the value of so many."
    )
    return Picture("coverage", caption, figure)


def _band(coverages: Sequence[Coverage], population: str, method: str) -> Band:
    rows = [
        (each.n_group, each.share, *each.interval(LEVEL))
        for each in coverages
        if (each.population, each.method) == (population, method)
    ]
    return Band(*map(np.array, zip(*rows, strict=True)))


def _table(coverages: Sequence[Coverage]) -> Table:
    columns = ["population", "method", "n_group", "n_draw", "n_hold", "share", "low", "high"]
    rows = [
        [*each[:5], each.share, *each.interval(LEVEL), each.known.value, each.known.error, each.mean, each.width]
        for each in coverages
    ]
    return Table(
        "coverage",
        f"Intervals that hold the population's value, with the {LEVEL_TEXT} interval of Clopper and Pearson; that "
        "value and its standard error (0: exact); mean value and mean width of the interval over the draws",
        [*columns, *_VALUES],
        rows,
        percent=("share", "low", "high", *_VALUES),
    )
