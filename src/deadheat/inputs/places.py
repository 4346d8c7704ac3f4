"""Where the rows of a source are on disk, so that other processes can open them there.

source ──> places: path, type, offset, shape ──pickled──> source, in another process
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any, NamedTuple

import numpy as np

from deadheat.inputs.disk import File, Mapped, copied
from deadheat.inputs.source import Array, Rows, Shards, Source
from deadheat.support import remote
from deadheat.support.memory import available

_STAYS = 1 / 8  # of the memory that there is


class Place(NamedTuple):
    """Rows that lie one after another in a file."""

    path: str
    dtype: str
    offset: int  # bytes before the first row
    shape: tuple[int, int]

    @property
    def nbytes(self) -> int:
        """How many bytes the rows take."""
        return self.shape[0] * self.shape[1] * np.dtype(self.dtype).itemsize


def places_of(source: Source) -> list[Place | Source]:
    """The parts of a source: each where it is on disk, or as it is if it is not there row after row.

    Examples
    --------
    >>> len(places_of(Shards([Array(np.zeros((2, 3))), Array(np.ones((1, 3)))])))
    2
    """
    if isinstance(source, Shards):
        return [place for part in source._sources for place in places_of(part)]
    if isinstance(source, File):
        return [Place(remote.origin(source._path), source.stored.str, source._offset, source.shape)]
    place = _place_of_map(source) if isinstance(source, Mapped) else None
    return [source if place is None else place]


def _place_of_map(source: Mapped) -> Place | None:
    """Where a memory map is in its file; None of what is not as it is in the file, or not row after row."""
    array, owner = source._array, source._array.base
    if not (isinstance(owner, np.memmap) and owner.filename and owner.mode in ("r", "r+") and array.flags.c_contiguous):
        return None
    assert source._pages is not None
    begin = owner.offset - owner.offset % mmap.ALLOCATIONGRANULARITY  # of what is mapped, in the file
    address = np.frombuffer(source._pages, dtype=np.uint8).ctypes.data
    if owner.mode == "r+":
        source._pages.flush()
    return Place(os.path.abspath(owner.filename), array.dtype.str, begin + array.ctypes.data - address, source.shape)


def write_rows(source: Source, file: IO[bytes], path: str) -> Place:
    """Write all rows of a source to a file, in the type in which they are kept where that is known of each."""
    pieces: Iterable[Rows] = [source.whole()] if isinstance(source, Array) else (rows for _, rows in source.pieces())
    shape, dtype = copied(pieces, file, path)
    return Place(path, dtype.str, 0, shape)


def open_places(places: Sequence[Place], local: Callable[[str], str], title: str) -> Source:
    """The source whose rows are there; `local` gives the path of a file on this machine.

    What is small beside the memory that there is stays mapped, and all processes of a machine share it.
    """
    stays = sum(place.nbytes for place in places) <= available() * _STAYS
    sources = [_opened(place, local(place.path), title, stays) for place in places]
    return sources[0] if len(sources) == 1 else Shards(sources)


def _opened(place: Place, path: str, title: str, stays: bool) -> Source:
    array: Any = np.memmap(path, np.dtype(place.dtype), "r", place.offset, place.shape)
    return Array(np.asarray(array)) if stays and array.flags.aligned else File(path, array, title)
