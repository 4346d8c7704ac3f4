"""Commands on sequestered inputs: what they see, what they may take, and that the order of samples reveals nothing."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from trust.challenge.conftest import LABELS, ROWS, board_page, passed, refused, run, scored, states, submitted

import deadheat as dh
from deadheat.trust.challenge import leaderboard, sandbox, scoring, submissions
from deadheat.trust.challenge.challenge import Challenge
from deadheat.trust.challenge.store import Store, Submission

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="commands are watched where there is a /proc")
ISOLATED = sandbox.available() is None
needs_sandbox = pytest.mark.skipif(not ISOLATED, reason=f"isolation needs a sandbox, but {sandbox.available()}")
SHOWN = [Path(sys.prefix), Path(sys.base_prefix)]  # where this Python is, if that is not in /usr
COPY = "cp {inputs} {output}"  # an embedding that is the input


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "program").mkdir()
    return tmp_path / "program"


def command(challenge: Challenge, program: Path, words: str = COPY) -> Submission:
    return submissions.submit(challenge, Store(challenge.folder), "A", "", program, words)


def ran(
    challenge: Challenge, program: Path, script: str, *, unprotected: bool = not ISOLATED, **limits: int
) -> tuple[Submission, str]:
    """What came of a shell script as a command, and what it said."""
    (program / "run.sh").write_text(script)
    command(challenge, program, "sh run.sh {inputs} {output}")
    (found,) = scored(replace(challenge, rules=replace(challenge.rules, **limits)), unprotected=unprotected)
    log = scoring.log(challenge, found)
    return found, log.read_text() if log.exists() else ""


@pytest.mark.parametrize("unprotected", [pytest.param(False, marks=needs_sandbox), True])
def test_a_command_scores_as_its_embeddings_do(unprotected: bool, made: Challenge, program: Path) -> None:
    command(made, program)
    assert states(made, unprotected=unprotected) == ["scored"]
    store = Store(made.folder)
    report, expected = leaderboard.exact(made, store), dh.evaluate(ROWS, LABELS, measures="mAP, Hit@1")
    assert isinstance(report, dh.Report)
    assert report.profile == expected.profile  # order undone: the rows belong to their labels again
    assert list(leaderboard.entries(made, store)) == ["A (unprotected)" if unprotected else "A"]


def test_without_a_sandbox_a_command_is_refused_until_somebody_allows_it(
    made: Challenge, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command(made, program)
    monkeypatch.setattr(sandbox, "available", lambda: "bubblewrap (bwrap) is not installed")
    reason = "must run in a sandbox, but bubblewrap (bwrap) is not installed"
    assert reason in refused("score", made.folder)
    assert [each.state for each in Store(made.folder).select()] == ["queued"]
    passed("score", made.folder, "--unprotected")
    submitted(made, ROWS[:, :2], "B")
    passed("score", made.folder)
    board = passed("leaderboard", made.folder)
    assert "A (unprotected)" in board
    assert "B (unprotected)" not in board
    _, text = board_page(made)
    assert "ran without a sandbox" in text
    assert text.count(">unprotected</strong>") == 2


# The order of the samples ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.npy", "x.txt", "x"])
def test_inputs_of_any_kind_come_shuffled_and_without_their_names(name: str, tmp_path: Path) -> None:
    given, out, content = tmp_path / name, tmp_path / "out", [f"sample {i}" for i in range(12)]
    out.mkdir()
    if name == "x.npy":
        np.save(given, content)
    elif name == "x.txt":
        given.write_text("\n".join(content) + "\n")
    else:
        given.mkdir()
        for i, text in enumerate(content):
            (given / f"class-{i:02d}.txt").write_text(text)
    kept, order = (
        Challenge.create(tmp_path / "challenge", LABELS[:12], given).inputs,
        submissions.order(b"key", "name", 12),
    )
    assert kept is not None
    order = submissions.order(b"key", "name", 12)
    shown = submissions.shuffled(kept, order, out)
    if name == "x.npy":
        found = np.load(shown).tolist()
    elif name == "x.txt":
        found = shown.read_text().splitlines()
    else:
        files = sorted(shown.iterdir())
        assert [path.name for path in files][:2] == ["00000000.txt", "00000001.txt"]
        assert {path.stat().st_mtime for path in files} == {0}
        found = [path.read_text() for path in files]
    assert found == [content[i] for i in order]
    assert found != content


# What a command sees --------------------------------------------------------------------------------------------------

LOOK = """
cd "{folder}" && echo SEEN
cat "{folder}/labels.npy" "{folder}/secret" && echo SEEN
ls /root /home /etc/passwd && echo SEEN
for place in /submission/x /inputs/x /x /dev/x /usr/x "{folder}/x"; do echo > $place && echo SEEN; done
cat /proc/net/dev | grep -v lo: | grep : && echo SEEN
[ $(ls -d /proc/[0-9]* | wc -l) -gt 9 ] && echo SEEN
cat /proc/*/mountinfo /proc/*/mounts /proc/*/environ /proc/*/cmdline /proc/*/comm > /tmp/found
ls -l /proc/*/cwd /proc/*/root /proc/*/exe /proc/*/fd >> /tmp/found
tr '\\0' '\\n' < /tmp/found | grep -c /submission >&2 || echo SEEN
tr '\\0' '\\n' < /tmp/found | grep -e "{name}" -e "{folder}" && echo SEEN
ln -s "{folder}/labels.npy" $2 && exit 0
"""


@needs_sandbox
def test_a_command_sees_nothing_of_the_organiser(made: Challenge, program: Path) -> None:
    (program / "link").symlink_to(made.folder / "labels.npy")
    folder = made.folder.rename(made.folder.with_name("a-place-of-the-organisers"))
    made = Challenge(folder, made.rules)
    found, said = ran(made, program, LOOK.format(folder=folder, name="a-place") + "\n")
    assert "SEEN" not in said, said
    assert "labels.npy" in said
    assert found.state == "failed"  # the link that it hands back leads nowhere where it is


@needs_sandbox
def test_a_sandbox_that_would_show_the_organisers_folder_is_refused(made: Challenge, program: Path) -> None:
    command(made, program)
    message = "must be where commands cannot see it"
    for shown in (made.folder, made.submissions):
        with pytest.raises(ValueError, match=message):
            sandbox.require_hidden(made.folder, [shown])
    with pytest.raises(ValueError, match=message):
        scored(made, also=[made.folder.parent])
    assert [each.state for each in Store(made.folder).select()] == ["queued"]


@needs_sandbox
def test_a_command_sees_what_it_is_shown(made: Challenge, program: Path) -> None:
    (program / "embed.py").write_text(
        "import sys, socket, numpy as np\n"
        "try:\n    socket.create_connection(('192.0.2.1', 80), 1)\nexcept OSError as error:\n    print(error)\n"
        "np.save(sys.argv[2], np.load(sys.argv[1]) * 2)\n"
    )
    command(made, program, f"{sys.executable} embed.py {{inputs}} {{output}}")
    (found,) = scored(made, also=[*SHOWN, Path(np.__file__).parents[1]])
    assert found.state == "scored", (found.message, scoring.log(made, found).read_text())


# What a command may take ----------------------------------------------------------------------------------------------

HOLD = f"'{sys.executable}' -c 'import time; x = bytearray(90 << 20); x[::4096] = x[::4096]; time.sleep(9)' &\n" * 4


@pytest.mark.parametrize(
    ("script", "limits", "state", "message"),
    [
        (
            "trap '' TERM INT; (sleep 60 &) ; while :; do :; done",
            {"seconds": 1},
            "failed",
            "longer than 1 seconds",
        ),
        ("echo nothing made", {}, "failed", "ended with status 1"),
        ("head -c 9000000 /dev/zero > $2", {}, "failed", "returned more than 1 MB"),
        ("head -c 900 /dev/zero > $2", {}, "refused", "cannot be read"),
        ("cp $1 $2; truncate -s -9 $2", {}, "refused", "truncated"),
        ("dd if=/dev/zero of=/dev/null bs=200M count=1 && cp $1 $2", {"memory": 100}, "failed", "ended with status 1"),
        ("yes 1>&2 & sleep 0.3; kill $!; cp $1 $2", {}, "scored", ""),
        ("for i in $(seq 400); do sleep 9 & done; wait", {}, "failed", "the command had more than 256 processes"),
        (f"{HOLD} wait\n", {"memory": 200, "unprotected": True}, "failed", "took more than 200 MB of memory"),
    ],
)
def test_limits(script: str, limits: dict[str, Any], state: str, message: str, made: Challenge, program: Path) -> None:
    found, said = ran(made, program, script, **limits)
    assert (found.state, message in found.message) == (state, True), (found.message, said[-300:])
    assert len(said) <= 1 << 16


@needs_sandbox
def test_nothing_is_left_running(made: Challenge, program: Path) -> None:
    found, _ = ran(made, program, "(setsid sleep 987.5 &) ; cp $1 $2; exit 4")
    assert found.state == "failed"
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            assert b"987.5" not in path.read_bytes()


def test_who_gets_away_without_a_sandbox_holds_nobody_up(made: Challenge, program: Path) -> None:
    began = time.monotonic()
    found, _ = ran(made, program, "(setsid sleep 15 &) ; cp $1 $2", unprotected=True)
    assert found.state == "scored"
    assert time.monotonic() - began < 14


def test_what_failed_can_be_scored_again(made: Challenge, program: Path) -> None:
    allowed = [] if ISOLATED else ["--unprotected"]
    command(made, program, "sh -c 'exit 3' {inputs} {output}")
    done = run("score", made.folder, *allowed)
    assert (done.exit_code, "status 3" in done.stdout, ".log)" in done.stdout) == (1, True, True)
    assert passed("score", made.folder, *allowed) == "nothing in the queue\n"
    assert "status 3" in run("score", made.folder, "--again", 1, *allowed).stdout
    refused("score", made.folder, "--again", 2, *allowed)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("python3 x.py", "must name {inputs} and {output}"),
        ("cp {inputs} x", "must name {output}"),
        ("cp '{inputs} {output}", "No closing quotation"),
        ("", "must name"),
    ],
)
def test_a_command_names_what_it_reads_and_writes(words: str, message: str, made: Challenge, program: Path) -> None:
    assert message in refused("submit", made.folder, program, "--team", "A", "--command", words)


def test_a_folder_comes_with_a_command_and_a_file_without(made: Challenge, program: Path) -> None:
    whole, with_command = ("submit", made.folder), ("--team", "A", "--command", COPY)
    assert "or come with --command, but is the folder" in refused(*whole, program, *with_command[:2])
    assert "must be the folder that the command is run in" in refused(*whole, made.folder / "labels.npy", *with_command)


def test_words_are_words_and_never_a_shells(made: Challenge, program: Path) -> None:
    command(made, program, "cp {inputs} {output} ; touch $HOME/x")
    assert states(made, unprotected=not ISOLATED) == ["failed"]  # cp takes four things as files


def test_digests_of_commands_tell_files_names_and_words(program: Path) -> None:
    (program / "a").write_text("1")
    first = submissions.digest_of_command(program, COPY)
    (program / "a").rename(program / "b")
    second = submissions.digest_of_command(program, COPY)
    (program / "b").write_text("2")
    third, fourth = (submissions.digest_of_command(program, command) for command in (COPY, "cp"))
    assert len({first, second, third, fourth}) == 4


def test_a_challenge_without_inputs_has_nothing_to_run_on(tmp_path: Path, program: Path) -> None:
    challenge = Challenge.create(tmp_path / "files only", LABELS)
    with pytest.raises(ValueError, match="must have inputs"):
        command(challenge, program)


def test_a_program_that_is_not_there_fails(tmp_path: Path) -> None:
    words = sandbox.limited(["no-such-program"], tmp_path / "out", 1 << 30)
    with pytest.raises(sandbox.Stopped, match="status 127"):
        sandbox.run(words, tmp_path / "made", sandbox.Limits(5, 1 << 30, 100), sandbox.environment(), tmp_path)
