"""`deadheat audit-evaluator`: somebody's metric on constructed inputs whose values are known."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from deadheat.audits.evaluator.adapters import ADAPTERS
from deadheat.audits.evaluator.auditing import audit_evaluator as audit
from deadheat.audits.evaluator.calling import FORMS
from deadheat.audits.evaluator.locating import locate, survey, survey_of
from deadheat.cli.embeddings import with_options
from deadheat.cli.files import Command
from deadheat.cli.outputs import TEXTS, deliver
from deadheat.cli.types import INTEGER

FOUND = 1  # exit status: something serious


@click.command("audit-evaluator", cls=Command, epilog=f"Names: {', '.join(ADAPTERS)}.")
@click.argument("name", required=False, metavar="NAME")
@click.option("--all", "everything", is_flag=True, help="Audit every evaluator in the table that is installed.")
@click.option("--form", type=click.Choice(list(FORMS)), help="What a function takes; default: embeddings.")
@click.option("--measure", "-m", metavar="NAME", help="What it is meant to compute; default: try all.")
@click.option(
    "--classes", "n_classes", type=INTEGER, default=10, show_default=True, metavar="N", help="Of the empty system."
)
@click.option("--class-size", type=INTEGER, default=100, show_default=True, metavar="N", help="Of the empty system.")
@click.option(
    "--draws", type=INTEGER, default=1, show_default=True, metavar="N", help="Random orders of the empty system."
)
@click.option("--seed", type=INTEGER, default=0, show_default=True, metavar="N", help="Of all inputs.")
@with_options(TEXTS)
def audit_evaluator(name: str | None, everything: bool, **options: Any) -> int:
    """Find out what a metric computes, and whether it can be made to give something else.

    NAME is in the list below, or module:function for one of your own, which is looked for in this folder too:
    fn(embeddings, labels) returns one number, or fn(scores, relevant) with --form scores (matrices with a row a query)
    or --form query (one query at a time). It is called with constructed inputs whose values are known.

    Exit status: 0 if nothing serious was found, 1 if something was, 2 for an error.
    """
    if everything is (name is not None):
        raise click.UsageError("audit-evaluator takes either NAME or --all")
    if everything and (options["form"] or options["measure"]):
        raise click.UsageError("--form and --measure belong to a NAME")
    sizes = {key: options[key] for key in ("n_classes", "class_size", "draws", "seed")}
    if everything:
        found: Any = survey_of(list(survey(**sizes)))
    else:
        assert name is not None
        sys.path.insert(0, os.getcwd())
        at = locate(name, options["form"])
        found = audit(at.fn, form=at.form, measure=options["measure"], name=at.name, version=at.version, **sizes)
    deliver(found, options)
    return 0 if found.passes else FOUND
