from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure


@pytest.fixture
def ax() -> Iterator[Axes]:
    """Axes of a figure that must be possible to save once the test is done."""
    figure = Figure(layout="constrained")
    yield figure.subplots()
    figure.savefig(BytesIO())
