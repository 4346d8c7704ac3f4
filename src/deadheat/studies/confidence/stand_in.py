"""A model that stands in for a probabilistic one: linear discriminants of digits, and the digits cropped and blurred.

No probabilistic model and no data with several annotators come with scikit-learn. Its handwritten digits do, of which
one half trains the model and the other half are queries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.studies.data import digits
from deadheat.support.extras import require

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
SIDE = 8  # pixels


class Halves(NamedTuple):
    """Images (n, 64) and which digit each shows: to train on, and to ask for."""

    train: Float64
    train_labels: Int64
    query: Float64
    query_labels: Int64


def halves(quick: bool) -> Halves:
    """Every other image; of the queries a part if it is to be quick."""
    images, labels = digits()
    n_query = 150 if quick else None
    return Halves(images[::2], labels[::2], images[1::2][:n_query], labels[1::2][:n_query])


def blurred(images: Float64, deviation: float) -> Float64:
    """Images (n, 64) after a Gaussian filter, deviation in pixels."""
    square = images.reshape(-1, SIDE, SIDE)
    filtered = require("scipy.ndimage", "stats", "the confidence study").gaussian_filter(
        square, (0, deviation, deviation)
    )
    return np.asarray(filtered if deviation else square).reshape(len(images), -1)


def cropped(images: Float64, width: float) -> Float64:
    """Images (n, 64) of which nothing is left outside a window in the middle, `width` pixels wide."""
    left = int(SIDE - width) // 2
    window = np.zeros((SIDE, SIDE))
    window[left : left + int(width), left : left + int(width)] = 1
    return images * window.ravel()


def discriminants(images: Float64, labels: Int64) -> Any:
    """Linear discriminants: `transform` embeds, classes having a deviation of 1; `predict_proba` guesses."""
    module = require("sklearn.discriminant_analysis", "demo", "the confidence study")
    return module.LinearDiscriminantAnalysis().fit(images, labels)


class Damage(NamedTuple):
    """A way to make images ambiguous: what does it, and its levels, from none at all."""

    name: str
    change: Callable[[Float64, float], Float64]
    levels: tuple[float, ...]
    unit: str


DAMAGES = (
    Damage("blur", blurred, (0.0, 0.5, 1.0, 1.5, 2.0), "deviation of the blur (pixels)"),
    Damage("crop", cropped, (8, 7, 6, 5, 4), "width of the crop (pixels)"),
)
