"""Attacks on the page, from this machine alone: what each would have stopped goes on."""

from __future__ import annotations

import http.client
import os
import socket
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np
import pytest
from challenge.conftest import ROWS
from challenge.serving import Site, ask, finished, form, served, upload

for package in ("starlette", "uvicorn", "python_multipart", "jinja2"):
    pytest.importorskip(package, reason="the page needs the extra challenge")
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the server is stopped by a signal")

TEAMS = [f"team {i}" for i in range(12)]
IMPATIENT = """
from deadheat.challenge.web import connections, uploads
connections.PATIENCE, uploads.GRACE = 1.5, 1.5
"""
SLOW = 20.0  # seconds, in which even a slow machine has answered


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """As it is by default."""
    with served(tmp_path_factory.mktemp("attacked") / "challenge", [*TEAMS, "late"], upload=1, per_day=60) as site:
        yield site


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """As it is by default, but it waits for 1.5 seconds only."""
    with served(tmp_path_factory.mktemp("impatient") / "challenge", TEAMS, IMPATIENT, upload=1) as site:
        yield site


def opened(site: Site, words: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", site.port), timeout=SLOW)
    connection.sendall(words)
    return connection


def begun(site: Site, team: str | None, path: str = "/submissions", length: int = 900_000) -> bytes:
    """The head of an upload, and the beginning of its body."""
    token = "" if team is None else f"Authorization: Bearer {site.tokens[team]}\r\n"
    kind = "multipart/form-data; boundary=edge" if path == "/submissions" else "application/x-www-form-urlencoded"
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\n{token}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
    return head.encode() + form(bytes(99))[0][:150]


def is_closed(connection: socket.socket, seconds: float = SLOW) -> bool:
    """Whether the server ends a connection, whatever it says before that."""
    connection.settimeout(seconds)
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def is_closed_while_dribbling(connection: socket.socket) -> bool:
    """Whether the server ends a connection that sends a byte ten times a second."""
    try:
        for _ in range(100):
            connection.sendall(b"x")
            time.sleep(0.1)
    except ConnectionError:
        return True
    return False


# Connections ----------------------------------------------------------------------------------------------------------


def test_connections_that_say_nothing_lock_nobody_out(site: Site) -> None:
    with ExitStack() as stack:
        words = b"", b"GET / HTTP/1.1\r\nHost: x\r\n"
        silent = [stack.enter_context(opened(site, words[i % 2])) for i in range(300)]
        began = time.monotonic()
        assert ask(site, "GET", "/").status == 200
        assert upload(site, "team 0", ROWS).status == 200
        assert time.monotonic() - began < 10
        assert all(is_closed(each, 1) for each in silent[:40])  # 256 of one address stay
        assert not is_closed(silent[-1], 0.1)


def test_a_connection_that_keeps_the_server_waiting_is_closed(impatient: Site) -> None:
    with opened(impatient) as silent, opened(impatient, b"GET / HTTP/1.1\r\nX-") as slow:
        assert is_closed(silent)
        assert is_closed(slow)
    with opened(impatient) as slow:  # a byte now and then does not help
        assert is_closed_while_dribbling(slow)


def test_a_body_that_nobody_asked_for_keeps_no_connection(impatient: Site) -> None:
    for words, status in ((begun(impatient, None), b"401"), (begun(impatient, None, "/sign-in", 900), b"408")):
        with opened(impatient, words) as connection:
            assert status in connection.recv(1 << 16)
            assert is_closed_while_dribbling(connection)


def test_answers_that_nobody_reads_keep_no_connection(impatient: Site) -> None:
    asked = b"GET /style.css HTTP/1.1\r\nHost: x\r\n\r\n"
    with opened(impatient) as connection:
        connection.settimeout(1.0)
        n_asked = n_answered = 0
        with suppress(TimeoutError):
            while n_asked < 200_000:
                connection.sendall(asked)
                n_asked += 1
        time.sleep(4)
        with suppress(ConnectionError):
            while piece := connection.recv(1 << 16):
                n_answered += piece.count(b"HTTP/1.1 200")
    assert 0 < n_answered < n_asked / 2


def test_long_headers_are_refused(site: Site) -> None:
    with opened(site, b"GET / HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * (1 << 17)) as connection:
        assert is_closed(connection)
    assert ask(site, "GET", "/").status == 200


# Uploads --------------------------------------------------------------------------------------------------------------


def test_slow_uploads_of_other_teams_block_nobody(site: Site, impatient: Site) -> None:
    for each in (site, impatient):
        with ExitStack() as stack:
            slow = [stack.enter_context(opened(each, begun(each, team))) for team in TEAMS[:11]]
            began = time.monotonic()
            assert upload(each, TEAMS[11], ROWS[:, :3]).status == 200
            assert time.monotonic() - began < 10
            if each is impatient:
                assert all(b"408" in connection.recv(1 << 16) for connection in slow)
    assert [path.name for path in impatient.challenge.handed_in.glob(".*")] == []


def test_an_upload_that_is_fast_enough_may_take_longer_than_the_grace(impatient: Site) -> None:
    body, _ = form(bytes(200_000))
    head = begun(impatient, TEAMS[0], length=len(body)).partition(b"--edge")[0]
    with opened(impatient, head) as connection:
        for begin in range(0, len(body), 20_000):  # 66 kB a second, for three seconds
            connection.sendall(body[begin : begin + 20_000])
            time.sleep(0.3)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")


def test_a_disk_that_is_full_breaks_nothing(tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))"
    with served(tmp_path / "challenge", ["A"], limit, upload=1) as site:
        body, headers = form(bytes(900_000))
        answer = ask(site, "POST", "/submissions", "A", body, **headers)
        assert (answer.status, answer.content) == (503, {"error": "The server could not do that now: try again later."})
        assert list(site.challenge.handed_in.iterdir()) == []
        assert finished(site, "A", upload(site, "A", ROWS))["state"] == "scored"


def test_uploads_leave_some_of_the_disk_free(tmp_path: Path) -> None:
    limit = "from deadheat.challenge.web import uploads; uploads.SPARE = 1 << 60"
    with served(tmp_path / "challenge", ["A"], limit) as site:
        assert upload(site, "A", ROWS).status == 507
        assert ask(site, "GET", "/").status == 200
        assert list(site.challenge.handed_in.iterdir()) == []


# Requests -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ["http://[::1", "http://[x]", "null", "", "http://127.0.0.1", "//", "http://a@b:c"])
def test_an_origin_that_is_none_is_another_page(origin: str, site: Site) -> None:
    body, headers = form(b"x")
    for path in ("/submissions", "/sign-in", "/sign-out"):
        assert ask(site, "POST", path, "team 1", body, **headers, Origin=origin).status == 403


@pytest.mark.parametrize("host", ["[::1", "evil.example", "a b", "x\x7fy"])
def test_the_host_that_a_request_names_leads_nowhere(host: str, site: Site) -> None:
    for method, path in (("GET", "/hand-in/"), ("GET", "//evil.example/hand-in/"), ("POST", "/sign-in")):
        body = f"token={site.tokens['team 1']}" if method == "POST" else None
        answer = ask(site, method, path, None, body, Host=host, Content_Type="application/x-www-form-urlencoded")
        assert answer.status in (303, 400, 404)
        assert answer.headers.get("location", "/hand-in") == "/hand-in"


def test_tokens_cannot_be_guessed_without_end(site: Site) -> None:
    assert ask(site, "GET", "/hand-in", "team 2").status == 200
    statuses = [_guessed(site, f"guess-{i}") for i in range(30)]
    assert set(statuses) == {401, 429}
    assert statuses.index(429) == 20
    assert _guessed(site, site.tokens["late"]) == 429  # nobody learns that this one would have been right
    assert ask(site, "GET", "/hand-in", "team 2").status == 200  # who was here before goes on
    assert ask(site, "GET", "/", None, Cookie="deadheat-token=stale").status == 200  # and everybody may see the board
    assert _guessed(site, site.tokens["late"], "127.0.0.2") == 303  # as may who comes from elsewhere


def _guessed(site: Site, token: str, source: str = "127.0.0.1") -> int:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=SLOW, source_address=(source, 0))
    try:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/sign-in", f"token={token}", kind)
        return connection.getresponse().status
    finally:
        connection.close()


def test_what_a_team_is_told_is_one_short_line_without_paths(tmp_path: Path) -> None:
    hostile = np.lib.format.magic(1, 0) + (6000).to_bytes(2, "little") + b"{'descr': '" + b"\x1b[2J" * 1500
    with served(tmp_path / "challenge", ["A"], upload=1) as site:
        for content in (hostile, np.lib.format.magic(9, 9) + bytes(99), b"\x80\x04K\x01."):
            file = tmp_path / "embeddings.npz"
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr("embeddings.npy", content)
            body, headers = form(file.read_bytes())
            found = finished(site, "A", ask(site, "POST", "/submissions", "A", body, **headers))
            assert found["state"] == "refused"
            assert found["message"].isprintable()
            assert len(found["message"]) <= 200
            assert not any(part in found["message"] for part in (str(tmp_path), "0x", "allow_pickle", "descr", "[2J"))
