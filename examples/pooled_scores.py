"""Scores full of ties, measured by five libraries in two orders of the file: `python examples/pooled_scores.py`.

300 positives and 700 negatives with scores of one decimal. The order of a file is no property of a model; what changes
with it is luck. Needs scikit-learn; torchmetrics, sentence-transformers and MTEB are compared where they are installed.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

import deadheat as dh


def data() -> tuple[Any, Any]:
    """Scores and labels, the positives first."""
    rng = np.random.default_rng(24)
    labels = np.repeat([1, 0], [300, 700])
    return np.clip(rng.normal(0.25 + 0.3 * labels, 0.2), 0, 1).round(1), labels


def by_sorting(scores: Any, labels: Any) -> dict[str, float]:
    """Return what ten lines with a stable sort give, which may cut inside a tie."""
    hits = np.cumsum(labels[np.argsort(-scores, kind="stable")])
    rank = np.arange(1, len(labels) + 1)
    precision, n = hits / rank, hits[-1]
    return {
        "AP": float(np.diff(hits, prepend=0) @ precision / n),
        "best F1": float((2 * hits / (rank + n)).max()),
        "best accuracy": float(((2 * hits - rank + len(labels) - n) / len(labels)).max()),
    }


def values(scores: Any, labels: Any) -> dict[str, dict[str, float]]:
    """The values of each library by measure."""
    result = {
        "scikit-learn": {"AP": average_precision_score(labels, scores), "AUC": roc_auc_score(labels, scores)},
        "a stable sort": by_sorting(scores, labels),
    }
    if find_spec("torchmetrics"):
        import torch  # noqa: PLC0415
        from torchmetrics.functional.classification import binary_auroc, binary_average_precision  # noqa: PLC0415

        tensors = torch.tensor(scores), torch.tensor(labels)
        result["torchmetrics"] = {
            "AP": float(binary_average_precision(*tensors)),
            "AUC": float(binary_auroc(*tensors)),
        }
    if find_spec("sentence_transformers"):
        from sentence_transformers.sentence_transformer.evaluation import (  # noqa: PLC0415
            BinaryClassificationEvaluator as Theirs,
        )

        result["sentence-transformers"] = {
            "AP": average_precision_score(labels, scores),
            "best F1": float(Theirs.find_best_f1_and_threshold(scores, labels, True)[0]),
            "best accuracy": float(Theirs.find_best_acc_and_threshold(scores, labels, True)[0]),
        }
    if find_spec("mteb"):
        from mteb.abstasks.pair_classification import AbsTaskPairClassification as Task  # noqa: PLC0415

        task = Task.__new__(Task)
        metrics = task._compute_metrics_values(scores, labels, True)
        result["MTEB"] = {"AP": metrics["ap"], "best F1": metrics["f1"], "best accuracy": metrics["accuracy"]}
    return result


def table() -> str:
    """The comparison in Markdown, in per cent."""
    scores, labels = data()
    ours = dh.classification(scores, labels)
    names = ("AP", "AUC", "best F1", "best accuracy")
    lines = [f"| | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for end in ("lower", "expected", "upper"):
        cells = [f"{100 * getattr(ours[name], end):.2f}".replace("nan", "-") for name in names]
        lines.append(f"| deadheat, {end} | {' | '.join(cells)} |")
    first, last = values(scores, labels), values(scores[::-1].copy(), labels[::-1].copy())
    for library, row in first.items():
        cells = []
        for name in names:
            pair = [f"{100 * each[name]:.2f}" for each in (row, last[library]) if name in each]
            cells.append(" or ".join(dict.fromkeys(pair)) or "-")
        lines.append(f"| {library} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    print(dh.classification(*data()))
    print("\nWith the positives first in the file, or the negatives:\n")
    print(table())


if __name__ == "__main__":
    main()
