"""The data sets that several studies read: PHOCNet's George Washington, the digits, and the files of other papers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import MissingPackageError
from deadheat.inputs import read
from deadheat.support.extras import require

GEORGE_WASHINGTON = "phocnet_gw.npz"
# What was measured on it with SciPy's float64 distances: mAP in per cent by distance; and for the cosine distance in
# another type, mixed tie groups, lower and upper mAP, and their digits.
WASHINGTON_MAP = {"cosine": 95.5491, "euclidean": 95.7809, "cityblock": 95.6911}
WASHINGTON_ROUNDED = {"float32": (33, 95.54905, 95.54910, 5), "float16": (173, 95.5351, 95.5620, 4)}
# Data sets of arXiv:2306.13357, and what the names of their files begin with: cars196-test.npz.
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
