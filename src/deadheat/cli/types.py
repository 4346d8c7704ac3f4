"""Types of arguments and options: files that are read, and numbers; each is refused in a line that has its rule."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click

from deadheat.inputs.patterns import fitting
from deadheat.support import checks


class Source(click.Path):
    """A file or a folder that is read."""

    def __init__(self, **rules: Any) -> None:
        super().__init__(path_type=Path, **rules)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if "\0" in os.fspath(value):
            _refuse("must be a path without a NUL character", value, param, ctx)
        return super().convert(value, param, ctx)

    def files(self, path: Path) -> Iterable[Path]:
        """What is read of it: the files that a pattern fits."""
        return map(Path, fitting(path))


class Whole(click.ParamType[int]):
    """An integer in plain digits, perhaps of a range; other ranges are the library's, which refuses the rest."""

    name = "integer"

    def __init__(self, least: float = -math.inf, most: float = math.inf) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = int(value) if re.fullmatch(r"[+-]?[0-9]{1,4000}", str(value)) else None
        if found is None or not self.least <= found <= self.most:
            return _refuse(f"must be an integer{self._range()}", value if found is None else found, param, ctx)
        return found

    def _range(self) -> str:
        if self.most < math.inf:
            return f" from {self.least} to {self.most}"
        return f" of at least {self.least}" if self.least > -math.inf else ""


class Real(click.ParamType[float]):
    """A finite number as Python writes one, without underscores."""

    name = "float"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        with suppress(ValueError):
            found = float(value if str(value).isascii() and "_" not in str(value) else "")
            if math.isfinite(found):
                return found
        return _refuse("must be a finite number", value, param, ctx)


PATH = Source()
INTEGER, REAL = Whole(), Real()
NUMBER, SEED, THREADS = Whole(1, (1 << 63) - 1), Whole(0), Whole(1, checks.MOST_THREADS)


def _refuse(rule: str, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> NoReturn:
    name = param.opts[0] if isinstance(param, click.Option) else param.make_metavar(ctx) if param and ctx else "it"
    raise click.UsageError(f"{name} {rule}, but is {checks.shown(value)}", ctx)
