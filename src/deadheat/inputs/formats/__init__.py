"""The files that hold embeddings and labels, one module and one row a format: in comes a path, out come arrays."""

from deadheat.inputs.formats import npy, npz, parquet, text
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

_IN_TABLE = ("label_column", "header")

for _row in (
    Format(
        endings=(".npz",), embeddings=npz.embeddings, labels=npz.labels, samples=npz.samples,
        embeddings_heed=("embeddings_key",), labels_heed=("labels_key",),
    ),
    Format(endings=(".npy",), embeddings=npy.embeddings, labels=npy.labels, samples=None),
    Format(endings=(".txt",), embeddings=None, labels=text.line_labels, samples=None),
    Format(
        endings=(".csv", ".tsv"), embeddings=text.embeddings, labels=text.labels, samples=text.samples,
        embeddings_heed=_IN_TABLE, labels_heed=_IN_TABLE,
    ),
    Format(
        endings=(".parquet",), embeddings=parquet.embeddings, labels=parquet.labels, samples=parquet.samples,
        embeddings_heed=("embeddings_key", "label_column"), labels_heed=("label_column",),
    ),
):  # fmt: skip
    register(_row)
