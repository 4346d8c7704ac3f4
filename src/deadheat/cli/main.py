"""The command `deadheat`: its subcommands by name, each in a module that is imported when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from deadheat.cli.shell import Program, say
from deadheat.support.lazy import lazy

if TYPE_CHECKING:
    from deadheat.measures import names
else:
    names = lazy("deadheat.measures.names")

COMMANDS = {
    "audit": "Find what a referee would ask about a file of embeddings; the exit status is 1 if it is serious.",
    "audit-collection": "Find what documents and judgements do to every system: missing ones, copies, ceilings.",
    "audit-run": "Find what a referee would ask about a file of scores, such as those of a reranker.",
    "classify": "Measure a table of scores and labels as one ranking, at thresholds that exist.",
    "collisions": "Count the neighbours that are equally far from a query, or nearly so, and draw where they are.",
    "compare": "Compare two systems: which is ahead, and whether chance or ties explain it.",
    "confidence": "Judge a model's confidence in its embeddings: error against reject, accuracy, correlation.",
    "demo": "Evaluate 1797 handwritten digits, and then an embedding that cheats a sort.",
    "evaluate": "Evaluate a file of embeddings and labels.",
    "exploit": "Find how far the order of the file alone can move a measure where a sort breaks the ties.",
    "grouped": "Compute measures inside groups of equally many classes, with the gap of train to test.",
    "index-recall": "Count the true neighbours that vector indexes return, by a benchmark's ground truth.",
    "leaderboard": "Rank several systems, and say which are significantly ahead of which.",
    "quantization": "Measure what the same embeddings lose in fewer bits: float16, int8, 1 bit.",
    "run": "Evaluate a TREC run, or several, against qrels.",
    "verify": "Recompute a receipt from its files, and say whether it matches.",
}

_MODULES = {
    "analyses": ("classify", "collisions", "confidence", "exploit", "grouped", "index_recall", "quantization"),
    "systems": ("compare", "leaderboard", "run"),
    "trust": ("audit", "audit_collection", "audit_run", "verify"),
}  # any other is in a module of its own name


class Commands(Program):
    """A group whose help is fast, because it imports no command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        module = next((module for module, names in _MODULES.items() if name in names), name)
        command: click.Command = getattr(import_module(f"deadheat.cli.{module}"), name)
        return command

    def summaries(self, ctx: click.Context) -> dict[str, str]:
        return COMMANDS


@click.group(
    "deadheat",
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="To complete commands, options and their values in bash, put this line into ~/.bashrc; for zsh and fish, "
    'write zsh_source and fish_source.\n\n\b\neval "$(_DEADHEAT_COMPLETE=bash_source deadheat)"',
)
@click.option("--measures", is_flag=True, help="List the measures, with their other names, and exit.")
@click.version_option(package_name="deadheat", message="deadheat %(version)s")
@click.pass_context
def main(ctx: click.Context, measures: bool) -> None:
    """Evaluate embeddings: every measure as lower bound, expectation and upper bound over all ways to break ties."""
    if measures:
        say(names.listing())
        ctx.exit()
    if ctx.invoked_subcommand is None:
        say(ctx.get_help())
