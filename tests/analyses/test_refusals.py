"""Refusals of analyses: one line that names the argument, the rule and what came, before any work."""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.analyses import confidence as dc
from deadheat.analyses.rounding import quantized
from deadheat.errors import InputError, QueryInGalleryWarning, UndefinedError
from deadheat.support.triple import Triple

ROWS, LABELS = np.arange(8.0).reshape(4, 2) ** 2, [0, 1, 0, 1]
HUGE = 10**400  # which no float holds
LONG = 10**5000  # which Python does not even print
NAN = math.nan
ZEROS, MASK = np.zeros((2, 3)), np.zeros((2, 3), dtype=bool)
POINTS, OF_POINTS = np.random.default_rng(5).normal(size=(30, 4)), np.arange(30) % 5
PAIRS = dh.Task([[0], [1], [5], [6]], list("aabb"))
GAP = {"train": PAIRS, "test": PAIRS, "group_size": 2}
REPORT = dh.evaluate(ROWS, LABELS)
PLAIN = {f"first {n}": dh.evaluate(POINTS[:, :n], OF_POINTS) for n in (1, 2, 3, 4)}
INDEX = {
    "returned": [[0, 1], [2, 3]],
    "queries": np.zeros((2, 3)),
    "gallery": np.ones((4, 3)),
    "k": 2,
    "distance": "l2",
}
TRUTH = {"returned": [[0, 1]], "ids": [[0, 1, 2]], "distances": [[0.0, 1.0, 2.0]], "k": 2}
DISORDERED = "distances must be finite and ascend in each row, but those of row 0 do not"
RANKS, SCORES = dh.from_ranks([1], [1], 1), dh.from_scores([[1.0, 2.0]], [[1, 0]])
SUITE: dict[Any, Any] = {name: {"t": REPORT, "u": REPORT} for name in "ab"}
VOICES = {"a/1": [1, 0], "a/2": [2, 1], "b/1": [0, 3], "c/1": [3, 6]}
TRIALS = [("a/1", "a/2", 1), ("b/1", "c/1", 0), ("a/1", "c/1", 0)]
OF_TASK = inspect.signature(dh.Task).parameters


def of_task(question: Callable[..., Any]) -> Callable[..., Any]:
    """Return a question of a task with the arguments of the task among its own."""

    @functools.wraps(question)
    def asked(**given: Any) -> Any:
        task = dh.Task(**{name: given.pop(name) for name in OF_TASK if name in given})
        return question(task, **given)

    return asked


def reports(**changes: Any) -> dict[str, Any]:
    """Two reports on twelve queries, or as the changes have it."""
    profile = dh.TieProfile.from_groups([[(0, 0, 1, 1)]] * 12, n_ranked=[6] * 12)
    return {name: dh.evaluate(profile, "MRR", labels=range(12)) for name in "ab"} | changes


# A function, what it is given, and for each change of that the words of the message, with "…" for what is left out
REFUSED: list[tuple[Callable[..., Any], dict[str, Any], list[tuple[Any, ...]]]] = [
    (of_task(dh.exploit), {"embeddings": np.zeros((3, 1)), "labels": [0, 0, 1]}, [
        ({"measure": "mAPP"}, "unknown measure 'mAPP'; did you mean 'mAP'?"),
        ({"ties": dh.Tolerance(0.1)}, "ties must have tie groups, but Tolerance(0.1) has none"),
        ({"searches": 0}, "searches must be at least 1, but is 0"),
        ({"draws": 1.5}, "draws must be an integer, but is 1.5", TypeError),
        ({"seed": -1}, "seed must be at least 0, but is -1"),
        ({"labels": [0, 1, 2]}, "no query has a relevant item, … 3 samples of as many labels"),
        ({"labels": list("abc"), "gallery": [[0]], "gallery_labels": ["d"]},
         "no query has a relevant item, … 3 queries and 1 gallery item"),
        *(({"measure": name}, f"measure must be a sum over the relevant items, …, but is {name}")
          for name in ("bpref", "IPrec@0.5", "11pt_avg", "SetP")),
    ]),
    (dh.random_baseline, {"labels": [0, 0]}, [
        ({"labels": []}, "labels must hold a label for each item, but are empty"),
        ({"labels": [0, 1]}, "no query has a relevant item"),
        ({"labels": 5}, "labels must be a sequence of integers or strings, but is 5", TypeError),
        ({"dim": 0}, "dim must be at least 1, but is 0"),
        ({"dim": 2**70}, "dim must be at most"),
        ({"distance": "hamming"}, "distance must be one of cosine, …, but is 'hamming'"),
    ]),
    (of_task(dh.grouped), {"embeddings": [[0], [1], [2], [3], [4], [5]], "labels": list("aabbcc"), "group_size": 2}, [
        ({"group_size": 1}, "group_size must be at least 2, but is 1"),
        ({"group_size": 4}, "group_size must be at most the number of classes, 3, but is 4"),
        ({"draws": 0}, "draws must be at least 1, but is 0"),
        ({"draws": 2**70}, "draws must be at most"),
        ({"seed": -1}, "seed must be at least 0, but is -1"),
        ({"labels": list("abcdef")}, "no query has a relevant item"),
        ({"measures": 3}, "measures must be names, such as ", TypeError),
    ]),
    (dh.grouped, {"task": RANKS, "group_size": 2}, [
        ({}, "task must be made of embeddings, …, for groups, but was made of ranks", TypeError),
        ({"task": ROWS}, "task must be a task, dh.Task(embeddings, labels), for groups, but is of type nd", TypeError),
    ]),
    (dh.generalization_gap, GAP, [
        ({"test": PAIRS.replace(distance="l2")}, "train and test must have one distance and one meaning of ties, but "
         "have cosine with ties exact and euclidean with ties exact"),
        ({"train": PAIRS.replace(ties="float16")}, "but have cosine with ties float16 similarity and cosine with ties "
         "exact"),
        ({"train": RANKS}, "train must be made of embeddings, …, for a gap, but was made of ranks", TypeError),
        ({"test": ROWS}, "test must be a task, dh.Task(embeddings, labels), for a gap, but is of type nd", TypeError),
        ({"group_size": 3}, "group_size must be at most the number of classes, 2, but is 3"),
    ]),
    (of_task(dh.split_half), {"embeddings": np.arange(10)[:, None], "labels": np.arange(10) // 2, "group_size": 2}, [
        ({"draws": 0}, "draws must be at least 1, but is 0"),
        ({"group_size": 3}, "group_size must be at most half the number of classes, 5, but is 3"),
        ({"measure": "nope"}, "unknown measure"),
        ({"junk": [True]}, "junk must have shape"),
        ({"ties": "flot"}, "flot"),
    ]),
    *((of_task(dh.collisions), {"embeddings": [[1.0, 2.0], [3.0, 4.0]], "labels": [0, 1], "distances": distances}, [
        *(({"within": within}, "within must be finite and not negative, but is ")
          for within in (-1, math.inf, NAN, HUGE, -HUGE, LONG)),
        ({"within": "1"}, "within must be a number, but is '1'", TypeError),
        ({"within": True}, "within must be a number", TypeError),
        ({"within": 0, "ties": "float32"}, "must be left out unless ties are exact, but is 0 with ties"),
        ({"ties": dh.Tolerance(0.1)}, "ties must have tie groups"),
        ({"within": 0.1, "ties": dh.Tolerance(0.1)}, "within must be left out unless ties are exact"),
        ({"depth": 0}, "depth must be at least 1, but is 0"),
        ({"depth": 2.0}, "depth must be an integer", TypeError),
        ({"distances": []}, "distances must name at least one distance"),
        ({"distances": ["cosine", "cosin"]}, "distances must be one of cosine, …, but is 'cosin'"),
    ]) for distances in (None, ["cosine"])),
    (of_task(dh.collisions), {"embeddings": np.ones((50, 2)), "labels": [0] * 50}, [
        ({"depth": depth}, "depth must be so small that the result fits in memory") for depth in (10**9, 10**30, LONG)
    ]),
    (dh.Tolerance, {}, [({"eps": eps}, "eps must be finite and not negative, but is ")
                        for eps in (HUGE, -HUGE, LONG, NAN, math.inf, -1)]),
    *((functools.partial(dh.evaluate, *given), {}, [({"measures": 3}, "measures must be names, such as ", TypeError)])
      for given in ((ROWS, LABELS), (dh.Task(ROWS, LABELS),), (REPORT.profile,))),
    (dh.compare, {"a": REPORT, "b": REPORT}, [({"measures": 3}, "measures must be names, such as ", TypeError)]),
    (dh.compare, {"a": {"hit": [0.0, 1.0]}}, [
        ({"b": {"hit": [0.0, 2.0]}}, "hit must lie in [0, 1], NaN for a query that is left out, but query 1 has 2.0"),
        ({"b": {"hit": [0.0]}}, "a and b must be of the same queries, but have 2 and 1"),
        ({"b": {"hit": [0.0, 1.0], "x": [1.0]}}, "values must be of one length, but have "),
        ({"b": {"hit": Triple([1.0, 1.0], [0.5, 1.0], [1.0, 1.0])}}, "hit must have lower <= expected <= upper"),
        ({"b": {"hit": Triple([1.0, 1.0], [1.0], [1.0, 1.0])}}, "hit must have three arrays of one length"),
        ({"b": {"miss": [0.0, 1.0]}}, "a and b must show a measure in common"),
        *(({"b": values}, "b must be a Report, a result with a value for each query, or a dict", TypeError)
          for values in ({}, [0.0, 1.0], 3)),
    ]),
    *((function, given, [({}, f"measures must be means in [0, 1] here, but {name} is not")])
      for function, given, name in (
        (dh.grouped, {"task": PAIRS, "group_size": 2, "measures": "MnR"}, "MnR"),
        (dh.exploit, {"task": PAIRS, "measure": "DCG@1"}, "DCG@1"),
        (dh.audit, {"task": PAIRS, "measures": "MdR"}, "MdR"),
        (dh.random_baseline, {"labels": [0, 0, 1], "measure": "MnR"}, "MnR"),
    )),
    (dh.p_values, {"task": dh.Task([[0], [1]], [0, 0])}, [
        *(({"task": task}, 'task must have one label a query, or by must be "query"')
          for task in (SCORES, SCORES.profile)),
        *(({"task": task, "by": "query"}, "task must rank every relevant item, and have one")
          for task in (dh.from_scores([[1, 2]], [[0, 0]]), dh.from_run({"q": {"a": 1.0}}, {"q": {"a": 1, "b": 1}}))),
        ({"by": "label"}, "by must be one of class, query, but is 'label'"),
        ({"n_resamples": 0}, "n_resamples must be at least 1, but is 0"),
        ({"task": [1]}, "task must be a Task or a TieProfile, but is of type list", TypeError),
    ]),
    (of_task(dh.hash_lookup), {"embeddings": np.eye(4) > 0, "labels": LABELS, "distance": "hamming"}, [
        ({"distance": "cosine"}, "task must have distance 'hamming' for hash lookup, but has 'cosine'"),
        ({"ties": "float16"}, "task must have exact ties for hash lookup, but has Rounded"),
        ({"ties": dh.Tolerance(0.1)}, "task must have exact ties for hash lookup, but has Tolerance"),
        ({"singletons": "none"}, "singletons must be one of"),
        ({"labels": [0, 1, 2, 3]}, "no query has a relevant item"),
    ]),
    (dh.hash_lookup, {"task": RANKS}, [({}, "task must be made of embeddings", TypeError)]),
    (dh.leaderboard, {"reports": reports()}, [
        ({"reports": [*reports().values()]}, "reports must be a mapping of names to reports, but is list", TypeError),
        ({"reports": {"a": REPORT}}, "reports must be at least two, but got 1"),
        ({"reports": {1: REPORT, "b": REPORT}}, "reports must have names that are not empty, but has 1", TypeError),
        ({"reports": reports(b=REPORT.profile)}, "reports['b'] must be a Report, but is TieProfile", TypeError),
        ({"by": "low"}, "by must be one of lower, expected, upper, but is 'low'"),
        ({"reports": reports(b=dh.evaluate(reports()["a"].profile, "Hit@1"))},
         "reports must show a measure in common, or measures"),
        ({"reports": reports(b=dh.evaluate(reports()["a"].profile[1:], "MRR"))},
         "a and b must be of the same queries, but have 12 and 11"),
        ({"resample": "group"}, "resample must be one of query, class, but is 'group'"),
        ({"groups": {"a": "g"}}, "groups must be left out unless reports are by system and task"),
        ({"resample": "task"}, "resample must be query or class unless reports are by system and task"),
    ]),
    (dh.leaderboard, {"reports": SUITE}, [
        ({"reports": SUITE | {"b": REPORT}}, "reports['b'] must be a mapping of tasks to reports", TypeError),
        ({"reports": SUITE | {"b": {"t": 1}}}, "reports['b']['t'] must be a Report, but is int", TypeError),
        ({"reports": SUITE | {"b": {"": REPORT}}}, "must have tasks that are not empty", TypeError),
        ({"reports": SUITE | {1: {}}}, "must have names that are not empty, but has 1", TypeError),
        ({"reports": SUITE | {"b": {"t": REPORT.weighted([2.0] * 4)}}}, "must have no weights of queries"),
        ({"measures": "MRR, Hit@1"}, "measures must be one measure for tasks, but are MRR, Hit@1"),
        *(({"measures": name}, f"measures must be means in [0, 1] here, but {name} is not") for name in ("MnR", "MdR")),
        ({"method": "BCa"}, "method must be 'percentile' for tasks, but is 'BCa'"),
        ({"resample": "tasks"}, "resample must be one of query, class, task"),
        ({"by": "best"}, "by must be one of lower, expected, upper"),
        ({"groups": {"t": "g"}}, "groups must have a group for each task, but have none for u"),
        ({"groups": ["g"]}, "groups must be a mapping of tasks to groups, but is list", TypeError),
        ({"groups": dict.fromkeys("tu", "u")}, "groups must not have the name of a task or a column, but has 'u'"),
    ]),
    (dh.leaderboard(SUITE).pvalue, {"a": "a", "b": "b", "measure": "MRR"}, [
        ({}, "measure must be one of mean over tasks, t, u, but is 'MRR'"),
    ]),
    (dh.index_recall, INDEX, [
        ({"returned": [[0, 0], [1, 2]]}, "returned must be distinct in a row, but query 0 has 0 twice"),
        ({"returned": [[0, 4], [1, 2]]}, "returned must be rows of the gallery, 0 to 3, or … but query 0 has 4"),
        ({"returned": {"a": [[0, -2], [1, 2]]}}, "returned['a'] must be rows of the gallery, … but query 0 has -2"),
        ({"returned": [[0, 1]]}, "returned must have a row for each query, but has 1 for 2 queries"),
        ({"returned": np.zeros((2, 2))}, "returned must be integers or strings…faiss returns scores first", TypeError),
        ({"returned": {}}, "returned must have at least one index, but is empty"),
        ({"returned": {3: [[0, 1]]}}, "returned must have names that are not empty, but has 3", TypeError),
        ({"gallery": np.ones((4, 2))}, "queries and gallery must have the same dim, but have 3 and 2 columns"),
        ({"gallery": np.full((4, 3), NAN)}, "gallery must be finite"),
        ({"queries_per_second": {"b": 1.0}}, "queries_per_second must have the names of indexes, 'index', but has 'b'"),
        ({"queries_per_second": -1.0}, "queries_per_second must be finite and not negative, but is -1.0"),
        ({"gallery_ids": [1, 2, 2, 3]}, "gallery_ids must have an id of its own for each row … rows 1 and 2 have 2"),
        ({"gallery_ids": [1, 2, 3, 4]}, "returned must be among gallery_ids, but query 0 has 0"),
    ]),
    (dh.index_recall_of_truth, TRUTH, [
        ({"distances": [[0.0, 2.0, 1.0]]}, DISORDERED),
        ({"distances": [[0.9, 0.9, 0.8]]}, f'{DISORDERED}; order="descending" is for similarities'),
        ({"distances": [[0.0, 1.0, NAN]]}, DISORDERED),
        ({"distances": [[0.0, 1.0]]}, "distances must have a score for each id, but got 2 scores for 3 ids of query 0"),
        ({"ids": [[0, 1, 1]]}, "ids must be distinct in a row, but query 0 has 1 twice"),
        ({"returned": [[2, 2]]}, "returned must be distinct in a row, but query 0 has 2 twice"),
        ({"returned": [[0], [1]]}, "returned must have a row for each query, but has 2 for 1 queries"),
        ({"k": 4}, "ids must have at least k = 4 items for each query, but query 0 has 3; -1 stands for nothing"),
        ({"tolerance": -1}, "tolerance must be finite and not negative, but is -1"),
    ]),
    (dh.from_ranks, {"optimistic": [1], "pessimistic": [1], "n_candidates": 3}, [
        ({"optimistic": [2]}, "in this order, but query 0 has 2, 1 and 3"),
        ({"optimistic": [0]}, "must be at least 1"),
        ({"optimistic": np.array([2**64 - 1])}, "optimistic must hold integers below"),
        ({"pessimistic": [4]}, "query 0 has 1, 4 and 3"),
        ({"optimistic": [1.5]}, "optimistic must hold integers, but has dtype float64", TypeError),
        ({"pessimistic": [1, 2]}, "one entry per query, but have shapes (1,), (2,) and (1,)"),
    ]),
    (dh.from_candidates, {"scores": [[0.0]], "positive_scores": [1.0]}, [
        ({"scores": [[NAN, 0]]}, "scores must be finite, but holds nan in row 0, column 0; to leave"),
        ({"positive_scores": [math.inf]}, "positive_scores must be finite, but holds inf in row 0"),
        ({"scores": [[0], [0]]}, "but have shapes (1,) and (2, 1)"),
        ({"positive_scores": ["a"]}, "positive_scores must hold real numbers", TypeError),
        ({"positive_scores": [2**60], "scores": [[0.5]]}, "positive_scores must hold integers up to 2^53"),
        ({"positive_columns": [0]}, "positive_scores must be given, or positive_columns in place of them", TypeError),
        ({"positive_scores": None}, "positive_scores must be given, or positive_columns in place of them", TypeError),
    ]),
    (dh.from_candidates, {"scores": [[1.0, 2]], "positive_columns": [0]}, [
        ({"scores": [[1.0, math.inf]]}, "scores must be finite, but holds inf in row 0"),
        ({"scores": [[1.0, math.inf]], "positive_columns": [1]}, "scores must be finite"),
        ({"positive_columns": [2]}, "columns from 0 to 1, but row 0 has 2"),
        ({"positive_columns": [-1]}, "columns from 0 to 1, but row 0 has -1"),
        ({"positive_columns": [0, 1]}, "but have shapes (1, 2) and (2,)"),
        ({"scores": np.zeros((1, 0))}, "scores must have at least one candidate"),
        ({"order": "up"}, "order must be one of"),
    ]),
    (dh.link_prediction, {"task": RANKS}, [
        ({"measures": ["mAP"]}, "but got 'mAP'"),
        ({"measures": None}, "measures must be names of measures, but is None", TypeError),
        ({"measures": "MQ"}, "measures must be of MR, … but got 'MQ'"),
        ({"task": REPORT}, "task must be a Task or a TieProfile, but is of type Report", TypeError),
        ({"measures": ["Hits@0"]}, "but got 'Hits@0'"),
        ({"weights": [-1]}, "weights must be finite, not negative, and not all 0, but one is -1"),
        ({"task": dh.from_scores([[1, 2]], [[1, 1]])}, "one relevant item per query"),
    ]),
    (dh.classification, {"scores": [1.0, 2.0], "labels": [0, 1]}, [
        ({"labels": [1, 1]}, "labels must hold 0 and 1 … and both, but holds [1]"),
        ({"labels": [1, 2]}, "but holds [1, 2]"),
        ({"labels": [b"0", b"1"]}, "labels must be bool, or integers 0 and 1, but has dtype |S1", TypeError),
        ({"labels": ["a", "1"]}, "labels must hold two classes in a known spelling, such as 0 and 1, but holds 2"),
        ({"labels": [0.5, 1.0]}, "labels must hold 0 and 1 … and both, but holds [0.5, 1.0]"),
        ({"labels": [0, 1, 1]}, "labels must have one entry per score, but has shape (3,) for 2"),
        ({"scores": [1.0, NAN]}, "scores must be finite, but holds nan in entry 1"),
        ({"scores": [[1.0, 2.0]]}, "scores must be one-dimensional (n,), but has shape (1, 2)"),
        ({"groups": ["a"]}, "groups must have one entry per row of scores, but got 1 labels for 2 rows"),
        ({"n_positive": 0}, "n_positive must be at least 1, but is 0"),
        ({"n_positive": 2**70}, "n_positive must be at most"),
        ({"measures": None}, "measures must be names of measures, but is None", TypeError),
        ({"groups": ["a", "b"], "n_positive": 3}, "groups must be left out with n_positive"),
        ({"order": "up"}, "order must be one of"),
        *(({"measures": [name]}, "measure must ")
          for name in ("F1", "TPR@FPR=2", "TPR@FPR=x", "TPR@FPR=-1", "TPR@FPR=", "minDCF(2)", "minDCF(0)",
                       "minDCF(0.1, 0)", "minDCF(q=1)", "minDCF(0.1, 1, 1, 1)", "minDCF(0.1, miss=inf)", "pAUC@FPR=0",
                       "accuracy@threshold=x", "rank-0", "FPR@TPR=1.5", "TPIR@FPIR")),
    ]),
    (dh.pair_classification, {"embeddings": [[1.0], [2.0]], "same": [0, 1]}, [
        ({"pairs": [[0, 2], [0, 1]]}, "pairs must hold rows from 0 to 1, but holds 2"),
        ({"pairs": [[0, -1], [0, 1]]}, "pairs must hold rows from 0 to 1, but holds -1"),
        ({"pairs": [0, 1]}, "pairs must have shape (n_pair, 2), but has shape (2,)"),
        ({"pairs": [[0.0, 1.0], [0.0, 1.0]]}, "pairs must hold integers, but has dtype float64", TypeError),
    ]),
    (dh.pair_classification, {"embeddings": VOICES, "pairs": TRIALS}, [
        ({"pairs": [("a/1", "x", 1), ("a/1", "y", 0)]},
         "pairs must hold ids of embeddings, but 2 ('x', 'y') have none"),
        ({"pairs": [(1, 2, 1), (1, 3, 0)]}, "pairs must have ids of the kind of the embeddings'", TypeError),
        ({"pairs": [("a/1", "a/2")]}, "same must be given"),
        ({"same": [1, 0, 0]}, "same must be left out, as the trials have their labels"),
        ({"groups": {"a/1": 1}}, "groups must have a subject for each id, but lacks 3"),
        ({"ids": ["a"]}, "ids must be left out where embeddings are a dictionary"),
        ({"embeddings": {"a/1": [1], "a/2": [1, 2]}}, "embeddings must have a row"),
        ({"embeddings": {**VOICES, "a/1": [[1, 0], [0, 1]]}},
         "templates must be 'max' or 'mean' where an id has several"),
        ({"templates": "min"}, "templates must be one of max, mean"),
        ({"embeddings": [[1, 0]], "same": [1], "pairs": [[0, 0]], "templates": "max"},
         "templates must be left out without ids"),
        ({"embeddings": [[1, 0]], "same": [1], "pairs": [["a", "b"]]},
         "pairs must hold integers, but has dtype <U1: ids= or", TypeError),
    ]),
    (dh.precision_recall, {"task": dh.TieProfile.from_groups([[(0, 0, 2, 1)]], [5])}, [
        ({"query": 1}, "query must be"),
        ({"task": [1]}, "task must be a Task, a TieProfile or a Report, but is of type list", TypeError),
        ({"query": -1}, "query must be"),
        ({"levels": 1}, "levels must be"),
    ]),
    (quantized, {"embeddings": [[1.0, 2.0]], "format": "1 bit"}, [
        ({"format": "float15"}, "format must be one of float64, float32, bfloat16, float16, int8, "),
        ({"threshold": ["0"]}, "threshold must hold real numbers of at most 64 bits, but has dtype <U1", TypeError),
        ({"threshold": [0.0]}, "threshold must be one number or one a dimension, (2,), but has shape (1,)"),
        ({"threshold": "middle"}, "threshold must be numbers, or one of mean, median, but is 'middle'"),
        ({"format": "int8 (float query)"}, "but 'int8 (float query)' is of queries and a gallery"),
        ({"format": 8}, "format must be one of", TypeError),
        ({"threshold": math.inf}, "threshold must be finite, but is not"),
        ({"embeddings": [[1.0, 2.0], [3.0, -65520.0]], "format": "float16"},
         "embeddings must stay finite in float16, but holds -65520.0 in row 1, column 1"),
        ({"embeddings": [[3.4e38]], "format": "bfloat16"}, "must stay finite in bfloat16"),
    ]),
    *((dh.compare_formats, {"task": task}, [(options, message, kind)]) for task, options, message, kind in (
        (SCORES, {"formats": "int8"}, "formats: 'int8' must be left out for scores", ValueError),
        (SCORES, {"dims": 2}, "dims must be left out for scores", ValueError),
        (SCORES.replace(ties="float32"), {}, "ties must be exact, as formats round scores, but is float32", ValueError),
        (RANKS, {}, "formats", TypeError),
    )),
    (of_task(dh.compare_formats), {"embeddings": POINTS, "labels": OF_POINTS, "formats": "float16"}, [
        ({"dims": 13}, "dims must be at most 4, as embeddings have, but hold 13"),
        ({"dims": ()}, "dims must name at least one number of dimensions"),
        ({"dims": (4, 0)}, "dims must be at least 1, but is 0"),
        *(({"dims": dims}, "dims must be integers, such as", TypeError) for dims in ("4,8", 2.5)),
        ({"margin": -0.1}, "margin must be finite and not negative"),
        ({"margin": 1.5}, "margin must be a fraction"),
        ({"formats": []}, "formats must name at least one format, but got none"),
        ({"formats": ["int4"]}, "formats must be one of"),
        ({"embeddings": POINTS > 0, "distance": "hamming"},
         "distance must be one of cosine, euclidean, inner_product, cityblock"),
        ({"gallery": POINTS[:, :2], "gallery_labels": OF_POINTS}, "must have the same dim"),
        ({"base": "int4"}, "base must be one of"),
        ({"confidence_level": 2}, "confidence_level"),
        ({"formats": 8}, "formats must be names", TypeError),
        ({"formats": "binary float query", "distance": "l2"},
         "formats: '1 bit (float query)' must be left out unless distance is cosine or inner_product"),
        ({"embeddings": [[1.0]], "labels": [1], "gallery": [[7e4]], "gallery_labels": [1], "formats": "float16"},
         "gallery must stay finite in float16, but holds 70000.0 in row 0"),
        ({"embeddings": 1e5 * POINTS, "formats": "float16"}, "must stay finite in float16"),
    ]),
    (dc.error_reject_curve, {"values": [1, 0], "confidence": [1, 1]}, [
        ({"confidence": [1]}, "one entry per query, but got 1 confidences for 2 queries"),
        ({"values": [1, 2]}, "values must lie in [0, 1], NaN … but query 1 has 2"),
        ({"values": [[1], [0]]}, "values must be one-dimensional, but has shape (2, 1)"),
        ({"values": ["a", "b"]}, "values must hold real numbers of at most 64 bits", TypeError),
        ({"values": [[1], [0, 1]]}, "its entries differ in length"),
        ({"confidence": [1, NAN]}, "confidence must be finite, but entry 1 is nan"),
        ({"confidence": [math.inf, 1]}, "confidence must be finite, but entry 0 is inf"),
        ({"values": np.ma.masked_array([1, 0], [True, False])}, "NaN leaves a query out", TypeError),
        ({"values": Triple(np.ones(2), np.ones(2), np.zeros(2))}, "lower <= expected <= upper, but query 0"),
        ({"values": Triple(np.ones(2), np.ones(2), np.ones(1))}, "one length, but have [2, 2, 1]"),
        ({"values": REPORT}, "values must be those of one measure, such as report['Hit@1']", TypeError),
    ]),
    *((function, {"correct": [1, 0], "confidence": [1, 1]}, [
        ({"correct": [1, 0.5]}, "correct must be 0 or 1 for each query, as Hit@1 is, but holds 0.5"),
    ]) for function in (dc.confidence_accuracy, dc.calibration)),
    (dc.calibration, {"correct": [1, 0, 1], "confidence": [0.1, 0.9, 1]}, [
        ({"confidence": [0.5, 1.5, -1]}, "confidence must lie in [0, 1], but entry 1 is 1.5; error_reject_curve, …"
                                         " take any scale"),
        ({"bins": 0}, "bins must be at least 1, but is 0"),
        *(({"bins": bins}, "bins must be at most 10000, but is ") for bins in (10**9, 10**30, LONG, 10_001)),
    ]),
    (dc.confidence_report, {"report": REPORT["mAP"], "confidence": [1]}, [
        ({}, "report must be a Report, as evaluate returns, but is Result", TypeError),
    ]),
    (dc.rank_correlation, {"confidence": [1, 2], "target": [1]}, [
        ({}, "confidence and target must have the same number of entries, but have 2 and 1"),
    ]),
    (dc.highest_density_interval, {"values": [1.0, 2.0]}, [
        ({"values": []}, "values must hold at least one sample"),
        ({"values": [1.0, NAN]}, "values must be finite, but entry 1 is nan"),
        ({"values": np.array([2**53 + 1, 1])}, "values must hold integers up to 2^53 in size"),
        ({"probability": 1.0}, "probability must lie above 0 and below 1, but is 1.0"),
        *(({"probability": chance}, "probability must ") for chance in (HUGE, -HUGE, 0, 1, NAN)),
        *(({"probability": chance}, "probability must ", TypeError) for chance in (True, "0.5")),
        ({"density": [1, 1, 1]}, "one entry per place, but got 3 for 2"),
        ({"values": [1, 1], "density": [1, 1]}, "at least two ascending places"),
        ({"density": [0, 0]}, "more somewhere, but lies in [0.0, 0.0]"),
        ({"density": [-1, 1]}, "density must be 0 or more"),
        ({"density": [0, 1], "multimodal": True},
         "multimodal must be left out where a density is given, which shows its modes"),
    ]),
    (dc.credible_recall, {"items": [[1.0, 2.0]], "samples": [[1.0]], "relevant": [[1, 0]]}, [
        ({"samples": [[1.0], [1.0]]}, "samples must have one row per row of items, 1, but has 2"),
        ({"items": [[1.0, NAN]]}, "items must be finite"),
        ({"relevant": [[1]]}, "relevant must have the shape of scores, (1, 2)"),
        ({"masses": [0.5, 1.0]}, "masses must lie above 0 and below 1, but one is 1.0"),
        ({"masses": []}, "masses must lie above 0 and below 1, but there are none"),
        ({"items": [[2**60 + 1, 1]]}, "items must hold integers up to 2^53"),
    ]),
    (dc.normal_credible_recall, {"embeddings": [[1.0], [2.0]], "sigma": [1.0, 1.0], "labels": [1, 1]}, [
        ({"sigma": [1.0]}, "sigma must have shape (2,) or (2, 1), but has shape"),
        ({"sigma": [1.0, 0.0]}, "sigma must be above 0, but is 0.0 for query 1"),
        ({"gallery": [[1.0]]}, "gallery and gallery_labels must be given together"),
        ({"gallery": [[1.0, 2.0]], "gallery_labels": [1]}, "embeddings and gallery must"),
        ({"masses": -0.5}, "masses must lie above 0 and below 1, but one is -0.5"),
    ]),
    (of_task(dc.label_entropy), {"embeddings": [[0], [1]], "labels": ["a", "b"], "k": 1, "distance": "euclidean"}, [
        ({"k": 2}, "k must be at most the number of other embeddings, 1, but is 2"),
        ({"labels": ["a"]}, "labels must have one entry per row of embeddings"),
        ({"gallery": [[2]], "gallery_labels": ["a"]}, "task must have no gallery for label entropies"),
        ({"junk": [True, False]}, "task must have no junk for label entropies"),
    ]),
    (dc.distribution_entropy, {}, [
        ({"counts": [[1, -2]]}, "counts must not be negative, but holds -2.0 in row 0, col"),
        ({"counts": [[1, NAN]]}, "counts must be finite, but holds nan in row 0"),
        ({"counts": [[]]}, "counts must have at least one row and one column"),
        ({"counts": [["a"]]}, "counts must … but has dtype <U1", TypeError),
    ]),
    (dc.annotation_entropy, {}, [
        ({"annotations": ["a"]}, "annotations must be a matrix, … but has shape (1,)"),
        ({"annotations": [[1.5]]}, "annotations must be integers or strings", TypeError),
        ({"annotations": [["a", None]]}, "annotations must have no missing values"),
        ({"annotations": np.zeros((0, 2), int)}, "must hold a label, but has none in 0 entries"),
    ]),
]  # fmt: skip


def cases() -> Iterator[Any]:
    for function, given, changes in REFUSED:
        for number, (change, message, *kind) in enumerate(changes):
            name = getattr(function, "__name__", "evaluate")  # a partial has none
            yield pytest.param(function, given | change, message, *(kind or [ValueError]), id=f"{name}-{number}")


@pytest.mark.parametrize(("function", "given", "message", "kind"), [*cases()])
def test_it_is_refused_in_one_line(function: Any, given: dict[str, Any], message: str, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        function(**given)
    said = str(caught.value)
    assert isinstance(caught.value, (InputError, UndefinedError))
    assert "\n" not in said
    assert len(said) < 300
    first, *others = message.split("…")
    at = said.index(first) + len(first)
    for part in others:
        at = said.index(part, at) + len(part)


def test_a_depth_beyond_memory_can_be_counted() -> None:
    many = dh.Task(np.ones((50, 2)), np.zeros(50, dtype=int))
    for depth in (10**9, 10**30, LONG):
        counted = dh.collisions(many, depth=depth, distances=["euclidean"])  # which has no matrices
        assert counted["euclidean"] == dh.collisions(many, distances=["euclidean"])["euclidean"]


def test_queries_that_are_in_the_gallery_are_warned_of() -> None:
    """Once, by the task, and by no question, nor under other settings that do not change what is ranked."""
    rows, labels = np.random.default_rng(0).normal(size=(8, 6)), OF_POINTS[:8]
    with pytest.warns(QueryInGalleryWarning, match=r"8 of 8 queries .* give exclude=") as caught:
        task = dh.Task(rows, labels, rows, labels)
    assert len(caught) == 1
    with warnings.catch_warnings(action="error"):
        dh.exploit(task, draws=1)
        dh.grouped(task, group_size=2)
        dh.split_half(task, group_size=2)
        dh.generalization_gap(task, task, group_size=2)
        dh.collisions(task, distances=["cosine", "euclidean"])
        dh.compare_formats(task, formats="int8", n_resamples=9)
        dh.evaluate(task.replace(distance="euclidean", ties="float16"))
    with pytest.warns(QueryInGalleryWarning, match="8 of 8 queries"):
        task.replace(junk=np.arange(8) < 0)
