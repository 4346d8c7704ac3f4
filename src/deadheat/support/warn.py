"""Warnings that name the line of the caller, however deep inside deadheat they are given."""

from __future__ import annotations

import sys
import warnings

from deadheat.printable import MOST, printable


def warn(message: str, category: type[Warning]) -> None:
    """Warn as if the line that called deadheat did."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "deadheat":
        depth, frame = depth + 1, frame.f_back
    warnings.warn(printable(message, MOST), category, stacklevel=depth)
