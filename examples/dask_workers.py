"""Digits counted by Dask's workers, from files: the same profile, bit for bit, as in one process.

pip install "deadheat[demo]" "distributed>=2024.8"
python examples/dask_workers.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from distributed import Client, LocalCluster
from sklearn.datasets import load_digits

import deadheat as dh


def main() -> None:
    images, labels = load_digits(return_X_y=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "digits.npy")  # workers open files where they are: nothing large travels
        np.save(path, images.astype(np.float32))
        alone = dh.Task(path, labels).profile
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as workers,
            Client(workers) as client,
            client.get_executor(pure=False, retries=2) as executor,
        ):
            report = dh.evaluate(path, labels, measures=["mAP", "Hit@1"], executor=executor)
    print(report)
    print(f"\nThe same profile as in one process: {report.profile.digest() == alone.digest()}")


if __name__ == "__main__":
    main()
