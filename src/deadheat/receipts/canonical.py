"""Inputs as bytes, the same however they are kept, and the digests of these bytes.

Each digest is the SHA-256 of a line of text, a line with the shape, and the values:

- *Embeddings*: ``deadheat.embeddings 1``, ``100 8``, and every number as a little-endian float64, row by row; -0 is 0.
  So float16, float32 and float64 files of the same numbers have one digest, and so have arrays in memory.
- *Labels*: ``deadheat.labels 1``, ``100``, and a line each: ``i7`` for the integer 7, ``s3 cat`` for a string, its
  length in bytes of UTF-8 before it, ``b3 cat`` for bytes.
- *Items left out* (`exclude`): ``deadheat.rows 1``, ``100``, and little-endian int64; *junk*: ``deadheat.mask 1``,
  ``100`` or ``100 200``, and a byte each, 0 or 1.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.inputs.source import Source
from deadheat.support.arrays import slices

_AT_ONCE = 1 << 16  # labels


def digest_of_rows(source: Source) -> str:
    """The digest of embeddings.

    Examples
    --------
    >>> from deadheat.inputs.source import Array
    >>> short, long = np.ones((2, 3), dtype=np.float16), np.ones((2, 3))
    >>> digest_of_rows(Array(short)) == digest_of_rows(Array(long))
    True
    """
    digest = _begun("embeddings", source.shape)
    for _, rows in source.pieces():
        digest.update((rows + 0.0).astype("<f8", order="C").data)
    return str(digest.hexdigest())


def digest_of_labels(labels: NDArray[Any]) -> str:
    """The digest of labels: integers, strings or bytes.

    Examples
    --------
    >>> digest_of_labels(np.array([1, 2])) == digest_of_labels(np.array(["1", "2"]))
    False
    """
    digest = _begun("labels", labels.shape)
    for some in slices(len(labels), _AT_ONCE):
        digest.update(b"".join(map(_line, labels[some].tolist())))
    return str(digest.hexdigest())


def digest_of_own_rows(rows: NDArray[np.int64]) -> str:
    """The digest of the row of the gallery that each query is."""
    digest = _begun("rows", rows.shape)
    digest.update(rows.astype("<i8", order="C").data)
    return str(digest.hexdigest())


def digest_of_mask(mask: NDArray[np.bool_]) -> str:
    """The digest of a mask of items to ignore."""
    digest = _begun("mask", mask.shape)
    for row in np.atleast_2d(mask):
        digest.update(np.ascontiguousarray(row).view(np.uint8).data)
    return str(digest.hexdigest())


def _begun(kind: str, shape: tuple[int, ...]) -> Any:
    return hashlib.sha256(f"deadheat.{kind} 1\n{' '.join(map(str, shape))}\n".encode())


def _line(label: Any) -> bytes:
    """A label by itself."""
    if isinstance(label, (str, bytes)):
        kind, text = (b"s", label.encode("utf-8", "surrogatepass")) if isinstance(label, str) else (b"b", label)
        return kind + b"%d " % len(text) + text + b"\n"
    return b"i%d\n" % int(label)
