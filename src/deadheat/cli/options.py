"""Options that commands share, and their meaning: files to open, ways to count and measure, outputs."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, get_args

import click
import numpy as np
from numpy.typing import NDArray

from deadheat.cli import files
from deadheat.cli.files import INTEGER, LINES, PATH, REAL, THREADS, Choices, Output, option
from deadheat.cli.shell import STDOUT, bar, note, output, say, say_tables
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.distances.registry import DISTANCES
from deadheat.engine.exact import ALIASES, FORMATS
from deadheat.engine.task import Task, task_of_pair
from deadheat.engine.ties.rounded import Rounded
from deadheat.engine.ties.rule import Ties
from deadheat.engine.ties.tolerance import Tolerance
from deadheat.errors import FileError, InputError
from deadheat.inputs.files import FileLayout, usual_names
from deadheat.inputs.formats.tables import is_number
from deadheat.inputs.labels import common_kind
from deadheat.inputs.relevance import within
from deadheat.inputs.samples import Pair, QueryLabels, open_labels, open_pair, open_rows, open_unlabelled
from deadheat.measures.names import FAMILIES
from deadheat.reports import export
from deadheat.reports.answer import Answer
from deadheat.reports.averaging import Average, Singletons, SummaryOptions
from deadheat.reports.report import Report
from deadheat.reports.tables import DIGITS, decimals, labelled
from deadheat.support import checks
from deadheat.support.lazy import json, lazy, require

if TYPE_CHECKING:
    from deadheat.inputs import rows
else:
    rows = lazy("deadheat.inputs.rows")

_CUTOFFS = {"must": ("@1", "@10"), "may": ("", "@10"), "recall": ("@0.5",)}
_PICTURES = (".png", ".pdf", ".svg")
COMPLETIONS = [row.name + end for row in FAMILIES for end in _CUTOFFS.get(row.cutoff, ("",))]  # of names of measures

PARTS = ("labels", "gallery", "gallery_labels")
_IDS = FileLayout(labels_key="ids", label_column="ids")  # where a file has more than that

FILES = (
    option("Input", "--labels", type=LINES,
        help="Read labels from this file: .npy, .npz, .txt (one a line), .csv ...  Default: from FILE itself."),
    option("Input", "--gallery", type=PATH,
        help="Rank the items of this file. Default: rank those of FILE itself, leaving each query out."),
    option("Input", "--gallery-labels", type=LINES, needs="gallery", help="Read the gallery's labels from this file."),
)  # fmt: skip
EXCLUDE = (
    option("Input", "--exclude", type=LINES, multiple=True, metavar="ROWS",
        help="Leave each query out of the gallery: the file has the row of the gallery that each query is, from 0, or "
        "-1 for none. Repeat the option to give ids: first a file of query ids, then one of gallery ids."),
)  # fmt: skip
HEADER = option(
    "Input", "--header/--no-header", default=None,
    help="Say whether the first line of a table has names. Default: guess.",
)  # fmt: skip
LAYOUT = (
    option("Input", "--embeddings-key", metavar="NAME",
        help="Take the embeddings from this array (.npz, .safetensors, .h5) or column of lists."),
    option("Input", "--labels-key", metavar="NAME", help="Take the labels from this array of such a file."),
    option("Input", "--label-column", metavar="COLUMN",
        help="Take the labels from this column of a table: its name, or its place from 0."),
    HEADER,
    option("Input", "--columns", multiple=True, metavar="PATTERN",
        help="Take these columns of a table as the embedding, such as 'dim_*'; can be repeated. Default: all others."),
    option("Input", "--drop", multiple=True, metavar="PATTERN",
        help="Leave such columns of a table out of the embedding, as id or fold; can be repeated."),
)  # fmt: skip
RELEVANCE = option(
    "Ranking", "--relevance", type=Choices(["any", "same", "count"]),
    help="Of several labels a row, take as relevant what shares any, has the same, or by the count. Default: any.",
)  # fmt: skip
RELEVANT = (
    option("Input", "--relevant", type=LINES, multiple=True, metavar="FILE",
        help="Take what is relevant from this file, in place of labels: a matrix of queries and gallery (.npy, .npz, "
        ".csv), or their rows, from 0, a line for each query (.txt)."),
    option("Input", "--within", "radius", type=REAL, needs="relevant", metavar="RADIUS",
        help="Take as relevant what is at most so far: --relevant has a position for each row. Repeat it for those of "
        "the gallery."),
)  # fmt: skip
SOURCES = (*FILES, *EXCLUDE, *LAYOUT, RELEVANCE)
DISTANCE = option(
    "Ranking", "--distance", type=Choices(DISTANCES), default="cosine", metavar="NAME",
    help=f"Rank by one of {', '.join(DISTANCES)}.",
)  # fmt: skip
MEASURES = option(
    "Measure", "--measure", "-m", "measures", type=Choices(COMPLETIONS, listed=True), multiple=True, metavar="NAMES",
    help="Compute these measures, such as mAP,Hit@1; can be repeated. `deadheat --measures` lists all.",
)  # fmt: skip
SCORES = (DISTANCE, MEASURES)
_TIES_OF = option(
    "Ranking", "--ties-of", type=Choices(["similarity", "distance"]), metavar="VALUE",
    help="Round the similarity or the distance, with --ties float16 and the like.",
)  # fmt: skip
TIES = (
    option("Ranking", "--ties", type=Choices(["exact", *FORMATS, "tolerance=EPS"]), default="exact",
        help="Tie items whose exact distances are equal, or equal once rounded; tolerance=1e-6 gives bounds for "
        "distances that may be off by so much."),
    _TIES_OF,
)  # fmt: skip
_SINGLETONS = option(
    "Measure", "--singletons", type=Choices(get_args(Singletons)), default="skip",
    help="Count a query without a relevant item as this.",
)  # fmt: skip
THREADS_OPTION = option("Run", "--threads", type=THREADS, metavar="N", help="Use N threads. Default: all cores.")
DEVICE_OPTION = option(
    "Run", "--device", metavar="NAME",
    help="Multiply and count with PyTorch on this card: cuda or cuda:1. Default: cpu, the compiled core.",
)  # fmt: skip
SCORE_TIES = option(
    "Ranking", "--ties", type=Choices(["exact", *FORMATS, "float64", "tolerance=EPS"]), default="exact",
    help="Tie scores that are equal, or equal once rounded, as float32 for pytrec_eval; tolerance=1e-6 gives bounds.",
)  # fmt: skip
GROUPS = (_SINGLETONS, THREADS_OPTION)  # of measures inside groups
ORDERS = (  # of whole rankings in tie groups, which a tolerance does not have
    option("Ranking", "--ties", type=Choices(["exact", *FORMATS]), default="exact",
        help="Tie items whose exact distances are equal, or equal once rounded."),
    _TIES_OF,
    THREADS_OPTION,
)  # fmt: skip
MEANS = (
    _SINGLETONS,
    option("Measure", "--average", type=Choices(get_args(Average)), default="query",
        help="Take the mean over queries, or over the means of the classes."),
    THREADS_OPTION,
    DEVICE_OPTION,
)  # fmt: skip
RANKING = (*SCORES, *TIES, *MEANS)
RESAMPLE = option(
    "Statistics", "--resample", type=Choices(get_args(Average)),
    help="Draw these as independent units. Default: class for leave one out, else query.",
)  # fmt: skip
INTERVAL = option(
    "Statistics",
    "--interval",
    is_flag=True,
    help="Show a 95 % interval of each measure too, over ties and the drawing of queries or classes.",
)
LEVEL = option(
    "Statistics", "--confidence-level", type=REAL, default=0.95, metavar="P",
    help="Give intervals this confidence level.",
)  # fmt: skip
BY_SLICE = option(
    "Statistics", "--by-slice", type=LINES, metavar="FILE",
    help="Print, in place of the table, the means for each value in this file, such as question types: a value a line "
    "in the order of the queries, or for TREC runs a query id and its value.",
)  # fmt: skip
SLICE_COLUMN = option(
    "Statistics", "--slice-column", metavar="NAME",
    help="Slice by this column or array: of --by-slice, or else of the file of the labels, or of FILE.",
)  # fmt: skip
WEIGHTS = option(
    "Measure", "--weights", type=LINES, metavar="FILE",
    help="Weight the queries in all means by the numbers in this file, such as their traffic: one a line in the order "
    "of the queries, or for TREC runs a query id and its number.",
)  # fmt: skip
SEED = option("Run", "--seed", type=files.SEED, default=0, metavar="N", help="Seed all random draws with N.")

Sliced = TypeVar("Sliced", bound=Answer)


def summary_options(options: dict[str, Any], *, measures: Sequence[str] = ()) -> SummaryOptions:
    """Return the measures and means that `RANKING` sets; a command can have default measures of its own."""
    names = ",".join(options["measures"] or measures) or None
    return SummaryOptions.checked(names, options["singletons"], options.get("average", "query"))


def task_settings(options: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the settings of a task that the options of a command give, checked before files are opened."""
    settings = {key: options[key] for key in ("distance", "threads", "device", "relevance") if key in options} | more
    if "ties" in options:
        settings["ties"] = ties_of(options)
    CountingOptions.checked(**settings)
    return settings


def ties_of(options: dict[str, Any]) -> str | Ties:
    """Return the meaning of `--ties` and, where there is such an option, `--ties-of`, as `deadheat.Task` takes it."""
    text, rounded = options["ties"], options.get("ties_of")
    kind, _, amount = text.partition("=")
    if rounded is not None and kind.lower() not in {*FORMATS, *ALIASES}:
        raise click.UsageError(f"--ties-of goes with --ties {', '.join(FORMATS)}, but got --ties {text}")
    if kind != "tolerance":
        return text if rounded is None else Rounded(text, of=rounded)
    try:
        eps = math.nan if "_" in amount else float(amount)
    except ValueError:
        eps = math.nan
    if not 0 <= eps < math.inf:
        raise click.UsageError(f"--ties tolerance=... must be a number that is not negative, but got {amount!r}")
    return Tolerance(eps)


def open_files(file: Path, options: dict[str, Any]) -> Pair:
    """Open the queries and the gallery in the files that the options name."""
    layout = FileLayout(**{key: options[key] for key in ("embeddings_key", "labels_key", "label_column", "header")})
    columns, drop = (tuple(options[key]) or None for key in ("columns", "drop"))
    layout = layout._replace(left_out=tuple(options.get("left_out", ())), columns=columns, drop=drop)
    if options.get("relevant"):
        for name in ("labels", "gallery_labels", "labels_key"):
            if options[name] is not None:
                raise click.UsageError(f"--{name.replace('_', '-')} must be left out with --relevant")
        pair = open_unlabelled(file, options["gallery"], layout)
    else:
        pair = open_pair(file, *(options[key] for key in PARTS), layout=layout)
    for path, samples in ((file, pair.query), (options["gallery"], pair.gallery)):
        if samples is not None:
            source = samples.embeddings
            note(f"{path}: {source.shape[0]} x {source.shape[1]}, {source.stored}", level=1)
    return pair


def own_rows(options: dict[str, Any]) -> Any:
    """Return the argument `exclude` of `deadheat.evaluate`, from a file of rows or two files of ids."""
    paths = options["exclude"]
    if len(paths) > 2:
        raise click.UsageError("--exclude goes once with a file of rows, or twice with files of ids")
    columns = common_kind(open_labels(path, "exclude", _IDS) for path in paths)
    return tuple(columns) if len(columns) == 2 else next(iter(columns), None)


def _positions_in(path: Path) -> Any:
    if path.suffix.lower() in (".npy", ".txt"):
        return numbers_in(path, FileLayout(content="positions"), "row")
    return open_rows(path, "positions").whole()


def relevant_pairs(options: dict[str, Any]) -> Any:
    """Return the argument `relevant` of `deadheat.Task`, from a file, or from files of positions and a radius."""
    paths, radius = options.get("relevant") or (), options.get("radius")
    if radius is not None:
        return within(radius, *map(_positions_in, paths))
    if len(paths) > 1:
        raise click.UsageError("--relevant goes once, or with --within once more for the positions of the gallery")
    return paths[0] if paths else None


@contextmanager
def opened(file: Path, options: dict[str, Any], settings: dict[str, Any], title: str = "ranking") -> Iterator[Task]:
    """Open the task of the files that the options name, with a progress bar for a person."""
    with files_named(file, options), bar(title) as progress:
        yield open_task(file, options, settings | {"progress": progress})


def open_task(file: Path, options: dict[str, Any], settings: dict[str, Any], remedy: str | None = None) -> Task:
    """Return the task of the files that the options name; `remedy` says what to do about queries in the gallery."""
    relevant = relevant_pairs(options)
    pair, files = open_files(file, options), [file, *filter(None, [options["gallery"]])]
    title = " and ".join(map(str, files))
    return task_of_pair(pair, files=title, remedy=remedy, exclude=own_rows(options), relevant=relevant, **settings)


@contextmanager
def files_named(file: Path, options: dict[str, Any]) -> Iterator[None]:
    """Begin messages about an argument with the file that it came from."""
    files = {
        "embeddings": file,
        "labels": options["labels"] or file,
        "gallery": options["gallery"],
        "gallery_labels": options["gallery_labels"] or options["gallery"],
    }
    names = ("relevant", "relevant") if options.get("radius") is None else ("positions", "gallery_positions")
    files |= dict(zip(names, options.get("relevant") or (), strict=False))
    try:
        yield
    except InputError as error:
        path = error.file or files.get(error.argument)
        if path is None:
            raise
        title, rule = error.args
        title = (error.argument if error.file else title).replace("_", " ")
        raise FileError(path, f": {title} {rule}") from None


def weighted(reports: Mapping[str, Report], path: Path | None) -> dict[str, Report]:
    """Return reports with the weights in the file of `WEIGHTS`, of queries in order or, if they have ids, by these."""
    if path is None:
        return dict(reports)
    if next(iter(reports.values())).profile.query_ids is None:
        weights: Any = read_numbers(path, "weights")
    else:
        weights = rows.pairs_in(path, "a query id and its one weight")
        wrong = next((text for text in weights.values() if not is_number(text)), None)
        if wrong is not None:
            raise FileError(path, f" must hold a number for each query, but has {checks.shown(wrong)}")
        weights = {query: float(text) for query, text in weights.items()}
    try:
        return {name: report.weighted(weights) for name, report in reports.items()}
    except InputError as error:
        raise FileError(path, f": {' '.join(error.args)}") from None


def slices(
    by_slice: Callable[[QueryLabels], Sliced], options: dict[str, Any], file: Path, report: Report
) -> Sliced | None:
    """Return the slices by the values of `BY_SLICE` and `SLICE_COLUMN`, in order or, if queries have ids, by these."""
    path, key = options["by_slice"], options.get("slice_column")
    if path is None and key is None:
        return None
    labels = options.get("labels")
    path = path or (labels[0] if isinstance(labels, tuple) and labels else labels) or file
    layout = FileLayout(labels_key=key, label_column=key, content="by_slice")
    by_id = report.profile.query_ids is not None
    pair = "a query id and its one value"
    column = rows.pairs_in(path, pair, several_words=True) if by_id else open_labels(path, "by_slice", layout)
    try:
        return by_slice(column)
    except InputError as error:
        raise FileError(path, f": {' '.join(error.args)}") from None


def read_numbers(path: Path, name: str, key: str | None = None) -> NDArray[Any]:
    """Read a number for each query from a file: one a line, or an array or column that is not the labels."""
    return numbers_in(path, FileLayout(labels_key=key, label_column=key, content=name), "query")


def numbers_in(path: Path, layout: FileLayout, unit: str) -> NDArray[Any]:
    """Return the numbers in a file, one for each query or item."""
    values = np.asarray(open_labels(path, layout.content, layout))
    if values.dtype.kind in "biuf":
        return values
    for row, value in enumerate(values.tolist()):
        if not (isinstance(value, (str, bytes, int, float)) and is_number(value)):
            raise FileError(path, f" must hold a number for each {unit}, but entry {row} is no number")
    return np.array(list(map(float, values.tolist())))


def columns_of_numbers(file: Path, options: dict[str, Any], names: Sequence[str]) -> list[str]:
    """Return the columns of FILE that hold these numbers, and are no part of its embeddings."""
    columns: list[str] = []
    for name in names:
        path, key = options[name], options[f"{name}_key"]
        if path is None or path.resolve() == file.resolve():
            columns += [key] if key else usual_names(name) if path else []
    return columns


def _text(*names: str, about: str) -> Any:
    text = f"Write {about} to OUT; - prints it in place of the table."
    return option("Output", *names, type=Output(is_text=True), metavar="OUT", help=text)


def _checked(check: Callable[[Any], Any]) -> Any:
    """Return the callback of an option whose value the library checks, before long work."""

    def callback(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value is not None:
            check(value)
        return value

    return callback


JSON = _text("--json", "json_out", about="JSON")
PLAIN_TEXTS = (  # of tables without a measure
    JSON,
    _text("--markdown", about="Markdown"),
    _text("--latex", about="a table for LaTeX (booktabs)"),
)
QUERIES = option(
    "Output", "--per-query", type=Output(), callback=_checked(export.check), metavar="OUT",
    help="Write the values of each query to OUT: .csv, .tsv, .npz or .parquet.",
)  # fmt: skip
TEXTS = (
    option("Output", "--digits", type=INTEGER, callback=_checked(decimals), default=DIGITS,
        help="Print per cent with so many decimals."),
    *PLAIN_TEXTS,
)  # fmt: skip


def _drawable(path: Path) -> None:
    if path.suffix.lower() not in _PICTURES:
        raise click.UsageError(f"--plot {path} must end in one of {', '.join(_PICTURES)}")
    require("deadheat.plots.style", "plots", "--plot")


def plot(about: str) -> Any:
    """Return the option that draws a picture with `draw`."""
    text = f"Draw {about} to OUT: .png, .pdf or .svg."
    return option("Output", "--plot", type=Output(), callback=_checked(_drawable), metavar="OUT", help=text)


def draw(
    path: Path | None,
    size: tuple[float, float],
    paint: Callable[[Any, Any, str], Any],
    parts: Sequence[str] = ("",),
    in_row: bool = False,
) -> None:
    """Draw a picture, if one is asked for: `paint(deadheat.plots, axes, part)` for each part, one below the other."""
    if path is None:
        return
    plots, shape = import_module("deadheat.plots"), (1, len(parts)) if in_row else (len(parts), 1)
    figure = plots.style.figure(size[0] * shape[1], size[1] * shape[0])
    for part, ax in zip(parts, figure.subplots(*shape, squeeze=False).flat, strict=True):
        paint(plots, ax, part)
    with output(path) as file:
        figure.savefig(file, format=path.suffix.lower().removeprefix("."), dpi=200)


def html(about: str) -> Any:
    """Return the option that writes a page with `write_page`."""
    needs = _checked(lambda _: require("jinja2", "plots", "--html"))
    return option("Output", "--html", type=Output(), callback=needs, metavar="OUT", help=about)


def write_page(path: Path, page: str) -> None:
    """Write a page of HTML, whole or not at all."""
    with output(path) as file:
        file.write(page.encode())


def write_queries(path: Path | None, report: Report) -> None:
    """Write the values of each query, if asked for: before anything is printed, so that nothing is if that fails."""
    if path is not None:
        with output(path) as file:
            export.write(report, file, path)


def about_page(*paths: Path) -> dict[str, str]:
    """Return the origin of a page: its data set and its command."""
    return {"data set": " and ".join(map(str, paths)), "command": shlex.join(["deadheat", *sys.argv[1:]])}


def asked(options: dict[str, Any]) -> list[Path | None]:
    """Return the paths of the texts of `TEXTS` or `PLAIN_TEXTS`; None for a text that was not asked for."""
    return [options["json_out"], options["markdown"], options["latex"]]


class Explained(Protocol):
    """A result that explains each part of its table."""

    def explain(self) -> str: ...


def deliver(
    result: Answer, options: dict[str, Any], *, parts: Mapping[str, Answer] | None = None,
    explained: Explained | None = None, **content: Any,
) -> None:  # fmt: skip
    """Write the texts that are asked for, and then print one of them or the table; `content` selects their content.

    `parts` are further results: keys of the JSON, and below the tables of Markdown and LaTeX. With --explain, an
    explanation follows.
    """
    shown = {key: options[key] for key in ("digits",) if key in options} | content
    further = dict(parts or {})
    in_json = {name: part.to_dict() for name, part in further.items()}
    made: list[Callable[[], str]] = [
        lambda: json.dumps(labelled(result.to_dict(**content) | in_json), indent=2, allow_nan=False),
        lambda: "\n".join([result.to_markdown(**shown), *(part.to_markdown() for part in further.values())]),
        lambda: "\n".join([result.to_latex(**shown), *(part.to_latex() for part in further.values())]),
    ]
    texts = {path: text().rstrip() for text, path in zip(made, asked(options), strict=True) if path is not None}
    write_texts(texts, result.to_text(**shown))
    if explained is not None and options["explain"]:
        say_tables(f"\n{explained.explain()}")


def write_texts(texts: Mapping[Path, str], table: str) -> None:
    """Write texts to their files, and print that for standard output or, without one, the table."""
    for path, text in texts.items():
        if path != STDOUT:
            with output(path) as file:
                file.write(f"{text}\n".encode())
    say(texts[STDOUT]) if STDOUT in texts else say_tables(table)
