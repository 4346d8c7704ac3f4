"""`deadheat challenge serve`: a socket, the web server, and a worker that is started anew when it ends."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path

from deadheat.support.lazy import lazy, require
from deadheat.trust.challenge.challenge import Challenge
from deadheat.trust.challenge.site import WHAT, application
from deadheat.trust.challenge.store import Store
from deadheat.trust.challenge.submissions import sweep

clients = lazy("deadheat.trust.challenge.clients")

_PAUSE = 1.0  # seconds before a worker that ended is replaced
_HEADERS = 16 << 10  # bytes of a request without its body
_OPEN_FILES = 4096


def serve(
    challenge: Challenge, store: Store, host: str, port: int, certificate: Path | None = None, key: Path | None = None
) -> None:
    """Serve until interrupted; prints the address once it can be reached."""
    uvicorn = require("uvicorn", "challenge", WHAT)
    app = application(challenge, store)
    settings = uvicorn.Config(
        app, http=clients.Connection, ws="none", lifespan="off", log_level="warning", server_header=False,
        h11_max_incomplete_event_size=_HEADERS, ssl_certfile=certificate, ssl_keyfile=key, timeout_graceful_shutdown=5,
    )  # fmt: skip
    sweep(challenge, store)
    _allow_open_files()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with (
        socket.create_server((host, port), family=family) as listening,
        _worker(challenge),
        asyncio.Runner(loop_factory=_impatient_loop if certificate else None) as runner,
    ):
        at = f"[{host}]" if ":" in host else host
        print(f"{'https' if certificate else 'http'}://{at}:{listening.getsockname()[1]}", flush=True)
        runner.run(uvicorn.Server(settings).serve(sockets=[listening]))


def _impatient_loop() -> asyncio.AbstractEventLoop:
    """An event loop that waits for a TLS handshake no longer than for anything else that a client has to send."""
    loop = asyncio.new_event_loop()
    create_server = partial(loop.create_server, ssl_handshake_timeout=clients.TIMEOUT)
    loop.create_server = create_server  # type: ignore[method-assign]
    return loop


def _allow_open_files() -> None:
    """Let the process have more files open than connections, where the system's default is fewer."""
    with suppress(ImportError, ValueError, OSError):
        resource = import_module("resource")
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


@contextmanager
def _worker(challenge: Challenge) -> Iterator[None]:
    """Keep one worker running until the block ends."""
    over = threading.Event()

    def keep() -> None:
        while not over.is_set():
            words = [sys.executable, "-m", "deadheat.trust.challenge.scoring", str(challenge.folder)]
            with subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True) as process:
                while process.poll() is None and not over.wait(0.1):
                    pass
            over.wait(_PAUSE)

    thread = threading.Thread(target=keep)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
