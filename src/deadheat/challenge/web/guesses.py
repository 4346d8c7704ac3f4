"""Wrong tokens, counted: an address that has sent too many has to wait before another one is looked at."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable

from deadheat.errors import DeadheatError

MOST = 20  # wrong tokens of an address within a minute
_MINUTE = 60.0  # seconds


class TooManyGuesses(DeadheatError):
    """An address has sent too many wrong tokens."""


class Guesses:
    """Looks tokens up, until an address has sent too many wrong ones.

    A token that was right before is looked up whatever others behind the same address do.

    Parameters
    ----------
    team_of : function
        The team whose token it is; None for a wrong one.
    """

    def __init__(self, team_of: Callable[[str], str | None], clock: Callable[[], float] = time.monotonic) -> None:
        self._team_of, self._clock = team_of, clock
        self._began, self._wrong, self._right = clock(), Counter[str](), set[bytes]()

    def team_of(self, token: str, address: str) -> str | None:
        """The team whose token it is; None for a wrong one.

        Raises
        ------
        TooManyGuesses
            If the address has sent too many wrong ones.
        """
        now, digest = self._clock(), hashlib.sha256(token.encode("utf-8", "replace")).digest()
        if now > self._began + _MINUTE:
            self._began, self._wrong = now, Counter()
        if self._wrong[address] >= MOST and digest not in self._right:
            raise TooManyGuesses
        team = self._team_of(token)
        if team is None:
            self._wrong[address] += 1
        else:
            self._right.add(digest)
        return team
