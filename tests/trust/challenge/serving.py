"""A page that is served by a process of its own, and what is asked of it."""

from __future__ import annotations

import http.client
import io
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from trust.challenge.conftest import LABELS, waited

from deadheat.trust.challenge.challenge import Challenge
from deadheat.trust.challenge.store import Store

for package in ("starlette", "uvicorn", "python_multipart", "jinja2"):
    pytest.importorskip(package, reason="the page needs the extra challenge")
posix = pytest.mark.skipif(os.name != "posix", reason="the server is stopped by a signal")
SLOW = 20.0  # seconds, in which even a slow machine has answered


class Site(NamedTuple):
    """A page that is served, with the tokens of its teams."""

    challenge: Challenge
    port: int
    pid: int
    tokens: dict[str, str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str

    @property
    def content(self) -> Any:
        return json.loads(self.text)


@contextmanager
def served(
    folder: Path, teams: Sequence[str], patch: str = "", certificate: tuple[Path, Path] | None = None, **rules: Any
) -> Iterator[Site]:
    """A challenge's page; `patch` is Python that is run first in the server's process."""
    said = folder.with_name("said.txt")
    challenge = Challenge.create(folder, LABELS, measures="mAP, Hit@1", **rules)
    store = Store(folder)
    tokens = {team: store.new_token(team) for team in teams}
    words = [f"{patch}\nfrom deadheat.cli.main import main; main()", "challenge", "serve", str(folder), "--port", "0"]
    if certificate is not None:
        words += ["--certificate", str(certificate[0]), "--key", str(certificate[1])]
    with (
        open(said, "w") as errors,
        subprocess.Popen([sys.executable, "-c", *words], stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        address = process.stdout.readline() if process.stdout else ""
        try:
            yield Site(challenge, int(address.rpartition(":")[2]), process.pid, tokens)
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(20) in (0, 130)
    text = said.read_text()
    assert "Traceback" not in text, text  # whatever was sent, and cut off, and killed


def ask(
    site: Site, method: str, path: str, team: str | None = None, body: Any = None, source: str = "", **headers: str
) -> Answer:
    """The answer to a request, with a team's token; `source` is the address that it comes from."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if team is not None:
        given["Authorization"] = f"Bearer {site.tokens[team]}"
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=30, source_address=(source, 0))
    try:
        connection.request(method, path, body, given, encode_chunked=hasattr(body, "__next__"))
        answer = connection.getresponse()
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode())
    finally:
        connection.close()


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


def form(file: bytes | None, title: str = "", name: str = "x.npz") -> tuple[bytes, dict[str, str]]:
    parts = [f'Content-Disposition: form-data; name="title"\r\n\r\n{title}'.encode()]
    if file is not None:
        parts.append(f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode() + file)
    body = b"".join(b"--edge\r\n" + part + b"\r\n" for part in parts) + b"--edge--\r\n"
    return body, {"Content_Type": "multipart/form-data; boundary=edge"}


def npz(rows: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, embeddings=rows)
    return file.getvalue()


def upload(site: Site, team: str | None, rows: Any, title: str = "", name: str = "x.npz") -> Answer:
    body, headers = form(npz(rows), title, name)
    return ask(site, "POST", "/submissions", team, body, **headers)


def finished(site: Site, team: str, answer: Answer) -> Any:
    """What became of an upload."""
    assert answer.status == 200, answer.text

    def found() -> Any:
        return ask(site, "GET", f"/submissions/{answer.content['id']}", team).content

    assert waited(lambda: found()["state"] not in ("queued", "scoring")), "not scored in 30 seconds"
    return found()
