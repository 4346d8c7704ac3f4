"""Values of the argument `ties`."""

from __future__ import annotations

from typing import Any

from deadheat.engine import exact
from deadheat.engine.ties.rounded import Rounded
from deadheat.engine.ties.rule import Exact, Ties


def make(ties: Any) -> Ties:
    """Return the rule that an argument `ties` names.

    Examples
    --------
    >>> make("float16")
    Rounded('float16', of=None)
    >>> make("bf16")
    Rounded('bfloat16', of=None)
    """
    if isinstance(ties, Ties):
        return ties
    name = exact.named(ties, "ties", others=["exact"])
    return Exact() if name == "exact" else Rounded(name)
