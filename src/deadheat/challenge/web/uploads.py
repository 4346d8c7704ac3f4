"""A form with a file in it, counted as it comes in: what is too large is refused before it is all here."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request

from deadheat.support.lazy import tempfile

_BESIDE = 1 << 16  # bytes of a form beside the file
_FIELDS = 4
SLOWEST = 32 << 10  # bytes a second that an upload must bring on average
GRACE = 10.0  # seconds that it may take beyond that
_OF_TEAM = 4  # that are received or wait
SPARE = 1 << 30  # bytes of the disk that uploads leave free


class TooLarge(Exception):
    """More than may be handed in."""


class TooManyAtOnce(Exception):
    """A team has other uploads under way, and enough of them."""


class NoRoom(Exception):
    """The disk is almost full."""


class Gone(Exception):
    """Whoever was sending has hung up."""


class Gate:
    """Lets one upload of a team in at a time; a few more of it wait before anything of them is read."""

    def __init__(self) -> None:
        self._teams: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._waiting: Counter[str] = Counter()

    @asynccontextmanager
    async def __call__(self, team: str) -> AsyncIterator[None]:
        if self._waiting[team] >= _OF_TEAM:
            raise TooManyAtOnce
        self._waiting[team] += 1
        try:
            async with self._teams[team]:
                yield
        finally:
            self._waiting[team] -= 1


def require_room(folder: Path, most: int) -> None:
    """Refuse an upload that could fill the disk, or the one of temporary files, which it goes through."""
    for each in (folder, tempfile.gettempdir()):
        if shutil.disk_usage(each).free < SPARE + 2 * most:
            raise NoRoom


async def received(request: Request, most: int, folder: Path) -> tuple[Path | None, str]:
    """The file of a form, in a folder of ours under a name of ours, and the title that came with it.

    Raises
    ------
    TooLarge
        As soon as more than `most` bytes have come.
    TimeoutError
        If it comes slower than `SLOWEST`.
    Gone
        If the sender has hung up.
    """
    most += _BESIDE
    if int(request.headers.get("content-length") or 0) > most:
        raise TooLarge
    counted = Request(request.scope, _limited(request.receive, most))
    try:
        return await _taken(counted, folder)
    except ClientDisconnect:
        raise Gone from None


async def _taken(counted: Request, folder: Path) -> tuple[Path | None, str]:
    async with counted.form(max_files=1, max_fields=_FIELDS, max_part_size=_BESIDE) as form:
        file, title = form.get("file"), form.get("title", "")
        if file is None or isinstance(file, str) or not isinstance(title, str):
            return None, ""
        target = folder / "file"  # whatever the sender calls it
        await asyncio.to_thread(_copy, file.file, target)
    return target, title


def _limited(receive: Any, most: int) -> Any:
    """`receive` until it has brought too much, or too little for the time that it has taken."""
    so_far, begin = 0, asyncio.get_running_loop().time()

    async def limited() -> Any:
        nonlocal so_far
        async with asyncio.timeout_at(begin + GRACE + so_far / SLOWEST):
            message = await receive()
        so_far += len(message.get("body", b""))
        if so_far > most:
            raise TooLarge
        return message

    return limited


def _copy(source: Any, target: Path) -> None:
    source.seek(0)
    with open(target, "wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
