"""Vector indexes on handwritten digits: what each finds, how fast, and what its first twenty neighbours say of a model.

pip install "deadheat[demo]" faiss-cpu hnswlib usearch
python examples/vector_index.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import faiss
import hnswlib
import numpy as np
from sklearn.datasets import load_digits
from usearch.index import Index

import deadheat as dh

K = 10
Search = Callable[[Any], Any]  # from queries to the ids of their neighbours


def searches(base: Any) -> dict[str, Search]:
    """Every index with every setting."""
    dim = base.shape[1]
    flat = faiss.IndexFlatL2(dim)
    flat.add(base)
    result: dict[str, Search] = {"faiss flat": lambda queries: flat.search(queries, K)[1]}

    lists = faiss.index_factory(dim, "IVF32,Flat")
    lists.train(base)
    lists.add(base)
    for n in (1, 4, 16):
        probes = faiss.SearchParametersIVF(nprobe=n)
        result[f"faiss IVF32, nprobe {n}"] = lambda queries, p=probes: lists.search(queries, K, params=p)[1]

    codes = faiss.index_factory(dim, "PQ16x4")
    codes.train(base)
    codes.add(base)
    result["faiss PQ16x4"] = lambda queries: codes.search(queries, K)[1]

    def of_graph(queries: Any, ef: int) -> Any:
        graph.set_ef(ef)
        return graph.knn_query(queries, K)[0]  # ids come first here

    graph = hnswlib.Index("l2", dim)
    graph.init_index(max_elements=len(base), M=5, ef_construction=20, random_seed=1)
    graph.add_items(base, num_threads=1)
    for ef in (10, 40):
        result[f"hnswlib, ef {ef}"] = lambda queries, ef=ef: of_graph(queries, ef)

    for dtype in ("f32", "i8"):
        other = Index(ndim=dim, metric="l2sq", dtype=dtype, connectivity=5, expansion_search=10)
        other.add(np.arange(len(base)), base / np.float32(16) if dtype == "i8" else base, threads=1)
        scale = np.float32(16 if dtype == "i8" else 1)
        result[f"usearch {dtype}"] = lambda queries, other=other, scale=scale: other.search(queries / scale, K).keys
    return result


def main() -> None:
    rows, labels = load_digits(return_X_y=True)
    rows = rows.astype(np.float32)  # 64 pixels of 0 to 16: many distances are equal
    queries, base = rows[::6], np.delete(rows, np.s_[::6], axis=0)
    query_labels, base_labels = labels[::6], np.delete(labels, np.s_[::6])

    returned, speeds = {}, {}
    for name, search in searches(base).items():
        start = time.perf_counter()
        returned[name] = search(queries)
        speeds[name] = len(queries) / (time.perf_counter() - start)
    print(dh.index_recall(returned, queries, base, K, distance="euclidean", queries_per_second=speeds))

    # More neighbours than P@10 looks at: what ties with the last of them, and was not returned, does not reach rank 10.
    flat = faiss.IndexFlatL2(base.shape[1])
    flat.add(base)
    far, ids = flat.search(queries, 2 * K)  # distances come first here
    measures = ["Hit@1", "P@10", "mAP"]
    profile = dh.from_neighbors(ids, far, query_labels, base_labels, order="ascending").profile
    print("\nOf the first 20 neighbours alone:\n")
    print(dh.evaluate(profile, measures))
    print("\nOf all embeddings:\n")
    print(dh.evaluate(queries, query_labels, base, base_labels, distance="euclidean", measures=measures))


if __name__ == "__main__":
    main()
