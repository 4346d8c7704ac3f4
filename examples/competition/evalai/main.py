"""EvalAI's evaluation script: the lower bound of each measure on the leaderboard, and the audit for the host.

The platform calls `evaluate` with the paths of the labels and of what was submitted. What an exception says is in the
log that a participant sees; ``submission_metadata`` is for the host alone.
"""

from __future__ import annotations

from typing import Any

import deadheat as dh
from deadheat.errors import DeadheatError

MEASURES = ("mAP", "Hit@1")  # the first one ranks
SPLITS = {"dev": "dev_split", "test": "test_split"}  # codename of a phase, and of its split


def evaluate(annotation_file: str, user_submission_file: str, phase_codename: str, **_: Any) -> dict[str, Any]:
    """Score a submission, a file of embeddings that ends in .npy or .npz, by labels in a file that ends in .npy."""
    try:
        audit = dh.audit(dh.Task(user_submission_file, annotation_file), measures=MEASURES)
    except (DeadheatError, OSError, MemoryError) as error:
        raise ValueError(f"refused: {' '.join(str(error).split()) or 'not enough memory'}") from None
    found = audit.to_dict()["measures"]
    scores = {name: round(100 * result["lower"], 2) for name, result in found.items()}
    return {
        "result": [{SPLITS[phase_codename]: scores}],
        "submission_result": scores,
        "submission_metadata": {"verdict": audit.verdict(), "audit": audit.to_text()},
    }
