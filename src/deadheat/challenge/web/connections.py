"""Connections under limits: how many there are, how many of one address, and how long the server waits for a client.

A client that sends no request, or does not read the answer, loses its connection after `PATIENCE` seconds. Where all
connections are taken, a new one takes the place of the one that has kept the server waiting for the longest time.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST = 512
OF_ADDRESS = 256
PATIENCE = 20.0  # seconds
_GLANCE = 1.0  # seconds between two looks


class Connection(H11Protocol):
    """A connection of Uvicorn's that ends when it keeps the server waiting."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.address = network(self.client[0] if self.client else "")
        self._since = self.loop.time()  # when the server last had something to do for it
        self._timer = self.loop.call_later(_GLANCE, self._look)
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
        if now - self._since > PATIENCE:
            self.transport.abort()
        else:
            self._timer = self.loop.call_later(_GLANCE, self._look)

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
    """Who counts as one: an address, or in IPv6 the 64 bits of a network, in which anybody has as many as he likes.

    Examples
    --------
    >>> network("192.0.2.7"), network("2001:db8::1:2"), network("")
    ('192.0.2.7', '2001:db8::/64', '')
    """
    with suppress(ValueError):
        if ipaddress.ip_address(address).version == 6:
            return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))
    return address
