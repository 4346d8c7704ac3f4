"""The settings of a task: each is declared here, and `Task` says what it means.

Public functions that take them as ``**settings: Unpack[TaskSettings]`` show them to type checkers, and with
`shows_settings` to `help` and to completion. `CountingOptions` checks them, and has their values.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

from numpy.typing import ArrayLike

from deadheat.engine.counting.options import CountingOptions
from deadheat.engine.literals import DistanceName, TiesName
from deadheat.engine.ties.rule import Ties
from deadheat.inputs.item_ids import OwnRows
from deadheat.support import checks
from deadheat.support.progress import Progress

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from deadheat.engine.counting.cluster import Cluster

DATA = ("embeddings", "labels", "gallery", "gallery_labels")

Function = TypeVar("Function", bound=Callable[..., Any])


class TaskSettings(TypedDict, total=False):
    """The arguments of `Task` that go by name."""

    distance: DistanceName
    ties: TiesName | Ties
    junk: ArrayLike | None
    exclude: OwnRows | None
    threads: int | None
    progress: bool | Progress
    checkpoint: str | os.PathLike[str] | None
    device: Any
    executor: Executor | Callable[[], Executor] | Cluster | None
    relevance: Literal["any", "same", "count"] | None


_CHECKED: Any = CountingOptions.checked
DEFAULTS: dict[str, Any] = {name: _CHECKED.__kwdefaults__[name] for name in TaskSettings.__annotations__}
checks.OF_TASK.update(DEFAULTS)
_TYPES = {name: getattr(kind, "__forward_arg__", kind) for name, kind in TaskSettings.__annotations__.items()}


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
