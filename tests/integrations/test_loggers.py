"""Scalars for loggers: MLflow takes the name of every measure, and no two measures share one."""

from __future__ import annotations

import pytest
from integrations.needs import needs

import deadheat as dh
from deadheat.measures.names import FAMILIES, parse
from deadheat.reports.report import scalar_name

_CUTOFFS = {"must": ("@1", "@10"), "may": ("", "@10"), "recall": ("@0.5", "@0.05"), "fpr": ("@0.01",)}
_PARAMETERS = ["nDCG(dcg='exp-log2')@10", "mAP(over='hits',rel=2)@10", "AP(rel=0.5)", "AP(rel=2)"]


def every_name() -> list[str]:
    names = [row.name + end for row in FAMILIES for end in _CUTOFFS.get(row.cutoff, ("",))]
    return [parse(name).name for name in [*names, *_PARAMETERS]]


def test_no_two_measures_share_a_name() -> None:
    names = every_name()
    assert len(names) > 20
    assert len(set(map(scalar_name, names))) == len(set(names))
    assert scalar_name("mAP(over='hits',rel=2)@10") == "mAP_over_hits_rel_2_at_10"


@needs("mlflow")
@pytest.mark.filterwarnings("ignore")
def test_mlflow_takes_every_name() -> None:
    from mlflow.exceptions import MlflowException
    from mlflow.utils.validation import _validate_metric_name

    for name in every_name():
        for end in ("lower", "expected", "upper"):
            _validate_metric_name(f"val/{scalar_name(name)}_{end}")
    with pytest.raises(MlflowException):
        _validate_metric_name("val/Hit@1")


def test_undefined_values_are_left_out() -> None:
    task = dh.Task([[0], [1], [-1]], ["a", "a", "b"], distance="euclidean")
    bounds = dh.evaluate(task.replace(ties=dh.Tolerance(0.5)), "mAP")
    assert list(bounds.scalars()) == ["mAP_lower", "mAP_upper"]
    alone = dh.evaluate(task, "mAP", singletons="zero")
    assert alone.scalars("x ") == {f"x mAP_{end}": getattr(alone["mAP"], end) for end in ("lower", "expected", "upper")}
    with pytest.raises(TypeError, match="prefix must be a string"):
        alone.scalars(1)  # type: ignore[arg-type]
