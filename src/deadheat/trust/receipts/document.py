"""The receipt of a result: a dictionary that JSON can hold, with a digest of its own.

It has exactly the members of its published JSON Schema, with exactly their types: jsonschema checks it. Rules that a
schema cannot express are checked here: the measures are those that the options name, and the version is a known one.
"""

from __future__ import annotations

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

from deadheat.errors import MOST, FileError, InvalidTypeError, printable, reason
from deadheat.inputs import limits
from deadheat.inputs.predictions import distinct
from deadheat.reports.tables import program
from deadheat.support import checks
from deadheat.support.atomic import replacing
from deadheat.support.checks import shown
from deadheat.support.lazy import require
from deadheat.support.triple import Triple

SCHEMA, VERSION = "deadheat.Receipt", 1
READABLE = (1,)  # versions that are verified
MOST_BYTES = 16 << 20  # of a file: a receipt has a few thousand
DIGEST = "receipt"
FIRST = "0.1.0"  # the first release that makes receipts
_SHOWN = 60  # characters of a value or a place,
_RULE = 160  # and of what jsonschema says of one


@dataclass(frozen=True)
class Receipt:
    """A result, and digests of the inputs that it follows from.

    Attributes
    ----------
    content : dict
        The content as JSON: `inputs` with digests, `options`, the number of `queries`, the `ties`, the digest of the
        `profile`, and of each of the `measures` lower, expected and upper as decimal and as exact bits (hex);
        `deadheat`, the version that made it; and `receipt`, the digest of all that.
    name : str
        The name in messages: the file that it was read from.

    Examples
    --------
    >>> import deadheat as dh
    >>> task = dh.Task([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean")
    >>> receipt = dh.receipt(task, measures="mAP")
    >>> receipt.content["measures"]["mAP"]["lower"]
    {'decimal': '0.75', 'hex': '0x1.8000000000000p-1'}
    >>> receipt["mAP"]
    Triple(lower=0.75, expected=0.875, upper=1.0)
    """

    content: Mapping[str, Any]
    name: str = field(default="receipt", compare=False)

    def __post_init__(self) -> None:
        checks.mapping(self.content, "content", "a dictionary")
        checks.text(self.name, "name")

    def __hash__(self) -> int:
        return hash(_digest(self.content))

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Self:
        """Return a receipt with this content and its digest."""
        checks.mapping(content, "content", "a dictionary")
        return cls({**content, DIGEST: _digest(content)})

    @property
    def is_whole(self) -> bool:
        """True if its own digest fits its content: nothing was changed without a new digest."""
        return self.content.get(DIGEST) == _digest(self.content)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the receipt as JSON, completely or not at all."""
        text = _json(self.content, indent=2)
        with replacing(path) as file:
            file.write(f"{text}\n".encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a receipt; `deadheat.verify` checks whether it is true.

        Raises
        ------
        OSError
            If the file cannot be read.
        FileError
            If it has not exactly the members of a receipt, with their types, or is of a version not known here.
        MissingPackageError
            Without jsonschema, which the extra ``files`` brings.
        """
        checks.path(path, "receipt")
        with limits.opened(path) as file:
            text = file.read(MOST_BYTES + 1)
        try:
            if len(text) > MOST_BYTES:
                raise ValueError(f"it has over {MOST_BYTES >> 20} MB")
            content = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=distinct)
            if not isinstance(content, dict):
                raise ValueError("it is no dictionary")
        except (ValueError, RecursionError) as error:
            raise FileError(path, f" is not a receipt: {reason(error) or 'nested too deeply'}") from None
        made = cls(content, Path(path).name)
        made.require_form(path)
        return made

    def require_form(self, path: str | os.PathLike[str] | None = None) -> None:
        """Refuse content without exactly the members of a receipt, with their types, as `load` does, in a `FileError`.

        Messages call it `path`.
        """
        content, title = self.content, self.name if path is None else path
        if not isinstance(content, Mapping) or content.get("schema") != SCHEMA:
            raise FileError(title, f" is not a receipt: its schema is not {SCHEMA!r}")
        version = content.get("schema_version")
        if type(version) is not int or version not in READABLE:
            raise FileError(title, f" has schema_version {shown(version)}, but this deadheat verifies {READABLE[-1]}")
        try:
            _require_schema(dict(content))
            if sorted(content["measures"]) != sorted(content["options"]["measures"]):
                raise ValueError("measures must be those that options has, but has others")
            first, made_by, ours = map(_numbers, (FIRST, content["deadheat"], program()))
            if not first <= made_by <= ours:
                known = FIRST if first == ours else f"{FIRST} to {program()}"
                raise ValueError(
                    f"deadheat must be a version that is known here, {known}, but is {content['deadheat']}"
                )
        except (ValueError, RecursionError) as error:
            raise FileError(title, f" is not a receipt: {reason(error) or 'nested too deeply'}") from None

    def __getitem__(self, measure: str) -> Triple[float]:
        """Return lower, expected and upper of a measure, by its name in the receipt."""
        values = checks.part(self.content["measures"], measure, "measure")  # as `require_form` has it
        return Triple(*(float.fromhex(values[name]["hex"]) for name in Triple._fields))

    def __repr__(self) -> str:
        measures, digest = self.content.get("measures", ()), self.content.get(DIGEST, "")
        return printable(f"Receipt({', '.join(map(str, measures))}; {str(digest)[:12]})", MOST)


def _digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all but the digest, as sorted JSON in ASCII without blanks."""
    kept = {name: part for name, part in content.items() if name != DIGEST}
    return hashlib.sha256(_json(kept, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()).hexdigest()


def _json(content: Mapping[str, Any], **options: Any) -> str:
    try:
        return json.dumps(content, **options)
    except Exception as error:
        raise InvalidTypeError("content", f"must hold what JSON can, but raised {checks.cause(error)}") from error


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"it holds {text}")


# ---------------------------------------------------------------------------------------------------------------------
# the form


@cache
def _validator() -> Any:
    """Return a validator of the published schema that refuses 60.0 as an integer: a receipt has one form."""
    jsonschema = require("jsonschema", "files", "reading a receipt")
    schema = json.loads((resources.files("deadheat.trust.receipts") / "receipt-1.schema.json").read_text("utf-8"))
    of_draft = jsonschema.Draft202012Validator
    types = of_draft.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    return jsonschema.validators.extend(of_draft, type_checker=types)(schema)


def _require_schema(content: dict[str, Any]) -> None:
    """Refuse content that breaks the schema, with the place of the first violation."""
    error = next(_validator().iter_errors(content), None)
    if error is not None:
        path = printable(error.json_path.removeprefix("$").removeprefix("."), _SHOWN)
        raise ValueError(f"{path}{': ' if path else ''}{printable(error.message, _RULE)}")


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, without the suffix of a development version."""
    return tuple(map(int, re.findall("[0-9]+", version)[:3]))
