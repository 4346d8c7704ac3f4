"""PHOCNet's embeddings of the George Washington words: the file that several studies look for, and how it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.inputs import files

FILE = "phocnet_gw.npz"


def read(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """The embeddings, (1164, 504) float32, and the labels of the words."""
    embeddings, labels = files.read(path, embeddings_key="phocnet_features", labels_key="phocnet_labels")
    return np.asarray(embeddings), labels
