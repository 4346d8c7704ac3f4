"""A file of arrays that knows whether it is whole: a NumPy archive (`.npz`, no pickles) and 64 bytes of checksum.

The checksum is BLAKE2b of a seal (whatever the reader has to agree on) and of the archive's bytes. NumPy reads such a
file as it is, and overlooks the checksum.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidTypeError
from deadheat.support.atomic import replacing

_SIZE = hashlib.blake2b().digest_size


def write(path: Path, seal: bytes, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays whole or not at all.

    Raises
    ------
    TypeError
        If an array holds Python objects, which would be pickled.
    OSError
        If the file cannot be written.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise InvalidTypeError(name, f"must hold numbers, bool or strings, but has dtype {array.dtype}")
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    with replacing(path) as file:
        file.write(buffer.getbuffer())
        file.write(_checksum(seal, buffer.getbuffer()))


def intact(path: Path, seal: bytes) -> memoryview | None:
    """The bytes of an archive, or None if they are not what `write` wrote with this seal.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    content = memoryview(path.read_bytes())
    archive, checksum = content[:-_SIZE], content[-_SIZE:]
    return archive if _checksum(seal, archive) == checksum else None


def arrays(archive: memoryview) -> dict[str, NDArray[Any]]:
    """What is in an archive that is intact."""
    with np.load(io.BytesIO(archive), allow_pickle=False) as content:
        return dict(content)


def _checksum(seal: bytes, archive: memoryview) -> bytes:
    checksum = hashlib.blake2b(b"%d %s\n" % (len(seal), seal))
    checksum.update(archive)
    return checksum.digest()
