"""Model cards of the Hugging Face Hub: a report as `model-index` metadata, or as an entry of `.eval_results`.

    Report (, Receipt) ──model_index──> EvalResult, ...  ──ModelCardData──> the head of README.md
                       ──eval_result──> EvalResultEntry  ──eval_result_entries_to_yaml──> .eval_results/*.yaml

The classes are those of huggingface_hub, which writes and uploads them. Values are fractions.
"""

from __future__ import annotations

import math
from typing import Any

from huggingface_hub import EvalResult, EvalResultEntry

from deadheat.errors import InvalidValueError, UndefinedError
from deadheat.reports.answer import KINDS
from deadheat.reports.report import Report, scalar_name
from deadheat.reports.tables import program
from deadheat.support import checks
from deadheat.support.triple import Triple

_TITLES = {"lower": "lower bound", "expected": "expected", "upper": "upper bound"}


def model_index(report: Report, *, receipt: Any = None, **about: Any) -> list[EvalResult]:
    """Return the values of a report for `ModelCardData`, which writes them as ``model-index``.

    Parameters
    ----------
    report : Report
        Its measures, with the names of `Report.scalars`; a value that is NaN is left out.
    receipt : Receipt, optional
        The receipt of this report, whose digest is written to the card; one that was changed or is of another profile
        raises `InvalidValueError`.
    **about
        The fields of `huggingface_hub.EvalResult` on the task and the dataset; ``task_type``, ``dataset_type`` and
        ``dataset_name`` are required.

    Returns
    -------
    list of huggingface_hub.EvalResult
        ``metric_args`` has the interval of a value, its level, method and units, the digest, and deadheat's version.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate(dh.Task([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean"), "Hit@1")
    >>> results = model_index(report, task_type="feature-extraction", dataset_type="toy", dataset_name="Toy")
    >>> [(each.metric_type, each.metric_value) for each in results]
    [('Hit_at_1_lower', 0.5), ('Hit_at_1_expected', 0.75), ('Hit_at_1_upper', 1.0)]
    """
    digest, results = _digest(receipt, report), []
    for name, result in report.items():
        intervals = result.interval()
        settings = {key: getattr(intervals, key) for key in ("confidence_level", "method", "n", "unit")}
        for end, title in _TITLES.items():
            value, ends = float(getattr(result, end)), list(map(float, getattr(intervals, end)))
            if not math.isnan(value):
                drawn = {} if math.isnan(ends[0]) else {"interval": ends, **settings}
                names: dict[str, Any] = {"metric_type": f"{scalar_name(name)}_{end}", "metric_name": f"{name}, {title}"}
                args = {**drawn, **digest, "deadheat": program()}
                results.append(EvalResult(metric_value=value, metric_args=args, **names, **about))
    return results


def eval_result(
    report: Report, measure: str, *, value: str = "lower", receipt: Any = None, **about: Any
) -> EvalResultEntry:
    """Return one value of a report for a file in ``.eval_results/``, with bounds, interval and digest in its notes.

    Parameters
    ----------
    report, receipt
        As in `model_index`.
    measure : str
        The measure of the benchmark.
    value : {"lower", "expected", "upper"}
        The value that counts; by default the one that is guaranteed however ties fall. NaN raises `UndefinedError`.
    **about
        The other fields of `huggingface_hub.EvalResultEntry`; ``dataset_id`` and ``task_id`` are required.

    Examples
    --------
    >>> import deadheat as dh
    >>> report = dh.evaluate(dh.Task([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean"), "mAP")
    >>> entry = eval_result(report, "mAP", dataset_id="me/toy", task_id="default")
    >>> entry.value, entry.notes.split("; ")[0]
    (0.75, 'mAP 87.50 [75.00, 100.00] %, lower bound')
    """
    result, digest = report[measure], _digest(receipt, report)
    number = float(getattr(result, checks.choice(value, Triple._fields, "value")))
    if math.isnan(number):
        raise UndefinedError(f"{result.name} has no {value} value to publish")
    intervals, kind = result.interval(), KINDS[result.measure.unit]
    parts = [
        f"{result.summary()}, {_TITLES[value]}",
        f"{intervals.about('interval')[0].rstrip('.')}: {intervals.outer.shown(kind.scale)} {kind.unit_shown}",
        *(note.rstrip(".") for note in intervals.notes),
        f"deadheat {program()}",
        *(f"receipt sha256:{text}" for text in digest.values()),
    ]
    return EvalResultEntry(value=number, notes="; ".join(parts), **about)


def _digest(receipt: Any, report: Report) -> dict[str, str]:
    """Return the digest of a receipt of this report by its key; nothing without a receipt."""
    if receipt is None:
        return {}
    content = checks.mapping(getattr(receipt, "content", None), "receipt", "a receipt, as deadheat.receipt returns it")
    if not receipt.is_whole or content.get("profile") != report.profile.digest():
        raise InvalidValueError("receipt", "must be that of the report, but was changed or is of another profile")
    return {"receipt": str(content["receipt"])}
