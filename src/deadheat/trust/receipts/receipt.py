"""From inputs to a receipt, and from a receipt and inputs to the values in it that do not follow from them.

    inputs, options ──evaluate──> Report ──> Receipt ──save──> r.json ──verify──> match, or what differs

A receipt has digests of the inputs, which do not depend on their storage. Each is the SHA-256 of a line of text, a line
with the shape, and the values:

- *Embeddings*: ``deadheat.embeddings 1``, ``100 8``, and every number as a little-endian float64, row by row; -0 is 0.
  So float16, float32 and float64 files of the same numbers have one digest, and so have arrays in memory.
- *Labels*: ``deadheat.labels 1``, ``100``, and a line each: ``i7`` for the integer 7, ``s3 cat`` for a string, its
  length in bytes of UTF-8 before it, ``b3 cat`` for bytes. Of several labels a row: ``deadheat.label_sets 1``, ``100``,
  and for each row the number of its labels, such as ``2``, and their lines in ascending order; the labels of a matrix
  are its columns, from 0 on.
- *Weights of queries*: ``deadheat.weights 1``, ``100``, and little-endian float64.
- *Items left out* (`exclude`): ``deadheat.rows 1``, ``100``, and little-endian int64; *junk*: ``deadheat.mask 1``,
  ``100`` or ``100 200``, and a byte each, 0 or 1, also where a rule says it.
- *Relevant pairs* (`relevant`): ``deadheat.pairs 1``, ``100 200``, and for each query the number of its relevant rows,
  such as ``2``, a blank, these rows ascending as little-endian int64, and their gains as float64.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.counting.options import RELEVANCE, CountingOptions
from deadheat.engine.distances import registry as distance_registry
from deadheat.engine.task import Task, rows_of
from deadheat.engine.ties.rounded import Rounded, rule_of
from deadheat.engine.ties.rule import Ties
from deadheat.engine.ties.tolerance import Tolerance
from deadheat.errors import FileError, printable
from deadheat.inputs.label_sets import LabelSets
from deadheat.inputs.pair_rules import RuledMask
from deadheat.inputs.relevance import Pairs
from deadheat.inputs.samples import Pair
from deadheat.inputs.source import digest_of, digest_of_rows
from deadheat.reports.averaging import Average, Singletons, SummaryOptions
from deadheat.reports.evaluating import Weights, evaluate, report_of
from deadheat.reports.report import Report
from deadheat.reports.tables import program
from deadheat.support.arrays import slices
from deadheat.support.floats import plain_floats
from deadheat.support.triple import Triple
from deadheat.trust.receipts.document import DIGEST, SCHEMA, VERSION, Receipt

_LABELS_AT_ONCE = 1 << 16
_ABSENT = "nothing"
_SHOWN = 80  # characters of a value


@plain_floats
def receipt(
    task: Task,
    *,
    measures: str | Iterable[str] | None = None,
    singletons: Singletons = "skip",
    average: Average = "query",
    weights: Weights = None,
) -> Receipt:
    """Evaluate a task, and return the result with digests of its inputs, so that anybody with them can verify it.

    Parameters
    ----------
    task : Task
        Made of embeddings.
    measures, singletons, average, weights
        As in `deadheat.evaluate`. They decide the result together with the task. The receipt holds all of it: options
        as they are, and inputs as digests of their values, which do not depend on the file or type that holds them.

    Returns
    -------
    Receipt
        To be saved as JSON.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from deadheat import Task, verify
    >>> labels = ["a", "b", "a"]
    >>> task, other = Task([[0, 1], [1, 0], [1, 1]], labels), Task([[0, 1], [1, 0], [1, 2]], labels)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "r.json")
    ...     receipt(task, measures="mAP, Hit@1").save(path)
    ...     print(verify(path, task))
    ...     print(verify(path, other).differences[0].name)
    match: r.json follows from these inputs
    inputs.embeddings.sha256
    """
    task = rows_of(task, "a receipt", several=True, pairs=True)
    return receipt_of(evaluate(task, measures, singletons=singletons, average=average, weights=weights), task)


@plain_floats
def receipt_of(report: Report, task: Task) -> Receipt:
    """Return the receipt of a report on a task."""
    options = task.options
    return Receipt.of(
        {
            "schema": SCHEMA,
            "schema_version": VERSION,
            "deadheat": program(),
            "inputs": _inputs(task.pair, options) | _weights(report),
            "options": {
                "distance": options.distance,
                "ties": options.rule.describe(options.distance),
                "measures": list(report.measures),
                "singletons": report.singletons,
                "average": report.average,
                **({"relevance": options.relevance or RELEVANCE[0]} if task.has_several_labels else {}),
            },
            "queries": {"n_query": report.n_query, "n_singleton": report.n_singleton},
            "ties": report.ties._asdict(),
            "profile": report.profile.digest(),
            "measures": {name: _values(report, name) for name in report.measures},
        }
    )


def _values(report: Report, name: str) -> dict[str, Any]:
    """Return a measure's numbers, as decimals that stand for exactly one float64 and as that number's bits."""
    result = report[name]
    values = {end: float(getattr(result, end)) for end in Triple._fields}
    both = {end: {"decimal": repr(value), "hex": value.hex()} for end, value in values.items()}
    return {**both, "n_query": result.n_query, "n_undefined": result.n_undefined}


def _inputs(pair: Pair, options: CountingOptions) -> dict[str, Any]:
    """Return the shapes and digests of all inputs that the result follows from."""
    content = {}
    for samples, name, labels in ((pair.query, "embeddings", "labels"), (pair.gallery, "gallery", "gallery_labels")):
        if samples is not None:
            rows = samples.embeddings
            content[name] = {"shape": list(rows.shape), "sha256": digest_of_rows(rows)}
            if options.relevant is None:
                content[labels] = {"shape": [len(samples.labels)], "sha256": digest_of_labels(samples.labels)}
    if options.relevant is not None:
        content["relevant"] = _input("pairs", options.relevant.shape, _pairs_by_query(options.relevant))
    if options.junk is not None:
        mask = options.junk
        marks = (np.ascontiguousarray(row).view(np.uint8).data for row in _rows_of_mask(mask))
        content["junk"] = _input("mask", mask.shape, marks)
    if options.exclude is not None:
        own = options.exclude.astype("<i8", order="C")
        content["exclude"] = _input("rows", own.shape, [own.data])
    return content


def _input(kind: str, shape: tuple[int, ...], pieces: Iterable[bytes | memoryview]) -> dict[str, Any]:
    return {"shape": list(shape), "sha256": digest_of(kind, shape, pieces)}


def _rows_of_mask(mask: Any) -> Iterator[NDArray[Any]]:
    """Yield the rows of a mask of junk; of one that a rule says, no more than a row is written at a time."""
    if not isinstance(mask, RuledMask):
        yield from np.atleast_2d(mask)
        return
    columns = np.arange(mask.shape[1])
    yield from (mask[np.ix_(np.array([query]), columns)] for query in range(mask.shape[0]))


def _pairs_by_query(relevant: Pairs) -> Iterator[bytes]:
    """Yield the relevant gallery rows of each query, ascending, with their gains."""
    for query in range(relevant.shape[0]):
        _, item, entry = relevant.of(np.array([query]))
        order = np.argsort(item)
        gains = np.ones(len(item)) if relevant.gains is None else relevant.gains[entry[order]]
        yield b"%d " % len(item) + item[order].astype("<i8").tobytes() + gains.astype("<f8").tobytes()


def _weights(report: Report) -> dict[str, Any]:
    """Return the shape and the digest of the weights of queries, by their name; nothing without weights."""
    if report.weights is None:
        return {}
    return {"weights": _input("weights", report.weights.shape, [report.weights.astype("<f8", order="C").data])}


def digest_of_labels(labels: NDArray[Any] | LabelSets) -> str:
    """Return the digest of labels: integers, strings or bytes, or several of them a row.

    Examples
    --------
    >>> digest_of_labels(np.array([1, 2])) == digest_of_labels(np.array(["1", "2"]))
    False
    """
    pieces = slices(len(labels), _LABELS_AT_ONCE)
    if isinstance(labels, LabelSets):
        sets = (labels[some].rows() for some in pieces)
        lines = (b"".join(b"%d\n%b" % (len(row), b"".join(map(_line, row))) for row in rows) for rows in sets)
        return digest_of("label_sets", (len(labels),), lines)
    return digest_of("labels", labels.shape, (b"".join(map(_line, labels[some].tolist())) for some in pieces))


def _line(label: Any) -> bytes:
    if isinstance(label, (str, bytes)):
        kind, text = (b"s", label.encode("utf-8", "surrogatepass")) if isinstance(label, str) else (b"b", label)
        return kind + b"%d " % len(text) + text + b"\n"
    return b"i%d\n" % int(label)


# ---------------------------------------------------------------------------------------------------------------------
# verifying


class Mismatch(NamedTuple):
    """One place of a receipt that does not follow from the inputs: its name, the stated and the computed value."""

    name: str
    stated: str
    computed: str


@dataclass(frozen=True)
class Verification:
    """The result of verifying a receipt against inputs.

    Attributes
    ----------
    receipt : Receipt
    differences : tuple of Mismatch
        The places that do not follow from the inputs; empty for a match.
    """

    receipt: Receipt
    differences: tuple[Mismatch, ...]

    @property
    def matches(self) -> bool:
        """True if everything in the receipt follows from the inputs."""
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain Python values that JSON can hold."""
        return {
            "matches": self.matches,
            "differences": [difference._asdict() for difference in self.differences],
        }

    def __str__(self) -> str:
        name = printable(self.receipt.name, _SHOWN)
        verdict = f"match: {name} follows" if self.matches else f"no match: {name} does not follow"
        lines = [f"{verdict} from these inputs"]
        lines += [f"  {each.name}: the receipt has {each.stated}, found {each.computed}" for each in self.differences]
        made_by = self.receipt.content.get("deadheat")
        if made_by != program():
            lines.append(f"made by deadheat {printable(str(made_by), 20)}, verified by {program()}")
        return "\n".join(lines)


@plain_floats
def verify(receipt: Receipt | str | os.PathLike[str], task: Task, *, weights: Weights = None) -> Verification:
    """Recompute a receipt from its options and these inputs, and compare every digest and every bit.

    Parameters
    ----------
    receipt : Receipt or path
    task : Task
        Of the inputs that the receipt is said to follow from. Its distance, its ties and, where rows have several
        labels, its relevance are taken from the receipt.
    weights : optional
        The weights of the queries that the receipt is said to follow from.

    Returns
    -------
    Verification
        `matches` and `differences`; printing it says match, or what differs.

    Raises
    ------
    OSError
        If a file cannot be read.
    FileError
        If it is no receipt.
    MissingPackageError
        Without jsonschema, which the extra ``files`` brings.

    Examples
    --------
    >>> from deadheat import receipt, Task
    >>> points = [[0], [1], [-1]]
    >>> made = receipt(Task(points, [1, 1, 2], distance="euclidean"), measures="mAP")
    >>> verify(made, Task(points, [1, 1, 2])).matches
    True
    >>> print(verify(made, Task(points, [1, 2, 1])))
    no match: receipt does not follow from these inputs
      inputs.labels.sha256: the receipt has 20169b5c56f6…, found bb63f3b0eee8…
      profile: the receipt has 72d29e122bc0…, found 383fd41f131a…
    """
    opened = receipt if isinstance(receipt, Receipt) else Receipt.load(receipt)
    opened.require_form()
    stated, summary = options_of(opened)
    task = rows_of(task, "a receipt", several=True, pairs=True)
    if task.has_several_labels:
        stated["relevance"] = opened.content["options"].get("relevance", RELEVANCE[0])
    task = _as_stated(task, stated)
    made = receipt_of(report_of(task, summary, weights), task)
    stated, computed = (
        {name: part for name, part in each.content.items() if name not in ("deadheat", DIGEST)}
        for each in (opened, made)
    )
    differences = list(_differences(stated, computed))
    if not opened.is_whole:
        differences.append(Mismatch(DIGEST, "a digest of other content", "it changed after it was made"))
    return Verification(opened, tuple(differences))


def _as_stated(task: Task, stated: dict[str, Any]) -> Task:
    """Return the task with the distance, the ties and the relevance of a receipt: itself if it has them."""
    other = task.replace(**stated, checkpoint=None)
    first, second = (each.options for each in (task, other))
    same = first.distance == second.distance and first.relevance == second.relevance
    return task if same and first.rule.describe(first.distance) == second.rule.describe(first.distance) else other


def options_of(receipt: Receipt) -> tuple[dict[str, Any], SummaryOptions]:
    """Return the distance and ties of a receipt, as settings of a task, and its measures and means."""
    options = receipt.content["options"]
    try:
        stated = {"distance": options["distance"], "ties": _ties(options["ties"])}
        rule_of(stated["ties"]), distance_registry.named(stated["distance"])
        return stated, SummaryOptions.checked(*(options[name] for name in ("measures", "singletons", "average")))
    except (TypeError, ValueError) as error:
        raise FileError(receipt.name, f": the options of the receipt cannot be those of a result: {error}") from None


def _ties(text: str) -> str | Ties:
    """Return the tie rule from the text of its `Ties.describe`."""
    kind, _, detail = text.partition(" ")
    if kind == "tolerance":
        return Tolerance(float(detail))
    return Rounded(kind, of=detail) if detail else rule_of(kind)


def _differences(stated: Any, computed: Any, path: str = "") -> Iterator[Mismatch]:
    """Yield the paths at which two contents differ, in the order of the computed one."""
    if isinstance(stated, dict) and isinstance(computed, dict):
        for key in dict.fromkeys([*computed, *stated]):
            yield from _differences(stated.get(key), computed.get(key), f"{path}.{key}" if path else key)
    elif type(stated) is not type(computed) or stated != computed:
        yield Mismatch(printable(path, _SHOWN), _shown(stated), _shown(computed))


def _shown(value: Any) -> str:
    if value is None:
        return _ABSENT
    text = str(value)
    if len(text) == 64 and set(text) <= set("0123456789abcdef"):
        return f"{text[:12]}…"
    return printable(text, _SHOWN)
