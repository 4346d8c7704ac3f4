"""Storage formats of embeddings, and rounding to them: in come numbers, out go those that the format holds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.engine import exact
from deadheat.engine.exact import ALIASES
from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.inputs import arrays, conversion
from deadheat.support import checks
from deadheat.support.arrays import Float64
from deadheat.support.floats import plain_floats

BITS = {"float64": 64, "float32": 32, "bfloat16": 16, "float16": 16, "int8": 8, "1 bit": 1}  # of a number
SCALE_BYTES = 4  # the scale of a vector is a float32
_ALIASES = ALIASES | dict.fromkeys(("fp64", "f64", "double"), "float64") | dict.fromkeys(("binary", "bit"), "1 bit")


@dataclass(frozen=True)
class Format:
    """Storage format of the numbers of an embedding.

    Attributes
    ----------
    name : str
    number : str
        The type of a stored number: "float64", "float32", "bfloat16", "float16", "int8" or "1 bit".
    scale : {"all", "dimension", "vector"}
        The parts that have a scale of their own in int8: the whole array, each dimension or each vector.
    float_query : bool
        True if only the gallery is stored so, and queries stay float32.
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
        """Return the bytes of a stored vector; scales that all vectors share are not counted, and cosine needs none.

        Examples
        --------
        >>> [FORMATS[name].bytes_per_vector(100, "euclidean") for name in ("float32", "int8 per vector", "1 bit")]
        [400, 104, 13]
        """
        scale = SCALE_BYTES if self.scale == "vector" and distance != "cosine" else 0
        return -(-dim * self.bits // 8) + scale


FORMATS = {
    row.name: row
    for row in (
        *(Format(name, name) for name in ("float64", "float32", "bfloat16", "float16")),
        Format("int8", "int8"),
        Format("int8 (float query)", "int8", float_query=True),
        Format("int8 per dimension", "int8", "dimension"),
        Format("int8 per dimension (float query)", "int8", "dimension", float_query=True),
        Format("int8 per vector", "int8", "vector"),
        Format("int8 per vector (float query)", "int8", "vector", float_query=True),
        Format("1 bit", "1 bit"),
        Format("1 bit (float query)", "1 bit", float_query=True),
    )
}
DEFAULT = (
    "float32", "bfloat16", "float16", "int8", "int8 per dimension", "int8 per vector", "int8 (float query)", "1 bit",
)  # fmt: skip


def _key(name: str) -> str:
    """Reduce a name to its letters, in lower case, and digits."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


_BY_KEY = {_key(name): name for name in FORMATS}
_BY_KEY |= {
    _key(name.replace(row.number, alias)): name
    for name, row in FORMATS.items()
    for alias, number in _ALIASES.items()
    if row.number == number
}


def format_name(name: Any, among: Iterable[str] = FORMATS, argument: str = "format") -> str:
    """Return the canonical name of a format from any of its names; case, blanks and signs do not matter.

    Examples
    --------
    >>> [format_name(name) for name in ("fp16", "binary", "int8-per-dimension", "INT8 float query")]
    ['float16', '1 bit', 'int8 per dimension', 'int8 (float query)']
    """
    meant = _BY_KEY.get(_key(name), name) if isinstance(name, str) else name
    return checks.choice(meant, among, argument)


def formats_named(names: str | Iterable[str]) -> list[Format]:
    """Return the formats that a caller asks for, each once; a string can hold several, with commas between them."""
    kind = "names, such as 'int8' or a list of them"
    listed = names.split(",") if isinstance(names, str) else checks.listed(names, "formats", kind)
    formats = [FORMATS[name] for name in dict.fromkeys(format_name(each, argument="formats") for each in listed)]
    if not formats:
        raise InvalidValueError("formats", "must name at least one format, but got none")
    return formats


_STORED = {"float32": np.float32, "bfloat16": np.float32, "float16": np.float16}
_INT8 = 127
_MIDDLES: dict[str, Callable[[Float64], Float64]] = {
    "mean": lambda values: np.array([math.fsum(column) / len(column) for column in values.T]),
    "median": lambda values: np.asarray(np.median(values, axis=0)),
}
_DOUBT = 2.0**-40  # far more than two roundings of a number up to 127 can change it


@plain_floats
def quantized(embeddings: ArrayLike, format: str, *, threshold: ArrayLike | str = 0.0) -> NDArray[Any]:
    """Round embeddings to the numbers that a shorter format holds.

    Parameters
    ----------
    embeddings : (n, dim) array of floats, integers or bool
        Finite.
    format : str
        "float64", "float32", "bfloat16", "float16": the nearest number of the type, ties to even. "int8", symmetric:
        x / max|x| · 127 to the nearest integer, ties to even, with one scale, max|x|, for the whole array; "int8 per
        dimension", "int8 per vector": with one for each column or row. All zeros stay so. "1 bit": +1 where a number
        is at least `threshold`, and −1 where it is below; so a zero counts as positive, of either sign. Other names
        are known: "fp16", "half", "bf16", "fp32", "binary", "int8-per-vector" and so on.
    threshold : float, (dim,) array, "mean" or "median", optional
        For "1 bit" alone. The mean or the median is each dimension's own.

    Returns
    -------
    (n, dim)
        As float64, float32, float16 or int8. NumPy has no bfloat16: float32 holds its numbers. One bit comes as int8
        ±1. int8 with one scale comes as these integers; with more of them as integer times scale, in float64: 127 times
        what the integers stand for, so that nothing is rounded again. The scale is rounded to the 24 bits that a stored
        float32 has. All of these go into `deadheat.evaluate` as they are: a common factor changes no ranking.

    Raises
    ------
    TypeError, ValueError
        If a number is too large for the format.

    Notes
    -----
    Ties: rows that become equal tie for every query. Between ±1 vectors of dimension d with h different entries the
    inner product is d − 2h, the squared Euclidean distance 4h, city block 2h and the cosine 1 − 2h/d, so that all of
    them rank as Hamming distance ranks the bits.

    Examples
    --------
    >>> quantized([[0.3, -1.0, 0.0]], "int8").tolist(), quantized([[0.3, -1.0, 0.0]], "binary").tolist()
    ([[38, -127, 0]], [[1, -1, 1]])
    >>> quantized([[0.3]], "bfloat16").tolist()
    [[0.30078125]]

    A small dimension next to a large one is lost unless it has a scale of its own:

    >>> quantized([[1.0, 500.0], [-2.0, 200.0]], "int8").tolist()
    [[0, 127], [-1, 51]]
    >>> (quantized([[1.0, 500.0], [-2.0, 200.0]], "int8 per dimension") / 127).round(1).tolist()
    [[1.0, 500.0], [-2.0, 200.8]]
    """
    row = FORMATS[format_name(format)]
    if row.float_query:
        raise InvalidValueError("format", f"must be one of embeddings, but {row.name!r} is of queries and a gallery")
    values = arrays.embeddings(embeddings, "embeddings").astype(np.float64)
    stored = Rounding.of([values], threshold).stored(values, row)
    require_finite(stored, values, row, "embeddings")
    return stored


@dataclass(frozen=True)
class Rounding:
    """The scales and the threshold for rounding all embeddings of an evaluation.

    Attributes
    ----------
    largest : (dim,) float64
        The largest size of a number in each dimension, over queries and gallery.
    threshold : float or (dim,) float64
    """

    largest: Float64
    threshold: Float64

    @classmethod
    def of(cls, parts: list[Float64], threshold: ArrayLike | str) -> Rounding:
        """Return the rounding of queries and gallery, which have the same dim."""
        largest = np.max([np.abs(part).max(axis=0) for part in parts], axis=0)
        if isinstance(threshold, str):
            if threshold not in _MIDDLES:
                rule = f"must be numbers, or one of {', '.join(_MIDDLES)}, but is {threshold!r}"
                raise InvalidValueError("threshold", rule)
            return cls(largest, _MIDDLES[threshold](np.concatenate(parts)))
        values, dim = conversion.plain(threshold, "threshold"), len(largest)
        if values.dtype.kind not in "iuf" or values.dtype.itemsize > 8:
            rule = f"must hold real numbers of at most 64 bits, but has dtype {values.dtype}"
            raise InvalidTypeError("threshold", rule)
        if values.shape not in ((), (dim,)):
            rule = f"must be one number or one a dimension, ({dim},), but has shape {values.shape}"
            raise InvalidValueError("threshold", rule)
        if not np.isfinite(values).all():
            raise InvalidValueError("threshold", "must be finite, but is not")
        return cls(largest, values.astype(np.float64))

    def stored(self, values: Float64, row: Format, *, scaled: bool = True) -> NDArray[Any]:
        """Return embeddings in a format, infinite where it has no such number.

        Without `scaled`, integers with one scale per vector stay without it.
        """
        if row.number == "float64":
            return values
        if row.number == "1 bit":
            return np.where(values >= self.threshold, 1, -1).astype(np.int8)
        if row.number == "int8":
            largest = self._largest(values, row)
            integers = _to_int8(values, largest)
            if row.scale == "all" or (row.scale == "vector" and not scaled):
                return integers
            return _times(integers, _float32(largest))
        return _to_float(values, row.number)

    def asymmetric(self, query: Float64, items: Float64, row: Format) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return queries in float32 and a gallery in a format, on one scale; for bits, with the threshold as zero."""
        if row.number == "1 bit":
            return _to_float(query - self.threshold, "float32"), self.stored(items, row)
        queries, largest = _to_float(query, "float32").astype(np.float64), self._largest(items, row)
        return _times(queries, np.array(float(_INT8))), _times(_to_int8(items, largest), _float32(largest))

    def fitting(self, rows: Iterable[Format]) -> tuple[list[Format], tuple[str, ...]]:
        """Return the formats that can hold the largest number, and a sentence on each of the others."""
        fitting, too_short = [], []
        for row in rows:
            number = "float32" if row.float_query else row.number
            if number not in _STORED or np.isfinite(exact.round_to(self.largest, number)).all():
                fitting.append(row)
            else:
                largest = exact.FORMATS[number].largest
                too_short.append(f"{row.name} is left out: its largest number is {largest:g}.")
        return fitting, tuple(too_short)

    def notices(self, rows: Iterable[Format], parts: list[Float64]) -> tuple[str, ...]:
        """Return a warning if one bit is among the formats and distinguishes no vectors."""
        if all(row.number != "1 bit" for row in rows):
            return ()
        above = {bool(side) for part in parts for side in np.unique(part >= self.threshold)}
        if len(above) == 2:
            return ()
        where = "below" if above == {True} else "at or above"
        return (f"1 bit: no number is {where} the threshold, so that all vectors are one: choose another.",)

    def _largest(self, values: Float64, row: Format) -> Float64:
        """Return the numbers that become 127, in a shape that fits the embeddings."""
        if row.scale == "vector":
            return np.asarray(np.abs(values).max(axis=1, keepdims=True))
        return self.largest if row.scale == "dimension" else np.asarray(self.largest.max(keepdims=True))


def require_finite(stored: NDArray[Any], values: Float64, row: Format, argument: str) -> None:
    """Refuse embeddings with a number that is infinite in a format."""
    for at in np.argwhere(~np.isfinite(stored))[:1].tolist():
        form, number = f"{row.name}, times 127" if row.number == "int8" else row.name, values[tuple(at)]
        rule = f"must stay finite in {form}, but holds {number} in row {at[0]}, column {at[1]}"
        raise InvalidValueError(argument, rule)


def _to_float(values: Float64, number: str) -> NDArray[Any]:
    return exact.round_to(values, number).astype(_STORED[number])


def _to_int8(values: Float64, largest: Float64) -> NDArray[np.int8]:
    """Return the integers nearest to 127 · x / largest: in floating point, or in fractions where it is near a half."""
    largest = np.broadcast_to(np.where(largest == 0, 1.0, largest), values.shape)
    scaled = values / largest * _INT8
    nearest = np.rint(scaled)
    doubtful = np.abs(np.abs(scaled - np.trunc(scaled)) - 0.5) < _DOUBT
    pairs, pair = np.unique(np.stack([values[doubtful], largest[doubtful]]), axis=1, return_inverse=True)
    decided = [round(Fraction(value) * _INT8 / Fraction(most)) for value, most in pairs.T.tolist()]
    nearest[doubtful] = np.array(decided, dtype=np.float64)[pair.ravel()]
    return nearest.astype(np.int8)


def _float32(scale: Float64) -> Float64:
    """Round scales to the 24 bits of a float32, at any magnitude."""
    fraction, exponent = np.frexp(scale)
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(np.rint(np.ldexp(fraction, 24)), exponent - 24))


def _times(numbers: NDArray[Any], scale: Float64) -> Float64:
    """Return products of at most 24 + 7 bits, which float64 holds exactly."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(numbers * scale, dtype=np.float64)
