"""The draws of the study arrrrrmin/ranking-metrics itself: its points and its flipped labels, as its seed gives them.

Its tests/conftest.py seeds PyTorch with 42, and its tests draw one after the other, in the order of their files; so
what a picture shows depends on which tests were run before. PyTorch's generator on a processor is the Mersenne Twister,
which NumPy has too: a uniform float32 is the low 24 bits of one of its numbers. So the study's points come out bit by
bit, without PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SEED = 42

Stripes = Sequence[tuple[float, float]]


class Uniform:
    """Uniform float32 numbers as `torch.distributions.Uniform` draws them after `torch.manual_seed`.

    Examples
    --------
    >>> print(*Uniform(42).draw(0.0, 1.0, 3))  # torch.manual_seed(42); torch.rand(3)
    0.88226926 0.91500396 0.38286376
    """

    def __init__(self, seed: int = SEED) -> None:
        self._twister = np.random.RandomState(seed)

    def draw(self, low: float, high: float, n: int) -> NDArray[np.float32]:
        """N numbers from `low` to below `high`."""
        bits = self._twister.randint(0, 2**32, size=n, dtype=np.uint32) & np.uint32(2**24 - 1)
        unit = bits.astype(np.float32) / np.float32(2**24)
        return np.asarray(np.float32(low) + unit * (np.float32(high) - np.float32(low)))


class Corrupted(NamedTuple):
    """Points of an example, and the items whose labels are flipped, some of them drawn twice."""

    points: NDArray[np.float64]
    items: NDArray[np.int64]


def points(uniform: Uniform, stripes: Stripes, n: int = 2000) -> NDArray[np.float64]:
    """The points of an example, (n, 2): stripe after stripe, all x and then all y of each."""
    size = n // len(stripes)
    drawn = [(uniform.draw(low, high, size), uniform.draw(0.0, 1.0, size)) for low, high in stripes]
    return np.concatenate([np.column_stack(each) for each in drawn]).astype(np.float64)


def corrupted(uniform: Uniform, stripes: Stripes) -> Corrupted:
    """Points, and 100 items of theirs."""
    drawn = points(uniform, stripes)
    return Corrupted(drawn, uniform.draw(0.0, len(drawn), 100).astype(np.int64))
