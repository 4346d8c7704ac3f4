"""What a client of the page may take: connections, uploads, and wrong tokens.

A client that sends no request, or does not read the answer, loses its connection after `TIMEOUT` seconds. Where all
connections are taken, a new one replaces the one that has kept the server waiting for the longest time. An upload is
counted as it comes in, so that what is too large or too slow is refused before all of it is here. An address that has
sent too many wrong tokens has to wait before another one is looked up.
"""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.requests import Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from deadheat.support.lazy import tempfile

MOST = 512  # connections
OF_ADDRESS = 256
TIMEOUT = 20.0  # seconds
_INTERVAL = 1.0  # seconds between two looks at a connection
SLOWEST = 32 << 10  # bytes a second that an upload must bring on average
GRACE = 10.0  # seconds that it may take in addition
SPARE = 1 << 30  # bytes of the disk that uploads leave free
_OF_TEAM = 4  # uploads that are received or wait
_REST = 1 << 16  # bytes of a form in addition to the file
_FIELDS = 4
_GUESSES = 20  # wrong tokens of an address within a minute
_MINUTE = 60.0  # seconds


class Refusal(Exception):
    """What a client is answered instead of what it asked for: an HTTP status and a sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status, self.message = status, message


# ---------------------------------------------------------------------------------------------------------------------
# connections


class Connection(H11Protocol):
    """A connection of Uvicorn's that ends when it keeps the server waiting."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.address = network(self.client[0] if self.client else "")
        self._since = self.loop.time()  # when the server last had something to do for it
        self._timer = self.loop.call_later(_INTERVAL, self._look)
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timer.cancel()
        super().connection_lost(exc)

    def waits(self) -> bool:
        """Whether the server waits for a request, or for its answer to be read; an upload has its own limit."""
        working = self.cycle is not None and not self.cycle.response_complete
        return not working or self.transport.get_write_buffer_size() > 0

    def _look(self) -> None:
        now = self.loop.time()
        if not self.waits():
            self._since = now
        if now - self._since > TIMEOUT:
            self.transport.abort()
        else:
            self._timer = self.loop.call_later(_INTERVAL, self._look)

    def _make_room(self) -> None:
        """If there are too many connections, end the one that waits longest, or this one if all others are busy."""
        known = [each for each in self.connections if isinstance(each, Connection) and each is not self]
        others = [each for each in known if not each.transport.is_closing()]
        crowd = [each for each in others if each.address == self.address]
        if len(crowd) < OF_ADDRESS:
            if len(others) < MOST:
                return
            largest = Counter(each.address for each in others).most_common(1)[0][0]
            crowd = [each for each in others if each.address == largest]
        idle = [each for each in crowd if each.waits()]
        min(idle, key=lambda each: each._since, default=self).transport.abort()


def network(address: str) -> str:
    """Who counts as one: an address, or in IPv6 the 64 bits of a network, of which anybody has as many as they like.

    Examples
    --------
    >>> network("192.0.2.7"), network("2001:db8::1:2"), network("")
    ('192.0.2.7', '2001:db8::/64', '')
    """
    with suppress(ValueError):
        if ipaddress.ip_address(address).version == 6:
            return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))
    return address


# ---------------------------------------------------------------------------------------------------------------------
# uploads


class Gate:
    """Lets one upload of a team in at a time; a few more of it wait before anything of them is read."""

    def __init__(self) -> None:
        self._teams: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._waiting: Counter[str] = Counter()

    @asynccontextmanager
    async def __call__(self, team: str) -> AsyncIterator[None]:
        if self._waiting[team] >= _OF_TEAM:
            raise Refusal(429, "Other uploads of your team are in progress: wait until they have finished.")
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
            raise Refusal(507, "The server has no space left for files: try again later.")


async def received(request: Request, most: int, folder: Path) -> tuple[Path, str]:
    """The file of a form, in a folder of ours under a name of ours, and the title that came with it.

    It is refused as soon as it has more than `most` bytes, or comes slower than `SLOWEST`.
    """
    too_large = Refusal(413, f"A file may have at most {most >> 20} MB.")
    if int(request.headers.get("content-length") or 0) > most + _REST:
        raise too_large
    counted = Request(request.scope, _limited(request.receive, most + _REST, too_large))
    async with counted.form(max_files=1, max_fields=_FIELDS, max_part_size=_REST) as form:
        file, title = form.get("file"), form.get("title", "")
        if file is None or isinstance(file, str) or not isinstance(title, str):
            raise Refusal(400, "The form has no file.")
        target = folder / "file"  # whatever the sender calls it
        file.file.seek(0)
        with open(target, "wb") as copy:
            await asyncio.to_thread(shutil.copyfileobj, file.file, copy, 1 << 20)
    if target.stat().st_size > most:
        raise too_large
    return target, title


def _limited(receive: Any, most: int, too_large: Refusal) -> Any:
    """`receive` until it has brought too much, or too little for the time that it has taken."""
    so_far, begin = 0, asyncio.get_running_loop().time()

    async def limited() -> Any:
        nonlocal so_far
        try:
            async with asyncio.timeout_at(begin + GRACE + so_far / SLOWEST):
                message = await receive()
        except TimeoutError:
            raise Refusal(408, "The upload came too slowly.") from None
        so_far += len(message.get("body", b""))
        if so_far > most:
            raise too_large
        return message

    return limited


# ---------------------------------------------------------------------------------------------------------------------
# tokens


class Guesses:
    """Looks tokens up, until an address has sent too many wrong ones.

    A token that was right before is looked up whatever others behind the same address do.

    Parameters
    ----------
    team_of : function
        The team whose token it is; None for a wrong one.
    """

    def __init__(self, team_of: Callable[[str], str | None]) -> None:
        self._team_of = team_of
        self._began, self._wrong, self._right = time.monotonic(), Counter[str](), set[bytes]()

    def team_of(self, token: str, address: str) -> str | None:
        """The team whose token it is; None for a wrong one, and a refusal if the address has sent too many of them."""
        now, digest = time.monotonic(), hashlib.sha256(token.encode("utf-8", "replace")).digest()
        if now > self._began + _MINUTE:
            self._began, self._wrong = now, Counter()
        if self._wrong[address] >= _GUESSES and digest not in self._right:
            raise Refusal(429, "Too many wrong tokens from this address: try again in a minute.")
        team = self._team_of(token)
        if team is None:
            self._wrong[address] += 1
        else:
            self._right.add(digest)
        return team
