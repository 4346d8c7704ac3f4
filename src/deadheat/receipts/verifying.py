"""From a receipt and inputs to what of the receipt does not follow from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from deadheat.counting import CountingOptions
from deadheat.errors import FileError, InputError
from deadheat.inputs import Pair, open_pair
from deadheat.inputs.own_rows import OwnRows
from deadheat.inputs.sources import EmbeddingsLike, LabelsLike
from deadheat.printable import printable
from deadheat.receipts import signing
from deadheat.receipts.document import DIGEST, SIGNATURE, Receipt
from deadheat.receipts.making import receipt_of
from deadheat.reports.evaluating import evaluate_pair
from deadheat.reports.options import SummaryOptions
from deadheat.reports.tables import program
from deadheat.support.floats import plain_floats
from deadheat.ties import Rounded, Ties, Tolerance, make

_ABSENT = "nothing"
_SHOWN = 80  # characters of a value


class Difference(NamedTuple):
    """One place of a receipt that does not follow from the inputs: its name, what the receipt has, what was found."""

    name: str
    stated: str
    found: str


@dataclass(frozen=True)
class Verification:
    """Whether a receipt follows from inputs.

    Attributes
    ----------
    receipt : Receipt
    differences : tuple of Difference
        What does not follow; empty for a match.
    signer : str or None
        The fingerprint of the key that has signed the receipt; None for one without a signature.
    """

    receipt: Receipt
    differences: tuple[Difference, ...]
    signer: str | None = None

    @property
    def matches(self) -> bool:
        """Whether everything in the receipt follows from the inputs, and a signature fits."""
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain Python values that JSON can hold."""
        return {
            "matches": self.matches,
            "differences": [difference._asdict() for difference in self.differences],
            "signer": self.signer,
        }

    def __str__(self) -> str:
        name = printable(self.receipt.name, _SHOWN)
        lines = [f"match: {name} follows from these inputs"]
        if self.differences:
            lines = [f"no match: {name} does not follow from these inputs"]
            lines += [
                f"  {place}: the receipt has {stated}, found {found}" for place, stated, found in self.differences
            ]
        if self.signer is not None:
            lines.append(f"signed by {self.signer}")
        made_by = self.receipt.content.get("deadheat")
        if made_by != program():
            lines.append(f"made by deadheat {printable(str(made_by), 20)}, verified by {program()}")
        return "\n".join(lines)


@plain_floats
def verify(
    receipt: Receipt | str | os.PathLike[str],
    embeddings: EmbeddingsLike,
    labels: LabelsLike | None = None,
    gallery: EmbeddingsLike | None = None,
    gallery_labels: LabelsLike | None = None,
    *,
    junk: ArrayLike | None = None,
    exclude: OwnRows | None = None,
    key: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool | Callable[[int, int], None] = False,
    device: Any = None,
) -> Verification:
    """Compute a receipt anew from its options and these inputs, and compare every digest and every bit.

    Parameters
    ----------
    receipt : Receipt or path
    embeddings, labels, gallery, gallery_labels, junk, exclude
        What the receipt is said to follow from, as in `deadheat.evaluate`.
    key : path, optional
        The public key (PEM) of the one who should have signed it: a receipt without that signature is no match. By
        default a signature has to fit the key that it carries, whoever's that is.
    threads, progress, device
        As in `deadheat.evaluate`: the result does not depend on them.

    Returns
    -------
    Verification
        `matches`, `differences`, `signer`; printing it says match, or what differs.

    Raises
    ------
    OSError
        If a file cannot be read.
    FileError
        If it is no receipt.
    ValueError, TypeError
        If an argument breaks its rule, as in `deadheat.evaluate`.
    MissingPackageError
        For a signature, without cryptography (the extra ``signed``).

    Examples
    --------
    >>> from deadheat import receipt
    >>> made = receipt([[0], [1], [-1]], [1, 1, 2], distance="euclidean", measures="mAP")
    >>> verify(made, [[0], [1], [-1]], [1, 1, 2]).matches
    True
    >>> print(verify(made, [[0], [1], [-1]], [1, 2, 1]))
    no match: receipt does not follow from these inputs
      inputs.labels.sha256: the receipt has 20169b5c56f6…, found bb63f3b0eee8…
      profile: the receipt has 72d29e122bc0…, found 383fd41f131a…
    """
    opened = receipt if isinstance(receipt, Receipt) else Receipt.load(receipt)
    opened.require_form()
    expected_signer = None if key is None else signing.fingerprint_of_file(key)
    stated, summary = options_of(opened)
    options = CountingOptions.checked(
        **stated, junk=junk, exclude=exclude, threads=threads, progress=progress, device=device
    )
    pair = open_pair(embeddings, labels, gallery, gallery_labels)
    return verify_pair(opened, pair, options, summary, expected_signer)


@plain_floats
def verify_pair(
    receipt: Receipt, pair: Pair, options: CountingOptions, summary: SummaryOptions, signer: str | None = None
) -> Verification:
    """`verify` with inputs that are open and options that are checked; `signer` is whose signature there must be."""
    found = receipt_of(evaluate_pair(pair, options, summary), pair, options)
    differences = list(_differences(_compared(receipt), _compared(found)))
    if not receipt.is_whole:
        differences.append(Difference(DIGEST, "a digest of other content", "it changed after it was made"))
    try:
        signed_by = receipt.signer
    except InputError:
        signed_by = None
        differences.append(Difference(SIGNATURE, "a signature of other content", "it does not fit"))
    if signer not in (None, signed_by):
        differences.append(Difference(SIGNATURE, f"one by {signed_by}" if signed_by else _ABSENT, f"need of {signer}"))
    return Verification(receipt, tuple(differences), signed_by)


def options_of(receipt: Receipt) -> tuple[dict[str, Any], SummaryOptions]:
    """What a receipt says of distance and ties, as `CountingOptions.checked` takes it, and of measures and means."""
    try:
        options = dict(receipt.content["options"])
        distance, measures, singletons, average = (
            options[name] for name in ("distance", "measures", "singletons", "average")
        )
        stated = {"distance": distance, "ties": _ties(options["ties"])}
        CountingOptions.checked(**stated)
        return stated, SummaryOptions.checked(measures, singletons, average)
    except (InputError, KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"has no {error}" if isinstance(error, KeyError) else str(error)
        raise FileError(receipt.name, f": the options of the receipt cannot be those of a result: {why}") from None


def _ties(text: str) -> str | Ties:
    """What tied meant, from the words that `Ties.describe` finds for it."""
    kind, _, detail = text.partition(" ")
    if kind == "tolerance":
        return Tolerance(float(detail))
    return Rounded(kind, of=detail) if detail else make(kind)


def _compared(receipt: Receipt) -> dict[str, Any]:
    """What of a receipt must follow from the inputs."""
    return {name: part for name, part in receipt.content.items() if name not in ("deadheat", DIGEST, SIGNATURE)}


def _differences(stated: Any, found: Any, name: str = "") -> Iterator[Difference]:
    """The places where two contents differ, in the order of what was found."""
    if isinstance(stated, dict) and isinstance(found, dict):
        for key in dict.fromkeys([*found, *stated]):
            yield from _differences(stated.get(key), found.get(key), f"{name}.{key}" if name else key)
    elif type(stated) is not type(found) or stated != found:
        yield Difference(printable(name, _SHOWN), _shown(stated), _shown(found))


def _shown(value: Any) -> str:
    if value is None:
        return _ABSENT
    text = str(value)
    if len(text) == 64 and set(text) <= set("0123456789abcdef"):
        return f"{text[:12]}…"
    return printable(text, _SHOWN)
