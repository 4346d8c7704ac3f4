"""The receipt of a result: a dictionary that JSON can hold, with a digest of its own and perhaps a signature."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Self

from deadheat.errors import FileError, InvalidTypeError
from deadheat.printable import MOST, printable, reason
from deadheat.receipts import form, signing
from deadheat.support import checks
from deadheat.support.atomic import replacing
from deadheat.support.checks import shown
from deadheat.support.triple import Triple

SCHEMA, VERSION = "deadheat.Receipt", 1
READABLE = (1,)  # versions that are verified
MOST_BYTES = 16 << 20  # of a file: a receipt has a few thousand
DIGEST, SIGNATURE = "receipt", "signature"


@dataclass(frozen=True)
class Receipt:
    """What a result follows from, and what it is.

    Attributes
    ----------
    content : dict
        What JSON holds: `inputs` with their digests, `options`, the number of `queries`, the `ties`, the digest of the
        `profile`, and of each of the `measures` lower, expected and upper as decimal and as exact bits (hex);
        `deadheat`, the version that made it; `receipt`, the digest of all that; and perhaps a `signature`.
    name : str
        What messages call it: the file that it was read from.

    Examples
    --------
    >>> import deadheat as dh
    >>> receipt = dh.receipt([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean", measures="mAP")
    >>> receipt.content["measures"]["mAP"]["lower"]
    {'decimal': '0.75', 'hex': '0x1.8000000000000p-1'}
    >>> receipt["mAP"]
    Triple(lower=0.75, expected=0.875, upper=1.0)
    """

    content: Mapping[str, Any]
    name: str = field(default="receipt", compare=False)

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Self:
        """A receipt with this content and its digest."""
        return cls({**content, DIGEST: hashlib.sha256(canonical(content)).hexdigest()})

    @property
    def is_whole(self) -> bool:
        """Whether its own digest fits its content: nothing was changed by someone who does not know how."""
        return self.content.get(DIGEST) == hashlib.sha256(canonical(self.content)).hexdigest()

    @property
    def signer(self) -> str | None:
        """The fingerprint of the key whose signature fits the receipt; None for one without a signature.

        Raises
        ------
        ValueError
            If there is a signature that does not fit.
        """
        signature = self.content.get(SIGNATURE)
        return None if signature is None else signing.signer(signature, self._signed())

    def sign(self, key: str | os.PathLike[str], password: bytes | None = None) -> Self:
        """The same receipt, signed.

        Parameters
        ----------
        key : path
            A private key (Ed25519) in PEM, as ``deadheat keys`` or ``openssl genpkey -algorithm ed25519`` makes it.
        password : bytes, optional
            With which the key is encrypted.

        Raises
        ------
        OSError, ValueError
            If the file cannot be read, or holds no such key.
        MissingPackageError
            Without cryptography (the extra ``signed``).
        """
        signature = signing.sign(self._signed(), signing.private_key(key, password))
        return type(self)({**self.content, SIGNATURE: signature}, self.name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON, whole or not at all."""
        with replacing(path) as file:
            file.write(f"{json.dumps(self.content, indent=2)}\n".encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a receipt; whether it is true is what `deadheat.verify` tells.

        Raises
        ------
        OSError
            If the file cannot be read.
        FileError
            If it has not exactly the members of a receipt, with their types, or is of a version not known here.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise InvalidTypeError("receipt", f"must be a path, but is {type(path).__name__}")
        checks.without_nul(path, "receipt")
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
        try:
            if len(text) > MOST_BYTES:
                raise ValueError(f"it has over {MOST_BYTES >> 20} MB")
            content = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
        except (ValueError, RecursionError) as error:
            raise FileError(path, f" is not a receipt: {reason(error) or 'nested too deeply'}") from None
        made = cls(content, Path(path).name)
        made.require_form(path)
        return made

    def require_form(self, path: str | os.PathLike[str] | None = None) -> None:
        """Refuse what has not exactly the members of a receipt, with their types; `path` is what the message calls it.

        Raises
        ------
        FileError
        """
        content, title = self.content, self.name if path is None else path
        if not isinstance(content, Mapping) or content.get("schema") != SCHEMA:
            raise FileError(title, f" is not a receipt: its schema is not {SCHEMA!r}")
        version = content.get("schema_version")
        if type(version) is not int or version not in READABLE:
            raise FileError(title, f" has schema_version {shown(version)}, but this deadheat verifies {READABLE[-1]}")
        try:
            form.require_form(content)
        except ValueError as error:
            raise FileError(title, f" is not a receipt: {error}") from None

    def __getitem__(self, measure: str) -> Triple[float]:
        """Lower, expected and upper of a measure, by the name that the receipt has for it."""
        values = self.content["measures"][measure]
        return Triple(*(float.fromhex(values[name]["hex"]) for name in Triple._fields))

    def _signed(self) -> bytes:
        """What a signature is of: all but itself."""
        return _compact({name: part for name, part in self.content.items() if name != SIGNATURE})

    def __repr__(self) -> str:
        return printable(f"Receipt({', '.join(self.content['measures'])}; {self.content[DIGEST][:12]})", MOST)


def canonical(content: Mapping[str, Any]) -> bytes:
    """What the digest of a receipt is of: all but itself and the signature, as sorted JSON in ASCII without blanks."""
    return _compact({name: part for name, part in content.items() if name not in (DIGEST, SIGNATURE)})


def _compact(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"it holds {text}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name comes twice in it")
    return content
