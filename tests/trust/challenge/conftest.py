"""A challenge with labels and inputs, the command, and what every test does with them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli import calling

from deadheat.trust.challenge import leaderboard, scoring, submissions
from deadheat.trust.challenge.challenge import Challenge
from deadheat.trust.challenge.site import Site
from deadheat.trust.challenge.store import Store, Submission

LABELS = np.arange(60) % 6
ROWS = np.random.default_rng(0).integers(-4, 5, (6, 5))[LABELS] + np.random.default_rng(1).integers(-3, 4, (60, 5))
run, passed, refused = (partial(call, "challenge") for call in (calling.run, calling.passed, calling.refused))


@pytest.fixture
def made(tmp_path: Path) -> Challenge:
    """A challenge whose inputs are `ROWS`."""
    np.save(tmp_path / "rows.npy", ROWS.astype(np.float32))
    limits = {"upload": 1, "dim": 64, "seconds": 20, "memory": 1024}
    return Challenge.create(
        tmp_path / "challenge", LABELS, tmp_path / "rows.npy", title="A title", measures="mAP, Hit@1", **limits
    )


def written(folder: Path, rows: Any) -> Path:
    """A file of embeddings in a folder."""
    np.savez(folder / "embeddings.npz", embeddings=rows)
    return folder / "embeddings.npz"


def submitted_file(challenge: Challenge, file: Path, team: str = "A", title: str = "") -> Submission:
    return submissions.submit(challenge, Store(challenge.folder), team, title, file, None)


def submitted(challenge: Challenge, rows: Any = ROWS, team: str = "A", title: str = "") -> Submission:
    """Embeddings in the queue, from a file next to the challenge."""
    return submitted_file(challenge, written(challenge.folder.parent, rows), team, title)


def scored(challenge: Challenge, **options: Any) -> list[Submission]:
    return list(scoring.score(challenge, Store(challenge.folder), **options))


def states(challenge: Challenge, **options: Any) -> list[str]:
    return [each.state for each in scored(challenge, **options)]


def board_page(challenge: Challenge) -> tuple[Site, str]:
    """The page, and the leaderboard as it shows it."""
    for package in ("starlette", "uvicorn", "jinja2"):
        pytest.importorskip(package, reason="the page needs the extra challenge")
    store = Store(challenge.folder)
    site = Site(challenge, store)
    return site, site.render("board.html", rows=leaderboard.kept(store), team=None)


def waited(reached: Callable[[], bool]) -> bool:
    """Whether something comes about within half a minute."""
    for _ in range(300):
        if reached():
            return True
        time.sleep(0.1)
    return False
