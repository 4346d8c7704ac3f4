"""A profile in parts, and in files: nothing that is computed from it changes in any bit."""

from __future__ import annotations

import numpy as np
import pytest

import deadheat as dh
from deadheat.engine.profiles import parts
from deadheat.engine.profiles.parts import in_parts
from deadheat.support import scratch

NAMES = ["mAP", "mAP@7", "MAP@R", "Hit@3", "MRR", "mINP", "nDCG@5", "nDCG", "AUC", "P@4", "R-Precision", "Recall@9"]


def found(profile: dh.TieProfile) -> list[object]:
    report = dh.measure(profile, NAMES, threads=2)
    values = [(*report[name].per_query, report[name].std_per_query) for name in NAMES]
    return [np.array(values).tobytes(), profile.ties, profile.digest()]


RNG = np.random.default_rng(0)
ROWS, LABELS = RNG.integers(0, 3, (90, 3)), RNG.integers(0, 12, 90)
ROWS[:7], LABELS[:7] = 0, 40 + np.arange(7)  # singletons


@pytest.fixture
def profiles() -> list[dh.TieProfile]:
    rng = np.random.default_rng(1)
    grades = rng.integers(0, 4, (40, 30))
    return [
        dh.profile(ROWS, LABELS, distance="euclidean"),
        dh.profile(ROWS, LABELS, junk=rng.random((90, 90)) < 0.3),
        dh.profile(ROWS * 1.5, LABELS, ties=dh.Tolerance(0.5)),
        dh.profile_scores(rng.integers(0, 5, (40, 30)), grades),
    ]


@pytest.mark.parametrize("most", [1, 50])
def test_in_parts(most: int, profiles: list[dh.TieProfile], monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [found(profile) for profile in profiles]
    monkeypatch.setattr(parts, "MOST_GROUPS", most)
    assert all(len(list(in_parts(profile))) > 2 for profile in profiles)
    for profile in profiles:
        profile.__dict__.pop("ties", None)
    assert [found(profile) for profile in profiles] == wanted


def test_in_files(profiles: list[dh.TieProfile], monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setattr(scratch, "WORTH_A_FILE", 0)
    monkeypatch.setattr(parts, "MOST_GROUPS", 30)
    profile = dh.profile(ROWS, LABELS, distance="euclidean")
    assert profile == profiles[0]
    assert found(profile) == found(profiles[0])
    profile.save(f"{tmp_path}/profile.npz")
    assert dh.TieProfile.load(f"{tmp_path}/profile.npz") == profile
    assert profile[5:9] == profiles[0][5:9]
    assert profile + profile == profiles[0] + profiles[0]
