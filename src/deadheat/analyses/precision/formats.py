"""How the numbers of an embedding can be stored, one row a format: in comes a name, out comes what it says."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from deadheat import exact
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.support import checks

BITS = {"float64": 64, "float32": 32, "bfloat16": 16, "float16": 16, "int8": 8, "1 bit": 1}  # of a number
SCALE_BYTES = 4  # the scale of a vector is a float32
_SCALES = {"": "all", " per dimension": "dimension", " per vector": "vector"}
_FLOAT_QUERY = " (float query)"
_ALIASES = {
    **exact.ALIASES,
    "fp64": "float64",
    "f64": "float64",
    "double": "float64",
    "binary": "1 bit",
    "bit": "1 bit",
}


@dataclass(frozen=True)
class Format:
    """How the numbers of an embedding are stored.

    Attributes
    ----------
    name : str
    number : str
        What a number becomes: "float64", "float32", "bfloat16", "float16", "int8" or "1 bit".
    scale : {"all", "dimension", "vector"}
        What has a scale of its own in int8: the whole array, each dimension or each vector.
    float_query : bool
        Whether only the gallery is stored so, and queries stay float32.
    """

    name: str
    number: str
    scale: str = "all"
    float_query: bool = False

    @property
    def bits(self) -> int:
        """Bits of a stored number."""
        return BITS[self.number]

    def bytes_per_vector(self, dim: int, distance: str) -> int:
        """Bytes of a stored vector; scales that all vectors share are not counted, and cosine needs none.

        Examples
        --------
        >>> [FORMATS[name].bytes_per_vector(100, "euclidean") for name in ("float32", "int8 per vector", "1 bit")]
        [400, 104, 13]
        """
        scale = SCALE_BYTES if self.scale == "vector" and distance != "cosine" else 0
        return -(-dim * self.bits // 8) + scale


def _rows() -> Iterable[Format]:
    for number in BITS:
        if number not in ("int8", "1 bit"):
            yield Format(number, number)
            continue
        for part, scale in _SCALES.items():
            if number == "int8" or scale == "all":
                yield Format(number + part, number, scale)
                yield Format(number + part + _FLOAT_QUERY, number, scale, True)


FORMATS = {row.name: row for row in _rows()}
DEFAULT = (
    "float32", "bfloat16", "float16", "int8", "int8 per dimension", "int8 per vector", "int8 (float query)", "1 bit",
)  # fmt: skip


def _key(name: str) -> str:
    """A name without what does not matter in it."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


_BY_KEY = {_key(name): name for name in FORMATS}
_BY_KEY |= {
    _key(name.replace(row.number, alias)): name
    for name, row in FORMATS.items()
    for alias, number in _ALIASES.items()
    if row.number == number
}


def named(name: Any, argument: str = "format") -> Format:
    """The format that a name stands for; case, blanks and signs in it do not matter.

    Examples
    --------
    >>> named("fp16").name, named("binary").name, named("int8-per-dimension").name, named("INT8 float query").name
    ('float16', '1 bit', 'int8 per dimension', 'int8 (float query)')
    """
    return FORMATS[asked(name, FORMATS, argument)]


def asked(name: Any, among: Iterable[str], argument: str = "format") -> str:
    """The own name of the format that a name stands for, which must be among these."""
    meant = _BY_KEY.get(_key(name), name) if isinstance(name, str) else name
    return checks.choice(meant, among, argument)


def all_named(names: str | Iterable[str]) -> list[Format]:
    """The formats that a caller asks for, each once; a string can hold several, with commas between them."""
    listed = names.split(",") if isinstance(names, str) else names
    if not isinstance(listed, Iterable):
        raise InvalidTypeError("formats", f"must be names, such as 'int8' or a list of them, but is {names!r}")
    formats = list(dict.fromkeys(named(name, "formats") for name in listed))
    if not formats:
        raise InvalidValueError("formats", "must name at least one format, but got none")
    return formats
