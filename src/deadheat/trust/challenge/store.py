"""The organiser's database: teams, submissions, scores, in SQLite; the one file that knows SQL.

A submission is `queued`, then `scoring`, then one of `scored`, `refused` (by a rule) or `failed` (it broke). Each step
is one transaction, so that whatever kills a process leaves the database as it was before a step or after it.
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
from deadheat.trust.challenge.challenge import Rules, make_private, private, remove

_FILE = "challenge.db"
ATTEMPTS = 3  # to score a submission, before it fails as one that kills the worker
DAY = 86_400  # seconds
_TIMEOUT = 30.0  # seconds that one process waits for another's transaction
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
    """What was submitted, and how far it got."""

    number: int  # from 1, in the order in which they came
    id: str  # which nobody can guess
    team: str
    title: str
    digest: str  # SHA-256 of what was submitted
    command: str | None  # JSON list of its words; None for a file
    received: float  # seconds since 1970
    state: str
    attempts: int
    message: str  # why it was refused, or failed


class TooMany(InvalidValueError):
    """A team has submitted as much as it may."""


class Store:
    """The database of a challenge; each call is a transaction of its own, from any thread or process."""

    def __init__(self, folder: Path) -> None:
        self._path, self._submissions = folder / _FILE, folder / "submissions"
        private(self._path)  # what SQLite writes next to it gets the same permissions
        with self._writing() as db:
            for statement in _TABLES.split(";"):
                db.execute(statement)

    @contextmanager
    def _transaction(self, kind: str = "DEFERRED") -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=_TIMEOUT, isolation_level=None)) as db:
                db.execute("PRAGMA foreign_keys = ON")
                db.execute(f"BEGIN {kind}")
                try:
                    yield db
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
        except sqlite3.OperationalError as error:  # a disk that is full, a file that cannot be opened
            raise OSError(f"{_FILE}: {error}") from None

    def _writing(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._transaction("IMMEDIATE")

    # -----------------------------------------------------------------------------------------------------------------
    # teams

    def new_token(self, team: str) -> str:
        """A token for a team, which submits with it; only its digest is kept, and an earlier one is void."""
        token = secrets.token_urlsafe(32)
        with self._writing() as db:
            db.execute(
                "INSERT INTO teams VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET token = excluded.token",
                (team, _hashed(token)),
            )
        return token

    def revoke(self, team: str) -> None:
        """Make a team's token void."""
        with self._writing() as db:
            if db.execute("UPDATE teams SET token = NULL WHERE name = ?", (team,)).rowcount == 0:
                raise InvalidValueError("team", f"must have a token, but {team!r} has none")

    def add_team(self, team: str) -> None:
        """Enter a team, without a token, unless it is there."""
        with self._writing() as db:
            db.execute("INSERT OR IGNORE INTO teams VALUES (?, NULL)", (team,))

    def team_of(self, token: str) -> str | None:
        """The team whose token this is."""
        with self._transaction() as db:
            row = db.execute("SELECT name FROM teams WHERE token = ?", (_hashed(token),)).fetchone()
        return None if row is None else str(row[0])

    # -----------------------------------------------------------------------------------------------------------------
    # submissions

    def add(
        self, team: str, title: str, digest: str, command: str | None, source: Path, rules: Rules | None = None
    ) -> Submission:
        """Put a file or a folder into the queue; what a team has submitted before is the same submission again.

        `source` is moved into the folder of submissions under the submission's id; if nothing is taken, it stays where
        it is. `rules` limit what the team may submit within 24 hours; without them, nothing does.
        """
        now, name = time.time(), secrets.token_hex(16)
        with self._writing() as db:
            known = _select(db, "team = ? AND digest = ?", (team, digest))
            if known:
                return known[0]
            if rules is not None:
                query = "SELECT count(*) FROM submissions WHERE team = ? AND received > ?"
                if db.execute(query, (team, now - DAY)).fetchone()[0] >= rules.per_day:
                    raise TooMany("submissions", f"must be at most {rules.per_day} within 24 hours: try again later")
                if _used(db, team, now - DAY) >= rules.seconds_per_day:
                    rule = f"must be at most {rules.seconds_per_day:g} seconds within 24 hours: try again later"
                    raise TooMany("scoring time", rule)
            db.execute(
                "INSERT INTO submissions (id, team, title, digest, command, received) VALUES (?, ?, ?, ?, ?, ?)",
                (name, team, title, digest, command, now),
            )
            make_private(source)
            source.rename(self._submissions / name)  # before the transaction ends: what is recorded is in the folder
            return _select(db, "id = ?", (name,))[0]

    def select(self, **values: object) -> list[Submission]:
        """The submissions with these values, in the order in which they came: ``select(team="A")``."""
        where = " AND ".join(f"{name} = ?" for name in values) or "1"
        with self._transaction() as db:
            return _select(db, f"{where} ORDER BY number", [*values.values()])

    def find(self, **values: object) -> Submission | None:
        """The submission with these values."""
        return next(iter(self.select(**values)), None)

    def used(self, team: str) -> float:
        """Seconds that scoring a team's submissions has taken within 24 hours."""
        with self._transaction() as db:
            return _used(db, team, time.time() - DAY)

    def ahead_of(self, submission: Submission) -> int:
        """How many would be scored before this one if nothing else came."""
        waiting = [each.id for each in self.waiting()]
        return len(self.select(state="scoring")) + waiting.index(submission.id) if submission.id in waiting else 0

    def remove_orphans(self) -> None:
        """Remove what a process left in the folder that was killed between moving and recording it."""
        with self._writing() as db:  # nobody is between the two now
            known = {name for (name,) in db.execute("SELECT id FROM submissions")}
            for path in self._submissions.iterdir():
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
        with self._writing() as db:
            db.execute(
                "UPDATE submissions SET state = 'failed', message = ? WHERE state = 'scoring' AND attempts >= ?",
                (f"scoring it ended {ATTEMPTS} times without a result", ATTEMPTS),
            )
            db.execute("UPDATE submissions SET state = 'queued' WHERE state = 'scoring'")

    def again(self, number: int) -> None:
        """Queue again what was refused or failed, as if it were new."""
        with self._writing() as db:
            query = "UPDATE submissions SET state = 'queued', attempts = 0, message = '' WHERE number = ? AND state IN "
            if db.execute(f"{query} ('refused', 'failed')", (number,)).rowcount == 0:
                raise InvalidValueError("again", f"must be of a submission that has no score, but is {number}")

    def waiting(self, commands: bool = True, most: float | None = None) -> list[Submission]:
        """What is in the queue, in the order in which it is scored: first the team that has used the least time.

        Teams that have used up `most` seconds of scoring within 24 hours are left out.
        """
        since = time.time() - DAY
        where, values = "state = 'queued'", list[float]()
        if not commands:
            where += " AND command IS NULL"
        if most is not None:
            where, values = f"{where} AND {_USED} < ?", [since, most]
        with self._transaction() as db:
            return _select(db, f"{where} ORDER BY {_USED}, number", [*values, since])

    def begin(self, submission: Submission) -> None:
        """Count an attempt to score it, before anything of it is read."""
        with self._writing() as db:
            counted = "state = 'scoring', attempts = attempts + 1"
            db.execute(f"UPDATE submissions SET {counted} WHERE id = ?", (submission.id,))

    def ended(
        self, submission: Submission, state: str, message: str, seconds: float, score: tuple[str, str] | None = None
    ) -> None:
        """Record what came of it and how long that took; `score` is its receipt and what protected the labels."""
        with self._writing() as db:
            if score is not None:
                db.execute("INSERT INTO scores VALUES (?, ?, ?)", (submission.id, *score))
            query = "UPDATE submissions SET state = ?, message = ? WHERE id = ?"
            db.execute(query, (state, message, submission.id))
            db.execute("INSERT INTO runs VALUES (?, ?, ?)", (submission.team, time.time(), seconds))

    # -----------------------------------------------------------------------------------------------------------------
    # results

    def scores(self) -> list[tuple[Submission, str, str]]:
        """What is scored, with its receipt (JSON) and what protected the labels from it, in the order it came."""
        tables = "submissions JOIN scores ON id = submission ORDER BY number"
        with self._transaction() as db:
            found = db.execute(f"SELECT {_COLUMNS}, receipt, protection FROM {tables}")
            return [(Submission(*row), receipt, protection) for *row, receipt, protection in found]

    def receipt(self, name: str) -> str | None:
        """The receipt of a submission, as JSON; None if it has no score."""
        with self._transaction() as db:
            row = db.execute("SELECT receipt FROM scores WHERE submission = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def keep_board(self, content: str) -> None:
        """Keep the leaderboard as the page shows it, so that nobody waits for its tests."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO board VALUES (0, ?)", (content,))

    def board(self) -> str | None:
        with self._transaction() as db:
            row = db.execute("SELECT content FROM board").fetchone()
        return None if row is None else str(row[0])


def _select(db: sqlite3.Connection, where: str, values: Sequence[object]) -> list[Submission]:
    return [Submission(*row) for row in db.execute(f"SELECT {_COLUMNS} FROM submissions WHERE {where}", values)]


def _used(db: sqlite3.Connection, team: str, begin: float) -> float:
    query = "SELECT total(seconds) FROM runs WHERE team = ? AND ended > ?"
    return float(db.execute(query, (team, begin)).fetchone()[0])


def _hashed(token: str) -> str:
    """Tokens have 256 random bits, so that a plain digest cannot be inverted."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
