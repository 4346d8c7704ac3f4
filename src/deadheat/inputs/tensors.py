"""Arrays of other libraries as NumPy's, of the same numbers: PyTorch, CuPy, JAX, whatever has one of their protocols.

A number of a type that NumPy does not have (bfloat16, float8, int4) becomes float32, or an integer of 8 bits, which
hold each of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.errors import InvalidTypeError

Array = NDArray[Any]

_FROM_DEVICE = ("get", "copy_to_host", "to_numpy")  # of CuPy, Numba and RAPIDS
_OTHERS = "__dlpack__", "__cuda_array_interface__"


def is_foreign(values: Any) -> bool:
    """Whether something is an array of another library, which NumPy may not know how to take."""
    return not isinstance(values, (np.ndarray, np.generic)) and (
        hasattr(values, "__array__") or any(hasattr(values, protocol) for protocol in _OTHERS)
    )


def on_host(values: Any, name: str) -> Any:
    """An array of another library as NumPy's, wherever it is; anything else as it came."""
    if hasattr(values, "detach") and hasattr(values, "cpu"):
        return _from_torch(values, name)
    if hasattr(values, "__cuda_array_interface__"):
        return _from_device(values, name)
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        return _from_dlpack(values, name)
    return values


def widened(array: Array) -> Array:
    """An array of a type of ml_dtypes, as JAX and TensorFlow have them, as one of NumPy's that holds the same numbers.

    Examples
    --------
    >>> widened(np.zeros(2, np.float16)).dtype
    dtype('float16')
    """
    if array.dtype.type.__module__.partition(".")[0] != "ml_dtypes":
        return array
    name = array.dtype.name
    with np.errstate(invalid="ignore"):  # a NaN is for somebody else to refuse
        return array.astype(np.uint8 if name.startswith("uint") else np.int8 if name.startswith("int") else np.float32)


def _from_torch(tensor: Any, name: str) -> Array:
    """A tensor of PyTorch's, on any device, of any type, with or without a gradient."""
    _require_dense(tensor, name)
    here = tensor.detach().cpu()
    here = here.resolve_neg() if hasattr(here, "resolve_neg") else here  # whose sign waits to be turned
    try:
        array: Array = here.numpy()
    except TypeError:  # bfloat16 and shorter, which NumPy does not have and float32 holds
        array = here.float().numpy()
    return array


def _require_dense(tensor: Any, name: str) -> None:
    """Refuse tensors that do not hold their numbers one after another."""
    if str(getattr(tensor, "layout", "torch.strided")) != "torch.strided" or getattr(tensor, "is_nested", False):
        raise InvalidTypeError(name, "must be dense, but is a sparse or nested tensor: give tensor.to_dense()")
    if getattr(tensor, "is_quantized", False):
        raise InvalidTypeError(name, "must hold plain numbers, but is a quantized tensor: give tensor.dequantize()")
    if getattr(tensor, "is_meta", False):
        raise InvalidTypeError(name, "must hold numbers, but is a tensor on the device 'meta', which has none")


def _from_device(values: Any, name: str) -> Any:
    """An array that says that it is on a device of CUDA's, brought here by its own method or by DLPack."""
    for method in _FROM_DEVICE:
        try:
            found = getattr(values, method)()
        except (AttributeError, TypeError):  # a data frame's `get` wants a key
            continue
        return np.asarray(found)
    if hasattr(values, "__dlpack__"):
        return _from_dlpack(values, name)
    raise InvalidTypeError(name, f"must have a way to NumPy, but is a {type(values).__name__} on a device without one")


def _from_dlpack(values: Any, name: str) -> Array:
    """An array by DLPack, copied here if it is elsewhere."""
    try:
        try:
            return np.from_dlpack(values, device="cpu")
        except TypeError:  # an older protocol, which does not know of devices
            return np.from_dlpack(values)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        came = f"but DLPack says of this {type(values).__name__}: {reason}"
        raise InvalidTypeError(name, f"must be an array that NumPy can take, {came}") from None
