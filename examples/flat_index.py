"""A flat index is not exact: recall of faiss's brute-force search where all rows are moved by one number.

    pip install faiss-cpu && python examples/flat_index.py

Moving all rows changes no Euclidean distance, but for the rounding of the rows, which both searches get. The index
computes |q|² + |x|² − 2 q·x in float32, whose large terms cancel; deadheat compares the distances as real numbers.
"""

from __future__ import annotations

import faiss
import numpy as np

import deadheat as dh

N, N_QUERY, K = 3000, 200, 10


def main() -> None:
    print("| rows moved by | dim | index | recall@10 (%) |")
    print("|--:|--:|---|--:|")
    for dim in (16, 768):
        rng = np.random.default_rng(0)
        rows, queries = (rng.normal(size=(n, dim)).astype(np.float32) for n in (N, N_QUERY))
        for shift in (0, 100, 1000):
            moved, asked = rows + np.float32(shift), queries + np.float32(shift)
            returned = {}
            for name, index in {
                "IndexFlatL2": faiss.IndexFlatL2(dim), "IndexFlatL2Panorama": faiss.IndexFlatL2Panorama(dim, 8),
            }.items():  # fmt: skip
                index.add(moved)
                returned[name] = index.search(asked, K)[1]
            measured = dh.index_recall(returned, asked, moved, K, distance="euclidean")
            for name in returned:
                print(f"| {shift:,} | {dim} | {name} | {100 * measured[name].recall:.2f} |")


if __name__ == "__main__":
    main()
