"""A challenge with labels and inputs, and the command."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import run

from deadheat.trust.challenge import submissions
from deadheat.trust.challenge.challenge import Challenge
from deadheat.trust.challenge.store import Store, Submission

LABELS = np.arange(60) % 6
ROWS = np.random.default_rng(0).integers(-4, 5, (6, 5))[LABELS] + np.random.default_rng(1).integers(-3, 4, (60, 5))


@pytest.fixture
def made(tmp_path: Path) -> Challenge:
    """A challenge whose inputs are `ROWS`."""
    np.save(tmp_path / "rows.npy", ROWS.astype(np.float32))
    limits = {"upload": 1, "dim": 64, "seconds": 20, "memory": 1024}
    return Challenge.create(
        tmp_path / "challenge", LABELS, tmp_path / "rows.npy", title="A title", measures="mAP, Hit@1", **limits
    )


@pytest.fixture
def deadheat() -> Callable[..., Any]:
    """Runs `deadheat challenge ...`."""
    return partial(run, "challenge")


@pytest.fixture
def npz(tmp_path: Path) -> Callable[..., Path]:
    """Writes embeddings into a file of that name."""

    def write(name: str, rows: Any) -> Path:
        np.savez(tmp_path / f"{name}.npz", embeddings=rows)
        return tmp_path / f"{name}.npz"

    return write


def submitted_file(challenge: Challenge, file: Path, team: str = "A") -> Submission:
    return submissions.submit(challenge, Store(challenge.folder), team, "", file, None)
