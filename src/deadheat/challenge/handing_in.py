"""How files and commands come into the queue, whoever brings them: by digest, so that the same is never there twice."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from deadheat.challenge import archives, commands, samples, sandbox
from deadheat.challenge.rules import MEGABYTE, one_line
from deadheat.challenge.settings import Challenge
from deadheat.challenge.store import Store, Submission
from deadheat.errors import FileError, InvalidValueError
from deadheat.support.lazy import tempfile

_INCOMING = ".incoming-"


def incoming(challenge: Challenge) -> Path:
    """A new folder for what is being handed in, on the same disk as what has been."""
    return Path(tempfile.mkdtemp(dir=challenge.handed_in, prefix=_INCOMING))


def sweep(challenge: Challenge, store: Store) -> None:
    """Remove what was left by uploads that were cut off or killed; only where none can be going on."""
    for folder in challenge.handed_in.glob(f"{_INCOMING}*"):
        shutil.rmtree(folder, ignore_errors=True)
    store.remove_orphans(challenge.handed_in)


def team_named(text: str) -> str:
    """A team's name, or an error that says what is wrong with it."""
    name = one_line(text, "team")
    if name.endswith(sandbox.UNPROTECTED.strip()):
        raise InvalidValueError("team", f"must not end as leaderboards mark commands, but is {name!r}")
    return name


def title_of(text: str) -> str:
    """What a team calls a submission; may be empty."""
    return one_line(text, "title") if text.strip() else ""


def hand_in_upload(challenge: Challenge, store: Store, team: str, title: str, file: Path) -> Submission:
    """Take over a file that was uploaded, within what a team may hand in a day."""
    with open(file, "rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    rules = challenge.rules
    return store.add(team, title, digest, None, file, challenge.handed_in, rules.per_day, rules.seconds_per_day)


def hand_in(challenge: Challenge, store: Store, team: str, title: str, path: Path, command: str | None) -> Submission:
    """Take a copy of what a team has brought to the organiser: a ``.npz`` file, or a folder and its command."""
    team, title = team_named(team), title_of(title)
    words = None if command is None else commands.words_of(command)
    if words is not None and not path.is_dir():
        raise InvalidValueError("FILE", f"must be the folder that the command is run in, but is {path}")
    if words is not None and samples.kept(challenge.folder) is None:
        raise InvalidValueError("DIR", "must have inputs (deadheat challenge init --inputs) for a command to run on")
    if words is None and path.is_dir():
        raise InvalidValueError("FILE", f"must be a .npz file, or come with --command, but is the folder {path}")
    if words is None and path.stat().st_size > archives.most_bytes(challenge.rules):
        raise FileError(path, f" has over {challenge.rules.upload} MB: {path.stat().st_size / MEGABYTE:.1f}")
    store.know(team)
    folder = incoming(challenge)
    try:
        if words is None:
            shutil.copyfile(path, folder / "file")
            with open(folder / "file", "rb") as opened:
                digest = hashlib.file_digest(opened, "sha256").hexdigest()
            return store.add(team, title, digest, None, folder / "file", challenge.handed_in, None)
        copy = commands.copied(path, folder / "program")
        return store.add(team, title, commands.digest(copy, words), words, copy, challenge.handed_in, None)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
