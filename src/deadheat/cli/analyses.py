"""Commands that answer one question about a file: classify, collisions, confidence, exploit, grouped, ..."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from deadheat.analyses import collisions as collision_groups
from deadheat.analyses import exploit as exploiting
from deadheat.analyses.comparison import compare
from deadheat.analyses.confidence.rejecting import confidence_report
from deadheat.analyses.gaps import gap_of, split_of
from deadheat.analyses.grouped import Drawing, GroupedReport, grouped_of
from deadheat.analyses.index_recall import index_recall_of_truth
from deadheat.analyses.pooled import Classification, classification, pair_classification
from deadheat.analyses.precision_recall import precision_recall
from deadheat.analyses.quantization import MEASURES, compare_formats
from deadheat.analyses.rounding import FORMATS
from deadheat.analyses.thresholds import NAMES
from deadheat.cli import options as shared
from deadheat.cli import systems
from deadheat.cli.files import FILE, INTEGER, LINES, PATH, REAL, Choices, command, option
from deadheat.cli.options import deliver, draw, plot
from deadheat.cli.shell import bar, note
from deadheat.engine.distances.registry import DISTANCES, named
from deadheat.engine.task import Task
from deadheat.errors import FileError, InputError, InvalidValueError
from deadheat.inputs.files import FileLayout
from deadheat.inputs.ground_truth import Neighbors, looks_swapped, read_neighbors
from deadheat.inputs.samples import open_labels, open_samples
from deadheat.inputs.trials import classes, has_scored_trials
from deadheat.reports.answer import Answer, Panel
from deadheat.reports.averaging import SummaryOptions
from deadheat.reports.evaluating import report_of
from deadheat.reports.statistics.settings import level_between
from deadheat.support import checks
from deadheat.support.triple import Triple

_TEST = ("test_labels", "test_gallery", "test_gallery_labels", "test_exclude")


@command(
    "classify pooled.csv",
    click.argument("file", type=LINES),
    option("Input", "--scores", default="score", metavar="COLUMN",
        help="Take these scores: a name, or a place from 0."),
    option("Input", "--labels", default="label", metavar="COLUMN", help="Take these labels."),
    shared.HEADER,
    option("Input", "--positive", metavar="LABEL",
        help="Take items of this label as positives, all others as negatives. Default: 1, true, yes or target."),
    option("Input", "--embeddings", type=PATH,
        help="Compare the embeddings in this file; FILE has pairs by id: trials, or LFW's pairs.txt."),
    option("Input", "--ids", default="ids", metavar="NAME", needs="embeddings",
        help="Take the ids of embeddings from this array or column of that file; rows of .npy count from 0."),
    option("Ranking", "--ascending", is_flag=True, help="Rank the lowest score first, as of distances."),
    option("Ranking", "--distance", type=Choices(DISTANCES), default="cosine", needs="embeddings",
        metavar="NAME", help=f"Rank embeddings by one of {', '.join(DISTANCES)}."),
    option("Ranking", "--templates", type=Choices(["max", "mean"]), needs="embeddings",
        help="Compare people with several embeddings by their closest ones, or by their means."),
    option("Measure", "-m", "--measures", type=Choices(NAMES, listed=True), default=",".join(NAMES),
        metavar="NAMES", show_default=False,
        help="Compute these measures, such as AP,TPR@FPR=0.001. Default: all."),
    option("Measure", "--folds", type=INTEGER, metavar="N",
        help="Print accuracies of N folds of consecutive items instead, each at the best threshold of the others."),
    plot("precision against recall, and the ROC curve,"),
    shared.TEXTS,
)  # fmt: skip
def classify(file: Path, **options: Any) -> None:
    """Measure the scores of positives and negatives in FILE as one ranking, with its bounds over all orders of ties.

    FILE is a table (.csv, .tsv, .parquet, ..., or .txt with blanks between its columns) or holds named arrays (.npz,
    ...). A threshold accepts all items of one score or none: best F1, accuracy and the equal error rate are those of
    thresholds that exist.

    FILE may also have trials, as of faces and speakers: lines of two ids, a label and a score in any usual order or,
    with --embeddings, without the score.
    """
    result = _classified(file, options)

    def paint(plots: Any, ax: Any, part: str) -> None:
        getattr(plots, part)(result if part == "roc" else precision_recall(result.profile, 0), ax=ax)

    draw(options["plot"], (4.8, 4.2), paint, ("precision_recall", "roc"), in_row=True)
    deliver(result if options["folds"] is None else result.folds(options["folds"]), options)


def _classified(file: Path, options: dict[str, Any]) -> Classification:
    """Return the measures of a table, of trials with scores, or of trials and embeddings."""
    order: Any = "ascending" if options["ascending"] else "descending"
    by_default = options["scores"] == "score" and options["labels"] == "label" and options["positive"] is None
    if options["embeddings"] is not None:
        if not by_default or options["ascending"]:
            raise click.UsageError("--embeddings goes without --scores, --labels, --positive and --ascending")
        path, names = options["embeddings"], FileLayout(labels_key=options["ids"], label_column=options["ids"])
        by_row = path.suffix == ".npy"
        rows, ids = (path, None) if by_row else open_samples(path, names=("embeddings", "ids"), layout=names)
        settings = {name: options[name] for name in ("distance", "templates", "measures")}
        return pair_classification(rows, file, ids=ids, **settings)
    if by_default and has_scored_trials(file):
        return classification(file, order=order, measures=options["measures"])
    scores, labels = (
        FileLayout(
            labels_key=options[name], label_column=options[name], header=options["header"], content=name, is_table=True
        )
        for name in ("scores", "labels")
    )
    numbers = shared.numbers_in(file, scores, "item")
    positive = _classes(file, labels, options["positive"])
    return classification(numbers, positive, order=order, measures=options["measures"])


def _classes(file: Path, layout: FileLayout, positive: str | None) -> NDArray[Any]:
    """Return the labels in a file, or which of them are the positive one; a name that none has is refused."""
    labels = np.asarray(open_labels(file, "labels", layout))
    text = labels.astype(np.str_)
    result = checks.few(np.unique(text).tolist())
    if positive is not None and positive not in text:
        raise FileError(file, f": no label is {positive!r} (--positive); there are {result}")
    if positive is not None:
        return np.asarray(text == positive)
    try:
        return classes(labels, "labels", len(labels), "score")
    except InputError:
        raise FileError(file, f": labels must be 0 and 1, but are {result}; name one as --positive") from None


def _rows(ctx: click.Context, param: click.Parameter, value: str | None) -> slice | None:
    if value is None:
        return None
    result = re.fullmatch(r"(-?\d{0,18}):(-?\d{0,18})", value)
    if result is None or "-" in result.groups():
        raise click.UsageError(f"--rows must be A:B, such as 0:650 or 650:, but is {value}")
    return slice(*(int(each) if each else None for each in result.groups()))


@command(
    "collisions embeddings.npz --plot collisions.png",
    click.argument("file", type=PATH),
    shared.SOURCES,
    option(
        "Ranking", "--distance", "distances", type=Choices(DISTANCES, listed=True), multiple=True,
        default=("cosine",), metavar="NAMES",
        help=f"Rank by {', '.join(DISTANCES)}; several make a table each.",
    ),
    shared.ORDERS,
    option("Ranking", "--within", type=REAL, metavar="EPS", help="Join neighbours in rank at most so far apart."),
    option("Ranking", "--depth", type=INTEGER, metavar="N", help="Look only at the N nearest. Default: all ranks."),
    plot("what is at each query and rank, a picture for each distance,"),
    option("Output", "--rows", metavar="A:B", callback=_rows, needs="plot",
        help="Draw queries A to before B. Default: all."),
    shared.PLAIN_TEXTS,
)  # fmt: skip
def collisions(file: Path, **options: Any) -> None:
    """Count the neighbours of queries in FILE that are equally far, so that nothing decides which comes first.

    A group of them is relevant, irrelevant, or mixed; only a mixed one can change a measure. FILE, its labels and a
    gallery are given as to `deadheat evaluate`. Several distances stand side by side. Counts take memory that does not
    grow with the queries, a picture 6 bytes a query and rank.
    """
    names = dict.fromkeys(name.strip() for name in ",".join(options["distances"]).split(","))
    distances = list(dict.fromkeys(map(named, names)))  # some have several names
    settings = shared.task_settings(options, distance=distances[0])
    asked = {"within": options["within"], "depth": options["depth"]}
    with shared.opened(file, options, settings) as task:
        if options["plot"] is None:
            result = collision_groups.collisions(task, distances=distances, **asked)
        else:
            drawn: dict[str, Any] = {
                name: collision_groups.collisions(task.replace(distance=name), **asked) for name in distances
            }
            rules = {name: each.rule for name, each in drawn.items()}
            result = collision_groups.CollisionTable({name: each.counts for name, each in drawn.items()}, rules)

    def paint(plots: Any, ax: Any, name: str) -> None:
        image = plots.collision_image(drawn[name], ax=ax, rows=options["rows"], legend=len(drawn) == 1)
        image.set_title(f"{name}, {result.rules[name]}")
        if name == [*drawn][-1] and len(drawn) > 1:
            plots.collision_legend(ax.figure)

    draw(options["plot"], (6.4, 5.4), paint, tuple(result.rules), in_row=True)
    deliver(result, options)


@command(
    "confidence embeddings.npz --confidence confidence.txt",
    click.argument("file", type=PATH),
    option("Input", "--confidence", type=LINES, metavar="FILE",
        help="Read a confidence for each query from this file, one a line or as labels are; larger is surer."),
    option("Input", "--confidence-key", metavar="NAME",
        help="Take the confidences from this array or column of that file, or else of FILE."),
    option("Input", "--target", type=LINES, metavar="FILE", help="Correlate the confidence with these numbers."),
    option("Input", "--target-key", metavar="NAME",
        help="Take the targets from this array or column of that file, or else of FILE."),
    shared.SOURCES,
    shared.RANKING,
    plot("error against reject"),
    shared.TEXTS,
)  # fmt: skip
def confidence(file: Path, **options: Any) -> None:
    """Judge the confidences of a model in its embeddings in FILE by the measures of its queries.

    Prints the error of the queries that are kept when the least confident are rejected, by Hit@1 and MAP@R or by the
    measures asked for; how often the confidence is right as a guess at Hit@1 (confidence against Recall@1); and the
    rank correlation with a target, such as label entropies or levels of blur, which are uncertainties and correlate
    negatively with a good confidence. FILE and its labels are given as to `deadheat evaluate`. A larger confidence is
    surer; only the order counts.
    """
    settings, summary = shared.task_settings(options), shared.summary_options(options, measures=("Hit@1", "MAP@R"))
    if options["confidence"] is None and options["confidence_key"] is None:
        raise click.UsageError("--confidence FILE or --confidence-key NAME must say where the confidences are")
    names = ("confidence", "target")
    left_out = shared.columns_of_numbers(file, options, names)
    with shared.opened(file, {**options, "left_out": left_out}, settings) as task:
        sure, target = (_numbers(file, options, name, len(task.pair.query.labels)) for name in names)
        report = report_of(task, summary)
    result = confidence_report(report, sure, target)
    draw(
        options["plot"], (6.4, 4.2),
        lambda plots, ax, of: plots.error_reject(result.curves[of], ax=ax).set_ylabel(f"error of the kept by {of} (%)"),
        list(result.curves),
    )  # fmt: skip
    deliver(result, options)


def _numbers(file: Path, options: dict[str, Any], name: str, n_query: int) -> Any:
    """Return the confidences, or the targets, of their own file or of FILE; None if neither is given."""
    path, key = options[name], options[f"{name}_key"]
    if path is None and key is None:
        return None
    values = shared.read_numbers(path or file, name, key)
    if len(values) != n_query:
        got = f"{path or file} has {len(values)} for {n_query} queries"
        raise InvalidValueError(name, f"must have one entry per query, but {got}")
    return values


@command(
    "exploit embeddings.npz --ties float16",
    click.argument("file", type=PATH),
    shared.SOURCES,
    shared.DISTANCE,
    option("Measure", "--measure", "-m", type=Choices(shared.COMPLETIONS), default="mAP", metavar="NAME",
        help="Move this measure."),
    shared.ORDERS,
    option("Run", "--searches", type=INTEGER, default=4, metavar="N", help="Search N times in each direction."),
    option("Run", "--draws", type=INTEGER, default=100, metavar="N", help="Draw N random orders."),
    shared.SEED,
    plot("what orders reach between the bounds"),
    shared.TEXTS,
)  # fmt: skip
def exploit(file: Path, **options: Any) -> None:
    """Find the lowest and the highest value that a stable sort gives by the order of FILE, or of the gallery.

    Where distances tie, such a sort leaves items in the order of their file. FILE and its labels are given as to
    `deadheat evaluate`. What is found by a search can be reached; what lies between it and the bound is open.
    """
    settings = shared.task_settings(options)
    asked = {name: options[name] for name in ("measure", "seed", "searches", "draws")}
    with shared.opened(file, options, settings) as task:
        result = exploiting.exploit(task, **asked)
    draw(options["plot"], (7.2, 1.9), lambda plots, ax, _: plots.order_ranges({file.stem: result}, ax=ax))
    deliver(result, options)


@command(
    "grouped train.npz --test test.npz --group-size 10",
    click.argument("file", type=PATH),
    shared.SOURCES,
    option("Input", "--test", type=PATH, metavar="FILE", help="Compare with this test set; FILE is then train."),
    option("Input", "--test-labels", type=LINES, needs="test", help="Read the labels of the test set from this file."),
    option("Input", "--test-gallery", type=PATH, needs="test",
        help="Rank these items for the test set. Default: itself."),
    option("Input", "--test-gallery-labels", type=LINES, needs="test_gallery",
        help="Read the labels of that gallery from this file."),
    option("Input", "--test-exclude", type=LINES, multiple=True, needs="test", metavar="ROWS",
        help="As --exclude, for the test set."),
    shared.SCORES,
    shared.TIES,
    shared.GROUPS,
    option("Measure", "--group-size", type=INTEGER, default=10, metavar="S", help="Put S classes in each group."),
    option("Measure", "--draws", type=INTEGER, default=1, metavar="N", help="Draw N times."),
    option("Measure", "--halves", type=INTEGER, metavar="N",
        help="Also give the difference of two random halves of the classes, and its bound, from N splits."),
    shared.SEED,
    shared.LEVEL,
    plot("the values of the groups"),
    shared.TEXTS,
)  # fmt: skip
def grouped(file: Path, **options: Any) -> None:
    """Take measures inside groups of equally many classes, so that sets with different numbers of them compare.

    FILE, its labels and a gallery are given as to `deadheat evaluate`; by default the measure is Hit@1. With --test,
    the gap between the two sets, in groups and plain, has an interval, a margin of error and a bound.
    """
    test, of_test = options["test"], options | {name.removeprefix("test_"): options[name] for name in _TEST}
    settings, summary = shared.task_settings(options), shared.summary_options(options, measures=("Hit@1",))
    drawing = Drawing.checked(*(options[name] for name in ("group_size", "seed", "draws")))
    level = level_between(options["confidence_level"])
    splits = None if options["halves"] is None else checks.positive_integer(options["halves"], "halves")
    with bar("ranking") as progress:
        settings["progress"] = progress
        sets = {"train" if test else file.stem: _opened(file, options, settings)}
        if test is not None:
            sets["test"] = _opened_test(test, of_test, settings)
        result = _found(sets, drawing, summary, splits)
    draw(
        options["plot"], (6.4, 1.2 + 0.8 * len(result.groups)),
        lambda plots, ax, name: plots.group_values(result.groups, name, confidence_level=level, ax=ax),
        summary.measures,
    )  # fmt: skip
    deliver(result, options, confidence_level=level)


@dataclass(frozen=True)
class GroupedAnswer(Answer):
    """The results of a run: by kind, one result or one for each measure; `groups` has the reports on all sets."""

    parts: Mapping[str, Answer | Mapping[str, Answer]]
    groups: Mapping[str, GroupedReport]

    @property
    def results(self) -> list[Answer]:
        return [
            result for part in self.parts.values() for result in ([part] if isinstance(part, Answer) else part.values())
        ]

    def panels(self, **options: Any) -> list[Panel]:
        return [panel for result in self.results for panel in result.panels(**options)]

    def notes(self) -> list[str]:
        return list(dict.fromkeys(note for result in self.results for note in result.notes()))

    def to_dict(self, **options: Any) -> dict[str, Any]:
        return {
            name: part.to_dict(**options)
            if isinstance(part, Answer)
            else {"measures": {measure: _with_values(result.to_dict(**options)) for measure, result in part.items()}}
            for name, part in self.parts.items()
        }

    def data(self, **options: Any) -> Panel:
        return self.results[0].data(**options)


def _with_values(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a gap or halves, with the three values in groups first, as for every measure."""
    return {end: content["grouped"][end] for end in Triple._fields} | content


def _found(sets: Mapping[str, Task], drawing: Drawing, summary: SummaryOptions, splits: int | None) -> GroupedAnswer:
    """Compute all results that were asked for; each pass is made once for all measures."""
    parts: dict[str, Answer | Mapping[str, Answer]] = {}
    (name, task), *more = sets.items()
    measures = summary.measures
    if splits is not None:
        halves = split_of(task, measures[0], drawing._replace(draws=splits), summary)
    if more:
        gap = gap_of(sets["train"], sets["test"], measures[0], drawing, summary)
        parts["gap"] = {measure: replace(gap, measure=measure) for measure in measures}
        groups = {"train": gap.train_groups, "test": gap.test_groups}
    else:
        parts["grouped"] = report = grouped_of(task, drawing, summary)
        groups = {name: report}
    if splits is not None:
        parts["halves"] = {measure: replace(halves, measure=measure) for measure in measures}
    return GroupedAnswer(parts, groups)


def _opened(file: Path, options: dict[str, Any], settings: dict[str, Any], remedy: str | None = None) -> Task:
    with shared.files_named(file, options):
        return shared.open_task(file, options, settings, remedy)


def _opened_test(file: Path, options: dict[str, Any], settings: dict[str, Any]) -> Task:
    """Return the task of the test set; errors of its `exclude` name `test_exclude`."""
    remedy = "leave out --test-gallery, or give --test-exclude, the row of it that each query is"
    try:
        return _opened(file, options, settings, remedy)
    except InputError as error:
        if error.argument != "exclude":
            raise
        raise type(error)("test_exclude", error.args[1]) from None


@command(
    "index-recall truth.hdf5 hnsw.hdf5 ivf.hdf5 -k 10",
    click.argument("truth", type=FILE),
    click.argument("files", nargs=-1, type=FILE, metavar="FOUND..."),
    option("Input", "--distances", type=FILE, metavar="FILE",
        help="Read the distances of TRUTH from this file, if they are not in TRUTH itself."),
    systems.NAMES,
    option("Measure", "-k", type=INTEGER, default=10, metavar="N", help="Expect N neighbours."),
    option("Measure", "--depth", type=INTEGER, metavar="R",
        help="Count the first R returned items: k-recall@R, such as 1-recall@10. Default: as many as -k."),
    option("Ranking", "--tolerance", type=REAL, default=0.0, metavar="EPS",
        help="Tie what differs by no more; ann-benchmarks takes 1e-3, big-ann-benchmarks 1e-6."),
    option("Ranking", "--similarity", is_flag=True, help="Rank the largest first, such as inner products."),
    shared.LEVEL,
    systems.GATE,
    shared.TEXTS,
)  # fmt: skip
def index_recall(truth: Path, files: tuple[Path, ...], **options: Any) -> int:
    """Measure how many of the true neighbours vector indexes returned, under any order of ties at the last place.

    TRUTH has the ids and distances of the nearest items of each query, and FOUND the ids that an index returned: .h5 or
    .hdf5 (ann-benchmarks' neighbors and distances), .ibin and .fbin (big-ann-benchmarks), its .bin, .ivecs and .fvecs
    (SIFT1M), .npy, .npz, .parquet, or .jsonl, a line for each query. Without distances, ids alone are compared.

    With --fail-if-worse there are two FOUND, the old one first, and the exit status is 1 if the recall of the new one
    is significantly worse, query by query, or by another rule of --gate.
    """
    if not files:
        raise click.UsageError("index-recall takes TRUTH and at least one FOUND")
    if options["fail_if_worse"] and len(files) != 2:
        raise click.UsageError(
            f"--fail-if-worse goes with two FOUND, the old one and the new one, but got {len(files)}"
        )
    margin = systems.margin_of(options) / 100
    names, true = systems.names_of(files, options["names"]), read_neighbors(truth)
    if options["distances"] is not None:
        true = Neighbors(true.ids, read_neighbors(options["distances"]).distances)
    if true.ids is None:
        raise click.UsageError(f"{truth} has no ids")
    if true.distances is None and (options["distances"] or options["tolerance"] or options["similarity"]):
        more = "" if options["distances"] else "; --distances FILE names them"
        raise click.UsageError(f"{options['distances'] or truth} has no distances{more}")
    result = {path: read_neighbors(path) for path in files}
    lacking = next((path for path, entry in result.items() if entry.ids is None), None)
    if lacking is not None:
        raise click.UsageError(f"{lacking} has no ids")
    if options["similarity"]:
        true, result = true.negated(), {path: entry.negated() for path, entry in result.items()}
    k, tolerance = options["k"], options["tolerance"]
    for path, entry in result.items():
        odd = looks_swapped(true, entry, k, tolerance)
        if odd is not None:
            note(f"warning: {path} has {odd}, unlike {truth}: is {truth} the ground truth? It goes first")
    returned = dict(zip(names, (result[path].ids for path in files), strict=True))
    settings = {"tolerance": tolerance, "depth": options["depth"]}
    recalls = index_recall_of_truth(returned, true.ids, true.distances, k, **settings)
    decision = None
    if options["fail_if_worse"]:
        old, new = recalls.recalls.values()
        compared = compare(old, new, names=names, confidence_level=options["confidence_level"])
        decision = compared.gate(margin, options["gate"] or "worse")
    return systems.deliver_decided(recalls, options, decision, confidence_level=options["confidence_level"])


@command(
    "quantization embeddings.npz -m mAP",
    click.argument("file", type=PATH),
    shared.SOURCES,
    shared.RANKING,
    option("Ranking", "--formats", "-f", type=Choices(FORMATS, listed=True), multiple=True, metavar="NAMES",
        help="Convert to these formats, such as fp16,int8,binary; can be repeated."),
    option("Ranking", "--dims", multiple=True, metavar="NUMBERS",
        help="Truncate vectors to their first dimensions too, such as 64,128,256; can be repeated."),
    option("Ranking", "--base", type=Choices(FORMATS), metavar="NAME",
        help="Compare with this format. Default: the embeddings as they are."),
    option("Statistics", "--margin", type=REAL, metavar="POINTS",
        help="Say which is the smallest that is shown to lose less than so many percentage points."),
    option("Ranking", "--threshold", default="0", metavar="X",
        help="Make a bit 1 above this value, or above the mean or median of its column."),
    shared.RESAMPLE,
    shared.LEVEL,
    shared.SEED,
    plot("each measure against bytes"),
    shared.TEXTS,
    epilog=f"Formats: {', '.join(FORMATS)}. Other names: fp16, bf16, binary, int8-float-query ...",
)  # fmt: skip
def quantization(file: Path, **options: Any) -> None:
    """Evaluate the embeddings in FILE in fewer bits or dimensions, and print what each format loses at most.

    FILE and its labels are given as to `deadheat evaluate`, and are taken into memory. The difference of each format to
    the embeddings as they are has a confidence interval, and is compared query by query. With --dims alone, embeddings
    are truncated and not rounded.
    """
    of_task = shared.task_settings(options)
    settings = {key: options[key] for key in ("base", "singletons", "average", "resample", "confidence_level", "seed")}
    settings["measures"] = shared.summary_options(options, measures=MEASURES).measures
    settings |= {"formats": ",".join(options["formats"]) or None, "threshold": _threshold(options["threshold"])}
    margin = None if options["margin"] is None else systems.margin_of(options) / 100
    settings |= {"dims": _dims(options["dims"]), "margin": margin}
    with shared.opened(file, options, of_task) as task:
        result = compare_formats(task, **settings)
    draw(
        options["plot"], (6.4, 3.4), lambda plots, ax, name: plots.measure_against_bytes(result, name, ax=ax),
        result.measures,
    )  # fmt: skip
    deliver(result, options)


def _dims(texts: tuple[str, ...]) -> list[int] | None:
    """Return the numbers of dimensions that are asked for; None for none."""
    words = [word.strip() for text in texts for word in text.split(",")]
    odd = next((word for word in words if not (word.isascii() and word.isdigit() and len(word) < 10)), None)
    if odd is not None:
        raise click.UsageError(f"--dims must be positive integers with commas between them, but has {odd!r}")
    return list(map(int, words)) or None


def _threshold(text: str) -> float | str:
    """Return a number, or a name that the library accepts or refuses."""
    try:
        return float(text) if "_" not in text else text
    except ValueError:
        return text
