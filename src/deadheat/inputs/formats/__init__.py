"""The files that hold embeddings and labels, one module and one row a format: in comes a path, out come arrays."""

from deadheat.inputs.formats import hdf5, ipc, npy, npz, parquet, safetensors, text, zarr
from deadheat.inputs.formats.registry import (
    FORMATS,
    Format,
    FormatError,
    ending_of,
    holds_labels,
    read_embeddings,
    read_labels,
    read_samples,
    register,
    unheeded,
)

__all__ = [
    "FORMATS",
    "Format",
    "FormatError",
    "ending_of",
    "holds_labels",
    "read_embeddings",
    "read_labels",
    "read_samples",
    "register",
    "unheeded",
]

_IN_TEXT = ("label_column", "header")
_IN_COLUMNS = {"embeddings_heed": ("embeddings_key", "label_column"), "labels_heed": ("label_column",)}
_BY_KEY = {"embeddings_heed": ("embeddings_key",), "labels_heed": ("labels_key",)}

for _row in (
    Format(endings=(".npz",), embeddings=npz.embeddings, labels=npz.labels, samples=npz.samples, **_BY_KEY),
    Format(endings=(".npy",), embeddings=npy.embeddings, labels=npy.labels, samples=None),
    Format(endings=(".txt",), embeddings=None, labels=text.line_labels, samples=None),
    Format(
        endings=(".csv",), embeddings=text.COMMAS.embeddings, labels=text.COMMAS.labels, samples=text.COMMAS.samples,
        embeddings_heed=_IN_TEXT, labels_heed=_IN_TEXT,
    ),
    Format(
        endings=(".tsv",), embeddings=text.TABS.embeddings, labels=text.TABS.labels, samples=text.TABS.samples,
        embeddings_heed=_IN_TEXT, labels_heed=_IN_TEXT,
    ),
    Format(
        endings=(".parquet",), embeddings=parquet.READER.embeddings, labels=parquet.READER.labels,
        samples=parquet.READER.samples, **_IN_COLUMNS,
    ),
    Format(
        endings=(".arrow", ".feather"), embeddings=ipc.READER.embeddings, labels=ipc.READER.labels,
        samples=ipc.READER.samples, **_IN_COLUMNS,
    ),
    Format(
        endings=(".safetensors",), embeddings=safetensors.embeddings, labels=safetensors.labels,
        samples=safetensors.samples, **_BY_KEY,
    ),
    Format(endings=(".h5", ".hdf5"), embeddings=hdf5.embeddings, labels=hdf5.labels, samples=hdf5.samples, **_BY_KEY),
    Format(endings=(".zarr",), embeddings=zarr.embeddings, labels=zarr.labels, samples=zarr.samples, **_BY_KEY),
):  # fmt: skip
    register(_row)
