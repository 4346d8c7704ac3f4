"""The studies there are, in their order on the page. A new one is one row here.

Rows are light: to list them imports none of the studies, nor what draws for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from deadheat.errors import InvalidTypeError, InvalidValueError
from deadheat.studies.study import Study
from deadheat.support.extras import require


@dataclass(frozen=True)
class Row:
    """Where a study is, with its own name and question: `module` exports it as ``STUDY``."""

    name: str
    question: str
    module: str

    def load(self) -> Study:
        """Import the study.

        Raises
        ------
        ModuleNotFoundError
            If Matplotlib is not installed; the message says how to install it.
        TypeError
            If the module exports no `Study`.
        ValueError
            If that has another name or another question.
        """
        require("matplotlib", "reproduce", "reproduce")  # studies draw, and import it without saying who needs it
        study = getattr(import_module(self.module), "STUDY", None)
        if not isinstance(study, Study):
            raise InvalidTypeError("study", f"must be a Study, but is {study!r} in {self.module}")
        for part in ("name", "question"):
            listed, own = getattr(self, part), getattr(study, part)
            if own != listed:
                raise InvalidValueError(
                    f"{part} of study {self.name!r}", f"must be {listed!r} as listed, but is {own!r}"
                )
        return study


def by_name(*rows: Row) -> dict[str, Row]:
    """Rows by their names, each of which must be its own, or a `ValueError` is raised."""
    named: dict[str, Row] = {}
    for row in rows:
        if row.name in named:
            raise InvalidValueError("study", f"must have a name of its own, but {row.name} is there twice")
        named[row.name] = row
    return named


STUDIES = by_name(
    Row("toy", "three toy embeddings that Hit@1 cannot tell apart", "deadheat.studies.toy"),
    Row("confidence", "ranking measures with a model's confidence", "deadheat.studies.confidence"),
    Row("collisions", "which neighbours are equally far", "deadheat.studies.collisions"),
    Row("exploit", "what the order of the samples is worth", "deadheat.studies.exploit"),
    Row("words", "edit distances and PHOC codes, where nearly everything ties", "deadheat.studies.words"),
    Row("precision", "the same embeddings in fewer bits", "deadheat.studies.precision"),
    Row("grouped", "Grouped Recall@K: cost, intervals, and the number of classes", "deadheat.studies.grouped"),
    Row("sampling", "what intervals hold when queries are drawn, or whole classes", "deadheat.studies.sampling"),
    Row("null", "how often a test says p < 0.05 where nothing differs", "deadheat.studies.null"),
    Row("dropout", "a network on rendered words: train, test, and the gap between", "deadheat.studies.dropout"),
)
