"""The commands of `deadheat.trust`: `audit`, `audit-run`, `audit-evaluator`, `verify`, `sign`, `keys` and `challenge`.

The first six are what a reader asks of a result; `challenge` is what an organiser does, from labels to a leaderboard.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from deadheat.cli import options as shared
from deadheat.cli.files import INTEGER, JSON, LINES, NUMBER, PATH, PLACE, Choice, Command, Output, Source, Whole, option
from deadheat.cli.options import COMPLETIONS, TEXTS, deliver, with_options, write_texts
from deadheat.cli.shell import Group, check_output, say
from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.distances.registry import DISTANCES
from deadheat.errors import FileError, InvalidValueError
from deadheat.reports.averaging import Average, Singletons
from deadheat.reports.tables import labelled
from deadheat.support.lazy import json, lazy
from deadheat.trust.audits import run_audit
from deadheat.trust.audits.adapters import ADAPTERS, locate, survey
from deadheat.trust.audits.cases import MAKERS
from deadheat.trust.audits.evaluator_audit import audit_evaluator as audit_function
from deadheat.trust.audits.findings import Audited
from deadheat.trust.audits.submission_audit import MEASURES, audit_pair
from deadheat.trust.challenge.challenge import Challenge, Rules
from deadheat.trust.receipts.document import Receipt, fingerprint_of_file, make_keys
from deadheat.trust.receipts.receipt import options_of, verify_pair

if TYPE_CHECKING:
    from deadheat.trust.challenge import leaderboard as leaderboards
    from deadheat.trust.challenge import scoring, site, submissions
    from deadheat.trust.challenge.store import Store, Submission
else:
    leaderboards, scoring, site, submissions = (
        lazy(f"deadheat.trust.challenge.{name}") for name in ("leaderboard", "scoring", "site", "submissions")
    )

FAILED = 1  # exit status: something serious was found, a receipt does not match, or a submission has no score

STRICT = option("Run", "--strict", is_flag=True, help="Exit with 1 for warnings too.")


@click.command(cls=Command)
@click.argument("file", type=PATH)
@with_options(shared.SOURCES, shared.SCORES, shared.MEANS, [shared.SEED, STRICT], shared.TEXTS)
def audit(file: Path, **options: Any) -> int:
    """Find what a careful referee would ask about the embeddings and labels in FILE.

    FILE and the options that name files are those of `deadheat evaluate`. The first measure is compared with chance.
    Exit status 0 if nothing serious is found, 1 if something is (with --strict, a warning too), 2 if there is no
    verdict.
    """
    counting = shared.counting_options({**options, "ties": "exact", "ties_of": None})  # the others are part of an audit
    summary = shared.summary_options(options, measures=MEASURES)
    with shared.opened(file, options, counting, "auditing") as (pair, counting):
        found = audit_pair(pair, counting, summary, options["seed"])
    return _delivered(found, options)


def _delivered(found: Audited, options: dict[str, Any]) -> int:
    """Write and print an audit, and return the exit status."""
    deliver(found, options)
    return 0 if found.passes(strict=options["strict"]) else FAILED


@click.command("audit-run", cls=Command)
@click.argument("file", type=PATH)
@click.argument("judged", type=PATH, required=False, metavar="[QRELS]")
@with_options(
    [
        option("Input", "--qrels", type=PATH, metavar="QRELS", help="Take the judgements from here."),
        option("Input", "--subset", metavar="NAME", help="Take this subset of MTEB's predictions in FILE."),
        option("Input", "--split", metavar="NAME", help="Take this split of MTEB's predictions in FILE."),
        option("Measure", "--measure", "-m", "measures", multiple=True, metavar="NAMES",
            help='Compute these measures, such as "AP nDCG@10"; can be repeated.'),
        STRICT,
    ],
    shared.TEXTS,
)  # fmt: skip
def audit_run(file: Path, judged: Path | None, **options: Any) -> int:
    """Find what a careful referee would ask about the scores in FILE, such as those of a reranker.

    FILE is a TREC run, or JSON with {query: {document: score}} as MTEB and BEIR write it; QRELS are as in `deadheat
    run`. Without QRELS only the scores are audited. Exit status 0 if nothing serious is found, 1 if something is
    (with --strict, a warning too), 2 if there is no verdict.
    """
    if judged is not None and options["qrels"] is not None:
        raise click.UsageError("audit-run takes QRELS or --qrels, not both")
    qrels, chosen = judged or options["qrels"], {key: options[key] for key in ("subset", "split")}
    measures = " ".join(options["measures"]) or run_audit.MEASURES
    return _delivered(run_audit.audit_run(file, qrels, measures=measures, **chosen), options)


@click.command("audit-evaluator", cls=Command, epilog=f"Names: {', '.join(ADAPTERS)}.")
@click.argument("name", required=False, metavar="NAME")
@with_options(
    [
        option("Input", "--all", "everything", is_flag=True, help="Audit every installed evaluator of the list."),
        option("Input", "--form", type=click.Choice(list(MAKERS)),
            help="Call the function with this. Default: embeddings."),
        option("Measure", "--measure", "-m", metavar="NAME",
            help="Expect it to compute this measure. Default: try all."),
        option("Run", "--classes", "n_classes", type=INTEGER, default=10, metavar="N",
            help="Give the system that knows nothing N classes."),
        option("Run", "--class-size", type=INTEGER, default=100, metavar="N",
            help="Give each of its classes N samples."),
        option("Run", "--draws", type=INTEGER, default=1, metavar="N", help="Put its samples in N random orders."),
        option("Run", "--seed", type=INTEGER, default=0, metavar="N", help="Seed inputs with N."),
    ],
    shared.TEXTS,
)  # fmt: skip
def audit_evaluator(name: str | None, everything: bool, **options: Any) -> int:
    """Find out what a metric computes, and whether it can be made to give something else.

    NAME is in the list below, or module:function for one of your own, which is looked for in this folder too:
    fn(embeddings, labels) returns one number, or fn(scores, relevant) with --form scores (matrices with a row a query),
    candidates (the same with one relevant item a query) or query (one query at a time). It is called with constructed
    inputs whose values are known.

    Exit status: 0 if nothing serious was found, 1 if something was, 2 for an error.
    """
    if everything is (name is not None):
        raise click.UsageError("audit-evaluator takes either NAME or --all")
    if everything and (options["form"] or options["measure"]):
        raise click.UsageError("--form and --measure belong to a NAME")
    sizes = {key: options[key] for key in ("n_classes", "class_size", "draws", "seed")}
    if everything:
        found: Any = survey(**sizes)
    else:
        assert name is not None
        sys.path.insert(0, os.getcwd())
        at = locate(name, options["form"])
        found = audit_function(
            at.fn, form=at.form, measure=options["measure"], name=at.name, version=at.version, **sizes
        )
    deliver(found, options)
    return 0 if found.passes() else FAILED


@click.command(cls=Command)
@click.argument("receipt", type=PATH)
@click.argument("file", type=PATH)
@with_options(
    shared.SOURCES,
    [
        option("Input", "--key", type=PATH, help="Require a signature by the owner of this public key (PEM)."),
        shared.THREADS_OPTION, shared.DEVICE_OPTION, shared.JSON,
    ],
)  # fmt: skip
def verify(receipt: Path, file: Path, **options: Any) -> int:
    """Recompute RECEIPT from FILE, and print "match", or what differs.

    FILE and the options that name files are those of `deadheat evaluate`; distance, ties and measures come from
    the receipt. Exit status 0 for a match, 1 if anything differs, 2 if there is no verdict.
    """
    loaded = Receipt.load(receipt)
    signer = None if options["key"] is None else fingerprint_of_file(options["key"])
    stated, summary = options_of(loaded)
    counting = CountingOptions.checked(**stated, threads=options["threads"], device=options["device"])
    with shared.opened(file, options, counting) as (pair, counting):
        verification = verify_pair(loaded, pair, counting, summary, signer)
    out, text = options["json_out"], json.dumps(labelled(verification.to_dict()), indent=2)
    write_texts({} if out is None else {out: text}, str(verification))
    return 0 if verification.matches else FAILED


@click.command(cls=Command)
@click.argument("receipt", type=PLACE)
@with_options(
    [
        option("Input", "--key", type=PATH, required=True,
            help="Sign with this private key (PEM): see `deadheat keys`."),
        option("Output", "--output", "-o", "out", type=Output(JSON), metavar="OUT",
            help="Write the signed receipt to OUT. Default: to RECEIPT itself."),
    ]
)  # fmt: skip
def sign(receipt: Path, key: Path, out: Path | None) -> None:
    """Sign RECEIPT, as the one who vouches for it; a receipt that was changed is refused."""
    target = receipt if out is None else out
    check_output(target)
    loaded = Receipt.load(receipt)
    if not loaded.is_whole:
        raise FileError(receipt, " was changed after it was made: its content does not have the digest it carries")
    signed = loaded.sign(key)
    signed.save(target)
    say(f"{target}: signed by {signed.signer}")


@click.command(cls=Command)
@click.argument("key", type=PLACE)
def keys(key: Path) -> None:
    """Make a private key in KEY, which stays with you, and its public key next to it (key.pem, key.pub.pem).

    Whoever has the public key can check which receipts were signed with the private one: `deadheat verify --key`.
    """
    private, public = make_keys(key)
    say(f"{private}: private, for deadheat sign --key\n{public}: public, {fingerprint_of_file(public)}")


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
    Receipt(json.loads(text)).save(out)
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
        found = Receipt(json.loads(text))
        name = next(iter(found.content["measures"]))
        came = f"{name} {100 * found[name].lower:.2f} % (lower bound)"
    return f"#{submission.number} {submission.team}: {came}"
