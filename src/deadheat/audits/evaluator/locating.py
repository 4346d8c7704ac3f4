"""Evaluators by name: a row of the table of adapters, or ``module:function`` of the caller's own."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from deadheat.audits.evaluator.adapters import ADAPTERS, find
from deadheat.audits.evaluator.auditing import audit_evaluator
from deadheat.audits.evaluator.calling import Evaluator
from deadheat.audits.evaluator.result import EvaluatorAudit, EvaluatorSurvey
from deadheat.errors import InvalidValueError, MissingPackageError


class Located(NamedTuple):
    """A function, the form of its arguments, and the version of its package if that is known."""

    name: str
    fn: Evaluator
    form: str
    version: str | None


def locate(name: str, form: str | None = None) -> Located:
    """The evaluator of a name.

    Raises
    ------
    InvalidValueError
        If there is none.
    MissingPackageError
        If it is in the table, and its library is not installed.

    Examples
    --------
    >>> locate("math:hypot", form="query").form
    'query'
    >>> locate("math:hypo")
    Traceback (most recent call last):
    deadheat.errors.InvalidValueError: evaluator must name what is there, but math has no 'hypo'
    """
    if name in ADAPTERS:
        row = ADAPTERS[name]
        if row.version is None:
            raise MissingPackageError(f"{name} needs {row.package}: pip install {row.package}", name=row.package)
        return Located(name, row.fn, row.form, row.version)
    module, colon, path = name.partition(":")
    try:
        if not (colon and module and path):
            raise InvalidValueError("evaluator", "must be a name in the table or module:function")
        return Located(name, _attribute(module, path), form or "embeddings", None)
    except InvalidValueError:
        if not colon or any(known.partition(":")[0] == module for known in ADAPTERS):
            find(name)  # raises, and suggests
        raise


def survey(**options: Any) -> Iterator[EvaluatorAudit]:
    """Audits of every evaluator in the table whose library is installed."""
    for row in ADAPTERS.values():
        if row.version is not None:
            yield audit_evaluator(row.fn, form=row.form, name=row.name, version=row.version, **options)


def survey_of(audits: list[EvaluatorAudit]) -> EvaluatorSurvey:
    """Audits side by side, with what is not installed."""
    return EvaluatorSurvey(audits, tuple(row.name for row in ADAPTERS.values() if row.version is None))


def _attribute(module: str, path: str) -> Any:
    """What a module has under a name, with dots for what is inside."""
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise InvalidValueError(
            "evaluator", f"must be in a module that is there, but there is no {error.name!r}"
        ) from None
    for part in path.split("."):
        if not hasattr(found, part):
            raise InvalidValueError("evaluator", f"must name what is there, but {module} has no {path!r}")
        found = getattr(found, part)
    if not callable(found):
        raise InvalidValueError("evaluator", f"must be callable, but {module}:{path} is not")
    return found
