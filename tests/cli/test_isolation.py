"""Files of strangers, each read in a process of its own: one that dies, hangs, floods or lies is a row of the board."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import passed, reason, run

import deadheat as dh
from deadheat.cli import isolation

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have other limits")

LABELS = np.repeat(np.arange(6), 5)
GOOD = (np.eye(6)[LABELS] + np.random.default_rng(0).normal(size=(30, 6)) / 2).astype(np.float32)
BOARD = ("leaderboard", "--labels", "labels.npy", "--public", "-m", "mAP", "--json", "-")
FAKE = """#!/bin/sh
for word; do file=$word; done
case $file in
*crash*) kill -SEGV $$ ;;
*hang*) sleep 60 & echo $! > sleeper; wait ;;
*out_of_time*) kill -XCPU $$ ;;
*flood*) exec yes ;;
*silent*) exit 0 ;;
*beyond*) echo '{"lower": {"mAP": 7.5}}' ;;
*other*) echo '{"lower": {"Hit@1": 1.0}}' ;;
*text*) echo '{"lower": {"mAP": "1.0"}}' ;;
*list*) echo '[1]' ;;
*nested*) head -c 200000 /dev/zero | tr '\\0' '[' ;;
*loud*) echo secret >&2; exit 3 ;;
*) exec REAL "$@" ;;
esac
"""  # in place of Python: what a child can do to the command that started it


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("labels.npy", LABELS)
    np.save("good.npy", GOOD)
    return tmp_path


def board(*words: object) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(passed(*BOARD, *words))
    return result


def has_ended(pid: int) -> bool:
    """Return whether a process ends within some seconds, also if nobody has asked for its status."""
    for _ in range(100):
        with suppress(OSError):
            if "State:\tZ" not in Path(f"/proc/{pid}/status").read_text():
                time.sleep(0.1)
                continue
        return True
    return False


def test_a_child_can_end_in_any_way_and_the_others_stand(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("fake").write_text(FAKE.replace("REAL", sys.executable))
    Path("fake").chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(folder / "fake"))
    monkeypatch.setattr(isolation, "_GRACE", 0.5)
    endings = {
        "crash": "crash.npy: its process was ended by SIGSEGV; does it need more than 4 GiB (--memory)?",
        "out_of_time": "out_of_time.npy took longer than 600 s (--time)",
        "flood": f"flood.npy: its process printed more than {isolation.MOST_BYTES} bytes",
        **dict.fromkeys(("silent", "beyond", "other", "text", "list", "nested", "loud"), "its process gave no answer"),
    }
    result = board(*(f"{name}.npy" for name in endings), "good.npy")
    assert result["refused"] == endings
    assert [system["name"] for system in result["public"]] == ["good"]
    start = time.monotonic()
    hung = run(*BOARD, "--time", 0.1, "hang.npy")
    assert json.loads(hung.stdout)["refused"] == {"hang": "hang.npy took longer than 0.1 s (--time)"}
    assert time.monotonic() - start < 30
    assert has_ended(int(Path("sleeper").read_text()))  # with the process that started it


def test_the_limits_hold(folder: Path) -> None:
    """The array is larger than the address space; reading takes longer than a millisecond."""
    np.lib.format.open_memmap("large.npy", "w+", "f4", (1000, 1 << 16)).flush()  # with holes: 262 MB of zeros
    np.save("many.npy", np.arange(1000) % 10)
    words = ("leaderboard", "large.npy", "--labels", "many.npy", "--public", "--json", "-", "--memory", 0.25)
    refused = json.loads(run(*words).stdout)["refused"]
    assert refused == {"large": "large.npy needs more than 0.25 GiB of memory (--memory)"}
    late = json.loads(run(*BOARD, "--time", 0.001, "good.npy").stdout)["refused"]
    assert late == {"good": "good.npy took longer than 0.001 s (--time)"}


LIMITED = """
import resource, signal, socket, sys
from deadheat.cli import isolation
isolation._limit(3.0, 50.0)
for limit in ("AS", "FSIZE", "CPU", "CORE"):
    print(resource.getrlimit(getattr(resource, f"RLIMIT_{limit}"))[0])
print(round(signal.getitimer(signal.ITIMER_REAL)[0]))
if isolation._left_network():
    print(socket.socket().connect_ex(("127.0.0.1", int(sys.argv[1]))) != 0)
"""


def test_limits_and_network_of_the_process() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            pass
        command = [sys.executable, "-P", "-c", LIMITED, str(port)]
        ran = subprocess.run(
            command, capture_output=True, text=True, check=True, env=os.environ | isolation._ENVIRONMENT
        )
    size, cpu = str(3 << 30), str(50 * (os.cpu_count() or 1))
    assert ran.stdout.split() in (
        [size, size, cpu, "0", "50"],  # the system gives no network of its own without rights
        [size, size, cpu, "0", "50", "True"],
    )


def test_the_process_gets_the_options_and_no_module_of_the_folder(folder: Path) -> None:
    Path("numpy.py").write_text("raise SystemExit('somebody else was imported')")
    rows = np.round(GOOD, 1)
    np.savetxt("-rows.csv", rows, delimiter=",")
    options = ["--distance=cityblock", "--singletons=zero", "--average=class", "--no-header", "--threads=1"]
    options += ["--ties=float16", "--ties-of=distance"]
    labels = LABELS.copy()
    labels[0] = 9  # a singleton
    np.save("labels.npy", labels)
    expected = dh.evaluate(
        rows.astype(np.float64), labels, distance="cityblock", singletons="zero", average="class",
        ties=dh.Rounded("float16", of="distance"), measures="mAP",
    )  # fmt: skip
    result = board(*options, "--", "-rows.csv")
    assert (result["refused"], result["public"][0]["measures"]) == ({}, {"mAP": round(100 * expected["mAP"].lower, 2)})


@pytest.mark.slow
def test_labels_may_be_a_link_and_a_gallery_needs_labels_of_the_organiser(folder: Path) -> None:
    Path("link.npy").symlink_to("labels.npy")
    words = ("leaderboard", "good.npy", "--public", "-m", "mAP")
    assert passed(*words, "--labels", "link.npy") == passed(*words, "--labels", "labels.npy")
    np.savez("gallery.npz", embeddings=GOOD, labels=LABELS)
    said = reason(*words, "--labels", "labels.npy", "--gallery", "gallery.npz")
    assert said == "--public takes --gallery with --gallery-labels, as labels in a FILE do not count"
    passed(*words, "--labels", "labels.npy", "--gallery", "gallery.npz", "--gallery-labels", "link.npy")
    Path("other.npy").symlink_to("good.npy")
    said = {"other": "other.npy is a symbolic link: give the file itself"}
    assert json.loads(run(*BOARD, "other.npy").stdout)["refused"] == said


def test_the_organiser_hears_of_a_network(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for online in (True, False):
        answer = json.dumps({"lower": {"mAP": 0.5}, "online": online}).encode()
        monkeypatch.setattr(isolation, "run", lambda *_, answer=answer: (0, answer))
        ran = run(*BOARD, "a.npy", "b.npy")
        assert ran.stderr == f"deadheat: {isolation.ONLINE}\n" * online
        assert [system["measures"] for system in json.loads(ran.stdout)["public"]] == [{"mAP": 50.0}] * 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("good.npy --labels none.npy --public", "none.npy: No such file or directory"),
        ("good.npy --labels labels.npy --public -m mAPP", "unknown measure"),
        ("good.npy --labels - --public", "standard input (-) is not read here, as each FILE has a process of its own"),
        ("good.npy good.npy --labels labels.npy --memory 1", "--memory goes with --public"),
        ("good.npy --labels labels.npy --public --time 0", "--time must be positive, but is 0"),
        ("good.npy --labels labels.npy --public --memory -1", "--memory must be positive, but is -1"),
    ],
)
def test_mistakes_of_the_organiser_are_no_rows(words: str, said: str, folder: Path) -> None:
    assert reason("leaderboard", *words.split()).startswith(said)


@pytest.mark.slow
def test_an_audit_of_a_file_of_a_stranger(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("audit", "good.npy", "--labels", "labels.npy", "-m", "mAP")
    assert passed(*words, "--untrusted", "--json", "audit.json") == passed(*words)
    assert json.loads(Path("audit.json").read_text())["measures"]
    np.save("zeros.npy", np.zeros_like(GOOD))
    assert run("audit", "zeros.npy", *words[2:], "--untrusted").exit_code == 1
    assert reason(*words, "--untrusted", "--time", "0.001") == "good.npy took longer than 0.001 s (--time)"
    assert reason(*words, "--time", "1") == "--time goes with --untrusted"
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0  # of this process
