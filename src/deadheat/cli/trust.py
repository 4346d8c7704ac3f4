"""`deadheat audit`, `audit-run`, `audit-evaluator`, `verify`, `sign`, `keys`: what a reader asks of a result."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from deadheat.cli import options as shared
from deadheat.cli.files import INTEGER, JSON, PATH, PLACE, Command, Output, option
from deadheat.cli.options import deliver, with_options
from deadheat.cli.shell import STDOUT, check_output, output, say
from deadheat.engine.counting.options import CountingOptions
from deadheat.errors import FileError
from deadheat.reports.tables import labelled
from deadheat.support.lazy import json
from deadheat.trust.audits import run_audit
from deadheat.trust.audits.adapters import ADAPTERS, locate, survey
from deadheat.trust.audits.cases import MAKERS
from deadheat.trust.audits.evaluator_audit import audit_evaluator as audit_function
from deadheat.trust.audits.findings import Audited
from deadheat.trust.audits.submission_audit import MEASURES, audit_pair
from deadheat.trust.receipts.document import Receipt, fingerprint_of_file, make_keys
from deadheat.trust.receipts.receipt import options_of, verify_pair

FAILED = 1  # exit status: something serious was found, or a receipt does not match

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
    text, json_out = json.dumps(labelled(verification.to_dict()), indent=2), options["json_out"]
    if json_out not in (None, STDOUT):
        with output(json_out) as out:
            out.write(f"{text}\n".encode())
    say(text if json_out == STDOUT else str(verification))
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
