"""`deadheat challenge`: what an organiser does, from labels to a leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from deadheat.cli.files import INTEGER, JSON, NUMBER, PATH, Command, Output, Source, Whole
from deadheat.cli.options import TEXTS, deliver, with_options
from deadheat.cli.shell import say
from deadheat.errors import InvalidValueError
from deadheat.support.lazy import json, lazy
from deadheat.trust.challenge.challenge import Challenge, Rules

if TYPE_CHECKING:
    from deadheat.trust.challenge import leaderboard as leaderboards
    from deadheat.trust.challenge import scoring, server, submissions
    from deadheat.trust.challenge.store import Store, Submission
    from deadheat.trust.receipts import document
else:
    document = lazy("deadheat.trust.receipts.document")
    leaderboards, scoring, server, submissions = (
        lazy(f"deadheat.trust.challenge.{name}") for name in ("leaderboard", "scoring", "server", "submissions")
    )

_F = TypeVar("_F", bound=Callable[..., Any])
FAILED = 1  # exit status: a submission has no score


class _Folder(Source):
    """The folder of a challenge, in which other files may be written."""

    def files(self, path: Path) -> Iterable[Path]:
        return [path / "challenge.json", *path.glob("inputs*"), path / "submissions", path / "profiles"]


_DIR = click.argument("folder", type=_Folder(), metavar="DIR")


def _rule(name: str, kind: Any = None, text: str | None = None) -> Callable[[_F], _F]:
    """The option for a rule, with the default that it has."""
    default = getattr(Rules, name)
    return click.option(f"--{name.replace('_', '-')}", type=kind, default=default, show_default=True, help=text)


@click.group()
def challenge() -> None:
    """Run a competition: labels stay with you, participants submit embeddings or a command.

    DIR is a folder that only you can read. Ranks go by the lower bound of the first measure.
    """


@challenge.command()
@_DIR
@click.option("--labels", type=PATH, required=True, help="Of every sample: .npy, .npz, .txt (one a line), .csv ...")
@click.option("--inputs", "sequestered", type=PATH, help="What commands are run on: .npy, .txt or a folder of files.")
@click.option(
    "--queries", "n_query", type=INTEGER, metavar="N", help="The first N samples are queries, the rest gallery."
)
@_rule("title")
@click.option("--measure", "-m", "measures", multiple=True, metavar="NAMES", help="The first ranks; default: mAP, ...")
@_rule("distance")
@_rule("singletons")
@_rule("average")
@_rule("per_day", INTEGER, "Submissions of a team within 24 hours.")
@_rule("upload", INTEGER, "Megabytes of a submission, at most.")
@_rule("dim", INTEGER, "Numbers an embedding may have, at most.")
@_rule("seconds", INTEGER, "That a command may take, and scoring an upload.")
@_rule("seconds_per_day", INTEGER, "That scoring a team's uploads may take within 24 hours.")
@_rule("memory", INTEGER, "Megabytes that a command may take.")
def init(folder: Path, measures: tuple[str, ...], **options: Any) -> None:
    """Make DIR, with the labels and the rules."""
    made = Challenge.create(folder, measures=",".join(measures) or None, **options)
    rules = made.rules
    about = "leave one out" if rules.n_query is None else f"{rules.n_query} queries"
    say(f"{folder}: {rules.n_sample} samples, {about}; ranked by the lower bound of {rules.measures[0]}")


@challenge.command()
@_DIR
@click.argument("team")
@click.option("--revoke", is_flag=True, help="Make the team's token void.")
def token(folder: Path, team: str, revoke: bool) -> None:
    """Print a new token for TEAM, to submit with; an earlier one is void. It is shown once and kept nowhere."""
    _, store = _opened(folder)
    name = submissions.team_named(team)
    if revoke:
        store.revoke(name)
        say(f"{name}: no token")
    else:
        say(store.new_token(name))


@challenge.command()
@_DIR
@click.argument("file", type=PATH)
@click.option("--team", required=True, help="Whose it is.")
@click.option("--title", default="", help="What the team calls it.")
@click.option("--command", metavar="WORDS", help="FILE is a folder; run this in it, with {inputs} and {output}.")
def submit(folder: Path, file: Path, team: str, title: str, command: str | None) -> None:
    """Put FILE into the queue: a .npz file with an array "embeddings", or with --command a folder with a program."""
    challenge, store = _opened(folder)
    submission = submissions.submit(challenge, store, team, title, file, command)
    say(f"#{submission.number} {submission.team}: {submission.state} ({submission.id})")


@challenge.command()
@_DIR
@click.option(
    "--see",
    "also",
    type=Source(exists=True),
    multiple=True,
    metavar="PATH",
    help="What commands may read, in addition to /usr.",
)
@click.option("--again", type=NUMBER, multiple=True, metavar="NUMBER", help="Also what was refused, or failed.")
@click.option("--unprotected", is_flag=True, help="Run commands without a sandbox; the leaderboard then says so.")
def score(folder: Path, also: tuple[Path, ...], again: tuple[int, ...], unprotected: bool) -> int:
    """Score what is in the queue. Exit status 1 if a submission was refused or failed."""
    challenge, store = _opened(folder)
    for number in again:
        store.again(number)
    seen = [path.absolute() for path in also]
    states = set()
    for submission in scoring.score(challenge, store, unprotected=unprotected, also=seen):
        states.add(submission.state)
        log = scoring.log(challenge, submission)
        say(_line(store, submission) + (f" ({log})" if log.exists() else ""))
    leaderboards.keep(challenge, store)
    if not states:
        say("nothing in the queue")
    return FAILED if states - {"scored"} else 0


@challenge.command("list")
@_DIR
def list_submissions(folder: Path) -> None:
    """List what was submitted, and its names in DIR/submissions."""
    _, store = _opened(folder)
    lines = [f"{_line(store, each)} ({each.id})" for each in store.select()]
    say("\n".join(lines) or "nothing was submitted")


@challenge.command(cls=Command)
@_DIR
@click.argument("number", type=NUMBER)
@click.argument("out", type=Output(JSON))
def receipt(folder: Path, number: int, out: Path) -> None:
    """Write the receipt of the submission NUMBER (deadheat challenge list) to OUT, for deadheat verify.

    It has exact values: keep it until the labels are public.
    """
    _, store = _opened(folder)
    found = store.find(number=number)
    text = None if found is None else store.receipt(found.id)
    if text is None:
        raise InvalidValueError("NUMBER", f"must be of a scored submission, but is {number}")
    document.Receipt(json.loads(text)).save(out)
    say(f"{out}: the receipt of #{number}; it has exact values, so keep it until the labels are public")


@challenge.command(cls=Command)
@_DIR
@click.option("--all", "every", is_flag=True, help="Every submission, not the best of each team.")
@click.option(
    "--exact", is_flag=True, help="Not to be published: exact values, differences and p-values, any --digits."
)
@with_options(TEXTS)
def leaderboard(folder: Path, every: bool, exact: bool, **options: Any) -> None:
    """Rank the best submission of each team, and say which are significantly ahead of which.

    All of it is made of values rounded to two decimals of per cent, as on the page, so that it can be published.
    --json, --markdown and --latex without OUT, or with -, print that instead of the table.
    """
    challenge, store = _opened(folder)
    deliver((leaderboards.exact if exact else leaderboards.board)(challenge, store, every), options)


@challenge.command()
@_DIR
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen; 0.0.0.0 is everywhere.")
@click.option("--port", type=Whole(0, 65535), default=8000, show_default=True)
@click.option("--certificate", type=PATH, help="Of TLS (PEM); without, put the page behind a server that has one.")
@click.option("--key", type=PATH, help="The certificate's private key (PEM).")
def serve(folder: Path, host: str, port: int, certificate: Path | None, key: Path | None) -> None:
    """Show the leaderboard on a web page, and take and score .npz files there until interrupted."""
    if (certificate is None) != (key is None):
        raise click.UsageError("--certificate and --key go together")
    challenge, store = _opened(folder)
    server.serve(challenge, store, host, port, certificate, key)


def _opened(folder: Path) -> tuple[Challenge, Store]:
    opened = Challenge.open(folder)
    return opened, lazy("deadheat.trust.challenge.store").Store(opened.folder)


def _line(store: Store, submission: Submission) -> str:
    came = submission.message or submission.state
    text = store.receipt(submission.id)
    if text is not None:
        found = document.Receipt(json.loads(text))
        name = next(iter(found.content["measures"]))
        came = f"{name} {100 * found[name].lower:.2f} % (lower bound)"
    return f"#{submission.number} {submission.team}: {came}"
