"""Paths of data that the repository does not hold."""

from __future__ import annotations

import pytest

from benchmarks import data


def data_file(name):
    """Return the path of a shared data file, in DEADHEAT_DATA or next to the repository; skip the test without it."""
    try:
        return data.data_file(name)
    except data.Unavailable as error:
        pytest.skip(f"{error} (it is data/phocnet.npz of github.com/anguelos/embedding_map)")
