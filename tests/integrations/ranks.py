"""Processes that evaluate together over gloo, as DistributedDataParallel has them; each returns what it found.

Started once for all tests: a process takes seconds to import PyTorch.
"""

from __future__ import annotations

import multiprocessing
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DistributedSampler

from deadheat.engine import task as tasks
from deadheat.integrations.torchmetrics import EmbeddingRetrieval, ScoredRetrieval

N_RANK = 3
MEASURES = "mAP, MAP@R, Hit@1, nDCG"


def samples(n: int = 47, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Points on a small grid, with many ties."""
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.integers(0, 3, (n, 3)).astype(np.float32)), torch.from_numpy(rng.integers(0, 6, n))


def distinct_samples(n: int = 19) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(3)
    return torch.from_numpy(rng.normal(size=(n, 8)).astype(np.float32)), torch.from_numpy(rng.integers(0, 4, n))


def scored(seed: int = 1) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    preds = torch.from_numpy(rng.integers(-2, 3, 90).astype(np.float32))
    return preds, torch.from_numpy(rng.integers(0, 2, 90)), torch.from_numpy(rng.integers(0, 9, 90))


def numbers(values: dict[str, torch.Tensor]) -> dict[str, float]:
    return {name: value.item() for name, value in values.items()}


def in_batches(metric: Any, sizes: list[int], *columns: Any) -> None:
    start = 0
    for size in sizes:
        metric.update(*(column[start : start + size] for column in columns))
        start += size


def uneven(rank: int, group: Any) -> dict[str, Any]:
    """5, 30 and 12 rows, in batches of any size; twice, to see that rows are not lost or doubled by gathering."""
    embeddings, labels = samples()
    mine = [slice(0, 5), slice(5, 35), slice(35, 47)][rank]
    counted: list[int] = []
    whole = tasks.count
    tasks.count = lambda pair, options: counted.append(len(pair.query.labels)) or whole(pair, options)
    metric = EmbeddingRetrieval(MEASURES, threads=1)
    in_batches(metric, [3, 2, 20, 10], embeddings[mine], labels[mine])
    first, report = numbers(metric.compute()), metric.report()
    metric.update(embeddings[:0], labels[:0])
    result = {"first": first, "second": numbers(metric.compute()), "digest": report.profile.digest()}
    tasks.count = whole
    return {**result, "counted": counted}


def without_data(rank: int, group: Any) -> dict[str, Any]:
    """All rows are on process 1, in bfloat16; or of no process at all."""
    embeddings, labels = samples()
    metric, words, wide = (EmbeddingRetrieval(MEASURES, threads=1) for _ in range(3))
    if rank == 1:
        metric.update(embeddings.bfloat16().requires_grad_(), labels + 2**53)
        words.update(embeddings.to(torch.int16), [f"Wort {'ü' * label}" for label in labels.tolist()])
    if rank < 2:
        half = slice(0, 20) if rank else slice(20, 47)
        wide.update(embeddings[half].to(torch.float16 if rank else torch.float64), labels[half])
    scores, target, indexes = scored()
    by_score = ScoredRetrieval(MEASURES)
    if rank == 2:
        by_score.update(scores, target, indexes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nothing = numbers(EmbeddingRetrieval("mAP").compute())
    values = {"bfloat16": metric, "words": words, "wide": wide, "scored": by_score}
    return {name: numbers(metric.compute()) for name, metric in values.items()} | {"nothing": nothing}


def padded(rank: int, group: Any) -> dict[str, Any]:
    """19 samples on two of the processes, dealt out as DistributedSampler does it: 10 each, one of them twice."""
    if rank == 2:
        return {}
    embeddings, labels = distinct_samples()
    rows = torch.tensor(list(DistributedSampler(range(19), num_replicas=2, rank=rank, shuffle=True, seed=5)))
    by_id, blind = (EmbeddingRetrieval("Hit@1", threads=1, process_group=group) for _ in range(2))
    by_id.update(embeddings[rows], labels[rows], rows)
    blind.update(embeddings[rows], labels[rows])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = {"by_id": numbers(by_id.compute())}
        values["quiet"] = [str(warning.message) for warning in caught]
        values["blind"] = numbers(blind.compute())
    return values | {"warned": [str(warning.message) for warning in caught], "n_query": by_id.report().n_query}


def each_step(rank: int, group: Any) -> dict[str, Any]:
    """`forward` with what all processes have of this step, or only this one; and no gathering at all."""
    embeddings, labels = samples()
    mine = slice(15 * rank, 15 * rank + 15)
    together, alone = EmbeddingRetrieval("mAP", dist_sync_on_step=True), EmbeddingRetrieval("mAP")
    separate = EmbeddingRetrieval("mAP", sync_on_compute=False)
    steps = {name: numbers(m(embeddings[mine], labels[mine])) for name, m in (("together", together), ("alone", alone))}
    separate.update(embeddings[mine], labels[mine])
    epochs = {"epoch": numbers(together.compute()), "epoch_alone": numbers(alone.compute())}
    return steps | epochs | {"separate": numbers(separate.compute())}


def by_role(rank: int, group: Any) -> dict[str, Any]:
    """Queries on one process, the gallery on the others, and the queries in the gallery too."""
    embeddings, labels = samples()
    metric = EmbeddingRetrieval(MEASURES, threads=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if rank == 0:
            metric.update(embeddings[:10], labels[:10], role="query")
        else:
            half = slice(0, 20) if rank == 1 else slice(20, 47)
            metric.update(embeddings[half], labels[half], role="gallery")
        values = numbers(metric.compute())
    return {"values": values, "warned": [warning.category.__name__ for warning in caught]}


def disagreeing(rank: int, group: Any) -> dict[str, Any]:
    """Rows of other widths on different processes: one line on all of them, and nobody waits for ever."""
    metric = EmbeddingRetrieval("mAP")
    metric.update(torch.eye(4)[:, : 3 + (rank == 1)], torch.tensor([0, 0, 1, 1]))
    try:
        metric.compute()
    except ValueError as error:
        return {"error": str(error)}
    return {}


CASES = (uneven, without_data, padded, each_step, by_role, disagreeing)


def process(rank: int, folder: str, results: Any) -> None:
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=N_RANK)
    group = torch.distributed.new_group([0, 1])
    try:
        results.put((rank, {case.__name__: case(rank, group) for case in CASES}))
    except BaseException as error:
        results.put((rank, repr(error)))
        raise
    finally:
        torch.distributed.destroy_process_group()


def run(folder: Path) -> list[dict[str, dict[str, Any]]]:
    """Return the results of each process in each case, by rank."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "torch", "torchmetrics"])
    values = context.Queue()
    processes = [context.Process(target=process, args=(rank, str(folder), values)) for rank in range(N_RANK)]
    for one in processes:
        one.start()
    try:
        return [result for _, result in sorted(values.get(timeout=120) for _ in processes)]
    finally:
        for one in processes:
            one.join(timeout=20)
            one.kill()
