"""`deadheat grouped`: a measure inside groups of classes, the gap of train to test, and what halves differ by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from deadheat.analyses.gaps import SPLITS, gap_of_pairs, split_pair
from deadheat.analyses.grouped import Drawing, GroupedReport, grouped_pair
from deadheat.cli import options as shared
from deadheat.cli.files import INTEGER, LINES, PATH, Command, option
from deadheat.cli.options import deliver, draw_measures, plot, plots_for, save_picture, with_options
from deadheat.cli.shell import bar
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.own_gallery import queries_in_gallery
from deadheat.inputs.samples import Pair
from deadheat.reports.averaging import SummaryOptions
from deadheat.reports.statistics.interval import level_between
from deadheat.reports.tables import Table, TabularResult
from deadheat.support import checks
from deadheat.support.triple import Triple

_TEST = ("test_labels", "test_gallery", "test_gallery_labels", "test_exclude")


@click.command(cls=Command)
@click.argument("file", type=PATH)
@with_options(
    shared.SOURCES,
    [
        option("Input", "--test", type=PATH, metavar="FILE", help="Compare with this test set; FILE is then train."),
        option("Input", "--test-labels", type=LINES, help="Read the labels of the test set from this file."),
        option("Input", "--test-gallery", type=PATH, help="Rank these items for the test set. Default: itself."),
        option("Input", "--test-gallery-labels", type=LINES, help="Read the labels of that gallery from this file."),
        option(
            "Input", "--test-exclude", type=LINES, multiple=True, metavar="ROWS", help="As --exclude, for the test set."
        ),
    ],
    shared.SCORES,
    shared.TIES,
    shared.GROUPS,
    [
        option("Measure", "--group-size", type=INTEGER, default=10, metavar="S",
            help="Put S classes in each group."),
        option(
            "Measure", "--repeats", type=INTEGER, default=1, metavar="N", help="Draw N times."
        ),
        option("Measure", "--halves", type=INTEGER, is_flag=False, flag_value=SPLITS, metavar="[N]",
            help=f"Also give the difference of two random halves of the classes, and its bound, from N splits, or "
            f"{SPLITS} without N; then put it after FILE."),
        shared.SEED,
        shared.LEVEL,
        plot("the values of the groups"),
    ],
    shared.TEXTS,
)  # fmt: skip
def grouped(file: Path, **options: Any) -> None:
    """Take measures inside groups of equally many classes, so that sets with different numbers of them compare.

    FILE, its labels and a gallery are given as to `deadheat evaluate`; by default the measure is Hit@1. With --test,
    the gap between the two sets, in groups and plain, has an interval, a margin of error and a bound.
    """
    of_test = _of_test(options)
    plots, test = plots_for(options["plot"]), options["test"]
    counting, summary = shared.counting_options(options), shared.summary_options(options, measures=("Hit@1",))
    drawing = Drawing.checked(*(options[name] for name in ("group_size", "seed", "repeats")))
    level = level_between(options["confidence_level"])
    splits = None if options["halves"] is None else checks.positive_integer(options["halves"], "--halves")
    sets = {"train" if test else file.stem: _opened(file, options, counting)}
    if test is not None:
        sets["test"] = _opened(test, of_test, counting)
    with bar("ranking") as progress:
        sets = {name: (pair, replace(how, progress=progress)) for name, (pair, how) in sets.items()}
        found = _found(sets, drawing, summary, splits)
    if plots is not None:
        figure = draw_measures(
            plots, summary.measures, 1.2 + 0.8 * len(found.groups),
            lambda name, ax: plots.group_values(found.groups, name, confidence_level=level, ax=ax),
        )  # fmt: skip
        save_picture(figure, options["plot"])
    deliver(found, options, confidence_level=level)


Sets = Mapping[str, tuple[Pair, CountingOptions]]


@dataclass(frozen=True)
class Found(TabularResult):
    """What a run found: by kind, one result or one for each measure; `groups` has the reports on all sets."""

    parts: Mapping[str, TabularResult | Mapping[str, TabularResult]]
    groups: Mapping[str, GroupedReport]

    @property
    def results(self) -> list[TabularResult]:
        return [
            result
            for part in self.parts.values()
            for result in ([part] if isinstance(part, TabularResult) else part.values())
        ]

    def tables(self, **options: Any) -> list[Table]:
        return [table for result in self.results for table in result.tables(**options)]

    def notes(self) -> list[str]:
        return list(dict.fromkeys(note for result in self.results for note in result.notes()))

    def to_dict(self, **options: Any) -> dict[str, Any]:
        return {
            name: part.to_dict(**options)
            if isinstance(part, TabularResult)
            else {"measures": {measure: _with_values(result.to_dict(**options)) for measure, result in part.items()}}
            for name, part in self.parts.items()
        }

    def columns(self) -> Mapping[str, Sequence[Any]]:
        return self.results[0].columns()


def _with_values(content: dict[str, Any]) -> dict[str, Any]:
    """What a gap or halves are, with the three values in groups first, as every measure has them."""
    return {end: content["grouped"][end] for end in Triple._fields} | content


def _found(sets: Sets, drawing: Drawing, summary: SummaryOptions, splits: int | None) -> Found:
    """All that was asked for; each pass is made once for all measures."""
    parts: dict[str, TabularResult | Mapping[str, TabularResult]] = {}
    (name, (pair, counting)), *more = sets.items()
    halves = None
    if splits is not None:
        halves = split_pair(summary.measures[0], pair, drawing._replace(repeats=splits), counting, summary)
    elif not more:
        queries_in_gallery(pair, counting)
    if more:
        gap = gap_of_pairs(summary.measures[0], sets, drawing, summary)
        parts["gap"] = {measure: replace(gap, measure=measure) for measure in summary.measures}
        groups = {"train": gap.train_groups, "test": gap.test_groups}
    else:
        parts["grouped"] = report = grouped_pair(pair, drawing, counting, summary)
        groups = {name: report}
    if halves is not None:
        parts["halves"] = {measure: replace(halves, measure=measure) for measure in summary.measures}
    return Found(parts, groups)


def _of_test(options: dict[str, Any]) -> dict[str, Any]:
    """The options of the test set under the names of those of FILE."""
    given = [name for name in _TEST if options[name]]
    if options["test"] is None and given:
        raise click.UsageError(f"--{given[0].replace('_', '-')} goes with --test")
    if options["test_gallery_labels"] is not None and options["test_gallery"] is None:
        raise click.UsageError("--test-gallery-labels goes with --test-gallery")
    return options | {name.removeprefix("test_"): options[name] for name in _TEST}


def _opened(file: Path, options: dict[str, Any], counting: CountingOptions) -> tuple[Pair, CountingOptions]:
    with shared.files_named(file, options):
        pair = shared.open_files(file, options)
        counting = replace(counting, exclude=shared.own_rows(options)).fitted(pair)
        counting.open(pair.query.embeddings, None if pair.gallery is None else pair.gallery.embeddings)
    return pair, counting
