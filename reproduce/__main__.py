"""`python -m reproduce`: recompute published tables and figures, next to the published values."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from deadheat.errors import DeadheatError
from reproduce import study

_MARK = b"<!-- python -m reproduce -->"  # that the page begins with


@click.command("python -m reproduce", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("reproduced"),
    metavar="DIR",
    help="Write tables, figures and the page to this folder.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Look here for data that deadheat does not contain, such as phocnet_gw.npz.",
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep trained networks here. Default: cache in --out.",
)
@click.option("--quick", is_flag=True, help="Run on smaller sizes, in seconds, for a first look.")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Use N threads. Default: all.")
@click.option("--list", "only_list", is_flag=True, help="Print the names of the studies and exit.")
@click.option("--force", is_flag=True, help="Overwrite any index.html in --out.")
def main(names: tuple[str, ...], only_list: bool, force: bool, **options: Any) -> None:
    """Recompute the tables and figures of the studies that deadheat rests on, and compare them with the published ones.

    NAMEs are studies (--list); without any, all of them, which takes some minutes. Each study gets a folder in --out
    with PNG and CSV files, and index.html shows all that is there, with a mark for what agrees, what differs and why,
    and what needs data that was not found.
    """
    if only_list:
        if names:
            raise click.UsageError(f"--list goes without NAMEs, but got {' '.join(names)}")
        width = max(map(len, study.STUDIES))
        click.echo("\n".join(f"{name:{width}}  {question}" for name, question in study.STUDIES.items()))
        return
    page = options["out"] / study.PAGE
    if page.is_file() and not force and page.stat().st_size and _MARK not in page.read_bytes()[:200]:
        raise _Refusal(f"cannot write {page}: it is there and is not a page of reproduce (--force overwrites it)")
    try:
        outcomes = study.reproduce(names, **options, say=lambda line: click.echo(line, err=True))
    except (DeadheatError, OSError) as error:
        raise _Refusal(str(error)) from None
    width = max(map(len, outcomes))
    for name, outcome in outcomes.items():
        counts = Counter(str(finding.mark) for finding in outcome.findings)
        click.echo(f"{name:{width}}  {', '.join(f'{count} {mark}' for mark, count in counts.items())}")
    click.echo(page)


class _Refusal(click.ClickException):
    exit_code = 2


if __name__ == "__main__":
    main()
