"""Options by which commands are told of embeddings and of how to rank them: their names, their checks, their files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from deadheat.cli.types import PATH, THREADS
from deadheat.counting import CountingOptions
from deadheat.errors import InputError
from deadheat.exact import ALIASES, FORMATS
from deadheat.inputs import Pair, open_pair
from deadheat.inputs.labels import alike
from deadheat.inputs.layout import Layout
from deadheat.inputs.sources import open_labels
from deadheat.reports.options import SummaryOptions
from deadheat.ties import Rounded, Ties, Tolerance

Command = TypeVar("Command", bound=Callable[..., Any])

PARTS = ("labels", "gallery", "gallery_labels")
_IDS = Layout(labels_key="ids", label_column="ids")  # where a file has more than that

FILES = (
    click.option("--labels", type=PATH, help="File of labels, if not in FILE: .npy, .npz, .txt (one a line), .csv ..."),
    click.option(
        "--gallery", type=PATH, help="File of the items to rank; default: FILE itself, leaving each query out."
    ),
    click.option("--gallery-labels", type=PATH, help="File of the gallery's labels, if not in its file."),
)
EXCLUDE = (
    click.option(
        "--exclude",
        type=PATH,
        multiple=True,
        metavar="ROWS",
        help="File of the row of the gallery, from 0 or -1, that each query is; or, given twice, files of ids of both.",
    ),
)
LAYOUT = (
    click.option(
        "--embeddings-key",
        metavar="NAME",
        help="Array of embeddings in a .npz, .safetensors, .h5 or .zarr file, or column of lists.",
    ),
    click.option("--labels-key", metavar="NAME", help="Array of labels in such a file."),
    click.option(
        "--label-column", metavar="COLUMN", help="Column of labels in a table: its name, or its place from 0."
    ),
    click.option("--header/--no-header", default=None, help="Whether line 1 of a table is names; default: guessed."),
)
SOURCES = (*FILES, *EXCLUDE, *LAYOUT)
DISTANCE = click.option(
    "--distance", default="cosine", show_default=True, help="Or euclidean, inner_product, cityblock, hamming"
)
SCORES = (
    DISTANCE,
    click.option(
        "--measure", "-m", "measures", multiple=True, metavar="NAMES", help="Such as mAP,Hit@1; can be repeated."
    ),
)
_TIES_OF = click.option(
    "--ties-of", metavar="VALUE", help="What is rounded for --ties float...: similarity or distance."
)
TIES = (
    click.option("--ties", default="exact", show_default=True, help="Or float16, bfloat16, float32, tolerance=1e-6."),
    _TIES_OF,
)
_SINGLETONS = click.option("--singletons", default="skip", show_default=True, help="Or zero, one, balanced.")
_THREADS = click.option("--threads", type=THREADS, metavar="N", help="Default: all cores.")
GROUPS = (_SINGLETONS, _THREADS)  # of measures inside groups
ORDERS = (  # of whole rankings in tie groups, which a tolerance does not have
    click.option("--ties", default="exact", show_default=True, help="Or float16, bfloat16, float32."),
    _TIES_OF,
    _THREADS,
)
MEANS = (
    _SINGLETONS,
    click.option("--average", default="query", show_default=True, help="Or class."),
    _THREADS,
    click.option(
        "--device", metavar="NAME", help="Multiply and count with PyTorch: cuda, cuda:1, cpu; default: NumPy."
    ),
)
RANKING = (*SCORES, *TIES, *MEANS)


def with_options(*groups: Sequence[Callable[[Any], Any]]) -> Callable[[Command], Command]:
    """Give a command options, in this order."""

    def give(command: Command) -> Command:
        for option in reversed([option for group in groups for option in group]):
            command = option(command)
        return command

    return give


def summary_options(options: dict[str, Any], *, measures: Sequence[str] = ()) -> SummaryOptions:
    """What `RANKING` says of measures and means; a command can have default measures of its own."""
    names = ",".join(options["measures"] or measures) or None
    return SummaryOptions.checked(names, options["singletons"], options.get("average", "query"))


def counting_options(options: dict[str, Any], **more: Any) -> CountingOptions:
    """What `RANKING` says of distances and ties."""
    ties = _ties(options["ties"], options["ties_of"])
    return CountingOptions.checked(
        ties=ties, **{key: options[key] for key in ("distance", "threads", "device") if key in options}, **more
    )


def _ties(text: str, of: str | None) -> str | Ties:
    """What `--ties` and `--ties-of` say, as `deadheat.profile` takes it."""
    kind, _, amount = text.partition("=")
    if of is not None and kind.lower() not in {*FORMATS, *ALIASES}:
        raise click.UsageError(f"--ties-of goes with --ties {', '.join(FORMATS)}, but got --ties {text}")
    if kind == "tolerance":
        return Tolerance(_amount(amount))
    return text if of is None else Rounded(text, of=of)


def _amount(text: str) -> float:
    try:
        value = math.nan if "_" in text else float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise click.UsageError(f"--ties tolerance=... must be a number that is not negative, but got {text!r}")
    return value


def opened(file: Path, options: dict[str, Any]) -> Pair:
    """The queries and the gallery in the files that the options name."""
    if options["gallery_labels"] is not None and options["gallery"] is None:
        raise click.UsageError("--gallery-labels goes with --gallery")
    layout = Layout(**{key: options[key] for key in ("embeddings_key", "labels_key", "label_column", "header")})
    layout = layout._replace(left_out=tuple(options.get("left_out", ())))
    return open_pair(file, *(options[key] for key in PARTS), layout=layout)


def own_rows(options: dict[str, Any]) -> Any:
    """What `exclude` of `deadheat.evaluate` is, from a file of rows or two files of ids."""
    paths = options["exclude"]
    if len(paths) > 2:
        raise click.UsageError("--exclude goes once with a file of rows, or twice with files of ids")
    columns = alike(open_labels(path, "exclude", _IDS) for path in paths)
    return tuple(columns) if len(columns) == 2 else next(iter(columns), None)


@contextmanager
def files_named(file: Path, options: dict[str, Any]) -> Iterator[None]:
    """Begin what is said of an argument with the file that it came from."""
    files = {
        "embeddings": file,
        "labels": options["labels"] or file,
        "gallery": options["gallery"],
        "gallery_labels": options["gallery_labels"] or options["gallery"],
    }
    try:
        yield
    except InputError as error:
        path = error.file or files.get(error.argument)
        if path is None:
            raise
        title, rule = error.args
        raise type(error)(f"{path}: {error.argument if error.file else title}", rule) from None
