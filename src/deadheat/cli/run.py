"""`deadheat run`: qrels and one run to a report, or several runs to a leaderboard."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, get_args

import click

from deadheat.analyses import leaderboard as leaderboards
from deadheat.cli.files import INTEGER, PATH, QUERIES, Command, Output
from deadheat.cli.options import TEXTS, THREADS_OPTION, asked, deliver, with_options
from deadheat.cli.several import TESTING, names_of, settings
from deadheat.cli.shell import output, say
from deadheat.inputs import trec
from deadheat.reports import export
from deadheat.reports.report import Report
from deadheat.reports.runs import RUN_MEASURES, evaluate_run
from deadheat.reports.trec import LEFT_OUT, NICKNAMES, Shown, expanded, is_of_lines, measures_of, trec_lines

_NO_VALUE = "has no closed form over the orders of ties here, or is no measure of relevance"

JUDGING = (
    click.option("-l", "--rel", type=INTEGER, default=1, show_default=True, help="The least grade that is relevant."),
    click.option("-J", "--judged-only", is_flag=True, help="Take documents without a judgement out of the run."),
    click.option("-M", "--max-docs", type=INTEGER, metavar="N", help="Only the N first documents of each query count."),
    click.option(
        "-c/-C", "--complete/--incomplete", default=None,
        help="Count queries that RUN lacks as 0, or leave them out; default: count, but --trec-eval: leave out.",
    ),
    click.option(
        "--singletons", help="Queries without a relevant document: skip, zero, one; default: skip; --trec-eval: zero."
    ),
    click.option("--score-dtype", metavar="TYPE", help="Round scores to float32 (as pytrec_eval does) or float64."),
    click.option("-R", "rel_format", type=click.Choice(["qrels"]), default="qrels", help="What QRELS is; qrels alone."),
)  # fmt: skip
LINES = (
    click.option("--trec-eval", is_flag=True, help="Print lines as trec_eval does: expected value, lower, upper."),
    click.option(
        "--only", type=click.Choice(get_args(Shown)), help="With --trec-eval: this value alone, to diff with its lines."
    ),
    click.option("-n", "--no-summary", is_flag=True, help="With --trec-eval: no lines of all queries."),
    click.option(
        "-N", "n_docs", type=INTEGER, default=0, metavar="N", help="With --trec-eval: documents in all, for utility."
    ),
)


@click.command(cls=Command)
@click.argument("qrels", type=PATH)
@click.argument("runs", type=PATH, nargs=-1, metavar="RUN...")
@click.option(
    "--measure", "-m", "measures", multiple=True, metavar="NAMES", help='Such as "AP nDCG@10 P@5"; can be repeated.'
)
@with_options(JUDGING)
@click.option("-q", "--by-query", is_flag=True, help="Also each query: worst first, or by id with --trec-eval.")
@with_options(LINES)
@click.option(
    "--per-query", type=Output(*QUERIES), metavar="OUT", help="Write each query's values: .csv, .tsv, .npz, .parquet."
)
@click.option("--name", "names", multiple=True, help="Of a run, once for each RUN; default: the file's name.")
@with_options([THREADS_OPTION], TESTING, TEXTS)
def run(qrels: Path, runs: tuple[Path, ...], **options: Any) -> None:
    """Evaluate a TREC RUN against QRELS and print a table, in per cent; of several RUNs, a leaderboard.

    QRELS has lines "qid iter docid rel", and RUN has "qid Q0 docid rank score tag"; either may be gzipped. Scores rank,
    and equal scores tie. Measures have the names of `deadheat measures` or of trec_eval, such as map, ndcg_cut_10,
    P.5,10; with --trec-eval also num_q, gm_map, utility and the like, and official (the default), set and all_trec,
    in trec_eval's order.

    --json, --markdown and --latex without OUT, or with -, print that instead of the table.
    """
    if not runs:
        raise click.UsageError("run takes QRELS and at least one RUN")
    names = _names(options["measures"], options["trec_eval"])
    _check(options, names, len(runs))
    judging, measures = _judging(options), measures_of(names) or None
    if len(runs) > 1:
        for path in runs:  # before the first is read
            os.stat(path)
        judged = trec.open_qrels(qrels)
        reports = {
            name: evaluate_run(path, judged, measures=measures, **judging)
            for name, path in zip(names_of(runs, options["names"]), runs, strict=True)
        }
        deliver(leaderboards.leaderboard(reports, **settings(options)), options)
        return
    report = evaluate_run(runs[0], qrels, measures=measures, **judging)
    if options["per_query"] is not None:  # first, so that nothing is printed if that fails
        with output(options["per_query"]) as file:
            export.write(report, file, options["per_query"])
    _print(report, options, names, runs[0])


def _names(texts: tuple[str, ...], as_lines: bool) -> list[str]:
    """The names that `-m` asks for, each once; by default those of trec_eval or of a report on a run."""
    words = [word for text in texts for word in text.split()]
    parts = [part for word in words for part in ([word] if re.search(r"\.[-.0-9]", word) else word.split(",")) if part]
    for name in parts:
        if name in LEFT_OUT:
            raise click.UsageError(f"{name} {_NO_VALUE}")
    left_out = [name for part in parts for name in NICKNAMES.get(part, ()) if name in LEFT_OUT]
    if left_out and as_lines:
        click.echo(f"deadheat: left out {', '.join(left_out)}: each {_NO_VALUE}", err=True)
    asked = parts or (["official"] if as_lines else RUN_MEASURES)
    return [name for name in dict.fromkeys(name for part in asked for name in expanded(part)) if name not in LEFT_OUT]


def _check(options: dict[str, Any], names: list[str], n_run: int) -> None:
    """Refuse, before the work, options that do not go together."""
    text = next((path for path in asked(options) if path is not None), None)
    lines = [f"--only {options['only']}" if options["only"] else "", "-n" if options["no_summary"] else ""]
    lines += ["-N" if options["n_docs"] else "", *(name for name in names if is_of_lines(name))]
    for part in filter(None, lines):
        if not options["trec_eval"]:
            raise click.UsageError(f"{part} goes with --trec-eval")
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
    chosen = {key: options[key] for key in ("rel", "judged_only", "max_docs", "score_dtype", "threads")}
    chosen["complete"] = not as_there if options["complete"] is None else options["complete"]
    chosen["singletons"] = options["singletons"] or ("zero" if as_there else "skip")
    return chosen


def _print(report: Report, options: dict[str, Any], names: list[str], run: Path) -> None:
    """Print lines, or the table, below what each query has if that is asked for."""
    if options["trec_eval"]:
        chosen = {key: options[key] for key in ("rel", "by_query", "only", "n_docs")}
        run_id = trec.run_id(run) if "runid" in names else None
        say("\n".join(trec_lines(report, names, summary=not options["no_summary"], run_id=run_id, **chosen)))
        return
    if options["by_query"]:
        say(f"{report.worst(report.n_query).to_text(digits=options['digits'])}\n")
    deliver(report, options)
