"""The organiser's book: teams, submissions, scores, in SQLite; the one file that knows SQL.

A submission is `queued`, then `scoring`, then one of `scored`, `refused` (by a rule) or `failed` (it broke). Each step
is one transaction, so that whatever kills a process leaves the book as it was before a step or after it.
"""

from __future__ import annotations

import hashlib
import math
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from deadheat.challenge.folders import make_private, private, remove
from deadheat.errors import InvalidValueError

_BOOK = "challenge.db"
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
CREATE TABLE IF NOT EXISTS runs (team TEXT NOT NULL, ended REAL NOT NULL, seconds REAL NOT NULL);
CREATE TABLE IF NOT EXISTS board (only INTEGER PRIMARY KEY CHECK (only = 0), content TEXT NOT NULL);
"""
_USED = "(SELECT total(seconds) FROM runs WHERE runs.team = submissions.team AND ended > ?)"
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
        self._path = folder / _BOOK
        private(self._path)  # what SQLite writes next to it gets the same permissions
        with self._writing() as book:
            for statement in _TABLES.split(";"):
                book.execute(statement)

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._transaction("DEFERRED")

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._transaction("IMMEDIATE")

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[sqlite3.Connection]:
        connect = partial(sqlite3.connect, self._path, timeout=_PATIENCE, isolation_level=None)
        with _errors_of_the_system(), closing(connect()) as book:
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
        self,
        team: str,
        title: str,
        digest: str,
        command: str | None,
        source: Path,
        folder: Path,
        per_day: int | None,
        seconds_per_day: float = math.inf,
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
            if _used(book, team, now - DAY) >= seconds_per_day:
                rule = f"must be at most {seconds_per_day:g} seconds within 24 hours: try again later"
                raise TooMany("scoring time", rule)
            book.execute(
                "INSERT INTO submissions (id, team, title, digest, command, received) VALUES (?, ?, ?, ?, ?, ?)",
                (name, team, title, digest, command, now),
            )
            make_private(source)
            source.rename(folder / name)  # before the transaction ends: what is in the book is in the folder
            added = _one(book, "id = ?", (name,))
        assert added is not None
        return added

    def of_team(self, team: str) -> list[Submission]:
        """What a team has handed in, the latest first."""
        with self._reading() as book:
            return _all(book, "team = ? ORDER BY number DESC", (team,))

    def used(self, team: str) -> float:
        """Seconds that scoring what a team has handed in has taken within 24 hours."""
        with self._reading() as book:
            return _used(book, team, time.time() - DAY)

    def every(self) -> list[Submission]:
        """What was handed in, in the order in which it came."""
        with self._reading() as book:
            return _all(book, "1 ORDER BY number")

    def find(self, name: str) -> Submission | None:
        """A submission by its id."""
        with self._reading() as book:
            return _one(book, "id = ?", (name,))

    def ahead_of(self, submission: Submission) -> int:
        """How many would be scored before this one if nothing else came."""
        with self._reading() as book:
            scoring = int(book.execute("SELECT count(*) FROM submissions WHERE state = 'scoring'").fetchone()[0])
        waiting = [each.id for each in self.waiting()]
        return scoring + waiting.index(submission.id) if submission.id in waiting else 0

    def remove_orphans(self, folder: Path) -> None:
        """Remove from the folder of submissions what a process left that was killed between moving and recording it."""
        with self._writing() as book:  # nobody is between the two now
            known = {name for (name,) in book.execute("SELECT id FROM submissions")}
            for path in folder.iterdir():
                if not path.name.startswith(".") and path.name.partition(".")[0] not in known:
                    remove(path)

    # -----------------------------------------------------------------------------------------------------------------
    # scoring

    @contextmanager
    def only_worker(self) -> Iterator[None]:
        """Wait until nobody else scores, and let nobody else score until the block ends or this process is killed."""
        path = self._path.with_name("worker.db")
        private(path)
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

    def waiting(self, commands: bool = True, most: float | None = None) -> list[Submission]:
        """What is in the queue, in the order in which it is scored: first the team that has used the least time.

        Parameters
        ----------
        commands : bool
            Whether commands are among it.
        most : float, optional
            Seconds of scoring within 24 hours; teams that have used them up are left out.
        """
        since = time.time() - DAY
        where, values = "state = 'queued'", list[float]()
        if not commands:
            where += " AND command IS NULL"
        if most is not None:
            where, values = f"{where} AND {_USED} < ?", [since, most]
        with self._reading() as book:
            return _all(book, f"{where} ORDER BY {_USED}, number", [*values, since])

    def begin(self, submission: Submission) -> None:
        """Count an attempt to score it, before anything of it is read."""
        with self._writing() as book:
            query = "UPDATE submissions SET state = 'scoring', attempts = attempts + 1 WHERE id = ?"
            book.execute(query, (submission.id,))

    def scored(self, submission: Submission, receipt: str, protection: str, seconds: float) -> None:
        """Record a score, its receipt and how long it took; at one stroke, and once."""
        with self._writing() as book:
            book.execute("INSERT INTO scores VALUES (?, ?, ?)", (submission.id, receipt, protection))
            _end(book, submission, "scored", "", seconds)

    def ended(self, submission: Submission, state: str, message: str, seconds: float) -> None:
        """Record that it has no score, why, and how long that took."""
        with self._writing() as book:
            _end(book, submission, state, message, seconds)

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


@contextmanager
def _errors_of_the_system() -> Iterator[None]:
    """A disk that is full, or a file that cannot be opened, as the system's error that it is."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OSError(f"{_BOOK}: {error}") from None


def _one(book: sqlite3.Connection, where: str, values: Sequence[object]) -> Submission | None:
    return next(iter(_all(book, where, values)), None)


def _all(book: sqlite3.Connection, where: str, values: Sequence[object] = ()) -> list[Submission]:
    return [Submission(*row) for row in book.execute(f"SELECT {_COLUMNS} FROM submissions WHERE {where}", values)]


def _end(book: sqlite3.Connection, submission: Submission, state: str, message: str, seconds: float) -> None:
    query = "UPDATE submissions SET state = ?, message = ? WHERE id = ?"
    book.execute(query, (state, message, submission.id))
    book.execute("INSERT INTO runs VALUES (?, ?, ?)", (submission.team, time.time(), seconds))


def _used(book: sqlite3.Connection, team: str, begin: float) -> float:
    query = "SELECT total(seconds) FROM runs WHERE team = ? AND ended > ?"
    return float(book.execute(query, (team, begin)).fetchone()[0])


def _since(book: sqlite3.Connection, team: str, begin: float) -> int:
    query = "SELECT count(*) FROM submissions WHERE team = ? AND received > ?"
    return int(book.execute(query, (team, begin)).fetchone()[0])


def _hashed(token: str) -> str:
    """Tokens have 256 random bits, so that a plain digest cannot be turned round."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
