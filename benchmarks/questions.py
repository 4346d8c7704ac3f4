"""Every public question, next to the counting pass of its task and to what a user would compare it with.

A task is counted before a question is timed, unless the question counts itself. `WORKS` has a row for each: the public
functions that it asks, and its work. Sizes, yardsticks and limits are in `targets.QUESTIONS`; a question without a
yardstick has a limit in seconds.
"""

from __future__ import annotations

import atexit
import shutil
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import deadheat as dh
from benchmarks.cases import Case
from benchmarks.data import Array, Unavailable
from benchmarks.results import Row, timed
from benchmarks.timing import Clock
from benchmarks.yardsticks import Work
from deadheat.inputs.trec import open_run
from deadheat.support.caching import cached_property

NO_QUESTIONS = {
    "CountedTask", "Receipt", "Report", "Result", "Rounded", "Task", "TieProfile", "Tolerance", "errors", "measures",
    "within",
}  # fmt: skip
"""Public names that are answers, settings or modules."""


class World:
    """The data of the questions, each made when it is first asked for; the same ones for a size."""

    def __init__(self, n: int, class_size: int, threads: int) -> None:
        self.n, self.class_size, self.how = n, class_size, {"threads": threads}

    def rows(self, seed: int, dim: int = 64) -> Array:
        return np.random.default_rng(seed).standard_normal((self.n, dim), dtype=np.float32)

    def labels(self, size: int = 0) -> Array:
        return np.random.default_rng(0).permutation(np.arange(self.n) // (size or self.class_size))

    def fresh(self, seed: int = 1) -> dh.Task:
        return dh.Task(self.rows(seed), self.labels(), **self.how)

    def codes(self, class_size: int) -> dh.Task:
        """Codes of 32 bits, counted."""
        packed = np.random.default_rng(2).integers(0, 256, (self.n, 4), dtype=np.uint8)
        return counted(dh.Task(packed, self.labels(min(class_size, self.n // 4)), distance="hamming", **self.how))

    def reports(self, number: int, measures: str) -> dict[str, dh.Report]:
        return {str(seed): dh.evaluate(self.fresh(seed), measures) for seed in range(number)}

    @cached_property
    def task(self) -> dh.Task:
        return counted(self.fresh())

    @cached_property
    def tied(self) -> dh.Task:
        """Classes that are clusters, and one tie."""
        rows = self.rows(1) + 3 * self.rows(3)[self.labels()]
        rows[1] = rows[0]
        return counted(dh.Task(rows, self.labels(), **self.how))

    @cached_property
    def run(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """A run of 50 documents a query, and its judgements."""
        scores = np.random.default_rng(4).integers(0, 1000, (self.n // 20, 50)).tolist()
        run = {f"q{i}": {f"d{i}-{j}": float(score) for j, score in enumerate(row)} for i, row in enumerate(scores)}
        return run, {query: {f"d{query[1:]}-{j}": 1 for j in range(0, 50, 7)} for query in run}

    def run_file(self, ending: str) -> Work:
        """Read a run of 50 lines an item, 1,000 a query, from a file of TREC, of JSON, or with a header."""
        path, scores = Path(self.folder, f"run.{ending}"), np.random.default_rng(14).random(50 * self.n).tolist()
        lines = {
            "run": "q%d Q0 d%d 1 %.6f tag",
            "jsonl": '{"qid": "q%d", "docid": "d%d", "score": %.6f}',
            "csv": "q%d,d%d,%.6f",
        }
        text = [lines[ending] % (i // 1000, i, score) for i, score in enumerate(scores)]
        path.write_text("\n".join([*["qid,docid,score"] * (ending == "csv"), *text]))
        return lambda: open_run(path)

    @cached_property
    def folder(self) -> str:
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return folder

    @cached_property
    def scores(self) -> Array:
        """Scores of 200 candidates for each of a tenth of the queries."""
        return np.random.default_rng(5).standard_normal((self.n // 10, 200))

    @cached_property
    def lists(self) -> Array:
        return np.random.default_rng(6).permuted(np.tile(np.arange(self.n), (100, 1)), axis=1)[:, :50]

    @cached_property
    def sparse(self) -> tuple[Any, Any]:
        """Rows of 100 numbers in 30,000 places: a tenth as many queries as items."""
        sparse: Any = _scipy("scipy.sparse")
        n = self.n + self.n // 10
        rng = np.random.default_rng(7)
        columns, starts = rng.integers(0, 30_000, 100 * n), np.arange(0, 100 * n + 1, 100)
        made = sparse.csr_matrix((rng.random(100 * n, dtype=np.float32), columns, starts), shape=(n, 30_000))
        made.sum_duplicates()
        return made[: self.n // 10], made[self.n // 10 :]


def _scipy(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise Unavailable(f"{name} is not installed") from error


def counted(task: dh.Task) -> dh.Task:
    """Count a task, and return it."""
    assert task.profile.n_query
    return task


def _axes() -> Any:
    return _scipy("matplotlib.figure").Figure().subplots()


def _exploit(world: World) -> Work:
    task = world.codes(20)
    return lambda: dh.exploit(task, draws=10, searches=1)


def _archive(world: World) -> Work:
    """An archive that is written and read."""
    rows, labels = world.rows(1), world.labels()

    def work() -> object:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.npz"
            np.savez(path, embeddings=rows, labels=labels)
            return dh.read(path)

    return work


def _confidence(world: World) -> Work:
    report, sure = dh.evaluate(world.task, "mAP, Hit@1"), np.random.default_rng(8).random(world.n)
    return lambda: str(dh.confidence.confidence_report(report, sure))


def _leaderboard(number: int, measures: str) -> Callable[[World], Work]:
    def make(world: World) -> Work:
        reports = world.reports(number, measures)
        return lambda: str(dh.leaderboard(reports))

    return make


def _interval(world: World) -> Work:
    report = dh.evaluate(world.task, "mAP")
    return lambda: report["mAP"].interval()


def _compare(world: World) -> Work:
    a, b = world.reports(2, "mAP, Hit@1").values()
    return lambda: str(dh.compare(a, b))


def _of_task(ask: Callable[[dh.Task], object]) -> Callable[[World], Work]:
    def make(world: World) -> Work:
        task = world.task
        return lambda: ask(task)

    return make


def _of_codes(ask: Callable[[dh.Task], object], class_size: int = 200) -> Callable[[World], Work]:
    def make(world: World) -> Work:
        task = world.codes(class_size)
        return lambda: ask(task)

    return make


def _curve(world: World) -> Work:
    report = dh.evaluate(world.task, "mAP")
    return lambda: [plot(report, k=world.n, ax=_axes()) for plot in (dh.plots.cmc, dh.plots.precision_at_k)]


def _ranks(world: World) -> Work:
    first = np.random.default_rng(9).integers(1, 100, 50 * world.n)
    return lambda: str(dh.link_prediction(dh.from_ranks(first, first + 3, np.full(len(first), 1000))))


def _pairs(world: World) -> Work:
    rng, rows = np.random.default_rng(10), world.rows(1)
    pairs, same = rng.integers(0, world.n, (5 * world.n, 2)), rng.integers(0, 2, 5 * world.n)
    return lambda: str(dh.pair_classification(rows, pairs, same))


def _classes(world: World) -> Work:
    rng = np.random.default_rng(11)
    scores, labels = rng.integers(0, 1000, 50 * world.n) / 1000, rng.integers(0, 2, 50 * world.n)
    return lambda: str(dh.classification(scores, labels))


def _recall(world: World) -> Work:
    rows = world.rows(1)
    return lambda: str(dh.index_recall(world.lists, rows[:100], rows, k=10, distance="l2"))


def _recall_of_truth(world: World) -> Work:
    truth = {"ids": np.tile(np.arange(50), (world.n, 1)), "distances": np.tile(np.arange(50.0), (world.n, 1))}
    returned = np.random.default_rng(12).permuted(truth["ids"], axis=1)
    return lambda: str(dh.index_recall_of_truth(returned, **truth, k=10))


def _neighbors(world: World) -> Work:
    scores, marks = (
        -np.sort(np.random.default_rng(13).random((100, 50))),
        [set(row[::9]) for row in world.lists.tolist()],
    )
    task = {"ids": world.lists, "scores": -scores[:, ::-1], "relevant": marks, "n_gallery": world.n}
    return lambda: dh.evaluate(dh.from_neighbors(**task), "mAP")


def _judged(world: World) -> Work:
    rows, names = world.rows(1), [f"d{i}" for i in range(world.n)]
    qrels = {f"q{i}": {names[i]: 1, names[i + 1]: 2} for i in range(100)}
    given = {"query_ids": list(qrels), "gallery_ids": names}
    return lambda: dh.evaluate(dh.from_judged(rows[:100] + 1, rows, qrels, **given), "nDCG@10")


def _collection(world: World) -> Work:
    names = [f"d{i}" for i in range(world.n)]
    return lambda: str(dh.audit_collection(world.rows(1), {"q": {"d0": 1}}, names))


Asked = tuple[tuple[str, ...], Callable[[World], Work]]
WORKS: dict[str, Asked] = {
    "a second question": (("evaluate",), _of_task(lambda task: dh.evaluate(task, "nDCG@10, Hit@1"))),
    "11pt_avg of codes": (("evaluate",), _of_codes(lambda task: dh.evaluate(task, "11pt_avg"))),
    "ERR@20": (("evaluate",), lambda world: lambda task=world.tied: dh.evaluate(task, "ERR@20")),
    "a random baseline's draw": (
        ("random_baseline",), lambda world: lambda: dh.random_baseline(world.labels(), draws=1, **world.how)
    ),
    "collisions": (("collisions",), _of_task(dh.collisions)),
    "collisions of codes": (("collisions",), _of_codes(dh.collisions)),
    "exploit of codes": (("exploit",), _exploit),
    "exploit of more codes": (("exploit",), _exploit),
    "precision_recall of codes": (("precision_recall",), _of_codes(dh.precision_recall)),
    "hash_lookup": (("hash_lookup",), _of_codes(lambda task: str(dh.hash_lookup(task)))),
    "leaderboard, 10 of 7 measures": (
        ("leaderboard",), _leaderboard(10, "mAP, MAP@R, Hit@1, Hit@10, nDCG@10, P@10, MRR")
    ),
    "interval": (("evaluate",), _interval),
    "compare": (("compare",), _compare),
    "p_values": (("p_values",), _of_task(dh.p_values)),
    "grouped": (("grouped",), _of_task(lambda task: str(dh.grouped(task)))),
    "split_half": (("split_half",), _of_task(lambda task: str(dh.split_half(task)))),
    "generalization_gap": (
        ("generalization_gap",), _of_task(lambda task: str(dh.generalization_gap(task, task, group_size=10)))
    ),
    "compare_formats": (("compare_formats",), _of_task(lambda task: str(dh.compare_formats(task)))),
    "audit": (("audit",), _of_task(lambda task: str(dh.audit(task)))),
    "html_report": (("html_report",), _of_task(lambda task: dh.html_report(dh.evaluate(task)))),
    "long curves": (("plots",), _curve),
    "confidence": (("confidence",), _confidence),
    "sparse rows": ((), lambda world: lambda: dh.evaluate(
        dh.Task(world.sparse[0], world.labels()[: world.n // 10], world.sparse[1], world.labels(), **world.how), "mAP"
    )),
    "receipt": (("receipt", "verify"), _of_task(lambda task: dh.verify(dh.receipt(task), task))),
    "read": (("read",), _archive),
    "a run": (("from_run", "audit_run"), lambda world: lambda run=world.run: (
        dh.evaluate(dh.from_run(*run), "mAP"), str(dh.audit_run(*run))
    )),
    "a run by lines of JSON": ((), lambda world: world.run_file("jsonl")),
    "a run with a header": ((), lambda world: world.run_file("csv")),
    "scores": (("from_scores", "from_candidates", "from_lists", "from_profile"), lambda world: lambda: (
        dh.evaluate(dh.from_scores(world.scores, np.tile(np.arange(200) % 9 == 0, (len(world.scores), 1))), "mAP"),
        dh.evaluate(dh.from_candidates(world.scores, positive_columns=np.arange(len(world.scores)) % 200), "MRR"),
        dh.evaluate(dh.from_lists(world.lists.tolist(), [row[:3] for row in world.lists.tolist()]), "mAP"),
        dh.evaluate(dh.from_profile(world.task.profile), "mAP"),
    )),
    "link prediction": (("from_ranks", "link_prediction"), _ranks),
    "pairs": (("pair_classification",), _pairs),
    "classification": (("classification",), _classes),
    "index_recall": (("index_recall",), _recall),
    "index_recall_of_truth": (("index_recall_of_truth",), _recall_of_truth),
    "neighbours": (("from_neighbors",), _neighbors),
    "judged rows": (("from_judged",), _judged),
    "audit_collection": (("audit_collection",), _collection),
}  # fmt: skip


def _sorted_rows(world: World) -> Work:
    rng, n = np.random.default_rng(0), world.n
    blocks = [rng.random((min(500, n - i), n), dtype=np.float32) for i in range(0, min(n, 1000), 500)]
    return lambda: [np.sort(blocks[i // 500 % len(blocks)], axis=1) for i in range(0, n, 500)]


YARDSTICKS: dict[str, Callable[[World], Work]] = {
    "": lambda world: lambda: None,
    "the first question": lambda world: lambda: dh.evaluate(world.fresh(), "mAP"),
    "evaluate of as many × 100": lambda world: (
        lambda: dh.evaluate(dh.Task(world.rows(1, 100), world.labels(), **world.how), "mAP")
    ),
    "a sort of all rows": _sorted_rows,
    "its eight passes": lambda world: lambda: [dh.evaluate(world.fresh(seed), "mAP, Hit@1") for seed in range(8)],
    "its TREC form": lambda world: world.run_file("run"),
    "SciPy's product": lambda world: lambda: world.sparse[0] @ world.sparse[1].T,
}


def measure(case: Case, clock: Clock) -> Row:
    """A pass, the yardstick and the question by turns, after each has run once on small data."""
    clock.tick("generating the data")
    for n in (min(case.n, 240), case.n):
        world = World(n, min(case.class_size, n // 40), clock.threads)
        works = {
            "pass": lambda world=world: world.fresh().profile,
            "yardstick": YARDSTICKS[case.yardstick](world),
            "evaluate": WORKS[case.data][1](world),
        }
        if n < case.n:
            for work in works.values():
                work()
    times = clock.by_turns(works)
    value, of_pass = (statistics.median(times[what]) for what in ("evaluate", "pass"))
    row = timed(case, times) if case.yardstick else Row(case, None, value, "s", times)
    row.details["note"] = f"{value / of_pass:.2f} of a pass over {case.n} × 64"
    return row
