"""A second question of one task, which does not count again, next to the first."""

from __future__ import annotations

import deadheat as dh
from benchmarks import data
from benchmarks.cases import Case
from benchmarks.results import Row, timed
from benchmarks.timing import Clock

YARDSTICK = "the first question"


def measure(case: Case, clock: Clock) -> Row:
    """Both by turns: a task with a question, and another question of a task that has been asked one."""
    clock.tick("generating the data")
    arrays = data.make(case)
    rows, labels = arrays.query, arrays.query_labels
    task = dh.Task(rows, labels, threads=clock.threads)
    dh.evaluate(task, "mAP")
    works = {
        "yardstick": lambda: dh.evaluate(dh.Task(rows, labels, threads=clock.threads), "mAP"),
        "evaluate": lambda: dh.evaluate(task, "nDCG@10, Hit@1"),
    }
    return timed(case, clock.by_turns(works))
