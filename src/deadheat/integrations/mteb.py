"""MTEB: its saved predictions, which end at the best 1000, and its cached embeddings, which are complete.

    {task}_predictions.json ──read_predictions──> {query: {document: score}} ──evaluate_predictions──> Report
    folder of them, tasks ──evaluate_folder──> TaskReports ──save──> {task}.json, results as MTEB writes them
    cache/{task}/query, …/document ──read_embeddings──> rows ──deadheat.from_judged──> TieProfile

MTEB need not be installed, but to write its results: the others are plain files.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.engine.sources.neighbors import from_neighbors
from deadheat.engine.sources.run import from_run
from deadheat.errors import FileError, InvalidTypeError, InvalidValueError, MissingPackageError, reason
from deadheat.inputs import trec
from deadheat.inputs.disk import File, Place
from deadheat.inputs.predictions import read_all_predictions, read_predictions
from deadheat.measures.names import parse
from deadheat.reports.answer import Answer, Caution, Column, Panel, stacked
from deadheat.reports.evaluating import evaluate
from deadheat.reports.report import Report, scalar_name
from deadheat.reports.tables import count
from deadheat.support import checks
from deadheat.support.triple import ByName

DEFAULT_MEASURES = ("nDCG@10", "mAP@10", "Recall@10", "P@10", "MRR@10", "Hit@10")  # those of MTEB, at its main cutoff
_ENDING = "_predictions.json"
_NAMES = {"nDCG": "ndcg", "mAP": "map", "Recall": "recall", "P": "precision", "MRR": "mrr", "Hit": "hit_rate"}


def evaluate_predictions(
    predictions: str | os.PathLike[str] | Mapping[str, Mapping[str, float]],
    qrels: Any,
    *,
    n_documents: int | None,
    subset: str | None = None,
    split: str | None = None,
    ignore_identical_ids: bool = False,
    measures: str | Iterable[str] | None = DEFAULT_MEASURES,
) -> Report:
    """Evaluate MTEB's predictions: lower bound, expectation and upper bound, also for documents that were not saved.

    Parameters
    ----------
    predictions : path or dict
        A file as in `read_predictions`, or the result of that.
    qrels : path or dict
        As in `deadheat.from_run`: ``{query_id: {doc_id: grade}}``, a task's ``relevant_docs``.
    n_documents : int or None
        The number of documents in the corpus. None for reranking, where the predictions hold everything that is ranked.
    subset, split
        As in `read_predictions`.
    ignore_identical_ids : bool
        Whether to exclude the document with the id of the query: the task's attribute of the same name.
    measures : str or iterable of str
        As in `deadheat.evaluate`; MTEB's names, such as ``ndcg_at_10``, are understood.

    Returns
    -------
    Report
        The mean is over the queries that are in both, as MTEB averages them, and have a relevant document. Unless all
        documents were returned, its `profile` has `n_ordered`: see `deadheat.from_neighbors`.

    Notes
    -----
    Ties: documents with equal scores tie; MTEB ranks them by their id, descending. Of the documents that tie with the
    last one, its sort decided which are among the best 1000, so that a relevant document that was not saved may have
    any rank from that tie on. Lower and upper hold for all of these ranks.

    Examples
    --------
    Documents a and b tie, and b is relevant; five more documents were not saved:

    >>> saved = {"q": {"a": 0.5, "b": 0.5, "c": 0.25}}
    >>> evaluate_predictions(saved, {"q": {"b": 1}}, n_documents=8, measures="ndcg_at_10, hit_rate_at_1").summary()
    'nDCG@10 81.55 [63.09, 100.00] %, Hit@1 50.00 [0.00, 100.00] %'
    """
    if isinstance(predictions, (str, os.PathLike)):
        predictions = read_predictions(predictions, subset=subset, split=split)
    scores, judged = trec.open_run(predictions), trec.open_qrels(qrels)
    queries = [query for query in judged if query in scores]
    if not queries:
        counts = f"{len(scores)} and {len(judged)} queries"
        raise InvalidValueError("predictions and qrels", f"must have a query in common, but have none among {counts}")
    if n_documents is None:
        ranked = {query: dict(scores[query]) for query in queries}
        for query in queries if ignore_identical_ids else ():
            ranked[query].pop(query, None)
        return evaluate(from_run(ranked, {query: judged[query] for query in queries}).profile, measures)
    rows = {query: sorted(scores[query].items(), key=lambda pair: -pair[1]) for query in queries}
    own = [query if ignore_identical_ids and query in scores[query] else None for query in queries]
    counted = from_neighbors(
        [[document for document, _ in rows[query]] for query in queries],
        [[score for _, score in rows[query]] for query in queries],
        relevant=[judged[query] for query in queries],
        n_gallery=checks.positive_integer(n_documents, "n_documents"),
        exclude=own,
        query_ids=tuple(queries),
    )
    return evaluate(counted.profile, measures)


@dataclass(frozen=True, eq=False)
class TaskReports(Answer, ByName[Report]):
    """The reports on a folder of MTEB's predictions; printed, a row for each task with bounds and interval.

    ``reports["Food"]`` is the `Report` on a task, ``reports["Food (de, test)"]`` that on a subset and split of several.
    All forms take ``interval=``, as those of a report do; here True is the default.
    """

    reports: Mapping[str, Report] = field(repr=False)
    _parts: Mapping[str, tuple[Any, str, str]] = field(repr=False)  # the task, the subset and the split
    _saved: Mapping[str, Mapping[str, Any]] = field(repr=False)  # the scores of MTEB

    def __getitem__(self, name: str) -> Report:
        return checks.part(self.reports, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.reports)

    def panels(self, *, interval: bool | Mapping[str, Any] = True) -> list[Panel]:
        """Return one table: a row for each task and measure, in per cent, with MTEB's own scores if they are known."""
        panels = [replace(report.panels(interval=interval)[0], part=("task", name)) for name, report in self.items()]
        few = [
            name for panel, name in zip(panels, self, strict=True) if any(isinstance(n, Caution) for n in panel.notes)
        ]
        columns = list(stacked(panels).columns)
        if self._saved:
            rows = zip(columns[0].values, columns[1].values, strict=True)
            scores = [self._saved.get(task, {}).get(mteb_name(measure), np.nan) for task, measure in rows]
            columns.append(Column("MTEB", scores, "fraction"))
        about = (
            "Intervals: over the queries of a task, from the low end for the lower bound to the high end for the upper."
        )
        trusted = Caution(f"{', '.join(few)}: too few queries for the interval to be trusted.")
        notes = [*([about] if interval else []), *([trusted] if few else [])]
        return [Panel(columns, unit="each", by_name=False, notes=notes)]

    def notes(self) -> list[str]:
        """Return the number of tasks and queries, and the tasks without an expected value."""
        n_query = count(sum(report.n_query for report in self.values()), "query", "queries")
        cut = [name for name, report in self.items() if any(np.isnan(result.expected) for result in report.values())]
        left = f"{', '.join(cut)}: relevant documents that were not saved leave bounds and no expected value."
        n_task = count(len({task.metadata.name for task, _, _ in self._parts.values()}), "task", "tasks")
        return [f"{n_task}, {n_query}.", *([left] if cut else [])]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``{task}.json`` for each task with MTEB's own `TaskResult`, so that MTEB loads it.

        Each score has its expected value, or its lower bound if it has none, under MTEB's name, and next to it
        ``{name}_lower``, ``{name}_upper``, and the ends of a 95 % interval, ``{name}_low`` and ``{name}_high``. MTEB
        rounds to six decimals. In its cache the folder is ``results/{model}/{revision}``. Without MTEB it raises
        `MissingPackageError`.
        """
        try:
            result_class = import_module("mteb.results").TaskResult
        except ModuleNotFoundError:
            raise MissingPackageError("writing MTEB's results needs mteb: pip install mteb", name="mteb") from None
        folder, scores = Path(checks.path(folder, "folder")), dict[Any, dict[str, dict[str, Any]]]()
        for name, (task, subset, split) in self._parts.items():
            scores.setdefault(task, {}).setdefault(split, {})[subset] = self._scores(name)
        folder.mkdir(parents=True, exist_ok=True)
        for task, splits in scores.items():
            result = result_class.from_task_results(task, splits, evaluation_time=None)
            result.to_disk(folder / f"{task.metadata.name}.json")

    def _scores(self, name: str) -> dict[str, float]:
        """Return the scores of a task under MTEB's names."""
        report, main, scores = self[name], parse(self._parts[name][0].metadata.main_score).name, dict[str, float]()
        for measure in dict.fromkeys([main, *report]):
            result, key = report[measure], mteb_name(measure)
            scores[key] = result.lower if np.isnan(result.expected) else result.expected
            ends = {"lower": result.lower, "upper": result.upper, **result.interval().outer._asdict()}
            scores |= {f"{key}_{end}": number for end, number in ends.items()}
        scores["main_score"] = scores[mteb_name(main)]
        return {key: float(number) for key, number in scores.items() if not np.isnan(number)}


def mteb_name(measure: str) -> str:
    """Return MTEB's name of a measure, such as ``ndcg_at_10``; for one that it lacks, that of `Report.scalars`."""
    base, at, cutoff = measure.partition("@")
    return f"{_NAMES[base]}_at_{cutoff}" if at and base in _NAMES else scalar_name(measure)


def evaluate_folder(
    folder: str | os.PathLike[str],
    tasks: Iterable[Any],
    *,
    measures: str | Iterable[str] | None = None,
    results: str | os.PathLike[str] | None = None,
) -> TaskReports:
    """Evaluate a folder of MTEB's predictions, ``mteb.evaluate(..., prediction_folder=folder)``.

    Parameters
    ----------
    folder : path
        With ``{task}_predictions.json`` for each task, of any number of subsets and splits.
    tasks : iterable of MTEB's tasks
        Retrieval and reranking, ``mteb.get_tasks(...)``; data that are not loaded yet are loaded. Tasks without a file
        are left out.
    measures : str or iterable of str, optional
        As in `deadheat.evaluate`; by default the main score of each task.
    results : path, optional
        A folder with MTEB's results, ``{task}.json``, whose scores are shown next to the bounds.

    Returns
    -------
    TaskReports
        **Ties:** as in `evaluate_predictions`.

    Raises
    ------
    InvalidValueError
        If a file has no task, there is no file, or a task drops the first result of each query (``skip_first_result``),
        which depends on ties.
    """
    folder, by_file = Path(checks.path(folder, "folder")), {f"{task.metadata.name}{_ENDING}": task for task in tasks}
    files = sorted(path for path in folder.iterdir() if path.name.endswith(_ENDING))
    alone = [path.name for path in files if path.name not in by_file]
    if alone or not files:
        fault = f"{alone[0]} has none" if alone else f"{folder} has no *{_ENDING}"
        raise InvalidValueError("tasks", f"must have the task of each file of predictions, but {fault}")
    reports, parts, saved = {}, {}, {}
    for path in files:
        task, predictions = by_file[path.name], read_all_predictions(path)
        title, asked = task.metadata.name, task.metadata.main_score if measures is None else measures
        if task.skip_first_result:
            fault = f"{title} does; remove the query's own document from the predictions"
            raise InvalidValueError("tasks", f"must not drop the first result of each query, but {fault}")
        if not task.data_loaded:
            task.load_data()
        task.convert_v1_dataset_format_to_v2(num_proc=None)
        scores = {} if results is None else _saved_scores(Path(results) / f"{title}.json")
        for (subset, split), ranked in predictions.items():
            name = title if len(predictions) == 1 else f"{title} ({subset}, {split})"
            data = task.dataset[subset][split]
            reports[name] = evaluate_predictions(
                ranked, data["relevant_docs"], measures=asked, ignore_identical_ids=task.ignore_identical_ids,
                n_documents=None if data["top_ranked"] else len(data["corpus"]),
            )  # fmt: skip
            parts[name], saved[name] = (task, subset, split), scores.get((subset, split), {})
    return TaskReports(reports, parts, saved if results is not None else {})


def _saved_scores(path: Path) -> dict[tuple[str, str], Any]:
    """Return the scores in a file of MTEB's results by subset and split."""
    try:
        splits = json.loads(path.read_bytes())["scores"]
        return {(scores["hf_subset"], split): scores for split, listed in splits.items() for scores in listed}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise FileError(path, f" must hold a result as MTEB writes it: {reason(error)}") from None


def read_embeddings(folder: str | os.PathLike[str], texts: Sequence[str]) -> NDArray[np.float32]:
    """Read the embeddings of texts from a cache of MTEB's, ``CachedEmbeddingWrapper(model, cache)``.

    Parameters
    ----------
    folder : path
        ``cache/{task}/query`` or ``cache/{task}/document``.
    texts : sequence of str
        The encoded texts: of a document its title, a space and its text, stripped; of a query its text, a space and its
        instruction, if any.

    Returns
    -------
    (n_text, dim) float32 array

    Raises
    ------
    OSError
        If a file of the cache cannot be read.
    FileError
        If a file is not as MTEB writes it.
    InvalidValueError, InvalidTypeError
        If a text is not in the cache, or not a string.
    """
    texts, folder = list(texts), Path(checks.path(folder, "folder"))
    odd = next((text for text in texts if not isinstance(text, str)), None)
    if odd is not None:
        raise InvalidTypeError("texts", f"must be strings, but one is {odd!r:.50}")
    dim, index = _number(folder / "dimension"), _index(folder / "index.json")
    vectors = folder / "vectors.npy"  # despite its name, raw numbers without the header of NumPy
    if vectors.stat().st_size % (4 * dim):
        raise FileError(vectors, f" must hold rows of {dim} float32, but has {vectors.stat().st_size} bytes")
    rows = [index.get(hashlib.sha256(text.encode()).hexdigest(), -1) for text in texts]
    if -1 in rows:
        missing = f"{rows.count(-1)} of {len(rows)} are not; the first is {texts[rows.index(-1)]!r:.50}"
        raise InvalidValueError("texts", f"must all be in {folder}, but {missing}")
    n = vectors.stat().st_size // (4 * dim)
    if rows and max(rows) >= n:
        raise FileError(vectors, f" must hold row {max(rows)}, but ends after {n}")
    return File(Place(str(vectors), "<f4", 0, (n, dim)), "texts").take(np.array(rows, dtype=np.int64))


def _number(path: Path) -> int:
    text = path.read_text(encoding="utf-8").strip()
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise FileError(path, f" must hold the dim, a positive integer, but holds {text!r:.50}")
    return int(text)


def _index(path: Path) -> dict[str, int]:
    try:
        index = json.loads(path.read_bytes())
    except ValueError as error:
        raise FileError(path, f" is not JSON: {reason(error)}") from None
    if not isinstance(index, dict) or not all(type(row) is int and row >= 0 for row in index.values()):
        raise FileError(path, " must hold a dictionary of row numbers")
    return index
