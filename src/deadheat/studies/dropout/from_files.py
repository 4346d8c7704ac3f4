"""The table of dropouts for the paper's data sets, where they are given as files of embeddings.

In comes a setting; out comes a part of the study.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from deadheat.errors import FileError, InvalidValueError
from deadheat.inputs import read
from deadheat.studies.data import IMAGE_SETS
from deadheat.studies.dropout.compared import CLAIM, MEASURE, NOT_AT_HAND, Case, Sample, both_gaps, compare, table_of
from deadheat.studies.dropout.pictures import cases_figure
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, missing

_FILE = re.compile(r"(?P<stem>[a-z0-9]+)(-dropout(?P<dropout>[0-9.]+))?-(?P<part>train|test)\.(npz|csv|tsv|parquet)")


def run(setting: Setting) -> Outcome:
    """The table of each of the paper's data sets that is there as files, and what is missing of it."""
    findings, cases = [], []
    for name, stem in IMAGE_SETS.items():
        case, of_case = _by_files(setting, name, stem)
        findings += of_case
        cases += [case] if case.rows else []
    pictures = [Picture(case.name, f"{case.caption} Hit@1 and its gap.", cases_figure([case])) for case in cases]
    return Outcome(findings, pictures, [table_of(case) for case in cases])


def _by_files(setting: Setting, name: str, stem: str) -> tuple[Case, list[Finding]]:
    """One data set: every pair of files of the same dropout, compared."""
    case = Case(f"{stem}-dropout", f"{name}, from files.", [])
    findings = []
    pairs = dict(_pairs(setting.data, stem)) or {None: {}}
    for dropout in sorted(pairs, key=lambda value: -1.0 if value is None else value):
        about = f"{name}{'' if dropout is None else f', dropout {dropout:g}'}: gap of {MEASURE}"
        lacking = [part for part in ("train", "test") if part not in pairs[dropout]]
        if lacking:
            wanted = " and ".join(f"{stem}{_variant(dropout)}-{part}.npz" for part in lacking)
            findings.append(missing(about, wanted, published=NOT_AT_HAND, source=CLAIM))
            continue
        setting.say(f"  {about}")
        train, test = (Sample(*read(pairs[dropout][part])) for part in ("train", "test"))
        try:
            row = compare(train, test, dropout=dropout, threads=setting.threads)
        except ValueError as error:
            raise FileError(pairs[dropout]["train"], f" and {pairs[dropout]['test']}: {error}") from None
        case.rows.append(row)
        why = "the embeddings given, not the paper's"
        findings.append(Finding(about, both_gaps(row), Mark.STAND_IN, NOT_AT_HAND, CLAIM, why))
    return case, findings


def _pairs(folder: Path | None, stem: str) -> Iterator[tuple[float | None, dict[str, Path]]]:
    """For each dropout that a data set has files of (None where the name tells none), the files by train and test.

    Where there are several of one kind, ``.npz`` goes first.
    """
    pairs: dict[float | None, dict[str, Path]] = {}
    for path in sorted(folder.iterdir(), key=lambda path: (path.suffix != ".npz", path.name)) if folder else ():
        told = _FILE.fullmatch(path.name)
        if told and told["stem"] == stem and path.is_file():
            pairs.setdefault(_amount(told["dropout"]), {}).setdefault(told["part"], path)
    yield from pairs.items()


def _amount(told: str | None) -> float | None:
    try:
        return None if told is None else float(told)
    except ValueError:
        raise InvalidValueError("a file's dropout", f"must be a number such as 0.5, but is {told!r}") from None


def _variant(dropout: float | None) -> str:
    return "" if dropout is None else f"-dropout{dropout:g}"
