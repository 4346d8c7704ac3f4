"""`deadheat leaderboard`: several files of embeddings, or a table of scores, ranked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from deadheat.analyses import leaderboard as leaderboards
from deadheat.analyses.score_leaderboard import score_leaderboard
from deadheat.cli import options as shared
from deadheat.cli.files import PATH, Command
from deadheat.cli.options import deliver, plot, plots_for, save_picture, with_options
from deadheat.cli.several import EXPLAIN, FILES, TESTING, deliver_with_words, reports_of, settings
from deadheat.inputs.score_tables import read_scores
from deadheat.support.triple import Triple

SCORES = (
    click.option("--scores", type=PATH, metavar="TABLE", help="In place of FILEs: scores of models on tasks."),
    click.option("--score-name", metavar="NAME", help="With --scores: which one, where results have several."),
    click.option(
        "--missing", type=click.Choice(["refuse", "tasks", "models"]), default="refuse", show_default=True,
        help="With --scores: leave out tasks, or models, without all scores.",
    ),
    plot("the ranks that each model may have, with --scores"),
)  # fmt: skip
_OF_SCORES = {"scores", "score_name", "missing", "plot"}
_OF_BOTH = {"files", "confidence_level", "n_resamples", "seed", "digits", "json_out", "markdown", "latex", "force"}


@click.command(cls=Command)
@click.argument("files", nargs=-1, type=PATH, metavar="FILE...")
@with_options(FILES, shared.EXCLUDE, shared.LAYOUT, shared.RANKING)
@click.option("--rank-by", type=click.Choice(Triple._fields), default="lower", help="Of the first measure.")
@with_options(SCORES, TESTING, shared.TEXTS, EXPLAIN)
def leaderboard(files: tuple[Path, ...], **options: Any) -> None:
    """Rank systems on the same samples, and say which are significantly ahead of which, whatever the ties do.

    FILEs are as `deadheat evaluate` takes them, one for each system, of the same samples in the same order. Without
    --gallery it is leave one out.

    With --scores, rank models by scores that are there already, with the tasks as units: which ranks each may have, and
    who is statistically tied for first place. TABLE is a .csv or .tsv with a row a model and a column a task (or
    columns model, task and score), or a folder of the results of MTEB, SWE-bench or HELM.

    --json, --markdown and --latex without OUT, or with -, print that instead of the table.
    """
    _refuse_others(options["scores"] is not None, files)
    if options["scores"] is not None:
        _rank_scores(options)
        return
    if len(files) < 2:
        raise click.UsageError(f"leaderboard takes at least two files, but got {len(files)}")
    board = leaderboards.leaderboard(reports_of(files, options), rank_by=options["rank_by"], **settings(options))
    deliver_with_words(board, options)


def _refuse_others(by_scores: bool, files: tuple[Path, ...]) -> None:
    """Refuse options that the one way or the other has no use for."""
    context = click.get_current_context()
    given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    others = sorted(given - _OF_SCORES - _OF_BOTH if by_scores else given & _OF_SCORES)
    if by_scores and files:
        raise click.UsageError(f"--scores goes without FILE, but got {files[0]}")
    if others:
        option = next(param.opts[0] for param in context.command.params if param.name == others[0])
        raise click.UsageError(f"{option} goes {'without' if by_scores else 'with'} --scores")


def _rank_scores(options: dict[str, Any]) -> None:
    plots, names = plots_for(options["plot"]), ("missing", "confidence_level", "n_resamples", "seed")
    scores = read_scores(options["scores"], options["score_name"])
    board = score_leaderboard(scores, **{name: options[name] for name in names})
    if plots is not None:
        figure = plots.style.figure(7.2, 1.4 + 0.26 * len(board))
        plots.rank_intervals(board, ax=figure.subplots())
        save_picture(figure, options["plot"])
    deliver(board, options)
