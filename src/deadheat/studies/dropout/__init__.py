"""The dropout table and the size figure: is the gap between train and test overfitting, or the number of classes?

In come embeddings of train and test sets, from files or from networks trained here on pictures of words; out go the gap
of the plain and of the grouped measure for each amount of dropout, and both measures against the number of classes.
"""

from __future__ import annotations

import re
from pathlib import Path

from deadheat.errors import FileError, InvalidValueError
from deadheat.inputs import read
from deadheat.studies import published
from deadheat.studies.data import IMAGE_SETS
from deadheat.studies.dropout import stand_in
from deadheat.studies.dropout.compared import (
    MEASURE,
    Case,
    Sample,
    both_gaps,
    cases_figure,
    compare,
    printed_gaps,
    table_of,
)
from deadheat.studies.dropout.stand_in import FULL, QUICK
from deadheat.studies.study import Finding, Mark, Outcome, Picture, Setting, Study, joined, missing

_SOURCE = published.GROUPED
_ABOUT = (
    "A network that has learned its training classes by heart finds them better than new ones. Recall@1 (Hit@1) should "
    "show this as a gap between train and test, but it also falls with the number of classes, so that the gap of two "
    "sets of different size mixes both. In groups of 10 classes the sets compare. The table has both gaps for several "
    "amounts of dropout."
)


_OF_TABLE_2 = "CIFAR-100"
_FILE = re.compile(r"(?P<stem>[a-z0-9]+)(-dropout(?P<dropout>[0-9.]+))?-(?P<part>train|test)\.(npz|csv|tsv|parquet)")


def run(setting: Setting) -> Outcome:
    """Compare what files there are, then the words in their place."""
    return joined([stand_in.run(setting, QUICK if setting.quick else FULL), from_files(setting)])


def from_files(setting: Setting) -> Outcome:
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
    pairs = _pairs(setting.data, stem) or {None: {}}
    for dropout in sorted(pairs, key=lambda value: -1.0 if value is None else value):
        about = f"{name}{'' if dropout is None else f', dropout {dropout:g}'}: gap of {MEASURE}"
        printed = printed_gaps(dropout) if name == _OF_TABLE_2 else ""
        source = published.GROUPED_TABLE_2 if printed else ""
        lacking = [part for part in ("train", "test") if part not in pairs[dropout]]
        if lacking:
            variant = "" if dropout is None else f"-dropout{dropout:g}"
            wanted = " and ".join(f"{stem}{variant}-{part}.npz" for part in lacking)
            findings.append(missing(about, wanted, published=printed, source=source))
            continue
        setting.say(f"  {about}")
        train, test = (Sample(*read(pairs[dropout][part])) for part in ("train", "test"))
        try:
            row = compare(train, test, dropout=dropout, threads=setting.threads)
        except ValueError as error:
            raise FileError(pairs[dropout]["train"], f" and {pairs[dropout]['test']}: {error}") from None
        case.rows.append(row)
        why = "the embeddings given, not the paper's"
        findings.append(Finding(about, both_gaps(row), Mark.OTHER_DATA, printed, source, why))
    return case, findings


def _pairs(folder: Path | None, stem: str) -> dict[float | None, dict[str, Path]]:
    """For each dropout that a data set has files of (None where the name tells none), the files by train and test.

    Where there are several of one kind, ``.npz`` goes first.
    """
    pairs: dict[float | None, dict[str, Path]] = {}
    for path in sorted(folder.iterdir(), key=lambda path: (path.suffix != ".npz", path.name)) if folder else ():
        told = _FILE.fullmatch(path.name)
        if told and told["stem"] == stem and path.is_file():
            pairs.setdefault(_amount(told["dropout"]), {}).setdefault(told["part"], path)
    return pairs


def _amount(told: str | None) -> float | None:
    try:
        return None if told is None else float(told)
    except ValueError:
        raise InvalidValueError("a file's dropout", f"must be a number such as 0.5, but is {told!r}") from None


STUDY = Study(
    name="dropout",
    question="a network on rendered words: train, test, and the gap between",
    title="Dropout, and the gap between train and test",
    source=_SOURCE,
    about=_ABOUT,
    docs="docs/studies/dropout.md",
    run=run,
    needs=("PIL", "scipy"),
)
