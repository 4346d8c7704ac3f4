"""Settings of a task in the signatures of public functions.

A setting is declared in `CountingOptions` and `TaskSettings`, and `Task` says what it means. Functions that take it as
``**settings: Unpack[TaskSettings]`` show it to type checkers, and with `shows_settings` to `help` and to completion.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.counting.options import TaskSettings as TaskSettings
from deadheat.support import checks

DATA = ("embeddings", "labels", "gallery", "gallery_labels")

Function = TypeVar("Function", bound=Callable[..., Any])


_DECLARED = {each.metadata["name"]: each.metadata["default"] for each in fields(CountingOptions) if each.metadata}
DEFAULTS = {name: _DECLARED[name] for name in TaskSettings.__annotations__}
_TYPES = {name: getattr(kind, "__forward_arg__", kind) for name, kind in TaskSettings.__annotations__.items()}
checks.OF_TASK.update(DEFAULTS)


def require_known(names: Iterable[str], function: str, others: Sequence[str] = ()) -> None:
    """Refuse the name of an argument that is no setting of a task, nor one of the `others`."""
    for name in names:
        if name not in (*others, *DEFAULTS):
            raise checks.no_argument(name, function, (*others, *DEFAULTS))


def shows_settings(function: Function, *, data: bool = False) -> Function:
    """Give a function that takes ``**settings`` a signature that names them, with their defaults.

    With `data`, the data of a task stand first, in place of arguments by position.

    Examples
    --------
    >>> @shows_settings
    ... def rank(rows, **settings): ...
    >>> list(inspect.signature(rank).parameters)[:3]
    ['rows', 'distance', 'ties']
    """
    signature = inspect.signature(function)
    own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    if data:
        first = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None) for name in DATA]
        own = [first[0].replace(default=inspect.Parameter.empty), *first[1:]] + [
            each for each in own if each.kind is each.KEYWORD_ONLY
        ]
    settings = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_TYPES[name])
        for name, default in DEFAULTS.items()
    ]
    vars(function)["__signature__"] = signature.replace(parameters=[*own, *settings])
    return function
