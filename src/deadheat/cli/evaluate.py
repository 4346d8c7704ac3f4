"""`deadheat evaluate`: check the options, read the files, evaluate, write the files, print."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
from numpy.typing import NDArray

from deadheat.cli.shell import PATH, STDOUT, TEXT, THREADS, bar, check_output, output, say
from deadheat.counting import CountingOptions
from deadheat.errors import InputError
from deadheat.exact import ALIASES, FORMATS
from deadheat.inputs import Pair, open_pair
from deadheat.inputs.labels import alike
from deadheat.inputs.layout import Layout
from deadheat.inputs.sources import open_labels
from deadheat.reports import Report, export
from deadheat.reports.evaluating import evaluate_pair
from deadheat.reports.options import SummaryOptions
from deadheat.reports.tables import DIGITS, decimals
from deadheat.ties import Rounded, Ties, Tolerance

_IDS = Layout(labels_key="ids", label_column="ids")  # where a file has more than that
_INPUTS = ("labels", "gallery", "gallery_labels")


@click.command()
@click.argument("file", type=PATH)
@click.option("--labels", type=PATH, help="File of labels, if not in FILE: .npy, .npz, .txt (one a line), .csv ...")
@click.option("--gallery", type=PATH, help="File of the items to rank; default: FILE itself, leaving each query out.")
@click.option("--gallery-labels", type=PATH, help="File of the gallery's labels, if not in its file.")
@click.option(
    "--exclude",
    type=PATH,
    multiple=True,
    metavar="ROWS",
    help="File of the row of the gallery, from 0 or -1, that each query is; or, given twice, files of ids of both.",
)
@click.option("--embeddings-key", metavar="NAME", help="Array of embeddings in a .npz file, or column of lists.")
@click.option("--labels-key", metavar="NAME", help="Array of labels in a .npz file.")
@click.option("--label-column", metavar="COLUMN", help="Column of labels in a table: its name, or its place from 0.")
@click.option("--header/--no-header", default=None, help="Whether line 1 of a table is names; default: guessed.")
@click.option(
    "--distance", default="cosine", show_default=True, help="Or euclidean, inner_product, cityblock, hamming."
)
@click.option("--measure", "-m", "measures", multiple=True, metavar="NAMES", help="Such as mAP,Hit@1; can be repeated.")
@click.option("--ties", default="exact", show_default=True, help="Or float16, bfloat16, float32, tolerance=1e-6.")
@click.option("--ties-of", metavar="VALUE", help="What is rounded for --ties float...: similarity or distance.")
@click.option("--singletons", default="skip", show_default=True, help="Or zero, one, balanced.")
@click.option("--average", default="query", show_default=True, help="Or class.")
@click.option("--digits", type=int, default=DIGITS, show_default=True, help="Decimals of per cent in the table.")
@click.option("--std", is_flag=True, help="Also the standard deviation of the mean over random tie-breaking.")
@click.option("--threads", type=THREADS, metavar="N", help="Default: all cores.")
@click.option("--device", metavar="NAME", help="Multiply and count with PyTorch: cuda, cuda:1, cpu; default: NumPy.")
@click.option("--checkpoint", type=PATH, metavar="DIR", help="Keep what is finished in DIR, and go on from there.")
@click.option("--per-query", type=PATH, metavar="OUT", help="Write each query's values: .csv, .tsv, .npz, .parquet.")
@click.option("--json", "json_out", type=TEXT, is_flag=False, flag_value="-", metavar="[OUT]", help="Write JSON.")
@click.option(
    "--markdown", type=TEXT, is_flag=False, flag_value="-", metavar="[OUT]", help="Write the table in Markdown."
)
@click.option("--save-profile", type=PATH, metavar="OUT", help="Write the tie profile (.npz), to measure again.")
def evaluate(file: Path, **options: Any) -> None:
    """Evaluate the embeddings and labels in FILE and print a table, in per cent.

    FILE is a .npz (arrays such as embeddings and labels), .npy (with --labels), .csv, .tsv or .parquet file, and a
    pattern in quotes, such as "emb-*.npy", stands for several. Files of .npy and .parquet can be larger than memory.
    Without --gallery it is leave one out: each sample is a query, ranked against all others. Queries that are in the
    gallery themselves are found out and said, unless --exclude tells which rows they are: in .txt (one a line) or .npy
    files, or under the name ids in .npz, .csv, .tsv or .parquet files. With ids, equal ones are the same item.

    --json and --markdown without OUT, or with -, print that instead of the table; put them after FILE.
    """
    outputs = Outputs.asked(options)
    outputs.check([path for path in (file, *map(options.get, _INPUTS)) if path is not None])
    decimals(options["digits"])
    ties = _ties(options["ties"], options["ties_of"])
    summary = SummaryOptions.checked(",".join(options["measures"]) or None, options["singletons"], options["average"])
    counting = CountingOptions.checked(
        ties=ties, **{key: options[key] for key in ("distance", "threads", "checkpoint", "device")}
    )
    with _files_named(file, options):
        pair = _opened(file, options)
        counting = replace(counting, exclude=_own_rows(options["exclude"]))
        with bar("ranking") as progress:
            report = evaluate_pair(pair, replace(counting, progress=progress), summary)
    outputs.write(report, pair.query.labels, std=options["std"], digits=options["digits"])


class Outputs(NamedTuple):
    """Where results go; None for what was not asked for, `STDOUT` for standard output."""

    per_query: Path | None
    json: Path | None
    markdown: Path | None
    profile: Path | None

    @classmethod
    def asked(cls, options: dict[str, Any]) -> Outputs:
        """What the options ask for; no two in one place."""
        outputs = cls(options["per_query"], options["json_out"], options["markdown"], options["save_profile"])
        paths = [path for path in outputs if path is not None]
        twice = next((path for path in paths if paths.count(path) > 1), None)
        if twice is not None:
            where = "standard output" if twice == STDOUT else str(twice)
            raise click.UsageError(f"two results cannot both be written to {where}")
        return outputs

    def check(self, inputs: list[Path]) -> None:
        """Refuse, before long work, what cannot be written."""
        if self.per_query is not None:
            export.check(self.per_query)
        for path in self:
            if path is not None and path != STDOUT:
                check_output(path, inputs)
        if self.profile is not None and self.profile.exists() and not self.profile.is_file():
            raise click.ClickException(f"cannot write {self.profile}: a profile must be a regular file")

    def write(self, report: Report, labels: NDArray[Any], *, std: bool, digits: int) -> None:
        """Write the files first, so that nothing is printed if one of them fails."""
        if self.per_query is not None:
            with output(self.per_query) as file:
                export.write(export.columns(report, labels), file, export.ending_of(self.per_query))
        if self.profile is not None:
            report.profile.save(self.profile.resolve())
        shown = {"std": std, "digits": digits}
        asked = [(partial(report.to_json, std=std), self.json), (partial(report.to_markdown, **shown), self.markdown)]
        texts = {path: text().rstrip() for text, path in asked if path is not None}
        printed = texts.pop(STDOUT, None)
        for path, text in texts.items():
            with output(path) as file:
                file.write(f"{text}\n".encode())
        say(report.to_text(**shown) if printed is None else printed)


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


def _opened(file: Path, options: dict[str, Any]) -> Pair:
    """The queries and the gallery in the files that the options name."""
    if options["gallery_labels"] is not None and options["gallery"] is None:
        raise click.UsageError("--gallery-labels goes with --gallery")
    layout = Layout(**{key: options[key] for key in ("embeddings_key", "labels_key", "label_column", "header")})
    return open_pair(file, *(options[key] for key in _INPUTS), layout=layout)


def _own_rows(paths: Sequence[Path]) -> Any:
    """What `exclude` of `deadheat.evaluate` is, from a file of rows or two files of ids."""
    if len(paths) > 2:
        raise click.UsageError("--exclude goes once with a file of rows, or twice with files of ids")
    columns = alike(open_labels(path, "exclude", _IDS) for path in paths)
    return tuple(columns) if len(columns) == 2 else next(iter(columns), None)


@contextmanager
def _files_named(file: Path, options: dict[str, Any]) -> Iterator[None]:
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
