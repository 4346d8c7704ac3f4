"""`deadheat run`: qrels and one run to a report, or several runs to a leaderboard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import click

from deadheat.analyses import leaderboard as leaderboards
from deadheat.cli.files import HTML, INTEGER, PATH, QUERIES, Choice, Command, Output, option
from deadheat.cli.options import TEXTS, THREADS_OPTION, about_page, asked, deliver, with_options, write_page
from deadheat.cli.shell import note, output, say
from deadheat.cli.systems import (
    EXPLAIN,
    JUDGING,
    NAMES,
    TESTING,
    deliver_explained,
    reports_of_runs,
    require_table,
    settings,
)  # fmt: skip
from deadheat.inputs import trec
from deadheat.plots.pages.report_page import html_report
from deadheat.reports import export
from deadheat.reports.averaging import Singletons
from deadheat.reports.report import Report
from deadheat.reports.runs import RUN_MEASURES
from deadheat.reports.trec import LEFT_OUT, NICKNAMES, Shown, expanded, is_of_lines, measures_of, trec_lines
from deadheat.support.lazy import require

_NO_VALUE = "has no closed form over the orders of ties here, or is no measure of relevance"


@click.command(cls=Command)
@click.argument("files", type=PATH, nargs=-1, metavar="QRELS RUN...")
@with_options(
    [
        option("TREC run", "--qrels", type=PATH, metavar="QRELS", help="Take judgements from here, and RUNs alone."),
        NAMES,
        *JUDGING,
        option("TREC run", "-R", "rel_format", type=click.Choice(["qrels"]), default="qrels",
            help="Read QRELS in this format."),
        option("Measure", "--measure", "-m", "measures", multiple=True, metavar="NAMES",
            help='Compute these measures, such as "AP nDCG@10 P@5"; can be repeated.'),
        option("Measure", "--singletons", type=Choice(get_args(Singletons)),
            help="Count a query without a relevant document as this. Default: skip; with --trec-eval: zero."),
    ],
    TESTING,
    [
        option("Output", "-q", "--by-query", is_flag=True,
            help="Print each query too: the worst first, or by id with --trec-eval."),
        option("Output", "--trec-eval", is_flag=True, help="Print lines as trec_eval does: expected, lower, upper."),
        option("Output", "--only", type=click.Choice(get_args(Shown)),
            help="With --trec-eval, print this value alone, to compare by diff."),
        option("Output", "-n", "--no-summary", is_flag=True, help="With --trec-eval, print no lines of all queries."),
        option("TREC run", "-N", "n_docs", type=INTEGER, default=0, metavar="N",
            help="With --trec-eval, take N as the number of all documents, for utility."),
        option("Output", "--per-query", type=Output(*QUERIES), metavar="OUT",
            help="Write the values of each query to OUT: .csv, .tsv, .npz or .parquet."),
    ],
    TEXTS,
    [
        option("Output", "--html", type=Output(HTML), metavar="OUT",
            help="Write a shareable report (HTML) about the RUN, or about the first of two, compared with the other."),
        EXPLAIN,
        THREADS_OPTION,
    ],
)  # fmt: skip
def run(files: tuple[Path, ...], **options: Any) -> None:
    """Evaluate a TREC RUN against QRELS and print a table, in per cent; of several RUNs, a leaderboard.

    QRELS has lines "qid iter docid rel", and RUN has "qid Q0 docid rank score tag"; either may be gzipped. Scores rank,
    and equal scores tie. Measures have the names of `deadheat measures` or of trec_eval, such as map, ndcg_cut_10,
    P.5,10; with --trec-eval also num_q, gm_map, utility and the like, and official (the default), set and all_trec,
    in trec_eval's order. `deadheat compare A B --qrels QRELS` tests two runs against each other.
    """
    qrels, runs = (options["qrels"], files) if options["qrels"] else (next(iter(files), None), files[1:])
    if qrels is None or not runs:
        raise click.UsageError("run takes QRELS and at least one RUN")
    names = _names(options["measures"], options["trec_eval"])
    _check(options, names, len(runs))
    reports = reports_of_runs(
        runs, qrels, options["names"], measures=measures_of(names) or None, **_judging(options)
    )  # fmt: skip
    report = next(iter(reports.values()))
    if options["per_query"] is not None:  # first, so that nothing is printed if that fails
        with output(options["per_query"]) as file:
            export.write(report, file, options["per_query"])
    if options["html"] is not None:
        write_page(options["html"], _page(reports, about_page(*runs, qrels)))
    if len(reports) > 1:
        deliver_explained(leaderboards.leaderboard(reports, **settings(options)), options)
    else:
        _print(report, options, names, runs[0])


def _page(reports: dict[str, Report], about: dict[str, str]) -> str:
    names = list(reports)
    if len(names) == 1:
        return html_report(reports[names[0]], title=names[0], about=about)
    a, b = names
    return html_report(reports[a], reports[b], title=f"{a} and {b}", names=(a, b), about=about)


def _names(texts: tuple[str, ...], as_lines: bool) -> list[str]:
    """The names that `-m` asks for, each once; by default those of trec_eval or of a report on a run."""
    words = [word for text in texts for word in text.split()]
    parts = [part for word in words for part in ([word] if re.search(r"\.[-.0-9]", word) else word.split(",")) if part]
    for name in parts:
        if name in LEFT_OUT:
            raise click.UsageError(f"{name} {_NO_VALUE}")
    left_out = [name for part in parts for name in NICKNAMES.get(part, ()) if name in LEFT_OUT]
    if left_out and as_lines:
        note(f"left out {', '.join(left_out)}: each {_NO_VALUE}")
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
    if options["html"] is not None:
        require("jinja2", "html", "--html")
        if n_run > 2:
            raise click.UsageError(f"--html goes with one RUN, or two, but got {n_run}")
    if options["explain"] and n_run == 1:
        raise click.UsageError("--explain goes with several RUNs")
    require_table(options)
    if n_run > 1 and (options["by_query"] or options["trec_eval"] or options["per_query"] is not None):
        raise click.UsageError(f"-q, --trec-eval and --per-query go with one RUN, but got {n_run}")


def _judging(options: dict[str, Any]) -> dict[str, Any]:
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
