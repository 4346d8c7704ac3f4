"""The compiled loops of deadheat; what calls them documents them."""

from typing import overload

import numpy
from numpy.typing import NDArray

def instruction_set() -> str: ...
def digits(values: NDArray[numpy.float64]) -> tuple[int, bool, int, int, int]: ...
@overload
def minus_absolute_differences(
    left: NDArray[numpy.float32], right: NDArray[numpy.float32], out: NDArray[numpy.float32]
) -> None: ...
@overload
def minus_absolute_differences(
    left: NDArray[numpy.float64], right: NDArray[numpy.float64], out: NDArray[numpy.float64]
) -> None: ...
def minus_differing_bits(
    left: NDArray[numpy.uint64], right: NDArray[numpy.uint64], out: NDArray[numpy.float32]
) -> None: ...
