"""`deadheat run`, `compare` and `leaderboard`: TREC runs, and several systems on the same queries, tested.

Systems are files of embeddings, or TREC runs (with --qrels).
"""

from __future__ import annotations

import errno
import math
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, get_args

import click
from click.core import ParameterSource

from deadheat.analyses import comparison
from deadheat.analyses import leaderboard as leaderboards
from deadheat.analyses.board import Board
from deadheat.analyses.difference import By, PairedTest
from deadheat.analyses.gate import Gate, Rule
from deadheat.analyses.public_board import PublicBoard, lower_bounds
from deadheat.cli import isolation, suites
from deadheat.cli import options as shared
from deadheat.cli.files import COLUMN, INTEGER, LINES, PATH, REAL, Choices, Command, as_dict, option
from deadheat.cli.options import deliver, with_options, write_page
from deadheat.cli.shell import STDOUT, note, say, say_tables
from deadheat.engine.sources.run import from_run
from deadheat.errors import MOST, FileError, InputError, UndefinedError, printable, reason
from deadheat.inputs import rows, trec
from deadheat.inputs.files import matching, require_there
from deadheat.inputs.trec import Repeats
from deadheat.measures.names import level, parse
from deadheat.plots.pages import html_report
from deadheat.reports.answer import KINDS, Answer
from deadheat.reports.averaging import Average, Singletons, SummaryOptions, fractions
from deadheat.reports.evaluating import RUN_MEASURES, evaluate, report_of
from deadheat.reports.report import Report
from deadheat.reports.runs import with_ids
from deadheat.reports.statistics.permutation import ALTERNATIVES
from deadheat.reports.statistics.settings import BOOTSTRAP
from deadheat.reports.tables import plain
from deadheat.reports.trec import LEFT_OUT, NICKNAMES, Shown, expanded, is_of_lines, measures_of, trec_lines
from deadheat.support.lazy import json

WORSE = 1  # exit status
_NO_VALUE = "has no closed form over the orders of ties here, or is no measure of relevance"
_COMMAS = re.compile(r",(?![^()]*\))")  # outside parentheses

NAMES = option(
    "Input", "--name", "names", multiple=True,
    help="Name a system, once for each file in their order. Default: the names of the files.",
)  # fmt: skip
FILES = (
    NAMES,
    option("Input", "--labels", multiple=True, type=LINES,
        help="Read labels from this file: once for all systems, or once for each. Default: from each FILE itself."),
    option("Input", "--gallery", multiple=True, type=PATH, help="Rank the items of this file, once for each system."),
    option("Input", "--gallery-labels", multiple=True, type=LINES, needs="gallery",
        help="Read the gallery's labels from this file: once for all systems, or once for each."),
)  # fmt: skip
CHUNKS = (
    option("TREC run", "--repeats", type=Choices(get_args(Repeats)),
        help="Take the best entry of a document that a run lists several times, such as once for each chunk."),
    option("TREC run", "--documents", type=PATH, metavar="FILE",
        help="Take the document of each chunk in a run from here: two columns."),
    option("TREC run", "--column", "run_columns", multiple=True, type=COLUMN, callback=as_dict, metavar="ROLE=NAME",
        help="Take query, document or score of a run from this column: a name, or a place from 0; separator=X splits "
        "lists in a column, and order=ascending is for distances."),
    option("TREC run", "--qrels-column", "qrels_columns", multiple=True, type=COLUMN, callback=as_dict,
        metavar="ROLE=NAME", help="The same of the qrels: query, document, relevance, separator."),
)  # fmt: skip
JUDGING = (
    option("TREC run", "-l", "--rel", type=REAL,
        help="Count documents of this gain and above as relevant. Default: of any above 0."),
    option("TREC run", "--unjudged", metavar="TREATMENT",
        help="Take documents without a judgement as irrelevant, as unknown (irrelevant or relevant, of the largest "
        "judged gain or of the number that is given instead), or as junk, out of the run. Default: irrelevant."),
    option("TREC run", "-J", "condensed", is_flag=True, help="The same as --unjudged junk, as in trec_eval."),
    option("TREC run", "-M", "--max-docs", type=INTEGER, metavar="N",
        help="Count only the first N documents of each query."),
    *CHUNKS,
    option("TREC run", "--ascending", is_flag=True, help="Take the lowest score of a run as the best one."),
    option("TREC run", "--exclude-itself", is_flag=True,
        help="Leave the document with the id of the query out of its ranking."),
    option("TREC run", "-c/-C", "--complete/--incomplete", default=None,
        help="Count queries that a run lacks as 0, or leave them out. Default: count them, except with --trec-eval."),
)  # fmt: skip
QRELS = (
    option("TREC run", "--qrels", type=PATH, metavar="QRELS", help="Take FILEs as TREC runs, with these judgements."),
    *JUDGING,
)
TESTING = (
    option("Statistics", "--by", type=click.Choice(get_args(By)), default="lower",
        help="Rank and test by the lower bounds of all systems, which are guaranteed, the expected values or the upper "
        "bounds."),
    shared.RESAMPLE,
    shared.LEVEL,
    option("Statistics", "--method", type=Choices(BOOTSTRAP), default="percentile",
        help="Make intervals by this bootstrap."),
    option("Statistics", "--n-resamples", type=INTEGER, default=9999, metavar="N",
        help="Draw N resamples for an interval, and at most N permutations for a p-value."),
    option("Run", "--seed", type=INTEGER, default=0, metavar="N", help="Seed all draws with N."),
)  # fmt: skip
GATE = (
    option("Run", "--fail-if-worse", is_flag=True, help="Exit with 1 if B does not pass, by --gate and --margin."),
    option("Run", "--gate", type=click.Choice(get_args(Rule)), needs="fail_if_worse",
        help="With --fail-if-worse, fail B if a measure is shown to fall by more than --margin (worse), falls by "
        "more (drop, without a test), or is not shown to fall by less (as_good). Default: worse."),
    option("Run", "--margin", type=REAL, needs="fail_if_worse", metavar="POINTS",
        help="Allow B to lose so many percentage points, or ranks, with --fail-if-worse. Default: 0."),
)  # fmt: skip
EXPLAIN = option("Output", "--explain", is_flag=True, help="Explain each part of the table below it.")

_SETTINGS = ("resample", "alternative", "confidence_level", "method", "n_resamples", "seed")
_JUDGING = ("rel", "max_docs", "complete", "repeats", "documents", "qrels_columns")
_OF_EMBEDDINGS = (
    *(*shared.PARTS, "exclude", "embeddings_key", "labels_key", "label_column", "header", "columns", "drop"),
    *("distance", "ties_of", "average", "device", "slice_column"),
)
_OF_BOARD = {"names", "json_out", "markdown", "latex", "digits", "memory", "seconds"}  # not for the process of a FILE
_OF_RUNS = {"qrels", "run_columns", "unjudged", "condensed", "ascending", "exclude_itself", *_JUDGING}


@click.command(cls=Command, example="compare old.npz new.npz -m mAP --fail-if-worse")
@click.argument("files", nargs=-1, type=PATH, metavar="A B")
@with_options(FILES, shared.EXCLUDE, shared.LAYOUT, QRELS, shared.RANKING)
@with_options(TESTING)
@with_options(
    [
        option("Statistics", "--alternative", type=Choices(ALTERNATIVES), default="two-sided",
            help="Test whether A and B differ, A is better (greater), or A is worse (less).")
    ],
    [shared.BY_SLICE, shared.SLICE_COLUMN, shared.WEIGHTS],
    shared.TEXTS,
    [
        EXPLAIN,
        shared.html("Write a report about A, compared with B."),
    ],
    GATE,
)  # fmt: skip
def compare(files: tuple[Path, ...], **options: Any) -> int:
    """Compare two systems on the same queries: how far apart they are, and whether chance or ties explain it.

    A and B are files as `deadheat evaluate` takes them, of the same samples in the same order; without --gallery each
    query is left out of its own ranking. With --qrels they are TREC runs. In continuous integration A is the old system
    and B the new one: with --fail-if-worse the exit status is 1 if a measure is significantly worse by more than
    --margin points (or by another rule, --gate), and 2 if that cannot be decided. The reason is on standard error.
    """
    if len(files) != 2:
        more = "; deadheat leaderboard takes more" if len(files) > 2 else ""
        raise click.UsageError(f"compare takes two files, but got {len(files)}{more}")
    margin = margin_of(options)
    left_out = [*filter(None, [options["slice_column"]])]
    reports = _reports(files, {**options, "left_out": left_out})
    (a, of_a), (b, of_b) = shared.weighted(reports, options["weights"]).items()
    tested = {"by": options["by"], **settings(options)}
    result = comparison.compare(of_a, of_b, names=(a, b), **tested)
    sliced = shared.slices(result.by_slice, options, files[0], of_a)
    scale = KINDS[parse(next(iter(result))).unit].scale
    decision = result.gate(margin / scale, options["gate"] or "worse") if options["fail_if_worse"] else None
    if options["html"] is not None:
        about = shared.about_page(*files)
        write_page(
            options["html"],
            html_report(of_a, of_b, title=f"{a} and {b}", names=(a, b), about=about, slices=sliced, **tested),
        )
    return deliver_decided(sliced or result, options, decision, result)


def margin_of(options: dict[str, Any]) -> float:
    """Return --margin, in points of per cent, or in ranks."""
    margin = float(options["margin"] or 0)
    if not 0 <= margin <= 100:
        raise click.UsageError(f"--margin must be points of per cent from 0 to 100, but is {margin:g}")
    return margin


_OF_TASKS = (
    option("Statistics", "--resample", type=Choices([*get_args(Average), "task"]),
        help="Draw these as independent units: of folders, queries or classes within their tasks, or whole tasks. "
        "Default: class for leave one out, else query."),
    option("Input", "--groups", type=PATH, metavar="FILE",
        help="Rank folders by the mean over groups of tasks: a task and its group in each line."),
)  # fmt: skip


@click.command(cls=Command, example="leaderboard a.npz b.npz c.npz -m mAP,Hit@1")
@click.argument("files", nargs=-1, type=PATH, metavar="FILE...")
@with_options(FILES, shared.EXCLUDE, shared.LAYOUT, QRELS, shared.RANKING)
@with_options(
    [
        option("Output", "--public", is_flag=True,
            help="While labels are secret: rounded lower bounds and ranks alone, and why a FILE is refused. Each FILE "
            "is read in a process of its own."),
        *isolation.options("public"),
    ],
    [each for each in TESTING if each is not shared.RESAMPLE],
    _OF_TASKS,
    [shared.WEIGHTS],
    shared.TEXTS,
    [EXPLAIN],
)  # fmt: skip
def leaderboard(files: tuple[Path, ...], **options: Any) -> None:
    """Rank systems on the same queries, and say which are significantly ahead of which, by the value that ranks.

    FILEs are as `deadheat evaluate` takes them, one for each system, of the same samples in the same order; without
    --gallery each query is left out of its own ranking. With --qrels they are TREC runs. Or they are folders, one for
    each system, with a file for each task; systems are then ranked by the mean over tasks, and --labels, --gallery,
    --qrels and the like may be folders with files of the same names. With --public the exit status is 2 if every FILE
    is refused.
    """
    isolation.require_positive(options)
    if options["isolated"]:
        say(json.dumps(_of_stranger(files[0], options)))
        return
    if options["public"]:
        public = _public(files, options)
        deliver(public, options)
        if not public.values:
            held = "the only one was" if len(files) == 1 else f"all {len(files)} were"
            raise click.ClickException(f"no submission could be ranked: {held} refused")
        return
    if len(files) < 2:
        raise click.UsageError(f"leaderboard takes at least two files, but got {len(files)}")
    groups = None if options["groups"] is None else rows.pairs_in(options["groups"], "a task and its one group")
    reports = _systems_in(files, options)
    board = leaderboards.leaderboard(reports, groups=groups, by=options["by"], **settings(options))
    deliver_explained(board, options, board)


def _systems_in(files: tuple[Path, ...], options: dict[str, Any]) -> Any:
    """Return the report on each file, or those on the files of each folder."""
    if not suites.are_folders(files):
        return shared.weighted(_reports(files, options), options["weights"])
    if options["weights"] is not None:
        raise click.UsageError("--weights goes with the files of one task each, and with no folders")
    folders = dict(zip(names_of(files, options["names"]), files, strict=True))
    own = {**options, "resample": None if options["resample"] == "task" else options["resample"]}
    return suites.reports_of_folders(folders, own, _reports)


@click.command(cls=Command, example='run qrels.txt run.txt -m "AP nDCG@10 P@5"')
@click.argument("files", type=PATH, nargs=-1, metavar="QRELS RUN...")
@with_options(
    [
        option("TREC run", "--qrels", type=PATH, metavar="QRELS", help="Take judgements from here, and RUNs alone."),
        NAMES,
        *JUDGING,
        shared.SCORE_TIES,
        option("TREC run", "-R", "rel_format", type=click.Choice(["qrels"]), default="qrels",
            help="Read QRELS in this format."),
        option("Measure", "--measure", "-m", "measures", multiple=True, metavar="NAMES",
            help='Compute these measures, such as "AP nDCG@10 P@5"; can be repeated.'),
        option("Measure", "--singletons", type=Choices(get_args(Singletons)),
            help="Count a query without a relevant document as this. Default: skip; with --trec-eval: zero."),
    ],
    [shared.INTERVAL],
    TESTING,
    [
        option("Output", "-q", "--by-query", is_flag=True,
            help="Print each query too: the worst first, or by id with --trec-eval."),
        option("Output", "--by-id", is_flag=True,
            help="Add what trec_eval prints: tied documents ranked by id, the last in the alphabet first."),
        option("Output", "--trec-eval", is_flag=True, help="Print lines as trec_eval does: expected, lower, upper."),
        option("Output", "--only", type=click.Choice(get_args(Shown)), needs="trec_eval",
            help="With --trec-eval, print this value alone, to compare by diff."),
        option("Output", "-n", "--no-summary", is_flag=True, needs="trec_eval",
            help="With --trec-eval, print no lines of all queries."),
        option("TREC run", "-N", "n_docs", type=INTEGER, default=0, needs="trec_eval", metavar="N",
            help="With --trec-eval, take N as the number of all documents, for utility."),
        shared.QUERIES,
        shared.BY_SLICE,
        shared.WEIGHTS,
    ],
    shared.TEXTS,
    [
        shared.html("Write a shareable report (HTML) on the RUN, or on the first of two, compared with the other."),
        EXPLAIN,
        shared.THREADS_OPTION,
    ],
)  # fmt: skip
def run(files: tuple[Path, ...], **options: Any) -> None:
    """Evaluate a TREC RUN against QRELS and print a table, in per cent; of several RUNs, a leaderboard.

    QRELS has lines "qid iter docid rel", and RUN has "qid Q0 docid rank score tag"; or either is JSON, JSON lines,
    Parquet, a table with names of columns, or MS MARCO's, and may be gzipped. Scores rank, and equal scores tie.
    Measures have the names of `deadheat --measures` or of trec_eval, such as map, ndcg_cut_10, P.5,10; with --trec-eval
    also num_q, gm_map, utility and the like, and official (the default), set and all_trec, in trec_eval's order.
    `deadheat compare A B --qrels QRELS` tests two runs against each other.
    """
    qrels, runs = (options["qrels"], files) if options["qrels"] else (next(iter(files), None), files[1:])
    if qrels is None or not runs:
        raise click.UsageError("run takes QRELS and at least one RUN")
    names = _names(options["measures"], options["trec_eval"])
    _check(options, names, len(runs))
    reports = reports_of_runs(runs, qrels, options["names"], measures=measures_of(names) or None,
                              by_id=options["by_id"], as_lines=options["trec_eval"], **_judging(options))  # fmt: skip
    reports = shared.weighted(reports, options["weights"])
    report = next(iter(reports.values()))
    shared.write_queries(options["per_query"], report)
    sliced = shared.slices(report.by_slice, options, runs[0], report)
    if options["html"] is not None:
        about, two = shared.about_page(*runs, qrels), {"names": tuple(reports)} if len(reports) > 1 else {}
        title = " and ".join(reports)
        page = html_report(*reports.values(), title=title, about=about, slices=sliced, **two)  # type: ignore[arg-type]
        write_page(options["html"], page)
    if len(reports) > 1:
        board = leaderboards.leaderboard(reports, **settings(options))
        deliver_explained(board, options, board)
    else:
        _print(report, options, names, runs[0], sliced)


def _names(texts: tuple[str, ...], as_lines: bool) -> list[str]:
    """Return the names that `-m` asks for, each once; by default those of trec_eval or of a report on a run."""
    words = [word for text in texts for word in text.split()]
    parts = [
        part for word in words for part in ([word] if re.search(r"\.[-.0-9]", word) else _COMMAS.split(word)) if part
    ]
    for name in (part.partition(".")[0] for part in parts):
        if name in LEFT_OUT:
            raise click.UsageError(f"{name} {_NO_VALUE}")
    left_out = [name for part in parts for name in NICKNAMES.get(part, ()) if name in LEFT_OUT]
    if left_out and as_lines:
        note(f"left out {', '.join(left_out)}: each {_NO_VALUE}")
    asked = parts or (["official"] if as_lines else RUN_MEASURES)
    return [name for name in dict.fromkeys(name for part in asked for name in expanded(part)) if name not in LEFT_OUT]


def _check(options: dict[str, Any], names: list[str], n_run: int) -> None:
    """Refuse, before the work, options that do not go together."""
    text = next((path for path in shared.asked(options) if path is not None), None)
    for name in names:
        if is_of_lines(name) and not options["trec_eval"]:
            raise click.UsageError(f"{name} goes with --trec-eval")
    if options["trec_eval"] and text is not None:
        raise click.UsageError("--trec-eval prints lines of its own, and goes with no --json, --markdown or --latex")
    if options["trec_eval"] and _unjudged(options) not in ("irrelevant", "junk"):
        raise click.UsageError(
            "--unjudged unknown goes with the table: the lines of trec_eval have no unknown documents"
        )
    if options["by_query"] and text is not None:
        raise click.UsageError("-q goes with the table or --trec-eval; --per-query OUT writes the values")
    if options["html"] is not None and n_run > 2:
        raise click.UsageError(f"--html goes with one RUN, or two, but got {n_run}")
    if options["explain"] and n_run == 1:
        raise click.UsageError("--explain goes with several RUNs")
    if options["interval"] and (n_run > 1 or options["trec_eval"]):
        raise click.UsageError("--interval goes with the table of one RUN; that of several has intervals")
    require_table(options)
    if options["weights"] is not None and (options["by_id"] or options["trec_eval"]):
        raise click.UsageError("--weights goes with no --by-id and no --trec-eval, which weigh all queries the same")
    if options["by_id"] and (n_run > 1 or options["trec_eval"]):
        raise click.UsageError("--by-id goes with the table of one RUN")
    if options["by_slice"] is not None and (n_run > 1 or options["trec_eval"]):
        raise click.UsageError("--by-slice goes with the table of one RUN; deadheat compare takes it for two")
    if n_run > 1 and (options["by_query"] or options["trec_eval"] or options["per_query"] is not None):
        raise click.UsageError(f"-q, --trec-eval and --per-query go with one RUN, but got {n_run}")


def _judging(options: dict[str, Any]) -> dict[str, Any]:
    as_there = options.get("trec_eval", False)
    chosen = {key: options[key] for key in (*_JUDGING, "threads")}
    chosen |= {"columns": options["run_columns"], "unjudged": _unjudged(options), "ties": shared.ties_of(options)}
    chosen |= {"order": "ascending" if options["ascending"] else "descending"}
    chosen |= {"exclude": "itself" if options["exclude_itself"] else None}
    chosen["complete"] = not as_there if options["complete"] is None else options["complete"]
    chosen["singletons"] = options["singletons"] or ("zero" if as_there else "skip")
    return chosen


def _unjudged(options: dict[str, Any]) -> str | float:
    """Return the treatment of unjudged documents, a gain as a number."""
    given = options["unjudged"]
    if options["condensed"] and given not in (None, "junk"):
        raise click.UsageError(f"-J is --unjudged junk, but --unjudged is {given}")
    gain = None if given is None else level(given)
    return ("junk" if options["condensed"] else given or "irrelevant") if gain is None else gain


def _print(report: Report, options: dict[str, Any], names: list[str], run: Path, sliced: Answer | None) -> None:
    """Print lines, or the table, after the values of each query if these are asked for; slices in its place."""
    if options["trec_eval"]:
        chosen = {key: options[key] for key in ("by_query", "only", "n_docs")}
        run_id = trec.run_id(run) if "runid" in names else None
        say("\n".join(trec_lines(report, names, summary=not options["no_summary"], run_id=run_id, **chosen)))
        return
    if options["by_query"]:
        say_tables(f"{report.worst(report.n_query).to_text(digits=options['digits'])}\n")
    if sliced is not None:
        deliver(sliced, options)
        return
    wanted = {name: value for name, value in settings(options).items() if name not in ("alternative", "by")}
    deliver(report, options, interval=wanted if options["interval"] else False)


def _refuse(names: Iterable[str], rule: str) -> None:
    """Refuse options that this use of a command does not have."""
    context = click.get_current_context()
    given = [name for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if given:
        refused = next(param.opts[0] for param in context.command.params if param.name == min(given))
        raise click.UsageError(f"{refused} goes {rule}")


def settings(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of tests, as arguments of the same names."""
    return {name: options[name] for name in _SETTINGS if name in options}


def require_table(options: dict[str, Any]) -> None:
    """Refuse --explain where no table is printed."""
    if options["explain"] and STDOUT in shared.asked(options):
        raise click.UsageError("--explain goes with the table, but another text is to be printed")


def deliver_explained(shown: Answer, options: dict[str, Any], result: comparison.Comparison | Board[Any]) -> None:
    """Write and print a table, and an explanation of the result below it if that was asked for."""
    deliver(shown, options)
    if options["explain"]:
        say_tables(f"\n{result.explain()}")


def deliver_decided(
    shown: Answer, options: dict[str, Any], decision: Gate | None, explained: comparison.Comparison | None = None,
    **content: Any,
) -> int:  # fmt: skip
    """Write and print a table, with the decision of a gate in every text, and return the exit status."""
    deliver(shown, options, parts={} if decision is None else {"gate": decision}, **content)
    if explained is not None and options["explain"]:
        say_tables(f"\n{explained.explain()}")
    for sentence in decision.notes() if decision is not None else ():
        note(sentence)
    return 0 if decision is None or decision.passed else WORSE


def _reports(files: tuple[Path, ...], options: dict[str, Any]) -> dict[str, Report]:
    """Check the options, and return the report on each file, by the name of its system."""
    require_table(options)
    PairedTest(**settings(options))
    if options["qrels"] is None:
        _refuse(_OF_RUNS, "with --qrels")
        return _reports_of_embeddings(files, options)
    _refuse(_OF_EMBEDDINGS, "without --qrels")
    measures = " ".join(options["measures"]) or RUN_MEASURES
    return reports_of_runs(files, options["qrels"], options["names"], measures=measures, **_judging(options))


def reports_of_runs(
    files: tuple[Path, ...], qrels: Path, names: tuple[str, ...], by_id: bool = False, as_lines: bool = False,
    **judging: Any,
) -> dict[str, Report]:  # fmt: skip
    """Return the report on each run, by its name; lines of trec_eval have no place for a remark."""
    named = dict(zip(names_of(files, names), files, strict=True))
    for path in files:  # before the first is read
        require_there(path)
    means = {name: judging.pop(name) for name in ("measures", "singletons")}
    SummaryOptions.checked(**means, rel=judging["rel"])
    judged = trec.open_qrels(qrels, columns=judging.pop("qrels_columns"), alternatives=True)
    reports = {}
    for name, path in named.items():
        task = from_run(path, judged, **judging)
        report = evaluate(task, **means)
        reports[name] = with_ids(report, task) if by_id else report
        note(f"{path}: {report.n_query} queries", level=1)
        for remark in task.remarks if as_lines else ():
            note(remark)
    return reports


def _reports_of_embeddings(files: tuple[Path, ...], options: dict[str, Any]) -> dict[str, Report]:
    systems = _systems(files, options)
    settings, summary = shared.task_settings(options), shared.summary_options(options)
    for file, own in systems.values():
        _require_there(file, own)
    reports = {}
    for name, (file, own) in systems.items():
        with shared.opened(file, own, settings, f"ranking {name}") as task:
            reports[name] = report_of(task, summary)
    return reports


def _systems(files: tuple[Path, ...], options: dict[str, Any]) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Return by the name of each system its file and its own options."""
    names, parts = names_of(files, options["names"]), [_for_each(options, part, files) for part in shared.PARTS]
    return {
        name: (file, {**options, **dict(zip(shared.PARTS, paths, strict=True))})
        for name, file, *paths in zip(names, files, *parts, strict=True)
    }


def _public(files: tuple[Path, ...], options: dict[str, Any]) -> PublicBoard:
    """Return a board of all files that can be evaluated with the organiser's labels, and the reasons of refusals."""
    if not files or not options["labels"] or options["qrels"] is not None:
        raise click.UsageError("--public takes at least one FILE of embeddings, and --labels")
    if options["gallery"] and not options["gallery_labels"]:
        raise click.UsageError("--public takes --gallery with --gallery-labels, as labels in a FILE do not count")
    if options["by"] != "lower" or options["explain"] or options["weights"] is not None:
        raise click.UsageError("--public ranks by the lower bound, and goes with no --by, --explain or --weights")
    shared.task_settings(options)
    measures, systems = fractions(shared.summary_options(options).measures), _systems(files, options)
    for _, own in systems.values():
        _require_there(own["labels"], own)
    lower: dict[str, dict[str, float]] = {}
    refused: dict[str, str] = {}
    online = False
    for name, (file, own) in systems.items():
        given = {key: value for key, value in own.items() if key not in _OF_BOARD}
        given |= {part: [] if own[part] is None else [own[part]] for part in shared.PARTS}
        try:
            result = _Outcome.of(isolation.run(isolation.words_of(given), file, options)[1], measures)
        except isolation.Died as error:
            result = _Outcome(refused=error.message)
        if result.lower is None:
            refused[name] = printable(result.refused, MOST)
        else:
            lower[name] = result.lower
        online |= result.online
        note(f"{file}: {'refused' if name in refused else 'ranked'}", level=1)
    if online:
        note(isolation.ONLINE)
    return PublicBoard.of(lower, refused)


class _Outcome(NamedTuple):
    """The lower bounds of a stranger's file by measure, or the reason why it is refused."""

    lower: dict[str, float] | None = None
    refused: str = "its process gave no answer"
    online: bool = False

    @classmethod
    def of(cls, text: bytes, measures: tuple[str, ...]) -> _Outcome:
        """Return the answer in what a process printed: of these measures, and in range."""
        with suppress(ValueError, RecursionError, AttributeError):
            result = json.loads(text)
            online = result.get("online") is True
            if isinstance(result.get("refused"), str):
                return cls(None, result["refused"], online)
            lower = {name: math.nan if value is None else value for name, value in result.get("lower").items()}
            if tuple(lower) == measures and all(
                type(value) is float and not abs(value) > 1 for value in lower.values()
            ):
                return cls(lower, "", online)
        return cls()


def _of_stranger(file: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an `_Outcome`, as plain values that JSON can hold."""
    online = False
    try:
        with isolation.begun(options) as online:
            (report,) = _reports_of_embeddings((file,), options).values()
    except Exception as error:
        return {"refused": _refusal(file, error, options["memory"]), "online": online}
    return {"lower": plain(lower_bounds(report)), "online": online}


def _refusal(file: Path, error: Exception, memory: float) -> str:
    """Return why a file is refused; an error that is not expected could quote anything, and is named by its type."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return f"{file} needs more than {memory:g} GiB of memory (--memory)"
    if isinstance(error, (InputError, FileError, UndefinedError, OSError)):
        return reason(error, MOST)
    return f"{file} cannot be read: unexpected {type(error).__name__}"


def _require_there(file: Path, options: dict[str, Any]) -> None:
    """Refuse, before the first file is ranked, a file that is not there."""
    named = {"embeddings": [file], "exclude": options["exclude"]} | {part: [options[part]] for part in shared.PARTS}
    with shared.files_named(file, options):
        for argument, paths in named.items():
            for path in (each for given in paths if given is not None for each in matching(given, argument)):
                require_there(path)


def names_of(files: tuple[Path, ...], given: tuple[str, ...]) -> list[str]:
    """Return the names of the systems: as asked for, or of their files, without folder and ending if these differ."""
    if given and len(given) != len(files):
        raise click.UsageError(f"--name must be given once for each FILE, but got {len(given)} for {len(files)} files")
    short = [path.stem for path in files]
    names = list(given) or (short if len(set(short)) == len(files) else list(map(str, files)))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise click.UsageError(f"each system must have a name of its own (--name), but two are called {twice!r}")
    return names


def _for_each(options: dict[str, Any], part: str, files: tuple[Path, ...]) -> list[Path | None]:
    """Return the file of one option for each FILE; labels may be one for all, as systems share their queries."""
    given = options[part]
    if not given or (len(given) == 1 and part != "gallery"):
        return [given[0] if given else None] * len(files)
    if len(given) != len(files):
        rule = "once for each FILE" if part == "gallery" else "once, or once for each FILE"
        name = f"--{part.replace('_', '-')}"
        raise click.UsageError(f"{name} must be given {rule}, but got {len(given)} for {len(files)} files")
    return list(given)
