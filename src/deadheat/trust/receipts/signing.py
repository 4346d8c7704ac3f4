"""Signatures (Ed25519): keys in PEM files, made by `deadheat keys` or by openssl."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path
from typing import Any

from deadheat.errors import FileError, InvalidValueError, reason
from deadheat.support import checks
from deadheat.support.atomic import replacing
from deadheat.support.lazy import require

_ALGORITHM = "Ed25519"
_MOST_BYTES = 1 << 16  # of a file with a key


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


def sign(message: bytes, key: Any) -> dict[str, str]:
    """A signature as a receipt has it, with the public key."""
    parts = {"public_key": key.public_key().public_bytes_raw(), "value": key.sign(message)}
    return {"algorithm": _ALGORITHM, **{name: base64.b64encode(part).decode() for name, part in parts.items()}}


def signer(signature: Any, message: bytes) -> str:
    """The fingerprint of the key that has signed a message; a signature that does not fit raises ValueError."""
    ed25519, _ = _of_cryptography()
    invalid = require("cryptography.exceptions", "signed", "a signature").InvalidSignature
    try:
        if signature["algorithm"] != _ALGORITHM:
            raise ValueError(f"its algorithm is not {_ALGORITHM}")
        raw, value = (base64.b64decode(signature[name], validate=True) for name in ("public_key", "value"))
        ed25519.Ed25519PublicKey.from_public_bytes(raw).verify(value, message)
    except (invalid, ValueError, TypeError, KeyError, AttributeError):
        raise InvalidValueError("signature", "must fit the receipt, but does not") from None
    return _fingerprint(raw)


def _fingerprint(raw: bytes) -> str:
    return f"SHA256:{hashlib.sha256(raw).hexdigest()[:32]}"


def _read(path: str | os.PathLike[str]) -> bytes:
    checks.without_nul(path, "key")
    with open(path, "rb") as file:
        return file.read(_MOST_BYTES)


def _required(key: Any, kind: Any, path: str | os.PathLike[str]) -> Any:
    if not isinstance(key, kind):
        raise FileError(path, f" must hold an {_ALGORITHM} key, but holds a {type(key).__name__.strip('_')}")
    return key


def _of_cryptography() -> tuple[Any, Any]:
    """The modules for keys of this kind and for files of keys."""
    primitives = "cryptography.hazmat.primitives"
    ed25519 = require(f"{primitives}.asymmetric.ed25519", "signed", "a signature")
    return ed25519, require(f"{primitives}.serialization", "signed", "a signature")
