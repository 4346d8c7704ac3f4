"""`deadheat collisions`, `confidence`, `exploit` and `quantization`: one question each about a file of embeddings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from deadheat.analyses.collisions import CollisionTable, checked_reach, collisions_of_pair, counts_of_pair
from deadheat.analyses.confidence.rejecting import confidence_report
from deadheat.analyses.exploit import SearchOptions, exploit_pair
from deadheat.analyses.quantization import MEASURES, compare_formats_of_pair
from deadheat.analyses.rounding import FORMATS
from deadheat.cli import options as shared
from deadheat.cli.files import INTEGER, PATH, REAL, SEED, Command
from deadheat.cli.options import deliver, draw_measures, plot, plots_for, save_picture, with_options
from deadheat.cli.shell import bar
from deadheat.engine.counting.own_gallery import queries_in_gallery
from deadheat.errors import InvalidValueError
from deadheat.reports.evaluating import evaluate_pair


@click.command(cls=Command)
@click.argument("file", type=PATH)
@with_options(shared.SOURCES)
@click.option(
    "--distance", "distances", multiple=True, default=("cosine",), show_default=True, metavar="NAMES",
    help="Or euclidean, inner_product, cityblock, hamming; can be repeated.",
)  # fmt: skip
@with_options(shared.ORDERS)
@click.option("--within", type=REAL, metavar="EPS", help="Also join neighbours in rank at most so far apart.")
@click.option("--depth", type=INTEGER, metavar="N", help="Look at the N nearest alone; default: at all ranks.")
@with_options([plot("what is at each query and rank")], shared.PLAIN_TEXTS)
def collisions(file: Path, **options: Any) -> None:
    """Count the neighbours of queries in FILE that are equally far, so that nothing says which comes first.

    A group of them is relevant, irrelevant, or mixed; only a mixed one can change a measure. FILE, its labels and a
    gallery are given as to `deadheat evaluate`. With several distances there is a table of each, and no picture. Counts
    take memory that does not grow with the queries, a picture 6 bytes a query and rank.

    --json, --markdown and --latex without OUT, or with -, print that instead of the tables.
    """
    plots = plots_for(options["plot"])
    names = dict.fromkeys(name.strip() for name in ",".join(options["distances"]).split(","))
    each_distance = [shared.counting_options(options | {"distance": name}) for name in names]
    passes = list({each.distance: each for each in each_distance}.values())  # some distances have several names
    if plots is not None and len(passes) > 1:
        raise click.UsageError(f"--plot draws one distance, but --distance names {len(passes)}")
    reach = checked_reach(options["within"], options["depth"], passes[0].rule)
    with shared.files_named(file, options):
        pair, exclude = shared.open_files(file, options), shared.own_rows(options)
        passes = [replace(each, exclude=exclude).fitted(pair) for each in passes]
        queries_in_gallery(pair, passes[0])
        with bar("ranking") as progress:
            passes = [replace(each, progress=progress) for each in passes]
            if plots is None:
                found = counts_of_pair(pair, passes, *reach)
            else:
                drawn = collisions_of_pair(pair, passes[0], *reach)
                found = CollisionTable({drawn.distance: drawn.counts}, {drawn.distance: drawn.rule})
    if plots is not None:
        figure = plots.style.figure(6.4, 5.4)
        plots.collision_image(drawn, ax=figure.subplots()).set_title(f"{drawn.distance}, {drawn.rule}")
        save_picture(figure, options["plot"])
    deliver(found, options)


@click.command(cls=Command)
@click.argument("file", type=PATH)
@click.option(
    "--confidence", type=PATH, metavar="FILE", help="A number for each query, larger is surer: any file of labels."
)
@click.option("--confidence-key", metavar="NAME", help="Its array or column: in that file, or else in FILE.")
@click.option("--target", type=PATH, metavar="FILE", help="What the confidence should be in the order of, likewise.")
@click.option("--target-key", metavar="NAME", help="Its array or column: in that file, or else in FILE.")
@with_options(shared.SOURCES, shared.RANKING, [plot("error against reject")], shared.TEXTS)
def confidence(file: Path, **options: Any) -> None:
    """Judge the confidences of a model in its embeddings in FILE by the measures of its queries.

    Prints the error of the queries that are kept when the least confident are rejected, by Hit@1 and MAP@R or by the
    measures asked for; how often the confidence is right as a guess at Hit@1 (confidence against Recall@1); and the
    rank correlation with a target, such as label entropies or levels of blur, which are uncertainties and correlate
    negatively with a good confidence. FILE and its labels are given as to `deadheat evaluate`. A larger confidence is
    surer; only the order counts.

    --json, --markdown and --latex without OUT, or with -, print that instead of the tables.
    """
    plots = plots_for(options["plot"])
    counting, summary = shared.counting_options(options), shared.summary_options(options, measures=("Hit@1", "MAP@R"))
    if options["confidence"] is None and options["confidence_key"] is None:
        raise click.UsageError("--confidence FILE or --confidence-key NAME must say where the confidences are")
    names = ("confidence", "target")
    left_out = [options[f"{name}_key"] for name in names if options[name] is None and options[f"{name}_key"]]
    with shared.opened(file, {**options, "left_out": left_out}, counting) as (pair, counting):
        sure, target = (_numbers(file, options, name, len(pair.query.labels)) for name in names)
        report = evaluate_pair(pair, counting, summary)
    found = confidence_report(report, sure, target)
    if plots is not None:
        figure = draw_measures(
            plots, list(found.curves), 4.2,
            lambda name, ax: plots.error_reject(found.curves[name], ax=ax).set_ylabel(
                f"error of the kept by {name} (%)"
            ),
        )  # fmt: skip
        save_picture(figure, options["plot"])
    deliver(found, options)


def _numbers(file: Path, options: dict[str, Any], name: str, n_query: int) -> Any:
    """The confidences, or the targets, of their own file or of FILE; None if neither is given."""
    path, key = options[name], options[f"{name}_key"]
    if path is None and key is None:
        return None
    values = shared.read_numbers(path or file, name, key)
    if len(values) != n_query:
        came = f"{path or file} has {len(values)} for {n_query} queries"
        raise InvalidValueError(name, f"must have one entry per query, but {came}")
    return values


@click.command(cls=Command)
@click.argument("file", type=PATH)
@with_options(shared.SOURCES, [shared.DISTANCE])
@click.option("--measure", "-m", default="mAP", show_default=True, metavar="NAME", help="One measure.")
@with_options(shared.ORDERS)
@click.option("--tries", type=INTEGER, default=4, show_default=True, metavar="N", help="Searches in each direction.")
@click.option("--draws", type=INTEGER, default=100, show_default=True, metavar="N", help="Random orders to evaluate.")
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of the searches and the draws.")
@with_options([plot("what orders reach between the bounds")], shared.TEXTS)
def exploit(file: Path, **options: Any) -> None:
    """Find the lowest and the highest value that a stable sort gives by the order of FILE, or of the gallery.

    Where distances tie, such a sort leaves items in the order of their file. FILE and its labels are given as to
    `deadheat evaluate`. What is found by a search can be reached; what lies between it and the bound is open.

    --json, --markdown and --latex without OUT, or with -, print that instead of the table.
    """
    plots, counting = plots_for(options["plot"]), shared.counting_options(options)
    search_options = SearchOptions.checked(*(options[name] for name in ("measure", "seed", "tries", "draws")))
    with shared.files_named(file, options):
        pair = shared.open_files(file, options)
        found = exploit_pair(pair, replace(counting, exclude=shared.own_rows(options)), search_options)
    if plots is not None:
        figure = plots.style.figure(7.2, 1.9)
        plots.order_ranges({file.stem: found}, ax=figure.subplots())
        save_picture(figure, options["plot"])
    deliver(found, options)


@click.command(
    cls=Command, epilog=f"Formats: {', '.join(FORMATS)}. Other names: fp16, bf16, binary, int8-float-query ..."
)
@click.argument("file", type=PATH)
@with_options(shared.SOURCES, shared.RANKING)
@click.option("--formats", "-f", multiple=True, metavar="NAMES", help="Such as fp16,int8,binary; can be repeated.")
@click.option("--base", metavar="NAME", help="Compare with this format; default: the embeddings as they are.")
@click.option("--threshold", default="0", show_default=True, metavar="X", help="Where 1 bit is 1; or mean, median.")
@click.option("--resample", metavar="UNIT", help="What the intervals draw: query or class.")
@click.option("--confidence-level", type=REAL, default=0.95, show_default=True, metavar="P", help="Of the intervals.")
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of the draws.")
@with_options([plot("each measure against bytes")], shared.TEXTS)
def quantization(file: Path, **options: Any) -> None:
    """Evaluate the embeddings in FILE in fewer and fewer bits, and print what each format loses at most.

    FILE and its labels are given as to `deadheat evaluate`, and are taken into memory. The difference of each format to
    the embeddings as they are has a confidence interval, and is compared query by query.

    --json, --markdown and --latex without OUT, or with -, print that instead of the tables.
    """
    plots = plots_for(options["plot"])
    counting, summary = shared.counting_options(options), shared.summary_options(options, measures=MEASURES)
    settings = {key: options[key] for key in ("base", "resample", "confidence_level", "seed")}
    settings |= {"formats": ",".join(options["formats"]) or None, "threshold": _threshold(options["threshold"])}
    with shared.opened(file, options, counting) as (pair, counting):
        found = compare_formats_of_pair(pair, counting, summary, **settings)
    if plots is not None:
        draw = draw_measures(
            plots, found.measures, 3.4, lambda name, ax: plots.measure_against_bytes(found, name, ax=ax)
        )
        save_picture(draw, options["plot"])
    deliver(found, options)


def _threshold(text: str) -> float | str:
    """A number, or a name that the library accepts or refuses."""
    try:
        return float(text) if "_" not in text else text
    except ValueError:
        return text
