"""`deadheat run`: qrels and one run to a report, or several runs to a leaderboard."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from deadheat.analyses import comparison
from deadheat.cli.embeddings import with_options
from deadheat.cli.files import QUERIES, Command, Output
from deadheat.cli.outputs import TEXTS, asked, deliver
from deadheat.cli.several import TESTING, names_of, settings
from deadheat.cli.shell import output, say
from deadheat.cli.types import INTEGER, PATH, THREADS
from deadheat.inputs import trec
from deadheat.measures import parse_all
from deadheat.measures.trec_names import expanded
from deadheat.reports import Report, export
from deadheat.reports.runs import RUN_MEASURES, evaluate_run
from deadheat.reports.trec_lines import COUNTS, trec_lines

JUDGING = (
    click.option("-l", "--rel", type=INTEGER, default=1, show_default=True, help="The least grade that is relevant."),
    click.option("-J", "--judged-only", is_flag=True, help="Take documents without a judgement out of the run."),
    click.option(
        "-c/-C", "--complete/--incomplete", default=None,
        help="Count queries that RUN lacks as 0, or leave them out; default: count, but --trec-eval: leave out.",
    ),
    click.option(
        "--singletons", help="Queries without a relevant document: skip, zero, one; default: skip; --trec-eval: zero."
    ),
    click.option("--score-dtype", metavar="TYPE", help="Round scores to float32 (as pytrec_eval does) or float64."),
)  # fmt: skip


@click.command(cls=Command)
@click.argument("qrels", type=PATH)
@click.argument("runs", type=PATH, nargs=-1, metavar="RUN...")
@click.option(
    "--measure", "-m", "measures", multiple=True, metavar="NAMES", help='Such as "AP nDCG@10 P@5"; can be repeated.'
)
@with_options(JUDGING)
@click.option("-q", "--by-query", is_flag=True, help="Also each query: worst first, or by id with --trec-eval.")
@click.option("--trec-eval", is_flag=True, help="Print lines as trec_eval does: expected value, lower, upper.")
@click.option(
    "--per-query", type=Output(*QUERIES), metavar="OUT", help="Write each query's values: .csv, .tsv, .npz, .parquet."
)
@click.option("--name", "names", multiple=True, help="Of a run, once for each RUN; default: the file's name.")
@click.option("--threads", type=THREADS, metavar="N", help="Default: all cores.")
@with_options(TESTING, TEXTS)
def run(qrels: Path, runs: tuple[Path, ...], **options: Any) -> None:
    """Evaluate a TREC RUN against QRELS and print a table, in per cent; of several RUNs, a leaderboard.

    QRELS has lines "qid iter docid rel", and RUN has "qid Q0 docid rank score tag"; either may be gzipped. Scores rank,
    and equal scores tie. Measures have the names of `deadheat measures` or of trec_eval, such as map, ndcg_cut_10,
    P.5,10; with --trec-eval also num_q, num_ret, num_rel, num_rel_ret.

    --json, --markdown and --latex without OUT, or with -, print that instead of the table.
    """
    if not runs:
        raise click.UsageError("run takes QRELS and at least one RUN")
    names, counts = _measures(options["measures"])
    _check(options, counts, len(runs))
    judging = _judging(options)
    if len(runs) > 1:
        judged = trec.open_qrels(qrels)
        reports = {
            name: evaluate_run(path, judged, measures=names, **judging)
            for name, path in zip(names_of(runs, options["names"]), runs, strict=True)
        }
        deliver(comparison.leaderboard(reports, **settings(options)), options)
        return
    report = evaluate_run(runs[0], qrels, measures=names or None, **judging)
    if not names:  # counts are all that is asked for
        report = replace(report, measures=())
    if options["per_query"] is not None:  # first, so that nothing is printed if that fails
        with output(options["per_query"]) as file:
            export.write(export.columns(report), file, export.ending_of(options["per_query"]))
    _print(report, options, counts, judging["rel"])


def _measures(texts: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The measures that `-m` asks for, and the counts; the default measures if it asks for nothing."""
    words = [word for text in texts for word in text.split()]
    parts = [part for word in words for part in ([word] if re.search(r"\.[0-9]", word) else word.split(",")) if part]
    named = [name for part in parts if part not in COUNTS for name in expanded(part)]
    measures = parse_all(named or RUN_MEASURES) if named or not parts else ()
    return [measure.name for measure in measures], [part for part in dict.fromkeys(parts) if part in COUNTS]


def _check(options: dict[str, Any], counts: list[str], n_run: int) -> None:
    """Refuse, before the work, options that do not go together."""
    text = next((path for path in asked(options) if path is not None), None)
    if counts and not options["trec_eval"]:
        raise click.UsageError(f"{counts[0]} goes with --trec-eval")
    if options["trec_eval"] and text is not None:
        raise click.UsageError("--trec-eval prints lines of its own, and goes with no --json, --markdown or --latex")
    if options["by_query"] and text is not None:
        raise click.UsageError("-q goes with the table or --trec-eval; --per-query OUT writes the values")
    if options["per_query"] is not None:
        export.check(options["per_query"])
    if n_run > 1 and (options["by_query"] or options["trec_eval"] or options["per_query"] is not None):
        raise click.UsageError(f"-q, --trec-eval and --per-query go with one RUN, but got {n_run}")


def _judging(options: dict[str, Any]) -> dict[str, Any]:
    """How to judge the runs, as `evaluate_run` takes it; trec_eval has defaults of its own."""
    as_there = options["trec_eval"]
    chosen = {key: options[key] for key in ("rel", "judged_only", "score_dtype", "threads")}
    chosen["complete"] = not as_there if options["complete"] is None else options["complete"]
    chosen["singletons"] = options["singletons"] or ("zero" if as_there else "skip")
    return chosen


def _print(report: Report, options: dict[str, Any], counts: list[str], rel: int) -> None:
    """Print lines, or the table, below what each query has if that is asked for."""
    if options["trec_eval"]:
        say("\n".join(trec_lines(report, counts, rel=rel, by_query=options["by_query"])))
        return
    if options["by_query"]:
        say(f"{report.worst(report.n_query).to_text(digits=options['digits'])}\n")
    deliver(report, options)
