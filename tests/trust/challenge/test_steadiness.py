"""The queue under bad luck and bad data: kills at every step, files that take too long, teams that take turns."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from trust.challenge.conftest import LABELS, ROWS, scored, states, submitted, submitted_file, waited, written

from deadheat.trust.challenge import leaderboard, scoring, store, submissions
from deadheat.trust.challenge.challenge import Challenge
from deadheat.trust.challenge.store import Store, TooMany

WATCHED = os.path.dirname(str(store.__file__))
posix = pytest.mark.skipif(os.name != "posix", reason="kills and permissions are POSIX's")


# Kills ----------------------------------------------------------------------------------------------------------------


def killed_at_line(number: int, work: Callable[[], object]) -> bool:
    """Whether work is killed at that line of the modules that write; it has ended before if not."""
    child = os.fork()
    if child == 0:
        left = number

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal left
            if not frame.f_code.co_filename.startswith(WATCHED):
                return None
            left -= event == "line"
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        try:
            work()
        finally:
            sys.settrace(None)
            os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


@posix
def test_a_kill_at_any_line_loses_nothing_and_leaves_nothing(made: Challenge, monkeypatch: pytest.MonkeyPatch) -> None:
    def receipt(self: scoring.Evaluator, *given: Any) -> str:  # in this process: starting another takes longer
        return scoring.evaluated(self._challenge, *given)

    monkeypatch.setattr(scoring.Evaluator, "receipt", receipt)
    book, number, kinds = Store(made.folder), 0, set()
    while True:
        file, others = written(made.folder.parent, ROWS + number), {each.id for each in book.select()}

        def work(file: Path = file) -> None:
            submitted_file(made, file)
            scored(made)
            leaderboard.keep(made, Store(made.folder))

        killed = killed_at_line(number, work)
        before = [each for each in book.select() if each.id not in others]
        kinds.add(before[0].state if before else "nothing")
        submissions.sweep(made, book)
        again = submitted_file(made, file)
        scored(made)
        assert [(each.id, each.state) for each in book.select() if each.id not in others] == [(again.id, "scored")]
        assert [each.id for each in before] in ([], [again.id])
        if not killed:
            break
        known = {each.id for each in book.select()}
        assert {path.name for path in made.submissions.iterdir()} == known
        assert {path.name.removesuffix(".npz") for path in (made.folder / "profiles").iterdir()} == known
        number += 1 + number // 5
    assert kinds == {"nothing", "queued", "scoring", "scored"}
    assert number > 100
    assert len(book.scores()) == len(book.select())


KILLED_BETWEEN = """
import os, pathlib, signal, sys
from deadheat.trust.challenge import submissions
from deadheat.trust.challenge.challenge import Challenge
from deadheat.trust.challenge.store import Store
made = Challenge.open(sys.argv[1])
real = os.rename
os.rename = lambda *words: (real(*words), os.kill(os.getpid(), signal.SIGKILL))
submissions.submit(made, Store(made.folder), "A", "", pathlib.Path(sys.argv[2]), None)
"""


@posix
def test_a_kill_between_moving_a_file_and_recording_it_leaves_no_orphan(made: Challenge) -> None:
    kept, file = submitted(made), written(made.folder.parent, ROWS * 2)
    done = subprocess.run([sys.executable, "-c", KILLED_BETWEEN, made.folder, file], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len([path for path in made.submissions.iterdir() if not path.name.startswith(".")]) == 2
    (made.submissions / f"{kept.id}.log").write_text("said")
    submissions.sweep(made, Store(made.folder))
    assert {path.name for path in made.submissions.iterdir()} == {kept.id, f"{kept.id}.log"}
    assert submitted_file(made, file).number == 2


@posix
def test_a_kill_while_a_profile_is_written_leaves_nothing_of_it(
    made: Challenge, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted(made)
    harm = "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)"
    monkeypatch.setattr(scoring, "_EVALUATING", harmful(harm, least=0))
    assert states(made) == ["failed"]
    assert len(list((made.folder / "profiles").iterdir())) == 1
    monkeypatch.undo()
    Store(made.folder).again(1)
    assert states(made) == ["scored"]
    assert [path.name[0] != "." for path in (made.folder / "profiles").iterdir()] == [True]


@posix
def test_a_killed_worker_takes_its_evaluator_along(made: Challenge, tmp_path: Path) -> None:
    submitted(made)
    said = tmp_path / "pid"
    harm = f"open({str(said)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    script = "from deadheat.trust.challenge import scoring\n"
    script += f"scoring._EVALUATING = {harmful(harm, least=0)!r}\nscoring.main()"
    with subprocess.Popen([sys.executable, "-c", script, "work", made.folder], stdin=subprocess.PIPE) as process:
        assert waited(lambda: said.exists() and said.read_text() != "")
        process.kill()
    assert waited(lambda: not Path(f"/proc/{said.read_text()}").exists())
    assert [(each.state, each.attempts) for each in scored(made)] == [("scored", 2)]


# Hostile data ---------------------------------------------------------------------------------------------------------

HOSTILE = """
import os, signal, time
from deadheat.trust.challenge import scoring
real = scoring.evaluated
def evaluated(challenge, submission, kind, file):
    size = file.stat().st_size
    if size > LEAST:
        HARM
    return real(challenge, submission, kind, file)
scoring.evaluated = evaluated
"""


def harmful(harm: str, least: int = 9000) -> tuple[str, ...]:
    """An evaluator that runs this on files of more bytes than that."""
    return "-c", f"{HOSTILE.replace('HARM', harm).replace('LEAST', str(least))}\nscoring.main()", "evaluate"


HARM = {
    "while True: pass": "scoring took longer than 2 seconds",
    "os.kill(os.getpid(), signal.SIGKILL)": "scoring ended without a result (status -9)",
    "raise ValueError('/home/x: allow_pickle')": "scoring it broke; the organiser can see why",
    "print('{}', flush=True); os.write(1, b'{}'); raise MemoryError": "there was not enough memory",
}


@posix
@pytest.mark.parametrize("harm", HARM)
def test_hostile_data_fail_at_once_and_nothing_else_does(
    harm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Challenge.create(tmp_path / "c", LABELS, seconds=2 if "longer" in HARM[harm] else 60)
    monkeypatch.setattr(scoring, "_EVALUATING", harmful(harm))
    submitted(made, np.tile(ROWS, 8), "hostile")
    submitted(made, team="honest")
    first, second = scored(made)
    assert (first.state, first.attempts, first.message) == ("failed", 1, HARM[harm])
    assert (second.team, second.state) == ("honest", "scored")
    assert scored(made) == []  # it is not tried again
    log = scoring.log(made, first)
    assert log.exists() == ("broke" in first.message)
    if log.exists():
        assert "Traceback" in log.read_text()


def test_a_rule_that_quotes_the_data_is_one_short_line(made: Challenge, monkeypatch: pytest.MonkeyPatch) -> None:
    harm = "raise scoring.Rejected('x\\x1b[2J\\n\\u202e' * 999)"
    monkeypatch.setattr(scoring, "_EVALUATING", harmful(harm, least=0))
    submitted(made)
    (found,) = scored(made)
    assert (found.state, found.message.isprintable(), len(found.message)) == ("refused", True, 200)
    assert found.message.startswith("x\\x1b[2J")


# Turns ----------------------------------------------------------------------------------------------------------------


def test_who_has_used_the_most_time_comes_last(made: Challenge) -> None:
    first, book = submitted(made), Store(made.folder)
    book.begin(first)
    book.ended(first, "failed", "", 100.0)
    waiting = [submitted(made, ROWS + i, team) for i, team in enumerate("AABAB", 1)]
    assert [each.number for each in book.waiting()] == [4, 6, 2, 3, 5]
    assert [book.ahead_of(each) for each in waiting] == [2, 3, 0, 4, 1]
    book.begin(waiting[2])
    assert [book.ahead_of(each) for each in waiting] == [2, 3, 0, 4, 1]  # the one that is being scored counts
    assert [each.number for each in scored(made)] == [4, 6, 2, 3, 5]


def test_the_time_of_a_team_is_limited_within_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Challenge.create(tmp_path / "c", LABELS, seconds_per_day=60)
    book, began = Store(made.folder), time.time()
    first, second, other = submitted(made), submitted(made, ROWS + 1), submitted(made, team="B")
    book.begin(first)
    book.ended(first, "failed", "took long", 61.0)
    upload = written(tmp_path, ROWS * 2)
    with pytest.raises(TooMany, match="scoring time must be at most 60 seconds within 24 hours"):
        submissions.submit_file(book, "A", "", upload, made.rules)
    assert upload.exists()
    assert [each.id for each in scored(made, for_page=True)] == [other.id]  # the page leaves it alone
    found = book.find(id=second.id)
    assert found is not None
    assert (found.state, book.used("A")) == ("queued", 61.0)
    monkeypatch.setattr(store.time, "time", lambda: began + 86_500)
    assert book.used("A") == 0
    assert [each.id for each in scored(made, for_page=True)] == [second.id]


# Files ----------------------------------------------------------------------------------------------------------------


@posix
def test_nobody_else_can_read_any_file(tmp_path: Path) -> None:
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "run.sh").write_text("cp $1 $2")
    np.save(tmp_path / "inputs.npy", ROWS)
    before = os.umask(0)
    try:
        made = Challenge.create(tmp_path / "c", LABELS, tmp_path / "inputs.npy")
        book = Store(made.folder)
        submitted(made)
        submissions.submit(made, book, "B", "", tmp_path / "program", "sh run.sh {inputs} {output}")
        submissions.submit(made, book, "C", "", tmp_path / "program", "sh missing.sh {inputs} {output}")
        assert sorted(states(made, unprotected=True)) == ["failed", "scored", "scored"]
        leaderboard.keep(made, book)
    finally:
        os.umask(before)
    files = [made.folder, *made.folder.rglob("*")]
    names = {"labels.npy", "secret", "challenge.db", "worker.db", "inputs.npy", "run.sh", "profiles"}
    assert names <= {path.name for path in files}
    assert [path for path in files if path.stat().st_mode & 0o077] == []
