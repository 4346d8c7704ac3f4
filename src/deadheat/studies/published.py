"""Values printed in published work, each with its source, and the data sets that several studies read.

Per cent and percentage points throughout, as printed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.literals import DistanceName
from deadheat.errors import MissingPackageError
from deadheat.inputs.samples import read
from deadheat.support.lazy import require

GROUPED = "M. Zhdanov, I. Karpukhin, Catching Image Retrieval Generalization, 2023, arXiv:2306.13357"
GROUPED_TABLE_1, GROUPED_TABLE_2 = "arXiv:2306.13357, Table 1", "arXiv:2306.13357, Table 2"
GROUP_SIZE = 10  # section 5.3: groups of 10 classes


class TestSet(NamedTuple):
    """A row of Table 1: Recall@1, the grouped one and its bound, and how two halves of the test set differ.

    The classes are those of the data set's usual split, which the table does not print. The last two are values with
    their spread: the difference of the grouped measure between the halves, and the bound on it.
    """

    n_class: int
    recall: float
    grouped: float
    bound: float
    difference: tuple[float, float]
    bound_on_difference: tuple[float, float]


TEST_SETS = {
    "CARS196": TestSet(98, 8.4, 32.1, 33.4, (1.8, 0.8), (2.8, 0.3)),
    "CUB200": TestSet(100, 6.8, 29.8, 32.5, (2.0, 1.0), (6.0, 0.1)),
    "InShop": TestSet(3985, 23.4, 77.7, 78.3, (0.5, 0.2), (1.3, 6e-4)),
    "SOP": TestSet(11316, 21.1, 68.9, 69.3, (0.2, 0.1), (0.9, 2e-4)),
}


class Dropout(NamedTuple):
    """A row of Table 2: ResNet34 on CIFAR-100; gaps are train less test."""

    train_grouped: float
    test_grouped: float
    train_recall: float
    test_recall: float
    gap_grouped: float
    gap_recall: float


DROPOUTS = {
    0.0: Dropout(68.5, 66.0, 44.0, 41.1, 2.5, 2.9),
    0.2: Dropout(69.0, 66.2, 44.3, 38.7, 2.8, 5.6),
    0.5: Dropout(69.6, 66.0, 45.0, 36.1, 3.6, 8.9),
    0.7: Dropout(70.2, 65.5, 45.9, 38.1, 4.7, 7.8),
    0.99: Dropout(44.2, 48.0, 24.3, 23.4, -3.8, 0.9),
}

RANKING_METRICS = "README of arrrrrmin/ranking-metrics"
RANK_CORRELATION_PEAK = 6827.5  # confidence of the flipped points with the highest score, on their scale of 12500
RANK_CORRELATION_FIGURE = "figures/rank_corr_over_simulated_sigmas.png, legend"
RANK_CORRELATION_AVERAGE = 6777.5  # the same in the figure: "Avrg. of original confidences"
MOVED_FIGURE = "figures/confidence_recall_metrics.png, right axis"
MOVED_ERROR = 23  # per cent, read off: the error by Recall@1 where the flipped points have confidence 1

TOY_FIGURES = "figures/reality_check_example1.png to example3.png, titles"
TOY_MEASURES = ("Hit@1", "R-Precision", "MAP@R")  # Hit@1 is printed as Recall@1
TOY_TITLES = {1: (99.2, 76.1, 68.3), 2: (99.6, 82.6, 77.1), 3: (100.0, 98.6, 98.6)}

TIES = "arXiv:1806.07171"
TIES_SLIDES = 'slides of arXiv:1806.07171, "Can we hack mAP?"'
WASHINGTON_QUERIES, WASHINGTON_CLASSES = 899, 166  # slides
WASHINGTON_EFFECT = 0.05  # per cent of mAP, from one collision: slides
FEWER_COLLISIONS = 20  # times, about: under Euclidean distance than under cosine
NOISE_EPS = "10,000 times; both 1e-6 and 1e-5 are printed"  # of white noise; the code has 1e-5
WASHINGTON_RANGE = (95.34, 95.36)
ZERO_GAIN = 155  # standard deviations of random embeddings, at least: slides

GEORGE_WASHINGTON = "phocnet_gw.npz"
# Measured with SciPy's float64 distances: mAP in per cent by distance; and for the cosine distance rounded to a shorter
# type, mixed tie groups, lower and upper mAP, and their digits.
WASHINGTON_MAP: dict[DistanceName, float] = {"cosine": 95.5491, "euclidean": 95.7809, "cityblock": 95.6911}
WASHINGTON_ROUNDED = {"float32": (33, 95.54905, 95.54910, 5), "float16": (173, 95.5351, 95.5620, 4)}
# Data sets of arXiv:2306.13357, and the prefix of their files: cars196-test.npz.
IMAGE_SETS = {"CARS196": "cars196", "CUB200": "cub200", "InShop": "inshop", "SOP": "sop", "CIFAR-100": "cifar100"}


def george_washington(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """PHOCNet's embeddings of the George Washington words, (1164, 504) float32, and the labels of the words."""
    embeddings, labels = read(path, embeddings_key="phocnet_features", labels_key="phocnet_labels")
    return np.asarray(embeddings), labels


def digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Scikit-learn's handwritten digits as rows (1797, 64) of grey levels from 0 to 16, and which digit each one shows.

    Raises
    ------
    ModuleNotFoundError
        If scikit-learn is not installed.
    """
    try:
        datasets = require("sklearn.datasets", "demo", "the demo")
    except MissingPackageError as error:
        text = "the demo's images come with scikit-learn: pip install 'deadheat[demo]'"
        raise MissingPackageError(text, name=error.name) from None
    images, labels = datasets.load_digits(return_X_y=True)
    return images, labels
