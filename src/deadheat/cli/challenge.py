"""`deadheat challenge`: what an organiser does, from labels to a leaderboard."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from deadheat.cli.files import INTEGER, JSON, LINES, NUMBER, PATH, Choice, Command, Output, Source, Whole, option
from deadheat.cli.options import COMPLETIONS, TEXTS, deliver, with_options
from deadheat.cli.shell import Group, say
from deadheat.engine.distances.registry import DISTANCES
from deadheat.errors import InvalidValueError
from deadheat.reports.averaging import Average, Singletons
from deadheat.support.lazy import json, lazy
from deadheat.trust.challenge.challenge import Challenge, Rules

if TYPE_CHECKING:
    from deadheat.trust.challenge import leaderboard as leaderboards
    from deadheat.trust.challenge import scoring, site, submissions
    from deadheat.trust.challenge.store import Store, Submission
    from deadheat.trust.receipts import document
else:
    document = lazy("deadheat.trust.receipts.document")
    leaderboards, scoring, site, submissions = (
        lazy(f"deadheat.trust.challenge.{name}") for name in ("leaderboard", "scoring", "site", "submissions")
    )

FAILED = 1  # exit status: a submission has no score


class _Folder(Source):
    """The folder of a challenge, in which other files may be written."""

    def files(self, path: Path) -> Iterable[Path]:
        return [path / "challenge.json", *path.glob("inputs*"), path / "submissions", path / "profiles"]


_DIR = click.argument("folder", type=_Folder(), metavar="DIR")


def _rule(group: str, name: str, kind: Any, text: str) -> Any:
    """The option for a rule, with the default that it has."""
    default = getattr(Rules, name)
    return option(group, f"--{name.replace('_', '-')}", type=kind, default=default, help=text)


Group.command_class = Command


@click.group(cls=Group)
def challenge() -> None:
    """Run a competition: labels stay with you, participants submit embeddings or a command.

    DIR is a folder that only you can read. Ranks go by the lower bound of the first measure.
    """


@challenge.command()
@_DIR
@with_options(
    [
        option("Input", "--labels", type=LINES, required=True,
            help="Read the label of every sample from this file: .npy, .npz, .txt (one a line), .csv ..."),
        option("Input", "--inputs", "sequestered", type=PATH,
            help="Run submitted commands on this: .npy, .txt or a folder of files."),
        option("Input", "--queries", "n_query", type=INTEGER, metavar="N",
            help="Take the first N samples as queries, and the rest as gallery."),
        _rule("Run", "title", None, "Show this title on the page."),
        _rule("Ranking", "distance", Choice(DISTANCES), "Rank by this distance."),
        option(
            "Measure", "--measure", "-m", "measures", type=Choice(COMPLETIONS, listed=True), multiple=True,
            metavar="NAMES", help="Compute these measures; the first one ranks. Default: mAP, ...",
        ),
        _rule("Measure", "singletons", Choice(get_args(Singletons)), "Count a query without a relevant item as this."),
        _rule("Measure", "average", Choice(get_args(Average)), "Take the mean over queries, or over classes."),
        _rule("Limit", "per_day", INTEGER, "Accept so many submissions of a team within 24 hours."),
        _rule("Limit", "upload", INTEGER, "Accept submissions of at most so many megabytes."),
        _rule("Limit", "dim", INTEGER, "Accept embeddings of at most so many numbers."),
        _rule("Limit", "seconds", INTEGER, "Stop a command, or the scoring of an upload, after so many seconds."),
        _rule("Limit", "seconds_per_day", INTEGER, "Score uploads of a team for at most so long within 24 hours."),
        _rule("Limit", "memory", INTEGER, "Give a command at most so many megabytes of memory."),
    ]
)  # fmt: skip
def init(folder: Path, measures: tuple[str, ...], **options: Any) -> None:
    """Make DIR, with the labels and the rules."""
    made = Challenge.create(folder, measures=",".join(measures) or None, **options)
    rules = made.rules
    about = "leave one out" if rules.n_query is None else f"{rules.n_query} queries"
    say(f"{folder}: {rules.n_sample} samples, {about}; ranked by the lower bound of {rules.measures[0]}")


@challenge.command()
@_DIR
@click.argument("team")
@with_options([option("Run", "--revoke", is_flag=True, help="Make the team's token void, and print none.")])
def token(folder: Path, team: str, revoke: bool) -> None:
    """Print a new token for TEAM, with which it submits.

    An earlier token becomes void. The token is shown once and stored nowhere.
    """
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
@with_options(
    [
        option("Input", "--team", required=True, help="Submit for this team."),
        option("Input", "--title", default="", help="Give the submission this title."),
        option("Input", "--command", metavar="WORDS", help="Run this in the folder FILE, with {inputs} and {output}."),
    ]
)
def submit(folder: Path, file: Path, team: str, title: str, command: str | None) -> None:
    """Put FILE into the queue: a .npz file with an array "embeddings", or with --command a folder with a program."""
    challenge, store = _opened(folder)
    submission = submissions.submit(challenge, store, team, title, file, command)
    say(f"#{submission.number} {submission.team}: {submission.state} ({submission.id})")


@challenge.command()
@_DIR
@with_options(
    [
        option("Run", "--see", "also", type=Source(exists=True), multiple=True, metavar="PATH",
            help="Let commands read this too, in addition to /usr."),
        option("Run", "--again", type=NUMBER, multiple=True, metavar="NUMBER",
            help="Score this submission again, which was refused or failed."),
        option("Run", "--unprotected", is_flag=True, help="Run commands without a sandbox; the leaderboard says so."),
    ]
)  # fmt: skip
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
    """List the submissions, with their names in DIR/submissions."""
    _, store = _opened(folder)
    lines = [f"{_line(store, each)} ({each.id})" for each in store.select()]
    say("\n".join(lines) or "nothing was submitted")


@challenge.command()
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


@challenge.command()
@_DIR
@with_options(
    [
        option("Ranking", "--all", "every", is_flag=True, help="Rank all submissions, not only the best of a team."),
        option("Output", "--exact", is_flag=True,
            help="Show exact values, differences and p-values, with any --digits; do not publish these."),
    ],
    TEXTS,
)  # fmt: skip
def leaderboard(folder: Path, every: bool, exact: bool, **options: Any) -> None:
    """Rank the best submission of each team, and say which are significantly ahead of which.

    All of it is computed from values rounded to two decimals of per cent, as on the page, so it can be published.
    """
    challenge, store = _opened(folder)
    deliver((leaderboards.exact if exact else leaderboards.board)(challenge, store, every), options)


@challenge.command()
@_DIR
@with_options(
    [
        option("Run", "--host", default="127.0.0.1",
            help="Listen at this address; 0.0.0.0 is reachable from everywhere."),
        option("Run", "--port", type=Whole(0, 65535), default=8000, help="Listen at this port."),
        option("Run", "--certificate", type=PATH,
            help="Serve HTTPS with this certificate (PEM); without it, put the page behind a server that does."),
        option("Run", "--key", type=PATH, help="Use this private key of the certificate (PEM)."),
    ]
)  # fmt: skip
def serve(folder: Path, host: str, port: int, certificate: Path | None, key: Path | None) -> None:
    """Show the leaderboard on a web page, and take and score .npz files there until interrupted."""
    if (certificate is None) != (key is None):
        raise click.UsageError("--certificate and --key go together")
    challenge, store = _opened(folder)
    site.serve(challenge, store, host, port, certificate, key)


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
