"""The same embeddings from wherever they are kept: one digest, whatever the library, the type or the file.

The data are the 1797 handwritten digits of scikit-learn, 64 numbers each from 0 to 16, which bfloat16 holds too.
Needs: pip install "deadheat[demo,files,frames,torch]" polars
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import h5py
import numpy as np
import polars as pl
import torch
from safetensors.torch import save_file
from sklearn.datasets import load_digits

import deadheat as dh

digits = load_digits()
embeddings, labels = digits.data.astype(np.float32), digits.target

# What a training loop has: tensors of any float type, with or without a gradient, on any device.
tensor = torch.tensor(embeddings)
frame = pl.DataFrame({"embedding": tensor.numpy(), "label": labels})
sources = {
    "NumPy float32": (embeddings, labels),
    "NumPy float16": (embeddings.astype(np.float16), labels),
    "PyTorch bfloat16": (tensor.to(torch.bfloat16), torch.tensor(labels)),
    "PyTorch, with a gradient": (tensor.clone().requires_grad_(), labels),
    "Polars": (frame["embedding"], frame["label"]),
    "pyarrow": (frame.to_arrow()["embedding"], frame.to_arrow()["label"]),
    "pandas": (frame.to_pandas()["embedding"], frame.to_pandas()["label"]),
}

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)

    # What a disk has. Arrays are found by their usual names (embeddings, labels); `dh.read` and the command take
    # other names.
    np.savez(folder / "digits.npz", embeddings=embeddings, labels=labels)
    frame.write_parquet(folder / "digits.parquet")
    save_file({"embeddings": tensor.to(torch.bfloat16), "labels": torch.tensor(labels)}, folder / "digits.safetensors")
    with h5py.File(folder / "digits.h5", "w") as file:
        file.create_dataset("embeddings", data=embeddings, chunks=(500, 64), compression="gzip")
        file["labels"] = labels
    sources |= {path.name: (path,) for path in sorted(folder.iterdir())}

    print("digest of the tie profile, euclidean")
    for source, samples in sources.items():
        print(f"  {source:26}{dh.Task(*samples, distance='euclidean').profile.digest()[:16]}")

report = dh.evaluate(embeddings, labels, distance="euclidean", measures="mAP, Hit@1")

# And out again: a dictionary, JSON, a frame of pandas or Polars, a table of Arrow.
print(report.summary())
print(report.by_class().to_polars().select("class", "queries", "mAP_lower", "mAP_upper").head(3))
queries = pl.DataFrame(report.by_query(measures="mAP"))
print(f"the mean over {len(queries)} queries again, by Polars: {queries['mAP_expected'].mean():.4f}")
