"""Where the tests find data that the repository does not hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def data_file(name):
    """The path of a shared data file, in DEADHEAT_DATA or beside the repository; skips the test where it is absent."""
    places = [Path(__file__).resolve().parents[2] / "shared" / "data"]
    if os.environ.get("DEADHEAT_DATA"):
        places.insert(0, Path(os.environ["DEADHEAT_DATA"]))
    for place in places:
        if (place / name).is_file():
            return place / name
    pytest.skip(
        f"{name} is in neither DEADHEAT_DATA nor ../shared/data "
        "(it is data/phocnet.npz of github.com/anguelos/embedding_map)"
    )
