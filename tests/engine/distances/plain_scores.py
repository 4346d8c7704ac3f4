"""Scores of the core made from rows as they are: a distance of one level that does nothing to its rows."""

from __future__ import annotations

import numpy as np

from deadheat._core import ScoreErrors
from deadheat.engine.distances.columns import Columns
from deadheat.engine.distances.distance import Distance, Level
from deadheat.engine.distances.scaling import ScaledRows
from deadheat.inputs.source import Array


class Plain(Distance):
    """A distance of this form, each row of the gallery a column of its own; what else scores have comes by name."""

    def __init__(self, form, left, right, level, errors=None, **attributes):
        bits = form == "bits"
        self.form, self.levels, self._errors = form, (level,), errors
        self.n_query, self.dim = len(left), left.shape[1]
        self.queries, self.items = (
            rows if bits else ScaledRows(Array(rows), np.ones(len(rows))) for rows in (left, right)
        )
        every = np.arange(len(right))
        self.columns = Columns(every, every, [(0, len(right))])
        vars(self).update(attributes)

    def errors(self, level):
        return ScoreErrors() if self._errors is None else self._errors

    def fingerprint(self, of_query):
        raise NotImplementedError


def plain(form, left, right, **attributes):
    """Scores of one exact level, in the type of the rows."""
    dtype = np.float32 if form == "bits" else left.dtype.type
    level = Level(dtype, exact=True, chunk=attributes.pop("chunk", None))
    return Plain(form, left, right, level, **attributes)


def tile(form, left, right, **attributes):
    """The scores of all pairs."""
    return plain(form, left, right, **attributes).scores.tile(0, np.arange(len(left)), np.arange(len(right)))


def pairs(form, left, right, **attributes):
    """The same pair by pair, in float64."""
    rows, columns = (index.ravel() for index in np.indices((len(left), len(right))))
    scores = plain(form, left, right, **attributes).scores.pair_scores(rows, columns)
    return scores.reshape(len(left), len(right))
