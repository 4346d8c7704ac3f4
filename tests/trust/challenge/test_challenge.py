"""From labels to a leaderboard: what counts, what is refused, and that nothing is lost or counted twice."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli import calling
from trust.challenge.conftest import LABELS, ROWS, passed, refused, scored, states, submitted, submitted_file, written

import deadheat as dh
from deadheat.analyses.leaderboard import Leaderboard
from deadheat.trust.challenge import leaderboard
from deadheat.trust.challenge.challenge import Challenge
from deadheat.trust.challenge.store import ATTEMPTS, Store, Submission, TooMany


def test_from_labels_to_a_leaderboard(tmp_path: Path) -> None:
    labels, folder, receipt = (tmp_path / name for name in ("labels.npy", "challenge", "r.json"))
    np.save(labels, LABELS)
    passed("init", folder, "--labels", labels, "-m", "mAP,Hit@1")
    if os.name == "posix":
        assert folder.stat().st_mode & 0o077 == 0
    rows = {"B": ROWS[:, :3], "A": ROWS}
    for team in rows:
        passed("submit", folder, written(tmp_path, rows[team]), "--team", team, "--title", "all")
    assert passed("score", folder).count("lower bound") == 2
    assert passed("score", folder) == "nothing in the queue\n"
    board = json.loads(passed("leaderboard", folder, "--exact", "--json"))
    reports = {team: dh.evaluate(rows[team], LABELS, measures="mAP, Hit@1") for team in ("B", "A")}
    assert board == json.loads(dh.leaderboard(reports).to_json())
    assert [line[:5] for line in passed("list", folder).splitlines()] == ["#1 B:", "#2 A:"]
    passed("receipt", folder, 2, receipt)
    refused("receipt", folder, 3, tmp_path / "none.json")
    assert calling.passed("verify", receipt, tmp_path / "embeddings.npz", "--labels", labels).startswith("match")


def test_queries_can_have_a_gallery(tmp_path: Path) -> None:
    challenge = Challenge.create(tmp_path / "challenge", LABELS, n_query=20)
    submitted(challenge)
    assert states(challenge) == ["scored"]
    report = leaderboard.exact(challenge, Store(challenge.folder))
    assert isinstance(report, dh.Report)
    assert report["mAP"].lower == dh.evaluate(ROWS[:20], LABELS[:20], ROWS[20:], LABELS[20:])["mAP"].lower
    assert report.separate_gallery


def test_the_best_of_a_team_counts(made: Challenge) -> None:
    for rows, team in ((ROWS[:, :3], "A"), (ROWS, "A"), (ROWS * 0, "B"), (ROWS[:, :4], "A")):
        submitted(made, rows, team)
    scored(made)
    store = Store(made.folder)
    assert {name: each[0].number for name, each in leaderboard.entries(made, store).items()} == {"A": 2, "B": 3}
    assert len(leaderboard.entries(made, store, every=True)) == 4
    board = leaderboard.exact(made, store)
    assert isinstance(board, Leaderboard)
    assert list(board) == ["A", "B"]
    assert board["B"]["mAP"].upper == 1.0  # and yet it is last, for ranks go by the lower bound


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--labels", "none.npy"], "No such file"),
        (["--labels", "short.npy"], "short.npy must be one-dimensional"),
        (["--queries", "60"], "n_query must be at most 59"),
        (["-m", "mAQ"], "mAQ"),
        (["--upload", "5000"], "upload must be at most 4095"),
        (["--title", ""], "title must have 1 to 60 printable characters"),
        (["--labels", "own.npy"], "without a relevant item"),
        (["--inputs", "short.npy"], "one sample per label, but got 3 samples for 60 labels"),
        (["--inputs", "labels.csv"], "inputs must be a .npy or .txt file or a folder"),
    ],
)
def test_a_challenge_is_made_whole_or_not_at_all(
    options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in (("labels", LABELS), ("own", np.arange(60)), ("short", ROWS[:3])):
        np.save(f"{name}.npy", content)
    before = sorted(os.listdir())
    assert message in refused("init", "c", *(() if "--labels" in options else ("--labels", "labels.npy")), *options)
    assert sorted(os.listdir()) == before


def test_a_folder_that_is_there_stays_as_it_is(made: Challenge) -> None:
    with pytest.raises(ValueError, match="must not be there yet"):
        Challenge.create(made.folder, LABELS)
    assert Challenge.open(made.folder) == made
    (made.folder / "challenge.json").write_text('{"schema": "deadheat.Challenge", "schema_version": 2}')
    with pytest.raises(ValueError, match=r"is not a challenge that this deadheat knows \(schema_version 1\)"):
        Challenge.open(made.folder)


# What strangers submit ------------------------------------------------------------------------------------------------


def archive(members: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", kind) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return file.getvalue()


def array(rows: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, rows, **options)
    return file.getvalue()


def declared(shape: tuple[int, ...], n_byte: int, kind: str = "<f8") -> bytes:
    """An array that says it has that shape, and has so many bytes of zeros."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})
    return file.getvalue() + bytes(n_byte)


def patched(content: bytes, place: int, value: bytes) -> bytes:
    at = content.rindex(b"PK\5\6") + place
    return content[:at] + value + content[at + len(value) :]


def headed(text: str) -> bytes:
    """An array whose header is that text."""
    return np.lib.format.magic(1, 0) + len(text).to_bytes(2, "little") + text.encode()


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (7,)


GOOD = array(ROWS)
ARRAYS = {  # in an archive, under the right name
    "too few rows": (array(ROWS[:9]), r"shape \(60, dim\).*\(9, 5\)"),
    "one dimension": (array(LABELS), r"shape \(60, dim\)"),
    "too many columns": (array(np.zeros((60, 65), "i1")), "dim of 1 to 64"),
    "not a number": (array(np.where(ROWS > 5, np.nan, ROWS)), "must be finite"),
    "strings": (array(ROWS.astype(str)), "must be numbers"),
    "records": (declared((60, 5), 2400, "<M8[s]"), "must be numbers"),
    "objects": (array(np.full((60, 5), Evil()), allow_pickle=True), "never loaded"),
    "a pickle named as an array": (pickle.dumps(Evil()), "cannot be read"),
    "a bomb in rows": (declared((10**9, 5), 10**7), "shape"),
    "a bomb behind the array": (GOOD + bytes(10**7), "truncated or damaged"),
    "fewer bytes than declared": (declared((60, 64), 9), "truncated or damaged"),
    "a header without end": (b"\x93NUMPY\2\0\xff\xff\xff\x7f" + bytes(10**7), "read"),
    "a shape that runs over": (declared((60, 2**62), 0), "cannot be read"),
    "a type of 5,900 characters": (
        headed("{'descr': '" + "x" * 5900 + "', 'fortran_order': False, 'shape': (3,)}\n"), "cannot be read"
    ),
    "an address of memory": (headed("{'descr': <object at 0x7f00>, " + "\x1b[2J" * 999), "cannot be read"),
    "keys of 5,900 characters": (
        headed("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), '" + "k" * 5900 + "': 1}\n"), "cannot be read"
    ),
}  # fmt: skip
WHOLE, BOMB = archive({"embeddings.npy": GOOD}), archive({"embeddings.npy": declared((60, 5), 10**8)})
OTHERS = {"labels.npy": pickle.dumps(Evil()), "embeddings.npy": GOOD, "huge.npy": declared((10**6,), 8 * 10**6)}
ABUSE = {name: (archive({"embeddings.npy": content}), message) for name, (content, message) in ARRAYS.items()} | {
    "a pickle": (pickle.dumps(Evil()), "never loaded"),
    "another name": (archive({"x.npy": GOOD}), "must be the name of an array"),
    "another folder": (archive({"../embeddings.npy": GOOD}), "must be the name of an array"),
    "an array by itself": (GOOD, "must be a .npz file"),
    "nothing": (b"", "must be a .npz file"),
    "half of it": (WHOLE[:300], "must be a .npz file"),
    "a comment": (WHOLE + b"x", "must be a .npz file"),
    "packed by lzma": (archive({"embeddings.npy": GOOD}, zipfile.ZIP_LZMA), "stored or deflated"),
    "a table of contents of 4 GB": (patched(WHOLE, 12, b"\xfe\xff\xff\xff"), "over 1 MB"),
    "a table of contents elsewhere": (patched(WHOLE, 16, b"\xfe\xff\xff\x7f"), "cannot be read"),
    "another sum": (archive({"embeddings.npy": GOOD}, zipfile.ZIP_STORED).replace(GOOD[-9:], b"12345678\0"), "read"),
    "more than is declared": (  # which is not unpacked
        BOMB.replace(*(size.to_bytes(4, "little") for size in (10**8 + 128, 60 * 5 * 8 + 128))), "cannot be read"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Submission]:
    """What became of each, and of a good one that came last."""
    folder = tmp_path_factory.mktemp("abuse")
    made = Challenge.create(folder / "challenge", LABELS, dim=64)
    for name, (content, _) in {**ABUSE, "good": (archive(OTHERS), "")}.items():  # other arrays are not looked at
        (folder / "file").write_bytes(content)
        submitted_file(made, folder / "file", name)
    return {submission.team: submission for submission in scored(made)}


@pytest.mark.parametrize("name", ABUSE)
def test_abuse_is_refused_with_one_line(name: str, judged: dict[str, Submission]) -> None:
    refused = judged[name]
    assert (refused.state, judged["good"].state) == ("refused", "scored")
    assert refused.message.isprintable()
    assert len(refused.message) <= 200
    assert not any(part in refused.message for part in ("0x", "allow_pickle", "max_header_size", "xxx", "kkk", "/"))
    assert re.search(ABUSE[name][1], refused.message), refused.message


def test_a_file_over_the_limit_is_refused(made: Challenge, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(bytes((1 << 20) + 1))
    assert "has over 1 MB" in refused("submit", made.folder, tmp_path / "large", "--team", "A")
    assert list(made.submissions.iterdir()) == []


@pytest.mark.parametrize("team", ["", " ", "a" * 61, "a\0b", "a\u202eb", "\ud800", "a (unprotected)"])
def test_names_are_one_line_of_what_can_be_printed(team: str, made: Challenge) -> None:
    with pytest.raises(ValueError, match=r"team must (have 1 to 60 printable|not end as)"):
        submitted(made, team=team)


def test_names_are_only_names(made: Challenge, tmp_path: Path) -> None:
    teams = ["../../x", "/etc/passwd", "'; DROP TABLE teams; --", "<b>x</b>", "Zoë 日本"]
    written(tmp_path, ROWS)
    before = {path for path in tmp_path.rglob("*") if not path.is_relative_to(made.folder)}
    for team in teams:
        submitted(made, team=team)
    scored(made)
    assert list(leaderboard.entries(made, Store(made.folder))) == teams
    assert {path for path in tmp_path.rglob("*") if not path.is_relative_to(made.folder)} == before


# Nothing lost, nothing counted twice ----------------------------------------------------------------------------------


def test_the_same_again_is_the_same_submission(made: Challenge) -> None:
    first, again, other = submitted(made), submitted(made), submitted(made, ROWS[:, :3])
    elsewhere = submitted(made, team="B")
    assert first.id == again.id
    assert len({first.id, other.id, elsewhere.id}) == len(list(made.submissions.iterdir())) == len(scored(made)) == 3
    assert submitted(made).state == "scored"
    assert scored(made) == []


def test_what_kills_the_worker_again_and_again_is_given_up(made: Challenge) -> None:
    first, _ = submitted(made), submitted(made, ROWS[:, :3])
    store = Store(made.folder)
    for _ in range(ATTEMPTS):
        store.requeue()
        store.begin(first)
    assert [(each.number, each.state) for each in scored(made)] == [(2, "scored")]
    given_up = store.find(id=first.id)
    assert given_up is not None
    assert (given_up.state, given_up.message) == ("failed", "scoring it ended 3 times without a result")


def test_two_workers_do_not_score_the_same(made: Challenge) -> None:
    for i in range(4):
        submitted(made, ROWS + i)
    words = ["from deadheat.cli.main import main; main()", "challenge", "score", str(made.folder)]
    workers = [subprocess.Popen([sys.executable, "-c", *words], stdout=subprocess.PIPE) for _ in range(2)]
    printed = b"".join(worker.communicate()[0] for worker in workers)
    assert [worker.returncode for worker in workers] == [0, 0]
    assert printed.count(b"lower bound") == 4
    assert [each.attempts for each in Store(made.folder).select()] == [1] * 4


# Tokens ---------------------------------------------------------------------------------------------------------------


def test_tokens_are_kept_as_digests_and_can_be_void(made: Challenge) -> None:
    store, token = Store(made.folder), passed("token", made.folder, "A").strip()
    assert store.team_of(token) == "A"
    assert all(token.encode() not in path.read_bytes() for path in made.folder.rglob("*") if path.is_file())
    new = passed("token", made.folder, "A").strip()
    assert (store.team_of(token), store.team_of(new), store.team_of("")) == (None, "A", None)
    assert calling.run("challenge", "token", made.folder, "A", "--revoke").exit_code == 0
    assert store.team_of(new) is None
    refused("token", made.folder, "B", "--revoke")


def test_a_team_may_submit_so_much_a_day(made: Challenge, tmp_path: Path) -> None:
    store, rules = Store(made.folder), replace(made.rules, per_day=3)
    store.add_team("A")
    for i in range(4):
        (tmp_path / "file").write_text(str(i))
        if i < 3:
            store.add("A", "", str(i), None, tmp_path / "file", rules)
    with pytest.raises(TooMany, match="at most 3 within 24 hours"):
        store.add("A", "", "3", None, tmp_path / "file", rules)
    assert (tmp_path / "file").exists()
    assert store.add("A", "", "0", None, tmp_path / "file", rules).number == 1  # the same again is not more
