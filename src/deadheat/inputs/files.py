"""`deadheat.read`: embeddings and labels from files, as arrays."""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import NDArray

from deadheat.inputs.formats import Layout
from deadheat.inputs.samples import Samples, open_samples

AnyPath = str | os.PathLike[str]


def read(
    path: AnyPath,
    labels: AnyPath | None = None,
    *,
    embeddings_key: str | None = None,
    labels_key: str | None = None,
    label_column: str | int | None = None,
    header: bool | None = None,
) -> Samples[NDArray[Any]]:
    """Read embeddings and labels from files, into memory.

    `deadheat.evaluate` reads the same files by the same rules; this is for a look at what it reads, and for files whose
    arrays or columns have names of their own.

    Parameters
    ----------
    path : path
        The file of embeddings: ``.npz``, ``.npy``, ``.csv``, ``.tsv`` or ``.parquet``; or a pattern such as
        ``emb-*.npy``, which stands for all files that it fits, in order of name. In a table, all columns but that of
        the labels are the embedding (without columns that have no name, such as the index that pandas writes); in
        Parquet it may be one column of lists. Numbers in text become float64.
    labels : path, optional
        A file of labels, if they are not in `path`, or a pattern: ``.txt`` (one a line), or any of those above. Labels
        in text are integers if all of them are written as integers ("7", not "07"), else strings.
    embeddings_key, labels_key : str, optional
        Names of the arrays in a ``.npz`` file; default, whichever of ``embeddings``, ``features``, ``x`` and
        ``labels``, ``y`` (in any case) is there, or else the only array of two dimensions and the only one of one.
        In Parquet, `embeddings_key` is the column of lists.
    label_column : str or int, optional
        The column of labels in a table: its name, or its place counted from 0 (from -1 at the end); default, the
        one called ``labels``, ``label``, ``class`` or ``y``, or else the first that does not hold numbers.
    header : bool, optional
        Whether the first line of a table of text holds the names of the columns; default, guessed.

    Returns
    -------
    Samples
        `embeddings`, (n, dim), in the type that they have in the file, and `labels`, (n,).

    Raises
    ------
    OSError
        If a file cannot be read.
    FileError
        If what is in it is not embeddings and labels, or is damaged.
    InvalidValueError, InvalidTypeError
        If embeddings are not finite real numbers, or there is not one label, an integer or a string, for each of them.
    MissingPackageError
        If a ``.parquet`` file needs pyarrow.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "points.csv")
    ...     _ = path.write_text("label,x,y\\ncat,0,1\\ndog,2,3\\n")
    ...     samples = read(path)
    >>> samples.embeddings
    array([[0., 1.],
           [2., 3.]])
    >>> samples.labels
    array(['cat', 'dog'], dtype='<U3')
    """
    layout = Layout(embeddings_key, labels_key, label_column, header)
    opened = open_samples(path, labels, layout=layout)
    return Samples(opened.embeddings.whole(), opened.labels)
