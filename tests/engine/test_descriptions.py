"""The core reads every field of a description: a name that it does not know, or misses, is an error."""

from __future__ import annotations

from dataclasses import fields, make_dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deadheat._core as _core
from deadheat.engine.counting.candidates import Candidates, Relevance
from deadheat.engine.counting.problem import RankingProblem
from deadheat.engine.descriptions import LevelDescription, PassDescription, ScoresDescription
from deadheat.engine.distances import registry
from deadheat.engine.ties.rule import Exact


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The descriptions of a small pass, by the class of the core that reads them."""
    found: dict[str, Any] = {}
    for name in ("Scores", "Pass"):
        read = getattr(_core, name)

        def keep(description: Any, name: str = name, read: Any = read) -> Any:
            found[name] = description
            return read(description)

        monkeypatch.setattr(_core, name, keep)
    distance = registry.make("euclidean", np.arange(6.0).reshape(3, 2), None, True)
    candidates = Candidates.of(3, 3, leave_one_out=True)
    classes = np.array([0, 0, 1])
    RankingProblem(distance, Exact(), Relevance(classes, classes, candidates)).in_core()
    monkeypatch.undo()
    return found


def with_field(description: Any, name: str) -> Any:
    """The same description with one field more."""
    values = {each.name: getattr(description, each.name) for each in fields(description)}
    return make_dataclass("More", [*values, name])(**values, **{name: 1})


def without_field(description: Any, name: str) -> Any:
    values = {each.name: getattr(description, each.name) for each in fields(description) if each.name != name}
    return make_dataclass("Less", [*values])(**values)


@pytest.mark.parametrize(("name", "kind"), [("Scores", ScoresDescription), ("Pass", PassDescription)])
def test_a_field_that_is_unknown_or_missing_is_an_error(name: str, kind: type, described: dict[str, Any]) -> None:
    given, read = described[name], getattr(_core, name)
    assert type(given) is kind
    read(given)
    with pytest.raises(ValueError, match="unknown field colour"):
        read(with_field(given, "colour"))
    for each in fields(kind):
        with pytest.raises((AttributeError, ValueError)):
            read(without_field(given, each.name))


def test_the_fields_of_levels_are_checked_too(described: dict[str, Any]) -> None:
    given = described["Scores"]
    assert type(given.levels[0]) is LevelDescription
    with pytest.raises(ValueError, match="unknown field colour"):
        _core.Scores(replace(given, levels=[with_field(given.levels[0], "colour")] * len(given.levels)))


def test_a_form_or_kind_of_another_name_is_an_error(described: dict[str, Any]) -> None:
    """And not city block, which is the last of both."""
    with pytest.raises(ValueError, match="unknown name products"):
        _core.Scores(replace(described["Scores"], form="products"))

    points = np.arange(6.0).reshape(3, 2)
    rows = SimpleNamespace(array=points, shape=points.shape, dtype=points.dtype, in_memory=True)
    _core.ExactPairs("distance", rows, rows)
    with pytest.raises(ValueError, match="unknown name distances"):
        _core.ExactPairs("distances", rows, rows)
