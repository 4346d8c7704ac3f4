"""The organiser's book: teams, submissions, scores, in SQLite; the one file that knows SQL.

A submission is `queued`, then `scoring`, then one of `scored`, `refused` (by a rule) or `failed` (it broke). Each step
is one transaction, so that whatever kills a process leaves the book as it was before a step or after it.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from deadheat.errors import InvalidValueError

ATTEMPTS = 3  # to score a submission, before it is taken for what kills the worker
DAY = 86_400  # seconds
_PATIENCE = 30.0  # seconds that one process waits for another's transaction
_TABLES = """
CREATE TABLE IF NOT EXISTS teams (name TEXT PRIMARY KEY, token TEXT UNIQUE);
CREATE TABLE IF NOT EXISTS submissions (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, team TEXT NOT NULL REFERENCES teams,
    title TEXT NOT NULL, digest TEXT NOT NULL, command TEXT, received REAL NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued', attempts INTEGER NOT NULL DEFAULT 0, message TEXT NOT NULL DEFAULT '',
    UNIQUE (team, digest)
);
CREATE TABLE IF NOT EXISTS scores (
    submission TEXT PRIMARY KEY REFERENCES submissions (id), receipt TEXT NOT NULL, protection TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS board (only INTEGER PRIMARY KEY CHECK (only = 0), content TEXT NOT NULL);
"""
_COLUMNS = "number, id, team, title, digest, command, received, state, attempts, message"


@dataclass(frozen=True)
class Submission:
    """What was handed in, and how far it got.

    Attributes
    ----------
    number : int
        From 1, in the order in which they came.
    id : str
        Which nobody can guess.
    team, title : str
    digest : str
        SHA-256 of what was handed in.
    command : str or None
        JSON list of its words; None for a file.
    received : float
        Seconds since 1970.
    state : str
    attempts : int
    message : str
        Why it was refused, or failed.
    """

    number: int
    id: str
    team: str
    title: str
    digest: str
    command: str | None
    received: float
    state: str
    attempts: int
    message: str


class TooMany(InvalidValueError):
    """A team has handed in as much as it may."""


class Store:
    """The book of a challenge; each call is a transaction of its own, from any thread or process."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "challenge.db"
        with self._writing() as book:
            for statement in _TABLES.split(";"):
                book.execute(statement)

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._transaction("DEFERRED")

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._transaction("IMMEDIATE")

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None)) as book:
            book.execute("PRAGMA foreign_keys = ON")
            book.execute(f"BEGIN {kind}")
            try:
                yield book
            except BaseException:
                book.execute("ROLLBACK")
                raise
            book.execute("COMMIT")

    # -----------------------------------------------------------------------------------------------------------------
    # teams

    def new_token(self, team: str) -> str:
        """A token for a team, which hands in with it; the book keeps only its digest, and an earlier one is void."""
        token = secrets.token_urlsafe(32)
        with self._writing() as book:
            book.execute(
                "INSERT INTO teams VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET token = excluded.token",
                (team, _hashed(token)),
            )
        return token

    def revoke(self, team: str) -> None:
        """Make a team's token void."""
        with self._writing() as book:
            if book.execute("UPDATE teams SET token = NULL WHERE name = ?", (team,)).rowcount == 0:
                raise InvalidValueError("team", f"must have a token, but {team!r} has none")

    def know(self, team: str) -> None:
        """Let a team be in the book, without a token."""
        with self._writing() as book:
            book.execute("INSERT OR IGNORE INTO teams VALUES (?, NULL)", (team,))

    def team_of(self, token: str) -> str | None:
        """The team whose token this is."""
        with self._reading() as book:
            row = book.execute("SELECT name FROM teams WHERE token = ?", (_hashed(token),)).fetchone()
        return None if row is None else str(row[0])

    # -----------------------------------------------------------------------------------------------------------------
    # handing in

    def add(
        self, team: str, title: str, digest: str, command: str | None, source: Path, folder: Path, per_day: int | None
    ) -> Submission:
        """Take a file or a folder into the queue; what a team has handed in before is the same submission again.

        `source` is moved into `folder` under the submission's id; if nothing is taken, it stays where it is.
        """
        now, name = time.time(), secrets.token_hex(16)
        with self._writing() as book:
            known = _one(book, "team = ? AND digest = ?", (team, digest))
            if known is not None:
                return known
            if per_day is not None and _since(book, team, now - DAY) >= per_day:
                raise TooMany("submissions", f"must be at most {per_day} within 24 hours: try again later")
            book.execute(
                "INSERT INTO submissions (id, team, title, digest, command, received) VALUES (?, ?, ?, ?, ?, ?)",
                (name, team, title, digest, command, now),
            )
            source.rename(folder / name)  # before the transaction ends: what is in the book is in the folder
            added = _one(book, "id = ?", (name,))
        assert added is not None
        return added

    def may_hand_in(self, team: str, per_day: int) -> bool:
        """Whether a team has not handed in as much as it may."""
        with self._reading() as book:
            return _since(book, team, time.time() - DAY) < per_day

    def of_team(self, team: str) -> list[Submission]:
        """What a team has handed in, the latest first."""
        with self._reading() as book:
            return _all(book, "team = ? ORDER BY number DESC", (team,))

    def every(self) -> list[Submission]:
        """What was handed in, in the order in which it came."""
        with self._reading() as book:
            return _all(book, "1 ORDER BY number")

    def find(self, name: str) -> Submission | None:
        """A submission by its id."""
        with self._reading() as book:
            return _one(book, "id = ?", (name,))

    def ahead_of(self, submission: Submission) -> int:
        """How many are scored before this one."""
        with self._reading() as book:
            query = "SELECT count(*) FROM submissions WHERE state IN ('queued', 'scoring') AND number < ?"
            return int(book.execute(query, (submission.number,)).fetchone()[0])

    # -----------------------------------------------------------------------------------------------------------------
    # scoring

    @contextmanager
    def only_worker(self) -> Iterator[None]:
        """Wait until nobody else scores, and let nobody else score until the block ends or this process is killed."""
        path = self._path.with_name("worker.db")
        with closing(sqlite3.connect(path, timeout=3600, isolation_level=None)) as lock:
            lock.execute("BEGIN EXCLUSIVE")
            yield

    def requeue(self) -> None:
        """Queue again what a killed worker has left; only for the one worker."""
        with self._writing() as book:
            book.execute(
                "UPDATE submissions SET state = 'failed', message = ? WHERE state = 'scoring' AND attempts >= ?",
                (f"scoring it ended {ATTEMPTS} times without a result", ATTEMPTS),
            )
            book.execute("UPDATE submissions SET state = 'queued' WHERE state = 'scoring'")

    def again(self, number: int) -> None:
        """Queue again what was refused or failed, as if it were new."""
        with self._writing() as book:
            query = "UPDATE submissions SET state = 'queued', attempts = 0, message = '' WHERE number = ? AND state IN "
            if book.execute(f"{query} ('refused', 'failed')", (number,)).rowcount == 0:
                raise InvalidValueError("again", f"must be of a submission that has no score, but is {number}")

    def waiting(self, commands: bool = True) -> list[Submission]:
        """What is in the queue, commands among them or not, the earliest first."""
        which = "" if commands else " AND command IS NULL"
        with self._reading() as book:
            return _all(book, f"state = 'queued'{which} ORDER BY number")

    def begin(self, submission: Submission) -> None:
        """Count an attempt to score it, before anything of it is read."""
        with self._writing() as book:
            query = "UPDATE submissions SET state = 'scoring', attempts = attempts + 1 WHERE id = ?"
            book.execute(query, (submission.id,))

    def scored(self, submission: Submission, receipt: str, protection: str) -> None:
        """Record a score and its receipt; at one stroke, and once."""
        with self._writing() as book:
            book.execute("INSERT INTO scores VALUES (?, ?, ?)", (submission.id, receipt, protection))
            book.execute("UPDATE submissions SET state = 'scored', message = '' WHERE id = ?", (submission.id,))

    def ended(self, submission: Submission, state: str, message: str) -> None:
        """Record that it has no score, and why."""
        with self._writing() as book:
            query = "UPDATE submissions SET state = ?, message = ? WHERE id = ?"
            book.execute(query, (state, message, submission.id))

    # -----------------------------------------------------------------------------------------------------------------
    # results

    def scores(self) -> list[tuple[Submission, str, str]]:
        """What is scored, with its receipt (JSON) and what protected the labels from it, in the order it came."""
        query = (
            f"SELECT {_COLUMNS}, receipt, protection FROM submissions JOIN scores ON id = submission ORDER BY number"
        )
        with self._reading() as book:
            return [(Submission(*row[:-2]), row[-2], row[-1]) for row in book.execute(query)]

    def numbered(self, number: int) -> Submission | None:
        """A submission by its number."""
        with self._reading() as book:
            return _one(book, "number = ?", (number,))

    def receipt(self, name: str) -> str | None:
        """The receipt of a submission, as JSON; None if it has no score."""
        with self._reading() as book:
            row = book.execute("SELECT receipt FROM scores WHERE submission = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def keep_board(self, content: str) -> None:
        """Keep the leaderboard as the page shows it, so that nobody waits for its tests."""
        with self._writing() as book:
            book.execute("INSERT OR REPLACE INTO board VALUES (0, ?)", (content,))

    def board(self) -> str | None:
        with self._reading() as book:
            row = book.execute("SELECT content FROM board").fetchone()
        return None if row is None else str(row[0])


def _one(book: sqlite3.Connection, where: str, values: Sequence[object]) -> Submission | None:
    return next(iter(_all(book, where, values)), None)


def _all(book: sqlite3.Connection, where: str, values: Sequence[object] = ()) -> list[Submission]:
    return [Submission(*row) for row in book.execute(f"SELECT {_COLUMNS} FROM submissions WHERE {where}", values)]


def _since(book: sqlite3.Connection, team: str, begin: float) -> int:
    query = "SELECT count(*) FROM submissions WHERE team = ? AND received > ?"
    return int(book.execute(query, (team, begin)).fetchone()[0])


def _hashed(token: str) -> str:
    """Tokens have 256 random bits, so that a plain digest cannot be turned round."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
