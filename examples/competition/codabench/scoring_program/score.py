"""Codabench's scoring program: the lower bound of each measure in scores.json, and the audit for the organiser.

The platform puts labels.npy into INPUT/ref and what was submitted into INPUT/res, and reads OUTPUT/scores.json. The
command `deadheat` reads what was submitted in a process with limits; its options --memory and --time set them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

MEASURES = "mAP Hit@1"  # the first one ranks
NAME = "embeddings.npy"


def main(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name in ("scores.json", "audit.txt"):  # of an earlier submission
        (target / name).unlink(missing_ok=True)
    labels, submitted = source / "ref" / "labels.npy", source / "res" / NAME
    for path in (labels, submitted):
        if not path.is_file():
            refuse(f"there must be a file {path}, but there is none")
    task = (str(submitted), "--labels", str(labels), "-m", MEASURES)
    board = deadheat("leaderboard", *task, "--public", "--json", "-")
    result = json.loads(board.stdout or json.dumps({"refused": {NAME: board.stderr}}))
    for why in result["refused"].values():
        refuse(" ".join(why.split()))
    scores = result["public"][0]["measures"]
    audit = deadheat("audit", *task, "--untrusted")
    (target / "scores.json").write_text(json.dumps(scores))
    (target / "audit.txt").write_text(audit.stdout or audit.stderr)  # hide_score_output keeps it from the participants
    print("scored:", ", ".join(f"{name} {value:.2f} %" for name, value in scores.items()))


def deadheat(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "deadheat", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def refuse(why: str) -> NoReturn:
    print(f"refused: {why}", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        refuse(f"score.py takes two folders, INPUT and OUTPUT, but got {len(sys.argv) - 1}")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
