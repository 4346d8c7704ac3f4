"""Names of measures: in comes what a caller wrote, out go measures. All that is known of them is their rows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.measures.catalogue import DEFAULT_MEASURES, FAMILIES, SPELLINGS, find
from deadheat.measures.family import Family, Measure, key
from deadheat.support import checks
from deadheat.support.lazy import difflib

_LARGEST_CUTOFF = 2**53


class MeasureNameError(InvalidValueError):
    """A name that stands for no measure. Only the rule is shown: it is a sentence of its own."""

    def __str__(self) -> str:
        return str(self.args[1])


def parse(name: str) -> Measure:
    """Return the measure that a name stands for.

    Parameters
    ----------
    name : str
        One of those that `listing` shows, with k a positive integer. Case, blanks, hyphens and underscores do not
        matter, and the usual other names are known: AP, RR, Rprec, Success@k, CMC@k, ``precision_at_1``,
        ``map_cut_10``, ``P_10``, ... Parameters are written as in ir_measures: ``nDCG(dcg='exp-log2')@10``, and
        ``AP(rel=2)`` to count only grades from 2 on as relevant, in any measure but nDCG, for which grades are gains.
        ``Recall@k`` is the share of the relevant items among the first k; what metric learning calls Recall@K is
        ``Hit@k``.

    Returns
    -------
    Measure

    Raises
    ------
    InvalidTypeError
        If `name` is not a string.
    MeasureNameError
        If there is no such measure, or if k is missing, superfluous, or not a positive integer.

    Examples
    --------
    >>> parse("success@5").name
    'Hit@5'
    >>> parse("mean_average_precision_at_r").name
    'MAP@R'
    >>> parse("nDGC@10")
    Traceback (most recent call last):
    deadheat.measures.names.MeasureNameError: unknown measure 'nDGC@10'; did you mean 'nDCG@10'?
    """
    if not isinstance(name, str):
        raise InvalidTypeError("a measure", f"must be given by its name, such as 'mAP' or 'P@10', but got {name!r}")
    text, parameter = _split_parameter(name)
    base, cutoff = _split_cutoff(text)
    row, choice = find(base) or (None, None)
    if row is None:
        raise MeasureNameError("measures", f"unknown measure {name!r}; {_suggestion(base, cutoff)}")
    if parameter is None:
        return row.measure(_cutoff(row, cutoff, name), choice)
    if row.choices:
        return row.measure(_cutoff(row, cutoff, name), _choice(row, parameter, name, choice))
    return row.measure(_cutoff(row, cutoff, name), rel=_level(row, parameter, name))


def parse_all(names: str | Iterable[str] | None, top_k: int | None = None) -> tuple[Measure, ...]:
    """The measures that a caller asks for, each once, in the order of the first mention.

    Parameters
    ----------
    names : str or iterable of str or None
        A string can hold several names, with commas or blanks between them. None stands for `DEFAULT_MEASURES`.
    top_k : int, optional
        The cutoff of all of them, whose names then have none.

    Raises
    ------
    InvalidValueError, InvalidTypeError
        If there is none, or one that `parse` refuses; if `top_k` meets a name with a cutoff.

    Examples
    --------
    >>> [measure.name for measure in parse_all("mAP, success@1, AP")]
    ['mAP', 'Hit@1']
    >>> [measure.name for measure in parse_all("AP nDCG@10 P@5")]
    ['mAP', 'nDCG@10', 'P@5']
    >>> [measure.name for measure in parse_all("AP, hit rate", top_k=5)]
    ['mAP@5', 'Hit@5']
    """
    listed = DEFAULT_MEASURES if names is None else _listed(names) if isinstance(names, str) else names
    if not isinstance(listed, Iterable):
        raise InvalidTypeError("measures", f"must be names, such as 'mAP,Hit@1' or a list of them, but got {names!r}")
    if top_k is not None:
        listed = [_at(name, checks.positive_integer(top_k, "top_k")) for name in listed]
    measures = dict.fromkeys(map(parse, listed))
    if not measures:
        raise InvalidValueError("measures", "must name at least one measure, but got none")
    return tuple(measures)


def _listed(text: str) -> list[str]:
    """The names in a text: what is between commas and, where that is no name, what is between blanks."""
    names = []
    for part in text.split(","):
        words = part.split()
        whole = len(words) < 2 or _is_name(part) or _is_name(f"{part}@1")  # "hit rate" for top_k
        names += [part] if whole else words
    return names


def _at(name: str, top_k: int) -> str:
    """A name with a cutoff, which it must not have yet; what is no name is left to `parse`."""
    if not isinstance(name, str):
        return name
    if _split_cutoff(_split_parameter(name)[0])[1] is not None:
        came = f"is {top_k} with {name.strip()!r}"
        raise InvalidValueError("top_k", f"must be left out where a name has a cutoff, but {came}")
    return f"{name.strip()}@{top_k}"


def _is_name(text: str) -> bool:
    try:
        parse(text)
    except MeasureNameError:
        return False
    return True


def _split_parameter(name: str) -> tuple[str, str | None]:
    """Take what is in parentheses out of ``nDCG(dcg='exp-log2')@10``."""
    match = re.fullmatch(r"([^()]*)\(([^()]*)\)([^()]*)", name)
    return (name, None) if match is None else (match[1] + match[3], match[2])


def _choice(row: Family, parameter: str, name: str, of_alias: str | None) -> str | None:
    """The choice that a parameter names; an alias that means another than the default has chosen already."""
    match = re.fullmatch(r"""\s*(\w+)\s*=\s*(['"]?)([\w-]*)\2\s*""", parameter)
    choice = match and f"{match[1]}='{match[3]}'"
    if choice not in row.choices:
        options = " or ".join(row.choices)
        raise MeasureNameError("measures", f"the parameter of {row.name} must be {options}, but got {name!r}")
    return choice if of_alias == next(iter(row.choices)) else of_alias


def _level(row: Family, parameter: str, name: str) -> int:
    match = re.fullmatch(r"\s*rel\s*=\s*([0-9]{1,18})\s*", parameter)
    if match is None or not int(match[1]) or row.forms.graded:
        rule = f"takes rel=1, rel=2, ... as its parameter, the least grade that is relevant, but got {name!r}"
        raise MeasureNameError("measures", f"{row.name} {'takes no parameter' if row.forms.graded else rule}")
    return int(match[1])


def _split_cutoff(text: str) -> tuple[str, str | None]:
    """Split ``P@10``, ``precision_at_10`` or ``P_10``; a name that is an alias as a whole has no cutoff."""
    if find(text):
        return text, None
    if "@" in text:
        base, _, cutoff = text.rpartition("@")
        return base, cutoff.strip()
    match = re.fullmatch(r"(.+?)(?:_at_|_cut_|[\s_-]?)([0-9][0-9.]*)", text.strip(), flags=re.IGNORECASE)
    return (match[1], match[2]) if match else (text, None)


def _cutoff(row: Family, text: str | None, name: str) -> float | None:
    if row.cutoff == "recall":
        return _recall(row, text, name)
    if text is None:
        if row.cutoff == "must":
            raise MeasureNameError("measures", f"{row.name} needs a cutoff, as in '{row.name}@10', but got {name!r}")
        return None
    if row.cutoff in ("never", "R"):
        raise MeasureNameError("measures", f"{row.name} takes no cutoff, but got {name!r}")
    cutoff = int(text) if re.fullmatch(r"[0-9]{1,20}", text) else 0
    if not 1 <= cutoff <= _LARGEST_CUTOFF:
        rule = f"the cutoff of {row.name}@k must be an integer from 1 to 2**53, but got {text!r} in {name!r}"
        raise MeasureNameError("measures", rule)
    return cutoff


def _recall(row: Family, text: str | None, name: str) -> float:
    if text is None or not re.fullmatch(r"[0-9]?\.?[0-9]{1,6}", text) or float(text) > 1:
        rule = f"needs a recall from 0 to 1, as in '{row.name}@0.1', with 6 decimals at most, but got {name!r}"
        raise MeasureNameError("measures", f"{row.name} {rule}")
    recall = float(text)
    return int(recall) if recall.is_integer() else recall


def _suggestion(base: str, cutoff: str | None) -> str:
    """The nearest name or, where none is near, all of them."""
    close = difflib.get_close_matches(key(base), SPELLINGS, n=1)
    nearest = find(close[0]) if close else None
    if nearest is None:
        ends = {"may": "[@k]", "must": "@k", "recall": "@r"}
        return f"the measures are {', '.join(row.name + ends.get(row.cutoff, '') for row in FAMILIES)}"
    row, suggested = nearest[0], nearest[0].name
    if row.cutoff == "recall":
        suggested += "@0.1"
    if row.cutoff == "must" or (row.cutoff == "may" and cutoff is not None):
        suggested += "@" + (cutoff if cutoff is not None and re.fullmatch("[1-9][0-9]{0,9}", cutoff) else "10")
    return f"did you mean {suggested!r}?"
