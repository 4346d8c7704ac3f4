"""The command: `deadheat evaluate`, `deadheat measures`, `deadheat demo`, `deadheat reproduce`.

What is here is options and their order: check the options, read the files, evaluate, write the files, print. The rest
of the package is imported inside the commands, so that help comes at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from deadheat.cli.shell import Program, bar, check_output, output, say

if TYPE_CHECKING:
    from deadheat.inputs import Pair
    from deadheat.reports import Report
    from deadheat.studies.study import Outcome

ROUNDINGS = ("float16", "bfloat16", "float32")
STDOUT = Path("-")

_path = click.Path(path_type=Path)


@click.group(
    "deadheat", cls=Program, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="deadheat", message="deadheat %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Evaluate embeddings: every measure as lower bound, expectation and upper bound over all ways to break ties."""
    if ctx.invoked_subcommand is None:
        say(ctx.get_help())


@main.command(short_help="Evaluate a file of embeddings and labels.")
@click.argument("file", type=_path)
@click.option("--labels", type=_path, help="File of labels, if not in FILE: .npy, .npz, .txt (one a line), .csv ...")
@click.option("--gallery", type=_path, help="File of the items to rank; default: FILE itself, leaving each query out.")
@click.option("--gallery-labels", type=_path, help="File of the gallery's labels, if not in its file.")
@click.option("--embeddings-key", metavar="NAME", help="Array of embeddings in a .npz file, or column of lists.")
@click.option("--labels-key", metavar="NAME", help="Array of labels in a .npz file.")
@click.option("--label-column", metavar="COLUMN", help="Column of labels in a table: its name, or its place from 0.")
@click.option("--header/--no-header", default=None, help="Whether line 1 of a table is names; default: guessed.")
@click.option("--distance", default="cosine", show_default=True, help="Or euclidean, inner_product, cityblock, hamming")
@click.option("--measure", "-m", "measures", multiple=True, metavar="NAMES", help="Such as mAP,Hit@1; can be repeated.")
@click.option("--ties", default="exact", show_default=True, help="Or float16, bfloat16, float32, tolerance=1e-6.")
@click.option("--ties-of", metavar="VALUE", help="What is rounded for --ties float...: similarity or distance.")
@click.option("--singletons", default="skip", show_default=True, help="Or zero, one, balanced.")
@click.option("--average", default="query", show_default=True, help="Or class.")
@click.option("--std", is_flag=True, help="Also the standard deviation of the mean over random tie-breaking.")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Default: all cores.")
@click.option("--device", metavar="NAME", help="Multiply and count with PyTorch: cuda, cuda:1, cpu; default: NumPy.")
@click.option("--checkpoint", type=_path, metavar="DIR", help="Keep what is finished in DIR, and go on from there.")
@click.option("--per-query", type=_path, metavar="OUT", help="Write each query's values: .csv, .tsv, .npz, .parquet.")
@click.option("--json", "json_out", type=_path, is_flag=False, flag_value="-", metavar="[OUT]", help="Write JSON.")
@click.option(
    "--markdown", type=_path, is_flag=False, flag_value="-", metavar="[OUT]", help="Write the table in Markdown."
)
@click.option("--save-profile", type=_path, metavar="OUT", help="Write the tie profile (.npz), to measure again.")
def evaluate(file: Path, **options: Any) -> None:
    """Evaluate the embeddings and labels in FILE and print a table, in per cent.

    FILE is a .npz (arrays such as embeddings and labels), .npy (with --labels), .csv, .tsv or .parquet file, and a
    pattern in quotes, such as "emb-*.npy", stands for several. Files of .npy and .parquet can be larger than memory.
    Without --gallery it is leave one out: each sample is a query, ranked against all others.

    --json and --markdown without OUT, or with -, print that instead of the table; put them after FILE.
    """
    outputs = _outputs(options)
    _check_outputs(outputs, [path for path in (file, *map(options.get, _INPUTS)) if path is not None])
    ties = _ties(options["ties"], options["ties_of"])
    names = _measures(options["measures"])
    pair = _read(file, options)
    report = _evaluated(file, pair, options, measures=names, ties=ties)
    _deliver(report, pair.query.labels, outputs, options["std"])


@main.command()
def measures() -> None:
    """List the measures, with their other names."""
    from deadheat.measures import listing

    say(listing())


@main.command()
def demo() -> None:
    """Evaluate 1797 handwritten digits, and then an embedding that cheats a sort."""
    from deadheat.cli import demo as demonstration

    say(demonstration.text())


@main.command(short_help="Compute published tables and figures anew, beside the published values.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--out", type=_path, default=Path("reproduced"), show_default=True, metavar="DIR", help="Written to.")
@click.option("--data", type=_path, metavar="DIR", help="Data that is no part of deadheat, such as phocnet_gw.npz.")
@click.option("--cache", type=_path, metavar="DIR", help="Where trained networks are kept; default: cache in --out.")
@click.option("--quick", is_flag=True, help="Smaller sizes: seconds, for a first look.")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Default: all cores.")
@click.option("--list", "only_list", is_flag=True, help="Print the names of the studies and end.")
def reproduce(names: tuple[str, ...], only_list: bool, **options: Any) -> None:
    """Compute the tables and figures of the studies that deadheat stands on, and put them beside what was published.

    NAMEs are studies (--list); without any, all of them, which takes some minutes. Each study gets a folder in --out
    with PNG and CSV files, and index.html shows all that is there, with a mark for what agrees, what differs and why,
    and what needs data that was not found.
    """
    from deadheat.studies import registry, runner

    if only_list:
        width = max(map(len, registry.STUDIES))
        say("\n".join(f"{name:{width}}  {study.question}" for name, study in registry.STUDIES.items()))
        return
    outcomes = runner.reproduce(names, **options, say=lambda line: click.echo(line, err=True))
    say(_marks(outcomes))
    say(f"{options['out'] / 'index.html'}")


def _marks(outcomes: dict[str, Outcome]) -> str:
    """How many findings of each study agree, differ and so on."""
    from collections import Counter

    width = max(map(len, outcomes))
    lines = []
    for name, outcome in outcomes.items():
        counts = Counter(str(finding.mark) for finding in outcome.findings)
        lines.append(f"{name:{width}}  {', '.join(f'{count} {mark}' for mark, count in counts.items())}")
    return "\n".join(lines)


_INPUTS = ("labels", "gallery", "gallery_labels")


class Outputs(NamedTuple):
    """Where results go; None for what was not asked for, `STDOUT` for standard output."""

    per_query: Path | None
    json: Path | None
    markdown: Path | None
    profile: Path | None


def _outputs(options: dict[str, Any]) -> Outputs:
    outputs = Outputs(options["per_query"], options["json_out"], options["markdown"], options["save_profile"])
    given = [path for path in outputs if path is not None]
    twice = next((path for path in given if given.count(path) > 1), None)
    if twice is not None:
        where = "standard output" if twice == STDOUT else str(twice)
        raise click.UsageError(f"two results cannot both be written to {where}")
    return outputs


def _check_outputs(outputs: Outputs, inputs: list[Path]) -> None:
    from deadheat.reports import export

    if outputs.per_query is not None:
        export.check(outputs.per_query)
    for path in outputs:
        if path is not None and path != STDOUT:
            check_output(path, inputs)
    if outputs.profile is not None and outputs.profile.exists() and not outputs.profile.is_file():
        raise click.ClickException(f"cannot write {outputs.profile}: a profile must be a regular file")


def _ties(text: str, of: str | None) -> Any:
    """What `--ties` and `--ties-of` say, as `deadheat.profile` takes it."""
    from deadheat.ties import Rounded, Tolerance

    kind, _, amount = text.partition("=")
    if of is not None and kind not in ROUNDINGS:
        raise click.UsageError(f"--ties-of goes with --ties {', '.join(ROUNDINGS)}, but got --ties {text}")
    if kind == "tolerance":
        return Tolerance(_amount(amount))
    return text if of is None else Rounded(text, of=of)


def _amount(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise click.UsageError(f"--ties tolerance=... must be a number that is not negative, but got {text!r}")
    return value


def _measures(given: Iterable[str]) -> list[str] | None:
    """The names in `-m mAP,Hit@1 -m MRR`, checked; None for none."""
    from deadheat.measures import parse

    names = [name.strip() for text in given for name in text.split(",")]
    return [parse(name).name for name in names] or None


def _read(file: Path, options: dict[str, Any]) -> Pair:
    from deadheat.inputs import open_pair
    from deadheat.inputs.formats import Layout

    if options["gallery_labels"] is not None and options["gallery"] is None:
        raise click.UsageError("--gallery-labels goes with --gallery")
    layout = Layout(**{key: options[key] for key in ("embeddings_key", "labels_key", "label_column", "header")})
    with _files_named(file, options):
        return open_pair(file, *(options[key] for key in _INPUTS), layout=layout)


def _evaluated(file: Path, pair: Pair, options: dict[str, Any], **how: Any) -> Report:
    from deadheat import reports

    how |= {key: options[key] for key in ("distance", "singletons", "average", "threads", "checkpoint", "device")}
    with _files_named(file, options), bar("ranking") as progress:
        return reports.evaluate(*pair.query, *(pair.gallery or ()), progress=progress, **how)


@contextmanager
def _files_named(file: Path, options: dict[str, Any]) -> Iterator[None]:
    """Begin what is said of an argument with the file that it came from."""
    from deadheat.errors import InputError

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
        _, rule = error.args
        raise type(error)(f"{path}: {error.argument}", rule) from None


def _deliver(report: Report, labels: Any, outputs: Outputs, std: bool) -> None:
    """Write the files first, so that nothing is printed if one of them fails."""
    from deadheat.reports import export

    if outputs.per_query is not None:
        with output(outputs.per_query) as file:
            export.write(export.columns(report, labels), file, outputs.per_query.suffix.lower())
    if outputs.profile is not None:
        report.profile.save(outputs.profile.resolve())
    texts = [(report.to_json(std=std), outputs.json), (report.to_markdown(std=std).rstrip(), outputs.markdown)]
    for text, path in texts:
        if path is not None and path != STDOUT:
            with output(path) as file:
                file.write(f"{text}\n".encode())
    printed = [text for text, path in texts if path == STDOUT]
    say(printed[0] if printed else report.to_text(std=std))
