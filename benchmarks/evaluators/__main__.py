"""Audit metrics of other libraries: the measure that each computes, and ways to make it give something else.

python -m benchmarks.evaluators --all --markdown              the table of docs/who-can-be-hacked.md
python -m benchmarks.evaluators ranx:map                      one evaluator of the list
python -m benchmarks.evaluators my_module:fn --form query     one of your own
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from benchmarks.evaluators.adapters import ADAPTERS, audit_row, locate, survey
from benchmarks.evaluators.cases import MAKERS
from deadheat.errors import InputError, MissingPackageError


@click.command("python -m benchmarks.evaluators", epilog=f"Names: {', '.join(ADAPTERS)}.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="Audit every installed evaluator of the list.")
@click.option("--form", type=click.Choice(list(MAKERS)), help="Call the function with this. Default: embeddings.")
@click.option("--measure", "-m", metavar="NAME", help="Expect it to compute this measure. Default: try all.")
@click.option(
    "--classes", "n_classes", type=click.IntRange(2), default=10, show_default=True, help="Of what knows nothing."
)
@click.option("--class-size", type=int, default=100, show_default=True, help="Samples of each of these.")
@click.option("--draws", type=click.IntRange(1), default=1, show_default=True, help="Random orders of the samples.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of all inputs.")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@click.option("--json", "out", type=click.Path(path_type=Path, dir_okay=False), help="Also write every input, as JSON.")
def main(
    names: tuple[str, ...],
    everything: bool,
    form: str | None,
    measure: str | None,
    markdown: bool,
    out: Path | None,
    **sizes: int,
) -> None:
    """Find out what a metric computes, and whether it can be made to give something else.

    A NAME is in the list below, or module:function for one of your own: fn(embeddings, labels) returns one number, or
    fn(scores, relevant) with --form scores (matrices with a row a query), candidates (the same with one relevant item a
    query) or query (one query at a time). It is called with constructed inputs whose values are known.

    Exit status: 0 if nothing serious was found, 1 if something was, 2 for an error.
    """
    if everything is bool(names):
        raise click.UsageError("give either NAMEs or --all")
    if everything and (form or measure):
        raise click.UsageError("--form and --measure belong to a NAME")
    try:
        result: list[Any] = (
            [survey(**sizes)]
            if everything
            else [audit_row(locate(name, form), measure=measure, **sizes) for name in names]
        )
    except (InputError, MissingPackageError) as error:
        raise click.UsageError(str(error)) from None
    for one in result:
        click.echo((one.to_markdown() if markdown else one.to_text()).rstrip())
    if out is not None:
        out.write_text(result[0].to_json() if len(result) == 1 else f"[{', '.join(one.to_json() for one in result)}]\n")
    sys.exit(not all(one.passes() for one in result))


if __name__ == "__main__":
    main()
