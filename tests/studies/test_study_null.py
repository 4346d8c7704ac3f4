"""The study of the null: swapping queries says far too often that something differs, swapping classes does not."""

from __future__ import annotations

import numpy as np

from deadheat.studies.null import MEASURES, Kind, false_alarms, leave_one_out, separate_gallery


def test_queries_cry_wolf_in_leave_one_out_and_nowhere_else() -> None:
    shares = false_alarms(20, 60, threads=1)
    assert shares[Kind("leave one out", "query", "mAP")] > 0.3
    assert shares[Kind("leave one out", "class", "mAP")] < 0.25
    assert shares[Kind("separate gallery", "query", "mAP")] < 0.15
    assert shares[Kind("leave one out", "class", "Hit@1")] <= shares[Kind("leave one out", "query", "Hit@1")]
    assert len(shares) == 3 * len(MEASURES)


def test_neither_system_is_better() -> None:
    rng = np.random.default_rng(0)
    for draw in (leave_one_out, separate_gallery):
        gaps = [a["mAP"].expected - b["mAP"].expected for a, b in (draw(rng, 10, 1) for _ in range(40))]
        assert abs(np.mean(gaps)) < 4 * np.std(gaps) / np.sqrt(40)
        assert np.std(gaps) > 0
