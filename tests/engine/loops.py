"""The loops of the table of `engine/count.py` that are taken, as they come."""

from __future__ import annotations

from typing import Any

import pytest

from deadheat.engine import count
from deadheat.engine.counting.options import Work


def taken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Record the name of each loop that counts something, and its profile, or the blocks by number."""
    seen: list[tuple[str, Any]] = []

    def recording(row: count.Loop) -> count.Loop:
        def loop(*given: Any) -> Any:
            result = row.loop(*given)
            if row.kind is not Work or result is not None:
                seen.append((row.name, result if row.kind is Work else given[1]))
            return result

        return row._replace(loop=loop)

    monkeypatch.setattr(count, "LOOPS", tuple(map(recording, count.LOOPS)))
    return seen
