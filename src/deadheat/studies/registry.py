"""The studies there are, in their order on the page. A new one is one import and one word here."""

from __future__ import annotations

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.support.extras import require

require("matplotlib", "reproduce", "reproduce")  # whatever draws needs it, and this comes before the studies

from deadheat.studies import collisions, confidence, dropout, exploit, grouped, precision, sampling, toy, words
from deadheat.studies.study import Study


def by_name(*studies: Study) -> dict[str, Study]:
    """Studies by their names, each of which must be its own.

    Raises
    ------
    TypeError
        If one is no `Study`.
    ValueError
        If two have the same name.
    """
    named: dict[str, Study] = {}
    for study in studies:
        if not isinstance(study, Study):
            raise InvalidTypeError("study", f"must be a Study, but is {study!r}")
        if study.name in named:
            raise InvalidValueError("study", f"must have a name of its own, but {study.name} is there twice")
        named[study.name] = study
    return named


STUDIES = by_name(
    toy.STUDY,
    confidence.STUDY,
    collisions.STUDY,
    exploit.STUDY,
    words.STUDY,
    precision.STUDY,
    grouped.STUDY,
    sampling.STUDY,
    dropout.STUDY,
)
