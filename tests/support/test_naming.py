"""Errors name the argument of the outermost caller, and the part of it that is wrong; messages spell settings."""

from __future__ import annotations

import pickle

import pytest

from deadheat.errors import InvalidTypeError, InvalidValueError, MissingPackageError
from deadheat.support.arguments import VALUES, names_argument, naming, setting, spelled


@names_argument
def check(values: list[int], least: int = 0) -> int:
    for index, value in enumerate(values):
        with naming(f"{VALUES}[{index}]"):
            if value < least:
                raise InvalidValueError(VALUES, f"must be at least {least}; {setting('least')} allows less")
    return len(values)


def test_the_argument_and_its_part_are_named_once() -> None:
    assert check([1, 2]) == check([1, 2], "rows") == 2
    with pytest.raises(InvalidValueError, match=r"^rows\[1\] must be at least 5; least= allows less$") as caught:
        check([7, 2], "rows", 5)
    assert (caught.value.argument, str(pickle.loads(pickle.dumps(caught.value)))) == ("rows", str(caught.value))
    with pytest.raises(InvalidValueError, match=r"^rows\[0\] must"), naming("gallery"):
        check([-1], "rows")
    with pytest.raises(InvalidTypeError, match=r"^values_of must") as cause, naming("gallery"):
        raise InvalidTypeError("values_of", "must stay") from KeyError("x")
    assert isinstance(cause.value.__cause__, KeyError)
    with pytest.raises(MissingPackageError, match=r"^rows: reading needs x") as missing, naming("rows"):
        raise MissingPackageError(f"{VALUES}: reading needs x", name="x")
    assert missing.value.name == "x"


def test_settings_are_spelled_as_the_caller_writes_them() -> None:
    options = {"least": "--least", "a": "-a", "b": "--b"}
    said = r"^--least\[0\] must be at least 0; --least allows less$"
    with pytest.raises(InvalidValueError, match=said), spelled(options):
        check([-1], "least")
    with pytest.raises(InvalidValueError, match=r"^-a and --b must agree$"), spelled(options):
        raise InvalidValueError("a and b", "must agree")
    assert setting("least") == "least="
