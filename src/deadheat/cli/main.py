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

SECTIONS = {  # of the help: commands, each with a sentence
    "Evaluate": {
        "evaluate": "Evaluate a file of embeddings and labels.",
        "run": "Evaluate a TREC run, or several, against qrels.",
        "classify": "Measure a table of scores and labels as one ranking.",
        "grouped": "Compute measures in groups of classes; the gap to test.",
        "index-recall": "Count the true neighbours that vector indexes return.",
        "demo": "Evaluate digits, then an embedding that cheats a sort.",
    },
    "Compare": {
        "compare": "Compare two; with --fail-if-worse, gate a release.",
        "leaderboard": "Rank systems; with --public, teams of a competition.",
        "quantization": "Measure what the same embeddings lose in fewer bits.",
    },
    "Analyse": {
        "collisions": "Count and draw neighbours that are equally far.",
        "confidence": "Judge a model's confidence in its embeddings.",
        "exploit": "Find how far the order of a file moves a sorted value.",
    },
    "Check": {
        "audit": "Find what a referee would ask about a file of embeddings.",
        "audit-run": "Find what a referee would ask about a file of scores.",
        "audit-collection": "Find what documents and judgements do to every system.",
        "verify": "Recompute a receipt, and say whether it matches.",
    },
}
_MODULES = {
    "analyses": ("classify", "collisions", "confidence", "exploit", "grouped", "index_recall", "quantization"),
    "systems": ("compare", "leaderboard", "run"),
    "trust": ("audit", "audit_collection", "audit_run", "verify"),
}  # any other is in a module of its own name


class Commands(Program):
    """A group whose help is fast, because it imports no command."""

    sections = SECTIONS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.sentences:
            return None
        name = cmd_name.replace("-", "_")
        module = next((module for module, names in _MODULES.items() if name in names), name)
        command: click.Command = getattr(import_module(f"deadheat.cli.{module}"), name)
        return command


@click.group(
    "deadheat",
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='Complete words in bash: eval "$(_DEADHEAT_COMPLETE=bash_source deadheat)"',
)
@click.option("--measures", is_flag=True, help="List the measures, with their other names, and exit.")
@click.version_option(package_name="deadheat", message="deadheat %(version)s")
@click.pass_context
def main(ctx: click.Context, measures: bool) -> None:
    """Evaluate embeddings and rankings; `deadheat COMMAND --help` begins with an example."""
    if measures:
        say(names.listing())
        ctx.exit()
    if ctx.invoked_subcommand is None:
        say(ctx.get_help())
