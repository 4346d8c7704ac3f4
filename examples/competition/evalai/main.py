"""EvalAI's evaluation script: the lower bound of each measure on the leaderboard, and the audit for the host.

The platform calls `evaluate` with the paths of the labels and of what was submitted. What an exception says is in the
log that a participant sees; ``submission_metadata`` is for the host alone. The command `deadheat` reads what was
submitted in a process with limits; its options --memory and --time set them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

MEASURES = "mAP Hit@1"  # the first one ranks
SPLITS = {"dev": "dev_split", "test": "test_split"}  # codename of a phase, and of its split


def evaluate(annotation_file: str, user_submission_file: str, phase_codename: str, **_: Any) -> dict[str, Any]:
    """Score a submission, a file of embeddings that ends in .npy or .npz, by labels in a file that ends in .npy."""
    task = (user_submission_file, "--labels", annotation_file, "-m", MEASURES)
    board = deadheat("leaderboard", *task, "--public", "--json", "-")
    result = json.loads(board.stdout or json.dumps({"refused": {"": board.stderr}}))
    for why in result["refused"].values():
        raise ValueError(f"refused: {' '.join(why.split())}")
    scores = result["public"][0]["measures"]
    audit = deadheat("audit", *task, "--untrusted")
    text = audit.stdout or audit.stderr
    return {
        "result": [{SPLITS[phase_codename]: scores}],
        "submission_result": scores,
        "submission_metadata": {"verdict": text.partition("\n")[0], "audit": text.rstrip()},
    }


def deadheat(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "deadheat", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)
