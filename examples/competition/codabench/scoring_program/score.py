"""Codabench's scoring program: the lower bound of each measure in scores.json, and the audit for the organiser.

The platform puts labels.npy into INPUT/ref and what was submitted into INPUT/res, and reads OUTPUT/scores.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NoReturn

import deadheat as dh
from deadheat.errors import DeadheatError

MEASURES = ("mAP", "Hit@1")  # the first one ranks
NAME = "embeddings.npy"


def main(source: Path, target: Path) -> None:
    labels, submitted = source / "ref" / "labels.npy", source / "res" / NAME
    for path in (labels, submitted):
        if not path.is_file():
            refuse(f"there must be a file {path}, but there is none")
    try:
        audit = dh.audit(dh.Task(submitted, labels), measures=MEASURES)
    except (DeadheatError, OSError, MemoryError) as error:
        refuse(" ".join(str(error).split()) or "not enough memory")
    scores = {name: round(100 * result["lower"], 2) for name, result in audit.to_dict()["measures"].items()}
    target.mkdir(parents=True, exist_ok=True)
    (target / "scores.json").write_text(json.dumps(scores))
    (target / "audit.txt").write_text(f"{audit.to_text()}\n")  # hide_score_output keeps it from the participants
    print("scored:", ", ".join(f"{name} {value:.2f} %" for name, value in scores.items()))


def refuse(why: str) -> NoReturn:
    print(f"refused: {why}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        refuse(f"score.py takes two folders, INPUT and OUTPUT, but got {len(sys.argv) - 1}")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
