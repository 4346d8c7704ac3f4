"""Verification and identification of nine speakers, with intervals over pairs and speakers: `examples/speakers.py`.

Japanese Vowels (Kudo, Toyama, Shimbo 1999; UCI, CC BY 4.0) has 640 utterances of nine men, as 12 cepstral coefficients
a frame. The package aeon (`pip install --no-deps aeon`) has it; only its files are read. An embedding is the mean and
the standard deviation of the coefficients of an utterance, in units of those of the training set.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import deadheat as dh

MEASURES = "EER, minDCF(p=0.05), TPR@FPR=0.01, FPR95, pAUC@FPR=0.1"


def utterances(path: Path) -> tuple[Any, Any]:
    """Embeddings and speakers of a file of aeon, whose lines have frames of each coefficient between colons."""
    rows, speakers = [], []
    for line in path.read_text().partition("@data\n")[2].splitlines():
        *coefficients, speaker = line.split(":")
        frames = np.array([[float(x) for x in each.split(",") if x != "?"] for each in coefficients])
        rows.append([*frames.mean(axis=1), *frames.std(axis=1)])
        speakers.append(int(speaker))
    return np.array(rows), np.array(speakers)


def main(folder: Path) -> None:
    (train, enrolled), (test, speakers) = (
        utterances(folder / f"JapaneseVowels_{part}.ts") for part in ("TRAIN", "TEST")
    )
    train, test = ((rows - train.mean(axis=0)) / train.std(axis=0) for rows in (train, test))
    pairs = np.array(list(combinations(range(len(test)), 2)))
    sides = speakers[pairs]
    same = sides[:, 0] == sides[:, 1]
    result = dh.pair_classification(test, pairs, same, sides, measures=MEASURES)
    print(result)
    print("\nEER over pairs, as if they were independent:")
    print(dh.pair_classification(test, pairs, same).interval("EER"))
    print("\nEER over speakers:")
    print(result.interval("EER"))
    means = dh.pair_classification(test[:, :12], pairs, same, sides)
    print("\nEER, minus that of the means alone, over speakers:")
    print(result.interval("EER", minus=means))
    print("\nSix speakers enrolled with 30 utterances each, and probes of nine:")
    probes = {f"probe {i}": row for i, row in enumerate(test)}
    gallery = {f"speaker {who}": train[enrolled == who] for who in np.unique(enrolled)[:-3].tolist()}
    trials = [
        (person, probe, int(person == f"speaker {who}"))
        for person in gallery for probe, who in zip(probes, speakers.tolist(), strict=True)
    ]  # fmt: skip
    for templates in ("max", "mean"):
        search = dh.pair_classification(gallery | probes, trials, templates=templates)
        values = ", ".join(f"{name} {100 * search[name].lower:.2f}" for name in ("rank-1", "TPIR@FPIR=0.1", "EER"))
        print(f"{templates}: {values}")


if __name__ == "__main__":
    package = find_spec("aeon")
    if len(sys.argv) < 2 and package is None:
        sys.exit("pip install --no-deps aeon, or name a folder with JapaneseVowels_TRAIN.ts and _TEST.ts")
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        main(Path(package.origin).parent / "datasets" / "data" / "JapaneseVowels")
