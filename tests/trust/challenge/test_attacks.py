"""Attacks on the page, from this machine alone: what each would have stopped goes on."""

from __future__ import annotations

import importlib
import socket
import ssl
import time
from collections import namedtuple
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pytest
from trust.challenge.conftest import ROWS
from trust.challenge.serving import SLOW, Site, ask, begun, finished, form, npz, opened, posix, served, upload

from deadheat.trust.receipts import document

clients = importlib.import_module("deadheat.trust.challenge.clients")
pytestmark = posix

TEAMS = [f"team {i}" for i in range(12)]
FIELDS = {"Content_Type": "application/x-www-form-urlencoded"}
IMPATIENT = """
from deadheat.trust.challenge import clients
clients.TIMEOUT, clients.GRACE = 1.5, 1.5
"""


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


def is_closed(connection: socket.socket, seconds: float = SLOW) -> bool:
    """Whether the server ends a connection, whatever it says before that."""
    connection.settimeout(seconds)
    with suppress(ConnectionError):
        try:
            while connection.recv(1 << 16):
                pass
        except TimeoutError:
            return False
    return True


def is_closed_while_dribbling(connection: socket.socket) -> bool:
    """Whether the server ends a connection that sends a byte ten times a second."""
    with suppress(ConnectionError):
        for _ in range(100):
            connection.sendall(b"x")
            time.sleep(0.1)
        return False
    return True


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
        assert all(map(is_closed, (silent, slow)))
    with opened(impatient) as slow:  # a byte now and then does not help
        assert is_closed_while_dribbling(slow)


def test_a_handshake_that_is_not_finished_is_closed(tmp_path: Path) -> None:
    with served(tmp_path / "challenge", ["A"], IMPATIENT, certificate=self_signed(tmp_path)) as site:
        context = ssl.create_default_context(cafile=tmp_path / "certificate.pem")
        with context.wrap_socket(opened(site), server_hostname="127.0.0.1") as secure:
            secure.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert secure.recv(1 << 16).startswith(b"HTTP/1.1 200")
        with opened(site) as silent, opened(site, b"\x16\x03\x01") as slow:
            assert all(map(is_closed, (silent, slow)))


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate of this machine's, and its key."""
    x509 = pytest.importorskip("cryptography.x509")
    private, _ = document.make_keys(folder / "key.pem")
    key, now = document.private_key(private), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(1), now + timedelta(1))
    made = builder.add_extension(address, critical=False).sign(key, None)
    serialization = importlib.import_module("cryptography.hazmat.primitives.serialization")
    (folder / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    return folder / "certificate.pem", private


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
        with suppress(TimeoutError, ConnectionError):
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
    assert [path.name for path in impatient.challenge.submissions.glob(".*")] == []


def test_an_upload_that_is_fast_enough_may_take_longer_than_the_grace(impatient: Site) -> None:
    body, _ = form(npz(np.zeros((60, 3300), np.uint8)))  # 200 kB
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
        said = {"error": "The server could not complete the request: try again later."}
        assert (answer.status, answer.content) == (503, said)
        assert list(site.challenge.submissions.iterdir()) == []
        assert finished(site, "A", upload(site, "A", ROWS))["state"] == "scored"


def test_uploads_leave_some_of_the_disk_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(clients.shutil, "disk_usage", lambda _: usage(clients.SPARE + 20))
    clients.require_room(tmp_path, 10)
    with pytest.raises(clients.Refusal, match="no space left for files") as caught:
        clients.require_room(tmp_path, 11)
    assert caught.value.status == 507


# Requests -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ["http://[::1", "null", "", "http://127.0.0.1", "http://a@b:c"])
def test_an_origin_that_is_none_is_another_page(origin: str, site: Site) -> None:
    body, headers = form(b"x")
    for path in ("/submissions", "/sign-in", "/sign-out"):
        assert ask(site, "POST", path, "team 1", body, **headers, Origin=origin).status == 403


@pytest.mark.parametrize("host", ["[::1", "evil.example", "a b", "x\x7fy"])
def test_the_host_that_a_request_names_leads_nowhere(host: str, site: Site) -> None:
    for method, path in (("GET", "/submit/"), ("GET", "//evil.example/submit/"), ("POST", "/sign-in")):
        body = f"token={site.tokens['team 1']}" if method == "POST" else None
        answer = ask(site, method, path, None, body, Host=host, **FIELDS)
        assert answer.status in (303, 400, 404)
        assert answer.headers.get("location", "/submit") == "/submit"


def test_tokens_cannot_be_guessed_without_end(site: Site) -> None:
    assert ask(site, "GET", "/submit", "team 2").status == 200
    statuses = [_guessed(site, f"guess-{i}") for i in range(30)]
    assert set(statuses) == {401, 429}
    assert statuses.index(429) == 20
    assert _guessed(site, site.tokens["late"]) == 429  # nobody learns that this one would have been right
    assert ask(site, "GET", "/submit", "team 2").status == 200  # who was here before goes on
    assert ask(site, "GET", "/", None, Cookie="deadheat-token=stale").status == 200  # and everybody may see the board
    assert _guessed(site, site.tokens["late"], "127.0.0.2") == 303  # as may who comes from elsewhere


def _guessed(site: Site, token: str, source: str = "127.0.0.1") -> int:
    return ask(site, "POST", "/sign-in", None, f"token={token}", source, **FIELDS).status
