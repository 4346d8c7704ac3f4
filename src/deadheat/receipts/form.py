"""The form of a receipt: exactly the members that its schema has, with exactly their types.

JSON Schema takes 60.0 for an integer and Python takes True for 1; a receipt that is changed so would be equal to the
one that was made. So the schema is read here, as strictly as it is written. No other part of JSON Schema is known than
what is in that file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from deadheat.printable import printable
from deadheat.reports.tables import program
from deadheat.support.lazy import json

FIRST = "0.1.0"  # the first release that makes receipts
_TYPES = {"object": (dict, "an object"), "array": (list, "an array"), "string": (str, "a string"),
          "integer": (int, "an integer")}  # fmt: skip
_SHOWN = 60  # characters of a value


def require_form(content: Mapping[str, Any]) -> None:
    """Refuse what is not exactly as the schema says, with a ValueError that names the place.

    Examples
    --------
    >>> require_form({"schema": "deadheat.Receipt"})
    Traceback (most recent call last):
    ValueError: it has no schema_version
    """
    _check(dict(content), _schema(), "")
    if sorted(content["measures"]) != sorted(content["options"]["measures"]):
        raise ValueError("measures must be those that options has, but has others")
    made_by, ours = content["deadheat"], program()
    if not _release(FIRST) <= _release(made_by) <= _release(ours):
        known = FIRST if _release(FIRST) == _release(ours) else f"{FIRST} to {ours}"
        raise ValueError(f"deadheat must be a version that is known here, {known}, but is {_shown(made_by)}")


@cache
def _schema() -> Any:
    return json.loads((resources.files("deadheat.receipts") / "receipt-1.schema.json").read_text("utf-8"))


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version, without what says that it is a development version."""
    return tuple(map(int, re.findall("[0-9]+", version)[:3]))


def _check(value: Any, rule: Mapping[str, Any], place: str) -> None:
    """Refuse a value that breaks a rule of the schema."""
    if "$ref" in rule:
        rule = _schema()["$defs"][rule["$ref"].rpartition("/")[2]]
    allowed = [rule["const"]] if "const" in rule else rule.get("enum")
    if allowed is not None:
        if not any(type(value) is type(each) and value == each for each in allowed):
            _refuse(place, f"must be {' or '.join(map(repr, allowed))}", value)
        return
    kind, title = _TYPES[rule["type"]]
    if type(value) is not kind:
        _refuse(place, f"must be {title}", value)
    if kind is dict:
        _check_members(value, rule, place)
    elif kind is list:
        _check_items(value, rule, place)
    elif kind is int and value < rule["minimum"]:
        _refuse(place, f"must be at least {rule['minimum']}", value)
    elif kind is str and not re.search(rule.get("pattern", ""), value.replace("\n", "\\n")):  # "$" is before one too
        _refuse(place, f"must have the form {rule['pattern']}", value)


def _check_members(value: dict[str, Any], rule: Mapping[str, Any], place: str) -> None:
    named, others = rule.get("properties", {}), rule["additionalProperties"]
    needed = [
        *rule.get("required", ()),
        *(n for name in value for n in rule.get("dependentRequired", {}).get(name, ())),
    ]
    missing = next((name for name in needed if name not in value), None)
    if missing is not None:
        raise ValueError(f"{place or 'it'} has no {missing}")
    added = next((name for name in value if name not in named), None)
    if added is not None and not others:
        raise ValueError(f"{place or 'it'} has a member {_shown(added)}, which no receipt has")
    if len(value) < rule.get("minProperties", 0):
        raise ValueError(f"{place} is empty")
    for name, part in value.items():
        _check(part, named.get(name, others), f"{place}.{name}" if place else name)


def _check_items(value: list[Any], rule: Mapping[str, Any], place: str) -> None:
    least, most = rule.get("minItems", 0), rule.get("maxItems", len(value))
    if not least <= len(value) <= most:
        raise ValueError(f"{place} has {len(value)} entries")
    for number, item in enumerate(value):
        _check(item, rule["items"], f"{place}[{number}]")
    if rule.get("uniqueItems") and len(set(value)) < len(value):
        raise ValueError(f"{place} has an entry twice")


def _refuse(place: str, rule: str, value: Any) -> None:
    raise ValueError(f"{printable(place, _SHOWN)} {rule}, but is {_shown(value)}")


def _shown(value: Any) -> str:
    """A value as JSON has it, where that is short."""
    return printable(json.dumps(value, ensure_ascii=False), _SHOWN)
