"""The commands of `deadheat.trust`: `audit`, `audit-collection`, `audit-run` and `verify`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click

from deadheat.cli import isolation
from deadheat.cli import options as shared
from deadheat.cli.files import FILE, LINES, PATH, command, option
from deadheat.cli.options import deliver, write_texts
from deadheat.cli.shell import note, say
from deadheat.cli.systems import CHUNKS
from deadheat.errors import QueryInGalleryWarning
from deadheat.reports.tables import labelled
from deadheat.support.lazy import json
from deadheat.trust.audits import collection_audit, run_audit
from deadheat.trust.audits.findings import Audited
from deadheat.trust.audits.submission_audit import MEASURES, audit_of
from deadheat.trust.receipts.document import Receipt
from deadheat.trust.receipts.receipt import options_of
from deadheat.trust.receipts.receipt import verify as verified

FAILED = 1  # exit status: something serious was found, or a receipt does not match

_MEASURES = option(
    "Measure", "--measure", "-m", "measures", multiple=True, metavar="NAMES",
    help='Compute these measures, such as "AP nDCG@10"; can be repeated.',
)  # fmt: skip
STRICT = option("Run", "--strict", is_flag=True, help="Exit with 1 for warnings too.")


@command(
    "audit embeddings.npz",
    click.argument("file", type=PATH),
    shared.SOURCES, shared.SCORES, shared.MEANS, shared.SEED, STRICT, shared.TEXTS,
    option("Run", "--untrusted", is_flag=True,
        help="Take FILE for that of a stranger: read it in a process of its own, with limits, and follow no link."),
    *isolation.options("untrusted"),
)  # fmt: skip
def audit(file: Path, **options: Any) -> int:
    """Find what a careful referee would ask about the embeddings and labels in FILE.

    FILE and the options that name files are those of `deadheat evaluate`. The first measure is compared with chance.
    Exit status 0 if nothing serious is found, 1 if something is (with --strict, a warning too), 2 if there is no
    verdict.
    """
    isolation.require_positive(options)
    if options["untrusted"] and not options["isolated"]:
        status, text = isolation.run([*isolation.words_of(options), "--force"], file, options, quiet=False)
        if text:
            say(text.decode().rstrip())
        return status
    with isolation.begun(options) as online:
        if options["isolated"] and online:
            note(isolation.ONLINE)
        return _audited(file, options)


def _audited(file: Path, options: dict[str, Any]) -> int:
    settings = shared.task_settings(options)  # with exact ties: the others are part of an audit
    summary = shared.summary_options(options, measures=MEASURES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryInGalleryWarning)  # which is a finding
        with shared.opened(file, options, settings, "auditing") as task:
            result = audit_of(task, summary, options["seed"])
    return _delivered(result, options)


def _delivered(result: Audited, options: dict[str, Any]) -> int:
    """Write and print an audit, and return the exit status."""
    deliver(result, options)
    return 0 if result.passes(strict=options["strict"]) else FAILED


@command(
    "audit-collection corpus.npz qrels.txt",
    click.argument("file", type=PATH),
    click.argument("qrels", type=PATH),
    option("Input", "--ids", type=LINES, help="Read the ids of the documents from here."), _MEASURES, STRICT,
    shared.TEXTS,
)  # fmt: skip
def audit_collection(file: Path, qrels: Path, **options: Any) -> int:
    """Find what a collection does to every system: documents that are missing, copies, queries without any, ceilings.

    FILE has embeddings of all documents and, under the name ids, their ids in QRELS. Exit status 0 if nothing serious
    is found, 1 if something is (with --strict, a warning too), 2 if there is no verdict.
    """
    measures = " ".join(options["measures"]) or collection_audit.MEASURES
    return _delivered(collection_audit.audit_collection(file, qrels, options["ids"], measures=measures), options)


@command(
    "audit-run predictions.json qrels.txt",
    click.argument("file", type=PATH),
    click.argument("judged", type=PATH, required=False, metavar="[QRELS]"),
    option("Input", "--qrels", type=PATH, metavar="QRELS", help="Take the judgements from here."),
    *CHUNKS,
    option("Input", "--subset", metavar="NAME", help="Take this subset of MTEB's predictions in FILE."),
    option("Input", "--split", metavar="NAME", help="Take this split of MTEB's predictions in FILE."),
    _MEASURES,
    STRICT,
    shared.TEXTS,
)  # fmt: skip
def audit_run(file: Path, judged: Path | None, **options: Any) -> int:
    """Find what a careful referee would ask about the scores in FILE, such as those of a reranker.

    FILE is a run in any form that `deadheat run` takes, such as JSON as MTEB and BEIR write it; QRELS are as there.
    Without QRELS only the scores are audited. Exit status 0 if nothing serious is found, 1 if something is (with
    --strict, a warning too), 2 if there is no verdict.
    """
    if judged is not None and options["qrels"] is not None:
        raise click.UsageError("audit-run takes QRELS or --qrels, not both")
    qrels = judged or options["qrels"]
    chosen = {key: options[key] for key in ("subset", "split", "repeats", "documents", "qrels_columns")}
    measures = " ".join(options["measures"]) or run_audit.MEASURES
    return _delivered(
        run_audit.audit_run(file, qrels, measures=measures, columns=options["run_columns"], **chosen), options
    )


@command(
    "verify receipt.json embeddings.npz",
    click.argument("receipt", type=FILE),
    click.argument("file", type=PATH),
    shared.SOURCES,
    shared.RELEVANT,
    shared.WEIGHTS, shared.THREADS_OPTION, shared.DEVICE_OPTION, shared.JSON,
)  # fmt: skip
def verify(receipt: Path, file: Path, **options: Any) -> int:
    """Recompute RECEIPT from FILE, and print "match", or what differs.

    FILE and the options that name files are those of `deadheat evaluate`; distance, ties and measures come from
    the receipt. Exit status 0 for a match, 1 if anything differs, 2 if there is no verdict.
    """
    loaded = Receipt.load(receipt)
    stated, _ = options_of(loaded)
    with shared.opened(file, options, shared.task_settings(options, **stated)) as task:
        weights = None if options["weights"] is None else shared.read_numbers(options["weights"], "weights")
        verification = verified(loaded, task, weights=weights)
    out, text = options["json_out"], json.dumps(labelled(verification.to_dict()), indent=2)
    write_texts({} if out is None else {out: text}, str(verification))
    return 0 if verification.matches else FAILED
