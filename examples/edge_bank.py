"""MRR of a model that only remembers edges: its scores are 1 or 0, so that nearly everything ties.

python examples/edge_bank.py
"""

from __future__ import annotations

import numpy as np

import deadheat as dh

N_EDGE, N_NEGATIVE = 2_000, 999


def main() -> None:
    rng = np.random.default_rng(0)
    positives = (rng.random(N_EDGE) < 0.6).astype(np.float32)  # seen before
    negatives = (rng.random((N_EDGE, N_NEGATIVE)) < 0.02).astype(np.float32)
    profile = dh.from_candidates(negatives, positive_scores=positives).profile
    mean_rank = (2 * profile.closer + profile.tied + 1) / 2
    print(f"MRR of the mean ranks, as OGB and TGB have it: {np.mean(1 / mean_rank):.4f}\n")
    print(dh.link_prediction(profile, ["MRR", "Hits@10", "AMRI", "adjusted MRR"]))


if __name__ == "__main__":
    main()
