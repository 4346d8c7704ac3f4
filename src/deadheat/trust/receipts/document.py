"""The receipt of a result: a dictionary that JSON can hold, with a digest of its own and perhaps a signature (Ed25519).

It has exactly the members that its schema has, with exactly their types. JSON Schema takes 60.0 for an integer and
Python takes True for 1; a receipt that is changed so would be equal to the one that was made. So the schema is read
here, as strictly as it is written. No other part of JSON Schema is known than what is in that file.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NoReturn, Self

from deadheat.errors import MOST, FileError, InvalidTypeError, InvalidValueError, printable, reason
from deadheat.reports.tables import program
from deadheat.support import checks
from deadheat.support.atomic import replacing
from deadheat.support.checks import shown
from deadheat.support.lazy import require
from deadheat.support.triple import Triple

SCHEMA, VERSION = "deadheat.Receipt", 1
READABLE = (1,)  # versions that are verified
MOST_BYTES = 16 << 20  # of a file: a receipt has a few thousand
DIGEST, SIGNATURE = "receipt", "signature"
FIRST = "0.1.0"  # the first release that makes receipts
_TYPES = {"object": (dict, "an object"), "array": (list, "an array"), "string": (str, "a string"),
          "integer": (int, "an integer")}  # fmt: skip
_SHOWN = 60  # characters of a value
_ALGORITHM = "Ed25519"
_MOST_BYTES_OF_KEY = 1 << 16  # of a file with a key


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
        return cls({**content, DIGEST: _digest(content)})

    @property
    def is_whole(self) -> bool:
        """Whether its own digest fits its content: nothing was changed by someone who does not know how."""
        return self.content.get(DIGEST) == _digest(self.content)

    @property
    def signer(self) -> str | None:
        """The fingerprint of the key whose signature fits the receipt; None for one without a signature.

        Raises
        ------
        ValueError
            If there is a signature that does not fit.
        """
        signature = self.content.get(SIGNATURE)
        if signature is None:
            return None
        ed25519, _ = _of_cryptography()
        invalid = require("cryptography.exceptions", "signed", "a signature").InvalidSignature
        try:
            if signature["algorithm"] != _ALGORITHM:
                raise ValueError
            raw, value = (base64.b64decode(signature[name], validate=True) for name in ("public_key", "value"))
            ed25519.Ed25519PublicKey.from_public_bytes(raw).verify(value, _canonical(self.content, SIGNATURE))
        except (invalid, ValueError, TypeError, KeyError, AttributeError):
            raise InvalidValueError("signature", "must fit the receipt, but does not") from None
        return _fingerprint(raw)

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
        opened, message = private_key(key, password), _canonical(self.content, SIGNATURE)
        parts = {"public_key": opened.public_key().public_bytes_raw(), "value": opened.sign(message)}
        encoded = {name: base64.b64encode(part).decode() for name, part in parts.items()}
        return type(self)({**self.content, SIGNATURE: {"algorithm": _ALGORITHM, **encoded}}, self.name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON, whole or not at all."""
        with replacing(path) as file:
            file.write(f"{json.dumps(self.content, indent=2)}\n".encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a receipt; `deadheat.verify` finds out whether it is true.

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
            _check(dict(content), _schema(), "")
            if sorted(content["measures"]) != sorted(content["options"]["measures"]):
                raise ValueError("measures must be those that options has, but has others")
            first, made_by, ours = map(_numbers, (FIRST, content["deadheat"], program()))
            if not first <= made_by <= ours:
                known = FIRST if first == ours else f"{FIRST} to {program()}"
                came = _as_json(content["deadheat"])
                raise ValueError(f"deadheat must be a version that is known here, {known}, but is {came}")
        except ValueError as error:
            raise FileError(title, f" is not a receipt: {error}") from None

    def __getitem__(self, measure: str) -> Triple[float]:
        """Lower, expected and upper of a measure, by the name that the receipt has for it."""
        values = self.content["measures"][measure]
        return Triple(*(float.fromhex(values[name]["hex"]) for name in Triple._fields))

    def __repr__(self) -> str:
        return printable(f"Receipt({', '.join(self.content['measures'])}; {self.content[DIGEST][:12]})", MOST)


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(content, DIGEST, SIGNATURE)).hexdigest()


def _canonical(content: Mapping[str, Any], *without: str) -> bytes:
    """All but some members, as sorted JSON in ASCII without blanks: what a digest or a signature is of."""
    kept = {name: part for name, part in content.items() if name not in without}
    return json.dumps(kept, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"it holds {text}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name comes twice in it")
    return content


# ---------------------------------------------------------------------------------------------------------------------
# the form


@cache
def _schema() -> Any:
    return json.loads((resources.files("deadheat.trust.receipts") / "receipt-1.schema.json").read_text("utf-8"))


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, without what says that it is a development version."""
    return tuple(map(int, re.findall("[0-9]+", version)[:3]))


def _check(value: Any, rule: Mapping[str, Any], place: str) -> None:
    """Refuse a value that breaks a rule of the schema."""
    if "$ref" in rule:
        rule = _schema()["$defs"][rule["$ref"].rpartition("/")[2]]
    allowed = [rule["const"]] if "const" in rule else rule.get("enum")
    if allowed is not None:
        if not any(type(value) is type(each) and value == each for each in allowed):
            _refuse(place, f"must be {' or '.join(map(repr, allowed))}", value)
        return
    kind, title = _TYPES[rule["type"]]
    if type(value) is not kind:
        _refuse(place, f"must be {title}", value)
    if kind is dict:
        _check_members(value, rule, place)
    elif kind is list:
        if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
            raise ValueError(f"{place} has {len(value)} entries")
        for number, item in enumerate(value):
            _check(item, rule["items"], f"{place}[{number}]")
        if rule.get("uniqueItems") and len(set(value)) < len(value):
            raise ValueError(f"{place} has an entry twice")
    elif kind is int and value < rule["minimum"]:
        _refuse(place, f"must be at least {rule['minimum']}", value)
    elif kind is str and not re.search(rule.get("pattern", ""), value.replace("\n", "\\n")):  # "$" is before one too
        _refuse(place, f"must have the form {rule['pattern']}", value)


def _check_members(value: dict[str, Any], rule: Mapping[str, Any], place: str) -> None:
    named, others = rule.get("properties", {}), rule["additionalProperties"]
    dependent = rule.get("dependentRequired", {})
    needed = [*rule.get("required", ()), *(other for name in value for other in dependent.get(name, ()))]
    missing = next((name for name in needed if name not in value), None)
    if missing is not None:
        raise ValueError(f"{place or 'it'} has no {missing}")
    added = next((name for name in value if name not in named), None)
    if added is not None and not others:
        raise ValueError(f"{place or 'it'} has a member {_as_json(added)}, which no receipt has")
    if len(value) < rule.get("minProperties", 0):
        raise ValueError(f"{place} is empty")
    for name, part in value.items():
        _check(part, named.get(name, others), f"{place}.{name}" if place else name)


def _refuse(place: str, rule: str, value: Any) -> None:
    raise ValueError(f"{printable(place, _SHOWN)} {rule}, but is {_as_json(value)}")


def _as_json(value: Any) -> str:
    return printable(json.dumps(value, ensure_ascii=False), _SHOWN)


# ---------------------------------------------------------------------------------------------------------------------
# signatures: keys in PEM files, made by `deadheat keys` or by openssl


def make_keys(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write a new private key, readable by its owner alone, and its public key next to it; the paths of both."""
    ed25519, serialization = _of_cryptography()
    private, public = Path(path), Path(path).with_suffix(".pub.pem")
    taken = next((file for file in (private, public) if file.exists()), None)
    if taken is not None:
        raise FileExistsError(17, "is there already, and a key that is lost cannot be made again", os.fspath(taken))
    key = ed25519.Ed25519PrivateKey.generate()
    pem, formats = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    descriptor = os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as secret:
        secret.write(key.private_bytes(pem, formats, serialization.NoEncryption()))
    with replacing(public) as file:
        file.write(key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo))
    return private, public


def private_key(path: str | os.PathLike[str], password: bytes | None = None) -> Any:
    """The private key in a file."""
    ed25519, serialization = _of_cryptography()
    try:
        key = serialization.load_pem_private_key(_read(path), password)
    except (ValueError, TypeError) as error:  # TypeError: a password too many, or too few
        raise FileError(path, f" is not a private key in PEM that can be read: {reason(error)}") from None
    return _required(key, ed25519.Ed25519PrivateKey, path)


def fingerprint_of_file(path: str | os.PathLike[str]) -> str:
    """The fingerprint of the public key in a file."""
    ed25519, serialization = _of_cryptography()
    try:
        key = serialization.load_pem_public_key(_read(path))
    except ValueError as error:
        raise FileError(path, f" is not a public key in PEM: {reason(error)}") from None
    return _fingerprint(_required(key, ed25519.Ed25519PublicKey, path).public_bytes_raw())


def _fingerprint(raw: bytes) -> str:
    return f"SHA256:{hashlib.sha256(raw).hexdigest()[:32]}"


def _read(path: str | os.PathLike[str]) -> bytes:
    checks.without_nul(path, "key")
    with open(path, "rb") as file:
        return file.read(_MOST_BYTES_OF_KEY)


def _required(key: Any, kind: Any, path: str | os.PathLike[str]) -> Any:
    if not isinstance(key, kind):
        raise FileError(path, f" must hold an {_ALGORITHM} key, but holds a {type(key).__name__.strip('_')}")
    return key


def _of_cryptography() -> tuple[Any, Any]:
    """The modules for keys of this kind and for files of keys."""
    primitives = "cryptography.hazmat.primitives"
    ed25519 = require(f"{primitives}.asymmetric.ed25519", "signed", "a signature")
    return ed25519, require(f"{primitives}.serialization", "signed", "a signature")
